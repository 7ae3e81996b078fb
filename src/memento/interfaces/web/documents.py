"""REST for what goes out and comes in as a whole: exports and imports of any length, backups, the JSON-LD context."""

from __future__ import annotations

from collections.abc import Iterator

from flask import Blueprint, Response, request

from memento import assets
from memento.archive.files import spool
from memento.errors import InputError
from memento.interfaces.web.departures import Presence, presence_of
from memento.interfaces.web.requests import Parameters, context, namespace
from memento.interfaces.web.rest import respond
from memento.service.handlers.documents import export_pieces, take_in

IMPORT = "/memory/import/rdf"
CONTEXT = "/context.jsonld"


class Documents:
    """The addresses of exports, imports and backups."""

    def blueprint(self) -> Blueprint:
        """The routes."""
        routes = Blueprint("documents", __name__)
        routes.get("/memory/export")(self.export)
        routes.post(IMPORT)(self.imported)
        routes.get(CONTEXT)(self.show_terms)
        return routes

    def export(self) -> Response:
        """Every graph that the caller sees, or those of one namespace, as one document, a piece at a time."""
        asked = Parameters("format", "vectors", "audit")
        found = export_pieces(
            asked.text("format") or "trig",
            context(),
            vectors=asked.flag("vectors"),
            audit=asked.flag("audit"),
            namespace=namespace(),
        )
        response = Response(_send(found.pieces, presence_of(request.environ)), mimetype=found.form.media)
        response.headers["Content-Disposition"] = f'attachment; filename="memento{found.form.suffixes[0]}"'
        response.headers["Memento-Format"] = found.form.name
        response.headers["Memento-Statements"] = str(found.statements)
        return response

    def imported(self) -> Response:
        """Take an RDF document in; its format is told by `format`, or by its media type."""
        asked = Parameters("format", "data", "check", "name")
        name, encoding = asked.text("name") or "the body", request.headers.get("Content-Encoding", "identity")
        if encoding not in ("identity", "gzip"):
            raise InputError(f"Content-Encoding must be gzip or not be there, not {encoding[:40]!r}")
        held = context()
        most = held.settings.limits.document_bytes
        with spool(request.stream, name, held.service.datadir.path, is_packed=encoding == "gzip", most=most) as source:
            merged = take_in(
                source,
                name,
                asked.text("format") or request.mimetype or "nothing",
                held,
                data=asked.text("data"),
                check=asked.flag("check", default=True),
                namespace=namespace(),
                waiting=presence_of(request.environ),
            )
        return respond(merged)

    def show_terms(self) -> Response:
        """What JSON-LD calls the terms of the vocabulary."""
        Parameters()
        return Response(assets.read("ontology/context.jsonld"), mimetype="application/ld+json")


def _send(pieces: Iterator[bytes], presence: Presence) -> Iterator[bytes]:
    """The pieces as long as somebody waits for them; an answer that broke off must not look whole."""
    try:
        for piece in pieces:
            if presence.has_left:
                return
            yield piece
    except Exception:
        presence.is_broken = True
        raise
