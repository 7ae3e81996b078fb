"""Documents that mean it ill, and callers who leave: refused by name or ended, nothing stored half, and others are answered."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from conftest import OFFLINE
from doors import serving
from memento.errors import MementoError
from memento.intake.rows import LINE_CHARS
from memento.plugins.intake import handlers as intake
from memento.python import Memento, open_memento

ROOMY = replace(OFFLINE, sparql=replace(OFFLINE.sparql, memory_mb=4096))
"""Reading may take so much memory that its time is the limit it meets."""


@pytest.fixture
def served(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Memento, str]]:
    opened = open_memento(tmp_path / "home", configured=getattr(request, "param", OFFLINE))
    assert isinstance(opened, Memento)
    with opened, serving(opened) as address:
        opened.warm_up()
        yield opened, address


def ask(address: str, method: str, path: str, body: object = None) -> tuple[int, str]:
    """The status and the text of an answer."""
    url = urlsplit(address)
    data = body if isinstance(body, bytes) or body is None else json.dumps(body)
    with closing(http.client.HTTPConnection(url.hostname or "", url.port, timeout=180)) as client:
        client.request(method, path, data, {"Content-Type": "application/json"})
        answer = client.getresponse()
        return answer.status, answer.read().decode()


def table(rows: int, columns: int = 2) -> bytes:
    header = ",".join(["content", *(f"c{number}" for number in range(columns - 1))])
    return "\n".join([header, *(f"I like tea {row}." + ",1" * (columns - 1) for row in range(rows))]).encode()


UNBOUNDED = {
    "one long line": ("a.txt", b"tea " * (LINE_CHARS // 4 + 1), "line 1 has 4,000,004 characters"),
    "a long field": ("a.csv", b'content,b\n"' + b"tea " * (LINE_CHARS // 4 + 1) + b'",1\n', "line 2 has"),
    "opened brackets": ("a.md", b"[" * 300_000, "line 1 is nested deeper than 1000"),
    "opened quotes": ("a.md", b"x\n\n" + b"> " * 50_000 + b"x", "line 3 is nested deeper than 1000"),
    "a wide table": ("a.csv", table(20, 10_000), "more than 1,000 columns"),
    "a long table": ("a.csv", table(20_002), "more than 20,000 rows"),
    "more text than memory": ("a.md", b"\n\n".join(b"tea %d" % number for number in range(2_000_000)), "more memory"),
}


@pytest.mark.parametrize("kind", UNBOUNDED)
def test_a_document_without_bounds_is_refused_by_name_and_others_are_answered(
    kind: str, served: tuple[Memento, str], tmp_path: Path
) -> None:
    memento, address = served
    name, data, why = UNBOUNDED[kind]
    (tmp_path / name).write_bytes(data)
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(ask, address, "POST", "/memory/ingest", {"file": str(tmp_path / name)})
        assert ask(address, "GET", "/health")[0] == 200
        assert ask(address, "POST", "/memory/notes", {"content": "I live in Lisbon."})[0] == 201

    status, answer = sent.result()
    assert status == 400
    assert why in answer and name in answer
    assert [one.content for one in memento.list()] == ["I live in Lisbon."]
    assert ask(address, "POST", "/memory/ingest", {"file": str(tmp_path / name)})[0] == 400


def test_in_a_folder_only_the_document_without_bounds_is_left_out(served: tuple[Memento, str], tmp_path: Path) -> None:
    memento, _ = served
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_bytes(b"[" * 300_000)
    (folder / "b.md").write_text("The tea is green.")

    done = memento.intake.ingest(folder)

    assert (done.fresh, sum(done.left_out.values())) == (1, 1)
    assert "a.md" in done.names[0]


@pytest.mark.parametrize("served", [ROOMY], indirect=True, ids=["roomy"])
def test_a_document_that_takes_too_long_is_ended_while_others_are_answered(
    served: tuple[Memento, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memento, address = served
    monkeypatch.setattr(intake, "_READ_S", 3.0)
    (tmp_path / "slow.md").write_bytes(b"a*b_" * 500_000)
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(ask, address, "POST", "/memory/ingest", {"file": str(tmp_path / "slow.md")})
        while not memento.service.workers.is_busy:
            assert not sent.done()
        assert ask(address, "GET", "/health")[0] == 200
        assert ask(address, "POST", "/memory/notes", {"content": "I live in Lisbon."})[0] == 201
        assert not sent.done()

    status, answer = sent.result()
    assert status == 400
    assert "takes longer than 3 s" in answer
    assert not memento.service.workers.is_busy


def test_a_jsonl_line_without_bounds_is_refused_before_it_is_parsed(served: tuple[Memento, str]) -> None:
    memento, address = served
    url = urlsplit(address)
    line = b'{"content": "' + b"tea " * (LINE_CHARS // 4) + b'"}\n'
    with closing(http.client.HTTPConnection(url.hostname or "", url.port, timeout=60)) as client:
        client.request("POST", "/memory/import", line, {"Content-Type": "application/x-ndjson"})
        answer = client.getresponse()

        assert answer.status == 400
        assert "a line may have 4,000,000" in answer.read().decode()
    assert memento.list() == ()


def begin_ingest(address: str, path: Path) -> socket.socket:
    """Ask for a document to be taken in, and do not read the answer."""
    url, body = urlsplit(address), json.dumps({"file": str(path)}).encode()
    asked = socket.create_connection((url.hostname or "", url.port or 0), timeout=60)
    head = f"POST /memory/ingest HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    asked.sendall(f"{head}\r\n\r\n".encode() + body)
    return asked


def test_the_work_stops_when_the_caller_leaves_and_goes_on_when_asked_again(
    served: tuple[Memento, str], tmp_path: Path
) -> None:
    memento, address = served
    rows = 300
    (tmp_path / "long.csv").write_bytes(table(rows))
    asked = begin_ingest(address, tmp_path / "long.csv")
    while not memento.list(limit=1):
        pass
    asked.close()
    while memento.service.writers.running:
        pass
    count = len(memento.list(limit=1_000))

    assert 0 < count < rows
    assert memento.admin.check() == ()
    assert memento.intake.ingest(tmp_path / "long.csv").fresh == 1
    assert memento.status().memories == rows


def test_reading_stops_when_the_caller_leaves(served: tuple[Memento, str], tmp_path: Path) -> None:
    memento, address = served
    (tmp_path / "slow.md").write_bytes(b"a*b_" * 500_000)
    asked = begin_ingest(address, tmp_path / "slow.md")
    while not memento.service.workers.is_busy:
        pass
    asked.close()
    while memento.service.workers.is_busy or memento.service.writers.running:
        pass

    assert memento.list() == ()


def test_the_work_stops_when_the_service_ends(tmp_path: Path) -> None:
    (tmp_path / "long.csv").write_bytes(table(1_500))
    ended: list[MementoError] = []
    opened = open_memento(tmp_path / "home", configured=OFFLINE)
    assert isinstance(opened, Memento)

    def take_in() -> None:
        try:
            opened.intake.ingest(tmp_path / "long.csv")
        except MementoError as error:
            ended.append(error)

    thread = threading.Thread(target=take_in)
    with opened:
        thread.start()
        while not opened.list(limit=1):
            pass
    thread.join()

    assert "closed" in str(ended[0])
    with open_memento(tmp_path / "home", configured=OFFLINE) as memento:
        assert isinstance(memento, Memento)
        assert 0 < len(memento.list(limit=1_000)) < 1_000
        assert memento.admin.check() == ()
