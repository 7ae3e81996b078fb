"""Memories that are sorted: tags by rules and by hand, containers, sources; and recall, lists and exports of some of them alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient

from conftest import OFFLINE
from kept import keep
from memento.access import Access
from memento.errors import InputError, NotFound
from memento.interfaces.cli import main
from memento.interfaces.mcp.core_tools import NoteArguments, RecallArguments, note, recall
from memento.interfaces.mcp.tools import Reach, Told
from memento.interfaces.web.app import create_app
from memento.iris import MEM, SKOS, TYPE, tag_iri
from memento.operations.base import FILTERS
from memento.python import Memento, open_memento
from memento.rank import age_importance

NOTES: tuple[dict[str, Any], ...] = (
    {"content": "I decided to paint the kitchen green.", "at": "2024-02-01", "tags": ["House"], "container": "home"},
    {"content": "Ana wants the kitchen floor in oak.", "at": "2024-05-01", "tags": ["house", "wishes"]},
    {"content": "The kitchen of the office is closed.", "at": "2025-01-10", "container": "work", "priority": "low"},
)
IMPORTED = [{"content": "The kitchen lamp is from Oslo.", "at": "2023-01-01T00:00:00Z", "tags": ["house"]}]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memento]:
    """A memory with three notes and an imported row in `main`, which no test writes to; the last test writes to `__global__`."""
    opened = open_memento(tmp_path_factory.mktemp("sorting"), configured=OFFLINE)
    assert isinstance(opened, Memento)
    with opened:
        for one in NOTES:
            opened.note(**one)
        opened.intake.import_notes(IMPORTED)
        opened.note("I like rain.", tags=["mood"], namespace="apart")
        yield opened


@pytest.fixture(scope="module")
def web(memory: Memento) -> Iterator[FlaskClient]:
    with create_app(memory.service).test_client() as client:
        yield client


WANTED: dict[str, tuple[dict[str, Any], set[str]]] = {
    "tag": ({"tags": ["wishes"]}, {"Ana"}),
    "any of some tags": ({"tags": ["decision", "wishes"]}, {"paint", "Ana"}),
    "container": ({"container": "work"}, {"office"}),
    "source": ({"source": "import"}, {"Oslo"}),
    "what was said on purpose": ({"source": "explicit"}, {"paint", "Ana", "office"}),
    "after": ({"after": "2025-01-01"}, {"office"}),
    "a span": ({"after": "2024-01-01", "before": "2025-01-01"}, {"paint", "Ana"}),
    "entity": ({"entity": "Ana"}, {"Ana"}),
    "all together": ({"tags": ["house"], "after": "2024-01-01", "entity": "me"}, {"paint"}),
    "nothing": ({"tags": ["house"], "container": "work"}, set()),
}
SIGNS = ("paint", "Ana", "office", "Oslo")


def signs_of(texts: Any) -> set[str]:
    return {sign for text in texts for sign in SIGNS if sign in text}


@pytest.mark.parametrize(("only", "expected"), WANTED.values(), ids=WANTED)
def test_the_same_memories_are_listed_recalled_and_exported_at_every_interface(
    only: dict[str, Any], expected: set[str], memory: Memento, web: FlaskClient, tmp_path: Path
) -> None:
    question = "What is there to know of the kitchen?"
    recalled = memory.recall(question, gate=False, **only)
    memory.export(tmp_path / "rows.jsonl", **only)
    over_http = web.get("/memory/recall", query_string={"query": question, "gate": "false", **only})
    listed = web.get("/memory/list", query_string=only)
    exported = web.get("/memory/export", query_string={"format": "jsonl", **only})
    of_tool = {name: value for name, value in only.items() if name in RecallArguments.__struct_fields__}
    asked = recall(Reach(memory=memory, namespace=None), RecallArguments(query=question, **of_tool))

    assert signs_of(one.content for one in memory.list(**only)) == expected
    assert signs_of(one.content for one in memory.keys.list_memories(**only)) == expected
    assert signs_of(one.content for one in recalled.memories) == expected
    assert signs_of([(tmp_path / "rows.jsonl").read_text()]) == expected
    assert signs_of(one["content"] for one in over_http.get_json()["memories"]) == expected
    assert signs_of(one["content"] for one in listed.get_json()) == expected
    assert signs_of([exported.text]) == expected
    assert isinstance(asked, Told)
    if of_tool == only:  # a model cannot choose by container or source
        assert signs_of([asked.text]) <= expected


def test_an_expression_and_a_command_take_the_same_filters(memory: Memento) -> None:
    [values] = memory.living.evaluate('(search "What of the kitchen?" 10 "hybrid" (list "house") "home")').values
    shown = CliRunner().invoke(main, ["export", "--help"]).output

    assert signs_of(one["content"] for one in values) == {"paint"}
    assert all(f"--{'tag' if name == 'tags' else name}" in shown for name in FILTERS)


def test_a_filter_is_applied_before_the_cut_so_that_k_memories_come(memory: Memento) -> None:
    best = memory.recall("Is the office kitchen closed?", k=1, gate=False).memories
    filtered = memory.recall("Is the office kitchen closed?", k=1, gate=False, tags=["wishes"]).memories

    assert signs_of(one.content for one in best) == {"office"}
    assert signs_of(one.content for one in filtered) == {"Ana"}


def test_an_explained_recall_of_some_memories_says_a_query_for_the_same(memory: Memento) -> None:
    found = memory.recall("What of the kitchen?", gate=False, container="home", explain=True)
    assert found.sparql
    answer, _ = memory.graphs.query_bytes(found.sparql, "application/sparql-results+json")
    rows = json.loads(answer)["results"]["bindings"]

    assert {row["memory"]["value"] for row in rows} == {one.iri for one in found.memories}


@pytest.mark.parametrize(
    ("mode", "text", "tags"),
    [
        ("published", "The architecture is hexagonal.", ("architecture",)),
        ("published", "The payment service is one layer above.", ("architecture",)),
        ("published", "Der Fehler liegt im Filter.", ("error",)),
        ("published", "I like tea.", ("conversation",)),
        ("on", "Wir haben entschieden, dass die Küche grün wird.", ("decision",)),
        ("on", "The architecture is Gothic.", ()),
        ("off", "Wir haben entschieden, dass die Küche grün wird.", ()),
    ],
)
def test_a_note_gets_the_tags_of_the_signs_that_the_setting_allows(
    mode: Literal["on", "published", "off"], text: str, tags: tuple[str, ...], tmp_path: Path
) -> None:
    consolidation = replace(OFFLINE.consolidation, tag_rules=mode)
    opened = open_memento(tmp_path, configured=replace(OFFLINE, consolidation=consolidation))
    assert isinstance(opened, Memento)
    with opened:
        opened.note(text)
        [told] = opened.recall(text, gate=False).memories
        saved = keep(opened, f"{text} ", namespace="saved")
        [kept] = opened.recall(text, gate=False, namespace="saved", k=1).memories

        assert told.tags == kept.tags == tags
        assert {one.tag for one in opened.review.tags(namespace="saved", alone=True)} == set(tags) and saved


def test_tags_are_skos_concepts_in_the_graph_and_those_of_rules_say_what_they_mean(memory: Memento) -> None:
    graph = memory.service.default_scope.graph
    said = {
        (q.predicate.value, getattr(q.object, "value", "")) for q in memory.service.stores.graph.match(tag_iri("house"))
    }
    counted = {one.tag: (one.count, bool(one.meaning)) for one in memory.review.tags()}

    [wish] = memory.service.stores.graph.select("library/tagged", [graph], tag=tag_iri("wishes"))
    assert {(TYPE, MEM.Tag), (TYPE, SKOS.Concept), (MEM.name, "house"), (SKOS.prefLabel, "house")} <= said
    assert counted == {"house": (3, False), "decision": (1, True), "wishes": (1, False)}
    assert {*str(wish["tags"]).split(", ")} == {"house", "wishes"}


def test_a_tag_and_a_container_are_given_by_a_tool_and_by_a_command(memory: Memento, tmp_path: Path) -> None:
    told = note(
        Reach(memory=memory, namespace="tool"),
        NoteArguments(content="I sold the boat.", confirmed=True, tags=("sea",), container="club"),
    )
    runner = CliRunner(env={"MEMENTO_EMBEDDING_MODEL": "trigram"})
    run = runner.invoke(
        main, ["--home", str(tmp_path / "other"), "note", "I sold the bike.", "--tag", "road", "--container", "club"]
    )
    shown = runner.invoke(main, ["--home", str(tmp_path / "other"), "list", "--tag", "road", "--container", "club"])

    assert isinstance(told, Told)
    assert len(memory.list(tags=["sea"], container="club", namespace="tool")) == 1
    assert run.exit_code == 0, run.output
    assert "I sold the bike" in shown.output


def test_tags_container_and_importance_change_afterwards_and_the_filters_follow(memory: Memento) -> None:
    made = memory.note("I keep bees.", tags=["animals", "old"], namespace="marked")
    [after] = memory.review.mark(made.memories[0], ["garden"], ["Old"], "attic", 0.25, namespace="marked")
    [of_note] = memory.review.mark(str(made.note), container="", namespace="marked")

    assert (after.tags, after.container, after.importance) == (("animals", "garden"), "attic", 0.25)
    assert (of_note.tags, of_note.container) == (("animals", "garden"), None)
    assert [one.iri for one in memory.list(tags=["garden"], namespace="marked")] == [after.iri]
    assert memory.list(tags=["old"], namespace="marked") == memory.list(container="attic", namespace="marked") == ()
    assert memory.living.strength(after.iri, namespace="marked").importance == 0.25


def test_a_mark_of_nothing_or_on_nothing_is_refused_by_name(memory: Memento) -> None:
    [one] = memory.list(namespace="apart", tags=["mood"])

    with pytest.raises(InputError, match="give tags, untag, container or importance"):
        memory.review.mark(one.iri, namespace="apart")
    with pytest.raises(NotFound, match="urn:memento:memory:none"):
        memory.review.mark("urn:memento:memory:none", ["x"], namespace="apart")
    with pytest.raises(NotFound, match="Zeppelin"):
        memory.list(entity="Zeppelin")


def test_importance_is_the_published_formula_and_its_age_is_counted_when_it_is_used(memory: Memento) -> None:
    decided, wish, office = (
        next(one.iri for one in memory.list() if sign in one.content) for sign in ("paint", "Ana", "office")
    )
    imported = next(one.iri for one in memory.list() if "Oslo" in one.content)
    numbers = {iri: memory.living.strength(iri) for iri in (decided, wish, office, imported)}

    # source · weightiest tag · priority: a note is given with a high one, a row with a normal one.
    assert [one.importance for one in numbers.values()] == [1.0, 0.5, 0.2, 0.28]
    assert numbers[decided].effective_importance == pytest.approx(1.0, abs=1e-6)
    assert age_importance(1.0, 346.2) == pytest.approx(0.5, abs=1e-3)


def test_a_correction_keeps_tags_container_and_importance(memory: Memento) -> None:
    made = memory.note("I rent a garage in Faro.", tags=["rent"], container="home", namespace="corrected")
    memory.review.mark(made.memories[0], importance=0.9, namespace="corrected")
    better = memory.correct(made.memories[0], "USER rents a garage in Olhão.", namespace="corrected")

    [found] = memory.list(tags=["rent"], container="home", namespace="corrected")
    assert found.iri == better.memories[0]
    assert memory.living.strength(found.iri, namespace="corrected").importance == 0.9


def test_what_is_sorted_is_found_again_by_a_memory_that_is_opened_again(tmp_path: Path) -> None:
    for wanted in (0, 1):
        with open_memento(tmp_path / "home", configured=OFFLINE) as opened:
            assert isinstance(opened, Memento)
            if not wanted:
                opened.intake.import_notes([{"content": "I like figs.", "tags": ["fruit"], "container": "pantry"}])
            found = opened.list(tags=["fruit"], container="pantry", source="import")
            assert len(found) == 1
            assert not (wanted and opened.admin.check())


@pytest.mark.parametrize("name", ["some.trig", "some.jsonl", "some.csv", "some.md"])
def test_an_export_of_some_memories_makes_the_same_ones_elsewhere_and_names_no_other(
    name: str, memory: Memento, tmp_path: Path
) -> None:
    memory.export(tmp_path / name, tags=["house"], after="2024-01-01")
    text = (tmp_path / name).read_text()
    with open_memento(tmp_path / "other", configured=OFFLINE) as other:
        other.intake.import_rdf(tmp_path / name)
        taken = other.list(tags=["house"])

        assert {one.content for one in taken} == {
            one.content for one in memory.list(tags=["house"], after="2024-01-01")
        }
        assert len(other.list()) == len(taken) == 2
        assert "office" not in text
        assert "Oslo" not in text
        assert [one.content for one in other.list(container="home")] == [
            one.content for one in memory.list(container="home")
        ]
        assert other.living.strength(other.list(container="home")[0].iri).importance == 1.0


def test_rows_that_say_their_tags_wrongly_are_refused_with_their_place(web: FlaskClient) -> None:
    wrong = web.post("/memory/import", data=b'{"content": "a", "tags": 3}')
    other = web.post("/memory/import", data=b'{"content": "a", "priority": "huge"}')

    assert (wrong.status_code, "line 1: tags must be a list of texts" in wrong.text) == (400, True)
    assert (other.status_code, "line 1: priority must be one of low, normal, high" in other.text) == (400, True)


def test_a_query_of_tags_answers_over_sparql(memory: Memento) -> None:
    answer, _ = memory.graphs.query_bytes("SELECT ?t WHERE { ?m <http://purl.org/memento/tagged> ?t }", "text/csv")

    assert str(tag_iri("wishes")).encode() in answer


def test_what_is_global_is_read_from_every_namespace_by_whoever_may_see_it(memory: Memento) -> None:
    memory.note("I am allergic to walnuts.", namespace="__global__")
    tokens = {name: Access(namespaces=(name, "apart")) for name in ("work", "__global__")}
    seen = {
        name: [one.content for one in memory.with_access(access).list(namespace="apart")]
        for name, access in tokens.items()
    }

    assert "I am allergic to walnuts." in [one.content for one in memory.list(namespace="apart")]
    assert memory.recall("What am I allergic to?", namespace="nowhere", gate=False).memories
    assert not any("walnuts" in content for content in seen["work"])
    assert any("walnuts" in content for content in seen["__global__"])
