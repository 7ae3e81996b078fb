"""
The client of a running service: sends operations over HTTP, decodes the answers, and raises the errors of the service.

*Because:* it uses `http.client`, because a command that talks to a running service must take less than 0.1 s, and importing
`httpx2` takes half of that. For the same reason the classes of `model` are imported only where an answer is decoded.
"""

from __future__ import annotations

import http.client
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from memento.codec import plain
from memento.errors import InputError, MementoError, Unreachable
from memento.operations import Operation, care, graphs, notes
from memento.operations.base import FILTERS, answer_type, places_of, route_of
from memento.python.memory import Memory

if TYPE_CHECKING:
    from email.message import Message

    from memento.model import Changed, Exported, Imported, Merged
    from memento.ports import Progress

PIECE = 1 << 16
"""Bytes that are read at once from an answer that may be long."""


class Answer(NamedTuple):
    """An HTTP response."""

    status: int
    media: str
    body: bytes


class Transport:
    """The connection to a running service; every request opens a new one. May be used from many threads."""

    def __init__(
        self, address: str, *, namespace: str = "main", token: str | None = None, timeout_s: float | None = None
    ) -> None:
        """
        Args:
            address: the address of the service, as `http://127.0.0.1:6366`.
            namespace: the namespace for calls that name none.
            timeout_s: seconds to wait for the next data; default no timeout, because a rebuild may take any time.

        Raises:
            InputError: the address has another form.
        """
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
            said = "an address with a password in it" if parts.password else repr(address)
            raise InputError(f"{said} is none of a service: give one such as http://127.0.0.1:6366, and a token apart")
        self.address = address.rstrip("/")
        self.namespace = namespace
        self._token = token
        self._timeout_s = timeout_s
        self.on_degraded: Callable[[str], None] = lambda notice: None
        """Called when an answer says that the memory is read-only, with the reason and the time that the memory is from."""
        self.on_notice: Callable[[str], None] = lambda notice: None
        """Called with the notice of an answer that has one."""

    def ask(self, operation: Operation[Any]) -> bytes:
        """
        Return the service's answer to an operation as JSON, for callers that need no model classes.

        Raises:
            MementoError: the error that the service raised.
            Unreachable: no service answers.
        """
        verb, path = route_of(type(operation))
        arguments = {name: value for name, value in plain(operation).items() if value is not None}
        arguments.setdefault("namespace", self.namespace)
        for name in places_of(type(operation)):
            iri = str(arguments.pop(name, ""))
            if not iri.strip():
                root = path.split("/")[1]
                listing = "list" if root == "memory" else f"{root} list"
                raise InputError(f"{iri!r} is no IRI: `memento {listing}` shows those there are")
            path = path.replace(f"{{{name}}}", quote(iri, safe=""))
        if verb == "POST":
            body = json.dumps(arguments).encode()
            return self.send(verb, path, body, {"Content-Type": "application/json"}).body
        return self.send(verb, add_parameters(path, arguments)).body

    def send(self, verb: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Answer:
        """Send one request and return its answer; raises as `ask`."""
        with self._exchange(verb, path, body or None, headers or {}) as response, self._translate_errors():
            return Answer(response.status, response.headers.get_content_type(), response.read())

    @contextmanager
    def stream(
        self, verb: str, path: str, body: IO[bytes] | None = None, headers: Mapping[str, str] | None = None
    ) -> Iterator[tuple[Message, Iterator[bytes]]]:
        """Send a body, which may be a file; give the headers and, piece by piece, the body of the answer. Raises as `ask`."""
        with self._exchange(verb, path, body, headers or {}) as response:
            yield response.headers, self._read_pieces(response)

    def _read_pieces(self, response: http.client.HTTPResponse) -> Iterator[bytes]:
        while True:
            with self._translate_errors():
                piece = response.read(PIECE)
            if not piece:
                return
            yield piece

    @contextmanager
    def _exchange(
        self, verb: str, path: str, body: bytes | IO[bytes] | None, headers: Mapping[str, str]
    ) -> Iterator[http.client.HTTPResponse]:
        """Give the open response to a request until the end of the block; raises as `ask`."""
        address = urlsplit(self.address)
        kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
        connection = kind(address.netloc, timeout=self._timeout_s)
        sent = {**headers, **({"Authorization": f"Bearer {self._token}"} if self._token else {})}
        try:
            with self._translate_errors():
                with suppress(
                    BrokenPipeError, ConnectionResetError
                ):  # perhaps the request was too long: the service may still have sent an answer
                    connection.request(verb, path, body, sent)
                response = connection.getresponse()
                if said := response.headers.get("Memento-Degraded"):
                    self.on_degraded(said)
                if said := response.headers.get("Memento-Notice"):
                    self.on_notice(said)
                if response.status >= 400:
                    answer = Answer(response.status, response.headers.get_content_type(), response.read())
                    raise _failure(answer, self.address)
            yield response
        finally:
            connection.close()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except UnicodeEncodeError as error:
            raise InputError(f"this cannot be sent: {error}") from error
        except http.client.IncompleteRead as error:
            raise Unreachable(f"the service at {self.address} broke off in the middle: its log says why") from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Unreachable(f"no service answers at {self.address}: start it with `memento serve`") from error


def error_called(code: str, message: str) -> MementoError:
    """
    Return the error with a `code`; for a code that this version does not know, a plain `MementoError`.

    >>> error_called("not_found", "nothing here")
    NotFound('nothing here')
    """
    kinds = [MementoError]
    for kind in kinds:
        if (error := kind(message)).code == code:
            return error
        kinds += kind.__subclasses__()
    return MementoError(message)


def _failure(answer: Answer, address: str) -> MementoError:
    try:
        told = json.loads(answer.body)["error"]
        return error_called(str(told["code"]), str(told["message"]))
    except (ValueError, KeyError, TypeError):
        return Unreachable(f"what answers at {address} (HTTP status {answer.status}) is no Memento service")


def add_parameters(path: str, parameters: Mapping[str, object] | Sequence[tuple[str, object]]) -> str:
    """Return an address with a query string."""
    given = parameters.items() if isinstance(parameters, Mapping) else parameters
    return f"{path}?{urlencode([(name, _as_parameter(value)) for name, value in given], doseq=True, errors='replace')}"


def _as_parameter(value: object) -> object:
    return json.dumps(value) if isinstance(value, bool) else value


A = TypeVar("A")
Handler = Callable[[Any, Transport, "Progress | None"], Any]

PORTION = 200
"""Rows that an import sends per request: a few seconds of work, so that it can report progress."""
_GZIP = b"\x1f\x8b"


class Client(Memory):
    """The memory behind a running service; a context manager."""

    def __init__(
        self, address: str, *, namespace: str = "main", token: str | None = None, timeout_s: float | None = None
    ) -> None:
        """
        Args:
            address: the address of the service, as `http://127.0.0.1:6366`.
            namespace: the namespace for calls that name none.
            timeout_s: seconds to wait for the next data; default no timeout, because a rebuild may take any time.

        Raises:
            InputError: the address has another form.
        """
        self.transport = Transport(address, namespace=namespace, token=token, timeout_s=timeout_s)
        self.transport.on_notice = lambda notice: self.on_notice(notice)

    @property
    def address(self) -> str:
        """The address of the service."""
        return self.transport.address

    @property
    def namespace(self) -> str:
        """The namespace of calls that name none."""
        return self.transport.namespace

    def call(self, operation: Operation[A], progress: Progress | None = None) -> A:
        """Send an operation; one that takes a single request reports progress only at its end. Raises as `Transport.ask`."""
        if handler := _BY_PROTOCOL.get(type(operation)) or _load(operation.over_http):
            answer: A = handler(operation, self.transport, progress)
            return answer
        from memento.codec import decode

        kind: type[A] = answer_type(type(operation))
        return decode(kind, self.transport.ask(operation))

    @property
    def ready(self) -> bool:
        """Tell whether the service reports that its embedder is loaded."""
        try:
            return self.transport.send("GET", "/health").status == 200
        except MementoError:
            return False


def _query(operation: graphs.Query, transport: Transport, progress: Progress | None) -> tuple[bytes, str]:
    headers = {"Content-Type": "application/sparql-query", "Accept": operation.accept or "*/*"}
    parameters: list[tuple[str, object]] = [("namespace", operation.namespace or transport.namespace)]
    parameters += [("default-graph-uri", graph) for graph in operation.default_graphs or ()]
    parameters += [("named-graph-uri", graph) for graph in operation.named_graphs or ()]
    if operation.timeout_s is not None:
        parameters.append(("timeout", operation.timeout_s))
    address = add_parameters("/sparql", parameters)
    answer = transport.send("POST", address, operation.sparql.encode("utf-8", errors="replace"), headers)
    return answer.body, answer.media


def _update(operation: graphs.Update, transport: Transport, progress: Progress | None) -> Changed:
    from memento.codec import decode
    from memento.model import Changed

    parameters: list[tuple[str, object]] = [("namespace", operation.namespace or transport.namespace)]
    parameters += [("using-graph-uri", graph) for graph in operation.using_graphs or ()]
    parameters += [("using-named-graph-uri", graph) for graph in operation.using_named_graphs or ()]
    if operation.timeout_s is not None:
        parameters.append(("timeout", operation.timeout_s))
    body = operation.sparql.encode("utf-8", errors="replace")
    headers = {"Content-Type": "application/sparql-update"}
    return decode(Changed, transport.send("POST", add_parameters("/sparql/update", parameters), body, headers).body)


def _get_graph(operation: graphs.GetGraph, transport: Transport, progress: Progress | None) -> tuple[bytes, str]:
    address = _graph_address(operation.graph, operation.namespace, transport)
    answer = transport.send("GET", address, headers={"Accept": operation.accept or "*/*"})
    return answer.body, answer.media


def _write_graph(
    operation: graphs.PutGraph | graphs.PostGraph | graphs.DeleteGraph, transport: Transport, progress: Progress | None
) -> Changed:
    from memento.codec import decode
    from memento.model import Changed

    verb, document, headers = "DELETE", b"", dict[str, str]()
    if not isinstance(operation, graphs.DeleteGraph):
        verb = "PUT" if isinstance(operation, graphs.PutGraph) else "POST"
        document = operation.document
        headers = {"Content-Type": operation.media, "Content-Length": str(len(document))}
    address = _graph_address(operation.graph, operation.namespace, transport)
    return decode(Changed, transport.send(verb, address, document, headers).body)


def _patch_graph(operation: graphs.PatchGraph, transport: Transport, progress: Progress | None) -> Changed:
    from memento.codec import decode
    from memento.model import Changed

    headers = {"Content-Type": "application/sparql-update", "Prefer": "return=representation"}
    address = _graph_address(operation.graph, operation.namespace, transport)
    body = operation.sparql.encode("utf-8", errors="replace")
    return decode(Changed, transport.send("PATCH", address, body, headers).body)


def _graph_address(graph: str | None, namespace: str | None, transport: Transport) -> str:
    name: tuple[str, object] = ("default", "") if graph is None else ("graph", graph)
    return add_parameters("/sparql/graphs", [name, ("namespace", namespace or transport.namespace)])


def _import_notes(operation: notes.ImportNotes, transport: Transport, progress: Progress | None) -> Imported:
    from memento.codec import decode, encode
    from memento.model import Imported

    rows, done = tuple(operation.rows), Imported(notes=(), memories=0, invalidated=0)
    parameters = {
        "consolidate": operation.consolidate,
        "dry_run": operation.dry_run,
        "origin": operation.origin,
        "namespace": operation.namespace or transport.namespace,
    }
    for first in range(0, len(rows), PORTION):
        portion = rows[first : first + PORTION]
        body = b"\n".join(encode(row) for row in portion)
        address = _with_given("/memory/import", {**parameters, "part_of": done.iri or operation.part_of})
        try:
            answer = transport.send("POST", address, body, {"Content-Type": "application/jsonl"})
        except InputError as error:
            raise type(error)(f"{_name_portion(first, portion)}: {error}") from error
        some = decode(Imported, answer.body)
        done = Imported(
            notes=done.notes + some.notes,
            memories=done.memories + some.memories,
            invalidated=done.invalidated + some.invalidated,
            skipped=done.skipped + some.skipped,
            pending=done.pending + some.pending,
            verbatim=done.verbatim + some.verbatim,
            known=done.known + some.known,
            redacted=Counter(done.redacted) + Counter(some.redacted),
            refused=(*done.refused, *(f"{_name_portion(first, portion)}: {one}" for one in some.refused)),
            iri=done.iri or some.iri,
            lines=done.lines or some.lines,
        )
        if progress:
            progress(first + len(portion), len(rows))
    return done


def _name_portion(first: int, portion: Sequence[object]) -> str:
    return f"in the portion of rows {first + 1} to {first + len(portion)}"


def _export(operation: care.Export, transport: Transport, progress: Progress | None) -> Exported:
    """Write the file on this machine."""
    from memento.archive.files import raise_if_exists, save_document
    from memento.archive.okf import save_bundle

    if operation.form != "okf":
        raise_if_exists(Path(operation.file), overwrite=operation.overwrite)
    key_file = operation.pseudonym_key_file
    parameters = {
        "format": operation.form or str(operation.file),
        "vectors": operation.vectors,
        "audit": operation.audit,
        "past": operation.past,
        "anonymise": operation.anonymise,
        "dates": None if operation.dates == "keep" else operation.dates,
        "pseudonym_key_file": None if key_file is None else str(Path(key_file).expanduser().absolute()),
        "namespace": operation.namespace,
        **{name: getattr(operation, name) for name in FILTERS},
    }
    with transport.stream("GET", _with_given("/memory/export", parameters)) as (headers, pieces):
        form, count = headers.get("Memento-Format", ""), int(headers.get("Memento-Statements", 0))
        if form == "okf":
            return save_bundle(pieces, Path(operation.file), count, overwrite=operation.overwrite)
        return save_document(pieces, Path(operation.file), form, count, progress, overwrite=operation.overwrite)


def _import_rdf(operation: care.ImportRdf, transport: Transport, progress: Progress | None) -> Merged:
    """Send a file of this machine, or the files of a bundle."""
    from memento.codec import decode
    from memento.model import Merged

    path = Path(operation.file)
    bundle = b""
    if path.is_dir():
        from memento.archive.okf import read_folder

        bundle = read_folder(path)
    parameters = {
        "format": operation.form or ("okf" if path.is_dir() else str(operation.file)),
        "data": operation.data,
        "check": operation.check,
        "namespace": operation.namespace,
        "name": path.name,
    }
    try:
        with io.BytesIO(bundle) if bundle else path.open("rb") as source:
            packed = {"Content-Encoding": "gzip"} if source.read(2) == _GZIP else {}
            size = source.seek(0, io.SEEK_END)
            source.seek(0)
            headers = {"Content-Type": "application/octet-stream", "Content-Length": str(size)}
            address = _with_given("/memory/import/rdf", parameters)
            with transport.stream("POST", address, source, {**headers, **packed}) as (_, pieces):
                merged = decode(Merged, b"".join(pieces))
    except OSError as error:
        raise InputError(f"{operation.file} cannot be read: {error.strerror}") from error
    if progress:
        progress(merged.statements, merged.statements)
    return merged


def _rebuild(operation: care.Rebuild, transport: Transport, progress: Progress | None) -> int:
    done = int(transport.ask(operation))
    if progress:
        progress(done, done)
    return done


def _load(dotted: str) -> Handler | None:
    """Import the function that asks an operation of a plug-in over HTTP; None if one request does."""
    module, _, name = dotted.partition(":")
    return getattr(import_module(module), name) if name else None


def _with_given(path: str, parameters: Mapping[str, object]) -> str:
    return add_parameters(path, {name: value for name, value in parameters.items() if value is not None})


_BY_PROTOCOL: Mapping[type[Operation[Any]], Handler] = {
    graphs.Query: _query,
    graphs.Update: _update,
    graphs.GetGraph: _get_graph,
    graphs.PutGraph: _write_graph,
    graphs.PostGraph: _write_graph,
    graphs.PatchGraph: _patch_graph,
    graphs.DeleteGraph: _write_graph,
    notes.ImportNotes: _import_notes,
    care.Export: _export,
    care.ImportRdf: _import_rdf,
    care.Rebuild: _rebuild,
}
"""The operations that take more than one JSON request and one JSON answer."""
