"""
The version of the ontology in a store, and of the one that this program has.

*Guarantees:* versions with the same first number only add to each other, and the newer one stays in the store. An ontology with a
higher first number is one that this program cannot read.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256

import pyoxigraph as ox

from memento import assets
from memento.errors import GraphError
from memento.graph.store import Store
from memento.iris import IRI, MEM, ONTOLOGY, OWL

DOCUMENTS = ("ontology/memento.ttl", "ontology/alignment.ttl", "ontology/labels.ttl")
"""The documents in the graph of the ontology."""


@cache
def read_own_version() -> str:
    """Return the version of the ontology of this program, as `0.1.0`."""
    for quad in ox.parse(assets.read(DOCUMENTS[0]), ox.RdfFormat.TURTLE):
        if quad.predicate.value == OWL.versionInfo and isinstance(quad.object, ox.Literal):
            return quad.object.value
    raise AssertionError(f"{DOCUMENTS[0]} has no version")


@cache
def digest_ontology() -> str:
    """Return the SHA-256 of the documents of the ontology of this program."""
    return sha256(b"".join(map(assets.read, DOCUMENTS))).hexdigest()


def load_ontology(store: Store) -> None:
    """
    Write this program's ontology into its graph, unless the store has it, or a newer one that only adds to it. Calling it twice
    changes nothing.

    Raises:
        GraphError: the store has an ontology that this program cannot read.
    """
    version, digest = read_ontology(store)
    if version is not None and split_version(version) > split_version(read_own_version()):
        if is_newer(version):
            raise GraphError(explain_newer(version))
        return
    if digest != digest_ontology():
        write_ontology(store)


def read_ontology(store: Store) -> tuple[str | None, str | None]:
    """Return the version and the digest of the ontology in a store; None for either that is not stated."""
    rows = store.select("search/statements", [ONTOLOGY], node=[ONTOLOGY, IRI(MEM.base)])
    said = {str(row["predicate"]): str(row["value"]) for row in rows}
    return said.get(OWL.versionInfo), said.get(MEM.contentHash)


def write_ontology(store: Store) -> None:
    """Replace the ontology in a store by that of this program."""
    note = f'\n<{ONTOLOGY}> <{MEM.contentHash}> "{digest_ontology()}" .\n'.encode()
    store.load(b"\n".join([*map(assets.read, DOCUMENTS), note]), ONTOLOGY)


def split_version(version: str) -> tuple[int, ...]:
    """
    Split a version into its numbers; a part that is not a number counts as 0.

    >>> split_version("1.12.0") > split_version("1.2.0")
    True
    """
    return tuple(int(one) if one.isdecimal() else 0 for one in version.split("."))


def is_newer(version: str) -> bool:
    """Tell whether a version is one that this program cannot read."""
    return split_version(version)[0] > split_version(read_own_version())[0]


def explain_newer(version: str) -> str:
    """Say that this program cannot read a version, and what to do."""
    return (
        f"the store has the ontology {version}, and this program knows {read_own_version()}: upgrade it, or go back to a copy of "
        "the memory that was made before"
    )
