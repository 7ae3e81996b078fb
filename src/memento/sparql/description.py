"""
What the endpoint says about itself: languages, features, formats and functions (SPARQL Service Description), statistics of the
graphs that the caller can read (VoID), and the example queries for the query page.

*But:* counting may take long. What a worker cannot count within `COUNT_S` is left out, and a count may be a minute old.

*Source:* SPARQL 1.1 Service Description, https://www.w3.org/TR/sparql11-service-description/; Describing Linked Datasets with the
VoID Vocabulary, https://www.w3.org/TR/void/
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

import pyoxigraph as ox

from memento.errors import MementoError
from memento.graph.binding import load_query
from memento.graph.terms import to_term
from memento.iris import IRI, MEM, TYPE, Namespace
from memento.model import Dataset, Quad, Value
from memento.sparql.evaluate import GRAPH_FORMATS
from memento.sparql.jobs import Query
from memento.sparql.pool import Pool
from memento.sparql.prepare import GRAPH_MEDIA, negotiate
from memento.sparql.rewrite import SERVICES

SD = Namespace("http://www.w3.org/ns/sparql-service-description#")
VOID = Namespace("http://rdfs.org/ns/void#")
FORMATS = Namespace("http://www.w3.org/ns/formats/")
REGIMES = Namespace("http://www.w3.org/ns/entailment/")

FUNCTIONS = (MEM.similarity,)
"""Custom functions for queries over memories."""

COUNT_S = 3.0
"""Seconds that counting may take."""
FRESH_S = 60.0
"""Seconds for which counts are reused despite later writes."""
_RESULTS = ("SPARQL_Results_JSON", "SPARQL_Results_XML", "SPARQL_Results_CSV", "SPARQL_Results_TSV")
_RDF = ("Turtle", "N-Triples", "N-Quads", "TriG", "RDF_XML", "JSON-LD")
_COUNTED = {
    "triples": VOID.triples,
    "subjects": VOID.distinctSubjects,
    "properties": VOID.properties,
    "classes": VOID.classes,
}
_PREFIXES = {"sd": SD.base, "void": VOID.base, "format": FORMATS.base}

Counts = Mapping[str, Mapping[str, int]]
"""The numbers of triples, subjects, properties and classes of each graph."""


@dataclass(slots=True)
class Statistics:
    """Statistics of graphs, cached for a while. Thread-safe."""

    pool: Pool
    _kept: dict[tuple[IRI, ...] | None, tuple[int, float, Counts]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def count_statements(self, dataset: Dataset, writes: int, caller: str) -> Counts:
        """
        Count the contents of the named graphs of a dataset; graphs that take too long are left out.

        Args:
            writes: the current `Oxigraph.writes`.
        """
        with self._lock:
            kept = self._kept.get(dataset.named)
        if kept is not None and (kept[0] == writes or time.monotonic() - kept[1] < FRESH_S):
            return kept[2]
        try:
            counts = _count_graphs(self.pool, dataset, caller)
        except MementoError:
            counts = {}
        with self._lock:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[dataset.named] = (writes, time.monotonic(), counts)
        return counts


def describe_service(
    endpoint: str, dataset: Dataset, counts: Counts, accept: str, *, may_write: bool
) -> tuple[bytes, str]:
    """
    Describe the service; return the serialised description and its media type.

    Args:
        endpoint: the address of the query operation; those of updates and of the graph store are below it.
        may_write: whether the caller may update.

    Raises:
        NotAcceptable: no offered media type is accepted.
    """
    media = negotiate(accept, GRAPH_MEDIA)
    here, data = IRI(endpoint), IRI(f"{endpoint}#dataset")
    said: list[tuple[IRI, IRI, Value]] = [
        (here, TYPE, SD.Service),
        (here, SD.endpoint, here),
        (here, SD.supportedLanguage, SD.SPARQL11Query),
        (here, SD.defaultEntailmentRegime, REGIMES.Simple),
        (here, SD.defaultDataset, data),
        *((here, SD.resultFormat, FORMATS[name]) for name in (*_RESULTS, *_RDF)),
        *((here, SD.extensionFunction, iri) for iri in FUNCTIONS if not dataset.is_plain),
        *((iri, TYPE, SD.Function) for iri in FUNCTIONS if not dataset.is_plain),
        *((here, SD.languageExtension, iri) for iri in SERVICES if not dataset.is_plain),
        (here, SD.feature, SD.EmptyGraphs if dataset.is_plain else SD.UnionDefaultGraph),
        (data, TYPE, SD.Dataset),
        *_describe_graphs(endpoint, data, dataset, counts),
        *_describe_counts(endpoint, data, counts),
    ]
    if may_write:
        writer = IRI(f"{endpoint}/update")
        said += [
            (writer, TYPE, SD.Service),
            (writer, SD.endpoint, writer),
            (writer, SD.supportedLanguage, SD.SPARQL11Update),
            (writer, SD.defaultDataset, data),
            *((writer, SD.inputFormat, FORMATS[name]) for name in (*_RDF, "N3")),
        ]
    return _serialise_triples(_group_by_subject(said), media), media


def describe_dataset(endpoint: str, counts: Counts, accept: str) -> tuple[bytes, str]:
    """Describe the content of the dataset; return the serialised description and its media type; raise `NotAcceptable`."""
    media = negotiate(accept, GRAPH_MEDIA)
    said = _describe_counts(endpoint, IRI(f"{endpoint}#dataset"), counts)
    return _serialise_triples(_group_by_subject(said), media), media


def _serialise_triples(quads: Iterable[Quad], media: str) -> bytes:
    triples = (ox.Triple(ox.NamedNode(s), ox.NamedNode(p), to_term(value)) for s, p, value, _ in quads)
    return ox.serialize(triples, format=GRAPH_FORMATS[media], prefixes=_PREFIXES) or b""


def _describe_graphs(endpoint: str, data: IRI, dataset: Dataset, counts: Counts) -> Sequence[tuple[IRI, IRI, Value]]:
    default = IRI(f"{endpoint}#default")
    said: list[tuple[IRI, IRI, Value]] = [(data, SD.defaultGraph, default), (default, TYPE, SD.Graph)]
    for graph in sorted(counts if dataset.named is None else dataset.named):
        named, content = IRI(f"{_fragment(endpoint, graph)}-name"), _fragment(endpoint, graph)
        said += [
            (data, SD.namedGraph, named),
            (named, TYPE, SD.NamedGraph),
            (named, SD.name, IRI(graph)),
            (named, SD.graph, content),
            (content, TYPE, SD.Graph),
        ]
    return said


def _describe_counts(endpoint: str, data: IRI, counts: Counts) -> Sequence[tuple[IRI, IRI, Value]]:
    """Return the statements about the dataset with its endpoint, and about each graph as a part of it."""
    said: list[tuple[IRI, IRI, Value]] = [(data, TYPE, VOID.Dataset), (data, VOID.sparqlEndpoint, IRI(endpoint))]
    if counts:
        said.append((data, VOID.triples, sum(one.get("triples", 0) for one in counts.values())))
    for graph in sorted(counts):
        part = _fragment(endpoint, graph)
        said += [(data, VOID.subset, part), (part, TYPE, VOID.Dataset)]
        said += [(part, _COUNTED[name], number) for name, number in counts[graph].items()]
    return said


def _fragment(endpoint: str, graph: str) -> IRI:
    return IRI(f"{endpoint}#{quote(graph, safe='')}")


def _group_by_subject(said: Sequence[tuple[IRI, IRI, Value]]) -> list[Quad]:
    """Group statements by subject, which makes them easier to read."""
    subjects = list(dict.fromkeys(subject for subject, _, _ in said))
    place = {subject: number for number, subject in enumerate(subjects)}
    return [(*one, IRI("")) for one in sorted(said, key=lambda one: place[one[0]])]


def _count_graphs(pool: Pool, dataset: Dataset, caller: str) -> Counts:
    job = Query(
        sparql=load_query("sparql/statistics").text,
        media="application/sparql-results+json",
        default_graphs=None if dataset.named is None else (),
        named_graphs=dataset.named,
    )
    answer = pool.run(job, caller=caller, timeout_s=COUNT_S)
    try:
        rows = json.loads(b"".join(answer.chunks))["results"]["bindings"]
    finally:
        answer.close()
    return {row["graph"]["value"]: {name: int(row[name]["value"]) for name in _COUNTED if name in row} for row in rows}


_MOST_KEPT = 256


EXAMPLES = (
    "library/search_then",
    "library/search_sources",
    "library/search_joined",
    "library/alike",
    "library/successions",
    "library/contradictions",
    "library/disputed",
    "library/statements",
    "library/functional",
    "library/entity_history",
    "library/who_told",
    "library/changed_since",
    "library/why",
    "library/cases_earned",
    "library/cases_chosen",
    "library/code_index",
    "library/code_memories",
)
"""In a good reading order."""

_HEADER = re.compile(r"\A(?:#[^\n]*\n)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """An example query: its file name, its first sentence, and its text without the header."""

    name: str
    title: str
    sparql: str


def load_examples() -> list[Example]:
    """
    Load every example.

    >>> load_examples()[0].title.partition(":")[0]
    'What answers a question, as it was true at one time'
    """
    texts = ((name, load_query(name).text) for name in EXAMPLES)
    return [
        Example(name=name, title=text.partition("\n")[0].removeprefix("# "), sparql=_HEADER.sub("", text))
        for name, text in texts
    ]
