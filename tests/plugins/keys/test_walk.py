"""From a question to keys, from keys to memories, from memories to keys: what is shown, what is not, and what is left behind."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from memento import rank
from memento.access import Access
from memento.codec import encode
from memento.errors import InputError, NotFound
from memento.iris import IRI, MEM, link_iri
from memento.model import Change, Scope
from memento.plugins.keys.nouns import KeyOf, OpenedMemory
from memento.plugins.keys.settings import KeysSettings
from memento.python import Memento
from memento.time import now

GRAPH = Scope().graph


def key(memento: Memento, query: str, name: str) -> str:
    """The IRI of a key that a question leads to."""
    found = {one.name.casefold(): one.key for one in memento.keys.find(query).keys}
    return found[name.casefold()]


def going_on(opened: OpenedMemory, name: str) -> KeyOf:
    """The key of a memory by its name."""
    return next(one for one in opened.keys if one.name.casefold() == name.casefold())


def quads(memento: Memento) -> int:
    graph = memento.service.stores.graph
    return sum(1 for name in graph.graphs() for _ in graph.quads(name))


def test_newton_leads_over_the_apple_and_the_fruit_to_the_strawberry_in_notes_alone(memento: Memento) -> None:
    memento.note("Isaac Newton watched an apple fall from a tree.")
    memento.note("An apple is a fruit.")
    memento.note("A strawberry is a red fruit.")
    memento.note("My boss works at Google.")
    at, words = key(memento, "Newton", "newton"), []
    for onward in ("apple", "fruit"):
        page = memento.keys.read(at)
        opened = [memento.keys.read_memory(one.memory, via=at) for one in page.memories]
        words += [one.content for one in opened]
        at = next(one.key for memory in opened for one in memory.keys if one.name == onward)
    last = [memento.keys.read_memory(one.memory, via=at).content for one in memento.keys.read(at).memories]

    assert "A strawberry is a red fruit." in last
    assert "A strawberry is a red fruit." not in words


def test_newton_leads_to_the_strawberry_over_keys_that_were_given(memento: Memento) -> None:
    memento.keys.remember("Newton saw an apple fall.", ["Newton", "apple"], types={"Newton": "name"})
    memento.keys.remember("Apples are the fruit of a tree.", ["apple", "fruit"])
    memento.keys.remember("A strawberry is no berry.", ["strawberry", "fruit"])
    first = memento.keys.read_memory(memento.keys.read(key(memento, "Newton", "Newton")).memories[0].memory)
    apples = memento.keys.read(going_on(first, "apple").key).memories
    second = [memento.keys.read_memory(one.memory) for one in apples if one.memory != first.memory]
    fruits = memento.keys.read(going_on(second[0], "fruit").key).memories

    assert len(apples) == len(fruits) == 2
    assert "A strawberry is no berry." in {memento.keys.read_memory(one.memory).content for one in fruits}


def test_finding_keys_shows_no_text_and_writes_nothing(memento: Memento) -> None:
    memento.keys.remember("The password of the vault is Quetzalcoatl.", ["vault", "password"])
    memento.note("I keep bees in Lisbon.")
    before = quads(memento)
    found = memento.keys.find("vault")
    page = memento.keys.read(found.keys[0].key)
    memento.keys.read(found.keys[0].key, query="password")
    memento.service.reinforcement.write_effects()

    assert b"Quetzalcoatl" not in encode(found) + encode(page)
    assert "content" not in json.loads(encode(page))["memories"][0]
    assert quads(memento) == before


def test_a_name_answers_only_where_it_is_spelt_and_a_concept_where_it_is_alike(memento: Memento) -> None:
    memento.keys.remember("She leads.", ["Johanna Smith"], types={"Johanna Smith": "name"})
    memento.keys.remember("It is about water.", ["swimming pool"])

    assert [one.name for one in memento.keys.find("johanna smithe").keys] == []
    assert [(one.name, one.score, one.match) for one in memento.keys.find("Is Johanna Smith in?").keys] == [
        ("Johanna Smith", 1.0, "concept")
    ]
    assert [(one.name, one.match) for one in memento.keys.find("swimming pools").keys] == [
        ("swimming pool", "semantic")
    ]


def test_keys_that_come_by_one_memory_alone_count_once(memento: Memento) -> None:
    memento.keys.remember("Red wine stains every carpet in the house.", ["laundry", "party", "mishap"])

    found = memento.keys.find("red wine stains every carpet")
    assert [one.match for one in found.keys] == ["content"]


def test_a_hub_is_shown_as_one_and_says_little(memento: Memento) -> None:
    for city in ("Lisbon", "Porto", "Faro"):
        memento.keys.remember(f"The meeting is in {city}.", ["meeting", city], types={city: "proper_noun"})
    rows = {one.name: one for one in memento.keys.find("meeting in Faro").keys}

    assert (rows["meeting"].is_hub, rows["meeting"].memory_count, rows["meeting"].specificity) == (True, 3, 0.333)
    assert (rows["Faro"].is_hub, rows["Faro"].specificity) == (False, 1.0)
    page = memento.keys.read(rows["meeting"].key)
    assert (page.is_hub, page.total) == (True, 3)


def test_a_name_on_two_memories_says_half_as_much_as_a_concept(memento: Memento) -> None:
    violins = memento.keys.remember(
        "Violins hang in the hall.", ["workshop", "Stainer"], types={"Stainer": "name"}
    ).saved
    memento.keys.remember("Soup is served at noon.", ["workshop"])
    memento.keys.remember("The bus leaves at six.", ["Stainer"], types={"Stainer": "name"})
    found = {one.content: one.score for one in memento.keys.related(violins).memories}

    assert found == {"Soup is served at noon.": 0.5, "The bus leaves at six.": 0.25}


def test_from_how_many_memories_on_a_key_is_a_hub_is_a_setting(memento: Memento) -> None:
    memento.service.settings = memento.settings.having(replace(memento.settings.of(KeysSettings), hub=5))
    for number, city in enumerate(("Lisbon", "Porto", "Faro", "Braga", "Evora"), start=1):
        memento.keys.remember(f"The meeting is in {city}.", ["meeting", city], types={city: "proper_noun"})
        [meeting] = [one for one in memento.keys.find("meeting").keys if one.name == "meeting"]
        assert (meeting.memory_count, meeting.is_hub) == (number, number == 5)


def test_a_page_follows_the_other_until_all_memories_came(memento: Memento) -> None:
    for number in range(25):
        memento.keys.remember(f"Entry {number} of the ledger says {'x' * number}.", ["ledger"])
    iri, seen, offset, pages = key(memento, "ledger", "ledger"), [], 0, 0
    while offset is not None:
        page = memento.keys.read(iri, limit=10, offset=offset)
        seen += [one.memory for one in page.memories]
        offset, pages = page.next_offset, pages + 1  # type: ignore[assignment]

    assert (pages, len(seen), len(set(seen)), page.total) == (3, 25, 25, 25)


def test_what_is_deep_and_trodden_and_new_comes_first(memento: Memento) -> None:
    iris = [memento.keys.remember(f"The {n} plan.", ["plan"]).saved for n in ("first", "second", "third", "fourth")]
    link = link_iri(memento.keys.read_memory(iris[0]).keys[0].key, iris[0])
    old = now() - timedelta(days=60)
    memento.service.reinforcement.write_effects()
    created = {s: v for s, p, v, _ in memento.service.stores.graph.quads(GRAPH) if p == MEM.createdAt and s in iris}
    memento.service.stores.commit(
        Change(
            ((link, MEM.weight, 2.0, GRAPH), (iris[1], MEM.createdAt, old, GRAPH), (iris[2], MEM.depth, 0.8, GRAPH)),
            ((link, MEM.weight, 1.0, GRAPH), (iris[1], MEM.createdAt, created[iris[1]], GRAPH)),
        ),
        Scope(),
    )
    rows = memento.keys.read(key(memento, "plan", "plan")).memories

    assert [one.memory for one in rows] == [iris[0], iris[2], iris[3], iris[1]]
    assert rows[0].score == pytest.approx(2.0 * rank.depth_factor(0.05), abs=1e-4)
    assert rows[3].score == pytest.approx(0.9 * rank.time_factor(60.0, 0.0), abs=1e-4)
    assert [one.band for one in rows] == ["shallow", "deep", "shallow", "shallow"]


def test_reading_deepens_the_memory_and_strengthens_the_trodden_link_alone(memento: Memento) -> None:
    one = memento.keys.remember("Tea is served at four.", ["tea", "afternoon"]).saved
    other = memento.keys.remember("Tea comes from a plant.", ["tea", "plant"]).saved
    tea = key(memento, "tea", "tea")
    opened = memento.keys.read_memory(one, via=tea)
    again = memento.keys.read_memory(one)

    assert (opened.depth, opened.access_count, again.depth, again.access_count) == (0.05, 1, 0.1, 2)
    assert {of.name: (of.weight, of.is_traversed) for of in opened.keys} == {
        "tea": (1.1, True),
        "afternoon": (1.0, False),
    }
    assert {of.name: of.weight for of in again.keys} == {"tea": 1.1, "afternoon": 1.0}
    assert {of.memory: of.weight for of in memento.keys.read(tea).memories} == {one: 1.1, other: 1.0}
    memento.service.reinforcement.write_effects()
    assert {of.memory: of.weight for of in memento.keys.read(tea).memories} == {one: 1.1, other: 1.0}


def test_a_link_is_never_heavier_than_three_and_a_memory_never_deeper_than_one(memento: Memento) -> None:
    iri = memento.keys.remember("Tea is served at four.", ["tea"]).saved
    tea = key(memento, "tea", "tea")
    for _ in range(25):
        opened = memento.keys.read_memory(iri, via=tea)

    assert (opened.depth, opened.band, opened.keys[0].weight) == (1.0, "deep", 3.0)
    memento.service.reinforcement.write_effects()
    assert memento.keys.read_memory(iri, via=tea).keys[0].weight == 3.0
    assert memento.admin.check() == ()


def test_who_may_only_read_leaves_no_trace(memento: Memento) -> None:
    iri = memento.keys.remember("Tea is served at four.", ["tea"]).saved
    reader = memento.with_access(Access(tenant="local", right="read"))
    reader.keys.read_memory(iri, via=key(memento, "tea", "tea"))

    assert memento.service.reinforcement.read_numbers(IRI(iri)).access_count == 0
    assert memento.service.reinforcement.write_effects() == 0


def test_what_cannot_be_read_says_why(memento: Memento) -> None:
    old = memento.keys.remember("Tea is served at four.", ["tea"]).saved
    other = memento.keys.remember("Bees make honey.", ["bees"])
    new = memento.correct(old, "Tea is served at five.").memories[0]
    gone = memento.keys.remember("Milk is out.", ["milk"]).saved
    memento.forget(gone)

    with pytest.raises(InputError, match=f"superseded by <{new}>"):
        memento.keys.read_memory(old)
    with pytest.raises(NotFound, match="over or forgotten"):
        memento.keys.read_memory(gone)
    with pytest.raises(NotFound, match="no memory"):
        memento.keys.read_memory("urn:x:none")
    with pytest.raises(NotFound, match="no key"):
        memento.keys.read("urn:x:none")
    with pytest.raises(InputError, match="does not lead"):
        memento.keys.read_memory(new, via=other.keys[0])
    past = memento.keys.read_memory(old, past=True)
    assert (past.superseded_by, past.content, past.access_count) == (new, "Tea is served at four.", 0)
    assert memento.keys.read_memory(gone, past=True).content == "Milk is out."


def test_related_counts_shared_keys_by_their_rarity_and_links_by_hand(memento: Memento) -> None:
    hub = [memento.keys.remember(f"Item number {n} on the agenda.", ["agenda"]).saved for n in range(4)]
    one = memento.keys.remember("The budget is short.", ["agenda", "budget"]).saved
    other = memento.keys.remember("The auditor wants a report.", ["budget", "audit"], related_to=[one]).saved
    found = memento.keys.related(one)
    rows = {row.memory: row for row in found.memories}

    assert found.memories[0].memory == other
    assert (rows[other].score, rows[other].link, rows[other].shared) == (1.5, "both", ("budget",))
    assert {rows[iri].score for iri in hub} == {0.2}
    assert {rows[iri].link for iri in hub} == {"key"}
    assert memento.keys.related(other).memories[0].memory == one


def test_at_most_twenty_are_related(memento: Memento) -> None:
    for number in range(23):
        last = memento.keys.remember(f"Line {number} of the poem rhymes with {'y' * number}.", ["poem"]).saved

    assert len(memento.keys.related(last).memories) == 20


def test_a_namespace_is_walked_alone_and_with_main(memento: Memento) -> None:
    memento.keys.remember("The secret of work.", ["secret"], namespace="work")
    shared = memento.keys.remember("The secret of all.", ["secret"]).saved

    assert [one.memory_count for one in memento.keys.find("secret").keys] == [1]
    assert [one.memory_count for one in memento.keys.find("secret", namespace="work").keys] == [1, 1]
    other = memento.with_access(Access(tenant="rival", right="write"))
    assert other.keys.find("secret").keys == ()
    with pytest.raises(NotFound):
        other.keys.read_memory(shared)
    with pytest.raises(NotFound):
        other.keys.read(key(memento, "secret", "secret"))
    narrow = memento.with_access(Access(tenant="local", namespaces=("work",), right="write"))
    assert [one.memory_count for one in narrow.keys.find("secret").keys] == [1]
    with pytest.raises(NotFound):
        narrow.keys.read_memory(shared)


def test_the_keys_of_notes_are_there_after_a_rebuild_and_after_a_start(memento: Memento) -> None:
    memento.note("Isaac Newton watched an apple fall from a tree.")
    memento.keys.remember("Gravity pulls.", ["gravity", "Newton's law"])
    before = [memento.keys.find(q) for q in ("Isaac Newton", "gravity", "apple")]
    opened = memento.keys.read_memory(
        memento.keys.read(before[0].keys[0].key).memories[0].memory, via=before[0].keys[0].key
    )
    memento.service.reinforcement.write_effects()
    memento.admin.rebuild()

    assert [memento.keys.find(q) for q in ("Isaac Newton", "gravity", "apple")] == before
    again = memento.keys.read_memory(opened.memory)
    assert (again.depth, again.keys[0].weight) == (0.1, 1.1)


def test_numbers_out_of_range_are_refused(memento: Memento) -> None:
    for call in (
        lambda: memento.keys.find("x y", k=21),
        lambda: memento.keys.find(" "),
        lambda: memento.keys.read("urn:x", limit=51),
        lambda: memento.keys.read("urn:x", offset=-1),
    ):
        with pytest.raises(InputError):
            call()


def test_a_name_never_answers_by_what_its_memory_says(memento: Memento) -> None:
    memento.keys.remember("The harbour opens at six in the morning.", ["Ana"], types={"Ana": "name"})

    assert memento.keys.find("harbour opens at six in the morning").keys == ()
    assert [one.name for one in memento.keys.find("What does Ana do?").keys] == ["Ana"]


def test_the_keys_of_notes_are_nouns(memento: Memento) -> None:
    for number in range(2):
        memento.note(f"My family has a table at the wedding in building {number}, and it sucks that it hasn't begun.")
    found = {one.name for one in memento.keys.find("family table wedding building might sucks hasn", k=20).keys}

    assert {"family", "table", "wedding"} <= found
    assert not found & {"might", "sucks", "hasn", "begun"}
