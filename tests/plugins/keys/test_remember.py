"""What becomes of a text under keys: kept, superseded, repeated, flagged; corrected, forgotten, over."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from memento.errors import InputError, TooLong
from memento.iris import IRI, MEM, TYPE
from memento.model import Change, Scope, Value
from memento.plugins.keys.nouns import TextPiece, ToRemember
from memento.plugins.keys.remember import NAME, differ
from memento.python import Memento

GRAPH = Scope().graph


def values(memento: Memento, subject: str, predicate: IRI) -> list[Value]:
    return [v for s, p, v, _ in memento.service.stores.graph.quads(GRAPH) if (s, p) == (subject, predicate)]


def deepen(memento: Memento, iri: IRI, depth: float) -> None:
    gone = tuple((iri, MEM.depth, v, GRAPH) for v in values(memento, iri, MEM.depth))
    memento.service.stores.commit(Change(((iri, MEM.depth, depth, GRAPH),), gone), Scope())


def names(memento: Memento, iri: str) -> set[str]:
    return {one.name for one in memento.keys.read_memory(iri).keys}


def test_a_text_is_kept_with_its_note_its_keys_and_its_times(memento: Memento) -> None:
    other = memento.keys.remember("Bees make honey.", ["bees"]).saved
    done = memento.keys.remember(
        "Newton saw an apple fall.",
        ["Newton", "apple"],
        types={"Newton": "name"},
        ttl_s=3600,
        related_to=[other, "urn:x:none", other],
        source="agent",
    )
    opened = memento.keys.read_memory(done.saved)
    [source] = memento.review.sources(done.saved)

    assert (opened.content, opened.related_to, opened.expires_at) == (
        "Newton saw an apple fall.",
        (other,),
        done.expires_at,
    )
    assert {(one.name, one.type, one.weight) for one in opened.keys} == {
        ("Newton", "name", 1.0),
        ("apple", "concept", 1.0),
    }
    assert source.note.content == "Newton saw an apple fall."
    assert values(memento, source.note.iri, MEM.source) == ["agent"]
    assert memento.admin.check() == ()
    assert [one.content for one in memento.recall("Who saw an apple fall?", k=1).memories] == [opened.content]


def test_the_same_words_again_deepen_what_is_there_and_may_add_keys(memento: Memento) -> None:
    first = memento.keys.remember("Tea is served at four.", ["tea"])
    again = memento.keys.remember("tea is  served at FOUR.", ["tea", "afternoon"])

    assert (again.saved, again.repeated, again.superseded) == (first.saved, True, None)
    assert memento.service.reinforcement.read_numbers(first.saved).depth == 0.05
    assert names(memento, first.saved) == {"tea", "afternoon"}
    assert memento.status().memories == 1


def test_nearly_the_same_is_superseded_and_stays_in_history(memento: Memento) -> None:
    old = memento.keys.remember("The weekly meeting takes place on Monday at nine in room four.", ["meeting"])
    deepen(memento, old.saved, 0.4)
    new = memento.keys.remember("The weekly meeting takes place on Monday at nine in room five.", ["schedule"])

    assert (new.superseded, new.deduplicated, new.conflict) == (old.saved, True, False)
    assert [one.iri for one in memento.list()] == [new.saved]
    assert values(memento, old.saved, MEM.depth) == [0.12]
    opened = memento.keys.read_memory(new.saved)
    assert opened.supersedes == old.saved
    assert memento.keys.read_memory(old.saved, past=True).superseded_by == new.saved
    assert memento.admin.check() == ()


def test_nearly_the_same_under_the_same_key_is_a_conflict(memento: Memento) -> None:
    old = memento.keys.remember("The weekly meeting takes place on Monday at nine in room four.", ["meeting"])
    new = memento.keys.remember("The weekly meeting takes place on Monday at nine in room five.", ["meeting"])

    assert (new.superseded, new.deduplicated, new.conflict) == (old.saved, False, True)


def test_texts_that_name_different_things_are_both_kept(memento: Memento) -> None:
    memento.keys.remember("Agent A takes care of the deliveries on Mondays.", ["deliveries"])
    new = memento.keys.remember("Agent B takes care of the deliveries on Mondays.", ["deliveries"])

    assert new.superseded is None
    assert len(memento.list()) == 2


def test_texts_with_other_numbers_are_both_kept_and_flagged_where_they_share_a_key(memento: Memento) -> None:
    old = memento.keys.remember("The dog weighed twenty-odd kilograms: 20 kg.", ["dog"])
    new = memento.keys.remember("The dog weighed twenty-odd kilograms: 25 kg.", ["dog"])
    apart = memento.keys.remember("The dog weighed twenty-odd kilograms: 27 kg.", ["weight"])

    assert (new.superseded, new.contradicts, apart.superseded, apart.contradicts) == (None, (old.saved,), None, ())


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ("Anna likes tea.", "Bella likes tea.", True),
        ("My dog is tall.", "The dog is tall.", False),
        ("Tea is liked by Anna.", "Anna likes tea.", False),
        ("Ask Agent A for it.", "Ask Agent B for it.", True),
        ("I like it.", "You like it.", False),
    ],
)
def test_names_tell_texts_apart(one: str, other: str, apart: bool) -> None:
    assert differ(NAME, one, other) is differ(NAME, other, one) is apart


def test_another_namespace_supersedes_nothing_and_contradicts_nothing(memento: Memento) -> None:
    text = "The weekly meeting takes place on Monday at nine in room {}."
    memento.keys.remember(text.format("four"), ["meeting"])
    near = memento.keys.remember(text.format("five"), ["meeting"], namespace="work")
    same = memento.keys.remember(text.format("four"), ["meeting"], namespace="work")

    assert (near.superseded, near.contradicts, same.repeated) == (None, (), False)
    assert len(memento.list()) == 1


def test_what_is_alike_and_shares_a_key_is_flagged_on_both_sides(memento: Memento) -> None:
    one = memento.keys.remember("The favourite colour of the user is blue.", ["favourite colour"]).saved
    apart = memento.keys.remember("The favourite colours of the house are green.", ["paint"])
    other = memento.keys.remember("The favourite colour of the cat is green.", ["favourite colour"])

    assert apart.contradicts == ()
    assert other.contradicts == (one,)
    assert memento.keys.read_memory(one).contradicts == (other.saved,)
    assert memento.keys.related(other.saved).contradicts == (one,)
    assert len(memento.list()) == 3
    assert memento.admin.check() == ()


def test_keys_that_fit_are_linked_by_themselves_with_their_cosine(memento: Memento) -> None:
    memento.keys.remember("It grows on trees.", ["green apples"])
    memento.keys.remember("He was born in 1643.", ["Newton"], types={"Newton": "name"})
    done = memento.keys.remember("Green apples fell on Newton.", ["fall"])
    weights = {one.name: one.weight for one in memento.keys.read_memory(done.saved).keys}

    assert set(weights) == {"fall", "green apples", "Newton"}
    assert 0.6 <= weights["green apples"] < 1
    assert weights["Newton"] == weights["fall"] == 1.0


def test_without_keys_a_text_is_reached_by_its_own_names_and_nouns(memento: Memento) -> None:
    one = memento.keys.remember("Isaac Newton watched an apple fall from a tree.")
    other = memento.keys.remember("An apple is a fruit.")

    assert one.keys == other.keys == ()
    assert names(memento, one.saved) == {"apple"}
    assert [row.memory for row in memento.keys.read(memento.keys.find("Isaac Newton").keys[0].key).memories] == [
        one.saved
    ]
    assert memento.admin.check() == ()


def test_a_correction_takes_the_keys_that_fit_and_the_rest_of_what_was_there(memento: Memento) -> None:
    other = memento.keys.remember("Bees make honey.", ["bees"]).saved
    old = memento.keys.remember(
        "Anna drinks green tea at four.",
        ["Anna", "green tea", "volcanoes"],
        types={"Anna": "name"},
        ttl_s=3600,
        related_to=[other],
    )
    new = memento.correct(old.saved, "Anna drinks green tea at five.").memories[0]
    opened = memento.keys.read_memory(new)

    assert {one.name for one in opened.keys} == {"Anna", "green tea"}
    assert (opened.related_to, opened.expires_at, opened.supersedes) == ((other,), old.expires_at, old.saved)
    assert opened.access_count == 1
    assert memento.admin.check() == ()


def test_a_correction_may_bring_keys_and_links_of_its_own(memento: Memento) -> None:
    one, other = (memento.keys.remember(f"{what} make honey.", [what]).saved for what in ("Bees", "Ants"))
    old = memento.keys.remember("Tea is served at four.", ["tea"], related_to=[one]).saved
    new = memento.correct(old, "Coffee is served at four.", keys=["coffee"], related_to=[other]).memories[0]
    opened = memento.keys.read_memory(new)

    assert {one.name for one in opened.keys} - {"user"} == {"coffee"}
    assert opened.related_to == (other,)
    with pytest.raises(InputError, match="keys must have"):
        memento.correct(new, "Cocoa is served at four.", keys=["x"])


@pytest.mark.parametrize(("depth", "left"), [(0.4, 0.12), (0.69, 0.207), (0.7, 0.56), (0.85, 0.68)])
def test_what_is_deep_resists_a_correction(memento: Memento, depth: float, left: float) -> None:
    old = memento.keys.remember("Tea is served at four.", ["tea"]).saved
    deepen(memento, old, depth)
    memento.correct(old, "Tea is served at five.")

    assert values(memento, old, MEM.depth) == [left]


def test_three_versions_are_all_readable(memento: Memento) -> None:
    versions = [memento.keys.remember("Tea is served at four.", ["tea"]).saved]
    for hour in ("five", "six"):
        versions += memento.correct(versions[-1], f"Tea is served at {hour}.").memories
    told = [memento.keys.read_memory(iri, past=True) for iri in versions]

    assert [one.content for one in told] == [f"Tea is served at {hour}." for hour in ("four", "five", "six")]
    assert [one.superseded_by for one in told] == [*versions[1:], None]
    assert [one.supersedes for one in told] == [None, *versions[:2]]


def test_a_note_that_is_corrected_keeps_what_walks_made_of_it(memento: Memento) -> None:
    [old] = memento.note("Anna works at Google.").memories
    google = next(one.key for one in memento.keys.read_memory(old).keys if one.name == "Google")
    memento.keys.read_memory(old, via=google)
    new = memento.correct(old, "Anna works at Google in Zurich.").memories[0]

    assert {one.name: one.weight for one in memento.keys.read_memory(new).keys}["Google"] == pytest.approx(0.6)
    assert memento.admin.check() == ()


def test_forgetting_hides_and_erasing_takes_links_and_idle_keys_along(memento: Memento) -> None:
    one = memento.keys.remember("The diagnosis was Quetzalcoatl fever.", ["Quetzalcoatl", "hospital"]).saved
    other = memento.keys.remember("The hospital has a garden.", ["hospital"]).saved
    memento.keys.read_memory(one, via=memento.keys.find("hospital").keys[0].key)
    hidden = memento.keys.remember("Milk is out.", ["milk"]).saved
    memento.forget(hidden)
    memento.forget(one, erase=True)
    memento.service.reinforcement.write_effects()
    said = list(memento.service.stores.graph.quads(GRAPH))

    assert memento.keys.find("milk").keys == ()
    assert memento.keys.find("Quetzalcoatl").keys == ()
    assert not any("Quetzalcoatl" in str(value) or one in (s, value) for s, _, value, _ in said)
    assert sum(v == MEM.KeyLink for _, p, v, _ in said if p == TYPE) == 2
    assert [row.memory for row in memento.keys.read(memento.keys.find("hospital").keys[0].key).memories] == [other]
    assert memento.admin.check() == ()


def test_what_is_over_is_seen_no_more_and_then_let_go(memento: Memento) -> None:
    done = memento.keys.remember("The code of today is 4711.", ["code"], ttl_s=0.2)
    kept = memento.keys.remember("The code of the door is round.", ["code"])
    time.sleep(0.3)

    assert [one.memory_count for one in memento.keys.find("code").keys] == [1]
    assert [one.iri for one in memento.list()] == [kept.saved]
    assert [one.iri for one in memento.recall("What is the code of today?", gate=False).memories] == [kept.saved]
    assert memento.keys.cleanup_expired().expired == 1
    assert memento.keys.cleanup_expired().expired == 0
    assert values(memento, done.saved, MEM.expiredAt) == [done.expires_at]
    assert memento.admin.check() == ()


@pytest.mark.parametrize("ttl_s", [0, -1, float("inf"), 1e18])
def test_a_time_to_live_that_is_none_is_refused(memento: Memento, ttl_s: float) -> None:
    with pytest.raises(InputError, match="ttl"):
        memento.keys.remember("The code of today.", ["code"], ttl_s=ttl_s)


def test_a_place_outside_a_long_text_is_refused(memento: Memento) -> None:
    for place in (TextPiece(number=0, count=2), TextPiece(number=3, count=2), TextPiece(number=2, count=2, overlap=99)):
        with pytest.raises(InputError, match="piece is number"):
            memento.keys.remember("The second half.", piece=place)
    assert memento.list() == ()

    second = memento.keys.remember(
        "The second half.", piece=TextPiece(number=2, count=2, first="urn:memento:memory:gone")
    ).saved
    [note] = values(memento, second, MEM.extractedFrom)
    assert (values(memento, str(note), MEM.piece), values(memento, str(note), MEM.parent)) == ([2], [])


def test_a_batch_tells_of_each_item_what_became_of_it(memento: Memento) -> None:
    rows = memento.keys.remember_batch(
        [
            ToRemember(content="Tea is served at four.", keys=("tea",)),
            ToRemember(content="No key at all.", keys=("x",)),
            ToRemember(content=" ", keys=("tea",)),
            ToRemember(content="Tea is served at four.", keys=("tea",)),
        ]
    )

    assert [bool(one.remembered) for one in rows] == [True, False, False, True]
    assert "two characters" in str(rows[1].error) and "content" in str(rows[2].error)
    assert rows[3].remembered and rows[3].remembered.repeated
    with pytest.raises(InputError, match="100 at most"):
        memento.keys.remember_batch([ToRemember(content="x")] * 101)


def test_a_text_of_a_session_is_the_next_turn_of_its_conversation(memento: Memento) -> None:
    for number in range(6):
        memento.note(
            f"Turn number {number} says {'z' * number}.",
            session="monday",
            at=datetime(2025, 1, 6, 9, number, tzinfo=UTC),
        )
    memento.keys.remember("We agreed on tea.", ["tea"], session="monday")
    every = memento.keys.conversation("monday")
    around = memento.keys.conversation("monday", turn=3)

    assert [one.turn for one in every] == list(range(7))
    assert (every[-1].content, every[-1].role) == ("We agreed on tea.", "user")
    assert [one.turn for one in around] == [1, 2, 3, 4, 5]
    assert memento.keys.conversation("tuesday") == ()
    assert memento.admin.check() == ()


def test_listing_and_counting_agree_with_the_graph(memento: Memento) -> None:
    one = memento.keys.remember("Tea is served at four.", ["tea", "afternoon"], ttl_s=3600)
    memento.keys.remember("Bees make honey.", ["bees"], related_to=[one.saved])
    memento.keys.remember("Of work.", ["work"], namespace="work")
    rows = {row.content: row for row in memento.keys.list_memories()}
    stats = memento.keys.memory_stats()

    assert rows["Tea is served at four."].keys == ("afternoon", "tea")
    assert rows["Bees make honey."].related_to == (one.saved,)
    assert rows["Tea is served at four."].expires_at == one.expires_at
    assert {row.namespace for row in memento.keys.list_memories(namespace="work")} == {"work", "main"}
    assert (stats.keys, stats.memories, stats.links, stats.total, stats.notes) == (3, 2, 3, 2, 2)
    assert (stats.by_source, stats.bytes_on_disk > 0) == ({"explicit": 2}, True)
    assert stats.oldest and stats.newest and stats.oldest <= stats.newest


def test_too_much_and_nothing_are_refused(memento: Memento) -> None:
    with pytest.raises(InputError, match="content must not be empty"):
        memento.keys.remember(" ", ["tea"])
    with pytest.raises(TooLong):
        memento.keys.remember("x" * 2_000_000, ["tea"])
    with pytest.raises(InputError, match="50 keys at most"):
        memento.keys.remember("Tea.", [f"key {n:03}" for n in range(60)])


def test_a_correction_keeps_the_keys_that_stand_in_the_new_text(memento: Memento) -> None:
    old = memento.keys.remember(
        "Ben keeps the quokka in Perth.",
        ["Ben", "quokka", "Perth", "Clara"],
        types={"Ben": "name", "Perth": "proper_noun", "Clara": "name"},
    ).saved
    new = memento.correct(old, "Since the flood Ben keeps quite another animal, which is no longer called a quokka.")
    names_of = {one.name for one in memento.keys.read_memory(new.memories[0]).keys}

    assert {"Ben", "quokka", "Clara"} <= names_of  # Clara was given beside the text
    assert "Perth" not in names_of  # and Perth stood in it, and does no more


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("We keep two cats in the house.", "We keep three cats in the house."),
        ("The scar is on the left knee.", "The scar is on the right knee."),
        ("The bakery is on the north side of town.", "The bakery is on the south side of town."),
    ],
)
def test_number_words_and_sides_tell_texts_apart(one: str, other: str, memento: Memento) -> None:
    first = memento.keys.remember(one, ["thing"])
    second = memento.keys.remember(other, ["thing"])

    assert second.superseded is None
    assert memento.keys.read_memory(first.saved).superseded_by is None


def test_an_old_name_of_a_memory_leads_to_what_took_its_place_in_the_end(memento: Memento) -> None:
    first = memento.keys.remember("Tea is served at four.", ["tea"]).saved
    [second] = memento.correct(first, "Tea is served at five.").memories
    [third] = memento.correct(first, "Tea is served at six.").memories

    assert memento.keys.read_memory(third).supersedes == second
    with pytest.raises(InputError, match=f"was superseded by <{third}>"):
        memento.keys.read_memory(first)
