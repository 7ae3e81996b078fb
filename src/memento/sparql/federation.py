"""
SERVICE for endpoints that the settings allow: called from here before the query goes to its worker, which has no network.

    SERVICE <https://query.wikidata.org/sparql> { ?city wdt:P31 wd:Q515 ; rdfs:label ?name }
    →  VALUES (?city ?name) { (<http://www.wikidata.org/entity/Q90> "Paris"@en) … }

*Guarantees:* only endpoints that are in `sparql.services` are called, compared letter by letter. A host name is resolved once, all
its addresses must be public, and the connection goes to a checked address: a later change in DNS has no effect. An endpoint that
is listed by IP address, or as localhost, is not checked. Redirects are not followed, and proxies of the environment not used. Only
the text of the block is sent: no value of the memory, no token.

*But:* the block is evaluated alone, without the bindings outside of it, so it should be selective enough by itself; an answer over
`sparql.service_bytes` is an error. `SERVICE ?endpoint` is refused.

*Source:* SPARQL 1.1 Federated Query, https://www.w3.org/TR/sparql11-federated-query/, sections 2.2 (SILENT: one empty row) and 4.
"""

from __future__ import annotations

import http.client
import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode, urlsplit
from uuid import uuid4

import pyoxigraph as ox

from memento.errors import Busy, GraphError, InputError, TimedOut, TooMuch
from memento.network import connect, remaining_s
from memento.settings import LimitsSettings, SparqlSettings
from memento.sparql.guard import Reading, Service, read_sparql

MOST_ENDPOINTS = 4
"""Endpoints that one query may call."""
AT_ONCE = 8
"""Endpoints called at the same time, over all callers."""
ROWS = "application/sparql-results+json"
_IRI_TEXT = re.compile(r"""[^<>"{}|^`\\\x00-\x20]+""")


@dataclass(slots=True)
class Endpoints:
    """The endpoints that may be called, and how. Thread-safe."""

    allowed: frozenset[str]
    most_bytes: int
    seconds: float
    _free: threading.BoundedSemaphore

    @classmethod
    def from_settings(cls, settings: SparqlSettings) -> Endpoints:
        """Return the endpoints that the settings allow."""
        allowed = frozenset(one.strip() for one in settings.services.split(",") if one.strip())
        return cls(allowed, settings.service_bytes, settings.query_s, threading.BoundedSemaphore(AT_ONCE))

    def answer_services(
        self, sparql: str, limits: LimitsSettings, others: Sequence[str] = ()
    ) -> tuple[str, LimitsSettings]:
        """
        Replace the SERVICE blocks of a query by the answers of their endpoints; return it with limits for the longer text.

        Args:
            others: IRIs that SERVICE may name too, whose blocks stay as they are.

        Raises:
            Forbidden: SERVICE with an endpoint that is not allowed.
            InputError: more than `MOST_ENDPOINTS` of them, nested ones, or invalid SPARQL.
            GraphError: an endpoint cannot be reached, or its response is wrong; not for a block that says SILENT.
            TimedOut, TooMuch: it took too long or sent too much; not for a block that says SILENT.
        """
        if not self.allowed or "service" not in sparql.lower():
            return sparql, limits
        reading = read_sparql(sparql, limits, services={*self.allowed, *others})
        services = [service for service in reading.services if service.iri in self.allowed]
        for service in reading.services:
            if any(outer.inside <= service.start < outer.end for outer in services if outer is not service):
                raise InputError(
                    f"{reading.tokens[service.first].position}: a SERVICE must not stand within another one"
                )
        if len(services) > MOST_ENDPOINTS:
            raise InputError(f"a query may ask {MOST_ENDPOINTS} endpoints, not {len(services)}: ask several queries")
        until, at, parts = time.monotonic() + self.seconds, 0, []
        for service in services:
            parts += [sparql[at : service.start], self._write_values(service, reading, until)]
            # Every line keeps its number, for error messages about the text after it.
            parts.append("\n" * sparql[service.start : service.end].count("\n"))
            at = service.end
        parts.append(sparql[at:])
        return "".join(parts), replace(limits, query_bytes=limits.query_bytes + MOST_ENDPOINTS * 2 * self.most_bytes)

    def _write_values(self, service: Service, reading: Reading, until: float) -> str:
        known = {name: iri for name, iri in reading.prefixes.items() if _IRI_TEXT.fullmatch(iri)}
        prologue = "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in known.items())
        base = f"BASE <{reading.base}>\n" if _IRI_TEXT.fullmatch(reading.base) else ""
        inside = reading.sparql[service.inside : service.end - 1]
        try:
            names, rows = parse_rows(self._fetch(service.iri, f"{base}{prologue}SELECT * WHERE {{{inside}}}", until))
        except (GraphError, TimedOut, TooMuch):
            if service.is_silent:
                return "{ }"
            raise
        data = " ".join(f"({' '.join(term or 'UNDEF' for term in row)})" for row in rows)
        return f"{{ VALUES ({' '.join(f'?{name}' for name in names)}) {{ {data} }} }}"

    def _fetch(self, endpoint: str, sparql: str, until: float) -> bytes:
        if not self._free.acquire(timeout=max(until - time.monotonic(), 0)):
            raise Busy(f"{AT_ONCE} endpoints are being asked already: ask again later")
        try:
            return self._ask_endpoint(endpoint, sparql, until)
        except TimeoutError as error:
            raise TimedOut(
                f"the endpoint <{endpoint}> did not answer within {self.seconds:g} s (sparql.query_s)"
            ) from error
        except (OSError, http.client.HTTPException) as error:
            raise GraphError(f"the endpoint <{endpoint}> cannot be reached: {type(error).__name__}") from error
        finally:
            self._free.release()

    def _ask_endpoint(self, endpoint: str, sparql: str, until: float) -> bytes:
        connection = connect(endpoint, until, trusts_literals=True)
        try:
            parts = urlsplit(endpoint)
            path = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
            headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": ROWS, "User-Agent": "memento"}
            connection.request("POST", path, urlencode({"query": sparql}), headers)
            answer = connection.getresponse()
            if answer.status != 200:
                raise GraphError(f"the endpoint <{endpoint}> answered with HTTP status {answer.status}")
            body = b""
            while part := answer.read1(65_536):
                body += part
                if len(body) > self.most_bytes:
                    raise TooMuch(
                        f"the endpoint <{endpoint}> sent more than {self.most_bytes} bytes (sparql.service_bytes): "
                        "narrow the block, or add a LIMIT in a subquery"
                    )
                left = remaining_s(until)  # if the endpoint closes the connection, nothing else checks the time
                if connection.sock is not None:
                    connection.sock.settimeout(left)
            return body
        finally:
            connection.close()


Rows = list[list[str | None]]
"""Rows of terms in SPARQL syntax; None for an unbound variable."""


def parse_rows(body: bytes) -> tuple[list[str], Rows]:
    """
    Parse the variables and the rows of SPARQL results in JSON.

    A blank node becomes an IRI, `urn:memento:blank:…`, the same within one answer: a query cannot contain a blank node of the
    answer.

    Raises:
        GraphError: this is not such a document, or the answer to an ASK.
    """
    try:
        solutions = ox.parse_query_results(body, format=ox.QueryResultsFormat.JSON)
        if not isinstance(solutions, ox.QuerySolutions):
            raise GraphError("the endpoint answered with a truth, not with rows")
        mark = uuid4().hex
        names = [variable.value for variable in solutions.variables]
        return names, [[None if term is None else _serialise_term(term, mark) for term in row] for row in solutions]
    except (SyntaxError, ValueError, OSError) as error:
        raise GraphError("the endpoint answered with something else than SPARQL results in JSON") from error


def _serialise_term(term: object, mark: str) -> str:
    if isinstance(term, ox.BlankNode):
        return f"<urn:memento:blank:{mark}:{term.value}>"
    return str(term)
