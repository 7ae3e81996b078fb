"""
Find what has ended: what a clause says is no longer true, by which rule, and the outcome of what was in progress.

"USER switched from VS Code to Zed" ends VS Code; a person who gave birth is no longer pregnant. The patterns are in
`data/ends.toml` and `data/outcomes.toml`.

*But:* this only reads the words of the note; `decide.py` finds the beliefs that they end. Something in progress ends only for the
same person and, if a thing is named, for the same thing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Literal

from memento.consolidation.agents import USER, Draft, Existing
from memento.consolidation.rules.patterns import DATA, fragments, replace_by_sign, signs
from memento.consolidation.rules.relations import names_the_same, speaks_of
from memento.consolidation.rules.skeleton import Skeleton
from memento.text.mood import reading
from memento.text.tables import Entry, Row, compile_pattern, entries, fill, section
from memento.text.words import base_of, normal, occurs, stems, third_singular

ENDS = DATA / "ends.toml"
OUTCOMES = DATA / "outcomes.toml"

_FIGURE = re.compile(r"(?P<sign>[$€£])?\s?(?P<figure>\d[\d.,:]*)(?:\s?(?P<unit>%|[^\W\d_]{1,12}))?")
_PLAIN = stems(
    "new find found look get got want need job work back last week yesterday today finally day time year month one old take took"
)


class EndRow(Row, frozen=True, kw_only=True):
    """
    A pattern for an ending; the group `v`, else `value`, is what ends. With `clause` it reads the clause itself, not its skeleton.
    """

    rule: str
    value: str = ""
    clause: bool = False


class DenialRow(Row, frozen=True, kw_only=True):
    """A pattern for a denial; `affirms` replaces it in the affirmed clause."""

    affirms: str


class OutcomeRow(Row, frozen=True, kw_only=True):
    """A pattern for an outcome; `known` reads the memory that ends, `of` says what it must share with the draft."""

    known: str
    of: Literal["subject", "thing", "words"]


@cache
def end_rows() -> tuple[Entry[EndRow], ...]:
    """Return the rows for endings, in the order in which they are tried."""
    return entries(ENDS, EndRow, fragments(), flags=re.IGNORECASE)


@cache
def sign_rows() -> tuple[Entry[EndRow], ...]:
    """Return the rows that find by which rule the words of a memory end something."""
    return entries(ENDS, EndRow, fragments(), table="rule", flags=re.IGNORECASE)


@cache
def denial_rows() -> tuple[Entry[DenialRow], ...]:
    """Return the rows for denials."""
    return entries(ENDS, DenialRow, fragments(), table="denial", flags=re.IGNORECASE)


@cache
def other_rows() -> Mapping[str, Entry[EndRow]]:
    """Return the rows that code looks up by the name of their rule."""
    rows = entries(ENDS, EndRow, fragments(), table="other", flags=re.IGNORECASE)
    return {entry.row.rule: entry for entry in rows}


@cache
def outcome_rows() -> tuple[tuple[Entry[OutcomeRow], re.Pattern[str]], ...]:
    """Return the rows for outcomes, each with the pattern that reads the memory that ends."""
    own = section(OUTCOMES, "fragments", dict[str, str])
    return tuple(
        (entry, compile_pattern(fill(entry.row.known, own), re.IGNORECASE))
        for entry in entries(OUTCOMES, OutcomeRow, {}, flags=re.IGNORECASE)
    )


def ended(skeleton: Skeleton, clause: str, rows: Sequence[Entry[EndRow]] | None = None) -> tuple[tuple[str, ...], str]:
    """
    Find the phrases that a clause says no longer hold, and the rule that found them; `rows` defaults to the whole table.

    >>> from memento.consolidation.rules.skeleton import skeleton as reduced
    >>> ended(reduced("USER no longer eats meat", [], []), "USER no longer eats meat")
    (('meat',), 'no-longer')
    >>> ended(reduced("USER likes tea", [], []), "USER likes tea")
    ((), '')
    """
    # The skeleton has lost its "anymore"; a mark at the end restores it for the one pattern that needs it.
    text = f"{skeleton.text}\x00" if signs()["any-longer"].search(clause) else skeleton.text
    for entry in end_rows() if rows is None else rows:
        match = entry.pattern.search(clause if entry.row.clause else text)
        if match is None:
            continue
        if entry.row.clause:
            return (), entry.row.rule
        if phrase := entry.row.value or skeleton.phrase(match["v"].rstrip("\x00")):
            return (phrase,), entry.row.rule
    return (), ""


def affirm(skeleton: Skeleton, rows: Sequence[Entry[DenialRow]] | None = None) -> Skeleton | None:
    """
    Return the clause without its denial, as if it were so; None if it denies nothing.

    >>> affirm(Skeleton("USER doesn't work at Acme", (), ())).text
    'USER works at Acme'
    """
    if signs()["not-only"].search(skeleton.said):
        return None
    for entry in denial_rows() if rows is None else rows:
        if match := entry.pattern.search(skeleton.text):
            group = match.groupdict()
            verb = third_singular(group["verb"]) if group.get("verb") else ""
            said = entry.row.affirms.format(**{**group, "verb": verb})
            return replace(skeleton, text=f"{skeleton.text[: match.start()]}{said}{skeleton.text[match.end() :]}")
    return None


def being_replaced(skeleton: Skeleton, now: datetime) -> tuple[str, ...]:
    """
    Return what somebody is switching away from right now, or the firm that they will leave on an announced day.

    >>> from datetime import UTC
    >>> from memento.consolidation.rules.skeleton import skeleton as reduced
    >>> being_replaced(reduced("USER is switching from tabs to spaces", [], []), datetime(2024, 5, 15, tzinfo=UTC))
    ('tabs',)
    """
    match = other_rows()["under-way"].pattern.search(skeleton.text)
    if any(one.value > now for one in skeleton.dates):
        phrases, rule = ended(skeleton, skeleton.said)
        firms = {one.name for one in skeleton.names if one.kind == "Organization"}
        return phrases if rule == "left" and firms.issuperset(phrases) else ()
    if match is None:
        return ()
    return (skeleton.phrase(match["v"]),)


def used_to(skeleton: Skeleton) -> tuple[str, ...]:
    """Return what somebody "used to" use, do or be at; it ends only if a "now" follows."""
    match = other_rows()["used-to"].pattern.search(skeleton.text)
    return (skeleton.phrase(match["v"]),) if match else ()


def never_was(skeleton: Skeleton) -> tuple[str, ...]:
    """Return what was never so, whoever said it: "USER never worked at Siemens" → Siemens."""
    match = other_rows()["never"].pattern.search(skeleton.text)
    phrase = skeleton.phrase(match["v"]) if match else ""
    return (phrase,) if phrase else ()


def corrects_figure(content: str, known: str) -> bool:
    """
    Tell whether a text corrects a figure of a known memory; if it names a unit, the units must agree.

    >>> corrects_figure("the fare was €47, not €41.", "The train to Gent cost €41.")
    True
    >>> corrects_figure("It is 14 kg, not 12.", "The rope is 12 m long.")
    False
    """
    rows = other_rows()
    match = next(filter(None, (rows[name].pattern.search(content) for name in ("wrong-behind", "wrong-before"))), None)
    if match is None or match.start() == 0:  # it does not say what the figure is about
        return False
    wrong = match["v"].strip("$€£.,:")
    unit = (match["unit"] or "").lower()
    unit = "" if unit in ("and", "not", "but") else unit
    held = [
        (found["sign"], (found["unit"] or "").lower())
        for found in _FIGURE.finditer(known)
        if found["figure"].strip(".,:") == wrong
    ]
    if len(held) != 1 or len(_FIGURE.findall(known)) > 1:  # the memory's other figures are not corrected
        return False
    return any((not match["sign"] or sign == match["sign"]) and (not unit or of == unit) for sign, of in held)


def rule_of(draft: Draft, rows: Sequence[Entry[EndRow]] | None = None) -> str:
    """Return the name of the rule by which the words of a draft end something."""
    tried = sign_rows() if rows is None else rows
    return next((entry.row.rule for entry in tried if entry.pattern.search(draft.content)), "used-to")


def is_reversed(draft: Draft, old: Existing) -> bool:
    """Tell whether a memory says that the user likes what they now say they hate, or the other way round."""
    known, new = signs()["feels"].search(old.memory.content), signs()["feels"].search(draft.content)
    if (
        known is None
        or new is None
        or bool(signs()["dislikes"].match(known["feels"])) == bool(signs()["dislikes"].match(new["feels"]))
    ):
        return False
    return normal(known["what"]) == normal(new["what"])


def is_same_activity(phrase: str, content: str) -> bool:
    """Tell whether a memory is about the activity that a phrase names: "smoking" and "USER smokes"."""
    words = phrase.split()
    base = base_of(words[0]) if len(words) == 1 and words[0].endswith("ing") else None
    return base is not None and base in {base_of(word) for word in re.findall(r"[a-z]+", content.lower())}


def held_the_role(phrase: str, draft: Draft, old: Existing) -> bool:
    """Tell whether a memory gives the person who was replaced the role in question, or any role if none is named."""
    memory = old.memory
    holds = (
        names_the_same(phrase, memory.slot_value or "")
        or (old.subject or speaks_of(memory.content) or "").casefold() == phrase.casefold()
        or bool(signs()["is-called-this"].search(replace_by_sign(phrase, memory.content)))
    )
    role = match[1].lower() if (match := signs()["as-role"].search(draft.content)) else ""
    content = f"{memory.content} {memory.slot or ''}"
    return holds and bool(occurs(role, content) if role else signs()["a-role"].search(content))


def is_outcome(
    draft: Draft, old: Existing, rows: Sequence[tuple[Entry[OutcomeRow], re.Pattern[str]]] | None = None
) -> bool:
    """Tell whether the draft states the outcome of something that a memory says is in progress."""
    content = old.memory.content
    for entry, known in outcome_rows() if rows is None else rows:
        new, of = entry.pattern, entry.row.of
        if not (new.search(draft.content) and known.search(content)):
            continue
        if (
            reading(draft.content).mood not in ("fact", "past") and not signs()["refused"].search(draft.content)
        ) or signs()["denies"].search(draft.content):
            continue
        if of == "thing":
            if {*draft.about} & {*old.about} - {USER}:
                return True
        elif of == "words":
            shared = _near(known, content) & _near(new, draft.content) - _PLAIN - stems(speaks_of(content) or "")
            if shared and (_one_subject(draft.content, content) or _both_named(draft, old)):
                return True
        elif _one_subject(draft.content, content):
            return True
    return False


def _near(verb: re.Pattern[str], content: str) -> frozenset[str]:
    """Return the words right after a verb, or before it if none follow: "ran the marathon", "the desk arrived"."""
    match = verb.search(content)
    behind = content[match.end() :].split()[:6] if match else []
    before = content[: match.start()].split()[-4:] if match else []
    return stems(" ".join((*before, *behind)))


def _one_subject(new: str, old: str) -> bool:
    one, other = speaks_of(new), speaks_of(old)
    return one is not None and other is not None and one.casefold() == other.casefold()


def _both_named(draft: Draft, old: Existing) -> bool:
    """Tell whether both are about the user and the same named thing."""
    return USER in draft.about and USER in old.about and bool({*draft.about} & {*old.about} - {USER})
