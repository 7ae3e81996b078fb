"""
A running service as a Python object: the methods of `service.Memento`, over HTTP.

*Guarantees:* errors are those of the service, by class and message; a service that does not answer is `Unreachable`. May be
used from many threads: each call has a connection of its own.

*But:* an import travels in portions. One that fails leaves the portions before it stored; the error says which rows it is about.

*Because:* `http.client` and no richer library: a command that talks to a running service must not take 0.1 s, and `httpx2` takes
half of that to import. For the same reason nouns are imported where they are made: `ask` needs none.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from memento.errors import InputError, MementoError, Unreachable

if TYPE_CHECKING:
    from datetime import datetime

    from memento.model import Described, Difference, Forgotten, Imported, Listed, Noted, NoteRow, Recollection, Status
    from memento.ports import Progress

T = TypeVar("T")

ROUTES: Mapping[str, tuple[str, str]] = {
    "note": ("POST", "/memory/notes"),
    "forget": ("DELETE", "/memory/{iri}"),
    "recall": ("GET", "/memory/recall"),
    "get": ("GET", "/memory/{iri}"),
    "list": ("GET", "/memory/list"),
    "status": ("GET", "/memory/status"),
    "check": ("GET", "/memory/check"),
    "rebuild": ("POST", "/memory/rebuild"),
}
"""Verb and path by method; the arguments of a POST are its body, those of the others its query."""

PORTION = 200
"""Rows that an import sends at once: a few seconds of work, so that progress shows."""


class Answer(NamedTuple):
    """What came back over HTTP."""

    status: int
    media: str
    body: bytes


class Client:
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
        self.address = address.rstrip("/")
        self.namespace = namespace
        self._token = token
        self._timeout_s = timeout_s

    def note(
        self,
        content: str,
        *,
        at: datetime | str | None = None,
        title: str | None = None,
        speaker: str | None = None,
        session: str | None = None,
        position: int | None = None,
        idempotency_key: str | None = None,
        namespace: str | None = None,
    ) -> Noted:
        """See `Memento.note`."""
        from memento.model import Noted

        row = {"title": title, "speaker": speaker, "session": session, "position": position}
        key = {"idempotency_key": idempotency_key, "namespace": namespace}
        return _made(Noted, self.ask("note", content=content, at=at, **row, **key))

    def import_notes(
        self,
        rows: Iterable[NoteRow],
        *,
        consolidate: bool = True,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> Imported:
        """See `Memento.import_notes`; but rows before a failing portion stay stored."""
        from memento.model import Imported

        listed = list(rows)
        done = Imported(notes=(), memories=0, invalidated=0)
        for first in range(0, len(listed), PORTION):
            some = self._imported(listed[first : first + PORTION], first, consolidate, namespace)
            done = Imported(
                notes=done.notes + some.notes,
                memories=done.memories + some.memories,
                invalidated=done.invalidated + some.invalidated,
                skipped=done.skipped + some.skipped,
            )
            if progress:
                progress(len(done.notes), len(listed))
        return done

    def forget(self, iri: str, *, erase: bool = False, namespace: str | None = None) -> Forgotten:
        """See `Memento.forget`."""
        from memento.model import Forgotten

        return _made(Forgotten, self.ask("forget", iri=iri, erase=erase, namespace=namespace))

    def recall(
        self,
        question: str,
        *,
        k: int | None = None,
        as_of: datetime | str | None = None,
        believed_at: datetime | str | None = None,
        profile: str | None = None,
        gate: bool | None = None,
        explain: bool = False,
        namespace: str | None = None,
    ) -> Recollection:
        """See `Memento.recall`."""
        from memento.model import Recollection

        how = {"as_of": as_of, "believed_at": believed_at, "profile": profile, "gate": gate, "explain": explain or None}
        return _made(Recollection, self.ask("recall", question=question, k=k, namespace=namespace, **how))

    def get(self, iri: str, *, namespace: str | None = None) -> Described:
        """See `Memento.get`."""
        from memento.model import Described

        return _made(Described, self.ask("get", iri=iri, namespace=namespace))

    def list(
        self, *, limit: int = 50, offset: int = 0, past: bool = False, namespace: str | None = None
    ) -> tuple[Listed, ...]:
        """See `Memento.list`."""
        from memento.model import Listed

        answer = self.ask("list", limit=limit, offset=offset, past=past, namespace=namespace)
        return _made(tuple[Listed, ...], answer)

    def query(self, sparql: str, *, accept: str = "", namespace: str | None = None) -> tuple[bytes, str]:
        """See `Memento.query`."""
        headers = {"Content-Type": "application/sparql-query", "Accept": accept or "*/*"}
        path = _path("/sparql", {"namespace": namespace or self.namespace})
        answer = self.send("POST", path, sparql.encode("utf-8", errors="replace"), headers)
        return answer.body, answer.media

    def status(self, *, namespace: str | None = None) -> Status:
        """See `Memento.status`."""
        from memento.model import Status

        return _made(Status, self.ask("status", namespace=namespace))

    def check(self) -> tuple[Difference, ...]:
        """See `Memento.check`."""
        from memento.model import Difference

        return _made(tuple[Difference, ...], self.ask("check"))

    def rebuild(self, progress: Progress | None = None) -> int:
        """See `Memento.rebuild`; progress is told of at the end only."""
        done = _made(int, self.ask("rebuild"))
        if progress:
            progress(done, done)
        return done

    @property
    def ready(self) -> bool:
        """Whether the service says that its embedder is loaded."""
        try:
            return self.send("GET", "/health").status == 200
        except MementoError:
            return False

    def close(self) -> None:
        """Nothing to let go of; here so that both kinds of memory close alike."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def ask(self, method: str, /, **arguments: object) -> bytes:
        """
        The JSON that a method of the service answers with, for callers that need no nouns.

        Raises:
            MementoError: what the service raised.
            Unreachable: no service answers.
        """
        verb, path = ROUTES[method]
        given: dict[str, object] = {"namespace": self.namespace}
        given |= {name: _written(value) for name, value in arguments.items() if value is not None}
        path = path.replace("{iri}", quote(str(given.pop("iri", "")), safe=""))
        if verb == "POST":
            body = json.dumps(given).encode()
            return self.send(verb, path, body, {"Content-Type": "application/json"}).body
        return self.send(verb, _path(path, given)).body

    def send(self, verb: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Answer:
        """One request and its answer; raises as `ask`."""
        address = urlsplit(self.address)
        kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
        connection = kind(address.netloc, timeout=self._timeout_s)
        sent = {**(headers or {}), **({"Authorization": f"Bearer {self._token}"} if self._token else {})}
        try:
            with suppress(
                BrokenPipeError, ConnectionResetError
            ):  # too long, perhaps: the answer may lie there all the same
                connection.request(verb, path, body or None, sent)
            response = connection.getresponse()
            answer = Answer(response.status, response.headers.get_content_type(), response.read())
        except UnicodeEncodeError as error:
            raise InputError(f"this cannot be sent: {error}") from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Unreachable(f"no service answers at {self.address}: start it with `memento serve`") from error
        finally:
            connection.close()
        if answer.status >= 400:
            raise _failure(answer, self.address)
        return answer

    def _imported(self, portion: Sequence[NoteRow], before: int, consolidate: bool, namespace: str | None) -> Imported:
        from memento.model import Imported
        from memento.wire import encode

        path = _path("/memory/import", {"consolidate": consolidate, "namespace": namespace or self.namespace})
        body = b"\n".join(encode(row) for row in portion)
        try:
            return _made(Imported, self.send("POST", path, body, {"Content-Type": "application/jsonl"}).body)
        except InputError as error:
            raise type(error)(f"in the portion of rows {before + 1} to {before + len(portion)}: {error}") from error


def error_called(code: str, message: str) -> MementoError:
    """
    The error of a class by its `code`; one that this version does not know is a plain `MementoError`.

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


def _made(cls: type[T], body: bytes) -> T:
    from memento.wire import decode

    return decode(cls, body)


def _path(path: str, parameters: Mapping[str, object]) -> str:
    return f"{path}?{urlencode({name: _written(value) for name, value in parameters.items()}, errors='replace')}"


def _written(value: object) -> object:
    """A time as ISO 8601, without an offset when it has none: the service knows the user's time zone."""
    if isinstance(value, bool):
        return json.dumps(value)
    return value.isoformat() if hasattr(value, "isoformat") else value
