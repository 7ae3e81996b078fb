"""
How well is a stranger's life remembered: is the right memory first, nothing outdated above it, and no answer to what was never
said?

Data: the invented lives of `tests/bench/lives` (see its README), or files in the same format. Each is told note by note and then
asked about, three times in one run: understood by rules, stored as raw rows, and, as the baseline, raw notes ranked by cosine
alone.
Run: `.venv/bin/python tests/bench/lives.py [FILE …] [--misses] [--record]`, a minute a life.

    right@k    a wanted word is in one of the first k memories, in its text or in its note
    stale      of questions with an outdated value: it is shown as current among the first three, above the right one
    unsaid     of questions that the notes do not answer: nothing came back
    silent     of the others: nothing came back
    shown      memories per answer, of the others
    invented   memories with a word or number that their note lacks
"""

from __future__ import annotations

import json
import re
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from measure import fresh_memory, record
from memento.model import NoteRow
from memento.search.embedders import embedder_of
from memento.settings import EmbeddingSettings

LIVES = Path(__file__).parent / "lives"
MODES = ("rules", "raw", "cosine")
UNSEEN = "unseen"
BRACKETS = re.compile(r"\[[^\]]*+\]|\([^)]*+\d{4}[^)]*+\)")
SHOWN = 10  # by cosine alone nothing is ever left out


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One answer's line: its words, those of its note, and whether it is shown as true at the asked time."""

    content: str
    note: str
    holds: bool

    def has(self, words: Sequence[str]) -> bool:
        """Tell whether one of some words stands in the memory or its note."""
        return has_any(f"{self.content}\n{self.note}", words)


@dataclass(slots=True)
class Tally:
    """What is counted of one life, or of several."""

    counts: dict[str, list[float]] = field(default_factory=dict)
    misses: list[str] = field(default_factory=list)

    def add(self, measure: str, value: float) -> None:
        self.counts.setdefault(measure, []).append(value)

    def join(self, other: Tally) -> None:
        for measure, values in other.counts.items():
            self.counts.setdefault(measure, []).extend(values)

    def means(self) -> dict[str, float]:
        return {measure: round(float(np.mean(values)), 4) for measure, values in sorted(self.counts.items())}


def main(argv: Sequence[str] | None = None) -> dict[str, dict[str, float]]:
    """Print a line for each life and mode, and the means; returns the means by group and mode."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="*", type=Path, help="all of tests/bench/lives, if none is named")
    parser.add_argument("--mode", action="append", choices=MODES, help="this way of keeping alone; may be repeated")
    parser.add_argument("--model", default="minilm", choices=("minilm", "trigram"))
    parser.add_argument("--misses", action="store_true", help="print what came instead, of lives that may be read")
    parser.add_argument("--record", action="store_true", help="append the figures to tests/bench/results")
    chosen = parser.parse_args(argv)
    totals: dict[tuple[str, str], Tally] = {}
    for path in chosen.file or sorted(LIVES.glob("*/*.json")):
        life = json.loads(path.read_text(encoding="utf-8"))
        for mode in chosen.mode or MODES:
            tally = measure_life(life, mode, chosen.model)
            print(line(f"{path.parent.name}/{path.stem}", mode, tally.means()), flush=True)
            if chosen.misses and path.parent.name != UNSEEN:
                print("\n".join(tally.misses))
            totals.setdefault((path.parent.name, mode), Tally()).join(tally)
    for (group, mode), tally in totals.items():
        print(line(group, mode, tally.means()))
    means = {f"{group} {mode}": tally.means() for (group, mode), tally in totals.items()}
    record("lives", {"model": chosen.model, **means}, chosen.record)
    return means


def measure_life(life: Mapping[str, list[dict[str, object]]], mode: str, model: str) -> Tally:
    """Tell a life, ask its questions, and count what comes back."""
    tally = Tally()
    for question, items in ask_by_cosine(life, model) if mode == "cosine" else ask_memory(life, mode, model, tally):
        count_answer(question, items, tally)
    return tally


def ask_memory(
    life: Mapping[str, list[dict[str, object]]], mode: str, model: str, tally: Tally
) -> Iterator[tuple[dict[str, object], list[Item]]]:
    """Yield each question with what recall answers."""
    with fresh_memory(model) as memento:
        if mode == "raw":
            rows = [NoteRow(content=str(told["note"]), at=instant(str(told["at"]))) for told in life["notes"]]
            memento.intake.import_notes(rows, consolidate=False)
            memento.admin.upgrade()  # reads at once what they claim, which otherwise follows in the background
        else:
            texts = {
                memento.note(str(told["note"]), at=str(told["at"])).note: str(told["note"]) for told in life["notes"]
            }
            for kept in (
                one for start in range(0, 5000, 1000) for one in memento.list(limit=1000, offset=start, past=True)
            ):
                if kept.note in texts:
                    tally.add("invented", bool(stems(kept.content) - stems(texts[kept.note])))
        for question in life["questions"]:
            asked = str(question["as_of"]) if question.get("as_of") else None
            moment = instant(asked) if asked else datetime.now(UTC)
            answer = memento.recall(str(question["question"]), as_of=asked)
            yield (
                question,
                [
                    Item(
                        content=one.content,
                        note=one.note.content if one.note else "",
                        holds=one.invalid_at is None or one.invalid_at > moment,
                    )
                    for one in answer.memories
                ],
            )


def ask_by_cosine(
    life: Mapping[str, list[dict[str, object]]], model: str
) -> Iterator[tuple[dict[str, object], list[Item]]]:
    """Yield each question with the ten notes nearest to it, whatever their time."""
    embedder = embedder_of(EmbeddingSettings(model=model), None)
    notes = [str(told["note"]) for told in life["notes"]]
    vectors = embedder.embed(notes)
    for question in life["questions"]:
        nearest = np.argsort(-(vectors @ embedder.embed([str(question["question"])])[0]))[:SHOWN]
        yield question, [Item(content=notes[at], note=notes[at], holds=True) for at in nearest]


def count_answer(question: Mapping[str, object], items: Sequence[Item], tally: Tally) -> None:
    """Count one answer."""
    want, never = strings(question["want"]), strings(question.get("never", ()))
    if not want:
        tally.add("unsaid", not items)
        return
    right = next((at for at, item in enumerate(items[:10]) if item.has(want)), len(items) + 10)
    tally.add("right@1", right < 1)
    tally.add("right@3", right < 3)
    tally.add("silent", not items)
    tally.add("shown", len(items))
    if never:
        outdated = next(
            (
                at
                for at, item in enumerate(items[:3])
                if item.holds and has_any(item.content, never) and not has_any(item.content, want)
            ),
            None,
        )
        tally.add("stale", outdated is not None and (right > 2 or outdated < right))
    if right:
        tally.misses += [f"  {question['kind']}: {question['question']} ({' | '.join(want)}), at {right + 1}"]
        tally.misses += [f"      {item.content}" for item in items[:3]]


def has_any(text: str, words: Sequence[str]) -> bool:
    """Tell whether one of some words stands in a text, in any case."""
    return any(word.lower() in text.lower() for word in words)


def stems(text: str) -> set[str]:
    """Return the beginnings of the longer words and of all numbers, dates in brackets aside."""
    words = re.findall(r"[^\W_]++", BRACKETS.sub(" ", text))
    return {word[:5].casefold() for word in words if word != "USER" and (len(word) > 3 or word.isdigit())}


def strings(value: object) -> list[str]:
    assert isinstance(value, list | tuple)
    return [str(one) for one in value]


def instant(text: str) -> datetime:
    """Return a day or an instant as an instant, in UTC."""
    read = datetime.fromisoformat(text)
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def line(name: str, mode: str, figures: Mapping[str, float]) -> str:
    """One line of figures."""
    return f"{name:<26}{mode:<8}" + "  ".join(f"{measure} {value:6.3f}" for measure, value in figures.items())


if __name__ == "__main__":
    main()
