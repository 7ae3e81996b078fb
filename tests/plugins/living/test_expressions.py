"""Expressions over a real memory: what each verb does, what it may not, and that the memory round-trips through one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import OFFLINE
from memento.access import Access
from memento.errors import Forbidden, InputError, NotFound, ShapeViolation, TooLong
from memento.iris import data_iri
from memento.operations.care import Export
from memento.plugins.living.settings import SexprSettings
from memento.plugins.living.sexpr.forms import read_forms
from memento.plugins.living.sexpr.verbs import VERBS, table
from memento.python import Memento, open_memento
from memento.service.handlers.care import export_pieces
from memento.settings import Settings


def value(memento: Memento, expression: str, namespace: str | None = None) -> Any:
    return memento.living.evaluate(expression, namespace=namespace).values[-1]


def kept(memento: Memento, text: str, *more: str) -> str:
    return str(value(memento, f'(remember "{text}" {" ".join(more)})')["id"])


def opened(home: Path, settings: Settings = OFFLINE) -> Memento:
    found = open_memento(home, configured=settings)
    assert isinstance(found, Memento)
    return found


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Memento]:
    with opened(tmp_path / "other") as found:
        yield found


def test_what_is_remembered_is_recalled_with_its_type_its_tags_and_a_score(memento: Memento) -> None:
    made = value(memento, '(remember "USER drinks tea at four." "event" 0.9 "30d" (list "Habit" "Tea time"))')
    [found] = value(memento, '(recall "TEA")')

    assert made == {"id": found["id"], "repeated": False}
    assert (found["content"], found["type"], found["tags"]) == (
        "USER drinks tea at four.",
        "event",
        ["habit", "tea time"],
    )
    assert found["activation"] == 1.0
    assert found["score"] == pytest.approx(0.6 + 0.25 + 0.15 * 0.9, abs=1e-4)
    assert memento.living.strength(made["id"]).energy == pytest.approx(0.9)
    assert memento.admin.check() == ()


def test_a_tag_leads_to_its_memories_and_so_does_an_association(memento: Memento) -> None:
    first = kept(memento, "The harbour lies to the south.", '"fact" 0.5 nil (list "Lisbon")')
    second = kept(memento, "Ferries leave at noon.")
    alone = value(memento, '(recall "lisbon")')
    value(memento, f'(associate "{first}" "{second}" "leads to" 0.8)')
    both = value(memento, '(recall "lisbon")')

    assert [one["id"] for one in alone] == [first]
    assert {one["id"]: one["activation"] for one in both} == {first: 1.0, second: pytest.approx(1.0)}
    assert value(memento, '(recall "marmalade")') == []


def test_what_is_remembered_is_reached_over_the_names_and_tags_that_it_shares(memento: Memento) -> None:
    winds = kept(memento, "Moss Ferrier winds the tower clock.")
    uncle = kept(memento, "The tower clock came from Moss Ferrier's uncle in Ghent.")
    pipes = kept(memento, "The pipes need tin.", '"fact" 0.5 nil (list "organ")')
    bellows = kept(memento, "One of the bellows leaks.", '"fact" 0.5 nil (list "Organ" "repairs")')
    roof = kept(memento, "A slater mends the roof.", '"fact" 0.5 nil (list "repairs")')
    kept(memento, "The museum opens at ten.", '"fact" 0.5 nil (list "opening")')

    assert [one["id"] for one in value(memento, '(recall "winds")')] == [winds, uncle]
    assert {one["id"] for one in value(memento, '(recall "pipes")')} == {pipes, bellows}
    active = value(memento, f'(activate (list "{pipes}") 4 0.85 0.01)')
    assert [(one["id"]) for one in active] == [pipes, bellows, roof]
    assert active[1]["activation"] > active[2]["activation"]


def test_a_name_is_shared_by_what_was_noted_and_what_was_remembered(memento: Memento) -> None:
    [noted] = memento.note("Anna Meyer plays chess.").memories
    kept(memento, "The clock was a present of Anna Meyer.")

    assert [one["content"] for one in value(memento, '(recall "chess")')] == [
        "Anna Meyer plays chess.",
        "The clock was a present of Anna Meyer.",
    ]
    assert noted in {one["id"] for one in value(memento, '(recall "present")')}


def test_what_nearly_all_share_leads_nowhere(memento: Memento) -> None:
    for number in range(20):
        kept(memento, f"Box {number} holds the part {number * 7}.", '"fact" 0.5 nil (list "stock")')

    assert len(value(memento, '(recall "Box 3 ")')) == 1


def test_a_recall_counts_as_use_and_deepens_nothing(memento: Memento) -> None:
    iri = kept(memento, "USER likes tea.")
    value(memento, '(recall "tea")')
    value(memento, '(recall "tea")')
    strength = memento.living.strength(iri)

    assert (strength.access_count, strength.depth) == (2, 0.0)
    assert strength.last_accessed_at is not None


def test_feedback_and_associations_follow_their_laws(memento: Memento) -> None:
    first, second = kept(memento, "USER likes tea.", '"fact" 0.8'), kept(memento, "Acme sells kettles.")
    drawn = value(memento, f'(associate "{first}" "{second}" "similar" 0.8)')
    again = value(memento, f'(associate "{first}" "{second}" "similar" 0.8)')
    helped = value(memento, f'(feedback "{first}" "success")')
    misled = value(memento, f'(feedback "{first}" "fail")')

    assert (drawn["weight"], again["weight"]) == (0.8, pytest.approx(0.88))
    assert helped["energy"] == pytest.approx(0.88)
    assert misled["energy"] == pytest.approx(0.792)
    assert (misled["success"], misled["fail"], misled["usefulness"]) == (1, 1, 0.5)
    [path] = value(memento, f'(trace "{first}" 2)')
    assert (path["path"], path["relations"]) == ([first, second], ["similar"])


def test_what_failed_five_times_ranks_below_its_equal(memento: Memento) -> None:
    first, second = kept(memento, "USER likes green tea."), kept(memento, "Bob sells black tea in Porto.")
    for _ in range(5):
        value(memento, f'(feedback "{second}" "fail")')
    lower = [one["id"] for one in value(memento, '(recall "tea")')]
    for _ in range(10):
        value(memento, f'(feedback "{first}" "fail")')

    assert lower.index(second) > lower.index(first)
    assert [one["id"] for one in value(memento, '(recall "tea")')].index(first) > 0


def test_energies_fade_once_and_what_has_none_is_archived_and_comes_back(memento: Memento) -> None:
    iri = kept(memento, "USER likes tea.", '"fact" 0.04')
    kept(memento, "Acme sells kettles.", '"fact" 0.9')
    faded = value(memento, "(decay! 7)")
    tried = value(memento, "(consolidate true)")
    done = value(memento, "(consolidate)")
    gone = value(memento, '(recall "tea")')
    value(memento, f'(unarchive "{iri}")')

    assert (faded["half_life_days"], faded["memories"]) == (7.0, 2)
    assert (tried["pruned"], tried["dry_run"]) == (1, True)
    assert done["memories"] == [iri]
    assert gone == []
    assert [one["id"] for one in value(memento, '(recall "tea")')] == [iri]


def test_expressions_nest_and_the_last_value_is_printed(memento: Memento) -> None:
    memento.note("I live in Lisbon.")
    found = memento.living.evaluate('(stats) (feedback (get (first (recall "lisbon")) "id") "success") ; and thanks')

    assert len(found.values) == 2
    assert found.calls == 5
    assert found.text.startswith('((id "urn:memento:memory:')
    assert read_forms(found.text)
    assert value(memento, '(get (stats) "memories")') == 1


def test_statistics_count_what_was_remembered_after_the_last_map(memento: Memento) -> None:
    assert value(memento, '(get (stats) "memories")') == 0
    for name in ("oak", "elm"):
        value(memento, f'(remember "The {name} stands by the gate." "event" 0.5 "30d" (list "{name}"))')
    found = value(memento, "(stats)")

    assert found["memories"] == 2
    assert sorted(one["name"] for one in found["tags"]) == ["elm", "oak"]


def test_sparql_gives_rows_truth_and_turtle_and_changes_nothing(memento: Memento) -> None:
    memento.note("I live in Lisbon.")
    asked = "SELECT ?c { ?m a <http://purl.org/memento/Memory> ; <http://purl.org/memento/content> ?c }"

    assert value(memento, f'(sparql "{asked}")') == [{"c": "I live in Lisbon."}]
    assert value(memento, '(sparql "ASK { ?s ?p ?o }")') is True
    assert "Lisbon" in value(memento, '(sparql "CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }")')
    with pytest.raises(Forbidden, match=r"line 1, column 1: sparql: .*\(sparql query\)"):
        value(memento, '(sparql "DELETE WHERE { ?s ?p ?o }")')


def test_text_never_becomes_a_query(memento: Memento) -> None:
    memento.note("I live in Lisbon.")
    evil = r"\") } ; DROP ALL ; INSERT DATA { <urn:a> <urn:b> \""
    kept(memento, evil)

    assert [one["content"] for one in value(memento, f'(recall "{evil}")')] == [evil.replace('\\"', '"')]
    assert value(memento, '(recall "lisbon")')


def test_a_reader_evaluates_reading_verbs_alone_and_nothing_runs_before_that_is_known(memento: Memento) -> None:
    memento.note("I live in Lisbon.")
    reader = memento.with_access(Access(right="read", name="reader"))

    assert value(reader, '(recall "lisbon")')
    for writes in (
        '(remember "x")',
        '(recall "lisbon") (remember "x")',
        "(list (list (decay!)))",
        '(set-policy "p" (stats))',
    ):
        with pytest.raises(Forbidden, match="right to write"):
            value(reader, writes)
    memento.living.evaluate('(set-policy "p" (remember "USER likes tea."))')
    with pytest.raises(Forbidden, match="right to write"):
        value(reader, '(run "p")')
    with pytest.raises(Forbidden):
        memento.with_access(Access(namespaces=("work",), right="write")).living.evaluate("(stats)", namespace="home")


def test_a_policy_is_kept_listed_run_and_paid_for(memento: Memento) -> None:
    memento.note("I live in Lisbon.")
    value(memento, '(set-policy "home" (get (first (recall "lisbon")) "content"))')
    value(memento, '(set-policy "again" (run "again"))')

    assert value(memento, '(run "home")') == "I live in Lisbon."
    assert value(memento, '(policy "home")') == '(get (first (recall "lisbon")) "content")'
    assert list(value(memento, "(policies)")) == ["again", "home"]
    assert memento.admin.check() == ()
    value(memento, '(set-policy "home" "(stats)")')
    assert value(memento, '(policy "home")') == "(stats)"
    with pytest.raises(InputError, match="does a policy run itself"):
        value(memento, '(run "again")')
    with pytest.raises(NotFound, match=r"column 1: run: there is no policy 'none'.*there are again, home"):
        value(memento, '(run "none")')
    with pytest.raises(InputError, match="unknown verb"):
        value(memento, '(set-policy "wrong" (forgive "all"))')


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ('(remember "x")\n  (forgive "y")', r"line 2, column 4: unknown verb forgive"),
        (
            '(remember "x" "fact" "very")',
            r"column 22: importance of remember is a number: \(remember text \[type=\"fact\"\]",
        ),
        ("(recall)", r"line 1, column 1: recall takes 1 to 2 values, not 0: \(recall query \[limit=10\]\)"),
        ('(remember "x" "fact" 1 "soon")', r"ttl is a number and one of ms, s, m, h, d, w"),
        ('(feedback "urn:x" "well")', r'outcome is "success" or "fail"'),
        ('(item "no iri")', r"line 1, column 1: item: "),
        ('(recall "x" 1000)', r"limit must be from 1 to 100"),
        ("", "there is no expression"),
    ],
)
def test_a_mistake_is_told_with_its_place_and_the_signature_and_nothing_is_written(
    memento: Memento, expression: str, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        memento.living.evaluate(expression)
    assert memento.list() == ()


@pytest.mark.parametrize(
    ("refused", "said"),
    [
        ('(associate "urn:x" "urn:y" "a" 2)', r"line 2, column 3: associate: weight must be from 0 to 1, not 2"),
        ('(associate "urn:x" "urn:y" "a" 0.5)', r"line 2, column 3: associate: there is no memory <urn:x>"),
        ('(associate "no iri" "urn:y")', r"no IRI"),
        ('(associate "urn:x" "urn:y" " ")', r"relation must not be empty"),
        ('(remember " ")', r"content must not be empty"),
        ('(remember "x" "fact" 1 "soon")', r"ttl is a number and one of"),
        ('(feedback "urn:x" "well")', r'outcome is "success" or "fail"'),
        ('(feedback "urn:x" "fail")', r"no memory <urn:x>"),
        ('(item "urn:x")', r"no memory <urn:x>"),
        ('(trace "urn:x" 7)', r"depth must be from 1 to 6"),
        ('(activate (list "urn:x") 11)', r"steps must be from 1 to 10"),
        ("(decay! 0)", r"the half-life must be a number of days above 0"),
        ('(recall "x" 0)', r"limit must be from 1 to 100"),
    ],
)
def test_what_a_later_form_states_is_checked_before_an_earlier_one_writes(
    memento: Memento, refused: str, said: str
) -> None:
    with pytest.raises((InputError, NotFound), match=said):
        memento.living.evaluate(f'(list (remember "Half.")\n  {refused})')
    assert memento.list() == ()


def test_what_a_snapshot_brings_can_be_named_in_the_same_text(memento: Memento, other: Memento) -> None:
    iri = kept(memento, "Organ pipes are of tin.")
    other.living.evaluate(memento.living.evaluate("(snapshot)").text + f'(feedback "{iri}" "success")')

    assert other.living.strength(iri).success_count == 1


def test_fuel_depth_and_length_are_settings(tmp_path: Path) -> None:
    small = OFFLINE.having(SexprSettings(fuel=3, depth=2, chars=100))
    with opened(tmp_path / "small", small) as memento:
        with pytest.raises(InputError, match="more than 3 calls"):
            memento.living.evaluate("(list) (list) (list) (list)")
        with pytest.raises(InputError, match="nested deeper than 2"):
            memento.living.evaluate("(list (list (list)))")
        with pytest.raises(TooLong, match="at most 100"):
            memento.living.evaluate(f'(recall "{"x" * 100}")')


def test_the_whole_memory_round_trips_through_an_expression(memento: Memento, other: Memento) -> None:
    memento.note("I work at Google.", at="2024-01-08", session="s", position=0)
    memento.note("I moved to Microsoft.", at="2025-01-08")
    memento.note('She said "olé", \\ and\nleft.', namespace="work")
    iri = kept(memento, "USER likes tea.", '"fact" 0.7 "30d" (list "habit")')
    memento.living.feedback(iri, helped=True)
    memento.living.associate(iri, memento.list()[-1].iri)
    memento.living.evaluate('(decay! 3) (set-policy "p" (stats))')
    free = data_iri("local", "company")
    memento.graphs.put(b'<urn:a> <urn:b> "x"@en, 3, <urn:c>, [ <urn:d> 1.5 ] .', free)
    text = memento.living.evaluate("(snapshot)").text
    told = other.living.evaluate(text).values[0]

    assert told["added"] == told["statements"] > 50
    assert quads(other) == quads(memento)
    assert other.living.evaluate("(snapshot)").text.count("\n") == text.count("\n")
    assert other.admin.check() == ()
    assert other.living.evaluate(text).values[0]["added"] == 0
    assert value(other, '(run "p")')["memories"] == value(memento, "(stats)")["memories"]


def test_a_snapshot_goes_back_into_a_memory_that_was_used_since(memento: Memento) -> None:
    iri = kept(memento, "Organ pipes are of tin.", '"fact" 0.5 nil (list "organ")')
    text = memento.living.evaluate("(snapshot)").text
    memento.living.evaluate(f'(recall "organ") (feedback "{iri}" "success")')
    told = memento.living.evaluate(text).values[0]

    assert (told["added"], told["memories"]) == (0, 0)
    assert (memento.living.strength(iri).access_count, memento.living.strength(iri).success_count) == (1, 1)
    assert memento.admin.check() == ()


def test_a_snapshot_of_one_namespace_has_nothing_of_another(memento: Memento, other: Memento) -> None:
    memento.note("I live in Lisbon.", namespace="home")
    memento.note("I work at Acme.", namespace="work")
    text = memento.living.evaluate("(snapshot true)", namespace="work").text
    other.living.evaluate(text)

    assert "I live in" not in text  # the user, whom all namespaces share, is in it
    assert [one.content for one in other.list(namespace="work")] == ["I work at Acme."]


def test_a_snapshot_is_loaded_within_rights_and_shapes(memento: Memento) -> None:
    reader = memento.with_access(Access(right="read", name="reader"))
    graph = '(graph "urn:memento:graph:local:main" ("urn:memento:memory:1" (a mem:Memory) (mem:content "x" "y")))'

    with pytest.raises(Forbidden):
        reader.living.evaluate(f"(load {graph})")
    with pytest.raises(ShapeViolation):
        memento.living.evaluate(f"(load {graph})")
    with pytest.raises(InputError, match=r"^line 1, column 31: this must be"):
        memento.living.evaluate('(load (graph "urn:x" ("urn:s" "p")))')
    assert memento.list() == ()


def quads(memento: Memento) -> set[str]:
    lines = b"".join(export_pieces(Export("-", "nquads"), memento.context).pieces).decode().splitlines()
    import re

    return {re.sub(r"_:\w+", "_:b", line) for line in lines if line}


def test_the_page_has_the_table_of_the_verbs() -> None:
    page = (Path(__file__).parents[3] / "docs" / "sexpr.md").read_text(encoding="utf-8")

    assert f"<!-- verbs -->\n\n{table()}\n<!-- /verbs -->" in page


def test_every_verb_says_what_it_does_and_its_signature_is_an_expression() -> None:
    for verb in VERBS.values():
        assert verb.does.endswith(".")
        assert read_forms(verb.signature.replace("[", "").replace("]", "").replace("…", ""))
