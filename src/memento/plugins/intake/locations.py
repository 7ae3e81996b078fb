"""
Find what is to be taken in: the files of a folder, the bytes of a file, the page at an address.

*Guarantees:* links are not followed, so there are no endless loops and nothing outside a folder is read. Files whose names show
that they contain secrets are not opened. A page is only requested from the given address, and only from public hosts of the
Internet unless `intake.private_urls` permits others; every redirect is checked in the same way. No proxy, cookie or token is used.

*But:* hidden files and what programs generate in a folder are skipped; `.gitignore` is not read.
"""

from __future__ import annotations

import http.client
import os
import stat
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatch
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from memento.errors import GraphError, InputError
from memento.intake.redaction import raise_if_secret_file
from memento.network import connect, remaining_s
from memento.plugins.intake.settings import IntakeSettings

GENERATED = frozenset(
    [
        "node_modules",
        "bower_components",
        "__pycache__",
        "venv",
        "site-packages",
        "target",
        "dist",
        "build",
        "vendor",
        "htmlcov",
    ]
)
"""Folders that programs create, which are not entered."""
_GENERATED_FILES = (
    "*.min.js",
    "*.min.css",
    "*.map",
    "*-lock.*",
    "*.lock",
    "*.pyc",
    "*.egg-info",
    "*~",
    "*.swp",
    "*.tmp",
)
_REDIRECTS = (301, 302, 303, 307, 308)
_MOST_STEPS = 5
_NAMED = 50


@dataclass(slots=True)
class LeftOut:
    """What was not read: the count for each reason, and the first names."""

    reasons: Counter[str] = field(default_factory=Counter)
    names: list[str] = field(default_factory=list)

    def leave_out(self, name: str, reason: str) -> None:
        """Count something that was left out."""
        self.reasons[reason] += 1
        if len(self.names) < _NAMED:
            self.names.append(f"{name}: {reason}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The answer of an address, after redirects: its media type, if given, and its bytes."""

    url: str
    media: str
    data: bytes
    at: datetime | None = None


def list_files(folder: Path, exclude: Sequence[str], left_out: LeftOut) -> list[Path]:
    """
    List the files of a folder and its subfolders, sorted by name, without hidden and generated ones.

    Args:
        exclude: shell patterns for names or for paths within the folder.
    """
    files: list[Path] = []

    def is_passed_over(path: Path) -> bool:
        inside = path.relative_to(folder).as_posix()
        if path.is_symlink():
            left_out.leave_out(inside, "it is a link")
            return True
        return any(fnmatch(path.name, one) or fnmatch(inside, one) for one in exclude)

    for at, folders, names in os.walk(folder):
        here = Path(at)
        folders[:] = sorted(
            one
            for one in folders
            if not one.startswith(".") and one not in GENERATED and not is_passed_over(here / one)
        )
        for name in sorted(names):
            if any(fnmatch(name, one) for one in _GENERATED_FILES):
                left_out.leave_out((here / name).relative_to(folder).as_posix(), "a program has made it")
            elif _is_secret(name):
                left_out.leave_out((here / name).relative_to(folder).as_posix(), SECRET)
            elif not name.startswith(".") and not is_passed_over(here / name):
                files.append(here / name)
    return files


SECRET = "its name says that secrets are in it"


def _is_secret(name: str) -> bool:
    try:
        raise_if_secret_file(name)
    except InputError:
        return True
    return False


def read_bytes(path: Path, most: int) -> tuple[bytes, datetime]:
    """
    Read a file and the time of its last change.

    Raises:
        InputError: with the reason only: it is not a file, empty, longer than `most` bytes, unreadable, or its name is that of a
            file of secrets.
    """
    if _is_secret(path.name):
        raise InputError(SECRET)
    try:
        seen = path.stat()
        if not stat.S_ISREG(seen.st_mode):
            raise InputError("it is no file")  # reading from a pipe could block for ever
        if not seen.st_size:
            raise InputError("it is empty")
        if seen.st_size > most:
            raise InputError(f"it is longer than {most:,} bytes (intake.file_bytes)")
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"it cannot be read: {error.strerror}") from error
    return data, datetime.fromtimestamp(seen.st_mtime, UTC).replace(microsecond=0)


def is_url(source: str) -> bool:
    """
    Tell whether a source is an address and not a path.

    >>> is_url("https://example.org/a"), is_url("notes/a.md"), is_url("ftp://example.org")
    (True, False, True)
    """
    return "://" in source


def fetch_page(url: str, settings: IntakeSettings) -> Page:
    """
    Fetch the page at an address.

    Raises:
        InputError: the address is not http or https, contains a password, is on this machine or in a private network, does not
            answer in time or with 200, or sends too much; says which.
    """
    until = time.monotonic() + settings.url_s
    try:
        for _ in range(_MOST_STEPS + 1):
            parts = urlsplit(url)
            if parts.scheme not in ("http", "https") or not parts.hostname:
                raise InputError(f"{url[:200]} is not fetched: only http:// and https:// addresses are")
            if parts.username or parts.password:
                raise InputError(f"an address of {parts.hostname} is not fetched: it has a name or a password in it")
            answer = _request_page(url, until, settings)
            if isinstance(answer, Page):
                return answer
            url = urljoin(url, answer)
        raise InputError(f"{url[:200]} is not fetched: it leads on more than {_MOST_STEPS} times")
    except GraphError as error:
        raise InputError(f"{url[:200]} is not fetched: {error}; intake.private_urls = true allows that") from error
    except TimeoutError as error:
        raise InputError(f"{url[:200]} did not answer within {settings.url_s:g} s (intake.url_s)") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise InputError(f"{url[:200]} cannot be reached: {type(error).__name__}") from error


def _request_page(url: str, until: float, settings: IntakeSettings) -> Page | str:
    """Return the page, or the address that it redirects to; raises as `connect`."""
    parts = urlsplit(url)
    connection = connect(url, until, trusts_literals=settings.private_urls)
    try:
        path = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
        connection.request(
            "GET", path, headers={"User-Agent": "memento", "Accept": "text/html, text/*, application/pdf, */*;q=0.5"}
        )
        answer = connection.getresponse()
        if answer.status in _REDIRECTS and (where := answer.headers.get("Location")):
            return where
        if answer.status != 200:
            raise InputError(f"{url[:200]} answered with HTTP status {answer.status}")
        body = b""
        while part := answer.read1(65_536):
            body += part
            if len(body) > settings.url_bytes:
                raise InputError(f"{url[:200]} sends more than {settings.url_bytes:,} bytes (intake.url_bytes)")
            left = remaining_s(until)
            if connection.sock is not None:
                connection.sock.settimeout(left)
        if not body:
            raise InputError(f"{url[:200]} sends nothing")
        return Page(url=url, media=answer.headers.get_content_type(), data=body)
    finally:
        connection.close()
