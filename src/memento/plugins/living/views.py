"""How the operations of living memories answer over HTTP, if not as JSON."""

from __future__ import annotations

from typing import Any

from flask import Response

from memento.interfaces.web.rest import JSON, View, respond
from memento.plugins.living.operations import Evaluate
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
