"""
`SERVICE mem:asOf` as plain SPARQL: the patterns of what was true at one time as far as was believed at another.

*Guarantees:* they bind nothing that the answer would show. They keep what a recall with the same two times looks at; a test says
so.

*Because:* what has ended is a small part, and taken away as one set (MINUS) it costs 40 ms among 100,000 memories, where a look
at each (NOT EXISTS) costs 4 s; but a set cannot depend on a time that another pattern binds. At the end of its group it leaves
the engine free to begin with whatever is the fewest.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from memento.iris import MEM, TYPE, XSD
from memento.sparql.blocks import AsOf
from memento.sparql.guard import Reading

_PROJECTING = ("SELECT", "DISTINCT", "REDUCED", "DESCRIBE")
_NOW = f"<{XSD.dateTime}>(NOW())"


class Patterns(NamedTuple):
    """What stands in the place of the block, and what at the end of its group."""

    here: str
    at_end: str


def patterns(asked: AsOf, reading: Reading) -> Patterns:
    """The patterns that keep the memories of one time."""
    unused = _unused(reading)
    believed_on = asked.believed_on or _NOW
    valid_on = asked.valid_on or believed_on
    starts = [(MEM.validAt, asked.valid_on), (MEM.createdAt, asked.believed_on)]
    is_set = asked.memory[0] in "?$" and not any(at and "(" in at for _, at in starts)
    one = asked.memory
    here = [f"{one} <{TYPE}> <{MEM.Memory}> ."] if _shows_all(reading) or not is_set else []
    for predicate, at in starts:
        if at:
            begin = unused()
            told = f"{one} <{predicate}> {begin} . FILTER ({begin} <= {at})"
            here.append(f"FILTER EXISTS {{ {told} }}" if here else told)
    gone = [_ended(one, MEM.expiredAt, believed_on, unused)]
    if not asked.believed_on:
        gone.append(_ended(one, MEM.invalidAt, valid_on, unused))
    else:
        gone += _known(one, valid_on, believed_on, unused, is_set=is_set)
    if is_set:
        return Patterns(" ".join(here), " ".join(f"MINUS {{ {group} }}" for group in gone))
    return Patterns(" ".join([*here, *(f"FILTER NOT EXISTS {{ {group} }}" for group in gone)]), "")


def _ended(one: str, predicate: str, at: str, unused: Callable[[], str]) -> str:
    end = unused()
    return f"{one} <{predicate}> {end} . FILTER ({end} <= {at})"


def _known(one: str, valid_on: str, believed_on: str, unused: Callable[[], str], *, is_set: bool) -> list[str]:
    """What was over, and known to be by then: an act that ended it had been written, or none is known."""
    act, learned = unused(), unused()
    acts = f"{act} <{MEM.invalidated}> {one}"
    none = f"MINUS {{ {acts} }}" if is_set else f"FILTER NOT EXISTS {{ {acts} }}"
    told = f"{acts} ; <{MEM.at}> {learned} . FILTER ({learned} <= {believed_on})"
    return [
        f"{_ended(one, MEM.invalidAt, valid_on, unused)} {told}",
        f"{_ended(one, MEM.invalidAt, valid_on, unused)} {none}",
    ]


def _shows_all(reading: Reading) -> bool:
    """Whether the query shows every variable that it binds."""
    texts = (token.text.upper() for token in reading.tokens)
    return any(text == "*" and before in _PROJECTING for before, text in pairwise(texts))


def _unused(reading: Reading) -> Callable[[], str]:
    """Variables that a query does not have."""
    taken = {token.text[1:] for token in reading.tokens if token.kind == "variable"}
    numbers = iter(range(1_000_000))

    def unused() -> str:
        return next(f"?_{number}" for number in numbers if f"_{number}" not in taken)

    return unused
