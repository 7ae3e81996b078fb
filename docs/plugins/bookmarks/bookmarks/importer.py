"""What `memento import bookmarks.html` reads: the file that browsers export bookmarks to."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html import unescape

from memento.intake.importers import Document, Harvest, Source, make_note

_HEAD = "<!DOCTYPE NETSCAPE-Bookmark-file-1>"
_LINK = re.compile(
    r'<A HREF="(?P<address>https?://[^"]+)"(?:[^>]*\bADD_DATE="(?P<at>\d+)")?[^>]*>(?P<title>[^<]+)</A>', re.I
)


def read_bookmarks(document: Document, source: Source, found: Harvest, all_turns: bool) -> None:
    """Add a row for each bookmark; its key is made from its text, so that it is noted once however often it is read."""
    for link in _LINK.finditer(document.text):
        at = datetime.fromtimestamp(int(link["at"]), UTC) if link["at"] else None
        found.rows.append(make_note(f"{unescape(link['title'])}: {link['address']}", "bookmarks", link["title"], at))


BOOKMARKS = Source(is_of=lambda document: document.text.startswith(_HEAD), read=read_bookmarks)
