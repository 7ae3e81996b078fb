"""What is sealed opens with its key alone, whole and in order, or says that it is damaged."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memento.errors import Damaged, SettingsError
from memento.plugins.guard import vault as module
from memento.plugins.guard.vault import SEALED, Journal, Vault, make_key, read_key

KEY = "a key for the tests alone"


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Vault:
    return Vault.create(tmp_path_factory.mktemp("vault"), KEY)


def journal_of(vault: Vault, entries: list[bytes], after: int = 0) -> Path:
    """A journal with some entries; its file."""
    for left in vault.journal.segments():
        left.unlink()
    vault.journal.begin(after)
    for entry in entries:
        with vault.journal.recording(entry):
            pass
    vault.journal.close()
    (file,) = vault.journal.segments()
    return file


def read(vault: Vault, after: int = 0) -> list[bytes]:
    vault.sequence = after
    vault.journal.begin(after)
    return list(vault.journal.read_entries())


def records(file: Path) -> list[bytes]:
    """The head of a journal's file, and each of its records."""
    data, at = file.read_bytes(), 32
    found = [data[:at]]
    while at < len(data):
        end = at + 16 + 12 + int.from_bytes(data[at : at + 4], "big")
        found.append(data[at:end])
        at = end
    return found


@settings(max_examples=30, deadline=None)
@given(
    size=st.sampled_from([0, 1, 100, 2**20 - 1, 2**20, 2**20 + 1, 2**21 + 7]), flip=st.floats(0, 1, exclude_max=True)
)
def test_a_sealed_file_comes_back_and_no_bit_of_it_can_be_changed(vault: Vault, size: int, flip: float) -> None:
    path, data = vault.home / "file", bytes(range(256)) * (size // 256 + 1)
    data = data[:size]
    vault.seal_file(path, data, "test")
    assert vault.open_file(path, "test") == data
    assert path.stat().st_mode & 0o777 == 0o600

    sealed = bytearray(path.read_bytes())
    sealed[int(flip * len(sealed))] ^= 1
    path.write_bytes(sealed)
    with pytest.raises(Damaged):
        vault.open_file(path, "test")


@pytest.mark.parametrize("length", [0, 10, 32, 33, 2**20 + 48, -1])
def test_a_sealed_file_that_was_cut_short_is_damaged(vault: Vault, length: int) -> None:
    path = vault.home / "file"
    vault.seal_file(path, bytes(2**21), "test")
    os.truncate(path, length if length >= 0 else path.stat().st_size - 1)

    with pytest.raises(Damaged):
        vault.open_file(path, "test")


def test_a_file_is_not_taken_for_another(vault: Vault) -> None:
    vault.seal_file(vault.home / "file", b"tokens", "tokens")

    with pytest.raises(Damaged):
        vault.open_file(vault.home / "file", SEALED)


def test_the_same_text_is_sealed_otherwise_each_time(vault: Vault) -> None:
    sealed = set()
    for _ in range(3):
        vault.seal_file(vault.home / "file", b"the same", "test")
        sealed.add((vault.home / "file").read_bytes())

    assert len({one[32:] for one in sealed}) == 3


def test_entries_come_back_in_order_and_after_the_archive_alone(vault: Vault) -> None:
    entries = [b"one", b"", b"three" * 1000]
    journal_of(vault, entries)

    assert read(vault) == entries
    assert vault.journal.sequence == 3
    assert read(vault) == entries  # reading changes nothing


def test_an_entry_of_several_records_is_whole_or_not_there(vault: Vault) -> None:
    file = journal_of(vault, [b"before"])
    assert read(vault) == [b"before"]
    with vault.journal.recording() as record:
        record(b"a")
        record(b"b")
    vault.journal.close()
    assert read(vault) == [b"before", b"ab"]

    second = next(path for path in vault.journal.segments() if path != file)
    parts = records(second)
    second.write_bytes(b"".join(parts[:-1]))  # its last record never came
    assert read(vault) == [b"before"]


def test_an_entry_whose_write_fails_is_taken_back(vault: Vault) -> None:
    journal_of(vault, [b"kept"])
    read(vault)
    with pytest.raises(RuntimeError), vault.journal.recording(b"refused"):
        raise RuntimeError
    with vault.journal.recording(b"later"):
        pass
    vault.journal.close()

    assert read(vault) == [b"kept", b"later"]


@pytest.mark.parametrize("cut", range(1, 70, 7))
def test_what_a_kill_left_of_the_last_entry_is_cut_off(vault: Vault, cut: int) -> None:
    file = journal_of(vault, [b"first", b"second" * 10])
    os.truncate(file, file.stat().st_size - cut)

    assert read(vault) == [b"first"]
    with vault.journal.recording(b"third"):
        pass
    vault.journal.close()
    assert read(vault) == [b"first", b"third"]


def test_zeros_of_a_power_cut_are_cut_off(vault: Vault) -> None:
    file = journal_of(vault, [b"first"])
    with file.open("ab") as target:
        target.write(bytes(500))

    assert read(vault) == [b"first"]


@pytest.mark.parametrize(
    "order", [[0, 1, 3], [0, 2, 3], [0, 2, 1, 3], [0, 1, 1, 2, 3], [0, 1, 2, 2, 3], [0, 1, 2, 1]], ids=str
)
def test_a_record_cannot_be_cut_out_swapped_or_repeated(vault: Vault, order: list[int]) -> None:
    file = journal_of(vault, [b"first", b"secnd", b"third"])
    parts = records(file)
    file.write_bytes(b"".join(parts[number] for number in order))

    with pytest.raises(Damaged, match="is not where it was written"):
        read(vault)


def test_a_record_of_another_journal_is_none_of_this_one(vault: Vault) -> None:
    other = records(journal_of(vault, [b"first", b"other", b"third"]))
    file = journal_of(vault, [b"first", b"secnd", b"third"])
    own = records(file)
    file.write_bytes(b"".join([own[0], own[1], other[2], own[3]]))

    with pytest.raises(Damaged, match="is not as it was written"):
        read(vault)


def test_a_journal_file_that_is_missing_is_noticed(vault: Vault) -> None:
    journal_of(vault, [b"first"])
    read(vault)
    for entry in (b"second", b"third"):
        with vault.journal.recording(entry):
            pass
        vault.journal.end_segment()
    vault.journal.segments()[1].unlink()

    with pytest.raises(Damaged, match="missing"):
        read(vault)


def test_the_journal_says_when_it_is_long(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONG", 200)
    monkeypatch.setattr(module, "LONG_SHARE", 0.0)
    calls: list[int] = []
    journal = Journal(vault)
    for left in journal.segments():
        left.unlink()
    journal.begin(0)
    journal.on_long = lambda: calls.append(journal.bytes)
    for _ in range(5):
        with journal.recording(b"x" * 50):
            pass
    journal.close()

    assert calls
    assert min(calls) > 200


def test_a_key_is_read_from_a_file_that_nobody_else_can_read(tmp_path: Path) -> None:
    file, key = tmp_path / "key", make_key()
    file.write_text(f"{key}\n")
    file.chmod(0o644)
    with pytest.raises(SettingsError, match="chmod 600"):
        read_key("", file)
    file.chmod(0o600)

    assert read_key("", file) == key
    assert read_key("the key that was given", file) == "the key that was given"
    with pytest.raises(SettingsError, match="cannot be read"):
        read_key("", tmp_path / "missing")


def test_the_file_with_the_keys_opens_nothing_by_itself(vault: Vault) -> None:
    with pytest.raises(SettingsError, match="nothing was changed"):
        Vault(vault.home, "another key of the tests")
