"""
Is a chain of claims followed to its end, and what is each part of the graph worth there?

Data: `chains.toml`, a hundred short notes of one person and sixty questions over two to four of them, forward and backward, some of
them over values that a later note replaced. All of it is invented here.
Run: `.venv/bin/python tests/bench/chains.py [--misses] [--record]`, a minute.

    right@k        one of the first k memories has the wanted words
    BM25           the words of the question alone, over the same memories
    without …      recall without the rows of ANCHOR, without the PageRank, and, at last, after all claims were removed by SPARQL
    lost           the difference to recall in points, with its paired 95 % interval
    ms             a question takes, the median and the 95th percentile
"""

from __future__ import annotations

import tomllib
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter
from unittest.mock import patch

import numpy as np

from measure import fresh_memory, record
from memento.model import Scope
from memento.plugins.lab.evaluation import align_columns, estimate_difference, format_difference
from memento.python import Memento
from memento.retrieval import pipeline
from memento.retrieval.question import Query
from memento.retrieval.signals import with_weights
from memento.search.words import bm25
from memento.settings import Settings
from memento.text.sentences import shorten_line

NOTES = Path(__file__).parent / "chains.toml"
BEGIN = datetime(2025, 1, 1, 9, tzinfo=UTC)
RANKS = (1, 3)
CLAIMS = """PREFIX mem: <http://purl.org/memento/>
DELETE { GRAPH ?g { ?one ?property ?value } } WHERE {
  GRAPH ?g { { ?one a mem:Claim } UNION { ?one mem:invalidated/a mem:Claim } ?one ?property ?value }
}"""

Ask = Callable[[str], Sequence[str]]


def main(argv: Sequence[str] | None = None) -> dict[str, dict[str, float]]:
    """Print a row for recall, BM25 and each part that is left out; returns the rows."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="minilm", choices=("minilm", "trigram"))
    parser.add_argument("--notes", type=int, default=100, help="tell the first ones, and ask what they answer")
    parser.add_argument("--misses", action="store_true", help="print what came first instead")
    parser.add_argument("--record", action="store_true", help="append the figures to tests/bench/results")
    chosen = parser.parse_args(argv)
    data = tomllib.loads(NOTES.read_text(encoding="utf-8"))
    notes = data["notes"][: chosen.notes]
    questions = [one for one in data["questions"] if any(one["want"] in note for note in notes)]
    places: dict[str, list[int]] = {}
    with fresh_memory(chosen.model) as memento:
        for day, text in enumerate(notes):
            memento.note(text, at=BEGIN + timedelta(days=day))
        plain = memento.service.settings
        times: list[float] = []

        def time_recall(question: str) -> Sequence[str]:
            began = perf_counter()
            found = recall(memento, plain, question)
            times.append(1000 * (perf_counter() - began))
            return found

        places["recall"] = rank_all(questions, time_recall, chosen.misses)
        places["BM25"] = rank_all(questions, lambda question: rank_by_words(memento, question))
        with (
            patch("memento.retrieval.anchor.find_anchors", lambda *_: ()),
            patch("memento.retrieval.anchor.find_named_anchors", lambda *_: {}),
        ):
            places["without ANCHOR's rows"] = rank_all(questions, lambda one: recall(memento, plain, one))
        walkless = with_weights(plain, walk=0.0)
        places["without the PageRank"] = rank_all(questions, lambda one: recall(memento, walkless, one))
        memento.graphs.update(CLAIMS)
        places["without claims"] = rank_all(questions, lambda one: recall(memento, plain, one))
    found = {
        name: {k: np.array([place < k for place in row], dtype=float) for k in RANKS} for name, row in places.items()
    }
    rows = [(f"{len(questions)} questions", *(f"right@{k}" for k in RANKS), *(f"lost@{k}" for k in RANKS))]
    for name, right in found.items():
        lost = [
            format_difference(estimate_difference(right[k], found["recall"][k], np.random.default_rng(0)))
            for k in RANKS
        ]
        rows.append((name, *(f"{right[k].mean():.2f}" for k in RANKS), *(lost if name != "recall" else ("", ""))))
    print("\n".join(align_columns(rows)))
    print(f"p50 {np.percentile(times, 50):.0f} ms, p95 {np.percentile(times, 95):.0f} ms")
    figures = {name: {f"right@{k}": float(right[k].mean()) for k in RANKS} for name, right in found.items()}
    record("chains", {"model": chosen.model, **figures}, chosen.record)
    return figures


def recall(memento: Memento, settings: Settings, question: str) -> list[str]:
    """Return the contents of what recall answers with some settings, best first."""
    query = Query(question=question, scope=Scope(), k=10)
    return [one.content for one in pipeline.recall(query, memento.service.stores, settings).memories]


def rank_by_words(memento: Memento, question: str) -> list[str]:
    """Return the contents of the memories by BM25, best first."""
    indexes, words = memento.service.stores.indexes, memento.service.settings.words
    nodes, scores = bm25(question, indexes.words(Scope().memory_graphs, "memory"), words.k1, words.b)
    contents = {one.iri: one.content for one in memento.list(limit=200)}
    order = [indexes.nodes.iri(int(node)) for node in nodes[np.lexsort((nodes, -scores))]]
    return [contents[iri] for iri in order if iri in contents]


def rank_all(questions: Sequence[dict[str, str]], ask: Ask, misses: bool = False) -> list[int]:
    """Return the place of the first right memory for each question, from 0; 99 where there is none."""
    places = []
    for question in questions:
        found = ask(question["ask"])
        places.append(next((place for place, text in enumerate(found) if question["want"] in text), 99))
        if misses and places[-1] >= RANKS[0]:
            print(f"{places[-1]:3} {question['ask']} ({question['want']})")
            print("\n".join(f"        {shorten_line(text, 100)}" for text in found[: RANKS[-1]]))
    return places


if __name__ == "__main__":
    main()
