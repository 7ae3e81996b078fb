"""How the operations on keys answer over HTTP if not as JSON with the declared status."""

from __future__ import annotations

from flask import Response

from memento.interfaces.web.rest import View, respond
from memento.plugins.keys.nouns import Remembered
from memento.plugins.keys.operations import Remember


def _show_remembered(remembered: Remembered, form: str) -> Response:
    return respond(remembered, 200 if remembered.repeated else 201)


VIEWS = {Remember: View(render=_show_remembered)}
