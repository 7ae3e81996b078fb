"""
What a model answered, as decisions: its ids checked against those it was shown, its counts and order put right.

*Guarantees:* never raises for what an answer says. An unknown id, a missing or a doubled decision concerns that decision alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from memento.consolidation.agents import (
    USER,
    Add,
    Candidate,
    Decision,
    Draft,
    Existing,
    Extraction,
    Invalidate,
    Mention,
    Resolution,
    Resolved,
    Skip,
    Target,
)
from memento.consolidation.models.forms import (
    Entities,
    EntityChoice,
    EntityChoices,
    Fact,
    Facts,
    MemoryChoice,
    MemoryChoices,
)
from memento.consolidation.models.shown import named
from memento.consolidation.settle import is_user
from memento.iris import IRI
from memento.model import Mode, Note, User
from memento.search.found import content_hash
from memento.text.dates import dates
from memento.text.words import MONTHS, NUMBER_WORDS, WEEKDAYS
from memento.time import utc

_CALLED = re.compile(
    rf"\b{USER}(?:['’]s\s+(?:first\s+)?name\s+is|\s+is\s+(?:called|named)|\s+goes\s+by(?:\s+the\s+name(?:\s+of)?)?)\s+"
    r"(?P<name>[^\W\d_]+(?:['’-][^\W\d_]+)*)"
)
_YEARS = (1000, 9998)
_WORDS = re.compile(r"[^\W_]+")
_NUMBERS = re.compile(r"\d+")
_INSIDE = re.compile(r"(?<=[a-z,;] )[A-Z\u00c0-\u00de][^\W_]+")
"""A word that has a capital though no sentence begins with it."""


def normal_name(name: str) -> str:
    """
    A name as an index has it: a part in lower case gets a capital, all other spelling stays.

    >>> normal_name("new york"), normal_name("eBay"), normal_name("aws lambda"), normal_name("jean-luc")
    ('New York', 'eBay', 'Aws Lambda', 'Jean-Luc')
    """
    parts = re.split(r"([\s-]+)", name.strip())
    return "".join(part[:1].upper() + part[1:] if part.islower() else part for part in parts)


def extraction(answer: Entities, user: User) -> Extraction:
    """The things named, each once, without the user."""
    mentions: dict[tuple[str, str], Mention] = {}
    for entity in answer.entities:
        name = normal_name(entity.name)
        if not name or is_user(name, entity.type, user.name):
            continue
        mention = Mention(
            name=name,
            kind=entity.type,
            description=entity.description.strip(),
            is_well_known=entity.isWellKnown,
            aliases=tuple(a.strip() for a in entity.aliases if a.strip() and a.strip().casefold() != name.casefold()),
        )
        mentions.setdefault((name.casefold(), entity.type), mention)
    once = {mention.name.casefold(): mention for mention in reversed(mentions.values())}
    facts = (answer.userBiographicalFacts or "").strip()
    return Extraction(mentions=tuple(reversed(once.values())), biography=facts or None)


def resolved(answer: EntityChoices, mentions: Sequence[tuple[Mention, Sequence[Candidate]]], user: User) -> Resolved:
    """One resolution for each mention, in their order. The same name and kind is the same thing, whatever was answered."""
    said: dict[str, EntityChoice] = {}
    for choice in answer.entities:
        said.setdefault(choice.id, choice)
    resolutions = tuple(
        _resolution(mention, candidates, said.get(named("e", place)), named("e", place))
        for place, (mention, candidates) in enumerate(mentions)
    )
    update = answer.userDescriptionUpdate
    fresh = update.newDescription.strip() if update and update.shouldUpdate else ""
    return Resolved(resolutions=resolutions, user_description=fresh if fresh and fresh != user.description else None)


def drafts(answer: Facts, note: Note, mentions: Sequence[Mention]) -> list[Draft]:
    """The facts as drafts: each once, about names that exist, at times that can be."""
    names = {label.casefold(): mention.name for mention in mentions for label in (*mention.aliases, mention.name)}
    found: dict[str, Draft] = {}
    for fact in answer.memories:
        if content := " ".join(fact.content.split()):
            found.setdefault(content_hash(content), _draft(fact, content, names, note))
    return list(found.values())


def ungrounded(found: Sequence[Draft], note: Note, mentions: Sequence[Mention], user: User) -> list[Draft]:
    """The drafts that have a name, a number or a date which neither the note nor what was given beside it has."""
    given = " ".join(
        [note.content, user.name or "", *(label for mention in mentions for label in (mention.name, *mention.aliases))]
    )
    words = {word.casefold() for word in _WORDS.findall(given)}
    stems = {word[:5] for word in words}
    days = [note.at, *(one.value for one in dates(note.content, note.at))]
    numbers = set(_NUMBERS.findall(given)) | {str(part) for day in days for part in (day.year, day.month, day.day)}
    numbers |= {f"{part:02}" for day in days for part in (day.month, day.day)}
    numbers |= {str(NUMBER_WORDS[word]) for word in words if word in NUMBER_WORDS}
    return [draft for draft in found if not _is_grounded(draft.content, stems, numbers)]


def grounded(found: Sequence[Draft], note: Note, mentions: Sequence[Mention], user: User) -> list[Draft]:
    """The drafts; in place of those that the note does not bear out, the note as it was said."""
    strange = ungrounded(found, note, mentions, user)
    kept = [draft for draft in found if draft not in strange]
    if strange:
        names = tuple(mention.name for mention in mentions)
        kept.append(Draft(content=note.content.strip(), about=(USER, *names)))
    return kept


def _is_grounded(content: str, stems: set[str], numbers: set[str]) -> bool:
    if not set(_NUMBERS.findall(content)) <= numbers:
        return False
    names = [word.casefold() for word in _INSIDE.findall(content) if word != USER]
    return all(name[:5] in stems or name in MONTHS or name in WEEKDAYS for name in names)


def decisions(answer: MemoryChoices, new: Sequence[Draft], existing: Sequence[Existing], note: Note) -> list[Decision]:
    """One decision for each draft, in their order; in doubt it is added."""
    said: dict[str, MemoryChoice] = {}
    for choice in answer.memories:
        said.setdefault(choice.id, choice)
    shown = {named("m", place): one for place, one in enumerate(existing)}
    ids = [named("n", place) for place in range(len(new))]
    skipped = {one for one in ids if one in said and said[one].action == "SKIP"}
    found: list[Decision] = []
    for one, draft in zip(ids, new, strict=True):
        again = _repeated(draft, existing, note)
        answered = said.get(one)
        if again:
            found.append(Skip(draft=draft, duplicate=again.memory.iri, reason="known already, in the same words"))
        elif answered is None:
            found.append(Add(draft=draft, reason="the model did not say"))
        else:
            twins = {other for other in ids if other not in skipped}
            found.append(_decision(draft, answered, shown, twins))
    return found


def instant_of(text: str | None, note: Note) -> datetime | None:
    """A time as a model writes it, or None when it is none: `2024`, `2024-05` and `2024-05-01T10:00Z` are times."""
    plain = (text or "").strip()
    if re.fullmatch(r"\d{4}(-\d{2})?", plain):
        plain = f"{plain}-01" if "-" in plain else f"{plain}-01-01"
    try:
        at = datetime.fromisoformat(plain)
        return utc(at, note.at.tzinfo or UTC) if _YEARS[0] <= at.year <= _YEARS[1] else None
    except (ValueError, OverflowError):
        return None


def _resolution(
    mention: Mention, candidates: Sequence[Candidate], choice: EntityChoice | None, entity_id: str
) -> Resolution:
    by_id = {f"{entity_id}.{number}": one.entity for number, one in enumerate(candidates, start=1)}
    matched = by_id.get(choice.matchedEntityId or "") if choice and choice.action == "MATCH" else None
    reason = (choice.reason.strip() if choice else "") or "the model did not say why"
    if matched is None:
        same = [
            one
            for one in by_id.values()
            if one.kind == mention.kind
            and mention.name.casefold() in {name.casefold() for name in (one.name, *one.aliases)}
        ]
        if not same:
            return Resolution(mention=mention, entity=None, reason=reason)
        matched, reason = same[0], "the same name and kind"
    better = ((choice.updateDescription if choice else None) or "").strip()
    return Resolution(
        mention=mention,
        entity=matched.iri,
        reason=reason,
        description=better if better and better != matched.description else None,
    )


def _draft(fact: Fact, content: str, names: dict[str, str], note: Note) -> Draft:
    wanted = [
        USER if name.strip().casefold() == USER.casefold() else names.get(name.strip().casefold())
        for name in fact.aboutEntities
    ]
    about = [name for name in wanted if name]
    if re.search(rf"\b{USER}\b", content):
        about.append(USER)
    if not about:
        about = [name for label, name in names.items() if label in content.casefold()] or [USER]
    called = _CALLED.search(content) if USER in about else None
    return Draft(
        content=content,
        about=tuple(dict.fromkeys(about)),
        valid_at=instant_of(fact.validAt, note),
        event_at=instant_of(fact.eventAt, note),
        corrects=fact.corrects,
        user_name=called["name"] if called else None,
    )


def _decision(draft: Draft, choice: MemoryChoice, shown: dict[str, Existing], twins: set[str]) -> Decision:
    reason = choice.reason.strip()
    match choice.action:
        case "SKIP" if (choice.duplicateOf or "") in shown:
            duplicate = shown[choice.duplicateOf or ""].memory
            return Skip(draft=draft, duplicate=duplicate.iri, reason=reason or f"known already: “{duplicate.content}”")
        case "SKIP" if (choice.duplicateOf or "") in twins - {choice.id}:
            return Skip(draft=draft, duplicate=None, reason=reason or "the note says it twice")
        case "INVALIDATE":
            if targets := _targets(draft, choice, shown):
                return Invalidate(draft=draft, targets=targets)
    return Add(draft=draft, reason=reason)


def _targets(draft: Draft, choice: MemoryChoice, shown: dict[str, Existing]) -> tuple[Target, ...]:
    """Those that were shown and share what they are about with the draft: a fact about one person ends nothing about another."""
    found: dict[IRI, Target] = {}
    about = {name.casefold() for name in draft.about}
    for ending in choice.invalidates:
        old = shown.get(ending.existingMemoryId)
        if old is None or not about & {name.casefold() for name in old.about}:
            continue
        reason = ending.reason.strip() or choice.reason.strip() or f"since then: {draft.content.rstrip('.!')}"
        mode: Mode = "correction" if ending.isCorrection or draft.corrects else "state-change"
        found.setdefault(old.memory.iri, Target(memory=old.memory.iri, reason=reason, mode=mode))
    return tuple(found.values())


def _repeated(draft: Draft, existing: Sequence[Existing], note: Note) -> Existing | None:
    """The memory that has the draft's very words and holds at its time; it is a duplicate, whatever a model says of it."""
    mark, began = content_hash(draft.content), draft.valid_at or note.at
    return next(
        (
            one
            for one in existing
            if one.memory.content_hash == mark
            and one.memory.event_at == draft.event_at
            and one.memory.valid_at <= began
            and (one.memory.invalid_at is None or began < one.memory.invalid_at)
        ),
        None,
    )
