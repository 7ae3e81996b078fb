"""
What a namespace is about: its profile, the summary of a session, and standing pages.

*Flow:* `count_profile` counts by one query, and `Profiles` caches the result until something is written. `plan_summary` makes one
memory from a session's memories. `Pages` answers standing queries and questions, again after every write that affects them.

*Guarantees:* no write waits for a page: pages are rendered in a separate thread, one after the other, at most once a second. A page
reads only its own namespace, so everybody who may read the namespace may read the page. No page shows what was forgotten: its
answers are removed before the memory is hidden. A page that is read includes everything written before the request.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePosixPath
from typing import cast

from memento.archive.read import list_memories
from memento.backends import Backends
from memento.errors import GraphError, InputError, MementoError, NotFound
from memento.graph.mapping import attribute_note, mark_quads, quads
from memento.graph.store import Row
from memento.iris import IRI, MEM, PROV, TYPE, mint, named_iri, session_iri, tag_iri
from memento.model import Change, Filter, Marks, Memory, Note, Page, Profile, Quad, Scope
from memento.rank import rate_importance
from memento.search.nodes import content_hash
from memento.text.sentences import shorten_line
from memento.worker import Worker

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


MOST_PAGES = 50
"""Maximum number of pages in one namespace."""
_BETWEEN_S = 1.0
"""Seconds between two rounds of rendering, however much is written."""
MEMORY_GRAPHS = "urn:memento:graph:"

Render = Callable[[IRI, Page], str]
"""Renders the page of a graph as Markdown; raises `MementoError`."""


class Pages:
    """The standing pages of one memory. May be used from many threads."""

    def __init__(self, parts: Backends, writing: AbstractContextManager[object], render: Render) -> None:
        self._parts, self._writing, self._render = parts, writing, render
        self._declared: dict[IRI, tuple[IRI, Page]] | None = None  # page → its graph and itself; None: not read yet
        self._stale: set[IRI] = set()
        self._dropped_at = -1
        """The number of writes when answers were last dropped, because something was being forgotten."""
        self._lock = threading.RLock()
        self._next_round = 0.0
        self._worker = Worker(self._work, "pages")
        parts.write_listeners.append(self.mark_stale)
        parts.forget_listeners.append(self.drop_answers)

    def list_pages(self, scope: Scope) -> tuple[Page, ...]:
        """List the pages of a namespace by name, without their answers."""
        return tuple(replace(page, rendered=None) for page in self._pages_of(scope))

    def declare(self, page: Page, scope: Scope) -> Page:
        """
        Store a standing page with its first answer, replacing one of the same name.

        Raises:
            InputError: the namespace has too many pages.
            MementoError: the page cannot be answered; nothing is written.
        """
        count = sum(one.name != page.name for one in self._pages_of(scope))
        if count >= MOST_PAGES:
            raise InputError(f"a namespace has {MOST_PAGES} pages at most: remove one first")
        start = self._parts.graph.writes
        text = self._render(scope.graph, page)
        made = replace(page, rendered=text, rendered_at=self._parts.clock())
        with self._writing, self._lock:
            known = self._read_declared()
            old = known.get(page.iri)
            removes = quads(old[1], scope.graph) if old else []
            adds = quads(made, scope.graph)
            self._parts.graph.apply(
                Change(
                    tuple(one for one in adds if one not in removes), tuple(one for one in removes if one not in adds)
                )
            )
            known[page.iri] = (scope.graph, made)
            self._stale.discard(page.iri)
            if self._parts.graph.writes - start > 1:  # another write happened while it was being answered
                self._stale.add(page.iri)
                self._worker.wake()
        return made

    def read_page(self, name: str, scope: Scope) -> Page:
        """
        Return a page whose answer includes everything written so far.

        Raises:
            NotFound: there is no page of that name; lists the existing ones.
        """
        page = self._find(name, scope)
        with self._lock:
            is_stale = page.iri in self._stale or page.rendered is None
        return self._render_page(scope.graph, page) if is_stale else page

    def remove(self, name: str, scope: Scope) -> Page:
        """Remove a page and its answer; raises `NotFound` as `read_page` does."""
        page = self._find(name, scope)
        with self._writing, self._lock:
            _, page = self._read_declared().pop(page.iri, (scope.graph, page))
            self._stale.discard(page.iri)
            self._parts.graph.apply(Change(removes=tuple(quads(page, scope.graph))))
        return page

    def mark_stale(self, graphs: Collection[IRI] | None) -> None:
        """Schedule the pages that read the written graphs; None is any graph, and the pages may have changed too."""
        with self._lock:
            if graphs is None:
                self._declared = None
            elif self._declared == {}:
                return
            elif self._declared is not None:
                touched = {iri for iri, (graph, _) in self._declared.items() if graph in graphs}
                if not touched:
                    return
                self._stale |= touched
        self._worker.wake()

    def drop_answers(self, is_ours: bool = True) -> None:
        """
        Remove every answer and every profile, because something is being forgotten. The caller must hold the write lock.

        Args:
            is_ours: this process forgets it, and not another node, which has removed them from the graph.
        """
        if self._parts.degraded or self._parts.graph.failure:
            return
        with self._lock:
            try:
                rows = _list_rendered(self._parts) if is_ours else []
                if rows:
                    self._parts.graph.apply(Change(removes=tuple(_remove_rendered(rows))))
            except GraphError as error:  # for example while the store is being replaced
                logger.warning("pages.not-dropped", extra={"error": type(error).__name__})
            if self._declared:
                self._declared = {
                    iri: (graph, replace(page, rendered=None, rendered_at=None))
                    for iri, (graph, page) in self._declared.items()
                }
                self._stale |= self._declared.keys()
            self._dropped_at = self._parts.graph.writes
            has_pages = self._declared != {}
        if has_pages:
            self._worker.wake()

    def close(self, wait_s: float) -> None:
        """Answer stale pages for at most some seconds, then stop."""
        until = time.monotonic() + wait_s
        was_used = self._worker.running
        self._worker.stop(wait_s)
        if was_used:
            with suppress(MementoError):  # close even if the store fails
                self._render_stale(until)

    def _pages_of(self, scope: Scope) -> list[Page]:
        with self._lock:
            return [page for graph, page in self._read_declared().values() if graph == scope.graph]

    def _find(self, name: str, scope: Scope) -> Page:
        pages = {page.name: page for page in self._pages_of(scope)}
        if name not in pages:
            there = ", ".join(pages) or "none yet"
            raise NotFound(f"no page {name[:80]!r} in the namespace {scope.namespace!r}: there are {there}")
        return pages[name]

    def _read_declared(self) -> dict[IRI, tuple[IRI, Page]]:
        """Return the pages, read from the graph the first time: their answers do not include earlier writes."""
        if self._declared is None:
            rows = self._parts.graph.select("library/pages", _list_graphs(self._parts))
            self._declared = {row["page"]: _to_page(row) for row in reversed(rows)}
            self._stale = set(self._declared)
        return self._declared

    def _work(self) -> float | None:
        wait_s = self._next_round - time.monotonic()
        if wait_s > 0:
            return wait_s
        try:
            with self._lock:
                self._read_declared()
            self._render_stale()
        except (
            MementoError
        ) as error:  # for example because the store is being closed: the next write schedules them again
            if not self._worker.stopping.is_set():
                logger.warning("pages.failed", extra={"error": type(error).__name__})
            return None
        self._next_round = time.monotonic() + _BETWEEN_S
        with self._lock:
            return _BETWEEN_S if self._stale else None

    def _render_stale(self, until: float = float("inf")) -> None:
        """Answer each page once that is stale now."""
        with self._lock:
            stale = sorted(self._stale)
        for iri in stale:
            if time.monotonic() >= until:
                return
            with self._lock:
                known = (self._declared or {}).get(iri)
                self._stale.discard(iri)
            if known:
                self._render_page(*known)

    def _render_page(self, graph: IRI, page: Page) -> Page:
        """Answer a page, and store the answer unless something was forgotten meanwhile."""
        with self._lock:
            self._stale.discard(page.iri)
        start, at = self._parts.graph.writes, self._parts.clock()
        try:
            text = self._render(graph, page)
        except MementoError as error:
            text = f"This page cannot be answered: {error}"
        made = replace(page, rendered=text, rendered_at=at)
        if self._parts.degraded or self._parts.graph.failure:
            return made
        with self._writing, self._lock:
            known = self._read_declared().get(page.iri)
            if known is None or (known[1].query, known[1].question) != (page.query, page.question):
                return made
            if start <= self._dropped_at and self._parts.graph.writes != start:
                self._stale.add(page.iri)
                self._worker.wake()
                return made
            if known[1].rendered == text:
                return known[1]
            before, after = (
                _state_rendered(page.iri, one.rendered, one.rendered_at, graph) for one in (known[1], made)
            )
            self._parts.graph.apply(Change(tuple(after), tuple(before)))
            self._read_declared()[page.iri] = (graph, made)
        return made


def _list_graphs(parts: Backends) -> list[IRI]:
    return [graph for graph in parts.graph.graphs() if graph.startswith(MEMORY_GRAPHS)]


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


def _to_page(row: Row) -> tuple[IRI, Page]:
    return row["graph"], Page(
        iri=row["page"],
        name=str(row["name"]),
        query=str(row["query"]) if "query" in row else None,
        question=str(row["question"]) if "question" in row else None,
        rendered=str(row["rendered"]) if "rendered" in row else None,
        rendered_at=row.get("renderedAt"),
    )
