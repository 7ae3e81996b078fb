"""
What the blocks `SERVICE mem:search` and `SERVICE mem:asOf` ask for, read from their tokens.

    SERVICE mem:search { ?memory mem:matches "question" ; mem:score ?score ; mem:rank ?rank ; mem:limit 20 }
    SERVICE mem:asOf { ?memory mem:validOn "2026-03-01"^^xsd:date ; mem:believedOn ?then }

*Guarantees:* whatever is wrong is an `InputError` that names line and column, and what would be right.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import NoReturn

from memento.errors import InputError
from memento.iris import MEM, XSD
from memento.sparql.constants import Constant, bound, constant
from memento.sparql.groups import Groups
from memento.sparql.guard import Reading, Service
from memento.sparql.tokens import Token
from memento.time import iso, parse_time

SEARCH_FORM = 'SERVICE mem:search { ?memory mem:matches "question" ; mem:score ?score ; mem:limit 20 }'
AS_OF_FORM = 'SERVICE mem:asOf { ?memory mem:validOn "2026-03-01T00:00:00Z"^^xsd:dateTime }'

_TIMES = (XSD.dateTime, XSD.date, XSD.string, XSD.dateTimeStamp)


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """
    A block that asks for the memories that answer a question.

    `memory`, `score` and `rank` are names of variables, the last two "" where they are not asked for. Of `questions` there are
    several where VALUES binds the variable `question` to several texts; it is "" otherwise.
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
        """The variables that it binds."""
        return tuple(name for name in (self.question, self.memory, self.score, self.rank) if name)


@dataclass(frozen=True, slots=True, kw_only=True)
class AsOf:
    """A block that keeps the memories of one time: `memory`, `valid_on` and `believed_on` as SPARQL writes them, None for now."""

    memory: str
    valid_on: str | None
    believed_on: str | None


@dataclass(frozen=True, slots=True)
class _Said:
    """One predicate and its object: the object's first token, and what it is."""

    iri: str
    token: Token
    place: int
    value: Constant | None
    variable: str


@dataclass(slots=True)
class _Block:
    """The triples of a block, all of one subject."""

    form: str
    first: int  # the place of the word SERVICE
    reading: Reading
    groups: Groups
    subject: Token | None = None
    said: dict[str, _Said] = field(default_factory=dict)


def search(service: Service, reading: Reading, groups: Groups, zone: tzinfo) -> Search:
    """
    What a block of `mem:search` asks for.

    Args:
        zone: where a time without an offset is meant.
    """
    block = _read(service, reading, groups, SEARCH_FORM)
    memory = _variable_of(block)
    _known(block, "matches", "score", "rank", "limit", "asOf", "believedAt", "engine", "profile", "gate")
    matches = block.said.get(MEM.matches)
    if matches is None:
        _refuse(reading.tokens[service.first], "mem:matches is missing", block.form)
    questions = list({(one.value, one.suffix): one for one in _constants(matches, block)}.values())
    for one in questions:
        if not one.is_text:
            _refuse(one.token, "mem:matches takes a text", block.form)
    found = Search(
        memory=memory,
        questions=tuple(questions),
        question=matches.variable if len(questions) > 1 else "",
        score=_output(block.said.get(MEM.score), block),
        rank=_output(block.said.get(MEM.rank), block),
        k=_count(block.said.get(MEM.limit), block),
        as_of=_time(block.said.get(MEM.asOf), block, zone),
        believed_at=_time(block.said.get(MEM.believedAt), block, zone),
        engine=_word(block.said.get(MEM.engine), block),
        profile=_word(block.said.get(MEM.profile), block),
        gate=_flag(block.said.get(MEM.gate), block),
    )
    if len(set(found.columns)) < len(found.columns):
        _refuse(reading.tokens[service.first], "a variable stands in two places", block.form)
    return found


def as_of(service: Service, reading: Reading, groups: Groups, zone: tzinfo) -> AsOf:
    """What a block of `mem:asOf` keeps; arguments as those of `search`."""
    block = _read(service, reading, groups, AS_OF_FORM)
    assert block.subject is not None
    _known(block, "validOn", "believedOn")
    if not block.said:
        _refuse(reading.tokens[service.first], "mem:validOn is missing", block.form)
    subject = block.subject.text
    if block.subject.kind != "variable":
        subject = f"<{reading.named(block.subject)}>"
    return AsOf(
        memory=subject,
        valid_on=_instant(block.said.get(MEM.validOn), block, zone),
        believed_on=_instant(block.said.get(MEM.believedOn), block, zone),
    )


def _read(service: Service, reading: Reading, groups: Groups, form: str) -> _Block:
    """The triples of a block; BIND and VALUES in it are passed over, and looked at when a variable is."""
    block = _Block(form, service.first, reading, groups)
    found = reading.tokens
    place = service.opening + 1
    while place < service.last:
        token = found[place]
        if token.text == ".":
            place += 1
        elif token.kind == "word" and token.text.upper() in ("BIND", "VALUES"):
            place = _after(place, service, groups)
        elif token.kind == "variable" or (form is AS_OF_FORM and token.kind in ("iri", "name")):
            if block.subject is not None and block.subject.text != token.text:
                _refuse(token, "one block speaks of one memory", form)
            block.subject = token
            place = _predicates(place + 1, service, block)
        else:
            _refuse(token, f"{token.text[:40]!r} cannot stand here", form)
    if block.subject is None:
        _refuse(found[service.first], "the block is empty", form)
    return block


def _predicates(place: int, service: Service, block: _Block) -> int:
    """Read `predicate object ; predicate object …`; the place behind it."""
    found, reading = block.reading.tokens, block.reading
    while place < service.last and found[place].text not in (".", "}"):
        iri = reading.named(found[place])
        if iri is None or found[place].kind not in ("iri", "name"):
            _refuse(found[place], f"{found[place].text[:40]!r} is no property", block.form)
        if iri in block.said:
            _refuse(found[place], f"<{iri}> is given twice", block.form)
        token = found[place + 1]
        if token.kind == "variable":
            block.said[iri] = _Said(iri, token, place + 1, None, token.text[1:])
            place += 2
        elif (pair := constant(reading, place + 1)) is not None:
            block.said[iri] = _Said(iri, token, place + 1, pair[0], "")
            place = pair[1]
        else:
            _refuse(token, "this takes a constant or a variable", block.form)
        if found[place].text == ",":
            _refuse(found[place], "each property has one value", block.form)
        while found[place].text == ";":
            place += 1
    return place


def _after(place: int, service: Service, groups: Groups) -> int:
    """Behind a BIND or VALUES."""
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


def _constants(said: _Said, block: _Block) -> list[Constant]:
    """The values of a property that takes constants: one that is written there, or all that its variable is bound to."""
    if said.value is not None:
        return [said.value]
    places = (said.place, block.first)
    found = next(
        (one for place in places if (one := bound(said.variable, place, block.reading, block.groups)) is not None), None
    )
    if found is None:
        name = said.iri.rsplit("/", 1)[-1]
        _refuse(
            said.token,
            f"mem:{name} takes a constant, and {said.token.text} is bound to none in this group: write the value, "
            f"or BIND(… AS {said.token.text}) or VALUES {said.token.text} {{ … }} beside it; a value from the graph cannot be used",
            block.form,
        )
    return found


def _single(said: _Said, block: _Block) -> Constant:
    found = _constants(said, block)
    if len(found) != 1:
        _refuse(said.token, f"this takes one value, and {said.token.text} is bound to {len(found)}", block.form)
    return found[0]


def _output(said: _Said | None, block: _Block) -> str:
    if said is None:
        return ""
    if not said.variable:
        _refuse(said.token, "this takes a variable, to be filtered by", block.form)
    return said.variable


def _count(said: _Said | None, block: _Block) -> int | None:
    if said is None:
        return None
    found = _single(said, block)
    if found.datatype != XSD.integer:
        _refuse(said.token, "mem:limit takes a whole number", block.form)
    return int(found.value)


def _word(said: _Said | None, block: _Block) -> str | None:
    if said is None:
        return None
    found = _single(said, block)
    if not found.is_text:
        _refuse(said.token, "this takes a text", block.form)
    return found.value


def _flag(said: _Said | None, block: _Block) -> bool | None:
    if said is None:
        return None
    found = _single(said, block)
    if found.datatype != XSD.boolean:
        _refuse(said.token, "mem:gate takes true or false", block.form)
    return found.value in ("true", "1")


def _time(said: _Said | None, block: _Block, zone: tzinfo) -> datetime | None:
    if said is None:
        return None
    found = _single(said, block)
    if found.datatype not in _TIMES:
        _refuse(said.token, "this takes a time", block.form)
    try:
        return parse_time(found.value, "the time", zone)
    except InputError as error:
        raise InputError(f"{said.token.place}: {error}") from error


def _instant(said: _Said | None, block: _Block, zone: tzinfo) -> str | None:
    """A time as SPARQL compares it: a constant in UTC; a variable is cast, so that a date is its first instant."""
    if said is None:
        return None
    if said.variable:
        return f"<{XSD.dateTime}>(?{said.variable})"
    at = _time(said, block, zone)
    return None if at is None else f'"{iso(at)}"^^<{XSD.dateTime}>'


def _known(block: _Block, *names: str) -> None:
    for iri, said in block.said.items():
        if iri not in {MEM[name] for name in names}:
            name = f"mem:{iri[len(MEM.base) :]}" if iri.startswith(MEM.base) else f"<{iri}>"
            known = ", ".join(f"mem:{name}" for name in names)
            why = f"{name} is not known here, only {known}: put other patterns outside the block"
            _refuse(block.reading.tokens[said.place - 1], why, block.form)


def _refuse(token: Token, why: str, form: str) -> NoReturn:
    raise InputError(f"{token.place}: {why}. Write {form}")
