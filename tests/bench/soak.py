"""
Does a service that runs for hours keep its memory, descriptors, threads and disk within bounds?

Some clients note, recall, query, write graphs, remember, erase and export, each with an occasional mistake. Every minute it prints
what the process and its workers hold; disk per note is the growth of the folder for each note or memory that was stored. At the end
it prints the contents of the folder by size. The bounds apply after a fifth of the time, when everything is warm: memory may grow
only with what is remembered, descriptors and threads not at all.

Run: `make soak`, an hour; `HOURS=8 make soak`; `.venv/bin/python tests/bench/soak.py --hours .01` to try it.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from lean import sizes
from measure import arguments, record
from siege.watched import children, resident
from startup import command, free_port, healthy

MIB_AT_MOST, KIB_A_NOTE = 400.0, 40.0
"""What memory may grow by after the warm-up, beside so much for each note, which indexes hold too."""
DISK_KIB_A_NOTE = 16.0
FILES_MORE, THREADS_MORE = 200, 50
NAMES = [
    f"{first} {last}" for first in ("Ana", "Bo", "Cy", "Dee", "Eli") for last in ("Ash", "Birch", "Cedar", "Elm", "Fir")
]
TOWNS = ("Oslo", "Lisbon", "Porto", "Graz", "Turin", "Bergen", "Ghent")
LATEST = "SELECT ?note { ?note a <http://purl.org/memento/Note> } ORDER BY DESC(?note) LIMIT 1"
JSON, TURTLE = "application/json", "text/turtle"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What a service holds at one time; disk and memory in MiB."""

    seconds: float
    notes: int
    memory: float
    files: int
    threads: int
    disk: float
    empty: float

    def __str__(self) -> str:
        a_note = (self.disk - self.empty) * 1024 / max(self.notes, 1)
        return (
            f"{self.seconds / 60:7.1f} min  {self.notes:7} notes  {self.memory:7.1f} MiB  {self.files:4} files  "
            f"{self.threads:4} threads  {self.disk:7.1f} MiB of disk, {a_note:.1f} KiB a note"
        )


class Load:
    """Clients that do something of everything until they are told to stop."""

    def __init__(self, port: int, seed: int) -> None:
        self._base, self._seed = f"http://127.0.0.1:{port}", seed
        self.answers: Counter[str] = Counter()
        self.notes = 0
        self.stopping = threading.Event()

    def run(self, number: int) -> None:
        """Be one client."""
        chance = random.Random(self._seed + number)
        texts = (f"I met {chance.choice(NAMES)} in {chance.choice(TOWNS)}, {day} days ago." for day in count(number))
        acts: list[tuple[float, Callable[[], object]]] = [
            (6, lambda: self._note(next(texts))),
            (6, lambda: self._get("/memory/recall?query=" + urllib.parse.quote(next(texts)))),
            (3, lambda: self._get("/sparql?query=" + urllib.parse.quote("SELECT * { ?s ?p ?o } LIMIT 100"))),
            (
                2,
                lambda: self._keep(
                    "/memory/remember", {"content": next(texts), "keys": [chance.choice(["tea", "milk", "jam"])]}
                ),
            ),
            (1, lambda: self._send("/sparql/graphs/soak", b"<urn:x:s> <urn:p> %d ." % chance.randrange(1000), TURTLE)),
            (1, lambda: self._get("/memory/export?format=nquads&namespace=nobody")),
            (1, lambda: self._get("/map")),
            (1, self._erase_latest),
            (1, lambda: self._send("/memory/notes", b'{"content": ', JSON)),
            (1, lambda: self._get("/sparql?query=SELECT")),
        ]
        weights, works = zip(*acts, strict=True)
        while not self.stopping.is_set():
            [act] = chance.choices(works, weights)
            act()

    def _note(self, text: str) -> None:
        self._keep("/memory/notes", {"content": text})

    def _keep(self, path: str, body: object) -> None:
        if self._ask(path, body):
            self.notes += 1

    def _erase_latest(self) -> None:
        listed = self._get(f"/sparql?query={urllib.parse.quote(LATEST)}")
        for row in json.loads(listed)["results"]["bindings"] if listed else ():
            self._send(f"/memory/{urllib.parse.quote(row['note']['value'], safe='')}?erase=true", None, JSON, "DELETE")

    def _ask(self, path: str, body: object) -> bytes | None:
        return self._send(path, json.dumps(body).encode(), JSON)

    def _get(self, path: str) -> bytes | None:
        return self._send(path, None, JSON, "GET")

    def _send(self, path: str, body: bytes | None, media: str, method: str = "POST") -> bytes | None:
        headers = {"Content-Type": media, "Accept": "application/sparql-results+json, */*"}
        request = urllib.request.Request(self._base + path, body, headers, method=method)
        name = f"{method} {path.partition('?')[0].partition('/urn')[0][:24]}"
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                self.answers[f"{name} {answer.status}"] += 1
                return bytes(answer.read())
        except urllib.error.HTTPError as error:
            self.answers[f"{name} {error.code}"] += 1
        except OSError as error:
            self.answers[f"{name} {type(error).__name__}"] += 1
        return None


def measure(pid: int, folder: Path, begin: float, notes: int, empty: float) -> Held:
    """Measure a service with its workers."""
    processes = [pid, *children(pid)]
    return Held(
        seconds=time.monotonic() - begin,
        notes=notes,
        memory=sum(map(resident, processes)),
        files=_count(pid, "fd"),
        threads=_count(pid, "task"),
        disk=_disk(folder),
        empty=empty,
    )


def _count(pid: int, kind: str) -> int:
    return sum(1 for _ in Path(f"/proc/{pid}/{kind}").iterdir())


def _disk(folder: Path) -> float:
    seen: dict[int, int] = {}  # snapshots share the files of the store
    for path in folder.rglob("*"):
        try:
            found = path.stat()
        except OSError:
            continue
        if path.is_file():
            seen[found.st_ino] = found.st_size
    return sum(seen.values()) / 2**20


def exceeded(warm: Held, last: Held) -> list[str]:
    """Return the bounds that do not hold, in words."""
    grown = last.notes - warm.notes
    most = warm.memory + MIB_AT_MOST + grown * KIB_A_NOTE / 1024
    disk = warm.disk + 64 + grown * DISK_KIB_A_NOTE / 1024
    checks = [
        (last.memory > most, f"memory: {last.memory:.0f} MiB of {most:.0f}"),
        (last.files > warm.files + FILES_MORE, f"descriptors: {last.files}, {warm.files} when warm"),
        (last.threads > warm.threads + THREADS_MORE, f"threads: {last.threads}, {warm.threads} when warm"),
        (last.disk > disk, f"disk: {last.disk:.0f} MiB of {disk:.0f}"),
    ]
    return [words for is_over, words in checks if is_over]


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Print what is held, and end with 1 where a bound does not hold."""
    parser = arguments(__doc__ or "", notes=0)
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(argv)
    seconds, every = chosen.hours * 3600, min(60.0, chosen.hours * 360)
    with TemporaryDirectory(prefix="memento-soak-") as name:
        folder, port = Path(name), free_port()
        begin = time.monotonic()
        process = subprocess.Popen(
            [command(), "--home", name, "serve", "--port", str(port)],
            env={**os.environ, "MEMENTO_EMBEDDING_MODEL": chosen.model},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        load, held = Load(port, chosen.seed), list[Held]()
        clients = [threading.Thread(target=load.run, args=(number,)) for number in range(chosen.clients)]
        try:
            while not healthy(port):
                time.sleep(0.1)
            empty = _disk(folder)
            for client in clients:
                client.start()
            while process.poll() is None and time.monotonic() - begin < seconds:
                time.sleep(every)
                held.append(measure(process.pid, folder, begin, load.notes, empty))
                print(held[-1], flush=True)
            is_alive = process.poll() is None and healthy(port)
            print("KiB: " + ", ".join(f"{part} {size // 1024}" for part, size in sizes(folder).most_common()))
        finally:
            load.stopping.set()
            for client in clients:
                client.join(60)
            process.terminate()
            process.wait(timeout=60)
    failed = {
        name: count for name, count in load.answers.items() if not name.endswith(("200", "201", "400", "404", "409"))
    }
    wrong = exceeded(held[len(held) // 5], held[-1]) + ([] if is_alive else ["the service ended or answers no more"])
    print(dict(load.answers.most_common()))
    print(f"answered otherwise: {failed}" if failed else "every answer was as it should be")
    print("beyond its bounds: " + "; ".join(wrong) if wrong else "within its bounds")
    figures: dict[str, object] = {"hours": chosen.hours, "last": str(held[-1]), "beyond": wrong, "failed": failed}
    record("soak", figures, chosen.record)
    return figures


if __name__ == "__main__":
    raise SystemExit(1 if main()["beyond"] else 0)
