"""What living memories look like over HTTP: the values of expressions, and the strength of a memory on its page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Response, get_template_attribute
from markupsafe import Markup

from memento.interfaces.web.rest import JSON, View, respond
from memento.operations import Operation
from memento.plugins.living.operations import Evaluate, Strength
from memento.plugins.living.settings import SexprSettings


def _show_values(evaluated: Any, form: str) -> Response:
    return respond(evaluated) if form == JSON else Response(evaluated.text + "\n", mimetype="text/plain")


VIEWS = {
    Evaluate: View(
        formats=("text",),
        render=_show_values,
        most_bytes=lambda settings: 6 * settings.of(SexprSettings).chars + 65_536,
    ),
}


_SHOWN = ("importance", "depth", "energy", "usefulness")
_ROW = Markup('<tr><th scope="row">{name}</th><td>{bar}</td><td class="n">{value:.2f}</td></tr>')


def show_strength(ask: Callable[[Operation[Any]], Any], iri: str, namespace: str | None) -> str:
    """Show how strong a memory is, as bars."""
    strength = ask(Strength(iri, namespace=namespace))
    bar = get_template_attribute("_parts.html", "bar")
    values = [(name, value) for name in _SHOWN if (value := getattr(strength, name)) is not None]
    rows = Markup("").join(_ROW.format(name=name, bar=bar(value, 1, name), value=value) for name, value in values)
    return Markup(
        '<h2>How strong it is</h2><table class="strength"><caption class="hidden">Strength</caption><tbody>{}</tbody></table>'
    ).format(rows)
