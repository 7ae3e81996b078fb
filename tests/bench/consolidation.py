"""
How well do the rules understand notes: names, facts, dates, and what is no longer true?

Data: the labelled notes of `tests/consolidation/notes` (see its README), all three files. For the unseen one only figures are
shown.
`--turns FOLDER` instead imports the conversations of an evaluation set, consolidates them, and prints every claim that ended beside
the one that ended it, for you to read.
Run: `.venv/bin/python tests/bench/consolidation.py [--misses] [--record]`, some seconds.
"""

from __future__ import annotations

import json
import random
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from labelled import FILES, MAY_BE_READ, MEASURES, Score, tagged
from measure import fresh_memory, record
from memento.plugins.lab.evaluation import read_set
from memento.python import Memento

PARTS = ("precision", "recall", "f1")


def main(argv: Sequence[str] | None = None) -> dict[str, Score]:
    """Print a table for each file; returns the scores by file."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="trigram", choices=("minilm", "trigram"))
    parser.add_argument("--misses", action="store_true", help="say what differs, in the files that may be read")
    parser.add_argument(
        "--turns", type=Path, metavar="FOLDER", help="print what is retired in the conversations of a set"
    )
    parser.add_argument("--sample", type=int, default=100, help="at most so many of them")
    parser.add_argument("--record", action="store_true", help="append the figures to tests/bench/results")
    chosen = parser.parse_args(argv)
    if chosen.turns:
        print_retired(chosen.turns, chosen.sample, chosen.model)
        return {}
    by_file = {file: tagged(file, chosen.model) for file in FILES}
    for file, by_tag in by_file.items():
        if by_tag["all"].expected:
            show(file, by_tag)
            if chosen.misses and file in MAY_BE_READ:
                print("\n".join(by_tag["all"].misses))
            record("consolidation", {"file": file, **figures(by_tag["all"])}, chosen.record)
    return {file: by_tag["all"] for file, by_tag in by_file.items()}


def figures(score: Score) -> dict[str, dict[str, float]]:
    """Precision, recall and F1 of each measure, and on how many expectations they rest."""
    return {
        measure: {
            **{part: round(getattr(score, part)(measure), 4) for part in PARTS},
            "expected": score.expected[measure],
            "found": score.found[measure],
        }
        for measure in MEASURES
    }


def show(file: str, by_tag: dict[str, Score]) -> None:
    """The figures of a file in percent, then those of each tag."""
    score = by_tag["all"]
    print(f"\n{file}: precision, recall, F1 (percent)")
    for measure in MEASURES[:-1]:
        three = "  ".join(f"{100 * getattr(score, part)(measure):5.1f}" for part in PARTS)
        print(f"  {measure:<14} {three}   of {score.expected[measure]} expected, {score.found[measure]} found")
    print(f"  {MEASURES[-1]:<14} {score.found[MEASURES[-1]]} found")
    print(f"  {'tag':<14} {'entities':>9} {'memories':>9} {'validAt':>9} {'retired P':>10} {'R':>6}")
    for tag in sorted(set(by_tag) - {"all"}):
        one = by_tag[tag]
        shown = [f"{100 * one.f1(measure):9.1f}" for measure in ("entities", "memories")]
        exact = f"{100 * one.recall('validAt'):9.1f}"
        ends = f"{100 * one.precision('invalidations'):10.1f} {100 * one.recall('invalidations'):6.1f}"
        print(f"  {tag:<14} {' '.join(shown)} {exact} {ends}")


def print_retired(folder: Path, sample: int, model: str) -> None:
    """Import the conversations of a set by rules and print a sample of the claims that ended, and through what."""
    data = read_set(folder)
    with fresh_memory(model) as memento:
        for scope in data.scopes:
            namespace = f"turns-{scope}"
            memento.intake.import_notes([d.row for d in data.documents if d.scope == scope], namespace=namespace)
        ends = [end for scope in data.scopes for end in _ends(memento, f"turns-{scope}")]
    print(f"{len(data.documents)} turns, {len(ends)} claims ended")
    random.Random(0).shuffle(ends)
    for number, text in enumerate(ends[:sample], start=1):
        print(f"\n{number:3} {text}")


_ENDED = """PREFIX mem: <http://purl.org/memento/>
SELECT ?words ?old ?newer ?new {
  ?later mem:invalidates ?claim ; mem:words ?newer ; mem:statedBy/mem:content ?new .
  ?claim mem:words ?words ; mem:statedBy/mem:content ?old .
}"""


def _ends(memento: Memento, namespace: str) -> list[str]:
    """The words of each claim that is over because of another, and of that one, each with its memory."""
    answer, _ = memento.graphs.query_bytes(_ENDED, namespace=namespace)
    rows = [{name: one["value"] for name, one in row.items()} for row in json.loads(answer)["results"]["bindings"]]
    return sorted(f"“{row['words']}” of “{row['old']}”\n      ← “{row['newer']}” of “{row['new']}”" for row in rows)


if __name__ == "__main__":
    main()
