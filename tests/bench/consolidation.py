"""
How well do the rules understand notes: names, facts, dates, and what is no longer true?

Data: the labelled notes of `tests/consolidation/notes` (see its README), all three files. For the unseen one only figures are
shown.
`--words` lists the words in the pattern tables that no example of a row and no text of a test exercises: a text exercises a word if
its pattern matches the text with the word in the match (or beside it, where the pattern looks there).
`--turns FOLDER` instead imports the conversations of an evaluation set, consolidates them, and prints every retired memory beside
the one that retired it, for you to read.
Run: `.venv/bin/python tests/bench/consolidation.py [--misses] [--record]`, some seconds; `--words` takes a minute.
"""

from __future__ import annotations

import ast
import json
import random
import re
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from memento.consolidation.rules.offices import HEADS, mask
from memento.consolidation.rules.patterns import DATA, fragments
from memento.consolidation.rules.skeleton import skeleton
from memento.consolidation.rules.wording import with_user

from labelled import FILES, MAY_BE_READ, MEASURES, Score, tagged
from measure import fresh_memory, record
from memento.evaluation import read_set
from memento.iris import MEM, user_iri
from memento.model import Listed, User
from memento.python import Memento
from memento.text.dates import dates
from memento.text.kinds import EVENT_WORDS, KIND_OF_NOUN
from memento.text.names import mentions
from memento.text.person import third_person
from memento.text.tables import LEXICON, alternatives, fill, load
from memento.text.words import JOBS, NUMBER_WORDS, ONE_OF_A_KIND, RELATIVES

PAGE = 1000
TESTS = Path(__file__).parents[1]
NOTES = TESTS / "consolidation" / "notes"
WORDS = TESTS / "text" / "words.json"
"""Texts for the words of patterns that no example needs, by table and row; each is made of the pattern and read by it."""
WORD = re.compile(r"(?:[A-Za-z]\??|\[[a-z'’]+\]\??){3,}")
"""A word of a pattern, with letters that may be missing."""
ESCAPES = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|\(\?P<\w+>|\(\?[a-z-]+:|\{[A-Z_]+\}|\n")
BESIDE = 25
"""Characters beside what a pattern reads in which it may look for a word."""
MOST_TRIED = 60
AT = datetime(2024, 5, 15, tzinfo=UTC)
USER = User(iri=user_iri("local"))
LISTS = {
    "RELATIVE": alternatives(RELATIVES), "ONE_OF_A_KIND": alternatives(ONE_OF_A_KIND), "JOB": alternatives(JOBS),
    "NOUN": alternatives(frozenset(KIND_OF_NOUN)), "EVENT": alternatives(EVENT_WORDS), "HEADS": alternatives(HEADS),
    "NUMBERS": "|".join(NUMBER_WORDS), "N": "[\ue000-\ue7ff]", "R": "[\ue800-\uefff]",
}  # fmt: skip
"""What patterns name in braces and has a list, or a sign, instead of words of the pattern."""
PARTS = ("precision", "recall", "f1")


def list_idle_words() -> tuple[list[tuple[str, str]], int]:
    """Return (table and row, word) of each word that nothing exercises, and how many words there are."""
    texts = "\n".join(dict.fromkeys(list_texts()))
    uses: dict[tuple[str, str], list[tuple[re.Pattern[str], list[str]]]] = {}
    for place, written, pattern, examples in list_patterns():
        for word in dict.fromkeys(WORD.findall(ESCAPES.sub(" ", written))):
            uses.setdefault((place, word), []).append((pattern, examples))
    return [key for key, tried in uses.items() if not is_exercised(key[1], tried, texts)], len(uses)


def list_patterns() -> Iterator[tuple[str, str, re.Pattern[str], list[str]]]:
    """Yield the place, text, compiled form and examples of each pattern; a fragment of a file once for each row that has it."""
    more: Mapping[str, list[str]] = json.loads(WORDS.read_text(encoding="utf-8"))
    for file in (*sorted(LEXICON.glob("*.toml")), *sorted(DATA.glob("*.toml"))):
        own: Mapping[str, str] = load(file).get("fragments", {})
        known = {**(fragments() if file.parent == DATA else {}), **LISTS}
        for name, text in own.items():
            known[name] = fill(text, known)
        for row in (row for rows in load(file).values() if isinstance(rows, list) for row in rows):
            if not isinstance(row, dict) or "pattern" not in row:
                continue
            pattern = re.compile(fill(row["pattern"], known), re.IGNORECASE)
            examples = [prepare(text) for text in row["example"][:1]]
            place = f"{file.stem}, {row['name']}"
            texts = [*(text for several in examples for text in several), *more.get(place, ())]
            yield place, row["pattern"], pattern, texts
            inner, todo = set(), re.findall(r"\{([A-Z_]+)\}", row["pattern"])
            while todo:
                if (name := todo.pop()) in own and name not in inner:
                    inner.add(name)
                    todo += re.findall(r"\{([A-Z_]+)\}", own[name])
            for name in inner:
                yield f"{file.stem}, fragment {name}", own[name], pattern, texts


def prepare(text: str) -> list[str]:
    """Return the forms in which patterns see a text: as it is, beside a name, in the third person, as a skeleton, with signs."""
    before, _, after = text.partition("[]")
    said = third_person(text)
    found = dates(said, AT, leaning="future")
    reduced = skeleton(said, mentions(said, USER), found)
    return [
        *filter(None, (before, after, text if "[" in text else "")),
        said,
        with_user(text),
        reduced.text,
        mask(text).text,
    ]


def list_texts() -> Iterator[str]:
    """Yield the forms of the texts of tests: what stands in strings of their code, and notes that may be read."""
    said: dict[str, None] = {}
    for file in (
        *(TESTS / "text").glob("*.py"),
        *(TESTS / "consolidation").rglob("*.py"),
        *(TESTS / "retrieval").glob("*.py"),
    ):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
                said[node.value] = None
    for name in (*MAY_BE_READ, "strangers"):
        for line in (NOTES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            said.update(dict.fromkeys(re.findall(r'"((?:[^"\\]|\\.)* (?:[^"\\]|\\.)*)"', line)))
    for text in said:
        for sentence in text.splitlines():
            if 2 < len(sentence) < 400:
                yield from (form for form in prepare(sentence) if "\n" not in form)


def is_exercised(word: str, tried: Sequence[tuple[re.Pattern[str], list[str]]], texts: str) -> bool:
    """Tell whether one of the patterns that have a word reads a text with it there."""
    wanted = re.compile(word, re.IGNORECASE)
    for pattern, examples in tried:
        if any(reads(pattern, text, wanted) for text in examples):
            return True
    for at, hit in enumerate(wanted.finditer(texts)):
        begin, end = texts.rfind("\n", 0, hit.start()) + 1, texts.find("\n", hit.end())
        if any(reads(pattern, texts[begin : end if end > 0 else None], wanted) for pattern, _ in tried):
            return True
        if at > MOST_TRIED:
            break
    return False


def reads(pattern: re.Pattern[str], text: str, wanted: re.Pattern[str]) -> bool:
    """Tell whether a pattern reads a text, or the part of it before or behind a place, with a word there."""
    hits = list(wanted.finditer(text))
    if not hits:
        return False
    cuts = [text]
    for hit in hits[:3]:
        cuts += [text[: hit.end() + one.end()] for one in re.finditer(r"\s+", text[hit.end() :][:BESIDE])][:5]
        cuts += [text[: hit.end()]]
        cuts += [text[one.start() :] for one in re.finditer(r"[\s,]", text[: hit.start()])][-3:]
    beside = BESIDE if "(?=" in pattern.pattern or "(?!" in pattern.pattern or "(?<" in pattern.pattern else 0
    return any(
        match.start() - beside <= hit.start() and hit.end() <= match.end() + beside
        for cut in cuts
        for match in pattern.finditer(cut)
        for hit in wanted.finditer(cut)
    )


def main(argv: Sequence[str] | None = None) -> dict[str, Score]:
    """Print a table for each file; returns the scores by file."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="trigram", choices=("minilm", "trigram"))
    parser.add_argument("--misses", action="store_true", help="say what differs, in the files that may be read")
    parser.add_argument(
        "--turns", type=Path, metavar="FOLDER", help="print what is retired in the conversations of a set"
    )
    parser.add_argument("--sample", type=int, default=100, help="at most so many of them")
    parser.add_argument("--words", action="store_true", help="list the words of patterns that nothing exercises")
    parser.add_argument("--record", action="store_true", help="append the figures to tests/bench/results")
    chosen = parser.parse_args(argv)
    if chosen.words:
        idle, count = list_idle_words()
        print(*(f"{place}: {word}" for place, word in idle), sep="\n")
        print(f"{len(idle)} of {count} words are never exercised: {100 * len(idle) / count:.1f} %")
        return {}
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
    """Import the conversations of a set by rules and print a sample of what was retired, by which rule and through what."""
    data = read_set(folder)
    with fresh_memory(model) as memento:
        for scope in data.scopes:
            namespace = f"turns-{scope}"
            memento.import_notes([d.row for d in data.documents if d.scope == scope], namespace=namespace)
        ends = [end for scope in data.scopes for end in _ends(memento, f"turns-{scope}")]
    rules = Counter(rule for rule, _ in ends)
    print(f"{len(data.documents)} turns, {len(ends)} memories retired: {dict(rules.most_common())}")
    random.Random(0).shuffle(ends)
    for number, (rule, text) in enumerate(ends[:sample], start=1):
        print(f"\n{number:3} [{rule}] {text}")


def _ends(memento: Memento, namespace: str) -> list[tuple[str, str]]:
    """(rule, both memories in words) of each memory that is over."""
    found: list[tuple[str, str]] = []
    listed: dict[str, Listed] = {}
    while page := memento.list(limit=PAGE, offset=len(listed), past=True, namespace=namespace):
        listed |= {str(one.iri): one for one in page}
    for old in (one for one in listed.values() if one.invalid_at):
        for subject, predicate in memento.get(old.iri, namespace=namespace).pointed_at_by:
            if predicate == MEM.invalidated:
                said = dict(memento.get(subject, namespace=namespace).properties)
                new = listed[said[MEM.invalidator]]
                text = f"{old.valid_at:%Y-%m-%d} {old.content}\n      → {new.valid_at:%Y-%m-%d} {new.content}"
                found.append((said.get(MEM.rule, ""), text))
    return found


if __name__ == "__main__":
    main()
