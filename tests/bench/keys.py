"""
What do keys contribute? The share of questions with both gold texts among five, for words, vectors, both, and both with keys at
one, two and three hops.

Data: your own folder with one set (`corpus.jsonl`, `queries.jsonl`, `qrels.jsonl`; see `memento.plugins.lab.evaluation`), or with
several, of which `keymem_hotpot*` and `locomo` are used; the repository contains none. Each question is asked in its own scope,
and the gate is off, since this measures ranking.
Baselines: `bm25` over the texts; `flat`, the cosine of question and text; `direct`, both fused by rank, as in direct recall
without keys. `graph1` to `graph3` add the keys, made by Memento's own extractor: entities, names and nouns of each text.
`notes` is `Memento.recall`, which uses no keys, for comparison, and `ppr`, `spread` and `hops` are its walks alone, as engines.
Run: `.venv/bin/python tests/bench/keys.py --data FOLDER [--json] [--record]`, a minute for a small set; `--remember` stores each
text by `remember` instead of importing it. `--speed [--sizes 1000 10000 100000]` times the steps of a walk over a synthetic memory.
"""

from __future__ import annotations

import json
import re
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar
from unittest.mock import patch
from zlib import crc32

import numpy as np

from measure import record, shown, spread, timed
from memento import backends
from memento.datadir import DataFolder
from memento.graph import mapping
from memento.iris import IRI, link_iri
from memento.model import Key, KeyLink, Quad, Scope
from memento.plugins.keys import direct
from memento.plugins.keys.handlers import traversal
from memento.plugins.keys.match import KeyQuery, choose_thresholds
from memento.plugins.keys.settings import KeysSettings
from memento.plugins.lab.evaluation import Estimate, EvaluationSet, Question, all_found, estimate, read_set, recall_at
from memento.ports import Vectors
from memento.python import Memento, open_memento
from memento.rank import unit
from memento.search.embedders import Cached
from memento.search.words import bm25
from memento.settings import EmbeddingSettings, Settings
from recall_scale import written
from synthetic import RandomVectors, World

SYSTEMS: Mapping[str, direct.DirectOptions] = {
    "direct": direct.DirectOptions(hops=1, by_keys=False),
    **{f"graph{hops}": direct.DirectOptions(hops=hops) for hops in (1, 2, 3)},
}
WALKS = ("ppr", "spread", "hops")
ORDER = ("bm25", "flat", *SYSTEMS, "notes", *WALKS)
METRICS = ("both@5", "recall@5", "recall@10")
K = 10
SIZES = (1_000, 10_000, 100_000)
KEYS_EACH = 3  # keys of a synthetic memory
_WORD = re.compile(r"\w+")

T = TypeVar("T")
Values = dict[str, dict[str, list[float]]]
"""System → metric → a value for each question."""


def main(argv: Sequence[str] | None = None) -> list[dict[str, object]]:
    """The figures of each set, or of each size; printed as they come."""
    chosen = arguments().parse_args(argv)
    if chosen.speed:
        return [speed(n, chosen) for n in chosen.sizes]
    if chosen.data is None:
        raise SystemExit("say which set to ask, with --data FOLDER, or --speed")
    folders = [chosen.data] if (chosen.data / "corpus.jsonl").exists() else among(chosen.data)
    if not folders:
        raise SystemExit(f"{chosen.data} has no corpus.jsonl, and no folder of a set that is asked here")
    return [of_set(folder, chosen) for folder in folders]


def arguments() -> ArgumentParser:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="a set, or a folder of sets")
    parser.add_argument("--json", action="store_true", help="print JSON, a line for each set")
    parser.add_argument("--limit", type=int, metavar="N", help="the first so many questions")
    parser.add_argument("--model", default="minilm", choices=("minilm", "trigram"))
    parser.add_argument("--remember", action="store_true", help="keep each text by `remember`")
    parser.add_argument("--speed", action="store_true", help="time the steps of a walk instead")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), metavar="N", help="memories, with --speed")
    parser.add_argument("--steps", type=int, default=200, help="steps of each kind that are timed, with --speed")
    parser.add_argument("--record", action="store_true", help="append the figures to tests/bench/results")
    return parser


def among(folder: Path) -> list[Path]:
    """The sets of a folder that keys were published for, and the conversations."""
    return sorted(
        one.parent for one in folder.glob("*/corpus.jsonl") if one.parent.name.startswith(("keymem", "locomo"))
    )


def of_set(folder: Path, chosen: Namespace) -> dict[str, object]:
    """The figures of one set: the mean of each metric by system, its 95 % interval, and the same by type of question."""
    data = read_set(folder, limit=chosen.limit, exclude_types=["adversarial"])
    values, types = ranked(data, chosen)
    figures: dict[str, object] = {"set": data.name, "n": len(data.questions), **means(values)}
    figures["intervals"] = {
        metric: {system: [round(x, 4) for x in sure(values[system][metric])[1:]] for system in ORDER}
        for metric in METRICS
    }
    figures["graph2 - flat"] = difference(values, "graph2", "flat")
    figures["graph2 - direct"] = difference(values, "graph2", "direct")
    figures["types"] = {type: {"n": int(of.sum()), **means(values, of)} for type, of in by_type(types).items()}
    print(json.dumps(figures) if chosen.json else table(figures), flush=True)
    record("keys", figures, chosen.record)
    return figures


def ranked(data: EvaluationSet, chosen: Namespace) -> tuple[Values, list[str]]:
    """Every metric of every system for every question, and the type of each."""
    values: Values = {system: {metric: [] for metric in METRICS} for system in ORDER}
    configured = Settings(embedding=EmbeddingSettings(model=chosen.model))
    with tempfile.TemporaryDirectory(prefix="memento-keys-") as home:
        memento = open_memento(home, configured=configured, command="bench")
        assert isinstance(memento, Memento)
        with memento:
            documents = kept(data, memento, by_remember=chosen.remember)
            for question in data.questions:
                for system, contents in rankings(question, memento).items():
                    found = list(dict.fromkeys(documents[question.scope, text] for text in contents))
                    values[system]["both@5"].append(all_found(found, question.grades, 5))
                    values[system]["recall@5"].append(recall_at(found, question.grades, 5))
                    values[system]["recall@10"].append(recall_at(found, question.grades, 10))
    return values, [question.type or "" for question in data.questions]


def kept(data: EvaluationSet, memento: Memento, *, by_remember: bool) -> dict[tuple[str | None, str], str]:
    """Keep the texts, a namespace for each scope; returns the document of each text."""
    for scope in data.scopes:
        rows = [document.row for document in data.documents if document.scope == scope]
        if by_remember:
            for row in rows:
                memento.keys.remember(row.content, namespace=f"scope-{scope}")
        else:
            memento.intake.import_notes(rows, consolidate=False, namespace=f"scope-{scope}")
    return {(document.scope, document.row.content): document.id for document in data.documents}


def rankings(question: Question, memento: Memento) -> dict[str, list[str]]:
    """The texts that each system finds, best first."""
    scope = Scope(namespace=f"scope-{question.scope}", with_main=False)
    vectors, indexes = memento.context.embed_question(question.text), memento.service.stores.indexes
    asked = KeyQuery(
        text=question.text,
        vectors=vectors,
        limits=choose_thresholds(memento.service.stores.embedder.fingerprint, memento.settings.of(KeysSettings)),
    )
    with indexes.lock:
        way = traversal(scope, memento.context)
        nodes, scores = bm25(question.text, indexes.words(scope.memory_graphs, "memory"), 1.2, 0.75)
        found = {"bm25": iris(nodes[np.lexsort((nodes, -scores))][:K].tolist(), memento)}
        near, _ = indexes.vectors["memory"].search(vectors, K, way.view.visible)
        found["flat"] = iris(near.tolist(), memento)
        for system, wanted in SYSTEMS.items():
            wanted = replace(wanted, k=K, min_score=-1.0)
            best, _ = direct.rank_directly(
                asked, wanted, way, memento.settings.of(KeysSettings), memento.settings.words
            )
            found[system] = [one.memory for one in best]
    best_notes = memento.recall(question.text, k=K, gate=False, namespace=scope.namespace).memories
    found["notes"] = [one.iri for one in best_notes]
    for engine in WALKS:
        walked = memento.recall(question.text, k=K, gate=False, engine=engine, namespace=scope.namespace)
        found[engine] = [one.iri for one in walked.memories]
    every = sorted({iri for some in found.values() for iri in some})
    rows = memento.service.stores.graph.select("search/texts", [scope.graph], memory=every)
    texts = {row["memory"]: str(row["content"]) for row in rows}
    return {system: [texts[iri] for iri in some] for system, some in found.items()}


def iris(nodes: Sequence[int], memento: Memento) -> list[IRI]:
    return [memento.service.stores.indexes.nodes.iri(node) for node in nodes]


def means(values: Values, of: np.ndarray | None = None) -> dict[str, dict[str, float]]:
    """By metric and system; of some of the questions."""
    return {
        metric: {
            system: round(float(np.mean(np.array(values[system][metric])[of if of is not None else slice(None)])), 4)
            for system in ORDER
        }
        for metric in METRICS
    }


def difference(values: Values, one: str, other: str) -> dict[str, list[float]]:
    """The paired difference of two systems, with its interval, by metric."""
    paired = {metric: np.array(values[one][metric]) - np.array(values[other][metric]) for metric in METRICS}
    return {metric: [round(x, 4) for x in sure(each)] for metric, each in paired.items()}


def sure(values: Sequence[float] | np.ndarray) -> Estimate:
    """The mean and its 95 % interval, the same in every run."""
    return estimate(np.asarray(values), np.random.default_rng(20_240_229))


def by_type(types: Sequence[str]) -> dict[str, np.ndarray]:
    return {type: np.array(types) == type for type in sorted(set(types)) if type}


def table(figures: Mapping[str, object]) -> str:
    """Percent, a line for each metric."""
    lines = [f"{figures['set']}, {figures['n']} questions" + "".join(f"{system:>16}" for system in ORDER)]
    for metric in METRICS:
        of, between = figures[metric], figures["intervals"][metric]  # type: ignore[index]
        cells = [f"{100 * of[s]:.1f} [{100 * between[s][0]:.0f}, {100 * between[s][1]:.0f}]" for s in ORDER]  # type: ignore[index]
        lines.append(f"{metric:<{len(lines[0]) - 16 * len(ORDER)}}" + "".join(f"{cell:>16}" for cell in cells))
    return "\n".join(lines)


class Bags(RandomVectors):
    """A direction for each word, and for a text the sum of those of its words: texts that share words are alike."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = [super(Bags, self).embed(_WORD.findall(text.lower()) or [text]).sum(axis=0) for text in texts]
        return unit(np.array(rows))


def keyed(n: int) -> Iterator[Quad]:
    """A synthetic memory of which every memory has some keys; a few keys are hubs and most lead to a few memories."""
    world = World(n)
    yield from world.quads()
    graph, count = world.scope.graph, max(n // 5, 10)
    for i in range(count):
        name = f"{world._text(1)} {world._text(1)} {i}"
        yield from mapping.quads(Key(iri=key_of(i), name=name, type="concept" if i % 3 else "name"), graph)
    for i in range(n):
        memory = IRI(f"urn:memento:memory:{i:032x}")
        for k in sorted({world._drawn(count, 20) for _ in range(KEYS_EACH)}):
            weight = 1.0 + (crc32(f"{i} {k}".encode()) % 100) / 100
            link = KeyLink(iri=link_iri(key_of(k), memory), key=key_of(k), memory=memory, weight=weight)
            yield from mapping.quads(link, graph)


def key_of(i: int) -> IRI:
    return IRI(f"urn:memento:key:{i:032x}")


def speed(n: int, chosen: Namespace) -> dict[str, object]:
    """Milliseconds of each step of a walk among `n` memories, without embedding the question."""
    with tempfile.TemporaryDirectory(prefix="memento-keys-") as home:
        count = written(keyed(n), DataFolder(Path(home)))
        with patch.object(backends, "embedder_of", lambda settings, cache: Cached(Bags(), None)):
            memento, start_s = timed(lambda: open_memento(home, configured=Settings()))
        assert isinstance(memento, Memento)
        with memento:
            seconds = steps(memento, n, chosen.steps)
    found = {name: spread(of) for name, of in seconds.items()}
    if not chosen.json:
        print(f"{n:,} memories, {count:,} quads, start-up {start_s:.1f} s")
        print("\n".join(shown(name, ms) for name, ms in found.items()), flush=True)
    figures: dict[str, object] = {"memories": n, "quads": count, "ms": found}
    if chosen.json:
        print(json.dumps(figures), flush=True)
    record("keys_speed", figures, chosen.record)
    return figures


def steps(memento: Memento, n: int, count: int) -> dict[str, list[float]]:
    """Seconds of each step, and of the processor for the same; the first ten walks are not counted."""
    spent: dict[str, list[float]] = defaultdict(list)
    words = World(n, seed=7)

    def take(name: str, work: Callable[[], T]) -> T:
        cpu = time.thread_time()
        result, seconds = timed(work)
        spent[name].append(seconds)
        spent[f"  {name}, processor"].append(time.thread_time() - cpu)
        return result

    for turn in range(count + 10):
        query = words._text(2) if turn % 2 else next(words.questions(1))
        memento.context.embed_question(query)  # what is embedded is remembered
        found = take("recall", lambda: memento.keys.find(query))  # noqa: B023 (called at once)
        for one in found.keys[:2]:
            page = take("read_key", lambda: memento.keys.read(one.key))  # noqa: B023
            for row in page.memories[:2]:
                take("read_memory", lambda: memento.keys.read_memory(row.memory, via=one.key))  # noqa: B023
        if turn == 9:
            spent.clear()
    return dict(spent)


if __name__ == "__main__":
    main()
