"""
Arrays in a folder, mapped into memory when they are read: what start-up would otherwise work out anew.

A folder is whole or not there: it is written under another name, put on disk, and then given its own. Numbers and text
only; nothing in it is ever run.

*Guarantees:* `read` gives what `write` was given, or None: when there is nothing, when the file has another length or another
checksum, or when the format is another.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from shutil import rmtree
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

FORMAT = 2
"""Raise it with every change in what is kept."""
_INDEX, _DATA = "index.json", "arrays.bin"
_ALIGNED = 64

Arrays = dict[str, NDArray[Any]]


def nested(parts: Mapping[str, Mapping[str, NDArray[Any]]]) -> Arrays:
    """
    Arrays of several parts under one name each, `part/name`.

    >>> sorted(nested({"a": {"x": np.zeros(1)}, "": {"y": np.zeros(1)}}))
    ['a/x', 'y']
    """
    return {f"{part}/{name}" if part else name: array for part, found in parts.items() for name, array in found.items()}


def part(arrays: Mapping[str, NDArray[Any]], name: str) -> Arrays:
    """The arrays of one part, by their own names."""
    return {key[len(name) + 1 :]: array for key, array in arrays.items() if key.startswith(f"{name}/")}


def strings(texts: Sequence[str]) -> Arrays:
    """
    Some texts as arrays.

    >>> unpacked(strings(["tea", "", "São Paulo"]))
    ['tea', '', 'São Paulo']
    """
    blob = "".join(texts).encode("utf-8", errors="surrogatepass")
    return {
        "text": np.frombuffer(blob, dtype=np.uint8),
        "lengths": np.fromiter(map(len, texts), dtype=np.int32, count=len(texts)),
    }


def unpacked(arrays: Mapping[str, NDArray[Any]]) -> list[str]:
    """The texts that `strings` was given."""
    text = arrays["text"].tobytes().decode("utf-8", errors="surrogatepass")
    ends = np.cumsum(arrays["lengths"]).tolist()
    return [text[begin:end] for begin, end in zip([0, *ends[:-1]], ends, strict=True)] if ends else []


def write(folder: Path, arrays: Mapping[str, NDArray[Any]], about: Mapping[str, object]) -> None:
    """
    Keep some arrays, in place of what was kept before.

    Args:
        about: what `read` gives back beside them; anything JSON can hold.

    Raises:
        OSError: no room, or no right to write.
    """
    fresh = folder.with_name(f"{folder.name}.new")
    rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    entries = {}
    with (fresh / _DATA).open("wb") as file:
        total = 0
        for name, array in sorted(arrays.items()):
            data = np.ascontiguousarray(array)
            file.write(b"\0" * (-file.tell() % _ALIGNED))
            entries[name] = {"at": file.tell(), "dtype": data.dtype.str, "shape": array.shape}
            raw = data.reshape(-1).view(np.uint8)
            total = crc32(raw.data, total)
            file.write(raw.data)
        size = file.tell()
        file.flush()
        os.fsync(file.fileno())
    index = {"format": FORMAT, "about": dict(about), "bytes": size, "crc32": total, "arrays": entries}
    with (fresh / _INDEX).open("w", encoding="utf-8") as file_of_index:
        json.dump(index, file_of_index)
        file_of_index.flush()
        os.fsync(file_of_index.fileno())
    rmtree(folder, ignore_errors=True)
    fresh.rename(folder)


def read(folder: Path) -> tuple[Arrays, dict[str, Any]] | None:
    """
    What is kept in a folder: arrays, mapped so that writing to them changes no file, and what was said about them.
    """
    try:
        index = json.loads((folder / _INDEX).read_text(encoding="utf-8"))
        if index["format"] != FORMAT or (folder / _DATA).stat().st_size != index["bytes"]:
            return None
        mapped = np.memmap(folder / _DATA, dtype=np.uint8, mode="c") if index["bytes"] else np.zeros(0, dtype=np.uint8)
        arrays, total = {}, 0
        for name, entry in index["arrays"].items():
            shape, dtype = tuple(entry["shape"]), np.dtype(entry["dtype"])
            size = dtype.itemsize * prod(shape)
            raw = np.asarray(mapped[entry["at"] : entry["at"] + size])
            total = crc32(raw.data, total)
            arrays[name] = raw.view(dtype).reshape(shape)
        return (arrays, index["about"]) if total == index["crc32"] else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def discard(folder: Path) -> None:
    """Keep nothing; harmless when nothing is kept."""
    rmtree(folder, ignore_errors=True)
    rmtree(folder.with_name(f"{folder.name}.new"), ignore_errors=True)
