"""Opens a data folder, or reaches the service that owns it."""

from __future__ import annotations

from pathlib import Path

from memento import settings
from memento.backends import open_backends
from memento.client import Client
from memento.datadir import DataFolder, default_home
from memento.errors import FolderInUse, NotFound
from memento.graph import backups
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

    Raises:
        FolderInUse: another process owns the folder and does not serve; names it.
        SettingsError: an unusable folder or setting.
    """
    home_name, namespace_name = settings.home_and_namespace()
    home = DataFolder(Path(path or home_name or default_home()))
    configured = configured or settings.load(home.settings, profile=profile)
    scope = Scope(namespace=settings.resolve_namespace(namespace or namespace_name or configured.scope.namespace))
    if (serving := home.serving_owner()) and serving.address:
        return Client(serving.address, namespace=scope.namespace, token=serving.token)
    try:
        home.acquire(command, wait_s)
    except FolderInUse:
        if (serving := home.serving_owner()) and serving.address:
            return Client(serving.address, namespace=scope.namespace, token=serving.token)
        raise
    try:
        memento = Memento(home, open_backends(home, configured), scope, configured)
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
    home = DataFolder(Path(path))
    home.acquire("memento restore", wait_s)
    with home:
        backups.finish_restore(home)  # of an earlier one that was killed
        try:
            found = backups.prepare_restore(Path(folder) if folder else backups.choose_usual_backup(home), home, now())
        except NotFound as error:
            if not home.store.is_dir() or backups.is_store_sound(home):
                raise
            place = folder or home.path
            said = f"{place} has no backup in it, and the store {home.store} cannot be opened to make one"
            raise NotFound(f"{said}. {backups.explain_way_out(home)}") from error
        backups.begin_restore(home, found)
    return found
