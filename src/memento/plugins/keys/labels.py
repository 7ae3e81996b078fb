"""
Clean and check the labels of keys that a caller gives: searchable texts, each once, and the type of each.

*Because:* tool descriptions are built before anything heavy is imported; nothing here needs numpy.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from memento.errors import InputError
from memento.model import KeyType
from memento.search.spellings import fold_text, is_spelt

TYPES: tuple[KeyType, ...] = ("concept", "name", "proper_noun")


def clean_keys(keys: object) -> list[str]:
    """
    Return the usable keys, each once: trimmed, searchable texts. A single text may be a JSON array of keys.

    >>> clean_keys([" Newton ", "newton", "x", 3, ""]), clean_keys('["apple", "tree"]'), clean_keys("apple")
    (['Newton'], ['apple', 'tree'], ['apple'])
    """
    if isinstance(keys, str):
        try:
            listed = json.loads(keys)
        except (ValueError, RecursionError):
            listed = None
        keys = listed if isinstance(listed, list) else [keys]
    if not isinstance(keys, Iterable):
        return []
    found: dict[str, str] = {}
    for key in keys:
        if isinstance(key, str) and is_spelt(key):
            text = " ".join(key.split())
            found.setdefault(fold_text(text), text)
    return list(found.values())


def check_types(keys: Sequence[str], types: Mapping[str, str] | None) -> dict[str, KeyType]:
    """
    Return the type of each key; `concept` where none is given.

    Raises:
        InputError: an unknown type.
    """
    given = {fold_text(key): type for key, type in (types or {}).items()}
    found: dict[str, KeyType] = {}
    for key in keys:
        asked = given.get(fold_text(key), "concept")
        match = next((type for type in TYPES if type == asked), None)
        if match is None:
            raise InputError(f"the type of a key must be one of {', '.join(TYPES)}, not {str(asked)[:40]!r}")
        found[key] = match
    return found
