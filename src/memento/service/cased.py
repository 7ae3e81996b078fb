"""What every call about cases needs: the domain that it works in, and who asks."""

from __future__ import annotations

from memento import settings
from memento.access import Right
from memento.cases.credit import Writer
from memento.cases.domain import Domain
from memento.cases.rewards import agreed, reward_of
from memento.iris import cases_iri, namespace_of
from memento.model import Outcome, Scope
from memento.service.held import Held
from memento.time import now


class Cased(Held):
    """Without a domain, a call works in that of its namespace's name."""

    def _domain(self, domain: str | None, namespace: str | None, right: Right = "read") -> tuple[Scope, str, Domain]:
        """
        The scope, the name of the domain and the domain that a call works in.

        Raises:
            Forbidden: the caller has no such right, or no access to the namespace or the domain.
        """
        scope = self._in(namespace, right)
        name = settings.check_namespace(self._access.namespace(domain, scope.namespace))
        return scope, name, self._domains.of(cases_iri(scope.tenant, name))

    def _domains_seen(self, scope: Scope) -> tuple[str, ...]:
        """The domains of the tenant that the caller may see and that hold something."""
        names = (namespace_of(graph) for graph in self._domains.names(scope.tenant))
        return tuple(sorted(filter(self._access.sees, names)))

    def _keeps(self, held: Domain) -> bool:
        """Whether a look at a domain is kept: a domain that has no cases is not made by looking, nor a backup changed."""
        return len(held.bank) > 0 and not self._parts.degraded

    def _earned(
        self, outcome: Outcome | None, reward: float | None, efficiency: float | None, score: float | None
    ) -> float:
        """The one number of a verdict; raises `InputError` when there is none, or a part is out of range."""
        if reward is not None:
            return agreed(reward, outcome)
        return reward_of(outcome, self.settings.cases, efficiency=efficiency, score=score)

    def _writer(self, scope: Scope) -> Writer:
        return Writer(self._access.name, scope.tenant, now(), self._domains, self._parts)
