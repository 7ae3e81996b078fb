"""
Memory inside a query: before the query goes to its worker, `SERVICE mem:search` becomes rows of memories, `SERVICE mem:asOf`
becomes plain patterns, and the comparisons of `mem:similarity` are computed.

    SERVICE mem:search { ?memory mem:matches "Where do I live?" ; mem:score ?score }
    →  VALUES (?memory ?score) { (<urn:memento:memory:…> 0.71) (<urn:memento:memory:…> 0.42) }

A constant in a block is a string, a number, true or false, or an IRI: either written out, or a variable that `BIND` or `VALUES` of
the same group binds to one.

*Guarantees:* every fault in a block is an `InputError` with line, column and the correct form. Text never becomes syntax: what is
inserted are terms as the store writes them. No SERVICE is left. If no memory matches, there are no rows. The patterns of a time
bind nothing that the answer would show, and keep the memories that a recall with the same two times considers.

*But:* groups know braces, parentheses and a few words, not the rest of the grammar: for a text that is not SPARQL they return
something, and the engine reports what is wrong with it.

*Because:* the engine joins rows quickly wherever they are, with two exceptions: after an OPTIONAL, which it first evaluates for
every memory, and beside a UNION of paths. So the rows go in front of everything that shares no variable with them, and the memories
are repeated in each branch of a UNION about them; neither changes the answer. At 100,000 memories this takes 1 to 5 ms instead of
10 and 80 s.

Few memories have ended. Removing them as one set (MINUS) costs 40 ms among 100,000 memories, checking each memory (NOT EXISTS) 4 s;
but a set cannot depend on a time that another pattern binds. At the end of its group it leaves the engine free to start with the
smallest set.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from itertools import pairwise
from typing import NamedTuple, NoReturn

from memento.errors import BackendError, InputError, SettingsError
from memento.graph.terms import to_term
from memento.iris import IRI, MEM, TYPE, XSD
from memento.sparql.guard import Reading, Service, Token
from memento.sparql.jobs import Edit, Edited, SimilarityData
from memento.time import iso, parse_time

SEARCH_FORM = 'SERVICE mem:search { ?memory mem:matches "question" ; mem:score ?score ; mem:limit 20 }'
AS_OF_FORM = 'SERVICE mem:asOf { ?memory mem:validOn "2026-03-01T00:00:00Z"^^xsd:dateTime }'

_TIMES = (XSD.dateTime, XSD.date, XSD.string, XSD.dateTimeStamp)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchBlock:
    """
    A block that asks for the memories that answer a question.

    `memory`, `score` and `rank` are names of variables, the last two "" if they are not requested. There are several `questions` if
    VALUES binds the variable `question` to several texts; otherwise it is "".
    """

    memory: str
    questions: tuple[Constant, ...]
    question: str = ""
    score: str = ""
    rank: str = ""
    k: int | None = None
    as_of: datetime | None = None
    believed_at: datetime | None = None
    engine: str | None = None
    profile: str | None = None
    gate: bool | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The variables that the block binds."""
        return tuple(name for name in (self.question, self.memory, self.score, self.rank) if name)


@dataclass(frozen=True, slots=True, kw_only=True)
class AsOfBlock:
    """A block that keeps the memories of one time: `memory`, and `valid_on` and `believed_on` in SPARQL syntax, None for now."""

    memory: str
    valid_on: str | None
    believed_on: str | None


@dataclass(frozen=True, slots=True)
class _Statement:
    """One predicate and its object: the object's first token, and its kind."""

    iri: str
    token: Token
    place: int
    value: Constant | None
    variable: str


@dataclass(slots=True)
class _Block:
    """The triples of a block, all of one subject."""

    form: str
    first: int  # the position of the word SERVICE
    reading: Reading
    groups: Groups
    subject: Token | None = None
    statements: dict[str, _Statement] = field(default_factory=dict)


def parse_search(service: Service, reading: Reading, groups: Groups, zone: tzinfo) -> SearchBlock:
    """
    Read the parameters of a `mem:search` block.

    Args:
        zone: the time zone of times without an offset.
    """
    block = _parse_block(service, reading, groups, SEARCH_FORM)
    memory = _variable_of(block)
    _raise_if_unknown(block, "matches", "score", "rank", "limit", "asOf", "believedAt", "engine", "profile", "gate")
    matches = block.statements.get(MEM.matches)
    if matches is None:
        _refuse_block(reading.tokens[service.first], "mem:matches is missing", block.form)
    questions = list(
        {(question.value, question.suffix): question for question in _read_constants(matches, block)}.values()
    )
    for question in questions:
        if not question.is_text:
            _refuse_block(question.token, "mem:matches takes a text", block.form)
    search = SearchBlock(
        memory=memory,
        questions=tuple(questions),
        question=matches.variable if len(questions) > 1 else "",
        score=_read_variable(block.statements.get(MEM.score), block),
        rank=_read_variable(block.statements.get(MEM.rank), block),
        k=_read_count(block.statements.get(MEM.limit), block),
        as_of=_read_time(block.statements.get(MEM.asOf), block, zone),
        believed_at=_read_time(block.statements.get(MEM.believedAt), block, zone),
        engine=_read_word(block.statements.get(MEM.engine), block),
        profile=_read_word(block.statements.get(MEM.profile), block),
        gate=_read_flag(block.statements.get(MEM.gate), block),
    )
    if len(set(search.columns)) < len(search.columns):
        _refuse_block(reading.tokens[service.first], "a variable stands in two places", block.form)
    return search


def parse_as_of(service: Service, reading: Reading, groups: Groups, zone: tzinfo) -> AsOfBlock:
    """Read the parameters of a `mem:asOf` block; arguments as for `parse_search`."""
    block = _parse_block(service, reading, groups, AS_OF_FORM)
    assert block.subject is not None
    _raise_if_unknown(block, "validOn", "believedOn")
    if not block.statements:
        _refuse_block(reading.tokens[service.first], "mem:validOn is missing", block.form)
    subject = block.subject.text
    if block.subject.kind != "variable":
        subject = f"<{reading.resolve(block.subject)}>"
    return AsOfBlock(
        memory=subject,
        valid_on=_write_time(block.statements.get(MEM.validOn), block, zone),
        believed_on=_write_time(block.statements.get(MEM.believedOn), block, zone),
    )


def _parse_block(service: Service, reading: Reading, groups: Groups, form: str) -> _Block:
    """Read the triples of a block; skip its BIND and VALUES, which are read when a variable is looked up."""
    block = _Block(form, service.first, reading, groups)
    tokens = reading.tokens
    place = service.opening + 1
    while place < service.last:
        token = tokens[place]
        if token.text == ".":
            place += 1
        elif token.kind == "word" and token.text.upper() in ("BIND", "VALUES"):
            place = _skip_clause(place, service, groups)
        elif token.kind == "variable" or (form is AS_OF_FORM and token.kind in ("iri", "name")):
            if block.subject is not None and block.subject.text != token.text:
                _refuse_block(token, "one block speaks of one memory", form)
            block.subject = token
            place = _parse_statements(place + 1, service, block)
        else:
            _refuse_block(token, f"{token.text[:40]!r} cannot stand here", form)
    if block.subject is None:
        _refuse_block(tokens[service.first], "the block is empty", form)
    return block


def _parse_statements(place: int, service: Service, block: _Block) -> int:
    """Read `predicate object ; predicate object …`; return the position after it."""
    tokens, reading = block.reading.tokens, block.reading
    while place < service.last and tokens[place].text not in (".", "}"):
        iri = reading.resolve(tokens[place])
        if iri is None or tokens[place].kind not in ("iri", "name"):
            _refuse_block(tokens[place], f"{tokens[place].text[:40]!r} is no property", block.form)
        if iri in block.statements:
            _refuse_block(tokens[place], f"<{iri}> is given twice", block.form)
        token = tokens[place + 1]
        if token.kind == "variable":
            block.statements[iri] = _Statement(iri, token, place + 1, None, token.text[1:])
            place += 2
        elif (pair := parse_constant(reading, place + 1)) is not None:
            block.statements[iri] = _Statement(iri, token, place + 1, pair[0], "")
            place = pair[1]
        else:
            _refuse_block(token, "this takes a constant or a variable", block.form)
        if tokens[place].text == ",":
            _refuse_block(tokens[place], "each property has one value", block.form)
        while tokens[place].text == ";":
            place += 1
    return place


def _skip_clause(place: int, service: Service, groups: Groups) -> int:
    """Return the position after a BIND or VALUES."""
    depth, is_open = 0, False
    for at in range(place, service.last):
        text = groups.tokens[at].text
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(text, 0)
        is_open = is_open or text in ("{", "(")
        ends = text == "}" if groups.tokens[place].text.upper() == "VALUES" else text == ")"
        if is_open and depth == 0 and ends:
            return at + 1
    return service.last


def _variable_of(block: _Block) -> str:
    assert block.subject is not None
    return block.subject.text[1:]


def _read_constants(statement: _Statement, block: _Block) -> list[Constant]:
    """Return the values of a property that takes constants: the one written there, or all that its variable is bound to."""
    if statement.value is not None:
        return [statement.value]
    places = (statement.place, block.first)
    constants = next(
        (
            listed
            for place in places
            if (listed := find_binding(statement.variable, place, block.reading, block.groups)) is not None
        ),
        None,
    )
    if constants is None:
        name, variable = statement.iri.rsplit("/", 1)[-1], statement.token.text
        _refuse_block(
            statement.token,
            f"mem:{name} takes a constant, and {variable} is bound to none in this group: write the value, "
            f"or BIND(… AS {variable}) or VALUES {variable} {{ … }} beside it; a value from the graph cannot be used",
            block.form,
        )
    return constants


def _read_constant(statement: _Statement, block: _Block) -> Constant:
    constants = _read_constants(statement, block)
    if len(constants) != 1:
        _refuse_block(
            statement.token,
            f"this takes one value, and {statement.token.text} is bound to {len(constants)}",
            block.form,
        )
    return constants[0]


def _read_variable(statement: _Statement | None, block: _Block) -> str:
    if statement is None:
        return ""
    if not statement.variable:
        _refuse_block(statement.token, "this takes a variable, to be filtered by", block.form)
    return statement.variable


def _read_count(statement: _Statement | None, block: _Block) -> int | None:
    if statement is None:
        return None
    constant = _read_constant(statement, block)
    if constant.datatype != XSD.integer:
        _refuse_block(statement.token, "mem:limit takes a whole number", block.form)
    return int(constant.value)


def _read_word(statement: _Statement | None, block: _Block) -> str | None:
    if statement is None:
        return None
    constant = _read_constant(statement, block)
    if not constant.is_text:
        _refuse_block(statement.token, "this takes a text", block.form)
    return constant.value


def _read_flag(statement: _Statement | None, block: _Block) -> bool | None:
    if statement is None:
        return None
    constant = _read_constant(statement, block)
    if constant.datatype != XSD.boolean:
        _refuse_block(statement.token, "mem:gate takes true or false", block.form)
    return constant.value in ("true", "1")


def _read_time(statement: _Statement | None, block: _Block, zone: tzinfo) -> datetime | None:
    if statement is None:
        return None
    constant = _read_constant(statement, block)
    if constant.datatype not in _TIMES:
        _refuse_block(statement.token, "this takes a time", block.form)
    try:
        return parse_time(constant.value, "the time", zone)
    except InputError as error:
        raise InputError(f"{statement.token.position}: {error}") from error


def _write_time(statement: _Statement | None, block: _Block, zone: tzinfo) -> str | None:
    """
    Return a time in a form that SPARQL can compare: a constant in UTC; a variable is cast, so that a date is its first instant.
    """
    if statement is None:
        return None
    if statement.variable:
        return f"<{XSD.dateTime}>(?{statement.variable})"
    at = _read_time(statement, block, zone)
    return None if at is None else f'"{iso(at)}"^^<{XSD.dateTime}>'


def _raise_if_unknown(block: _Block, *names: str) -> None:
    for iri, statement in block.statements.items():
        if iri not in {MEM[name] for name in names}:
            name = f"mem:{iri[len(MEM.base) :]}" if iri.startswith(MEM.base) else f"<{iri}>"
            known = ", ".join(f"mem:{name}" for name in names)
            why = f"{name} is not known here, only {known}: put other patterns outside the block"
            _refuse_block(block.reading.tokens[statement.place - 1], why, block.form)


def _refuse_block(token: Token, why: str, form: str) -> NoReturn:
    raise InputError(f"{token.position}: {why}. Write {form}")


_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")


@dataclass(frozen=True, slots=True)
class Constant:
    """
    A literal's text and the IRI of its datatype, or an IRI, which has none.

    `source_text` is its form in the query, `token` its first token.
    """

    value: str
    datatype: str | None
    source_text: str
    token: Token

    @property
    def suffix(self) -> str:
        """The language or datatype that follows the text of a string."""
        return self.source_text[len(self.token.text) :].strip()

    @property
    def is_iri(self) -> bool:
        return self.datatype is None

    @property
    def is_text(self) -> bool:
        """Whether it is a string, with or without a language."""
        return self.datatype == XSD.string


def parse_constant(reading: Reading, place: int) -> tuple[Constant, int] | None:
    """Read the constant that begins with a token; return it and the position after it, None if there is no constant."""
    tokens = reading.tokens
    if place >= len(tokens):
        return None
    token = tokens[place]
    sign = ""
    if token.text in ("+", "-") and place + 1 < len(tokens) and tokens[place + 1].kind == "number":
        sign, place = token.text, place + 1
    kind, text = tokens[place].kind, tokens[place].text
    last = place
    datatype: str | None = None
    if kind in ("iri", "name"):
        value = reading.resolve(tokens[place])
        if value is None:
            return None
    elif kind == "string":
        value, datatype, last = *_parse_string(reading, place), place + _count_string_tokens(reading, place) - 1
    elif kind == "number":
        value = sign + text
        datatype = XSD.integer if text.isdecimal() else XSD.double if "e" in text.lower() else XSD.decimal
    elif kind == "word" and text.lower() in ("true", "false"):
        value, datatype = text.lower(), XSD.boolean
    else:
        return None
    return Constant(value, datatype, reading.sparql[token.start : tokens[last].end], token), last + 1


def unescape(text: str) -> str:
    r"""
    Return the text of a string token.

    >>> unescape(r"'''it\'s \u00e9'''")
    "it's é"
    """
    width = 3 if text.startswith(('"""', "'''")) else 1
    return _ESCAPE.sub(_decode_escape, text[width:-width])


def find_binding(name: str, place: int, reading: Reading, groups: Groups) -> list[Constant] | None:
    """
    Return the constants that BIND or VALUES in the group of a token bind a variable to, in order; None if it is bound otherwise.

    Args:
        name: of the variable, without its mark.
    """
    for around in groups.scope(place):
        if (constants := _find_binding_in(name, around, reading)) is not None:
            return constants
    return None


def _find_binding_in(name: str, places: Sequence[int], reading: Reading) -> list[Constant] | None:
    tokens = reading.tokens
    for at in places:
        word = tokens[at].text.upper() if tokens[at].kind == "word" else ""
        if word == "BIND" and (pair := parse_constant(reading, at + 2)) is not None:
            constant, after = pair
            named = [token.text for token in tokens[after : after + 2]]
            if len(named) == 2 and named[0].upper() == "AS" and named[1][1:] == name:
                return [constant]
        elif word == "VALUES" and (rows := _read_column(name, at, reading)) is not None:
            return rows
    return None


def _read_column(name: str, at: int, reading: Reading) -> list[Constant] | None:
    """Return the constants of one column of the VALUES at a place; None if it has no such column, or UNDEF in it."""
    tokens = reading.tokens
    opening = next((place for place in range(at, len(tokens)) if tokens[place].text == "{"), len(tokens))
    columns = [token.text[1:] for token in tokens[at + 1 : opening] if token.kind == "variable"]
    if name not in columns:
        return None
    values: list[Constant | None] = []
    place = opening + 1
    while place < len(tokens) and tokens[place].text != "}":
        if tokens[place].text in ("(", ")"):
            place += 1
        elif pair := parse_constant(reading, place):
            values.append(pair[0])
            place = pair[1]
        else:  # UNDEF
            values.append(None)
            place += 1
    column = values[columns.index(name) :: len(columns)]
    return None if None in column else [one for one in column if one is not None]


def _parse_string(reading: Reading, place: int) -> tuple[str, str]:
    tokens = reading.tokens
    value = unescape(tokens[place].text)
    if place + 2 < len(tokens) and tokens[place + 1].text == "^^":
        return value, reading.resolve(tokens[place + 2]) or ""
    return value, XSD.string


def _count_string_tokens(reading: Reading, place: int) -> int:
    """Return the number of tokens of a string with its language or datatype."""
    after = reading.tokens[place + 1] if place + 1 < len(reading.tokens) else None
    if after is not None and after.text == "^^":
        return 3
    return 2 if after is not None and after.kind == "tag" else 1


def _decode_escape(escape: re.Match[str]) -> str:
    if digits := escape.group(1) or escape.group(2):
        code = int(digits, 16)
        return chr(code) if code < 0x110000 else "\ufffd"
    return _ESCAPES[escape.group(3)]


_BEFORE = ("OPTIONAL", "MINUS", "UNION", "WHERE", "EXISTS", "LATERAL", "CONSTRUCT")
BLOCKERS = ("OPTIONAL", "MINUS", "LATERAL", "BIND")
"""Elements that do not commute with a join."""


@dataclass(slots=True)
class Group:
    """
    One pair of braces: the positions of both, the group around it (−1 for none), and its kind.

    `role` is the word of SPARQL in front of it: OPTIONAL, MINUS, UNION, WHERE, EXISTS, LATERAL, GRAPH, SERVICE, VALUES for rows of
    data, CONSTRUCT for a template, or "" for a plain group. `own` are the positions of its tokens without those of inner groups,
    `inner` the groups inside it.
    """

    opening: int
    role: str
    around: int
    closing: int = -1
    own: list[int] = field(default_factory=list)
    inner: list[int] = field(default_factory=list)


class Groups:
    """The groups of one text. Group −1 is everything outside of braces."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.all: list[Group] = []
        self.outside = Group(-1, "", -1, len(tokens))
        self._owner: list[int] = []
        open_now: list[int] = []
        awaits_data = False
        for place, token in enumerate(tokens):
            here = open_now[-1] if open_now else -1
            if token.text == "{":
                self[here].inner.append(len(self.all))
                self.all.append(Group(place, "VALUES" if awaits_data else _role(tokens, place), here))
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

    def group_of(self, place: int) -> int:
        """Return the number of the group of a token; for a brace, of the group around it."""
        return self._owner[place]

    def scope(self, place: int) -> Iterator[list[int]]:
        """
        Yield the tokens whose BIND and VALUES apply at a place: those of its group, and those after it in the group around it.

        Whatever is beside a WHERE, such as the expressions of SELECT and ORDER BY, belongs to it.
        """
        number = self.group_of(place)
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
        """Return the WHERE group of a subquery, or of the whole query; None for a group that is not a query."""
        group = self[number]
        if number >= 0 and not (group.own and self.tokens[group.own[0]].text.upper() == "SELECT"):
            return None
        candidates = [one for one in group.inner if self[one].role in ("WHERE", "", "UNION")]
        named = [one for one in candidates if self[one].role == "WHERE"]
        return next(iter(named or candidates[-1:]), None)


def _role(tokens: Sequence[Token], place: int) -> str:
    before = tokens[place - 1] if place else None
    if before is None:
        return ""
    if before.kind == "word" and before.text.upper() in _BEFORE:
        return before.text.upper()
    earlier = tokens[place - 2].text.upper() if place > 1 else ""
    if before.kind in ("iri", "name", "variable") and earlier in ("GRAPH", "SERVICE", "SILENT"):
        return "GRAPH" if earlier == "GRAPH" else "SERVICE"
    return ""


SERVICES = (MEM.search, MEM.asOf)
"""The IRIs that SERVICE may name."""

MOST_TEXTS = 20
"""Questions and texts to compare with in one query: each takes a recall, or a comparison with every memory."""

MOST_BYTES = 64 << 20
"""Bytes of all tables of one query: five tables of a million memories."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryAccess:
    """
    Answers the questions inside a query, for one reader.

    `zone` is the time zone of times without an offset. `recall` returns memories with their scores, best first, and raises
    `InputError` for parameters that recall does not accept. `compare` returns the table that `graph.similarity` reads: how similar
    everything that the reader can see is to a text, or, if the second argument is True, to a memory.
    """

    zone: tzinfo
    recall: Callable[[str, SearchBlock], Sequence[tuple[IRI, float]]]
    compare: Callable[[str, bool], bytes]


def is_without_memory(reading: Reading) -> bool:
    """Tell whether a query does not use memory."""
    return not reading.services and MEM.similarity not in reading.functions


def rewrite_query(reading: Reading, memory: MemoryAccess) -> tuple[Edited, tuple[SimilarityData, ...]]:
    """
    Rewrite a query into one without SERVICE, which a worker may get; return it with the tables of its comparisons.

    Raises:
        InputError: a block or a call is wrong; names line, column and the correct form.
        BackendError: recall failed; for a block that says SILENT, the result is one empty row instead, as the standard requires.
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
                f"{text.token.position}: with so many memories a query may compare them with {len(tables) - 1} texts: ask several"
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
    """Return the patterns that replace the block of a time, and the removal at the end of its group."""
    held = as_of_patterns(asked, reading)
    end = groups.tokens[_enclosing_group(service, groups).closing].start
    edits = [_replace_block(service, held.here, reading)]
    return [*edits, Edit(end, end, f" {held.at_end} ", service.start)] if held.at_end else edits


def _recall(
    service: Service, question: Constant, asked: SearchBlock, reading: Reading, memory: MemoryAccess
) -> Sequence[tuple[IRI, float]]:
    try:
        return memory.recall(question.value, asked)
    except (InputError, SettingsError) as error:  # the latter for an unknown profile or engine
        kind = type(error) if isinstance(error, InputError) else InputError
        raise kind(f"{reading.tokens[service.first].position}: {error}") from error


def _write_row(question: Constant, rank: int, iri: IRI, score: float, asked: SearchBlock) -> str:
    cells = {
        asked.question: question.source_text,
        asked.memory: str(to_term(iri)),
        asked.score: str(to_term(score)),
        asked.rank: str(rank),
    }
    return " ".join(cells[name] for name in asked.columns)


def _replace_block(service: Service, text: str, reading: Reading) -> Edit:
    """Replace a block by a text; keep the patterns before and after it separate, and the number of every line."""
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
    Find where the rows go: as far to the front of the block's group as possible without changing the answer.

    They may move before an OPTIONAL, a MINUS or a BIND if each shared variable is certainly bound before it.
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
    number = groups.group_of(service.first)
    if number < 0 or groups[number].closing < 0:
        raise InputError(f"{groups.tokens[service.first].position}: SERVICE must stand within a group {{ … }}")
    return groups[number]


def _list_elements(opening: int, until: int, groups: Groups) -> list[tuple[int, int]]:
    """List the elements of a group up to a place: OPTIONAL, MINUS, BIND, FILTER, VALUES and what is between, as (first, end)."""
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
    """Return the position after the brackets that follow a place; for VALUES, after its braces."""
    is_data, depth = tokens[at].text.upper() == "VALUES", 0
    for place in range(at, until):
        text = tokens[place].text
        depth += {"{": 1, "(": 1, "}": -1, ")": -1}.get(text, 0)
        if depth == 0 and (text == "}" or (text == ")" and not is_data)):
            return place + 1
    return until


def _certain_variables(begin: int, end: int, groups: Groups) -> set[str]:
    """Return the variables of the triples among some tokens of a group: each is bound in every solution."""
    owner = groups.group_of(begin)
    depth = 0
    variables: set[str] = set()
    for place in range(begin, end):
        token = groups.tokens[place]
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if depth == 0 and token.kind == "variable" and groups.group_of(place) == owner:
            variables.add(token.text[1:])
    return variables


def _find_branches(service: Service, memory: str, place: int, groups: Groups) -> list[int]:
    """Find where the memories are repeated: at the head of each branch of a UNION about them beside the rows."""
    places: list[int] = []
    left = [groups.group_of(service.first)]
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
    Find what a query compares memories with, each once: texts, and the IRIs of memories or entities.

    Raises:
        InputError: a call with too many or too few arguments, or with a second one that is not constant; names line and column.
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
        raise InputError(f"{tokens[place].position}: mem:similarity takes two arguments. Write {FORM}")
    begin, end = arguments[1], at - 1
    token = tokens[begin]
    pair = parse_constant(reading, begin)
    if pair is not None and pair[1] == end:
        values = [pair[0]]
    elif token.kind == "variable" and begin + 1 == end:
        listed = find_binding(token.text[1:], place, reading, groups)
        if listed is None:
            raise InputError(
                f"{token.position}: mem:similarity compares with a constant, and {token.text} is bound to none in this group: "
                f"write the text, or BIND(… AS {token.text}) or VALUES {token.text} {{ … }} beside it. Write {FORM}"
            )
        values = listed
    else:
        raise InputError(f"{token.position}: mem:similarity compares with a constant, and no expression. Write {FORM}")
    for constant in values:
        if not (constant.is_text or constant.is_iri):
            raise InputError(
                f"{constant.token.position}: mem:similarity compares with a text or a memory. Write {FORM}"
            )
    return values


_PROJECTING = ("SELECT", "DISTINCT", "REDUCED", "DESCRIBE")
_NOW = f"<{XSD.dateTime}>(NOW())"


class Patterns(NamedTuple):
    """The patterns that replace the block, and those at the end of its group."""

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
    is_hidden = _shows_all(reading) or not is_set
    here = [f"{memory} <{TYPE}> <{MEM.Memory}> ."]  # claims have the same times
    for predicate, at in starts:
        if at:
            begin = new_variable()
            told = f"{memory} <{predicate}> {begin} . FILTER ({begin} <= {at})"
            here.append(f"FILTER EXISTS {{ {told} }}" if is_hidden else told)
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
    """Return the patterns of what had ended, and was known to have: an act that ended it was written by then, or none is known."""
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
    """Return a function that returns variables that the query does not use."""
    taken = {token.text[1:] for token in reading.tokens if token.kind == "variable"}
    numbers = iter(range(1_000_000))

    def new_variable() -> str:
        return next(f"?_{number}" for number in numbers if f"_{number}" not in taken)

    return new_variable
