"""Exports, imports and backups of a running service: documents of any length, a piece at a time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from memento.client.connection import Connection, addressed
from memento.errors import InputError

if TYPE_CHECKING:
    from memento.model import BackedUp, Exported, Merged, Restored
    from memento.ports import Progress

_PACKED = b"\x1f\x8b"


class Documents(Connection):
    """What goes out of a memory and comes into it as a whole."""

    def export(
        self,
        file: str | Path,
        *,
        form: str | None = None,
        vectors: bool = False,
        audit: bool = False,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> Exported:
        """See `Memento.export`; the file is written on this machine."""
        from memento.archive.files import save_document

        asked = {"format": form or str(file), "vectors": vectors, "audit": audit, "namespace": namespace}
        with self.streamed("GET", _addressed("/memory/export", asked)) as (headers, pieces):
            told, count = headers.get("Memento-Format", ""), int(headers.get("Memento-Statements", 0))
            return save_document(pieces, Path(file), told, count, progress)

    def import_rdf(
        self,
        file: str | Path,
        *,
        form: str | None = None,
        data: str | None = None,
        check: bool = True,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> Merged:
        """See `Memento.import_rdf`; progress is told of at the end only."""
        from memento.codec import decode
        from memento.model import Merged

        path = Path(file)
        asked = {"format": form or str(file), "data": data, "check": check, "namespace": namespace, "name": path.name}
        try:
            with path.open("rb") as source:
                packed = {"Content-Encoding": "gzip"} if source.read(2) == _PACKED else {}
                source.seek(0)
                headers = {"Content-Type": "application/octet-stream", "Content-Length": str(path.stat().st_size)}
                address = _addressed("/memory/import/rdf", asked)
                with self.streamed("POST", address, source, {**headers, **packed}) as (_, pieces):
                    merged = decode(Merged, b"".join(pieces))
        except OSError as error:
            raise InputError(f"{file} cannot be read: {error.strerror}") from error
        if progress:
            progress(merged.statements, merged.statements)
        return merged

    def backup(self, folder: str | Path | None = None, *, keep: int | None = None) -> BackedUp:
        """See `Memento.backup`; the folder is on the machine of the service."""
        from memento.codec import decode
        from memento.model import BackedUp

        return decode(BackedUp, self.ask("backup", folder=_named(folder), keep=keep))

    def restore(self, folder: str | Path | None = None) -> Restored:
        """See `Memento.restore`; the folder is on the machine of the service."""
        from memento.codec import decode
        from memento.model import Restored

        return decode(Restored, self.ask("restore", folder=_named(folder)))


def _addressed(path: str, asked: Mapping[str, object]) -> str:
    return addressed(path, {name: value for name, value in asked.items() if value is not None})


def _named(folder: str | Path | None) -> str | None:
    return None if folder is None else str(Path(folder).expanduser().absolute())
