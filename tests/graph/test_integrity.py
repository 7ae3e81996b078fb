"""A store is read to its end: damage in a table that no question has read yet is told."""

from __future__ import annotations

import random
from pathlib import Path
from shutil import copytree

import pyoxigraph as ox

from memento.graph import oxigraph as whole


def made(folder: Path) -> list[Path]:
    """A store whose every index has a table of its own; its tables, the largest nine."""
    drawn = random.Random(1)
    quads = [
        ox.Quad(
            ox.NamedNode(f"urn:memory:{number}"),
            ox.NamedNode(f"urn:predicate:{number % 7}"),
            ox.Literal(f"a text of its own {drawn.random()}"),
            ox.NamedNode(f"urn:graph:{number % 3}"),
        )
        for number in range(2_000)
    ]
    store = ox.Store(folder)
    store.bulk_extend(quads)
    store.flush()
    return sorted((path for path in folder.glob("*.sst") if path.stat().st_size > 20_000), key=lambda path: path.name)


def test_a_store_that_is_sound_has_no_damage_and_its_files_stay_as_they_are(tmp_path: Path) -> None:
    made(tmp_path / "store")
    before = {path.name: path.read_bytes() for path in (tmp_path / "store").glob("*.sst")}

    assert whole.find_damage(tmp_path / "store") is None
    assert {path.name: path.read_bytes() for path in (tmp_path / "store").glob("*.sst")} == before


def test_damage_to_any_table_is_told_with_its_name_and_no_folder(tmp_path: Path) -> None:
    tables = made(tmp_path / "store")
    said = []
    for number, table in enumerate(tables):
        copy = tmp_path / str(number)
        copytree(tmp_path / "store", copy)
        with (copy / table.name).open("r+b") as file:
            file.seek(table.stat().st_size // 2)
            file.write(bytes(random.Random(2).randbytes(64)))
        said.append(whole.read_to_end(copy))

    assert len(tables) == 7  # the texts, and six orders
    assert all("cannot be read" in one for one in said), said
    assert "index by object " in " ".join(said)
    told = whole.find_damage(tmp_path / "0")
    assert told and str(tmp_path) not in told and tables[0].name in told


def test_what_is_no_store_is_damage(tmp_path: Path) -> None:
    assert whole.find_damage(tmp_path / "nothing")


def test_numbers_around_255_are_no_damage(tmp_path: Path) -> None:
    store, number = ox.Store(tmp_path / "store"), ox.NamedNode("urn:number")
    store.extend(ox.Quad(ox.NamedNode(f"urn:{one}"), number, ox.Literal(one), number) for one in range(600))
    del store

    assert whole.find_damage(tmp_path / "store") is None
