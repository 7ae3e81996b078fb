"""
What every part of the service holds: the data folder, the parts, the scope, the settings and the lock for writers.

*Guarantees:* every method that names a namespace goes through `_in`, which is where a caller's rights are checked, so that no
door can forget it.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Self
from zoneinfo import ZoneInfo

from memento import settings
from memento.access import OWNER, Access, Right, Tokens
from memento.backends import Backends
from memento.cases.domain import Domains
from memento.consolidation.agents import Agents
from memento.consolidation.rules import RuleAgents
from memento.errors import Forbidden, InputError, ReadOnly, TooLong
from memento.home import Home
from memento.instants import now
from memento.keys.leads import Leads
from memento.keys.remember import Desk
from memento.keys.thresholds import thresholds
from memento.keys.trail import Trail
from memento.manifest.kept import Maps
from memento.model import Degraded, Scope
from memento.reinforcement import Reinforcement
from memento.service.listing import Listing
from memento.settings import Settings
from memento.sparql.description import Statistics
from memento.sparql.federation import Endpoints
from memento.sparql.pool import Pool
from memento.vocabulary import IRI, cases_iri, namespace_of
from memento.worker import Worker

if TYPE_CHECKING:
    from memento.consolidation.models import Models


class Held:
    """The memory of one data folder, without a method to ask it anything."""

    def __init__(
        self,
        home: Home,
        backends: Backends,
        scope: Scope,
        settings: Settings,
        agents: Callable[[], Agents] | None = None,
    ) -> None:
        """
        Args:
            agents: who understands a note, made anew for each; default as the settings say.
        """
        self.home = home
        self.settings = settings
        self._parts = backends
        self._scope = scope
        self._access = OWNER
        self.tokens = Tokens(home.tokens)
        self._rules = RuleAgents(settings.consolidation.time_zone)
        self._models = None if agents else _models_of(settings, self._rules)
        self._agents = agents or self._models or (lambda: self._rules)
        self._zone = ZoneInfo(settings.consolidation.time_zone)
        self._writing = threading.Lock()
        self._understanding = threading.Lock()  # taken before the other one, never after it
        self._importing = threading.Lock()  # taken before all others, by whoever brings in or takes out a whole memory
        self._worker = Worker(self._work, "consolidation")
        self._checkpoints = Worker(self._checkpoint, "checkpoints")
        self._reinforcement = Reinforcement(backends, self._writing)
        self._trail = Trail()
        self._maps = Maps(backends, settings.manifest)
        self._workers = Pool(backends.snapshots, settings.sparql)
        self._statistics = Statistics(self._workers)
        self._endpoints = Endpoints.of(settings.sparql)
        self._listing = Listing(backends)
        self._put_off_here: set[IRI] = set()
        self._domains = Domains(backends, settings.cases)
        self._since = now()
        self._checkpointed = -1  # how many writes the last checkpoint holds

    def _work(self) -> float | None:
        """What the worker does."""
        return None

    def _checkpoint(self) -> float | None:
        """What the worker does that keeps backups."""
        return None

    @property
    def degraded(self) -> Degraded | None:
        """Why nothing can be written and of what time the memory is, where its store cannot be opened; None when all is well."""
        return self._parts.degraded

    def seen_by(self, access: Access) -> Self:
        """The same memory as a caller may use it: their tenant, their namespaces, their rights."""
        if access == self._access:
            return self
        seen = copy.copy(self)
        seen._access = access
        return seen

    def _in(self, namespace: str | None, right: Right = "read") -> Scope:
        """
        Where a call reads and writes.

        Raises:
            Forbidden: the caller has no such right, or no access to the namespace.
            InputError: it can be no namespace.
            ReadOnly: it would write, and a backup stands in for the store.
        """
        self._access.needs(right)
        if right != "read":
            self._writable()
        chosen = self._access.namespace(namespace, self._scope.namespace)
        scope = Scope(self._access.tenant, settings.namespace_checked(chosen), with_main=self._access.sees("main"))
        if right != "read":
            self._maps.written(scope)
        return scope

    def _writable(self) -> None:
        """Raises `ReadOnly` while a backup stands in for the store."""
        if self._parts.degraded:
            raise ReadOnly(self._parts.degraded.brief)

    def _as_owner(self, why: str = "this concerns the whole data folder") -> None:
        """Raises `Forbidden` when the caller may not care for the whole folder, in which other tenants have memories too."""
        if not self._access.may("admin"):
            raise Forbidden(f"{why}: it takes a token with the right to admin")
        if self._access.tenant != OWNER.tenant or self._access.namespaces:
            raise Forbidden(f"{why}: it takes a token of the tenant {OWNER.tenant!r} for all namespaces")

    def scope(self, namespace: str | None = None) -> Scope:
        """Whose memory a call with this namespace asks, and where."""
        return self._in(namespace)

    def _leads(self, scope: Scope, at: datetime) -> Leads:
        """What leads a reader to memories. Ask under `indexes.lock`."""
        indexes = self._parts.indexes
        visible = indexes.nodes.current(scope.memory_graphs, now=at)
        return Leads(indexes, self._reinforcement, scope, visible, self.settings.keys)

    def _desk(self, scope: Scope, at: datetime) -> Desk:
        """What writing under keys stands on. Ask under `indexes.lock`, as one of the writers."""
        return Desk(
            scope=scope,
            leads=self._leads(scope, at),
            parts=self._parts,
            used=self._reinforcement,
            limits=thresholds(self._parts.embedder.fingerprint, self.settings.keys),
            now=at,
        )

    def _case_graphs(self, scope: Scope) -> tuple[IRI, ...]:
        """The cases of each domain that the caller sees."""
        theirs = self._listing.beginning(cases_iri(scope.tenant, ""))
        return tuple(graph for graph in theirs if self._access.sees(namespace_of(graph)))

    def _checked(self, text: str, name: str) -> None:
        if not isinstance(text, str):
            raise InputError(f"{name} must be text, not {type(text).__name__}")
        if not text.strip():
            raise InputError(f"{name} must not be empty")
        try:
            size = len(text.encode("utf-8"))
        except UnicodeEncodeError as error:
            raise InputError(f"{name} must be Unicode text; it has half a character at {error.start}") from error
        if size > self.settings.limits.text_bytes:
            raise TooLong(f"{name} must have at most {self.settings.limits.text_bytes} bytes, not {size}")


def _models_of(settings: Settings, rules: RuleAgents) -> Models | None:
    """Who makes the agents of each note, when that is a model."""
    if settings.model.provider == "none":
        return None
    from memento.consolidation.models import Models  # what it needs takes longer to import than the rest to open

    return Models(settings.model, rules)
