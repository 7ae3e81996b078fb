"""The memory that a command talks to: the running service of the data folder, or else the folder itself."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memento.client import Client
    from memento.home import Home
    from memento.service import Memento
    from memento.settings import Settings


@dataclass(slots=True)
class Chosen:
    """What stands before or after the name of every command."""

    home: str | None = None
    namespace: str | None = None
    as_json: bool = False

    @property
    def folder(self) -> Home:
        from memento.home import Home, default_home

        return Home(Path(self.home) if self.home else default_home())

    def settings(self) -> Settings:
        """The settings in force in the data folder."""
        from memento import settings

        return settings.load(self.folder.settings)


def opened(chosen: Chosen, command: str) -> Memento | Client:
    """
    The memory, to be used as a context manager. The store and its libraries are imported only when no service runs.

    Raises:
        FolderInUse: somebody else has the folder open, and does not serve.
        SettingsError: an unusable folder or setting.
    """
    if client := running(chosen):
        return client
    import click

    from memento.service import Memento, open_memento

    wait_s = chosen.settings().server.lock_wait_s
    memento = open_memento(
        chosen.folder.path, namespace=chosen.namespace, command=f"memento {command}", wait_s=wait_s, resume=False
    )
    if isinstance(memento, Memento) and memento.degraded:
        click.echo(f"memento: {memento.degraded}", err=True)
    return memento


def running(chosen: Chosen) -> Client | None:
    """The service that has the data folder, if any."""
    owner = chosen.folder.serving_owner()
    if owner is None or owner.address is None:
        return None
    from memento.client import Client

    return Client(owner.address, namespace=namespace_of(chosen), token=owner.token)


def ask(memento: Memento | Client, method: str, **arguments: Any) -> Any:
    """What a method answers, as plain JSON."""
    from memento.client import Client

    if isinstance(memento, Client):
        return json.loads(memento.ask(method, **arguments))
    from memento.wire import plain

    return plain(getattr(memento, method)(**arguments))


def namespace_of(chosen: Chosen) -> str:
    """Where notes go and questions look when a call names no namespace."""
    name = chosen.namespace
    if name is None:
        name = chosen.settings().scope.namespace if chosen.folder.settings.is_file() else "main"
    if name == "project":
        from memento.settings import namespace_called

        return namespace_called(name)
    return name
