"""A memory goes out as a folder that people and other programs read, and comes back the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]
from click.testing import CliRunner

from conftest import OFFLINE
from doors import serving
from memento.errors import InputError
from memento.intake.importers import harvest
from memento.interfaces.cli import main
from memento.python import Client, Memento, open_memento

NOTES = (
    ("My boss is Ann Berg.", "2026-01-05T09:00:00Z"),
    ("Ann Berg works at Halden Foods.", "2026-01-06T09:00:00Z"),
    ("I live in Lisbon.", "2026-02-01T09:00:00Z"),
    ("I moved to Porto.", "2026-03-01T09:00:00Z"),
    ('The tea tin says:\n\n```\n[[odd]] "quoted" \\ ---\n```\n\nand ends.', "2026-03-02T09:00:00Z"),
    ("It rained all day.", "2026-03-03T09:00:00Z"),
)


@pytest.fixture
def lived(memento: Memento) -> Memento:
    for text, at in NOTES:
        memento.note(text, at=at)
    memento.note("The voucher is in the drawer.", at="2026-03-04T09:00:00Z", tags=["home"], ttl_s=86_400 * 3650)
    memento.intake.import_notes(
        [{"content": "Log is a dog.", "title": "Log", "speaker": "Rosa Lind", "session": "talk", "position": 0}]
    )
    return memento


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Memento]:
    opened = open_memento(tmp_path / "other", configured=OFFLINE)
    assert isinstance(opened, Memento)
    with opened:
        yield opened


CLAIMS = """PREFIX mem: <http://purl.org/memento/>
SELECT ?memory ?owner ?relation ?value ?words ?since ?until WHERE {
  ?claim a mem:Claim ; mem:statedBy ?memory ; mem:relationName ?relation ; mem:words ?words ; mem:validAt ?since .
  ?memory mem:content ?content . FILTER NOT EXISTS { ?memory mem:invalidAt ?past }
  OPTIONAL { ?claim mem:owner ?owner } OPTIONAL { ?claim mem:valueText ?value } OPTIONAL { ?claim mem:invalidAt ?until }
} ORDER BY ?claim"""


def tell(memento: Memento) -> tuple[object, ...]:
    """What holds in a memory: its current memories, what they claim, and who said them."""
    memories = memento.list(limit=100)
    sources = [memento.review.sources(one.iri) for one in memories]
    said = [[(one.content, one.said_by, one.note.content, one.note.at) for one in of] for of in sources]
    return memories, [dict(row) for row in memento.query(CLAIMS)], said


def read_front(file: Path) -> dict[str, object]:
    found = yaml.safe_load(file.read_text().split("---\n")[1])
    assert isinstance(found, dict)
    return found


def test_what_was_exported_comes_back_the_same(lived: Memento, other: Memento, tmp_path: Path) -> None:
    done = lived.export(tmp_path / "out", form="okf")
    other.intake.import_rdf(tmp_path / "out")

    assert tell(other) == tell(lived)
    assert done.statements == len(lived.list(limit=100)) and len(tell(lived)[1]) >= 3  # type: ignore[arg-type]
    assert other.admin.check() == ()
    assert other.intake.import_rdf(tmp_path / "out").added == 0
    other.export(tmp_path / "again", form="okf")
    first, again = (
        {one.relative_to(at): one.read_text() for one in at.rglob("*.md")}
        for at in (tmp_path / "out", tmp_path / "again")
    )
    assert first == again


def test_every_file_conforms_to_the_format(lived: Memento, tmp_path: Path) -> None:
    lived.export(tmp_path / "out", form="okf")
    files = {one.relative_to(tmp_path / "out").as_posix(): one for one in (tmp_path / "out").rglob("*.md")}
    index = files.pop("index.md")

    assert read_front(index) == {"okf_version": "0.2"}
    assert set(re.findall(r"\]\(([^)]*)\)", index.read_text())) == set(files)
    assert not any(Path(name).name in ("index.md", "log.md") for name in files)
    for file in files.values():
        front = read_front(file)
        assert front["type"] and front["title"] and front["status"] == "stable"
        cited = set(re.findall(r"(?<!^)\[\^(\w+)\](?!:)", file.read_text(), re.MULTILINE))
        assert cited <= {one["id"] for one in front.get("sources", [])}  # type: ignore[attr-defined]
    [ann] = [one for name, one in files.items() if "ann-berg" in name]
    front, text = read_front(ann), ann.read_text()
    assert front["type"] == "Person" and front["title"] == "Ann Berg"
    assert front["sources"][0]["author"] == "human:user"  # type: ignore[index]
    assert "- Ann Berg works at Halden Foods.[^n2]" in text and "[^n2]: Ann Berg works at Halden Foods." in text
    [you] = [read_front(one) for name, one in files.items() if name == "user/you.md"]
    assert str(you["stale_after"]).startswith("203") and "home" in you["tags"]  # type: ignore[operator]
    assert not any("I live in Lisbon." in one.read_text() for one in files.values())


def test_a_service_gives_and_takes_bundles(lived: Memento, other: Memento, tmp_path: Path) -> None:
    with serving(lived) as address, Client(address) as client:
        client.export(tmp_path / "out", form="okf")
    with serving(other) as address, Client(address) as client:
        client.intake.import_rdf(tmp_path / "out")
    assert tell(other) == tell(lived)


def test_an_edited_file_is_refused_by_name_and_nothing_is_stored(
    lived: Memento, other: Memento, tmp_path: Path
) -> None:
    lived.export(tmp_path / "out", form="okf")
    [ann] = (tmp_path / "out").rglob("ann-berg.md")
    ann.write_text(ann.read_text().replace("- Ann Berg works at Halden", "- Ann Berg works at Nordby"))

    with pytest.raises(InputError, match=r"person/ann-berg\.md was edited"):
        other.intake.import_rdf(tmp_path / "out")
    assert other.list() == ()
    ann.write_text(ann.read_text().partition("\n# Statements\n")[0])
    rows = harvest(tmp_path / "out", "okf").rows
    assert [one.content for one in rows] == ["My boss is Ann Berg.", "Ann Berg works at Nordby Foods."]


def test_a_folder_is_only_replaced_on_demand(lived: Memento, tmp_path: Path) -> None:
    lived.export(tmp_path / "out", form="okf")
    with pytest.raises(InputError, match="overwrite is needed to replace"):
        lived.export(tmp_path / "out", form="okf")
    lived.forget(next(one.iri for one in lived.list(limit=100) if "rained" in one.content))
    (tmp_path / "out/own.md").write_text("Mine.")
    lived.export(tmp_path / "out", form="okf", overwrite=True)
    assert (tmp_path / "out/own.md").read_text() == "Mine."
    assert not any("rained" in one.read_text() for one in (tmp_path / "out").rglob("*.md"))


BUNDLE = {
    "index.md": '---\nokf_version: "0.2"\n---\n\n# Tables\n\n* [Orders](tables/orders.md) - One row per order.\n',
    "tables/orders.md": (
        "---\ntype: BigQuery Table\ntitle: Customer Orders\ndescription: One row per completed order.\n"
        "tags: [sales, orders]\ngenerated: { by: agent/1, at: 2026-05-28T14:30:00Z }\nstatus: stable\n"
        "stale_after: 2199-01-01\nsources:\n  - id: wiki\n    resource: https://wiki.acme/orders\n---\n\n"
        "# Joins\n\nJoined with [customers](/tables/customers.md) on the customer id.[^wiki]\n\n"
        "- Refreshed each night.\n- Owned by Rosa Lind.\n\n[^wiki]: Orders in the wiki\n"
    ),
    "tables/old.md": "---\ntype: BigQuery Table\nstatus: deprecated\n---\nGone.\n",
    "tables/stale.md": "---\ntype: Metric\nstale_after: 2020-01-01\n---\nRevenue is up.\n",
    "tables/broken.md": "---\ntitle: Nothing\n---\nNo type.\n",
    "log.md": "# Log\n\n## 2026-05-22\n* **Update**: x\n",
}


def test_a_bundle_by_others_comes_in_as_notes(memento: Memento, tmp_path: Path) -> None:
    folder = tmp_path / "bundle"
    for name, text in BUNDLE.items():
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text(text)
    found = harvest(folder, "okf")

    assert [one.content for one in found.rows] == [
        "One row per completed order.",
        "Joined with customers on the customer id.",
        "Refreshed each night.",
        "Owned by Rosa Lind.",
    ]
    row = found.rows[0]
    assert (row.title, row.tags, str(row.at)) == ("Customer Orders", ("sales", "orders"), "2026-05-28 14:30:00+00:00")
    assert row.ttl_s and row.ttl_s > 0
    assert found.refused == ["broken.md line 1: type is missing: a concept has front matter with a type"]
    assert found.skipped["it is deprecated"] == found.skipped["it is stale"] == 1
    with pytest.raises(InputError, match="has no statements of Memento"):
        memento.intake.import_rdf(folder)
    graph = memento.service.default_scope.graph
    before = set(memento.service.stores.graph.quads(graph))
    trial = memento.intake.import_files(folder, source="okf", dry_run=True)
    assert trial.lines[0] == "One row per completed order." and trial.iri is None
    done = memento.intake.import_files(folder, source="okf")
    assert done.memories == 4
    [shown] = memento.intake.imports()
    assert (shown.iri, shown.source) == (done.iri, "okf")
    assert memento.intake.undo_import(shown.iri).memories == 4
    assert set(memento.service.stores.graph.quads(graph)) == before


def test_a_shell_writes_a_folder_and_recognises_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMENTO_EMBEDDING_MODEL", "trigram")

    def run(*words: str) -> str:
        answer = CliRunner().invoke(main, words)
        assert answer.exit_code == 0, answer.output
        return answer.output

    one, other, out = (str(tmp_path / name) for name in ("one", "other", "out"))
    run("note", "My boss is Ann Berg.", "--home", one)
    assert "1 memories written to" in run("export", out, "--format", "okf", "--home", one)
    assert "1 memories, 1 notes" in run("import", out, "--home", other)
    assert "My boss is Ann Berg." in run("list", "--home", other)
