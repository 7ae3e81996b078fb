"""
One request to a running service and its answer, with the errors that the service raised.

*Because:* `http.client` and no richer library: a command that talks to a running service must not take 0.1 s, and `httpx2` takes
half of that to import. Nouns are imported by those who decode answers, for the same reason.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from memento.codec import plain
from memento.errors import InputError, MementoError, Unreachable
from memento.operations.base import Operation, places_of, route_of

if TYPE_CHECKING:
    from email.message import Message

PIECE = 1 << 16
"""Bytes of an answer that are read together where it may be long."""


class Answer(NamedTuple):
    """What came back over HTTP."""

    status: int
    media: str
    body: bytes


class Transport:
    """The way to a running service; every request has a connection for itself. May be used from many threads."""

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
        self.on_degraded: Callable[[str], None] = lambda notice: None
        """Called with every answer that says why the memory is read-only and of what time it is."""

    def ask(self, operation: Operation[Any]) -> bytes:
        """
        Return the JSON that the service answers an operation with, for callers that need no nouns.

        Raises:
            MementoError: what the service raised.
            Unreachable: no service answers.
        """
        verb, path = route_of(type(operation))
        arguments = {name: value for name, value in plain(operation).items() if value is not None}
        arguments.setdefault("namespace", self.namespace)
        for name in places_of(type(operation)):
            iri = str(arguments.pop(name, ""))
            if not iri.strip():
                listing = "cases list" if path.startswith("/cases") else "list"
                raise InputError(f"{iri!r} is no IRI: `memento {listing}` shows those there are")
            path = path.replace(f"{{{name}}}", quote(iri, safe=""))
        if verb == "POST":
            body = json.dumps(arguments).encode()
            return self.send(verb, path, body, {"Content-Type": "application/json"}).body
        return self.send(verb, add_parameters(path, arguments)).body

    def send(self, verb: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Answer:
        """One request and its answer; raises as `ask`."""
        with self._exchange(verb, path, body or None, headers or {}) as response, self._translate_errors():
            return Answer(response.status, response.headers.get_content_type(), response.read())

    @contextmanager
    def stream(
        self, verb: str, path: str, body: IO[bytes] | None = None, headers: Mapping[str, str] | None = None
    ) -> Iterator[tuple[Message, Iterator[bytes]]]:
        """The headers and, a piece at a time, the body of an answer of any length; what is sent may be a file. Raises as `ask`."""
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
        """The answer to a request, as long as it is read; raises as `ask`."""
        address = urlsplit(self.address)
        kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
        connection = kind(address.netloc, timeout=self._timeout_s)
        sent = {**headers, **({"Authorization": f"Bearer {self._token}"} if self._token else {})}
        try:
            with self._translate_errors():
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


def add_parameters(path: str, parameters: Mapping[str, object] | Sequence[tuple[str, object]]) -> str:
    """Return an address with a query string."""
    given = parameters.items() if isinstance(parameters, Mapping) else parameters
    return f"{path}?{urlencode([(name, _as_parameter(value)) for name, value in given], doseq=True, errors='replace')}"


def _as_parameter(value: object) -> object:
    return json.dumps(value) if isinstance(value, bool) else value
