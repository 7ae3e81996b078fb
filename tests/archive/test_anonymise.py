"""An export that is anonymised has no name, address or time that tells who is meant, and the same pseudonym for the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memento.archive.tables import TABLE_FORMS
from memento.errors import InputError, NotAcceptable
from memento.model import ToolCall
from memento.plugins.cases.nouns import CaseRow
from memento.python import Memento, open_memento
from memento.settings import EmbeddingSettings, Settings

NAMES = (
    "Zebulon",
    "Pike",
    "Quixotopia",
    "Frobnitz",
    "Ottoline",
    "zeb@frobnitz.example",
    "555-0142",
    "frobnitz.example",
    "Zoë",
    "Zo\\u00eb",
    "Quimby",
    "49151123456",
)
SETTINGS = Settings(embedding=EmbeddingSettings(model="trigram", cache=False))


@pytest.fixture(scope="module")
def memento(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memento]:
    opened = open_memento(tmp_path_factory.mktemp("anonymous"), configured=SETTINGS, resume=False)
    assert isinstance(opened, Memento)
    with opened:
        opened.note("My friend Zebulon Pike lives in Quixotopia.", at="2024-03-17")
        opened.note("Zebulon works at Frobnitz Limited since 2024-02-29.", at="2024-03-18")
        opened.note("Write to zeb@frobnitz.example or call +1 555-0142 99.", at="2024-03-19")
        opened.note("ZEBULON likes tea.", speaker="Ottoline", session="Pike family", container="frobnitz.example")
        opened.note("Quixotopia has a harbour.", namespace="pike", source="https://frobnitz.example/zebulon")
        opened.cases.add([CaseRow(task="Find Zebulon.", plan="1. Ask Ottoline.", outcome="success", tags=("search",))])
        run = opened.cases.start("Bring Zoë Quimby the lentils.", domain="pike").iri
        call = ToolCall(
            tool="message",
            arguments='{"to": "Zo\\u00eb Quimby", "number": 49151123456}',
            result='{"Zo\\u00eb Quimby": "in the cellar, says Zebulon"}',
            at=datetime(2024, 3, 20, 10, tzinfo=UTC),
        )
        opened.cases.record_step(
            run, "Ask Zoë Quimby where they are.", result="She is at Frobnitz.", tools=[call], domain="pike"
        )
        opened.cases.complete(
            run, plan="1. Ask Zoë Quimby.", outcome="failure", reason="Zebulon kept them.", domain="pike"
        )
        yield opened


def rows(memento: Memento, file: Path, **options: Any) -> list[dict[str, Any]]:
    memento.export(file, anonymise=True, **options)
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("form", [one.name for one in TABLE_FORMS])
def test_no_name_and_no_address_is_in_it(memento: Memento, tmp_path: Path, form: str) -> None:
    exported = memento.export(tmp_path / "all", form=form, anonymise=True)
    text = (tmp_path / "all").read_text(encoding="utf-8")

    assert exported.statements >= 7
    assert "harbour" in text
    assert "the lentils" in text
    assert "kept them" in text
    assert "in the cellar" in text
    assert [name for name in NAMES if name.lower() in text.lower()] == []


def test_the_same_is_called_the_same_and_no_iri_is_one_of_the_memory(memento: Memento, tmp_path: Path) -> None:
    found = rows(memento, tmp_path / "all.jsonl")
    text = (tmp_path / "all.jsonl").read_text(encoding="utf-8")
    (person,) = {name for row in found for name in re.findall(r"Person-[0-9a-f]{8}", row.get("content", ""))}

    assert sum(person in row.get("content", "") for row in found) == 3
    assert all(one.iri not in text for one in memento.list())
    assert len({row["id"] for row in found}) == len(found)


def test_cases_are_in_it_with_the_pseudonyms_of_the_memories(memento: Memento, tmp_path: Path) -> None:
    found = rows(memento, tmp_path / "all.jsonl", dates="month")
    cases = {row["task"]: row for row in found if "task" in row}
    (zebulon,) = {
        name for row in found if "note" in row for name in re.findall(r"Person-[0-9a-f]{8}", row.get("content", ""))
    }
    zoe = next(name for task in cases for name in re.findall(r"Bring (\w+-[0-9a-f]{8}) the", task))
    case = cases[f"Bring {zoe} the lentils."]
    (call,) = case["steps"][0]["tools"]

    assert cases[f"Find {zebulon}."]["tags"] == ["search"]
    assert case["domain"] == next(row["namespace"] for row in found if "harbour" in row.get("content", ""))
    assert (case["plan"], case["verdicts"][0]["reason"]) == (f"1. Ask {zoe}.", f"{zebulon} kept them.")
    assert json.loads(call["arguments"])["to"] == zoe
    assert json.loads(call["result"]) == {zoe: f"in the cellar, says {zebulon}"}
    assert (call["at"][:10], call["state"], case["verdicts"][0]["outcome"]) == ("2024-03-01", "done", "failure")


def test_an_export_with_names_or_of_some_memories_has_no_cases(memento: Memento, tmp_path: Path) -> None:
    memento.export(tmp_path / "named.jsonl")

    assert "lentils" not in (tmp_path / "named.jsonl").read_text(encoding="utf-8")
    assert not [row for row in rows(memento, tmp_path / "some.jsonl", container="frobnitz.example") if "task" in row]


def test_pseudonyms_are_others_each_time_unless_a_key_is_kept(memento: Memento, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("a key that is kept for pseudonyms")
    kept = [rows(memento, tmp_path / f"{number}.jsonl", pseudonym_key_file=key) for number in range(2)]
    fresh = [rows(memento, tmp_path / f"fresh-{number}.jsonl") for number in range(2)]

    assert kept[0] == kept[1]
    assert fresh[0] != fresh[1]


@pytest.mark.parametrize(
    ("dates", "at", "within"), [("month", "2024-03-01", "2024-02-01"), ("year", "2024-01-01", "2024-01-01")]
)
def test_dates_are_coarsened(memento: Memento, tmp_path: Path, dates: str, at: str, within: str) -> None:
    found = rows(memento, tmp_path / "all.jsonl", dates=dates)
    (row,) = [one for one in found if "works at" in one.get("content", "")]

    assert row["at"][:10] == at
    assert "2024-03-17" not in str(found)
    assert "2024-02-29" not in str(found)
    assert within in row["note"]


def test_what_it_does_not_promise_is_said(memento: Memento, tmp_path: Path) -> None:
    said: list[str] = []
    memento.on_notice = said.append
    memento.export(tmp_path / "all.md", anonymise=True)

    assert "not guaranteed" in " ".join(said)


def test_rdf_is_not_anonymised_and_says_what_is(memento: Memento, tmp_path: Path) -> None:
    with pytest.raises(NotAcceptable, match="jsonl, json, csv or markdown"):
        memento.export(tmp_path / "all.trig", anonymise=True)
    with pytest.raises(InputError, match="anonymise=true"):
        memento.export(tmp_path / "all.jsonl", dates="year")


def test_it_comes_in_again_elsewhere(memento: Memento, tmp_path: Path) -> None:
    exported = memento.export(tmp_path / "all.jsonl", anonymise=True)
    with open_memento(tmp_path / "other", configured=SETTINGS, resume=False) as other:
        assert isinstance(other, Memento)
        other.intake.import_rdf(tmp_path / "all.jsonl")
        contents = [one.content for space in ("main", None) for one in other.list(namespace=space)]
        assert exported.statements >= 5
        assert sum(one.startswith("Person-") for one in set(contents)) == 2


@pytest.mark.parametrize("form", [one.name for one in TABLE_FORMS])
def test_its_cases_come_in_again_elsewhere_once(memento: Memento, tmp_path: Path, form: str) -> None:
    memento.export(tmp_path / "all", form=form, anonymise=True)
    with open_memento(tmp_path / "other", configured=SETTINGS, resume=False) as other:
        assert isinstance(other, Memento)
        other.intake.import_rdf(tmp_path / "all", form=form)
        again = other.intake.import_rdf(tmp_path / "all", form=form)
        domain = next(one for one in other.cases.status().domains if one != "main")
        (listed,) = other.cases.list(domain=domain)
        case = other.cases.get(listed.iri, domain=domain)
        found = other.cases.retrieve("Bring somebody the lentils.", domain=domain)

        assert again.added == 0
        assert [step.tools[0].tool for step in case.steps] == ["message"]
        assert (case.verdicts[0].outcome, case.verdicts[0].reward) == ("failure", case.reward)
        assert [one.iri for one in found.negatives] == [case.iri]
        assert len(other.cases.list()) == 1


def test_an_export_of_cases_is_a_read_of_cases_and_is_audited(memento: Memento, tmp_path: Path) -> None:
    memento.export(tmp_path / "rows.jsonl")
    memento.service.case_reads.write_reads()
    before = _exports(memento)
    memento.export(tmp_path / "all.trig")
    memento.service.case_reads.write_reads()
    assert _exports(memento) == before + 1

    memento.export(tmp_path / "nameless.jsonl", anonymise=True)
    memento.service.case_reads.write_reads()
    assert _exports(memento) == before + 2


def _exports(memento: Memento) -> int:
    graph = "urn:memento:audit:local"
    quads = memento.service.stores.graph.match(None, "http://purl.org/memento/operation", None, graph)
    return sum("cases.export" in str(quad.object) for quad in quads)


def test_an_erasure_gives_a_receipt_that_tells_nothing_of_what_went(tmp_path: Path) -> None:
    opened = open_memento(tmp_path, configured=SETTINGS, resume=False)
    assert isinstance(opened, Memento)
    with opened:
        noted = opened.note("Zebulon Pike lives in Quixotopia.")
        hidden = opened.forget(noted.memories[0])
        gone = opened.forget(noted.memories[0], erase=True)
        receipt = gone.receipt
        audit = [str(quad) for quad in opened.service.stores.graph.match(graph="urn:memento:audit:local")]

        assert hidden.receipt is None
        assert not hidden.erased
        assert receipt is not None
        assert (receipt.memories, receipt.notes, receipt.by) == (1, 1, opened.context.access.name)
        assert any(receipt.digest in line for line in audit)
        told = [
            one for one in (*noted.memories, *gone.notes, "Zebulon", "Quixotopia") if any(one in line for line in audit)
        ]
        assert told == []
    opened = open_memento(tmp_path, configured=SETTINGS, resume=False)  # which writes the store's files without it
    opened.close()
    left = [
        (word, path.name)
        for path in tmp_path.rglob("*")
        if path.is_file()
        for word in (b"Zebulon", b"zebulon", b"Quixotopia", b"quixotopia", noted.memories[0].encode())
        if word in path.read_bytes()
    ]
    assert left == []
