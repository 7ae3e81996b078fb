"""
Checks what all nodes of a shared store must have in common: the version of the ontology in it, and settings that must be equal.

*Flow:* a starting node calls `join_store`: the store has the node's version already, or receives it, or the node is refused.
`review_store` repeats the check later, when a node has written the ontology. A node that may no longer write
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
from typing import TYPE_CHECKING

from memento.errors import GraphError
from memento.graph.store import Store
from memento.graph.version import (
    digest_ontology,
    explain_newer,
    is_newer,
    read_ontology,
    read_own_version,
    split_version,
    write_ontology,
)

if TYPE_CHECKING:
    from memento.plugins.scale.remote import RemoteStore

logger = logging.getLogger(__name__)


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


def join_store(store: RemoteStore, agreed: Sequence[Agreed]) -> Review:
    """
    Let a node join a shared store: write the ontology and the settings that the store lacks, once.

    Raises:
        GraphError: the endpoint failed, or the node must not write to this store; says what to do.
    """
    if _is_outdated(store):
        write_ontology(store)
    store.system.note_agreed({one.name: one.value for one in agreed})
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
    version, digest = read_ontology(store)
    own, differences = read_own_version(), []
    if version is not None and is_newer(version):
        return Review(refusal=explain_newer(version))
    if version is not None and split_version(version)[0] < split_version(own)[0]:
        return Review(
            refusal=f"it has the ontology {version}, and this program has {own}, which nodes of the older one cannot read: stop "
            "them, and let the store have the newer one with `memento store adopt`"
        )
    if version is not None and split_version(version) > split_version(own):
        differences.append(
            f"the store has the ontology {version}, which only adds to {own} of this node: upgrade it when it suits"
        )
    elif version == own and digest != digest_ontology():
        differences.append(f"the store has another build of the ontology {own} than this node")
    noted = store.system.read_agreed()
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
    version, _ = read_ontology(store)
    if version is not None and is_newer(version):
        raise GraphError(explain_newer(version))
    store.system.note_agreed({one.name: one.value for one in agreed}, replaces=True)
    write_ontology(store)  # even if the store has it: other nodes check both when they see this write
    return version


def _is_outdated(store: Store) -> bool:
    """Tell whether this program's ontology should replace the one in a store."""
    version, _ = read_ontology(store)
    if version is None:
        return True
    own = split_version(read_own_version())
    return split_version(version) < own and split_version(version)[0] == own[0]
