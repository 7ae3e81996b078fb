"""CONTRIBUTING says how a way in which something ends is added: its row is all that is needed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
_PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
_RECIPE = _PAGE.partition("### … a way in which something ends")[2].partition("\n### ")[0]
_TELL = """
import sys
from pathlib import Path
from memento.python import open_memento
with open_memento(Path(sys.argv[1])) as memento:
    for text in sys.argv[2:]:
        noted = memento.note(text)
    for iri in noted.invalidated:
        print(noted.contents[iri])
"""


def test_the_row_of_the_recipe_is_all_that_a_new_ending_needs(tmp_path: Path) -> None:
    [row] = re.findall(r"```toml\n(.*?)\n```", _RECIPE, flags=re.DOTALL)
    state, end = re.findall(r'"([A-Z][^"]*\.)"', _RECIPE)
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("ontology", "queries"):
        (tmp_path / name).symlink_to(ROOT / name)
    table = tmp_path / "src/memento/text/lexicon/claims.toml"

    assert _tell(state, end, tmp_path, "before") == []

    lines = table.read_text(encoding="utf-8").replace("[endings]\n", f"[endings]\n{row}\n")
    table.write_text(lines, encoding="utf-8")

    assert _tell(state, end, tmp_path, "after") == [state]


def _tell(state: str, end: str, copy: Path, home: str) -> list[str]:
    """Note two sentences with a copy of the package, each home anew; return the memories that ended."""
    run = subprocess.run(
        [sys.executable, "-c", _TELL, str(copy / home), state, end],
        env={**os.environ, "PYTHONPATH": str(copy / "src"), "MEMENTO_EMBEDDING_MODEL": "trigram"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()
