"""A process is killed while it encrypts, decrypts or reencrypts a folder, or makes a backup of one that is then encrypted."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from crash.converter import KEY, OTHER, STEPS
from crash.restorer import TAKING
from crash.writer import SETTINGS
from memento.errors import SettingsError
from memento.plugins.guard.folder import decrypt_folder, encrypt_folder, reencrypt_folder
from memento.plugins.guard.settings import EncryptionSettings
from memento.plugins.guard.vault import is_encrypted
from memento.python import Memento, open_memento
from memento.time import now

HERE = Path(__file__).parent
WORD = "Zyxwvortia"
TEXTS = {f"I live in {WORD}.", f"I like tea from {WORD}."}


def run_killed(program: str, *words: object) -> None:
    command = [sys.executable, str(HERE / program), *map(str, words)]
    environment = {"PYTHONPATH": ":".join(sys.path)}
    assert subprocess.run(command, capture_output=True, env=environment, check=False).returncode == -9


def read_texts(home: Path, key: EncryptionSettings) -> set[str]:
    with open_memento(home, configured=replace(SETTINGS, encryption=key), resume=False) as memento:
        assert isinstance(memento, Memento)
        assert memento.admin.check() == ()
        return {one.content for one in memento.list()}


def list_plain(home: Path) -> list[str]:
    """The files below a folder that have a word of the notes in them, or in their name."""
    return [
        str(path.relative_to(home))
        for path in home.rglob("*")
        if path.is_file() and (WORD.encode() in path.read_bytes() or WORD in str(path))
    ]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plain folder with two notes, a token, a backup and a checkpoint."""
    home = tmp_path_factory.mktemp("plain") / "home"
    with open_memento(home, configured=SETTINGS) as memento:
        assert isinstance(memento, Memento)
        memento.note(f"I live in {WORD}.")
        memento.note(f"I like tea from {WORD}.")
        memento.tokens.create("reader", tenant="local", namespaces=[], right="read", at=now())
        made = Path(memento.admin.backup().folder)
        memento.note(f"I own a boat in {WORD}.")
        assert {one.content for one in memento.list()} > TEXTS
    shutil.copytree(made, home / "checkpoints" / made.name)
    return home


@pytest.fixture
def home(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "home"))


def every(steps: list[str]) -> list[object]:
    """The last one in every run of the tests, the others with the rest of the kills."""
    return [pytest.param(step, marks=() if step == steps[-1] else pytest.mark.crash) for step in steps]


@pytest.mark.parametrize("step", every(list(TAKING)))
def test_a_killed_backup_is_not_in_plain_text_beside_an_encrypted_store(step: str, home: Path) -> None:
    run_killed("restorer.py", home, home / "backups", step, "open")
    assert list((home / "backups").glob("*.part"))

    done = encrypt_folder(home, KEY)

    assert list_plain(home) == []
    assert done.left == ()


@pytest.mark.parametrize("step", every(list(TAKING)))
def test_a_killed_backup_is_gone_once_the_folder_is_opened(step: str, home: Path) -> None:
    run_killed("restorer.py", home, home / "backups", step, "open")
    read_texts(home, EncryptionSettings())

    assert list(home.glob("*/*.part")) == []


def test_encrypt_names_every_file_that_is_not_sealed(home: Path) -> None:
    own = home / "backups" / "by-hand" / "notes.txt"
    own.parent.mkdir()
    own.write_text(WORD)
    (home / "old.nq").write_text(WORD)

    done = encrypt_folder(home, KEY)

    assert done.left == (str(own), str(home / "old.nq"))
    assert {str(home / one) for one in list_plain(home)} == set(done.left)


@pytest.mark.parametrize(
    ("what", "step"),
    [
        pytest.param(what, step, marks=() if step == list(steps)[-2] else pytest.mark.crash)
        for what, steps in STEPS.items()
        for step in steps
    ],
)
def test_a_killed_conversion_loses_nothing_and_the_next_start_leaves_one_whole_state(
    what: str, step: str, home: Path
) -> None:
    expected = read_texts(home, EncryptionSettings())
    if what != "encrypt":
        encrypt_folder(home, KEY)
    run_killed("converter.py", home, what, step)

    keys = [KEY, OTHER] if is_encrypted(home) else [EncryptionSettings()]
    for key in keys:
        try:
            assert read_texts(home, key) == expected
            break
        except SettingsError:
            assert key is not keys[-1]
    if is_encrypted(home):
        assert list_plain(home) == []
    elif what == "encrypt":
        encrypt_folder(home, key := KEY)
        assert list_plain(home) == []
    if what == "reencrypt" and key is KEY:
        reencrypt_folder(home, KEY, OTHER.key)
        assert list_plain(home) == []
        key = OTHER
    if is_encrypted(home):
        decrypt_folder(home, key)
    assert read_texts(home, EncryptionSettings()) == expected
    assert not list(home.glob("*.sealed"))
    assert not is_encrypted(home)
