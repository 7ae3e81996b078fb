"""
What a namespace is about: its profile, and the summary of a session.

*Flow:* `count_profile` counts by one query, and `Profiles` caches the result until something is written. `plan_summary` makes one
memory from a session's memories.

*Guarantees:* no stored profile shows what was forgotten: it is removed before the memory is hidden.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePosixPath
from typing import cast

from memento.archive.read import list_memories
from memento.backends import Backends
from memento.errors import GraphError, NotFound
from memento.graph.mapping import attribute_note, mark_quads, quads
from memento.graph.store import Row
from memento.iris import IRI, MEM, PROV, TYPE, mint, named_iri, session_iri, tag_iri
from memento.model import Change, Filter, Marks, Memory, Note, Profile, Quad, Scope
from memento.rank import rate_importance
from memento.search.nodes import content_hash
from memento.text.sentences import shorten_line

logger = logging.getLogger(__name__)

MOST_CHARS = 2_000
"""Maximum characters of a summary."""
_BEGINNING = 100
"""Characters of each memory in a summary without a model."""
_MOST_NAMES, _MOST_PACKAGES, _MOST_DECISIONS = 10, 20, 10
DECISION = "decision"
SUMMARY = "summary"
"""The kind of a session's summary, and the source of its note."""

LANGUAGES = {
    **dict.fromkeys((".py", ".pyi", ".ipynb"), "Python"),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), "JavaScript"),
    **dict.fromkeys((".ts", ".tsx", ".mts"), "TypeScript"),
    **dict.fromkeys((".c", ".h"), "C"),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".hpp"), "C++"),
    **dict.fromkeys((".sh", ".bash"), "Shell"),
    **dict.fromkeys((".kt", ".kts"), "Kotlin"),
    ".rs": "Rust",
    ".go": "Go",
    ".java": "Java",
    ".cs": "C#",
    ".rb": "Ruby",
    ".php": "PHP",
    ".swift": "Swift",
    ".scala": "Scala",
    ".sql": "SQL",
    ".rq": "SPARQL",
    ".ttl": "Turtle",
    ".html": "HTML",
    ".css": "CSS",
}
"""The language of a file by its extension."""


def count_profile(scope: Scope, parts: Backends) -> Profile:
    """Count the tags, entities and code names of the current memories of a scope's namespace."""
    counts: dict[str, list[tuple[str, int]]] = {}
    for row in parts.graph.select("library/profile", [scope.graph]):
        counts.setdefault(str(row["what"]), []).append((str(row["name"]), int(str(row["count"]))))
    totals = {str(row["type"]): int(str(row["count"])) for row in parts.graph.select("library/counted", [scope.graph])}
    languages: dict[str, int] = {}
    for name, count in counts.get("file", ()):
        if language := LANGUAGES.get(PurePosixPath(name).suffix.lower()):
            languages[language] = languages.get(language, 0) + count
    at = parts.clock()
    alone = replace(scope, with_main=False, with_global=False, others=())
    decided = Filter(tags=(tag_iri(DECISION),))
    decisions = list_memories(alone, _MOST_DECISIONS, 0, False, at, parts, only=decided)
    current = parts.indexes.count_current([scope.graph], at)

    def list_most(what: str, most: int = _MOST_NAMES) -> dict[str, int]:
        return dict(counts.get(what, [])[:most])

    counted = Profile(
        namespace=scope.namespace,
        memories=current,
        notes=totals.get(MEM.Note, 0),
        sessions=sum(count for _, count in counts.get("session", ())),
        tags=list_most("tag"),
        entities=list_most("entity"),
        files=list_most("file"),
        functions=list_most("function"),
        packages=list_most("package", _MOST_PACKAGES),
        languages=dict(sorted(languages.items(), key=lambda pair: (-pair[1], pair[0]))[:_MOST_NAMES]),
        decisions=tuple(one.content for one in decisions),
        line="",
        at=at,
    )
    return replace(counted, line=_write_line(counted))


def _write_line(profile: Profile) -> str:
    """
    Write a profile as one sentence, without the text of any memory.

    Each kind of thing is represented by its three most frequent names.
    """
    if not profile.memories:
        return f"Nothing is remembered in the namespace {profile.namespace} yet."
    kinds = (
        ("tagged", profile.tags),
        ("about", profile.entities),
        ("in", profile.languages),
        ("files", profile.files),
        ("packages", profile.packages),
    )
    named = [
        f"{kind} {', '.join(f'{name} ({count})' for name, count in [*found.items()][:3])}"
        for kind, found in kinds
        if found
    ]
    counts = f"{profile.memories:,} memories from {profile.notes:,} notes in {profile.namespace}"
    return "; ".join([counts, *named]) + "."


class Profiles:
    """The profiles of one memory by namespace, each valid until the next write. May be used from many threads."""

    def __init__(self, parts: Backends, writing: AbstractContextManager[object]) -> None:
        self._parts, self._writing = parts, writing
        self._kept: dict[IRI, tuple[int, Profile]] = {}
        parts.forget_listeners.append(self.drop_stored)

    def get_profile(self, scope: Scope) -> Profile:
        """Return the profile of a namespace, from the cache if nothing was written since."""
        writes = self._parts.graph.writes
        kept = self._kept.get(scope.graph)
        if kept and kept[0] == writes:
            return replace(kept[1], is_cached=True)
        profile = count_profile(scope, self._parts)
        self._kept[scope.graph] = (writes, profile)
        return profile

    def regenerate(self, scope: Scope, *, writes: bool) -> Profile:
        """
        Count the profile of a namespace again.

        Args:
            writes: also store it in the graph as a `mem:Profile`, unless the namespace is empty.
        """
        profile = count_profile(scope, self._parts)
        if writes and profile.memories:
            with self._writing:
                iri, graph = named_iri("profile", scope.graph, "profile"), scope.graph
                before = [row for row in _list_rendered(self._parts, [graph]) if row["node"] == iri]
                adds: list[Quad] = [
                    (iri, TYPE, MEM.Profile, graph),
                    (iri, MEM.name, scope.namespace, graph),
                    (iri, MEM.profileOf, scope.user, graph),
                    *_state_rendered(iri, profile.line, profile.at, graph),
                ]
                self._parts.graph.apply(Change(tuple(adds), tuple(_remove_rendered(before))))
                self._kept[graph] = (self._parts.graph.writes, profile)
        return profile

    def drop_stored(self, is_ours: bool = True) -> None:
        """
        Remove every stored profile, because something is being forgotten. The caller must hold the write lock.

        Args:
            is_ours: this process forgets it, and not another node, which has removed them from the graph.
        """
        if not is_ours or self._parts.degraded or self._parts.graph.failure:
            return
        try:
            if rows := _list_rendered(self._parts):
                self._parts.graph.apply(Change(removes=tuple(_remove_rendered(rows))))
        except GraphError as error:  # for example while the store is being replaced
            logger.warning("profiles.not-dropped", extra={"error": type(error).__name__})


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The input of a session's summary: its memories in order, and its current summary."""

    session: IRI
    name: str
    members: tuple[tuple[IRI, str], ...]
    before: tuple[IRI, ...]


def find_session(name: str | None, scope: Scope, parts: Backends) -> Told:
    """
    Find the memories of a session, by default of the one with the latest turn.

    Raises:
        NotFound: the session does not exist, there are no sessions, or it has no memories.
    """
    if name is None:
        latest = parts.graph.select("library/latest_session", [scope.graph])
        if not latest:
            raise NotFound(
                f"there is no session in the namespace {scope.namespace!r}: name one with a note, as session"
            )
        session, name = cast(IRI, latest[0]["session"]), str(latest[0]["name"])
    else:
        session = session_iri(scope.graph, name)
    rows = parts.graph.select("library/session_members", [scope.graph], session=session)
    if not rows:
        raise NotFound(f"the namespace {scope.namespace!r} has no memories of a session {name[:80]!r}")
    before = parts.graph.select("library/summaries", [scope.graph], session=session)
    members = {row["memory"]: str(row["content"]) for row in rows}
    return Told(
        session=session,
        name=name,
        members=tuple(members.items()),
        before=tuple(dict.fromkeys(row["memory"] for row in before)),
    )


def summarise_extractively(told: Told) -> str:
    """
    Summarise a session by the beginnings of its memories in order, in at most 2,000 characters.

    If that is too long, the last ones are left out and counted.
    """
    lines = [f"Session {told.name}:", *(f"- {shorten_line(content, _BEGINNING)}" for _, content in told.members)]
    kept = list(lines)
    while len("\n".join(kept)) > MOST_CHARS - len("\n- and 100,000 more") * (len(kept) < len(lines)):
        kept.pop()
    if left := len(lines) - len(kept):
        kept.append(f"- and {left:,} more")
    return "\n".join(kept)[:MOST_CHARS]


def plan_summary(told: Told, text: str, scope: Scope, at: datetime) -> tuple[IRI, Change]:
    """
    Return the summary of a session as a memory, and the change that writes it: derived from its members, with high importance.
    """
    note = Note(iri=mint("note"), content=text, at=at, source=SUMMARY)
    memory = Memory(
        iri=mint("memory"),
        content=text,
        extracted_from=note.iri,
        valid_at=at,
        created_at=at,
        content_hash=content_hash(text),
    )
    tags = (DECISION, "conversation")
    marks = Marks(type=SUMMARY, tags=tags, importance=rate_importance("explicit", tags, "high"))
    graph = scope.graph
    adds = [
        *quads(note, graph),
        attribute_note(note.iri, scope.user, graph),
        *quads(memory, graph),
        *mark_quads(memory.iri, marks, graph),
        (memory.iri, MEM.summaryOf, told.session, graph),
        *((memory.iri, PROV.wasDerivedFrom, member, graph) for member, _ in told.members),
    ]
    return memory.iri, Change(tuple(adds))


def _list_graphs(parts: Backends) -> list[IRI]:
    return [graph for graph in parts.graph.graphs() if graph.startswith("urn:memento:graph:")]


def _list_rendered(parts: Backends, graphs: Sequence[IRI] | None = None) -> list[Row]:
    graphs = _list_graphs(parts) if graphs is None else graphs
    return parts.graph.select("library/rendered", graphs) if graphs else []


def _remove_rendered(rows: Sequence[Row]) -> Iterator[Quad]:
    for row in rows:
        yield from _state_rendered(row["node"], str(row["text"]), row["at"], row["graph"])


def _state_rendered(iri: IRI, text: str | None, at: datetime | None, graph: IRI) -> list[Quad]:
    if text is None or at is None:
        return []
    return [(iri, MEM.rendered, text, graph), (iri, MEM.renderedAt, at, graph)]
