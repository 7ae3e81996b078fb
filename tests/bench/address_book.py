"""
Does a question about one person bring that person's facts first, in an address book where people share first and last names?

Thirty people (every first name with every last name), five facts each, one note a fact, told in random order. Each fact is asked
with the full name. The names and frames are invented here.
Run: `.venv/bin/python tests/bench/address_book.py [--raw] [--misses] [FRAMES.json]`, half a minute. A file has the lists `first`
and `last`, and in `facts` for each kind `notes` and `questions` with {n} for the name and {v} for the value, and `values`.

    right@k   one of the first k memories has the full name and the value
    wrong@1   the first memory does not have the full name
    silent    nothing came back
"""

from __future__ import annotations

import itertools
import json
import random
from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from measure import fresh_memory
from memento.model import NoteRow

MOST_PEOPLE, MOST_QUESTIONS = 120, 150
BEGIN = datetime(2025, 2, 1, 9, tzinfo=UTC)
BOOK: dict[str, object] = {
    "first": ["Ayse", "Bartek", "Chiara", "Dimitri", "Eleni", "Farouk"],
    "last": ["Hartmann", "Kowalczyk", "Nakamura", "Okonkwo", "Silva"],
    "facts": {
        "trade": {
            "notes": ["{n} is a {v}.", "{n} earns a living as a {v}.", "By trade {n} is a {v}."],
            "questions": ["What does {n} do for a living?", "What is {n}'s trade?", "What job does {n} have?"],
            "values": ["plumber", "notary", "beekeeper", "tax adviser", "violin maker", "surveyor", "baker"],
        },
        "allergy": {
            "notes": ["{n} is allergic to {v}.", "{n} gets a rash from {v}.", "{v} makes {n} ill."],
            "questions": ["What is {n} allergic to?", "Does {n} have any allergies?", "Which food must {n} avoid?"],
            "values": ["peanuts", "shellfish", "celery", "sesame", "kiwi", "mustard", "lupin"],
        },
        "animal": {
            "notes": ["{n} keeps {v}.", "{n} has {v} at home.", "At home {n} looks after {v}."],
            "questions": ["What animals does {n} have?", "Does {n} have a pet?", "Which pet lives with {n}?"],
            "values": ["two cats", "a parrot", "a greyhound", "three hens", "a tortoise", "goldfish", "a pony"],
        },
        "town": {
            "notes": ["{n} grew up in {v}.", "{n} was born in {v}.", "{v} is where {n} comes from."],
            "questions": ["Where is {n} from?", "Where did {n} grow up?", "In which town was {n} born?"],
            "values": ["Bergamo", "Aarhus", "Izmir", "Lagos", "Kobe", "Poznan", "Chania"],
        },
        "sport": {
            "notes": ["{n} plays {v} every week.", "{n} is in a {v} club.", "On Sundays {n} goes to {v}."],
            "questions": [
                "What sport does {n} do?",
                "Which sport does {n} play?",
                "What does {n} play in the spare time?",
            ],
            "values": ["badminton", "water polo", "fencing", "curling", "handball", "judo", "rowing"],
        },
    },
}


class Fact(NamedTuple):
    """What a note says of somebody."""

    note: str
    name: str
    kind: str
    value: str


def write_book(book: dict[str, object], seed: int = 7) -> tuple[list[Fact], list[tuple[str, Fact]]]:
    """Return the facts in the order in which they are told, and the questions, each with the fact that answers it."""
    draw, frames = random.Random(seed), book["facts"]
    assert isinstance(frames, dict)
    names = [" ".join(pair) for pair in itertools.product(book["first"], book["last"])]  # type: ignore[call-overload]
    draw.shuffle(names)
    facts = [
        Fact(draw.choice(frames[kind]["notes"]).format(n=name, v=value), name, kind, value)
        for name in names[:MOST_PEOPLE]
        for kind in frames
        for value in [draw.choice(frames[kind]["values"])]
    ]
    draw.shuffle(facts)
    asked = draw.sample(facts, min(MOST_QUESTIONS, len(facts)))
    return facts, [(draw.choice(frames[fact.kind]["questions"]).format(n=fact.name), fact) for fact in asked]


def ask(book: dict[str, object], raw: bool, misses: bool) -> Iterator[tuple[bool, bool, bool, bool]]:
    """Yield for each question whether it is right@1, right@3, wrong@1, silent."""
    facts, questions = write_book(book)
    rows = [NoteRow(content=fact.note, at=BEGIN + timedelta(hours=hour)) for hour, fact in enumerate(facts)]
    with fresh_memory("minilm") as memory:
        memory.intake.import_notes(rows, consolidate=not raw)
        for question, fact in questions:
            texts = [one.content for one in memory.recall(question, k=10).memories]
            right = [fact.name in text and fact.value in text for text in texts]
            if misses and not any(right[:1]):
                print(question, "|", fact.note, "|", texts[:3])
            yield any(right[:1]), any(right[:3]), bool(texts) and fact.name not in texts[0], not texts


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("frames", nargs="?", type=Path)
    parser.add_argument("--raw", action="store_true", help="import the notes unchanged")
    parser.add_argument("--misses", action="store_true", help="print the questions whose answer is not first")
    args = parser.parse_args()
    book = json.loads(args.frames.read_text()) if args.frames else BOOK
    results = list(ask(book, args.raw, args.misses))
    names = ("right@1", "right@3", "wrong@1", "silent")
    shares = [sum(column) / len(results) for column in zip(*results, strict=True)]
    print(
        f"{len(results)} questions:",
        ", ".join(f"{name} {share:.3f}" for name, share in zip(names, shares, strict=True)),
    )


if __name__ == "__main__":
    main()
