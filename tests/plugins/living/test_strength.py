"""Energy, feedback, associations and archiving, on a real store, over restarts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from conftest import OFFLINE
from memento import open_memento
from memento.access import Access
from memento.errors import InputError, NotFound
from memento.iris import IRI, MEM
from memento.operations.recall import Recall
from memento.python import Memento
from memento.service.handlers.recall import peek
from memento.time import now


@pytest.fixture
def memento(tmp_path: Path) -> Iterator[Memento]:
    with opened(tmp_path) as memento:
        yield memento


def opened(folder: Path) -> Memento:
    memento = open_memento(folder, configured=OFFLINE)
    assert isinstance(memento, Memento)
    return memento


def told(memento: Memento, text: str) -> IRI:
    return memento.note(text).memories[0]


def test_feedback_moves_every_number_and_lasts(tmp_path: Path) -> None:
    with opened(tmp_path) as memento:
        tea = told(memento, "I like tea.")
        assert (memento.living.strength(tea).importance, memento.living.strength(tea).energy) == (0.5, 0.5)
        memento.living.feedback(tea, helped=True)
        after = memento.living.feedback(tea, helped=False)
    with opened(tmp_path) as memento:
        found = memento.living.strength(tea)

    assert [after.importance, after.usefulness] == pytest.approx([0.51, 0.5])
    assert after.energy == pytest.approx(0.5 * 1.1 * 0.9)
    assert (found.success_count, found.failure_count, found.importance) == (1, 1, after.importance)
    assert found.energy == pytest.approx(after.energy)


def test_decay_writes_one_instant_and_never_compounds(memento: Memento) -> None:
    week = now() - timedelta(days=7)
    tea, coffee = told(memento, "I like tea."), told(memento, "I drink coffee at work.")
    graph = memento.context.scope(None).graph
    for iri in (tea, coffee):
        aged(memento, iri, week)
    first = memento.living.decay()
    quads = len(list(memento.service.stores.graph.quads(graph)))
    half = memento.living.strength(tea).energy or 0.0
    again = memento.living.decay()

    assert half == pytest.approx(0.25, abs=1e-4)
    assert memento.living.strength(tea).energy == pytest.approx(half, abs=1e-6)
    assert again.until >= first.until
    assert len(list(memento.service.stores.graph.quads(graph))) == quads  # the one instant is moved
    assert memento.living.feedback(tea, helped=True).energy == pytest.approx(half * 1.1, abs=1e-4)
    assert memento.living.strength(coffee).energy == pytest.approx(half, abs=1e-4)


def test_what_has_no_energy_is_archived_whole_and_can_be_brought_back(memento: Memento) -> None:
    old, new = told(memento, "I like tea."), told(memento, "I live in Lisbon.")
    aged(memento, old, now() - timedelta(days=60))
    memento.living.decay()
    foreseen = memento.living.archive(dry_run=True)
    archived = memento.living.archive()

    assert foreseen.memories == archived.memories == (old,)
    assert [one.iri for one in memento.list()] == [new]
    assert {one.iri: one.archived_at is not None for one in memento.list(past=True)} == {old: True, new: False}
    assert memento.get(old).iri == old
    assert memento.living.unarchive(old).energy == pytest.approx(0.5, abs=1e-6)
    assert {one.iri for one in memento.list()} == {old, new}
    with pytest.raises(NotFound, match="is archived"):
        memento.living.unarchive(new)


def test_an_association_is_drawn_and_then_strengthened(tmp_path: Path) -> None:
    with opened(tmp_path) as memento:
        tea, cup = told(memento, "I like tea."), told(memento, "My favourite cup is blue.")
        first = memento.living.associate(tea, cup, relation="leads to", weight=0.8)
        second = memento.living.associate(tea, cup, relation="leads to", weight=0.8)
    with opened(tmp_path) as memento:
        [path] = memento.living.trace(tea)

    assert [first.weight, second.weight] == pytest.approx([0.8, 0.88])
    assert first.created_at == second.created_at
    assert (path.memories, path.relations) == ((tea, cup), ("leads to",))
    assert path.weights == pytest.approx((0.88,))


def test_paths_are_followed_depth_first_and_never_twice_over_a_memory(memento: Memento) -> None:
    a, b, c = (told(memento, text) for text in ("I like tea.", "I own a cat.", "I play chess."))
    memento.living.associate(a, b, weight=0.5)
    memento.living.associate(b, c, weight=0.5)
    memento.living.associate(c, a, weight=0.5)
    memento.living.associate(a, c, weight=0.9)

    assert [path.memories for path in memento.living.trace(a)] == [(a, c), (a, b), (a, b, c)]
    assert [path.memories for path in memento.living.trace(a, depth=1)] == [(a, c), (a, b)]


def test_activation_runs_over_associations_and_comes_back_in_recall(memento: Memento) -> None:
    tea = told(memento, "Anna drinks tea.")
    cup = told(memento, "The cup on the shelf is blue.")
    far = told(memento, "Berlin has a zoo.")
    memento.living.associate(tea, cup, weight=0.9)

    active = {one.memory: one.activation for one in memento.living.activate([tea])}
    found = [one.iri for one in memento.recall("What does Anna drink?", engine="spread", gate=False).memories]

    assert active[tea] == 1
    assert active[cup] > 0.7
    assert far not in active
    assert set(found[:2]) == {tea, cup}


def test_a_forgotten_memory_is_on_no_path(memento: Memento) -> None:
    tea, cup = told(memento, "I like tea."), told(memento, "I own a cat.")
    memento.living.associate(tea, cup)
    memento.forget(cup)

    assert memento.living.trace(tea) == ()
    with pytest.raises(NotFound, match="no current memory"):
        memento.living.activate([cup])


@pytest.mark.parametrize("engine", ["spread", "hops"])
def test_the_walks_find_what_shares_a_name(memento: Memento, engine: str) -> None:
    for text in ("Anna works at Siemens.", "Siemens makes trains.", "Paul likes chess."):
        told(memento, text)

    found = [one.content for one in memento.recall("Where does Anna work?", engine=engine, gate=False).memories]

    assert found[0] == "Anna works at Siemens."
    assert "Siemens makes trains." in found[:2]


def test_what_was_used_fades_from_then_on(memento: Memento) -> None:
    month = now() - timedelta(days=28)
    used, idle = told(memento, "I like tea."), told(memento, "I live in Lisbon.")
    for iri in (used, idle):
        aged(memento, iri, month)
    memento.keys.read_memory(used)
    memento.living.decay()

    assert memento.living.strength(used).energy == pytest.approx(0.5, abs=1e-4)
    assert memento.living.strength(idle).energy == pytest.approx(0.5 / 2**4, abs=1e-4)
    memento.keys.read_memory(idle)
    assert memento.living.strength(idle).energy == pytest.approx(0.5 / 2**4, abs=1e-4)  # use does not bring energy back


def test_recall_counts_as_use_where_it_is_wished_and_glimpses_never_do(memento: Memento) -> None:
    tea = told(memento, "I like tea.")
    memento.recall("What do I like?")
    before = memento.living.strength(tea)
    memento.service.settings = replace(memento.settings, living=replace(memento.settings.living, count_recall=True))
    memento.recall("What do I like?")
    memento.recall("What do I like?")
    peek(Recall("What do I like?"), memento.context)
    memento.with_access(Access(right="read")).recall("What do I like?")
    after = memento.living.strength(tea)

    assert (before.access_count, before.last_accessed_at) == (0, None)
    assert (after.access_count, after.depth) == (2, 0.0)
    assert after.last_accessed_at is not None


def test_what_is_used_often_is_not_archived(memento: Memento) -> None:
    often, seldom = told(memento, "I like tea."), told(memento, "I live in Lisbon.")
    for _ in range(6):
        memento.keys.read_memory(often)
    memento.service.reinforcement.write_effects()
    for iri in (often, seldom):
        spent(memento, iri)

    assert memento.living.archive().memories == (seldom,)


def test_updates_by_sparql_keep_keys_and_links_in_step(memento: Memento) -> None:
    tea = memento.keys.remember("Newton saw an apple fall.", ["apple"]).saved
    cup = memento.keys.remember("The cup is made of clay.", ["cup"]).saved
    memento.living.associate(tea, cup, relation="beside")
    [key] = [one.key for one in memento.keys.find("apple").keys]
    edit = "PREFIX mem: <http://purl.org/memento/> DELETE {{ {0} ?p ?o }} INSERT {{ {0} ?p {1} }} WHERE {{ {0} ?p ?o {2} }}"
    memento.graphs.update(edit.format(f"<{key}>", "'pippin'", "FILTER(?p = mem:name)"))

    assert memento.keys.find("pippin").keys[0].key == key
    assert [one.memory for one in memento.keys.read(key).memories] == [tea]
    assert [path.memories for path in memento.living.trace(tea)] == [(tea, cup)]
    memento.graphs.update(
        "PREFIX mem: <http://purl.org/memento/> DELETE { ?l ?p ?o } WHERE { ?l mem:from ?any ; ?p ?o }"
    )
    assert memento.keys.read(key).total == 0
    assert memento.living.trace(tea) == ()
    assert memento.admin.check() == ()


def test_a_relation_of_ones_own_and_what_is_erased_leave_a_graph_that_fits_its_shapes(memento: Memento) -> None:
    tea, cup = told(memento, "I like tea."), told(memento, "I own a cat.")
    memento.living.associate(tea, cup, relation="drunk beside")
    memento.living.decay()
    drawn = memento.admin.check()
    memento.forget(cup, erase=True)

    assert drawn == memento.admin.check() == ()
    assert not [quad for quad in memento.service.stores.graph.quads(memento.context.scope(None).graph) if cup in quad]


def test_keys_links_and_fadings_go_out_and_come_in_with_their_namespace(memento: Memento, tmp_path: Path) -> None:
    apple = memento.keys.remember("Newton saw an apple fall.", ["apple"], namespace="hobby").saved
    cup = memento.keys.remember("The cup is made of clay.", ["cup"], namespace="hobby").saved
    memento.living.associate(apple, cup, relation="beside", namespace="hobby")
    memento.keys.read_memory(apple, via=memento.keys.find("apple", namespace="hobby").keys[0].key, namespace="hobby")
    memento.living.decay(namespace="hobby")
    memento.export(tmp_path / "hobby.trig", namespace="hobby")
    with opened(tmp_path / "other") as other:
        other.intake.import_rdf(tmp_path / "hobby.trig", namespace="arts")
        [key] = [one.key for one in other.keys.find("apple", namespace="arts").keys]
        [row] = other.keys.read(key, namespace="arts").memories

        assert (row.weight, row.depth) == (1.1, 0.05)
        assert [path.relations for path in other.living.trace(row.memory, namespace="arts")] == [("beside",)]
        assert len(other.service.stores.indexes.fadings.decay_of(other.context.scope("arts").graph).marks) == 1
        assert other.admin.check() == ()


def test_what_cannot_be_is_refused_by_name(memento: Memento) -> None:
    tea, cat = told(memento, "I like tea."), told(memento, "I own a cat.")
    mistakes: list[tuple[Callable[[], object], str]] = [
        (lambda: memento.living.associate(tea, cat, weight=2), "weight must be from 0 to 1, not 2"),
        (lambda: memento.living.associate(tea, tea), "cannot lead to itself"),
        (lambda: memento.living.associate(tea, cat, relation=" "), "relation must be a word"),
        (lambda: memento.living.trace(tea, depth=9), "depth must be from 1 to 6"),
        (lambda: memento.living.activate([]), "at least one memory"),
        (lambda: memento.living.activate([tea], steps=0), "steps must be"),
        (lambda: memento.living.activate([tea], threshold=2), "threshold must be"),
        (lambda: memento.living.decay(half_life_days=0), "above 0, not 0"),
    ]
    for wrong, says in mistakes:
        with pytest.raises(InputError, match=says):
            wrong()
    strangers: list[Callable[[], object]] = [
        lambda: memento.living.strength("urn:x"),
        lambda: memento.living.feedback("urn:x", helped=True),
        lambda: memento.living.associate(tea, "urn:x"),
    ]
    for lost in strangers:
        with pytest.raises(NotFound, match="<urn:x>"):
            lost()


def aged(memento: Memento, iri: IRI, at: datetime) -> None:
    """As if the memory had been told then and not been touched since."""
    from memento.model import Change

    graph = memento.context.scope(None).graph
    memento.service.stores.commit(
        Change(((iri, MEM.energy, 0.5, graph), (iri, MEM.energyAt, at, graph))),
        memento.context.scope(None),
    )


def spent(memento: Memento, iri: IRI) -> None:
    """As if it had no energy left."""
    from memento.model import Change

    graph = memento.context.scope(None).graph
    before = [quad for quad in memento.service.stores.graph.quads(graph) if quad[0] == iri and quad[1] == MEM.energy]
    memento.service.stores.commit(Change(((iri, MEM.energy, 0.0, graph),), tuple(before)), memento.context.scope(None))


def test_what_matters_is_not_archived_whether_or_not_it_was_read(memento: Memento) -> None:
    keep = memento.keys.remember("The safe opens at nine.", importance=0.9).saved
    read = memento.keys.remember("The garden gate is green.", importance=0.9).saved
    let = memento.keys.remember("The kettle is blue.", importance=0.2).saved
    memento.keys.read_memory(read)
    memento.service.reinforcement.write_effects()
    for iri in (keep, read, let):
        spent(memento, iri)

    assert set(memento.living.archive().memories) == {let}
    assert {one.iri for one in memento.living.list_archived()} == {let}
    assert memento.living.list_archived()[0].archived_at is not None
    assert [one["id"] for one in memento.living.evaluate("(archived)").values[0]] == [
        one.iri for one in memento.living.list_archived()
    ]
    memento.living.unarchive(let)
    assert memento.living.list_archived() == ()


def test_what_fades_is_listed_with_its_energy_and_day_and_what_is_marked_no_longer(memento: Memento) -> None:
    memento.note("I am allergic to penicillin.")
    allergy = memento.list()[0].iri
    clay = memento.keys.remember("Ruben bought a bag of clay.", importance=0.2).saved
    vault = memento.keys.remember("The safe opens at nine.", importance=0.9).saved
    before = now()
    first, second = memento.living.list_fading()

    assert (first.iri, second.iri) == (clay, allergy)
    assert (first.content, second.content) == ("Ruben bought a bag of clay.", "I am allergic to penicillin.")
    assert [first.energy, second.energy] == pytest.approx([0.2, 0.5], abs=1e-4)
    # .2 is halved twice, .5 is halved log2(10) times, every seven days.
    assert first.archived_on is not None and second.archived_on is not None
    assert (first.archived_on - before) / timedelta(days=1) == pytest.approx(14, abs=0.01)
    assert (second.archived_on - before) / timedelta(days=1) == pytest.approx(23.25, abs=0.01)
    assert memento.living.list_fading(limit=1, offset=1)[0].iri == allergy

    memento.review.mark(allergy, importance=0.9)
    for iri in (allergy, clay, vault):
        spent(memento, iri)
    assert [(one.iri, one.energy) for one in memento.living.list_fading()] == [(clay, 0.0)]
    assert memento.living.archive().memories == (clay,)
    assert allergy in [one.iri for one in memento.recall("What am I allergic to?").memories]
    assert memento.living.evaluate("(fading)").values == ([],)


def test_in_the_ranking_that_is_named_living_energy_moves_memories(memento: Memento) -> None:
    one, other = (memento.keys.remember(f"The {animal} sleeps in the garden.").saved for animal in ("cat", "dog"))
    plain = [memory.iri for memory in memento.recall("Who sleeps in the garden?", gate=False).memories]
    last = plain[-1]
    for _ in range(5):
        memento.living.feedback(plain[0], False)
        memento.living.feedback(last, True)
    living = [
        memory.iri for memory in memento.recall("Who sleeps in the garden?", gate=False, profile="living").memories
    ]

    assert set(plain) == {one, other}
    assert living == plain[::-1]
    assert [memory.iri for memory in memento.recall("Who sleeps in the garden?", gate=False).memories] == plain


def test_what_a_model_asks_for_over_mcp_counts_as_used(memento: Memento) -> None:
    tea = told(memento, "I like tea.")
    memento.recall("What do I like?", counts=True)
    memento.with_access(Access(right="read")).recall("What do I like?", counts=True)

    assert memento.living.strength(tea).access_count == 1
