"""The ontology in its graph, as this version has it."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from memento import assets
from memento.iris import IRI, MEM, ONTOLOGY
from memento.model import Value
from memento.ports import Graph

_FILES = ("ontology/memento.ttl", "ontology/alignment.ttl", "ontology/rules.ttl")


def load_ontology(graph: Graph) -> None:
    """Put the ontology into its graph when it is not this version's; doing it twice changes nothing."""
    documents = [assets.read(name) for name in _FILES]
    mark = sha256(b"".join(documents)).hexdigest()
    if _stated(graph, ONTOLOGY, MEM.contentHash) == [mark]:
        return
    note = f'\n<{ONTOLOGY}> <{MEM.contentHash}> "{mark}" .\n'.encode()
    graph.load(b"\n".join([*documents, note]), ONTOLOGY)


def _stated(graph: Graph, subject: IRI, predicate: IRI) -> Sequence[Value]:
    rows = graph.select("search/statements", [ONTOLOGY], node=subject)
    return [row["value"] for row in rows if row["predicate"] == predicate]
