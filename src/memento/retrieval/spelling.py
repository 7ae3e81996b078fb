"""
A question without its slips of the pen: a word that nobody knows is read as the known word one letter away.

*But:* one slip in a word, not in its first letter, in the letters a to z; what the embedder has as a whole word is never touched,
so a slip that makes another word stays.

*Source:* the four edits are those of Damerau 1964, "A technique for computer detection and correction of spelling errors".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from string import ascii_lowercase

from memento.search.words import STOP_WORDS, tokens

SHORTEST = 4
"""Letters of a word that is mended: shorter ones have too many neighbours."""

_WORD = re.compile(r"[A-Za-z]+")


def mended(question: str, is_word: Callable[[str], bool], frequency: Callable[[str], int]) -> str:
    """
    The question with each unknown word in the form that most memories have.

    Args:
        is_word: whether a word in small letters is one, wherever it may stand.
        frequency: memories that have a stem.

    >>> memories = {"aquarium": 3, "carolin": 9}  # by stem
    >>> mended("Did Caroilne see the acquarium?", {"see", "aquarium"}.__contains__, lambda stem: memories.get(stem, 0))
    'Did Caroline see the aquarium?'
    """

    def read(found: re.Match[str]) -> str:
        word, small = found[0], found[0].lower()
        if len(small) < SHORTEST or small in STOP_WORDS or is_word(small) or any(map(frequency, tokens(small))):
            return word
        is_name = word[0].isupper()
        forms = {
            form: times
            for form in dict.fromkeys(neighbours(small))
            if (times := sum(map(frequency, tokens(form)))) and (is_word(form) or (is_name and _is_bare(form)))
        }
        if not forms:
            return word
        best = max(forms, key=lambda form: forms[form])
        return best.capitalize() if is_name else best

    return _WORD.sub(read, question)


def _is_bare(form: str) -> bool:
    """Whether a form may be a name that the embedder does not know: "jolene", but not "spotness", which memories have as "spot"."""
    return all(len(form) - len(stem) < 2 for stem in tokens(form))


def neighbours(word: str) -> Iterator[str]:
    """
    The words that one slip turns into this one, those that differ near its end first.

    >>> found = set(neighbours("tea"))
    >>> found >= {"te", "tae", "ten", "team"}, "sea" in found
    (True, False)
    """
    for place in range(len(word), 0, -1):
        before, after = word[:place], word[place:]
        if after:
            yield before + after[1:]
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
        for letter in ascii_lowercase:
            if after:
                yield before + letter + after[1:]
            yield before + letter + after
