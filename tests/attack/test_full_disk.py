"""A disk that is full: what was acknowledged stays, questions are answered, health says so, and there is no need of a restart."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(sys.platform != "linux", reason="limits of files as Linux has them")
def test_a_store_that_could_not_write_says_so_and_writes_again_without_a_restart(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "attack.full_disk", str(tmp_path / "home")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), *sys.path])},
        capture_output=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    told = json.loads(done.stdout)

    assert set(told["full"]) <= {"written", "GraphError 503"}, told
    assert told["full"]["GraphError 503"] > 10
    assert told["health"][:2] == ["degraded", "failing"] and "Make room" in told["health"][2]
    assert told["recalled"] == ["I live in Lisbon."]
    assert told["healed"] == ["ok", "ok"]
    assert told["after"] == {"written": 2}
    assert told["checked"] == []
    assert told["again"] == told["memories"] >= 2
    assert done.stderr.count(b"store.failing") <= 1


def run_with_small_files(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command whose files may not grow: every write fails as on a disk without room."""
    import resource

    return subprocess.run(
        [sys.executable, "-m", "memento", "--home", str(home), *words],
        env={**os.environ, "MEMENTO_EMBEDDING_MODEL": "trigram", "MEMENTO_EMBEDDING_CACHE": "false"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10)),
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="limits of files as Linux has them")
@pytest.mark.parametrize("words", [("serve", "--port", "0"), ("note", "I live in Lisbon.")])
def test_a_start_without_room_names_the_folder_and_has_an_exit_code_of_its_own(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    done = run_with_small_files(tmp_path / "home", *words)

    assert done.returncode == 3
    assert str(tmp_path / "home") in done.stderr and "no room left" in done.stderr
    assert "bug" not in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="limits of files as Linux has them")
@pytest.mark.parametrize("most", [1_000, 300_000], ids=["no room for the document", "no room for what it says"])
def test_an_import_of_rdf_without_room_is_refused_as_other_writes_are(tmp_path: Path, most: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "attack.full_disk", str(tmp_path / "home"), str(most)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), *sys.path])},
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    told = json.loads(done.stdout)

    assert told["status"] == 503, told
    assert "internal" not in told["answer"]
    assert told["after"] == {"written": 1}
    assert told["checked"] == []
