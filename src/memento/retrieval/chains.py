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

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memento.iris import IRI, user_of
from memento.model import Scored
from memento.ports import Vectors
from memento.search.claims import Claims, Stated, name_thing
from memento.search.indexes import View
from memento.search.labels import normalise_label
from memento.search.names import is_telling, read_names
from memento.search.postings import tokens
from memento.text.claims import USER, Asked, Reading, fold, implying, is_place, may_stand_together, words

DEPTH, BEAM = 4, 12

MOST_CLAIMS = 200
"""The most claims of one owner that a walk looks at, the latest ones."""

CLOSE = 0.7
"""How well a claim must fit what is asked, in 0..1, to be a first step from the user, whose claims are many."""

LOOSE = 0.5
"""How well a claim fits whose relation says little, such as "use"."""

LEAST, SPREAD, LENGTH = 0.55, 0.2, 0.1
"""The least cosine of a path that is an answer; how far below the best one a path still counts; what each step too many or too few
takes from a cosine.

*Source:* with a least cosine of .3 the development lives of `tests/bench/lives` lose 3 of 288 first places to paths that lead
nowhere; with .55 the chains of `tests/bench/chains.py` keep theirs.
"""

AGAINST = 0.05
"""What a step to an earlier value, or from a value back to whose it is, takes from a cosine."""

END = 0.9
"""From which on the score of a memory on a path says that it is the end of the best one."""

WORKING = 0.65
"""How well a claim of what somebody does fits where their work is asked for."""

SUCCEEDING = 0.8
"""How well a claim fits that took the place of one that has the words of the question."""

EARLIER = 0.7
"""The share of its fit that a claim keeps where a later one states the same relation of the same owner."""


class Place(NamedTuple):
    """Where a walk stands: a node, "" where the graph knows none, and the name of the thing, as `name_thing` has it."""

    node: IRI
    thing: str


_UNKNOWN = IRI("")
_NOWHERE = Place(_UNKNOWN, "")

_WORKER = re.compile(r"(?:an? )?[a-z-]+(?: [a-z-]+)?(?: (?:at|in|for|by|of)\b.*)?$")
"""What somebody is: "a vet", "electrician", "a smith by trade"."""

LONGEST_THING = 8
"""The most words of a thing that claims name, such as a title."""


@dataclass(frozen=True, slots=True)
class Hop:
    """
    A step over a claim, from one of its ends to the other.

    `is_back`: from its value to whose it is. `is_earlier`: a later claim gives another value.
    """

    claim: Stated
    start: Place
    end: Place
    is_back: bool = False
    is_earlier: bool = False


@dataclass(frozen=True, slots=True)
class Path:
    """Hops in the order of the walk, and the cosine of the question and what they say."""

    hops: tuple[Hop, ...]
    likeness: float

    @property
    def claims(self) -> tuple[Stated, ...]:
        return tuple(hop.claim for hop in self.hops)


@dataclass(frozen=True, slots=True)
class Step:
    """A claim that is asked for, and how well it fits, in 0..1."""

    claim: Stated
    fit: float


def find_asked(
    asked: Sequence[Asked],
    view: View,
    at: float,
    *,
    past: bool,
    text: str = "",
    named: Mapping[str, Sequence[IRI]] = MappingProxyType({}),
) -> list[Step]:
    """
    Find the claims that the clauses of a question ask for, each with its best fit. What took the place of a value answers what that
    one answered: "What do I drive?" after "I drive a Golf" and "swapped the Golf for a Zoe".

    Args:
        at: the asked time, in seconds since 1970.
        past: what has ended by then counts as well.
        text: the question.
        named: the nodes that each name of the question may mean, by its label: "ana" is everybody called Ana.
    """
    found: dict[IRI, Step] = {}
    stems, user = {*tokens(text)}, user_of(view.graphs[0])
    for one in asked:
        for owner, prefix in _find_owners(one.owner, view, at, named):
            for claim in _keep_walkable(view.indexes[Claims].of_owner(owner), view, at, past=past):
                fit = measure_fit(one.relation, one.value, claim, prefix)
                if not fit and one.relation in ("job", "work") and owner != user and not prefix and _says_work(claim):
                    fit = WORKING
                if 0 < fit < CLOSE and _succeeds(claim, stems, view):
                    fit = SUCCEEDING
                if fit and (claim.iri not in found or found[claim.iri].fit < fit):
                    found[claim.iri] = Step(claim, fit)
            if one.relation == "be" and one.value.casefold() == "who" and not prefix:
                is_to = _keep_walkable(view.indexes[Claims].of_value(owner), view, at, past=past)
                found |= {claim.iri: Step(claim, 1.0) for claim in is_to if _says_who(claim)}
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


_WHOSE = re.compile(r"\b(?:my|our|your|his|her|its|their)\b|['’]s\b", re.IGNORECASE)


def _says_who(claim: Stated) -> bool:
    """Tell whether a claim says who somebody is to its owner: "Delroy is our plumber"."""
    role = claim.relation.rpartition(" ")[2]
    return role in words("people") or bool(_WHOSE.search(claim.words) and f" {role} " in f" {claim.words.casefold()} ")


def _succeeds(claim: Stated, stems: Collection[str], view: View) -> bool:
    """Tell whether a claim took the place of one of the same relation that was said in words of the question."""
    asked = {*stems} - {*tokens(claim.relation)}
    return any(
        old.until == claim.since and old.relation == claim.relation and not asked.isdisjoint(tokens(old.words))
        for old in view.indexes[Claims].of_owner(claim.owner)
    )


def measure_fit(relation: str, value: str, claim: Stated, of: str = "") -> float:
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
    if relation == "job" and known in ("be", "work as"):
        return 1.0 if known == "work as" else 0.8 if _WORKER.match(claim.value) else 0.0
    if relation == known:
        return LOOSE if relation in words("open") else 1.0
    wanted, stated = relation.split(), known.split()
    if relation == "have" and value and known != "have":  # "what job does Ana have"
        return measure_fit(fold(value.split()[-1].casefold()), "", claim, of)
    if known in implying().get(wanted[0], ()):
        return CLOSE
    if set(wanted) < set(stated) and wanted[-1] in words("people"):
        return CLOSE  # who somebody is, where it says what they do
    if wanted[:1] == stated[:1] and wanted[0] not in words("copulas"):
        return LOOSE if wanted[0] in words("open") else 0.8
    if set(stated) <= set(value.casefold().split()) and known not in words("open"):
        return 0.8
    return CLOSE if set(wanted) < set(stated) else 0.0


def _says_work(claim: Stated) -> bool:
    """Tell whether a claim says what somebody does, which may be their work: "Ana restores pianos in Porto"."""
    verb, (opening, _) = claim.relation.split()[0], claim.split("")
    is_property = verb in opening.split()  # "Ana's street is": in "Ana paints" it has an ending
    if claim.is_event or is_property or any(verb in words(kind) for kind in ("open", "copulas", "states")):
        return False
    said = tokens(opening)
    return tokens(verb) == (said[-1:] if verb == claim.relation else [one for one in said if one in tokens(verb)])


def _find_owners(name: str, view: View, at: float, named: Mapping[str, Sequence[IRI]]) -> Iterator[tuple[IRI, str]]:
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
    if meant := named.get(normalise_label(name)):
        yield from ((iri, "") for iri in meant)
        return
    possessor, _, role = name.rpartition("'s ")
    if not possessor:
        yield user, f"{name.casefold()} "
        return
    for owner, prefix in _find_owners(possessor, view, at, named):
        for claim in _keep_walkable(view.indexes[Claims].of_owner(owner), view, at, past=False):
            if claim.entity and measure_fit(role, "", claim, prefix) >= CLOSE:
                yield claim.entity, ""
        yield owner, f"{prefix}{role} "


_ANY_CHAIN = Reading((), 2)


def walk_claims(
    anchors: Sequence[IRI],
    first: Sequence[Stated],
    question: Vectors,
    view: View,
    at: float,
    *,
    past: bool,
    text: str = "",
    asked: Reading = _ANY_CHAIN,
) -> list[Path]:
    """
    Walk from some anchors, from the things that a question names, and over some first claims; return the best paths, best first, at
    most `BEAM`.

    Args:
        anchors: whom or what the question names, without the user.
        first: claims of the user that are first steps.
        question: (w, d) unit rows.
        text: the question, which may name things that are no nodes.
        asked: what the question asks for.
    """
    walk = _Walk(question, view, at, past, frozenset(_list_names(text)))
    starts = [walk.place_node(anchor) for anchor in anchors]
    starts += [walk.place_thing(thing) for thing in walk.find_things(text)]
    starts += [Place(_UNKNOWN, name_thing(one.owner)) for one in asked.clauses if "'s " not in one.owner]
    front: list[tuple[tuple[Hop, ...], Place]] = [((), start) for start in dict.fromkeys(starts)]
    best: dict[tuple[IRI, ...], tuple[float, tuple[Hop, ...]]] = {}
    for depth in range(DEPTH):
        hops = [(path, hop) for path, place in front for hop in walk.leave(place)]
        if depth == 0:
            hops += [((), hop) for claim in first for hop in walk.cross(claim, Place(claim.owner, ""))]
        grown = {
            (*(one.claim.memory for one in path), hop.claim.memory, hop.end): (*path, hop)
            for path, hop in reversed(hops)
            if all(hop.claim.memory != one.claim.memory for one in path)
            # Who else has a value that was walked to is no answer: a walk goes backward at its beginning alone.
            and (not hop.is_back or all(one.is_back for one in path))
        }
        if not grown:
            break
        paths = [*grown.values()]
        scores = walk.score(paths)
        order = np.argsort(-scores, kind="stable").tolist()
        current = (place for place in order if not walk.is_overridden(paths[place][-1]))
        front = []
        for place in islice(current, BEAM):
            front.append((paths[place], paths[place][-1].end))
            key = tuple(hop.claim.memory for hop in paths[place])
            best.setdefault(key, (float(scores[place]) - LENGTH * abs(depth + 1 - asked.steps), paths[place]))
    chosen = sorted(best.values(), key=lambda one: -one[0])[:BEAM]
    return walk.compare([path for _, path in chosen])


_QUOTED = re.compile(r"[\"“]([^\"“”]+)[\"”]")


def _list_names(text: str) -> Iterator[str]:
    """Yield what a question names by its capitals or in quotes, as `name_thing` has it."""
    yield from (name_thing(label) for label in read_names(text).spans)
    yield from (name_thing(quoted) for quoted in _QUOTED.findall(text))


class _Walk:
    """What one walk needs: the vectors of the memories that it meets, and the time at which claims must hold."""

    def __init__(self, question: Vectors, view: View, at: float, past: bool, named: Collection[str] = ()) -> None:
        """
        Args:
            named: things that the question names, known or not.
        """
        self._question, self._view, self._at, self._past, self._named = question, view, at, past, named
        self._user = user_of(view.graphs[0])
        self._rows: dict[IRI, Vectors] = {}
        self._things: dict[str, list[str]] = {}
        self._known: dict[str, bool] = {}
        self._hops: dict[Place, list[Hop]] = {}

    def leave(self, place: Place) -> list[Hop]:
        """Return the hops over the claims that have a place at one of their ends, of each relation only those that hold."""
        if place not in self._hops:
            hops = self._leave_whole(place)
            is_end = place.node or any(not one.is_back for one in hops)
            self._hops[place] = hops if is_end else [*hops, *self._leave_part(place)]
        return self._hops[place]

    def _leave_whole(self, place: Place) -> list[Hop]:
        claims = self._view.indexes[Claims]
        told = dict.fromkeys(self._find_telling(place.thing)) if place.thing else {}
        if place.node and place.node != self._user:
            told = dict.fromkeys(claims.of_owner(place.node)[-MOST_CLAIMS:]) | told
            told |= dict.fromkeys(claims.of_value(place.node)[-MOST_CLAIMS:])
        walkable = _keep_walkable([*told], self._view, self._at, past=self._past)
        hops = [hop for claim in walkable for hop in self.cross(claim, place)]
        return hops if self._past else self._drop_overridden(hops)

    def _leave_part(self, place: Place) -> list[Hop]:
        """Return the hops from the longest part of a thing that is more than a name: "rack three" of "rack three now"."""
        words = place.thing.split()
        if not 1 < len(words) <= LONGEST_THING:
            return []
        spans = [(at, at + n) for n in range(len(words) - 1, 0, -1) for at in range(len(words) - n + 1)]
        for start, end in spans:
            part = Place(_UNKNOWN, " ".join(words[start:end]))
            if is_telling(part.thing):
                hops = [one for one in self._leave_whole(part) if not one.is_back]
                if hops:
                    return hops
        return []

    def cross(self, claim: Stated, start: Place) -> list[Hop]:
        """Return the hops over a claim from one of its ends to what stands at the other."""
        opening, ending = self._split(claim)
        is_owner = start.node == claim.owner
        is_forward = is_owner or self._opens_with(opening, start.thing)
        if not is_forward:
            if claim.entity != start.node and start.thing not in (name_thing(ending), *self.find_things(ending)):
                return []
            ends = [] if claim.owner == self._user else [self.place_node(claim.owner)]
            ends = ends or [self.place_thing(thing) for thing in self.find_things(opening)]
            return [Hop(claim, start, end, is_back=True) for end in ends] or [Hop(claim, start, _NOWHERE, is_back=True)]
        if claim.entity and claim.entity != start.node and name_thing(claim.value) != start.thing:
            ends = [self.place_node(claim.entity)]
            if ending and name_thing(ending) != ends[0].thing:
                ends.append(self.place_thing(name_thing(ending)))
        else:
            ends = [self.place_thing(thing) for thing in (name_thing(ending), *self.find_things(ending)) if thing]
        return [Hop(claim, start, end) for end in dict.fromkeys(ends)] or [Hop(claim, start, _NOWHERE)]

    def _opens_with(self, opening: str, thing: str) -> bool:
        """Tell whether the words before a claim's value name a thing; one that nothing else knows must come first."""
        return thing in self.find_things(opening) or f"{name_thing(opening)} ".startswith(f"{thing} ")

    def find_things(self, text: str) -> list[str]:
        """Return what a text names that claims know: labels of nodes and ends of claims, each as long as possible."""
        if text not in self._things:
            self._things[text] = [*self._read_things(normalise_label(text).split())]
        return self._things[text]

    def _read_things(self, words: Sequence[str]) -> Iterator[str]:
        place = 0
        while place < len(words):
            for length in range(min(LONGEST_THING, len(words) - place), 0, -1):
                thing = " ".join(words[place : place + length]).rstrip(".")
                if self._is_known(thing):
                    yield thing
                    break
            place += length

    def _is_known(self, thing: str) -> bool:
        if thing not in self._known:
            indexes, graphs = self._view.indexes, self._view.graphs
            is_known = thing in self._named or indexes[Claims].of_ending(thing)
            self._known[thing] = bool(
                (" " in thing or is_telling(thing)) and (is_known or indexes.labels.find_exact(thing, graphs))
            )
        return self._known[thing]

    def place_thing(self, thing: str) -> Place:
        """Return the place of a thing by its name."""
        known = self._view.indexes.labels.find_exact(thing, self._view.graphs)
        return Place(self._view.iris(known[:1])[0] if known else _UNKNOWN, thing)

    def place_node(self, node: IRI) -> Place:
        """Return the place of a node."""
        return Place(node, name_thing(self._view.indexes.name(node)))

    def _find_telling(self, thing: str) -> Iterator[Stated]:
        """Yield the claims of the latest memories with all words of a thing."""
        stems = tokens(thing)
        claims, view = self._view.indexes[Claims], self._view
        for passages in view.passages() if stems else ():
            nodes = reduce(np.intersect1d, [passages.context.nodes(stem) for stem in dict.fromkeys(stems)])
            for memory in view.iris(nodes[view.visible[nodes]][-MOST_CLAIMS:].tolist()):
                yield from claims.of_memory(memory)

    def _drop_overridden(self, hops: Sequence[Hop]) -> list[Hop]:
        """
        Return the hops without those over a claim to which a later one of the same things and relation gives another value; where
        both may hold together, the earlier one is marked.
        """
        latest: dict[object, float] = {}
        keys: list[list[object]] = []
        for hop in hops:
            opening = self._split(hop.claim)[0]
            named = frozenset(self.find_things(opening))
            same: list[object] = [normalise_label(opening), (hop.claim.owner, hop.claim.relation, named)]
            keys.append([] if hop.is_back else same)
            for key in keys[-1]:
                latest[key] = max(latest.get(key, 0.0), hop.claim.since)
        kept = []
        for hop, mine in zip(hops, keys, strict=True):
            is_latest = all(hop.claim.since >= latest[key] for key in mine)
            if is_latest or may_stand_together(hop.claim.relation):
                kept.append(replace(hop, is_earlier=not is_latest))
        return kept

    def is_overridden(self, hop: Hop) -> bool:
        """Tell whether what is reached backward has another value by now."""
        if not hop.is_back or not hop.end.thing or self._past:
            return False
        return not any(one.claim.iri == hop.claim.iri for one in self.leave(hop.end) if not one.is_back)

    def _split(self, claim: Stated) -> tuple[str, str]:
        return claim.split("" if claim.owner == self._user else self._view.indexes.name(claim.owner))

    def score(self, paths: Sequence[tuple[Hop, ...]]) -> Vectors:
        """Return (n,) the cosines of the question and the summed vectors of the memories of each path."""
        sums = np.array([np.sum([self._find_row(hop.claim) for hop in path], axis=0) for path in paths])
        sums /= np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
        found: Vectors = (self._question @ sums.T).max(axis=0)
        return found - np.array([_weigh_against(path) for path in paths], dtype=np.float32)

    def compare(self, paths: Sequence[tuple[Hop, ...]]) -> list[Path]:
        """Embed what some paths say, and return these by their cosine with the question, best first."""
        if not paths:
            return []
        rows = self._view.indexes.embedder.embed([self._tell(path) for path in paths])
        found = [
            Path(path, float(likeness) - _weigh_against(path))
            for path, likeness in zip(paths, (self._question @ rows.T).max(axis=0), strict=True)
        ]
        return sorted(found, key=lambda one: -one.likeness)

    def _tell(self, path: tuple[Hop, ...]) -> str:
        """
        Return what a path says, without the things that it passes and without its end: a question for the end names neither.

        "Ana works at, it is based in" is near "Where is Ana's employer based?"; the names of the employer and the town are not.
        """
        told = []
        for place, hop in enumerate(path):
            opening, ending = self._split(hop.claim)
            passed = [hop.start.thing] if place else []
            if hop.is_back:
                passed.append(hop.end.thing)
                told.append(f"{opening} {ending}")
            else:
                told.append(opening)
                passed += [] if ending else [hop.end.thing]
            told[-1] = _mask(told[-1], passed)
        return ", ".join(told)

    def _find_row(self, claim: Stated) -> Vectors:
        """Return the vector of the memory that states a claim."""
        if claim.memory not in self._rows:
            node = self._view.indexes.nodes.find(claim.memory)
            assert node is not None
            self._rows[claim.memory] = self._view.indexes.vectors["memory"].vectors([node])[0]
        return self._rows[claim.memory]


def _weigh_against(path: Sequence[Hop]) -> float:
    return float(sum(AGAINST * (hop.is_earlier + (hop.is_back and place > 0)) for place, hop in enumerate(path)))


def _mask(text: str, things: Sequence[str]) -> str:
    """Return a text with each of some things replaced by "it"."""
    for thing in filter(None, things):
        pattern = r"[\W_]+".join(map(re.escape, thing.split()))
        text = re.sub(rf"(?<!\w){pattern}(?!\w)", "it", text, flags=re.IGNORECASE)
    return text


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


def order_latest_first(
    chosen: Sequence[Scored[int]],
    question: str,
    view: View,
    at: float,
    sides: NDArray[np.int8] | None = None,
) -> list[Scored[int]]:
    """
    Return some memories; where several say the same of the same thing in the same words, but for the value, the latest comes first.

    Args:
        sides: (n,) as `anchor.take_sides` returns them: memories of different sides keep their places.

    *But:* not what the user says in the first person, what may hold together, what happens again and again, or a value that the
    question names.
    """
    user = user_of(view.graphs[0])
    groups: dict[tuple[IRI, str, int], dict[int, Stated]] = {}
    for place, one in enumerate(chosen):
        side = 0 if sides is None else int(sides[place])
        for claim in view.indexes[Claims].of_memory(view.indexes.nodes.iri(one.item)):
            opening, _ = claim.split("" if claim.owner == user else view.indexes.name(claim.owner))
            head, *_ = normalise_label(opening).split() or [""]
            happens_again = claim.is_event and words("once").isdisjoint(claim.relation.split())
            recurs = may_stand_together(claim.relation) or happens_again
            is_named = claim.value.casefold() in question.casefold()
            if claim.holds(at) and not recurs and not is_named and head not in words("first_person"):
                groups.setdefault((claim.owner, normalise_label(opening), side), {})[place] = claim
    disputed = [members for members in groups.values() if len({claim.value for claim in members.values()}) > 1]
    return _rearrange(chosen, [sorted(members, key=lambda place: -members[place].since) for members in disputed])


_ASKS_FOR_A_NAME = re.compile(r"\b(?:who|whom|name|named|called)\b", re.IGNORECASE)
_ASKS_FOR_A_PLACE = re.compile(r"\W*where\b", re.IGNORECASE)


def order_by_kind(chosen: Sequence[Scored[int]], steps: Sequence[Step], question: str, view: View) -> list[Scored[int]]:
    """
    Return some memories; of those that say things of different kinds about one, first those with what is asked for: whose name for
    "who", where for "where". "My vet is Dr Amsel" and "my vet is on Mill Road" hold together.
    """
    is_wanted = _is_named if _ASKS_FOR_A_NAME.search(question) else _is_somewhere
    if is_wanted is _is_somewhere and not _ASKS_FOR_A_PLACE.match(question):
        return [*chosen]
    place_of = {view.indexes.nodes.iri(one.item): place for place, one in enumerate(chosen)}
    groups: dict[tuple[IRI, str], dict[int, bool]] = {}
    for claim in (one.claim for one in steps if one.claim.memory in place_of):
        members = groups.setdefault((claim.owner, claim.relation.partition(" be ")[0]), {})
        place = place_of[claim.memory]
        members[place] = members.get(place, False) or is_wanted(claim)
    by_fit = [sorted(members, key=lambda place: (not members[place], place)) for members in groups.values()]
    return _rearrange(chosen, by_fit)


def _rearrange(chosen: Sequence[Scored[int]], orders: Sequence[Sequence[int]]) -> list[Scored[int]]:
    """
    Return some memories, those of each order in that order on the places that they have together.

    Where orders that share a memory would show it twice, nothing moves.
    """
    ordered = [*chosen]
    for order in orders:
        for place, other in zip(sorted(order), order, strict=True):
            ordered[place] = chosen[other]
    return ordered if len({one.item for one in ordered}) == len(chosen) else [*chosen]


def _is_somewhere(claim: Stated) -> bool:
    return is_place(claim.words, claim.value)


def _is_named(claim: Stated) -> bool:
    return claim.value[:1].isupper() and not _is_somewhere(claim)


def write_path(hops: Sequence[Hop]) -> str:
    """
    Return the property path from where a walk began to the memory of its last claim, as a pattern of a query for `?memory`.

    It begins behind the last thing that is no node: from there on the claim is named instead.
    """
    path, start = "mem:statedBy", ""
    for hop in reversed(hops):
        entry, exit_ = ("mem:value", "mem:owner") if hop.is_back else ("mem:owner", "mem:value")
        near, far = (hop.claim.entity, hop.claim.owner) if hop.is_back else (hop.claim.owner, hop.claim.entity)
        if start and far != start:
            break
        path = f"{exit_}/{path}" if start else path
        if not hop.start.node or hop.start.node != near:
            return f"<{hop.claim.iri}> {path} ?memory"
        path, start = f"^{entry}/{path}", near
    return f"<{start}> {path} ?memory"


def _score_memories(parts: Iterator[tuple[IRI, float]], view: View) -> dict[int, float]:
    found: dict[int, float] = {}
    for memory, value in parts:
        node = _find_visible(memory, view)
        if node is not None:
            found[node] = max(found.get(node, 0.0), value)
    return found
