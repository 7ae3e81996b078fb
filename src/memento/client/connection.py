"""
One request to a running service and its answer, with the errors that the service raised.

*Because:* `http.client` and no richer library: a command that talks to a running service must not take 0.1 s, and `httpx2` takes
half of that to import.
"""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, NamedTuple, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from memento.errors import InputError, MementoError, Unreachable

if TYPE_CHECKING:
    from email.message import Message

T = TypeVar("T")

ROUTES: Mapping[str, tuple[str, str]] = {
    "note": ("POST", "/memory/notes"),
    "note_status": ("GET", "/memory/notes/{iri}/status"),
    "retry": ("POST", "/memory/retry"),
    "correct": ("POST", "/memory/{iri}/correct"),
    "undo": ("POST", "/memory/{iri}/undo"),
    "sources": ("GET", "/memory/{iri}/sources"),
    "forget": ("DELETE", "/memory/{iri}"),
    "recall": ("GET", "/memory/recall"),
    "get": ("GET", "/memory/{iri}"),
    "list": ("GET", "/memory/list"),
    "entities": ("GET", "/memory/entities"),
    "timeline": ("GET", "/memory/timeline"),
    "infer": ("GET", "/memory/inferred"),
    "evaluate": ("POST", "/memory/sexpr"),
    "manifest": ("GET", "/memory/manifest"),
    "status": ("GET", "/memory/status"),
    "backup": ("POST", "/memory/backup"),
    "restore": ("POST", "/memory/restore"),
    "check": ("GET", "/memory/check"),
    "rebuild": ("POST", "/memory/rebuild"),
    "find_keys": ("GET", "/memory/keys"),
    "read_key": ("GET", "/memory/keys/{iri}"),
    "read_memory": ("POST", "/memory/{iri}/read"),
    "related": ("GET", "/memory/{iri}/related"),
    "recall_memories": ("POST", "/memory/keys/recall"),
    "remember": ("POST", "/memory/remember"),
    "remember_batch": ("POST", "/memory/remember/batch"),
    "conversation": ("GET", "/memory/conversation"),
    "list_memories": ("GET", "/memory/memories"),
    "cleanup_expired": ("POST", "/memory/cleanup"),
    "memory_stats": ("GET", "/memory/stats"),
    "strength": ("GET", "/memory/{iri}/strength"),
    "feedback": ("POST", "/memory/{iri}/feedback"),
    "associate": ("POST", "/memory/associations"),
    "trace": ("GET", "/memory/{iri}/trace"),
    "activate": ("POST", "/memory/activate"),
    "decay": ("POST", "/memory/decay"),
    "archive": ("POST", "/memory/archive"),
    "unarchive": ("POST", "/memory/{iri}/unarchive"),
    "add_cases": ("POST", "/cases"),
    "retrieve_cases": ("POST", "/cases/retrieve"),
    "retrieve_cases_each": ("POST", "/cases/retrieve/each"),
    "reward_cases": ("POST", "/cases/retrievals/{retrieval}/reward"),
    "list_cases": ("GET", "/cases"),
    "get_case": ("GET", "/cases/{case}"),
    "forget_case": ("DELETE", "/cases/{case}"),
    "navigate_cases": ("GET", "/cases/view"),
    "case_metrics": ("GET", "/cases/metrics"),
    "case_status": ("GET", "/cases/status"),
    "start_case": ("POST", "/cases/runs"),
    "task_run": ("GET", "/cases/runs/{run}"),
    "record_step": ("POST", "/cases/runs/{run}/steps"),
    "task_runs": ("GET", "/cases/runs"),
    "plan_task": ("POST", "/cases/plan"),
    "execute_task": ("POST", "/cases/runs/{run}/execute"),
    "list_tools": ("GET", "/cases/tools"),
    "prune_cases": ("POST", "/cases/prune"),
    "complete_case": ("POST", "/cases/runs/{run}/complete"),
}
"""Verb and path by method; the arguments of a POST are its body, those of the others its query."""

_PLACE = re.compile(r"\{(\w+)\}")


PIECE = 1 << 16
"""Bytes of an answer that are read together where it may be long."""


class Answer(NamedTuple):
    """What came back over HTTP."""

    status: int
    media: str
    body: bytes


class Connection:
    """The way to a running service; every request has a connection of its own."""

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
        self.on_degraded: Callable[[str], None] = lambda said: None
        """Told, with every answer, why the memory is read-only and of what time it is, while it is."""

    def ask(self, method: str, /, **arguments: object) -> bytes:
        """
        The JSON that a method of the service answers with, for callers that need no nouns.

        Raises:
            MementoError: what the service raised.
            Unreachable: no service answers.
        """
        verb, path = ROUTES[method]
        given: dict[str, object] = {"namespace": self.namespace}
        given |= {name: _timed(value) for name, value in arguments.items() if value is not None}
        for name in _PLACE.findall(path):
            iri = str(given.pop(name, ""))
            if not iri.strip():
                listing = "list" if name == "iri" else "cases list"
                raise InputError(f"{iri!r} is no IRI: `memento {listing}` shows those there are")
            path = path.replace(f"{{{name}}}", quote(iri, safe=""))
        if verb == "POST":
            body = json.dumps(given).encode()
            return self.send(verb, path, body, {"Content-Type": "application/json"}).body
        return self.send(verb, addressed(path, given)).body

    def send(self, verb: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Answer:
        """One request and its answer; raises as `ask`."""
        with self._asked(verb, path, body or None, headers or {}) as response, self._failures():
            return Answer(response.status, response.headers.get_content_type(), response.read())

    @contextmanager
    def streamed(
        self, verb: str, path: str, body: IO[bytes] | None = None, headers: Mapping[str, str] | None = None
    ) -> Iterator[tuple[Message, Iterator[bytes]]]:
        """The headers and, a piece at a time, the body of an answer of any length; what is sent may be a file. Raises as `ask`."""
        with self._asked(verb, path, body, headers or {}) as response:
            yield response.headers, self._pieces(response)

    def _pieces(self, response: http.client.HTTPResponse) -> Iterator[bytes]:
        while True:
            with self._failures():
                piece = response.read(PIECE)
            if not piece:
                return
            yield piece

    @contextmanager
    def _asked(
        self, verb: str, path: str, body: bytes | IO[bytes] | None, headers: Mapping[str, str]
    ) -> Iterator[http.client.HTTPResponse]:
        """The answer to a request, as long as it is read; raises as `ask`."""
        address = urlsplit(self.address)
        kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
        connection = kind(address.netloc, timeout=self._timeout_s)
        sent = {**headers, **({"Authorization": f"Bearer {self._token}"} if self._token else {})}
        try:
            with self._failures():
                with suppress(
                    BrokenPipeError, ConnectionResetError
                ):  # too long, perhaps: the answer may lie there all the same
                    connection.request(verb, path, body, sent)
                response = connection.getresponse()
                if said := response.headers.get("Memento-Degraded"):
                    self.on_degraded(said)
                if response.status >= 400:
                    answer = Answer(response.status, response.headers.get_content_type(), response.read())
                    raise _failure(answer, self.address)
            yield response
        finally:
            connection.close()

    @contextmanager
    def _failures(self) -> Iterator[None]:
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


def addressed(path: str, parameters: Mapping[str, object] | Sequence[tuple[str, object]]) -> str:
    given = parameters.items() if isinstance(parameters, Mapping) else parameters
    return f"{path}?{urlencode([(name, _written(value)) for name, value in given], doseq=True, errors='replace')}"


def made(cls: type[T], body: bytes) -> T:
    """The noun that a service has answered with."""
    from memento.codec import decode

    return decode(cls, body)


def _written(value: object) -> object:
    return json.dumps(value) if isinstance(value, bool) else _timed(value)


def _timed(value: object) -> object:
    """A time as ISO 8601, without an offset when it has none: the service knows the user's time zone."""
    return value.isoformat() if hasattr(value, "isoformat") else value
