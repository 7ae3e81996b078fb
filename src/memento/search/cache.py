"""
The indexes stored in a folder beside the vectors, so that a start need not read the whole graph. The folder is rewritten when much
has changed; at a start it is updated by the changes that the vector file noted since.

*Guarantees:* indexes that do not match the graph are not used. The folder is valid when no other program has written to the store
since, which `fingerprint_files` shows after a clean shutdown; after the process is killed, the kernel still has all notes, unless
the machine restarted. A folder written by another version or for another set of indexes is not used. A folder is either complete or
absent: it is written under another name, synced to disk, and then renamed. It holds numbers and text only; nothing in it is ever
executed. Deleting the folder only means that the next start reads the graph.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from hashlib import sha256
from math import prod
from pathlib import Path
from shutil import rmtree
from typing import Any
from uuid import uuid4
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from memento.assets import VERSION
from memento.graph.store import Store
from memento.search.arrays import Arrays
from memento.search.indexes import Indexes
from memento.search.nodes import is_indexed

FEWEST = 5_000
"""Number of nodes from which on the folder is written: reading fewer from the graph takes less than a second or two."""
LATE = 0.02
"""Share of the nodes that may change before the folder is written again."""
FORMAT = 3
"""Version of the file format; raise it with every change in how arrays are written."""
_AT_ONCE = 500  # changed nodes that are read in one batch
_TOO_LATE = 0.3  # share of changed nodes above which reading the whole graph is quicker
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_MARK = "archive"  # key in the vector file: which folder was written last
_INDEX, _DATA = "index.json", "arrays.bin"
_ALIGNED = 64


def load_indexes(folder: Path, graph: Store, indexes: Indexes) -> bool:
    """
    Fill the indexes from a folder and from what changed since; return False, and fill nothing, when the folder does not match.
    """
    with indexes.lock:
        mark = indexes.file.get_mark(_MARK)
        kept = read_folder(folder) if mark is not None else None
        if kept is None:
            return False
        arrays, about = kept
        if about.get("id") != mark or about.get("made by") != _made_by(indexes):
            return False
        late = indexes.file.touched_since(about["touch"])
        if len(late) > max(FEWEST, _TOO_LATE * about["nodes"]):
            return False
        indexes.clear()
        try:
            indexes.restore(arrays)
            for index in indexes:
                index.fill_vectors(indexes.file)
        except (KeyError, ValueError, IndexError, TypeError):  # written by code that stored other arrays
            indexes.clear()
            return False
        late, linked = indexes.drop_whole(late)
        graphs = [name for name in graph.graphs() if is_indexed(name)]
        for begin in range(0, len(late), _AT_ONCE):
            indexes.refresh(late[begin : begin + _AT_ONCE], graphs)
        indexes.read_edges(sorted(linked), graphs)
        return True


def save(folder: Path, indexes: Indexes) -> None:
    """Write the folder; raises `OSError` when there is no room."""
    with indexes.lock:
        mark, touch = uuid4().hex, indexes.file.last_touch()
        about = {"id": mark, "made by": _made_by(indexes), "touch": touch, "nodes": len(indexes.nodes)}
        write_folder(folder, indexes.arrays(), about)
        indexes.file.set_mark(_MARK, mark)
        indexes.file.forget_touches(touch)


def save_if_late(folder: Path, indexes: Indexes) -> None:
    """Write the folder when there is none or when much has changed; with few nodes, discard it."""
    nodes = len(indexes.nodes)
    if nodes < FEWEST:
        discard(folder, indexes)
    elif indexes.file.get_mark(_MARK) is None or indexes.file.count_touches() > LATE * nodes:
        save(folder, indexes)


def discard(folder: Path, indexes: Indexes) -> None:
    """Discard the stored indexes; the next start reads the graph."""
    if indexes.file.get_mark(_MARK) is not None:
        indexes.file.delete_mark(_MARK)
        remove_folder(folder)


def fingerprint_files(store: Path) -> str:
    """
    Digest the names and sizes of a closed store's files: the engine starts new files whenever it opens them. If the engine is still
    deleting files during this call, the digest will not match, so that the next start reads the graph.
    """
    try:
        sizes = sorted((path.name, path.stat().st_size) for path in store.iterdir()) if store.is_dir() else []
    except FileNotFoundError:
        return uuid4().hex
    return sha256(repr(sizes).encode()).hexdigest()


def note_opened(indexes: Indexes, before: str) -> bool:
    """
    Note that the store is open from now on; return whether no other program has written to it since the last note.

    Args:
        before: the `fingerprint_files` of the store before it was opened.
    """
    boot = _BOOT.read_text().strip() if _BOOT.exists() else ""
    state = indexes.file.get_mark("store")
    indexes.file.set_mark("store", f"open {boot}")
    return state == f"closed {before}" or (bool(boot) and state == f"open {boot}")


def note_closed(indexes: Indexes, after: str) -> None:
    """Note that the store is closed, and its `fingerprint_files`."""
    indexes.file.set_mark("store", f"closed {after}")


def _made_by(indexes: Indexes) -> str:
    return f"memento {VERSION}, {indexes.forms()}, {indexes.embedder.fingerprint}"


def write_folder(folder: Path, arrays: Mapping[str, NDArray[Any]], about: Mapping[str, object]) -> None:
    """
    Write arrays to a folder, replacing its content.

    Args:
        about: metadata that `read_folder` returns with them; anything JSON can hold.

    Raises:
        OSError: there is no room, or no permission to write.
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


def read_folder(folder: Path) -> tuple[Arrays, dict[str, Any]] | None:
    """
    Read the arrays of a folder and their metadata. The arrays are mapped copy-on-write, so that writing to them changes no file.

    Return None when there is no folder, or when a length, the checksum or the format does not match.
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


def remove_folder(folder: Path) -> None:
    """Remove a folder and the leftovers of an interrupted write; harmless when there is none."""
    rmtree(folder, ignore_errors=True)
    rmtree(folder.with_name(f"{folder.name}.new"), ignore_errors=True)
