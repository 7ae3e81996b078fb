"""A store that cannot be opened: its backup is read in its place, nothing is written, and everybody is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest
from click.testing import CliRunner, Result

from conftest import OFFLINE
from doors import serving
from memento.archive.check import examine_folder
from memento.datadir import DataFolder
from memento.errors import Damaged, GraphError, NotFound, ReadOnly
from memento.graph.oxigraph import Oxigraph
from memento.interfaces.cli import main
from memento.interfaces.web.app import create_app
from memento.python import Client, Memento, open_memento
from memento.python import restore_folder as restored
from memento.service.handlers.care import make_due_checkpoint
from memento.service.handlers.recall import health
from memento.time import now


def opened(home: Path) -> Memento:
    found = open_memento(home, configured=OFFLINE)
    assert isinstance(found, Memento)
    return found


def contents(memento: Memento | Client) -> set[str]:
    return {one.content for one in memento.list(limit=1000)}


def files(folder: Path) -> dict[str, bytes]:
    """What a folder holds, but for the engine's own log of its attempts."""
    return {path.name: path.read_bytes() for path in folder.glob("*") if not path.name.startswith(("LOG", "LOCK"))}


def flipped(store: Path) -> None:
    table = max(store.glob("*.sst"), key=lambda path: path.stat().st_size)
    table.unlink(missing_ok=False)


def garbled(store: Path) -> None:
    manifest = next(store.glob("MANIFEST*"))
    manifest.write_bytes(bytes(byte ^ 0xFF for byte in manifest.read_bytes()))


def headless(store: Path) -> None:
    (store / "CURRENT").unlink()


def gone(store: Path) -> None:
    rmtree(store)


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A data folder with a checkpoint that knows of tea, and a store that knew of coffee too and lost a file."""
    home = tmp_path / "home"
    with opened(home) as memento:
        memento.note("I like tea.")
        checkpoint(memento)
        memento.note("I like coffee.")
    headless(home / "store")
    return home


def checkpoint(memento: Memento) -> float | None:
    """Let the first minute of the process be over, and the worker do what it does."""
    memento.service.opened_at -= timedelta(minutes=2)
    return make_due_checkpoint(memento.service)


@pytest.mark.parametrize("damage", [flipped, garbled, headless, gone])
def test_a_store_that_is_damaged_is_left_as_it_is_and_its_backup_is_read(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    with opened(tmp_path) as memento:
        memento.note("I live in Lisbon.")
        memento.admin.backup()
        memento.note("I like tea.")
    damage(tmp_path / "store")
    before = files(tmp_path / "store")
    with opened(tmp_path) as memento:
        found = memento.recall("Where do I live?")

        assert contents(memento) == {"I live in Lisbon."}
        assert found.memories[0].content == "I live in Lisbon."
        assert found.degraded and "memento restore" in found.degraded
        assert str(tmp_path) not in found.degraded
        assert [one.what for one in memento.admin.check()] == ["degraded"]
    assert files(tmp_path / "store") == before
    assert not (tmp_path / "standing-in").exists()


def test_a_checkpoint_survives_what_is_written_over_the_files_of_the_store(tmp_path: Path) -> None:
    with opened(tmp_path) as memento:
        memento.note("I like tea.")
        checkpoint(memento)
    for table in (tmp_path / "store").glob("*.sst"):
        with table.open("r+b") as file:  # in place: whoever shares the file has it too
            file.seek(20)
            file.write(b"garbage" * 8)
    with opened(tmp_path) as memento:
        assert "Corruption" in str(memento.degraded)
        assert contents(memento) == {"I like tea."}


def test_nothing_is_written_while_a_backup_stands_in(damaged: Path) -> None:
    with opened(damaged) as memento:
        [iri] = (memento.recall("tea").memories[0].iri,)
        writes: list[Callable[[], Any]] = [
            lambda: memento.note("I like wine."),
            lambda: memento.correct(iri, "I like green tea."),
            lambda: memento.forget(iri),
            lambda: memento.review.retry(),
            lambda: memento.graphs.update("INSERT DATA { <urn:a> <urn:b> <urn:c> }"),
            lambda: memento.graphs.put(b"<urn:a> <urn:b> <urn:c> .", "urn:memento:data:local:x"),
            lambda: memento.admin.rebuild(),
            lambda: memento.admin.backup(),
        ]
        for write in writes:
            with pytest.raises(ReadOnly, match="read-only"):
                write()

        assert b"tea" in memento.graphs.query_bytes("SELECT ?o { ?s ?p ?o }")[0]


def test_every_door_says_so(damaged: Path) -> None:
    with opened(damaged) as memento:
        memento.warm_up()
        with create_app(memento.service).test_client() as client:
            health = client.get("/health")
            stranger = client.get("/health", environ_base={"REMOTE_ADDR": "10.0.0.7"})
            written = client.post("/memory/notes", json={"content": "I like wine."})
            updated = client.post(
                "/sparql/update",
                data="INSERT DATA { <urn:a> <urn:b> <urn:c> }",
                content_type="application/sparql-update",
            )
            recalled = client.get("/memory/recall?query=tea&format=text")
            block = client.get("/memory/recall?query=tea&format=xml")

        assert (health.status_code, dict(health.json or {})["status"], dict(health.json or {})["store"]) == (
            200,
            "degraded",
            "damaged",
        )
        assert "CURRENT is missing" in dict(health.json or {})["degraded"]
        assert stranger.json == {"status": "degraded"}
        assert (written.status_code, dict(written.json or {})["error"]["code"]) == (503, "read_only")
        assert "memento restore" in dict(written.json or {})["error"]["message"]
        assert updated.status_code == 503
        assert "read-only" in recalled.headers["Memento-Degraded"]
        assert "Note: the memory is read-only" in recalled.text
        assert "<notice>the memory is read-only" in block.text
        assert "checkpoints" in str(memento.status().degraded)


def test_a_running_service_puts_the_backup_in_place_and_writes_again(damaged: Path) -> None:
    with opened(damaged) as memento, serving(memento):
        reached = open_memento(damaged)
        assert isinstance(reached, Client)
        with pytest.raises(ReadOnly):
            reached.note("I like wine.")
        done = reached.admin.restore()

        assert memento.degraded is None
        assert reached.status().degraded is None
        reached.note("I like wine.")
        assert contents(reached) == {"I like tea.", "I like wine."}
        assert reached.admin.check() == ()
    assert (Path(str(done.aside)) / "store").is_dir()
    assert not (damaged / "standing-in").exists()


def test_the_command_line_says_so_and_the_way_out(damaged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMENTO_EMBEDDING_MODEL", "trigram")
    monkeypatch.setenv("MEMENTO_EMBEDDING_CACHE", "false")

    def run(*words: str) -> Result:
        return CliRunner().invoke(main, ["--home", str(damaged), *words], prog_name="memento")

    status, noted, restored = run("--json", "status"), run("note", "I like wine."), run("restore")
    after = run("list")

    assert "read-only" in json.loads(status.stdout)["degraded"]
    assert "memento restore" in status.stderr
    assert (noted.exit_code, "read-only" in noted.stderr) == (1, True)
    assert restored.exit_code == 0
    assert "checkpoints" in restored.stdout
    assert "I like tea." in after.stdout
    assert after.stderr == ""


def test_a_store_without_any_backup_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    with opened(tmp_path) as memento:
        memento.note("I like tea.")
    headless(tmp_path / "store")

    with pytest.raises(Damaged, match="memento restore FOLDER"):
        opened(tmp_path)
    assert not (tmp_path / "store" / "CURRENT").exists()


def test_a_backup_that_is_damaged_too_gives_way_to_an_older_one(damaged: Path) -> None:
    [whole] = (damaged / "checkpoints").iterdir()
    newer = whole.with_name("20990101T000000.000Z")
    newer.mkdir()
    (newer / "manifest.json").write_text((whole / "manifest.json").read_text())
    with opened(damaged) as memento:
        assert memento.degraded and memento.degraded.backup == str(whole)


def test_a_store_that_another_program_has_open_is_not_damaged(tmp_path: Path) -> None:
    with opened(tmp_path) as memento:
        memento.note("I like tea.")
        memento.admin.backup()
    other = Oxigraph(tmp_path / "store")
    with pytest.raises(GraphError, match="lock") as raised:
        opened(tmp_path)
    other.close()

    assert not isinstance(raised.value, Damaged)
    with opened(tmp_path) as memento:
        assert memento.degraded is None


def test_a_checkpoint_is_made_when_it_is_due_and_something_was_written(memento: Memento) -> None:
    folder = memento.datadir.checkpoints
    early = make_due_checkpoint(memento.service)
    checkpoint(memento)
    empty = folder.exists()
    memento.note("I like tea.")
    checkpoint(memento)
    [first] = folder.iterdir()
    memento.note("I like coffee.")

    assert early and 0 < early <= 60
    assert not empty
    assert 86_000 < (make_due_checkpoint(memento.service) or 0) <= 86_400
    assert list(folder.iterdir()) == [first]
    assert {path.stat().st_nlink for path in (first / "store").iterdir()} == {1}


def test_few_checkpoints_are_kept_and_none_that_holds_what_was_erased(memento: Memento) -> None:
    folder = memento.datadir.checkpoints
    [iri] = memento.note("My dog is called Snollygoster.").memories
    for number in range(3):
        checkpoint(memento)
        for one in folder.iterdir():
            if not one.name.startswith("2020"):  # of long ago, so that the next one is due
                one.rename(folder / f"2020010{number + 1}T000000.000Z")
        memento.note(f"I like tea number {number}.")
    kept = len(list(folder.iterdir()))
    memento.forget(iri, erase=True)
    left = list(folder.iterdir())
    checkpoint(memento)
    [fresh] = folder.iterdir()

    assert (kept, left) == (2, [])
    assert not any(b"is called Snollygoster" in path.read_bytes() for path in fresh.rglob("*") if path.is_file())


def overwritten(store: Path) -> None:
    """Garbage in the middle of every table, as it lies on the disk; what the engine has read already it does not read again."""
    for table in store.glob("*.sst"):
        with table.open("r+b") as file:
            file.seek(table.stat().st_size // 3)
            file.write(b"garbage" * 8)


def test_damage_that_no_question_has_met_is_found_and_no_backup_gives_way_to_it(tmp_path: Path) -> None:
    with opened(tmp_path) as memento:
        memento.note("I like tea.")
        checkpoint(memento)
    [good] = (tmp_path / "checkpoints").iterdir()
    long_ago = good.rename(good.with_name("20200101T000000.000Z"))
    with opened(tmp_path) as memento:
        memento.note("I like coffee.")
        sound = memento.admin.check()
        overwritten(tmp_path / "store")
        found = memento.admin.check()
        with pytest.raises(Damaged, match="none was removed"):
            memento.admin.backup(keep=1)
        memento.service.settings = replace(memento.settings, checkpoints=replace(memento.settings.checkpoints, keep=1))
        memento.service.stores.harm = None
        checkpoint(memento)
        report, status = health(memento.context, {}), memento.status()

        assert sound == ()
        assert [one.what for one in found] == ["damaged-store"]
        assert "orruption" in found[0].detail and "memento restore" in found[0].detail
        assert list((tmp_path / "backups").iterdir()) == []
        assert list((tmp_path / "checkpoints").iterdir()) == [long_ago]
        assert (report.store, report.status) != ("ok", "ok")
        assert status.degraded and "the store is damaged" in status.degraded
        memento.admin.restore(tmp_path / "checkpoints")
        assert memento.admin.check() == ()
        assert contents(memento) == {"I like tea."}
        assert health(memento.context, {}).store == "ok"


def test_every_command_says_so_once_beside_what_it_prints(damaged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMENTO_EMBEDDING_MODEL", "trigram")
    monkeypatch.setenv("MEMENTO_EMBEDDING_CACHE", "false")
    reads = (
        ["list"],
        ["query", "SELECT ?s { ?s ?p ?o } LIMIT 1"],
        ["keys", "find", "tea"],
        ["manifest"],
        ["export", str(damaged.parent / "out.trig")],
        ["living", "archive", "--dry-run"],
    )
    done: list[Result] = []
    with opened(damaged) as memento, serving(memento):
        home = ["--home", str(damaged)]
        done += [CliRunner().invoke(main, [*home, *words], prog_name="memento") for words in reads]
    done += [CliRunner().invoke(main, ["--home", str(damaged), "list"], prog_name="memento")]

    for one in done:
        assert one.exit_code == 0, one.output
        [line] = one.stderr.splitlines()
        assert line.startswith("memento: the memory is read-only and of 20")
        assert "what was noted later is not in it" in line


def test_the_pages_say_so_before_anything_else(damaged: Path) -> None:
    browser = {"Accept": "text/html"}
    with opened(damaged) as memento, create_app(memento.service).test_client() as client:
        pages = [client.get(path, headers=browser).text for path in ("/", "/map", "/sparql")]
        foreseen = client.post("/memory/archive", json={"dry_run": True})
        archived = client.post("/memory/archive", json={})
        client.post("/memory/restore", json={})
        after = [client.get(path, headers=browser).text for path in ("/", "/map", "/sparql")]

    assert all('role="alert">the memory is read-only' in page for page in pages)
    assert not any('role="alert"' in page for page in after)
    assert (foreseen.status_code, archived.status_code) == (200, 503)


def test_a_memory_that_is_read_in_full_shows_what_is_written_of_it(damaged: Path) -> None:
    with opened(damaged) as memento:
        [key] = memento.keys.find("tea").keys[:1]
        [memory] = memento.keys.read(key.key).memories[:1]
        first, second = (memento.keys.read_memory(memory.memory, via=key.key) for _ in range(2))
        [trodden] = [one for one in second.keys if one.key == key.key]
        memento.admin.restore()
        written = memento.keys.read_memory(memory.memory, via=key.key)

    assert (first.depth, first.access_count) == (second.depth, second.access_count) == (memory.depth, 0)
    assert trodden.is_traversed
    assert trodden.weight == memory.weight
    assert written.depth > second.depth
    assert written.access_count == 1


def test_where_no_backup_fits_it_is_said_why_and_what_can_be_done(damaged: Path) -> None:
    [only] = (damaged / "checkpoints").iterdir()
    (only / "vectors.sqlite").write_bytes(b"garbage")
    with pytest.raises(Damaged, match=r"none of the 1 in .* fits: the backup .* is damaged: vectors.sqlite") as raised:
        opened(damaged)
    rmtree(damaged / "checkpoints")
    with pytest.raises(NotFound) as refused:
        restored(damaged)

    for said in (str(raised.value), str(refused.value)):
        assert f"move {damaged} away" in said
        assert "memento import" in said
        assert "memento restore FOLDER" in said
    assert "`memento backup" not in str(refused.value)


@pytest.mark.parametrize("kept", ["vectors.sqlite", "indexes"])
def test_a_store_that_somebody_deleted_is_not_silently_made_again_where_there_is_no_backup(
    tmp_path: Path, kept: str
) -> None:
    with opened(tmp_path) as memento:
        memento.note("I live in Lisbon.")
    rmtree(tmp_path / "store")
    if kept == "indexes":
        for file in tmp_path.glob("vectors.sqlite*"):
            file.unlink()
        (tmp_path / "indexes").mkdir(exist_ok=True)
        (tmp_path / "indexes" / "words.npz").write_bytes(b"words")
    for _ in range(2):  # the first attempt leaves no empty store for the second
        with pytest.raises(Damaged, match=f"(?s){kept}.*memento restore FOLDER.*begin with an empty memory"):
            opened(tmp_path)
    [finding] = [one for one in examine_folder(DataFolder(tmp_path), now(), 0) if one.kind == "missing-store"]
    assert kept in finding.found and "memento restore FOLDER" in finding.remedy

    for path in (tmp_path / "indexes", *tmp_path.glob("vectors.sqlite*")):
        rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    with opened(tmp_path) as memento:
        assert contents(memento) == set()


def test_a_folder_in_which_nothing_was_remembered_opens_without_its_store(tmp_path: Path) -> None:
    opened(tmp_path).close()
    rmtree(tmp_path / "store")
    opened(tmp_path).close()
