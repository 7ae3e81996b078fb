"""Facts, possibilities and plans: every word that makes a clause no fact does so by itself."""

from __future__ import annotations

import pytest

from memento.consolidation.rules.moods import reading
from telling import Life

POSSIBLE = """
    USER sells the bike if the price is right
    USER runs unless it rains
    USER checks whether the shop sells bread
    USER might sell the bike
    USER would sell the bike
    USER could sell the bike
    USER should sell the bike
    USER maybe sells the bike
    USER perhaps sells the bike
    USER possibly sells the bike
    USER supposedly owns a boat
    USER allegedly owns a boat
    USER hypothetically owns a boat
    USER hopefully owns a boat soon
    USER and others imagine a boat
    USER and others suppose it is a boat
    USER and others wish for a boat
    USER wishes for a boat
    USER wished for a boat
    USER and others hope for a boat
    USER hopes for a boat
    USER is hoping for a boat
    USER and others dream of a boat
    USER dreams about a boat
    USER is dreaming of a boat
    USER dreamed of a boat
    USER and others want a boat
    USER wants a boat
    USER wanted a boat
    USER is wanting a boat
    Ana and Bo like to sail
    Ana and Bo love to sail
    Ana and Bo consider a boat
    Ana considers a boat
    Ana is considering a boat
    Ana considered a boat
    Ana and Bo think about a boat
    For her part Ana still thinks of a boat
    Ana is thinking of a boat
    For her part Ana still thought of a boat
    For her part Ana still thought about a boat
    Ana is tempted by a boat
    Ana and Bo wonder about a boat
    Ana wonders about a boat
    Ana is wondering about a boat
    Ana is not sure of the boat
    Ana is unsure of the boat
    Ana is undecided on the boat
    Ana has no idea of boats
    Ana is debating the boat
    For her part Ana still thinks USER owns a boat
    Ana and Bo guess the price
    Ana guesses the price
    Ana almost owns a boat
    Ana nearly owns a boat
    Ana and Bo pretend illness
    Ana pretends illness
    Ana is pretending illness
    Ana pretended illness
    Ana behaves as though ill
    Ana behaves as if ill
    Ana has bread in case of rain
    Ana interviewed at Acme
    Ana is interviewing with Acme
    Ana interviews for Acme
    Ana and Bo interview for Acme
    Ana and Bo apply to Acme
    Ana applies for a visa
    Ana applied at Acme
    Ana is applying to Acme
    Ana has an offer from Acme
    Ana has offers by Acme
    Ana was offered at Acme a desk
    Acme offers USER a desk
    Ana heeds a rumour of boats
    Ana heeds rumors of boats
    Ana is a potential sailor
    Ana is potentially a sailor
    Ana ideally owns a boat
    Ana sails someday
    Ana sails one day
    Ana is looking for a boat
    Ana is looking to sail
    Ana is looking into boats
    Ana is looking at boats
    Ana is open to boats
    Ana is interested in boats
    Ana has a doubt of boats
    Ana doubts boats
    Ana and Bo can imagine boats
    Ana and Bo try to sail
    Ana is trying to sail
    Ana tries to sail
    Ana tried to sail
    Ana refuses to sail
    Ana declined the boat
    Ana turned down the boat
    Ana rejected the boat
    Ana joked of boats
    Ana is kidding of boats
    Ana may sail
    Ana can use the boat
    Ana can't work on boats
    Ana cannot live on boats
    Ana can’t move boats
"""
PLANS = """
    Ana knows that Bo will sail
    Ana knows that Bo won't sail
    Ana knows that Bo won’t sail
    Ana knows that Bo shall sail
    Ana is going to sail
    Ana is gonna sail
    Ana and Bo plan to sail
    Ana is planning on boats
    Ana planned for boats
    Ana plans boats
    Ana and Bo intend boats
    Ana intends boats
    Ana is intending boats
    Ana intended boats
    Ana is about to sail
    Ana and Bo aim to sail
    Ana aims to sail
    Ana is aiming to sail
    Ana is set to sail
    Ana is due to start
    Ana is due to move
    Ana is due to join
    Ana is due to leave
    Ana is scheduled to sail
    Ana and Bo expect to sail
    Ana expects to sail
    Ana is supposed to sail
    Ana has to sail
    Ana and Bo have to sail
    Ana and Bo need to sail
    Ana needs to sail
    Ana decided to sail
    Ana agreed to sail
    Ana promised to sail
    Ana can't wait for boats
    Ana can’t wait for boats
    Ana looks forward now
    Ana is looking forward now
"""


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


@pytest.mark.parametrize("clause", lines(POSSIBLE))
def test_what_may_or_may_not_be_is_no_fact(clause: str) -> None:
    assert reading(clause).mood == "possible"


@pytest.mark.parametrize("clause", lines(PLANS))
def test_what_is_yet_to_be_done_is_a_plan(clause: str) -> None:
    assert reading(clause).mood == "plan"


@pytest.mark.parametrize(
    "clause", ["USER sells the bike", "Ana owns a boat", "USER is going to the beach", "Ana moved in May"]
)
def test_what_says_neither_is_a_fact(clause: str) -> None:
    assert reading(clause).mood == "fact"


@pytest.mark.parametrize(
    "plan",
    ["I'm planning to no longer use VS Code.", "I plan on leaving VS Code.", "Hypothetically I no longer use VS Code."],
)
def test_a_plan_to_stop_ends_nothing(plan: str) -> None:
    assert "USER uses VS Code." in Life("I use VS Code.", plan).believed


def test_to_stop_ends_what_was_so() -> None:
    assert "USER uses VS Code." not in Life("I use VS Code.", "I no longer use VS Code.").believed
