"""What a client can read by its address: the map of the memory, its status, its ontology, one memory, one entity."""

from __future__ import annotations

import json
from urllib.parse import quote, unquote

from memento import assets
from memento.errors import NotFound
from memento.interfaces.mcp.tools import Json, Reach, structured
from memento.iris import IRI

MANIFEST_CHARS = 2_000
"""500 tokens of four characters each."""

FIXED: tuple[Json, ...] = (
    {
        "uri": "memento://manifest",
        "name": "manifest",
        "title": "What is remembered",
        "description": "Counts, namespaces and the map: what hangs together, what it turns on, what is new; in 500 tokens at most.",
        "mimeType": "text/plain",
    },
    {
        "uri": "memento://status",
        "name": "status",
        "title": "Status",
        "description": "Counts and how the service stands; what a client that hears of no changes may read again.",
        "mimeType": "application/json",
    },
    {
        "uri": "memento://ontology",
        "name": "ontology",
        "title": "Ontology",
        "description": "The terms of the memory graph, for SPARQL.",
        "mimeType": "text/turtle",
    },
)

TEMPLATES: tuple[Json, ...] = (
    {
        "uriTemplate": "memento://memory/{id}",
        "name": "memory",
        "title": "A memory",
        "description": "Everything known of one memory; id is what follows urn:memento:memory: in its IRI.",
        "mimeType": "application/json",
    },
    {
        "uriTemplate": "memento://entity/{id}",
        "name": "entity",
        "title": "An entity",
        "description": "Everything known of one entity; id is what follows urn:memento:entity: in its IRI.",
        "mimeType": "application/json",
    },
)


def read(reach: Reach, uri: str) -> tuple[str, str]:
    """
    The text at an address, and its media type.

    Raises:
        NotFound: there is nothing at that address.
    """
    match uri.removeprefix("memento://"):
        case "manifest":
            return manifest(reach), "text/plain"
        case "status":
            return _json(reach.memory.status(namespace=reach.namespace)), "application/json"
        case "ontology":
            return assets.read("ontology/memento.ttl").decode(), "text/turtle"
    if not uri.startswith(("memento://memory/", "memento://entity/")):
        known = [one["uri"] for one in FIXED] + [one["uriTemplate"] for one in TEMPLATES]
        raise NotFound(f"there is no resource {uri[:120]!r}: choose one of {', '.join(known)}")
    return _json(reach.memory.get(iri_of(uri), namespace=reach.namespace)), "application/json"


def manifest(reach: Reach) -> str:
    """The map of a memory for a model: what there is, and how to ask for it."""
    found = reach.memory.status(namespace=reach.namespace)
    if not found.memories:
        return "Nothing is remembered yet. When the user asks to remember something, call memento_note."
    lines = [
        f"Memory of the user: {found.memories:,} memories ({found.current:,} of them true now) from {found.notes:,} notes "
        f"about {found.entities:,} entities, in the namespace {found.namespace}.",
        f"Namespaces: {', '.join(found.namespaces[:20])}.",
        "Ask with memento_recall; for how something changed with memento_timeline.",
    ]
    named = [
        f"{one.name} ({one.kind}, {one.memory_count:,})"
        for one in reach.memory.entities(limit=12, namespace=reach.namespace)
    ]
    while named and len("\n".join(lines)) + len(", ".join(named)) > MANIFEST_CHARS - 20:
        named.pop()
    if named:
        lines.insert(2, f"Most mentioned: {', '.join(named)}.")
    for line in reach.memory.manifest(namespace=reach.namespace).text.splitlines()[1:]:  # the first counts once more
        if len("\n".join([*lines, line])) <= MANIFEST_CHARS:
            lines.append(line)
    return "\n".join(lines)[:MANIFEST_CHARS]


def address_of(iri: str) -> str:
    """
    The address at which a node can be read.

    >>> address_of("urn:memento:memory:0192")
    'memento://memory/0192'
    """
    kind, _, rest = iri.removeprefix("urn:memento:").partition(":")
    return f"memento://{kind}/{quote(rest, safe='')}"


def iri_of(address: str) -> IRI:
    """
    The node that can be read at an address; an IRI stays what it is.

    >>> iri_of("memento://memory/0192")
    'urn:memento:memory:0192'
    """
    if not address.startswith("memento://"):
        return IRI(address)
    kind, _, rest = address.removeprefix("memento://").partition("/")
    return IRI(f"urn:memento:{kind}:{unquote(rest)}")


def _json(noun: object) -> str:
    return json.dumps(structured(noun), ensure_ascii=False, indent=1)
