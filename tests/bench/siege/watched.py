"""What is watched while a service is besieged: how soon it answers `ASK {}`, how much memory it has, who knocks at the canary."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

SOON_S = 0.1
"""An answer to `ASK {}` should be there in this time."""


@dataclass
class Answers:
    """The seconds that each `ASK {}` took, and every answer that was not 200."""

    seconds: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def since(self, count: int) -> Answers:
        """Those after the first `count`."""
        return Answers(self.seconds[count:], self.wrong)

    def __str__(self) -> str:
        if not self.seconds:
            return "ASK {} was not asked"
        p50, p95, p99 = np.quantile(self.seconds, (0.5, 0.95, 0.99)) * 1000
        late = sum(second > SOON_S for second in self.seconds)
        return (
            f"ASK {{}} {len(self.seconds)} times: p50 {p50:.1f} ms, p95 {p95:.1f} ms, p99 {p99:.1f} ms, "
            f"most {max(self.seconds) * 1000:.1f} ms; {late} beyond {SOON_S * 1000:.0f} ms, {len(self.wrong)} not 200"
        )


@dataclass
class Memory:
    """The most that was resident at one time, in MiB: of the service, of one of its workers, of all together."""

    owner: float = 0
    worker: float = 0
    all: float = 0
    workers: int = 0

    def __str__(self) -> str:
        return (
            f"memory at most: service {self.owner:.0f} MiB, one worker {self.worker:.0f} MiB, "
            f"all together {self.all:.0f} MiB with {self.workers} workers"
        )


@dataclass
class Canary:
    """A socket that nobody should knock at, at every address of this machine."""

    port: int
    knocks: list[str] = field(default_factory=list)


@contextmanager
def answering(query_url: str, pause_s: float = 0.02) -> Iterator[Answers]:
    """Ask `ASK {}` again and again on one connection until the end of the block."""
    answers, done = Answers(), threading.Event()
    url = urlsplit(query_url)

    def ask() -> None:
        connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=60)
        while not done.is_set():
            begin = time.perf_counter()
            try:
                connection.request("GET", f"{url.path}?query=ASK%20%7B%7D")
                answer = connection.getresponse()
                body = answer.read()
                if answer.status != 200 or b"true" not in body:
                    answers.wrong.append(f"{answer.status} {body[:100]!r}")
            except (OSError, http.client.HTTPException) as error:
                answers.wrong.append(repr(error))
                connection.close()
            answers.seconds.append(time.perf_counter() - begin)
            done.wait(pause_s)
        connection.close()

    with _thread(ask):
        try:
            yield answers
        finally:
            done.set()


@contextmanager
def measuring(pid: int, pause_s: float = 0.02) -> Iterator[Memory]:
    """Sample the resident memory of a process and of those that it started until the end of the block."""
    memory, done = Memory(), threading.Event()

    def sample() -> None:
        while not done.is_set():
            owner = resident(pid)
            workers = [resident(child) for child in children(pid)]
            memory.owner = max(memory.owner, owner)
            memory.worker = max(memory.worker, *workers, 0)
            memory.all = max(memory.all, owner + sum(workers))
            memory.workers = max(memory.workers, len(workers))
            done.wait(pause_s)

    with _thread(sample):
        try:
            yield memory
        finally:
            done.set()


@contextmanager
def listening() -> Iterator[Canary]:
    """A canary until the end of the block."""
    with ExitStack() as stack:
        dual = socket.has_dualstack_ipv6()
        family, host = (socket.AF_INET6, "::") if dual else (socket.AF_INET, "0.0.0.0")
        listener = stack.enter_context(socket.create_server((host, 0), family=family, dualstack_ipv6=dual, backlog=128))
        canary = Canary(int(listener.getsockname()[1]))

        def accept() -> None:
            while True:
                try:
                    knock, peer = listener.accept()
                except OSError:
                    return
                with knock:
                    knock.settimeout(1)
                    try:
                        canary.knocks.append(f"{peer[0]} {knock.recv(200)!r}")
                    except OSError:
                        canary.knocks.append(str(peer[0]))

        stack.enter_context(_thread(accept))
        try:
            yield canary
        finally:
            listener.shutdown(socket.SHUT_RDWR)


def children(pid: int) -> list[int]:
    """The processes that a process started and that still run, theirs included."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            direct = [int(child) for child in task.read_text(encoding="ascii").split()]
        except OSError:
            continue
        found += direct + [deeper for child in direct for deeper in children(child)]
    return found


def resident(pid: int) -> float:
    """Resident memory in MiB; 0 for a process that is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")), 0)


@contextmanager
def _thread(work: object) -> Iterator[None]:
    thread = threading.Thread(target=work)  # type: ignore[arg-type]
    thread.start()
    try:
        yield
    finally:
        thread.join()
