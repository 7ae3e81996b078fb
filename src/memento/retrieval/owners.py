"""
Tell whose memories a question asks for: what is claimed of another owner alone is no answer, and neither is what is no fact.

    "What is Ada's phone number?"    not "Ben's phone number is …"
    "Do I own a car?"                not "My sister-in-law Ada drives a Volvo."
    "What van do I have?"            not "Wish I had a bigger van."

*Flow:* the owners of the question's clauses → the claims of each memory, or, where it has none, those that are read off its words.

*But:* somebody whom the question describes and does not name ("my sister's phone") may be anybody: nothing is kept back then.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from memento.iris import user_of
from memento.retrieval.chains import CLOSE, measure_fit
from memento.retrieval.properties import Property
from memento.retrieval.question import Question, is_first_person
from memento.retrieval.timely import MADE_UP, asks_of_the_unreal
from memento.search.claims import Claims, Stated
from memento.search.grains import find_people
from memento.search.postings import split_words, tokens
from memento.text.asking import WORDS, read_form
from memento.text.claims import USER, Assertion, read_claims, words

READ = 10
"""The number of best memories whose words are read."""
_LONGEST = 600
"""The number of characters of a memory that are read."""


def find_barred(
    question: Question, asked_for: Property | None, nodes: NDArray[np.int32], texts: Sequence[str]
) -> NDArray[np.bool_]:
    """Return (n,) which memories claim what is asked for of other owners alone, or state nothing that is a fact."""
    barred = np.zeros(len(nodes), dtype=np.bool_)
    clauses = question.asking.reading.clauses if question.asking else ()
    owners = find_owners([one.owner for one in clauses], question)
    is_real = read_form(question.text).mood == "question" and not asks_of_the_unreal(question.text)
    known, user = question.view.indexes[Claims], user_of(question.view.graphs[0])
    values = {term for one in clauses for term in tokens(one.value)}

    def is_asked(claim: Stated | Assertion, is_told: bool) -> bool:
        """Tell whether a claim is of what is asked for, or may be what tells the property in a memory that tells it."""
        fit = max((measure_fit(one.relation, one.value, claim) for one in clauses), default=0.0)
        is_near = fit > 0 and (is_told or not values.isdisjoint(tokens(claim.value)))
        return fit >= CLOSE or is_near or bool(asked_for and asked_for.is_told_by(f"{claim.relation} {claim.value}"))

    for place, (node, text) in enumerate(zip(nodes.tolist(), texts, strict=True)):
        claims = known.of_memory(question.view.indexes.nodes.iri(node)) if owners else []
        names = question.view.indexes.name
        is_told = asked_for is not None and asked_for.is_told_by(text)
        of = [USER if one.owner == user else names(one.owner) for one in claims if is_asked(one, is_told)]
        if not of and owners and place < READ and (is_told or not values.isdisjoint(tokens(text))):
            of = [one.owner for one in _read(text) if is_asked(one, is_told)]
        barred[place] = bool(of) and not any(may_be_of(one, owners) for one in of)
        if is_real and place < READ and not WORDS["unreal"].isdisjoint(split_words(text)):
            moods = {one.mood for one in _read(text)}
            barred[place] |= bool(moods) and moods <= set(MADE_UP)
    return barred


def find_owners(owners: Sequence[str], question: Question) -> set[str]:
    """Return whom a question names, or else "USER" if it speaks of the user; empty where it describes somebody it does not name."""
    if any("'s " in one and one.split()[-1] in words("people") for one in owners):
        return set()
    people = {one for one in owners if find_people([one.casefold()])}
    if people or not (USER in owners and is_first_person(question.text)):
        return people
    return {USER}


def may_be_of(owner: str, asked: Collection[str]) -> bool:
    """
    Tell whether what is claimed of an owner may be claimed of one of those that are asked for.

    >>> [may_be_of(owner, ["USER"]) for owner in ("USER's car", "USER's aunt", "Ben")], may_be_of("Ann", ["Ann Ray"])
    ([True, False, False], True)
    """
    possessor, _, thing = owner.rpartition("'s ")
    if possessor:
        return thing.split()[-1] not in words("people") and may_be_of(possessor, asked)
    if owner == USER or not find_people([owner.casefold() or "-"]):
        return owner == "" or owner in asked or (not owner[:1].isupper() and owner.split()[-1] not in words("people"))
    return any(not set(owner.casefold().split()).isdisjoint(one.casefold().split()) for one in asked)


@lru_cache(maxsize=1024)
def _read(text: str) -> tuple[Assertion, ...]:
    return tuple(read_claims(text[:_LONGEST]))
