"""First person becomes third, and verbs agree."""

from __future__ import annotations

import pytest

from memento.iris import user_iri
from memento.model import User
from memento.text.person import third_person


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I am tired", "USER is tired"),
        ("I'm tired", "USER is tired"),
        ("I’m tired", "USER is tired"),
        ("I've been ill", "USER has been ill"),
        ("I'd like tea", "USER would like tea"),
        ("I'd been to Rome", "USER had been to Rome"),
        ("I'll go", "USER will go"),
        ("I work at Acme", "USER works at Acme"),
        ("I study math", "USER studies math"),
        ("I go and have fun", "USER goes and has fun"),
        ("I do yoga", "USER does yoga"),
        ("I don't use Vim", "USER doesn't use Vim"),
        ("I haven't been there", "USER hasn't been there"),
        ("I really like it", "USER really likes it"),
        ("I also use Zed", "USER also uses Zed"),
        ("I just moved", "USER just moved"),
        ("I can swim", "USER can swim"),
        ("I went home", "USER went home"),
        ("I no longer use it", "USER no longer uses it"),
        ("I was there and saw it", "USER was there and saw it"),
        ("I live in Berlin and work at Acme", "USER lives in Berlin and works at Acme"),
        ("I want to live in Berlin and work at Acme", "USER wants to live in Berlin and work at Acme"),
        ("I like coffee and work", "USER likes coffee and work"),
        ("I read a book yesterday", "USER read a book yesterday"),
        ("Anna and I live here", "Anna and USER live here"),
        ("Anna works there and I work here", "Anna works there and USER works here"),
        ("Anna gave me a book", "Anna gave USER a book"),
        ("That dog is mine", "That dog is USER's"),
        ("My dog likes my mother", "USER's dog likes USER's mother"),
        ("We moved our office", "USER and others moved USER's office"),
        ("We're tired", "USER and others are tired"),
        ("So do I", "So does USER"),
        ("What should I do?", "What should USER do?"),
        ('She said "I love you" to me', 'She said "I love you" to USER'),
        ("I live in the US", "USER lives in the US"),
        ("Iris is in Italy", "Iris is in Italy"),
    ],
)
def test_first_person_becomes_third(said: str, told: str) -> None:
    assert third_person(said) == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Ana likes tea", "USER likes tea"),
        ("Ana Costa likes tea", "Ana Costa likes tea"),
        ("Anabel likes tea", "Anabel likes tea"),
    ],
)
def test_the_users_own_name_counts_as_first_person(said: str, told: str) -> None:
    assert third_person(said, User(iri=user_iri("local"), name="Ana")) == told
