"""Several processes answer for one folder as one does: what one has written all know, and whoever dies comes back."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from memento import open_memento
from memento.datadir import DataFolder
from memento.errors import MementoError, SettingsError
from memento.interfaces.web.server import listening
from memento.plugins.scale.settings import StoreSettings
from memento.plugins.scale.workers import SharedListener, map_counts, serve_many
from memento.python import Client, Memento
from memento.settings import EmbeddingSettings, Settings

pytestmark = pytest.mark.skipif(shutil.which("ps") is None, reason="no `ps` to find the processes by")

ENVIRONMENT = {**os.environ, "MEMENTO_EMBEDDING_MODEL": "trigram", "MEMENTO_EMBEDDING_CACHE": "false"}
OFFLINE = Settings(embedding=EmbeddingSettings(model="trigram", cache=False))
PATIENCE_S = 60.0


class Served:
    """`memento serve --workers 2` over a folder."""

    def __init__(self, home: Path) -> None:
        self.home = home
        (home / "memento.toml").write_text(f'[index]\nkind = "lance"\nuri = "{home / "engine"}"\n')
        self.process = subprocess.Popen(
            [sys.executable, "-m", "memento", "--home", str(home), "serve", "--port", "0", "--workers", "2"],
            stdout=subprocess.PIPE,
            text=True,
            env=ENVIRONMENT,
        )
        assert self.process.stdout is not None
        first = self.process.stdout.readline()
        assert "ready at " in first
        self.address = first.split("ready at ")[1].strip()

    def end(self) -> int:
        """Stop it and return its exit code."""
        assert self.process.stdout is not None
        self.process.terminate()
        code = self.process.wait(timeout=60)
        self.process.stdout.close()
        return code

    def connect(self) -> Client:
        """Return a client with a connection of its own, which any of the workers may take."""
        return Client(self.address)

    def note(self, content: str) -> None:
        self.connect().note(content)

    def knows(self, question: str, word: str) -> bool:
        """Tell whether a memory with a word comes back."""
        return any(word in one.content for one in self.connect().recall(question).memories)

    def processes(self, mark: str) -> list[int]:
        """Return the numbers of our child processes whose command line has a word."""
        told = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
        rows = [line.split(None, 2) for line in told.splitlines()[1:]]
        return [int(pid) for pid, parent, args in rows if int(parent) == self.process.pid and mark in args]


def test_connections_that_come_at_once_are_shared_evenly(tmp_path: Path) -> None:
    path = tmp_path / "connections"
    map_counts(path, 2)
    with listening("127.0.0.1", 0, has_tokens=True) as listener, ExitStack() as opened:
        listener.setblocking(False)
        for _ in range(8):
            opened.enter_context(socket.create_connection(listener.getsockname()))
        one, other = (SharedListener(os.dup(listener.fileno()), map_counts(path), place) for place in (0, 1))
        one.listen()
        other.listen()
        # As asyncio does it: whoever wakes takes what there is.
        for _ in range(100):
            for shared in (one, other):
                with suppress(BlockingIOError):
                    while True:
                        opened.enter_context(shared.accept()[0])

        assert list(map_counts(path)) == [4, 4]
        other.close()
        assert list(map_counts(path)) == [4, 2**32 - 1]
        opened.enter_context(socket.create_connection(listener.getsockname()))
        opened.enter_context(one.accept()[0])
        one.close()


def test_a_connection_is_not_left_to_a_worker_that_does_not_come(tmp_path: Path) -> None:
    path = tmp_path / "connections"
    map_counts(path, 2)[:] = memoryview(bytearray(8)).cast("I")  # both have none
    with listening("127.0.0.1", 0, has_tokens=True) as listener, ExitStack() as opened:
        listener.setblocking(False)
        one = SharedListener(os.dup(listener.fileno()), map_counts(path), 0)
        for _ in range(3):
            opened.enter_context(socket.create_connection(listener.getsockname()))
        taken, deferred = 0, 0
        while taken < 3:
            try:
                opened.enter_context(one.accept()[0])
                taken += 1
            except BlockingIOError:
                deferred += 1
        one.close()

    assert deferred == 10  # the first it has to take, as both have none


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("workers")
    with open_memento(home, configured=OFFLINE) as memento:
        memento.note("My dentist is Dr. Okafor.")
    service = Served(home)
    yield service
    service.end()


def test_what_one_worker_has_written_the_next_connection_knows_at_once(served: Served) -> None:
    assert served.knows("Who is my dentist?", "Okafor")
    for number in range(12):
        served.note(f"The locker {number} belongs to Tamsin{number} Vale.")
        assert all(served.knows(f"Whose is locker {number}?", f"Tamsin{number}") for _ in range(3))


def test_notes_at_once_about_one_thing_leave_the_latest_as_they_would_in_one_process(served: Served) -> None:
    told = {f"I moved to {city}.": f"2026-03-0{day}" for day, city in enumerate(CITIES, 1)}
    with subprocess.Popen([sys.executable, "-c", WRITERS, served.address, json.dumps(told)]) as writers:
        assert writers.wait(timeout=120) == 0
    lived = [one for one in served.connect().list(limit=100, past=True) if any(city in one.content for city in CITIES)]
    assert [one.content for one in lived if one.invalid_at is None] == [f"I moved to {CITIES[-1]}."]
    ends = {one.content: (one.valid_at.day, one.invalid_at and one.invalid_at.day) for one in lived}
    assert [ends[f"I moved to {city}."] for city in CITIES[:-1]] == [(day, day + 1) for day in range(1, len(CITIES))]


CITIES = ("Porto", "Bergen", "Utrecht", "Graz", "Cork", "Lyon")

WRITERS = """
import json, sys, threading
from memento.python import Client
told = json.loads(sys.argv[2])
threads = [threading.Thread(target=Client(sys.argv[1]).note, args=(one,), kwargs={"at": at}) for one, at in told.items()]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""


def test_a_token_made_while_it_runs_is_good_for_all_workers(served: Served) -> None:
    words = [
        sys.executable,
        "-m",
        "memento",
        "--home",
        str(served.home),
        "token",
        "create",
        "reader",
        "--scope",
        "read",
    ]
    token = subprocess.run(words, capture_output=True, text=True, check=True, env=ENVIRONMENT).stdout.split()
    [good] = [word for word in token if word.startswith("mem_")]
    for _ in range(6):
        assert Client(served.address, token=good).status().memories


@pytest.mark.parametrize("mark", ["scale.workers", "oxigraph"])
def test_a_process_that_is_killed_is_started_again_and_nothing_is_lost(served: Served, mark: str) -> None:
    told = f"The {mark.replace('.', ' ')} badge is number 77."
    served.note(told)
    [victim, *_] = served.processes(mark)
    os.kill(victim, signal.SIGKILL)
    until = time.monotonic() + PATIENCE_S
    while victim in served.processes(mark) or not served.processes(mark):
        assert time.monotonic() < until
        time.sleep(0.1)
    while True:
        try:
            assert served.knows(f"What number is the {mark.replace('.', ' ')} badge?", "77")
            served.note(f"After the end of {mark} all went on.")
            break
        except MementoError:
            assert time.monotonic() < until
            time.sleep(0.2)


def test_the_end_of_the_service_is_the_end_of_all_its_processes(tmp_path: Path) -> None:
    service = Served(tmp_path)
    service.note("My bike is a blue Brompton.")
    service.note("My safe opens with zanzibarquartz.")
    [secret] = [one for one in service.connect().list(limit=9) if "zanzibar" in one.content]
    service.connect().forget(secret.iri, erase=True)
    children = [*service.processes("scale.workers"), *service.processes("oxigraph")]
    assert len(children) == 3
    assert service.end() == 0
    assert not any(Path(f"/proc/{child}").exists() for child in children)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(b"zanzibarquartz" in path.read_bytes() for path in files)
    with open_memento(tmp_path, configured=OFFLINE) as memento:
        assert isinstance(memento, Memento)
        assert "Brompton" in memento.recall("What is my bike?").memories[0].content


def test_a_store_of_somebody_else_is_not_served_by_workers(tmp_path: Path) -> None:
    settings = Settings(store=StoreSettings(kind="sparql", query_url="http://127.0.0.1:1/query"))
    with pytest.raises(SettingsError, match="store of its own"):
        serve_many(DataFolder(tmp_path), settings, 2, "127.0.0.1", 0, print)


def test_an_index_in_the_memory_of_one_process_is_not_served_by_workers(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r'set index\.kind = "lance"'):
        serve_many(DataFolder(tmp_path), Settings(), 2, "127.0.0.1", 0, print)


def test_a_parent_that_is_killed_leaves_nothing_running(served: Served) -> None:
    children = [*served.processes("scale.workers"), *served.processes("oxigraph")]
    served.process.kill()
    served.end()
    until = time.monotonic() + PATIENCE_S
    while any(Path(f"/proc/{child}").exists() for child in children):
        assert time.monotonic() < until
        time.sleep(0.1)
