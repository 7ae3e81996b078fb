"""
The memories in a note: one draft for each statement, in the third person, with its dates, its slot and what it ends.

Questions, greetings and words that only announce what follows ("Please note:") yield nothing, unless the note has nothing
else: then it is one draft as a whole. What is asked for ("Remember to feed Rex.") is kept as it was said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memento.consolidation.agents import USER, Draft, Mention
from memento.consolidation.rules.moods import reading
from memento.consolidation.rules.person import third_person
from memento.consolidation.rules.relations import relations
from memento.consolidation.rules.sentences import is_readable, sentences
from memento.consolidation.rules.skeleton import found_mentions, mention_pattern
from memento.consolidation.rules.statements import LONGEST, TERMINAL, Statement, statements
from memento.model import Note, User

_STATES = frozenset({"use", "work", "live", "prefer", "partner", "member", "report"})
"""Relations of a user to something named that another note may end."""
_ANAPHORIC = re.compile(
    r"^(?:(?:his|her|its|their)\s+name(?:['’]s)?|it|they|that|this|these|those|he|she|them|both)(?:['’]\w+)?\s",
    re.IGNORECASE,
)


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
    return _settled(found if note.session is None else _turn(found, note, user))


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
        and bool(_ANAPHORIC.match(statement.content[:80]))
    )


def _continued(
    before: Draft, statement: Statement, mentions: Sequence[Mention], pattern: re.Pattern[str] | None
) -> Draft:
    content = f"{_with_end(before.content)} {statement.content}"
    return replace(before, content=content, about=_about(content, mentions, pattern))


def _turn(found: Sequence[Draft], note: Note, user: User) -> list[Draft]:
    """The drafts of a turn of a conversation; where they are one that fills and ends nothing, the turn as it was said."""
    joined = _told_together(found)
    if len(joined) == 1 and _is_plain(joined[0]) and len(note.content) <= LONGEST:
        content = " ".join(third_person(sentence, user) for sentence in sentences(note.content))
        return [replace(joined[0], content=content)]
    return joined


def _told_together(found: Sequence[Draft]) -> list[Draft]:
    """
    The drafts of one turn of a conversation: neighbours that fill and end nothing, and hold from the same time on, are one.

    Sentences of a turn lean on each other, and a turn that is cut up crowds others out of what is recalled.
    """
    joined: list[Draft] = []
    for draft in found:
        before = joined[-1] if joined else None
        if before is not None and _is_plain(before) and _is_plain(draft) and _one_time(before, draft):
            content = f"{_with_end(before.content)} {draft.content}"
            about = tuple(dict.fromkeys((*before.about, *draft.about)))
            joined[-1] = replace(before, content=content, about=about)
        else:
            joined.append(draft)
    return joined


def _with_end(content: str) -> str:
    """The text with a full stop where it has no end: enough of it is looked at to see one."""
    return content if TERMINAL.search(content[-80:]) else f"{content}."


def _is_plain(draft: Draft) -> bool:
    """Whether a draft may share a memory: it fills and ends nothing, and is no state of something named that may end some day."""
    if draft.slot or draft.ends or draft.corrects or draft.user_name:
        return False
    if not is_readable(draft.content):
        return True
    how = reading(TERMINAL.sub("", draft.content))
    if how.mood != "fact" or how.tense == "past" or all(name == USER for name in draft.about):
        return True
    return not (draft.content.startswith(f"{USER} ") and relations(draft.content) & _STATES)


def _one_time(one: Draft, other: Draft) -> bool:
    return one.valid_at == other.valid_at and one.event_at == other.event_at


def _times(statement: Statement, note: Note) -> tuple[datetime | None, datetime | None]:
    """(when it began to hold, what date it is about): a state or a past event has the first, what is scheduled the second."""
    filled = statement.filled
    if filled and filled.date:
        return None, filled.date.value
    if filled and statement.begins:
        return statement.begins.value, None
    if filled and filled.slot.endswith(("birthday", "date of birth")):
        return None, None
    first = next((one for one in statement.dates if one.role in ("since", "for")), None) or next(
        iter(statement.dates), None
    )
    if first is None:
        return None, None
    if first.value > note.at:
        starts = first.role == "since" and statement.reading.tense == "present"
        return (first.value, None) if starts else (None, first.value)
    if statement.reading.tense == "past" or first.role in ("since", "for"):
        return first.value, None
    return (None, first.value) if first.role != "until" else (None, None)


def _about(content: str, mentions: Sequence[Mention], pattern: re.Pattern[str] | None) -> tuple[str, ...]:
    """The user if the memory speaks of them, and each named thing in order; the user alone when nothing is named."""
    named = [mentions[at].name for _, _, at in found_mentions(content, mentions, pattern)]
    user = [USER] if re.search(rf"\b{USER}\b", content) or not named else []
    return tuple(dict.fromkeys([*user, *named]))


def _settled(found: list[Draft]) -> list[Draft]:
    """The same drafts, with each slot filled once: of two values in one note the later one counts, where it was first told."""
    last: dict[tuple[str | None, str], int] = {}
    for at, draft in enumerate(found):
        if draft.slot:
            before = last.get((draft.subject, draft.slot))
            if before is None or found[before].slot_value != draft.slot_value:
                last[draft.subject, draft.slot] = at
    return [
        draft
        if draft.slot is None or last[draft.subject, draft.slot] == at
        else replace(draft, subject=None, slot=None, slot_value=None)
        for at, draft in enumerate(found)
    ]
