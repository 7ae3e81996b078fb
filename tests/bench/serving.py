"""Runs a service for a benchmark."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from startup import command, free_port, healthy

READY_S = 300.0


@contextmanager
def serving(folder: Path, model: str, provider: int, *options: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A running service before a provider; gives its process and its port."""
    port, begin = free_port(), time.perf_counter()
    environment = {
        "MEMENTO_EMBEDDING_MODEL": model,
        "MEMENTO_ANSWERS_CACHED": "0",
        "MEMENTO_PROXY_OPENAI_BASE_URL": f"http://127.0.0.1:{provider}/v1",
    }
    process = subprocess.Popen(
        [command(), "--home", str(folder), "serve", "--port", str(port), *options],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
    )
    try:
        while not healthy(port):
            if process.poll() is not None or time.perf_counter() - begin > READY_S:
                raise SystemExit("the service did not become ready")
            time.sleep(0.1)
        yield process, port
    finally:
        process.terminate()
        process.wait(timeout=60)
