"""
What use and time make of memories: feedback, energy that fades, links that one memory draws to another.

    memento.feedback(iri, helped=True)
    memento.associate(iri, other, "leads to", 0.8)
    memento.activate([iri])
    memento.decay(half_life_days=7)
    memento.archive()
"""

from __future__ import annotations

from collections.abc import Sequence

from memento.model import Activated, Archived, Association, Fading, Followed, Strength
from memento.service.held import Held
from memento.strength import associations, energy
from memento.time import now


class Living(Held):
    """What one can ask and tell of the strength of memories and of the links between them."""

    def strength(self, iri: str, *, namespace: str | None = None) -> Strength:
        """The numbers of a memory now; raises `NotFound`."""
        return energy.read_strength(iri, self._in(namespace), self._parts, self._reinforcement)

    def feedback(self, iri: str, *, helped: bool, namespace: str | None = None) -> Strength:
        """
        Say of a memory that it helped, or that it misled; returns its numbers afterwards.

        Raises:
            NotFound: the namespace has no such memory.
        """
        scope = self._in(namespace, "write")
        with self._writing:
            return energy.record_feedback(iri, helped, scope, now(), self._parts, self._reinforcement)

    def associate(
        self, source: str, target: str, *, relation: str = "similar", weight: float = 0.5, namespace: str | None = None
    ) -> Association:
        """
        Let one memory lead to another, or more strongly where it does already.

        Args:
            source, target: IRIs of memories; the first of the namespace's own.
            relation: the kind of link in a word.
            weight: 0..1; a link that is there grows by a tenth of it.

        Raises:
            NotFound: one of them is no current memory.
            InputError: a memory that leads to itself, or a weight out of range.
        """
        scope = self._in(namespace, "write")
        with self._writing:
            return associations.associate(source, target, relation, weight, scope, now(), self._parts)

    def trace(self, iri: str, *, depth: int = 2, namespace: str | None = None) -> tuple[Followed, ...]:
        """The paths over associations that lead away from a memory, depth first; raises `NotFound` and `InputError`."""
        return associations.trace_paths(iri, depth, self._in(namespace), now(), self._parts)

    def activate(
        self,
        seeds: Sequence[str],
        *,
        steps: int = 3,
        decay: float = 0.85,
        threshold: float = 0.1,
        namespace: str | None = None,
    ) -> tuple[Activated, ...]:
        """
        The memories that activation reaches from some, over associations and shared names, the most active first, twenty at most.

        Raises:
            NotFound: a seed is no current memory.
            InputError: no seed, or a number out of range.
        """
        return associations.spread_activation(seeds, steps, decay, threshold, self._in(namespace), now(), self._parts)

    def decay(self, *, half_life_days: float | None = None, namespace: str | None = None) -> Fading:
        """
        Let the energies of the namespace fade up to now, since each was last used; asking again at once changes nothing.

        Args:
            half_life_days: in which they halve; default the setting `living.half_life`.

        Raises:
            InputError: a half-life that is not above 0.
        """
        scope = self._in(namespace, "write")
        with self._writing:
            self._reinforcement.write_held()  # what was used before fades since then
            days = self.settings.living.half_life if half_life_days is None else half_life_days
            return energy.decay_energies(days, scope, now(), self._parts)

    def archive(self, *, dry_run: bool = False, namespace: str | None = None) -> Archived:
        """
        Let memories come back no more that have no energy left and are hardly used; `unarchive` brings one back.

        Args:
            dry_run: only say which, which a read-only memory does too.
        """
        self._access.needs("write")
        scope = self._in(namespace, "read" if dry_run else "write")
        with self._writing:
            self._reinforcement.write_held()
            found = energy.find_exhausted(scope, now(), self._parts, self.settings.living)
            if not dry_run:
                energy.archive_memories(found, scope, now(), self._parts)
        return Archived(memories=found, dry_run=dry_run)

    def unarchive(self, iri: str, *, namespace: str | None = None) -> Strength:
        """Bring an archived memory back, with the energy that it had at first; raises `NotFound`."""
        scope = self._in(namespace, "write")
        with self._writing:
            energy.unarchive_memory(iri, scope, now(), self._parts)
            return energy.read_strength(iri, scope, self._parts, self._reinforcement)
