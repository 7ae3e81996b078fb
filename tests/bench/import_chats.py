"""
How many turns per second of exported chats are imported, and how long do reading the export, a dry run and a second import take?

Data: a synthetic working life (`people.py`, seeded) as a ChatGPT export, twenty answered user turns per conversation.
Run: `.venv/bin/python tests/bench/import_chats.py [--record]`, a minute on two cores.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from measure import arguments, memory_in, record, timed
from memento.intake.importers import harvest
from memento.model import NoteRow
from people import Life

_TURNS = 20


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Print and return rows a second."""
    parser = arguments(__doc__ or "", notes=1_500)
    parser.add_argument("--keep", action="store_true", help="keep each turn as one memory instead of consolidating it")
    chosen = parser.parse_args(argv)
    notes = Life(names=max(chosen.notes // 30, 30)).notes(chosen.notes)
    with TemporaryDirectory(prefix="memento-bench-") as name:
        folder = Path(name)
        file = folder / "conversations.json"
        file.write_text(json.dumps([write_chat(at, notes[at : at + _TURNS]) for at in range(0, len(notes), _TURNS)]))
        found, read_s = timed(lambda: harvest(file))
        with memory_in(folder / "home", chosen.model) as memento:
            _, trial_s = timed(lambda: memento.intake.import_notes(found.rows, dry_run=True))
            imported, import_s = timed(lambda: memento.intake.import_notes(found.rows, consolidate=not chosen.keep))
            again, again_s = timed(lambda: memento.intake.import_notes(found.rows))
    figures: dict[str, object] = {
        "turns": 2 * len(notes),
        "rows": len(found.rows),
        "memories": imported.memories,
        "model": chosen.model,
        "consolidated": not chosen.keep,
        "read_rows_per_s": round(len(found.rows) / read_s),
        "trial_rows_per_s": round(len(found.rows) / trial_s),
        "import_rows_per_s": round(len(found.rows) / import_s, 1),
        "known": again.known,
        "again_rows_per_s": round(len(found.rows) / again_s),
    }
    for key, value in figures.items():
        print(f"{key:<22} {value}")
    record("import_chats", figures, chosen.record)
    return figures


def write_chat(number: int, notes: Sequence[NoteRow]) -> dict[str, Any]:
    """Write notes as a conversation of an export: each a turn of the user, with an answer."""
    mapping: dict[str, Any] = {}
    last = None
    for place, note in enumerate(notes):
        for role, text in (("user", note.content), ("assistant", "I see.")):
            key = f"{number}-{place}-{role}"
            message = {
                "id": key,
                "author": {"role": role},
                "create_time": note.at.timestamp() if note.at else None,
                "content": {"content_type": "text", "parts": [text]},
            }
            mapping[key] = {"id": key, "message": message, "parent": last, "children": []}
            last = key
    return {"id": str(number), "title": f"Chat {number}", "create_time": 0, "current_node": last, "mapping": mapping}


if __name__ == "__main__":
    main()
