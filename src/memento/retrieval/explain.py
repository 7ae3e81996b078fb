"""
Explain why each memory was returned: the share of every signal in its score, the names that led to it, and an equivalent query.

*Guarantees:* the parts of a score sum to the score, up to rounding and the cut at 0. The query reads only the graph and runs
unchanged in the namespace of the recall. It follows the edges from where recall started to what they found: a memory that the
texts alone would not have found is missing from its result once the edge is gone.

*But:* everything is computed afterwards, so that a recall without an explanation costs nothing extra.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from memento.graph.binding import bind_query
from memento.graph.store import Store
from memento.iris import IRI, user_of
from memento.model import Anchor, Cut, Recalled, Scope, Scored, Step
from memento.retrieval.calibration import calibrate
from memento.retrieval.chains import write_path
from memento.retrieval.distill import candidates, weigh_signals
from memento.retrieval.question import Query, Question
from memento.retrieval.relevance import Judgement
from memento.retrieval.signals import SIGNALS, Evidence, Seeds, find_paths
from memento.search.indexes import View
from memento.search.links import CROWD, Joined, link_signal, shared_signal, tie_signal
from memento.settings import SignalsSettings
from memento.text.sentences import shorten_line
from memento.time import NEVER

NOTHING = IRI("urn:memento:nothing")
"""The value of a query parameter that has none: it occurs in no graph."""
MOST = 300
"""Maximum number of memories that are explained: the query that returns them must stay short enough for the endpoint."""


MOST_CUT = 25
"""Maximum number of dropped memories that are named."""
CUT_CHARS = 120
ROUNDED = 2e-5
"""The largest difference between a score and the sum of its rounded parts."""


EDGES = frozenset(("claim", "speaker"))
"""Signals of LAND that come from edges of the graph; all signals of later phases do."""


@dataclass(frozen=True, slots=True)
class Reasons:
    """
    Why one memory was returned; `by_texts`: whether the signals of texts alone would have included it in an answer of this size.
    """

    why: dict[str, float]
    path: tuple[Step, ...] = ()
    by_texts: bool = False

    @property
    def by_edges(self) -> bool:
        """Whether an edge contributed to its score."""
        return any(part > 0 and is_from_edges(name) for name, part in self.why.items())

    def add_to(self, memory: Recalled) -> Recalled:
        """Return the memory with its reasons added."""
        return replace(memory, why=self.why, path=self.path)


def explain_signals(
    chosen: Sequence[Scored[int]], question: Question, evidence: Evidence, pool: int, settings: SignalsSettings
) -> dict[IRI, Reasons]:
    """
    Return the reasons of the memories that DISTILL chose by all signals.

    `time` is what ordering by time added to, or took from, the sum of the signals.
    """
    nodes, view = [one.item for one in chosen], question.view
    paths = _trace_paths(nodes, question, evidence)
    chains = _write_chains(question, evidence) if "path" in evidence.signals else {}
    parts = _split_scores(nodes, evidence, view, pool, settings)
    for one in chosen:
        moved = round(one.score - sum(parts[one.item].values()), 6)
        if abs(moved) > ROUNDED:
            both = {**parts[one.item], "time": moved}
            parts[one.item] = dict(sorted(both.items(), key=lambda part: -abs(part[1])))
    walked = [node for node in nodes if parts[node].get("walk", 0.0) > 0]
    entities = _match_anchors(walked, evidence.anchors, view)
    texts = _find_by_texts(len(nodes), evidence, view, pool, settings)
    return {
        view.indexes.nodes.iri(node): Reasons(
            parts[node], (*chains.get(node, ()), *paths[node], *entities.get(node, ())), node in texts
        )
        for node in nodes
    }


def _write_chains(question: Question, evidence: Evidence) -> dict[int, list[Step]]:
    """Return the property path to each memory on a chain of claims, by its id; that of the best chain, if it is on several."""
    asking, view = question.asking, question.view
    if asking is None or evidence.seeds is None or not evidence.signals["path"].any():
        return {}
    steps: dict[int, list[Step]] = {}
    found = find_paths(
        question.text, asking, evidence.steps, evidence.seeds, evidence.anchors, question.vectors, question.view
    )
    for path in found:
        for place, hop in enumerate(path.hops, start=1):
            node = view.indexes.nodes.find(hop.claim.memory)
            if node is not None and evidence.signals["path"][node] > 0:
                via = path.hops[0].start.node or None
                steps.setdefault(node, [Step(by="claim", name=write_path(path.hops[:place]), via=via)])
    return steps


def explain_one_score(chosen: Sequence[Scored[int]], anchors: Sequence[Anchor], view: View) -> dict[IRI, Reasons]:
    """Return the reasons of memories ranked by a single score: the score, its origin, and the anchors that each memory is about."""
    entities = _match_anchors([one.item for one in chosen], anchors, view)
    return {
        view.indexes.nodes.iri(one.item): Reasons({one.source: round(one.score, 6)}, tuple(entities[one.item]))
        for one in chosen
    }


def list_cut(
    cut: Sequence[tuple[IRI, int | None, float]], judged: Judgement, graph: Store, scope: Scope, fingerprint: str
) -> tuple[Cut, ...]:
    """
    Return the best memories that were found but not returned, with the reason. `cut` has (IRI, position among the judged, fitness).
    """
    cut = cut[:MOST_CUT]
    rows = graph.select("library/listed", scope.readable, memory=[iri for iri, _, _ in cut]) if cut else ()
    texts = {row["memory"]: shorten_line(str(row["content"]), CUT_CHARS) for row in rows}
    best = calibrate(float(judged.fitness.max(initial=0.0)) * judged.openness, fingerprint)
    why = (
        f"it fits much less than the best, {best:.2f}"
        if judged.is_open
        else "; ".join((f"nothing here seems to answer the question: {judged.openness:.2f}", *judged.against))
    )
    return tuple(
        Cut(
            iri=iri,
            relevance=round(calibrate(judged.openness * fit, fingerprint), 4),
            reason="; ".join((why, *(judged.missing[place] if judged.is_open and place is not None else ()))),
            text=texts.get(iri, ""),
        )
        for iri, place, fit in cut
    )


def is_from_edges(signal: str) -> bool:
    """Tell whether a signal, or the engine used in its place, derives from edges of the graph rather than from texts."""
    return signal in EDGES or signal not in SIGNALS or SIGNALS[signal].phase != "land"


def write_query(
    memories: Sequence[Recalled],
    reasons: Mapping[IRI, Reasons],
    question: Question,
    evidence: Evidence,
    graph: Store,
    query: Query,
) -> str | None:
    """
    Return the text of a query that returns the same memories in the same order, with the edges that led to them; None when there is
    no such query.

    Memories that came neither from texts nor over an edge that the query follows, as when ordered by time, are listed as found.
    """
    if not memories:
        return None
    believed = query.believed_at or question.view.now
    iris = [one.iri for one in memories]
    slots: dict[str, Any] = {
        "memory": [(one.iri, one.rank, one.score) for one in memories],
        "trueAt": query.as_of or believed,
        "believedAt": believed,
        "begunBy": query.as_of or NEVER,
        "writtenBy": query.believed_at or NEVER,
        **{name: values or [NOTHING] for name, values in _list_starts(iris, reasons, question, evidence).items()},
    }
    found = [iri for iri in iris if reasons[iri].by_texts]
    rows = graph.select("retrieval/explained", query.scope.readable, **{**slots, "found": NOTHING})
    led = {row["memory"] for row in rows}
    slots["found"] = [*found, *(iri for iri in iris if iri not in led and iri not in found)] or [NOTHING]
    return bind_query("retrieval/explained", slots)


def _list_starts(
    iris: Sequence[IRI], reasons: Mapping[IRI, Reasons], question: Question, evidence: Evidence
) -> dict[str, list[IRI]]:
    """Return the kinds of edges that contributed, the entities and memories where they start, and the names that they pass."""
    led = [iri for iri in iris if reasons[iri].by_edges]
    steps = [step for iri in led for step in reasons[iri].path]
    known, user = question.view.indexes.links.anchors, user_of(question.view.graphs[0])

    def list_named(kinds: Collection[str]) -> list[IRI]:
        labels = dict.fromkeys(step.name for step in steps if step.by in kinds)
        return [known.iri(number) for label in labels for number in known.find_anchors(label)[0].tolist()]

    anchors = [one.iri for one in evidence.anchors if one.named]
    anchors += [step.via for step in steps if step.by == "entity" and step.via]
    anchors += [user] * any(reasons[iri].why.get("claim", 0.0) > 0 for iri in led)
    seeds = [step.via for step in steps if step.by in ("link", "shared") and step.via]
    found = {
        "led": led,
        "anchor": anchors + list_named({"subject"}),
        "seed": seeds,
        "over": list_named({"link", "shared"}),
    }
    return {name: list(dict.fromkeys(values)) for name, values in found.items()}


def _find_by_texts(count: int, evidence: Evidence, view: View, pool: int, settings: SignalsSettings) -> set[int]:
    """Return the memories that the signals of texts alone would choose, the same number as were chosen."""
    among = candidates(evidence, view, pool)
    shares = weigh_signals(evidence, among, settings)
    texts = np.sum([share for name, share in shares.items() if not is_from_edges(name)], axis=0)
    return set(among[np.argsort(-texts, kind="stable")[:count]].tolist())


def _split_scores(
    nodes: Sequence[int], evidence: Evidence, view: View, pool: int, settings: SignalsSettings
) -> dict[int, dict[str, float]]:
    """Return the contribution of each signal to the score of some memories, the largest first; zero contributions are left out."""
    among = candidates(evidence, view, pool)
    shares = weigh_signals(evidence, among, settings)
    most = sum(asdict(settings).values())
    found = {}
    for node in nodes:
        place = int(np.searchsorted(among, node))
        is_scored = place < len(among) and among[place] == node  # a succession adds memories that no signal scored
        parts = {name: round(float(share[place]) / most, 6) for name, share in shares.items()} if is_scored else {}
        found[node] = {name: part for name, part in sorted(parts.items(), key=lambda one: -abs(one[1])) if part}
    return found


def _match_anchors(nodes: Sequence[int], anchors: Sequence[Anchor], view: View) -> dict[int, list[Step]]:
    """Return the anchors that some memories are about or mention, the heaviest first: the walk followed these edges."""
    number, links = view.indexes.links.anchors.number, view.links()
    user, about = user_of(view.graphs[0]), view.indexes.adjacency.about
    me = view.indexes.nodes.find(user)
    steps: dict[int, list[Step]] = {}
    for node in nodes:
        edges = {int(one) for graph in links for one in graph.gather(np.array([node], dtype=np.int32))[1]}
        steps[node] = [
            Step(by="entity", name=one.name, via=one.iri)
            for one in anchors
            if number(one.iri) in edges or (one.iri == user and me in about(node))
        ]
    return steps


def _trace_paths(nodes: Sequence[int], question: Question, evidence: Evidence) -> Mapping[int, list[Step]]:
    """Return the names from which the subject, link and shared signals of some memories come, the rarest first."""
    assert evidence.seeds is not None
    view, joined = question.view, question.joined
    wanted = np.zeros_like(view.visible)
    wanted[list(nodes)] = True
    postings = [passages.context for passages in view.passages()]
    best: dict[tuple[int, str], tuple[float, int]] = {}
    for seed, value in zip(evidence.seeds[0].tolist(), evidence.seeds[1].tolist(), strict=True):
        # Run for each seed alone, to see how much each contributes.
        alone: Seeds = np.array([seed], dtype=np.int32), np.array([value], dtype=np.float32)
        signals = {
            "link": link_signal(alone, joined, wanted),
            "shared": shared_signal(alone, question.text, joined, postings, wanted),
            "tie": tie_signal(alone, joined, wanted),
        }
        for name, (there, given) in signals.items():
            for node, gift in zip(there.tolist(), given.tolist(), strict=True) if name in evidence.signals else ():
                best[node, name] = max(best.get((node, name), (0.0, -1)), (gift, seed))
    named = joined.find_names(question.text) if "subject" in evidence.signals else []
    return {
        node: [*_steps_by_subject(node, named, joined), *_steps_by_seed(node, best, joined, view)] for node in nodes
    }


def _steps_by_subject(node: int, named: Sequence[str], joined: Joined) -> Iterator[Step]:
    for label in _sort_by_rarity([label for label in named if _is_about(node, label, joined)], joined):
        yield Step(by="subject", name=label)


def _steps_by_seed(
    node: int, led: Mapping[tuple[int, str], tuple[float, int]], joined: Joined, view: View
) -> Iterator[Step]:
    _, seed = led.get((node, "link"), (0.0, -1))
    if seed >= 0:
        names = [
            label
            for label in joined.mentions(seed)
            if _is_about(node, label, joined) and joined.name(label).subjects <= CROWD
        ]
        yield from (
            Step(by="link", name=label, via=view.indexes.nodes.iri(seed)) for label in _sort_by_rarity(names, joined)
        )
    for seed in dict.fromkeys(led.get((node, name), (0.0, -1))[1] for name in ("shared", "tie")):
        if seed < 0:
            continue
        common = [label for label in joined.mentions(seed) & joined.mentions(node) if joined.is_tie(label)]
        yield from (
            Step(by="shared", name=label, via=view.indexes.nodes.iri(seed)) for label in _sort_by_rarity(common, joined)
        )


def _is_about(node: int, label: str, joined: Joined) -> bool:
    name = joined.name(label)
    return name.idf > 0 and any(node in entity.subject_of for entity in name.entities)


def _sort_by_rarity(labels: Sequence[str], joined: Joined) -> list[str]:
    return sorted(labels, key=lambda label: (joined.name(label).df, label))
