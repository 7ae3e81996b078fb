"""The memory behind a running service: the same methods, the same answers, the same errors."""

from __future__ import annotations

import http.client
import inspect
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import reduce
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import pytest

from conftest import OFFLINE, without_disk
from memento.errors import (
    Conflict,
    FolderInUse,
    Forbidden,
    InputError,
    MementoError,
    NotFound,
    ShapeViolation,
    TooLong,
    Unauthorised,
    Unreachable,
)
from memento.interfaces.web.app import create_app
from memento.model import NoteRow, Recollection, ToolCall
from memento.operations import TABLE, fields_of
from memento.plugins.cases.nouns import CaseRow
from memento.plugins.keys.nouns import ToRemember
from memento.plugins.keys.settings import KeysSettings
from memento.python import Client, Memento, Memory, open_memento
from memento.python.client import error_called
from memento.python.methods import METHODS
from memento.time import now

HERE_ONLY = {
    "warm_up",
    "peek",
    "health",
    "serve_at",
    "seen_by",
    "resume",
    "scope",
    "add_keeper",
    "answer",
    "manifest_text",
    "on_redrawn",
    "degraded",
    "take_in",
} | {
    "updated",
    "uploaded",
    "dropped",
    "graph_answer",
    "named_graph",
    "fresh_graph",
    "description",
    "void",
}


class Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:
        """Nobody reads it."""


@pytest.fixture
def client(memento: Memento) -> Iterator[Client]:
    """A client of a memory that is served by a thread."""
    with make_server("127.0.0.1", 0, create_app(memento.service), WSGIServer, Quiet) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield Client(f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
        thread.join()


def test_both_kinds_of_memory_have_the_methods_of_every_operation() -> None:
    for name, path in METHODS.items():
        here, there, both = (reduce(getattr, path.split("."), kind) for kind in (Memento, Client, Memory))
        assert here is there is both
        assert set(fields_of(TABLE[name])) <= set(inspect.signature(both).parameters), name


def test_a_note_is_recalled_as_the_same_nouns(client: Client, memento: Memento) -> None:
    stored = client.note("I work at Google.", at=datetime(2024, 1, 8, tzinfo=UTC))
    found = client.recall("Where do I work?", k=1)

    assert isinstance(found, Recollection)
    assert found.memories == memento.recall("Where do I work?", k=1).memories
    explained = client.recall("Where do I work?", k=1, gate=False, explain=True)
    assert explained.memories == memento.recall("Where do I work?", k=1, gate=False, explain=True).memories
    assert explained.sparql
    assert [one.iri for one in client.list()] == [*stored.memories]
    then: dict[str, Any] = {"as_of": "2025-01-01", "believed_at": now(), "limit": 3}
    assert client.timeline("me", **then) == memento.timeline("me", **then)
    assert client.list() == memento.list()
    assert client.get(stored.memories[0]) == memento.get(stored.memories[0])
    assert without_disk(client.status()) == without_disk(memento.status())


def test_a_time_without_an_offset_is_read_in_the_time_zone_of_the_user(client: Client, memento: Memento) -> None:
    client.note("I work at Google.", at=datetime(2024, 1, 8, 9, 30))
    [memory] = memento.recall("Where do I work?").memories

    assert memory.note is not None
    assert memory.note.at == datetime(2024, 1, 8, 9, 30, tzinfo=UTC)


def test_a_portion_of_an_import_after_another_goes_on_where_it_ended(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memento.python.client.PORTION", 2)
    seen: list[tuple[int, int]] = []
    rows = [NoteRow(content=f"Ada read book number {n}.", session="s", position=n) for n in range(5)]
    done = client.intake.import_notes(rows, consolidate=False, progress=lambda *state: seen.append(state))

    assert (len(done.notes), done.memories) == (5, 5)
    assert seen == [(2, 5), (4, 5), (5, 5)]
    with pytest.raises(InputError, match="rows 3 to 4"):
        client.intake.import_notes([*rows[:2], NoteRow(content=" "), NoteRow(content=" ")])
    [refused] = client.intake.import_notes([*rows[:3], NoteRow(content=" ")]).refused
    assert "rows 3 to 4" in refused and "line 2" in refused


def test_it_forgets_queries_and_takes_care(client: Client) -> None:
    stored = client.note("I live in Lisbon.")
    body, media = client.graphs.query_bytes("SELECT ?o { ?s <http://purl.org/memento/content> ?o }", accept="text/csv")

    assert media == "text/csv"
    assert b"Lisbon" in body
    assert client.admin.check() == ()
    assert client.admin.rebuild() > 0
    assert client.forget(stored.memories[0], erase=True).erased
    assert client.list(past=True) == ()


def test_it_corrects_takes_back_and_tells_where_from(client: Client, memento: Memento) -> None:
    old = client.note("I work at Gogle.", at="2024-01-08")
    new = client.correct(old.memories[0], "I work at Google.", at="2024-01-09")
    kept = client.note("I like tea.", wait=False)

    assert (new.invalidated, kept.pending) == (old.memories, True)
    assert client.review.sources(new.memories[0]) == memento.review.sources(new.memories[0])
    assert client.undo(old.memories[0]).restored == old.memories[0]
    assert client.review.note_status(str(old.note)) == memento.review.note_status(str(old.note))
    assert {one.state for one in client.review.retry()} <= {"consolidated"}
    with pytest.raises(NotFound):
        client.undo(old.memories[0])


def test_it_walks_over_keys_as_the_memory_itself_does(client: Client, memento: Memento) -> None:
    memento.service.settings = memento.settings.having(replace(memento.settings.of(KeysSettings), direct=True))
    done = client.keys.remember(
        "Newton saw an apple fall.", ["Newton", "apple"], types={"Newton": "name"}, ttl_s=3600, session="monday"
    )
    batch = client.keys.remember_batch([ToRemember(content="An apple is a fruit.", keys=("apple", "fruit"))])
    assert batch[0].remembered is not None
    assert client.keys.find("apple", k=3) == memento.keys.find("apple", k=3)
    key = client.keys.find("apple").keys[0].key
    page = client.keys.read(key, query="fruit", limit=1)
    assert (page.total, page.next_offset) == (2, 1)
    assert client.keys.read_memory(done.saved, via=key).depth == 0.05
    assert memento.keys.read_memory(done.saved, via=key).depth == 0.1
    assert client.keys.related(done.saved) == memento.keys.related(done.saved)
    assert client.keys.conversation("monday", turn=0) == memento.keys.conversation("monday")
    assert client.keys.list_memories(limit=1) == memento.keys.list_memories(limit=1)
    assert client.keys.memory_stats().keys == memento.keys.memory_stats().keys == 3
    assert client.keys.recall_memories("apple", k=1, hops=1).memories[0].content in {
        "An apple is a fruit.",
        "Newton saw an apple fall.",
    }
    assert client.correct(done.saved, "Newton saw a pear fall.", keys=["pear"]).invalidated == (done.saved,)
    assert client.keys.cleanup_expired().expired == 0
    with pytest.raises(Forbidden):
        memento.service.settings = memento.settings.having(replace(memento.settings.of(KeysSettings), direct=False))
        client.keys.recall_memories("apple")


def test_cases_go_there_and_come_back_as_the_same_nouns(client: Client, memento: Memento) -> None:
    kept = client.cases.add(
        [
            CaseRow(task="Book a train to Porto.", plan="1. Look. 2. Book.", outcome="success", at=now()),
            CaseRow(task="Book a train to Faro.", plan="1. Guess.", reward=-0.2),
        ]
    )
    found = client.cases.retrieve("Book a train to Braga.", k=1)
    run = client.cases.start(found.task, plan="1. Look.", retrieval=found.retrieval)
    client.cases.record_step(
        run.iri, "Look.", result="9:30", tools=[ToolCall(tool="look", arguments='{"to": "Braga"}')]
    )
    shown = client.cases.task_run(run.iri)
    done = client.cases.complete(run.iri, "success", efficiency=0.5, reason="it left")

    assert [[one.iri for one in side] for side in (found.positives, found.negatives)] == [[kept[0]], [kept[1]]]
    assert shown.steps[0].tools[0].arguments == '{"to": "Braga"}'
    assert done.credited is not None and set(done.credited.cases) == set(kept)
    assert client.cases.get(done.case) == memento.cases.get(done.case)
    assert client.cases.list(limit=2) == memento.cases.list(limit=2)
    told = client.cases.reward(str(found.retrieval), reward=0.5, single={kept[0]: 1.0})
    assert (told.retrieval, told.labelled) == (found.retrieval, 2)
    assert client.cases.status() == memento.cases.status()
    [each] = client.cases.retrieve_each(["Book a train to Braga."], k=1)
    assert [one.iri for one in each.negatives] == [kept[1]]
    assert client.cases.forget(kept[1], erase=True) == kept[1]
    assert client.cases.retrieve("Book a train.", domain="elsewhere").positives == ()
    with pytest.raises(Conflict):
        client.cases.record_step(run.iri, "Look again.")
    with pytest.raises(NotFound):
        client.cases.get(kept[1])
    with pytest.raises(InputError, match="is no IRI"):
        client.cases.get(" ")


def test_namespaces_are_those_of_the_call_or_of_the_client(client: Client) -> None:
    hobby = Client(client.address, namespace="hobby & more")
    hobby.note("I collect stamps.")
    client.note("I play chess.", namespace="hobby & more")

    assert len(hobby.list()) == 2
    assert client.list() == ()
    assert client.status(namespace="hobby & more").namespace == "hobby & more"


def test_readiness_is_that_of_the_service(client: Client, memento: Memento) -> None:
    before = client.ready
    memento.warm_up()

    assert (before, client.ready) == (False, True)


def test_errors_are_those_of_the_service(client: Client) -> None:
    client.note("I own one boat.", idempotency_key="k")

    with pytest.raises(NotFound):
        client.get("urn:memento:memory:none")
    with pytest.raises(Conflict):
        client.note("I own two boats.", idempotency_key="k")
    with pytest.raises(TooLong):
        client.note("x" * 1_048_577)
    with pytest.raises(Forbidden):
        client.graphs.query_bytes("CLEAR ALL")
    with pytest.raises(InputError, match="k must be"):
        client.recall("x", k=0)


@pytest.mark.parametrize("kind", [NotFound, TooLong, ShapeViolation, FolderInUse, MementoError])
def test_an_error_comes_back_by_its_code(kind: type[MementoError]) -> None:
    assert type(error_called(kind("x").code, "x")) is kind
    assert type(error_called("from the future", "x")) is MementoError


def test_nobody_there_is_unreachable() -> None:
    with pytest.raises(Unreachable, match="memento serve"):
        Client("http://127.0.0.1:9").status()


@pytest.mark.parametrize("address", ["nonsense", "127.0.0.1:9", "ftp://127.0.0.1", "http://ana:tea4two@127.0.0.1:9"])
def test_an_address_that_is_none_is_refused_and_its_password_is_not_said(address: str) -> None:
    with pytest.raises(InputError, match=r"http://127\.0\.0\.1:6366") as refused:
        Client(address)

    assert "tea4two" not in str(refused.value)


def test_somebody_else_there_is_no_memento() -> None:
    def other(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        start_response("502 Bad Gateway", [])
        return [b"<html>"]

    with make_server("127.0.0.1", 0, other, WSGIServer, Quiet) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        with pytest.raises(Unreachable, match="no Memento"):
            Client(f"http://127.0.0.1:{server.server_port}").status()
        thread.join()


# ---- a real process


@contextmanager
def serving(home: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """`memento serve` on a free port, from its first line on; told to stop at the end."""
    with subprocess.Popen(
        [sys.executable, "-m", "memento", "--home", str(home), "serve", "--port", "0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    ) as process:
        try:
            assert process.stdout is not None
            assert "ready" in process.stdout.readline()
            yield process
        finally:
            process.terminate()


def environment() -> dict[str, str]:
    return {**os.environ, "MEMENTO_EMBEDDING_MODEL": "trigram", "MEMENTO_EMBEDDING_CACHE": "false"}


def memento_command(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "memento", "--home", str(home), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment())


def test_a_running_service_is_reached_by_python_and_by_the_command(tmp_path: Path) -> None:
    with serving(tmp_path) as process:
        reached = open_memento(tmp_path)
        assert isinstance(reached, Client)
        assert reached.ready
        assert reached.status().address == reached.address
        reached.note("I live in Lisbon. " + "x" * 1_000_000)
        with pytest.raises(TooLong):
            reached.note("x" * 50_000_000)
        told = memento_command(tmp_path, "note", "I work at Google.")
        asked = memento_command(tmp_path, "recall", "Where do I work?")
        second = memento_command(tmp_path, "serve", "--port", "0")
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""

    assert "Google" in told.stdout
    assert "Google" in asked.stdout
    assert (second.returncode, second.stderr.count("\n")) == (1, 1)
    assert reached.address in second.stderr
    with open_memento(tmp_path, configured=OFFLINE) as again:
        assert isinstance(again, Memento)
        assert "I work at Google." in {one.content for one in again.list()}


def test_a_service_for_other_machines_asks_for_tokens_and_its_owner_still_gets_in(tmp_path: Path) -> None:
    token = memento_command(tmp_path, "token", "create", "phone", "--scope", "read").stdout.strip()
    with serving(tmp_path, "--host", "0.0.0.0") as process:
        reached = open_memento(tmp_path)
        assert isinstance(reached, Client)
        reached.note("I live in Lisbon.")
        assert "Lisbon" in memento_command(tmp_path, "recall", "Where do I live?").stdout
        phone = Client(reached.address, token=token)
        assert phone.recall("Where do I live?").memories
        with pytest.raises(Forbidden, match="phone"):
            phone.note("I live in Oslo.")
        with pytest.raises(Unauthorised) as refused:
            Client(reached.address, token="mem_wrong").status()
        assert "mem_wrong" not in str(refused.value)
        process.terminate()
        assert process.stderr is not None
        assert token not in process.stderr.read()


def test_a_body_without_a_length_is_read_to_its_end(tmp_path: Path) -> None:
    with serving(tmp_path):
        reached = open_memento(tmp_path)
        assert isinstance(reached, Client)
        connection = http.client.HTTPConnection(reached.address.removeprefix("http://"))
        pieces = iter([b'{"content": "I live', b' in Lisbon."}'])
        connection.request("POST", "/memory/notes", pieces, {"Content-Type": "application/json"}, encode_chunked=True)
        assert connection.getresponse().status == 201
        connection.close()


@pytest.mark.parametrize(
    ("options", "said"),
    [(["--host", "0.0.0.0"], "loopback"), (["--host", "example.org"], "loopback"), (["--port", "99999"], "port")],
)
def test_a_service_that_cannot_start_says_why_in_one_line(tmp_path: Path, options: list[str], said: str) -> None:
    run = memento_command(tmp_path, "serve", *options)

    assert run.returncode == 2
    assert run.stderr.startswith("memento: ")
    assert run.stderr.count("\n") == 1
    assert said in run.stderr


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    with make_server("127.0.0.1", 0, lambda *_: [], WSGIServer, Quiet) as server:
        run = memento_command(tmp_path, "serve", "--port", str(server.server_port))

    assert (run.returncode, run.stderr.count("\n")) == (2, 1)
    assert f"port {server.server_port}" in run.stderr


def test_it_moves_and_follows_what_use_makes_of_memories(client: Client, memento: Memento) -> None:
    tea, cup = (client.note(text).memories[0] for text in ("I like tea.", "My cup is blue."))
    after = client.living.feedback(tea, helped=False)
    link = client.living.associate(tea, cup, relation="drunk from", weight=0.8)
    faded = client.living.decay()

    assert after.failure_count == 1
    assert client.living.strength(tea) == memento.living.strength(tea)
    assert (link.source, link.target, link.weight) == (tea, cup, 0.8)
    assert client.living.trace(tea) == memento.living.trace(tea)
    assert client.living.activate([tea]) == memento.living.activate([tea])
    assert faded.half_life == 7
    assert client.living.archive(dry_run=True).memories == ()
    with pytest.raises(NotFound, match="is archived"):
        client.living.unarchive(tea)
