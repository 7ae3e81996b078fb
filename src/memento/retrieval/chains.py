"""
Walk the claims that a question asks for: from whom or what it names, over each claim that holds at the asked time, to the end.

    "the city of my sister's employer"    USER ─ sister → Leila ─ work at → Sint-Lucas ─ be in → Ghent

*Flow:* the clauses of the question (`text.claims.read_question`) → owners in the graph → paths of one to `DEPTH` claims. A beam of
`BEAM` paths is kept by the cosine of the question and the sum of the vectors of their memories; the best of them are embedded once,
as the joined words of their claims.

*Guarantees:* a path walks over nothing that has ended at the asked time, unless the question looks back, and over no memory that
may not be returned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memento.iris import IRI, user_of
from memento.ports import Vectors
from memento.search.claims import Claims, Stated
from memento.search.indexes import View
from memento.text.claims import USER, Asked, Assertion, may_stand_together, words

DEPTH, BEAM = 4, 12

Place = tuple[IRI, str]
"""A node, or a thing that is no node and of which claims of that node tell ("" for the node itself)."""

MOST_CLAIMS = 200
"""The most claims of one owner that a walk looks at, the latest ones."""

CLOSE = 0.7
"""How well a claim must fit what is asked, in 0..1, to be a first step from the user, whose claims are many."""


LEAST, SPREAD, LENGTH = 0.3, 0.2, 0.1
"""The least cosine of a path that is an answer; how far below the best one a path still counts; what each step too many or too few
takes from a cosine."""

END = 0.9
"""From which on the score of a memory on a path says that it is the end of the best one."""

EARLIER = 0.7
"""The share of its fit that a claim keeps where a later one states the same relation of the same owner."""


@dataclass(frozen=True, slots=True)
class Path:
    """Claims in the order of the walk, and the cosine of the question and their joined words."""

    claims: tuple[Stated, ...]
    likeness: float


@dataclass(frozen=True, slots=True)
class Step:
    """A claim that is asked for, and how well it fits, in 0..1."""

    claim: Stated
    fit: float


def find_asked(asked: Sequence[Asked], view: View, at: float, *, past: bool) -> list[Step]:
    """
    Find the claims that the clauses of a question ask for, each with its best fit.

    Args:
        at: the asked time, in seconds since 1970.
        past: what has ended by then counts as well.
    """
    found: dict[IRI, Step] = {}
    for one in asked:
        for owner, prefix in _find_owners(one.owner, view, at):
            for claim in _keep_walkable(view.indexes[Claims].of_owner(owner), view, at, past=past):
                fit = measure_fit(one.relation, one.value, claim, prefix)
                if fit and (claim.iri not in found or found[claim.iri].fit < fit):
                    found[claim.iri] = Step(claim, fit)
    latest: dict[tuple[IRI, str], float] = {}
    for step in found.values():
        key = (step.claim.owner, step.claim.relation)
        latest[key] = max(latest.get(key, 0.0), step.claim.since)
    return [
        step
        if step.claim.since == latest[step.claim.owner, step.claim.relation]
        else replace(step, fit=EARLIER * step.fit)
        for step in found.values()
    ]


def find_told_of_things(asked: Sequence[Asked], view: View, at: float, *, past: bool) -> list[Stated]:
    """Find the claims about the things that a question names and that are no nodes, from which a chain may begin."""
    claims = view.indexes[Claims]
    owners = {pair for one in asked for pair in _find_owners(one.owner, view, at) if pair[1]}
    told = (one for owner, prefix in sorted(owners) for one in claims.of_thing(owner, prefix.strip()))
    return _keep_walkable(list(dict.fromkeys(told)), view, at, past=past)


def measure_fit(relation: str, value: str, claim: Stated | Assertion, of: str = "") -> float:
    """
    Measure how well a claim answers what is asked, in 0..1: 1 for the same relation, less where one says more than the other.

    The noun that a question asks with names a relation too: "how much rent do I pay".

    Args:
        of: the words before the relation that say of which thing or person of the owner's it is, as in "sister work at".
    """
    if of and not f"{claim.relation} ".startswith(of):
        return 0.0
    known = claim.relation[len(of) :]
    if not known:
        return CLOSE  # what the thing is, whatever it does
    if relation == known:
        return 0.5 if relation in words("open") else 1.0
    wanted, stated = relation.split(), known.split()
    if set(wanted) < set(stated) and wanted[-1] in words("people"):
        return CLOSE  # who somebody is, where it says what they do
    if wanted[:1] == stated[:1] and wanted[0] not in words("copulas"):
        return 0.5 if wanted[0] in words("open") else 0.8
    if set(stated) <= set(value.casefold().split()) and known not in words("open"):
        return 0.8
    return CLOSE if set(wanted) < set(stated) else 0.0


def _find_owners(name: str, view: View, at: float) -> Iterator[tuple[IRI, str]]:
    """
    Yield the nodes that an owner of a clause means, each with the words that stand before its relations.

    "USER's sister" is the sister where the graph knows one by name, and otherwise what the user's claims call "sister …".
    """
    user = user_of(view.graphs[0])
    if name == USER or name.casefold() == view.indexes.name(user).casefold():
        yield user, ""
        return
    known = view.indexes.labels.find_exact(name, view.graphs)
    if known:
        yield from ((iri, "") for iri in view.iris(known))
        return
    possessor, _, role = name.rpartition("'s ")
    if not possessor:
        yield user, f"{name.casefold()} "
        return
    for owner, prefix in _find_owners(possessor, view, at):
        for claim in _keep_walkable(view.indexes[Claims].of_owner(owner), view, at, past=False):
            if claim.entity and measure_fit(role, "", claim, prefix) >= CLOSE:
                yield claim.entity, ""
        yield owner, f"{prefix}{role} "


def walk_claims(
    anchors: Sequence[IRI], first: Sequence[Stated], question: Vectors, view: View, at: float, *, past: bool
) -> list[Path]:
    """
    Walk from some anchors, and over some first claims; return the best paths, best first, at most `BEAM`.

    Args:
        anchors: whom or what the question names, without the user.
        first: claims that are first steps whoever owns them.
        question: (w, d) unit rows.
    """
    walk = _Walk(question, view, at, past)
    front: list[tuple[tuple[Stated, ...], Place]] = [((), (anchor, "")) for anchor in anchors]
    begun = [((claim,), walk.find_end(claim, (claim.owner, ""))) for claim in walk.keep_walkable(first)]
    best: dict[tuple[IRI, ...], tuple[float, tuple[Stated, ...]]] = {}
    for depth in range(DEPTH):
        grown: dict[tuple[IRI, ...], tuple[tuple[Stated, ...], Place | None]] = {}
        for path, place in front:
            for claim in walk.leave(place, back=depth == 0):
                if claim not in path:
                    longer = (*path, claim)
                    grown.setdefault(tuple(one.iri for one in longer), (longer, walk.find_end(claim, place)))
        if depth == 0:
            grown |= {tuple(one.iri for one in path): (path, place) for path, place in begun}
        if not grown:
            break
        scores = walk.score([path for path, _ in grown.values()])
        kept = [[*grown.items()][place] for place in np.argsort(-scores, kind="stable")[:BEAM].tolist()]
        for (key, (path, _)), score in zip(kept, np.sort(-scores)[:BEAM].tolist(), strict=True):
            best[key] = (-score, path)
        front = [(path, place) for _, (path, place) in kept if place]
    chosen = sorted(best.values(), key=lambda one: -one[0])[:BEAM]
    return walk.compare([path for _, path in chosen])


class _Walk:
    """What one walk needs: the vectors of the memories that it meets, and the time at which claims must hold."""

    def __init__(self, question: Vectors, view: View, at: float, past: bool) -> None:
        self._question, self._view, self._at, self._past = question, view, at, past
        self._user = user_of(view.graphs[0])
        self._rows: dict[IRI, Vectors] = {}

    def leave(self, place: Place, *, back: bool) -> list[Stated]:
        """
        Return the claims that lead away from a node, the latest of each relation; with `back` also those whose value it is.
        """
        claims, (node, thing) = self._view.indexes[Claims], place
        own = claims.of_thing(node, thing) if thing else claims.of_owner(node)
        latest: dict[str, Stated] = {}
        several: list[Stated] = []
        for claim in self.keep_walkable(own)[-MOST_CLAIMS:]:
            if self._past or may_stand_together(claim.relation):
                several.append(claim)
            elif claim.relation not in latest or latest[claim.relation].since <= claim.since:
                latest[claim.relation] = claim
        others = self.keep_walkable(claims.of_value(node))[-MOST_CLAIMS:] if back and not thing else []
        return [*latest.values(), *several, *others]

    def keep_walkable(self, claims: Sequence[Stated]) -> list[Stated]:
        """Return the claims that hold at the asked time and whose memory may be returned."""
        return _keep_walkable(claims, self._view, self._at, past=self._past)

    def find_end(self, claim: Stated, place: Place) -> Place | None:
        """Return where a claim leads from one of its ends; None where nothing is known of it."""
        if claim.owner != place[0]:
            return (claim.owner, "") if claim.owner != self._user else None
        if claim.entity:
            return claim.entity, ""
        known = self._view.indexes.labels.find_exact(claim.value, self._view.graphs)
        if known:
            return self._view.iris(known[:1])[0], ""
        thing = claim.value.casefold()
        return (self._user, thing) if self._view.indexes[Claims].of_thing(self._user, thing) else None

    def score(self, paths: Sequence[tuple[Stated, ...]]) -> Vectors:
        """Return (n,) the cosines of the question and the summed vectors of the memories of each path."""
        sums = np.array([np.sum([self._find_row(one) for one in path], axis=0) for path in paths])
        sums /= np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
        found: Vectors = (self._question @ sums.T).max(axis=0)
        return found

    def compare(self, paths: Sequence[tuple[Stated, ...]]) -> list[Path]:
        """Embed the joined words of some paths, and return these by their cosine with the question, best first."""
        if not paths:
            return []
        rows = self._view.indexes.embedder.embed([" ".join(one.words for one in path) for path in paths])
        found = [
            Path(path, float(likeness))
            for path, likeness in zip(paths, (self._question @ rows.T).max(axis=0), strict=True)
        ]
        return sorted(found, key=lambda one: -one.likeness)

    def _find_row(self, claim: Stated) -> Vectors:
        """Return the vector of the memory that states a claim."""
        if claim.memory not in self._rows:
            node = self._view.indexes.nodes.find(claim.memory)
            assert node is not None
            self._rows[claim.memory] = self._view.indexes.vectors["memory"].vectors([node])[0]
        return self._rows[claim.memory]


def _keep_walkable(claims: Sequence[Stated], view: View, at: float, *, past: bool) -> list[Stated]:
    """Return the claims that hold at a time, or at any with `past`, and whose memory may be returned."""
    return [one for one in claims if (past or one.holds(at)) and _find_visible(one.memory, view) is not None]


def _find_visible(memory: IRI, view: View) -> int | None:
    """Return the id of a memory; None where it may not be returned."""
    node = view.indexes.nodes.find(memory)
    return node if node is not None and node < len(view.visible) and view.visible[node] else None


def find_stating(
    asked: Sequence[Stated], nodes: Sequence[int], view: View
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return (n,) which memories state an asked claim, and (n,) which state the same relation of other owners alone."""
    claims, ends = view.indexes[Claims], {(one.owner, one.relation) for one in asked}
    relations = {relation for _, relation in ends}
    states, is_other = np.zeros((2, len(nodes)), dtype=np.bool_)
    for place, node in enumerate(nodes):
        of_relation = {(one.owner, one.relation) for one in claims.of_memory(view.indexes.nodes.iri(int(node)))}
        of_relation = {one for one in of_relation if one[1] in relations}
        states[place] = not ends.isdisjoint(of_relation)
        is_other[place] = bool(of_relation) and not states[place]
    return states, is_other


def score_steps(steps: Sequence[Step], view: View) -> dict[int, float]:
    """Return the best fit of each visible memory that states one of the asked claims, by its id."""
    return _score_memories(((one.claim.memory, one.fit) for one in steps), view)


def score_paths(paths: Sequence[Path], steps: int, view: View) -> dict[int, float]:
    """
    Return how much each visible memory on a path is an answer, in 0..1: 1 at the end of the best path, half before an end.

    A path of another length than the question asks for is less likely, by `LENGTH` for each step.

    Args:
        steps: number of claims that lead to the answer, as the question says.
    """
    scores = [path.likeness - LENGTH * abs(len(path.claims) - steps) for path in paths]
    most = max(scores, default=0.0)
    best = paths[scores.index(most)] if paths else None
    if best is None or len(best.claims) < 2 or best.likeness < LEAST or len({one.memory for one in best.claims}) < 2:
        return {}  # what is known is no such chain
    parts = (
        (claim.memory, max(0.0, 1.0 - (most - score) / SPREAD) * (1.0 if claim is path.claims[-1] else 0.5))
        for path, score in zip(paths, scores, strict=True)
        for claim in path.claims
    )
    return {node: value for node, value in _score_memories(parts, view).items() if value > 0}


def _score_memories(parts: Iterator[tuple[IRI, float]], view: View) -> dict[int, float]:
    found: dict[int, float] = {}
    for memory, value in parts:
        node = _find_visible(memory, view)
        if node is not None:
            found[node] = max(found.get(node, 0.0), value)
    return found
