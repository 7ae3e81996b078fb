"""
Ask a language model the five questions of consolidation.

*Flow:* `show_…` writes a question as JSON with short ids, after a prompt from `prompts/`. The model fills in a form, and `parse_…`
checks the answer. Rules read the claims of the facts.

*Guarantees:* a note takes at most five questions, a sixth if its facts have to be asked for again, and no more tokens than the
budget. A model's answer is never trusted: its ids must be among those that it was shown, and count and order are those of the
question. No answer raises an error: an unknown id, a missing or a duplicate decision affects only that decision.

*Because:* a model copies `m3` reliably, and a 50-character IRI with errors; and an id that was never shown can be ignored. Models
word facts freely, but recall and later notes rely on claims; if the rules find none, nothing is added.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from hashlib import sha256
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from memento import assets
from memento.consolidation.agents import (
    USER,
    Account,
    Add,
    Agents,
    Candidate,
    Decision,
    Draft,
    Existing,
    Extraction,
    Hypotheses,
    Invalidate,
    Mention,
    NotUnderstood,
    Resolution,
    Resolved,
    Skip,
    Target,
)
from memento.consolidation.settle import is_user
from memento.errors import ModelError
from memento.iris import IRI
from memento.llm import Chat, Prompt, chats_of
from memento.model import AgentKind, EntityKind, Mode, Note, User
from memento.search.nodes import content_hash
from memento.settings import ModelSettings
from memento.text.dates import dates
from memento.text.sentences import is_readable, sentences
from memento.text.tables import word_set
from memento.text.words import FIRST_NAMES, MONTHS, NUMBER_WORDS, WEEKDAYS
from memento.time import iso, utc

F = TypeVar("F", bound=BaseModel)

_CHARS_PER_TOKEN = 4
_GUESSES = 3


class ModelAgents:
    """Answers for one note by asking a model; two threads may call it."""

    kind: AgentKind = "model"

    def __init__(self, chats: Mapping[str, Chat], rules: Agents, tokens: int = 0) -> None:
        """
        Args:
            chats: the model for each of `QUESTIONS`.
            rules: read the claims of a fact, so that rules and models understand each other's memories.
            tokens: the most tokens that the note may cost; 0 means no limit.
        """
        self._chats = chats
        self._rules = rules
        self._budget = tokens
        self.name = chats["resolve_memories"].name  # the model that decides; others may answer the other questions
        self._lock = threading.Lock()
        self._calls = self._tokens = 0

    def account(self) -> Account:
        """Return the number of questions and tokens so far."""
        with self._lock:
            return Account(calls=self._calls, tokens=self._tokens, prompts=digest_prompts())

    def extract_entities(self, note: Note, user: User, *, biography: bool = True) -> Extraction:
        """Ask what the note names, never the user, and what it says of the user's life."""
        answer = self._ask("extract_entities", show_note(note, user), Entities)
        return parse_extraction(answer, note, user)

    def resolve_entities(
        self, mentions: Sequence[tuple[Mention, Sequence[Candidate]]], biography: str | None, user: User
    ) -> Resolved:
        """Ask for one resolution for each mention; ask nothing if the graph has no candidates."""
        if biography is None and not any(candidates for _, candidates in mentions):
            return parse_resolutions(EntityChoices(entities=[]), mentions, user)
        answer = self._ask("resolve_entities", show_entities(mentions, biography, user), EntityChoices)
        return parse_resolutions(answer, mentions, user)

    def hypothesise(self, memories: Sequence[Existing]) -> Hypotheses:
        """Ask for at most three guesses of each kind."""
        answer = self._ask("hypothesise", show_memories(memories), Guesses)
        return Hypotheses(
            semantic=tuple(text for text in answer.semantic if text.strip())[:_GUESSES],
            state_change=tuple(text for text in answer.stateChange if text.strip())[:_GUESSES],
        )

    def extract_memories(self, note: Note, mentions: Sequence[Mention], user: User) -> list[Draft]:
        """
        Ask for the facts of the note, and add the claims that rules read in them; return none if the note states none.

        If a fact has a name or a number that is not in the note, the question is asked once more. If one still has, the note's own
        words replace it.
        """
        shown = show_note_with_names(note, mentions, user)
        drafts = parse_drafts(self._ask("extract_memories", shown, Facts), note, mentions)
        if strange := find_ungrounded(drafts, note, mentions, user):
            shown = show_objection(shown, [draft.content for draft in strange])
            drafts = parse_drafts(self._ask("extract_memories", shown, Facts), note, mentions)
            drafts = replace_ungrounded(drafts, note, mentions, user)
        return [add_claims(one, note, mentions, user, self._rules) for one in drafts]

    def resolve_memories(self, drafts: Sequence[Draft], existing: Sequence[Existing], note: Note) -> list[Decision]:
        """Ask for one decision for each draft; ask nothing if no existing memory has to be compared."""
        if not existing:
            return parse_decisions(MemoryChoices(memories=[]), drafts, existing, note)
        answer = self._ask("resolve_memories", show_comparison(drafts, existing, note), MemoryChoices)
        return place_in_history(parse_decisions(answer, drafts, existing, note), existing, note, self._rules)

    def _ask(self, question: str, text: str, form: type[F]) -> F:
        """
        Ask one question.

        Raises:
            ModelError: the model failed, or the budget of the note is used up.
        """
        system = assets.read_prompt(question)
        with self._lock:
            expected = self._tokens + (len(system) + len(text)) // _CHARS_PER_TOKEN
            if self._budget and expected > self._budget:
                raise ModelError(
                    f"the note would cost more than {self._budget} tokens: {self._tokens} are spent before {question}; "
                    "raise model.tokens_per_note or split the note"
                )
            self._calls += 1
        try:
            reply = self._chats[question].answer(Prompt(system=system, user=text), form)
        except ModelError as error:
            self._add_tokens(error.tokens_in + error.tokens_out)
            raise
        self._add_tokens(reply.tokens_in + reply.tokens_out)
        return reply.value

    def _add_tokens(self, tokens: int) -> None:
        with self._lock:
            self._tokens += tokens


class Models:
    """Makes the agents of each note; all share the same connections."""

    def __init__(self, settings: ModelSettings, rules: Callable[[], Agents]) -> None:
        self._chats = chats_of(settings)
        self._rules = rules
        self._tokens = settings.tokens_per_note

    def __call__(self) -> Agents:
        return ModelAgents(self._chats, self._rules(), self._tokens)

    @property
    def rest_s(self) -> float:
        """Seconds until the service is asked again after repeated failures; 0 if it is asked now."""
        return max((chat.rest_s for chat in self._chats.values()), default=0.0)

    def close(self) -> None:
        """Close the connections; calling it twice is harmless."""
        for chat in self._chats.values():
            chat.close()


QUESTIONS = ("extract_entities", "resolve_entities", "hypothesise", "extract_memories", "resolve_memories")


@cache
def digest_prompts() -> str:
    """Return the SHA-256 over all prompts, in hexadecimal."""
    return sha256("\0".join(assets.read_prompt(question) for question in QUESTIONS).encode()).hexdigest()


def _text(value: Any) -> Any:
    return "" if value is None else value


Text = Annotated[str, BeforeValidator(_text)]
"""A text for which a model may write null."""


class Form(BaseModel):
    """Fields have the names that the prompts use; what is beyond them is passed over."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class NamedEntity(Form):
    name: str
    type: EntityKind
    description: Text = ""
    isWellKnown: bool = False
    aliases: list[str] = Field(default_factory=list)


class Entities(Form):
    """What a note names."""

    entities: list[NamedEntity]
    userBiographicalFacts: str | None = None


class EntityChoice(Form):
    id: str
    action: Literal["CREATE", "MATCH"]
    matchedEntityId: str | None = None
    updateDescription: str | None = None
    reason: Text = ""


class DescriptionUpdate(Form):
    newDescription: Text = ""
    shouldUpdate: bool
    reason: Text = ""


class EntityChoices(Form):
    """Which known thing each named one is."""

    entities: list[EntityChoice]
    userDescriptionUpdate: DescriptionUpdate | None = None


class Guesses(Form):
    """Memories that may exist."""

    semantic: list[str] = Field(default_factory=list)
    stateChange: list[str] = Field(default_factory=list)


class Fact(Form):
    content: str
    aboutEntities: list[str] = Field(default_factory=list)
    validAt: str | None = None
    eventAt: str | None = None
    corrects: bool = False


class Facts(Form):
    """The facts of a note."""

    memories: list[Fact]


class Ending(Form):
    existingMemoryId: str
    reason: Text = ""
    isCorrection: bool = False


class MemoryChoice(Form):
    id: str
    action: Literal["ADD", "SKIP", "INVALIDATE"]
    duplicateOf: str | None = None
    invalidates: list[Ending] = Field(default_factory=list)
    reason: Text = ""


class MemoryChoices(Form):
    """What becomes of each new fact."""

    memories: list[MemoryChoice]


def short_id(prefix: str, place: int) -> str:
    """
    >>> short_id("m", 0)
    'm1'
    """
    return f"{prefix}{place + 1}"


def show_note(note: Note, user: User) -> str:
    return _to_json({"note": note.content, **_show_user(user)})


def show_entities(mentions: Sequence[tuple[Mention, Sequence[Candidate]]], biography: str | None, user: User) -> str:
    """Show entities as e1, e2, …; the candidates of e1 are e1.1, e1.2, …"""
    entities = [
        {
            "id": short_id("e", place),
            "name": mention.name,
            "type": mention.kind,
            "description": mention.description,
            "candidates": [
                {
                    "id": f"{short_id('e', place)}.{number}",
                    "name": candidate.entity.name,
                    "type": candidate.entity.kind,
                    "description": candidate.entity.description,
                    "similarity": round(candidate.similarity, 2),
                }
                for number, candidate in enumerate(candidates, start=1)
            ],
        }
        for place, (mention, candidates) in enumerate(mentions)
    ]
    return _to_json({"entities": entities, "userFacts": biography, "userDescription": user.description})


def show_memories(found: Sequence[Existing]) -> str:
    return _to_json({"memories": [_show_existing(one) for one in found]})


def show_note_with_names(note: Note, mentions: Sequence[Mention], user: User) -> str:
    at = f"{iso(note.at)} ({note.at:%A})"
    return _to_json(
        {"note": note.content, "at": at, "entities": [mention.name for mention in mentions], **_show_user(user)}
    )


def show_comparison(drafts: Sequence[Draft], existing: Sequence[Existing], note: Note) -> str:
    """Show new facts as n1, n2, … and existing ones as m1, m2, …"""
    new = [
        {
            "id": short_id("n", place),
            "content": draft.content,
            "about": list(draft.about),
            "since": iso(draft.valid_at or note.at),
        }
        for place, draft in enumerate(drafts)
    ]
    known = [{"id": short_id("m", place), **_show_existing(one)} for place, one in enumerate(existing)]
    return _to_json({"at": iso(note.at), "new": new, "existing": known})


def show_objection(shown: str, contents: Sequence[str]) -> str:
    """Show the same question again, with what was wrong with the last answer."""
    return _to_json(
        {
            **json.loads(shown),
            "rejected": list(contents),
            "because": "each of these has a name, a number or a date that the note does not have: use the note's own words",
        }
    )


def _show_existing(one: Existing) -> dict[str, Any]:
    until = {"until": iso(one.memory.invalid_at)} if one.memory.invalid_at else {}
    return {"content": one.memory.content, "about": list(one.about), "since": iso(one.memory.valid_at), **until}


def _show_user(user: User) -> dict[str, str]:
    """Show the user's name if it is known and says something."""
    return {} if not user.name or user.name.casefold() == USER.casefold() else {"user": user.name}


def _to_json(shown: dict[str, Any]) -> str:
    return json.dumps(shown, ensure_ascii=False, indent=1)


_CALLED = re.compile(
    rf"\b{USER}(?:['’]s\s+(?:first\s+)?name\s+is|\s+is\s+(?:called|named)|\s+goes\s+by(?:\s+the\s+name(?:\s+of)?)?)\s+"
    r"(?P<name>[^\W\d_]+(?:['’-][^\W\d_]+)*)"
)
_YEARS = (1000, 9998)
_WORDS = re.compile(r"[^\W_]+")
_NUMBERS = re.compile(r"\d+")
_DATE = re.compile(r"\b\d{4}-\d\d(?:-\d\d)?\b")
_TIMES = word_set(
    "spring summer autumn fall winter day days week weeks weekend month months quarter year years decade morning noon evening "
    "night later soon ago since until till before after next last tomorrow yesterday today tonight easter christmas "
    "birthday anniversary"
) | {*MONTHS, *WEEKDAYS}
"""Words that speak of time, in addition to the dates that rules read."""

_INSIDE = re.compile(r"(?<=[a-z,;] )[A-Z\u00c0-\u00de][^\W_]+")
"""A word inside a sentence that begins with a capital."""


def normalise_name(name: str) -> str:
    """
    Capitalise the parts of a name that are in lower case; all other spelling stays.

    >>> normalise_name("new york"), normalise_name("eBay"), normalise_name("aws lambda"), normalise_name("jean-luc")
    ('New York', 'eBay', 'Aws Lambda', 'Jean-Luc')
    """
    parts = re.split(r"([\s-]+)", name.strip())
    return "".join(part[:1].upper() + part[1:] if part.islower() else part for part in parts)


def parse_extraction(answer: Entities, note: Note, user: User) -> Extraction:
    """List the entities of the answer, each once, without the user and without names that are not in the note."""
    said = {word[:5] for word in _WORDS.findall(note.content.casefold())}
    mentions: dict[tuple[str, str], Mention] = {}
    for entity in answer.entities:
        name = normalise_name(entity.name)
        if not name or is_user(name, entity.type, user.name):
            continue
        if not any({word[:5] for word in _WORDS.findall(one.casefold())} & said for one in (name, *entity.aliases)):
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


def parse_resolutions(
    answer: EntityChoices, mentions: Sequence[tuple[Mention, Sequence[Candidate]]], user: User
) -> Resolved:
    """
    Give one resolution for each mention, in their order. The same name and kind is the same thing, whatever the model answered.
    """
    choices: dict[str, EntityChoice] = {}
    for choice in answer.entities:
        choices.setdefault(choice.id, choice)
    resolutions = tuple(
        _parse_resolution(mention, candidates, choices.get(short_id("e", place)), short_id("e", place))
        for place, (mention, candidates) in enumerate(mentions)
    )
    update = answer.userDescriptionUpdate
    fresh = update.newDescription.strip() if update and update.shouldUpdate else ""
    return Resolved(resolutions=resolutions, user_description=fresh if fresh and fresh != user.description else None)


def parse_drafts(answer: Facts, note: Note, mentions: Sequence[Mention]) -> list[Draft]:
    """Turn the facts into drafts: each once, only about names that exist, only with times that are possible."""
    names = {label.casefold(): mention.name for mention in mentions for label in (*mention.aliases, mention.name)}
    drafts: dict[str, Draft] = {}
    for fact in answer.memories:
        if content := " ".join(fact.content.split()):
            drafts.setdefault(content_hash(content), _parse_draft(fact, content, names, note))
    return list(drafts.values())


def find_ungrounded(drafts: Sequence[Draft], note: Note, mentions: Sequence[Mention], user: User) -> list[Draft]:
    """Find the drafts with a name, a number or a date that is neither in the note nor in its context."""
    labels = [
        label
        for mention in mentions
        for label in (mention.name, *(mention.aliases if mention.is_well_known else ()))  # "NYC" is New York to anybody
    ]
    words = {word.casefold() for word in _WORDS.findall(" ".join([note.content, user.name or "", *labels]))}
    stems = {word[:5] for word in words}
    found = [one.value for one in dates(note.content, note.at)] if is_readable(note.content) else []
    days = {at.date() + timedelta(days=shift) for at in (note.at, *found) for shift in (-1, 0, 1)}
    numbers = {number.lstrip("0") for number in _NUMBERS.findall(" ".join([note.content, *labels]))}
    numbers |= {str(NUMBER_WORDS[word]) for word in words if word in NUMBER_WORDS}
    return [
        draft
        for draft in drafts
        if not (
            _is_grounded(draft.content, note, stems, numbers, days)
            and all(_is_time_grounded(at, note, words, days) for at in (draft.valid_at, draft.event_at))
        )
    ]


def replace_ungrounded(drafts: Sequence[Draft], note: Note, mentions: Sequence[Mention], user: User) -> list[Draft]:
    """Replace drafts that the note does not support by the note's own words."""
    strange = find_ungrounded(drafts, note, mentions, user)
    kept = [draft for draft in drafts if draft not in strange]
    if strange:
        names = tuple(mention.name for mention in mentions)
        kept.append(Draft(content=note.content.strip(), about=(USER, *names)))
    return kept


def _is_grounded(content: str, note: Note, stems: set[str], numbers: set[str], days: set[date]) -> bool:
    """
    Tell whether all dates, numbers and names of a content are among the given ones; the day of a date is not a separate number.
    """
    rest = content
    for one in reversed(dates(content, note.at)) if is_readable(content) else ():
        if one.value.date() in days:
            rest = f"{rest[: one.start]} {rest[one.end :]}"
    for match in reversed(list(_DATE.finditer(rest))):
        if any(match.group() == f"{day:%Y-%m-%d}"[: len(match.group())] for day in days):
            rest = f"{rest[: match.start()]} {rest[match.end() :]}"
    if not {number.lstrip("0") for number in _NUMBERS.findall(rest)} <= numbers:
        return False
    names = [word.casefold() for word in _INSIDE.findall(content) if word != USER]
    # The first word of a sentence has a capital anyway: it counts only if it is a known first name.
    names += [
        first.casefold() for one in sentences(content) for first in _WORDS.findall(one)[:1] if first in FIRST_NAMES
    ]
    return all(name[:5] in stems or name in MONTHS or name in WEEKDAYS for name in names)


def _is_time_grounded(at: datetime | None, note: Note, words: set[str], days: set[date]) -> bool:
    """
    Tell whether a time is supported by the note.

    It is if the note names its day or its year, or if it lies within two years of the note and the note speaks of time.
    """
    if at is None or at.date() in days or str(at.year) in words:
        return True
    return bool(words & _TIMES) and abs(at - note.at) <= timedelta(days=731)


def parse_decisions(
    answer: MemoryChoices, new: Sequence[Draft], existing: Sequence[Existing], note: Note
) -> list[Decision]:
    """Return one decision for each draft, in their order; in doubt, add it."""
    choices: dict[str, MemoryChoice] = {}
    for choice in answer.memories:
        choices.setdefault(choice.id, choice)
    shown = {short_id("m", place): one for place, one in enumerate(existing)}
    ids = [short_id("n", place) for place in range(len(new))]
    skipped = {one for one in ids if one in choices and choices[one].action == "SKIP"}
    decisions: list[Decision] = []
    for one, draft in zip(ids, new, strict=True):
        again = _find_repetition(draft, existing, note)
        answered = choices.get(one)
        if again:
            decisions.append(Skip(draft=draft, duplicate=again.memory.iri, reason="known already, in the same words"))
        elif answered is None:
            decisions.append(Add(draft=draft, reason="the model did not say"))
        else:
            twins = {other for other in ids if other not in skipped}
            decisions.append(_parse_decision(draft, answered, shown, twins))
    return decisions


def parse_instant(text: str | None, note: Note) -> datetime | None:
    """Parse a time as a model writes it (`2024`, `2024-05`, `2024-05-01T10:00Z`); None if it is no time."""
    plain = (text or "").strip()
    if re.fullmatch(r"\d{4}(-\d{2})?", plain):
        plain = f"{plain}-01" if "-" in plain else f"{plain}-01-01"
    try:
        at = datetime.fromisoformat(plain)
        return utc(at, note.at.tzinfo or UTC) if _YEARS[0] <= at.year <= _YEARS[1] else None
    except (ValueError, OverflowError):
        return None


def _parse_resolution(
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


def _parse_draft(fact: Fact, content: str, names: dict[str, str], note: Note) -> Draft:
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
        valid_at=parse_instant(fact.validAt, note),
        event_at=parse_instant(fact.eventAt, note),
        corrects=fact.corrects,
        user_name=called["name"] if called else None,
    )


def _parse_decision(draft: Draft, choice: MemoryChoice, shown: dict[str, Existing], twins: set[str]) -> Decision:
    reason = choice.reason.strip()
    match choice.action:
        case "SKIP" if (choice.duplicateOf or "") in shown:
            duplicate = shown[choice.duplicateOf or ""].memory
            return Skip(draft=draft, duplicate=duplicate.iri, reason=reason or f"known already: “{duplicate.content}”")
        case "SKIP" if (choice.duplicateOf or "") in twins - {choice.id}:
            return Skip(draft=draft, duplicate=None, reason=reason or "the note says it twice")
        case "INVALIDATE":
            if targets := _parse_targets(draft, choice, shown):
                return Invalidate(draft=draft, targets=targets)
    return Add(draft=draft, reason=reason)


def _parse_targets(draft: Draft, choice: MemoryChoice, shown: dict[str, Existing]) -> tuple[Target, ...]:
    """Choose the targets that were shown and share a subject with the draft: a fact about one person ends none about another."""
    targets: dict[IRI, Target] = {}
    about = {name.casefold() for name in draft.about}
    for ending in choice.invalidates:
        old = shown.get(ending.existingMemoryId)
        if old is None or not about & {name.casefold() for name in old.about}:
            continue
        reason = ending.reason.strip() or choice.reason.strip() or f"since then: {draft.content.rstrip('.!')}"
        mode: Mode = "correction" if ending.isCorrection or draft.corrects else "state-change"
        targets.setdefault(old.memory.iri, Target(memory=old.memory.iri, reason=reason, mode=mode))
    return tuple(targets.values())


def _find_repetition(draft: Draft, existing: Sequence[Existing], note: Note) -> Existing | None:
    """Find the memory with exactly the draft's words that holds at its time: a duplicate, whatever a model says."""
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


def add_claims(draft: Draft, note: Note, mentions: Sequence[Mention], user: User, rules: Agents) -> Draft:
    """Add the claims that rules read in the words of a fact, if they read it as one passage."""
    try:
        read = rules.extract_memories(replace(note, content=draft.content), mentions, user)
    except NotUnderstood:
        return draft
    if len(read) != 1 or read[0].content != draft.content:
        return draft
    owners = {*draft.about, USER, ""}
    return replace(
        draft,
        claims=tuple(claim for claim in read[0].claims if claim.owner in owners),
        sentences=read[0].sentences,
        user_name=draft.user_name or read[0].user_name,
    )


def place_in_history(
    decisions: Sequence[Decision], existing: Sequence[Existing], note: Note, rules: Agents
) -> list[Decision]:
    """Add to a decision about the past what followed it, by its claims, if the model has not named anything."""
    return [_place_decision(decision, existing, note, rules) for decision in decisions]


def _place_decision(decision: Decision, existing: Sequence[Existing], note: Note, rules: Agents) -> Decision:
    if isinstance(decision, Skip) or not decision.draft.claims:
        return decision
    try:
        [by_rules] = rules.resolve_memories([decision.draft], existing, note)
    except NotUnderstood:
        return decision
    if isinstance(by_rules, Skip) or not by_rules.successors:
        return decision
    successors = decision.successors or by_rules.successors
    # A fact that is told late also moves the end of the memory before it, from the beginning of the later memory to its own.
    over = {one.memory.iri for one in existing if one.memory.invalid_at is not None}
    earlier = by_rules.targets if isinstance(by_rules, Invalidate) else ()
    targets = decision.targets if isinstance(decision, Invalidate) else ()
    targets += tuple(one for one in earlier if one.memory in over and one.memory not in {t.memory for t in targets})
    if targets:
        return Invalidate(draft=decision.draft, targets=targets, successors=successors)
    return Add(draft=decision.draft, reason=successors[0].reason, successors=successors)
