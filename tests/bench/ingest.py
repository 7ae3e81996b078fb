"""
How fast does an ingest read, split, redact, embed and store a PDF of 200 pages, and this repository?

Data: a PDF of a synthetic working life (`people.py`, seeded), 40 lines a page; the files of the checkout in which this runs, or
those of `--folder`. Measured: pieces per second of wall-clock time, and of processor time, which other programs on the machine do
not affect; the second run, which reads every file and finds nothing new; the longest pause between two progress reports. Run:
`.venv/bin/python tests/bench/ingest.py [--pages 200] [--folder FOLDER] [--record]`, minutes on two cores.
"""

from __future__ import annotations

import textwrap
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from reportlab.pdfgen.canvas import Canvas

from measure import arguments, fresh_memory, record, timed
from memento.python import Memento
from people import Life

ROOT = Path(__file__).parents[2]
_LINES, _WIDTH = 40, 95


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Print and return pieces a second for both."""
    parser = arguments(__doc__ or "", notes=0)
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--folder", type=Path, default=ROOT)
    chosen = parser.parse_args(argv)
    figures: dict[str, object] = {"model": chosen.model}
    with fresh_memory(chosen.model) as memento:
        pdf = write_pdf(memento.datadir.path / "life.pdf", chosen.pages)
        for name, source in (("pdf", pdf), ("folder", chosen.folder)):
            figures |= {f"{name}_{key}": value for key, value in measure(memento, source).items()}
    for key, value in figures.items():
        print(f"{key:<34} {value}")
    record("ingest", figures, chosen.record)
    return figures


def measure(memento: Memento, source: Path) -> dict[str, object]:
    """Take something in, as a trial, in earnest and once more."""
    trial, trial_s = timed(lambda: memento.intake.ingest(source, dry_run=True))
    steps, began = [time.perf_counter()], time.process_time()
    done, seconds = timed(
        lambda: memento.intake.ingest(source, progress=lambda *step: steps.append(time.perf_counter()))
    )
    busy = time.process_time() - began
    again, again_s = timed(lambda: memento.intake.ingest(source))
    assert (again.unchanged, trial.pieces) == (done.fresh, done.pieces)
    return {
        "documents": done.fresh,
        "pieces": done.memories,
        "left_out": sum(done.left_out.values()),
        "trial_s": round(trial_s, 1),
        "s": round(seconds, 1),
        "processor_s": round(busy, 1),
        "pieces_per_s": round(done.memories / seconds, 1),
        "pieces_per_processor_s": round(done.memories / busy, 1),
        "again_s": round(again_s, 2),
        "longest_pause_s": round(max(b - a for a, b in pairwise(steps)), 1),
    }


def write_pdf(path: Path, pages: int) -> Path:
    """Write a PDF of so many pages."""
    rows = Life(names=200).notes(pages * _LINES)
    lines = textwrap.wrap(" ".join(row.content for row in rows), _WIDTH)
    canvas = Canvas(str(path))
    for page in range(pages):
        for place, line in enumerate(lines[page * _LINES : (page + 1) * _LINES]):
            canvas.drawString(40, 800 - 18 * place, line)
        canvas.showPage()
    canvas.save()
    return path


if __name__ == "__main__":
    main()
