"""
REST: one address for each operation, as its declaration says.

*Flow:* the address and its verb → an operation (`read_operation`) → `service.handle` → a view, or the answer as JSON.

A GET or DELETE takes its arguments from the query string, a POST from a JSON object; arguments that are part of the address come
from there. `namespace` may also be a parameter of any request, or come in the header `Memento-Namespace`. If an answer has no field
`notice`, a notice, for example that there is no such namespace, is sent in the header `Memento-Notice`. Exports and imports of any
length are outside the loop, because they are streamed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, is_dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any, cast, get_args
from zoneinfo import ZoneInfo

from flask import Blueprint, Response, g, request
from msgspec import structs
from werkzeug.datastructures import MultiDict

from memento import assets, plugin
from memento.archive.files import spool
from memento.codec import decode, encode
from memento.errors import InputError
from memento.intake.rows import Record, sift_records, sift_rows
from memento.interfaces.mcp import catalogue
from memento.interfaces.mcp.tools import Reach, Told, Tool, to_structured
from memento.interfaces.picture import draw_manifest
from memento.interfaces.web.connection import waiting_client
from memento.interfaces.web.requests import Parameters, context, load_json, namespace, read_object
from memento.model import Imported, Manifest, Noted, Recollection
from memento.operations import Operation, check_value, fields_of, list_operations
from memento.operations.base import Field, complete, raise_if_unknown_field, route_of
from memento.operations.care import Export
from memento.operations.notes import ImportNotes, Note
from memento.operations.recall import List, Recall
from memento.operations.recall import Manifest as DrawManifest
from memento.python import Memento
from memento.retrieval.render import as_text, as_xml
from memento.service import handle
from memento.service.handlers.care import export_pieces, take_in
from memento.settings import Settings
from memento.sparql.jobs import WaitingClient

Json = dict[str, Any]
JSON = "json"
LISTING = "GET /memory"
"""An additional address that lists the memories."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """How an operation answers over HTTP, if not as JSON with the declared status."""

    formats: tuple[str, ...] = ()
    """The values of the parameter `format` besides `json`."""
    render: Callable[[Any, str], Response] | None = None
    """Makes the response from an answer and a format, if it is not the answer as JSON."""
    read: Callable[[], Operation[Any]] | None = None
    """Reads the operation from the request, if the body is not a JSON object with its arguments."""
    most_bytes: Callable[[Settings], int] | None = None
    """The longest body of a request, if the usual limit does not fit."""


IMPORT_BYTES = 64 * 1024 * 1024
"""The longest body with many rows."""


def _show_noted(noted: Noted, form: str) -> Response:
    return respond(noted, 202 if noted.pending else 201 if noted.note and noted.memories else 200)


def _show_recollection(recollection: Recollection, form: str) -> Response:
    if form == JSON:
        return respond(recollection)
    if form == "text":
        return Response(as_text(recollection) + "\n", mimetype="text/plain")
    today = datetime.now(ZoneInfo(context().settings.consolidation.time_zone)).date()
    return Response(as_xml(recollection, today) + "\n", mimetype="application/xml")


def _show_manifest(manifest: Manifest, form: str) -> Response:
    if form == "svg":
        return Response(draw_manifest(manifest), mimetype="image/svg+xml")
    return respond(manifest) if form == JSON else Response(manifest.text + "\n", mimetype="text/plain")


VIEWS: dict[type[Operation[Any]], View] = {
    Note: View(render=_show_noted),
    Recall: View(formats=("xml", "text"), render=_show_recollection),
    DrawManifest: View(formats=("text", "svg"), render=_show_manifest),
}
"""The operations that are not answered as JSON alone; plug-ins add theirs."""


def blueprint(left_out: Collection[str] = ()) -> Blueprint:
    """
    Return the routes of all operations but those of the plug-ins that are left out; fixed addresses take precedence over those with
    an IRI in them.
    """
    routes = Blueprint("rest", __name__)
    for name, operation in list_operations(left_out).items():
        if "rest" not in operation.absent:
            _add_route(routes, name, operation, operation.route)
    _add_route(routes, "list_all", List, LISTING)
    _add_route(routes, "list_short", List, "GET /list")
    routes.get("/memory/export")(_send_export)
    routes.get("/export", endpoint="export_short")(_send_export)
    routes.post(IMPORT_RDF)(_receive_rdf)
    routes.get(CONTEXT)(_send_context)
    return routes


def _add_route(routes: Blueprint, name: str, operation: type[Operation[Any]], route: str) -> None:
    verb, path = route.split(" ")
    rule = path.replace("{", "<path:").replace("}", ">")
    routes.add_url_rule(rule, name, lambda **places: _answer_operation(operation, places), methods=[verb])


def _answer_operation(operation: type[Operation[Any]], places: Mapping[str, str]) -> Response:
    view = VIEWS.get(operation)
    form = _read_format(view.formats if view else (), operation)
    call = view.read() if view and view.read else read_operation(operation, places)
    answer = handle(call, context())
    if isinstance(answer, Imported):
        answer = replace(answer, refused=g.refused)
    response = view.render(answer, form) if view and view.render else respond(answer, operation.status)
    if notices := context().notices:
        response.headers["Memento-Notice"] = " ".join(notices).encode("ascii", "backslashreplace").decode()
    return response


MIRROR: Mapping[str, Tool] = {tool.address: tool for tool in catalogue.tools(("care",)).values() if tool.address}
"""
The addresses of one of the published designs, each with the tool that answers it; `DELETE /api/ID` is `memory_forget`.

No model provider uses them, so every request to them is ours, and one that lacks an argument, or has one that the tool does not
know, is refused by name; a DELETE is ours only if it names a memory.
"""

MEMORY = re.compile(r"urn:memento:[^/\s]+|[0-9a-f]{4,12}(?:-[0-9a-f]{4,12})*")
"""A memory in an address: its IRI, or the end of its IRI."""


def find_mirrored() -> Tool | None:
    """Return the tool that a request below `/api` is for; None if it is for a provider."""
    if request.method == "DELETE":
        is_memory = MEMORY.fullmatch(request.path.removeprefix("/api/"))
        return catalogue.tools(("care",))["memory_forget"] if is_memory else None
    return MIRROR.get(f"{request.method} {request.path}")


def answer_mirrored(tool: Tool) -> Response:
    """Answer one of the mirrored addresses with its tool; raise `InputError` for an argument that is missing or unknown."""
    many = [field.encode_name for field in structs.fields(tool.arguments) if "tags" in field.encode_name]
    if request.method == "POST":
        body = load_json(request.get_data()) if request.get_data().strip() else {}
        if not isinstance(body, dict):
            raise InputError(f"send a JSON object with the arguments of {tool.name}, such as {{{_example_of(tool)}}}")
        given = dict(cast("Json", body))
    else:
        given = {key: request.args.getlist(key) if key in many else value for key, value in request.args.items()}
    if request.method == "DELETE":
        given["id"] = request.path.removeprefix("/api/")
    held = context()
    reach = Reach(memory=Memento(held.service, held.access), namespace=namespace())
    told = tool.run(reach, tool.parse_arguments(given))
    assert isinstance(told, Told)  # none of these tools asks the user first
    return respond(to_structured(told.answer), 201 if tool.stores_unasked else 200)


def _example_of(tool: Tool) -> str:
    """Return the required arguments of a tool as they stand in a JSON object."""
    needed = [field.encode_name for field in structs.fields(tool.arguments) if field.required]
    return ", ".join(f'"{name}": "…"' for name in needed)


def respond(answer: object, status: int = 200) -> Response:
    """Return an answer as a JSON response."""
    return Response(encode(answer), status=status, mimetype="application/json")


def read_operation(operation: type[Operation[Any]], places: Mapping[str, Any]) -> Operation[Any]:
    """
    Return the operation that the request asks for.

    Raises:
        InputError: an argument is missing, unknown, of the wrong type, or out of bounds; names it.
        UnsupportedMediaType: the body has a media type other than JSON.
    """
    declared = _declare(operation)
    free = {name: field for name, field in declared.items() if name not in places}
    values = _read_body(operation, free) if route_of(operation)[0] == "POST" else _read_parameters(operation, free)
    values |= places
    values["namespace"] = values.get("namespace") or namespace()
    return build(operation, values)


def build(operation: type[Operation[Any]], values: Mapping[str, Any]) -> Operation[Any]:
    """Return an operation with these arguments, ignoring those that are None; raises as `read_operation`."""
    declared = _declare(operation)
    given = {name: value for name, value in values.items() if value is not None}
    for name, field in declared.items():
        if field.is_required and name not in given:
            others = f" (or {', '.join(field.aliases)})" if field.aliases else ""
            raise InputError(f"{name}{others} is missing or empty: {field.description or 'it is needed'}")
        if name in given and not field.fails_apart:
            check_value(field, given[name])
            _refuse_unknown_in_rows(field, given[name])
    apart = {name: given.pop(name) for name, field in declared.items() if field.fails_apart and name in given}
    return structs.replace(decode(operation, given | dict.fromkeys(apart, ())), **apart)


@cache
def _declare(operation: type[Operation[Any]]) -> Mapping[str, Field]:
    complete(operation)
    return fields_of(operation)


def _read_format(formats: tuple[str, ...], operation: type[Operation[Any]]) -> str:
    """Return the requested format, and refuse query parameters that a POST does not take."""
    if route_of(operation)[0] == "POST":
        known = ("format",) if formats else ()
        extra = IMPORT_OPTIONS if operation is ImportNotes else ()
        return Parameters(*known, *extra).choice("format", (JSON, *formats))
    return request.args.get("format") or JSON


def read_form(operation: type[Operation[Any]], form: MultiDict[str, str]) -> Operation[Any]:
    """Return the operation that a form asks for, ignoring empty fields; raises as `read_operation`."""
    values = _read_parameters(operation, _declare(operation), form)
    values["namespace"] = form.get("namespace")
    return build(operation, {name: value for name, value in values.items() if value != ""})


def _read_parameters(
    operation: type[Operation[Any]], declared: Mapping[str, Field], form: MultiDict[str, str] | None = None
) -> Json:
    """Return the arguments in the query string or in a form."""
    formats = VIEWS[operation].formats if operation in VIEWS and form is None else ()
    lists = [name for name, field in declared.items() if field.is_list]
    names = [alias for name, field in declared.items() for alias in (name, *field.aliases)]
    parameters = Parameters(*names, *(("format",) if formats else ()), many=lists, form=form)
    if formats:
        parameters.choice("format", (JSON, *formats))
    values: Json = {}
    for name, field in declared.items():
        if field.is_list:
            values[name] = parameters.all(name) or None
        elif field.type is bool:
            values[name] = parameters.flag(name) if parameters.read_text(name) else None
        elif field.type is int:
            values[name] = parameters.read_number(name)
        elif field.type is float:
            values[name] = parameters.decimal(name)
        else:
            values[name] = parameters.read_text(name, *field.aliases)
    return values


def _read_body(operation: type[Operation[Any]], declared: Mapping[str, Field]) -> Json:
    """Return the arguments in the body's JSON object; an empty body counts as an empty object if no argument is required."""
    needed = [name for name, field in declared.items() if field.is_required]
    if not request.get_data().strip() and (not needed or request.is_json):
        if needed:
            raise InputError(f"send a JSON object with {', '.join(needed)}: the body is empty")
        return {}
    called = {alias: name for name, field in declared.items() for alias in field.aliases}
    values = {called.get(name, name): value for name, value in read_object(*declared, *called).fields.items()}
    if operation is Note:
        values["idempotency_key"] = values.get("idempotency_key") or request.headers.get("Idempotency-Key")
    return values


def _refuse_unknown_in_rows(field: Field, value: object) -> None:
    """Refuse rows with unknown fields, so that a misspelt field is not ignored."""
    (kind, *_) = get_args(field.type) or (None,)
    if not (field.is_list or isinstance(value, list)) or not (isinstance(kind, type) and is_dataclass(kind)):
        return
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise InputError(f"{field.name} must be a list of objects")
    for number, row in enumerate(value, start=1):
        try:
            raise_if_unknown_field(row, kind)
        except InputError as error:
            raise InputError(f"row {number}: {error}") from error


IMPORT_OPTIONS = ("consolidate", "dry_run", "origin", "part_of")
"""The arguments of an import that are in the query string, since the body is the rows."""


def _read_note_rows() -> ImportNotes:
    """Return the import in the body: JSON lines, a JSON array, or an object with `rows`."""
    data = request.get_data()
    asked = Parameters(*IMPORT_OPTIONS)
    if request.is_json and isinstance(body := load_object(data), dict) and "rows" in body:
        if not isinstance(rows := body["rows"], list) or not all(isinstance(row, dict) for row in rows):
            raise InputError('rows must be a list of objects such as {"content": "…"}')
        sifted = sift_records(Record(f"row {number}", row) for number, row in enumerate(rows, start=1))
    else:
        sifted = sift_rows(data, "the body", "json")
    g.refused = sifted.refused
    return ImportNotes(
        sifted.rows,
        asked.flag("consolidate", default=True),
        asked.flag("dry_run"),
        asked.read_text("origin") or "import",
        asked.read_text("part_of"),
        namespace=namespace(),
    )


def load_object(data: bytes) -> object:
    """Return the body as one JSON value, or None if it is several lines of JSON."""
    try:
        return load_json(data)
    except InputError:
        return None


VIEWS[ImportNotes] = View(read=_read_note_rows, most_bytes=lambda settings: IMPORT_BYTES)

IMPORT_RDF = "/memory/import/rdf"
CONTEXT = "/context.jsonld"


def _send_export() -> Response:
    """Stream every graph that the caller may see, or those of one namespace, as one document."""
    asked = read_operation(Export, {"file": "memento.trig", "overwrite": False})
    found = export_pieces(cast(Export, asked), context())
    response = Response(_send_pieces(found.pieces, waiting_client(request.environ)), mimetype=found.form.media)
    response.headers["Content-Disposition"] = f'attachment; filename="memento{found.form.suffixes[0]}"'
    response.headers["Memento-Format"] = found.form.name
    response.headers["Memento-Statements"] = str(found.statements)
    return response


def _receive_rdf() -> Response:
    """Import an RDF document; its format is in `format`, or follows from its media type."""
    asked = Parameters("format", "data", "check", "name")
    name, encoding = asked.read_text("name") or "the body", request.headers.get("Content-Encoding", "identity")
    if encoding not in ("identity", "gzip"):
        raise InputError(f"Content-Encoding must be gzip or not be there, not {encoding[:40]!r}")
    held = context()
    most = held.settings.limits.document_bytes
    with spool(request.stream, name, held.service.datadir.work, is_packed=encoding == "gzip", most=most) as source:
        merged = take_in(
            source,
            name,
            asked.read_text("format") or request.mimetype or "nothing",
            held,
            data=asked.read_text("data"),
            check=asked.flag("check", default=True),
            namespace=namespace(),
            waiting=waiting_client(request.environ),
        )
    return respond(merged)


def _send_context() -> Response:
    """Send the JSON-LD context of the vocabulary."""
    Parameters()
    return Response(assets.read("ontology/context.jsonld"), mimetype="application/ld+json")


def _send_pieces(pieces: Iterator[bytes], presence: WaitingClient) -> Iterator[bytes]:
    """Yield the pieces while the client waits; an answer that broke off must not look complete."""
    try:
        for piece in pieces:
            if presence.has_left:
                return
            yield piece
    except Exception:
        presence.is_broken = True
        raise


for _views in plugin.collect("views").values():
    VIEWS.update(_views)
