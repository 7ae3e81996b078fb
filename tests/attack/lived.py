"""A memory with something of every kind in it, made through its own interfaces, and everything that reads one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyoxigraph as ox

from conftest import OFFLINE
from memento.iris import IRI
from memento.model import NoteRow, ToolCall
from memento.operations.care import Export
from memento.operations.recall import Recall
from memento.plugins.cases.nouns import CaseRow
from memento.python import Memento, open_memento
from memento.service.handlers.care import export_pieces
from memento.service.handlers.graphs import Graphs
from memento.service.handlers.recall import health, peek

ASKED = "Which film came out first, Solaris or Stalker?"
OURS = tuple(f"urn:memento:{kind}:" for kind in ("graph", "self", "cases", "provenance", "audit"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Lived:
    """What is asked for by name."""

    memories: tuple[IRI, ...]
    ended: IRI
    note: IRI
    key: str
    case: IRI
    run: IRI
    retrieval: IRI
    view: IRI


def opened(home: Path) -> Memento:
    """The memory of a folder."""
    memento = open_memento(home, configured=OFFLINE)
    assert isinstance(memento, Memento)
    return memento


def live(home: Path) -> Lived:
    """Make one, and close it."""
    with opened(home) as memento:
        first = memento.note("I work at Google.", at="2024-01-08")
        memento.note("I work at Microsoft.", at="2025-03-03")
        memento.note("My boss at Microsoft is Ana Silva.")
        turns = [
            NoteRow(content=text, speaker="Mel", session="talk", position=at)
            for at, text in enumerate(("I paint.", "I swim."))
        ]
        memento.intake.import_notes(turns)
        kept = memento.keys.remember(
            "Green tea is steeped at 75 degrees.", ["green tea", "Mel"], ttl_s=1e9, session="kitchen"
        )
        memento.keys.remember("Black tea is steeped at 95 degrees.", ["black tea"], related_to=[kept.saved])
        other = memento.keys.remember("Coffee is brewed at 93 degrees.", ["coffee"])
        memento.living.associate(kept.saved, other.saved, relation="similar", weight=0.5)
        memento.living.feedback(kept.saved, helped=True)
        memento.living.decay()
        found = memento.keys.find("green tea")
        memento.keys.read(found.keys[0].key)
        memento.keys.read_memory(kept.saved, via=found.keys[0].key)
        memento.living.evaluate(
            '(set-policy "tea" (recall "tea")) (remember "Tea is a drink." "fact" 0.5 nil (list "drinks"))'
        )
        memento.cases.add(
            [
                CaseRow(
                    task="Which film came out first, Alien or Brazil?", plan="1. Look up both years.", outcome="success"
                ),
                CaseRow(task="Which film is longer, Ran or Tron?", plan="1. Guess.", outcome="failure"),
            ]
        )
        retrieval = memento.cases.retrieve(ASKED).retrieval
        assert retrieval
        memento.cases.reward(retrieval, "partial")
        run = memento.cases.start(ASKED, plan="1. Ask.", retrieval=retrieval)
        memento.cases.record_step(
            run.iri, "Ask.", result="1972", tools=[ToolCall(tool="ask", arguments="{}", result="1972")]
        )
        done = memento.cases.complete(run.iri, "success", reason="it was so")
        pending = memento.cases.start("Which film is the shortest?", plan="1. Measure.")
        memento.cases.record_step(pending.iri, "Measure.", result="yes")
        view = memento.cases.navigate(zoom="case").view
        assert done.case and view
        memories = tuple(one.iri for one in memento.list(past=True))
        return Lived(
            memories=memories,
            ended=first.memories[0],
            note=IRI(str(first.note)),
            key=found.keys[0].key,
            case=done.case,
            run=pending.iri,
            retrieval=retrieval,
            view=view,
        )


def spoil(home: Path, change: Callable[[ox.Quad], list[ox.Quad]], *, instead: bool) -> int:
    """Put statements beside or in the place of those of a folder that nobody has open; how many."""
    store = ox.Store(home / "store")
    ours = [quad for quad in store if str(getattr(quad.graph_name, "value", "")).startswith(OURS)]
    count = 0
    for quad in ours:
        if worse := change(quad):
            store.extend(worse)
            count += len(worse)
            if instead:
                store.remove(quad)
    store.flush()
    return count


def exported(memento: Memento, form: str) -> bytes:
    """The whole document."""
    return b"".join(export_pieces(Export("-", form, vectors=True), memento.context).pieces)


def reads(memento: Memento, lived: Lived) -> Iterator[tuple[str, Callable[[], object]]]:
    """Everything that reads the memory, by a name."""
    for engine in (None, "ppr", "spread", "hops", "published"):
        yield (
            f"recall by {engine}",
            partial(memento.recall, "Where do I work, and with tea?", engine=engine, explain=True),
        )
    yield "recall as of", lambda: memento.recall("Where do I work?", as_of="2024-06-01", believed_at="2030-01-01")
    yield "recall ungated", lambda: memento.recall("zzz", gate=False)
    yield "glimpse", lambda: peek(Recall("tea"), memento.context)
    yield "list", lambda: memento.list(past=True)
    yield "entities", lambda: memento.graphs.entities()
    for subject in ("me", "Microsoft", lived.memories[0], lived.note):
        yield f"timeline of {subject}", partial(memento.timeline, subject)
    yield "timeline as of", lambda: memento.timeline("me", as_of="2024-06-01")
    for iri in (*lived.memories, lived.note):
        yield f"get {iri}", partial(memento.get, iri)
        yield f"sources {iri}", partial(memento.review.sources, iri)
    for iri in lived.memories:
        yield f"strength {iri}", partial(memento.living.strength, iri)
        yield f"read_memory {iri}", partial(memento.keys.read_memory, iri, past=True)
        yield f"related {iri}", partial(memento.keys.related, iri)
    for iri in set(lived.memories) - {lived.ended}:
        yield f"trace {iri}", partial(memento.living.trace, iri)
        yield f"activate {iri}", partial(memento.living.activate, [iri])
    yield "note status", lambda: memento.review.note_status(lived.note)
    yield "retry", lambda: memento.review.retry()
    yield "status", lambda: memento.status()
    yield "health", lambda: health(memento.context, {})
    yield "check", lambda: memento.admin.check()
    yield "conversation", lambda: memento.keys.conversation("talk")
    yield "find_keys", lambda: memento.keys.find("green tea")
    yield "read_key", lambda: memento.keys.read(lived.key)
    yield "list_memories", lambda: memento.keys.list_memories()
    yield "memory_stats", lambda: memento.keys.memory_stats()
    yield "archive", lambda: memento.living.archive(dry_run=True)
    yield "manifest", lambda: memento.graphs.manifest(fresh=True)
    yield (
        "expressions",
        lambda: memento.living.evaluate('(recall "tea") (stats) (policies) (run "tea") (consolidate true)'),
    )
    yield "list_cases", lambda: memento.cases.list()
    yield "get_case", lambda: memento.cases.get(lived.case)
    yield "retrieve_cases", lambda: memento.cases.retrieve(ASKED)
    yield "task_runs", lambda: memento.cases.task_runs()
    yield "task_run", lambda: memento.cases.task_run(lived.run)
    yield "case_metrics", lambda: memento.cases.metrics()
    yield "case_status", lambda: memento.cases.status()
    for zoom in ("case", "subtask", "community"):
        yield f"navigate by {zoom}", partial(memento.cases.navigate, zoom=zoom, previous=lived.view)
    yield "plan", lambda: memento.cases.plan_task(ASKED)
    yield "infer", lambda: memento.graphs.infer()
    yield "query", lambda: memento.graphs.query_bytes("SELECT * WHERE { ?s ?p ?o } LIMIT 10")
    yield "description", lambda: Graphs(memento.context).description("http://localhost/sparql", namespace=None)
    for form in ("trig", "nquads", "jsonld"):
        yield f"export {form}", partial(exported, memento, form)


def writes(memento: Memento, lived: Lived) -> Iterator[tuple[str, Callable[[], object]]]:
    """What writes to a memory after it has read it."""
    yield "note", lambda: memento.note("I work at Siemens now.")
    yield (
        "note of a turn",
        lambda: memento.intake.import_notes([NoteRow(content="I sing.", speaker="Mel", session="talk")]),
    )
    yield "remember", lambda: memento.keys.remember("White tea is steeped at 80 degrees.", ["green tea"])
    yield "feedback", lambda: memento.living.feedback(lived.memories[0], helped=False)
    yield (
        "associate",
        lambda: memento.living.associate(lived.memories[0], lived.memories[1], relation="similar", weight=0.1),
    )
    yield "decay", lambda: memento.living.decay()
    yield "reward", lambda: memento.cases.reward(lived.retrieval, "success")
    yield "step", lambda: memento.cases.record_step(lived.run, "Measure again.", result="no")
    yield "undo", lambda: memento.undo(lived.ended)
    yield "correct", lambda: memento.correct(lived.memories[0], "Coffee is brewed at 94 degrees.")
    yield "cleanup", lambda: memento.keys.cleanup_expired()
    yield "forget a case", lambda: memento.cases.forget(lived.case)
    yield "forget", lambda: memento.forget(lived.memories[1])
    yield "erase", lambda: memento.forget(lived.memories[2], erase=True)
    yield "rebuild", lambda: memento.admin.rebuild()
