"""
Parse a question: correct its spelling, and find what it names and asks for: people, a time, a number. It also resolves people:
"my sister's landlord" is followed through the graph, from the user to the sister, from her to the landlord.

*But:* only one typo per word is corrected, in the letters a to z and not in the first letter. Words that the embedder knows as a
whole are never changed, so a typo that is another word stays.

*Because:* notes call relatives by name; other memories about the user have nothing to do with the question.

*Source:* the four edits are those of Damerau 1964, "A technique for computer detection and correction of spelling errors".
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from memento.graph import store
from memento.graph.store import Store
from memento.iris import IRI
from memento.model import Filter, Scope
from memento.search.indexes import Indexes
from memento.search.labels import Labels
from memento.search.links import Asked, Joined
from memento.search.names import LONGEST, is_telling
from memento.search.postings import tokens
from memento.text.claims import Reading
from memento.text.dates import is_date_word
from memento.text.kin import PATTERN, derive_kin, kin_name
from memento.text.sentences import is_readable
from memento.text.spelling import list_edits
from memento.text.words import ONE_OF_A_KIND, STOP_WORDS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memento.model import Scope
    from memento.ports import Vectors
    from memento.search.indexes import View


SHORTEST, LONGEST_WORD = 4, 24
"""Length in letters of a word that is corrected: shorter words have too many neighbours, longer ones too many possible forms."""

_HALF_NAMED = 0.35
_WORD = re.compile(r"[^\W\d_]+")
_WHEN = re.compile(
    r"\b(when|how long|what (?:date|day|month|year|time)|which (?:date|day|month|year|week))\b", re.IGNORECASE
)
_HOW_MANY = re.compile(r"\b(how (?:many|much|often|old|far)|what number)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Query:
    """A request: the question, whose memory it concerns, the time, and how much to return."""

    question: str
    scope: Scope
    k: int
    as_of: datetime | None = None
    believed_at: datetime | None = None
    explained: bool = False
    only: Filter | None = None
    """Restricts which memories may be returned; None for all."""


@dataclass(frozen=True, slots=True)
class Asking:
    """What a question asks for, the asked time, in seconds since 1970, and whether what has ended by then counts too."""

    reading: Reading
    at: float
    past: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question as the phases use it, and the view it searches. Use it under `indexes.lock`."""

    text: str
    stripped: str
    """The text without the names of the conversation's participants."""
    vectors: Vectors
    """(w, d) unit rows, the windows of `stripped`."""
    view: View
    joined: Joined
    """The names in the memories that may be returned."""
    prominent: Sequence[tuple[NDArray[np.integer], float]] | None = None
    """The most common subjects and tags of the memories that may be returned, if recall uses the profile."""
    topic: Vectors | None = None
    """(1, d) the question without any name, if it has one."""
    asking: Asking | None = None
    """What the question asks for, and of which time."""
    asked: Sequence[Asked] = ()
    """The names in the question that memories mention."""
    masked: Vectors | None = None
    """(1, d) the question with these names masked, if there are any."""

    @property
    def has_full_name(self) -> bool:
        """Whether the question has the full name of something that memories know."""
        return any(" " in one.label for one in self.asked)

    @property
    def surety(self) -> float:
        """How surely the names mean what memories mention: a first name, or a word such as a product's, may mean something else."""
        return 1.0 if self.has_full_name else _HALF_NAMED

    def list_sources(self) -> dict[str, object]:
        """Return the inputs that a signal may request from a question, by name."""
        found = {"text": self.text, "stripped": self.stripped, "vectors": self.vectors, "view": self.view}
        beside = {"prominent": self.prominent, "asking": self.asking}
        return {**found, "joined": self.joined, **{name: value for name, value in beside.items() if value is not None}}


def list_names(question: str) -> list[str]:
    """
    Return the capitalised words after the first that are neither dates nor "I".

    >>> list_names("Did Anna meet Bob in May?")
    ['Anna', 'Bob']
    """
    words = re.findall(r"[^\W_]+", question)[1:]
    return [word for word in words if word[0].isupper() and word.lower() not in STOP_WORDS and not is_date_word(word)]


def wants_time(question: str) -> bool:
    """Tell whether the answer is a time or a date."""
    return _WHEN.search(question) is not None


def wants_number(question: str) -> bool:
    """Tell whether the answer is a number."""
    return _HOW_MANY.search(question) is not None


def strip_names(question: str, names: Collection[str]) -> str:
    """
    Return the question without the names of the conversation's participants, or the whole question when nothing else would be left.

    With names included, an embedder finds greetings rather than answers.

    >>> strip_names("What does Caroline's sister think of Mel?", ["Caroline", "Melanie"])
    'What does sister think of ?'
    """
    forms = sorted(list_short_forms(names), key=len, reverse=True)
    if not forms:
        return question
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, forms))})\b(?:['’]s)?", re.IGNORECASE)
    stripped = " ".join(pattern.sub(" ", question).split())
    return stripped if re.search(r"\w", stripped) else question


def find_named(question: str, names: Collection[str]) -> list[str]:
    """Return the names that the question contains in full, as first name or as the usual short form, in the given order."""
    words = set(re.findall(r"\w+", question.casefold()))
    return [name for name in names if not words.isdisjoint(_one_word_forms(name))]


@lru_cache(maxsize=4096)
def _one_word_forms(name: str) -> frozenset[str]:
    """Return the one-word short forms of a name, case folded."""
    return frozenset(form.casefold() for form in list_short_forms([name]) if " " not in form)


def list_short_forms(names: Collection[str]) -> set[str]:
    """
    Return the forms that people use for a name: the whole name, the first name, its first three letters.

    >>> sorted(list_short_forms(["Melanie Ray"]))
    ['Mel', 'Melanie', 'Melanie Ray']
    """
    forms = set()
    for name in names:
        first = name.split()[0] if name.split() else name
        forms |= {name, first} | ({first[:3]} if len(first) > 4 else set())
    return {form for form in forms if form}


def is_first_person(question: str) -> bool:
    """
    Tell whether the question is about the person who asks.

    >>> is_first_person("Where do I work?"), is_first_person("Our budget?"), is_first_person("Who in the US works?")
    (True, True, False)
    """
    return re.search(r"\bI\b|\b(?:[Mm]y|me|mine|myself|[Ww]e|[Oo]ur|ours|us|ourselves)\b", question) is not None


def is_assistant(participant: str) -> bool:
    """
    Tell whether a participant of a conversation is an assistant program, by the names that chat formats use.

    >>> is_assistant("Assistant"), is_assistant("Ana")
    (True, False)
    """
    return participant.casefold() in _ASSISTANTS


_ASSISTANTS = frozenset("assistant ai bot chatbot model agent system tool".split())  # noqa: SIM905


def correct_spelling(question: str, is_word: Callable[[str], bool], frequency: Callable[[str], int]) -> str:
    """
    Return the question with each unknown word replaced by the corrected form that occurs in most memories.

    Args:
        is_word: whether a lower-case word is known to the language.
        frequency: number of memories that have a stem.

    >>> memories = {"aquarium": 3, "carolin": 9}  # by stem
    >>> correct_spelling("Did Caroilne see the acquarium?", {"see", "aquarium"}.__contains__, lambda stem: memories.get(stem, 0))
    'Did Caroline see the aquarium?'
    """

    def correct_word(match: re.Match[str]) -> str:
        word, small = match[0], match[0].lower()
        if (
            not SHORTEST <= len(small) <= LONGEST_WORD
            or small in STOP_WORDS
            or is_word(small)
            or any(map(frequency, tokens(small)))
        ):
            return word
        is_name = word[0].isupper()
        forms = {
            form: times
            for form in dict.fromkeys(list_edits(small))
            if (times := sum(map(frequency, tokens(form)))) and (is_word(form) or (is_name and _is_bare(form)))
        }
        if not forms:
            return word
        best = max(forms, key=lambda form: forms[form])
        return best.capitalize() if is_name else best

    return _WORD.sub(correct_word, question)


def _is_bare(form: str) -> bool:
    """
    Tell whether a form may be a name that the embedder does not know: "jolene", but not "spotness", whose stem "spot" occurs in
    memories.
    """
    return all(len(form) - len(stem) < 2 for stem in tokens(form))


def named_entities(question: str, labels: Labels, graphs: Sequence[IRI]) -> list[int]:
    """
    Return the entities whose name or alias occurs in a question, from left to right, each name as long as possible.

    A single lower-case word counts only if the question names nothing else.
    """
    raw = re.findall(r"[^\s\"'“”‘’«»,;:!?()\[\]{}]+", unicodedata.normalize("NFKC", question))
    words = [word.casefold() for word in raw]
    large: dict[int, None] = {}
    small: dict[int, None] = {}
    place = 0
    while place < len(words):
        length, nodes = _find_longest(words[place : place + LONGEST], labels, graphs)
        into = small if length == 1 and raw[place].islower() else large
        into.update(dict.fromkeys(nodes))
        place += max(length, 1)
    return list(large or small)


def _find_longest(words: Sequence[str], labels: Labels, graphs: Sequence[IRI]) -> tuple[int, list[int]]:
    """
    Return the word count of the longest name at the beginning of the words, and the anchors with that name; 0 where there is none.
    """
    for length in range(len(words), 0, -1):
        label = " ".join(words[:length])
        for form in dict.fromkeys((label, label.rstrip(".…"))):
            if is_telling(form) and (nodes := labels.find_exact(form, graphs)):
                return length, nodes
    return 0, []


MOST = 3
"""Maximum number of people that one phrase may refer to."""

_NAME = r"(?-i:[A-Z\u00c0-\u00de][\w-]*(?:\s[A-Z\u00c0-\u00de][\w-]*)?)"
_NAME_WORD = re.compile(rf"\b{PATTERN}\b", re.IGNORECASE)
_CHAIN = re.compile(
    rf"\b(?:(?P<last>{PATTERN})\s+of\s+)?(?P<first>my|our|{_NAME}['’]s?)\s+(?:[\w-]+\s)?"
    rf"(?P<chain>{PATTERN}\b(?:['’]s?\s+{PATTERN}\b){{0,3}})|\b(?P<kin>{PATTERN})\s+of\s+(?P<whom>{_NAME})",
    re.IGNORECASE,
)


_ASKS_WHO = re.compile(
    r"\W*(?:who|what|which|how)(?:['’]s|\s+(?:is|are|was|were))\s+(?:the\s+(?:\w+\s+)?names?\s+of\s+)?", re.IGNORECASE
)
_NAMING = re.compile(r"(?:['’]s?\s+(?:\w+\s+)?names?|\s+(?:called|named))?\W*", re.IGNORECASE)
"""The words before and after somebody whose name is asked for: to ask with the answer finds everything else about them."""


class Ties:
    """The relations between people, as far as a question asks for them."""

    def __init__(self, rows: Sequence[store.Row], asked: datetime) -> None:
        self.names: dict[IRI, str] = {}
        self._ones: dict[tuple[IRI, str, bool], list[IRI]] = defaultdict(list)
        for row in rows:
            owner, one, relation = cast(IRI, row["owner"]), cast(IRI, row["one"]), str(row["relation"])
            if cast(datetime, row["since"]) <= asked:
                self.names[one] = str(row["name"])
                self._ones[owner, relation, False].append(one)
                self._ones[one, relation, True].append(owner)

    def follow_relation(self, owners: Sequence[IRI], relation: str) -> list[IRI]:
        """
        Return the people who stand in a relation to some others, by the first path that finds any; of a single-valued one, the
        latest.
        """
        for way in derive_kin(relation):
            found = list(owners)
            for name, is_turned in way:
                several = [self._ones.get((one, name, is_turned), []) for one in found]
                found = [
                    one for ones in several for one in (ones[:1] if name in ONE_OF_A_KIND and not is_turned else ones)
                ]
            if found := [one for one in dict.fromkeys(found) if one not in owners]:
                return found[:MOST]
        return []


def name_kin(question: str, graph: Store, scope: Scope, indexes: Indexes, asked: datetime) -> str:
    """
    Return the question with the names of the people whom it describes by relation: "Where does my sister stay?" → "my sister
    Angela".

    People without a name in the notes keep the question's wording.
    """
    chains = list(_CHAIN.finditer(question)) if is_readable(question) else []
    if not chains:
        return question
    words = [word for match in chains for word in _NAME_WORD.findall(match.group())]
    steps = {name for word in words for way in derive_kin(kin_name(word)) for name, _ in way}
    ties = Ties(graph.select("retrieval/kin", scope.readable, relation=sorted(steps)), asked)
    for match in reversed(chains):
        if _ASKS_WHO.fullmatch(question[: match.start()]) and _NAMING.fullmatch(question[match.end() :]):
            continue
        question = _name_chain(question, match, ties, _find_first(match["first"] or match["whom"], scope, indexes))
    return question


def _name_chain(question: str, match: re.Match[str], ties: Ties, people: list[IRI]) -> str:
    """Return the question with the names of the people that one phrase refers to, as far as it can be resolved."""
    at, named = 0, people
    for word in _NAME_WORD.finditer(match["chain"] or ""):
        people = ties.follow_relation(people, kin_name(word.group()))
        if people:
            at, named = match.start("chain") + word.end(), people
    if people and (last := match["last"] or match["kin"]):
        at, named = match.end(), ties.follow_relation(people, kin_name(last)) or named
    names = [ties.names[one] for one in named if one in ties.names and ties.names[one].lower() not in question.lower()]
    return f"{question[:at]} {' '.join(names)}{question[at:]}" if at and names else question


def _find_first(first: str, scope: Scope, indexes: Indexes) -> list[IRI]:
    """Return the person whom a chain of relations starts from: the user, or whoever has the name."""
    if first.lower() in ("my", "our"):
        return [scope.user]
    name = re.sub(r"['’]s?$", "", first).casefold()
    return [indexes.nodes.iri(node) for node in indexes.labels.find_exact(name, scope.memory_graphs)]
