"""
Put a sentence into the third person: "I've moved and I love it" becomes "USER has moved and USER loves it".

"We" becomes "USER and others", which is always true and needs no other verb form; "our" becomes "USER's". Quoted speech stays as it
is.

*But:* a verb far from its "I" is only adapted if the verb is known and something follows it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from memento.model import User
from memento.text.tables import LEXICON, fill, named_patterns, section, word_lists
from memento.text.words import (
    AGREES_FAR,
    BASES,
    CONJUNCTIONS,
    DETERMINERS,
    MODALS,
    PAST,
    PREPOSITIONS,
    PRONOUNS,
    base_of,
    is_adverb,
    is_past,
    third_singular,
)

USER = "USER"
"""How a memory writes the person whose memory it is."""

OTHERS = f"{USER} and others"

_TOKEN = re.compile(
    r"[\"“][^\"“”]*[\"”]|(?<![\w'’])['‘](?!s\b)[^'‘’\n]{2,}['’](?!\w)|[^\W_]+(?:['’-][^\W_]+)*|\s+|.", re.DOTALL
)
_BACKTICK = re.compile(r"(?<=[A-Za-z])[`´](?=(?:[a-z]{1,2}|nt)\b)")
"""Characters that some people type for an apostrophe."""
_TABLE = LEXICON / "person.toml"
_PLAIN = {
    word: fill(said, {"USER": USER, "OTHERS": OTHERS}) for word, said in section(_TABLE, "user", dict[str, str]).items()
}
_CONTRACTED = section(_TABLE, "contracted", dict[str, str])
_INVERTED = section(_TABLE, "inverted", dict[str, str])
_LISTS = word_lists(_TABLE)
_ASKING = MODALS | _LISTS["asking"]
_FOLLOWS_VERB = PREPOSITIONS | DETERMINERS


@cache
def person_signs() -> Mapping[str, re.Pattern[str]]:
    """Return the signs for persons, by name."""
    return named_patterns(_TABLE, {}, flags=re.IGNORECASE)


@dataclass(slots=True)
class _State:
    """
    The state while reading a sentence: whether the last subject was "I", and whether a bare verb form must follow ("to", "can").
    """

    is_read: bool  # patterns read the result, so contractions are written out
    is_habit: bool  # a form that is both past and present is in the present
    first_person: bool = False
    plural: bool = False
    bare: bool = False


def third_person(sentence: str, user: User | None = None, *, plural: bool = True) -> str:
    """
    Return a sentence as somebody else would say it of the user; the user's own name, if known, counts as "I".

    Without `plural`, what is said of several people ("we", "our") stays as it is.

    >>> third_person("I've lived in Berlin since May, and I don't miss my old flat.")
    "USER has lived in Berlin since May, and USER doesn't miss USER's old flat."
    >>> third_person("I live in Berlin and work at Acme")
    'USER lives in Berlin and works at Acme'
    >>> third_person("We moved our launch; Anna and I are happy")
    "USER and others moved USER's launch; Anna and USER are happy"
    """
    tokens = _TOKEN.findall(_replace_user_name(_BACKTICK.sub("'", sentence), user))
    words = [token.replace("’", "'").lower() for token in tokens]
    is_past_time = any(map(is_past, words)) or person_signs()["past-time"].search(sentence) is not None
    state = _State(is_read=plural, is_habit=not is_past_time and person_signs()["habit"].search(sentence) is not None)
    out = list(tokens)
    for index, word in enumerate(words):
        if out[index] != tokens[index]:
            continue  # a verb that was already changed with its subject
        if word == "i" and not _is_numeral(words, tokens, index):
            _subject(out, words, index, state)
        elif word in _CONTRACTED and (word[0:2] == "i'" or tokens[index][0] in "IU"):
            _contraction(out, words, index, state)
        elif (
            word in (_PLAIN if plural else _LISTS["singular"])
            and not (word == "us" and tokens[index] == "US")
            and not (word == "mine" and _next(words, index) == "shaft")
        ):
            out[index] = _PLAIN[word]
            state.first_person = state.first_person and word in _LISTS["keeps_subject"]
        else:
            _other(out, words, tokens, index, state)
    return re.sub(r"(?<![\w'])(USER's|USER) (?:own )?\1(?!\w)", r"\1", "".join(out)) if USER in out else "".join(out)


def _replace_user_name(sentence: str, user: User | None) -> str:
    """Replace the user's name if it stands alone; with another surname it is another person."""
    if user is None or not user.name or user.name.lower() == "user":
        return sentence
    spellings = "|".join(re.escape(name) for name in dict.fromkeys((user.name, *user.name.split()[:1])))
    return re.sub(
        rf"(?<![\w-])(?<!name is )(?<!call me )(?<!be called )(?:{spellings})(?![\w-]|\s+[A-Z][a-z])", USER, sentence
    )


def _subject(out: list[str], words: list[str], index: int, state: _State) -> None:
    """Write USER for the "I" at `index`, and make its verb, or the auxiliary before it, agree."""
    out[index] = USER
    state.plural = _joined_to_a_noun(words, index)
    state.first_person, state.bare = True, False
    if state.plural:
        return
    before = _previous(words, index)
    if before is not None and words[before] in _INVERTED and not _finite_after(words, index):
        inverted = third_singular(words[before])
        out[before] = inverted.capitalize() if out[before][0].isupper() else inverted
        state.bare = True
        return
    if before is not None and words[before] in _ASKING:
        state.bare = True
        return
    verb = _verb_after(words, index)
    if verb is not None and _agrees(words[verb], state):
        out[verb] = third_singular(words[verb]) if third_singular(words[verb]) != words[verb] else out[verb]
        state.bare = words[verb] in MODALS or words[verb] in ("do", "don't", "did", "didn't")


def _agrees(verb: str, state: _State) -> bool:
    """Tell whether a verb is certainly in the present; "I read the tape wrong" and "I lay down" may be past."""
    return state.is_habit or verb not in PAST or verb not in BASES


def _contraction(out: list[str], words: list[str], index: int, state: _State) -> None:
    auxiliary = _CONTRACTED[words[index]]
    follower = _verb_after(words, index)
    if auxiliary == "would" and follower is not None and (words[follower] == "better" or is_past(words[follower])):
        auxiliary = "had"
    plural = _joined_to_a_noun(words, index)
    if auxiliary in ("would", "had") and not state.is_read:  # "'d" may be short for either, so it stays
        out[index] = f"{USER}'d"
        state.first_person, state.plural, state.bare = True, plural, auxiliary == "would"
        return
    auxiliary = {"is": "are", "has": "have"}.get(auxiliary, auxiliary) if plural else auxiliary
    out[index] = f"{USER} {auxiliary}"
    state.first_person, state.plural, state.bare = True, plural, auxiliary in MODALS


def _other(out: list[str], words: list[str], tokens: list[str], index: int, state: _State) -> None:
    """Process a word that is not "I": track the subject, and adapt verbs that share the user as subject."""
    word = words[index]
    if not state.first_person or state.plural:
        return
    if word == "am":
        out[index] = "is"
    elif word in _LISTS["other_subject"] or word in ".!?;":
        state.first_person = False
    elif word == "to" or word in MODALS:
        state.bare = True
    elif (
        not state.bare
        and not tokens[index][0].isupper()
        and _shares_subject(words, tokens, index)
        and _agrees(word, state)
    ):
        out[index] = third_singular(word)


def _shares_subject(words: list[str], tokens: list[str], index: int) -> bool:
    """Tell whether a verb follows "and" (perhaps after adverbs) and has something after it that only a verb takes."""
    word = words[index]
    if word not in BASES and word not in ("don't", "haven't"):
        return False
    before = _previous(words, index)
    while before is not None and is_adverb(words[before]):
        before = _previous(words, before)
    if before is None or words[before] not in ("and", "but", "or", *([","] if word in AGREES_FAR else [])):
        return False
    if word in AGREES_FAR:
        return True
    after = _next_index(words, index)
    if after is None:
        return False
    follower, shown = words[after], tokens[after]
    return (
        follower in _FOLLOWS_VERB
        or follower in PRONOUNS
        or shown[0].isupper()
        or shown[0].isdigit()
        or is_adverb(follower)
        or follower.endswith("ing")
        or word in ("don't", "haven't", "have")
    )


def _verb_after(words: list[str], index: int) -> int | None:
    """Return the position of the verb of the subject at `index`, skipping adverbs."""
    at = _next_index(words, index)
    while at is not None and is_adverb(words[at]):
        at = _next_index(words, at)
    if at is None or not words[at][0].isalpha():
        return None
    word = words[at]
    if word in CONJUNCTIONS or word in PREPOSITIONS or word in DETERMINERS or word in PRONOUNS:
        return at if word in BASES and word != "like" else at if word == "like" else None
    return at


def _finite_after(words: list[str], index: int) -> bool:
    """Tell whether a verb in the present or past follows: "what I do I do well" has one, "so do I" has none."""
    verb = _verb_after(words, index)
    return verb is not None and (words[verb] in ("am", "have", "do", "was") or is_past(words[verb]))


def _joined_to_a_noun(words: list[str], index: int) -> bool:
    """Tell whether "I" is the second half of a subject, as in "Anna and I", with no verb before it in its part of the sentence."""
    before = _previous(words, index)
    if before is None or words[before] not in ("and", "or", "&"):
        return False
    start = max(
        (at for at in range(before) if words[at] in (",", ";", ".", ":", "!", "?", "that", "because", "when", "but")),
        default=-1,
    )
    part = [word for word in words[start + 1 : before] if word[0].isalnum()]
    verbs = [
        word
        for at, word in enumerate(part)
        if at and (base_of(word) or is_past(word)) and part[at - 1] not in DETERMINERS
    ]
    return 0 < len(part) <= 5 and not verbs and not any(person_signs()["first-person"].match(word) for word in part)


def _is_numeral(words: list[str], tokens: list[str], index: int) -> bool:
    """Tell whether "I" is a numeral or a single letter ("World War I", "i.e.")."""
    before = _previous(words, index)
    after = tokens[index + 1] if index + 1 < len(tokens) else ""
    if after == "." and index + 2 < len(tokens) and words[index + 2] == "e":
        return True
    return before is not None and words[before] in _LISTS["numbered"] and _verb_after(words, index) is None


def _next_index(words: list[str], index: int) -> int | None:
    """Return the index of the next word, with no punctuation except a comma between."""
    for at in range(index + 1, len(words)):
        if words[at].isspace() or words[at] == ",":
            continue
        return at if words[at][0].isalnum() else None
    return None


def _next(words: list[str], index: int) -> str:
    at = _next_index(words, index)
    return words[at] if at is not None else ""


def _previous(words: list[str], index: int) -> int | None:
    return next((at for at in range(index - 1, -1, -1) if not words[at].isspace()), None)
