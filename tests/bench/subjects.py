"""
Is the subject that is extracted from a text the right one, and how much does it help, for notes in the first person and for
memories made from them?

Data: the hand-labelled notes below, and your own sets of conversations (`memento.plugins.lab.evaluation`); the repository
contains none.
Right: the label is among the names that the text gives its subject; for a note of the user about somebody, that person; for a note
about the user alone, no name of another person with full weight. Baseline: recall without names guessed from texts, on the same
import, both verbatim and consolidated.
Run: `.venv/bin/python tests/bench/subjects.py [--folder FOLDER --sets NAME …] [--record]`.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from unittest.mock import patch

from measure import fresh_memory, record
from memento.plugins.lab.evaluation import Report, format_difference, prepare_trial, read_set
from memento.search.subjects import aliases
from memento.settings import EmbeddingSettings, Settings

NOTES: Mapping[str, str] = {
    "My sister Anna moved to Lisbon last week.": "anna",
    "Anna works at Nimbus Labs now.": "anna",
    "I met Bruno Keller at the Aurora workshop.": "bruno keller",
    "Yesterday Carla told me that she is pregnant.": "carla",
    "I prefer Postgres over MySQL.": "postgres",
    "We use Grafana for all dashboards.": "grafana",
    "My dog Rex is afraid of thunder.": "rex",
    "Our office is in Leipzig.": "leipzig",
    "The Falcon project is delayed until March.": "falcon project",
    "Project Juniper ships on 4 May.": "project juniper",
    "In June Dario starts as head of sales.": "dario",
    "I bought a Brompton bicycle.": "brompton",
    "Dr. Elena Costa is my dentist.": "elena costa",
    "My manager is Farid Haas.": "farid haas",
    "Greta and Hugo are getting married.": "greta",
    "Zed is my editor of choice.": "zed",
    "I am allergic to peanuts.": "",
    "I run every morning before work.": "",
    "I turned forty in May.": "",
    "Please keep answers short.": "",
    "My favourite colour is green.": "",
    "When I was a child I played the violin.": "",
}
"""A note → the normalise_label name that one would ask for it by; empty where it is about the user alone."""


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Print the shares that are right, and what guessed names are worth in each set."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="where sets are, a folder each")
    parser.add_argument("--sets", nargs="+", default=["mb1_updates", "locomo"], metavar="NAME")
    parser.add_argument("--model", default="minilm", choices=("minilm", "trigram"))
    parser.add_argument("--record", action="store_true", help="append the figures to tests/bench/results")
    chosen = parser.parse_args(argv)
    figures: dict[str, object] = {"notes": share({note: [note] for note in NOTES}), "memories": share(consolidated())}
    print(f"notes as they are: the subject is right in {figures['notes']:.0%} of {len(NOTES)}")
    print(f"memories made of them by rules: {figures['memories']:.0%}")
    for name in chosen.sets if chosen.folder else ():
        for consolidate in (False, True):
            on, off = (worth(chosen.folder / name, consolidate, chosen.model, guess=g) for g in (True, False))
            found = on.compare_with(off, "recall@5")
            called = f"{name}, consolidated" if consolidate else name
            print(f"{called}: guessed names are worth {format_difference(found)} of recall@5")
            figures[called] = [round(value, 4) for value in found]
    record("subjects", figures, chosen.record)
    return figures


def share(became: Mapping[str, Sequence[str]]) -> float:
    """How many of the notes lead to the right subject, 0..1, given the texts that became of each."""
    return round(sum(is_right(became[note], label) for note, label in NOTES.items()) / len(NOTES), 3)


def is_right(texts: Sequence[str], label: str) -> bool:
    """Whether a text's names have the label, or where there is none no text has a name with full weight."""
    found = [dict(aliases(text, None)) for text in texts]
    if label:
        return any(label in names for names in found)
    return all(weight < 1.0 for names in found for weight in names.values())


def consolidated() -> dict[str, list[str]]:
    """The memories that the rules make of each note; the note itself where they make none."""
    found: dict[str, list[str]] = {}
    with fresh_memory("trigram") as memento:  # no vector takes part in the rules
        for note in NOTES:
            made = memento.note(note).memories
            said = {one.iri: one.content for one in memento.list(past=True)}
            found[note] = [said[iri] for iri in made] or [note]
    return found


def worth(folder: Path, consolidate: bool, model: str, *, guess: bool) -> Report:
    """The questions of a set, with names guessed from texts or without."""
    data = read_set(folder, exclude_types=["adversarial"])
    with (
        guessing(guess),
        prepare_trial(
            data, consolidate=consolidate, configured=Settings(embedding=EmbeddingSettings(model=model))
        ) as trial,
    ):
        return trial.ask_all()


def guessing(on: bool) -> AbstractContextManager[object]:
    """While it lasts, texts give their subject's names, or none."""
    return patch("memento.search.mentions.aliases", aliases if on else lambda content, title: ())


if __name__ == "__main__":
    main()
