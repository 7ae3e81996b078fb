"""
How much does it cost to search the memory inside a query, compared with a plain recall of the same question and with a plain query?

Data: a synthetic memory (`synthetic.py`, seeded) with a random vector for each text: no model is used, so neither a recall nor a
query includes embedding. Both go through the same code as every interface; queries go through a worker on a snapshot. Also: reading
all memories by the two times, comparing all of them with a text, and the cost of a note for the next query if much is inferred.
Run: `.venv/bin/python tests/bench/sparql_search.py [--sizes 10000 100000] [--record]`; 10,000 take half a minute on two cores,
100,000 some minutes, most of it to create the memory, which `--folder` keeps.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import record, shown, spread, timed
from memento.datadir import DataFolder
from memento.iris import data_iri
from memento.python import Memento
from memento.time import now
from recall_scale import opened, written
from synthetic import World

PREFIXES = """PREFIX mem: <http://purl.org/memento/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
PREFIX owl: <http://www.w3.org/2002/07/owl#> PREFIX ex: <http://example.org/> """
PLACES = 5_000
"""Facts of the free graph that inference is measured on: a tree, each part of another."""

Seconds = dict[str, list[float]]


def main(argv: Sequence[str] | None = None) -> list[dict[str, object]]:
    """The figures of each size; printed as they come."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000], metavar="N", help="memories")
    parser.add_argument(
        "--asked", type=int, default=100, help="questions; what reads all memories is asked a tenth as often"
    )
    parser.add_argument("--places", type=int, default=PLACES, help="facts of the free graph")
    parser.add_argument("--folder", type=Path, help="keep the memories here, and take those that are there already")
    parser.add_argument("--record", action="store_true", help="append the figures to tests/bench/results")
    chosen = parser.parse_args(argv)
    found = []
    for n in chosen.sizes:
        with TemporaryDirectory(prefix="memento-bench-") as name:
            folder = chosen.folder / f"{n}" if chosen.folder else Path(name)
            found.append(measured(folder, n, chosen.asked, chosen.places))
        record("sparql_search", found[-1], chosen.record)
    return found


def measured(folder: Path, n: int, count: int, places: int) -> dict[str, object]:
    """p50 and p95 of each way to ask, in milliseconds, over `n` memories."""
    home = DataFolder(folder)
    if not home.store.exists():
        print(f"{n:,} memories, {written(World(n).quads(), home):,} quads", flush=True)
    spent: Seconds = defaultdict(list)
    questions = list(World(n, seed=7).questions(count + 5))
    with opened(folder) as memento:
        for work in (lambda q: memento.recall(q), lambda q: ask(memento, searching(q))):
            for question in questions[:5]:
                work(question)
        for question in questions[5:]:
            spent["recall"].append(timed(lambda: memento.recall(question, k=20))[1])  # noqa: B023 (called at once)
            spent["SERVICE mem:search"].append(timed(lambda: ask(memento, searching(question)))[1])  # noqa: B023
            spent["  with an OPTIONAL and a UNION"].append(timed(lambda: ask(memento, joining(question)))[1])  # noqa: B023
            rows = plain(memento, question)
            spent["the same twenty as VALUES"].append(timed(lambda: ask(memento, rows))[1])  # noqa: B023
        for question in questions[5 : 5 + max(count // 10, 1)]:
            text = question.replace('"', "")
            spent["mem:similarity, all, the best 20"].append(timed(lambda: ask(memento, liking(text)))[1])  # noqa: B023
            spent["mem:similarity, twenty memories"].append(timed(lambda: ask(memento, rescored(text)))[1])  # noqa: B023
            spent["all memories in order of a text"].append(timed(lambda: ask(memento, ORDERED))[1])
            spent["mem:asOf, all counted"].append(timed(lambda: ask(memento, AS_OF))[1])
            spent["all counted"].append(timed(lambda: ask(memento, COUNTED))[1])
        inferred = inference(memento, places, max(count // 10, 1), spent)
    ms = {name: spread(seconds) for name, seconds in spent.items()}
    print("\n".join(shown(name, spread_ms) for name, spread_ms in ms.items()), flush=True)
    added = round(ms["SERVICE mem:search"]["p50"] - ms["recall"]["p50"], 2)
    print(f"SERVICE mem:search is a recall and {added} ms (p50)")
    return {"memories": n, "ms": ms, "search_beyond_recall_ms": added, "inference": inferred}


def ask(memento: Memento, sparql: str) -> bytes:
    """The answer of a worker."""
    return memento.graphs.query_bytes(PREFIXES + sparql, accept="text/csv")[0]


def searching(question: str) -> str:
    text = question.replace('"', "")
    return (
        f'SELECT ?memory ?score ?content {{ SERVICE mem:search {{ ?memory mem:matches "{text}" ; mem:score ?score ; '
        "mem:limit 20 } ?memory mem:content ?content } ORDER BY DESC(?score)"
    )


def joining(question: str) -> str:
    text = question.replace('"', "")
    return (
        "SELECT * { ?memory mem:content ?content OPTIONAL { ?memory mem:invalidAt ?end } "
        "{ ?memory mem:about/mem:name ?name } UNION { ?memory mem:invalidates+ ?old . ?old mem:content ?before } "
        f'SERVICE mem:search {{ ?memory mem:matches "{text}" ; mem:score ?score ; mem:limit 20 }} }}'
    )


def plain(memento: Memento, question: str) -> str:
    """What a worker is given in the place of a search."""
    found = [one.iri for one in memento.recall(question, k=20).memories]
    rows = " ".join(f"(<{iri}> {place / 20})" for place, iri in enumerate(found))
    values = f"VALUES (?memory ?score) {{ {rows} }}"
    return f"SELECT ?memory ?score ?content {{ {values} ?memory mem:content ?content }} ORDER BY DESC(?score)"


def liking(text: str) -> str:
    return f'SELECT ?memory {{ ?memory a mem:Memory }} ORDER BY DESC(mem:similarity(?memory, "{text}")) LIMIT 20'


def rescored(text: str) -> str:
    search = f'SERVICE mem:search {{ ?memory mem:matches "{text}" ; mem:limit 20 }}'
    return f'SELECT ?memory ?s {{ {search} BIND(mem:similarity(?memory, "{text}") AS ?s) }}'


ORDERED = "SELECT ?memory { ?memory a mem:Memory } ORDER BY DESC(STR(?memory)) LIMIT 20"
AS_OF = 'SELECT (COUNT(?m) AS ?n) { SERVICE mem:asOf { ?m mem:validOn "2020-01-01"^^xsd:date } }'
COUNTED = "SELECT (COUNT(?m) AS ?n) { ?m a mem:Memory }"


def inference(memento: Memento, places: int, count: int, spent: Seconds) -> dict[str, object]:
    """How long it takes to infer from a tree of places, and what a note costs the next query with and without that."""
    spent["note and query, nothing inferred"] = noted(memento, count)
    tree = " ".join(f"ex:n{i} ex:partOf ex:n{(i - 1) // 10} ." for i in range(1, places))
    axioms = f"{PREFIXES.replace('PREFIX', '@prefix').replace('>', '> .')} ex:partOf a owl:TransitiveProperty ."
    memento.service.stores.graph.load(f"{axioms} {tree}".encode(), data_iri("local", "places"))
    first, seconds = timed(memento.graphs.infer)
    spent["note and query, much inferred"] = noted(memento, count)
    refresh, scope = memento.service.stores.inferences.refresh, memento.context.scope(None)
    readers = memento.context.list_inferring()
    spent["nothing new to infer"] = [timed(lambda: refresh(scope, now(), readers))[1] for _ in range(count)]
    spent["a note inferred from"] = touching(memento, count)
    print(f"{places:,} facts, {first.triples:,} inferred from them in {seconds:.2f} s", flush=True)
    return {"facts": places, "inferred": first.triples, "first_s": round(seconds, 2)}


def touching(memento: Memento, count: int) -> list[float]:
    """Seconds of what a query waits for right after a note, for inference alone."""
    spent: list[float] = []
    refresh, readers = memento.service.stores.inferences.refresh, memento.context.list_inferring()
    for number in range(count):
        memento.note(f"I have tasted cake number {number} of {id(spent)}.")
        spent.append(timed(lambda: refresh(memento.context.scope(None), now(), readers))[1])
    return spent


def noted(memento: Memento, count: int) -> list[float]:
    """Seconds of a query right after a note."""
    work: Callable[[], bytes] = lambda: ask(memento, "SELECT ?o { ex:n1 ex:partOf ?o }")  # noqa: E731
    spent: list[float] = []
    for number in range(count):
        memento.note(f"I have tried tea number {number} of {id(spent)}.")
        spent.append(timed(work)[1])
    return spent


if __name__ == "__main__":
    main()
