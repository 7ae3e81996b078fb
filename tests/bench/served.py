"""Stores that nodes share, over folders that embedded memories have written."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memento.plugins.scale.endpoint import SparqlClient
from memento.plugins.scale.settings import IndexSettings, StoreSettings
from memento.python import Memento
from recall_scale import opened
from startup import command, free_port
from synthetic import RandomVectors


@contextmanager
def serving_store(folder: Path) -> Iterator[tuple[str, str]]:
    """A running store; gives its addresses."""
    port = free_port()
    words = [command(), "store", "serve", str(folder), "--port", str(port)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    urls = (f"http://127.0.0.1:{port}/query", f"http://127.0.0.1:{port}/update")
    try:
        SparqlClient(*urls).wait_until_there(60, lambda: None)
        yield urls
    finally:
        process.terminate()
        process.wait(timeout=30)


@contextmanager
def opened_shared(
    folder: Path, index: IndexSettings, vectors: type[RandomVectors] = RandomVectors
) -> Iterator[Memento]:
    """A node over the store of a folder; it has filled its engine, unless that was filled before."""
    with serving_store(folder) as urls:
        store = StoreSettings("sparql", *urls, probe=False, timeout_s=600)
        with opened(folder.with_name(f"{folder.name}-node"), store, index, vectors) as memento:
            yield memento
