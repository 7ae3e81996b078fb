"""Folders that are broken in many ways, and what `memento doctor` makes of each; settings written, and a service put away."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conftest import OFFLINE
from kept import keep
from memento.archive.check import examine_folder
from memento.datadir import DataFolder
from memento.graph.oxigraph import Oxigraph
from memento.interfaces.cli import main
from memento.iris import IRI, MEM
from memento.model import Change, Scope
from memento.python import Memento, open_memento
from memento.settings import ModelSettings
from memento.time import now

MAIN = Scope().graph


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("MEMENTO_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MEMENTO_EMBEDDING_MODEL", "trigram")
    monkeypatch.setenv("MEMENTO_EMBEDDING_CACHE", "false")
    return tmp_path / "home"


def run(*words: str, **extra: object) -> Result:
    return CliRunner().invoke(main, list(words), prog_name="memento", **extra)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a memory and a backup of it."""
    folder = tmp_path_factory.mktemp("sound") / "home"
    with open_memento(folder, configured=OFFLINE) as memento:
        assert isinstance(memento, Memento)
        keep(memento, "Tea is green.")
        memento.admin.backup()
    return folder


@pytest.fixture
def filled(sound: Path, home: Path) -> Path:
    """A copy of it, to be broken."""
    shutil.copytree(sound, home)
    return home


def name_unknown_key(home: Path) -> None:
    (home / "memento.toml").write_text("[server]\nprot = 6366\n")


def take_rights(home: Path) -> None:
    (home / "store").chmod(0o500)


def leave_owner(home: Path) -> None:
    (home / "owner.json").write_text(
        json.dumps({"pid": 1, "command": "memento serve", "address": "http://127.0.0.1:1"})
    )


def cut_backup(home: Path) -> None:
    [backup] = (home / "backups").iterdir()
    longest = max((one for one in backup.rglob("*") if one.is_file()), key=lambda one: one.stat().st_size)
    longest.write_bytes(longest.read_bytes()[:10])


def lose_store(home: Path) -> None:
    shutil.rmtree(home / "store")


def damage_store(home: Path) -> None:
    (home / "store" / "CURRENT").write_text("nothing that there is\n")


def damage_vectors(home: Path) -> None:
    (home / "vectors.sqlite").write_bytes(b"no database" * 1000)


def write_in_the_future(home: Path) -> None:
    with open_memento(home, configured=OFFLINE, clock=lambda: datetime(2199, 1, 1, tzinfo=UTC)) as memento:
        keep(memento, "Oslo is cold.")


def lose_a_memory(home: Path) -> None:
    write(home, (IRI("urn:memento:link:1"), MEM.to, IRI("urn:memento:memory:gone"), MAIN))


def let_indexes_differ(home: Path) -> None:
    with open_memento(home, configured=OFFLINE, resume=False) as memento:
        [memory] = memento.list()
    said = (memory.iri, MEM.content, memory.content, MAIN)
    write(home, (memory.iri, MEM.content, "Tea is black.", MAIN), removes=(said,))


def leave_a_note(home: Path) -> None:
    away = ModelSettings(
        provider="openai-compatible",
        base_url="http://127.0.0.1:9/v1",
        model="none",
        max_retries=0,
        fallback_to_rules=False,
    )
    with open_memento(home, configured=replace(OFFLINE, model=away)) as memento:
        assert memento.note("I like tea.").pending


def write(
    home: Path, *adds: tuple[IRI, IRI, object, IRI], removes: tuple[tuple[IRI, IRI, object, IRI], ...] = ()
) -> None:
    """Write to the store as another program would."""
    store = Oxigraph(home / "store")
    store.apply(Change(adds, removes))  # type: ignore[arg-type]
    store.close()


BROKEN: dict[str, tuple[Callable[[Path], None], str]] = {
    "settings": (name_unknown_key, "prot"),
    "no-rights": (take_rights, "chmod u+w"),
    "left-over-owner": (leave_owner, "owner.json"),
    "unreadable-backup": (cut_backup, "memento backup"),
    "missing-store": (lose_store, "memento restore"),
    "damaged-store": (damage_store, "memento restore"),
    "damaged-vectors": (damage_vectors, "made again from the graph"),
    "clock": (write_in_the_future, "2199-01-01"),
    "missing-memories": (lose_a_memory, "urn:memento:memory:gone"),
}
"""By the kind of what is found: how the folder is broken, and what is said of it."""


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_files_are_explained_with_what_to_do(filled: Path, kind: str) -> None:
    breaks, said = BROKEN[kind]
    breaks(filled)

    [found] = examine_folder(DataFolder(filled), now(), 0)

    assert found.kind == kind
    assert said in found.found + found.remedy and found.remedy.endswith(".")
    (filled / "store").chmod(0o700) if (filled / "store").exists() else None


def test_what_only_an_open_folder_shows_is_explained_too(filled: Path) -> None:
    leave_a_note(filled)
    let_indexes_differ(filled)
    done = run("doctor", "--json")
    assert done.exit_code == 1, done.output
    findings = {one["kind"]: one for one in json.loads(done.stdout)}
    assert "memento care retry" in findings["pending-note"]["remedy"]
    assert "memento care rebuild" in findings["outdated-vector"]["remedy"]


def test_a_folder_that_is_well_is_said_to_be(filled: Path) -> None:
    well = run("doctor")
    assert (well.exit_code, well.stdout) == (0, f"{filled} is well.\n")
    name_unknown_key(filled)
    ill = run("doctor")
    assert (
        ill.exit_code == 1
        and ill.stdout.startswith("settings: ignored, because there is no such setting: prot of [server]")
        and "\n  → Mend or " in ill.stdout
    )


def test_a_disk_that_is_nearly_full_and_another_embedder_are_told(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = run("doctor", "--room", "1000000000000")
    assert full.exit_code == 1 and "disk-full: " in full.stdout and "→ Make room" in full.stdout
    monkeypatch.setenv("MEMENTO_EMBEDDING_MODEL", "minilm")
    other = run("doctor")
    assert other.exit_code == 1 and "other-embedder: the vectors were made by trigram" in other.stdout
    assert (filled / "vectors.sqlite").stat().st_size  # a doctor who opened it would have replaced it


def test_settings_are_written_once_with_what_is_given_and_defaults(home: Path) -> None:
    made = run("setup", "--yes", "--port", "7000", "--json")
    assert made.exit_code == 0, made.output
    shown = json.loads(run("config", "show", "--json").stdout)
    assert (shown["server"]["port"], shown["scope"]["namespace"], shown["model"]["provider"]) == (7000, "main", "none")
    before = (home / "memento.toml").read_bytes()
    again = run("setup", "--yes")
    assert again.exit_code == 2 and "stays as it is" in again.stderr
    assert (home / "memento.toml").read_bytes() == before


def test_settings_are_asked_for_and_refused_where_they_make_no_sense(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMENTO_EMBEDDING_MODEL")
    assert run("setup", "--yes", "--embedder", "nothing").exit_code == 2
    assert not (home / "memento.toml").exists() and not list(home.glob("*.new"))
    asked = run("setup", input="work\n7001\ntrigram\nollama\nqwen3\n")
    assert asked.exit_code == 0, asked.output
    shown = json.loads(run("config", "show", "--json").stdout)
    assert (shown["scope"]["namespace"], shown["server"]["port"]) == ("work", 7001)
    assert (shown["model"]["provider"], shown["model"]["model"]) == ("ollama", "qwen3")


def test_a_teardown_stops_the_service_and_keeps_what_is_remembered(home: Path) -> None:
    assert run("setup", "--yes").exit_code == 0
    run("remember", "Tea is green.")
    words = [sys.executable, "-m", "memento", "serve", "--port", "0"]
    service = subprocess.Popen(words, env=dict(os.environ), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 60
        while DataFolder(home).serving_owner() is None and time.monotonic() < until:
            time.sleep(0.05)
        stopped = run("teardown", "--settings")
        assert stopped.exit_code == 0 and "Stopped the service at http://127.0.0.1:" in stopped.stdout, stopped.output
        assert service.wait(60) is not None
    finally:
        service.kill()
        service.wait()
    assert (home / "memento.toml.before-teardown").is_file() and not (home / "owner.json").exists()
    assert "Tea is green." in run("list").stdout
    assert "No service was running." in run("teardown").stdout


def test_a_folder_that_is_not_there_is_named_and_not_made(home: Path) -> None:
    done = run("doctor")
    assert done.exit_code == 2 and str(home) in done.output and "memento setup" in done.output
    assert not home.exists()
