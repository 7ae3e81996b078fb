"""Which key a phrase means: the order of the rules, and what keeps siblings apart."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento.errors import InputError
from memento.plugins.keys import match
from memento.plugins.keys.labels import check_types, clean_keys
from memento.plugins.keys.nouns import FoundKey
from memento.plugins.keys.remember import are_siblings
from memento.plugins.keys.settings import KeysSettings
from memento.python import Memento
from memento.search.spellings import fold_text, is_spelt
from memento.settings import Settings


def keys_of(memento: Memento, query: str) -> list[FoundKey]:
    return [one for one in memento.keys.find(query).keys if one.match in ("concept", "alias")]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["Newton", " newton ", "NEWTON"], ["Newton"]),
        (["a", "", "  ", "b2", 3, None], ["b2"]),
        ('["apple", "red  apple", 4]', ["apple", "red apple"]),
        ("apple, pear", ["apple, pear"]),
        (["猫", "x"], ["猫"]),
        (7, []),
        ('"apple"', ['"apple"']),
    ],
)
def test_keys_are_texts_that_can_be_looked_for(given: object, kept: list[str]) -> None:
    assert clean_keys(given) == kept


@given(st.lists(st.text(max_size=12), max_size=8))
def test_cleaned_keys_stay_as_they_are_and_differ_from_one_another(given: list[str]) -> None:
    kept = clean_keys(given)

    assert clean_keys(kept) == kept
    assert len({fold_text(key) for key in kept}) == len(kept)
    assert all(is_spelt(key) for key in kept)


def test_a_type_that_is_none_is_named_with_those_there_are() -> None:
    with pytest.raises(InputError, match=r"concept, name, proper_noun, not 'person'"):
        check_types(["Newton"], {"Newton": "person"})


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ("Agent A", "Agent B", True),
        ("GPT-3", "GPT-4", True),
        ("Rocky II", "Rocky IV", True),
        ("sprint 12", "sprint 13", True),
        ("database", "databases", False),
        ("colour scheme", "color scheme", False),
    ],
)
def test_siblings_differ_in_a_letter_or_a_number(one: str, other: str, apart: bool) -> None:
    assert are_siblings(one, other) is are_siblings(other, one) is apart


def test_the_same_text_is_the_same_key_whatever_its_case(memento: Memento) -> None:
    first = memento.keys.remember("Newton was born in 1643.", ["Newton"])
    second = memento.keys.remember("The apple tree stands in Lincolnshire.", ["NEWTON"])

    assert first.keys == second.keys
    [key] = keys_of(memento, "newton")
    assert (key.memory_count, key.name) == (2, "Newton")


def test_a_concept_becomes_a_name_in_place_and_a_name_never_a_concept(memento: Memento) -> None:
    first = memento.keys.remember("Newton was born in 1643.", ["Newton"])
    second = memento.keys.remember("The apple tree stands in Lincolnshire.", ["Newton"], types={"Newton": "name"})
    third = memento.keys.remember("Gravity has a formula.", ["Newton"])

    assert first.keys == second.keys == third.keys
    assert [one.type for one in keys_of(memento, "newton")] == ["name"]
    assert memento.admin.check() == ()


def test_names_are_never_merged_by_meaning(memento: Memento) -> None:
    first = memento.keys.remember("A met us first.", ["Johannes Schmidt"], types={"Johannes Schmidt": "name"})
    second = memento.keys.remember("B came later.", ["Johanness Schmidt"], types={"Johanness Schmidt": "name"})

    assert first.keys != second.keys


def test_a_long_concept_that_means_nearly_the_same_learns_the_new_text_as_a_name(memento: Memento) -> None:
    first = memento.keys.remember("One fact of many.", ["relational database migration"])
    second = memento.keys.remember("Quite another thing.", ["relational databases migration"])

    assert first.keys == second.keys
    # The endings alone made it the same, so nothing had to be learnt.
    third = memento.keys.remember("Something else again.", ["the relational database migration plan"])
    assert third.keys == first.keys
    [key] = keys_of(memento, "the relational database migration plan")
    assert key.match == "alias"
    assert key.aliases == ("the relational database migration plan",)
    assert key.cluster == 2


def test_short_concepts_merge_only_when_they_are_nearly_equal(memento: Memento) -> None:
    memento.service.settings = _with(memento, short_merge=0.62)
    first = memento.keys.remember("One fact of many.", ["favourite colour"])
    second = memento.keys.remember("Quite another thing.", ["favorite colour"])
    apart = memento.keys.remember("A third one altogether.", ["agent a"])
    other = memento.keys.remember("And a fourth, about tea.", ["agent b"])

    assert first.keys == second.keys
    assert apart.keys != other.keys


def test_short_concepts_stay_apart_when_merging_is_off(memento: Memento) -> None:
    memento.service.settings = _with(memento, short_merge=0.0)
    first = memento.keys.remember("One fact of many.", ["favourite colour"])
    second = memento.keys.remember("Quite another thing.", ["favourite colours!"])
    third = memento.keys.remember("A third one altogether.", ["favorite colour"])

    assert first.keys == second.keys
    assert first.keys != third.keys


def test_keys_of_one_text_are_settled_against_each_other(memento: Memento) -> None:
    done = memento.keys.remember("Apples are fruit.", ["apple", "apples", "Apple"])

    assert len(done.keys) == 1


def test_an_entity_is_its_own_key_and_what_hangs_on_it_is_about_it(memento: Memento) -> None:
    memento.note("Anna works at Google.")
    done = memento.keys.remember("The office has a slide.", ["Google"], types={"Google": "proper_noun"})
    [google] = [one for one in memento.graphs.entities() if one.name == "Google"]
    [key] = keys_of(memento, "google")

    assert (key.denotes, key.memory_count) == (google.iri, 2)
    assert done.keys == (key.key,)
    assert ("http://purl.org/memento/about", google.iri) in memento.get(done.saved).properties
    assert memento.admin.check() == ()


def test_a_key_of_another_namespace_is_used_and_left_as_it_is(memento: Memento) -> None:
    main = memento.keys.remember("Newton was born in 1643.", ["Newton"])
    work = memento.keys.remember("Newton leads the team.", ["Newton"], types={"Newton": "name"}, namespace="work")

    assert main.keys == work.keys
    assert [one.type for one in keys_of(memento, "newton")] == ["concept"]
    assert [one.memory_count for one in keys_of(memento, "newton")] == [1]
    assert [one.memory_count for one in memento.keys.find("newton", namespace="work").keys if one.name == "Newton"] == [
        2
    ]


def test_no_usable_key_is_refused(memento: Memento) -> None:
    with pytest.raises(InputError, match="two characters"):
        memento.keys.remember("Something.", ["x", " "])


def _with(memento: Memento, **changed: float) -> Settings:
    return memento.settings.having(replace(memento.settings.of(KeysSettings), **changed))  # type: ignore[arg-type]


def test_a_key_that_was_there_first_and_the_entity_of_its_name_are_one(memento: Memento) -> None:
    first = memento.keys.remember("The office has a slide.", ["Google"])
    memento.note("Anna works at Google.")
    last = memento.keys.remember("The canteen is good.", ["Google"])
    [key] = keys_of(memento, "google")
    [google] = [one for one in memento.graphs.entities() if one.name == "Google"]

    assert (key.denotes, key.memory_count) == (google.iri, 3)
    assert last.keys == first.keys == (key.key,)
    assert {row.memory for row in memento.keys.read(key.key).memories} >= {first.saved, last.saved}
    assert memento.keys.read(google.iri).total == 3
    assert memento.admin.check() == ()


def test_thresholds_go_by_the_model_and_not_by_who_serves_it(caplog: pytest.LogCaptureFixture) -> None:
    assert match.find_family("openai-text-embedding-3-small-1536-api.openai.com-1a2b") == "openai"
    assert match.find_family("openai-compatible-bge-m3-1024-box-1a2b") == "bge-m3"
    assert match.find_family("openai-compatible-nomic-embed-768-minilm.example-1a2b") is None
    with caplog.at_level("WARNING"):
        limits = match.choose_thresholds("openai-compatible-nomic-embed-768-box-1a2b", KeysSettings())
    assert limits.key_recall == 0.6
    assert [record.message for record in caplog.records] == ["keys.not-calibrated"]
