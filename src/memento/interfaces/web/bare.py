"""
The plain dataset over HTTP: the SPARQL protocols and nothing else, for programs of this machine.

*Guarantees:* nobody else gets in but pages that `sparql.origins` names, which may query, and no page of another origin writes:
`access` holds here as over memories.
"""

from __future__ import annotations

from flask import Flask, Response, g, request

from memento.access import admit
from memento.interfaces.sparql_http.cors import origins
from memento.interfaces.sparql_http.description import Descriptions, described
from memento.interfaces.sparql_http.graphs import Graphs
from memento.interfaces.sparql_http.query import Sparql
from memento.interfaces.sparql_http.update import Updates
from memento.interfaces.web.app import SPARQL, add_manners, caller, most_bytes
from memento.interfaces.web.departures import App
from memento.interfaces.web.rest import respond
from memento.interfaces.web.server import Busy, hosted
from memento.service.bare import Bare


def create_bare_app(bare: Bare) -> Flask:
    """The application; it does not close the dataset."""
    app = Flask(__name__)
    app.url_map.merge_slashes = False  # an IRI may hold two slashes
    app.url_map.strict_slashes = False
    app.config["MAX_FORM_MEMORY_SIZE"] = None  # the limit on the body is enough
    pages = origins(bare.settings.sparql.origins)

    @app.before_request
    def limited() -> None:
        if not (request.method == "OPTIONS" and request.path.startswith(SPARQL)):
            may_ask = pages if request.path == SPARQL else ()
            g.graphs = bare.admit(admit(caller(), bare.tokens, required=False, pages=may_ask))
        request.max_content_length = most_bytes(request.path, bare.settings.limits)

    @app.get("/health")
    def health() -> Response:
        return respond({"status": "ok"})

    app.register_blueprint(Sparql(bare.settings.sparql, described, needs_token=False).blueprint())
    for protocol in (Descriptions(), Updates(), Graphs()):
        app.register_blueprint(protocol.blueprint())
    add_manners(app)
    return app


def asgi(bare: Bare, busy: Busy) -> App:
    """The same as an ASGI application."""
    return hosted(create_bare_app(bare), busy, bare.settings.server.threads)
