"""
Three nodes answer as one embedded memory that did the same, also when a node is killed while it writes, the store goes away and
the engine refuses: nothing that was acknowledged is lost, and nothing that was erased comes back.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from endpoints import BINARY
from history import make_history, play_with_faults, serve_store

pytest.importorskip("lancedb", reason="pip install 'memento-rdf[lance]'")
pytestmark = pytest.mark.skipif(BINARY is None, reason="no `oxigraph`: pip install oxigraph")


@pytest.mark.crash
@pytest.mark.parametrize("seed", range(20))
def test_twenty_histories_with_six_failures_each_are_those_of_an_embedded_memory(seed: int, tmp_path: Path) -> None:
    with serve_store(tmp_path / "store") as server:
        play_with_faults(make_history(seed, 150), tmp_path, server, seed, every=25)
