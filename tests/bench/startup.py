"""
How long does the command line take to answer, how much does it add to a recall by a running service, and how soon is a service
ready?

Run: `.venv/bin/python tests/bench/startup.py [--record]`, about a minute on two cores.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import arguments, memory_in, record, shown, spread, timed
from people import Life

READY_S = 120.0
"""Most seconds to wait for the service; a first start may have to read the whole model from a cold disk."""


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Print and return the spreads in milliseconds, and the starts in seconds."""
    parser = arguments(__doc__ or "", notes=1_000)
    parser.add_argument("--runs", type=int, default=10, help="runs of each command")
    chosen = parser.parse_args(argv)
    life = Life(names=30)
    imported_s = [time_import("memento") for _ in range(chosen.runs)]
    help_s = [timed(lambda: memento("--help"))[1] for _ in range(chosen.runs)]
    with TemporaryDirectory(prefix="memento-bench-") as name:
        folder = Path(name)
        with memory_in(folder, chosen.model) as owned:
            owned.intake.import_notes(life.notes(chosen.notes), consolidate=False)
        with serving(folder, chosen.model) as cold_s:
            pass
        with serving(folder, chosen.model) as start_s:
            # A question that no cache knows: a service that says it is ready has its model loaded.
            _, first_s = asked(folder, f"What happened at {time.time()}?")
            added = [wall_s - own_s for wall_s, own_s in (asked(folder, q) for q in life.questions(chosen.runs))]
    figures: dict[str, object] = {
        "model": chosen.model,
        "import_ms": spread(imported_s),
        "help_ms": spread(help_s),
        "recall_beyond_the_service_ms": spread(added),
        "first_start_s": round(cold_s, 2),
        "second_start_s": round(start_s, 2),
        "first_question_ms": round(first_s * 1000, 1),
    }
    print(shown("import memento", spread(imported_s)))
    print(shown("memento --help", spread(help_s)))
    print(shown("recall beyond the service", spread(added)))
    print(f"start until /health says 200: {cold_s:.2f} s, a second time {start_s:.2f} s")
    print(f"first question after that, by the service's own time: {first_s * 1000:.1f} ms")
    record("startup", figures, chosen.record)
    return figures


def time_import(package: str) -> float:
    """Seconds that the import of a package takes, with all that it imports, as `python -X importtime` tells."""
    command = [sys.executable, "-X", "importtime", "-c", f"import {package}"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    [line] = [line for line in told.splitlines() if line.endswith(f"| {package}")]
    return float(line.split("|")[1]) / 1e6


def memento(*words: str) -> str:
    """What the command prints."""
    done = subprocess.run([command(), *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"memento {' '.join(words)} failed: {done.stderr}")
    return done.stdout


def asked(folder: Path, question: str) -> tuple[float, float]:
    """Seconds that `memento recall` takes, and how many of them are the service's own."""
    answer, seconds = timed(lambda: memento("--home", str(folder), "recall", "--json", question))
    timings: dict[str, float] = json.loads(answer)["timings_ms"]
    return seconds, timings["total"] / 1000


@contextmanager
def serving(folder: Path, model: str) -> Iterator[float]:
    """A running service; gives the seconds it took until `/health` said 200."""
    port = free_port()
    begin = time.perf_counter()
    process = subprocess.Popen(
        [command(), "--home", str(folder), "serve", "--port", str(port)],
        env={**os.environ, "MEMENTO_EMBEDDING_MODEL": model},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while not healthy(port):
            if process.poll() is not None or time.perf_counter() - begin > READY_S:
                raise SystemExit("the service did not become ready")
            time.sleep(0.02)
        yield time.perf_counter() - begin
    finally:
        process.terminate()
        process.wait(timeout=30)


def healthy(port: int) -> bool:
    """Whether the service says that it is ready."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def free_port() -> int:
    """A port that nobody listens on at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def command() -> str:
    """The `memento` of this environment."""
    return str(Path(sys.executable).with_name("memento"))


if __name__ == "__main__":
    main()
