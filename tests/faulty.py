"""
A front of a SPARQL endpoint for tests, which lets one update in at a time, and breaks the rules that it is told to break.

Each of `FAULTS` is a way in which an engine could be unfit; the front rewrites requests or answers so that a real one is.
"""

from __future__ import annotations

import http.client
import json
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode

from memento.plugins.scale.endpoint import NOTHING

Fields = list[tuple[str, str]]
_CHANGE = re.compile(r"DELETE \{(.*)\} INSERT \{(.*)\} WHERE \{(.*)\}", re.DOTALL)
_FORM = "application/x-www-form-urlencoded"


def _graph(fields: Fields, name: str) -> str:
    """Return a graph of the probe that asks."""
    found = re.search(r"PREFIX p: <(urn:memento:probe:\w+:)>", fields[0][1])
    assert found
    return found[1] + name


def _widen(fields: Fields, argument: str) -> Fields:
    return [*fields, (argument, _graph(fields, "hidden"))] if "PREFIX p:" in fields[0][1] else fields


def _replace(fields: Fields, pattern: str, by: str) -> Fields:
    kind, text = fields[0]
    return [(kind, re.sub(pattern, by, text)), *fields[1:]]


def _widen_where(pattern: str, argument: str) -> Callable[[Fields], Fields]:
    return lambda fields: _widen(fields, argument) if re.search(pattern, fields[0][1]) else fields


def _name_all(fields: Fields) -> Fields:
    if ("named-graph-uri", NOTHING) not in fields:
        return fields
    return _widen([one for one in fields if one != ("named-graph-uri", NOTHING)], "named-graph-uri")


def _round(fields: Fields) -> Fields:
    def shorten(match: re.Match[str]) -> str:
        return f'"{float(match[1]):.14e}"^^'

    kind, text = fields[0]
    return [(kind, re.sub(r'"(-?\d\.\d+e-?\d+)"\^\^', shorten, text)), *fields[1:]]


QUERY_FAULTS: dict[str, Callable[[Fields], Fields]] = {
    "default graphs are dropped": lambda fields: _widen(
        [one for one in fields if one[0] != "default-graph-uri"], "default-graph-uri"
    ),
    "named graphs are dropped": lambda fields: _widen(fields, "named-graph-uri"),
    "nothing named is everything": _name_all,
    "paths leave the dataset": _widen_where(r"p:next\*", "default-graph-uri"),
    "EXISTS leaves the dataset": _widen_where(r"EXISTS \{ GRAPH", "named-graph-uri"),
    "FROM adds a graph": _widen_where(r"FROM p:", "default-graph-uri"),
    "FROM NAMED adds a graph": _widen_where(r"FROM NAMED p:", "named-graph-uri"),
    "pragmas are obeyed": lambda fields: (
        _widen(_replace(fields, r"define .*", ""), "default-graph-uri") if "define " in fields[0][1] else fields
    ),
    "an optional path is a step": lambda fields: _replace(fields, r"p:next\?", "p:next"),
    "long queries are cut short": lambda fields: _replace(fields, r"LIMIT 700", "LIMIT 600"),
    "aggregates are rounded": lambda fields: _replace(fields, r"AVG\(\?n\)", "1.5"),
}
UPDATE_FAULTS: dict[str, Callable[[Fields], Fields]] = {
    "USING is ignored": lambda fields: _replace(fields, r"USING p:a", "USING p:a USING p:hidden"),
    "doubles are rounded": _round,
    "line ends are changed": lambda fields: _replace(fields, r"\\r", r"\\n"),
    "instants lose fractions": lambda fields: _replace(fields, r"(:\d\d)\.\d+", r"\1"),
    "large numbers wrap": lambda fields: _replace(fields, "9223372036854775807", "-1"),
    "IRIs are escaped": lambda fields: _replace(fields, "größe>", "gr%C3%B6%C3%9Fe>"),
}
FAULTS = (
    *QUERY_FAULTS,
    *UPDATE_FAULTS,
    "operations commit alone",
    "the comparison is apart",
    "rows are left out",
    "answers are cut off",
    "answers are lost",
    "ASK answers with rows",
    "IRIs become texts",
    "large requests are refused",
)


class Front:
    """The front: its addresses, and what it breaks now."""

    def __init__(self, port: int) -> None:
        """
        Args:
            port: of the endpoint, on this machine, at `/query` and `/update`.
        """
        self.faults: set[str] = set()
        self.on_update: Callable[[str], object] = lambda text: None
        self._port = port
        self._writing = threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(handler) -> None:
                body = handler.rfile.read(int(handler.headers["Content-Length"]))
                kind = handler.path.strip("/")
                is_form = handler.headers["Content-Type"] == _FORM
                fields = parse_qsl(body.decode()) if is_form else [(kind, body.decode())]
                try:
                    status, answer = self._answer(kind, fields)
                except (OSError, http.client.HTTPException):  # nobody knows what became of it
                    handler.close_connection = True
                    return
                handler.send_response(status)
                handler.send_header("Content-Length", str(len(answer)))
                handler.end_headers()
                handler.wfile.write(answer)

            def log_message(handler, *_: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def urls(self) -> tuple[str, str]:
        return f"{self.address}/query", f"{self.address}/update"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, kind: str, fields: Fields) -> tuple[int, bytes]:
        for name, rewrite in (QUERY_FAULTS if kind == "query" else UPDATE_FAULTS).items():
            if name in self.faults:
                fields = rewrite(fields)
        if kind == "query":
            status, answer = self._send(kind, fields)
            return status, self._spoil(fields[0][1], answer) if status == 200 else answer
        self.on_update(fields[0][1])
        if "large requests are refused" in self.faults and len(fields[0][1]) > 500_000:
            return 413, b"too large"
        if "the comparison is apart" in self.faults and _CHANGE.search(fields[0][1]):
            return self._compare_apart(fields)
        parts = [fields]
        if "operations commit alone" in self.faults:
            prologue, _, text = fields[0][1].partition("\n")
            parts = [[(kind, f"{prologue}\n{part}"), *fields[1:]] for part in text.split(" ;\n")]
        for part in parts:
            with self._writing:
                status, answer = self._send(kind, part)
            if status >= 300:
                break
        return (502, b"no answer") if "answers are lost" in self.faults else (status, answer)

    def _send(self, kind: str, fields: Fields) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port)
        try:
            headers = {"Content-Type": _FORM, "Accept": "application/sparql-results+json"}
            connection.request("POST", f"/{kind}", urlencode(fields), headers)
            response = connection.getresponse()
            return response.status, response.read()
        except ConnectionRefusedError:
            return 503, b"the endpoint is away"
        finally:
            connection.close()

    def _compare_apart(self, fields: Fields) -> tuple[int, bytes]:
        """Look whether WHERE holds, and then, in other requests, write."""
        prologue, _, text = fields[0][1].partition("\n")
        found = _CHANGE.search(text)
        assert found
        deletes, inserts, where = found.groups()
        status, answer = self._send("query", [("query", f"{prologue}\nSELECT * {{ {where} }}")])
        rows = json.loads(answer)["results"]["bindings"]
        for verb, template in (("DELETE", deletes), ("INSERT", inserts)):
            quads = " ".join(_fill(template, row) for row in rows)
            if quads:
                status, answer = self._send("update", [("update", f"{prologue}\n{verb} DATA {{ {quads} }}")])
        return (204, b"") if status == 200 else (status, answer)

    def _spoil(self, text: str, answer: bytes) -> bytes:
        found = json.loads(answer)
        if "boolean" in found:
            return _AS_ROWS if "ASK answers with rows" in self.faults else answer
        rows: list[dict[str, Any]] = found["results"]["bindings"]
        if "rows are left out" in self.faults and len(rows) > 7_000:
            del rows[7_000:]
            answer = json.dumps(found).encode()
        if "answers are cut off" in self.faults and len(rows) > 6:
            answer = answer[: len(answer) // 2]
        if "IRIs become texts" in self.faults and "UNION" in text and "ORDER BY" in text:
            for row in rows:
                row["s"]["type"] = "literal"
            answer = json.dumps(found).encode()
        return answer


_AS_ROWS = (
    b'{"head":{"vars":["truth"]},"results":{"bindings":[{"truth":{"type":"literal","value":"1"}}]}}'  # as Virtuoso does
)


def _fill(template: str, row: dict[str, Any]) -> str:
    """Put what variables are bound to in their places."""

    def write(match: re.Match[str]) -> str:
        term = row[match[1]]
        if term["type"] == "uri":
            return f"<{term['value']}>"
        return f'"{term["value"]}"^^<{term["datatype"]}>'

    return re.sub(r"\?(\w+)", write, template)


@contextmanager
def open_front(port: int, faults: Sequence[str] = ()) -> Iterator[Front]:
    """Open a front of the endpoint at a port of this machine."""
    front = Front(port)
    front.faults |= set(faults)
    try:
        yield front
    finally:
        front.close()
