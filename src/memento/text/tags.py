"""Find which tags of the vocabulary a text gets by its words; the patterns are in `lexicon/tags.toml`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Literal

from memento.text.sentences import LONGEST_READ
from memento.text.tables import LEXICON, Entry, Row, entries

TABLE = LEXICON / "tags.toml"


class TagRow(Row, frozen=True, kw_only=True):
    """
    A sign of a tag; the second part of its example is the tag. Whatever it matches contains one of the words of its `hint`.

    A row with `only` is used if the setting `consolidation.tag_rules` has that value.
    """

    tag: str
    hint: str
    only: Literal["", "published"] = ""


@cache
def tag_rows() -> tuple[Entry[TagRow], ...]:
    """Return the signs of tags, in the order of the file."""
    return entries(TABLE, TagRow, {}, flags=re.MULTILINE)


@cache
def _split_hint(hint: str) -> tuple[str, ...]:
    return tuple(hint.split())


def sort_by_rules(text: str, mode: str = "on", rows: Sequence[Entry[TagRow]] | None = None) -> tuple[str, ...]:
    """
    Return the tags whose signs a text has, each once; only the beginning of a long text is read.

    Args:
        mode: as the setting `consolidation.tag_rules`: "off" gives no tag; "published" uses the broad signs of the published
            design too, and gives `conversation` to a text without a sign.

    >>> sort_by_rules("USER decided to move the config into settings.toml."), sort_by_rules("USER likes tea.")
    (('decision', 'config'), ())
    >>> sort_by_rules("The architecture is hexagonal.", "published"), sort_by_rules("USER likes tea.", "published")
    (('architecture',), ('conversation',))
    """
    if mode == "off":
        return ()
    begin = text[: 2 * LONGEST_READ]
    small = begin.lower()
    used = (one for one in rows or tag_rows() if one.row.only in ("", mode))
    seen = (one for one in used if any(word in small for word in _split_hint(one.row.hint)))
    tags = tuple(dict.fromkeys(one.row.tag for one in seen if one.pattern.search(begin)))
    return tags or (("conversation",) if mode == "published" else ())
