"""One call of every operation that reads in files on a sample, in its namespace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from memento.operations import Operation
from memento.plugins.intake import operations as intake
from memento.python import Memento


def prepare(memento: Memento, namespace: str) -> dict[str, str]:
    """Add nothing: the calls write the files that they read."""
    return {}


def _write_file(folder: Path) -> str:
    file = folder / "tea.md"
    file.write_text("# Tea\n\nGreen tea takes two minutes.")
    return str(file)


def _make_home(folder: Path) -> str:
    """Make a home folder with a file that Codex reads, and return its path."""
    file = folder / "home/.codex/AGENTS.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("Prefer ripgrep over grep.")
    return str(folder / "home")


CALLS: Mapping[type[Operation[Any]], Callable[[Any, str], Operation[Any]]] = {
    intake.Ingest: lambda s, n: intake.Ingest(_write_file(s.folder), namespace=n),
    intake.Adopt: lambda s, n: intake.Adopt(user_home=_make_home(s.folder), apply=True, namespace=n),
    intake.IndexProject: lambda s, n: intake.IndexProject(str(s.folder), namespace=n),
    intake.MemoryFile: lambda s, n: intake.MemoryFile(
        "create", path=f"/memories/{n}.txt", file_text="- USER likes tea\n", namespace=n
    ),
}
