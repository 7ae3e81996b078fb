"""Functions that every benchmark shares: quantiles of milliseconds, and one line in `results/` if requested."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import numpy as np

from memento.python import Memento, open_memento
from memento.settings import EmbeddingSettings, Settings

T = TypeVar("T")

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("pyoxigraph", "numpy", "faiss-cpu", "torch", "sentence-transformers")


def arguments(question: str, notes: int) -> ArgumentParser:
    """A parser with what most benches offer: how many notes, which embedder, `--record`."""
    parser = ArgumentParser(description=question)
    parser.add_argument("--notes", type=int, default=notes)
    parser.add_argument("--model", default="minilm", choices=("minilm", "trigram"))
    parser.add_argument("--record", action="store_true", help="append the figures to tests/bench/results")
    return parser


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What `work` returns, and the seconds it took."""
    begin = time.perf_counter()
    result = work()
    return result, time.perf_counter() - begin


def spread(seconds: Sequence[float]) -> dict[str, float]:
    """p50 and p95 in milliseconds."""
    p50, p95 = np.quantile(seconds, (0.5, 0.95)) * 1000
    return {"p50": round(float(p50), 2), "p95": round(float(p95), 2)}


def shown(name: str, ms: Mapping[str, float]) -> str:
    """One line of a spread."""
    return f"{name:<28} p50 {ms['p50']:8.2f} ms   p95 {ms['p95']:8.2f} ms"


@contextmanager
def fresh_memory(model: str) -> Iterator[Memento]:
    """A memory in a temporary folder; nothing that an earlier run embedded is known to it."""
    with TemporaryDirectory(prefix="memento-bench-") as folder, memory_in(Path(folder), model) as memento:
        yield memento


def memory_in(folder: Path, model: str) -> Memento:
    """The memory of one folder, without the cache of embeddings."""
    runtime = os.environ.get("MEMENTO_EMBEDDING_RUNTIME", "auto")  # tests say it, for an export takes ten seconds
    configured = Settings(embedding=EmbeddingSettings(model=model, cache=False, runtime=runtime))
    memento = open_memento(folder, namespace="main", configured=configured)
    assert isinstance(memento, Memento)
    memento.warm_up()
    return memento


def record(name: str, figures: Mapping[str, object], wanted: bool) -> None:
    """Append one line to `results/{name}.jsonl`: when, which commit, on what, and the figures."""
    if not wanted:
        return
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / f"{name}.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({**_circumstances(), "figures": figures}, ensure_ascii=False) + "\n")


def kept(name: str, part: str, figures: object, wanted: bool) -> None:
    """Put one part of the table `results/{name}.json`, a line, in place of what it was, with when, which commit and on what."""
    if not wanted:
        return
    path = RESULTS / f"{name}.json"
    parts = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    parts[part] = {**_circumstances(), "figures": figures}
    RESULTS.mkdir(exist_ok=True)
    lines = [f"{json.dumps(part)}: {json.dumps(parts[part], ensure_ascii=False)}" for part in sorted(parts)]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _circumstances() -> dict[str, object]:
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "machine": {"cores": os.cpu_count(), "processor": _processor(), "python": platform.python_version()},
        "versions": {package: version(package) for package in PACKAGES},
    }


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    done = subprocess.run(command, cwd=RESULTS.parent, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
