"""
How many files of the package do a note by rules and a recall go through: files with a function that runs between the call and its
return?

Files of threads that work for the call count too. A first note and a first recall load what is loaded only once.

Run: `.venv/bin/python tests/bench/walk.py [--list]`; a few seconds.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import memento
from memento.python import Memento, open_memento
from memento.settings import EmbeddingSettings, Settings

PACKAGE = str(Path(memento.__file__).parent)
TARGETS = {"note": 35, "recall": 25}


def trace_files(work: Callable[[], object]) -> list[str]:
    """Return the files of the package whose functions run while some work does."""
    codes: set[str] = set()

    def record(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            codes.add(frame.f_code.co_filename)

    threading.setprofile(record)
    sys.setprofile(record)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return sorted(str(Path(one).relative_to(PACKAGE)) for one in codes if one.startswith(PACKAGE))


def trace_walks() -> dict[str, list[str]]:
    """Return the files that a note and a recall cross, by the name of the walk."""
    settings = Settings(embedding=EmbeddingSettings(model="trigram", cache=False))
    with tempfile.TemporaryDirectory() as folder:
        opened = open_memento(Path(folder) / "home", configured=settings)
        assert isinstance(opened, Memento)
        with opened:
            for text in ("I live in Paris.", "I work at Google.", "My sister Ana likes tea."):
                opened.note(text)
                opened.recall("Where do I live?")
            return {
                "note": trace_files(lambda: opened.note("I work at Microsoft.")),
                "recall": trace_files(lambda: opened.recall("Where do I work?")),
            }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the counts, and the files where they are wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="name the files")
    asks_list = parser.parse_args(arguments).list
    for name, files in trace_walks().items():
        print(f"{name:8}{len(files):4} files (target {TARGETS[name]})")
        if asks_list:
            print("\n".join(f"    {file}" for file in files))


if __name__ == "__main__":
    main()
