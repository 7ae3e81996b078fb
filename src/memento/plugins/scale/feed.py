"""
How several nodes write to one store: compare-and-set on a sequence number, a lease called the write turn, and a feed of the writes.

`FEED` is a system graph of the store that no caller can read. It holds the number of the last write, the token of the node that has
the turn, and an entry for each of the latest writes: what was written, and in which graphs. A small write is one operation that has
no effect unless number and token are unchanged; the writer finds its entry if it was made. A large write is first stored in parts
in a journal, a separate graph; then entered like a small one; then applied in portions that have no effect once the node has lost
the turn; then marked as done. A node that takes the turn first applies whatever another node has entered and not finished, from its
beginning.

*Guarantees:* if two nodes write after the same number, one wins, and nothing of the other's write is in the store. No portion of a
node that has lost the turn has any effect, however late it arrives.

*But:* while a large write is applied, readers of the store see part of it.

*Because:* a token is never used twice: a node that finds its token unchanged at the end has had the turn all the time.
"""

from __future__ import annotations

import json
import random
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

import pyoxigraph as ox

from memento import telemetry
from memento.errors import GraphError, LostTurn, StoreAway, Unanswered
from memento.graph.binding import bind_query
from memento.graph.store import DEFAULT, Delta, graph_of, parse_quads
from memento.graph.terms import to_term, to_value
from memento.iris import IRI
from memento.model import Value
from memento.plugins.scale.endpoint import SparqlClient

FEED = IRI("urn:memento:feed")
"""The system graph; also the prefix of the names of journals of large writes."""

KEPT = 10_000
"""Entries kept: a node that is further behind rereads everything."""

SMALL, SMALL_BYTES = 2_000, 500_000
"""Quads and bytes of text up to which a write is one operation; also the size of a portion of a larger write."""

TOLD = 5_000
"""Most nodes that an entry lists; for more, anything may have changed."""

LOCAL_S = 0.1
"""Seconds for which the writers of one node may keep the turn while other nodes wait."""

_NUMBER = struct.Struct("<q")
_PART = 200_000  # characters of one literal of a journal
_TRIM_EVERY = 500
_NEXT = 100  # entries that are requested by name
_ASKED = 5  # tries to find out what became of an update without an answer, with increasing waits
_POLL_S = (0.004, 0.04)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """
    What an entry says about its write.

    `subjects` are the nodes whose indexes it outdates, in `graphs`. If `is_whole` is set, anything in these graphs may have
    changed; without graphs, anything at all. `forgets` says that texts were removed, so that copies of them must be removed too;
    `is_quiet` says that nothing new is stated, as when uses are counted.
    """

    subjects: tuple[str, ...] = ()
    graphs: tuple[str, ...] = ()
    is_whole: bool = False
    forgets: bool = False
    is_quiet: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One write: its number, the token of its writer, what it says, and its journal until it is applied."""

    sequence: int
    token: str = ""
    told: Told = Told()
    journal: IRI | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """
    The number of the last write and its token; the token (empty: no node) and the name of the node that has the turn; a counter
    that it increases while it is alive; and the id of the store.
    """

    sequence: int
    lease: str
    holder: str
    beat: int
    id: str
    token: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """A write: quads to remove and to add, graphs to clear first, and what its entry says."""

    removes: Sequence[ox.Quad] = ()
    adds: Sequence[ox.Quad] = ()
    cleared: tuple[str, ...] = ()
    told: Told = Told()


class Feed:
    """The system graph of one store. Thread-safe; keeps no state but the client."""

    def __init__(self, client: SparqlClient) -> None:
        self._client = client

    def begin(self) -> Head:
        """
        Return the head of the feed; create the feed if there is none.

        Raises:
            GraphError: the endpoint cannot be read or written, or has two heads, which happens without isolation.
        """
        try:
            return self.read_head()
        except LostTurn:
            fields: dict[str, Value] = {"head": 0, "lease": "", "holder": "", "beat": 0, "id": uuid4().hex}
            self._client.update(
                f"INSERT {{ {_write_feed(fields)} }} WHERE {{ "
                f"FILTER NOT EXISTS {{ GRAPH <{FEED}> {{ <{FEED}> <{FEED}:head> ?head }} }} }}"
            )
            return self.read_head()

    def read_head(self) -> Head:
        """
        Return the head of the feed.

        Raises:
            LostTurn: there is no feed, for example because somebody has emptied the store.
            GraphError: the endpoint failed, or the feed has two heads.
        """
        rows = list(self._select("plugins/scale/head"))
        if not rows:
            raise LostTurn(
                f"the store has no graph <{FEED}>: it was emptied; put its backup back, or start a node again"
            )
        if len(rows) > 1:
            raise GraphError(f"the store has {len(rows)} heads in <{FEED}>: it does not keep writers apart")
        return Head(**rows[0])

    def read_agreed(self) -> dict[str, str]:
        """Return the settings recorded for all nodes, by name; raise `GraphError` if the endpoint failed."""
        return self._read_agreed()[1]

    def note_agreed(self, settings: Mapping[str, str], *, replaces: bool = False) -> None:
        """
        Record settings for all nodes, unless others of these names are recorded and `replaces` is not set.

        Raises:
            GraphError: the endpoint failed, or other nodes keep recording theirs.
        """
        for _ in range(_ASKED):
            text, noted = self._read_agreed()
            merged = {**noted, **settings} if replaces else {**settings, **noted}
            if merged == noted:
                return
            new: dict[str, Value] = {"agreed": json.dumps(merged, sort_keys=True)}
            if text is not None:
                self._swap({"agreed": text}, new)
                continue
            self._client.update(
                f"INSERT {{ {_write_feed(new)} }} WHERE {{ GRAPH <{FEED}> {{ <{FEED}> <{FEED}:id> ?id }} "
                f"FILTER NOT EXISTS {{ GRAPH <{FEED}> {{ <{FEED}> <{FEED}:agreed> ?agreed }} }} }}"
            )
        raise GraphError("the settings that nodes agree on could not be noted in the store: start again")

    def _read_agreed(self) -> tuple[str | None, dict[str, str]]:
        texts = [str(row["text"]) for row in self._select("plugins/scale/agreed")]
        return (texts[0], json.loads(texts[0])) if texts else (None, {})

    def list_entries(self, after: int) -> list[Entry]:
        """
        List the writes after a number, the oldest first.

        If the feed has dropped some of them, return a single entry with the last number: anything may have changed.
        """
        entries = []
        names = [IRI(f"{FEED}:entry:{number}") for number in range(after + 1, after + 1 + _NEXT)]
        rows = list(self._select("plugins/scale/next", entry=names))
        if not 0 < len(rows) < _NEXT or rows[0]["sequence"] != after + 1:  # too many, none, or some were dropped
            rows = list(self._select("plugins/scale/entries", after=after))
        for row in rows:
            journal = row.get("journal")
            told: dict[str, Any] = {
                name: tuple(one) if isinstance(one, list) else one for name, one in json.loads(row["told"]).items()
            }
            entries.append(
                Entry(sequence=row["sequence"], token=row["token"], told=Told(**told), journal=journal and IRI(journal))
            )
        if [entry.sequence for entry in entries] != list(range(after + 1, after + 1 + len(entries))):
            last = entries[-1]
            return [Entry(sequence=last.sequence, token=last.token, told=Told(is_whole=True), journal=last.journal)]
        return entries

    def take_turn(self, head: Head, lease: str, holder: str) -> Head | None:
        """Take the turn from the node that has it in `head`, or from none; return the new head, None if `head` was outdated."""
        old: dict[str, Value] = {"lease": head.lease, "holder": head.holder, "beat": head.beat}
        new: dict[str, Value] = {"lease": lease, "holder": holder, "beat": 0}
        self._swap(old, new)
        taken = self.read_head()
        return taken if taken.lease == lease else None

    def take_free_turn(self, lease: str, holder: str) -> Head:
        """Take the turn if no node has it; return the head afterwards."""
        free = f'GRAPH <{FEED}> {{ <{FEED}> <{FEED}:lease> "" ; <{FEED}:holder> ?holder ; <{FEED}:beat> ?beat }}'
        mine = _write_feed({"lease": lease, "holder": holder, "beat": 0})
        self._client.update(f"DELETE {{ {free} }} INSERT {{ {mine} }} WHERE {{ {free} }}")
        return self.read_head()

    def renew(self, lease: str) -> bool:
        """Renew the lease of the turn; return False if the turn was lost."""
        head = self.read_head()
        if head.lease != lease:
            return False
        self._swap({"lease": lease, "beat": head.beat}, {"lease": lease, "beat": head.beat + 1})
        return True

    def release(self, lease: str) -> None:
        """Give the turn back; do nothing if it was lost."""
        self._client.update(
            f"DELETE {{ {_write_feed({'lease': lease})} GRAPH <{FEED}> {{ <{FEED}> <{FEED}:holder> ?holder }} }} "
            f"INSERT {{ {_write_feed({'lease': '', 'holder': ''})} }} "
            f"WHERE {{ {_write_feed({'lease': lease})} GRAPH <{FEED}> {{ <{FEED}> <{FEED}:holder> ?holder }} }}"
        )

    def write_entry(self, writing: Writing, sequence: int, lease: str) -> Entry:
        """
        Enter a write as the one after `sequence`.

        Raises:
            LostTurn: another write has that number, or the turn was lost; nothing was written.
            Unanswered: the outcome is unknown; or it was entered, and the next node with the turn applies it.
            GraphError: the endpoint refused; nothing was written.
        """
        token = uuid4().hex
        entry = Entry(sequence=sequence + 1, token=token, told=writing.told)
        removes, adds = _portion(writing.removes), _portion(writing.adds)
        if not writing.cleared and len(removes) <= 1 and len(adds) <= 1:
            self._enter(entry, lease, "".join(removes), "".join(adds))
        else:
            journal = IRI(f"{FEED}:journal:{token}")
            self._note(journal, writing)
            self._enter(Entry(sequence=entry.sequence, token=token, told=writing.told, journal=journal), lease, "", "")
            try:
                self._apply(entry, journal, writing.cleared, removes, adds, lease)
            except GraphError as error:
                raise Unanswered(f"the write is noted, and whoever writes next finishes it: {error}") from error
        if not entry.sequence % _TRIM_EVERY:
            with suppress(GraphError):  # the next call tries again
                self._trim(entry.sequence, lease)
        return entry

    def finish_entry(self, entry: Entry, lease: str) -> None:
        """
        Apply a write that another node has entered and not finished, from its beginning.

        Raises:
            GraphError: it could not be finished.
        """
        assert entry.journal is not None
        text = "".join(
            str(row["text"]) for row in self._select("plugins/scale/parts", graph=entry.journal, journal=entry.journal)
        )
        if not text:  # another node has finished it and removed the journal
            raise LostTurn("another node has finished the write meanwhile")
        delta = Delta.unpack(text.encode())
        removes, adds = (_portion(list(parse_quads(side))) for side in (delta.removes, delta.adds))
        self._apply(entry, entry.journal, delta.cleared, removes, adds, lease)

    def _enter(self, entry: Entry, lease: str, removes: str, adds: str) -> None:
        """Add an entry, and with it the quads of a small write, if number and turn are unchanged."""
        node = f"<{FEED}:entry:{entry.sequence}>"
        said: dict[str, Value] = {
            "sequence": entry.sequence,
            "token": entry.token,
            "told": json.dumps(asdict(entry.told)),
        }
        if entry.journal:
            said["journal"] = entry.journal
        old: dict[str, Value] = {"head": entry.sequence - 1}
        text = (
            f"DELETE {{ {_write_feed(old)} {removes} }} "
            f"INSERT {{ {_write_feed({'head': entry.sequence})} {_write_feed(said, node)} {adds} }} "
            f"WHERE {{ {_write_feed(old | {'lease': lease})} }}"
        )
        mine = f"ASK {{ {_write_feed({'token': entry.token}, node)} }}"
        is_made, is_open = False, False
        for attempt in range(_ASKED):
            wait_s = 0.05 * 2**attempt
            try:
                if not is_made:
                    self._client.update(text)
                is_made = True
            except GraphError as error:
                if not (is_open or isinstance(error, Unanswered)):
                    raise
                # It may still be running; sent twice, it is made once, because the number has changed then.
                is_open = True
                time.sleep(wait_s)
            try:
                if self._client.ask(mine):
                    return
            except GraphError:
                time.sleep(wait_s)
                continue
            if is_made:
                raise LostTurn("another node has written first: ask again")
        raise Unanswered("the endpoint does not say whether it wrote")

    def _note(self, journal: IRI, writing: Writing) -> None:
        """Store the parts of a large write in its journal, where they have no effect until it is entered."""
        removes, adds = (
            (ox.serialize(side, format=ox.RdfFormat.N_QUADS) or b"") for side in (writing.removes, writing.adds)
        )
        text = Delta(removes=removes, adds=adds, cleared=writing.cleared).pack().decode()
        for place, begin in enumerate(range(0, len(text), _PART)):
            said: dict[str, Value] = {"of": journal, "place": place, "text": text[begin : begin + _PART]}
            self._client.update(f"INSERT DATA {{ {_write_feed(said, f'<{journal}:{place}>', journal)} }}")

    def _apply(
        self, entry: Entry, journal: IRI, cleared: Sequence[str], removes: list[str], adds: list[str], lease: str
    ) -> None:
        node = f"<{FEED}:entry:{entry.sequence}>"
        mine = _write_feed({"lease": lease}) + _write_feed({"journal": journal}, node)
        for graph in cleared:
            every = "?s ?p ?o" if graph == DEFAULT else f"GRAPH {to_term(IRI(graph))} {{ ?s ?p ?o }}"
            self._client.update(f"DELETE {{ {every} }} WHERE {{ {mine} {every} }}")
        for quads in removes:
            self._client.update(f"DELETE {{ {quads} }} WHERE {{ {mine} }}")
        for quads in adds:
            self._client.update(f"INSERT {{ {quads} }} WHERE {{ {mine} }}")
        self._client.update(f"DELETE {{ {_write_feed({'journal': journal}, node)} }} WHERE {{ {mine} }}")
        if self._client.ask(f"ASK {{ {_write_feed({'journal': journal}, node)} }}") or self.read_head().lease != lease:
            raise LostTurn("another node has taken the turn")
        self._client.update(f"DROP SILENT GRAPH <{journal}>")

    def _trim(self, last: int, lease: str) -> None:
        """Remove the oldest entries, and journals that no entry names."""
        self._client.update(
            f"DELETE {{ GRAPH <{FEED}> {{ ?entry ?p ?o }} }} WHERE {{ {_write_feed({'lease': lease})} "
            f"GRAPH <{FEED}> {{ ?entry <{FEED}:sequence> ?sequence ; ?p ?o }} FILTER (?sequence <= {last - KEPT}) }}"
        )
        self._client.update(
            f"DELETE {{ GRAPH ?journal {{ ?part ?p ?o }} }} WHERE {{ {_write_feed({'lease': lease})} "
            f"GRAPH ?journal {{ ?part <{FEED}:of> ?journal ; ?p ?o }} "
            f"FILTER NOT EXISTS {{ GRAPH <{FEED}> {{ ?entry <{FEED}:journal> ?journal }} }} }}"
        )

    def _swap(self, old: Mapping[str, Value], new: Mapping[str, Value]) -> None:
        old_text = _write_feed(old)
        self._client.update(f"DELETE {{ {old_text} }} INSERT {{ {_write_feed(new)} }} WHERE {{ {old_text} }}")

    def _select(self, query: str, graph: IRI = FEED, **slots: Value | Sequence[Value]) -> Iterator[dict[str, Any]]:
        for row in self._client.select(bind_query(query, slots), [graph], [graph]):
            yield {name: to_value(term) for name, term in row.items()}


class Turn:
    """
    The write turn of this node, shared by its threads: a context manager that several may enter at once.

    If this node does not have the turn, it takes it in the store; if another node has it, it waits; and it takes over from a node
    that has shown no sign of life for `lease_s`, by this machine's own clock.
    """

    def __init__(self, feed: Feed, name: str, lease_s: float, patience_s: float) -> None:
        """
        Args:
            name: of the node, for people.
            lease_s: seconds without a sign of life after which another node's turn is over.
            patience_s: most seconds to wait for the turn.
        """
        self._feed, self._name, self.lease_s, self._patience_s = feed, name, lease_s, patience_s
        self._node = uuid4().hex
        self._taken = 0
        self.lease: str | None = None
        """The token with which this node has the turn; None without the turn."""
        self.on_take: Callable[[Head], None] = lambda head: None
        """Called after the turn was taken, before any write, to follow the writes of others."""
        self.waiting = 0
        """The number of waiting threads of this node, for which the turn is kept."""
        self._lock = threading.Lock()
        self._holders = 0
        self._since = self._renewed = 0.0
        self._is_lost = False

    def __enter__(self) -> Self:
        with self._lock:
            if self._is_lost and not self._holders:
                self.lease = None
            if self.lease is None:
                with telemetry.measure("store_turn_wait_seconds"):
                    try:
                        self._wait_for_turn()
                    except Unanswered as error:  # it is unknown whether the turn was taken, but nothing was written
                        raise StoreAway(str(error)) from error
            self._holders += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._lock:
            self._holders -= 1
            self._is_lost |= isinstance(error, LostTurn | Unanswered)
            is_kept = self.waiting and not self._is_lost and time.monotonic() - self._since < LOCAL_S
            if not self._holders and not is_kept:
                self._let_go()

    def renew(self) -> None:
        """Renew the lease if this node has the turn and it is due; the thread that follows the feed calls this regularly."""
        lease = self.lease
        if lease is None or self._is_lost or time.monotonic() - self._renewed < self.lease_s / 4:
            return
        is_ours = self._feed.renew(lease)
        if not is_ours and self.lease == lease:
            self._is_lost = True
        self._renewed = time.monotonic()

    def close(self) -> None:
        """Give the turn back if it was kept."""
        with self._lock:
            if not self._holders and self.lease is not None:
                self._let_go()

    def _let_go(self) -> None:
        lease, self.lease = self.lease, None
        if lease is not None:
            telemetry.observe("store_turn_hold_seconds", time.monotonic() - self._since)
            # If the endpoint is away, other nodes wait until the lease is over; this node recognises its own lease.
            with suppress(GraphError):
                self._feed.release(lease)
        if self.waiting and not self._is_lost:
            time.sleep(random.uniform(*_POLL_S))  # writers of other nodes wait too, and poll only now and then
        self._is_lost = False

    def _wait_for_turn(self) -> None:
        until = time.monotonic() + self._patience_s
        seen: tuple[str, int, int] | None = None
        seen_at = 0.0
        self._taken += 1
        lease = f"{self._node}.{self._taken}"
        taken: Head | None
        taken = head = self._feed.take_free_turn(lease, self._name)
        while taken is None or taken.lease != lease:
            now, sign = time.monotonic(), (head.lease, head.beat, head.sequence)
            if sign != seen:
                seen, seen_at = sign, now
            if now > until:
                if not head.lease and now - seen_at > self._patience_s / 2:  # no node had it meanwhile
                    raise GraphError("the endpoint takes updates and does not make them: check store.update_url")
                raise LostTurn(f"the node {head.holder} has been writing for {self._patience_s:g} s: ask again")
            if not head.lease or head.lease.startswith(self._node) or now - seen_at >= self.lease_s:
                taken = self._feed.take_turn(head, lease, self._name)
            if (
                taken is None or taken.lease != lease
            ):  # another node has it or was first, or the endpoint ignores updates
                time.sleep(random.uniform(*_POLL_S))
                head = self._feed.read_head()
        self._since = self._renewed = time.monotonic()
        self.lease, self._is_lost = lease, False
        try:
            self.on_take(taken)
        except BaseException:
            self._let_go()
            raise


class WriteLock:
    """
    The lock of all writers of this process and of all nodes. Use it as a `threading.Lock`. Its holder also has the write turn, and
    the indexes have followed all writes of other nodes.
    """

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self.local = threading.Lock()
        """The lock of this process's writers; take it alone to read data that only they change."""
        self._count = threading.Lock()

    def __enter__(self) -> None:
        with self._count:
            self._turn.waiting += 1
        try:
            self.local.acquire()
        finally:
            with self._count:
                self._turn.waiting -= 1
        try:
            self._turn.__enter__()
        except BaseException:
            self.local.release()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self._turn.__exit__(kind, error, traceback)
        finally:
            self.local.release()


def _write_feed(said: Mapping[str, Value], node: str = f"<{FEED}>", graph: IRI = FEED) -> str:
    """Write statements about a node of the feed, for use in a template or a pattern."""
    if not said:
        return ""
    return (
        f"GRAPH <{graph}> {{ {node} {' ; '.join(f'<{FEED}:{name}> {to_term(one)}' for name, one in said.items())} }} "
    )


def _portion(quads: Iterable[ox.Quad]) -> list[str]:
    """
    Write quads as templates of an update, each small enough, in quads and bytes, for one operation. Quads with blank nodes are all
    in the first one, because a blank node has no identity across operations.
    """
    portions: list[str] = []
    lines: list[str] = []
    size = count = 0
    for quad in sorted(quads, key=lambda one: not _has_blank(one)):
        graph = graph_of(quad)
        line = f"{quad.triple} ." if graph == DEFAULT else f"GRAPH <{graph}> {{ {quad.triple} }}"
        size, count = size + len(line.encode()), count + 1
        lines.append(line)
        if (count >= SMALL or size >= SMALL_BYTES) and not _has_blank(quad):
            portions.append("\n".join(lines))
            lines, size, count = [], 0, 0
    return [*portions, "\n".join(lines)] if lines else portions


def _has_blank(quad: ox.Quad) -> bool:
    return isinstance(quad.subject, ox.BlankNode) or isinstance(quad.object, ox.BlankNode)
