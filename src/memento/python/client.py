"""
A running service as a Python object.

*Guarantees:* errors are those of the service, by class and message; a service that does not answer is `Unreachable`. May be
used from many threads: each call has a connection for itself.

*But:* an import travels in portions. One that fails leaves the portions before it stored; the error says which rows it is about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from memento.errors import InputError, MementoError
from memento.operations import Operation, care, documents, graphs, notes
from memento.operations.base import answer_type
from memento.python.memory import Memory
from memento.python.transport import Transport, add_parameters

if TYPE_CHECKING:
    from memento.model import Changed, Exported, Imported, Merged
    from memento.ports import Progress

A = TypeVar("A")
Handler = Callable[[Any, Transport, "Progress | None"], Any]

PORTION = 200
"""Rows that an import sends at once: a few seconds of work, so that progress shows."""
_GZIP = b"\x1f\x8b"


class Client(Memory):
    """The memory behind a running service; a context manager."""

    def __init__(
        self, address: str, *, namespace: str = "main", token: str | None = None, timeout_s: float | None = None
    ) -> None:
        """
        Args:
            address: as `http://127.0.0.1:6366`.
            namespace: where calls that name none go.
            timeout_s: seconds to wait for a sign of life; default for ever, as a rebuild takes as long as it takes.
        """
        self.transport = Transport(address, namespace=namespace, token=token, timeout_s=timeout_s)

    @property
    def address(self) -> str:
        """Where the service answers."""
        return self.transport.address

    @property
    def namespace(self) -> str:
        """Where calls that name none go."""
        return self.transport.namespace

    def call(self, operation: Operation[A], progress: Progress | None = None) -> A:
        """Send an operation; progress of what the service does at once is told at its end. Raises as `Transport.ask`."""
        if handler := _BY_PROTOCOL.get(type(operation)):
            answer: A = handler(operation, self.transport, progress)
            return answer
        from memento.codec import decode

        kind: type[A] = answer_type(type(operation))
        return decode(kind, self.transport.ask(operation))

    @property
    def ready(self) -> bool:
        """Whether the service says that its embedder is loaded."""
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


def _graph_address(graph: str | None, namespace: str | None, transport: Transport) -> str:
    name: tuple[str, object] = ("default", "") if graph is None else ("graph", graph)
    return add_parameters("/sparql/graphs", [name, ("namespace", namespace or transport.namespace)])


def _import_notes(operation: notes.ImportNotes, transport: Transport, progress: Progress | None) -> Imported:
    from memento.codec import decode, encode
    from memento.model import Imported

    rows, done = tuple(operation.rows), Imported(notes=(), memories=0, invalidated=0)
    parameters = {"consolidate": operation.consolidate, "namespace": operation.namespace or transport.namespace}
    address = add_parameters("/memory/import", parameters)
    for first in range(0, len(rows), PORTION):
        portion = rows[first : first + PORTION]
        body = b"\n".join(encode(row) for row in portion)
        try:
            answer = transport.send("POST", address, body, {"Content-Type": "application/jsonl"})
        except InputError as error:
            raise type(error)(f"in the portion of rows {first + 1} to {first + len(portion)}: {error}") from error
        some = decode(Imported, answer.body)
        done = Imported(
            notes=done.notes + some.notes,
            memories=done.memories + some.memories,
            invalidated=done.invalidated + some.invalidated,
            skipped=done.skipped + some.skipped,
            pending=done.pending + some.pending,
            verbatim=done.verbatim + some.verbatim,
        )
        if progress:
            progress(first + len(portion), len(rows))
    return done


def _export(operation: documents.Export, transport: Transport, progress: Progress | None) -> Exported:
    """Write the file on this machine."""
    from memento.archive.files import save_document

    parameters = {
        "format": operation.form or str(operation.file),
        "vectors": operation.vectors,
        "audit": operation.audit,
        "namespace": operation.namespace,
    }
    with transport.stream("GET", _with_given("/memory/export", parameters)) as (headers, pieces):
        form, count = headers.get("Memento-Format", ""), int(headers.get("Memento-Statements", 0))
        return save_document(pieces, Path(operation.file), form, count, progress)


def _import_rdf(operation: documents.ImportRdf, transport: Transport, progress: Progress | None) -> Merged:
    """Send a file of this machine."""
    from memento.codec import decode
    from memento.model import Merged

    path = Path(operation.file)
    parameters = {
        "format": operation.form or str(operation.file),
        "data": operation.data,
        "check": operation.check,
        "namespace": operation.namespace,
        "name": path.name,
    }
    try:
        with path.open("rb") as source:
            packed = {"Content-Encoding": "gzip"} if source.read(2) == _GZIP else {}
            source.seek(0)
            headers = {"Content-Type": "application/octet-stream", "Content-Length": str(path.stat().st_size)}
            address = _with_given("/memory/import/rdf", parameters)
            with transport.stream("POST", address, source, {**headers, **packed}) as (_, pieces):
                merged = decode(Merged, b"".join(pieces))
    except OSError as error:
        raise InputError(f"{operation.file} cannot be read: {error.strerror}") from error
    if progress:
        progress(merged.statements, merged.statements)
    return merged


def _care_for_folder(operation: care.Backup | care.Restore, transport: Transport, progress: Progress | None) -> Any:
    """Name a folder from the root: it is on the machine of the service, which has another working directory."""
    from memento.codec import decode

    folder = None if operation.folder is None else str(Path(operation.folder).expanduser().absolute())
    keep = operation.keep if isinstance(operation, care.Backup) else None
    absolute = care.Backup(folder, keep) if isinstance(operation, care.Backup) else care.Restore(folder)
    kind: type[Any] = answer_type(type(operation))
    return decode(kind, transport.ask(absolute))


def _rebuild(operation: care.Rebuild, transport: Transport, progress: Progress | None) -> int:
    done = int(transport.ask(operation))
    if progress:
        progress(done, done)
    return done


def _with_given(path: str, parameters: Mapping[str, object]) -> str:
    return add_parameters(path, {name: value for name, value in parameters.items() if value is not None})


_BY_PROTOCOL: Mapping[type[Operation[Any]], Handler] = {
    graphs.Query: _query,
    graphs.Update: _update,
    graphs.GetGraph: _get_graph,
    graphs.PutGraph: _write_graph,
    graphs.PostGraph: _write_graph,
    graphs.DeleteGraph: _write_graph,
    notes.ImportNotes: _import_notes,
    documents.Export: _export,
    documents.ImportRdf: _import_rdf,
    care.Backup: _care_for_folder,
    care.Restore: _care_for_folder,
    care.Rebuild: _rebuild,
}
"""The operations that do not travel as one JSON object there and one back."""
