"""
Communities of cases: those that concern the same entities more than chance.

Cases and entities are the nodes of one graph, a link for each "concerns"; so an entity that many cases share costs as many links,
not their square.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memento.cases.bank import Bank, Rows
from memento.iris import IRI
from memento.manifest.structure import structure
from memento.rank.walks import Csr


@dataclass(frozen=True, slots=True)
class Community:
    """Rows of its cases, and the entities they share, the most shared first. `importance` is its share of the rank, 0..1."""

    rows: tuple[int, ...]
    entities: tuple[IRI, ...]
    importance: float


def communities(rows: Rows, bank: Bank) -> list[Community]:
    """
    The communities among some cases, the largest first; a case that concerns nothing is in none.

    Source: Blondel et al. 2008, J. Stat. Mech.
    """
    linked = [row for row in rows.tolist() if bank.about[row]]
    entities = list(dict.fromkeys(entity for row in linked for entity in bank.about[row]))
    place = {entity: len(linked) + number for number, entity in enumerate(entities)}
    links = [(case, place[entity]) for case, row in enumerate(linked) for entity in bank.about[row]]
    if not links:
        return []
    source, target = np.array(links).T
    n = len(linked) + len(entities)
    idle = np.zeros(n)
    found = structure(Csr.of(n, source, target), idle, idle, idle.astype(bool))
    grouped = []
    for one in found.communities:
        cases = tuple(linked[node] for node in sorted(one.nodes.tolist()) if node < len(linked))
        shared = tuple(entities[node - len(linked)] for node in one.nodes.tolist() if node >= len(linked))
        if cases:
            grouped.append(Community(cases, shared, one.importance))
    return sorted(grouped, key=lambda one: (-len(one.rows), one.rows))
