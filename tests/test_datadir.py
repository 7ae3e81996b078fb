"""The data folder: private when it is made, refused when it cannot be one."""

from __future__ import annotations

from pathlib import Path

import pytest

from memento.datadir import DataFolder
from memento.errors import SettingsError


def test_a_new_folder_is_for_its_owner_alone(tmp_path: Path) -> None:
    assert DataFolder(tmp_path / "deep" / "memory").path.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_is_there_keeps_its_rights(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)

    assert DataFolder(tmp_path).path.stat().st_mode & 0o777 == 0o750


def test_a_file_in_the_way_is_said(tmp_path: Path) -> None:
    (tmp_path / "memory").write_text("a file")

    with pytest.raises(SettingsError, match="cannot be the data folder: File exists"):
        DataFolder(tmp_path / "memory")
