"""How a setting is declared."""

from __future__ import annotations

from dataclasses import field
from typing import Any


def knob(
    default: Any,
    help: str,
    choices: tuple[str, ...] = (),
    *,
    least: float | None = None,
    most: float | None = None,
    secret: bool = False,
    json: bool = False,
) -> Any:
    """
    A setting with its default and one sentence that says what it does and its unit.

    Args:
        least, most: the range of a number, both ends included.
        secret: never shown: neither by `repr` nor by `memento config show`.
        json: a JSON object as text; in a file it may be a table.
    """
    about = {"help": help, "choices": choices, "least": least, "most": most, "secret": secret, "json": json}
    return field(default=default, repr=not secret, metadata=about)
