"""A backup is the memory at one instant, whole or not there; put back, it is the memory again, and nothing is lost."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import OFFLINE
from doors import serving
from memento.access import Access
from memento.errors import FolderInUse, Forbidden, InputError, NotFound
from memento.graph import backups
from memento.operations.care import Export
from memento.python import Client, Memento, open_memento
from memento.python import restore_folder as restored
from memento.service.handlers.care import export_pieces
from memento.time import now


def contents(memento: Memento | Client) -> set[str]:
    return {one.content for one in memento.list(limit=1000)}


def opened(home: Path) -> Memento:
    found = open_memento(home, configured=OFFLINE)
    assert isinstance(found, Memento)
    return found


def test_a_backup_put_back_is_the_memory_as_it_was_and_what_was_there_stays_aside(
    memento: Memento, tmp_path: Path
) -> None:
    memento.note("I live in Lisbon.", at="2024-01-01")
    made = memento.admin.backup(tmp_path / "backups")
    memento.note("I live in Oslo.", at="2025-01-01")
    memento.note("I like tea.")
    done = memento.admin.restore(tmp_path / "backups")

    assert contents(memento) == {"I live in Lisbon."}
    assert memento.recall("Where do I live?").memories[0].content == "I live in Lisbon."
    assert memento.admin.check() == ()
    assert (done.folder, done.statements, done.vectors) == (made.folder, made.statements, made.vectors)
    memento.note("I like coffee.")
    assert len(contents(memento)) == 2
    memento.close()
    (tmp_path / "before").mkdir()
    (Path(str(done.aside)) / "store").rename(tmp_path / "before" / "store")
    with opened(tmp_path / "before") as before:
        assert contents(before) == {"I live in Oslo.", "I like tea."}


def test_a_backup_opens_as_a_folder_of_its_own(memento: Memento, tmp_path: Path) -> None:
    memento.note("I live in Lisbon.")
    memento.admin.backup()
    memento.note("I live in Oslo.")
    aside = restored(tmp_path / "other", memento.datadir.backups)

    with opened(tmp_path / "other") as other:
        assert contents(other) == {"I live in Lisbon."}
        assert other.admin.check() == ()
    assert contents(memento) == {"I live in Oslo."}
    assert aside.statements > 0


def test_notes_that_come_meanwhile_are_in_a_backup_whole_or_not_at_all(memento: Memento, tmp_path: Path) -> None:
    stop = threading.Event()
    noted: list[int] = []

    def write() -> None:
        while not stop.is_set():
            memento.note(f"My cat number {len(noted)} is called Cat{len(noted)}.")
            noted.append(1)

    writer = threading.Thread(target=write)
    writer.start()
    while len(noted) < 3:
        stop.wait(0.01)
    before = len(noted)
    memento.admin.backup(tmp_path / "backups")
    after = len(noted)
    stop.set()
    writer.join()
    restored(tmp_path / "copy", tmp_path / "backups")

    with opened(tmp_path / "copy") as copy:
        assert copy.admin.check() == ()
        assert before <= copy.status().notes <= after + 1
        assert copy.status().vectors == len(copy.service.stores.indexes.file.read_digests())


def test_a_running_service_is_backed_up_and_restored(memento: Memento, tmp_path: Path) -> None:
    memento.note("I live in Lisbon.")
    with serving(memento):
        reached = open_memento(memento.datadir.path)
        assert isinstance(reached, Client)
        made = reached.admin.backup(tmp_path / "backups")
        reached.note("I live in Oslo.")
        with pytest.raises(FolderInUse, match="memento serve"):
            restored(memento.datadir.path, tmp_path / "backups")
        done = reached.admin.restore(tmp_path / "backups")

        assert contents(reached) == {"I live in Lisbon."}
        assert done.folder == made.folder
        assert b"Lisbon" in reached.graphs.query_bytes("SELECT ?o { ?s ?p ?o }", accept="text/csv")[0]
        reached.note("I like tea.")
        assert "I like tea." in contents(reached)
        assert reached.admin.check() == ()


def test_questions_go_on_while_a_backup_is_put_back(memento: Memento, tmp_path: Path) -> None:
    memento.note("I live in Lisbon.")
    memento.admin.backup(tmp_path / "backups")
    stop, answers = threading.Event(), set[str]()

    def ask() -> None:
        while not stop.is_set():
            try:
                answers.update(one.content for one in memento.recall("Where do I live?").memories)
            except Exception as error:
                answers.add(type(error).__name__)

    asker = threading.Thread(target=ask)
    asker.start()
    for _ in range(2):
        memento.admin.restore(tmp_path / "backups")
    stop.set()
    asker.join()

    assert "I live in Lisbon." in answers
    assert answers <= {"I live in Lisbon.", "GraphError"}
    assert memento.recall("Where do I live?").memories


def test_an_export_that_is_being_read_goes_on_when_a_backup_is_put_back(memento: Memento) -> None:
    memento.note("I live in Lisbon.")
    memento.admin.backup()
    memento.note("I live in Oslo.")
    pieces = export_pieces(Export("-", "trig"), memento.context).pieces
    first = next(pieces)
    memento.admin.restore()

    assert b"Oslo" in b"".join([first, *pieces])
    assert contents(memento) == {"I live in Lisbon."}


def flipped(backup: Path) -> None:
    table = next((backup / "store").glob("*.sst"))
    data = bytearray(table.read_bytes())
    data[len(data) // 2] ^= 1
    table.unlink()  # it is shared with the running store
    table.write_bytes(data)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "a byte": flipped,
    "a lost file": lambda backup: (backup / "vectors.sqlite").unlink(),
    "another file": lambda backup: (backup / "store" / "more").write_text("x"),
    "no manifest to read": lambda backup: (backup / backups.MANIFEST).write_text("{"),
    "half a manifest": lambda backup: (backup / backups.MANIFEST).write_text('{"format": 1}'),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_backup_is_refused_and_everything_stays(damage: str, memento: Memento, tmp_path: Path) -> None:
    memento.note("I live in Lisbon.")
    made = memento.admin.backup(tmp_path / "backups")
    memento.note("I live in Oslo.")
    DAMAGES[damage](Path(made.folder))
    with pytest.raises(InputError, match="damaged"):
        memento.admin.restore(made.folder)

    assert contents(memento) == {"I live in Oslo."}
    assert not list(memento.datadir.path.glob("*restore*"))


def test_a_backup_of_a_newer_version_is_refused(memento: Memento, tmp_path: Path) -> None:
    made = memento.admin.backup(tmp_path / "backups")
    file = Path(made.folder) / backups.MANIFEST
    said = json.loads(file.read_text())
    file.write_text(json.dumps({**said, "format": backups.FORMAT + 1, "memento": "9.0"}))
    with pytest.raises(InputError, match=r"Memento 9\.0, which is newer"):
        memento.admin.restore(made.folder)


def test_only_the_latest_are_kept_where_that_is_wanted(memento: Memento, tmp_path: Path) -> None:
    made = [memento.admin.backup(tmp_path / "backups") for _ in range(3)]
    last = memento.admin.backup(tmp_path / "backups", keep=2)

    assert [path.name for path in backups.list_backups(tmp_path / "backups")] == [
        Path(one.folder).name for one in (made[2], last)
    ]
    assert last.removed == tuple(one.folder for one in made[:2])
    with pytest.raises(InputError, match="at least 1"):
        memento.admin.backup(tmp_path / "backups", keep=0)


def test_a_folder_with_other_things_is_left_alone(memento: Memento, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("x")
    with pytest.raises(InputError, match=r"letter\.txt"):
        memento.admin.backup(tmp_path / "mine")
    with pytest.raises(InputError, match="cannot hold backups"):
        memento.admin.backup(tmp_path / "mine" / "letter.txt")
    with pytest.raises(NotFound, match="no backup"):
        memento.admin.restore(tmp_path / "mine")


def test_a_backup_goes_where_the_caller_is_if_its_folder_is_relative(
    memento: Memento, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    memento.admin.backup("backups")

    assert [one.is_dir() for one in (tmp_path / "backups").iterdir()] == [True]


def test_tokens_are_in_no_backup_and_settings_come_back_where_there_are_none(memento: Memento, tmp_path: Path) -> None:
    memento.datadir.settings_file.write_text("[limits]\nresults = 7\n")
    memento.tokens.create("phone", tenant="local", namespaces=[], right="read", at=now())
    made = memento.admin.backup(tmp_path / "backups")
    memento.tokens.revoke("phone")
    memento.tokens.create("tablet", tenant="local", namespaces=[], right="read", at=now())
    memento.datadir.settings_file.write_text("[limits]\nresults = 9\n")
    memento.admin.restore(tmp_path / "backups")
    restored(tmp_path / "new", tmp_path / "backups")

    assert not [path for path in Path(made.folder).rglob("*") if "token" in path.name]
    assert [one.name for one in memento.tokens.list_issued()] == ["tablet"]
    assert "results = 9" in memento.datadir.settings_file.read_text()
    assert "results = 7" in (tmp_path / "new" / "memento.toml").read_text()


def test_what_was_erased_is_in_no_later_backup(memento: Memento, tmp_path: Path) -> None:
    [iri] = memento.note("I feel best where quinces ripen late.").memories
    memento.forget(iri, erase=True)
    made = memento.admin.backup(tmp_path / "backups")
    there = [path for path in memento.datadir.store.iterdir() if b"quinces ripen" in path.read_bytes()]

    found = [
        path.name for path in Path(made.folder).rglob("*") if path.is_file() and b"quinces ripen" in path.read_bytes()
    ]
    assert (bool(there), found) == (True, []), "the running store's own files are written anew at the next start"
    memento.admin.restore(tmp_path / "backups")
    assert memento.admin.check() == ()


def test_a_backup_is_nobody_elses(memento: Memento, tmp_path: Path) -> None:
    made = memento.admin.backup(tmp_path / "backups")

    assert (Path(made.folder).stat().st_mode & 0o077, (tmp_path / "backups").stat().st_mode & 0o077) == (0, 0)


def test_only_who_sits_at_the_machine_may_name_a_folder(memento: Memento, tmp_path: Path) -> None:
    admin = memento.with_access(Access(right="admin", name="far away"))
    made = admin.admin.backup()

    assert Path(made.folder).parent == memento.datadir.backups
    assert admin.admin.restore().folder == made.folder
    for method in (admin.admin.backup, admin.admin.restore):
        with pytest.raises(Forbidden, match="on the machine itself"):
            method(tmp_path / "backups")
    for access in (
        Access(right="write"),
        Access(right="admin", tenant="rival"),
        Access(right="admin", namespaces=("a",)),
    ):
        with pytest.raises(Forbidden):
            memento.with_access(access).admin.backup()
