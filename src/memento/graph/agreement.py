"""
Checks what all nodes of a shared store must have in common: the version of the ontology in it, and settings that must be equal.

*Flow:* a starting node calls `join_store`: the store has the node's version already, or receives it, or the node is refused.
`review_store` repeats the check later, when the feed reports that a node has written the ontology. A node that may no longer write
then stops writing.

*Guarantees:* versions with the same first number only add to each other: nodes of both continue, and the newer ontology stays in
the store. Of two versions with different first numbers, one does not write: a starting node is refused, and a running node reads
of the newer version before its next write.

*But:* this is the version of the ontology, not of the program: you may mix programs that share one ontology in any order.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING

import pyoxigraph as ox

from memento import assets
from memento.errors import GraphError
from memento.graph.store import Store
from memento.iris import IRI, MEM, ONTOLOGY, OWL

if TYPE_CHECKING:
    from memento.graph.remote import RemoteStore

logger = logging.getLogger(__name__)

DOCUMENTS = ("ontology/memento.ttl", "ontology/alignment.ttl", "ontology/labels.ttl")
"""The documents in the graph of the ontology."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreed:
    """
    A setting that should be the same on all nodes.

    Attributes:
        name: the name shown where nodes differ.
        value: as recorded in the store; a digest if it is secret or long.
        harm: what goes wrong if a node has another value.
        is_needed: whether a node with another value must not write.
        is_shown: whether to show the values where nodes differ.
    """

    name: str
    value: str
    harm: str
    is_needed: bool = False
    is_shown: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """How a node compares with its store: why it must not write, harmless differences, whether to write the ontology."""

    refusal: str | None = None
    differences: tuple[str, ...] = ()
    lacks_ontology: bool = False


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
    version, digest = _read_ontology(store)
    if version is not None and _split_version(version) > _split_version(read_own_version()):
        if _is_newer(version):
            raise GraphError(_explain_newer(version))
        return
    if digest != digest_ontology():
        _write_ontology(store)


def join_store(store: RemoteStore, agreed: Sequence[Agreed], *, is_alone: bool) -> Review:
    """
    Let a node join a shared store: write the ontology and the settings that the store lacks, once.

    Args:
        is_alone: no node of another version can be running, so any older ontology may be replaced.

    Raises:
        GraphError: the endpoint failed, or the node must not write to this store; says what to do.
    """
    if _is_outdated(store, is_alone):
        with store.turn:  # check again: another node may have written it while this one waited for the turn
            if _is_outdated(store, is_alone):
                _write_ontology(store)
    store.feed.note_agreed({one.name: one.value for one in agreed})
    found = review_store(store, agreed)
    if found.refusal:
        raise GraphError(f"this node cannot join the store: {found.refusal}")
    return found


def review_store(store: RemoteStore, agreed: Sequence[Agreed]) -> Review:
    """
    Compare a node with its store now, log the differences, and return the result.

    Raises:
        GraphError: the endpoint failed.
    """
    version, digest = _read_ontology(store)
    own, differences = read_own_version(), []
    if version is not None and _is_newer(version):
        return Review(refusal=_explain_newer(version))
    if version is not None and _split_version(version)[0] < _split_version(own)[0]:
        return Review(
            refusal=f"it has the ontology {version}, and this program has {own}, which nodes of the older one cannot read: stop "
            "them, and let the store have the newer one with `memento store adopt`"
        )
    if version is not None and _split_version(version) > _split_version(own):
        differences.append(
            f"the store has the ontology {version}, which only adds to {own} of this node: upgrade it when it suits"
        )
    elif version == own and digest != digest_ontology():
        differences.append(f"the store has another build of the ontology {own} than this node")
    noted = store.feed.read_agreed()
    for one in agreed:
        other = noted.get(one.name, one.value)
        if other == one.value:
            continue
        values = f"{one.value} here and {other} on the other nodes" if one.is_shown else "not what the other nodes have"
        said = f"{one.name} is {values}: {one.harm}"
        if one.is_needed:
            return Review(refusal=f"{said}; set it alike, or see `memento store adopt --help`")
        differences.append(said)
    for said in differences:
        logger.warning("node.differs", extra={"difference": said})
    return Review(differences=tuple(differences), lacks_ontology=version is None)


def adopt_store(store: RemoteStore, agreed: Sequence[Agreed]) -> str | None:
    """
    Replace the ontology and the recorded settings of the store by this program's, and tell its nodes.

    Returns:
        the version of the ontology before.

    Raises:
        GraphError: the endpoint failed, or has an ontology that this program cannot read.
    """
    with store.turn:
        version, _ = _read_ontology(store)
        if version is not None and _is_newer(version):
            raise GraphError(_explain_newer(version))
        store.feed.note_agreed({one.name: one.value for one in agreed}, replaces=True)
        _write_ontology(store)  # even if the store has it: other nodes check both when they see this write
    return version


def is_of_ontology(graphs: Sequence[str]) -> bool:
    """Tell whether a write changed the ontology, so that a node must call `review_store` again."""
    return ONTOLOGY in graphs


def _is_outdated(store: Store, is_alone: bool) -> bool:
    """Tell whether this program's ontology should replace the one in a store."""
    version, digest = _read_ontology(store)
    if version is None or is_alone:
        return version is None or (
            digest != digest_ontology() and not _split_version(version) > _split_version(read_own_version())
        )
    own = _split_version(read_own_version())
    return _split_version(version) < own and _split_version(version)[0] == own[0]


def _read_ontology(store: Store) -> tuple[str | None, str | None]:
    """Return the version and the digest of the ontology in a store; None for either that is not stated."""
    rows = store.select("search/statements", [ONTOLOGY], node=[ONTOLOGY, IRI(MEM.base)])
    said = {str(row["predicate"]): str(row["value"]) for row in rows}
    return said.get(OWL.versionInfo), said.get(MEM.contentHash)


def _write_ontology(store: Store) -> None:
    note = f'\n<{ONTOLOGY}> <{MEM.contentHash}> "{digest_ontology()}" .\n'.encode()
    store.load(b"\n".join([*map(assets.read, DOCUMENTS), note]), ONTOLOGY)


def _split_version(version: str) -> tuple[int, ...]:
    """
    Split a version into its numbers; a part that is not a number counts as 0.

    >>> _split_version("1.12.0") > _split_version("1.2.0")
    True
    """
    return tuple(int(one) if one.isdecimal() else 0 for one in version.split("."))


def _is_newer(version: str) -> bool:
    """Tell whether a version is one that this program cannot read."""
    return _split_version(version)[0] > _split_version(read_own_version())[0]


def _explain_newer(version: str) -> str:
    return (
        f"the store has the ontology {version}, and this program knows {read_own_version()}: upgrade it, or go back to a copy of "
        "the memory that was made before"
    )
