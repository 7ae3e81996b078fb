"""
Word a memory as its note does, with USER for the speaker, and add what a hurried writer leaves out.

*Because:* a question no longer finds words that were changed, and any change may be wrong. Only certain changes are made: "I" and
"my" become USER, the verb agrees with it, and a relative day gets its date.

"Flying to Oslo" is read as "I'm flying to Oslo", "new boss: Kiran" as "my new boss is Kiran", but only if no complete sentence can
begin with the first word. Patterns and words are in `data/wording.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import tzinfo
from functools import cache, lru_cache

from memento.consolidation.rules.patterns import DATA, signs
from memento.consolidation.rules.relations import is_single
from memento.text.dates import Dated
from memento.text.person import third_person
from memento.text.sentences import sentences
from memento.text.tables import Entry, Row, entries, word_lists
from memento.text.words import (
    BASES,
    DETERMINERS,
    MODALS,
    NUMBER_WORDS,
    PREPOSITIONS,
    PRONOUNS,
    base_of,
    is_adverb,
    is_past,
)

TABLE = DATA / "wording.toml"
_LISTS = word_lists(TABLE)
_WORD = re.compile(r"[\w'’]+")
MOST = 6
"""The most words of a verbless sentence that is kept with the one before it."""
_STAMP = re.compile(r"\s?\[\d{4}(?:-\d\d){0,2}\]")


@cache
def noise_rows() -> tuple[Entry[Row], ...]:
    """Return the rows for sentences that make no memory; the second part of an example is the reason."""
    return entries(TABLE, Row, {}, table="noise_row", flags=re.IGNORECASE)


def with_user(text: str) -> str:
    """
    Return a text with USER in place of "I"; "we", "our" and names stay.

    >>> with_user("I've moved and I love my new flat; we're happy.")
    "USER has moved and USER loves USER's new flat; we're happy."
    """
    return third_person(text, plural=False)


@lru_cache(maxsize=8192)
def as_read(content: str) -> str:
    """
    Return a memory in the third person throughout and without dates in brackets, which is the form that patterns compare.

    >>> as_read("We moved yesterday [2026-03-02].")
    'USER and others moved yesterday.'
    """
    return " ".join(third_person(with_subject(sentence)) for sentence in sentences(_STAMP.sub("", content)))


def noise(sentence: str, rows: Sequence[Entry[Row]] | None = None) -> str:
    """
    Return why a sentence makes no memory, or ""; `rows` defaults to the whole table.

    >>> noise("Thanks a lot!"), noise("ok"), noise("Where do I live?"), noise("I like tea.")
    ('it is thanks', 'it says nothing by itself', 'it is a question', '')
    """
    plain = sentence.strip()
    words = _WORD.findall(plain)
    if not words:
        return "it has no words"
    for entry in noise_rows() if rows is None else rows:
        if entry.pattern.match(plain) and not signs()["telling"].match(plain):
            return entry.row.example[1]
    if len(words) <= 3 and all(word.lower() in _LISTS["noise"] for word in words):
        return "it says nothing by itself"
    return ""


def leans(piece: str) -> bool:
    """
    Tell whether a clause or sentence needs the one before it: it begins with a pronoun or a conjunction, or is a fragment.

    >>> leans("She still teaches."), leans("Two bedrooms."), leans("Mum still teaches.")
    (True, True, False)
    """
    if any(signs()[name].match(piece) for name in ("begins-with-pronoun", "begins-with-conjunction", "verb-alone")):
        return True
    words = _WORD.findall(piece)
    first = words[0].lower() if words else ""
    if (
        is_past(first) or (first.endswith("s") and base_of(first) and first not in BASES) or first in _LISTS["elliptic"]
    ) and len(words) > 1:
        return words[1][0].islower() or not has_verb(words[1:])
    return is_verbless(piece, 4 if re.search(r"\d", piece) else MOST)


def is_verbless(piece: str, most: int) -> bool:
    """
    Tell whether a piece has at most `most` words, none of them a verb, and names no property: "Two hundred and twelve pages."

    >>> is_verbless("Real reason.", 6), is_verbless("Rent: 900 euros", 6), is_verbless("Oda sings.", 6)
    (True, False, False)
    >>> is_verbless("Two hundred pages.", 6), is_verbless("Two left.", 6)
    (True, False)
    """
    words = _WORD.findall(piece)
    if len(words) > most or re.search(r"[:=]", piece):
        return False
    counts = words and (words[0][0].isdigit() or words[0].lower() in NUMBER_WORDS)
    # After a number, a word that looks like a present verb is a noun: "two pages".
    return not has_verb([word for word in words if not (counts and word.endswith("s") and base_of(word))])


def is_label_of_somebody(piece: str) -> bool:
    """
    Tell whether a piece labels a property of somebody or something mentioned before: "Real name: Oda".

    >>> is_label_of_somebody("Real name: Oda"), is_label_of_somebody("Rent: 900 euros")
    (True, False)
    """
    match = signs()["label"].match(piece)
    return match is not None and match["attr"].lower().split()[-1] in _LISTS["of_somebody"]


def has_verb(words: Sequence[str]) -> bool:
    """Tell whether some word is a finite verb or an imperative."""
    for at, word in enumerate(words):
        plain = word.lower().replace("’", "'")
        if plain in ("is", "are", "am", "was", "were", "has", "have", "had", "does", "do", "did") or "'" in plain:
            return True
        if is_past(plain) or (at and base_of(plain) and not plain.endswith("ing")) or (not at and plain in BASES):
            return True
    return False


def with_dates(content: str, dates: Sequence[Dated], zone: tzinfo) -> str:
    """
    Return the content with a date after each day that is given relative to the note: "yesterday" becomes "yesterday [2026-03-02]".

    `dates` are those of this content, with their positions in it.
    """
    text, shift = content, 0
    for one in sorted(dates, key=lambda found: found.end):
        phrase = content[one.start : one.end]
        if not signs()["by-distance"].search(phrase) or content[one.end :].lstrip().startswith("["):
            continue
        day = one.value.astimezone(zone)
        stamp = (
            f" [{day:%Y}]"
            if "year" in phrase.lower()
            else f" [{day:%Y-%m}]"
            if signs()["coarse"].search(phrase)
            else f" [{day:%Y-%m-%d}]"
        )
        at = one.end + shift
        text, shift = f"{text[:at]}{stamp}{text[at:]}", shift + len(stamp)
    return text


def with_subject(piece: str) -> str:
    """
    Return the clause with the "I" or "my" that diary style leaves out.

    >>> with_subject("Started at Acme"), with_subject("Flying to Oslo on Friday"), with_subject("Running is fun")
    ('I started at Acme', "I'm flying to Oslo on Friday", 'Running is fun')
    >>> with_subject("new boss: Kiran"), with_subject("turned 42 yesterday"), with_subject("Back at Etsy since May")
    ('my new boss is Kiran', 'I turned 42 yesterday', "I'm back at Etsy since May")
    """
    if signs()["a-day-is-the-subject"].match(piece):
        return piece
    first, _, rest = piece.partition(" ")
    while rest and is_adverb(first) and first.lower() not in ("no", "not", "instead", "either", "even", "now"):
        first, _, rest = rest.partition(" ")
        if not (is_past(first) or first.lower().endswith("ing")):
            break
        piece = f"{first} {rest}"
    if not rest or not first.isalpha():
        return _labelled(piece) or piece
    lowered = first.lower()
    behind = rest.split()[0]
    a_verb = base_of(lowered) or behind.lower() in PREPOSITIONS | DETERMINERS or behind[0].isupper()
    if is_past(lowered) and a_verb and lowered not in ("been", "born", "gone", "done", "used"):
        passive = rest.startswith("by ") or (rest.startswith("to ") and lowered not in _LISTS["going"])
        return piece if passive or _labelled(piece) else f"I {lowered} {rest}"
    if signs()["last-day"].match(piece):
        return f"my {lowered} {rest}"
    if signs()["my-is-left-out"].match(piece) and (is_single(lowered) or signs()["event"].search(lowered)):
        return f"my {lowered} {rest}"
    if signs()["i-am-left-out"].search(piece):
        return f"I'm {lowered} {rest}"
    if match := signs()["i-have-left-out"].match(piece):
        return f"I've been {piece[match.end() :]}"
    if (
        lowered.endswith("ing")
        and base_of(lowered)
        and not signs()["has-a-verb"].search(_main(rest))
        and lowered not in ("according", "including", "during")
    ):
        return f"I'm {lowered} {rest}"
    return _labelled(piece) or piece


def shared_verbs(clause: str) -> list[str]:
    """
    Split a sentence whose subject has several verbs between commas into statements.

    >>> shared_verbs("I live in Trieste, work at Generali, and have two kids")
    ['I live in Trieste', 'I work at Generali', 'I have two kids']
    >>> shared_verbs("I like tea, work and walks")
    ['I like tea, work and walks']
    """
    match = signs()["shares-subject"].match(clause)
    if match is None or signs()["subordinate"].search(clause):
        return [clause]
    form = _form(match["v"])
    if form == "base" and match["s"].split()[-1] not in ("I", "We"):
        form = ""  # "Feature freeze is in May, release in June": the word that looks like a verb is a noun
    pieces: list[str] = []
    for part in signs()["parts"].split(clause):
        if not pieces:
            pieces.append(part)
        elif form and _begins_like(part, form):
            pieces.append(f"{match['s']} {part}")
        else:
            pieces[-1] = f"{pieces[-1]}, {part}"
    return pieces if len(pieces) > 1 else [clause]


def _begins_like(part: str, form: str) -> bool:
    """Tell whether a part begins with a verb of the same form, followed by something that only a verb takes."""
    words = [word for word in part.split()[:5] if not is_adverb(word)]
    if len(words) < 2 or _form(words[0]) != form:
        return False
    after = words[1]
    return (
        form == "past"
        or after.lower() in PREPOSITIONS | DETERMINERS | PRONOUNS
        or after[0].isupper()
        or after[0].isdigit()
        or after in NUMBER_WORDS
    )


def of_the_same(piece: str, before: str) -> str:
    """
    Replace "it" in a clause if the clause before is about one measured thing.

    >>> of_the_same("it's 980 euros now", "Rent went up")
    'my rent is 980 euros now'
    >>> of_the_same("it's late", "Rent went up")
    "it's late"
    """
    match, about = signs()["it-is-so-much"].match(piece), signs()["about-a-measure"].match(before)
    if match and about and is_single(about["what"].lower()):
        return f"my {about['what'].lower()} is {piece[match.end() :]}"
    return piece


def _form(verb: str) -> str:
    """Return the form of a verb, "past", "base" or "s": verbs that share a subject have the same form."""
    if is_past(verb):
        return "past"
    if verb in BASES or verb in ("am", "have"):
        return "base"
    return "s" if base_of(verb) and verb.endswith("s") else ""


def _main(rest: str) -> str:
    """Return the words of a clause before a comma or a conjunction."""
    return signs()["first-clause-ends"].split(rest, maxsplit=1)[0]


def _labelled(piece: str) -> str:
    """Turn "Rent: 900 euros" into a sentence about the user; "" if the piece is no such label."""
    match = signs()["label"].match(piece)
    if match is None or match["attr"].lower() in _LISTS["no_labels"] or match["attr"].lower().split()[-1] in MODALS:
        return ""
    if not is_single(match["attr"].lower().removeprefix("next ").removeprefix("latest ")):
        return ""
    value = match["value"].rstrip(".!") if match["when"] else match["value"]
    return f"my {match['attr'].lower()} is {value}{match['when'] or ''}"
