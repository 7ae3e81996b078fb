"""The data folder: private when it is made, refused when it cannot be one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from memento.datadir import DataFolder
from memento.errors import BackendError, SettingsError
from memento.intake.capture import Captured, Journal
from memento.model import NoteRow
from memento.time import now


def test_a_new_folder_is_for_its_owner_alone(tmp_path: Path) -> None:
    assert DataFolder(tmp_path / "deep" / "memory").path.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_is_there_keeps_its_rights(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)

    assert DataFolder(tmp_path).path.stat().st_mode & 0o777 == 0o750


def test_a_file_in_the_way_is_said(tmp_path: Path) -> None:
    (tmp_path / "memory").write_text("a file")

    with pytest.raises(SettingsError, match="cannot be the data folder: File exists"):
        DataFolder(tmp_path / "memory")


@contextmanager
def somebody_else() -> Iterator[None]:
    """Do something as a user who has no rights, where the tests are run by one who has all."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="users as Unix has them")
def test_a_folder_without_rights_is_said_and_the_fix_too() -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "memory").mkdir()
        folder.chmod(0o755)
        (folder / "memory").chmod(0o555)
        with somebody_else():
            with pytest.raises(SettingsError, match="Permission denied; choose another folder"):
                DataFolder(folder / "memory" / "deeper")
            with pytest.raises(SettingsError, match="cannot be written: Permission denied"):
                DataFolder(folder / "memory").acquire("memento serve")
            with pytest.raises(BackendError, match="Permission denied; make room, or mend its rights"):
                Journal(folder / "memory" / "captures.jsonl", 9).append([waiting()])
        (folder / "memory").chmod(0o755)


def waiting() -> Captured:
    row = NoteRow(content="I like tea.")
    return Captured(id="a", at=now(), state="waiting", tenant="local", namespace="main", client="test", row=row)
