"""
Names in running text, as they are spelled there: `read_names("Anna Smith of Faro met Bob.")` → Anna Smith of Faro, Bob.

*But:* names are recognised by their capitals, so a script without capitals has none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from memento.search.subjects import JOINTS, OPENERS
from memento.text.claims import words as words_of
from memento.text.words import COMMON, FIRST_NAMES, FUNCTION_WORDS, base_of

LONGEST = 8
"""Maximum number of words in a label; longer ones are headlines."""

# As in `labels.normalise_label`, but hyphens and slashes separate words too: "Sackville-West" is also written "Sackville West".
_WORD = re.compile(r"[^\s\"'“”‘’`«»,;:!?()\[\]{}\-‐‑–—/|]+")


@dataclass(frozen=True, slots=True)
class NameWords:
    """The words of a text, normalised for comparison, and the positions where a name may begin."""

    words: tuple[str, ...]
    starts: tuple[int, ...]  # ascending: positions of words that do not begin with a lower-case letter
    spans: Mapping[str, str]  # its capitalised spans and four-digit numbers, in order: label → spelling in the text


def label_of(name: str) -> str:
    """
    Return a name as a label: its words, case folded, without punctuation around them; empty if no word is left.

    >>> label_of("The Sackville-Wests, Jr."), label_of("Node.js"), label_of("…")
    ('the sackville wests jr', 'node.js', '')
    """
    folded = unicodedata.normalize("NFKC", name).casefold()
    return " ".join(word for found in _WORD.findall(folded) if (word := found.strip(".…")))


def is_telling(label: str) -> bool:
    """
    Return whether a label can name something: it is not too long, and not a single stop word.

    >>> is_telling("the who"), is_telling("the"), is_telling("paris"), is_telling("")
    (True, False, True, False)
    """
    words = label.split()
    return 1 < len(words) <= LONGEST or (len(words) == 1 and label not in OPENERS)


def is_everyday(label: str) -> bool:
    """
    Return whether a label is a single everyday word, which a capital at the beginning of a sentence does not make a name.

    >>> is_everyday("moved"), is_everyday("although"), is_everyday("lisbon"), is_everyday("ed wood")
    (True, True, False, False)
    """
    return (
        " " not in label
        and label not in FIRST_NAMES
        and (label in FUNCTION_WORDS or label in COMMON or base_of(label) is not None)
    )


def read_names(text: str) -> NameWords:
    """
    Return the words of a text and its names.

    >>> found = read_names("In 1990 Anna Smith of Faro met Bob. He left.")
    >>> sorted(found.spans), [found.words[start] for start in found.starts]
    (['1990', 'anna smith of faro', 'bob'], ['in', '1990', 'anna', 'smith', 'faro', 'bob', 'he'])
    """
    text = unicodedata.normalize("NFKC", text)
    words: list[str] = []
    starts: list[int] = []
    spans: dict[str, str] = {}
    run: list[tuple[str, str]] = []  # each word, normalised and as spelled
    end = 0
    for found in _WORD.finditer(text):
        raw = found[0]
        word = raw.strip(".…")
        if not word:
            continue
        if run and not _is_joint(text[end : found.start()]):
            _close(run, spans)
        end = found.end()
        large = not word[0].islower()
        if large:
            starts.append(len(words))
        word = word.casefold()
        if word in JOINTS if run and not large else large and not word[0].isdigit():
            run.append((word, raw))
        else:
            _close(run, spans)
            if len(word) == 4 and word.isdecimal():
                spans[word] = word
        words.append(word)
        if raw[-1] in ".…" and len(word) > 2:  # the end of a sentence, not an abbreviation such as "J. R." or "Dr."
            _close(run, spans)
    _close(run, spans)
    return NameWords(tuple(words), tuple(starts), spans)


def _is_joint(between: str) -> bool:
    return between in (" ", "-", "- ", "'", "’", "–")


def _close(run: list[tuple[str, str]], spans: dict[str, str]) -> None:
    """
    Turn a run of capitalised words into a span, without stop words at its beginning, joining words at its end, and an office: of
    "the Prime Minister of Peru" the name is Peru.
    """
    offices = (at for at in range(1, len(run)) if run[at][0] == "of" and run[at - 1][0] in words_of("posts_of_duty"))
    first = max(offices, default=0)
    while first < len(run) and (run[first][0] in OPENERS or run[first][0] in JOINTS):
        first += 1
    while len(run) > first and run[-1][0] in JOINTS:
        run.pop()
    label = " ".join(word for word, _ in run[first:])
    if label and is_telling(label):
        spans.setdefault(label, " ".join(raw for _, raw in run[first:]).rstrip(".…"))
    run.clear()


def find_longest(
    words: Sequence[str], starts: Sequence[int], limits: Mapping[str, int], is_known: Callable[[str], bool]
) -> set[str]:
    """
    Return the longest known labels, found from left to right; a word belongs to at most one of them.

    Args:
        starts: positions where a label may begin, ascending.
        limits: by the first word of a label, the word count of the longest such label.

    >>> known = {"new york", "york", "new york city"}
    >>> find_longest(("new", "york", "city", "hall"), [0, 1, 2], {"new": 3, "york": 1}, known.__contains__)
    {'new york city'}
    """
    labels: set[str] = set()
    free = 0
    for start in starts:
        if start < free:
            continue
        for n in range(min(limits.get(words[start], 0), len(words) - start), 0, -1):
            label = " ".join(words[start : start + n])
            if is_known(label):
                labels.add(label)
                free = start + n
                break
    return labels


def strip_remark(name: str) -> str:
    """
    Return a name without a remark in parentheses at its end.

    >>> strip_remark("Friends (2024)"), strip_remark("(untitled)")
    ('Friends', '(untitled)')
    """
    head, opened, rest = name.rstrip().rpartition(" (")
    return head.rstrip() if opened and head.strip() and rest.find(")") == len(rest) - 1 else name
