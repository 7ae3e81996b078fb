"""Requests that no library of HTTP would send, as bytes: wrong encodings, lengths that lie, forms and headers without an end."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from functools import cache
from urllib.parse import quote

QUERY, UPDATE, FORM, PARTS = (
    "application/sparql-query",
    "application/sparql-update",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=b",
)
REFUSED = (400, 405, 406, 411, 413, 414, 415, 417, 431, 501, "closed")
"""How a server of HTTP may turn away what is no request."""

UNFINISHED = ("a chunk beyond all memory",)
"""Those that say they go on, and do not."""

Wanted = Sequence[int | str]
Raw = Mapping[str, tuple[bytes, Wanted]]
"""What is sent as it stands, and the statuses that are right, by name."""


def request(method: str, target: str, body: bytes = b"", *fields: str, length: int | None = None) -> bytes:
    """A request as bytes, with what its header fields say and the length of its body."""
    size = len(body) if length is None else length
    lines = [f"{method} {target} HTTP/1.1", "Host: 127.0.0.1", *fields]
    if body or length is not None:
        lines.append(f"Content-Length: {size}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def post(target: str, body: bytes, media: str = QUERY, *fields: str, length: int | None = None) -> bytes:
    """A POST of one media type."""
    return request("POST", target, body, f"Content-Type: {media}", *fields, length=length)


def encodings(query: str) -> Raw:
    """Bytes that are no text."""
    return {
        "bytes that are no UTF-8": (post(query, b"ASK { ?s ?p '\xff\xfe' }"), (400,)),
        "a surrogate in UTF-8": (post(query, b"ASK { ?s ?p '\xed\xa0\x80' }"), (400,)),
        "an overlong SERVICE": (post(query, b"ASK { \xc1\x93ERVICE <http://127.0.0.1:9/> {} }"), (400,)),
        "UTF-16 with a mark": (post(query, "ASK {}".encode("utf-16"), f"{QUERY}; charset=utf-16"), (400, 415)),
        "UTF-7 by name": (post(query, b"ASK +AHs-+AH0-", f"{QUERY}; charset=utf-7"), (400, 415)),
        "a NUL": (post(query, b"ASK {}\0 SERVICE"), (400,)),
        "bytes that are no UTF-8, in a form": (
            post(query, b"query=ASK%20%7B%20%3Fs%20%3Fp%20'%FF'%20%7D", FORM),
            (200, 400),
        ),
        "bytes that are no UTF-8, in the URL": (request("GET", f"{query}?query=ASK%FF%7B%7D"), (400,)),
        "percent signs and nothing": (request("GET", f"{query}?query=ASK%7B%7D%&%zz=%%"), (200, 400)),
        "no query, twice encoded": (post(query, b"query=ASK%2520%257B%257D", FORM), (400,)),
        "a query that unpacks to ten megabytes": (
            post(query, gzip.compress(b" " * 10_000_000), QUERY, "Content-Encoding: gzip"),
            (400, 413, 415),
        ),
    }


def forms(query: str, graphs: str) -> Raw:
    """Forms without an end."""
    fields = "&".join(f"f{n}=1" for n in range(50_000)).encode()
    parts = "".join(
        f'--b\r\nContent-Disposition: form-data; name="f{n}"\r\n\r\n<urn:a> <urn:b> {n} .\r\n' for n in range(20_000)
    )
    twice = b"&".join([b"query=ASK%20%7B%7D"] * 10_000)
    target, stored = f"{graphs}?graph=urn:hostile:g", (200, 201, 204, 400, 403, 413, 415)
    return {
        "a form of 50,000 fields": (post(query, fields, FORM), (400, 413)),
        "a form with 10,000 queries": (post(query, twice, FORM), (400, 413)),
        "a form of megabytes": (post(query, b"query=" + b"%20" * 3_000_000, FORM), (400, 413)),
        "20,000 parts for a query": (post(query, f"{parts}--b--\r\n".encode(), PARTS), (400, 413, 415)),
        "20,000 parts for a graph": (post(target, f"{parts}--b--\r\n".encode(), PARTS), stored),
        "parts without an end": (post(target, b"--b\r\n" * 100_000, PARTS), stored),
        "a boundary of 60,000 characters": (
            post(target, b"--b", f"multipart/form-data; boundary={'b' * 60_000}"),
            (*stored, *REFUSED),
        ),
    }


def headers(query: str) -> Raw:
    """Header fields and addresses without an end."""
    ranges = ",".join(f"a/b{n};q=0.{n % 1000:03}" for n in range(3_000))
    any_way = (200, *REFUSED)
    return {
        "3,000 media ranges": (post(query, b"ASK {}", QUERY, f"Accept: {ranges}, */*;q=0.001"), any_way),
        "an Accept of 200,000 characters": (post(query, b"ASK {}", QUERY, f"Accept: {'a' * 200_000}/b"), REFUSED),
        "an Accept of separators": (post(query, b"ASK {}", QUERY, f"Accept: {';,=' * 10_000}"), any_way),
        "an Accept with wild weights": (
            post(query, b"ASK {}", QUERY, "Accept: text/csv;q=-1e999, */*;q=nan, a/b;q=;q"),
            any_way,
        ),
        "1,000 headers": (post(query, b"ASK {}", QUERY, *[f"X-{n}: 1" for n in range(1_000)]), any_way),
        "a header that goes on": (post(query, b"ASK {}", QUERY, "X: a\r\n b"), any_way),
        "an address of 200,000 characters": (request("GET", f"{query}?query={'%20' * 60_000}"), REFUSED),
        "60,000 parameters": (request("GET", f"{query}?{'&' * 60_000}query=ASK%7B%7D"), any_way),
    }


def lengths(query: str) -> Raw:
    """Lengths that lie, and what is no HTTP."""
    inner = b"0\r\n\r\nGET / HTTP/1.1\r\n\r\n"
    chunked = "Transfer-Encoding: chunked"
    return {
        "two lengths": (post(query, b"ASK {}", QUERY, "Content-Length: 3"), REFUSED),
        "a length and chunks": (post(query, inner, QUERY, chunked), REFUSED),
        "a length below nothing": (post(query, b"ASK {}", length=-5), REFUSED),
        "a length beyond all memory": (post(query, b"ASK {}", length=10**15), REFUSED),
        "a chunk beyond all memory": (
            request("POST", query, b"", f"Content-Type: {QUERY}", chunked) + b"FFFFFFFFFFFFFFF\r\nASK",
            REFUSED,
        ),
        "no HTTP": (b"ASK {}\r\n\r\n", REFUSED),
        "HTTP of another time": (f"GET {query} HTTP/9.9\r\n\r\n".encode(), (*REFUSED, 403, 505)),
        "a method that nobody knows": (request("BREW", query), REFUSED),
        "TRACE": (request("TRACE", query), REFUSED),
    }


def borders(query: str, update: str, graphs: str) -> Raw:
    """Names that would leave their place, and pages of others."""
    broken = quote("urn:a> { <urn:hostile:a> <urn:b> <urn:c> } } #", safe="")
    page, refused = "Origin: https://evil.example", (*REFUSED, 401, 403, 404)
    insert = b"INSERT DATA { <urn:hostile:a> <urn:b> <urn:c> }"
    field = b"update=INSERT+DATA+%7B%3Curn%3Ahostile%3Aa%3E+%3Curn%3Ab%3E+1%7D"
    return {
        "a path that climbs": (request("GET", "/sparql/../../../etc/passwd"), refused),
        "a graph that climbs": (request("GET", f"{graphs}/%2e%2e/%2e%2e/etc/passwd"), refused),
        "a graph with a line break in its name": (
            request("PUT", f"{graphs}?graph=urn:a%0D%0AX-Y:%20z", b"", "Content-Type: text/turtle", length=0),
            refused,
        ),
        "a graph that closes its own IRI": (
            request("PUT", f"{graphs}?graph={broken}", b"", "Content-Type: text/turtle", length=0),
            refused,
        ),
        "a dataset that closes its own IRI": (
            request("GET", f"{query}?query=ASK%7B%7D&default-graph-uri={broken}"),
            (200, *refused),
        ),
        "a Host of another": (
            post(update, b"DROP ALL", UPDATE).replace(b"Host: 127.0.0.1", b"Host: evil.example"),
            (400, 401, 403, 421),
        ),
        "an update from another's page": (post(update, insert, UPDATE, page), (401, 403)),
        "an update from another's form": (post(update, field, FORM, "Origin: null"), (401, 403)),
    }


@cache
def requests(query: str, update: str, graphs: str) -> Raw:
    """All of them; given are the paths of the three doors."""
    return {
        **encodings(query),
        **forms(query, graphs),
        **headers(query),
        **lengths(query),
        **borders(query, update, graphs),
    }
