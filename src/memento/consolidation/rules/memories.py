"""
The memories in a note: one draft for each statement, in the third person, with its dates, its slot and what it ends.

    note ─ sentences ─ clauses ─ third person ─ mood ─ dates ─ skeleton ─┬─ slots
                                                                        └─ ends

Questions, greetings and passing commands yield nothing, unless the note has nothing else: then it is one draft as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memento.consolidation.agents import USER, Draft, Mention
from memento.consolidation.rules.attributes import EVENTS
from memento.consolidation.rules.dates import Dated, Leaning, dates
from memento.consolidation.rules.ends import ended, used_to
from memento.consolidation.rules.lexicon import MONTHS, WEEKDAYS
from memento.consolidation.rules.moods import Reading, is_lasting, reading
from memento.consolidation.rules.names import self_name
from memento.consolidation.rules.person import third_person
from memento.consolidation.rules.sentences import clauses, introduced, sentences
from memento.consolidation.rules.skeleton import Skeleton, found_mentions, mention_pattern, skeleton
from memento.consolidation.rules.slots import Filled, slot_of
from memento.model import Note, User

LONGEST = 20_000
"""Characters of a note that are read sentence by sentence; what follows is kept as it was said."""

_MONTH_OR_DAY = "|".join(sorted({*MONTHS, *WEEKDAYS}, key=len, reverse=True))
_SCHEDULED = re.compile(
    rf"\b{EVENTS}\b.*\b(?:moved|pushed|set|planned|slipped|brought\s+forward|changed|shifted|booked)\b"
    r"|\b(?:re)?scheduled\b|\bpostponed\b|\bdelayed\b"
    rf"|\b(?:moved|pushed|slipped|changed|shifted)\s+(?:(?:back|forward|out)\s+)?to\s+(?:next\s|\d|{_MONTH_OR_DAY})\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"^(He|She)(?=['’]s\b|\s)")
_NOW = re.compile(r"\b(?:now|these\s+days|currently|nowadays|today)\b", re.IGNORECASE)
_CONDITION = re.compile(
    r"^(?:if|unless|suppose|imagine|when\s+I\s+(?:was|am))\b|\bif\s+(?:I|we|he|she|they|it|USER)\b", re.IGNORECASE
)
_PREFERENCE = re.compile(r"^(?!USER)\w\S*(?:\s\w\S*)?\s+over\s+[A-Z]\S*(?:\s\w\S*)?$")
_ANAPHORIC = re.compile(r"^(?:it|they|that|this|these|those|he|she|them|both)(?:['’]\w+)?\s", re.IGNORECASE)
_TERMINAL = re.compile(r"[.!…]+[\"'”’)\]]*$")
_SHARED = re.compile(
    r"^((?:USER's\s+(?:[a-z-]+\s+){1,3}?)?(?:USER(?: and others)?|[A-Z][\w-]*(?:\s[A-Z][\w-]*)*)(?!['’\w])"
    r"|USER's\s+[a-z-]+)\s+(.+?)\s+(?:and|but)\s+((?:now\s+|also\s+|currently\s+|then\s+|just\s+)?(?:[a-z]+s"
    r"|[a-z]+ed|quit|left|got|took|began|went|bought|became|found|am|is|was|has|had)\s.+)$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One clause of a note, understood."""

    content: str
    reading: Reading
    skeleton: Skeleton
    dates: tuple[Dated, ...]
    filled: Filled | None = None
    ends: tuple[str, ...] = ()
    corrects: bool = False
    user_name: str | None = None


@dataclass(slots=True)
class _Context:
    """What is the same for the whole note, and who was spoken of last."""

    note: Note
    user: User
    mentions: Sequence[Mention]
    zone: str
    pattern: re.Pattern[str] | None
    person: str | None = None
    shared: tuple[Dated, ...] = field(default=())


def drafts(note: Note, mentions: Sequence[Mention], user: User, zone: str = "UTC") -> list[Draft]:
    """The facts of a note, in order; the whole note as one draft when no clause is a statement; none when it is blank."""
    found: list[Draft] = []
    pattern = mention_pattern(mentions)
    for statement in statements(note, mentions, user, zone):
        if found and _leans_on(statement, found[-1]):
            found[-1] = _continued(found[-1], statement, mentions, pattern)
        else:
            found += _drafts_of(statement, mentions, note, pattern)
    if not found:
        content = " ".join(third_person(sentence, user) for sentence in sentences(note.content[:LONGEST]))
        found = [Draft(content=content, about=_about(content, mentions, pattern))] if content else []
    if rest := note.content[LONGEST:].strip():
        found.append(Draft(content=rest, about=(USER,)))
    if not found and note.content.strip():
        found = [Draft(content=note.content.strip(), about=(USER,))]
    return _settled(found)


def statements(note: Note, mentions: Sequence[Mention], user: User, zone: str = "UTC") -> Iterator[Statement]:
    """The clauses of a note that state something, wish for it or command it for good."""
    context = _Context(note, user, mentions, zone, mention_pattern(mentions))
    for sentence in sentences(note.content[:LONGEST]):
        body, corrects = introduced(sentence)
        context.shared = ()
        conditional = bool(_CONDITION.search(body))
        terminal = match.group() if (match := _TERMINAL.search(body)) else ""
        earlier: Statement | None = None
        for piece in [body] if conditional else clauses(body):
            for statement in _understood(piece, context, terminal, corrects):
                if statement.reading.mood in ("question", "chatter") or (
                    statement.reading.mood == "command" and not is_lasting(statement.content) and not statement.filled
                ):
                    continue
                current = _ended_by_now(statement, earlier)
                yield current
                earlier = current


def _understood(piece: str, context: _Context, terminal: str, corrects: bool) -> Iterator[Statement]:
    said = third_person(piece, context.user)
    if context.person:
        said = _PRONOUN.sub(context.person, said)
    whole = _statement(said, piece, context, terminal, corrects)
    halves = _halves(said)
    if halves and whole.reading.mood not in ("possible", "question"):
        parts = [_statement(half, piece, context, terminal, corrects) for half in halves]
        if all(part.filled or part.ends for part in parts):
            yield from (_remembered(part, context) for part in parts)
            return
    yield _remembered(whole, context)


def _halves(said: str) -> list[str]:
    """Two statements of one subject: "USER lives in Berlin and works at Acme" → "USER lives in Berlin", "USER works at Acme"."""
    match = _SHARED.match(_TERMINAL.sub("", said))
    return [f"{match[1]} {match[2]}".rstrip(","), f"{match[1]} {match[3]}"] if match else []


def _statement(said: str, piece: str, context: _Context, terminal: str, corrects: bool) -> Statement:
    content = _sentence(_PREFERENCE.sub(rf"{USER} prefers \g<0>", said), terminal)
    how = reading(_TERMINAL.sub("", content))
    leaning: Leaning = "past" if how.tense == "past" and not _SCHEDULED.search(content) else "future"
    found = tuple(dates(content, context.note.at, context.zone, leaning, how.perfect))
    reduced = skeleton(content, context.mentions, found, context.pattern)
    filled = slot_of(reduced)
    phrases, rule = ended(reduced, content) if how.mood == "fact" else ((), "")
    name = self_name(piece)
    if not found and how.tense == "past" and context.shared and not _NOW.search(content):
        found = tuple(replace(one, start=0, end=0) for one in context.shared)
    return Statement(
        content=content,
        reading=how,
        skeleton=reduced,
        dates=found,
        filled=filled if filled and _may_fill(how, filled) else None,
        ends=phrases,
        corrects=corrects or rule == "not-but",
        user_name=name.split()[0] if name else None,
    )


def _may_fill(how: Reading, filled: Filled) -> bool:
    """Facts fill slots; a plan tells the date of something, a command at most the user's name ("Call me Ana")."""
    if how.additional:
        return False
    return (
        how.mood == "fact"
        or (how.mood == "plan" and filled.date is not None)
        or (how.mood == "command" and filled.slot == "name")
    )


def _remembered(statement: Statement, context: _Context) -> Statement:
    """The statement, once the context knows its dates and the one person it is about."""
    if statement.dates and statement.reading.tense == "past":
        context.shared = statement.dates[:1]
    people = {
        context.mentions[at].name
        for _, _, at in found_mentions(statement.content, context.mentions, context.pattern)
        if context.mentions[at].kind == "Person"
    }
    if len(people) == 1:
        context.person = people.pop()
    elif people:
        context.person = None
    return statement


def _ended_by_now(statement: Statement, earlier: Statement | None) -> Statement:
    """ "I used to use X, now I use Y": the second half ends X."""
    if (
        earlier is None
        or earlier.reading.mood != "past"
        or statement.reading.mood != "fact"
        or not _NOW.search(statement.content)
    ):
        return statement
    phrases = used_to(earlier.skeleton)
    return replace(statement, ends=(*statement.ends, *phrases)) if phrases else statement


def _sentence(said: str, terminal: str) -> str:
    text = " ".join(_TERMINAL.sub("", said).split()).strip(" ,;:")
    text = re.sub(r"^(?:that|and|but)\s+(?=\w)", "", text)
    text = f"{text[:1].upper()}{text[1:]}" if text[:1].islower() and not re.match(r"[a-z]+[A-Z]", text) else text
    return f"{text}{terminal}" if not text.endswith(("?", "!", "…")) else text


def _drafts_of(
    statement: Statement, mentions: Sequence[Mention], note: Note, pattern: re.Pattern[str] | None
) -> list[Draft]:
    filled = statement.filled
    valid_at, event_at = _times(statement, note)
    about = _about(statement.content, mentions, pattern)
    if filled and filled.subject == USER and USER not in about:
        about = (USER, *about)
    draft = Draft(
        content=statement.content,
        about=about,
        valid_at=valid_at,
        event_at=event_at,
        ends=statement.ends,
        corrects=statement.corrects,
        user_name=statement.user_name,
    )
    if filled is None:
        return [draft]
    draft = replace(draft, subject=filled.subject, slot=filled.slot, slot_value=filled.value)
    if not filled.role or statement.corrects:
        return [draft]
    title = f"{filled.subject} is {'an' if filled.role[0].lower() in 'aeio' else 'a'} {filled.role}."
    also = Draft(
        content=title,
        about=(filled.subject,),
        valid_at=valid_at,
        subject=filled.subject,
        slot="job title",
        slot_value=filled.role,
    )
    return [draft, also]


def _leans_on(statement: Statement, before: Draft) -> bool:
    """Whether a statement means nothing without the one before it ("It was great") and neither of them fills or ends anything."""
    plain = statement.filled is None and not statement.ends and not statement.corrects and statement.user_name is None
    return (
        plain
        and before.slot is None
        and not before.ends
        and not before.corrects
        and bool(_ANAPHORIC.match(statement.content))
    )


def _continued(
    before: Draft, statement: Statement, mentions: Sequence[Mention], pattern: re.Pattern[str] | None
) -> Draft:
    text = before.content if _TERMINAL.search(before.content) else f"{before.content}."
    content = f"{text} {statement.content}"
    return replace(before, content=content, about=_about(content, mentions, pattern))


def _times(statement: Statement, note: Note) -> tuple[datetime | None, datetime | None]:
    """(when it began to hold, what date it is about): a state or a past event has the first, what is scheduled the second."""
    filled = statement.filled
    if filled and filled.date:
        return None, filled.date.value
    if filled and filled.slot.endswith(("birthday", "date of birth")):
        return None, None
    first = next((one for one in statement.dates if one.role in ("since", "for")), None) or next(
        iter(statement.dates), None
    )
    if first is None:
        return None, None
    if first.value > note.at:
        return None, first.value
    if statement.reading.tense == "past" or first.role in ("since", "for"):
        return first.value, None
    return (None, first.value) if first.role != "until" else (None, None)


def _about(content: str, mentions: Sequence[Mention], pattern: re.Pattern[str] | None) -> tuple[str, ...]:
    """The user if the memory speaks of them, and each named thing in order; the user alone when nothing is named."""
    named = [mentions[at].name for _, _, at in found_mentions(content, mentions, pattern)]
    user = [USER] if re.search(rf"\b{USER}\b", content) or not named else []
    return tuple(dict.fromkeys([*user, *named]))


def _settled(found: list[Draft]) -> list[Draft]:
    """The same drafts, with each slot filled once: of two values in one note the later one counts."""
    last = {(draft.subject, draft.slot): at for at, draft in enumerate(found) if draft.slot}
    return [
        draft
        if draft.slot is None or last[draft.subject, draft.slot] == at
        else replace(draft, subject=None, slot=None, slot_value=None)
        for at, draft in enumerate(found)
    ]
