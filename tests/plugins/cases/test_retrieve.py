"""Which cases come back for a task, in which order, and what is kept of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from conftest import OFFLINE, at
from memento.access import Access
from memento.errors import Forbidden, InputError, NotFound, ReadOnly
from memento.iris import MEM, audit_iri, cases_iri, data_iri
from memento.model import CaseFound
from memento.plugins.cases.nouns import CaseRow
from memento.plugins.cases.settings import CasesSettings
from memento.ports import Vectors
from memento.python import Memento, open_memento
from memento.search.embedders import Trigram
from memento.settings import Settings

FILMS = [
    CaseRow(task=f"Which film came out first, {a} or {b}?", plan=f"1. Look up {a}. 2. Look up {b}.", outcome=outcome)  # type: ignore[arg-type]
    for a, b, outcome in (
        ("Alien", "Brazil", "success"),
        ("Casablanca", "Dune", "success"),
        ("Eraserhead", "Fargo", "success"),
        ("Gattaca", "Heat", "success"),
        ("Ikiru", "Jaws", "success"),
        ("Klute", "Lost", "failure"),
        ("Mulan", "Network", "failure"),
    )
]
RIVERS = [
    CaseRow(task="How long is the river Douro?", plan="1. Look it up.", outcome="success"),
    CaseRow(task="How long is the river Tejo?", plan="1. Guess.", outcome="partial"),
    CaseRow(task="How long is the river Minho?", plan="1. Ask.", reward=0.2),
    CaseRow(task="How long is the river Sado?", plan="1. Wait."),
]


def opened(path: Path, cases: CasesSettings) -> Memento:
    memento = open_memento(path / "home", configured=Settings(embedding=OFFLINE.embedding).having(cases))
    assert isinstance(memento, Memento)
    return memento


def tasks(found: Sequence[CaseFound]) -> list[str]:
    return [one.task for one in found]


def rows(memento: Memento, sparql: str, **seen: str) -> list[dict[str, str]]:
    body, _ = memento.graphs.query_bytes(
        f"PREFIX mem: <http://purl.org/memento/> PREFIX prov: <http://www.w3.org/ns/prov#> {sparql}"
    )
    return [{name: value["value"] for name, value in row.items()} for row in json.loads(body)["results"]["bindings"]]


def test_the_nearest_cases_come_first_and_four_of_each_kind_at_most(memento: Memento) -> None:
    memento.cases.add([*FILMS, *RIVERS])
    found = memento.cases.retrieve("Which film came out first, Alien or Brazil?")

    assert found.positives[0].task == FILMS[0].task
    assert found.positives[0].cosine == pytest.approx(1, abs=1e-5)
    assert (len(found.positives), len(found.negatives)) == (4, 2)  # the third failure is about a river
    assert [one.rank for one in found.positives] == [1, 2, 3, 4]
    assert [one.score for one in found.positives] == sorted((one.score for one in found.positives), reverse=True)
    assert (found.ranking, found.beta, found.domain) == ("cosine", 0, "main")
    assert len(memento.cases.retrieve("Which film?", k=1).positives) == 1


def test_failures_come_back_apart_and_what_nobody_judged_in_neither_section(memento: Memento) -> None:
    memento.cases.add(RIVERS)
    found = memento.cases.retrieve("How long is the river Sado?")

    assert sorted(tasks(found.positives)) == ["How long is the river Douro?", "How long is the river Tejo?"]
    assert tasks(found.negatives) == ["How long is the river Minho?"]
    assert [one.reward for one in found.negatives] == [0.2]


def test_without_pairs_the_order_is_that_of_the_cosine(memento: Memento) -> None:
    memento.cases.add(FILMS)
    found = memento.cases.retrieve("Which film came out first, Dune or Heat?", k=10)

    assert [one.score for one in found.positives] == [one.cosine for one in found.positives]
    assert "only 0 of 50 pairs" in found.reason


def test_a_domain_is_a_bank_of_its_own(memento: Memento) -> None:
    memento.cases.add(FILMS, domain="films")
    memento.cases.add(RIVERS, domain="rivers")

    assert memento.cases.retrieve("Which film?").positives == ()
    assert len(memento.cases.retrieve("Which film?", domain="films").positives) == 4
    assert {one.task for one in memento.cases.list(domain="rivers")} == {one.task for one in RIVERS}
    assert memento.cases.status().domains == ("films", "rivers")


def test_only_cases_of_a_time_come_back(memento: Memento) -> None:
    when = [at("2025-01-01"), at("2025-02-01"), at("2025-03-01")]
    memento.cases.add(
        [CaseRow(task=f"Task {n}", plan="1. Do.", outcome="success", at=day) for n, day in enumerate(when)]
    )

    assert tasks(memento.cases.retrieve("Task", since="2025-02-01").positives) == ["Task 1", "Task 2"]
    assert tasks(memento.cases.retrieve("Task", until="2025-02-01").positives) == ["Task 0"]
    assert memento.cases.retrieve("Task", since="2025-01-02", until="2025-01-03").positives == ()


def test_a_case_that_concerns_an_entity_of_the_task_is_ranked_however_far_its_words_are(tmp_path: Path) -> None:
    with opened(tmp_path, CasesSettings(candidates=1)) as memento:
        memento.note("I work at Google.")
        [google] = [one.iri for one in memento.graphs.entities()]
        memento.cases.add([*RIVERS, CaseRow(task="Book a room.", plan="1. Call.", outcome="success", about=(google,))])
        found = memento.cases.retrieve("How long is the river that Google is at?")

        assert set(tasks(found.positives)) == {"Book a room.", "How long is the river Tejo?"}
        [linked] = [one for one in found.positives if one.task == "Book a room."]
        assert linked.reason == "concerns 1 of the task's entities"
        assert linked.about == (google,)
        assert memento.admin.check() == ()


def test_a_case_is_linked_to_the_relationship_between_the_entities_that_its_task_names(memento: Memento) -> None:
    [told] = memento.note("Anna Meyer works at Siemens.").memories
    memento.note("Paul Klein lives in Berlin.")
    badge = CaseRow(task="Get Anna Meyer a badge for Siemens.", plan="1. Ask the porter.", outcome="success")
    chess = CaseRow(task="Find Anna Meyer a chess club.", plan="1. Call.", outcome="success")
    memento.cases.add([badge, chess])
    linked = rows(
        memento,
        """SELECT ?task ?relation { ?case a mem:Case ; mem:hasState/mem:content ?task ; mem:about ?relationship .
             ?relationship mem:relationName ?relation }""",
    )
    found = memento.cases.retrieve("Where at Siemens is the desk of Anna Meyer?")

    assert [(row["task"], row["relation"]) for row in linked] == [(badge.task, "work at")]
    assert found.positives[0].task == badge.task
    assert found.positives[0].reason.endswith("2 of the task's entities, and concerns 1 of the task's relationships")
    assert found.positives[1].reason.endswith("concerns 1 of the task's entities")
    assert memento.admin.check() == ()

    memento.forget(told, erase=True)
    left = {one.task: one.about for one in memento.cases.list()}
    assert [len(about) for about in (left[badge.task], left[chess.task])] == [2, 1]
    assert memento.admin.check() == ()


def test_an_entity_that_is_none_is_refused(memento: Memento) -> None:
    with pytest.raises(InputError, match="no entity of the namespace"):
        memento.cases.retrieve("A task", about=["urn:memento:entity:none"])


def test_what_was_shown_and_why_is_in_the_graph(memento: Memento) -> None:
    memento.cases.add(FILMS)
    found = memento.cases.retrieve("Which film came out first, Alien or Brazil?", k=2)
    uses = rows(
        memento,
        """SELECT ?case ?section ?rank ?cosine ?score ?why ?task ?ranking ?reason {
             ?use a mem:CaseUse ; mem:retrieval ?retrieval ; mem:case ?case ; mem:section ?section ; mem:rank ?rank ;
               mem:cosine ?cosine ; mem:score ?score ; mem:reason ?why .
             ?retrieval mem:ranking ?ranking ; mem:reason ?reason ; mem:hasState/mem:content ?task
           } ORDER BY DESC(?section) ?rank""",
    )

    assert [row["case"] for row in uses] == [one.iri for one in (*found.positives, *found.negatives)]
    assert [float(row["score"]) for row in uses] == [one.score for one in (*found.positives, *found.negatives)]
    assert {row["why"] for row in uses} == {"one of the 5 nearest", "one of the 2 nearest"}
    assert {row["task"] for row in uses} == {"Which film came out first, Alien or Brazil?"}
    assert {(row["ranking"], row["reason"]) for row in uses} == {("cosine", found.reason)}


def test_a_read_adds_one_access_without_a_word_of_the_task(memento: Memento) -> None:
    memento.cases.add(FILMS)
    audit = "urn:memento:audit:local"
    before = set(memento.service.stores.graph.quads(audit))  # type: ignore[arg-type]
    found = memento.cases.retrieve("Which film came out first, Alien or Brazil?", k=1)
    quads = set(memento.service.stores.graph.quads(audit)) - before  # type: ignore[arg-type]
    said = {predicate.rsplit("/", 1)[-1]: value for _, predicate, value, _ in quads}

    assert len({subject for subject, *_ in quads}) == 1
    assert (said["operation"], said["actor"]) == ("cases.retrieve", "owner")
    assert {value for _, p, value, _ in quads if p.endswith("#used")} == {
        found.positives[0].iri,
        found.negatives[0].iri,
    }
    assert "Alien" not in str(quads)


def test_a_caller_who_explores_is_shown_others_too(memento: Memento) -> None:
    memento.cases.add(FILMS)
    seen = {memento.cases.retrieve("Which film?", k=1, explore=True).positives[0].iri for _ in range(40)}

    assert len(seen) > 1
    assert len({memento.cases.retrieve("Which film?", k=1).positives[0].iri for _ in range(5)}) == 1


def test_another_tenant_sees_none(memento: Memento) -> None:
    memento.cases.add(FILMS)
    other = memento.with_access(Access(tenant="other", right="admin", name="other"))

    assert other.cases.retrieve("Which film?").positives == ()
    assert other.cases.list() == ()
    assert other.cases.status().domains == ()  # asking makes none
    assert rows(other, "SELECT ?case { ?case a mem:Case }") == []
    with pytest.raises(NotFound):
        other.cases.get(memento.cases.list()[0].iri)


def test_a_token_for_one_namespace_sees_the_cases_of_that_name_alone(memento: Memento) -> None:
    memento.cases.add(FILMS, domain="work")
    memento.cases.add(RIVERS, domain="private")
    narrow = memento.with_access(Access(namespaces=("work",), right="write", name="narrow"))
    graphs = "SELECT DISTINCT ?g { GRAPH ?g { ?case a mem:Case } } ORDER BY ?g"

    assert len(narrow.cases.retrieve("Which film?").positives) == 4
    assert narrow.cases.status().domains == ("work",)
    assert [row["g"] for row in rows(narrow, graphs)] == ["urn:memento:cases:local:work"]
    assert len(rows(memento, graphs)) == 2
    with pytest.raises(Forbidden):
        narrow.cases.retrieve("How long?", domain="private")
    with pytest.raises(Forbidden):
        narrow.cases.add(FILMS, domain="private")


def test_a_reader_is_shown_cases_and_may_not_reward_them(memento: Memento) -> None:
    memento.cases.add(FILMS)
    reader = memento.with_access(Access(right="read", name="reader"))
    found = reader.cases.retrieve("Which film?")

    assert found.retrieval
    with pytest.raises(Forbidden):
        reader.cases.reward(found.retrieval, "success")
    with pytest.raises(Forbidden):
        reader.cases.add(FILMS)


def test_what_somebody_else_writes_into_the_graph_is_seen(memento: Memento) -> None:
    from memento.graph.mapping import quads
    from memento.iris import IRI, cases_iri
    from memento.model import Action, Case, Change, State

    memento.cases.add(FILMS[:1])
    graph = cases_iri("local", "main")
    state, action = (
        State(iri=IRI("urn:x:s"), content="Which film is it?"),
        Action(iri=IRI("urn:x:a"), content="1. Ask."),
    )
    case = Case(
        iri=IRI("urn:x:c"),
        state=state.iri,
        action=action.iri,
        at=at("2025-01-01"),
        created_at=at("2025-01-01"),
        reward=1.0,
    )
    memento.service.stores.apply(Change(tuple(quad for node in (state, action, case) for quad in quads(node, graph))))

    assert memento.cases.retrieve("Which film is it?").positives[0].iri == "urn:x:c"


def test_cases_are_found_again_after_a_restart(tmp_path: Path) -> None:
    with opened(tmp_path, CasesSettings()) as memento:
        memento.cases.add(FILMS)
        first = memento.cases.retrieve("Which film came out first, Dune or Heat?")
    with opened(tmp_path, CasesSettings()) as memento:
        again = memento.cases.retrieve("Which film came out first, Dune or Heat?")

        assert [(one.iri, one.score) for one in again.positives] == [(one.iri, one.score) for one in first.positives]
        assert memento.admin.check() == ()


@pytest.mark.parametrize(
    ("row", "wrong"),
    [
        (CaseRow(task=" ", plan="1. Do."), "task of row 2"),
        (CaseRow(task="Do it.", plan=""), "plan of row 2"),
        (CaseRow(task="Do it.", plan="1. Do.", reward=2.0), "row 2: reward must be from -0.2 to 1, not 2.0"),
        (CaseRow(task="Do it.", plan="1. Do.", outcome="fine"), "outcome must be one of"),  # type: ignore[arg-type]
    ],
)
def test_a_row_that_can_be_no_case_is_named_and_nothing_is_kept(memento: Memento, row: CaseRow, wrong: str) -> None:
    with pytest.raises(InputError, match=wrong):
        memento.cases.add([FILMS[0], row])

    assert memento.cases.list() == ()


def test_vectors_of_cases_are_found_by_their_iri_and_no_recall_finds_a_case(memento: Memento) -> None:
    [case, *_] = memento.cases.add(FILMS)
    stored = memento.service.stores.indexes.file.find(case)

    assert stored is not None
    assert stored[1].shape == (1, 256)
    assert memento.recall("Which film came out first, Alien or Brazil?", gate=False).memories == ()
    assert memento.admin.rebuild() >= len(FILMS)
    assert memento.service.stores.indexes.file.find(case) is not None
    assert memento.admin.check() == ()


def test_several_tasks_are_embedded_together_and_each_has_its_own_answer(
    memento: Memento, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Counting(Trigram):
        calls = 0

        def embed(self, texts: Sequence[str]) -> Vectors:
            Counting.calls += 1
            return super().embed(texts)

    memento.cases.add(FILMS)
    tasks = ["Which film is the longest?", "Which film is about Tron?", "Who made Brazil?"]
    monkeypatch.setattr(memento.service.stores.embedder, "embedder", Counting())
    each = memento.cases.retrieve_each(tasks, k=2)

    assert Counting.calls == 1
    assert [one.task for one in each] == tasks
    assert len({one.retrieval for one in each}) == 3
    assert [one.positives[0].iri for one in each] == [memento.cases.retrieve(task).positives[0].iri for task in tasks]
    with pytest.raises(InputError, match="task 2"):
        memento.cases.retrieve_each(["Which film?", " "])
    with pytest.raises(InputError, match="from 1 to"):
        memento.cases.retrieve_each([])


def test_a_task_that_was_asked_before_is_not_embedded_again(memento: Memento, monkeypatch: pytest.MonkeyPatch) -> None:
    class Counting(Trigram):
        texts = 0

        def embed(self, texts: Sequence[str]) -> Vectors:
            Counting.texts += len(texts)
            return super().embed(texts)

    memento.cases.add(FILMS)
    monkeypatch.setattr(memento.service.stores.embedder, "embedder", Counting())
    first, again = (memento.cases.retrieve("Which film is the shortest?") for _ in range(2))

    assert Counting.texts == 1
    assert [one.iri for one in again.positives] == [one.iri for one in first.positives]


def test_looking_at_a_domain_that_is_not_there_does_not_make_it(memento: Memento) -> None:
    memento.cases.add(RIVERS)
    before = memento.cases.status().domains
    found = memento.cases.retrieve("How long is the Douro?", domain="No Such!")
    views = memento.cases.navigate(domain="No Such!")
    memento.cases.metrics(domain="No Such!")
    memento.cases.list(domain="No Such!")

    assert (found.retrieval, found.positives, views.view, views.seen) == (None, (), None, ())
    assert "the domain 'No Such!' has no cases" in found.reason
    assert memento.cases.status(domain="No Such!").domains == before
    assert rows(memento, "SELECT ?x { { ?x a mem:CaseRetrieval } UNION { ?x mem:operation 'cases.retrieve' } }") == []


def test_while_a_backup_stands_in_its_cases_are_shown_and_no_look_is_kept(tmp_path: Path) -> None:
    with opened(tmp_path, CasesSettings()) as memento:
        memento.cases.add(RIVERS)
        memento.admin.backup()
        memento.cases.add(FILMS)
    (tmp_path / "home" / "store" / "CURRENT").unlink()
    with opened(tmp_path, CasesSettings()) as memento:
        found = memento.cases.retrieve("How long is the river Douro?")
        each = memento.cases.retrieve_each(["How long is the river Tejo?"])

        assert memento.degraded is not None
        assert tasks(found.positives)[0] == "How long is the river Douro?"
        assert (found.retrieval, each[0].retrieval, memento.cases.navigate().view) == (None, None, None)
        assert memento.cases.status().cases == len(RIVERS)
        with pytest.raises(ReadOnly):
            memento.cases.plan_task("How long is the river Douro?")
        assert rows(memento, "SELECT ?x { ?x a mem:CaseRetrieval }") == []


def test_a_case_that_is_not_like_the_task_is_neither_to_be_followed_nor_avoided(memento: Memento) -> None:
    memento.cases.add([*FILMS, *RIVERS])
    rivers = memento.cases.retrieve("How long is the river Mondego?")
    neither = memento.cases.retrieve("xyzzy plugh")

    assert {one.task for one in (*rivers.positives, *rivers.negatives)} <= {row.task for row in RIVERS}
    assert (neither.positives, neither.negatives) == ((), ())
    assert "relevant_from of [cases]" in neither.reason


def test_of_cases_that_are_equally_like_the_task_the_one_that_shares_its_context_comes_first(memento: Memento) -> None:
    memento.note("I work at Google.")
    [google] = [one.iri for one in memento.graphs.entities()]
    memento.cases.add(
        [
            CaseRow(task="Book a room.", plan="1. Call.", outcome="success"),
            CaseRow(task="Book a room.", plan="1. Ask Ann.", outcome="success", tags=("Travel", "travel", " ")),
            CaseRow(task="Book a room.", plan="1. Ask Bob.", outcome="success", about=(google,)),
        ]
    )
    plain = memento.cases.retrieve("Book a room.")
    tagged = memento.cases.retrieve("Book a room.", tags=("travel",))
    linked = memento.cases.retrieve("Book a room.", about=(google,))

    assert [one.plan for one in plain.positives] == ["1. Call.", "1. Ask Ann.", "1. Ask Bob."]
    assert tagged.positives[0].plan == "1. Ask Ann."
    assert tagged.positives[0].score == pytest.approx(tagged.positives[0].cosine + 0.2)
    assert "has 1 of the task's tags" in tagged.positives[0].reason
    assert linked.positives[0].plan == "1. Ask Bob."
    assert memento.cases.get(tagged.positives[0].iri).tags == ("travel",)
    assert tagged.positives[0].about == ()
    assert [one.label for one in memento.cases.navigate(pan=("#travel",)).seen] == ["Book a room."]
    assert memento.admin.check() == ()


def test_every_read_of_cases_leaves_an_access_that_names_them(memento: Memento) -> None:
    [case, _] = memento.cases.add(FILMS[:2])
    run = memento.cases.start("Watch a film.", plan="1. Watch.").iri
    memento.cases.get(case)
    memento.cases.list(limit=1)
    memento.cases.task_run(run)
    memento.cases.task_runs()
    memento.cases.navigate()
    quads = list(memento.service.stores.graph.quads("urn:memento:audit:local"))  # type: ignore[arg-type]
    what = {subject: value for subject, predicate, value, _ in quads if predicate.endswith("/operation")}
    logged = [(what[subject], value) for subject, predicate, value, _ in quads if predicate.endswith("#used")]

    assert set(logged) >= {
        ("cases.get", case),
        ("cases.run", run),
        ("cases.runs", run),
        ("cases.navigate", case),
    }
    assert len([node for operation, node in logged if operation == "cases.list"]) == 1


def test_a_query_that_could_read_cases_leaves_an_access_without_its_texts(memento: Memento) -> None:
    def list_accesses() -> list[set[Any]]:
        memento.service.case_reads.write_reads()
        quads = list(memento.service.stores.graph.quads(audit_iri("local")))
        made = [one[0] for one in quads if (one[1], one[2]) == (MEM.operation, "cases.sparql")]
        return [{value for subject, _, value, _ in quads if subject == one} for one in made]

    memento.graphs.query_bytes("SELECT * { ?s ?p 'before there were cases' }")
    assert list_accesses() == []
    memento.cases.add(FILMS[:2])
    graph = cases_iri("local", "main")
    for sparql in ("ASK { ?s ?p 'secret' }", "ASK { ?s ?p 'other' }", f"SELECT * {{ GRAPH <{graph}> {{ ?s ?p 7 }} }}"):
        memento.graphs.query_bytes(sparql)
    memento.graphs.query_bytes("ASK { ?s ?p 'own' }", default_graphs=[data_iri("local", "own")])
    memento.graphs.update("INSERT DATA { <urn:a> <urn:b> 1 }")
    queried = list_accesses()
    memento.graphs.get(graph)
    memento.graphs.update(f"ADD <{graph}> TO <{data_iri('local', 'copy')}>")

    assert (len(queried), len(list_accesses())) == (2, 3)
    assert all({graph, "owner", "cases.sparql"} <= one for one in queried)
    assert not any("secret" in str(value) for one in list_accesses() for value in one)
    assert memento.admin.check() == ()


def test_switched_off_cases_are_refused_and_those_that_are_there_stay(tmp_path: Path) -> None:
    with opened(tmp_path, CasesSettings()) as memento:
        memento.cases.add(FILMS)
    with opened(tmp_path, CasesSettings(on=False)) as memento:
        for ask in (lambda: memento.cases.retrieve("Which film?"), memento.cases.list, memento.cases.task_runs):
            with pytest.raises(Forbidden, match=r"cases are switched off: set cases.on = true"):
                ask()
        assert memento.note("I work at Google.").memories
    with opened(tmp_path, CasesSettings()) as memento:
        assert len(memento.cases.list()) == len(FILMS)


def test_cases_are_listed_by_their_likeness_to_a_task(memento: Memento) -> None:
    memento.cases.add([*RIVERS, *FILMS])

    assert memento.cases.list(task="How long is the river Tejo?", limit=1)[0].task == "How long is the river Tejo?"
    with pytest.raises(InputError, match="task must not be empty"):
        memento.cases.list(task=" ")
