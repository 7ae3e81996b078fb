"""
How many words of the docs are written by hand?

    python tests/words.py [FOLDER]     the words of each page, the longest first; `make words` runs it

Words are counted as `wc -w` does. Generated pages do not count: those of `make docs`, everything below `docs/reference/`, and the
sections between `<!-- NAME -->` and `<!-- /NAME -->` that `make docs` fills in.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from memento.interfaces.reference import PAGES, SECTIONS

ROOT = Path(__file__).parents[1]
MOST = 55_000
"""More words than this nobody reads; `test_documents.py` fails beyond them."""

_SECTION = re.compile(r"<!-- (\w+) -->.*?<!-- /\1 -->", re.S)


def count_words(root: Path = ROOT) -> dict[str, int]:
    """Return the words that are written by hand on each page of `docs/`, by its path, the longest page first."""
    filled = {path for path, _, _ in SECTIONS}
    counts = {}
    for page in (root / "docs").rglob("*.md"):
        path = page.relative_to(root).as_posix()
        if path in PAGES or path.startswith("docs/reference/"):
            continue
        text = page.read_text(encoding="utf-8")
        counts[path] = len((_SECTION.sub("", text) if path in filled else text).split())
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))


def main() -> int:
    """Print the table; the exit code is 1 if there are too many words."""
    counts = count_words(Path(sys.argv[1]) if sys.argv[1:] else ROOT)
    total = sum(counts.values())
    lines = [f"{words:7,}  {path}" for path, words in counts.items()]
    sys.stdout.write("\n".join([*lines, f"{total:7,}  words on {len(counts)} pages; at most {MOST:,}"]) + "\n")
    return int(total > MOST)


if __name__ == "__main__":
    raise SystemExit(main())
