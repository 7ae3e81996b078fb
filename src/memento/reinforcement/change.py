"""A tally as one change: what the graph is to say of memories, links and keys instead of what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import cast

from memento import dynamics
from memento.dynamics import Decay
from memento.graph.mapping import quads
from memento.graph.ranges import fits
from memento.instants import utc
from memento.model import Change, Key, KeyLink, Quad, Strength, Value
from memento.reinforcement.tally import Reads, Steps, Tally
from memento.vocabulary import IRI, MEM

Said = Mapping[IRI, Mapping[IRI, Sequence[Value]]]
"""Subject → predicate → objects, as the graph has them."""


def concerned(tally: Tally) -> tuple[list[IRI], list[IRI]]:
    """The subjects that a change needs to know what is said of them, and the graphs that say it."""
    firsts = [steps.first for steps in tally.steps.values() if steps.first]
    graphs = {reads.graph for reads in tally.reads.values()} | {steps.graph for steps in tally.steps.values()}
    graphs |= {one.key_graph for one in firsts} | {graph for graph, _ in tally.counts.values()}
    subjects = [*memories(tally), *tally.steps, *(one.key.iri for one in firsts), *tally.counts]
    return list(dict.fromkeys(subjects)), sorted(graphs)


def memories(tally: Tally) -> list[IRI]:
    """The memories that something happened to, or to a link that leads there."""
    return list(dict.fromkeys([*tally.reads, *(steps.memory for steps in tally.steps.values())]))


def change(tally: Tally, said: Said, decays: Callable[[IRI], Decay]) -> Change:
    """
    The change that writes a tally; what happened to memories that are gone is passed over.

    Args:
        decays: how far the energies of a graph have faded.
    """
    written = Change()
    for memory, reads in tally.reads.items():
        if memory in said:
            written += _numbers(memory, reads, said[memory], decays(reads.graph))
    for link, steps in tally.steps.items():
        if steps.memory in said:
            written += _link(link, steps, said)
    for node, (graph, count) in tally.counts.items():
        if known := said.get(node):
            uses = int(str(_one(known, MEM.accessCount) or 0)) + count
            written += _instead(node, [(MEM.accessCount, uses)], known, graph)
    return written


def _numbers(memory: IRI, reads: Reads, said: Mapping[IRI, Sequence[Value]], decay: Decay) -> Change:
    """The numbers of a memory after it was used: its energy is what it was then, and fades from there."""
    before = Strength(
        depth=float(str(_one(said, MEM.depth) or 0.0)),
        access_count=int(str(_one(said, MEM.accessCount) or 0)),
        last_accessed_at=cast("datetime | None", _one(said, MEM.lastAccessedAt)),
    )
    after = reads.over(before)
    new: list[tuple[IRI, Value | None]] = [
        (MEM.depth, after.depth),
        (MEM.accessCount, after.access_count),
        (MEM.lastAccessedAt, after.last_accessed_at and utc(after.last_accessed_at)),
        *_energy(reads.at, said, decay),
    ]
    return _instead(memory, [one for one in new if one[1] is not None], said, reads.graph)


def _energy(at: datetime | None, said: Mapping[IRI, Sequence[Value]], decay: Decay) -> Iterable[tuple[IRI, Value]]:
    since = _one(said, MEM.energyAt) or _one(said, MEM.createdAt)
    if at is None or not isinstance(since, datetime):
        return
    known = (_one(said, name) for name in (MEM.energy, MEM.importance))
    value = next((one for one in known if one is not None), dynamics.MIDDLING)
    left = dynamics.energy_at(float(str(value)), since, decay)
    # What has faded already fades no second time.
    until = max([at, *(instant for instant, _ in decay.marks[-1:])])
    yield MEM.energy, round(left, 9)
    yield MEM.energyAt, utc(max(until, since))


def _link(link: IRI, steps: Steps, said: Said) -> Change:
    """A link after somebody came over it or passed it; where it is not written it is now, with its key."""
    if known := said.get(link):
        weight = steps.over(float(str(_one(known, MEM.weight) or 1.0)))
        new: list[tuple[IRI, Value | None]] = [(MEM.weight, weight)]
        if steps.at:
            new.append((MEM.lastReinforcedAt, utc(steps.at)))
        return _instead(link, new, known, steps.graph)
    if steps.first is None:
        return Change()
    made = KeyLink(
        iri=link,
        key=steps.key,
        memory=steps.memory,
        weight=steps.over(steps.first.weight),
        created_at=utc(steps.first.at),
        last_reinforced_at=steps.at and utc(steps.at),
    )
    return Change((*_key(steps.first.key, steps.first.key_graph, said), *quads(made, steps.graph)))


def _key(key: Key, graph: IRI, said: Said) -> Iterable[Quad]:
    return () if key.iri in said else quads(key, graph)


def _instead(
    subject: IRI, new: Sequence[tuple[IRI, Value | None]], said: Mapping[IRI, Sequence[Value]], graph: IRI
) -> Change:
    """Some values in place of those that the graph has."""
    gone = [(subject, predicate, value, graph) for predicate, _ in new for value in said.get(predicate, ())]
    come = [(subject, predicate, value, graph) for predicate, value in new if value is not None]
    return Change(tuple(quad for quad in come if quad not in gone), tuple(quad for quad in gone if quad not in come))


def _one(said: Mapping[IRI, Sequence[Value]], predicate: IRI) -> Value | None:
    """The first value of a predicate that is within its range."""
    return next((value for value in said.get(predicate, ()) if fits(predicate, value)), None)
