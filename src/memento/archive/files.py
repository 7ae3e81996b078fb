"""Documents as files: written atomically, compressed if their name ends in `.gz`, and decompressed."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, cast

from memento.errors import InputError, TooLong
from memento.intake.redaction import raise_if_secret_file
from memento.model import Exported
from memento.ports import Progress

_PIECE = 1 << 20
_IN_MEMORY = 8 * _PIECE
_PACKED = b"\x1f\x8b"


def save_document(
    pieces: Iterable[bytes], file: Path, form: str, statements: int, progress: Progress | None, *, overwrite: bool
) -> Exported:
    """
    Write a document's pieces to a file, which appears once it is complete.

    Args:
        progress: called with (statements, all of them); the former counts lines, because most statements take one.

    Raises:
        InputError: the file cannot be written, or exists and is not to be overwritten.
    """
    fresh = file.with_name(f"{file.name}.part")
    watched = _report_progress(pieces, statements, progress) if progress else pieces
    try:
        fresh.unlink(missing_ok=True)
        # A memory is private to its owner, whoever could read the earlier file.
        with open(fresh, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as target:
            for piece in pack(watched) if file.suffix == ".gz" else watched:
                target.write(piece)
            target.flush()
            os.fsync(target.fileno())
            size = target.tell()
        raise_if_exists(file, overwrite=overwrite)
        fresh.replace(file)
    except OSError as error:
        raise InputError(f"{file} cannot be written: {error.strerror}") from error
    finally:
        fresh.unlink(missing_ok=True)
    return Exported(file=str(file), form=form, statements=statements, bytes=size)


def raise_if_exists(file: Path, *, overwrite: bool) -> None:
    """Raise `InputError` if a file exists that is not to be overwritten."""
    if not overwrite and file.exists():
        raise InputError(f"overwrite is needed to replace {file}, which exists already; or give another name")


def _report_progress(pieces: Iterable[bytes], statements: int, progress: Progress) -> Iterator[bytes]:
    done = 0
    for piece in pieces:
        yield piece
        done += piece.count(b"\n")
        progress(min(done, statements), statements)
    progress(statements, statements)


def pack(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Compress pieces as a gzip file."""
    packing = zlib.compressobj(6, zlib.DEFLATED, 31)
    for piece in pieces:
        yield packing.compress(piece)
    yield packing.flush()


@contextmanager
def open_document(file: Path, folder: Path) -> Iterator[IO[bytes]]:
    """
    Open a file for repeated reading from its beginning; a compressed one is decompressed into `folder`, and deleted afterwards.

    Raises:
        InputError: the file cannot be read or decompressed, or its name says that it contains secrets.
    """
    raise_if_secret_file(file)
    try:
        with file.open("rb") as source:
            if source.read(2) != _PACKED:
                source.seek(0)
                yield source
                return
            source.seek(0)
            with spool(source, file.name, folder, is_packed=True) as plain:
                yield plain
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}") from error


@contextmanager
def spool(
    source: IO[bytes], name: str, folder: Path, *, is_packed: bool, most: int | None = None
) -> Iterator[IO[bytes]]:
    """
    Copy a stream, so that it can be read again; long ones are in `folder` meanwhile.

    Args:
        name: what errors call it.
        most: maximum size in bytes, decompressed.

    Raises:
        TooLong: it is larger.
        InputError: it is compressed and damaged.
    """
    with SpooledTemporaryFile(max_size=_IN_MEMORY, dir=str(folder)) as plain:
        given = cast(IO[bytes], gzip.GzipFile(fileobj=source)) if is_packed else source
        try:
            while piece := given.read(_PIECE):
                plain.write(piece)
                if most is not None and plain.tell() > most:
                    raise TooLong(f"{name} must have at most {most} bytes, unpacked: see limits.document_bytes")
        except (gzip.BadGzipFile, zlib.error, EOFError) as error:
            raise InputError(f"{name} cannot be unpacked: {error}") from error
        plain.seek(0)
        yield cast(IO[bytes], plain)
