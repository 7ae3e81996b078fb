"""The memory of one data folder in this process, and the function that opens it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakSet

from memento import settings
from memento.access import OWNER, Access, Tokens
from memento.datadir import DataFolder, default_home
from memento.errors import FolderInUse, GraphError
from memento.model import Degraded, Scope
from memento.operations import Operation
from memento.python.client import Client
from memento.python.memory import Memory
from memento.service import Context, Service, close_service, handle, open_service, serve_at, warm_up
from memento.service.understanding import resume
from memento.settings import Settings, groups

if TYPE_CHECKING:
    from memento.ports import Progress

A = TypeVar("A")


class Memento(Memory):
    """
    A handle on the memory of one data folder. Use `open_memento` to get one; a context manager. May be used from many threads.
    """

    def __init__(self, service: Service, access: Access = OWNER) -> None:
        self.service = service
        self.left_out = service.settings.plugins.left_out
        self._access = access
        self._is_closed = False

    def call(self, operation: Operation[A], progress: Progress | None = None) -> A:
        """
        Answer an operation in this process.

        Raises:
            GraphError: this handle was closed.
        """
        if self._is_closed:
            raise GraphError(f"this memory was closed: open it again with open_memento({str(self.datadir.path)!r})")
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
        """
        Close this handle; calling it twice is harmless.

        The data folder is released when no other handle that `open_memento` returned for it is open.
        """
        folder = self.datadir.path.resolve()
        with _guard(folder):
            self._is_closed = True
            if (opened := _OPENED.get(folder)) and opened.service is self.service:
                opened.handles.discard(self)
                if opened.handles:
                    return
                del _OPENED[folder]
            close_service(self.service)


@dataclass(slots=True)
class _OpenFolder:
    """A folder that is open in this process."""

    service: Service
    loaded: Settings | None
    """The settings that were loaded when it was opened; None if the caller gave them."""
    has_clock: bool
    handles: WeakSet[Memento] = field(default_factory=WeakSet)
    """The open handles; one that nobody holds any more needs no `close`."""

    def new_handle(self) -> Memento:
        handle = Memento(self.service)
        self.handles.add(handle)
        return handle


_OPENED: dict[Path, _OpenFolder] = {}
_GUARDS: dict[Path, threading.Lock] = {}


def _guard(folder: Path) -> threading.Lock:
    """Return the lock that is held while a folder is opened or closed: who opens it a second time waits for the first."""
    return _GUARDS.setdefault(folder, threading.Lock())


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

    A folder that is open in this process already gives the same memory: a further handle on it, closed apart from the others.

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
        FolderInUse: another process owns the folder and does not serve it, or this one has it open with other settings; names them.
        SettingsError: an unusable folder or setting, or the key of an encrypted folder is missing or wrong.
    """
    home_name, namespace_name = settings.home_and_namespace()
    datadir = DataFolder(Path(path or home_name or default_home()))
    loaded = settings.load(datadir.settings_file, profile=profile) if configured is None else None
    configured = configured or loaded or Settings()
    if key_file is not None:
        configured = settings.with_key_file(configured, key_file)
    scope = Scope(namespace=settings.resolve_namespace(namespace or namespace_name or configured.scope.namespace))
    folder = datadir.path.resolve()
    with _guard(folder):
        if (serving := datadir.serving_owner()) and serving.address:
            return Client(serving.address, namespace=scope.namespace, token=serving.token)
        if opened := _OPENED.get(folder):
            _raise_if_different(opened, loaded or configured, scope, clock, is_loaded=loaded is not None)
            return opened.new_handle()
        try:
            datadir.acquire(command, wait_s)
        except FolderInUse:
            if (serving := datadir.serving_owner()) and serving.address:
                return Client(serving.address, namespace=scope.namespace, token=serving.token)
            raise
        service = open_service(datadir, scope, configured, mends=mends, progress=progress)
        _OPENED[folder] = opened = _OpenFolder(service, loaded, has_clock=clock is not None)
        memento = opened.new_handle()
    if clock is not None:
        memento.service.stores.clock = clock
    if resume:
        memento.resume()
    return memento


def _raise_if_different(opened: _OpenFolder, wanted: Settings, scope: Scope, clock: object, *, is_loaded: bool) -> None:
    """
    Raise `FolderInUse` if the folder is open with other settings than a call asks for; the message names those that differ.

    A call that gives no settings takes those that the first call gave.
    """
    there = opened.loaded if is_loaded else opened.service.settings
    different = [] if there is None else _list_differences(there, wanted)
    if scope != opened.service.default_scope:
        different.append(f"namespace ({opened.service.default_scope.namespace}, not {scope.namespace})")
    if clock is not None or opened.has_clock:
        different.append("clock")
    if different:
        raise FolderInUse(
            f"{opened.service.datadir.path} is open in this process already, and differs in {', '.join(different)}: ask for "
            "the same, or first call close() of the memory that is open"
        )


def _list_differences(one: Settings, other: Settings) -> list[str]:
    """Return the names of the settings that differ, as `land.seeds`."""
    here, there = dict(groups(one)), dict(groups(other))
    return [
        f"{name}.{setting.name}"
        for name in here
        for setting in fields(here[name])
        if name not in there or getattr(here[name], setting.name) != getattr(there[name], setting.name)
    ]
