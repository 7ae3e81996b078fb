"""
Extract the memories of a note: one per sentence, in the note's words, with its dates, its slot and what it ends.

A sentence is split into two clauses only if each states something that may end without the other, and keeps its meaning by itself.
A sentence that depends on the one before it ("She is fine.") is kept with it. Code, lists, tables, minutes and languages that the
rules cannot read are one memory each. Questions, greetings and thanks are drafts with the reason why they make no memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo

from memento.consolidation.agents import USER, Draft, Mention, Stated
from memento.consolidation.rules.ends import affirm
from memento.consolidation.rules.patterns import signs
from memento.consolidation.rules.relations import relations
from memento.consolidation.rules.skeleton import found_mentions, mention_pattern
from memento.consolidation.rules.slots import Filled, slot_of, suppose
from memento.consolidation.rules.statements import Passage, Statement, passages
from memento.consolidation.rules.ties import read_ties
from memento.consolidation.rules.wording import MOST, is_label_of_somebody, is_verbless, with_dates
from memento.model import Note, User
from memento.text.dates import Dated, dates, zone_of
from memento.text.mood import reading
from memento.text.sentences import is_readable, sentences, split_read

_STATES = frozenset({"use", "work", "live", "prefer", "partner", "member", "report"})
"""Relations of the user to something named that another note may end."""
_FIRST_PLURAL = re.compile(r"\b(?:we|us|our|ours|ourselves)\b", re.IGNORECASE)
_US = re.compile(r"\bUS\b")
_USER = re.compile(rf"\b{USER}\b")
JOINED = 280
"""The longest memory, in characters, to which a dependent sentence is still added."""


def drafts(note: Note, mentions: Sequence[Mention], user: User, zone: str = "UTC") -> list[Draft]:
    """Return the facts of a note, in order; `noise` of a draft says why it makes no memory. A blank note has none."""
    found: list[Draft] = []
    pattern = mention_pattern(mentions)
    clock = zone_of(zone)
    heading: list[Passage] = []  # fragments that say nothing by themselves and go with what comes next
    for passage in passages(note, mentions, user, zone):
        before = found[-1] if found else None
        if before is not None and _may_join(before, passage, note):
            found[-1] = _joined(before, passage, mentions, note, pattern, user)
        elif _is_heading(passage) or (heading and _is_answer(passage)):
            heading.append(passage)
            continue
        else:
            told = _drafts_of(passage, mentions, note, pattern, user, clock)
            if heading and _may_head(heading, told):
                told = [_headed(heading, told[0], mentions, pattern, user)]
                heading = []
            found += _drafts_of_headings(heading, mentions, pattern, user) + told
        heading = []
    found += _drafts_of_headings(heading, mentions, pattern, user)
    if rest := split_read(note.content)[1].strip():
        found.append(Draft(content=rest, about=(USER,)))
    if not found and note.content.strip():
        found = [Draft(content=note.content.strip(), about=(), noise="it has no words")]
    found = [replace(one, states=_once((*one.states, *read_ties(one.content, one.about)))) for one in found]
    return _settled(found if note.session is None else _turn(found))


def _drafts_of(
    passage: Passage,
    mentions: Sequence[Mention],
    note: Note,
    pattern: re.Pattern[str] | None,
    user: User,
    zone: tzinfo,
) -> list[Draft]:
    if passage.noise:
        return [Draft(content=passage.words, about=(), noise=passage.noise)]
    if passage.unread:
        about = _about(passage.words, mentions, pattern, user)
        return [Draft(content=passage.words, about=about, remark=passage.unread)]
    told = [one for one in passage.statements if one.filled or one.ends or one.user_name]
    differ = len(told) > 1 and len({_key(one) for one in told}) > 1
    differ = differ or len({_times(one, note) for one in passage.statements}) > 1
    if differ and all(one.stands for one in passage.statements):
        return [
            draft
            for one in passage.statements
            for draft in _draft(one.words, one, passage.statements, mentions, note, pattern, user, zone)
        ]
    main = next(iter(told), None) or next(iter(passage.statements), None)
    if main is None:
        about = _about(passage.words, mentions, pattern, user)
        return [Draft(content=passage.words, about=about, corrects=passage.corrects)]
    words = main.words if len(passage.statements) == 1 and main.stands else passage.words
    return _draft(words, main, passage.statements, mentions, note, pattern, user, zone)


def _key(statement: Statement) -> tuple[str, ...]:
    return (statement.filled.subject, statement.filled.slot) if statement.filled else ("", *statement.ends)


def _draft(
    words: str,
    statement: Statement,
    beside: Sequence[Statement],
    mentions: Sequence[Mention],
    note: Note,
    pattern: re.Pattern[str] | None,
    user: User,
    zone: tzinfo,
) -> list[Draft]:
    filled = statement.filled
    valid_at, event_at, until = _times(statement, note)
    about = _about(words, mentions, pattern, user)
    if USER not in about and ((filled and filled.subject == USER) or _USER.search(statement.content)):
        about = (USER, *about)
    here = dates(words, note.at, str(zone), "past" if statement.reading.tense == "past" else "future")
    draft = Draft(
        content=with_dates(words, here, zone),
        about=about,
        valid_at=valid_at,
        event_at=event_at,
        until=until,
        ends=tuple(
            dict.fromkeys(
                phrase for one in (beside if words != statement.words else (statement,)) for phrase in one.ends
            )
        ),
        corrects=statement.corrects,
        user_name=statement.user_name,
        reads=statement.content,
        mood="fact" if statement.reading.mood == "command" else statement.mood,
        states=tuple(_states(beside if words != statement.words else (statement,), valid_at, until))
        + _titles(beside if words != statement.words else (statement,), valid_at, until),
    )
    if filled is None:
        return [draft]
    return [replace(draft, subject=filled.subject, slot=filled.slot, slot_value=filled.value, sure=filled.sure)]


def _states(found: Sequence[Statement], since: datetime | None, until: datetime | None) -> Iterator[Stated]:
    """Yield the relations that some statements state or deny."""
    for one in found:
        denied = affirm(one.skeleton) if one.states is None else None
        filled = slot_of(denied) if denied else one.states or _supposed(one)
        if filled:
            yield Stated(
                subject=filled.subject,
                relation=filled.slot,
                value=filled.value,
                polarity=denied is None,
                mood=one.mood,
                since=since,
                until=until,
            )


def _once(stated: Iterable[Stated]) -> tuple[Stated, ...]:
    """Remove repeated statements; those of the clauses come before those made in passing."""
    found: dict[tuple[object, ...], Stated] = {}
    for one in stated:
        found.setdefault((one.subject, one.relation, one.value.casefold(), one.polarity, one.mood), one)
    return tuple(found.values())


def _supposed(one: Statement) -> Filled | None:
    return suppose(one.skeleton) if one.mood not in ("fact", "past") and one.reading.mood != "command" else None


def _titles(found: Sequence[Statement], since: datetime | None, until: datetime | None) -> tuple[Stated, ...]:
    """Return the job titles next to an employer: "a data scientist at Google"."""
    return tuple(
        Stated(subject=one.filled.subject, relation="job title", value=one.filled.role, since=since, until=until)
        for one in found
        if one.filled and one.filled.role
    )


def _may_join(before: Draft, passage: Passage, note: Note) -> bool:
    """
    Tell whether a sentence is kept with the one before it, because it depends on it.

    A sentence that begins with a pronoun whose meaning is certain can stand by itself. It does if it states something that may end
    without the other, or is about another time.
    """
    if before.noise or before.remark or passage.unread or passage.corrects:
        return False
    if not (passage.leans or is_label_of_somebody(passage.words)):
        return False
    if passage.noise and not passage.is_fragment:
        return False
    if len(before.content) + len(passage.words) > JOINED:
        return False
    tells = _tells(passage)
    if is_label_of_somebody(passage.words):
        return True
    if is_verbless(passage.words, MOST):
        return not tells
    if not passage.statements or not all(one.stands for one in passage.statements):
        return True
    return not tells and {_times(one, note) for one in passage.statements} == {
        (before.valid_at, before.event_at, before.until)
    }


def _is_heading(passage: Passage) -> bool:
    """
    Tell whether a sentence introduces the next one, or is a question that the next one answers: "Dentist.", "How much was it?".
    """
    return (passage.is_fragment and not passage.words.endswith("!")) or passage.noise == "it is a question"


def _is_answer(passage: Passage) -> bool:
    if passage.words.rstrip("!").endswith("?"):
        return False
    return passage.is_fragment or (is_verbless(passage.words, MOST) and not passage.noise and not _tells(passage))


def _tells(passage: Passage) -> bool:
    return any(one.filled or one.ends or one.user_name for one in passage.statements)


def _may_head(heading: Sequence[Passage], told: Sequence[Draft]) -> bool:
    """Tell whether the fragments belong to the one draft after them; a question only belongs to its answer."""
    if len(told) != 1 or told[0].noise or told[0].remark or told[0].slot or told[0].ends or told[0].corrects:
        return False
    return (
        heading[0].noise != "it is a question"
        and len(told[0].content) + sum(len(one.words) for one in heading) <= JOINED
    )


def _headed(
    heading: Sequence[Passage], told: Draft, mentions: Sequence[Mention], pattern: re.Pattern[str] | None, user: User
) -> Draft:
    content = " ".join([*(one.words for one in heading), told.content])
    return replace(told, content=content, about=_about(content, mentions, pattern, user), reads="")


def _drafts_of_headings(
    heading: Sequence[Passage], mentions: Sequence[Mention], pattern: re.Pattern[str] | None, user: User
) -> list[Draft]:
    """Return one draft for several fragments, or for a question with its answer; a single one makes no memory."""
    answers = [one for one in heading if not one.noise or one.is_fragment]
    if len(heading) > 1 and answers and heading[-1] in answers:
        content = " ".join(one.words for one in heading)
        return [Draft(content=content, about=_about(content, mentions, pattern, user))]
    return [Draft(content=one.words, about=(), noise=one.noise) for one in heading]


def _joined(
    before: Draft,
    passage: Passage,
    mentions: Sequence[Mention],
    note: Note,
    pattern: re.Pattern[str] | None,
    user: User,
) -> Draft:
    text = (
        before.content
        if signs()["terminal"].search(before.content) or before.content[-1] in "?:)"
        else f"{before.content}."
    )
    content = f"{text} {passage.words}"
    ends = tuple(dict.fromkeys((*before.ends, *(phrase for one in passage.statements for phrase in one.ends))))
    reads = before.reads if before.slot or before.ends else ""  # two sentences are read as two
    told = replace(before, content=content, about=_about(content, mentions, pattern, user), ends=ends, reads=reads)
    if not passage.statements or before.valid_at or before.event_at or before.until:
        return told
    if not is_verbless(passage.words, MOST):
        return told
    valid_at, event_at, until = _times(passage.statements[0], note)
    if until and len(sentences(before.content)) > 1:
        return told  # the end that one of several sentences states does not apply to the others
    return replace(told, valid_at=valid_at, event_at=event_at, until=until)


def _turn(found: Sequence[Draft]) -> list[Draft]:
    """
    Join the drafts of one turn of a conversation: neighbours become one memory unless one of them may end or they began at two
    times.

    The sentences of a turn depend on each other, and a turn in many pieces crowds others out of recall. At most one of the joined
    drafts ends a known memory; that one is compared.
    """
    joined: list[Draft] = []
    for draft in found:
        before = joined[-1] if joined else None
        if before is not None and _may_share(before, draft):
            text = (
                before.content if signs()["terminal"].search(before.content) or before.noise else f"{before.content}."
            )
            joined[-1] = replace(
                before,
                content=f"{text} {draft.content}",  # it has several sentences and is read as such
                about=tuple(dict.fromkeys((*before.about, *draft.about))),
                noise=before.noise and draft.noise,
                reads=next((one.reads for one in (before, draft) if _retires(one)), ""),
                ends=(*before.ends, *draft.ends),
                corrects=before.corrects or draft.corrects,
                states=(*before.states, *draft.states),
                user_name=before.user_name or draft.user_name,
                valid_at=before.valid_at or draft.valid_at,
                event_at=before.event_at or draft.event_at,
                mood=before.mood if before.mood == draft.mood else "fact",
            )
        else:
            joined.append(draft)
    return [draft if draft.about or draft.noise else replace(draft, about=(USER,)) for draft in joined]


def _may_share(one: Draft, other: Draft) -> bool:
    if not (_is_plain(one) and _is_plain(other)) or (_retires(one) and _retires(other)):
        return False
    return one.valid_at == other.valid_at or None in (one.valid_at, other.valid_at)


def _retires(draft: Draft) -> bool:
    return bool(draft.ends) or draft.corrects


def _is_plain(draft: Draft) -> bool:
    """Tell whether a draft may share a memory: it fills no slot, and is no state of something named that may end later."""
    if draft.slot or draft.until:
        return False
    if not is_readable(draft.content):
        return True
    how = reading(signs()["terminal"].sub("", draft.reads or draft.content))
    if how.mood != "fact" or how.tense == "past" or all(name == USER for name in draft.about):
        return True
    return not (draft.content.startswith(f"{USER} ") and relations(draft.content) & _STATES)


def _times(statement: Statement, note: Note) -> tuple[datetime | None, datetime | None, datetime | None]:
    """
    Return when a statement began to hold, the date it is about, and when it stops holding.

    A state or a past event has the first, something scheduled the second, something limited the third.
    """
    filled = statement.filled
    if filled and filled.date:
        return None, filled.date.value, None
    if filled and statement.begins:
        return statement.begins.value, None, _bound(statement, note)
    if filled and filled.slot.endswith(("birthday", "date of birth")):
        return None, None, None
    first = next((one for one in statement.dates if one.role in ("since", "for")), None) or next(
        (one for one in statement.dates if one.role != "until" and not _is_bound(one, statement)), None
    )
    first = _exact(first, statement)
    until = _bound(statement, note)
    if first is None:
        # "by Friday" is a deadline; what holds "until Friday" ends then.
        due = next((one for one in statement.dates if one.role == "until" and not _is_bound(one, statement)), None)
        return None, due.value if due and due.value > note.at else None, until
    if first.value > note.at:
        starts = first.role == "since" and statement.reading.tense == "present"
        return (first.value, None, until) if starts else (None, first.value, until)
    if statement.reading.tense == "past" or first.role in ("since", "for"):
        return first.value, None, until
    return None, first.value, until


def _exact(first: Dated | None, statement: Statement) -> Dated | None:
    """Return the exact day if it follows its relative form: "two years ago, on 29 February 2024"."""
    if first is None or "ago" not in statement.content[first.start : first.end]:
        return first
    return next((one for one in statement.dates if 0 <= one.start - first.end <= 3 and one.role == "at"), first)


def _bound(statement: Statement, note: Note) -> datetime | None:
    """Return when a state ends if the note says how long it lasts."""
    found = next((one for one in statement.dates if _is_bound(one, statement)), None)
    if found is None or found.value <= note.at or statement.reading.mood not in ("fact", "plan"):
        return None
    return found.value


def _is_bound(one: Dated, statement: Statement) -> bool:
    """Tell whether a date ends a state: "until May", or the second of "from March to May"."""
    lead = (statement.content[one.start : one.end].split() or [""])[0].lower()
    return lead in ("until", "till", "through", "'til", "til") or (lead == "to" and _is_second(one, statement))


def _is_second(one: Dated, statement: Statement) -> bool:
    return any(
        other.end <= one.start
        and one.start - other.end <= 2
        and statement.content[other.start : other.end].lower().startswith("from ")
        for other in statement.dates
    )


def _about(content: str, mentions: Sequence[Mention], pattern: re.Pattern[str] | None, user: User) -> tuple[str, ...]:
    """List what a memory is about: the user if it mentions them or names nothing, and each named thing in order."""
    named = [mentions[at].name for _, _, at in found_mentions(content, mentions, pattern)]
    first = re.escape(user.name.split()[0]) if user.name and user.name.strip() else ""
    called = first and re.search(rf"(?<!\w){first}(?!\w)", content)
    mine = re.search(rf"\b{USER}\b", content) or called or _FIRST_PLURAL.search(_US.sub("", content))
    return tuple(dict.fromkeys([*([USER] if mine or not named else []), *named]))


def _settled(found: list[Draft]) -> list[Draft]:
    """Fill each slot only once: of two values in one note the later one counts, in the draft that first gave it."""
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
