"""
The statements of a note, understood: each with its mood, its dates, the slot it fills and what it ends.

    sentence ─ clauses ─ third person ─ mood ─ dates ─ skeleton ─┬─ slots
                                                                └─ ends
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from memento.consolidation.agents import USER, Mention
from memento.consolidation.rules.attributes import EVENTS
from memento.consolidation.rules.dates import Dated, Leaning, dates
from memento.consolidation.rules.diary import of_the_same, shared_verbs, with_subject
from memento.consolidation.rules.ends import being_replaced, ended, never_was, used_to
from memento.consolidation.rules.later import LATER_SLOTS, begins_at, begun
from memento.consolidation.rules.lexicon import MONTHS, WEEKDAYS
from memento.consolidation.rules.moods import Reading, reading
from memento.consolidation.rules.names import self_name
from memento.consolidation.rules.person import third_person
from memento.consolidation.rules.sentences import clauses, introduced, is_framing, is_readable, sentences
from memento.consolidation.rules.skeleton import Skeleton, found_mentions, mention_pattern, skeleton
from memento.consolidation.rules.slots import Filled, slot_of
from memento.model import Note, User

LONGEST = 20_000
"""Characters of a note that are read sentence by sentence; what follows is kept as it was said."""

_MONTH_OR_DAY = "|".join(sorted({*MONTHS, *WEEKDAYS}, key=len, reverse=True))
_SCHEDULED = re.compile(
    r"\b(?:moved|rescheduled|pushed|shifted|brought|changed)\s+(?:the|an?|our|USER's)\s+(?:[\w-]+\s+){0,3}?"
    rf"{EVENTS}\b|\b{EVENTS}\b.*\b(?:moved|pushed|set|planned|slipped|brought\s+forward|changed|shifted|booked)\b"
    rf"|\b(?:re)?scheduled\b|\bpostponed\b|\bdelayed\b|\b(?:cancell?ed|called\s+off)\b.*\b{EVENTS}\b"
    rf"|\b(?:moved|pushed|slipped|changed|shifted)\s+(?:(?:back|forward|out)\s+)?to\s+(?:the\s+)?(?:next\s|\d+"
    rf"|{_MONTH_OR_DAY})",
    re.IGNORECASE,
)
_CALL_ME = re.compile(
    rf"^((?:.*[,;:]\s)?)(?:please\s+)?(?:just\s+|you\s+can\s+)?call\s+{USER}\s+(?=[A-Z])", re.IGNORECASE
)
_PRONOUN = re.compile(r"^((?:[Tt]urns\s+out(?:\s+that)?\s+)?)(?:[Hh]e|[Ss]he)(?=['’]s\b|\s)")
_POSSESSIVE = re.compile(r"^(?:His|his|Her|her)\s+(?!name\b)(?=[a-z]+\s)")
_IT = re.compile(
    r"^[Ii]t(?=\s+(?:has|uses|runs?|supports?|needs|costs|lives|works|belongs|sits|takes|opens|closes|starts|ends"
    r"|launch\w+|ship\w+|comes|went|got|moved"
    r"|will|is\s+(?:written|built|based|located|hosted|run|owned|called|an?|on|in|for|used|made))\b)"
)
_ITS = re.compile(r"^[Ii]ts\s+(?=[a-z])")
_THINGS = ("Project", "Organization", "Technology", "Concept")
_PRESENTS = re.compile(r"^\0(?!['’])|\b(?:called|named)\s+(?:the\s+)?\0")
"""A clause that presents a thing: one that begins with it, or gives its name; what is said of "it" then is said of the thing."""
_NOW = re.compile(r"\b(?:now|these\s+days|currently|nowadays|today)\b", re.IGNORECASE)
_CONDITION = re.compile(
    r"^(?:if|unless|suppose|imagine|when\s+I\s+(?:was|am))\b|\bif\s+(?:I|we|he|she|they|it|USER)\b", re.IGNORECASE
)
_PREFERENCE = re.compile(r"^(?!USER)\w\S*(?:\s\w\S*)?\s+over\s+[A-Z]\S*(?:\s\w\S*)?$")
TERMINAL = re.compile(r"[.!…]+[\"'”’)\]]*$")
_SHARED = re.compile(
    r"^((?:USER's\s+(?:[a-z-]+\s+){1,3}?)?(?:USER(?: and others)?|[A-Z][\w-]*(?:\s[A-Z][\w-]*)*)(?!['’\w])"
    r"|USER's\s+[a-z-]+)\s+(.+?)\s+(?:and|but)\s+((?:now\s+|also\s+|currently\s+|then\s+|just\s+)?(?:[a-z]+s"
    r"|[a-z]+ed|quit|left|got|took|began|went|bought|became|found|am|is|was|has|had|(?:does|is|has|do|are|have"
    r"|did)n['’]t)\s.+)$"
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
    begins: Dated | None = None  # when what it fills begins, if that is yet to come


@dataclass(slots=True)
class _Context:
    """What is the same for the whole note, and who was spoken of last."""

    note: Note
    user: User
    mentions: Sequence[Mention]
    zone: str
    pattern: re.Pattern[str] | None
    person: str | None = None
    thing: str | None = None
    shared: tuple[Dated, ...] = field(default=())


def statements(note: Note, mentions: Sequence[Mention], user: User, zone: str = "UTC") -> Iterator[Statement]:
    """The clauses of a note that state something, wish for it or ask for it."""
    context = _Context(note, user, mentions, zone, mention_pattern(mentions))
    for sentence in sentences(note.content[:LONGEST]):
        if not is_readable(sentence):
            yield _unread(sentence)
            continue
        if is_framing(sentence):
            continue
        body, corrects = introduced(sentence)
        context.shared = ()
        conditional = bool(_CONDITION.search(body))
        terminal = match.group() if (match := TERMINAL.search(body)) else ""
        earlier: Statement | None = None
        before = ""
        for piece in [body] if conditional else [part for clause in clauses(body) for part in shared_verbs(clause)]:
            piece, before = of_the_same(piece, before), piece
            for statement in _understood(piece, context, terminal, corrects):
                if statement.reading.mood in ("question", "chatter"):
                    continue
                current = _ended_by_now(statement, earlier)
                yield current
                earlier = current


def _understood(piece: str, context: _Context, terminal: str, corrects: bool) -> Iterator[Statement]:
    said = third_person(with_subject(piece), context.user)
    if context.person:
        said = re.sub(r"^(?:He|She|he|she)['’]ll\b", f"{context.person} will", said)
        said = _POSSESSIVE.sub(f"{context.person}'s ", _PRONOUN.sub(rf"\g<1>{context.person}", said))
    if context.thing:
        said = _IT.sub(context.thing, _ITS.sub(f"{context.thing}'s ", said))
    if not is_readable(said):  # "we" has become "USER and others"
        yield _unread(piece)
        return
    whole = _statement(said, piece, context, terminal, corrects)
    halves = _halves(said)
    if halves and whole.reading.mood not in ("possible", "question"):
        parts = [_statement(half, piece, context, terminal, corrects) for half in halves]
        told = [bool(part.filled or part.ends) for part in parts]
        if all(told) or (any(told) and not (whole.filled or whole.ends)):
            yield from (_remembered(part, context) for part in parts)
            return
    yield _remembered(whole, context)


def _unread(said: str) -> Statement:
    """What is too long to be read, as it was said: it fills and ends nothing."""
    return Statement(content=said, reading=Reading("fact"), skeleton=Skeleton(said, (), ()), dates=())


def _halves(said: str) -> list[str]:
    """Two statements of one subject: "USER lives in Berlin and works at Acme" → "USER lives in Berlin", "USER works at Acme"."""
    match = _SHARED.match(TERMINAL.sub("", said))
    return [f"{match[1]} {match[2]}".rstrip(","), f"{match[1]} {match[3]}"] if match else []


def _statement(said: str, piece: str, context: _Context, terminal: str, corrects: bool) -> Statement:
    name = self_name(piece)
    if name:
        said = _CALL_ME.sub(rf"\g<1>{USER} wants to be called ", said)
    content = _sentence(_PREFERENCE.sub(rf"{USER} prefers \g<0>", said), terminal)
    how = reading(TERMINAL.sub("", content))
    leaning: Leaning = "past" if how.tense == "past" and not _SCHEDULED.search(content) else "future"
    found = tuple(dates(content, context.note.at, context.zone, leaning, how.perfect))
    reduced = skeleton(content, context.mentions, found, context.pattern)
    begins = begins_at(reduced, context.note.at) if how.mood in ("plan", "fact") else None
    filled = slot_of(begun(reduced) if begins else reduced)
    if begins and filled and not (filled.date is None and filled.slot.endswith(LATER_SLOTS)):
        begins, filled = None, slot_of(reduced)
    phrases, rule = ended(reduced, content) if how.mood == "fact" else ((), "")
    if how.mood == "plan" and not how.additional:
        phrases = being_replaced(reduced, context.note.at)
    if denied := never_was(reduced) if how.mood in ("fact", "past") else ():
        phrases, rule = denied, "never"
    if not found and how.tense == "past" and context.shared and not _NOW.search(content):
        found = tuple(replace(one, start=0, end=0) for one in context.shared)
    return Statement(
        content=content,
        reading=how,
        skeleton=reduced,
        dates=found,
        filled=filled if filled and _may_fill(how, filled, begins) else None,
        begins=begins if filled else None,
        ends=phrases,
        corrects=corrects or rule in ("not-but", "never"),
        user_name=name,
    )


def _may_fill(how: Reading, filled: Filled, begins: Dated | None) -> bool:
    """Facts fill slots; a plan tells the date of something or when it begins, a wish at most what the user is called."""
    if how.additional:
        return False
    return (
        how.mood == "fact"
        or (how.mood == "plan" and (filled.date is not None or begins is not None))
        or (how.mood == "possible" and filled.slot == "name")
    )


def _remembered(statement: Statement, context: _Context) -> Statement:
    """The statement, once the context knows its dates and the one person it is about."""
    if statement.dates and statement.reading.tense == "past":
        context.shared = statement.dates[:1]
    spoken = found_mentions(statement.content, context.mentions, context.pattern)
    people = {context.mentions[at].name for _, _, at in spoken if context.mentions[at].kind == "Person"}
    things = {context.mentions[at].name for _, _, at in spoken if context.mentions[at].kind in _THINGS}
    if len(things) == 1 and _PRESENTS.search(statement.content.replace(thing := next(iter(things)), "\0")):
        context.thing = thing
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
    text = " ".join(TERMINAL.sub("", said).split()).strip(" ,;:")
    text = re.sub(r"^(?:that|and|but)\s+(?=\w)", "", text)
    text = f"{text[:1].upper()}{text[1:]}" if text[:1].islower() and not re.match(r"[a-z]+[A-Z]", text) else text
    return f"{text}{terminal}" if not text.endswith(("?", "!", "…")) else text
