"""
Memory inside a query: `SERVICE mem:search` becomes rows of memories, `SERVICE mem:asOf` plain patterns, and what `mem:similarity`
compares with is compared, all before the query leaves for its worker.

    SERVICE mem:search { ?memory mem:matches "Where do I live?" ; mem:score ?score }
    →  VALUES (?memory ?score) { (<urn:memento:memory:…> 0.71) (<urn:memento:memory:…> 0.42) }

*Guarantees:* text never becomes syntax: what is put in are terms as the store writes them. No SERVICE is left. Where no memory
answers, there are no rows.

*Because:* the engine joins rows quickly wherever they stand, but for two places: behind an OPTIONAL it first works that out for
every memory there is, and beside a UNION of paths too. So the rows go in front of what does not share a variable with them, and
the memories once more into each branch of a UNION that is about them; neither changes the answer. At 100,000 memories this is
1 to 5 ms instead of 10 and 80 s.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo
from typing import Protocol

from memento.errors import BackendError, InputError, SettingsError
from memento.graph.terms import to_term
from memento.iris import IRI, MEM
from memento.sparql.blocks import AsOf, Search, as_of, search
from memento.sparql.constants import Constant
from memento.sparql.edits import Edit, Edited
from memento.sparql.groups import BLOCKERS, Group, Groups
from memento.sparql.guard import Reading, Service
from memento.sparql.jobs import Table
from memento.sparql.similar import compared
from memento.sparql.times import patterns
from memento.sparql.tokens import Token

SERVICES = (MEM.search, MEM.asOf)
"""What SERVICE may name."""

MOST_TEXTS = 20
"""Questions and texts to compare with in one query: each takes a recall, or a comparison with every memory."""

MOST_BYTES = 64 << 20
"""All tables of one query: five of a million memories."""


class Memory(Protocol):
    """Whoever answers the questions inside a query, for one reader."""

    @property
    def zone(self) -> tzinfo:
        """Where a time without an offset is meant."""
        ...

    def recalled(self, question: str, asked: Search) -> Sequence[tuple[IRI, float]]:
        """Memories with their scores, best first; raises `InputError` for what recall does not take."""
        ...

    def likeness(self, asked: str, *, is_iri: bool) -> bytes:
        """What `graph.likeness` reads: how like a text, or a memory, everything is that the reader may see."""
        ...


def is_plain(reading: Reading) -> bool:
    """Whether there is nothing of memory in a query."""
    return not reading.services and MEM.similarity not in reading.functions


def rewritten(reading: Reading, memory: Memory) -> tuple[Edited, tuple[Table, ...]]:
    """
    The query as a worker may see it, without SERVICE, and the tables of its comparisons.

    Raises:
        InputError: a block or a call is not as it must be; names line, column and the right form.
        BackendError: recall failed; not from a block that says SILENT, which then gives one empty row, as the standard has it.
    """
    groups = Groups(reading.tokens)
    texts = compared(reading, groups)
    searches = {one: search(one, reading, groups, memory.zone) for one in reading.services if one.iri == MEM.search}
    count = len(texts) + sum(len(one.questions) for one in searches.values())
    if count > MOST_TEXTS:
        raise InputError(
            f"a query may have {MOST_TEXTS} questions and texts to compare with, not {count}: ask several queries"
        )
    edits: list[Edit] = []
    for service in reading.services:
        if service in searches:
            edits += _searched(service, searches[service], reading, groups, memory)
        else:
            edits += _kept(service, as_of(service, reading, groups, memory.zone), reading, groups)
    return Edited(reading.sparql, tuple(edits)), _compared(texts, memory)


def _compared(texts: Sequence[Constant], memory: Memory) -> tuple[Table, ...]:
    tables: list[Table] = []
    for one in texts:
        data = memory.likeness(one.value, is_iri=one.is_iri)
        tables.append(Table(asked=one.value, is_iri=one.is_iri, data=data))
        if sum(len(table.data) for table in tables) > MOST_BYTES:
            raise InputError(
                f"{one.token.place}: with so many memories a query may compare them with {len(tables) - 1} texts: ask several"
            )
    return tuple(tables)


def _searched(service: Service, asked: Search, reading: Reading, groups: Groups, memory: Memory) -> list[Edit]:
    try:
        rows = [
            (one, *row)
            for one in asked.questions
            for row in enumerate(_recalled(service, one, asked, reading, memory), 1)
        ]
    except BackendError:
        if service.is_silent:
            return [_in_place(service, "", reading)]
        raise
    values = [(question, rank, iri, score) for question, rank, (iri, score) in rows]
    data = " ".join(f"({_row(*one, asked)})" for one in values)
    columns = " ".join(f"?{name}" for name in asked.columns)
    place = _place_of_rows(service, asked, groups)
    edits = [
        _in_place(service, "", reading),
        Edit(place, place, f" VALUES ({columns}) {{ {data} }} ", service.start),
    ]
    memories = " ".join(dict.fromkeys(str(to_term(iri)) for _, _, iri, _ in values))
    seeds = f" VALUES ?{asked.memory} {{ {memories} }} "
    return edits + [Edit(at, at, seeds, service.start) for at in _branches(service, asked.memory, place, groups)]


def _kept(service: Service, asked: AsOf, reading: Reading, groups: Groups) -> list[Edit]:
    """The patterns of a time in the place of its block, and what they take away at the end of its group."""
    held = patterns(asked, reading)
    end = groups.tokens[_group(service, groups).closing].start
    edits = [_in_place(service, held.here, reading)]
    return [*edits, Edit(end, end, f" {held.at_end} ", service.start)] if held.at_end else edits


def _recalled(
    service: Service, question: Constant, asked: Search, reading: Reading, memory: Memory
) -> Sequence[tuple[IRI, float]]:
    try:
        return memory.recalled(question.value, asked)
    except (InputError, SettingsError) as error:  # the latter is a profile or an engine that there is not
        kind = type(error) if isinstance(error, InputError) else InputError
        raise kind(f"{reading.tokens[service.first].place}: {error}") from error


def _row(question: Constant, rank: int, iri: IRI, score: float, asked: Search) -> str:
    cells = {
        asked.question: question.written,
        asked.memory: str(to_term(iri)),
        asked.score: str(to_term(score)),
        asked.rank: str(rank),
    }
    return " ".join(cells[name] for name in asked.columns)


def _in_place(service: Service, text: str, reading: Reading) -> Edit:
    """Put some text where a block stands: patterns before and after it stay apart, and every line keeps its number."""
    found, last = reading.tokens, service.last
    before = found[service.first - 1].text if service.first else "{"
    end = service.end
    if last + 1 < len(found) and found[last + 1].text == ".":
        end = found[last + 1].end
    dot = "" if before in ("{", ".", "}") else ". "
    lines = reading.sparql[service.start : end].count("\n")
    return Edit(service.start, end, f"{dot}{text}{' ' if not lines else ''}" + lines * "\n", service.start)


def _place_of_rows(service: Service, asked: Search, groups: Groups) -> int:
    """
    Where the rows go: as far to the front of the block's group as the answer stays the same.

    They pass by an OPTIONAL, a MINUS and a BIND when each variable that both have is bound in front of it in any case.
    """
    group = _group(service, groups)
    best = groups.tokens[group.opening].end
    certain: set[str] = set()
    for begin, end in _elements(group.opening, service.first, groups):
        word = groups.tokens[begin].text.upper()
        mentioned = {token.text[1:] for token in groups.tokens[begin:end] if token.kind == "variable"}
        if word in BLOCKERS and not (mentioned & set(asked.columns)) <= certain:
            best = groups.tokens[end - 1].end
        elif word not in (*BLOCKERS, "FILTER", "VALUES"):
            certain |= _certain(begin, end, groups)
    return best


def _group(service: Service, groups: Groups) -> Group:
    number = groups.owner(service.first)
    if number < 0 or groups[number].closing < 0:
        raise InputError(f"{groups.tokens[service.first].place}: SERVICE must stand within a group {{ … }}")
    return groups[number]


def _elements(opening: int, until: int, groups: Groups) -> list[tuple[int, int]]:
    """What a group consists of, up to a place: OPTIONAL, MINUS, BIND, FILTER, VALUES and all between them, as (first, behind)."""
    found = groups.tokens
    elements: list[tuple[int, int]] = []
    begin = at = opening + 1
    while at < until:
        word = found[at].text.upper() if found[at].kind == "word" else ""
        if word in (*BLOCKERS, "FILTER", "VALUES"):
            if begin < at:
                elements.append((begin, at))
            end = _behind(at, until, found)
            elements.append((at, end))
            begin = at = end
        else:
            at = _behind(at, until, found) if found[at].text == "{" else at + 1
    if begin < until:
        elements.append((begin, until))
    return elements


def _behind(at: int, until: int, found: Sequence[Token]) -> int:
    """Behind the brackets that follow a place; of VALUES behind its braces."""
    is_data, depth = found[at].text.upper() == "VALUES", 0
    for place in range(at, until):
        text = found[place].text
        depth += {"{": 1, "(": 1, "}": -1, ")": -1}.get(text, 0)
        if depth == 0 and (text == "}" or (text == ")" and not is_data)):
            return place + 1
    return until


def _certain(begin: int, end: int, groups: Groups) -> set[str]:
    """The variables of the triples among some tokens of a group: each is bound in every answer."""
    owner = groups.owner(begin)
    depth = 0
    found: set[str] = set()
    for place in range(begin, end):
        token = groups.tokens[place]
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if depth == 0 and token.kind == "variable" and groups.owner(place) == owner:
            found.add(token.text[1:])
    return found


def _branches(service: Service, memory: str, place: int, groups: Groups) -> list[int]:
    """Where the memories are put once more: at the head of each branch of a UNION beside the rows that is surely about them."""
    places: list[int] = []
    left = [groups.owner(service.first)]
    while left:
        for number in groups[left.pop()].inner:
            group = groups[number]
            if groups.tokens[group.opening].start < place:
                continue
            if group.role in ("", "UNION") and _is_branch(number, groups):
                first = next(iter(_elements(group.opening, group.closing, groups)), (0, 0))
                if memory in _certain(*first, groups) and not _is_select(number, groups):
                    places.append(groups.tokens[group.opening].end)
            elif group.role in ("", "GRAPH") and not _is_select(number, groups):
                left.append(number)
    return places


def _is_select(number: int, groups: Groups) -> bool:
    own = groups[number].own
    return bool(own) and groups.tokens[own[0]].text.upper() == "SELECT"


def _is_branch(number: int, groups: Groups) -> bool:
    group, found = groups[number], groups.tokens
    after = found[group.closing + 1].text.upper() if group.closing + 1 < len(found) else ""
    return group.role == "UNION" or after == "UNION"
