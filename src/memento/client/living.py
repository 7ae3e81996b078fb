"""What use and time make of memories, at a running service: the methods of `service.Living`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memento.client.connection import Connection, made

if TYPE_CHECKING:
    from memento.model import Activated, Archived, Association, Fading, Followed, Strength


class LivingCalls(Connection):
    """What a client asks and tells of the strength of memories."""

    def strength(self, iri: str, *, namespace: str | None = None) -> Strength:
        """See `Memento.strength`."""
        from memento.model import Strength

        return made(Strength, self.ask("strength", iri=iri, namespace=namespace))

    def feedback(self, iri: str, *, helped: bool, namespace: str | None = None) -> Strength:
        """See `Memento.feedback`."""
        from memento.model import Strength

        return made(Strength, self.ask("feedback", iri=iri, helped=helped, namespace=namespace))

    def associate(
        self, source: str, target: str, *, relation: str = "similar", weight: float = 0.5, namespace: str | None = None
    ) -> Association:
        """See `Memento.associate`."""
        from memento.model import Association

        link = {"source": source, "target": target, "relation": relation, "weight": weight}
        return made(Association, self.ask("associate", namespace=namespace, **link))

    def trace(self, iri: str, *, depth: int = 2, namespace: str | None = None) -> tuple[Followed, ...]:
        """See `Memento.trace`."""
        from memento.model import Followed

        return made(tuple[Followed, ...], self.ask("trace", iri=iri, depth=depth, namespace=namespace))

    def activate(
        self,
        seeds: Sequence[str],
        *,
        steps: int = 3,
        decay: float = 0.85,
        threshold: float = 0.1,
        namespace: str | None = None,
    ) -> tuple[Activated, ...]:
        """See `Memento.activate`."""
        from memento.model import Activated

        how = {"seeds": list(seeds), "steps": steps, "decay": decay, "threshold": threshold}
        return made(tuple[Activated, ...], self.ask("activate", namespace=namespace, **how))

    def decay(self, *, half_life_days: float | None = None, namespace: str | None = None) -> Fading:
        """See `Memento.decay`."""
        from memento.model import Fading

        return made(Fading, self.ask("decay", half_life_days=half_life_days, namespace=namespace))

    def archive(self, *, dry_run: bool = False, namespace: str | None = None) -> Archived:
        """See `Memento.archive`."""
        from memento.model import Archived

        return made(Archived, self.ask("archive", dry_run=dry_run, namespace=namespace))

    def unarchive(self, iri: str, *, namespace: str | None = None) -> Strength:
        """See `Memento.unarchive`."""
        from memento.model import Strength

        return made(Strength, self.ask("unarchive", iri=iri, namespace=namespace))
