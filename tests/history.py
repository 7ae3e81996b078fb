"""
Random operations on several nodes over one store and one engine, each answer compared with that of one embedded memory that did the
same.

A history is a function of its seed: `make_history(seed, length)`. Each step has a time of its own, which the clocks of all memories
show, and names what it is about by a number into what is listed then; so a history without some of its steps is one, too.

    python tests/bench/histories.py --seed SEED [--length N] [--kills] [--shrink]

replays one, and looks for a shorter one that fails too.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from difflib import unified_diff
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from conftest import make_grains
from endpoints import free_port
from memento.codec import plain
from memento.errors import InputError, MementoError, NotFound
from memento.model import NoteRow
from memento.plugins.lab.settings import InferenceSettings
from memento.plugins.scale.endpoint import SparqlClient
from memento.plugins.scale.settings import IndexSettings, StoreSettings
from memento.python import Memento, open_memento
from memento.settings import ConsolidationSettings, EmbeddingSettings, Settings

NODES = 3
warnings.filterwarnings("ignore", "lancedb fork support")  # nothing runs in the process that nodes are forked from
PROCESSES = get_context("forkserver")
PROCESSES.set_forkserver_preload(["history", "lancedb", "lancedb.index", "lancedb.query"])
BEGIN = datetime(2026, 1, 5, 8, tzinfo=UTC)
APART = timedelta(minutes=97)

PEOPLE = ("Petra", "Ines", "Tomas", "Marek", "Dilan", "Yusuf")
TOWNS = ("Bergen", "Graz", "Porto", "Lublin", "Turku", "Ghent")
FIRMS = ("Halden Foods", "Acme", "Norsk Data", "Brill", "Siemens")
THINGS = ("ladder", "kayak", "tent", "drill", "piano", "lantern")
PLACES = ("attic", "garage", "boathouse", "cellar", "hallway", "barn")
KIN = ("sister", "brother", "boss", "neighbour")

SENTENCES = (
    "I work at {firm}.",
    "I live in {town}.",
    "I moved to {town}.",
    "{person} works at {firm}.",
    "{person} lives in {town}.",
    "{person} moved to {town}.",
    "{person} no longer works at {firm}.",
    "{person}'s {kin} is {other}.",
    "My {kin} is {person}.",
    "{person} likes {thing}s.",
    "The {thing} is in the {place}.",
    "The {thing} belongs to {person}.",
    "My locker is number {number}.",
    "{person} and {other} met in {town} on 3 March 2025.",
    "I think {person} lives in {town}, but I am not sure. The {thing} is not in the {place}.",
)
QUESTIONS = (
    "Where do I work?",
    "Where do I live?",
    "Where does {person} live?",
    "Where does {person} work?",
    "Who is {person}'s {kin}?",
    "Where does the {kin} of {person} work?",
    "Where does {person}'s {kin} live?",
    "Where does my {kin} live?",
    "Where is the {thing}?",
    "Whose is the {thing}?",
    "Which locker is mine?",
    "Who likes {thing}s?",
    "Where did {person} live before?",
    "What do you know about {person}?",
    "What happened in March 2025?",
)
GRAPH = "urn:memento:data:local:boats"
PREFIX = "PREFIX mem: <http://purl.org/memento/> "
QUERIES = {
    "memories": "SELECT ?text ?from ?to ?gone { ?m a mem:Memory ; mem:content ?text OPTIONAL { ?m mem:validAt ?from } "
    "OPTIONAL { ?m mem:invalidAt ?to } OPTIONAL { ?m mem:expiredAt ?gone } } ORDER BY ?text ?from ?to ?gone",
    "claims": "SELECT ?words ?relation ?value ?holds ?to { ?c a mem:Claim ; mem:words ?words ; mem:relationName ?relation "
    "OPTIONAL { ?c mem:valueText ?value } OPTIONAL { ?c mem:polarity ?holds } OPTIONAL { ?c mem:invalidAt ?to } } "
    "ORDER BY ?words ?relation ?value ?holds ?to",
    "chains": "SELECT ?words ?other { ?a mem:value ?entity ; mem:words ?words . ?b mem:owner ?entity ; mem:words ?other } "
    "ORDER BY ?words ?other",
    "endings": "SELECT ?old ?new ?mode { ?i a mem:Invalidation ; mem:invalidated ?o ; mem:invalidator ?n . ?o mem:content ?old . "
    "?n mem:content ?new OPTIONAL { ?i mem:mode ?mode } } ORDER BY ?old ?new ?mode",
    "entities": "SELECT ?name (COUNT(?m) AS ?n) { ?e a mem:Entity ; mem:name ?name OPTIONAL { ?m mem:about ?e } } "
    "GROUP BY ?name ORDER BY ?name ?n",
    "statements": "SELECT ?predicate (COUNT(*) AS ?n) { ?s ?predicate ?o } GROUP BY ?predicate ORDER BY ?predicate",
    "boats": f"SELECT ?s ?o {{ GRAPH <{GRAPH}> {{ ?s <urn:name> ?o }} }} ORDER BY ?s ?o",
}
WRITES = {
    "note": 24,
    "correct": 6,
    "forget": 6,
    "erase": 6,
    "unforget": 2,
    "import": 5,
    "tidy": 3,
    "update": 4,
    "mark": 2,
}
READS = {"recall": 20, "list": 5, "timeline": 8, "sparql": 9}
_IRI = re.compile(r"urn:memento:([a-z-]+(?::[\w%]+){0,2}):[0-9a-f]{8}-[0-9a-f-]{27}")
UNLIKE = ("digest",)
"""Fields of answers that are made from IRIs."""
TIED = 1e-4
"""Scores closer than this are a tie: vectors in an engine and in a file are rounded at different places."""


Target = tuple[str, datetime]
"""A memory: its content, and when it was written."""


@dataclass(frozen=True, slots=True)
class Step:
    """
    One operation, its place in the history, and the order in which the nodes are asked; the first one writes. While it is played,
    `target` is the memory that `pick` is.
    """

    number: int
    kind: str
    texts: tuple[str, ...]
    pick: int
    order: tuple[int, ...]
    target: Target | None = None
    is_retried: bool = False

    @property
    def at(self) -> datetime:
        return BEGIN + self.number * APART

    def __str__(self) -> str:
        return f"{self.number:4} {self.kind:9} node {self.order[0]}  {self.pick:4}  {' | '.join(self.texts)}"


def make_history(seed: int, length: int, nodes: int = NODES) -> list[Step]:
    """Make the steps of a history; the shorter one of the same seed is the beginning of the longer one."""
    chance = random.Random(seed)
    kinds = WRITES | READS

    def fill(templates: Sequence[str]) -> str:
        person, other = chance.sample(PEOPLE, 2)
        words = {"firm": FIRMS, "town": TOWNS, "thing": THINGS, "place": PLACES, "kin": KIN}
        return chance.choice(templates).format(
            person=person,
            other=other,
            number=chance.randrange(10, 60),
            **{name: chance.choice(several) for name, several in words.items()},
        )

    steps = []
    for number in range(length):
        [kind] = chance.choices(list(kinds), list(kinds.values()))
        texts: tuple[str, ...] = ()
        if kind in ("note", "correct"):
            texts = (fill(SENTENCES),)
        elif kind == "import":
            texts = tuple(fill(SENTENCES) for _ in range(chance.randrange(2, 8)))
        elif kind == "recall":
            texts = (fill(QUESTIONS),)
        elif kind == "timeline":
            texts = (chance.choice(["me", *PEOPLE]),)
        elif kind == "sparql":
            texts = (chance.choice(list(QUERIES)),)
        elif kind == "update":
            texts = (chance.choice(("INSERT", "DELETE")),)
        order = tuple(chance.sample(range(nodes), nodes))
        steps.append(Step(number, kind, texts, chance.randrange(1000), order))
    return steps


class Clock:
    """The time of a memory: that of the step."""

    def __init__(self) -> None:
        self.at = BEGIN

    def __call__(self) -> datetime:
        return self.at


Answer = Any
"""What a step answers, in texts and numbers, and without the IRIs, which differ from memory to memory."""


class Player:
    """A memory that does steps."""

    def __init__(self, home: Path, settings: Settings) -> None:
        self.clock = Clock()
        opened = open_memento(home, configured=settings, clock=self.clock)
        assert isinstance(opened, Memento)
        self.memento = opened

    def do(self, step: Step) -> Answer:
        """Do a step; an error that is an answer is returned as its name."""
        self.clock.at = step.at
        try:
            return getattr(self, f"_{step.kind}")(step)
        except (NotFound, InputError) as error:
            return type(error).__name__

    def close(self) -> None:
        self.memento.close()

    def choose_target(self, step: Step) -> Target | None:
        """Return the memory that a step is about; None if it is about none, or there is none."""
        if step.kind not in ("correct", "forget", "erase", "unforget", "mark"):
            return None
        self.clock.at = step.at
        is_forgotten = step.kind == "unforget" or (step.kind == "erase" and step.pick % 3 == 0)
        rows = [row for row in self.memento.list(limit=1000, past=True) if (row.expired_at is not None) == is_forgotten]
        if not is_forgotten:
            rows = [row for row in rows if row.invalid_at is None] or rows
        found = sorted((row.content, row.created_at) for row in rows)
        return found[step.pick % len(found)] if found else None

    def is_done(self, step: Step) -> bool:
        """Tell whether a step that writes a memory was made, whose writer died or was told of an error."""
        self.clock.at = step.at
        return any(row.created_at == step.at for row in self.memento.list(limit=1000, past=True))

    def _find(self, step: Step) -> str:
        for row in self.memento.list(limit=1000, past=True):
            if (row.content, row.created_at) == step.target:
                return str(row.iri)
        raise NotFound(f"there is no {step.target}")

    def _note(self, step: Step) -> Answer:
        return strip(self.memento.note(step.texts[0], idempotency_key=f"step{step.number}"))

    def _correct(self, step: Step) -> Answer:
        return strip(self.memento.correct(self._find(step), step.texts[0]))

    def _forget(self, step: Step) -> Answer:
        return strip(self.memento.forget(self._find(step)))

    def _erase(self, step: Step) -> Answer:
        return strip(self.memento.forget(self._find(step), erase=True))

    def _unforget(self, step: Step) -> Answer:
        return strip(self.memento.review.unforget(self._find(step)))

    def _mark(self, step: Step) -> Answer:
        return strip(self.memento.review.mark(self._find(step), tags=[f"tag{step.pick % 3}"]))

    def _import(self, step: Step) -> Answer:
        rows = [
            NoteRow(content=text, idempotency_key=f"step{step.number}.{place}") for place, text in enumerate(step.texts)
        ]
        return strip(self.memento.intake.import_notes(rows, consolidate=step.pick % 2 == 0))

    def _tidy(self, step: Step) -> Answer:
        most = (10_000, 10_000, 25)[step.pick % 3]
        return strip(self.memento.admin.compact(ttl_days=(0.0, 10.0)[step.pick % 2], max_entries=most))

    def _update(self, step: Step) -> Answer:
        triple = f'<urn:boat:{step.pick % 7}> <urn:name> "boat {step.pick % 5}"'
        return strip(self.memento.graphs.update(f"{step.texts[0]} DATA {{ GRAPH <{GRAPH}> {{ {triple} }} }}"))

    def _list(self, step: Step) -> Answer:
        return strip(self.memento.list(limit=1000, past=step.pick % 2 == 0))

    def _timeline(self, step: Step) -> Answer:
        return strip(self.memento.timeline(step.texts[0], limit=500))

    def _sparql(self, step: Step) -> Answer:
        return self.memento.graphs.query_bytes(PREFIX + QUERIES[step.texts[0]], "text/csv")[0].decode()

    def _recall(self, step: Step) -> Answer:
        if not self.memento.service.stores.is_shared:
            make_grains(self.memento)  # which an embedded memory does when nothing is written for half a second
        found = self.memento.recall(step.texts[0])
        return {
            "gated": found.gated,
            "memories": [[one.content, round(one.score, 6), one.count] for one in found.memories],
        }

    def _check(self, _: Step) -> Answer:
        return strip(self.memento.admin.check())


def strip(answer: object) -> Answer:
    """Return an answer in texts and numbers, without IRIs, and texts by IRI as a sorted list of the texts."""

    def clean(value: Any) -> Any:
        if isinstance(value, dict):
            if any(_IRI.fullmatch(name) for name in value):
                return sorted(map(json.dumps, map(clean, value.values())))
            return {name: clean(one) for name, one in value.items() if name not in UNLIKE}
        if isinstance(value, list | tuple):
            return [clean(one) for one in value]
        return _IRI.sub(r"\1", value) if isinstance(value, str) else value

    return clean(plain(answer))


def is_same(step: Step, expected: Answer, found: Answer) -> bool:
    """Tell whether two memories answer alike: a recall with the same first memory and the same set, but for ties."""
    if step.kind != "recall" or not isinstance(expected, dict) or not isinstance(found, dict):
        return bool(expected == found)
    if expected["gated"] != found["gated"] or len(expected["memories"]) != len(found["memories"]):
        return False
    if not expected["memories"]:
        return True
    here, there = ({text: score for text, score, _ in one["memories"]} for one in (expected, found))
    first, last = expected["memories"][0], expected["memories"][-1]
    is_first = abs(here.get(found["memories"][0][0], -1.0) - first[1]) <= TIED
    return is_first and all(
        abs(here.get(text, there.get(text, 0.0)) - last[1]) <= TIED for text in here.keys() ^ there.keys()
    )


class Difference(AssertionError):
    """A node answers otherwise than the embedded memory."""


def settings_of(urls: tuple[str, str] | None, engine: Path, whole: int = 2_000) -> Settings:
    """Return the settings of a node, or those of the embedded memory if there are no addresses of a store."""
    settings = Settings(
        embedding=EmbeddingSettings(model="trigram", cache=False),
        consolidation=ConsolidationSettings(read_imports=False),
    ).having(InferenceSettings(on=False))
    if urls is None:
        return settings
    return replace(
        settings,
        store=StoreSettings("sparql", *urls, probe=False, timeout_s=20.0),
        index=IndexSettings(kind="lance", uri=str(engine), whole=whole),
    )


class StoreServer:
    """`memento store serve` over a folder, which may go away and come back at the same address."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.urls = (f"http://127.0.0.1:{self.port}/query", f"http://127.0.0.1:{self.port}/update")
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        words = [str(Path(sys.executable).with_name("memento")), "store", "serve", str(self.folder)]
        self._process = subprocess.Popen(
            [*words, "--port", str(self.port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        client = SparqlClient(*self.urls)
        client.wait_until_there(60, lambda: None)
        client.close()

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(60)

    def empty(self) -> None:
        """Drop everything, the feed included."""
        client = SparqlClient(*self.urls)
        client.update("DROP ALL")
        client.close()


@contextmanager
def serve_store(folder: Path) -> Iterator[StoreServer]:
    server = StoreServer(folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()


class Failed(Exception):
    """A node answered with an error that is no answer: a part of it is away, or it is itself."""


class NodeProcess:
    """A node in a process of its own, which may be killed."""

    def __init__(self, home: Path, server: StoreServer, engine: Path, whole: int) -> None:
        self._given = (home, server.urls, engine, whole)
        self.start()

    def start(self) -> None:
        self._pipe, theirs = PROCESSES.Pipe()
        self._process = PROCESSES.Process(target=answer_steps, args=(*self._given, theirs))
        self._process.start()
        theirs.close()

    def send(self, step: Step) -> None:
        """Have a step done, and wait for nothing."""
        self._pipe.send(step)

    def receive(self) -> Answer:
        try:
            is_answer, said = self._pipe.recv()
        except EOFError:
            raise Failed("it is dead") from None
        if not is_answer:
            raise Failed(said)
        return said

    def do(self, step: Step) -> Answer:
        """
        Do a step.

        Raises:
            Failed: it could not be done.
        """
        self.send(step)
        return self.receive()

    def kill(self) -> None:
        self._process.kill()
        self._process.join()
        self._pipe.close()

    close = kill


def answer_steps(home: Path, urls: tuple[str, str], engine: Path, whole: int, pipe: Connection) -> None:
    """Open a node, and do the steps that come through a pipe, until it is closed."""
    player = Player(home, settings_of(urls, engine, whole))
    with suppress(EOFError):
        while True:
            step = pipe.recv()
            try:
                is_done = step.is_retried and step.kind == "correct" and player.is_done(step)
                pipe.send((True, None if is_done else player.do(step)))
            except MementoError as error:
                pipe.send((False, f"{type(error).__name__}: {error}"))
    player.close()


Report = Callable[[Step], object]


def play(steps: Sequence[Step], folder: Path, server: StoreServer, *, whole: int = 2_000, report: Report = str) -> None:
    """
    Play a history on three nodes in this process, and on an embedded memory.

    Raises:
        Difference: a node answered otherwise; says at which step.
    """
    server.empty()
    with ExitStack() as stack:
        alone = Player(folder / "alone", settings_of(None, folder))
        stack.callback(alone.close)
        nodes = []
        for place in range(NODES):
            node = Player(folder / f"node{place}", settings_of(server.urls, folder / "engine", whole))
            stack.callback(node.close)
            nodes.append(node)
        for step in steps:
            report(step)
            play_step(step, alone, nodes)
        check_store(len(steps), nodes)


def play_step(
    step: Step, alone: Player, nodes: Sequence[Player | NodeProcess], fault: Callable[[Step], object] = str
) -> None:
    """
    Do one step on the embedded memory and on the nodes, and compare.

    Args:
        fault: is called in place of the node that writes.
    """
    step = replace(step, target=alone.choose_target(step))
    found = nodes[step.order[0]].do(step) if fault is str else fault(step)
    expected = alone.do(step)
    if fault is str:
        compare(step, step.order[0], expected, found)
    if step.kind in WRITES:
        step = replace(step, kind="list", pick=0)
        expected = alone.do(step)
    for place in step.order if fault is not str else step.order[1:]:
        compare(step, place, expected, nodes[place].do(step))


def check_store(number: int, nodes: Sequence[Player | NodeProcess]) -> None:
    """Have a node compare the whole store with the engine, which are the same for all."""
    place = number % len(nodes)
    step = Step(number, "check", (), 0, (place,))
    compare(step, place, [], nodes[place].do(step))


FAULTS = ("a node is killed", "the store is away", "a node is killed", "the engine refuses")


def play_with_faults(
    steps: Sequence[Step],
    folder: Path,
    server: StoreServer,
    seed: int,
    *,
    every: int = 50,
    away_s: float = 5.0,
    whole: int = 2_000,
    report: Report = str,
) -> None:
    """
    Play a history on three nodes in processes of their own. At every so many steps, while a node writes, something fails: the node
    is killed, the store goes away for some seconds, or the engine refuses. Another node then does the same once more, and all is
    equal.

    Raises:
        Difference: a node answered otherwise, has lost something, or fails when nothing is away.
    """
    server.empty()
    chance = random.Random(seed)
    engine = folder / "engine"
    with ExitStack() as stack:
        alone = Player(folder / "alone", settings_of(None, folder))
        stack.callback(alone.close)
        nodes: list[NodeProcess] = []
        for place in range(NODES):
            nodes.append(NodeProcess(folder / f"node{place}", server, engine, whole))
            stack.callback(nodes[place].close)
        faults, due = 0, every // 2
        for step in steps:
            report(step)
            is_faulty = step.number >= due and step.kind in WRITES
            if not is_faulty:
                play_step(step, alone, nodes)
                continue
            due, name = step.number + every, FAULTS[faults % len(FAULTS)]
            faults += 1
            delay_s = chance.uniform(0.0, 0.5)

            def break_off(step: Step, name: str = name, delay_s: float = delay_s) -> None:
                fail(name, step, nodes, server, engine, delay_s, away_s)

            play_step(step, alone, nodes, break_off)
        check_store(len(steps), nodes)


def fail(
    name: str,
    step: Step,
    nodes: Sequence[NodeProcess],
    server: StoreServer,
    engine: Path,
    delay_s: float,
    away_s: float,
) -> None:
    """Let a node do a step while something fails, and then another one once more."""
    writer, other = nodes[step.order[0]], nodes[step.order[1]]
    if name == "a node is killed":
        writer.send(step)
        time.sleep(delay_s)
        writer.kill()
        writer.start()
    elif name == "the store is away":
        server.stop()
        until = time.monotonic() + away_s
        for node in (writer, other):
            with suppress(Failed):
                answer = node.do(step)
                raise Difference(f"step {step.number}: acknowledged while the store was away: {answer}\n{step}")
        time.sleep(max(until - time.monotonic(), 0.0))
        server.start()
    else:
        kept = engine.rename(engine.with_name("kept"))
        engine.write_bytes(b"")
        with suppress(Failed):
            writer.do(step)
        engine.unlink()
        kept.rename(engine)
    until = time.monotonic() + 60
    while True:
        try:
            other.do(replace(step, is_retried=True))
            return
        except Failed as error:
            if time.monotonic() > until:
                raise Difference(f"step {step.number}, {name}: no node does it any more: {error}\n{step}") from None
            time.sleep(0.2)


def compare(step: Step, place: int, expected: Answer, found: Answer) -> None:
    if not is_same(step, expected, found):
        texts = [json.dumps(one, ensure_ascii=False, indent=1) for one in (expected, found)]
        told = "".join(f"\n{mark}{line}" for mark, line in list_changed(*(text.splitlines() for text in texts)))
        raise Difference(f"step {step.number}, node {place} differs from embedded (-):\n{step}{told}")


def list_changed(before: Sequence[str], after: Sequence[str]) -> list[tuple[str, str]]:
    """Return the lines that only one of two texts has, with a few around them."""
    return [(line[0], line[1:]) for line in list(unified_diff(before, after, n=2, lineterm=""))[2:80]]


def shrink(steps: Sequence[Step], is_wrong: Callable[[Sequence[Step]], bool]) -> list[Step]:
    """Leave out steps of a history that is wrong, as long as it stays wrong: halves first, then ever fewer of them."""
    left, size = list(steps), max(len(steps) // 2, 1)
    while True:
        for begin in range(0, len(left), size):
            fewer = left[:begin] + left[begin + size :]
            if fewer and is_wrong(fewer):
                left = fewer
                break
        else:
            if size == 1:
                return left
            size = max(size // 2, 1)


def find_difference(
    steps: Sequence[Step], folder: Path, *, seed: int, kills: bool, whole: int = 2_000, report: Report = str
) -> str | None:
    """Play a history in a fresh folder; return what differs, None if all is equal."""
    with TemporaryDirectory(dir=folder) as name, serve_store(Path(name) / "store") as server:
        try:
            if kills:
                play_with_faults(steps, Path(name), server, seed, whole=whole, report=report)
            else:
                play(steps, Path(name), server, whole=whole, report=report)
        except (Difference, Failed) as error:
            return str(error)
        except MementoError as error:
            return f"{type(error).__name__}: {error}"
    return None
