"""
Draw a seeded sample of the memories that rules make from conversations, for you to read: is any memory, or statement of it, false
or meaningless?

Run: `.venv/bin/python tests/bench/sample_memories.py CORPUS.jsonl… [--count 300] [--seed 7]`. A corpus has a line for each turn
with its `text`, `timestamp` and `speaker`; turns of an assistant are left out. Each turn becomes a separate note of its speaker.

Prints the turn, then each sampled memory with its dates, its mood and its statements.
"""

from __future__ import annotations

import json
import random
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from memento.consolidation.agents import Draft
from memento.consolidation.rules import RuleAgents
from memento.iris import mint
from memento.model import Note, User


def main(argv: Sequence[str] | None = None) -> list[tuple[str, Draft]]:
    """Print the memories that are drawn and return them, each with the turn it is of."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("corpus", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=7)
    chosen = parser.parse_args(argv)
    turns = [json.loads(line) for file in chosen.corpus for line in file.read_text(encoding="utf-8").splitlines()]
    told = [turn for turn in turns if turn.get("speaker") != "assistant"]
    random.Random(chosen.seed).shuffle(told)
    found: list[tuple[str, Draft]] = []
    for turn in told:
        if len(found) >= chosen.count:
            break
        found += [(turn["text"], draft) for draft in understand(turn["text"], turn["timestamp"])]
    for place, (text, draft) in enumerate(found[: chosen.count], start=1):
        print(f"{place:3} {text}\n    = {draft.content}\n      {'; '.join(list_annotations(draft))}")
    return found[: chosen.count]


def understand(text: str, timestamp: str) -> list[Draft]:
    """Return what is kept of a turn, as if it were a note."""
    agents, user = RuleAgents(), User(iri=mint("user"))
    at = datetime.fromisoformat(timestamp)
    note = Note(iri=mint("note"), content=text, at=at if at.tzinfo else at.replace(tzinfo=UTC))
    mentions = agents.extract_entities(note, user).mentions
    return [draft for draft in agents.extract_memories(note, mentions, user) if not draft.noise]


def list_annotations(draft: Draft) -> Iterator[str]:
    """Yield what is written beside the words of a memory."""
    for name, date in (("since", draft.valid_at), ("on", draft.event_at), ("until", draft.until)):
        if date:
            yield f"{name} {date:%Y-%m-%d}"
    if draft.mood != "fact":
        yield draft.mood
    for one in draft.claims:
        yield f"{one.owner} · {one.relation} · {'' if one.polarity else 'not '}{one.value} ({one.mood})"
        for relation, value in one.ends:
            yield f"ends {relation} {value}".rstrip()


if __name__ == "__main__":
    main()
