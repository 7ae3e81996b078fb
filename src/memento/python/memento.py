"""The memory of one data folder in this process, and the way to open it."""

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
        self._access = access

    def call(self, operation: Operation[A], progress: Progress | None = None) -> A:
        """Answer an operation in this process."""
        context = self.service.context(self._access, progress)
        answer = handle(operation, context)
        for notice in context.notices:
            self.on_notice(notice)
        return answer

    def with_access(self, access: Access) -> Memento:
        """Return the same memory as a caller may use it: their tenant, their namespaces, their rights."""
        return Memento(self.service, access)

    @property
    def context(self) -> Context:
        """What handlers are given when this memory is asked."""
        return self.service.context(self._access)

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.service.settings

    @property
    def tokens(self) -> Tokens:
        """Who may use the memory from elsewhere."""
        return self.service.tokens

    @property
    def datadir(self) -> DataFolder:
        """The data folder."""
        return self.service.datadir

    @property
    def degraded(self) -> Degraded | None:
        """Why nothing can be written and of what time the memory is, where its store cannot be opened; None when all is well."""
        return self.service.degraded

    @property
    def ready(self) -> bool:
        """Whether the next question is answered as fast as any: the embedder is loaded, and one was asked."""
        return self.service.stores.warm

    def warm_up(self) -> None:
        """Load the embedder and answer a question, so that the first one is as fast as the next."""
        warm_up(self.service)

    def resume(self) -> None:
        """Understand the notes that wait, in the background."""
        resume(self.service)

    def serve_at(self, address: str) -> None:
        """Tell other processes where this one answers, and have workers ready for their queries."""
        serve_at(self.service, address)

    def close(self) -> None:
        """Let go of the data folder; calling it twice is harmless."""
        close_service(self.service)


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

    Args:
        path: the data folder; default `MEMENTO_HOME`, else the platform's user data folder.
        namespace: where notes go and recalls look; default `MEMENTO_NAMESPACE`, else `main`.
        profile: retrieval settings by name.
        configured: all settings; default `settings.load` of the folder's `memento.toml` and the environment.
        command: how other processes name this one while it owns the folder.
        wait_s: seconds to wait for an owner that does not serve.
        resume: go on, in the background, with notes that wait to be understood.
        clock: says when it is, for a replay of the past: the record time of what is written and the default time of a question.
            Only for a folder that this process opens itself.
        mends: let the indexes fit the graph, and a folder of an earlier version have what it lacks. Without, `check` tells what
            there is to mend.
        key_file: a file with the key of an encrypted folder; default `encryption.key` or `encryption.key_file` of the settings.
        progress: called with (done, total) while the indexes are made from the graph, as they are where none were kept; total is
            0 as long as nobody knows it.

    Raises:
        FolderInUse: another process owns the folder and does not serve; names it.
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
        raise
    memento = Memento(open_service(datadir, scope, configured, mends=mends, progress=progress))
    if clock is not None:
        memento.service.stores.clock = clock
    if resume:
        memento.resume()
    return memento
