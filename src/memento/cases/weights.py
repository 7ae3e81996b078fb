"""
The weights of a domain's network on disk: one npz file of plain arrays, with the SHA-256 of all of them inside.

*Guarantees:* what is read is what was written, or nothing; no array of objects is ever read, so nothing in the file is run.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from memento.cases.network import Arrays

_ABOUT, _DIGEST = "about", "sha256"


def write(path: Path, arrays: Arrays, about: Mapping[str, object]) -> None:
    """
    Keep arrays, and what is said about them as JSON, in place of what the file had.

    Raises:
        OSError: no room, or no right to write.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    text = json.dumps(dict(about), sort_keys=True).encode("utf-8")
    kept: Arrays = {**arrays, _ABOUT: np.frombuffer(text, dtype=np.uint8)}
    fresh = path.with_suffix(".new")
    with fresh.open("wb") as file:
        np.savez(file, allow_pickle=False, **kept, **{_DIGEST: np.frombuffer(_digest(kept), dtype=np.uint8)})
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def read(path: Path) -> tuple[Arrays, dict[str, Any]] | None:
    """What `write` was given, or None: when there is no file, when it is damaged, or when it is something else."""
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        digest = arrays.pop(_DIGEST).tobytes()
        if digest != _digest(arrays):
            return None
        return arrays, json.loads(arrays.pop(_ABOUT).tobytes())
    except (OSError, ValueError, KeyError, EOFError, TypeError, AttributeError, zipfile.BadZipFile):
        return None


def _digest(arrays: Arrays) -> bytes:
    whole = sha256()
    for name, array in sorted(arrays.items()):
        whole.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        whole.update(np.ascontiguousarray(array).tobytes())
    return whole.digest()
