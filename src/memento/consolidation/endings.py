"""
Decide which known claims a new claim ends: the one place that says what an ending is.

A claim ends a known one of the same owner that began no later, if
- it names it: "sold the Skoda", "no longer use Redis", "from Oban to RabbitMQ" (the rows of `endings` in `lexicon/claims.toml`);
- it gives the same relation another value, and that relation has one value at a time: by the table `single`, by grammar ("my
  boss is …", "the CEO of Lumen is …"), or because the sentence says that something changed ("now", "new", "instead").

A claim of another owner ends one of what one person has at a time ("Mia leads Osprey now"), and a death ends all that its owner was
and had. A claim that says the opposite of a known one, or that it used to be so, ends it.

Nothing ends by a plan, a condition, a report, a question; by an event that is in no row; by a claim whose owner the words leave
open; nor by what is added ("also", "another", "a second").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memento.consolidation.agents import Held
from memento.text.claims import USER, Assertion, find_person, is_once, single_relations, words
from memento.text.words import stems


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a claim ends a known one, and the reason; without an end, why not ("" where they have nothing in common)."""

    ends: bool
    why: str
    is_likely: bool = False
    """Both may be true, but likely only one is: recall ranks them by time."""


def judge(claim: Assertion, known: Held, *, corrects: bool = False) -> Verdict:
    """
    Judge whether a new claim ends a known one that began no later.

    Args:
        corrects: the new claim's words say that something told before was never true.
    """
    renames = is_renamed(claim, known)
    takes_over = _takes_over(claim, known)
    dies = claim.is_over and claim.relation in words("dying") and claim.topic == known.owner
    rival = _are_of_one_relation(claim, known) and not same_value(claim.value, known.value)
    if not claim.owner or (claim.owner != known.owner and not (renames or takes_over or dies)):
        return Verdict(False, "no owner" if rival and not claim.owner else "")
    named = renames or takes_over or dies or _is_named(claim, known)
    if not (named or rival):
        return Verdict(False, "")
    if known.is_event and not is_once(known.relation):
        return Verdict(False, "an event")
    if claim.mood != "fact" and not (claim.mood == "past" and named):
        return Verdict(False, _MOODS.get(claim.mood, f"a {claim.mood}"))
    if not known.polarity and not (named and claim.polarity):
        return Verdict(False, "a denial")
    if known.mood not in ("fact", "past") and not (named and known.mood == "plan"):
        return Verdict(False, f"a {known.mood}")
    if claim.stops is not None and known.until is None:
        return Verdict(False, "for a time", is_likely=True)
    if named:
        return Verdict(True, _describe(claim))
    if not claim.polarity:
        return Verdict(False, "a denial of another value")
    if is_once(claim.relation) and claim.kind == known.kind:
        return Verdict(True, f"{claim.relation}: {claim.value} instead of {known.value}")
    if claim.is_event:
        return Verdict(False, "an event")
    if claim.tense == "past":
        return Verdict(False, "told of the past")
    if claim.is_added or (_has_several(claim.relation) and not _is_favourite(claim.relation)):
        return Verdict(False, "may stand together")
    if claim.kind != known.kind and ("thing" not in (claim.kind, known.kind) or _says_its_kind(claim, known)):
        return Verdict(False, "values of two kinds")
    if _says_place_or_kind(claim, known):
        return Verdict(False, "values of two kinds")
    if claim.relation == "be" and _AGE.fullmatch(claim.value) and not _AGE.fullmatch(known.value):
        return Verdict(False, "values of two kinds")
    if bool(claim.complement) != bool(known.complement) and not claim.changed:
        return Verdict(False, "one of several", is_likely=True)
    if (
        is_single(claim)
        or (corrects and claim.kind == known.kind)
        or (claim.changed and (claim.relation not in words("open") or _are_of_one_kind(claim.value, known.value)))
        or (bool(claim.since) and _without_digits(claim.value) == _without_digits(known.value))
    ):
        return Verdict(True, f"{claim.relation}: {claim.value} instead of {known.value}")
    return Verdict(False, "may stand together", is_likely=words("open").isdisjoint(claim.relation.split()))


_MOODS = {"past": "told of the past", "possible": "a possibility"}


def is_renamed(claim: Assertion, known: Held) -> bool:
    """Tell whether a claim gives the value of a known one of the user's another name: "Heron was renamed to Osprey"."""
    is_new_name = claim.relation == "name" and claim.changed and claim.owner != known.owner == USER
    is_its_name = (
        claim.owner.casefold() == known.value.casefold() and known.relation.rpartition(" ")[2] not in _PREPOSITIONS
    )
    return is_new_name and is_its_name and not known.is_event


def explain_succession(claim: Assertion, known: Held) -> str:
    """Return why a claim that is told late is over since a known one began; "" if both may hold."""
    if claim.is_event or claim.mood not in ("fact", "past") or not claim.polarity or claim.is_added:
        return ""
    if known.is_event or known.mood not in ("fact", "past") or not known.polarity:
        return ""
    if not claim.owner or claim.owner != known.owner or claim.kind != known.kind:
        return ""
    if not _are_of_one_relation(claim, known) or same_value(claim.value, known.value):
        return ""
    if not is_single(claim) or bool(claim.complement) != bool(known.complement):
        return ""
    return f"{known.relation}: {known.value} instead of {claim.value}"


def is_single(claim: Assertion) -> bool:
    """Tell whether the relation of a claim has one value at a time, by the table or by grammar."""
    if claim.relation in single_relations():
        if claim.relation in words("acts") and not (claim.topic or claim.is_property):
            return False  # "I rent a garage" is no rent
        return claim.relation != "work at" or claim.kind == "name"  # one may work in two fields
    if _is_favourite(claim.relation) or (claim.is_property and claim.relation not in words("open")):
        return True
    return claim.relation == "be" and bool(_AGE.fullmatch(claim.value))


_AGE = re.compile(r"\d{1,3}(?: (?:years?|months?|weeks?))?(?: old)?")


def _says_its_kind(claim: Assertion, known: Held) -> bool:
    """Tell whether one value names something and the other says what it is: "my dog is Rex", "my dog is a poodle"."""
    said = next(one.value for one in (claim, known) if one.kind == "thing")
    return {claim.kind, known.kind} == {"thing", "name"} and said.startswith(("a ", "an ")) and not claim.changed


def _says_place_or_kind(claim: Assertion, known: Held) -> bool:
    """Tell whether one says where something is and the other what: "my bike is a Gazelle", "my bike is in the garage now"."""
    if claim.relation != claim.topic or not {claim.kind, known.kind} <= {"name", "thing"}:
        return False
    is_kind = claim.value.startswith(("a ", "an ")) or claim.relation in words("people")
    return (claim.is_place and not known.is_place) or (known.is_place and not claim.is_place and is_kind)


def _has_several(relation: str) -> bool:
    """Tell whether one has several of what a relation names: sons, but no grades in "my son is in third grade"."""
    said = relation.removeprefix(find_person(relation)) or relation
    return not words("several").isdisjoint(said.split())


def _is_favourite(relation: str) -> bool:
    return relation.partition(" ")[0] in words("favourite")


def _takes_over(claim: Assertion, known: Held) -> bool:
    """Tell whether somebody else has now what one person has at a time: "Mia leads Osprey now"."""
    return (
        claim.changed
        and claim.relation == known.relation
        and claim.relation in words("exclusive")
        and claim.owner != known.owner
        and same_value(claim.value, known.value)
    )


def _are_of_one_relation(claim: Assertion, known: Held) -> bool:
    """
    Tell whether two claims of one owner state the same relation: the same words, or the same topic where one merely says what
    it is.

    "Production runs on Heroku" · "production is on Fly.io": production use, production.
    """
    if claim.relation == known.relation or _are_alike(claim, known):
        return _are_of_one_thing(claim, known)
    if name_thing(claim) == name_thing(known):
        return True
    if not claim.topic or claim.topic in words("open"):
        return False
    is_longer = known.relation.startswith(f"{claim.topic} ")
    return is_longer and claim.relation == claim.topic and claim.kind == known.kind


def find_slots(claim: Assertion) -> Iterator[tuple[str, str]]:
    """
    Yield the relations of claims that a claim may end, each with a word of their complement: "" for those that have none, "*" for
    whatever they have.

    What happened ends nothing by its relation but what its row in the table says.
    """
    yield from ((relation, "*") for relation, _ in claim.ends if relation not in words("open"))
    if claim.is_event and not is_once(claim.relation):
        return
    if claim.relation not in words("open") or is_single(claim):  # of the others nothing ends but what is named
        yield from ((claim.relation, word) for word in ({"", *claim.complement} if claim.complement else "*"))
    if claim.topic:  # "the studio rent", "the rent for the studio"
        thing, which = name_thing(claim)
        yield from ((thing, word) for word in which - claim.complement)
        yield from ((f"{word} {claim.relation}", "*") for word in claim.complement)
    if claim.changed and (verb := _verb_of_place(claim.relation)):
        yield from ((f"{verb} {preposition}", "*") for preposition in _WHERE)
    if claim.kind == "number" and claim.relation in _COSTS:
        yield from ((relation, "*") for relation in _COSTS)


def name_thing(claim: Assertion | Held) -> tuple[str, frozenset[str]]:
    """Return what a relation is, and which: "rent" and "studio" of "the studio rent" and of "the rent for the studio"."""
    *made, thing = claim.relation.split() or [""]
    return thing, frozenset(made) | claim.complement


def _are_alike(claim: Assertion, known: Held) -> bool:
    """Tell whether two relations say the same in other words: what something costs and is now, where one meets and meets now."""
    if claim.kind == known.kind == "number" and {claim.relation, known.relation} == _COSTS:
        return True
    return claim.changed and _verb_of_place(claim.relation) == _verb_of_place(known.relation) != ""


_COSTS = {"be", "cost"}
_WHERE = ("at", "in", "on")
_PREPOSITIONS = frozenset(("at", "in", "on", "to", "for", "with", "from", "by", "of", "as", "into"))


def _verb_of_place(relation: str) -> str:
    """Return the verb of a relation to a place, "meet" of "meet at"; "" for any other."""
    verb, _, preposition = relation.rpartition(" ")
    return verb if preposition in _WHERE and verb not in ("be", "live", "work") else ""


def _are_of_one_thing(claim: Assertion, known: Held) -> bool:
    """Tell whether two claims may be about the same: not "the plumber for the office" and "the plumber for the flat"."""
    return claim.complement <= known.complement or known.complement <= claim.complement


def _is_named(claim: Assertion, known: Held) -> bool:
    """Tell whether a claim says of a known one that it is over; what one's brother gives up ends nothing of one's own."""
    if known.relation != claim.topic and find_person(known.relation.rpartition(" ")[0]) != claim.through:
        return False
    same = claim.relation == known.relation and same_value(claim.value, known.value)
    if (
        same
        and not claim.is_event
        and (claim.relation != "be" or claim.changed)
        and (claim.polarity != known.polarity or claim.mood == "past")
    ):
        return claim.tense != "past" or claim.mood == "past"  # it says the opposite, or that it used to be so
    if not claim.polarity and claim.changed:
        if claim.relation == known.relation and not claim.value:
            return True
        if claim.value != claim.value.lower() and same_value(claim.value, known.value):
            return True  # "I no longer work at Acme" ends whatever one did there
    if any(
        relation in (known.relation, f"{claim.through} *".strip()) and (not value or same_value(value, known.value))
        for relation, value in claim.ends
    ):
        return True
    if claim.is_over and (claim.topic.casefold() == known.relation or same_value(claim.topic, known.value)):
        return True
    return any(same_value(value, known.value) for value in claim.instead)


def _describe(claim: Assertion) -> str:
    return (
        f"{claim.relation} {claim.value}".strip()
        if claim.polarity
        else f"no longer {claim.relation} {claim.value}".strip()
    )


def _are_of_one_kind(one: str, other: str) -> bool:
    """Tell whether two values have the same head: "the 8:15 train", "the 8:40 train"."""
    left, right = one.split(), other.split()
    if min(len(left), len(right)) > 1 and left[-1].casefold() == right[-1].casefold():
        return True
    return _without_digits(one) == _without_digits(other) != ""


def _without_digits(value: str) -> str:
    """Return the words of a value but for its numbers: of "Postgres 15" what "Postgres 17" has too; "" where it has none."""
    said = value.casefold().split()
    plain = [word for word in said if not any(letter.isdigit() for letter in word)]
    return " ".join(plain) if len(plain) < len(said) else ""


def same_value(one: str, other: str) -> bool:
    """
    Tell whether two values mean the same: one's words are all in the other.

    >>> same_value("the Skoda", "a Skoda Octavia, grey"), same_value("Acme", "Beta"), same_value("1,250", "1,300")
    (True, False, False)
    """
    left, right = _content(one), _content(other)
    if not left or not right:
        return one.casefold().strip() == other.casefold().strip()
    return left <= right or right <= left


def _content(value: str) -> frozenset[str]:
    plain = [word for word in value.casefold().replace(",", "").split() if word.strip(".'’") not in words("small")]
    return frozenset(stem for word in plain for stem in (stems(word) or {word}))
