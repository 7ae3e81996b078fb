"""
Answer the five questions of consolidation without a model: passages in the note's own words, and the claims that a parser reads.

*Flow:*

    extract_entities   text.names, and the owners and values of claims
    resolve_entities   the same name, an acronym, a company's suffix, the one person of a first name
    extract_memories   passages → text.claims → drafts
    resolve_memories   endings

*Guarantees:* the text of a draft is a span of the note, unchanged. Where the reader fails on a note, `NotUnderstood` is raised,
and the note is kept in its own words.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo
from functools import cache

from memento.consolidation.agents import (
    BY_CLAIMS,
    NEW,
    USER,
    Account,
    Add,
    Candidate,
    Decision,
    Draft,
    Existing,
    Extraction,
    Held,
    Hypotheses,
    Invalidate,
    Mention,
    NotUnderstood,
    Resolution,
    Resolved,
    Rival,
    Skip,
    Successor,
    Target,
)
from memento.consolidation.dating import date_claims, date_passage
from memento.consolidation.endings import explain_succession, is_renamed, judge, same_value
from memento.consolidation.passages import Passage, cut_note
from memento.errors import MementoError
from memento.iris import IRI
from memento.model import AgentKind, Entity, Note, Spared, User
from memento.text.claims import Assertion, find_person, read_claims
from memento.text.dates import zone_of
from memento.text.kinds import is_short_form
from memento.text.names import mentions as find_mentions
from memento.text.noise import explain_noise
from memento.text.sentences import introduced, split_read
from memento.text.tables import LEXICON, load, word_set
from memento.text.words import BIOGRAPHICAL, normal

logger = logging.getLogger(__name__)

_SMALL = word_set("of the and for de di von van der")
_DAY = timedelta(days=1)


@cache
def correction_phrases() -> tuple[str, ...]:
    """Return the phrases that say that something told before was never true."""
    return tuple(load(LEXICON / "claims.toml")["correcting"].split("|"))


@contextmanager
def keep_if_failing() -> Iterator[None]:
    """Raise `NotUnderstood` where reading fails on what nobody thought of; the log says what and where, without a word of it."""
    try:
        yield
    except (MementoError, NotUnderstood):
        raise
    except Exception as error:
        at = error.__traceback__
        while at and at.tb_next:
            at = at.tb_next
        failure = (
            f"{type(error).__name__} at {at.tb_frame.f_code.co_name}:{at.tb_lineno}" if at else type(error).__name__
        )
        logger.warning("rules.failed", extra={"failure": failure})
        raise NotUnderstood(f"the rules failed on it ({failure}), so it is kept in its own words") from None


class RuleAgents:
    """Answers by rules; `zone` is the user's time zone, which sets where days begin."""

    name = "rules"
    kind: AgentKind = "rules"

    def __init__(self, zone: str = "UTC") -> None:
        self._zone = zone_of(zone)
        self._read: tuple[Note, tuple[Mention, ...]] | None = None
        self._drafts: list[Draft] = []

    def account(self) -> Account:
        """Return an empty account: rules use no tokens."""
        return Account()

    def extract_entities(self, note: Note, user: User, *, biography: bool = True) -> Extraction:
        """Extract what the note names: by spelling, and by what owns a claim or is its value."""
        with keep_if_failing():
            claims = read_claims(split_read(note.content)[0])
            mentions = [_recognise_person(one, claims) for one in find_mentions(note.content, user)]
            return Extraction(mentions=(*mentions, *_find_owners(claims, mentions)))

    def resolve_entities(
        self, mentions: Sequence[tuple[Mention, Sequence[Candidate]]], biography: str | None, user: User
    ) -> Resolved:
        """Match mentions to entities by name; a mention without a certain match is a new entity."""
        with keep_if_failing():
            return Resolved(
                resolutions=tuple(_resolve_mention(mention, candidates) for mention, candidates in mentions)
            )

    def hypothesise(self, memories: Sequence[Existing]) -> Hypotheses:
        """Return no guesses: rules find what a note ends by its claims."""
        return Hypotheses()

    def extract_memories(self, note: Note, mentions: Sequence[Mention], user: User) -> list[Draft]:
        """
        Return one draft for each passage of the note; `noise` says why one makes no memory.

        It is called twice, the first time to learn which texts to embed: the last answer is kept.
        """
        if self._read != (note, tuple(mentions)):
            with keep_if_failing():
                self._drafts = self._read_note(note, mentions)
            self._read = note, tuple(mentions)
        return list(self._drafts)

    def _read_note(self, note: Note, mentions: Sequence[Mention]) -> list[Draft]:
        text, rest = split_read(note.content)
        drafts = [draft_passage(passage, mentions, note, self._zone) for passage in cut_note(text)]
        if rest.strip():
            drafts.append(Draft(content=rest.strip(), about=(USER,)))
        if not drafts and note.content.strip():
            drafts = [Draft(content=note.content.strip(), about=(), noise="it has no words")]
        return drafts

    def resolve_memories(self, drafts: Sequence[Draft], existing: Sequence[Existing], note: Note) -> list[Decision]:
        """Decide to add or skip each draft, and which known claims it ends; in doubt it ends none."""
        with keep_if_failing():
            return decide(drafts, existing, note)


def _recognise_person(mention: Mention, claims: Sequence[Assertion]) -> Mention:
    """Return a mention as a person's if its kind is a guess and it owns what only people have: "Ines Marsh works at Aldo"."""
    is_guess = mention.kind in ("Concept", "Location") and not mention.is_well_known
    if not is_guess or not re.fullmatch(r"[^\W\d_]+(?:[ -][^\W\d_]+){1,2}", mention.name):
        return mention
    is_persons = any(one.owner == mention.name and one.relation in _OF_PEOPLE for one in claims)
    return replace(mention, kind="Person") if is_persons else mention


_OF_PEOPLE = frozenset((*BIOGRAPHICAL, "partner", "boss"))


def _find_owners(claims: Sequence[Assertion], mentions: Sequence[Mention]) -> Iterator[Mention]:
    """
    Yield who owns a claim that ends another one and whose name the spelling does not show: "Joon quit the Gymnasium".

    Only these: a capital at the beginning of a sentence is no name by itself.
    """
    known = {spelling.casefold() for one in mentions for spelling in (one.name, *one.aliases)}
    for claim in claims:
        name = claim.owner
        if claim.ends and name != USER and name.isalpha() and name.istitle() and name.casefold() not in known:
            known.add(name.casefold())
            yield Mention(name=name, kind="Person")


# Drafts ---------------------------------------------------------------------------------------------------------------------------


def draft_passage(
    passage: Passage, mentions: Sequence[Mention], note: Note, zone: tzinfo, *, keeps_open: bool = False
) -> Draft:
    """Make a draft of a passage, with the claims that it states; with `keeps_open` also with those that are nobody's."""
    if reason := explain_noise(passage.text):
        return Draft(content=passage.text, about=(), noise=reason)
    claims = attach_claims(passage.text, mentions, note.at, zone, keeps_open=keeps_open)
    named = [mention.name for mention in mentions if _occurs(mention, passage.text)]
    mine = any(claim.owner == USER for claim in claims) or not named or _FIRST_PERSON.search(passage.text)
    corrects = introduced(passage.text)[1] or _TAKES_BACK.match(passage.text) is not None
    corrects = corrects or any(phrase in passage.text.lower() for phrase in correction_phrases())
    if corrects:  # what was wrongly told of the past is put right for all times
        claims = tuple(one if one.is_event else replace(one, tense="present") for one in claims)
    valid_at, event_at, until = date_passage(passage, claims, note.at, zone)
    name = next((claim.value for claim in claims if claim.owner == USER and claim.relation == "name"), None)
    return Draft(
        content=passage.text,
        about=tuple(dict.fromkeys([*([USER] if mine else []), *named])),
        claims=claims,
        sentences=passage.sentences,
        valid_at=valid_at,
        event_at=event_at,
        until=until,
        corrects=corrects,
        user_name=name,
        mood=claims[0].mood if len({claim.mood for claim in claims}) == 1 and len(passage.sentences) == 1 else "fact",
    )


_TAKES_BACK = re.compile(
    r"(?:no[,.]? )?not\s+(?:(?:the|a|an|on|at|in|my|our|her|his|their)\s+\S+|(?-i:[A-Z\d])\S*)(?:\s+\S+){0,2}?[:;,–—]\s",
    re.IGNORECASE,
)
"""A passage that begins by taking back a value: "Not the 13th: …"."""

_FIRST_PERSON = re.compile(r"\b(?:I|I['’]m|I['’]ve|me|my|mine|we|our|us|USER)\b")


def _occurs(mention: Mention, text: str) -> bool:
    return any(
        re.search(rf"(?<!\w){re.escape(spelling)}(?!\w)", text, re.IGNORECASE)
        for spelling in (mention.name, *mention.aliases)
    )


def attach_claims(
    text: str, mentions: Sequence[Mention], at: datetime, zone: tzinfo, *, keeps_open: bool = False
) -> tuple[Assertion, ...]:
    """
    Read the claims of a text, with owners that the graph can hold: the user, a name that the note mentions, or "".

    A description through its possessor becomes a longer relation of the possessor: "USER's sister" · live in → USER · sister
    live in. A noun that is no name belongs to the writer: "the bakery supplies Cafe Luna" → USER · bakery supply.
    """
    spellings = {spelling.casefold(): one.name for one in mentions for spelling in (one.name, *one.aliases)}
    known: dict[tuple[str, str], str] = {}
    claims: list[Assertion] = []
    for claim in read_claims(text, keeps_open=keeps_open):
        owner, relation, topic = _place_owner(claim, spellings, known)
        if claim.relation in ("", "be") and not claim.value:
            continue
        is_property = claim.is_property or (
            relation == topic != "" and claim.relation.startswith("be") and claim.kind in ("time", "number")
        )
        through = find_person(relation.removesuffix(claim.relation))
        ends = tuple((f"{through} {ended}".strip(), value) for ended, value in claim.ends)
        placed = replace(claim, owner=owner, relation=relation, topic=topic, is_property=is_property, ends=ends)
        claims.append(replace(placed, through=through))
        if claim.kind == "name":
            known[owner, relation] = claim.value
    return tuple(date_claims(claims, text, at, zone))


def _place_owner(
    claim: Assertion, spellings: Mapping[str, str], known: Mapping[tuple[str, str], str]
) -> tuple[str, str, str]:
    """Return the owner, the relation and the topic of a claim in the graph's terms."""
    owner, relation, topic = claim.owner, claim.relation, claim.topic
    if owner in ("", USER):
        return owner, relation, topic
    if name := spellings.get(owner.casefold()):
        return name, relation, topic
    possessor, _, role = owner.rpartition("'s ")
    if possessor:
        inner, outer, _ = _place_owner(replace(claim, owner=possessor, relation=role, topic=role), spellings, known)
        if name := known.get((inner, outer)):
            return spellings.get(name.casefold(), name), relation, topic
        return inner, f"{outer} {relation}", f"{outer} {topic}".strip()
    thing = owner.casefold()
    if relation == "be" or (relation.startswith("be ") and len(relation.split()) == 2):  # "choir is on Thursdays"
        return USER, thing, thing
    return USER, f"{thing} {relation}", thing


# Entities -------------------------------------------------------------------------------------------------------------------------


def acronym(name: str) -> str:
    """
    Return the initials of the words that count; "" for a single word.

    >>> acronym("University of California Los Angeles"), acronym("Siemens")
    ('UCLA', '')
    """
    words = [word for word in name.replace("-", " ").split() if word.lower() not in _SMALL]
    return "".join(word[0] for word in words).upper() if len(words) > 1 else ""


_SUFFIX = re.compile(r"[,\s]+(?:inc|ltd|llc|gmbh|ag|corp|co|plc|bv|sa|oy|ab)\.?$", re.IGNORECASE)


def _resolve_mention(mention: Mention, candidates: Sequence[Candidate]) -> Resolution:
    fitting = [candidate.entity for candidate in candidates if _kinds_agree(mention, candidate.entity)]
    tests = (
        (_same_name, "the same name"),
        (_same_company, "the same name but for the company's suffix"),
        (_same_acronym, "one abbreviates the other"),
    )
    for test, why in tests:
        for entity in fitting:
            if test(mention, entity):
                return Resolution(mention=mention, entity=entity.iri, reason=why, description=_better(mention, entity))
    alike = [entity for entity in fitting if _is_short_form(mention, entity)]
    if len(alike) == 1:
        return Resolution(
            mention=mention,
            entity=alike[0].iri,
            reason="one is the short form of the other, and nothing else known has it",
            description=_better(mention, alike[0]),
        )
    people = [entity for entity in fitting if _is_first_name_of(mention, entity)]
    if len(people) == 1:
        return Resolution(
            mention=mention,
            entity=people[0].iri,
            reason="the only known person of that first name",
            description=_better(mention, people[0]),
        )
    return Resolution(mention=mention, entity=None, reason=NEW)


def _kinds_agree(mention: Mention, entity: Entity) -> bool:
    """Tell whether the kinds are compatible; a Concept may be a guess on either side."""
    guessed = mention.kind == "Concept" and not mention.is_well_known
    was_guessed = entity.kind == "Concept" and not entity.is_well_known
    return mention.kind == entity.kind or guessed or was_guessed


def _names(names: tuple[str, ...]) -> set[str]:
    return {" ".join(name.casefold().split()) for name in names if name.strip()}


def _same_name(mention: Mention, entity: Entity) -> bool:
    return bool(_names((mention.name, *mention.aliases)) & _names((entity.name, *entity.aliases)))


def _same_company(mention: Mention, entity: Entity) -> bool:
    if "Organization" not in (mention.kind, entity.kind):
        return False
    return _SUFFIX.sub("", mention.name).casefold() == _SUFFIX.sub("", entity.name).casefold()


def _same_acronym(mention: Mention, entity: Entity) -> bool:
    if "Person" in (mention.kind, entity.kind):
        return False
    one, other = mention.name, entity.name
    return (len(one) > 1 and one == acronym(other)) or (len(other) > 1 and other == acronym(one))


def _is_short_form(mention: Mention, entity: Entity) -> bool:
    """Tell whether one name is the short form of the other, whose entity has no other long form yet."""
    kind = entity.kind if mention.kind == "Concept" else mention.kind
    if is_short_form(mention.name, entity.name, kind):
        return True
    taken = any(is_short_form(entity.name, alias, kind) for alias in entity.aliases)
    return not taken and is_short_form(entity.name, mention.name, kind)


def _is_first_name_of(mention: Mention, entity: Entity) -> bool:
    """Tell whether one name is the first name of the other's full name."""
    if entity.kind != "Person" and not (entity.kind == "Concept" and mention.kind == "Person"):
        return False
    one, other = mention.name.casefold().split(), entity.name.casefold().split()
    return one[:1] == other[:1] and 1 in (len(one), len(other)) and len(one) != len(other)


def _better(mention: Mention, entity: Entity) -> str | None:
    """Return the note's description if it says more than the known one."""
    return mention.description if len(mention.description) > len(entity.description) else None


# Decisions ------------------------------------------------------------------------------------------------------------------------


def decide(drafts: Sequence[Draft], existing: Sequence[Existing], note: Note) -> list[Decision]:
    """
    Return one decision for each draft, in their order: skip what is known, and end what its claims end.

    One claim is ended once, by the first claim that ends it; nothing ends a piece of the same note.
    """
    ended: set[IRI] = set()
    decisions: list[Decision] = []
    for at, draft in enumerate(drafts):
        if skip := _skip(draft, drafts[:at], existing, note):
            decisions.append(skip)
            continue
        first = min(
            (one.since for one in _others(existing, note) if draft.corrects and _corrects(draft, one)), default=None
        )
        if first is not None:  # what corrects a value holds for every time for which it was told
            draft = replace(draft, valid_at=first, claims=tuple(replace(one, begins=first) for one in draft.claims))
        targets: list[Target] = []
        successors: list[Successor] = []
        rivals: dict[IRI, Rival] = {}
        taken_over: list[Assertion] = []
        for by, claim in enumerate(draft.claims):
            began = claim.begins or draft.valid_at or note.at
            holds_at = max(began, note.at) if claim.since or not claim.changed else began
            later: list[tuple[Held, str]] = []
            for held in _others(existing, note):
                if held.iri in ended or _is_over(held, began, note):
                    continue
                verdict = judge(claim, held, corrects=draft.corrects)
                if held.since > holds_at and not (verdict.ends and held.mood == "plan"):
                    if why := explain_succession(claim, held):
                        later.append((held, why))
                    continue
                if verdict.is_likely and len(rivals) < _MOST_RIVALS:
                    reason = f"{claim.relation}: {claim.value}, and {held.value}"
                    rivals.setdefault(held.memory, Rival(memory=held.memory, confidence=_LIKELY, reason=reason))
                if verdict.ends:
                    ended.add(held.iri)
                    targets.append(_make_target(held, verdict.why, draft, by, began))
                    taken_over += _take_over(claim, held)
            if later:
                after, why = min(later, key=lambda one: (one[0].since, one[0].iri))
                successors.append(Successor(memory=after.memory, reason=why, claim=after.iri, of=by))
        draft = replace(draft, claims=tuple(dict.fromkeys((*draft.claims, *taken_over))))
        left = tuple(rival for rival in rivals.values() if rival.memory not in {one.memory for one in targets})
        decisions.append(
            Invalidate(draft=draft, targets=tuple(targets), successors=tuple(successors), rivals=left)
            if targets
            else Add(draft=draft, successors=tuple(successors), rivals=left)
        )
    return decisions


def _take_over(claim: Assertion, held: Held) -> Iterator[Assertion]:
    """Yield that a value is now what the one was that it replaces by name: "from Miller to Baker" makes Baker the supplier."""
    if is_renamed(claim, held):
        yield replace(
            claim, owner=held.owner, relation=held.relation, topic="", complement=held.complement, changed=False
        )
        return
    replaces = any(same_value(old, held.value) for old in claim.instead)
    replaces = replaces or (bool(claim.instead) and claim.is_over and claim.topic.casefold() == held.relation)
    is_successor = claim.polarity and claim.value and replaces and not same_value(claim.value, held.value)
    is_state = held.polarity and not held.is_event and held.relation not in (claim.relation, "be")
    if is_successor and is_state and (claim.kind == held.kind or "thing" in (claim.kind, held.kind)):
        yield replace(
            claim,
            relation=held.relation,
            topic="",
            tense="present",
            is_event=False,
            is_result=True,
            ends=(),
            instead=(),
        )


def _is_over(held: Held, began: datetime, note: Note) -> bool:
    """Tell whether a known claim ended before something began; what is over is ended again only where something came between."""
    return held.until is not None and (held.until <= began or began < held.since <= note.at)


def list_spared(draft: Draft, existing: Sequence[Existing], note: Note) -> list[Spared]:
    """List the known claims that a draft has something in common with and does not end, and why not; the first reason counts."""
    contents = {one.memory.iri: one.memory.content for one in existing}
    found: dict[IRI, Spared] = {}
    for claim in draft.claims:
        began = claim.begins or draft.valid_at or note.at
        for held in _others(existing, note):
            if held.iri in found or _is_over(held, began, note):
                continue
            verdict = judge(claim, held, corrects=draft.corrects)
            later = held.since > max(began, note.at) and "it began later"
            if why := later if verdict.ends else verdict.why:
                words = contents[held.memory][slice(*held.span)]
                found[held.iri] = Spared(claim=held.iri, memory=held.memory, words=words, reason=why)
    return list(found.values())[:_MOST_SPARED]


_MOST_SPARED = 20
"""The most claims of which it is said why they did not end."""


def _make_target(held: Held, why: str, draft: Draft, by: int, began: datetime) -> Target:
    return Target(
        memory=held.memory,
        claim=held.iri,
        reason=why,
        mode="correction" if draft.corrects else "state-change",
        at=began,
        by=by,
        rule=BY_CLAIMS,
    )


def _corrects(draft: Draft, held: Held) -> bool:
    """Tell whether a correction gives a known claim another value."""
    return any(judge(one, held, corrects=True).ends for one in draft.claims)


_LIKELY = 0.5
"""The confidence of two values of one relation of one owner that nothing says to be one at a time."""

_MOST_RIVALS = 3
"""The most rivals of one memory; what many have in common is a habit."""


def _others(existing: Sequence[Existing], note: Note) -> Iterator[Held]:
    for one in existing:
        if one.memory.extracted_from != note.iri and one.memory.expired_at is None:
            yield from one.claims


def _skip(draft: Draft, earlier: Sequence[Draft], existing: Sequence[Existing], note: Note) -> Skip | None:
    if draft.noise:
        return Skip(draft=draft, duplicate=None, reason=draft.noise)
    for old in existing:
        if _says_the_same(draft, old, note):
            return Skip(draft=draft, duplicate=old.memory.iri, reason=f"known already: “{old.memory.content}”")
    if any(normal(other.content) == normal(draft.content) for other in earlier):
        return Skip(draft=draft, duplicate=None, reason="the note says it twice")
    return None


def _says_the_same(draft: Draft, old: Existing, note: Note) -> bool:
    """Tell whether a memory that holds has the same words: a state that still holds is one, an event of another day another."""
    memory, began = old.memory, draft.valid_at or note.at
    if memory.expired_at is not None or (memory.invalid_at is not None and memory.invalid_at <= began):
        return False
    if normal(draft.content) != normal(memory.content) or any(
        claim.until and claim.until <= began for claim in old.claims
    ):
        return False
    if draft.event_at != memory.event_at and (
        draft.event_at is None or memory.event_at is None or abs(draft.event_at - memory.event_at) >= _DAY
    ):
        return False
    if any(claim.is_event for claim in draft.claims):
        return abs(began - memory.valid_at) < _DAY
    return began >= memory.valid_at - _DAY
