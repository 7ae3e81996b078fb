"""
The groups of a query: which braces a token stands in, what a pair of braces is for, and what is in force there.

*But:* it knows braces, parentheses and a few words, and no more of the grammar: of a text that is no SPARQL it says something, and
the engine says what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from memento.sparql.tokens import Token

_BEFORE = ("OPTIONAL", "MINUS", "UNION", "WHERE", "EXISTS", "LATERAL", "CONSTRUCT")
BLOCKERS = ("OPTIONAL", "MINUS", "LATERAL", "BIND")
"""What does not commute with a join as it stands."""


@dataclass(slots=True)
class Group:
    """
    One pair of braces: the places of both, the group around it (−1 for none), and what it is.

    `role` is a word of SPARQL in front of it: OPTIONAL, MINUS, UNION, WHERE, EXISTS, LATERAL, GRAPH, SERVICE, VALUES for rows of
    data, CONSTRUCT for a template, or "" for a plain group. `own` are the places of the tokens that stand in it and in no group
    inside it, `inner` the groups inside it.
    """

    opening: int
    role: str
    around: int
    closing: int = -1
    own: list[int] = field(default_factory=list)
    inner: list[int] = field(default_factory=list)


class Groups:
    """The groups of one text. Group −1 stands for what is outside all braces."""

    def __init__(self, found: Sequence[Token]) -> None:
        self.tokens = found
        self.all: list[Group] = []
        self.outside = Group(-1, "", -1, len(found))
        self._owner: list[int] = []
        open_now: list[int] = []
        awaits_data = False
        for place, token in enumerate(found):
            here = open_now[-1] if open_now else -1
            if token.text == "{":
                self[here].inner.append(len(self.all))
                self.all.append(Group(place, "VALUES" if awaits_data else _role(found, place), here))
                open_now.append(len(self.all) - 1)
                awaits_data = False
            elif token.text == "}" and open_now:
                self.all[open_now.pop()].closing = place
                here = open_now[-1] if open_now else -1
            else:
                awaits_data = awaits_data or (token.kind == "word" and token.text.upper() == "VALUES")
                self[here].own.append(place)
            self._owner.append(here)

    def __getitem__(self, number: int) -> Group:
        return self.outside if number < 0 else self.all[number]

    def owner(self, place: int) -> int:
        """The number of the group that a token stands in; for a brace, of the group around it."""
        return self._owner[place]

    def scope(self, place: int) -> Iterator[list[int]]:
        """
        The tokens whose BIND and VALUES are in force at a place: those of its own group, and those behind the group it belongs to.

        What stands beside a WHERE, as the expressions of SELECT and ORDER BY, belongs to it.
        """
        number = self.owner(place)
        group = self[number]
        where = self._where(number)
        if where is not None:
            yield self[where].own
            yield [one for one in group.own if one > self[where].closing]
            return
        yield group.own
        if number >= 0 and (self._where(group.around) == number):
            yield [one for one in self[group.around].own if one > group.closing]

    def _where(self, number: int) -> int | None:
        """The WHERE group of the query that a group is, or that all is; None for a group that is no query."""
        group = self[number]
        if number >= 0 and not (group.own and self.tokens[group.own[0]].text.upper() == "SELECT"):
            return None
        found = [one for one in group.inner if self[one].role in ("WHERE", "", "UNION")]
        named = [one for one in found if self[one].role == "WHERE"]
        return next(iter(named or found[-1:]), None)


def _role(found: Sequence[Token], place: int) -> str:
    before = found[place - 1] if place else None
    if before is None:
        return ""
    if before.kind == "word" and before.text.upper() in _BEFORE:
        return before.text.upper()
    earlier = found[place - 2].text.upper() if place > 1 else ""
    if before.kind in ("iri", "name", "variable") and earlier in ("GRAPH", "SERVICE", "SILENT"):
        return "GRAPH" if earlier == "GRAPH" else "SERVICE"
    return ""
