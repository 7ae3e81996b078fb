"""Cases go out and come in with what they earned: the same choices, the same vectors, and nothing that has changed is undone."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyoxigraph as ox
import pytest

from conftest import OFFLINE
from memento.access import Access
from memento.iris import MEM, cases_iri
from memento.model import Quad
from memento.plugins.cases.nouns import CaseRow
from memento.python import Memento, open_memento

ROWS = (
    CaseRow(task="Which film came out first, Alien or Brazil?", plan="1. Look up both years.", outcome="success"),
    CaseRow(task="Who wrote the novel that Stalker is based on?", plan="1. Guess.", outcome="failure"),
)
ASKED = "Which film came out first, Ran or Tron?"


@pytest.fixture
def taught(tmp_path: Path) -> Iterator[Memento]:
    """Two cases in the domain of `main`, one of them shown and rewarded, and one in a domain of its own."""
    with open_memento(tmp_path / "taught", configured=OFFLINE) as memento:
        assert isinstance(memento, Memento)
        memento.cases.add(ROWS)
        found = memento.cases.retrieve(ASKED)
        assert found.retrieval
        memento.cases.reward(found.retrieval, "success")
        memento.cases.add(ROWS[:1], domain="films")
        yield memento


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Memento]:
    """An empty store that has no case open and none closed."""
    with open_memento(tmp_path / "other", configured=OFFLINE) as memento:
        assert isinstance(memento, Memento)
        yield memento


def ranked(memento: Memento) -> list[tuple[str, float]]:
    found = memento.cases.retrieve(ASKED)
    return [(one.task, round(one.score, 6)) for one in (*found.positives, *found.negatives)]


def quads(memento: Memento, domain: str) -> set[Quad]:
    return set(memento.service.stores.graph.quads(cases_iri("local", domain)))


@pytest.mark.parametrize("form", ["trig", "nquads", "jsonld"])
def test_cases_arrive_with_their_rewards_and_are_shown_as_before(
    form: str, taught: Memento, other: Memento, tmp_path: Path
) -> None:
    assert other.cases.status().cases == 0  # the domain is open, and must be read anew
    taught.export(tmp_path / "all", form=form)
    merged = other.intake.import_rdf(tmp_path / "all", form=form)

    assert merged.cases == 3
    assert quads(other, "main") == quads(taught, "main")
    assert quads(other, "films") == quads(taught, "films")
    assert other.cases.status().labelled == taught.cases.status().labelled > 0
    assert ranked(other) == ranked(taught)
    assert other.admin.check() == ()


def test_the_vectors_of_states_go_along_in_base64_and_are_taken(
    taught: Memento, other: Memento, tmp_path: Path
) -> None:
    [iri] = [one.iri for one in taught.cases.list(domain="films")]
    taught.export(tmp_path / "all.nq", vectors=True)
    merged = other.intake.import_rdf(tmp_path / "all.nq")
    said = {
        quad.predicate.value: quad.object.value
        for quad in ox.parse(path=tmp_path / "all.nq")
        if quad.subject == ox.NamedNode(iri) and isinstance(quad.object, ox.Literal)
    }
    written = np.frombuffer(b64decode(said[MEM.hasStateEmbedding]), dtype="<f4")

    assert (merged.vectors, merged.embedded) == (3 + 1, 0)  # the cases and a look-up
    assert written.tolist() == taught.service.stores.embedder.embed([ROWS[0].task])[0].tolist()
    assert other.service.stores.indexes.file.find_states([iri])[iri][1].tolist() == written.tolist()
    assert not any(predicate == MEM.hasStateEmbedding for _, predicate, _, _ in quads(other, "films"))


def test_what_use_has_changed_since_an_export_is_not_undone_by_it(taught: Memento, tmp_path: Path) -> None:
    taught.export(tmp_path / "all.trig")
    found = taught.cases.retrieve(ASKED)
    assert found.retrieval
    taught.cases.reward(found.retrieval, "failure")
    taught.cases.complete(taught.cases.start("Another task.", plan="1. Do it.").iri, "success")
    before = quads(taught, "main")
    merged = taught.intake.import_rdf(tmp_path / "all.trig")

    assert merged.added == 0
    assert quads(taught, "main") == before


def test_a_namespace_takes_the_domain_of_its_name_along_and_a_copy_has_names_of_its_own(
    taught: Memento, tmp_path: Path
) -> None:
    taught.export(tmp_path / "one.trig", namespace="films")
    merged = taught.intake.import_rdf(tmp_path / "one.trig", namespace="copies")
    [case], [copy] = taught.cases.list(domain="films"), taught.cases.list(domain="copies")

    assert merged.cases == 1
    assert "Stalker" not in (tmp_path / "one.trig").read_text()
    assert (copy.task, copy.plan, copy.reward) == (case.task, case.plan, case.reward)
    assert copy.iri != case.iri


def test_a_token_for_some_namespaces_takes_only_the_cases_of_theirs(taught: Memento, tmp_path: Path) -> None:
    bound = taught.with_access(Access(namespaces=("films",), name="bound"))
    bound.export(tmp_path / "theirs.trig")
    text = (tmp_path / "theirs.trig").read_text()

    assert "Alien" in text
    assert "Stalker" not in text
    assert cases_iri("local", "main") not in text
