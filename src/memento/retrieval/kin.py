"""
Whom a question means: "my sister's landlord" is followed through the graph, from the user to the sister, from her to the landlord.

*Because:* the notes call them by name; what is about the user at large has nothing to do with the question.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import cast

from memento.graph.store import Row, Store
from memento.iris import IRI
from memento.model import Scope
from memento.search.indexes import Indexes
from memento.text.kin import PATTERN, derive_kin, kin_name
from memento.text.sentences import is_readable
from memento.text.words import ONE_OF_A_KIND

MOST = 3
"""People whom one phrase may mean."""

_NAME = r"(?-i:[A-Z\u00c0-\u00de][\w-]*(?:\s[A-Z\u00c0-\u00de][\w-]*)?)"
_WORD = re.compile(rf"\b{PATTERN}\b", re.IGNORECASE)
_CHAIN = re.compile(
    rf"\b(?:(?P<last>{PATTERN})\s+of\s+)?(?P<first>my|our|{_NAME}['’]s?)\s+(?:[\w-]+\s)?"
    rf"(?P<chain>{PATTERN}\b(?:['’]s?\s+{PATTERN}\b){{0,3}})|\b(?P<kin>{PATTERN})\s+of\s+(?P<whom>{_NAME})",
    re.IGNORECASE,
)


class Ties:
    """Who is what to whom, as far as a question asks for it."""

    def __init__(self, rows: Sequence[Row], asked: datetime) -> None:
        self.names: dict[IRI, str] = {}
        self._ones: dict[tuple[IRI, str, bool], list[IRI]] = defaultdict(list)
        for row in rows:
            owner, one, relation = cast(IRI, row["owner"]), cast(IRI, row["one"]), str(row["relation"])
            if cast(datetime, row["since"]) <= asked:
                self.names[one] = str(row["name"])
                self._ones[owner, relation, False].append(one)
                self._ones[one, relation, True].append(owner)

    def follow(self, owners: Sequence[IRI], relation: str) -> list[IRI]:
        """Return whom some people call so, by the first way that leads to anybody; of those one has one of, the latest."""
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
    Return the question with the names of those whom it calls by what they are: "Where does my sister stay?" → "my sister Angela".

    Who has no name in the notes is left as the question calls them.
    """
    chains = list(_CHAIN.finditer(question)) if is_readable(question) else []
    if not chains:
        return question
    words = [word for match in chains for word in _WORD.findall(match.group())]
    steps = {name for word in words for way in derive_kin(kin_name(word)) for name, _ in way}
    ties = Ties(graph.select("retrieval/kin", scope.readable, relation=sorted(steps)), asked)
    for match in reversed(chains):
        question = _name_chain(question, match, ties, _find_first(match["first"] or match["whom"], scope, indexes))
    return question


def _name_chain(question: str, match: re.Match[str], ties: Ties, people: list[IRI]) -> str:
    """Return the question with the names of whom one phrase means, as far as it can be followed."""
    at, named = 0, people
    for word in _WORD.finditer(match["chain"] or ""):
        people = ties.follow(people, kin_name(word.group()))
        if people:
            at, named = match.start("chain") + word.end(), people
    if people and (last := match["last"] or match["kin"]):
        at, named = match.end(), ties.follow(people, kin_name(last)) or named
    names = [ties.names[one] for one in named if one in ties.names and ties.names[one].lower() not in question.lower()]
    return f"{question[:at]} {' '.join(names)}{question[at:]}" if at and names else question


def _find_first(first: str, scope: Scope, indexes: Indexes) -> list[IRI]:
    """Return whose sister or brother it is: the user, or who goes by a name."""
    if first.lower() in ("my", "our"):
        return [scope.user]
    name = re.sub(r"['’]s?$", "", first).casefold()
    return [indexes.nodes.iri(node) for node in indexes.labels.find(name, scope.memory_graphs)]
