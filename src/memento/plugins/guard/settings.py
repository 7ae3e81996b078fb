"""The settings of an encrypted data folder."""

from __future__ import annotations

from dataclasses import dataclass

from memento import settings
from memento.settings import knob


@dataclass(frozen=True, slots=True)
class EncryptionSettings(settings.EncryptionSettings):
    key: str = knob(
        "",
        "the key that opens the data folder: at least 16 characters; never put it into a file of the folder",
        secret=True,
    )
    key_file: str = knob("", "a file that contains the key, readable by its owner alone")
    memory: str = knob(
        "/dev/shm",
        "a folder of an in-memory file system, which holds an encrypted folder in plain text while it is open",
    )
