"""The page `/bookmarks`: it asks an operation with the rights of its reader."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from markupsafe import Markup

from bookmarks.operations import ListBookmarks
from memento.operations import Operation


def show_bookmarks(ask: Callable[[Operation[Any]], Any], arguments: Mapping[str, str]) -> tuple[str, str]:
    """Show the bookmarks as links. `Markup` escapes what is put into it."""
    rows = ask(ListBookmarks(limit=100, namespace=arguments.get("namespace")))
    links = Markup("").join(Markup('<li><a href="{}">{}</a></li>').format(one.address, one.title) for one in rows)
    return "Bookmarks", Markup("<ul>{}</ul>").format(links) if rows else "There are no bookmarks yet."
