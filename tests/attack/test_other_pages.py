"""Pages of other origins, also of another port of this machine, that write without a token: by forms, by empty bodies."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlencode, urlsplit

import pytest
from playwright.sync_api import sync_playwright

from conftest import BROWSER, BROWSERS, OFFLINE
from doors import serving
from memento.python import Memento, open_memento

FORM = "application/x-www-form-urlencoded"
GRAPH = "urn:memento:data:local:forged"
INSERT = f"INSERT DATA {{ GRAPH <{GRAPH}> {{ <urn:a> <urn:b> 'Xylocarp' }} }}"
CHAT = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hello"}]})
CALL = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})

WRITES: Mapping[str, tuple[str, str, str, str]] = {
    "update by form": ("POST", "/sparql/update", FORM, urlencode({"update": INSERT})),
    "update": ("POST", "/sparql/update", "application/sparql-update", INSERT),
    "query by form": ("POST", "/sparql", FORM, urlencode({"query": "ASK {}"})),
    "graph": ("POST", f"/sparql/graphs?graph={GRAPH}", "text/turtle", "<urn:a> <urn:b> 1 ."),
    "graph by name": ("PUT", "/sparql/graphs/forged", "text/turtle", "<urn:a> <urn:b> 1 ."),
    "graph removed": ("DELETE", "/sparql/graphs?default", "", ""),
    "note": ("POST", "/memory/notes", "application/json", '{"content": "I like tea."}'),
    "note as plain text": ("POST", "/memory/notes", "text/plain", '{"content": "I like tea."}'),
    "form of a page": ("POST", "/do/note", FORM, "content=I+like+tea."),
    **{
        f"{name} with {kind or 'nothing'}": ("POST", f"/memory/{name}", kind, "")
        for name in ("backup", "rebuild", "decay", "compact", "retry")
        for kind in ("text/plain", "")
    },
    "tool": ("POST", "/mcp", "application/json", CALL),
    "tool as plain text": ("POST", "/mcp", "text/plain", CALL),
    "chat": ("POST", "/v1/chat/completions", "text/plain", CHAT),
    "chat of Ollama": ("POST", "/api/chat", "text/plain", CHAT),
    "mirrored memory": ("POST", "/api/remember", "text/plain", '{"content": "I like tea."}'),
}
"""Method, path, media type and body."""

PAGES: Mapping[str, dict[str, str]] = {
    "another port": {"Origin": "http://localhost:3000", "Sec-Fetch-Site": "same-site"},
    "another port, of an old browser": {"Origin": "http://localhost:3000"},
    "another port, without an Origin": {"Sec-Fetch-Site": "same-site"},
    "another name of this machine": {"Origin": "http://127.0.0.1:3000", "Sec-Fetch-Site": "cross-site"},
    "another scheme": {"Origin": "https://{host}"},
    "a form that navigates": {
        "Origin": "http://localhost:3000",
        "Sec-Fetch-Site": "same-site",
        "Sec-Fetch-Dest": "document",
        "Sec-Fetch-Mode": "navigate",
    },
    "no page that says its name": {"Origin": "null", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"},
    "a foreign page": {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"},
}


@pytest.fixture(scope="module")
def memento(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memento]:
    opened = open_memento(tmp_path_factory.mktemp("forged"), configured=OFFLINE)
    assert isinstance(opened, Memento)
    with opened:
        opened.note("I live in Lisbon.")
        yield opened


@pytest.fixture(scope="module")
def address(memento: Memento) -> Iterator[str]:
    with serving(memento) as found:
        yield found


def send(address: str, name: str, headers: Mapping[str, str]) -> int:
    method, path, kind, body = WRITES[name]
    url = urlsplit(address)
    given = {key: value.format(host=url.netloc) for key, value in headers.items()}
    with closing(http.client.HTTPConnection(url.hostname or "", url.port, timeout=60)) as client:
        client.request(method, path, body, {"Content-Type": kind, **given} if kind else given)
        return client.getresponse().status


def state_of(memento: Memento) -> tuple[object, ...]:
    status = memento.status()
    return (
        status.notes,
        status.memories,
        memento.graphs.query_bytes("SELECT * { GRAPH ?g { ?s ?p ?o } }", "text/csv")[0],
    )


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("name", WRITES)
def test_a_page_of_another_origin_writes_nothing(name: str, page: str, address: str) -> None:
    assert send(address, name, PAGES[page]) == 403


def test_nothing_was_written_by_any_of_them(memento: Memento, address: str) -> None:
    before = state_of(memento)
    for name in WRITES:
        send(address, name, PAGES["another port"])

    assert state_of(memento) == before


def test_a_page_of_the_service_itself_and_a_program_may(address: str) -> None:
    read = {"Accept": "application/json, text/event-stream"}
    own = {"Origin": "http://{host}", "Sec-Fetch-Site": "same-origin"}

    for name in ("query by form", "note", "tool"):
        assert send(address, name, read | own) < 300
        assert send(address, name, read) < 300


@contextmanager
def page_of_another_port(body: str) -> Iterator[str]:
    """The address of a page with this body, under the name `localhost`."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://localhost:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.mark.skipif(BROWSER is None, reason=f"NOT TESTED in a browser: none of {', '.join(BROWSERS)} is installed")
def test_a_form_of_another_port_writes_nothing_from_a_real_browser(memento: Memento, address: str) -> None:
    port = urlsplit(address).port
    before = state_of(memento)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"])
        for host in ("localhost", "127.0.0.1"):
            body = (
                f'<form method="post" action="http://{host}:{port}/sparql/update">'
                f'<input name="update" value="{INSERT}"><button>Send</button></form>'
            )
            with page_of_another_port(body) as there:
                page = chromium.new_page()
                page.goto(there)
                with page.expect_response("**/sparql/update") as answered:
                    page.click("button")
                assert answered.value.status == 403
                page.goto(there)
                sent = f"fetch('http://{host}:{port}/memory/decay', {{method: 'POST', mode: 'no-cors', body: ''}})"
                with page.expect_response("**/memory/decay") as answered:
                    page.evaluate(f"() => {sent}.then(() => true)")
                assert answered.value.status == 403
                page.close()
        chromium.close()

    assert state_of(memento) == before
