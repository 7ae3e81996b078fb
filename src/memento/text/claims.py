"""
Read the claims of a passage off its parse: whose it is (owner), what is said of it (relation), and what it is said to be (value).

    "My boss is Dr Wiersma."                 USER · boss · Dr Wiersma
    "Dr Ekström is our paediatrician."       USER · paediatrician · Dr Ekström
    "Petra sold her Polo and drives an ID.3" Petra · sell · her Polo (an event; ends Petra · have · Polo), Petra · drive · an ID.3
    "New rep at Lusobike: Helder Matos"      Lusobike · rep · Helder Matos

*Flow:* parse → predicates (verbs with their subjects, labels) → one claim for each → folded relation → results and endings of
events.

*Guarantees:* a claim's words are a span of the passage. An owner that the words leave open is "", which is nobody: such a claim
ends nothing.

*But:* only what a clause states is read; arguments deeper than one prepositional phrase stay in the words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Literal

from memento.text.parse import parse, parse_all
from memento.text.tables import LEXICON, load
from memento.text.words import FIRST_NAMES, name_pattern

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

USER = "USER"

Mood = Literal["fact", "plan", "possible", "condition", "report", "question", "command", "past"]

Kind = Literal["name", "number", "time", "thing"]

LONGEST = 120
"""The most tokens of a sentence whose claims are read: people write none that is longer."""

SUBJECTS = frozenset(("nsubj", "nsubjpass", "csubj"))
FIRST_NAMES_LOWER = frozenset(name.lower() for name in FIRST_NAMES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """
    A statement read off a clause.

    `owner` is "USER", a name as the passage has it, a description ("USER's sister"), or "" where the words leave it open. `start`
    and `end` are the offsets of its words in the passage. `since` and `until` are the words that say when it begins and ends.
    `ends` are the pairs (relation, value) of the same owner that it ends; a value "" is any. `instead` are values that it replaces
    by name. `topic` is the noun that the claim is about, where that is a property or a thing and no verb of the owner's ("rent",
    "production"). `verb_tense` is that of its verb, `tense` that of what it tells: "the rent went up to 900" is true now.
    `is_over`: it says of its topic that it is over. `is_property`: a definite singular noun says what it is ("my boss is …"), which
    has one value at a time. `is_added`: it comes beside what holds already ("also", "another"). `is_result`: it holds after the
    event that the claim before it states. `through` is the role of somebody of the owner's of whom it is said ("sister" of "my
    sister rows"). `complement` are the words that tell what it is about from others of its kind ("office" of "the plumber for the
    office"). `is_place`: its value is where something is.
    """

    owner: str
    relation: str
    value: str
    topic: str = ""
    start: int
    end: int
    sentence: int
    polarity: bool = True
    mood: Mood = "fact"
    tense: Literal["past", "present", "future"] = "present"
    verb_tense: Literal["past", "present", "future"] = "present"
    is_event: bool = False
    changed: bool = False
    since: str = ""
    until: str = ""
    when: str = ""
    is_announced: bool = False
    kind: Kind = "thing"
    ends: tuple[tuple[str, str], ...] = ()
    instead: tuple[str, ...] = ()
    is_over: bool = False
    is_property: bool = False
    is_added: bool = False
    is_result: bool = False
    through: str = ""
    complement: frozenset[str] = frozenset()
    is_place: bool = False
    begins: datetime | None = None
    stops: datetime | None = None


@dataclass(slots=True)
class _Context:
    """
    What pronouns of a passage may mean: the people named so far, and the owner of the last clause. With `keeps_open` claims whose
    owner the words leave open are read too.
    """

    people: list[str] = field(default_factory=list)
    last: str = USER
    thing: str = ""
    keeps_open: bool = False


@cache
def words(name: str) -> frozenset[str]:
    """Return a list of words of the table."""
    return frozenset(one.replace("_", " ") for one in load(LEXICON / "claims.toml")[name].split())


@cache
def equals() -> dict[str, str]:
    """Return the relations that fold into another."""
    table: dict[str, str] = load(LEXICON / "claims.toml")["equals"]
    return {other: name for name, others in table.items() for other in others.split("|")}


@cache
def implying() -> dict[str, tuple[str, ...]]:
    """Return, by the verb of a question, the relations that say as much: who learns the oud plays it."""
    table: dict[str, str] = load(LEXICON / "claims.toml")["implying"]
    return {verb: tuple(row.split("|")) for verb, row in table.items()}


@cache
def results() -> dict[str, str]:
    """Return the relation that holds after each event."""
    return dict(load(LEXICON / "claims.toml")["results"])


@cache
def endings() -> dict[str, tuple[tuple[str, ...], str]]:
    """Return, by relation of an event, the relations that it ends and where the ended value stands."""
    table: dict[str, str] = load(LEXICON / "claims.toml")["endings"]
    return {name: (tuple(row.split("|")[0].split("/")), row.split("|")[1]) for name, row in table.items()}


@cache
def single_relations() -> frozenset[str]:
    """Return the relations that have one value at a time."""
    return frozenset(load(LEXICON / "claims.toml")["single"].split("|"))


def find_person(relation: str) -> str:
    """
    Return the words of a relation up to the last role of a person: of whom of the owner's people it speaks; "" if of none.

    >>> find_person("sister husband work at"), find_person("production use")
    ('sister husband', '')
    """
    said = relation.split()
    roles = (
        place
        for place, word in enumerate(said, start=1)
        if word in words("people") and said[place : place + 1] != ["of"]
    )
    return " ".join(said[: max(roles, default=0)])


def may_stand_together(relation: str) -> bool:
    """
    Tell whether somebody has several values of a relation at a time as a matter of course.

    >>> may_stand_together("friend"), may_stand_together("have"), may_stand_together("boss")
    (True, True, False)
    """
    return relation in words("open") or not words("several").isdisjoint(relation.split())


def is_once(relation: str) -> bool:
    """
    Tell whether something happens once to its owner, so that another value contradicts: being founded, born, made by somebody.

    >>> is_once("found in"), is_once("write by"), is_once("buy")
    (True, True, False)
    """
    first, _, last = relation.rpartition(" ")
    return last == "by" or first in words("once")


def fold(relation: str) -> str:
    """
    Return the name of a relation: the one that its equals fold into.

    >>> fold("reside in"), fold("boss"), fold("paint")
    ('live in', 'boss', 'paint')
    """
    return equals().get(relation, relation)


def read_claims(text: str, *, keeps_open: bool = False) -> list[Assertion]:
    """
    Read the claims of a passage, in the order of their words.

    A line is read by itself, and so is the clause behind a label ("ADR-007: hosting moves to Fly.io").

    Args:
        keeps_open: also read claims that are nobody's, because the words leave their owner open.

    >>> [(one.owner, one.relation, one.value) for one in read_claims("My boss is Ana Ruiz.")]
    [('USER', 'boss', 'Ana Ruiz')]
    """
    context = _Context(keeps_open=keeps_open)
    found: list[Assertion] = []
    number = 0
    lines = _find_lines(text)
    for (start, end), doc in zip(lines, parse_all(text[start:end] for start, end in lines), strict=True):
        claims, number = _read_line(text[start:end], doc, start, number, context)
        found += claims
    return found


def parse_ahead(texts: Sequence[str]) -> None:
    """Parse the lines of some texts in one batch; `read_claims` finds them."""
    for _ in parse_all([text[start:end] for text in texts for start, end in _find_lines(text)]):
        pass


@dataclass(frozen=True, slots=True)
class Asked:
    """What a clause of a question asks for: a relation of an owner, as in `Assertion`; `value` is what it says of the value."""

    owner: str
    relation: str
    value: str


@dataclass(frozen=True, slots=True)
class Reading:
    """
    What a question asks for, clause by clause, and how many claims lead from what it names to its answer.

    `steps` is 1 for "Where does Ana work?" and 2 for "Where does Ana's sister work?".
    """

    clauses: tuple[Asked, ...]
    steps: int


_STAND_INS = ("Anna", "Peter", "Maria", "David")
"""
Names that the tagger knows, each in place of a whole label that is known to stand in a question, be it one of a person or "prime
minister of Peru": so fewer words are parsed wrongly than with a name for each of its words, as `parse` gives to unknown ones.

*Source:* with the same names word by word the first places of FactConsolidation's chains fall from .79 to .77.
"""


def read_question(text: str, names: Sequence[str] = ()) -> Reading:
    """
    Read which relation of whom a question asks for, in the order of its words; a noun that belongs to somebody asks too.

    Args:
        names: labels that are known to stand in it; it is parsed with familiar names instead of the first few.

    >>> reading = read_question("Where does my sister work?")
    >>> [(one.owner, one.relation) for one in reading.clauses], reading.steps
    ([('USER', 'sister'), ("USER's sister", 'work')], 2)
    """
    context, found, steps = _Context(), dict[Asked, None](), 0
    text, written = _stand_in(_CONTRACTED.sub(r"\1 is", text), names)
    for at, sentence in enumerate(one for one in parse(text).sents if len(one) <= LONGEST):
        steps = max(steps, _count_steps(sentence))
        for claim in _claims_of_sentence(sentence, at, context):
            if claim.owner:
                found[Asked(claim.owner, claim.relation, claim.value)] = None
        if sentence.root.lemma_ == "be" and {word.lower_ for word in sentence if word.is_alpha} == {"who", "am", "i"}:
            found[Asked(USER, "name", "")] = None
        if (worker := _find_worker(sentence.root)) is not None:
            found[Asked(_owner_of(worker, context), "job", "")] = None
        for word in sentence:
            if word.pos_ in ("NOUN", "PROPN"):
                possessor, relation = _possession(word, context)
                if possessor:
                    found[Asked(possessor, fold(relation), "")] = None
        # The parse of a question often has the wrong subject; what nobody does matches no claim. Who has a brother does not work
        # where the brother does.
        things = [word for word in sentence if word.pos_ in ("NOUN", "PROPN", "PRON") and word.tag_ != "PRP$"]
        owners = dict.fromkeys(owner for word in things if (owner := _owner_of(word, context)))
        verbs = [word.lemma_.lower() for word in sentence if word.pos_ == "VERB"]
        for owner, verb in product(owners, verbs):
            found.setdefault(Asked(owner, fold(verb), ""), None)
    clauses = [Asked(_put_back(one.owner, written), one.relation, _put_back(one.value, written)) for one in found]
    return Reading(tuple(clauses), steps)


_CONTRACTED = re.compile(r"^(\W*who)['’]s\b(?!\s+(?:been|got|had)\b)", re.IGNORECASE)
"""The beginning of "Who's Ana Costa?", in which the parse finds no subject."""


def _find_worker(verb: Token) -> Token | None:
    """Return of whom a question asks what they do, for a living or at all: Ana in "What does Ana do?"."""
    if verb.lemma_ != "do" or verb.tag_ not in ("VB", "VBP", "VBZ"):
        return None
    is_asked = any(child.lower_ == "what" and child.dep_ in ("dobj", "dep", "attr") for child in verb.children)
    is_now = any(child.dep_ == "aux" and child.lower_ in ("do", "does") for child in verb.children)
    others = [child for child in verb.children if child.dep_ in ("prep", "advcl", "xcomp", "npadvmod")]
    is_at_all = all(any(inner.lower_ in ("living", "work") for inner in one.subtree) for one in others)
    subject = next((child for child in verb.children if child.dep_ == "nsubj"), None)
    return subject if is_asked and is_now and is_at_all else None


def _stand_in(text: str, names: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Return a text with other names for some labels, and by these names what was written."""
    written: dict[str, str] = {}
    free = (one for one in _STAND_INS if one not in text)
    for label, other in zip(names, free, strict=False):
        if match := re.search(rf"(?<!\w){name_pattern(label)}(?!\w)", text, re.IGNORECASE):
            written[other] = spelled = match.group()
            text = re.sub(rf"(?<!\w){re.escape(spelled)}(?!\w)", other, text)
    return text, written


def _put_back(text: str, written: Mapping[str, str]) -> str:
    for other, name in written.items():
        text = text.replace(other, name)
    return text


def _count_steps(question: Span) -> int:
    """
    Count the claims between what a question names and its answer.

    Each noun that belongs to somebody is one, each relative clause, and the main clause, unless it merely asks who or what one is.
    """
    owned = sum(
        word.dep_ == "poss"
        or (
            word.dep_ == "pobj"
            and word.head.lower_ == "of"
            and word.head.head.pos_ == "NOUN"
            and word.head.head.lemma_ != "name"  # the name of somebody is no step from them
        )
        for word in question
    )
    relative = sum(word.dep_ == "relcl" or (word.dep_ == "acl" and word.tag_ == "VBN") for word in question)
    root = question.root
    in_it = any(child.dep_ == "prep" for child in root.children)  # "which city is she in"
    is_called = root.lemma_ in ("call", "name") and any(child.dep_ == "auxpass" for child in root.children)
    merely_named = (root.lemma_ == "be" and not in_it) or is_called
    steps = owned + relative + (0 if merely_named and owned + relative else 1)
    # Where the parse of a question has missed it, its words tell that one thing leads to another.
    links_on = any(word.lower_ in words("linking") for word in question[2:])
    asks_for_name = merely_named and question[0].lower_ in words("interrogatives")
    return max(steps, 2) if links_on and not asks_for_name else steps


_LONGEST_LABEL = 7
"""The most words of a label that names an office, as in "Prime Minister of the Netherlands: Ana Ruiz starts the job"."""
_BULLET = re.compile(r"\s*(?:(?:[-*•–>]|\d{1,2}[.)]|#{1,6})\s+)*")
_LABEL = re.compile(r"(?P<label>[^\s:.!?;,][^:.!?;,\n]{0,40}):\s+(?=\S)")


def _find_lines(text: str) -> list[tuple[int, int]]:
    """Find the spans of the lines of a text, without the bullets before them."""
    found, start = [], 0
    for line in text.splitlines(keepends=True):
        bullet = _BULLET.match(line)
        begin = start + (bullet.end() if bullet else 0)
        if text[begin : start + len(line)].strip():
            found.append((begin, start + len(line.rstrip())))
        start += len(line)
    return found


def _read_line(line: str, doc: Doc, start: int, number: int, context: _Context) -> tuple[list[Assertion], int]:
    """Return the claims of one line, and the number of the next sentence."""
    label = _LABEL.match(line)
    if label and len(label["label"].split()) <= _LONGEST_LABEL:
        rest = parse(line[label.end() :])
        taken = [*_of_taken_office(label["label"], rest, start, start + label.end(), number, context)]
        is_short = len(label["label"].split()) <= 4
        if taken or (is_short and any(_has_clause(sentence) for sentence in [*rest.sents][:1])):
            claims = _read_doc(rest, start + label.end(), number, context)
            rest_of = [one for one in claims if not taken or one.sentence > number]  # "starts the job" says no more
            return [*taken, *rest_of], number + len(list(rest.sents))
    claims = _read_doc(doc, start, number, context)
    if label and len(label["label"].split()) <= 3 and all(one.start >= start + label.end() for one in claims):
        tags = {token.tag_ for token in doc if token.idx < label.end("label")}
        if tags.isdisjoint(("VBD", "VBN", "VBP", "VBZ")):  # the tagger takes "Roofer" for a verb, but none in a tense
            claims = [_label_claim(label["label"], line[label.end() :], start, start + label.end(), number), *claims]
    claims += [_arrow_claim(arrow, start, number) for arrow in _ARROW.finditer(line)]
    return claims, number + len(list(doc.sents))


def _of_taken_office(
    label: str, rest: Doc, start: int, begin: int, number: int, context: _Context
) -> Iterator[Assertion]:
    """Yield who takes the office of a label: "Treasurer: Mina Sol starts in May"."""
    verb = next((one.root for one in rest.sents), None)
    if verb is None:
        return
    holder = next((one for one in verb.children if one.dep_ == "nsubj" and _is_name(one)), None)
    office = next((one for one in parse(label) if one.lemma_.lower() in words("posts_of_duty")), None)
    if holder is None or office is None or verb.lemma_ not in words("entering"):
        return
    owner, relation = _possession(office, context)
    since, until = _dates_of(verb)
    yield Assertion(
        owner=owner or USER,
        relation=fold(relation),
        topic=fold(relation),
        value=_name(holder),
        start=start,
        end=max(begin + verb.idx + len(verb), begin + _end_of_times(verb)),
        sentence=number,
        kind="name",
        changed=True,
        since=since,
        until=until,
        is_property=True,
    )


def _has_clause(sentence: Span) -> bool:
    return any(
        token.pos_ in ("VERB", "AUX") and any(child.dep_ in SUBJECTS for child in token.children) for token in sentence
    )


_ARROW = re.compile(
    r"(?<![^\s(])(?P<old>[^\s.;:!?,()]+(?: [^\s.;:!?,()]+)?) ?(?:->|=>|→|⇒) ?(?P<new>[^\s.;:!?,()]+(?: [A-Z\d][^\s.;:!?,()]*){0,2})"
)
"""What became what: "Trello -> Linear"."""


def _arrow_claim(arrow: re.Match[str], start: int, number: int) -> Assertion:
    """Return the claim that one thing took the place of another: "rent 395 -> 420"."""
    old, value = arrow["old"], arrow["new"]
    replaced = old.rpartition(" ")[2] if old[-1].isdigit() else old
    return Assertion(
        owner=USER,
        relation="change to",
        value=value,
        start=start + arrow.start(),
        end=start + arrow.end(),
        sentence=number,
        is_event=True,
        changed=True,
        kind=_guess_kind(value),
        instead=(replaced,),
    )


def _guess_kind(value: str) -> Kind:
    return "number" if value[:1].isdigit() or value[:1] in "€$£" else "name" if value[:1].isupper() else "thing"


def _label_claim(label: str, rest: str, start: int, begin: int, number: int) -> Assertion:
    """Return the claim of a label whose value the parser cannot read: "Hrs: Tue-Fri 10-19", "Dentist: Dr Lenz, Mill St"."""
    value = re.split(r"(?<!\bDr)(?<!\bMr)(?<!\bMrs)(?<!\bMs)[.;!?](?:\s|$)", rest, maxsplit=1)[0].strip()
    kind = _guess_kind(value)
    value = value if kind == "thing" else value.partition(", ")[0]
    return Assertion(
        owner=USER,
        relation=fold(label.lower()),
        topic=fold(label.lower()),
        value=value,
        start=start,
        end=begin + rest.index(value) + len(value),
        sentence=number,
        kind=kind,
        is_property=kind != "thing",
    )


def _read_doc(doc: Doc, start: int, number: int, context: _Context) -> list[Assertion]:
    """Read the claims of a parsed line that begins at `start` in the passage."""
    found: list[Assertion] = []
    for at, sentence in enumerate(doc.sents, start=number):
        if sentence.text.startswith("[") or len(sentence) > LONGEST:
            continue  # a caption or a placeholder, nobody's words; or no sentence
        adds = any(token.lower_ in words("adding") for token in sentence)
        rejected = _find_rejected(sentence)
        for claim in _claims_of_sentence(sentence, at, context):
            if (
                (claim.owner or context.keeps_open)
                and claim.mood not in ("question", "command")
                and _says_something(claim)
            ):
                dropped = tuple(_text_of(one) for one in rejected if claim.value and one.idx >= claim.start)
                claim = replace(
                    claim,
                    is_added=adds,
                    start=claim.start + start,
                    end=claim.end + start,
                    instead=(*claim.instead, *dropped),
                    complement=_find_complement(sentence, claim.relation),
                    is_place=is_place(sentence.doc.text[claim.start : claim.end], claim.value),
                )
                if claim.kind == "name" and claim.relation in words("people"):
                    context.people.append(claim.value)  # "My uncle is Piet. He …"
                found += [claim, *_results_of(claim)]
    return found


def _find_rejected(sentence: Span) -> list[Token]:
    """Return what a sentence says that it is not: Brody in "she is called Brady, not Brody"."""
    found = []
    for word in sentence:
        if word.lower_ == "not" and word.i > sentence.start and word.nbor(-1).text == ",":
            after = sentence.doc[word.i + 1 : min(word.i + 5, sentence.end)]
            noun = next((one for one in after if one.pos_ in ("PROPN", "NOUN", "NUM") and one.dep_ != "compound"), None)
            if noun is not None and not any(one.pos_ in ("VERB", "AUX") for one in sentence.doc[word.i + 1 : noun.i]):
                found.append(noun)
    return found


def _says_something(claim: Assertion) -> bool:
    """Tell whether a claim has a value that means something by itself, or ends something."""
    value = claim.value.lower()
    return bool(claim.ends or claim.instead or claim.is_over) or (bool(value) and value not in words("empty"))


def _results_of(claim: Assertion) -> Iterator[Assertion]:
    """Yield the state that an event leaves behind."""
    if claim.relation in results() and claim.polarity and claim.value:
        relation = results()[claim.relation]
        if relation == "work at" and claim.kind != "name":
            return  # "I joined a support group"
        yield replace(claim, relation=relation, is_event=False, changed=True, tense="present", is_result=True)


def _claims_of_sentence(sentence: Span, at: int, context: _Context) -> Iterator[Assertion]:
    asks = sentence.text.rstrip().endswith("?")
    for token in sentence:
        if token.dep_ == "ROOT" and (amount := _find_amount(token)) is not None:
            yield _amount_claim(token, amount, at, context)
        elif (
            token.pos_ in ("VERB", "AUX") and token.dep_ not in ("aux", "auxpass", "compound", "amod")
        ) or _is_bare_verb(token):
            for claim in _of_predicate(token, sentence, at, context):
                yield replace(claim, mood="question") if asks else claim
        elif token.dep_ == "ROOT":
            yield from _of_label(token, sentence, at, context)
        if token.i == sentence.start:
            yield from _of_return(token, at)
        if token.lemma_ in words("replacing"):
            yield from _of_replaced(token, at)
        if token.lower_ in ("not", "no") and (value := _find_dropped(token)) is not None:
            base = Assertion(owner=USER, relation="use", value="", start=token.idx, end=token.idx + 3, sentence=at)
            dropped = _name(value) if value.pos_ == "PROPN" else value.text
            yield replace(_with_value(base, value), value=dropped, polarity=False, changed=True, instead=(dropped,))
        if token.lemma_.lower() in words("posts") and token.pos_ == "NOUN":
            owner, _ = _possession(token, context)
            base = Assertion(owner=owner, relation="", value="", start=token.left_edge.idx, end=token.idx, sentence=at)
            mine = any(child.dep_ == "poss" for child in token.children) and token.dep_ != "dobj" and not asks
            yield from _of_post(token, base) if mine else ()
        if token.dep_ == "appos" and token.head.pos_ == "NOUN" and token.pos_ == "PROPN" and token.head.dep_ != "ROOT":
            yield from _of_apposition(token, token.head, at, context)
        elif token.dep_ == "appos" and _is_common(token) and token.head.text[:1].isupper():
            yield from _of_apposition(token.head, token, at, context)


def _is_common(noun: Token) -> bool:
    """Tell whether a noun is no name, or the title of an office: "Ana Ruiz, the Prime Minister of Peru"."""
    return noun.pos_ == "NOUN" or (noun.pos_ == "PROPN" and _is_post(noun))


def _is_post(noun: Token) -> bool:
    return noun.lemma_.lower() in words("posts_of_duty")


def _is_bare_verb(noun: Token) -> bool:
    """Tell whether what the tagger takes for a noun is the second verb of a clause: "I live in Lisbon and work at Google"."""
    return (
        noun.tag_ == "NN"
        and noun.dep_ == "conj"
        and noun.head.tag_ in ("VBP", "VB")
        and any(child.dep_ == "prep" for child in noun.children)
        and not any(child.dep_ in ("det", "poss", "amod", "compound") for child in noun.children)
    )


def _find_amount(noun: Token) -> Token | None:
    """Return the number behind a noun that stands without a verb: "Rent 1,300 from May"; the tagger takes some for a verb."""
    after = noun.nbor() if noun.i + 1 < noun.sent.end else None
    is_bare = not any(child.dep_ in SUBJECTS or child.dep_ in ("det", "aux") for child in noun.children)
    is_property = fold(noun.lemma_.lower()) in words("possessions") | single_relations()
    return (
        after if after is not None and after.pos_ == "NUM" and after.head == noun and is_bare and is_property else None
    )


def _amount_claim(noun: Token, amount: Token, at: int, context: _Context) -> Assertion:
    possessor, relation = _possession(noun, context)
    since, until = _dates_of(noun)
    base = Assertion(
        owner=possessor or _default_owner(noun, "number", context),
        relation=fold(relation.removesuffix(f" {amount.lower_}")),
        topic=fold(relation.removesuffix(f" {amount.lower_}")),
        value="",
        start=noun.left_edge.idx,
        end=max(noun.idx + len(noun), _end_of_times(noun)),
        sentence=at,
        since=since,
        until=until,
        is_property=True,
    )
    return _with_value(base, amount)


def _find_dropped(denial: Token) -> Token | None:
    """Return the noun that is given up in "not Poetry any more", "no more Poetry"."""
    after = [token for token in denial.doc[denial.i + 1 : denial.sent.end] if not token.is_punct]
    noun = next((token for token in after[:4] if token.pos_ in ("NOUN", "PROPN")), None)
    if denial.lower_ == "no":
        is_fragment = not any(one.dep_ in SUBJECTS for one in denial.sent) or (
            noun is not None and (noun.pos_ == "PROPN" or denial.i == denial.sent.start)
        )  # "No more train, I cycle"
        return noun if after and after[0].lower_ == "more" and is_fragment else None
    if noun is None or any(token.pos_ in ("VERB", "AUX") for token in denial.doc[denial.i + 1 : noun.i]):
        return None
    rest = " ".join(token.lower_ for token in denial.doc[noun.i + 1 : noun.i + 4])
    return noun if rest.startswith(("any more", "anymore", "any longer")) else None


# Owners ---------------------------------------------------------------------------------------------------------------------------


def _name(token: Token) -> str:
    """Return the name that a proper noun heads, with its compounds and particles."""
    made = [child for child in token.lefts if child.dep_ in ("compound", "nmod", "flat")]
    first = min((child.i for child in made if not child.lower_.endswith("-in-law")), default=token.i)
    while first < token.i and _opens_no_name(token.doc[first]):
        first += 1
    while (
        first > token.sent.start
        and not _opens_no_name(token.doc[first - 1])
        and token.doc[first - 1].pos_ == "PROPN"
        and token.doc[first - 1].head in token.doc[first : token.i + 1]
    ):
        first -= 1
    last = token.i
    while last + 1 < token.sent.end and token.doc[last + 1].pos_ == "PROPN" and token.doc[last + 1].dep_ in ("flat",):
        last += 1
    if token.doc[first].text not in FIRST_NAMES:
        last = max(last, _end_of_number(token))  # "Hive 2", "Harlow & Sons"
    return token.doc[first : last + 1].text


def _opens_no_name(token: Token) -> bool:
    """Tell whether a word before a name says when, as in "on Sundays Ana goes to fencing"; June is a name."""
    return token.lower_ in words("times") and token.lower_ not in FIRST_NAMES_LOWER


def _is_name(token: Token) -> bool:
    """Tell whether a noun is a name: the tagger says so, or it is a first name or a capital that no sentence explains."""
    is_bare_role = (
        token.is_sent_start and token.n_lefts == 0 and token.dep_ == "nsubj" and token.lower_ in words("people")
    )
    if token.pos_ == "PROPN" and not is_bare_role:  # "Dentist is now Dr Imani"
        return True
    return (
        token.pos_ in ("NOUN", "ADJ", "X", "VERB")
        and token.text[:1].isupper()
        and (
            token.lower_ in FIRST_NAMES_LOWER
            or (not token.is_sent_start and not token.text.isupper() and token.dep_ in SUBJECTS)
        )
    )


def _owner_of(token: Token, context: _Context) -> str:
    """Return who a subject or possessor means: "USER", a name, a description through its possessor, or ""."""
    lower = token.lower_
    if lower in words("first_person") or any(one.lower_ in words("first_person") for one in token.conjuncts):
        return USER  # "Karim and I" are we
    if lower in ("who", "that", "which") and token.head.dep_ == "relcl":
        return _owner_of(token.head.head, context)
    if token.pos_ in ("VERB", "AUX", "ADV", "ADP", "INTJ", "PUNCT"):
        return ""
    if token.pos_ == "PRON":
        if lower in words("third_person"):
            return context.people[-1] if context.people else ""
        return context.thing if lower in ("it", "its", "this", "that") else ""
    named = next((child for child in token.children if child.dep_ == "appos" and child.pos_ == "PROPN"), None)
    if _is_name(token):
        return _name(token)
    if named is not None:
        return _name(named)
    possessor, relation = _possession(token, context)
    if possessor:
        return f"{possessor}'s {relation}"
    return _plain(token)


def _plain(token: Token) -> str:
    """Return a noun with what it is made of, without its article: "the Falcon deploy" → "Falcon deploy"."""
    first = min(
        (child.i for child in token.lefts if child.dep_ in ("compound", "amod", "nummod", "nmod")), default=token.i
    )
    return token.doc[first : _end_of_number(token) + 1].text  # "hive 2"


def _core(token: Token) -> Token:
    """Return the name behind a noun that only says its kind: "the city of Rome" → Rome."""
    if token.lemma_.lower() in words("kinds"):
        for child in token.children:
            if child.dep_ == "prep" and child.lower_ == "of":
                return next((inner for inner in child.children if inner.dep_ == "pobj"), token)
    return token


def _possession(noun: Token, context: _Context) -> tuple[str, str]:
    """
    Return whose a noun is and what it is for them: ("USER", "boss") for "my new boss", ("Lumen", "CEO") for "the CEO of Lumen".

    The possessor is "" where the words name none.
    """
    relation = _relation_of(noun)
    if noun.lemma_.lower() == "name" and (inner := _object_of(noun, "of")) is not None and not _is_name(inner):
        return _possession(inner, context)  # "the name of the head of state"
    bare = _object_of(noun, "of")
    if bare is not None and bare.tag_ == "NN" and bare.text.islower() and not [*bare.lefts]:
        owner, _ = _possession(bare, context)  # "head of state", "point of sale"
        whose = [child for child in noun.children if child.dep_ == "poss"]
        whose += [one for one in _objects_in(noun) if one.pos_ == "PROPN"]
        named = owner or next((_owner_of(one, context) for one in whose), "")
        return named, f"{relation} of {bare.lower_}"
    for child in noun.children:
        if child.dep_ == "poss":
            return _owner_of(child, context), relation
    namesakes = [one for one in noun.lefts if one.dep_ in ("compound", "nmod") and one.pos_ == "PROPN"]
    if namesakes and noun.pos_ == "NOUN" and fold(relation) in words("possessions") | words("people") | words("kept"):
        return _name(namesakes[-1]), relation  # "the Larkspur deadline"
    for child in noun.children:
        if child.dep_ == "prep" and child.lower_ in _OWNING:
            for inner in child.children:
                if inner.dep_ != "pobj":
                    continue
                if inner.pos_ == "PROPN" or child.lower_ == "of":
                    return _owner_of(inner, context), relation
                if inner.lower_ in words("first_person"):
                    return USER, relation
    return "", relation


_OWNING = ("of", "at", "for", "in", "to")


def _object_of(noun: Token, preposition: str) -> Token | None:
    return next(
        (
            inner
            for child in noun.children
            if child.dep_ == "prep" and child.lower_ == preposition
            for inner in child.children
            if inner.dep_ == "pobj"
        ),
        None,
    )


def _objects_in(noun: Token) -> Iterator[Token]:
    yield from (found for name in _OWNING[1:] if (found := _object_of(noun, name)) is not None)


def _relation_of(noun: Token) -> str:
    """
    Return the words of a noun that say what it is, lemmatised, without articles and "new", with the numbers that tell it from
    others: "crate 3", "flat 4 tenant".
    """
    parts = [
        child
        for child in noun.lefts
        if child.dep_ in ("compound", "amod", "nmod")
        and child.lower_ not in words("renewing")
        and (child.pos_ != "PROPN" or (noun.pos_ == "PROPN" and _is_post(noun)))  # "the Prime Minister of Peru"
    ]
    said = [word for part in parts for word in (*_made_of(part), part.lower_, _number_of(part))]
    lemma = noun.lemma_.lower() if noun.pos_ != "PROPN" else noun.lower_
    return " ".join(filter(None, (*said, lemma, _number_of(noun))))


def _made_of(part: Token) -> list[str]:
    """Return the words that a part of a compound is made of: "north" of "the north barn vet"."""
    made = (one for one in part.lefts if one.dep_ in ("compound", "amod", "nmod", "npadvmod") and one.pos_ != "PROPN")
    return [one.lower_ for one in made if one.lower_ not in words("renewing")]


def _number_of(noun: Token) -> str:
    """Return the number behind a noun that tells it from others of its kind: "3" of "crate 3", "12b" of "room 12B"; else ""."""
    return noun.doc[noun.i + 1 : _end_of_number(noun) + 1].text.lower()


def is_place(words: str, value: str) -> bool:
    """
    Tell whether the value of a claim in these words is where something is.

    >>> is_place("My bike is in the garage", "the garage"), is_place("My bike is a Gazelle", "a Gazelle")
    (True, False)
    """
    before = words.partition(value)[0].split() if value else []
    return bool(before) and before[-1].lower() in _PLACING


_PLACING = ("in", "at", "on", "under", "behind", "near")


def _find_complement(sentence: Span, relation: str) -> frozenset[str]:
    """Return the words that tell what a relation is about from others of its kind: "office" of "the plumber for the office"."""
    found: set[str] = set()
    for noun in sentence:
        if noun.pos_ not in ("NOUN", "PROPN") or not f" {relation}".endswith(f" {fold(_relation_of(noun))}"):
            continue
        behind = (
            noun.nbor() if noun.i + 1 < sentence.end else noun
        )  # the parser takes some with the verb: "lunch on Friday is …"
        parts = [one for one in noun.children if one.dep_ == "prep"]
        parts += [behind] if behind.dep_ == "prep" and behind.head == noun.head and behind.i < noun.head.i else []
        for inner in (one for part in parts for one in part.children):
            is_time = inner.head.lower_ in ("from", "since", "until", "till", "as") and _is_time(inner)
            if inner.dep_ == "pobj" and inner.pos_ in ("NOUN", "PROPN") and inner.head.lower_ != "of" and not is_time:
                made = (one for one in inner.lefts if one.dep_ in ("compound", "amod", "nummod", "nmod", "poss"))
                found.update(one.lemma_.lower() for one in (*made, inner) if one.lower_ not in words("renewing"))
                found.add(_number_of(inner))
    return frozenset(found - words("change") - words("first_person") - {"", *_AT_PRESENT})


_AT_PRESENT = ("moment", "present", "time")
"""Nouns of "at the moment" and the like."""


def _default_owner(noun: Token, value_kind: Kind, context: _Context) -> str:
    """
    Return whose a noun without a possessor is.

    What the clause before was about owns a role ("The new manager is Douwe" after a sentence about Joost); else it is the writer's.
    """
    if any(child.dep_ == "poss" for child in noun.children):
        return ""  # "his boss", whoever he is
    determiner = next((child.lower_ for child in noun.children if child.dep_ == "det"), "")
    if determiner and determiner not in ("the", "this", "that"):
        return ""
    if not determiner and (noun.tag_ == "NNS" or value_kind == "thing"):
        return ""  # "pets are family" is nobody's
    if context.last != USER and noun.lemma_.lower() in words("people") | words("possessions"):
        return context.last
    return USER


# Predicates -----------------------------------------------------------------------------------------------------------------------


def _subject_of(verb: Token) -> Token | None:
    """Return the subject of a verb, or that of the verb whose conjunct it is."""
    auxiliaries = [child for child in verb.children if child.dep_ in ("aux", "auxpass")]
    for child in [child for one in (verb, *auxiliaries) for child in one.children]:
        if child.dep_ in SUBJECTS:
            return child  # the parser hangs some on the auxiliary: "Elif is engaged"
    if verb.dep_ == "conj" and verb.head.pos_ in ("VERB", "AUX"):
        return _subject_of(verb.head)
    if verb.dep_ in ("xcomp",) and verb.head.pos_ in ("VERB", "AUX"):
        return _subject_of(verb.head)
    if verb.dep_ == "advcl" and verb.tag_ == "VBG" and verb.head.pos_ in ("VERB", "AUX"):
        return _subject_of(verb.head)
    if verb.dep_ == "relcl":
        return verb.head
    return None


def _opens_without_subject(verb: Token) -> bool:
    """
    Tell whether a sentence opens with a clause of the writer's without "I": "Finished my course, got the certificate".

    "Born in Rome, he …" says something of its subject instead: it has neither an object nor a change from one thing to another.
    """
    before = verb.doc[verb.sent.start : verb.i]
    if verb.tag_ not in ("VBD", "VBN") or any(one.pos_ not in ("ADV", "INTJ", "CCONJ", "PUNCT") for one in before):
        return False
    if verb.dep_ == "xcomp" or any(one.dep_ in (*SUBJECTS, "mark", "auxpass") for one in verb.children):
        return False
    given = {one.lower_ for one in verb.children if one.dep_ == "prep"}
    return any(one.dep_ in ("dobj", "xcomp") for one in verb.children) or {"from", "to"} <= given


def _of_predicate(verb: Token, sentence: Span, at: int, context: _Context) -> Iterator[Assertion]:
    if verb.tag_ == "VBG" and verb.dep_ in ("ccomp", "acl") and not any(child.dep_ == "aux" for child in verb.children):
        return  # "two articles going"
    opens = _opens_without_subject(verb)
    if (
        verb.dep_ in ("acl", "advcl", "csubj", "csubjpass", "pcomp")
        and not opens
        and not any(child.dep_ in SUBJECTS for child in verb.children)
    ):
        return  # "to see the museum", "making sure": no clause of its own
    subject = _subject_of(verb)
    own = next((child for child in verb.children if child.dep_ in SUBJECTS), None)
    mood, polarity, tense, changed = _how(verb)
    if subject is None:
        if any(child.lower_ == "let" for child in (verb, verb.head)):
            return
        if not opens and verb.dep_ not in ("ROOT", "conj", "ccomp", "dep", "parataxis"):
            return
        if verb.tag_ == "VB" and not any(child.dep_ == "aux" for child in verb.children):
            mood = "command"
        owner = USER if opens or verb.i - sentence.start <= 2 or verb.dep_ == "conj" else ""
    else:
        owner = _owner_of(subject, context)
    base = Assertion(
        owner=owner,
        relation=verb.lemma_.lower(),
        value="",
        start=(own.left_edge.idx if own is not None and verb.dep_ != "relcl" else _first_of(verb).idx),
        end=max(one.idx + len(one) for one in (verb, *(one for one in verb.children if _is_particle(one)))),
        sentence=at,
        polarity=polarity,
        mood=mood,
        tense=tense,
        verb_tense=tense,
        changed=changed,
    )
    since, until = _dates_of(verb)
    if tense == "present" and mood == "fact" and since.startswith("from "):
        base = replace(base, changed=True)  # "we sing in the hall from next week"
    when = next(
        (
            _time_text(child, whole=True)
            for child in verb.children
            if child.dep_ in ("prep", "npadvmod")
            and child.lower_ not in ("by", "since", "until", "till", "for", "to")
            and _time_text(child, whole=True)
        ),
        "",
    )
    announced = (
        mood == "plan"
        and verb.dep_ not in ("xcomp",)
        and not any(child.lower_ in ("want", "hope") for child in verb.ancestors)
    )
    base = replace(base, since=since, until=until, when=when, is_announced=announced)
    found: list[Assertion] = []
    if verb.lemma_ in words("copulas"):
        found = list(_of_copula(verb, subject, base, context))
    elif (appointed := _of_appointed(verb, subject, base, context)) is not None:
        found = [appointed]
    elif (
        verb.lemma_ in words("naming")
        and any(child.dep_ == "oprd" for child in verb.children)
        and subject is not None
        and subject.dep_ == "nsubjpass"
    ):
        value = next(child for child in verb.children if child.dep_ == "oprd")
        found = [_noun_claim(subject, value, base, context)]
    elif (entered := _of_entered(verb, base)) is not None:
        found = [entered]
    elif (subject is not None and (claim := _of_shift(verb, subject, base, context))) or (
        claim := _of_shifted_object(verb, base, context)
    ):
        found = [claim]
    elif verb.dep_ != "xcomp" or mood != "fact" or verb.head.lemma_ in words("stopping") | words("starting") | {"use"}:
        found = list(_of_frame(verb, base, context))
    is_whole = len(found) == 1 and not found[0].is_event  # of several claims, each has its own words
    stop = max(_end_of_times(verb), _end_of_clause(verb) if is_whole else 0)
    opening = [child.left_edge.idx for child in verb.lefts if child.dep_ in ("prep", "npadvmod") and is_whole]
    for claim in found:
        yield replace(claim, start=min(claim.start, *opening, claim.start), end=max(claim.end, stop))
    context.thing = next(
        (claim.value for claim in found if claim.kind == "name" and claim.relation != "name"), context.thing
    )
    if own is not None:
        _remember_subject(own, found[0].owner if found else owner, context)
    elif subject is None and owner == USER:
        context.last = USER


def _of_entered(verb: Token, base: Assertion) -> Assertion | None:
    """Return the claim of a relation that somebody got into: "Ilse got married to Fedor"."""
    for state in verb.children if verb.lemma_ == "get" else ():
        for prep in state.children if state.dep_ == "acomp" else ():
            said = f"be {state.lower_} {prep.lower_}"
            inner = next((child for child in prep.children if child.dep_ == "pobj"), None)
            if inner is not None and fold(said) != said:
                return _with_value(replace(base, relation=fold(said), is_event=True), inner)
    return None


def _of_appointed(verb: Token, subject: Token | None, base: Assertion, context: _Context) -> Assertion | None:
    """Return who is given an office: "the club elected Tom Reed treasurer", "Mina Sol was appointed treasurer of the club"."""
    given = [one for one in verb.children if one.dep_ in ("oprd", "dobj") and one.i > verb.i]
    office = next((one for one in given if _is_post(one)), None)
    if verb.lemma_ not in words("appointing") or subject is None or office is None or base.mood != "fact":
        return None
    base = replace(base, tense="present")
    if subject.dep_ == "nsubjpass":
        return _office_claim(office, subject, base, context) if _is_name(subject) else None
    before = [one for one in office.lefts if one.pos_ == "PROPN"] or [one for one in given if one.i < office.i]
    if not before or not _is_name(before[-1]):
        return None
    made = before[0].doc[before[0].left_edge.i : before[-1].i + 1]
    said = [one.lower_ for one in office.doc[made.end : office.i + 1] if one.pos_ != "DET"]
    relation = fold(" ".join(said))
    owner = _possession(office, context)[0] or _owner_of(subject, context)
    claim = _office_claim(office, before[-1], base, context)
    return replace(claim, owner=owner, relation=relation, topic=relation, value=made.text)


def _remember_subject(subject: Token, owner: str, context: _Context) -> None:
    if owner == USER or subject.lower_ in words("first_person"):
        context.last = USER
        return
    if subject.pos_ == "PRON":
        return
    named = (
        subject
        if _is_name(subject)
        else next((c for c in subject.children if c.dep_ == "appos" and c.pos_ == "PROPN"), None)
    )
    if named is not None:
        name = _name(named)
        context.people.append(name)
        context.last = name
        return
    described = _owner_of(subject, context)
    if "'s " in described:
        context.people.append(described)
        context.last = described if subject.lemma_.lower() in words("people") else context.last
    context.thing = described


def _first_of(verb: Token) -> Token:
    """Return the first word of a clause without a subject of its own: the other clause's, its auxiliary, adverb or the verb."""
    early = [child for child in verb.lefts if child.dep_ in ("aux", "auxpass", "neg", "advmod")]
    if verb.dep_ == "xcomp" and (subject := _subject_of(verb)) is not None and subject.i < verb.i:
        return subject.doc[subject.left_edge.i]  # "I used to play"
    return min([verb, *early], key=lambda token: token.i)


def _how(verb: Token) -> tuple[Mood, bool, Literal["past", "present", "future"], bool]:
    """Return mood, polarity and tense of a clause, and whether it has a sign of change."""
    mood: Mood = "fact"
    polarity = True
    changed = False
    tense: Literal["past", "present", "future"] = "past" if verb.tag_ in ("VBD", "VBN") else "present"
    auxiliaries = [child for child in verb.children if child.dep_ in ("aux", "auxpass")]
    if any(
        (child.lemma_ in ("have", "'ve") or child.lower_ in ("'s", "’s")) and child.tag_ != "VBD"
        for child in auxiliaries
    ):
        tense = "present"
    elif any(child.tag_ == "VBD" for child in auxiliaries):
        tense = "past"
    elif any(child.dep_ == "auxpass" and child.tag_ in ("VBZ", "VBP") for child in auxiliaries):
        tense = "present"
    if (
        verb.tag_ == "VBG"
        and verb.lemma_ in words("moving")
        and any(child.lemma_ == "be" and child.tag_ in ("VBP", "VBZ") for child in auxiliaries)
    ):
        mood, tense = "plan", "future"  # "we are moving to Antwerp"
    for child in auxiliaries:
        if child.lower_ in ("will", "'ll", "wo", "shall", "going"):
            mood, tense = "plan", "future"
        elif child.lower_ in ("would", "could", "might", "may", "should", "must", "'d", "can") and child.tag_ == "MD":
            mood = "possible" if child.lower_ != "can" else mood
    if (
        tense == "present"
        and mood == "fact"
        and any(
            child.dep_ == "prep" and child.lower_ == "by" and any(_is_time(inner) for inner in child.subtree)
            for child in verb.children
        )
    ):
        mood, tense = "plan", "future"  # "jobs go to RabbitMQ by the end of the summer"
    for child in verb.children:
        if child.dep_ == "neg" or (child.lower_ in ("no", "never", "hardly") and child.dep_ in ("advmod", "neg")):
            polarity = False
        if child.lower_ in words("change") and child.dep_ in ("advmod", "npadvmod"):
            changed = True
        if child.lower_ == "from" and any(inner.tag_ == "RB" for inner in child.children):
            changed = True
            if mood == "plan":
                mood, tense = "fact", "present"  # "from now on we'll meet at Ola's"
        if child.lower_ in words("doubting") and child.dep_ == "advmod" and mood in ("fact", "plan"):
            mood = "possible"
        if child.lower_ == "days" and any(inner.lower_ == "these" for inner in child.children):
            changed = True
        if child.lower_ == "longer" and any(inner.lower_ == "no" for inner in child.children):
            polarity, changed = False, True
        if child.dep_ == "mark" and child.lower_ in words("conditional"):
            mood = "condition"
        if child.dep_ == "dobj" and any(
            inner.lower_ in ("no", "neither") and inner.dep_ == "det" for inner in child.children
        ):
            polarity = False
    head = verb.head
    while head != verb and verb.dep_ in ("xcomp", "ccomp", "conj", "advcl", "pcomp", "acl"):
        if verb.dep_ in ("xcomp", "pcomp", "acl"):
            if head.lemma_ in words("stopping"):
                polarity, changed, tense = not polarity, True, "present"
            elif head.lemma_ in words("starting"):
                pass  # who starts to play the cello may play the guitar
            elif head.lemma_ == "use":
                tense, polarity = "past", polarity
                mood = "past"
            elif head.lemma_ in words("continuing") | {"have", "get", "manage", "happen"}:
                pass
            elif head.lemma_ == "go" and head.tag_ == "VBG":
                mood, tense = "plan", "future"
            elif head.pos_ in ("VERB", "AUX", "NOUN", "ADJ"):
                mood = "plan" if mood == "fact" else mood
        elif verb.dep_ == "ccomp" and any(one.lemma_.lower() in words("hearsay") for one in head.children):
            mood = "report"  # "rumour has it that"
        elif verb.dep_ == "ccomp":
            if (
                head.i < verb.i
                or any(child.dep_ == "mark" for child in verb.children)
                or head.lemma_ in words("reporting")
            ):
                if head.lemma_ in words("reporting"):
                    mood = "report"
                elif head.lemma_.lower() in words("supposing") | {"wish", "hope"}:
                    mood = "possible"
        elif verb.dep_ == "advcl":
            break
        if verb.dep_ == "conj":
            outer = _how(head)[0] if head.dep_ != "ROOT" or head.lemma_ not in words("copulas") else "fact"
            if outer in ("condition", "report") or (
                outer in ("plan", "possible")
                and not any(c.dep_ in SUBJECTS for c in verb.children)
                and verb.tag_ == "VB"
            ):
                mood = outer
            break
        verb, head = head, head.head
    return mood, polarity, tense, changed


def _dates_of(verb: Token) -> tuple[str, str]:
    """Return the words after "since" or "from", and after "until", of a clause."""
    since = until = ""
    for child in verb.subtree:
        if child.dep_ == "mark" and child.head == verb:
            continue  # it says when something else holds
        if any(
            verb.is_ancestor(above) and any(one.dep_ in SUBJECTS for one in above.children) for above in child.ancestors
        ):
            continue  # it is of another clause
        if child.dep_ in ("prep", "mark") and child.lower_ in ("since", "from", "as"):
            text = _time_text(child) if verb in (child.head, child.head.head) else ""
            since = since or (f"{child.lower_} {text}" if text else "")
        if child.lower_ in ("until", "till", "til") and child.dep_ in ("prep", "mark"):
            until = until or _time_text(child)
    return since, until


def _end_of_times(verb: Token) -> int:
    """Return where the last phrase ends that says since when or until when a clause holds; 0 if there is none."""
    ends = [
        child.doc[child.right_edge.i].idx + len(child.doc[child.right_edge.i])
        for child in verb.subtree
        if child.lower_ in ("since", "from", "until", "till", "til") and child.dep_ == "prep"
        if (child.head == verb or child.head.head == verb) and _time_text(child)
    ]
    return max(ends, default=0)


def _end_of_clause(verb: Token) -> int:
    """Return where the phrases that belong to a verb end, without the clauses that hang on it or are added."""
    parts = ("prep", "npadvmod", "advmod", "dobj", "attr", "acomp", "oprd", "agent", "prt", "dative")
    last = max(
        (_phrase(child)[1] for child in verb.children if child.i > verb.i and child.dep_ in parts), default=verb.i
    )
    return int(verb.doc[last].idx + len(verb.doc[last]))


def _time_text(preposition: Token, whole: bool = False) -> str:
    if preposition.dep_ == "npadvmod":
        return (
            preposition.doc[preposition.left_edge.i : preposition.right_edge.i + 1].text
            if _is_time(preposition)
            else ""
        )
    if whole:
        text = preposition.doc[preposition.left_edge.i : preposition.right_edge.i + 1].text
        return text if any(_is_time(inner) for inner in preposition.subtree) else ""
    inner = [child for child in preposition.children if child.dep_ in ("pobj", "pcomp", "advmod", "npadvmod")]
    if not inner and preposition.dep_ == "mark":
        return preposition.doc[preposition.head.left_edge.i : preposition.head.right_edge.i + 1].text
    return inner[0].doc[inner[0].left_edge.i : inner[0].right_edge.i + 1].text if inner and _is_time(inner[0]) else ""


def _is_time(token: Token) -> bool:
    """Tell whether a word is a date or a time of day: a month, a day, "9:40", a year."""
    text = token.lower_
    if text in words("times") or re.fullmatch(
        r"\d{1,2}[:.]\d\d(am|pm)?|(19|20)\d\d|\d{1,2}(st|nd|rd|th)|\d{1,2}(am|pm)|\d{4}-\d\d-\d\d", text
    ):
        return True
    if text in ("beginning", "end", "middle", "start"):  # "the end of August"
        return any(_is_time(inner) for part in token.children if part.lower_ == "of" for inner in part.children)
    return any(
        child.lower_ in words("times")
        for child in (*token.lefts, *(one for one in token.rights if one.dep_ == "quantmod"))  # "20 Sept."
        if child.dep_ in ("compound", "nummod", "npadvmod", "nmod", "quantmod")
    )


_AMOUNT = re.compile(r"[€$£¥]\d[\d.,]*(?:k|m|bn)?|\d[\d.,]*(?:k|bn)")


def _kind(token: Token) -> Kind:
    money = any(child.text in "€$£¥" for child in token.children if child.dep_ in ("nmod", "quantmod", "compound"))
    if money or _AMOUNT.fullmatch(token.text) or (token.pos_ == "NUM" and not token.like_url and not _is_time(token)):
        return "number"
    if _is_time(token):
        return "time"
    if token.text.islower() and any(child.dep_ == "nummod" for child in token.children):
        return "number"  # "40 mg", which the tagger takes for a name
    if token.pos_ == "PROPN" or (token.text[:1].isupper() and token.text[:1].isalpha()):
        return "name"
    if token.doc[token.left_edge.i].pos_ == "NUM" or any(child.pos_ == "NUM" for child in token.children):
        return "number"  # "34 years old"
    return "thing"


def _phrase(token: Token) -> tuple[int, int]:
    """Return the span, in tokens, of a phrase without the clauses and time phrases that hang on it."""
    left, right = token.left_edge.i, max(token.right_edge.i, _end_of_number(token) if token.pos_ == "NUM" else 0)
    for child in token.children:
        if child.i > token.i and (
            (child.dep_ in ("relcl", "advcl", "acl", "parataxis", "ccomp", "appos") and child.pos_ != "NUM")
            or (child.dep_ in ("cc", "conj") and child.pos_ in ("VERB", "AUX"))
            or (
                child.dep_ == "prep"
                and child.lower_ in ("since", "until", "till", "from")
                and any(_is_time(c) for c in child.children)
            )
            or (child.dep_ == "npadvmod" and _is_time(child))
            or (child.dep_ == "advmod" and child.lower_ in words("change"))
            or child.dep_ == "punct"
        ):
            right = min(right, child.left_edge.i - 1)
    return left, max(right, token.i)


def _text_of(token: Token) -> str:
    if token.pos_ == "PROPN" and not any(
        child.dep_ == "prep" and child.lower_ in ("of", "and") for child in token.children
    ):
        return token.doc[min(_phrase(token)[0], token.i) : _end_of_number(token) + 1].text.strip(" .,;:!")
    left, right = _phrase(token)
    return token.doc[left : right + 1].text.strip(" .,;:!")


def _end_of_number(token: Token) -> int:
    """Return the last token of a name or number with what follows it: "Postgres 15", "030 123456", "Harlow & Sons"."""
    end = token.i
    while end + 2 < token.sent.end and token.doc[end + 1].text == "&" and token.doc[end + 2].text[:1].isupper():
        end += 2
    while (
        end + 1 < token.sent.end
        and token.doc[end + 1].pos_ == "NUM"
        and (token.doc[end + 1].head == token.head or token.is_ancestor(token.doc[end + 1]))
    ):
        if _is_time(token.doc[end + 1]) and "." not in token.doc[end + 1].text:
            break
        end += 1
    return end


def _with_value(base: Assertion, value: Token) -> Assertion:
    left, right = _phrase(value)
    end = value.doc[right].idx + len(value.doc[right])
    start = min(base.start, value.doc[left].idx)
    core = _core(value)
    changed = base.changed or any(one.dep_ == "advmod" and one.lower_ in words("change") for one in value.children)
    said = _text_of(core)
    if any(one.lower_ == "longer" and one.nbor(-1).lower_ == "no" for one in value.lefts):  # "he is no longer vegan"
        said, changed = said.rpartition("longer ")[2], True
        base = replace(base, polarity=False)
    return replace(base, value=said, start=start, end=max(base.end, end), kind=_kind(core), changed=changed)


def _is_bare(noun: Token) -> bool:
    """Tell whether a noun stands without words that say which one: "my office", but "the delivery office"."""
    return all(child.dep_ in ("det", "poss", "punct") for child in noun.children)


def _day_claims(subject: Token, value: Token, base: Assertion, context: _Context) -> list[Assertion]:
    """Return the claims that somebody leaves or joins: "my last day at Acme is 30 June", "Farid's last day is Friday"."""
    day, date = (subject, value) if subject.lemma_ == "day" else (value, subject)
    ranks = {child.lower_ for child in day.children} & {"first", "last", "final"}
    of_day = [child for child in day.children if child.dep_ == "prep"]
    at = (child for child in of_day if child.lower_ in ("at", "with"))
    place = next((inner for child in at for inner in child.children if inner.dep_ == "pobj"), None)
    if day.lemma_ != "day" or not ranks or not _is_time(date):
        return []
    told = date.doc[date.left_edge.i : date.right_edge.i + 1]
    base = replace(
        base, owner=_possession(day, context)[0], since=f"on {told.text.rstrip(' .')}", end=max(base.end, told.end_char)
    )
    if place is None or (place.lower_ in words("workplaces") and _is_bare(place)):
        is_whose = any(child.dep_ == "poss" for child in day.children)
        if "first" in ranks or not is_whose or (place is None and of_day):
            return []  # "my last day of the antibiotics" is another one
        left = replace(base, relation="leave", is_event=True)
        return [replace(left, ends=_ends("resign", left, ()))]
    if "first" in ranks:
        since = "" if base.tense == "past" else base.since
        begun = replace(base, changed=True, tense="present", since=since)
        jobs = [
            job
            for child in (*day.children, *place.children, *day.head.children)
            if child.lower_ == "as"
            for job in child.children
        ]
        return [
            replace(_with_value(begun, place), relation="work at"),
            *(replace(_with_value(begun, job), relation="job") for job in jobs),
        ]
    left = replace(_with_value(base, place), relation="leave", is_event=True)
    return [replace(left, ends=_ends("leave", left, ()))]


def _of_copula(verb: Token, subject: Token | None, base: Assertion, context: _Context) -> Iterator[Assertion]:
    values = [child for child in verb.children if child.dep_ in ("attr", "acomp", "oprd")]
    if not values:
        values = [
            child
            for child in verb.children
            if child.dep_ in ("prep", "advmod", "npadvmod")
            and child.i > verb.i
            and (child.dep_ == "prep" or child.lower_ in words("places"))
            and child.lower_ not in words("change") | {"since", "until", "till"}
            and not (child.lower_ == "from" and any(_is_time(inner) for inner in child.children))
        ][:1]
    if subject is not None and values and (claim := _of_relative(subject, values[0], base, context)) is not None:
        yield claim
        return
    if subject is not None and _is_name(subject) and (office := _find_office(verb)) is not None:
        yield _office_claim(office, subject, base, context)  # "Rosa is back as engineering manager"
        return
    days = values or [child for child in verb.children if child.dep_ == "npadvmod"]
    if subject is not None and days and (told := _day_claims(subject, days[0], base, context)):
        yield from told
        return
    if base.polarity and (returned := next((one for one in verb.children if one.lower_ == "back"), None)) is not None:
        found = [
            _return_claim(prep, base) for part in (returned, verb) for prep in part.children if prep.i > returned.i
        ]
        if any(found):
            yield next(one for one in found if one)
            return
    for value in values[:1]:
        if value.dep_ == "prep":
            inner = next((child for child in value.children if child.dep_ in ("pobj", "pcomp")), None)
            if inner is None:
                continue
            if subject is not None and _is_role(subject) and not _is_person(subject):
                yield _noun_claim(subject, inner, base, context)
            else:
                claim = _with_value(replace(base, relation=fold(f"be {value.lower_}")), inner)
                yield replace(claim, ends=_ends(claim.relation, claim, ()))
            continue
        if subject is not None and _is_role(subject) and (not _is_person(subject) or _kind(value) == "name"):
            yield _noun_claim(subject, value, base, context)
            continue
        if value.pos_ in ("NOUN", "PROPN") and subject is not None:
            possessor, relation = _possession(value, context)
            article = next((child.lower_ for child in value.children if child.dep_ == "det"), "")
            is_role = bool(possessor) and article not in ("a", "an")
            if is_role and verb.lemma_ == "become" and base.mood == "fact":
                base = replace(base, tense="present", changed=base.polarity)
            if is_role and subject.pos_ != "PRON":
                yield replace(
                    _with_value(base, value),
                    owner=possessor,
                    relation=fold(relation),
                    value=_text_of(subject),
                    kind=_kind(subject),
                    is_property=value.tag_ in ("NN", "NNP") and value.lemma_.lower() not in words("several"),
                )
                continue
            if is_role:
                yield replace(
                    _with_value(base, value),
                    relation=fold(relation),
                    owner=possessor,
                    value=base.owner or _text_of(subject),
                    kind="name",
                    is_property=bool(base.owner) and value.lemma_.lower() not in words("several"),
                )
                continue
            if possessor:
                at = _object_of(value, "at") or _object_of(value, "with")
                is_work = at is not None and _is_name(at) and value.lemma_.lower() not in words("belonging")
                if is_work and article in ("a", "an"):
                    yield replace(_with_value(base, value), relation="work at", value=possessor, kind="name")
                    yield replace(base, relation="be", value=_plain(value), end=value.idx + len(value))
                else:
                    yield replace(_with_value(base, value), relation=f"{relation} of", value=possessor, kind="name")
                continue
            if _is_office(value) and _is_name(subject):  # "Kofi becomes product manager"
                yield _office_claim(value, subject, base, context)
                continue
            if base.owner == USER and value.pos_ == "PROPN" and value.ent_type_ == "" and subject.lower_ == "i":
                yield _with_value(replace(base, relation="name"), value)
                continue
        if value.pos_ == "ADJ" or value.dep_ == "acomp":
            inner = next(
                (
                    o
                    for child in value.children
                    if child.dep_ == "prep"
                    for o in child.children
                    if o.dep_ in ("pobj", "pcomp")
                ),
                None,
            )
            prep = next((child for child in value.children if child.dep_ == "prep"), None)
            if inner is not None and prep is not None:
                yield _with_value(replace(base, relation=fold(f"be {value.lower_} {prep.lower_}")), inner)
                continue
        yield _with_value(replace(base, relation="be"), value)


def _of_relative(subject: Token, value: Token, base: Assertion, context: _Context) -> Assertion | None:
    """
    Return the claim that a relative clause makes of its subject or object: "the school where Ana teaches is Lyceum", "the company
    that built it is Aldo".
    """
    clause = next((child for child in subject.children if child.dep_ == "relcl"), None)
    inner = clause and next((child for child in clause.children if child.dep_ in SUBJECTS), None)
    if clause is None or inner is None or not _is_role(subject):
        return None
    lemma = clause.lemma_.lower()
    if inner.tag_ in ("WP", "WDT"):
        named, lemma = next((child for child in clause.children if child.dep_ == "dobj"), None), f"{lemma} by"
    else:
        named = inner
    if named is None or not (owner := _owner_of(named, context)):
        return None
    return replace(_with_value(base, value), owner=owner, relation=fold(lemma), is_event=False)


def _is_office(noun: Token) -> bool:
    """Tell whether a noun stands bare, as what one person is at a time: "product manager", "captain"."""
    return (
        (noun.tag_ == "NN" or (noun.text.isupper() and len(noun) < 5) or _is_post(noun))  # "CTO"
        and noun.dep_ in ("attr", "pobj")
        and not any(one.dep_ == "det" and one.lower_ != "the" for one in noun.children)
    )


def _find_office(verb: Token) -> Token | None:
    """Return the office behind "as" with which somebody comes, returns or takes over."""
    for word in verb.subtree:
        if word.lower_ == "as" and word.dep_ == "prep" and verb in (word.head, *[*word.head.ancestors][:2]):
            return next((inner for inner in word.children if inner.dep_ == "pobj" and _is_office(inner)), None)
    return None


def _office_claim(office: Token, holder: Token, base: Assertion, context: _Context) -> Assertion:
    """Return the claim that somebody holds an office from now on."""
    possessor, relation = _possession(office, context)
    topic = fold(relation)
    return replace(
        _with_value(base, office),
        owner=possessor or USER,
        relation=topic,
        topic=topic,
        value=_name(holder),
        kind="name",
        changed=True,
        is_event=False,
        is_property=office.lemma_.lower() not in words("several"),
    )


def _is_person(noun: Token) -> bool:
    """Tell whether a noun is a role of a person, who has many properties at a time: "Dad is home" says nothing of who Dad is."""
    return noun.lemma_.lower() in words("people")


def _is_role(subject: Token) -> bool:
    """Tell whether a subject is a noun that stands for a property of somebody: "my boss", "the rent", "standup"."""
    return (
        subject.pos_ == "NOUN"
        and not _is_name(subject)
        and not any(child.dep_ == "appos" and child.pos_ == "PROPN" for child in subject.children)
    )


def _noun_claim(subject: Token, value: Token, base: Assertion, context: _Context) -> Assertion:
    """Return the claim that a noun has a value: "the rent is 1,250"."""
    if _is_name(subject):
        changed = base.changed or subject.head.lemma_ == "rename"
        return _with_value(replace(base, owner=_name(subject), relation="name", changed=changed), value)
    possessor, relation = _possession(subject, context)
    renewed = any(child.lower_ in ("new", "current", "latest", "temporary") for child in subject.children)
    owner = possessor or _default_owner(subject, "name" if value.dep_ == "pobj" else _kind(value), context)
    topic = fold(relation)
    claim = _with_value(replace(base, owner=owner, relation=topic, topic=topic, changed=base.changed or renewed), value)
    if value.lemma_.lower() in words("over") or value.lower_ in words("over"):
        claim = replace(claim, is_over=claim.polarity)
    head = subject.lemma_.lower()
    is_one = (
        subject.tag_ == "NN"
        and head not in words("several")
        and value.pos_ in ("NOUN", "PROPN", "NUM", "X", "SYM", "ADJ")
    )
    # "The park is a lovely place" says what it is like.
    is_one = is_one and (claim.kind != "thing" or bool(possessor))
    return replace(claim, is_property=is_one and bool(owner) and value.dep_ != "acomp")


def _of_shift(verb: Token, subject: Token, base: Assertion, context: _Context) -> Assertion | None:
    """Return the claim that a noun got another value ("the rent went up to 1,500"), or is over ("Jenkins was cancelled")."""
    passive = subject.dep_ == "nsubjpass"
    over = verb.lemma_ in words("over_verbs") or (passive and verb.lemma_ in words("over_passives"))
    if (
        over
        and not _tells_hours(verb)
        and (
            passive
            or not any(child.dep_ in ("dobj", "prt", "advmod") and child.pos_ != "ADV" for child in verb.children)
        )
        and base.polarity
        and base.mood == "fact"
        and base.owner != USER
        and (passive or verb.lemma_ in words("dying") or not _is_one_person(subject))
    ):
        possessor, relation = _possession(subject, context)
        topic = fold(relation) if _is_role(subject) else _owner_of(subject, context)
        owner = possessor or (USER if subject.pos_ == "NOUN" else "")
        named = next(
            (inner for prep in subject.children if prep.lower_ in ("at", "with") for inner in prep.children), None
        )
        if named is not None and _is_name(named):  # "my contract with Acme ended"
            base = replace(base, ends=(("*", _text_of(named)),))
        ended = replace(
            base,
            owner=owner or USER,
            relation=verb.lemma_.lower(),
            topic=topic,
            value=topic,
            is_event=True,
            is_over=True,
        )
        after = _find_replacement(verb) if passive else None
        return ended if after is None else replace(_with_value(ended, after), instead=(_text_of(subject),))
    particle = next(
        (
            child.lower_
            for child in verb.children
            if child.dep_ in ("prt", "advmod") and child.lower_ in ("up", "down", "forward")
        ),
        "",
    )
    lemma = f"{verb.lemma_} {particle}".strip()
    if not {lemma, verb.lemma_} & words("shifting") or not subject.pos_.startswith(("NOUN", "PROPN")):
        return None
    amounts = [child for child in verb.children if child.dep_ in ("dobj", "npadvmod") and _is_bound(child)]
    if any(child.dep_ == "dobj" and child not in amounts for child in verb.children):
        return None  # "the landlord raised the rent to 695"
    parts = [verb, *(child for child in verb.children if child.dep_ in ("prt", "advmod"))]  # "went up to 845"
    targets = [
        o
        for part in parts
        for child in part.children
        if child.dep_ == "prep" and child.lower_ in ("to", "for", "at")
        for o in child.children
        if o.dep_ == "pobj"
    ]
    targets = targets or [
        number
        for part in parts
        for number in part.children  # "goes up to 900 next month", where "to" hangs on the number
        if number.dep_ == "pobj" and any(child.lower_ == "to" for child in number.children)
    ]
    targets = targets or amounts
    if not targets:
        return None
    is_owned = any(child.dep_ == "poss" for child in subject.children) and not _is_person(subject)
    is_moved = is_owned and verb.lemma_ in words("relocating")
    if _kind(targets[0]) in ("name", "thing") and not passive and not is_moved:
        return None  # "my mother moved to Faro", but "our office moved to York"
    if _is_name(subject):
        name = _name(subject)
        if verb.lemma_ in words("naming"):  # "Heron was renamed to Osprey"
            return replace(_with_value(base, targets[0]), owner=name, relation="name", changed=True, is_event=False)
        base = replace(_with_value(base, targets[0]), owner=USER, relation=name.lower(), topic=name.lower())
        return replace(base, changed=True, tense="present", is_property=True)
    claim = _noun_claim(subject, targets[0], base, context)
    claim = replace(claim, value=_TO.sub("", claim.value)) if targets == amounts else claim
    moved = claim.kind in ("time", "number")  # "rehearsals have moved to Mondays"
    return replace(claim, changed=True, tense="present", is_event=False, is_property=claim.is_property or moved)


_TO = re.compile(r"^(?:up |down )?to ")


def _is_bound(amount: Token) -> bool:
    """Tell whether "to" belongs to an amount: the parser takes it so in "went up to 750 euros"."""
    numbers = (amount, *(child for child in amount.children if child.dep_ == "nummod"))
    return any(child.lower_ == "to" and child.dep_ == "quantmod" for one in numbers for child in one.children)


def _find_replacement(verb: Token) -> Token | None:
    """Return what takes the place of something: the heat pump of "replaced by a heat pump"."""
    if verb.lemma_ not in words("replacing"):
        return None
    return next(
        (one for child in verb.children if child.lower_ == "by" for one in child.children if one.dep_ == "pobj"), None
    )


def _of_replaced(verb: Token, at: int) -> Iterator[Assertion]:
    """Yield what took the place of something that a fragment names: "Boiler dead, replaced by a heat pump"."""
    if verb.tag_ != "VBN" or any(one.dep_ in (*SUBJECTS, "auxpass") for one in verb.children) or verb.dep_ == "conj":
        return
    before = verb.doc[verb.sent.start : verb.i]
    old = next((one for one in before if one.pos_ in ("NOUN", "PROPN") and one.dep_ != "compound"), None)
    after = _find_replacement(verb)
    if old is not None and after is not None:
        said = _plain(old)
        base = Assertion(owner=USER, relation=verb.lemma_, value="", start=old.left_edge.idx, end=verb.idx, sentence=at)
        ended = replace(_with_value(base, after), is_event=True, tense="past", topic=fold(said.lower()), is_over=True)
        yield replace(ended, instead=(said,))


def _is_one_person(noun: Token) -> bool:
    """Tell whether a noun means somebody: a pronoun, a role, a first name."""
    return noun.pos_ == "PRON" or _is_person(noun) or _name(noun).split()[0].lower() in FIRST_NAMES_LOWER


def _tells_hours(verb: Token) -> bool:
    """Tell whether a verb in the simple present says at what time something happens by habit: "the shop closes at six"."""
    return verb.tag_ in ("VBZ", "VBP") and any(child.dep_ == "prep" and child.lower_ == "at" for child in verb.children)


def _of_shifted_object(verb: Token, base: Assertion, context: _Context) -> Assertion | None:
    """Return the claim that somebody gives a noun another value: "he raises the rent to 1,020"."""
    noun = next((child for child in verb.children if child.dep_ == "dobj" and _is_role(child)), None)
    if noun is None or verb.lemma_ not in words("shifting") or base.mood not in ("fact", "plan"):
        return None
    for preposition in [
        child for part in (verb, noun) for child in part.children if child.dep_ == "prep" and child.lower_ == "to"
    ]:
        value = next((child for child in preposition.children if child.dep_ == "pobj"), None)
        if value is not None and (_kind(value) in ("number", "time") or verb.lemma_ in words("naming")):
            return replace(_noun_claim(noun, value, base, context), changed=True, tense="present", is_event=False)
    return None


def _of_frame(verb: Token, base: Assertion, context: _Context) -> Iterator[Assertion]:
    """Yield the claims of a verb with its object, or with its first place."""
    particle = "".join(
        f" {child.lower_}"
        for child in verb.children
        if child.dep_ == "prt" or (child.i == verb.i + 1 and _is_particle(child))
    )
    lemma = f"{verb.lemma_.lower()}{particle}"
    if any(child.lower_ == "notice" and child.dep_ == "dobj" for child in verb.children):
        lemma = f"{lemma} notice"  # "handed in my notice"
    objects = [
        child
        for child in verb.children
        if child.dep_ in ("dobj", "oprd", "ccomp") and child.pos_ not in ("VERB", "AUX", "SCONJ")
    ]
    # The parser hangs some objects on the particle: "wrote off the Fiesta".
    objects += [
        inner for child in verb.children if child.dep_ == "prt" for inner in child.children if inner.dep_ == "pobj"
    ]
    if lemma == "work" and objects and objects[0].lower_ == "time":
        objects = []  # "part-time"
    places = [
        (child, inner)
        for child in verb.children
        if child.dep_ in ("prep", "agent")
        for inner in child.children
        if inner.dep_ in ("pobj", "pcomp") and not (child.lower_ == "from" and inner.tag_ == "RB")
    ]
    places += [
        (adverb, inner)
        for adverb in verb.children
        if adverb.dep_ in ("advmod", "prt", "prep")
        for child in adverb.children
        if child.dep_ == "prep"
        for inner in child.children
        if inner.dep_ == "pobj"
        for adverb in [child]
    ]
    place_times = [
        (p, i)
        for p, i in places
        if not (_is_time(i) or p.lower_ in ("since", "until", "till") or (p.lower_ == "at" and i.pos_ == "NUM"))
    ]
    # "I take the 8:15 train", "I'm reading Dune"
    is_habit = verb.tag_ in ("VBZ", "VBP", "VBG") and base.tense == "present"
    is_habit = is_habit or (verb.tag_ == "VB" and base.changed and base.mood == "fact")
    source = next((pair for pair in place_times if pair[0].lower_ == "from"), None)
    if source is not None and is_habit and not objects and len(place_times) == 1:
        yield _with_value(replace(base, relation=f"{lemma} from"), source[1])  # "flour comes from the mill"
        return
    changes = lemma in words("changing") or any(preposition.lower_ == "to" for preposition, _ in place_times)
    instead = tuple(_text_of(i) for p, i in place_times if p.lower_ == "from" and changes and i.pos_ != "PRON")
    instead += tuple(
        _text_of(inner)
        for token in verb.subtree
        if token.lower_ == "of" and any(one.lower_ == "instead" for one in token.lefts)
        for inner in token.children
        if inner.dep_ == "pobj"
    )
    instead += tuple(
        _text_of(inner)
        for token in verb.subtree
        if token.lower_ in ("instead", "rather") or token.lower_ == "than"
        for child in token.children
        if child.dep_ in ("prep", "pobj", "pcomp")
        for inner in (child.children if child.dep_ == "prep" else [child])
        if inner.dep_ in ("pobj", "pcomp") and inner.pos_ in ("NOUN", "PROPN")
    )
    if lemma in words("replacing") and objects:
        instead += (_text_of(objects[0]),)
    is_off = verb.lemma_ in words("taking_off") and any(preposition.lower_ == "off" for preposition, _ in places)
    if objects and objects[0].lower_ in words("first_person") and (is_off or not base.owner):
        base = replace(base, owner=USER)  # "the doctor has taken me off Cetirizin"
    is_event = (lemma in words("events") and not is_habit) or (
        base.tense == "past" and base.mood == "fact" and lemma not in ("live", "work", "have", "own", "use")
    )
    base = replace(base, is_event=is_event)
    subject = _subject_of(verb)
    enters = lemma in words("entering") or (lemma == "take" and any(one.lower_ == "office" for one in objects))
    if enters and subject is not None and _is_name(subject) and (office := _find_office(verb)):
        now = (
            base if base.tense != "past" or verb.lemma_ == "serve" else replace(base, tense="present")
        )  # "took over as"
        yield _office_claim(office, subject, now, context)
    agent = next((inner for preposition, inner in places if preposition.dep_ == "agent"), None)
    if lemma in words("hiring") and subject is not None:
        hired, hirer = (subject, agent) if agent is not None else (objects[0] if objects else None, subject)
        yield from _of_hired(hired, hirer, base, context) if hired is not None else ()
    if lemma in ("have", "get") and objects and base.mood == "fact" and base.polarity:
        yield from _of_newcomer(objects[0], replace(base, is_event=False, tense="present"))
    is_switch = lemma in ("switch", "change") and bool(objects) and base.mood == "fact" and base.polarity
    if is_switch and objects[0].tag_ == "NNS" and (switched := _of_switched(objects[0], verb, base)) is not None:
        yield switched
        return
    if lemma == "rename" and objects and _is_name(objects[0]):  # "we renamed Mop to Dusty"
        for _, inner in [pair for pair in place_times if pair[0].lower_ == "to"][:1]:
            named = replace(
                base, owner=_name(objects[0]), relation="name", changed=True, is_event=False, tense="present"
            )
            yield _with_value(named, inner)
            return
    if lemma in words("keeping") and objects and is_habit and (kept := _of_kept(objects[0], place_times, base)):
        yield kept
    if base.tense == "present" and base.mood == "fact" and base.polarity:
        yield from _of_schedule(objects, [inner for _, inner in places], verb, base)
    if objects and objects[0].lemma_.lower() in words("posts") and lemma in words("getting_work"):
        begun = replace(base, is_event=False, tense="present", changed=True)
        yield from _of_post(objects[0], begun)
    if agent is not None and subject is not None and _is_name(agent) and fold(lemma) in words("exclusive"):
        led = replace(base, owner=_name(agent), relation=fold(lemma), is_event=False)  # "Osprey is led by Mia"
        yield _with_value(led, subject)
        return
    if objects and objects[0].tag_ == "VBG" and lemma in words("stopping"):  # "I quit smoking"
        yield replace(base, relation=objects[0].lemma_.lower(), value=objects[0].text, polarity=False, changed=True)
        return
    by = ("with",) if lemma == "replace" else ("for",)
    new = next((inner for preposition, inner in places if preposition.lower_ in by), None) if objects else None
    gives_up = lemma in words("giving_up") and new is not None and _is_name(new) and _is_name(objects[0])
    if new is not None and (lemma in words("exchanging") or gives_up):
        held = replace(base, relation="have", is_event=False, tense="present", changed=True)
        yield replace(_with_value(held, new), instead=(_text_of(objects[0]),))  # "swapped the Golf for a Zoe"
    for conjunct_object in objects[:1]:
        same = ("PROPN",) if conjunct_object.pos_ == "PROPN" else ("NOUN", "PROPN", "NUM")
        heads = [conjunct_object, *[c for c in conjunct_object.conjuncts if c.pos_ in same]]
        for head in heads:
            claim = _with_value(replace(base, relation=fold(lemma), instead=instead), head)
            if lemma in words("replacing") and claim.instead:
                claim = replace(claim, is_event=True)
            yield replace(claim, ends=_ends(lemma, claim, place_times))
    targets = [(p, i) for p, i in place_times if p.lower_ != "from"]
    if objects and not base.is_event and base.mood == "fact":  # "Joon teaches chemistry at the Gymnasium"
        for preposition, inner in targets[:1]:
            if preposition.lower_ in ("at", "in", "for") and _kind(inner) == "name":
                yield _with_value(replace(base, relation=fold(f"{lemma} {preposition.lower_}")), inner)
    if not objects and targets:
        preposition, inner = targets[0]
        claim = _with_value(replace(base, relation=fold(f"{lemma} {preposition.lower_}"), instead=instead), inner)
        yield replace(claim, ends=_ends(f"{lemma} {preposition.lower_}", claim, place_times))
        jobs = [(p, o) for p in inner.children if p.lower_ in ("at", "with", "for") for o in p.children if _is_name(o)]
        if (
            preposition.lower_ == "as" and verb.lemma_ in words("starting") | {"work"} and jobs
        ):  # "started as a clerk at Acme"
            yield replace(
                _with_value(base, jobs[0][1]), relation="work at", is_event=False, tense="present", changed=True
            )
    elif not objects and (instead or lemma in endings()):
        yield replace(base, relation=lemma, instead=instead, ends=_ends(lemma, base, place_times))
    elif (
        not objects
        and base.tense == "present"
        and (time := next((i for p, i in places if _tells_time(p, i)), None)) is not None
    ):
        yield _with_value(replace(base, relation=lemma, topic=lemma), time)
    elif (
        not objects
        and (
            where := next(
                (one for one in verb.rights if one.dep_ == "npadvmod" and _kind(one) == "name" and not _is_time(one)),
                None,
            )
        )
        is not None
    ):
        yield _with_value(replace(base, relation=fold(f"{lemma} in")), where)


def _of_hired(hired: Token, hirer: Token, base: Assertion, context: _Context) -> Iterator[Assertion]:
    """Yield where somebody works from now on: "Lumen has hired Tom Reed", "my sister was hired by Lumen"."""
    worker = _owner_of(hired, context) if _is_name(hired) or _is_person(hired) else ""
    if worker and hirer.pos_ in ("NOUN", "PROPN") and hirer.text[:1].isupper():
        begun = replace(base, owner=worker, relation="work at", is_event=False, tense="present", changed=True)
        yield replace(_with_value(begun, hirer), value=_name(hirer), kind="name")


def _of_switched(kind: Token, verb: Token, base: Assertion) -> Assertion | None:
    """
    Return what one has instead of another of a kind: "switched banks to ING"; or that the old one is over: "I changed dentists".

    None where neither is said: "I changed trains at Linz".
    """
    relation = fold(_relation_of(kind))
    places = [(p, i) for p in verb.subtree if p.dep_ == "prep" and p.i > kind.i for i in p.children if i.dep_ == "pobj"]
    old = tuple(_text_of(inner) for preposition, inner in places if preposition.lower_ == "from")
    new = next((inner for preposition, inner in places if preposition.lower_ == "to" and _kind(inner) == "name"), None)
    if new is not None:
        held = replace(base, relation=relation, topic=relation, is_event=False, tense="present", changed=True)
        return replace(_with_value(held, new), is_property=True, instead=old)
    if places or kind.lemma_.lower() not in words("people") | words("possessions"):
        return None
    return replace(_with_value(base, kind), is_event=True, ends=((relation, ""),))


def _of_kept(thing: Token, places: Sequence[tuple[Token, Token]], base: Assertion) -> Assertion | None:
    """Return where somebody's thing is: "I keep my bike in the cellar"; None for what is nobody's in particular."""
    place = next((i for p, i in places if p.lower_ in (*_PLACING, "with")), None)
    if place is None or not _is_role(thing) or thing.tag_ != "NN":
        return None
    if not any(one.dep_ == "poss" or one.lower_ == "the" for one in thing.children):
        return None
    relation = fold(_relation_of(thing))
    claim = _with_value(replace(base, relation=relation, topic=relation), place)
    return replace(claim, is_property=True)


def _is_particle(word: Token) -> bool:
    """Tell whether a word behind a verb belongs to it, whatever the parser takes it for: "passed away", "dropped out of"."""
    if word.dep_ == "prt":
        return True
    is_bare = word.dep_ == "advmod" or not any(one.dep_ in ("pobj", "pcomp") for one in word.children)
    return is_bare and word.dep_ in ("advmod", "prep") and word.lower_ in ("away", "out", "off")


def _of_post(post: Token, base: Assertion) -> Iterator[Assertion]:
    """Yield where somebody works who has a post: "my job at Acme", "a role at Acme"."""
    for preposition in post.children:
        if preposition.lower_ in ("at", "with"):
            places = [one for one in preposition.children if one.dep_ == "pobj" and _is_name(one)]
            yield from (replace(_with_value(base, one), relation="work at", topic="") for one in places)


def _of_newcomer(noun: Token, base: Assertion) -> Iterator[Assertion]:
    """Yield who or what a noun is that somebody has got: "we have a new dentist, Dr Lenz", "a dog called Rex"."""
    value = next((one for one in noun.subtree if one.dep_ == "appos" and (_is_name(one) or one.like_url)), None)
    colon = next((one for one in noun.sent if one.text == ":" and one.i > noun.i), None)
    if value is None and colon is not None:  # "Lumen has a new CEO since May: Ana Ruiz"
        value = next((one for one in noun.sent if one.i > colon.i and _is_name(one) and one.dep_ != "compound"), None)
    named = next((one for one in noun.children if one.dep_ == "acl" and one.lemma_ in words("naming")), None)
    if named is not None:  # "a dog called Rex"
        value = next((one for one in named.children if one.dep_ in ("oprd", "dobj", "attr")), value)
    if value is None or _is_name(noun):
        return
    relation = fold(_relation_of(noun))
    yield replace(
        _with_value(base, value),
        relation=relation,
        topic=relation,
        changed=base.changed or any(one.lower_ in words("renewing") for one in noun.children),
        is_property=noun.tag_ == "NN" and noun.lemma_.lower() not in words("several"),
    )


def _of_schedule(
    objects: Sequence[Token], inners: Sequence[Token], verb: Token, base: Assertion
) -> Iterator[Assertion]:
    """Yield when an activity takes place that somebody does by habit: "we play padel every Thursday"."""
    if objects and (not _is_role(objects[0]) or any(one.dep_ in ("det", "poss") for one in objects[0].children)):
        return
    times = [*inners, *(one for one in verb.subtree if one.dep_ == "npadvmod")]
    time = next((one for one in times if _is_time(one) and _recurs(one)), None)
    if time is not None:
        relation = fold(_relation_of(objects[0]) if objects else verb.lemma_.lower())
        yield replace(_with_value(base, time), relation=relation, topic=relation, is_property=True)


def _recurs(time: Token) -> bool:
    """Tell whether a time comes again: "every Thursday", "Tuesdays"."""
    return time.lower_.endswith("days") or any(one.lower_ in ("every", "each") for one in time.children)


def _tells_time(preposition: Token, inner: Token) -> bool:
    if preposition.lower_ == "at" and inner.pos_ == "NUM":
        return True  # "the shop closes at six"
    return _is_time(inner) and preposition.lower_ in ("at", "on", "in", "to")


def _ends(relation: str, claim: Assertion, places: Sequence[tuple[Token, Token]]) -> tuple[tuple[str, str], ...]:
    """Return what an event ends by the table of endings."""
    # A plan ends nothing, unless it is settled for a day: then it becomes a fact.
    if not claim.polarity or claim.mood not in ("fact", "plan"):
        return ()
    off = next((inner for preposition, inner in places if preposition.lower_ == "off"), None)
    if off is not None and relation.partition(" ")[0] in words("taking_off"):
        return (("*", _text_of(off)),)  # "they took me off Cetirizin"
    if relation not in endings():
        return ()
    ended, where = endings()[relation]
    if ended == ("work at",) and claim.kind == "name" and claim.value:
        ended = ("*",)  # "I left Siemens" ends whatever one did there
    if (not claim.value and where in ("object", "place")) or (where == "it" and claim.value != "it"):
        return ()  # "I left early", "I packed in the gym"
    value = "" if where in ("any", "it") else claim.value
    return tuple((one, value) for one in ended)


def _of_label(token: Token, sentence: Span, at: int, context: _Context) -> Iterator[Assertion]:
    """Yield the claim of a label: "New rep at Lusobike: Helder Matos", "Desk: 2.05"."""
    colon = next((one for one in sentence if one.text == ":"), None)
    if token.pos_ not in ("NOUN", "PROPN") or colon is None or any(one.pos_ in ("VERB", "AUX") for one in sentence):
        return
    after = [t for t in sentence if t.i > colon.i and t.pos_ != "PUNCT"]
    if not after:
        return
    if token.i > colon.i:  # "Favourite band: Portishead", where the parser takes the value for the head
        heads = [one for one in sentence if one.i < colon.i and one.pos_ in ("NOUN", "PROPN") and one.head.i >= colon.i]
        if not heads:
            return
        token = heads[-1]
    possessor, relation = _possession(token, context)
    value = next((one for one in token.subtree if one.dep_ == "appos" and one.i > colon.i), None)
    text = _text_of(value) if value is not None else sentence.doc[after[0].i : after[-1].i + 1].text
    last = value.doc[_phrase(value)[1]] if value is not None else after[-1]
    yield Assertion(
        owner=possessor or _default_owner(token, "name", context),
        relation=fold(relation),
        topic=fold(relation),
        value=text,
        is_property=token.tag_ in ("NN", "NNP")
        and (token.i == sentence.start or not _is_name(token)),  # "Plumber: Ana"
        start=token.left_edge.idx,
        end=last.idx + len(last),
        sentence=at,
        kind=_kind(value if value is not None else after[0]),
        changed=any(child.lower_ in ("new", "current") for child in token.children),
    )


def _of_return(token: Token, at: int) -> Iterator[Assertion]:
    """Yield the claim of a fragment that tells of a return: "Back in Ghent"."""
    if token.lower_ == "back":
        base = Assertion(owner=USER, relation="", value="", start=token.idx, end=token.idx + 4, sentence=at)
        yield from (claim for child in token.children if (claim := _return_claim(child, base)))


def _return_claim(place: Token, base: Assertion) -> Assertion | None:
    """Return what holds again by "back": "back in Ghent" lives there, "back at Acme" works there, "back on Slack" uses it."""
    if place.dep_ == "advcl" and place.tag_ == "VBG":  # "back living in Ghent"
        found = ((prep, inner) for prep in place.children if prep.dep_ == "prep" for inner in prep.children)
        pair = next(((prep, inner) for prep, inner in found if inner.dep_ == "pobj" and not _is_time(inner)), None)
        relation = pair and fold(f"{place.lemma_.lower()} {pair[0].lower_}")
    else:
        inner = next(
            (one for one in place.children if one.dep_ == "pobj" and _is_name(one) and not _is_time(one)), None
        )
        relation = {"in": "live in", "to": "live in", "at": "work at", "on": "use"}.get(place.lower_)
        pair = (place, inner) if inner is not None else None
    return replace(_with_value(base, pair[1]), relation=relation, changed=True) if pair and relation else None


def _of_apposition(name: Token, role: Token, at: int, context: _Context) -> Iterator[Assertion]:
    """Yield the claim of a role beside its name: "my sister Maria", "Anders (Milo's brother)"."""
    possessor, relation = _possession(role, context)
    if possessor and (role.lemma_.lower() in words("people") or _is_post(role)):
        yield Assertion(
            owner=possessor,
            relation=fold(relation),
            value=_name(name),
            start=min(name.idx, role.left_edge.idx),
            end=max(name.idx + len(name), role.idx + len(role)),
            sentence=at,
            kind="name",
            is_property=_is_post(role) and any(one.lower_ == "the" for one in role.children),
        )
