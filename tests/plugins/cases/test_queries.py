"""The ready queries about cases tell in SPARQL what was shown for which task, why, and what it earned."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import OFFLINE
from memento.graph.binding import load_query
from memento.plugins.cases.nouns import CaseRow
from memento.python import Memento, open_memento

FILMS = (
    CaseRow(task="Which film came out first, Alien or Brazil?", plan="1. Look up both years.", outcome="success"),
    CaseRow(task="Which film is longer, Ran or Tron?", plan="1. Guess.", outcome="failure"),
)
ASKED = "Which film came out first, Solaris or Stalker?"


@pytest.fixture
def memento(tmp_path: Path) -> Iterator[Memento]:
    """Two cases that were shown for one task, which was a success in part."""
    with open_memento(tmp_path / "home", configured=OFFLINE) as opened:
        assert isinstance(opened, Memento)
        opened.cases.add(FILMS)
        found = opened.cases.retrieve(ASKED)
        assert found.retrieval
        opened.cases.reward(found.retrieval, "partial")
        yield opened


def rows(memento: Memento, name: str) -> list[dict[str, str]]:
    body, _ = memento.graphs.query_bytes(load_query(f"library/{name}").text, accept="text/csv")
    return list(csv.DictReader(io.StringIO(body.decode())))


def test_what_cases_have_earned_is_the_mean_over_the_tasks_they_were_shown_for(memento: Memento) -> None:
    again = memento.cases.retrieve(ASKED, k=1, since="2000-01-01")
    assert again.retrieval
    memento.cases.reward(again.retrieval, single={again.positives[0].iri: 1.0})
    told = {
        row["task"]: (float(row["own"]), int(row["shown"]), float(row["earned"]))
        for row in rows(memento, "cases_earned")
    }

    assert told == {FILMS[0].task: (1.0, 2, 0.75), FILMS[1].task: (-0.2, 1, 0.5)}


def test_why_cases_were_chosen_is_told_with_their_values(memento: Memento) -> None:
    first, second = rows(memento, "cases_chosen")

    assert (first["task"], first["section"], first["case"]) == (ASKED, "positive", FILMS[0].task)
    assert (second["section"], second["case"], second["rank"]) == ("negative", FILMS[1].task, "1")
    assert "nearest" in first["why"] and "likeness alone" in first["ranking"]
    assert float(first["cosine"]) == float(first["score"]) > float(second["score"])
    assert float(first["earned"]) == 0.5 and first["q"] == ""
