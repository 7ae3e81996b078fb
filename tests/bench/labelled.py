"""
Compare the memories made from labelled notes with what people expect of them (`tests/consolidation/notes`).

Every figure is a sum over scenarios of the number found, the number expected and the number of both, so that precision and recall
are micro-averages. A memory meets an expectation if it has its words and its subjects; its dates and its end are compared as soon
as it has the words.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from Stemmer import Stemmer

from measure import fresh_memory
from memento.iris import MEM, SKOS, TYPE
from memento.python import Memento

NOTES = Path(__file__).parent.parent / "consolidation" / "notes"
FILES = ("development", "second", "unseen")
"""The files of labelled notes; of the last only figures are shown."""
MAY_BE_READ = FILES[:2]
MEASURES = ("entities", "names", "memories", "validAt", "eventAt", "invalidations", "must not")
"""What is counted; the two dates over memories that have the expected words, the last as found where nothing should be."""

_WORD = re.compile(r"[^\W_]+(?:['’.@+#/-][^\W_]+)*[+#]*")
_NO_FACT = re.compile(
    r"""\b(?:if|unless|whether|maybe|perhaps|might|may|could|would|should|not|never|no\ longer|\w+n['’]t|wants?|wish\w*
        |hop(?:es?|ing)|plans?|planning|think\w*|thought|consider\w*|wonder\w*|dream\w*|used\ to|will|going\ to|about\ to
        |offer\w*|interview\w*|applied|love\ to|like\ to|possibly|probably|suggest\w*|rumou?r\w*|almost|nearly|someday
        |one\ day|cancell?ed|refus\w+|declin\w+)\b|\?""",
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """One memory as the graph has it; each of `about` is every name of one subject, in lower case."""

    iri: str
    content: str
    about: frozenset[frozenset[str]]
    valid_at: str
    event_at: str
    retired_by: tuple[str, ...] = ()


@dataclass(slots=True)
class Score:
    """Counts by measure: expected, found, and both; `misses` says in words what differs."""

    expected: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    both: Counter[str] = field(default_factory=Counter)
    misses: list[str] = field(default_factory=list)

    def add(self, other: Score) -> None:
        """Count what another scenario gave."""
        self.expected.update(other.expected)
        self.found.update(other.found)
        self.both.update(other.both)
        self.misses += other.misses

    def count(self, measure: str, expected: int, found: int, both: int) -> None:
        """Count one comparison."""
        self.expected[measure] += expected
        self.found[measure] += found
        self.both[measure] += both

    def precision(self, measure: str) -> float:
        """Of what was found, how much was expected; 1 where nothing was found."""
        return self.both[measure] / self.found[measure] if self.found[measure] else 1.0

    def recall(self, measure: str) -> float:
        """Of what was expected, how much was found; 1 where nothing was expected."""
        return self.both[measure] / self.expected[measure] if self.expected[measure] else 1.0

    def f1(self, measure: str) -> float:
        """The harmonic mean of precision and recall."""
        one, other = self.precision(measure), self.recall(measure)
        return 2 * one * other / (one + other) if one + other else 0.0


def scenarios(file: str) -> list[dict[str, Any]]:
    """The scenarios of one file, none when it is not there."""
    path = NOTES / f"{file}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines if line.strip()]


def tagged(file: str, model: str = "trigram") -> dict[str, Score]:
    """The score of each tag of a file, and of "all"."""
    found = {"all": Score()}
    with fresh_memory(model) as memento:
        for scenario in scenarios(file):
            score = scored(scenario, memento)
            for tag in ("all", *scenario.get("tags", ())):
                found.setdefault(tag, Score()).add(score)
    return found


def scored(scenario: Mapping[str, Any], memento: Memento) -> Score:
    """Tell a scenario's notes to a namespace of its own and compare what came of them."""
    namespace, score = f"notes-{scenario['id']}", Score()
    told = [memento.note(note["content"], at=note["at"], namespace=namespace) for note in scenario["notes"]]
    made = [[_made(memento, iri, namespace) for iri in noted.memories] for noted in told]
    wanted: dict[tuple[int, int], Made | None] = {}
    for at, (expect, noted) in enumerate(zip(scenario["expect"], told, strict=True)):
        called = f"{scenario['id']}.{at}"
        if noted.note:  # of a question nothing is kept, and so nothing is named
            _entities(expect.get("entities", []), _named(memento, noted.note, namespace), called, score)
        for number, one in enumerate(_memories(expect, made[at], called, score)):
            wanted[at, number] = one
        for words in expect.get("must_not", []):
            wrong = [one.content for one in made[at] if _has(one, words) and not _NO_FACT.search(one.content)]
            score.count("must not", 0, len(wrong), 0)
            score.misses += [f"{called} must not: {content}" for content in wrong]
    for at, (expect, noted) in enumerate(zip(scenario["expect"], told, strict=True)):
        retired = {*noted.invalidated, *_ended_in_part(memento, noted.memories, namespace)}
        _retired(expect, retired, wanted, made, f"{scenario['id']}.{at}", score)
    return score


def _ended_in_part(memento: Memento, memories: Sequence[str], namespace: str) -> set[str]:
    """The memories of which some memories of a note have ended a claim."""
    values = " ".join(f"<{iri}>" for iri in memories)
    answer, _ = memento.graphs.query_bytes(
        "PREFIX mem: <http://purl.org/memento/> SELECT DISTINCT ?old { "
        f"VALUES ?by {{ {values} }} ?newer mem:statedBy ?by ; mem:invalidates ?older . ?older mem:statedBy ?old }}",
        namespace=namespace,
    )
    return {row["old"]["value"] for row in json.loads(answer)["results"]["bindings"]}


def _entities(
    wanted: Sequence[Mapping[str, str]], found: list[tuple[frozenset[str], str]], at: str, score: Score
) -> None:
    right, named, left = 0, 0, list(found)
    for one in wanted:
        match = next((have for have in left if _plain(one["name"]) in have[0]), None)
        if match is None:
            score.misses.append(f"{at} entity missing: {one['name']}")
            continue
        left.remove(match)
        named += 1
        right += match[1] in one["kind"].split("|")
        if match[1] not in one["kind"].split("|"):
            score.misses.append(f"{at} kind of {one['name']}: {match[1]}, not {one['kind']}")
    score.misses += [f"{at} entity too many: {min(names)} ({kind})" for names, kind in left]
    score.count("entities", len(wanted), len(found), right)
    score.count("names", len(wanted), len(found), named)


def _memories(expect: Mapping[str, Any], made: Sequence[Made], at: str, score: Score) -> Iterator[Made | None]:
    """The memory that has the words of each expectation, whether or not its subjects are right."""
    wanted, left, right = expect.get("memories", []), list(made), 0
    for one in wanted:
        alike = [have for have in left if _has(have, one["says"])]
        match = next((have for have in alike if _about(have, one["about"])), None)
        right += match is not None
        if match is None:
            have = [f"{other.content} {[min(names) for names in other.about]}" for other in made]
            score.misses.append(f"{at} memory missing: {' '.join(one['says'])} about {one['about']} among {have}")
        else:
            left.remove(match)
        said = match or next((have for have in made if _has(have, one["says"])), None)
        if said:
            for measure, label, value in (
                ("validAt", "valid_at", said.valid_at),
                ("eventAt", "event_at", said.event_at),
            ):
                if label in one:
                    same = _within(value, one[label])
                    score.count(measure, 1, 1, same)
                    score.misses += [] if same else [f"{at} {measure} {value}, not {one[label]}: {said.content}"]
        yield said
    score.misses += [f"{at} memory too many: {have.content}" for have in left]
    score.count("memories", len(wanted), len(made), right)


def _retired(
    expect: Mapping[str, Any],
    retired: set[str],
    wanted: Mapping[tuple[int, int], Made | None],
    made: Sequence[Sequence[Made]],
    at: str,
    score: Score,
) -> None:
    texts = {one.iri: one.content for of_note in made for one in of_note}
    named = [(wanted.get((pair[0], pair[1])), pair) for pair in expect.get("retires", [])]
    right = {one.iri for one, _ in named if one and one.iri in retired}
    score.count("invalidations", len(named), len(retired), len(right))
    score.misses += [
        f"{at} not retired: {one.content if one else pair}"
        for one, pair in named
        if one is None or one.iri not in right
    ]
    score.misses += [f"{at} wrongly retired: {texts.get(iri, iri)}" for iri in retired - right]


def _made(memento: Memento, iri: str, namespace: str) -> Made:
    said = memento.get(iri, namespace=namespace).properties
    values = dict(said)
    about = [
        value for predicate, value in said if predicate == MEM.about and not _is_mere_name(memento, value, namespace)
    ]
    return Made(
        iri=iri,
        content=values[MEM.content],
        about=frozenset(_names(memento, one, namespace) for one in about),
        valid_at=values[MEM.validAt][:10],
        event_at=values.get(MEM.eventAt, "")[:10],
    )


def _named(memento: Memento, note: str | None, namespace: str) -> list[tuple[frozenset[str], str]]:
    """(names, kind) of each entity that a note mentions."""
    said = memento.get(note, namespace=namespace).properties if note else ()
    entities = [
        value for predicate, value in said if predicate == MEM.mentions and not _is_mere_name(memento, value, namespace)
    ]
    return [(_names(memento, one, namespace), _kind(memento, one, namespace)) for one in entities]


def _is_mere_name(memento: Memento, iri: str, namespace: str) -> bool:
    """Whether nothing is known of it but that a text names it: no entity that somebody understood."""
    return (TYPE, MEM.Name) in memento.get(iri, namespace=namespace).properties


def _names(memento: Memento, iri: str, namespace: str) -> frozenset[str]:
    found = memento.get(iri, namespace=namespace)
    if found.type == "User":
        return frozenset(("user",))
    return frozenset(
        value.casefold() for predicate, value in found.properties if predicate in (MEM.name, SKOS.altLabel)
    )


def _kind(memento: Memento, iri: str, namespace: str) -> str:
    said = memento.get(iri, namespace=namespace).properties
    return next(value.rsplit("/", 1)[-1] for predicate, value in said if predicate == MEM.entityType)


def _has(one: Made, words: Sequence[str]) -> bool:
    """Whether a memory has all words; that it is about the user may be said by its subjects alone ("Met Ann at the gym")."""
    said = _stems(one.content) | ({"user"} if frozenset(("user",)) in one.about else set())
    return all(_stems(word) <= said for word in words)


def _about(one: Made, names: Sequence[str]) -> bool:
    """Whether the subjects of a memory are those named, no more and no fewer."""
    wanted = {_plain(name) for name in names}
    return len(one.about) == len(wanted) and all(name in frozenset().union(*one.about) for name in wanted)


def _plain(name: str) -> str:
    """A name without regard to case and article."""
    return name.casefold().removeprefix("the ")


def _within(day: str, wanted: str) -> bool:
    first, _, last = wanted.partition("/")
    return first <= day <= (last or first) if day else False


@lru_cache(maxsize=4096)
def _stems(text: str) -> frozenset[str]:
    words = [re.sub(r"['’]s?$", "", word) for word in _WORD.findall(text.casefold())]
    parts = [part for word in words for part in {word, *re.split(r"[-/]", word)}]
    return frozenset(Stemmer("english").stemWords(parts))
