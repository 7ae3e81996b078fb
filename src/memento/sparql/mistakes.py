"""What is wrong with a text that the engine cannot read: the place, and what stands there."""

from __future__ import annotations

from memento.errors import InputError
from memento.sparql.tokens import Token, tokens


def misread(sparql: str, line: int, column: int) -> InputError:
    """
    The error for a text that the engine can read no further than this place. Strings are not repeated: they may be anybody's.

    >>> misread("SELECT * { ?s ex:p 1 }", 1, 12)
    InputError('line 1, column 15 of the query: the prefix ex: is not declared; write PREFIX ex: <…> before the query')
    >>> misread("ASK { ?s ?p 1 } garbage", 1, 17)
    InputError("line 1, column 17 of the query: this is not SPARQL; 'garbage' cannot stand here")
    """
    found = list(tokens(sparql))
    if undeclared := _undeclared(found):
        prefix = undeclared.text.partition(":")[0]
        return InputError(
            f"{undeclared.place}: the prefix {prefix}: is not declared; write PREFIX {prefix}: <…> before the query"
        )
    token = next((one for one in found if (one.line, one.column + len(one.text)) > (line, column)), None)
    if token is None:
        return InputError(f"line {line}, column {column} of the query: this is not SPARQL; it ends too early")
    what = "a string" if token.kind == "string" else repr(token.text[:60])
    return InputError(f"{token.place}: this is not SPARQL; {what} cannot stand here")


def _undeclared(found: list[Token]) -> Token | None:
    declared: set[str] = set()
    for place, token in enumerate(found):
        if token.kind == "name":
            prefix = token.text.partition(":")[0]
            if place and found[place - 1].text.upper() == "PREFIX":
                declared.add(prefix)
            elif prefix not in declared:
                return token
    return None
