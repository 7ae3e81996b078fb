"""
Where names stand in a sentence: runs of capitalised words with their particles, and well-known names even in lower case.

*But:* a capital at the beginning of a sentence proves nothing; the first word is a name only when something else says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memento.consolidation.rules.common import COMMON, LANGUAGES, NEVER, PEOPLES, RELATIVES
from memento.consolidation.rules.first_names import FIRST_NAMES
from memento.consolidation.rules.gazetteer import Known, lookup, plain_names
from memento.consolidation.rules.lexicon import FUNCTION_WORDS, WEEKDAYS, word_set
from memento.consolidation.rules.lowered import name_in_lower_case
from memento.consolidation.rules.verbs import base_of, is_past

CONNECTORS = word_set("of van von de da do dos del della di du la le der den ter ten al el bin y")
"""Small words inside names."""

_WORD = re.compile(
    r"\.NET\b|[^\W_]+(?:(?:[&'’+-]|\.(?=(?:js|io|py|net|ai|NET|com|[A-Z]\b)))(?=[^\W_])[^\W_]+)*(?:\+\+|#"
    r"|\.(?=\s?[A-Z]\.))?"
)
_OWNED = re.compile(r"['’]s?$")
_SPOKEN = re.compile(
    r"\b(?:learn|learns|learning|learnt|learned|speak|speaks|speaking|spoke|study|studies|studying|studied"
    r"|fluent\s+in|language\s+is"
    r"|tongue\s+is|teaches|teach|teaching|understands?|picked\s+up|practi[sc]\w+)\s+(?:(?:\w+\s+){1,4}?and\s+"
    r"|(?:[\w ]+,\s++)+(?:[\w ]+\s+)?(?:and\s+)?)?"
    r"(?:(?:a\s+(?:bit|little)(?:\s+of)?|some|fluent|basic|broken|conversational|also)\s+)?$",
    re.IGNORECASE,
)


_ATTENDED = re.compile(
    r"\b(?:attend\w*|(?:spoke|speaking|talk|keynote|volunteer\w*|exhibit\w*)\s+at|ticket\w*\s+(?:for|to))\s+(?:the\s+)?$",
    re.I,
)
_TAUGHT = re.compile(r"\s+(?:courses?|class(?:es)?|lessons?|evening\s+class|exam|homework|vocabulary|grammar)\b")
_INSTITUTIONS = word_set("""
    School College Hospital Church Cathedral Academy University Primary Infirmary Bakery Café Cafe Bar Pub Diner
    Kitchen Arms Inn Gym
    Restaurant Shop Store Bistro Deli Books Barbers Grill Farm Tavern Yard Garage Pizza Coffee
    """)
"""Behind a possessive these go on with the name: "Saint Mary's School"."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word and where it stands in its sentence."""

    text: str
    start: int
    end: int


def found_names(
    sentence: str, elsewhere: frozenset[str], taken: list[tuple[int, int]]
) -> Iterator[tuple[int, int, Known | None]]:
    """
    (start, end, what is known) of each name outside of what is taken.

    Args:
        elsewhere: words that the text has with a capital inside of sentences.

    >>> [span[:2] for span in found_names("Yesterday Anna Smith used vim", frozenset(), [])]
    [(10, 20), (26, 29)]
    """
    tokens = [Token(match.group(), match.start(), match.end()) for match in _WORD.finditer(sentence)]
    shouted = _is_shouted(tokens)
    at = 0
    while at < len(tokens):
        size, known = 0, None
        if not any(start <= tokens[at].start < end for start, end in taken) and not _in_address(sentence, tokens[at]):
            size, known = _name_at(sentence, tokens, at, elsewhere, shouted)
            if not size and tokens[at].text.islower():
                token = tokens[at]
                word = _OWNED.sub("", token.text)
                found, known = name_in_lower_case(
                    sentence[max(0, token.start - 60) : token.start], word, sentence[token.end : token.end + 30]
                )
                size = int(found)
        if size:
            yield tokens[at].start, tokens[at + size - 1].end, known
        at += max(size, 1)


def _name_at(
    sentence: str, tokens: list[Token], at: int, elsewhere: frozenset[str], shouted: bool
) -> tuple[int, Known | None]:
    """How many words from `at` are a name, and what is known of it."""
    known_size, known = _known_at(sentence, tokens, at)
    size = 0 if shouted else _capitals_from(sentence, tokens, at)
    if size > known_size:
        text = re.sub(r"['’]s?$", "", sentence[tokens[at].start : tokens[at + size - 1].end])
        known = lookup(text)
        if (
            size == 1
            and known is None
            and (_is_common(tokens[at]) if at else not _is_name_at_start(sentence, tokens[0], elsewhere))
        ):
            return 0, None
        return size, known
    if (
        known is not None
        and not at
        and known_size == 1
        and not known.plain
        and not _is_name_at_start(sentence, tokens[0], elsewhere)
    ):
        return 0, None
    return known_size, known


def _is_common(token: Token) -> bool:
    """Whether a lone capitalised word is an everyday one, as in "Head of Data"; a capital inside it makes it a name."""
    return token.text.lower() in COMMON and token.text[1:].islower() and token.text not in FIRST_NAMES


def _known_at(sentence: str, tokens: list[Token], at: int) -> tuple[int, Known | None]:
    """The longest well-known name at a word; everyday words count only with a capital."""
    for size in range(min(3, len(tokens) - at), 0, -1):
        full = sentence[tokens[at].start : tokens[at + size - 1].end]
        text = full[:-2] if full.endswith(("'s", "’s")) else full
        known = lookup(text) or (lookup(full) if text is not full else None)
        if known is None or (
            len(text) == 1
            and not re.search(
                r"\b(?:in|use|uses|using|learning|with|to|from)\s+$",
                sentence[max(0, tokens[at].start - 80) : tokens[at].start],
            )
        ):
            continue
        if text.lower() in plain_names() or (text[0].isupper() and text.lower() not in ("i", "us")) or text == "US":
            # "R&D", "C-level": a letter that goes on is no language.
            return size, known
    return 0, None


def _capitals_from(sentence: str, tokens: list[Token], at: int) -> int:
    """How many words from `at` belong to one capitalised name, particles included."""
    if not _is_capital(tokens[at].text) or _never(sentence, tokens, at):
        return 0
    size = 1
    while at + size < len(tokens):
        last, here = tokens[at + size - 1], tokens[at + size]
        gap = sentence[last.end : here.start]
        if (re.search(r"['’]s?$", last.text) and here.text not in _INSTITUTIONS) or not (
            gap in (" ", "-", " & ") or (gap == ". " and len(last.text) <= 2)
        ):
            break
        if _is_capital(here.text) and not _never(sentence, tokens, at + size):
            size += 1
        elif (
            (
                re.fullmatch(r"20\d\d", here.text)
                and re.search(r"(?:con|conf|fest|summit|week|expo|conference)$", last.text.lower())
            )
            or (re.fullmatch(r"20\d\d", here.text) and _ATTENDED.search(sentence[: tokens[at].start]))
            or (size < 3 and _is_model_number(sentence, tokens, at, size))
        ):
            return size + 1
        elif (reach := _past_particles(tokens, at + size)) and (
            here.text != "of" or tokens[at].text not in FIRST_NAMES
        ):
            size += reach
        else:
            break
    return size


def _is_model_number(sentence: str, tokens: list[Token], at: int, size: int) -> bool:
    """Whether a number behind a name belongs to it: "Fairphone 5", but not "Anna 3 times" and not "Python 3"."""
    here, last = tokens[at + size], tokens[at + size - 1]
    if not re.fullmatch(r"\d{1,2}", here.text) or sentence[last.end : here.start] != " " or last.text in FIRST_NAMES:
        return False
    return lookup(last.text) is None and bool(
        re.match(
            r"\s*(?:$|[.,;!?)](?!\d)|(?:for|on|and|is|was|with|to|in|at|from|last|yesterday|but|or)\b)",
            sentence[here.end :],
        )
    )


def _past_particles(tokens: list[Token], at: int) -> int:
    """Words to step over from a particle to the capital behind it, that included: "of the Rings" is three; 0 when there is none."""
    if tokens[at].text not in CONNECTORS:
        return 0
    for reach in (1, 2):
        if (
            at + reach < len(tokens)
            and _is_capital(tokens[at + reach].text)
            and tokens[at + reach].text.lower() not in NEVER
        ):
            return reach + 1
        if at + reach < len(tokens) and tokens[at + reach].text not in CONNECTORS | {"the"}:
            return 0
    return 0


def _never(sentence: str, tokens: list[Token], at: int) -> bool:
    """Whether a capitalised word names nothing where it stands."""
    word = re.sub(r"['’](?:s|m|ve|ll|d|re)?$", "", tokens[at].text)
    lowered = word.lower()
    if lowered in PEOPLES:
        taught = lowered in LANGUAGES and _TAUGHT.match(sentence[tokens[at].end :])
        return not (
            taught
            or (lowered in LANGUAGES and _SPOKEN.search(sentence[max(0, tokens[at].start - 80) : tokens[at].start]))
        )
    if re.search(r"(\w)\1\1", lowered) or re.fullmatch(r"[A-C][12]", word):
        return True
    if (
        lowered in WEEKDAYS
        and at
        and tokens[at - 1].text == "the"
        and at + 1 < len(tokens)
        and _is_capital(tokens[at + 1].text)
    ):
        return False
    if lowered == "saint" and at + 1 < len(tokens) and _is_capital(tokens[at + 1].text):
        return False
    if lowered in NEVER or (len(word) == 1 and not tokens[at].text.endswith(".")):
        return True
    if at or word in FIRST_NAMES or (lowered == "project" and len(tokens) > 1 and _is_capital(tokens[1].text)):
        return False
    is_word = lowered in COMMON or base_of(word) is not None or is_past(word) or lowered.endswith("ly")
    return is_word and not _begins_a_known(sentence, tokens)


def _begins_a_known(sentence: str, tokens: list[Token]) -> bool:
    return _known_at(sentence, tokens, 0)[0] > 1


def _is_name_at_start(sentence: str, token: Token, elsewhere: frozenset[str]) -> bool:
    """Whether the one capitalised word that opens a sentence is a name and not just its first word."""
    word = re.sub(r"['’]s?$", "", token.text)
    lowered = word.lower()
    if lowered in FUNCTION_WORDS or "'" in word or "’" in word:
        return False
    if word in FIRST_NAMES or word in elsewhere or any(letter.isupper() for letter in word[1:]):
        return True
    if (
        lowered in COMMON
        or lowered in RELATIVES
        or base_of(word)
        or re.search(r"(?:ly|ing|ed|tion|ment|ness)$", lowered)
    ):
        return False
    after = sentence[token.end :]
    if lookup(word) is not None or re.search(r"[a-z](?:fest|conf)$", word):
        return True
    if re.match(r"\s+from\s+[A-Z]", after):
        return True
    following = re.match(r"\s+([a-z'’]+)", after)
    if following and is_past(following[1]) and not is_past(word):
        return True
    return word != token.text or bool(
        re.match(
            r",?\s+(?:and|is|was|has|will|can|had|does|did|(?:is|was|has|had|does|did|ca|wo|would|could)n['’]t|works?"
            r"|lives?|\w+ed|\w+s|I|my)\b",
            after,
        )
    )


def _is_capital(word: str) -> bool:
    return (
        not word.islower()
        and any(letter.isupper() for letter in word)
        and not re.match(r"\d+(?:[A-Z]|st|nd|rd|th|am|pm|AM|PM|K|k|GB|TB|D)$", word)
    )


def _in_address(sentence: str, token: Token) -> bool:
    """Whether a word is part of an e-mail address or a handle."""
    return sentence[token.end : token.end + 1] == "@" or sentence[max(0, token.start - 1) : token.start] == "@"


def _is_shouted(tokens: list[Token]) -> bool:
    capitals = sum(token.text.isupper() and len(token.text) > 1 for token in tokens)
    return capitals > 3 and capitals > 0.6 * len(tokens)
