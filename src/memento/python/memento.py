"""The memory of one data folder in this process, and the function that opens it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from memento import settings
from memento.access import OWNER, Access, Tokens
from memento.datadir import DataFolder, default_home
from memento.errors import FolderInUse
from memento.model import Degraded, Scope
from memento.operations import Operation
from memento.python.client import Client
from memento.python.memory import Memory
from memento.service import Context, Service, close_service, handle, open_service, serve_at, warm_up
from memento.service.understanding import resume
from memento.settings import Settings

if TYPE_CHECKING:
    from memento.ports import Progress

A = TypeVar("A")


class Memento(Memory):
    """The memory of one data folder. Use `open_memento` to get one; a context manager. May be used from many threads."""

    def __init__(self, service: Service, access: Access = OWNER) -> None:
        self.service = service
        self.left_out = service.settings.plugins.left_out
        self._access = access

    def call(self, operation: Operation[A], progress: Progress | None = None) -> A:
        """Answer an operation in this process."""
        context = self.service.context(self._access, progress)
        answer = handle(operation, context)
        for notice in context.notices:
            self.on_notice(notice)
        return answer

    def with_access(self, access: Access) -> Memento:
        """Return the same memory with a caller's access: their tenant, their namespaces, their rights."""
        return Memento(self.service, access)

    @property
    def context(self) -> Context:
        """The context that handlers get for a call on this memory."""
        return self.service.context(self._access)

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.service.settings

    @property
    def tokens(self) -> Tokens:
        """The tokens with which callers from other machines may use the memory."""
        return self.service.tokens

    @property
    def datadir(self) -> DataFolder:
        """The data folder."""
        return self.service.datadir

    @property
    def degraded(self) -> Degraded | None:
        """If the store cannot be opened: why nothing can be written, and the time that the memory is from. Otherwise None."""
        return self.service.degraded

    @property
    def ready(self) -> bool:
        """Tell whether the memory is warm: the embedder is loaded, and one question was answered."""
        return self.service.stores.warm

    def warm_up(self) -> None:
        """Load the embedder and answer a question, so that the first real one is as fast as the next."""
        warm_up(self.service)

    def resume(self) -> None:
        """Process pending notes in the background."""
        resume(self.service)

    def serve_at(self, address: str) -> None:
        """Publish the address of this process for other processes, and start workers for their queries."""
        serve_at(self.service, address)

    def close(self) -> None:
        """Release the data folder; calling it twice is harmless. It closes the memory for everyone who opened it here."""
        if (opened := _OPENED.get(self.datadir.path.resolve())) and opened.service is self.service:
            del _OPENED[self.datadir.path.resolve()]
        close_service(self.service)


_OPENED: dict[Path, Memento] = {}
"""The memories that are open in this process, by their folders."""


def open_memento(
    path: str | Path | None = None,
    *,
    namespace: str | None = None,
    profile: str | None = None,
    configured: Settings | None = None,
    command: str = "open_memento",
    wait_s: float = 0.0,
    resume: bool = True,
    clock: Callable[[], datetime] | None = None,
    mends: bool = True,
    key_file: str | Path | None = None,
    progress: Progress | None = None,
) -> Memento | Client:
    """
    Open a data folder, or reach the service that owns it.

    A folder that is open in this process already, with the same settings and namespace, gives the same memory.

    Args:
        path: the data folder; default `MEMENTO_HOME`, else the platform's user data folder.
        namespace: the namespace that notes are written to and recalls search; default `MEMENTO_NAMESPACE`, else `main`.
        profile: the name of a profile of retrieval settings.
        configured: all settings; default `settings.load` of the folder's `memento.toml` and the environment.
        command: the name that other processes see for this one while it owns the folder.
        wait_s: seconds to wait for an owner that does not serve.
        resume: process pending notes in the background.
        clock: returns the current time, to replay the past: the record time of writes and the default time of questions.
            Only for a folder that this process opens itself.
        mends: repair indexes that differ from the graph, and upgrade a folder of an earlier version. If false, `check` says what
            there is to repair.
        key_file: a file with the key of an encrypted folder; default `encryption.key` or `encryption.key_file` of the settings.
        progress: called with (done, total) while missing indexes are built from the graph; total is 0 while it is unknown.

    Raises:
        FolderInUse: another process owns the folder and does not serve it, or this one with other settings; says what to do.
        SettingsError: an unusable folder or setting, or the key of an encrypted folder is missing or wrong.
    """
    home_name, namespace_name = settings.home_and_namespace()
    datadir = DataFolder(Path(path or home_name or default_home()))
    configured = configured or settings.load(datadir.settings_file, profile=profile)
    if key_file is not None:
        configured = replace(configured, encryption=replace(configured.encryption, key="", key_file=str(key_file)))
    scope = Scope(namespace=settings.resolve_namespace(namespace or namespace_name or configured.scope.namespace))
    if (serving := datadir.serving_owner()) and serving.address:
        return Client(serving.address, namespace=scope.namespace, token=serving.token)
    try:
        datadir.acquire(command, wait_s)
    except FolderInUse:
        if (serving := datadir.serving_owner()) and serving.address:
            return Client(serving.address, namespace=scope.namespace, token=serving.token)
        if (opened := _OPENED.get(datadir.path.resolve())) is None:
            raise
        if clock is None and configured == opened.settings and scope == opened.service.default_scope:
            return opened
        raise FolderInUse(
            f"{datadir.path} is open in this process already, with other settings or another namespace: use that memory, or "
            "call its close() first"
        ) from None
    memento = Memento(open_service(datadir, scope, configured, mends=mends, progress=progress))
    _OPENED[datadir.path.resolve()] = memento
    if clock is not None:
        memento.service.stores.clock = clock
    if resume:
        memento.resume()
    return memento
