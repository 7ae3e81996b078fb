"""
Who read and wrote cases: one `mem:Access` for each call, in the tenant's audit graph. It names nodes and has no text.

*But:* of a call that concerns many nodes it names the first hundred.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256
from itertools import islice

from memento.iris import IRI, MEM, PROV, TYPE, audit_iri, mint
from memento.model import Quad

MOST = 100
"""Nodes that one access names."""


def access(
    operation: str, actor: str, tenant: str, at: datetime, nodes: Iterable[IRI] = (), asked: str | None = None
) -> tuple[Quad, ...]:
    """
    The quads that say that somebody called something.

    Args:
        operation: the call, as `cases.retrieve`.
        actor: the name of the token.
        nodes: what was returned or written.
        asked: a text of the caller's, of which only the digest is kept.
    """
    iri, graph = mint("access"), audit_iri(tenant)
    quads: list[Quad] = [
        (iri, TYPE, MEM.Access, graph),
        (iri, MEM.at, at, graph),
        (iri, MEM.actor, actor, graph),
        (iri, MEM.operation, operation, graph),
    ]
    if asked is not None:
        quads.append((iri, MEM.queryHash, sha256(asked.encode("utf-8")).hexdigest(), graph))
    quads += [(iri, PROV.used, node, graph) for node in islice(dict.fromkeys(nodes), MOST)]
    return tuple(quads)
