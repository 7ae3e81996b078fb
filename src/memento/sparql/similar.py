"""The calls of `mem:similarity(?memory, "text")` in a query, and the texts and nodes that something is compared with."""

from __future__ import annotations

from collections.abc import Iterator

from memento.errors import InputError
from memento.iris import MEM
from memento.sparql.constants import Constant, bound, constant
from memento.sparql.groups import Groups
from memento.sparql.guard import Reading

FORM = 'mem:similarity(?memory, "text")'


def compared(reading: Reading, groups: Groups) -> list[Constant]:
    """
    What memories are compared with in a query, each once: texts, and the IRIs of memories or entities.

    Raises:
        InputError: a call with too many or too few arguments, or whose second one is no constant; names line and column.
    """
    if MEM.similarity not in reading.functions:
        return []
    found: dict[tuple[str, bool], Constant] = {}
    for place in _calls(reading):
        for one in _second(place, reading, groups):
            found.setdefault((one.value, one.is_iri), one)
    return list(found.values())


def _calls(reading: Reading) -> Iterator[int]:
    found = reading.tokens
    for place in range(len(found) - 1):
        token = found[place]
        if token.kind in ("iri", "name") and found[place + 1].text == "(" and reading.named(token) == MEM.similarity:
            yield place


def _second(place: int, reading: Reading, groups: Groups) -> list[Constant]:
    """The values of the second argument of a call."""
    found, arguments = reading.tokens, [place + 2]
    depth, at = 1, place + 2
    while at < len(found) and depth:
        depth += {"(": 1, ")": -1}.get(found[at].text, 0)
        if depth == 1 and found[at].text == ",":
            arguments.append(at + 1)
        at += 1
    if len(arguments) != 2 or arguments[1] == len(found):
        raise InputError(f"{found[place].place}: mem:similarity takes two arguments. Write {FORM}")
    begin, end = arguments[1], at - 1
    token = found[begin]
    pair = constant(reading, begin)
    if pair is not None and pair[1] == end:
        values = [pair[0]]
    elif token.kind == "variable" and begin + 1 == end:
        listed = bound(token.text[1:], place, reading, groups)
        if listed is None:
            raise InputError(
                f"{token.place}: mem:similarity compares with a constant, and {token.text} is bound to none in this group: "
                f"write the text, or BIND(… AS {token.text}) or VALUES {token.text} {{ … }} beside it. Write {FORM}"
            )
        values = listed
    else:
        raise InputError(f"{token.place}: mem:similarity compares with a constant, and no expression. Write {FORM}")
    for one in values:
        if not (one.is_text or one.is_iri):
            raise InputError(f"{one.token.place}: mem:similarity compares with a text or a memory. Write {FORM}")
    return values
