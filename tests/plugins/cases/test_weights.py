"""Weights on disk: what was written, or nothing."""

from pathlib import Path

import numpy as np
import pytest

from memento.plugins.cases.learner import Arrays, read_weights, write_weights

ARRAYS: Arrays = {"a/x": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.zeros(2, dtype=np.int64)}


def test_what_was_written_is_read(tmp_path: Path) -> None:
    write_weights(tmp_path / "new" / "w.npz", ARRAYS, {"updates": 3, "embedder": "é"})
    found = read_weights(tmp_path / "new" / "w.npz")

    assert found is not None
    assert found[1] == {"updates": 3, "embedder": "é"}
    assert {name: array.tolist() for name, array in found[0].items()} == {n: a.tolist() for n, a in ARRAYS.items()}


def test_a_changed_file_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "w.npz"
    write_weights(path, ARRAYS, {})
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    arrays["b"] = np.ones(2, dtype=np.int64)
    np.savez(path, allow_pickle=False, **arrays)

    assert read_weights(path) is None


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"not weights", b"\x80\x04\x95"])
def test_something_else_is_not_used(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "w.npz"
    path.write_bytes(content)

    assert read_weights(path) is None
    assert read_weights(tmp_path / "nowhere.npz") is None


def test_an_array_of_objects_is_never_read(tmp_path: Path) -> None:
    path = tmp_path / "w.npz"
    np.savez(path, about=np.array([{"a": 1}], dtype=object), sha256=np.zeros(32, dtype=np.uint8))

    assert read_weights(path) is None
