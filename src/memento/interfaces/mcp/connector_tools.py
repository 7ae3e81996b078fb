"""
`search` and `fetch`, for connectors that look for tools of exactly these names.

*Because:* a ninth tool makes models choose worse, so these two are a group of their own, off until it is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from memento.interfaces.mcp.resources import address_of, iri_of
from memento.interfaces.mcp.tools import Arguments, Reach, Told, Tool
from memento.iris import MEM
from memento.operations.recall import Get, Recall

TITLE_CHARS = 80


class SearchArguments(Arguments, frozen=True, kw_only=True):
    query: Annotated[str, Meta(description="What to look for, in words.")]


class FetchArguments(Arguments, frozen=True, kw_only=True):
    id: Annotated[str, Meta(description="The id of a search result.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One search result."""

    id: str
    title: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """Search results, best first."""

    results: tuple[Hit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Everything known of one memory, as a document."""

    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, str]


def search(reach: Reach, asked: SearchArguments) -> Told:
    """Memories that bear on a query."""
    found = reach.memory.recall(asked.query, namespace=reach.namespace)
    return Told(
        answer=Hits(
            results=tuple(Hit(id=one.iri, title=_title(one.content), url=address_of(one.iri)) for one in found.memories)
        )
    )


def fetch(reach: Reach, asked: FetchArguments) -> Told:
    """One memory with its note."""
    found = reach.memory.get(iri_of(asked.id), namespace=reach.namespace)
    said = dict(found.properties)
    content = said.get(MEM.content, found.iri)
    text = content
    if note := said.get(MEM.extractedFrom):
        words = dict(reach.memory.get(note, namespace=reach.namespace).properties).get(MEM.content, "")
        text = f"{content}\n\nFrom the note: {words}"
    return Told(
        answer=Document(
            id=found.iri,
            title=_title(content),
            text=text,
            url=address_of(found.iri),
            metadata={name.rsplit("/", 1)[-1]: value for name, value in said.items() if name.startswith(MEM.base)},
        )
    )


def _title(content: str) -> str:
    line = " ".join(content.split())
    return line if len(line) <= TITLE_CHARS else line[: TITLE_CHARS - 1].rstrip() + "…"


TOOLS = (
    Tool(
        name="search",
        title="Search memories",
        description="Find memories of the user that bear on a query; fetch returns one of them whole.",
        arguments=SearchArguments,
        answer=Hits,
        run=search,
        asks=(Recall,),
        reads_only=True,
        repeats_harmlessly=True,
    ),
    Tool(
        name="fetch",
        title="Fetch a memory",
        description="Everything known of one memory, with the note it came from, by the id of a search result.",
        arguments=FetchArguments,
        answer=Document,
        run=fetch,
        asks=(Get,),
        reads_only=True,
        repeats_harmlessly=True,
    ),
)
