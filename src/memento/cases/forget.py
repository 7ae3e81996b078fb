"""
Lets cases go: forgotten ones are hidden and stay in the graph, erased and pruned ones are gone with all that is theirs.

*Guarantees:* a domain never loses its only case to pruning.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from memento.backends import Backends
from memento.cases.credit import Writer
from memento.cases.domain import Domain
from memento.errors import NotFound
from memento.iris import IRI, MEM, cases_iri, parse_iri
from memento.model import Change, Quad
from memento.settings import CasesSettings

_AT_ONCE = 200  # cases whose quads are read together


def forget(case: str, domain: Domain, writer: Writer) -> IRI:
    """Hide a case from every retrieval from now on; raises `NotFound`. Doing it twice changes nothing."""
    iri = parse_iri(case)
    rows = writer.parts.graph.select("cases/listed", [domain.graph], case=iri)
    if not rows:
        raise NotFound(f"there is no case <{case}> in this domain")
    if "expiredAt" not in rows[0]:
        writer.write(Change(((iri, MEM.expiredAt, writer.at, domain.graph),)), "cases.forget", [iri])
        domain.bank.drop(iri)
    return iri


def quads_of(cases: Sequence[IRI], domain: IRI, parts: Backends) -> tuple[Quad, ...]:
    """Every quad of some cases, or trajectories of runs, and of all that is theirs alone."""
    found: dict[Quad, None] = {}
    for begin in range(0, len(cases), _AT_ONCE):
        rows = parts.graph.select("cases/traces", [domain], case=cases[begin : begin + _AT_ONCE])
        for row in rows:
            found[(cast(IRI, row["subject"]), cast(IRI, row["predicate"]), row["value"], domain)] = None
    return tuple(found)


def erase(cases: Sequence[IRI], domain: Domain, writer: Writer) -> None:
    """Delete cases with every copy of their texts, and learn anew without them; those that are not there are passed over."""
    gone = quads_of(cases, domain.graph, writer.parts)
    if not gone:
        return
    writer.parts.erasing()
    writer.write(Change(removes=gone), "cases.erase", list(cases))
    traceless(gone, writer.parts)
    domain.learner.discard()
    writer.domains.close(domain.graph)


def traceless(gone: Sequence[Quad], parts: Backends) -> None:
    """Remove what is kept elsewhere of erased cases: their vectors, those of their texts, and snapshots of the store."""
    parts.snapshots.drop()
    parts.indexes.file.write_states([], sorted({quad[0] for quad in gone}))
    parts.embedder.discard([str(value) for _, predicate, value, _ in gone if predicate == MEM.content])


def derived(nodes: Sequence[IRI], tenant: str, parts: Backends) -> tuple[tuple[IRI, ...], tuple[Quad, ...]]:
    """
    The cases of a tenant that were made with some memories or notes, and every quad of them and of such runs under way.

    *Because:* a plan or a result may tell what a memory said, and nobody can say whether it does.
    """
    graphs = [graph for graph in parts.graph.graphs() if graph.startswith(cases_iri(tenant, ""))]
    rows = parts.graph.select("cases/derived", graphs, node=nodes) if graphs and nodes else []
    found: dict[IRI, list[IRI]] = {}
    for row in rows:
        found.setdefault(cast(IRI, row["graph"]), []).append(cast(IRI, row.get("case", row.get("run"))))
    gone = tuple(quad for graph, some in found.items() for quad in quads_of(some, graph, parts))
    return tuple(dict.fromkeys(cast(IRI, row["case"]) for row in rows if "case" in row)), gone


def least_valuable(domain: Domain, knobs: CasesSettings, now_ms: float) -> list[IRI]:
    """
    The cases over the limit, the least valuable first: mean Q times what is left of it after so many half-lives.

    A case that was never ranked counts by its own reward, one that nobody has judged by one half.
    """
    bank = domain.bank
    over = len(bank) - max(knobs.limit, 1)
    if over <= 0:
        return []
    rows = np.flatnonzero(bank.alive)
    own = np.where(np.isnan(bank.reward[rows]), 0.5, np.clip(bank.reward[rows], 0, 1))
    worth = np.where(np.isnan(bank.q[rows]), own, bank.q[rows])
    age_days = np.maximum(now_ms - bank.at[rows], 0) / 86_400_000
    value = worth * 0.5 ** (age_days / knobs.half_life_days)
    return [bank.iris[row] for row in rows[np.lexsort((rows, value))][:over]]


def prune(domain: Domain, knobs: CasesSettings, writer: Writer) -> tuple[IRI, ...]:
    """Let the least valuable cases go until the domain keeps its limit; returns them."""
    going = least_valuable(domain, knobs, writer.at.timestamp() * 1000)
    if going:
        gone = quads_of(going, domain.graph, writer.parts)
        writer.write(Change(removes=gone), "cases.prune", going)
        writer.parts.indexes.file.write_states([], sorted({quad[0] for quad in gone}))
        for iri in going:
            domain.bank.drop(iri)
    return tuple(going)
