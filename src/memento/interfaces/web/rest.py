"""REST: one address for each method of the service. A view reads the request, calls, and renders."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from flask import Blueprint, Response, request

from memento.codec import decode, encode
from memento.errors import InputError
from memento.intake.portable import Record, note_row, parsed
from memento.interfaces.picture import draw_manifest
from memento.interfaces.web import openapi
from memento.interfaces.web.asked import Parameters, json_object, loaded, memory, namespace
from memento.model import KeyType, NoteRow
from memento.retrieval.render import as_text, as_xml

BETTER = ("keys", "types", "related_to")
NOTE_FIELDS = ("content", "at", "title", "speaker", "session", "position", "idempotency_key")


@dataclass(frozen=True, slots=True, kw_only=True)
class Better:
    """What a correction may say of keys and links."""

    keys: tuple[str, ...] | None = None
    types: dict[str, KeyType] | None = None
    related_to: tuple[str, ...] | None = None


class Rest:
    """The addresses below `/memory`."""

    def blueprint(self) -> Blueprint:
        """The routes; the fixed ones win over an IRI."""
        routes = Blueprint("memory", __name__, url_prefix="/memory")
        routes.post("/notes")(self.note)
        routes.get("/notes/<path:iri>/status")(self.note_status)
        routes.post("/retry")(self.retry)
        routes.post("/import")(self.imported)
        routes.get("/recall")(self.recall)
        routes.get("/list")(self.list)
        routes.get("/entities")(self.entities)
        routes.get("/timeline")(self.timeline)
        routes.get("/inferred")(self.inferred)
        routes.post("/sexpr")(self.evaluate)
        routes.get("/manifest")(self.manifest)
        routes.get("/status")(self.status)
        routes.get("/check")(self.check)
        routes.get("/openapi.json")(self.openapi)
        routes.post("/rebuild")(self.rebuild)
        routes.get("")(self.list)
        routes.post("/<path:iri>/correct")(self.correct)
        routes.post("/<path:iri>/undo")(self.undo)
        routes.get("/<path:iri>/sources")(self.sources)
        routes.get("/<path:iri>")(self.get)
        routes.delete("/<path:iri>")(self.forget)
        return routes

    def note(self) -> Response:
        """Remember a note; 201 when something new came of it, 202 when it is kept and still to be understood."""
        Parameters()
        body = json_object(*NOTE_FIELDS, "wait", "namespace")
        row = note_row(body)
        noted = memory().note(
            row.content,
            at=row.at,
            title=row.title,
            speaker=row.speaker,
            session=row.session,
            position=row.position,
            idempotency_key=row.idempotency_key or request.headers.get("Idempotency-Key"),
            wait=body.flag("wait", default=True),
            namespace=body.text("namespace") or namespace(),
        )
        return answered(noted, 202 if noted.pending else 201 if noted.memories else 200)

    def note_status(self, iri: str) -> Response:
        """How far a note has come."""
        Parameters()
        return answered(memory().note_status(iri, namespace=namespace()))

    def retry(self) -> Response:
        """Try every note now that is still to be understood; what became of each."""
        Parameters()
        return answered(memory().retry())

    def correct(self, iri: str) -> Response:
        """Put a better text in the place of a memory."""
        Parameters()
        body = json_object("content", "at", "keys", "types", "related_to", "namespace")
        told = decode(Better, {n: v for n, v in body.fields.items() if n in BETTER and v is not None})
        noted = memory().correct(
            iri,
            body.required("content"),
            at=body.instant("at"),
            keys=told.keys,
            types=told.types,
            related_to=told.related_to,
            namespace=body.text("namespace") or namespace(),
        )
        return answered(noted, 201)

    def undo(self, iri: str) -> Response:
        """Let a retired memory hold again, by its own IRI or that of the invalidation."""
        Parameters()
        given = json_object("namespace").text("namespace") if request.content_length else None
        return answered(memory().undo(iri, namespace=given or namespace()))

    def sources(self, iri: str) -> Response:
        """Who told a memory, and what made it of the note."""
        Parameters()
        return answered(memory().sources(iri, namespace=namespace()))

    def imported(self) -> Response:
        """Remember many notes: JSON lines, or an object with `rows`."""
        asked = Parameters("consolidate")
        consolidate = asked.flag("consolidate", default=True)
        return answered(
            memory().import_notes(_rows(request.get_data()), consolidate=consolidate, namespace=namespace())
        )

    def recall(self) -> Response:
        """The memories that answer a question, as JSON, as the block for a model, or as a tree for people."""
        asked = Parameters(
            "query", "q", "question", "k", "as_of", "believed_at", "profile", "engine", "gate", "explain", "format"
        )
        form = asked.choice("format", ("json", "xml", "text"))
        question = asked.text("query", "q", "question")
        if question is None:
            raise InputError("query is missing or empty: ask something (here query=Where+do+I+live)")
        found = memory().recall(
            question,
            k=asked.number("k"),
            as_of=asked.instant("as_of"),
            believed_at=asked.instant("believed_at"),
            profile=asked.text("profile"),
            engine=asked.text("engine"),
            gate=asked.flag("gate") if asked.text("gate") else None,
            explain=asked.flag("explain"),
            namespace=namespace(),
        )
        if form == "json":
            return answered(found)
        if form == "text":
            return Response(as_text(found) + "\n", mimetype="text/plain")
        today = datetime.now(ZoneInfo(memory().settings.consolidation.time_zone)).date()
        return Response(as_xml(found, today) + "\n", mimetype="application/xml")

    def list(self) -> Response:
        """A page of memories, the latest first."""
        asked = Parameters("limit", "offset", "past")
        limit, offset = asked.number("limit"), asked.number("offset")
        return answered(
            memory().list(
                limit=50 if limit is None else limit,
                offset=offset or 0,
                past=asked.flag("past"),
                namespace=namespace(),
            )
        )

    def entities(self) -> Response:
        """The entities that most memories are about."""
        limit = Parameters("limit").number("limit")
        return answered(memory().entities(limit=10 if limit is None else limit, namespace=namespace()))

    def timeline(self) -> Response:
        """The history of an entity, the user, a memory or a note."""
        asked = Parameters("subject", "as_of", "believed_at", "limit")
        subject, limit = asked.text("subject"), asked.number("limit")
        if subject is None:
            raise InputError("subject is missing: ask as /memory/timeline?subject=Google, by IRI, or by the word me")
        return answered(
            memory().timeline(
                subject,
                as_of=asked.instant("as_of"),
                believed_at=asked.instant("believed_at"),
                limit=50 if limit is None else limit,
                namespace=namespace(),
            )
        )

    def get(self, iri: str) -> Response:
        """Everything known of an IRI."""
        Parameters()
        return answered(memory().get(iri, namespace=namespace()))

    def forget(self, iri: str) -> Response:
        """Hide a memory or the memories of a note; with `erase=true` delete their text."""
        erase = Parameters("erase").flag("erase")
        return answered(memory().forget(iri, erase=erase, namespace=namespace()))

    def inferred(self) -> Response:
        """How much follows from what is stated, once it is brought up to date."""
        Parameters()
        return answered(memory().infer(namespace=namespace()))

    def evaluate(self) -> Response:
        """The values of expressions; as text, the last one as an expression."""
        form = Parameters("format").choice("format", ("json", "text"))
        body = json_object("expression", "namespace")
        found = memory().evaluate(body.required("expression"), namespace=body.text("namespace") or namespace())
        return answered(found) if form == "json" else Response(found.text + "\n", mimetype="text/plain")

    def manifest(self) -> Response:
        """The map of the memory: as an object, in 500 tokens, or as a picture."""
        asked = Parameters("format", "fresh")
        form = asked.choice("format", ("json", "text", "svg"))
        found = memory().manifest(fresh=asked.flag("fresh"), namespace=namespace())
        if form == "svg":
            return Response(draw_manifest(found), mimetype="image/svg+xml")
        return answered(found) if form == "json" else Response(found.text + "\n", mimetype="text/plain")

    def status(self) -> Response:
        """How the service stands."""
        Parameters()
        return answered(memory().status(namespace=namespace()))

    def check(self) -> Response:
        """Differences between graph and indexes; an empty list when all is well."""
        Parameters()
        return answered(memory().check())

    def openapi(self) -> Response:
        """These addresses, described for programs."""
        Parameters()
        return Response(openapi.page(), mimetype="application/json")

    def rebuild(self) -> Response:
        """Make the indexes anew; how many texts that were."""
        Parameters()
        return answered(memory().rebuild())


def answered(noun: object, status: int = 200) -> Response:
    """A noun as a JSON response."""
    return Response(encode(noun), status=status, mimetype="application/json")


def _rows(data: bytes) -> list[NoteRow]:
    if request.is_json and isinstance(body := _object(data), dict) and "rows" in body:
        if not isinstance(rows := body["rows"], list) or not all(isinstance(row, dict) for row in rows):
            raise InputError('rows must be a list of objects such as {"content": "…"}')
        return [note_row(Record(f"row {number}", row)) for number, row in enumerate(rows, start=1)]
    return parsed(data, "the body", "json")


def _object(data: bytes) -> object:
    """The body as one JSON value, or None where it is several lines of JSON."""
    try:
        return loaded(data)
    except InputError:
        return None
