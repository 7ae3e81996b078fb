"""
What use does to memories and links, noted at once and written a moment later.

*Flow:* whoever reads a memory → `note` → here, in memory → `write`, on a thread of its own, all that came together as one change.

*Guarantees:* what is noted counts for the next reader at once, and is in the store within a second, or when the memory is closed. A
kill loses what was noted in that second, and nothing else: neither a memory nor a link depends on it.

*But:* the numbers are fold_text anew from what the graph says when they are written, so that a correction in between is not undone.
"""

from __future__ import annotations

import logging
import threading
from datetime import datetime
from typing import cast

import numpy as np
from numpy.typing import NDArray

from memento.backends import Backends
from memento.errors import MementoError
from memento.graph.mapping import statements
from memento.iris import IRI, MEM, link_iri
from memento.model import Effect, Strength
from memento.strength.reinforcement.change import Said, change, concerned, memories
from memento.strength.reinforcement.tally import Tally
from memento.time import now
from memento.worker import Worker

logger = logging.getLogger(__name__)

DELAY_S = 0.5
"""Seconds that effects are gathered for before they are written."""


class Reinforcement:
    """What use has done to the memories of one store; one for all who read it, from any thread."""

    def __init__(self, parts: Backends, writing: threading.Lock) -> None:
        """
        Args:
            writing: the lock of all writers; never held by who calls `note`.
        """
        self._parts = parts
        self._writing = writing
        self._lock = threading.Lock()
        self._waiting = Tally()  # what is noted
        self._leaving = Tally()  # what is being written, and counts for readers until the indexes have it
        self._since: datetime | None = None
        self._worker = Worker(self._due, "reinforcement")

    def note(self, *effects: Effect) -> None:
        """Something was used: in a microsecond or two, and seen by whoever asks next."""
        if not effects or self._parts.degraded:
            return
        with self._lock:
            was_empty = not self._waiting
            for effect in effects:
                self._waiting.take(effect)
            if was_empty:
                self._since = now()
        if was_empty:
            self._worker.wake()

    def strength(self, memory: IRI) -> Strength:
        """The numbers of a memory, with what is not written yet."""
        indexes = self._parts.indexes
        with indexes.lock, self._lock:
            node = indexes.nodes.find(memory)
            found = Strength() if node is None else indexes.numbers.strength(node)
            for pending in (self._leaving, self._waiting):
                if reads := pending.reads.get(memory):
                    found = reads.over(found)
        return found

    def depths(self, nodes: NDArray[np.integer]) -> NDArray[np.float64]:
        """(n,) the depth of some memories, 0..1, with what is not written yet. Ask under `indexes.lock`."""
        found = np.nan_to_num(self._parts.indexes.numbers.column(MEM.depth, nodes))
        with self._lock:
            for pending in (self._leaving, self._waiting):
                for memory, reads in pending.reads.items():
                    place = np.flatnonzero(nodes == self._node(memory))
                    found[place] = [reads.over(Strength(depth=depth)).depth for depth in found[place].tolist()]
        return found

    def weights(self, key: IRI, nodes: NDArray[np.integer], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n,) the weights of the links from a key to some memories, given as written, with what is not. Ask as `depths`."""
        found = np.array(weights, dtype=np.float64)
        with self._lock:
            for pending in (self._leaving, self._waiting):
                for steps in pending.steps.values():
                    if steps.key == key:
                        place = np.flatnonzero(nodes == self._node(steps.memory))
                        found[place] = [steps.over(weight) for weight in found[place].tolist()]
        return found

    def weight(self, key: IRI, memory: IRI, weight: float) -> float:
        """The weight of one link, given as it is written, with what is not."""
        with self._lock:
            for pending in (self._leaving, self._waiting):
                if steps := pending.steps.get(link_iri(key, memory)):
                    weight = steps.over(weight)
        return weight

    def write(self) -> int:
        """Write what is noted now, as one change; returns how many memories and links that changed. Raises `GraphError`."""
        with self._writing:
            return self.write_held()

    def write_held(self) -> int:
        """The same for somebody who holds the writers' lock and is about to change what memories stand on."""
        with self._lock:
            self._leaving, self._waiting, self._since = self._waiting, Tally(), None
        if not self._leaving:
            return 0
        try:
            touched = memories(self._leaving)
            written = change(self._leaving, self._said(self._leaving), self._parts.indexes.fadings.of)
            self._parts.reinforce(written, touched, self._written)
        except BaseException:
            with self._lock:
                self._leaving.merge(self._waiting)
                self._leaving, self._waiting, self._since = Tally(), self._leaving, now()
            raise
        return len(touched)

    def close(self, wait_s: float) -> None:
        """Write the rest and begin nothing more; call it before the store is closed."""
        self._worker.stop(wait_s)
        self.write()

    def _written(self) -> None:
        """The indexes have it: from now on it counts there."""
        with self._lock:
            self._leaving = Tally()

    def _due(self) -> float | None:
        """What the worker does: write when the first effect has waited long enough."""
        with self._lock:
            since = self._since
        if since is None:
            return None
        left = DELAY_S - (now() - since).total_seconds()
        if left > 0 and not self._worker.stopping.is_set():
            return min(left, DELAY_S)
        try:
            self.write()
        except MementoError as error:
            logger.warning("reinforcement.put-off", extra={"error": type(error).__name__})
            return 60 * DELAY_S
        return 0.0 if self._since else None

    def _node(self, memory: IRI) -> int:
        node = self._parts.indexes.nodes.find(memory)
        return -1 if node is None else node

    def _said(self, tally: Tally) -> Said:
        subjects, graphs = concerned(tally)
        rows = self._parts.graph.select("search/statements", graphs, node=subjects)
        found = ((cast(IRI, r["node"]), cast(IRI, r["predicate"]), r["value"], cast(IRI, r["graph"])) for r in rows)
        return statements(dict.fromkeys(found))
