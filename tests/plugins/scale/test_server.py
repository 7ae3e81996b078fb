"""A store for several nodes: what its front lets through to the engine, and to whom."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import httpx2
import pytest
from click.testing import CliRunner

from endpoints import BINARY
from memento.errors import GraphError
from memento.interfaces.cli import main
from memento.interfaces.web.server import listening
from memento.plugins.scale.endpoint import SparqlClient
from memento.plugins.scale.server import Front, serve_engine

pytestmark = pytest.mark.skipif(BINARY is None, reason="needs `oxigraph`")

TOKEN = "of-the-store"


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a store that takes a token."""
    folder: Path = tmp_path_factory.mktemp("store")
    with listening("127.0.0.1", 0, has_tokens=True) as listener, serve_engine(folder, listener, TOKEN):
        yield listener.getsockname()[1]


def test_an_update_whose_sender_leaves_midway_is_not_made(port: int) -> None:
    sent = b"INSERT DATA { GRAPH <urn:cut:off> { <urn:a> <urn:b> 1 } } ;"
    head = f"POST /update HTTP/1.1\r\nHost: store\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: {len(sent) + 100}\r\n"
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(f"{head}Content-Type: application/sparql-update\r\n\r\n".encode() + sent)
    url = f"http://127.0.0.1:{port}"
    client = SparqlClient(f"{url}/query", f"{url}/update", token=TOKEN)
    for number in range(
        3
    ):  # updates are made one after the other: what was cut off would come before the last of these
        client.update(f"INSERT DATA {{ GRAPH <urn:whole> {{ <urn:a> <urn:b> {number} }} }}")
    assert client.ask("ASK { GRAPH <urn:whole> { ?s ?p 2 } }")
    assert not client.ask("ASK { GRAPH <urn:cut:off> { ?s ?p ?o } }")
    client.close()


def test_the_probe_takes_the_token_of_the_store_from_the_environment(port: int) -> None:
    words = ["store", "probe", f"http://127.0.0.1:{port}/query", f"http://127.0.0.1:{port}/update", "--quick"]
    assert CliRunner().invoke(main, words, env={"MEMENTO_STORE_TOKEN": TOKEN}).exit_code == 0
    assert CliRunner().invoke(main, words, env={"MEMENTO_STORE_TOKEN": ""}).exit_code == 2


def test_a_token_that_is_not_taken_is_named_by_its_setting(port: int) -> None:
    url = f"http://127.0.0.1:{port}"
    client = SparqlClient(f"{url}/query", f"{url}/update", token="another")
    with pytest.raises(GraphError, match=r"answered 401: .*; check store\.token$"):
        client.ask("ASK {}")
    client.close()


def test_an_update_that_is_one_too_many_is_refused_and_was_not_made() -> None:
    """The engine is one that answers nothing until it is told to."""
    freed, arrived = threading.Event(), threading.Semaphore(0)

    class Slow(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            arrived.release()
            freed.wait(60)
            self.send_response(204)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Nobody reads it."""

    async def ask_thrice(front: Front) -> list[httpx2.Response]:
        transport = httpx2.ASGITransport(app=front)
        async with httpx2.AsyncClient(transport=transport, base_url="http://store") as client:
            waiting = [asyncio.ensure_future(client.post("/update", content="CLEAR ALL")) for _ in range(2)]
            assert await asyncio.to_thread(arrived.acquire, timeout=60)  # the other waits behind it
            refused = await client.post("/update", content="CLEAR ALL")
            freed.set()
            return [refused, *(await asyncio.gather(*waiting))]

    with ThreadingHTTPServer(("127.0.0.1", 0), Slow) as engine:
        threading.Thread(target=engine.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        front = Front(f"http://127.0.0.1:{engine.server_port}", most_updates=2)
        refused, *made = asyncio.run(ask_thrice(front))
        engine.shutdown()

    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    assert "2 updates are queued" in refused.text
    assert [one.status_code for one in made] == [204, 204]


def test_health_follows_the_engine_and_needs_no_token(tmp_path: Path) -> None:
    with listening("127.0.0.1", 0, has_tokens=True) as listener, serve_engine(tmp_path, listener, TOKEN) as engine:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/health"
        with urlopen(url, timeout=60) as answer:
            assert answer.status == 200
        engine.stop()
        with pytest.raises(HTTPError) as refused:
            urlopen(url, timeout=60)
    assert refused.value.code == 503
    refused.value.close()
