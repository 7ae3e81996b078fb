"""What is wrong with a text that the engine cannot read: the place, and what stands there."""

from __future__ import annotations

from memento.errors import InputError
from memento.sparql.tokens import tokens

BEYOND = 50
"""Tokens after the place in which a prefix is looked up too: the engine goes back to where a pattern begins that it cannot read."""


def misread(sparql: str, line: int, column: int) -> InputError:
    """
    The error for a text that the engine can read no further than this place. Strings are not repeated: they may be anybody's.

    >>> misread("SELECT * { ?s ex:p 1 }", 1, 12)
    InputError('line 1, column 15 of the query: the prefix ex: is not declared; write PREFIX ex: <…> before the query')
    >>> misread("ASK { ?s ?p 1 } garbage", 1, 17)
    InputError("line 1, column 17 of the query: this is not SPARQL; 'garbage' cannot stand here")
    """
    declared: set[str] = set()
    before, wrong, beyond = "", None, 0
    for token in tokens(sparql):
        if token.kind == "name":
            prefix = token.text.partition(":")[0]
            if before == "PREFIX":
                declared.add(prefix)
            elif prefix not in declared:
                return InputError(
                    f"{token.place}: the prefix {prefix}: is not declared; write PREFIX {prefix}: <…> before the query"
                )
        if (token.line, token.column + len(token.text)) > (line, column):
            wrong, beyond = wrong or token, beyond + 1
            if beyond > BEYOND:
                break
        before = token.text.upper()
    if wrong is None:
        return InputError(f"line {line}, column {column} of the query: this is not SPARQL; it ends too early")
    what = "a string" if wrong.kind == "string" else repr(wrong.text[:60])
    return InputError(f"{wrong.place}: this is not SPARQL; {what} cannot stand here")
