"""What one can ask: the docstring of an operation and the descriptions of its fields are what every interface says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from memento.operations.base import Interface, Limit, Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class Bookmark:
    """The memory of a bookmark: its IRI, its title and its address."""

    memory: str
    title: str
    address: str


class ListBookmarks(Operation["tuple[Bookmark, ...]"], frozen=True):
    """List the bookmarks, newest first."""

    route: ClassVar[str] = "GET /bookmarks/list"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[dict[Interface, str]] = {"mcp": "a model recalls bookmarks as it recalls other memories"}

    limit: Limit = 20
