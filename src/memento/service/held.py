"""What every part of the service holds: the data folder, the parts, the scope, the settings and the lock for writers."""

from __future__ import annotations

import threading
from zoneinfo import ZoneInfo

from memento import settings
from memento.backends import Backends
from memento.consolidation.rules import RuleAgents
from memento.errors import InputError, TooLong
from memento.home import Home
from memento.model import Scope
from memento.settings import Settings


class Held:
    """The memory of one data folder, without a method to ask it anything."""

    def __init__(self, home: Home, backends: Backends, scope: Scope, settings: Settings) -> None:
        self.home = home
        self.settings = settings
        self._parts = backends
        self._scope = scope
        self._agents = RuleAgents(settings.consolidation.time_zone)
        self._zone = ZoneInfo(settings.consolidation.time_zone)
        self._writing = threading.Lock()

    def _in(self, namespace: str | None) -> Scope:
        if namespace is None:
            return self._scope
        return Scope(self._scope.tenant, settings.namespace_checked(namespace))

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
