"""
Access to a store behind SPARQL 1.1 over HTTP: requests, the meaning of their failures, and the results as terms.

*Guarantees:* an answer is read to its end and checked before the caller gets a row: an engine that fails midway has already
responded 200, and cuts its JSON off. If the number of rows is one at which engines are known to stop, the client asks for the next
row.

*But:* if an update gets no response, only the store can tell later whether it was made: the client raises `Unanswered`.

*Because:* the engine's own parser reads the results, so terms are the same as from the embedded store. No exception of the HTTP
library leaves this module.
"""

from __future__ import annotations

import re
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

import pyoxigraph as ox

from memento import telemetry
from memento.errors import GraphError, StoreAway, Unanswered
from memento.graph.binding import Solution, iterate_solutions

if TYPE_CHECKING:
    import httpx2

RESULTS = "application/sparql-results+json"

NOTHING = "urn:memento:nothing"
"""A graph that stands for an empty dataset: if a request names no graph, engines read all of them."""

CUTS = frozenset({1_000, 10_000, 100_000, 1_000_000, 1_048_576})
"""Numbers of rows at which engines are known to cut answers silently, by default or by common settings."""

_HELD = 16_000_000
"""Bytes of an answer held in memory; the rest goes to an unnamed temporary file."""

_ENDS = re.compile(rb"[\]}]\s*\}\s*\}\s*$|(?:true|false)\s*\}\s*$")
_LIMITED = re.compile(r"\bLIMIT\s+\d+\s*$|\bOFFSET\s+\d+\s*$", re.IGNORECASE)
_MOST_SHOWN = 200
_CONNECT_S = 5.0
_BYTES_A_SECOND = 50_000  # of a request, for which it is given more time: an import is one update
_ON_THE_WAY = (502, 503, 504)  # what a gateway responds when the endpoint behind it fails


class SparqlClient:
    """
    Client of one SPARQL 1.1 endpoint. Thread-safe; its connections are pooled.

    Every request is a POST. The dataset of a query is sent as `default-graph-uri` and `named-graph-uri`, that of an update as
    `using-graph-uri` and `using-named-graph-uri`.
    """

    def __init__(
        self,
        query_url: str,
        update_url: str,
        *,
        token: str = "",
        timeout_s: float = 60.0,
        cuts: Iterable[int] = CUTS,
    ) -> None:
        """
        Args:
            token: sent as bearer token to both addresses; never shown.
            timeout_s: of one request, from its first byte to the last of its answer.
            cuts: numbers of rows at which an answer may have been cut off.
        """
        self.query_url, self.update_url, self.timeout_s = query_url, update_url, timeout_s
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._token = token
        self._cuts = frozenset(cuts)
        self._client: httpx2.Client | None = None
        self._lock = threading.Lock()

    def select(self, text: str, default: Sequence[str] | None = None, named: Sequence[str] = ()) -> Iterator[Solution]:
        """
        Return the solutions of a SELECT in the order of the answer, which has been read completely.

        Args:
            default: the graphs whose union is the default graph; None leaves the dataset to the endpoint and ignores `named`.
            named: the graphs that GRAPH sees.

        Raises:
            GraphError: the endpoint refused, could not be reached, took too long, or its answer is cut off.
        """
        answer = self._query(text, default, named)
        count, rows = self._read_rows(answer)
        is_suspicious = count in self._cuts and not _LIMITED.search(text)
        if is_suspicious and self._read_rows(self._query(f"{text}\nOFFSET {count} LIMIT 1", default, named))[0]:
            raise GraphError(f"{self.mask_url(self.query_url)} cut its answer off after {count} rows: raise its limit")
        return rows

    def ask(self, text: str, default: Sequence[str] | None = None, named: Sequence[str] = ()) -> bool:
        """Return the answer to an ASK; raise as `select`."""
        with self._query(text, default, named) as answer:
            found = self._parse(answer)
            if not isinstance(found, ox.QueryBoolean):
                raise GraphError(f"{self.mask_url(self.query_url)} did not answer an ASK with true or false")
            return bool(found)

    def update(self, text: str, using: Sequence[str] | None = None, using_named: Sequence[str] = ()) -> None:
        """
        Send an update and wait until it is made.

        Args:
            using: the graphs whose union a WHERE reads; None leaves them to the update and ignores `using_named`.

        Raises:
            GraphError: the endpoint refused; if it makes requests atomically, nothing was written.
            Unanswered: it is unknown whether it was written: the connection was lost, or it took too long.
        """
        if using is None:
            headers, body = {"Content-Type": "application/sparql-update"}, text.encode()
        else:
            headers, body = _write_form("update", text, "using-graph-uri", using, "using-named-graph-uri", using_named)
        with self._measure_request("update"), self._send_request(self.update_url, headers, body):
            pass

    def wait_until_there(self, wait_s: float, on_wait: Callable[[], None]) -> None:
        """
        Wait until something responds at the address, even with an error.

        Args:
            wait_s: seconds to wait at most.
            on_wait: called once, if there is a wait.

        Raises:
            StoreAway: nothing responded in that time.
        """
        until, is_told = time.monotonic() + wait_s, False
        quick = self.with_timeout(min(self.timeout_s, _CONNECT_S))
        try:
            while True:
                try:
                    quick.ask("ASK {}")
                except (StoreAway, Unanswered) as error:
                    if time.monotonic() >= until:
                        raise StoreAway(
                            f"{error}: start the store, or check store.query_url "
                            f"(it was waited for {wait_s:g} s, store.start_s)"
                        ) from None
                except GraphError:  # the next request reports why
                    return
                else:
                    return
                if not is_told:
                    is_told = True
                    on_wait()
                time.sleep(min(0.1, max(until - time.monotonic(), 0.0)))
        finally:
            quick.close()

    def with_timeout(self, timeout_s: float) -> SparqlClient:
        """Return another client of the endpoint, with its own connections and this timeout."""
        return SparqlClient(
            self.query_url,
            self.update_url,
            token=self._token,
            timeout_s=timeout_s,
            cuts=self._cuts,
        )

    def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def mask_url(self, url: str) -> str:
        """Return an address without the user name and the password that it may contain."""
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    def _query(self, text: str, default: Sequence[str] | None, named: Sequence[str]) -> IO[bytes]:
        if default is None:
            headers, body = _write_form("query", text)
        else:
            headers, body = _write_form("query", text, "default-graph-uri", default, "named-graph-uri", named)
        accepted = headers | {"Accept": RESULTS}
        with self._measure_request("query"):
            try:
                answer = self._send_request(self.query_url, accepted, body)
            except Unanswered:  # a query may be repeated; the pooled connection may have been idle for too long
                answer = self._send_request(self.query_url, accepted, body)
        size = answer.seek(0, 2)
        answer.seek(0)
        if answer.read(_MOST_SHOWN).lstrip()[:1] not in (
            b"{",
            b"",
        ):  # a page of a proxy, or of another server
            answer.close()
            raise GraphError(
                f"{self.mask_url(self.query_url)} did not answer with SPARQL results: check store.query_url"
            )
        answer.seek(max(size - 64, 0))
        if not _ENDS.search(answer.read()):
            answer.close()
            raise GraphError(f"{self.mask_url(self.query_url)} cut its answer off after {size} bytes: it failed midway")
        answer.seek(0)
        return answer

    @contextmanager
    def _measure_request(self, kind: str) -> Iterator[None]:
        try:
            with telemetry.measure("store_request_seconds", kind=kind):
                yield
        except GraphError as error:
            kinds = {Unanswered: "unanswered", StoreAway: "unreachable"}
            reason = next((name for kind, name in kinds.items() if isinstance(error, kind)), "refused")
            telemetry.increment("store_failures_total", kind=kind, reason=reason)
            raise

    def _parse(self, answer: IO[bytes]) -> ox.QuerySolutions | ox.QueryBoolean:
        try:
            found = ox.parse_query_results(answer, ox.QueryResultsFormat.JSON)
        except (SyntaxError, ValueError, OSError) as error:
            raise GraphError(f"{self.mask_url(self.query_url)} did not answer with SPARQL results: {error}") from error
        if isinstance(found, ox.QueryTriples):
            raise GraphError(f"{self.mask_url(self.query_url)} did not answer with SPARQL results")
        return found

    def _read_rows(self, answer: IO[bytes]) -> tuple[int, Iterator[Solution]]:
        """Return the number of solutions, and the solutions; a long answer is read twice instead of held in memory."""
        is_long = answer.seek(0, 2) > _HELD
        answer.seek(0)
        try:
            if is_long:
                count = sum(1 for _ in self._iterate(answer))
                answer.seek(0)
                return count, _close_after(self._iterate(answer), answer)
            with answer:
                rows = list(self._iterate(answer))
            return len(rows), iter(rows)
        except (SyntaxError, ValueError) as error:
            raise GraphError(f"{self.mask_url(self.query_url)} cut its answer off: it failed midway") from error

    def _iterate(self, answer: IO[bytes]) -> Iterator[Solution]:
        found = self._parse(answer)
        if not isinstance(found, ox.QuerySolutions):
            raise GraphError(f"{self.mask_url(self.query_url)} did not answer a SELECT with solutions")
        yield from iterate_solutions(found)

    def _send_request(self, url: str, headers: Mapping[str, str], body: bytes) -> IO[bytes]:
        """Send a request; return the body of a successful answer, read completely and rewound."""
        import httpx2

        limit_s = self.timeout_s + len(body) / _BYTES_A_SECOND
        until = time.monotonic() + limit_s
        timeout = httpx2.Timeout(limit_s, connect=min(_CONNECT_S, self.timeout_s))
        answer: IO[bytes] = SpooledTemporaryFile(_HELD)  # noqa: SIM115 — the caller reads it
        sent = {**self._headers, **headers}
        with ExitStack() as failing:
            failing.callback(answer.close)
            try:
                with self._open_client().stream("POST", url, content=body, headers=sent, timeout=timeout) as response:
                    for chunk in response.iter_bytes():
                        answer.write(chunk)
                        if time.monotonic() > until:
                            raise httpx2.ReadTimeout("the answer took too long")
                    status = response.status_code
            except httpx2.ConnectError as error:
                raise StoreAway(f"{self.mask_url(url)} cannot be reached: {_say(error)}") from None
            except (httpx2.LocalProtocolError, httpx2.UnsupportedProtocol, httpx2.InvalidURL, UnicodeError) as error:
                # These messages may contain a header, and so the token.
                raise GraphError(
                    f"{self.mask_url(url)} cannot be asked ({type(error).__name__}): check store.token"
                ) from None
            except httpx2.TimeoutException:
                raise Unanswered(f"{self.mask_url(url)} did not answer within {limit_s:.3g} s") from None
            except httpx2.HTTPError as error:
                raise Unanswered(f"{self.mask_url(url)} did not answer: {_say(error)}") from None
            failing.pop_all()
        answer.seek(0)
        if 200 <= status < 300:
            return answer
        with answer:
            said = " ".join(answer.read(4 * _MOST_SHOWN).decode("utf-8", "replace").split())[:_MOST_SHOWN]
        if status in _ON_THE_WAY:
            raise Unanswered(
                f"{self.mask_url(url)} answered {status}, which is not the store: something before it cannot reach it"
            )
        if self._token:
            said = said.replace(self._token, "***")
        fix = "; check store.token" if status in (401, 403) else ""
        raise GraphError(f"{self.mask_url(url)} answered {status}: {said}{fix}")

    def _open_client(self) -> httpx2.Client:
        import httpx2

        with self._lock:
            if self._client is None:
                limits = httpx2.Limits(max_connections=64, max_keepalive_connections=32, keepalive_expiry=15.0)
                self._client = httpx2.Client(limits=limits)
                weakref.finalize(self, self._client.close)
            return self._client


def _write_form(
    kind: str,
    text: str,
    first: str = "",
    some: Sequence[str] = (),
    second: str = "",
    others: Sequence[str] = (),
) -> tuple[dict[str, str], bytes]:
    """Return headers and body of a request with a dataset; a dataset without graphs reads nothing."""
    fields = [(kind, text)]
    if first:
        fields += [(first, name) for name in some or (NOTHING,)] + [(second, name) for name in others or (NOTHING,)]
    return {"Content-Type": "application/x-www-form-urlencoded"}, urlencode(fields).encode()


def _close_after(rows: Iterator[Solution], answer: IO[bytes]) -> Iterator[Solution]:
    with answer:
        yield from rows


def _say(error: Exception) -> str:
    return str(error) or type(error).__name__
