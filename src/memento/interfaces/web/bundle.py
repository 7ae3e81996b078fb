"""
Files that a page of ours loads: scripts, styles, pictures, all from this address.

*Guarantees:* the address of a file has a digest of all files of its page, so that a browser may keep it for ever and never mixes
versions; nothing else of the folder is served.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from hashlib import sha256
from importlib.resources import files

from flask import Blueprint, Response, url_for
from werkzeug.exceptions import NotFound

TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "ttl": "text/turtle; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
}


class Bundle:
    """The files of one page, or of pages that share them."""

    def __init__(self, name: str, more: Callable[[], Mapping[str, bytes]] = dict) -> None:
        """
        Args:
            name: of the folder below `static`, and of the address.
            more: files beside those of the folder.
        """
        self.name = name
        self.address = f"/static/{name}/"
        self._more = more

    @cached_property
    def files(self) -> Mapping[str, bytes]:
        """What is served, by name."""
        folder = files("memento.interfaces.web") / "static" / self.name
        return {
            **{file.name: file.read_bytes() for file in folder.iterdir() if file.name.rpartition(".")[2] in TYPES},
            **self._more(),
        }

    @cached_property
    def digest(self) -> str:
        """Sixteen hexadecimal digits that change when one of the files does."""
        parts = (name.encode() + b"\0" + body for name, body in sorted(self.files.items()))
        return sha256(b"".join(parts)).hexdigest()[:16]

    def add_route(self, routes: Blueprint) -> None:
        """Serve the files."""
        routes.get(f"{self.address}<version>/<name>", endpoint="file")(self.send)
        self._endpoint = f"{routes.name}.file"

    def locate(self, name: str) -> str:
        """Return the address of a file."""
        return url_for(self._endpoint, version=self.digest, name=name)

    def send(self, version: str, name: str) -> Response:
        """Answer with a file; raise `NotFound` for any other, and for one of another version."""
        if version != self.digest or name not in self.files:
            raise NotFound
        response = Response(self.files[name], content_type=TYPES[name.rpartition(".")[2]])
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response
