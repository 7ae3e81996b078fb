"""A text that no pattern gets to the end of: whoever reads it holds the interpreter's lock until the process ends."""

from __future__ import annotations

import re


class Endless:
    """Stands for a note; its content takes a pattern some thousand years."""

    @property
    def content(self) -> str:
        return str(re.match(r"(?:a+)+$", "a" * 60 + "!"))
