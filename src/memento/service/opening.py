"""Opens a data folder, or reaches the service that owns it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from memento import settings
from memento.archive.backup import standing
from memento.archive.backup.putting import finish, put, readied
from memento.backends import open_backends
from memento.client import Client
from memento.datadir import Home, default_home
from memento.errors import FolderInUse, NotFound
from memento.model import Restored, Scope
from memento.service.memento import Memento
from memento.settings import Settings
from memento.time import now


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

    Raises:
        FolderInUse: another process owns the folder and does not serve; names it.
        SettingsError: an unusable folder or setting.
    """
    home_name, namespace_name = settings.home_and_namespace()
    home = Home(Path(path or home_name or default_home()))
    configured = configured or settings.load(home.settings, profile=profile)
    scope = Scope(namespace=settings.namespace_called(namespace or namespace_name or configured.scope.namespace))
    if (serving := home.serving_owner()) and serving.address:
        return Client(serving.address, namespace=scope.namespace, token=serving.token)
    try:
        home.acquire(command, wait_s)
    except FolderInUse:
        if (serving := home.serving_owner()) and serving.address:
            return Client(serving.address, namespace=scope.namespace, token=serving.token)
        raise
    try:
        parts = open_backends(home, configured)
        if clock is not None:
            parts.clock = clock
        memento = Memento(home, parts, scope, configured)
    except BaseException:
        home.release()
        raise
    if resume:
        memento.resume()
    return memento


def restored(path: str | Path, folder: str | Path | None = None, *, wait_s: float = 0.0) -> Restored:
    """
    Let a backup be the memory of a data folder that nobody has open, whatever its store is like; what is there is moved aside.

    Args:
        folder: a backup, or a folder of backups, of which the latest is taken; default `backups` in the data folder, or the
            latest that the folder has of its own where its store cannot be opened.
        wait_s: seconds to wait for an owner.

    Raises:
        NotFound: there is no backup.
        InputError: it is damaged, or newer than this version; everything is as it was.
        FolderInUse: somebody has the folder open: of a service ask `restore` itself.
    """
    home = Home(Path(path))
    home.acquire("memento restore", wait_s)
    with home:
        finish(home)  # of an earlier one that was killed
        try:
            found = readied(Path(folder) if folder else standing.usual(home), home, now())
        except NotFound as error:
            if not home.store.is_dir() or standing.is_sound(home):
                raise
            place = folder or home.path
            said = f"{place} has no backup in it, and the store {home.store} cannot be opened to make one"
            raise NotFound(f"{said}. {standing.way_out(home)}") from error
        put(home, found)
    return found
