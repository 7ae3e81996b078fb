"""
Memory inside a query: `SERVICE mem:search` becomes rows of memories, `SERVICE mem:asOf` plain patterns, and what `mem:similarity`
compares with is compared, all before the query leaves for its worker.

    SERVICE mem:search { ?memory mem:matches "Where do I live?" ; mem:score ?score }
    →  VALUES (?memory ?score) { (<urn:memento:memory:…> 0.71) (<urn:memento:memory:…> 0.42) }

*Guarantees:* text never becomes syntax: what is put in are terms as the store writes them. No SERVICE is left. Where no memory
answers, there are no rows. The patterns of a time bind nothing that the answer would show, and keep what a recall with the same two
times looks at.

*Because:* the engine joins rows quickly wherever they stand, but for two places: behind an OPTIONAL it first works that out for
every memory there is, and beside a UNION of paths too. So the rows go in front of what does not share a variable with them, and
the memories once more into each branch of a UNION that is about them; neither changes the answer. At 100,000 memories this is
1 to 5 ms instead of 10 and 80 s.

What has ended is a small part, and taken away as one set (MINUS) it costs 40 ms among 100,000 memories, where a look at each
(NOT EXISTS) costs 4 s; but a set cannot depend on a time that another pattern binds. At the end of its group it leaves the engine
free to begin with whatever is the fewest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from itertools import pairwise
from typing import NamedTuple

from memento.errors import BackendError, InputError, SettingsError
from memento.graph.terms import to_term
from memento.iris import IRI, MEM, TYPE, XSD
from memento.sparql.query.blocks import (
    BLOCKERS,
    AsOfBlock,
    Constant,
    Group,
    Groups,
    SearchBlock,
    find_binding,
    parse_as_of,
    parse_constant,
    parse_search,
)
from memento.sparql.query.guard import Reading, Service
from memento.sparql.query.tokens import Token
from memento.sparql.worker.jobs import Edit, Edited, SimilarityData

SERVICES = (MEM.search, MEM.asOf)
"""What SERVICE may name."""

MOST_TEXTS = 20
"""Questions and texts to compare with in one query: each takes a recall, or a comparison with every memory."""

MOST_BYTES = 64 << 20
"""All tables of one query: five of a million memories."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryAccess:
    """
    What answers the questions inside a query, for one reader.

    `zone` is where a time without an offset is meant. `recall` gives memories with their scores, best first, and raises
    `InputError` for what recall does not take. `compare` gives the table that `graph.similarity` reads: how like a text, or a
    memory where the second argument is True, everything is that the reader may see.
    """

    zone: tzinfo
    recall: Callable[[str, SearchBlock], Sequence[tuple[IRI, float]]]
    compare: Callable[[str, bool], bytes]


def is_without_memory(reading: Reading) -> bool:
    """Tell whether there is nothing of memory in a query."""
    return not reading.services and MEM.similarity not in reading.functions


def rewrite_query(reading: Reading, memory: MemoryAccess) -> tuple[Edited, tuple[SimilarityData, ...]]:
    """
    Rewrite a query as a worker may see it, without SERVICE; return it with the tables of its comparisons.

    Raises:
        InputError: a block or a call is not as it must be; names line, column and the right form.
        BackendError: recall failed; not from a block that says SILENT, which then gives one empty row, as the standard has it.
    """
    groups = Groups(reading.tokens)
    texts = find_compared(reading, groups)
    searches = {
        one: parse_search(one, reading, groups, memory.zone) for one in reading.services if one.iri == MEM.search
    }
    count = len(texts) + sum(len(one.questions) for one in searches.values())
    if count > MOST_TEXTS:
        raise InputError(
            f"a query may have {MOST_TEXTS} questions and texts to compare with, not {count}: ask several queries"
        )
    edits: list[Edit] = []
    for service in reading.services:
        if service in searches:
            edits += _replace_search(service, searches[service], reading, groups, memory)
        else:
            edits += _replace_as_of(service, parse_as_of(service, reading, groups, memory.zone), reading, groups)
    return Edited(reading.sparql, tuple(edits)), _build_tables(texts, memory)


def _build_tables(texts: Sequence[Constant], memory: MemoryAccess) -> tuple[SimilarityData, ...]:
    tables: list[SimilarityData] = []
    for text in texts:
        data = memory.compare(text.value, text.is_iri)
        tables.append(SimilarityData(asked=text.value, is_iri=text.is_iri, data=data))
        if sum(len(table.data) for table in tables) > MOST_BYTES:
            raise InputError(
                f"{text.token.place}: with so many memories a query may compare them with {len(tables) - 1} texts: ask several"
            )
    return tuple(tables)


def _replace_search(
    service: Service, asked: SearchBlock, reading: Reading, groups: Groups, memory: MemoryAccess
) -> list[Edit]:
    try:
        rows = [
            (one, *row)
            for one in asked.questions
            for row in enumerate(_recall(service, one, asked, reading, memory), 1)
        ]
    except BackendError:
        if service.is_silent:
            return [_replace_block(service, "", reading)]
        raise
    values = [(question, rank, iri, score) for question, rank, (iri, score) in rows]
    data = " ".join(f"({_write_row(*one, asked)})" for one in values)
    columns = " ".join(f"?{name}" for name in asked.columns)
    place = _find_place_of_rows(service, asked, groups)
    edits = [
        _replace_block(service, "", reading),
        Edit(place, place, f" VALUES ({columns}) {{ {data} }} ", service.start),
    ]
    memories = " ".join(dict.fromkeys(str(to_term(iri)) for _, _, iri, _ in values))
    seeds = f" VALUES ?{asked.memory} {{ {memories} }} "
    return edits + [Edit(at, at, seeds, service.start) for at in _find_branches(service, asked.memory, place, groups)]


def _replace_as_of(service: Service, asked: AsOfBlock, reading: Reading, groups: Groups) -> list[Edit]:
    """Return the patterns of a time in the place of its block, and what they take away at the end of its group."""
    held = as_of_patterns(asked, reading)
    end = groups.tokens[_enclosing_group(service, groups).closing].start
    edits = [_replace_block(service, held.here, reading)]
    return [*edits, Edit(end, end, f" {held.at_end} ", service.start)] if held.at_end else edits


def _recall(
    service: Service, question: Constant, asked: SearchBlock, reading: Reading, memory: MemoryAccess
) -> Sequence[tuple[IRI, float]]:
    try:
        return memory.recall(question.value, asked)
    except (InputError, SettingsError) as error:  # the latter is a profile or an engine that there is not
        kind = type(error) if isinstance(error, InputError) else InputError
        raise kind(f"{reading.tokens[service.first].place}: {error}") from error


def _write_row(question: Constant, rank: int, iri: IRI, score: float, asked: SearchBlock) -> str:
    cells = {
        asked.question: question.source_text,
        asked.memory: str(to_term(iri)),
        asked.score: str(to_term(score)),
        asked.rank: str(rank),
    }
    return " ".join(cells[name] for name in asked.columns)


def _replace_block(service: Service, text: str, reading: Reading) -> Edit:
    """Put some text where a block stands: patterns before and after it stay apart, and every line keeps its number."""
    tokens, last = reading.tokens, service.last
    before = tokens[service.first - 1].text if service.first else "{"
    end = service.end
    if last + 1 < len(tokens) and tokens[last + 1].text == ".":
        end = tokens[last + 1].end
    dot = "" if before in ("{", ".", "}") else ". "
    lines = reading.sparql[service.start : end].count("\n")
    return Edit(service.start, end, f"{dot}{text}{' ' if not lines else ''}" + lines * "\n", service.start)


def _find_place_of_rows(service: Service, asked: SearchBlock, groups: Groups) -> int:
    """
    Find where the rows go: as far to the front of the block's group as the answer stays the same.

    They pass by an OPTIONAL, a MINUS and a BIND when each variable that both have is bound in front of it in any case.
    """
    group = _enclosing_group(service, groups)
    best = groups.tokens[group.opening].end
    certain: set[str] = set()
    for begin, end in _list_elements(group.opening, service.first, groups):
        word = groups.tokens[begin].text.upper()
        mentioned = {token.text[1:] for token in groups.tokens[begin:end] if token.kind == "variable"}
        if word in BLOCKERS and not (mentioned & set(asked.columns)) <= certain:
            best = groups.tokens[end - 1].end
        elif word not in (*BLOCKERS, "FILTER", "VALUES"):
            certain |= _certain_variables(begin, end, groups)
    return best


def _enclosing_group(service: Service, groups: Groups) -> Group:
    number = groups.owner(service.first)
    if number < 0 or groups[number].closing < 0:
        raise InputError(f"{groups.tokens[service.first].place}: SERVICE must stand within a group {{ … }}")
    return groups[number]


def _list_elements(opening: int, until: int, groups: Groups) -> list[tuple[int, int]]:
    """List what a group consists of, up to a place: OPTIONAL, MINUS, BIND, FILTER, VALUES and all between, as (first, behind)."""
    tokens = groups.tokens
    elements: list[tuple[int, int]] = []
    begin = at = opening + 1
    while at < until:
        word = tokens[at].text.upper() if tokens[at].kind == "word" else ""
        if word in (*BLOCKERS, "FILTER", "VALUES"):
            if begin < at:
                elements.append((begin, at))
            end = _skip_brackets(at, until, tokens)
            elements.append((at, end))
            begin = at = end
        else:
            at = _skip_brackets(at, until, tokens) if tokens[at].text == "{" else at + 1
    if begin < until:
        elements.append((begin, until))
    return elements


def _skip_brackets(at: int, until: int, tokens: Sequence[Token]) -> int:
    """Return the place behind the brackets that follow a place; of VALUES behind its braces."""
    is_data, depth = tokens[at].text.upper() == "VALUES", 0
    for place in range(at, until):
        text = tokens[place].text
        depth += {"{": 1, "(": 1, "}": -1, ")": -1}.get(text, 0)
        if depth == 0 and (text == "}" or (text == ")" and not is_data)):
            return place + 1
    return until


def _certain_variables(begin: int, end: int, groups: Groups) -> set[str]:
    """Return the variables of the triples among some tokens of a group: each is bound in every answer."""
    owner = groups.owner(begin)
    depth = 0
    variables: set[str] = set()
    for place in range(begin, end):
        token = groups.tokens[place]
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if depth == 0 and token.kind == "variable" and groups.owner(place) == owner:
            variables.add(token.text[1:])
    return variables


def _find_branches(service: Service, memory: str, place: int, groups: Groups) -> list[int]:
    """Find where the memories are put once more: at the head of each branch of a UNION beside the rows that is about them."""
    places: list[int] = []
    left = [groups.owner(service.first)]
    while left:
        for number in groups[left.pop()].inner:
            group = groups[number]
            if groups.tokens[group.opening].start < place:
                continue
            if group.role in ("", "UNION") and _is_branch(number, groups):
                first = next(iter(_list_elements(group.opening, group.closing, groups)), (0, 0))
                if memory in _certain_variables(*first, groups) and not _is_select(number, groups):
                    places.append(groups.tokens[group.opening].end)
            elif group.role in ("", "GRAPH") and not _is_select(number, groups):
                left.append(number)
    return places


def _is_select(number: int, groups: Groups) -> bool:
    own = groups[number].own
    return bool(own) and groups.tokens[own[0]].text.upper() == "SELECT"


def _is_branch(number: int, groups: Groups) -> bool:
    group, tokens = groups[number], groups.tokens
    after = tokens[group.closing + 1].text.upper() if group.closing + 1 < len(tokens) else ""
    return group.role == "UNION" or after == "UNION"


FORM = 'mem:similarity(?memory, "text")'


def find_compared(reading: Reading, groups: Groups) -> list[Constant]:
    """
    Find what memories are compared with in a query, each once: texts, and the IRIs of memories or entities.

    Raises:
        InputError: a call with too many or too few arguments, or whose second one is no constant; names line and column.
    """
    if MEM.similarity not in reading.functions:
        return []
    compared: dict[tuple[str, bool], Constant] = {}
    for place in _find_calls(reading):
        for constant in _read_second_argument(place, reading, groups):
            compared.setdefault((constant.value, constant.is_iri), constant)
    return list(compared.values())


def _find_calls(reading: Reading) -> Iterator[int]:
    tokens = reading.tokens
    for place in range(len(tokens) - 1):
        token = tokens[place]
        if token.kind in ("iri", "name") and tokens[place + 1].text == "(" and reading.resolve(token) == MEM.similarity:
            yield place


def _read_second_argument(place: int, reading: Reading, groups: Groups) -> list[Constant]:
    """Read the values of the second argument of a call."""
    tokens, arguments = reading.tokens, [place + 2]
    depth, at = 1, place + 2
    while at < len(tokens) and depth:
        depth += {"(": 1, ")": -1}.get(tokens[at].text, 0)
        if depth == 1 and tokens[at].text == ",":
            arguments.append(at + 1)
        at += 1
    if len(arguments) != 2 or arguments[1] == len(tokens):
        raise InputError(f"{tokens[place].place}: mem:similarity takes two arguments. Write {FORM}")
    begin, end = arguments[1], at - 1
    token = tokens[begin]
    pair = parse_constant(reading, begin)
    if pair is not None and pair[1] == end:
        values = [pair[0]]
    elif token.kind == "variable" and begin + 1 == end:
        listed = find_binding(token.text[1:], place, reading, groups)
        if listed is None:
            raise InputError(
                f"{token.place}: mem:similarity compares with a constant, and {token.text} is bound to none in this group: "
                f"write the text, or BIND(… AS {token.text}) or VALUES {token.text} {{ … }} beside it. Write {FORM}"
            )
        values = listed
    else:
        raise InputError(f"{token.place}: mem:similarity compares with a constant, and no expression. Write {FORM}")
    for constant in values:
        if not (constant.is_text or constant.is_iri):
            raise InputError(f"{constant.token.place}: mem:similarity compares with a text or a memory. Write {FORM}")
    return values


_PROJECTING = ("SELECT", "DISTINCT", "REDUCED", "DESCRIBE")
_NOW = f"<{XSD.dateTime}>(NOW())"


class Patterns(NamedTuple):
    """What stands in the place of the block, and what at the end of its group."""

    here: str
    at_end: str


def as_of_patterns(asked: AsOfBlock, reading: Reading) -> Patterns:
    """Return the patterns that keep the memories of one time."""
    new_variable = _unused_variables(reading)
    believed_on = asked.believed_on or _NOW
    valid_on = asked.valid_on or believed_on
    starts = [(MEM.validAt, asked.valid_on), (MEM.createdAt, asked.believed_on)]
    is_set = asked.memory[0] in "?$" and not any(at and "(" in at for _, at in starts)
    memory = asked.memory
    here = [f"{memory} <{TYPE}> <{MEM.Memory}> ."] if _shows_all(reading) or not is_set else []
    for predicate, at in starts:
        if at:
            begin = new_variable()
            told = f"{memory} <{predicate}> {begin} . FILTER ({begin} <= {at})"
            here.append(f"FILTER EXISTS {{ {told} }}" if here else told)
    gone = [_ended_pattern(memory, MEM.expiredAt, believed_on, new_variable)]
    if not asked.believed_on:
        gone.append(_ended_pattern(memory, MEM.invalidAt, valid_on, new_variable))
    else:
        gone += _known_patterns(memory, valid_on, believed_on, new_variable, is_set=is_set)
    if is_set:
        return Patterns(" ".join(here), " ".join(f"MINUS {{ {group} }}" for group in gone))
    return Patterns(" ".join([*here, *(f"FILTER NOT EXISTS {{ {group} }}" for group in gone)]), "")


def _ended_pattern(memory: str, predicate: str, at: str, new_variable: Callable[[], str]) -> str:
    end = new_variable()
    return f"{memory} <{predicate}> {end} . FILTER ({end} <= {at})"


def _known_patterns(
    memory: str, valid_on: str, believed_on: str, new_variable: Callable[[], str], *, is_set: bool
) -> list[str]:
    """Return the patterns of what was over, and known to be by then: an act that ended it had been written, or none is known."""
    act, learned = new_variable(), new_variable()
    acts = f"{act} <{MEM.invalidated}> {memory}"
    none = f"MINUS {{ {acts} }}" if is_set else f"FILTER NOT EXISTS {{ {acts} }}"
    told = f"{acts} ; <{MEM.at}> {learned} . FILTER ({learned} <= {believed_on})"
    return [
        f"{_ended_pattern(memory, MEM.invalidAt, valid_on, new_variable)} {told}",
        f"{_ended_pattern(memory, MEM.invalidAt, valid_on, new_variable)} {none}",
    ]


def _shows_all(reading: Reading) -> bool:
    """Tell whether the query shows every variable that it binds."""
    texts = (token.text.upper() for token in reading.tokens)
    return any(text == "*" and before in _PROJECTING for before, text in pairwise(texts))


def _unused_variables(reading: Reading) -> Callable[[], str]:
    """Return a function that gives variables that the query does not have."""
    taken = {token.text[1:] for token in reading.tokens if token.kind == "variable"}
    numbers = iter(range(1_000_000))

    def new_variable() -> str:
        return next(f"?_{number}" for number in numbers if f"_{number}" not in taken)

    return new_variable
