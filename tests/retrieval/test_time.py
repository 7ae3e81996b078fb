"""The two time axes: what was true then, what was believed then; and the past shows as history alone."""

from __future__ import annotations

import csv
import io
from datetime import datetime, timedelta

import pytest

from conftest import at
from memento.python import Memento
from memento.time import now


@pytest.fixture
def homes(memento: Memento) -> tuple[Memento, list[datetime]]:
    """
    Paris was told of first, then that it is Lisbon since 2022, and only then that it had been Rome before Paris; the instants
    lie before the first note and at each of them.
    """
    instants: list[datetime] = []
    for when, text in (
        ("2020-01-01", "I live in Paris."),
        ("2022-01-01", "I moved to Lisbon."),
        ("2019-01-01", "I live in Rome."),
    ):
        [told] = memento.note(text, at=at(when)).memories
        instants.append(next(one.created_at for one in memento.list(past=True) if one.iri == told))
    return memento, [instants[0] - timedelta(milliseconds=1), *instants]


def recalled(memento: Memento, as_of: str | None, believed_at: datetime | None) -> set[str]:
    asked = at(as_of) if as_of else None
    found = memento.recall("Where do I live?", as_of=asked, believed_at=believed_at, k=30, gate=False)
    return {one.content for one in found.memories}


@pytest.mark.parametrize(
    ("as_of", "believed", "home"),
    [
        (None, 3, "Lisbon"),
        ("2021-06-01", 3, "Paris"),  # true then, as is known now
        ("2019-06-01", 3, "Rome"),  # told of last, true first
        ("2023-01-01", 1, "Paris"),  # before it was told of Lisbon it believed that Paris still held
        ("2023-01-01", 2, "Lisbon"),
        ("2019-06-01", 2, None),  # Rome was not known of yet, Paris not yet true
        ("2018-01-01", 3, None),
        ("2021-06-01", 0, None),
    ],
)
def test_what_was_true_is_asked_apart_from_what_was_believed(
    homes: tuple[Memento, list[datetime]], as_of: str | None, believed: int, home: str | None
) -> None:
    memento, instants = homes
    found = recalled(memento, as_of, instants[believed])

    assert [home in text for text in found if home] == ([True] if home else [])
    assert bool(found) == bool(home)


@pytest.mark.parametrize("as_of", ["2018-01-01", "2019-06-01", "2021-06-01", "2023-01-01"])
@pytest.mark.parametrize("believed", [0, 1, 2, 3])
def test_the_published_pattern_says_the_same(homes: tuple[Memento, list[datetime]], as_of: str, believed: int) -> None:
    memento, instants = homes
    found = memento.timeline("me", as_of=at(as_of), believed_at=instants[believed])
    assert found.sparql
    body, _ = memento.graphs.query_bytes(found.sparql, accept="text/csv")

    assert [row["memory"] for row in csv.DictReader(io.StringIO(body.decode()))] == [one.iri for one in found.memories]
    assert {one.content for one in found.memories} == recalled(memento, as_of, instants[believed])


def test_a_history_needs_no_pattern(homes: tuple[Memento, list[datetime]]) -> None:
    memento, instants = homes
    [first] = [one.iri for one in memento.list(past=True) if "Paris" in one.content]

    assert memento.timeline("me", believed_at=instants[2]).sparql is None
    assert memento.timeline(first, as_of=at("2021-06-01")).sparql is None


def test_a_fact_about_next_month_is_recalled_today_and_is_not_true_yet(memento: Memento) -> None:
    memento.note("I use Zed.", at=now() + timedelta(days=30))

    assert [one.content for one in memento.recall("Which editor do I use?", gate=False).memories] == ["I use Zed."]
    assert len(memento.list()) == 1
    assert memento.recall("Which editor do I use?", as_of=now(), gate=False).memories == ()
    assert memento.timeline("me", as_of=now()).memories == ()


def test_the_retired_comes_back_only_as_the_history_of_its_successor(homes: tuple[Memento, list[datetime]]) -> None:
    memento, _ = homes
    current = {one.iri for one in memento.list()}
    for engine in ("signals", "ppr", "published"):
        found = memento.recall("Where do I live?", engine=engine, k=30, gate=False).memories
        assert {one.iri for one in found} <= current
        [lisbon] = [one for one in found if "Lisbon" in one.content]
        assert ["Paris" in old.content for old in lisbon.invalidates] == [True]
