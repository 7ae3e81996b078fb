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
    assert told["recalled"] == ["USER lives in Lisbon."]
    assert told["healed"] == ["ok", "ok"]
    assert told["after"] == {"written": 2}
    assert told["checked"] == []
    assert told["again"] == told["memories"] >= 2
    assert done.stderr.count(b"store.failing") <= 1
