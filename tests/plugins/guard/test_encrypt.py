"""A data folder that is encrypted: nothing in plain text in it, whatever is done; converted both ways, and with another key."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from memento.access import Tokens
from memento.datadir import DataFolder
from memento.errors import Damaged, InputError, SettingsError
from memento.plugins.cases.nouns import CaseRow
from memento.plugins.guard.folder import decrypt_folder, encrypt_folder, reencrypt_folder, unlock_folder
from memento.plugins.guard.settings import EncryptionSettings
from memento.plugins.guard.vault import HEADER, SEALED, Vault, is_encrypted
from memento.python import Memento, open_memento, restore_folder
from memento.settings import EmbeddingSettings, Settings
from memento.time import now

KEY = EncryptionSettings(key="the first key of the tests")
OTHER = EncryptionSettings(key="another key of the tests")
PLAIN = EncryptionSettings()
TEXT = "Zebulon moved to Quixotopia Heights."
WORDS = (
    b"Zebulon",
    b"zebulon",
    b"Quixotopia",
    b"quixotopia",
    b"Frobnitz",
    b"narrow-token",
    b"urn:memento:",
    b"purl.org",
)


@contextmanager
def opened(home: Path, encryption: EncryptionSettings = KEY) -> Iterator[Memento]:
    settings = Settings(embedding=EmbeddingSettings(model="trigram", cache=False), encryption=encryption)
    memento = open_memento(home, configured=settings, resume=False)
    assert isinstance(memento, Memento)
    with memento:
        yield memento


def texts(home: Path, encryption: EncryptionSettings = KEY) -> set[str]:
    with opened(home, encryption) as memento:
        assert memento.admin.check() == ()
        return {one.content for one in memento.list()}


def files_in(home: Path) -> list[Path]:
    return [path for path in home.rglob("*") if path.is_file()]


def plain_text_in(home: Path) -> list[tuple[bytes, str]]:
    """The words of the tests that stand in some file or in the name of one, with that file."""
    return [
        (word, str(path.relative_to(home)))
        for path in files_in(home)
        for word in WORDS
        if word in path.read_bytes() or word.decode() in str(path.relative_to(home))
    ]


def snapshot(home: Path, target: Path) -> Path:
    """What a kill would leave: the files as they are now, while the folder is open."""
    target.mkdir()
    for path in home.iterdir():
        if path.is_file() and path.suffix in (".sealed", ".json") and path.name != "owner.json":
            shutil.copy(path, target / path.name)
    return target


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed encrypted folder in which much was done, with a backup and a token; `killed` beside it was never closed."""
    home = tmp_path_factory.mktemp("encrypted") / "home"
    with opened(home) as memento:
        memento.note("Zebulon lives in Quixotopia.")
        memento.note("I work at Frobnitz Limited.", wait=False)
        memento.keys.remember("Zebulon keeps bees.", ["zebulon", "bees of quixotopia"])
        memento.recall("Where does Zebulon live?")
        memento.keys.find("zebulon")
        memento.cases.add([CaseRow(task="Ship the Frobnitz to Quixotopia.", plan="1. Ask Zebulon.", outcome="success")])
        memento.cases.retrieve("How do I ship to Quixotopia?")
        memento.graphs.update(
            'INSERT DATA { GRAPH <urn:memento:data:local:own> { <urn:x:1> <urn:x:p> _:zebulon . _:zebulon <urn:x:q> "Frobnitz" } }'
        )
        memento.tokens.create("narrow-token", tenant="local", namespaces=[], right="read", at=now())
        memento.admin.backup()
        memento.note(TEXT)
        assert plain_text_in(home) == []
        memento.export(home.parent / "before.nq", past=False)
        snapshot(home, home.parent / "killed")
    return home


@pytest.fixture
def home(used: Path, tmp_path: Path) -> Path:
    """A folder like it, to be changed."""
    return Path(shutil.copytree(used, tmp_path / "home"))


def statements(export: Path) -> set[str]:
    return {line for line in export.read_text(encoding="utf-8").splitlines() if not line.startswith("#")}


def test_no_file_has_a_word_of_what_was_noted_asked_or_named(used: Path) -> None:
    assert plain_text_in(used) == []
    assert {path.name for path in used.iterdir()} == {HEADER, SEALED, "tokens.json", "backups", "memento.lock"}


def test_every_file_is_for_its_owner_alone(used: Path) -> None:
    assert [path for path in files_in(used) if path.stat().st_mode & 0o077] == []


def test_nothing_stays_in_memory_once_the_folder_is_closed(used: Path) -> None:
    with opened(used) as memento:
        work = memento.datadir.work
        assert work != used
        assert work.stat().st_mode & 0o077 == 0

    assert not work.exists()


def test_what_was_written_is_there_to_the_letter_after_a_start_and_after_a_kill(used: Path, tmp_path: Path) -> None:
    killed = Path(shutil.copytree(used.parent / "killed", tmp_path / "killed"))
    for number, folder in enumerate((used, killed)):
        with opened(folder) as memento:
            memento.cases.retrieve("How do I ship to Quixotopia?")  # whose vectors are made again when they are wanted
            assert memento.admin.check() == ()
            memento.export(tmp_path / f"{number}.nq")

    before = statements(used.parent / "before.nq")
    assert len(before) > 50
    assert before <= statements(tmp_path / "0.nq")
    assert before <= statements(tmp_path / "1.nq")


@pytest.mark.parametrize("wrong", [OTHER, PLAIN, EncryptionSettings(key="short")])
def test_a_wrong_or_missing_key_is_refused_and_changes_nothing(used: Path, wrong: EncryptionSettings) -> None:
    before = {path: path.read_bytes() for path in files_in(used)}

    with pytest.raises(SettingsError, match="key"), opened(used, wrong):
        pass

    assert {path: path.read_bytes() for path in files_in(used)} == before


def test_a_plain_folder_is_not_opened_with_a_key_and_the_error_names_the_command(tmp_path: Path) -> None:
    with opened(tmp_path, PLAIN) as memento:
        memento.note("I like tea.")

    with pytest.raises(SettingsError, match="memento store encrypt"), opened(tmp_path):
        pass
    assert texts(tmp_path, PLAIN) == {"I like tea."}


def test_a_folder_must_be_encrypted_where_that_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="--encrypted takes a key"), opened(tmp_path, EncryptionSettings(on=True)):
        pass


def test_plain_text_is_never_put_on_a_disk(tmp_path: Path) -> None:
    if not Path("/proc/mounts").is_file():
        pytest.skip("this system does not say what is a disk")
    disk = replace(KEY, memory="/proc")

    with pytest.raises(SettingsError, match="MEMENTO_ENCRYPTION_MEMORY"), opened(tmp_path, disk):
        pass


def test_a_plain_folder_is_converted_there_and_back_with_its_backups(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with opened(home, PLAIN) as memento:
        memento.note("Zebulon lives in Quixotopia.")
        memento.tokens.create("narrow-token", tenant="local", namespaces=[], right="read", at=now())
        memento.admin.backup()
        memento.note("I work at Frobnitz Limited.")
    (home / "before-restore-20260101T000000.000Z").mkdir()
    (home / "before-restore-20260101T000000.000Z" / "note").write_text("Zebulon")
    expected = texts(home, PLAIN)
    for copy in (home / "index-copy", home / "workers" / "1" / "index-copy"):
        copy.mkdir(parents=True, exist_ok=True)
        (copy / "rows.lance").write_text("Zebulon")
    assert len(plain_text_in(home)) > 5

    done = encrypt_folder(home, KEY)

    assert (done.encrypted, done.backups, done.left) == (True, 1, ())
    assert plain_text_in(home) == []
    assert texts(home) == expected
    with pytest.raises(InputError, match="encrypted already"):
        encrypt_folder(home, KEY)

    done = decrypt_folder(home, KEY)

    assert (done.encrypted, done.backups) == (False, 1)
    assert texts(home, PLAIN) == expected
    assert [one.name for one in Tokens(home / "tokens.json").list_issued()] == ["narrow-token"]
    restore_folder(home)
    assert texts(home, PLAIN) == {"Zebulon lives in Quixotopia."}


def test_what_a_kill_left_of_a_conversion_is_finished_by_the_next_start(home: Path, tmp_path: Path) -> None:
    expected = texts(home)
    plain = Path(shutil.copytree(home, tmp_path / "plain"))
    decrypt_folder(plain, KEY)
    shutil.copytree(plain / "store", home / "store")  # as before the keys are gone, or after they are there
    (home / "tokens.json").write_bytes((plain / "tokens.json").read_bytes())

    assert texts(home) == expected
    assert plain_text_in(home) == []


def test_after_a_change_of_keys_the_old_one_opens_nothing(home: Path) -> None:
    expected = texts(home)
    backup = next((home / "backups").iterdir())

    done = reencrypt_folder(home, KEY, OTHER.key)

    assert (done.backups, done.left) == (1, ())
    for folder in (home, backup):
        with pytest.raises(SettingsError, match="does not open"):
            Vault(folder, KEY.key)
    assert texts(home, OTHER) == expected
    restore_folder(home, configured=Settings(encryption=OTHER))
    assert len(texts(home, OTHER)) < len(expected)


def test_a_change_of_keys_that_was_killed_is_finished_by_the_next_start(home: Path) -> None:
    expected = texts(home)
    old = Vault(home, KEY.key)
    old.start_rotation(OTHER.key)

    assert texts(home, OTHER) == expected
    assert not Vault(home, OTHER.key).is_rotating
    with pytest.raises(SettingsError, match="does not open"):
        Vault(next((home / "backups").iterdir()), KEY.key)


def test_a_backup_is_put_back_while_the_memory_is_open_and_what_was_there_is_kept_sealed(home: Path) -> None:
    before = texts(home)
    with opened(home) as memento:
        restored = memento.admin.restore()
        assert {one.content for one in memento.list()} < before
        memento.note("Zebulon likes Frobnitz tea.")
        killed = snapshot(home, home.parent / "killed")

    assert any("Frobnitz tea" in one for one in texts(killed))
    assert texts(Path(str(restored.aside))) == before
    assert plain_text_in(home) == []


def test_an_encrypted_backup_makes_a_new_folder_encrypted_and_is_refused_by_a_plain_one(
    home: Path, tmp_path: Path
) -> None:
    restore_folder(tmp_path / "new", home / "backups", configured=Settings(encryption=KEY))

    assert is_encrypted(tmp_path / "new")
    assert any("Zebulon" in one for one in texts(tmp_path / "new"))
    with pytest.raises(InputError, match="is encrypted"):
        restore_folder(tmp_path / "plain", home / "backups")


def test_a_damaged_archive_is_not_opened_and_a_backup_stands_in(home: Path) -> None:
    data = bytearray((home / SEALED).read_bytes())
    data[len(data) // 2] ^= 1
    (home / SEALED).write_bytes(data)

    with opened(home) as memento:
        assert memento.degraded is not None
        assert any("Zebulon" in one.content for one in memento.list())
    assert (home / SEALED).read_bytes() == data
    restore_folder(home, configured=Settings(encryption=KEY))
    assert any("Zebulon" in one for one in texts(home))


def test_without_its_keys_a_sealed_memory_is_not_taken_for_an_empty_folder(home: Path) -> None:
    (home / HEADER).unlink()

    with pytest.raises(Damaged, match=r"encryption\.json"), opened(home, PLAIN):
        pass


def test_a_text_that_was_erased_is_in_no_archive_any_more(home: Path) -> None:
    with opened(home) as memento:
        (gone,) = [one.iri for one in memento.list() if one.content == TEXT]
        memento.forget(gone, erase=True)
    datadir = DataFolder(home)
    datadir.acquire("test")
    with datadir:
        unlock_folder(datadir, KEY)
        assert datadir.vault is not None
        datadir.vault.fill_folder()
        found = {path for path in datadir.work.rglob("*") if path.is_file() and TEXT.encode() in path.read_bytes()}
        assert found == set()
