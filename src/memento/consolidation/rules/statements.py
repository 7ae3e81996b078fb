"""
Understand the statements of a note: each with its mood, its dates, the slot it fills and what it ends.

    sentence ─ clauses ─ third person ─ mood ─ dates ─ skeleton ─┬─ slots
                                                                └─ ends
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from memento.consolidation.agents import USER, Mention
from memento.consolidation.rules.ends import being_replaced, ended, never_was, used_to
from memento.consolidation.rules.patterns import LATER_SLOTS, begins_at, begun, signs
from memento.consolidation.rules.skeleton import Skeleton, found_mentions, mention_pattern, skeleton
from memento.consolidation.rules.slots import Filled, held_in, slot_of
from memento.consolidation.rules.wording import leans, noise, of_the_same, shared_verbs, with_subject, with_user
from memento.model import Note, User
from memento.text.dates import Dated, Leaning, dates
from memento.text.kin import GENDERS
from memento.text.mood import Reading, Tone, reading, tone
from memento.text.names import self_name
from memento.text.person import third_person
from memento.text.sentences import (
    blocks,
    clauses,
    introduced,
    is_framing,
    is_readable,
    language,
    sentences,
    split_read,
)
from memento.text.tables import LEXICON, section

_THINGS = ("Project", "Organization", "Technology", "Concept")


LANGUAGES = section(LEXICON / "words.toml", "language_names", dict[str, str])
"""Names, by code, of the languages that rules cannot read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """
    One clause of a note, understood.

    `content` is the clause in the third person, as patterns read it; `words` is how the note says it, with USER for "I". `stands`
    is true if the words mean the same without their context.
    """

    content: str
    words: str
    stands: bool
    reading: Reading
    skeleton: Skeleton
    dates: tuple[Dated, ...]
    filled: Filled | None = None
    states: Filled | None = None  # also what is only wished, planned or reported
    mood: Tone = "fact"
    ends: tuple[str, ...] = ()
    corrects: bool = False
    user_name: str | None = None
    begins: Dated | None = None  # when the slot's value begins, if that is in the future


@dataclass(slots=True)
class _Context:
    """The state that the clauses of a note share: who and what was mentioned last."""

    note: Note
    user: User
    mentions: Sequence[Mention]
    zone: str
    pattern: re.Pattern[str] | None
    people: dict[str, str] = field(default_factory=dict)
    thing: str | None = None
    shared: tuple[Dated, ...] = field(default=())
    whole: str = ""  # the sentence being read

    def meet(self, said: str, named: Sequence[str]) -> None:
        """Remember who was mentioned: people by name, and relatives without a name."""
        for name in named:
            kin = next((m[1].lower() for m in signs()["kin-named"].finditer(said) if m[2].startswith(name)), "")
            known = self.people.get(name, "")
            self.people[name] = known or GENDERS.get(kin, "")
        for match in signs()["kin-alone"].finditer(said):
            word = match[1].lower()
            called = signs()["is-called"].match(said[match.end() :])
            alike = [name for name in named if called and (called[1].startswith(name) or name.startswith(called[1]))]
            if alike:
                self.people[alike[0]] = GENDERS.get(word, "")
                continue
            self.people.setdefault(
                f"USER's {word}" if match.group().startswith("USER") else match.group(), GENDERS.get(word, "")
            )

    def antecedent(self, piece: str) -> str | None:
        """Return the one person that the pronoun at the beginning of a clause can mean; None if several fit."""
        match = signs()["leads-with-pronoun"].match(piece)
        if match is None:
            return None
        gender = "m" if match[1].lower() in ("he", "his") else "f"
        fitting = [name for name, known in self.people.items() if known in ("", gender)]
        return fitting[0] if len(fitting) == 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """
    A sentence of a note, or a block that is kept whole, with the statements in it.

    `words` is how the note says it, with USER for "I". `noise` is the reason why it makes no memory, `unread` why it was not read.
    """

    words: str
    statements: tuple[Statement, ...] = ()
    corrects: bool = False
    leans: bool = False
    is_fragment: bool = False  # means something only after another sentence
    noise: str = ""
    unread: str = ""


def statements(note: Note, mentions: Sequence[Mention], user: User, zone: str = "UTC") -> Iterator[Statement]:
    """Yield the clauses of a note that state something, wish for it or ask for it."""
    for passage in passages(note, mentions, user, zone):
        if not passage.noise:
            yield from passage.statements


def passages(note: Note, mentions: Sequence[Mention], user: User, zone: str = "UTC") -> Iterator[Passage]:
    """Yield the sentences and blocks of a note, in order; a block that is not prose or not English is kept whole and not read."""
    text, _ = split_read(note.content)
    if (spoken := language(text)) != "en":
        yield Passage(words=text.strip(), unread=f"{LANGUAGES.get(spoken, 'its language')} is not read by rules")
        return
    context = _Context(note, user, mentions, zone, mention_pattern(mentions))
    for block in blocks(text):
        if block.kind != "prose":
            words = block.text if block.kind == "code" else with_user(block.text)
            yield Passage(words=words, unread=f"a block of {block.kind} is kept whole")
            continue
        asked: Passage | None = None  # a question that may be answered next
        for sentence in sentences(block.text):
            if is_readable(sentence) and is_framing(sentence):
                continue
            passage = _passage(sentence, context)
            if asked and _needs_question(sentence, passage):
                kept = tuple(replace(one, stands=False) for one in passage.statements)
                words = f"{asked.words} {with_user(sentence)}"
                asked, passage = None, replace(passage, words=words, statements=kept, leans=False)
            if asked:
                yield asked
            asked = passage if passage.noise == "it is a question" else None
            if asked is None:
                yield passage
        if asked:
            yield asked


def _needs_question(sentence: str, passage: Passage) -> bool:
    """Tell whether a sentence answers yes or no, and fills or ends nothing by itself."""
    if passage.noise or passage.unread or not signs()["answers"].match(sentence):
        return False
    return not any(one.filled or one.ends or one.user_name for one in passage.statements)


def _passage(sentence: str, context: _Context) -> Passage:
    if not is_readable(sentence):
        return Passage(words=sentence, unread="a sentence of such a length is not read")
    body, corrects = introduced(sentence)
    words = with_user(body)
    if reason := noise(body):
        return Passage(words=words, noise=reason)
    found = tuple(_statements(body, corrects, context))
    kept = tuple(one for one in found if one.reading.mood not in ("question", "chatter"))
    if found and not kept and (body.rstrip("\"'”’) ").endswith("?") or found[0].reading.mood == "chatter"):
        asked = found[0].reading.mood == "question"
        if asked:
            return Passage(words=words, noise="it is a question")
        return Passage(words=words, noise="it says nothing by itself", leans=leans(body), is_fragment=True)
    return Passage(words=words, statements=kept, corrects=corrects, leans=leans(body))


def _statements(body: str, corrects: bool, context: _Context) -> Iterator[Statement]:
    context.shared, context.whole = (), body
    conditional = bool(signs()["condition"].search(body))
    terminal = match.group() if (match := signs()["terminal"].search(body)) else ""
    earlier: Statement | None = None
    before = ""
    for piece in [body] if conditional else [part for clause in clauses(body) for part in shared_verbs(clause)]:
        piece, before = of_the_same(piece, before), piece
        for statement in _understood(piece, context, terminal, corrects):
            current = _ended_by_now(statement, earlier)
            yield current
            if current.reading.mood not in ("question", "chatter"):
                earlier = current


def _understood(piece: str, context: _Context, terminal: str, corrects: bool) -> Iterator[Statement]:
    full = with_subject(piece)
    if context.people and full.startswith("my ") and not piece.lower().startswith("my "):
        full = piece  # "Ann has a new flat. Rent is 540": the rent is hers
    elif not (context.people or context.thing):
        full = signs()["the-one-of-mine"].sub(r"my \g<what>", full)
    said = third_person(_of_the_user(full), context.user)
    words = with_user(piece)
    stands = not leans(piece)
    if (person := context.antecedent(piece)) and (replaced := _with_person(said, person)) != said:
        said, words, stands = replaced, _with_person(words, person), True
    if context.thing:
        said = signs()["it-does"].sub(context.thing, signs()["its"].sub(f"{context.thing}'s ", said))
    if not is_readable(said):  # "we" has become "USER and others"
        return
    whole = _statement(said, piece, context, terminal, corrects, words, stands)
    halves = _halves(said)
    if halves and whole.reading.mood not in ("possible", "question"):
        told = _halves(words) or halves
        parts = [
            _statement(half, piece, context, terminal, corrects, text, stands)
            for half, text in zip(halves, told, strict=True)
        ]
        tells = [bool(part.filled or part.ends) for part in parts]
        if all(tells) or (any(tells) and not (whole.filled or whole.ends)):
            yield from (_remembered(part, context) for part in parts)
            return
    yield _remembered(whole, context)


def _with_person(said: str, person: str) -> str:
    said = signs()["he-is"].sub(f"{person} is", signs()["he-will"].sub(f"{person}'ll", said))
    return signs()["his-or-her"].sub(f"{person}'s ", signs()["he-or-she"].sub(rf"\g<1>{person}", said))


def _of_the_user(said: str) -> str:
    """Read "User mentioned they are vegetarian" as "I am vegetarian": agents write of the user in the third person."""
    match = signs()["about-user"].match(said)
    if match is None:
        return said
    rest = said[match.end() :]
    if match["pronoun"]:
        verb = signs()["plural-verb"].match(rest)
        mended = {"are": "am", "were": "was"}.get(verb[1], verb[1]) + rest[verb.end() :] if verb else rest
        return f"I {mended}"
    if match["verb"]:
        return f"I {rest}" if signs()["past-first"].match(rest) else said
    return f"my{rest[2:]}" if rest.startswith(("'s", "’s")) else f"USER{rest}"


def _halves(said: str) -> list[str]:
    """
    Split two statements of one subject: "USER lives in Berlin and works at Acme" → "USER lives in Berlin", "USER works at Acme".
    """
    match = signs()["shared-subject"].match(signs()["terminal"].sub("", said))
    return [f"{match[1]} {match[2]}".rstrip(","), f"{match[1]} {match[3]}"] if match else []


def _statement(
    said: str, piece: str, context: _Context, terminal: str, corrects: bool, words: str, stands: bool
) -> Statement:
    name = self_name(piece)
    if name:
        said = signs()["call-me"].sub(rf"\g<1>{USER} wants to be called ", said)
    content = _sentence(signs()["over"].sub(rf"{USER} prefers \g<0>", said), terminal)
    plain = signs()["terminal"].sub("", _without_names(content, context))
    how = reading(plain)
    mood = tone(context.whole, how)
    if mood in ("joke", "rumour") and how.mood in ("fact", "past", "plan"):
        how = replace(how, mood="possible")
    is_past_event = (
        how.tense == "past" and not signs()["scheduled"].search(content) and not signs()["arranged"].search(content)
    )
    leaning: Leaning = "past" if is_past_event else "future"
    lasting = how.perfect and not signs()["has-got"].search(content)
    found = tuple(
        one
        for one in dates(content, context.note.at, context.zone, leaning, lasting)
        if not _is_attribute(one, content, lasting)
    )
    reduced = skeleton(content, context.mentions, found, context.pattern)
    begins = begins_at(reduced, context.note.at) if how.mood in ("plan", "fact") else None
    held = held_in(signs()["terminal"].sub("", words))
    filled = held if held and held.slot != "employer" else slot_of(begun(reduced) if begins else reduced) or held
    if begins and filled and not (filled.date is None and filled.slot.endswith(LATER_SLOTS)):
        begins, filled = None, slot_of(reduced)
    phrases, rule = ended(reduced, content) if how.mood == "fact" else ((), "")
    if how.mood == "plan" and not how.additional:
        phrases = being_replaced(reduced, context.note.at)
    if denied := never_was(reduced) if how.mood in ("fact", "past") else ():
        phrases, rule = denied, "never"
    if not found and how.tense == "past" and context.shared and not signs()["now-said"].search(content):
        found = tuple(replace(one, start=0, end=0) for one in context.shared)
    return Statement(
        content=content,
        words=_begun(f"{signs()['terminal'].sub('', words).strip(' ,;:')}{terminal}", context.whole),
        stands=stands,
        reading=how,
        skeleton=reduced,
        dates=found,
        filled=filled if filled and _may_fill(how, filled, begins) else None,
        states=filled,
        mood=mood,
        begins=begins if filled else None,
        ends=phrases,
        corrects=corrects or rule in ("not-but", "never"),
        user_name=name,
    )


def _is_attribute(one: Dated, content: str, lasting: bool) -> bool:
    """
    Tell whether a date is not the time of the clause.

    A year may tell how old a thing is ("a van from 2019", "a 2016 estate"), and any date what was before ("84 kg, was 91 in
    January").
    """
    words = content[one.start : one.end].split()
    if signs()["as-it-was"].search(content[: one.start]):
        return True
    if one.role == "for":
        return not lasting or bool(signs()["rate"].search(content[: one.start]))
    bare = re.fullmatch(r"(?:19|20)\d\d", words[-1].strip(",.")) and len(words) <= 2
    if not bare or words[0].lower() not in ("from", "of", words[-1].lower()):
        return False
    before = f"{content[: one.start]}{'' if len(words) == 1 else words[0]} "
    return bool(signs()["of-a-thing"].search(before) and signs()["owned"].search(content[: one.start]))


def _may_fill(how: Reading, filled: Filled, begins: Dated | None) -> bool:
    """
    Tell whether a clause may fill its slot.

    Facts may; a plan only if it gives the date of something or when it begins, a wish at most the user's name.
    """
    if how.additional:
        return False
    return (
        how.mood == "fact"
        or (not filled.sure and how.mood == "past")
        or (how.mood == "plan" and (filled.date is not None or begins is not None))
        or (how.mood == "possible" and filled.slot == "name")
    )


def _remembered(statement: Statement, context: _Context) -> Statement:
    """Record in the context the dates of a statement and the people and things it mentions, and return the statement."""
    if statement.dates and statement.reading.tense == "past":
        context.shared = statement.dates[:1]
    spoken = found_mentions(statement.content, context.mentions, context.pattern)
    named = [context.mentions[at].name for _, _, at in spoken if context.mentions[at].kind == "Person"]
    context.meet(statement.content, named)
    things = {context.mentions[at].name for _, _, at in spoken if context.mentions[at].kind in _THINGS}
    if len(things) == 1 and signs()["presents"].search(statement.content.replace(thing := next(iter(things)), "\0")):
        context.thing = thing
    return statement


def _ended_by_now(statement: Statement, earlier: Statement | None) -> Statement:
    """End with "now I use Y" what the clause before says: "I used to use X, now I use Y" ends X."""
    if (
        earlier is None
        or earlier.reading.mood != "past"
        or statement.reading.mood != "fact"
        or not signs()["now-said"].search(statement.content)
    ):
        return statement
    phrases = used_to(earlier.skeleton)
    return replace(statement, ends=(*statement.ends, *phrases)) if phrases else statement


def _without_names(content: str, context: _Context) -> str:
    """Replace each name by a plain word: "Will Hope" is no wish, and "Mark Poole" no command."""
    text, last = "", 0
    for start, end, _ in found_mentions(content, context.mentions, context.pattern):
        if start >= last and any(letter.isupper() for letter in content[start:end]):
            text += content[last:start] + "Nn"
            last = end
    return text + content[last:]


def _begun(words: str, sentence: str) -> str:
    """Capitalise the words of a clause if the sentence that it was cut from begins with a capital."""
    return _capitalised(words) if sentence[:1].isupper() else words


def _capitalised(text: str) -> str:
    return (
        f"{text[:1].upper()}{text[1:]}" if text[:1].islower() and not re.match(r"[a-z]+[A-Z.]|\S+[_/]", text) else text
    )


def _sentence(said: str, terminal: str) -> str:
    text = " ".join(signs()["terminal"].sub("", said).split()).strip(" ,;:")
    text = signs()["joined"].sub("", text)
    text = f"{text[:1].upper()}{text[1:]}" if text[:1].islower() and not re.match(r"[a-z]+[A-Z]", text) else text
    return f"{text}{terminal}" if not text.endswith(("?", "!", "…")) else text
