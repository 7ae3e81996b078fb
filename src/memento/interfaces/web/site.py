"""
The documentation as a site at `/docs/`: files that `make site` or the build of the wheel made.

*Guarantees:* a file of that folder is sent and no other; who may see pages may see it, under the policy of pages.

*But:* a checkout has none until `make site` ran; `/docs` says so.
"""

from __future__ import annotations

from pathlib import Path

from flask import Response, request
from werkzeug.exceptions import NotFound
from werkzeug.security import safe_join

from memento import assets
from memento.errors import MissingPart

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".inv": "application/octet-stream",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".jsonld": "application/ld+json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
}
"""What the files are, whatever the system believes of their endings; others are text."""


def find_site() -> Path | None:
    """Return the folder of the built site, in the wheel or in the checkout; None where there is none."""
    try:
        folder = assets.folder("site")
    except MissingPart:
        return None
    return folder if (folder / "index.html").is_file() else None


def send_file(folder: Path, name: str) -> Response:
    """
    Answer with a file of the site, which a browser may keep and asks about again.

    Raises:
        NotFound: the folder has no such file.
    """
    joined = None if "\0" in name else safe_join(str(folder), name or "index.html")
    path = Path(joined) if joined else folder
    if not path.is_file():
        raise NotFound
    response = Response(path.read_bytes(), content_type=TYPES.get(path.suffix, "text/plain; charset=utf-8"))
    response.headers["Cache-Control"] = "private, no-cache"
    response.add_etag()
    response.make_conditional(request)
    return response
