"""
A text with pieces replaced, and the way back: which place of the original a place of the new text comes from.

>>> edited = Edited("ASK { a }", (Edit(6, 7, "bcd"),))
>>> edited.text
'ASK { bcd }'
>>> edited.original(1, 11), edited.original(1, 8)
((1, 9), (1, 7))
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple


class Edit(NamedTuple):
    """`text` in the place of `original[start:end]`; `cause` is where to look when something is wrong with it."""

    start: int
    end: int
    text: str
    cause: int = -1


@dataclass(frozen=True)
class Edited:
    """A text and what was done to it; edits do not overlap."""

    source: str
    edits: tuple[Edit, ...]

    @cached_property
    def text(self) -> str:
        """The text as it is now."""
        pieces, at = [], 0
        for edit in self._ordered:
            pieces += [self.source[at : edit.start], edit.text]
            at = edit.end
        return "".join([*pieces, self.source[at:]])

    def original(self, line: int, column: int) -> tuple[int, int]:
        """The line and column of the original that those of the text come from; both count from 1."""
        lines = self.text.split("\n")
        offset = sum(len(one) + 1 for one in lines[: line - 1]) + column - 1
        shift = 0
        for edit in self._ordered:
            begin = edit.start + shift
            if offset < begin:
                break
            if offset < begin + len(edit.text):
                return _place(self.source, edit.start if edit.cause < 0 else edit.cause)
            shift += len(edit.text) - (edit.end - edit.start)
        return _place(self.source, min(offset - shift, len(self.source)))

    @cached_property
    def _ordered(self) -> list[Edit]:
        return sorted(self.edits, key=lambda edit: (edit.start, edit.end))


def _place(text: str, offset: int) -> tuple[int, int]:
    before = text[:offset]
    return before.count("\n") + 1, offset - before.rfind("\n")
