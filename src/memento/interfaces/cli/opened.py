"""The memory that a command talks to: the running service of the data folder, or else the folder itself."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memento.client import Client
    from memento.datadir import DataFolder
    from memento.service import Memento
    from memento.settings import Settings


@dataclass(slots=True)
class Chosen:
    """What stands before or after the name of every command."""

    home: str | None = None
    namespace: str | None = None
    as_json: bool = False
    is_told: bool = False
    """Whether somebody at the terminal knows that the memory is read-only, if it is."""

    @property
    def folder(self) -> DataFolder:
        from memento.datadir import DataFolder, default_home

        return DataFolder(Path(self.home) if self.home else default_home())

    def settings(self) -> Settings:
        """The settings in force in the data folder."""
        from memento import settings

        return settings.load(self.folder.settings)

    def tell(self, notice: str) -> None:
        """Say on stderr, once a command, that the memory is read-only and why."""
        if not self.is_told:
            import click

            self.is_told = True
            click.echo(f"memento: {notice}", err=True)


def opened(chosen: Chosen, command: str) -> Memento | Client:
    """
    The memory, to be used as a context manager. The store and its libraries are imported only when no service runs.

    Raises:
        FolderInUse: somebody else has the folder open, and does not serve.
        SettingsError: an unusable folder or setting.
    """
    if client := running(chosen):
        return client
    import logging

    from memento.service import Memento, open_memento

    # What it logs stands in the notice; without a handler the bare word of the event would be printed.
    logging.getLogger("memento").addHandler(logging.NullHandler())
    wait_s = chosen.settings().server.lock_wait_s
    memento = open_memento(
        chosen.folder.path, namespace=chosen.namespace, command=f"memento {command}", wait_s=wait_s, resume=False
    )
    if isinstance(memento, Memento) and memento.degraded:
        chosen.tell(str(memento.degraded))
    return memento


def running(chosen: Chosen) -> Client | None:
    """The service that has the data folder, if any."""
    owner = chosen.folder.serving_owner()
    if owner is None or owner.address is None:
        return None
    from memento.client import Client

    client = Client(owner.address, namespace=namespace_of(chosen), token=owner.token)
    client.on_degraded = chosen.tell
    return client


def ask(memento: Memento | Client, method: str, **arguments: Any) -> Any:
    """What a method answers, as plain JSON."""
    from memento.client import Client

    if isinstance(memento, Client):
        return json.loads(memento.ask(method, **arguments))
    from memento.codec import plain

    return plain(getattr(memento, method)(**arguments))


def namespace_of(chosen: Chosen) -> str:
    """Where notes go and questions look when a call names no namespace."""
    name = chosen.namespace
    if name is None:
        name = chosen.settings().scope.namespace if chosen.folder.settings.is_file() else "main"
    if name == "project":
        from memento.settings import resolve_namespace

        return resolve_namespace(name)
    return name
