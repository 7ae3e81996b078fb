"""
Encrypts, decrypts or reencrypts a data folder and kills itself at a named step.

    python converter.py HOME WHAT STEP
"""

from __future__ import annotations

import sys
from pathlib import Path

from crash.writer import deadly
from memento.plugins.guard import folder as encrypt
from memento.plugins.guard.settings import EncryptionSettings
from memento.plugins.guard.vault import Vault

KEY = EncryptionSettings(key="the first key of the tests")
OTHER = EncryptionSettings(key="another key of the tests")

STEPS: dict[str, dict[str, tuple[object, str, bool]]] = {
    "encrypt": {
        "before anything is sealed": (Vault, "seal", True),
        "before the keys have their place": (Vault, "seal", False),
        "before the plain files go": (encrypt, "_finish", True),
        "after one plain file is gone": (encrypt, "remove_path", False),
        "before the tokens are sealed": (Vault, "seal_file", True),
        "before a backup is sealed": (encrypt, "replace_backup", True),
        "after a backup is sealed": (encrypt, "replace_backup", False),
    },
    "decrypt": {
        "before a backup is plain": (encrypt, "replace_backup", True),
        "after a backup is plain": (encrypt, "replace_backup", False),
        "before a plain file has its place": (encrypt, "remove_path", True),
        "after a plain file has its place": (Path, "rename", False),
        "before the sealed files go": (encrypt, "sync_to_disk", False),
    },
    "reencrypt": {
        "after the new key is there": (Vault, "start_rotation", False),
        "before the tokens are sealed again": (Vault, "seal_again", True),
        "after the tokens are sealed again": (Vault, "seal_again", False),
        "before a backup is sealed again": (encrypt, "_seal_copy_again", True),
        "after a backup is sealed again": (encrypt, "_seal_copy_again", False),
        "before the old key goes": (Vault, "finish_rotation", True),
    },
}


def main(home: str, what: str, step: str) -> None:
    owner, name, before = STEPS[what][step]
    deadly(owner, name, 0, before=before)
    if what == "encrypt":
        encrypt.encrypt_folder(Path(home), KEY)
    elif what == "decrypt":
        encrypt.decrypt_folder(Path(home), KEY)
    else:
        encrypt.reencrypt_folder(Path(home), KEY, OTHER.key)


if __name__ == "__main__":
    main(*sys.argv[1:])
