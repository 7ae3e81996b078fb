"""
Find what has ended: what a clause says is no longer true, by which rule, and the outcome of what was in progress.

"USER switched from VS Code to Zed" ends VS Code; a person who gave birth is no longer pregnant. The patterns are in
`data/ends.toml` and `data/outcomes.toml`.

*But:* this only reads the words of the note; `decide.py` finds the beliefs that they end. What was in progress ends only for the
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
    """What ends is the group `v`, else `value`; with `clause` the clause itself is read, not its skeleton."""

    rule: str
    value: str = ""
    clause: bool = False


class DenialRow(Row, frozen=True, kw_only=True):
    """`affirms` is what stands in the place of the pattern when nothing is denied."""

    affirms: str


class OutcomeRow(Row, frozen=True, kw_only=True):
    """`known` is what a memory says and holds no longer; `of` is what it must share with what is told."""

    known: str
    of: Literal["subject", "thing", "words"]


@cache
def end_rows() -> tuple[Entry[EndRow], ...]:
    """Return the rows of endings, in the order in which they are tried."""
    return entries(ENDS, EndRow, fragments(), flags=re.IGNORECASE)


@cache
def sign_rows() -> tuple[Entry[EndRow], ...]:
    """Return the rows that tell by which rule the words of a memory end something."""
    return entries(ENDS, EndRow, fragments(), table="rule", flags=re.IGNORECASE)


@cache
def denial_rows() -> tuple[Entry[DenialRow], ...]:
    """Return the rows by which a clause denies something."""
    return entries(ENDS, DenialRow, fragments(), table="denial", flags=re.IGNORECASE)


@cache
def other_rows() -> Mapping[str, Entry[EndRow]]:
    """Return the rows that are asked for by the name of their rule."""
    rows = entries(ENDS, EndRow, fragments(), table="other", flags=re.IGNORECASE)
    return {entry.row.rule: entry for entry in rows}


@cache
def outcome_rows() -> tuple[tuple[Entry[OutcomeRow], re.Pattern[str]], ...]:
    """Return the rows of outcomes, each with the pattern of what a memory says."""
    own = section(OUTCOMES, "fragments", dict[str, str])
    return tuple(
        (entry, compile_pattern(fill(entry.row.known, own), re.IGNORECASE))
        for entry in entries(OUTCOMES, OutcomeRow, {}, flags=re.IGNORECASE)
    )


def ended(skeleton: Skeleton, clause: str, rows: Sequence[Entry[EndRow]] | None = None) -> tuple[tuple[str, ...], str]:
    """
    The phrases that the clause says no longer hold, and the rule that found them; by all rows where no others are given.

    >>> from memento.consolidation.rules.skeleton import skeleton as reduced
    >>> ended(reduced("USER no longer eats meat", [], []), "USER no longer eats meat")
    (('meat',), 'no-longer')
    >>> ended(reduced("USER likes tea", [], []), "USER likes tea")
    ((), '')
    """
    # The skeleton has lost its "anymore"; a mark at the end brings it back for the one pattern that needs it.
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
    Return what a clause denies, as if it were so; None where it denies nothing.

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
    What somebody is switching away from at this very time, or which firm they leave on a day that is announced.

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
    """What somebody "used to" use, do or be at, to be ended only when a "now" follows."""
    match = other_rows()["used-to"].pattern.search(skeleton.text)
    return (skeleton.phrase(match["v"]),) if match else ()


def never_was(skeleton: Skeleton) -> tuple[str, ...]:
    """What never was so, whoever said that it was: "USER never worked at Siemens" → Siemens."""
    match = other_rows()["never"].pattern.search(skeleton.text)
    phrase = skeleton.phrase(match["v"]) if match else ""
    return (phrase,) if phrase else ()


def corrects_figure(content: str, known: str) -> bool:
    """
    Tell whether a text says that a figure of what is known was wrong, and which is right: of the same unit, where it names one.

    >>> corrects_figure("the fare was €47, not €41.", "The train to Gent cost €41.")
    True
    >>> corrects_figure("It is 14 kg, not 12.", "The rope is 12 m long.")
    False
    """
    rows = other_rows()
    match = next(filter(None, (rows[name].pattern.search(content) for name in ("wrong-behind", "wrong-before"))), None)
    if match is None or match.start() == 0:  # what is right of what it does not say
        return False
    wrong = match["v"].strip("$€£.,:")
    unit = (match["unit"] or "").lower()
    unit = "" if unit in ("and", "not", "but") else unit
    held = [
        (found["sign"], (found["unit"] or "").lower())
        for found in _FIGURE.finditer(known)
        if found["figure"].strip(".,:") == wrong
    ]
    if len(held) != 1 or len(_FIGURE.findall(known)) > 1:  # what else it says is not corrected
        return False
    return any((not match["sign"] or sign == match["sign"]) and (not unit or of == unit) for sign, of in held)


def rule_of(draft: Draft, rows: Sequence[Entry[EndRow]] | None = None) -> str:
    """Return the name of the rule that the words of an ending follow."""
    tried = sign_rows() if rows is None else rows
    return next((entry.row.rule for entry in tried if entry.pattern.search(draft.content)), "used-to")


def is_reversed(draft: Draft, old: Existing) -> bool:
    """Tell whether a memory says of the same thing that the user likes what they now say they hate, or the other way round."""
    known, new = signs()["feels"].search(old.memory.content), signs()["feels"].search(draft.content)
    if (
        known is None
        or new is None
        or bool(signs()["dislikes"].match(known["feels"])) == bool(signs()["dislikes"].match(new["feels"]))
    ):
        return False
    return normal(known["what"]) == normal(new["what"])


def is_same_activity(phrase: str, content: str) -> bool:
    """Tell whether a memory tells of the activity that a phrase names: "smoking" and "USER smokes"."""
    words = phrase.split()
    base = base_of(words[0]) if len(words) == 1 and words[0].endswith("ing") else None
    return base is not None and base in {base_of(word) for word in re.findall(r"[a-z]+", content.lower())}


def held_the_role(phrase: str, draft: Draft, old: Existing) -> bool:
    """Tell whether a memory gives the one who was replaced the role that is spoken of, or any role when none is named."""
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
    """Tell whether the draft tells how what a memory says to be under way has come out."""
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
    """What stands right behind a verb, or before it where nothing does: "ran the marathon", "the desk arrived"."""
    match = verb.search(content)
    behind = content[match.end() :].split()[:6] if match else []
    before = content[: match.start()].split()[-4:] if match else []
    return stems(" ".join((*before, *behind)))


def _one_subject(new: str, old: str) -> bool:
    one, other = speaks_of(new), speaks_of(old)
    return one is not None and other is not None and one.casefold() == other.casefold()


def _both_named(draft: Draft, old: Existing) -> bool:
    """Tell whether both speak of the user and of one and the same named thing."""
    return USER in draft.about and USER in old.about and bool({*draft.about} & {*old.about} - {USER})
