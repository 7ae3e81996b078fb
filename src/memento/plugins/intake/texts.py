"""Split a text that a model hands over into rows: JSON, JSON lines, Markdown at its headings, paragraphs, CSV."""

from __future__ import annotations

import json
import re
from typing import Literal

from memento.errors import InputError
from memento.intake.rows import Record, Sifted, parse_json, sift_records, split_csv, split_paragraphs
from memento.model import NoteRow


def sift_text(text: str, form: Literal["json", "jsonl", "markdown", "text", "csv"]) -> Sifted:
    """
    Parse the rows in a model's output: as `sift_rows`, but a JSON text alone is a row too, and Markdown is split at its headings.

    Raises:
        InputError: none is usable.

    >>> [row.content for row in sift_text('{"content": "One."}\\n{"broken\\n"Two."', "jsonl").rows]
    ['One.', 'Two.']
    >>> [row.content for row in sift_text("# A\\nOne.\\n## B\\nTwo.", "markdown").rows]
    ['# A\\nOne.', '## B\\nTwo.']
    >>> sift_text('[{"content": "One.", "tags": ["a"]}]', "json").rows[0].tags
    ('a',)
    """
    match form:
        case "csv":
            return sift_records(split_csv(text, "row at"))
        case "text":
            return Sifted(tuple(NoteRow(content=one) for one in split_paragraphs(text)))
        case "markdown":
            return Sifted(tuple(NoteRow(content=one) for one in split_headings(text)))
        case "json" if not text.lstrip().startswith("["):
            return sift_records([_make_record(_parse_or_none(text), "item 1")])
        case "json":
            values = parse_json(text, "content")
            assert isinstance(values, list)
            return sift_records(_make_record(value, f"item {place}") for place, value in enumerate(values, 1))
    return sift_records(
        _make_record(_parse_or_none(line), f"line {number}")
        for number, line in enumerate(text.split("\n"), 1)
        if line.strip()
    )


def _parse_or_none(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _make_record(value: object, where: str) -> Record | InputError:
    """Return the record of a JSON value: an object, or a text alone. An object without a content is its own content, as JSON."""
    if isinstance(value, str):
        return Record(where, {"content": value})
    if isinstance(value, dict) and not {"content", "text"} & value.keys():
        return Record(where, {"content": json.dumps(value, ensure_ascii=False)})
    if isinstance(value, dict):
        return Record(where, value)
    return InputError(f"{where}: it is neither a JSON object with a content nor a JSON text")


_FENCE = re.compile(r"[ ]{0,3}(```|~~~)")


def split_headings(text: str) -> list[str]:
    """
    Split Markdown at its headings of the first two levels; a `#` inside a code fence is none.

    >>> split_headings("# A\\n```\\n# no heading\\n```\\n## B")
    ['# A\\n```\\n# no heading\\n```', '## B']
    """
    parts: list[list[str]] = [[]]
    fence = ""
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1] == fence):
            fence = "" if fence else mark[1]
        if not fence and not mark and re.match(r"##? ", line):
            parts.append([])
        parts[-1].append(line)
    return [whole for part in parts if (whole := "".join(part).strip())]
