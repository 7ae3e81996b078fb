"""
Keeps the memories of several machines alike by patches that each writes into a folder which all of them reach.

    {folder}/{machine}-{sequence}-{digest}.trig    what one machine changed since its patch before, made once and numbered from 1

A patch has the statements that came, each in its graph; of those that went a digest alone; and which patches its machine knew.

*Flow:* `Ledger.collect` (what is other than what is known of) → `write_patch` → `read_patches` (whole, in order, nothing missing) →
`Merger` (every statement as its latest patch has it) → `exchange.write_merge`, at once or not at all.

*Guarantees:* in whatever order patches come, and however often, the memory is the same. A patch that is damaged, or lacks one
before it or one that it builds on, is named, and nothing of any is taken. What was erased somewhere stays erased everywhere: a
digest of its IRI keeps it out, and the text goes from the patches that its machine wrote. Of a property that has one value the
latest is kept. Two memories that give one property of one subject different values, and were written without knowledge of each
other, both stay, and are linked as rivals. Which patches are in a memory stands in its audit graph, written together with what
they bring.

*But:* whoever can write into the folder can write into the memory. Notes that are not understood yet, the audit, and what was
inferred stay where they are. An entity that two machines came to know apart is two.

*Because:* nobody writes down each change as it is made: what has changed is found by the digests of the statements that were known
at the last time. They are in a file of their own, {home}/sync.sqlite; without it, or after a backup was put back, the machine
joins under another name, and where the folder says otherwise than it does, that is what counts.

*Source:* Shapiro et al. 2011, A comprehensive study of Convergent and Commutative Replicated Data Types, INRIA RR-7506
(LWW-element-set, LWW-register).
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from hashlib import blake2b, sha256
from pathlib import Path
from typing import cast
from uuid import NAMESPACE_URL, uuid4, uuid5

import pyoxigraph as ox

from memento.errors import GraphError, InputError
from memento.graph import mapping
from memento.graph.backups import sync_to_disk
from memento.graph.documents import document, form_called, read, written
from memento.graph.store import Store
from memento.graph.terms import to_quads
from memento.iris import IRI, MEM, OWL, PROV, SH, TYPE, audit_iri, parse_graph_name
from memento.model import Quad, Rivalry

_NAME = re.compile(r"([0-9a-f]{12})-(\d{6})-([0-9a-f]{16})\.trig")
_TEXTS = (MEM.content, MEM.title, MEM.name, MEM.description, MEM.reason)
_KINDS = ("self", "graph", "cases", "provenance", "data")
_WAITING = ("pending", "failed")
_FORM = form_called("trig")
_MINTED = re.compile(r"urn:memento:\w+:[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_APART = "written on two machines that did not know of each other: one of them is likely over"
_SURE = 0.9

Vector = dict[str, int]
"""Machine → the sequence of its last patch that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """
    What one machine changed: `removes` are keys of statements, `erases` of nodes; `known` are the patches of others that it builds
    on. `stamp` are milliseconds since 1970, more than those of any patch that is known.
    """

    machine: str
    sequence: int
    stamp: int
    adds: tuple[ox.Quad, ...]
    removes: tuple[bytes, ...] = ()
    erases: tuple[bytes, ...] = ()
    known: Mapping[str, int] = field(default_factory=dict)

    @property
    def iri(self) -> IRI:
        """The patch as a node."""
        return patch_iri(self.machine, self.sequence)

    @property
    def order(self) -> tuple[int, str]:
        """Where it stands among all patches: after whatever it builds on."""
        return self.stamp, self.machine


def patch_iri(machine: str, sequence: int) -> IRI:
    """Return the IRI of a machine's n-th patch."""
    return IRI(f"urn:memento:patch:{machine}:{sequence}")


def list_graphs(store: Store, tenant: str) -> list[IRI]:
    """List the graphs of a tenant that machines share."""
    named = ((name, parse_graph_name(name)) for name in store.graphs())
    return [name for name, found in named if found and found.tenant == tenant and found.kind in _KINDS]


def key_node(iri: str) -> bytes:
    """Return the (9,) digest by which a node is known; the first byte says whether it was minted, and so is never made again."""
    return (b"m" if _MINTED.fullmatch(iri) else b"o") + blake2b(iri.encode(), digest_size=8).digest()


def key_quad(quad: ox.Quad) -> bytes:
    """Return the (25,) digest by which a statement is known; it begins with that of its subject."""
    whole = blake2b(str(quad).encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return key_node(_name(quad.subject)) + whole


def _key_register(quad: ox.Quad) -> bytes:
    return blake2b(f"{quad.subject} {quad.predicate} {quad.graph_name}".encode(), digest_size=16).digest()


def _name(term: object) -> str:
    return str(getattr(term, "value", term))


@cache
def _single_valued() -> frozenset[str]:
    ontology, shapes = document("ontology/memento.ttl"), list(document("ontology/shapes.ttl").triples())
    single = {node for node, predicate, value in shapes if predicate == SH.maxCount and value == "1"}
    paths = {str(value) for node, predicate, value in shapes if predicate == SH.path and node in single}
    return frozenset(paths | set(map(str, ontology.subjects(TYPE, OWL.FunctionalProperty))))


@cache
def _needed() -> frozenset[str]:
    """The properties without which some node is none."""
    shapes = list(document("ontology/shapes.ttl").triples())
    needed = {node for node, predicate, _ in shapes if predicate == SH.minCount}
    return frozenset(str(value) for node, predicate, value in shapes if predicate == SH.path and node in needed)


_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS statement (
  key BLOB PRIMARY KEY, stamp INTEGER NOT NULL, machine TEXT NOT NULL, is_there INTEGER NOT NULL, register BLOB
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS register (key BLOB PRIMARY KEY, stamp INTEGER NOT NULL, machine TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS erased (key BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS patch (
  machine TEXT, sequence INTEGER, stamp INTEGER NOT NULL, PRIMARY KEY (machine, sequence)
) WITHOUT ROWID;
"""

Order = tuple[int, str]
_NEVER: Order = (-1, "")


class Ledger:
    """What is known of every statement that machines share: digests, which patch said it last, and whether it is there."""

    def __init__(self, path: Path | None, tenant: str) -> None:
        """Open the file, or make it, or one in memory; raises `GraphError` when it cannot be read."""
        try:
            self._db = sqlite3.connect(path or ":memory:", isolation_level=None, check_same_thread=False)
            if path:
                path.chmod(0o600)
            self._db.executescript(_SCHEMA)
            self._db.execute("INSERT OR IGNORE INTO meta VALUES ('machine', ?)", (uuid4().hex[:12],))
            self._db.execute("INSERT OR IGNORE INTO meta VALUES ('tenant', ?)", (tenant,))
        except sqlite3.Error as error:
            raise GraphError(f"{path} cannot be read: {error}; without it the machine joins anew") from error
        if self._get("tenant") != tenant:
            raise InputError(f"{path} is of the tenant {self._get('tenant')!r}: one of a folder can be kept in step")

    def close(self) -> None:
        self._db.close()

    @property
    def machine(self) -> str:
        """How this machine is called in patches."""
        return str(self._get("machine"))

    @property
    def machines(self) -> set[str]:
        """How it is called, and was before it joined anew."""
        return {self.machine, *json.loads(self._get("former") or "[]")}

    def known(self) -> Vector:
        """Return the last patch of each machine that is in the memory."""
        return dict(self._db.execute("SELECT machine, max(sequence) FROM patch GROUP BY machine"))

    def latest(self) -> int:
        """Return the stamp of the latest patch, 0 before there is one."""
        return int(self._db.execute("SELECT coalesce(max(stamp), 0) FROM patch").fetchone()[0])

    def stamp_of(self, machine: str, sequence: int) -> int:
        """Return the stamp of a patch, −1 of one that is not known."""
        found = self._db.execute(
            "SELECT stamp FROM patch WHERE machine = ? AND sequence = ?", (machine, sequence)
        ).fetchone()
        return -1 if found is None else int(found[0])

    def begin_anew(self) -> None:
        """Know of nothing, under another name."""
        former = json.dumps(sorted(self.machines))
        with self.transaction():
            for table in ("statement", "register", "erased", "patch"):
                self._db.execute(f"DELETE FROM {table}")
            self._db.execute(
                "INSERT OR REPLACE INTO meta VALUES ('former', ?), ('machine', ?)", (former, uuid4().hex[:12])
            )
            self._db.execute("DELETE FROM meta WHERE key = 'intended'")

    def intend(self, vector: Vector, name: str = "") -> None:
        """Note, before the memory is written, which patches will be in it; and what the file of an own one will be called."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('intended', ?)", (json.dumps([vector, name]),))

    def intended(self) -> tuple[Vector, str]:
        """Return what was noted last, and not done since."""
        vector, name = json.loads(self._get("intended") or '[{}, ""]')
        return vector, name

    @contextmanager
    def transaction(self, *, is_trial: bool = False) -> Iterator[None]:
        """Keep all that is noted within the block, or nothing; nothing of a trial."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("ROLLBACK" if is_trial else "COMMIT")

    def collect(self, store: Store, graphs: Sequence[IRI]) -> tuple[list[ox.Quad], list[bytes], list[bytes]]:
        """Return the statements that are new, the keys of those that are gone, and those of the nodes that were erased."""
        waiting = _find_waiting(store, graphs)
        there = {key for (key,) in self._db.execute("SELECT key FROM statement WHERE is_there")}
        adds, now, subjects = list[ox.Quad](), set[bytes](), set[bytes]()
        for graph in graphs:
            for quad in store.match(graph=graph):
                if _name(quad.subject) in waiting:
                    subjects.add(key_node(_name(quad.subject)))
                    continue
                key = key_quad(quad)
                now.add(key)
                subjects.add(key[:9])
                if key not in there:
                    adds.append(quad)
        held = {key_node(iri) for iri in waiting}
        removes = [key for key in there - now if key[:9] not in held]
        erases = {key[:9] for key in removes if key[:1] == b"m"} - subjects
        return adds, sorted(key for key in removes if key[:9] not in erases), sorted(erases)

    def find(self, key: bytes) -> tuple[Order, bool] | None:
        """Return which patch said last whether a statement is there, and whether it is."""
        row = self._db.execute("SELECT stamp, machine, is_there FROM statement WHERE key = ?", (key,)).fetchone()
        return ((int(row[0]), str(row[1])), bool(row[2])) if row else None

    def find_register(self, key: bytes) -> Order:
        """Return which patch said last what the one value of a property is."""
        row = self._db.execute("SELECT stamp, machine FROM register WHERE key = ?", (key,)).fetchone()
        return (int(row[0]), str(row[1])) if row else _NEVER

    def is_erased(self, node: bytes) -> bool:
        """Tell whether a node was erased somewhere."""
        return self._db.execute("SELECT 1 FROM erased WHERE key = ?", (node,)).fetchone() is not None

    def note_add(self, quad: ox.Quad, order: Order) -> None:
        """Note that a patch says a statement."""
        register = _key_register(quad) if quad.predicate.value in _single_valued() else None
        self._db.execute("INSERT OR REPLACE INTO statement VALUES (?, ?, ?, 1, ?)", (key_quad(quad), *order, register))
        self._note_register(register, order)

    def note_removal(self, key: bytes, order: Order) -> None:
        """Note that a patch takes a statement back."""
        row = self._db.execute("SELECT register FROM statement WHERE key = ?", (key,)).fetchone()
        register = row[0] if row else None
        self._db.execute("INSERT OR REPLACE INTO statement VALUES (?, ?, ?, 0, ?)", (key, *order, register))
        self._note_register(register, order)

    def _note_register(self, register: bytes | None, order: Order) -> None:
        if register is not None and self.find_register(register) < order:
            self._db.execute("INSERT OR REPLACE INTO register VALUES (?, ?, ?)", (register, *order))

    def note_erased(self, node: bytes) -> None:
        """Note that a node was erased; nothing is known of it any more but that."""
        self._db.execute("INSERT OR IGNORE INTO erased VALUES (?)", (node,))
        self._db.execute("DELETE FROM statement WHERE key >= ? AND key < ?", (node, _after(node)))

    def note_patch(self, patch: Patch) -> None:
        """Note that a patch is in the memory."""
        self._db.execute("INSERT OR REPLACE INTO patch VALUES (?, ?, ?)", (patch.machine, patch.sequence, patch.stamp))

    def note_own(self, patch: Patch) -> None:
        """Note what this machine's patch says: the memory is as it says already."""
        for node in patch.erases:
            self.note_erased(node)
        for key in patch.removes:
            self.note_removal(key, patch.order)
        for quad in patch.adds:
            self.note_add(quad, patch.order)
        self.note_patch(patch)

    def _get(self, key: str) -> str | None:
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])


def _after(key: bytes) -> bytes:
    return (int.from_bytes(key, "big") + 1).to_bytes(len(key), "big")


def _find_waiting(store: Store, graphs: Iterable[IRI]) -> set[str]:
    """Find the notes and runs that are not done: another machine would do them too."""
    return {
        _name(quad.subject)
        for graph in graphs
        for quad in store.match(predicate=MEM.state, graph=graph)
        if _name(quad.object) in _WAITING and not graph.startswith("urn:memento:cases:")
    }


def read_known(store: Store, tenant: str) -> Vector:
    """Read which patches are in a memory, by what its audit graph says."""
    audit, known = audit_iri(tenant), Vector()
    for quad in store.match(predicate=MEM.sequence, graph=audit):
        for said in store.match(_name(quad.subject), MEM.machine, graph=audit):
            machine = _name(said.object)
            known[machine] = max(known.get(machine, 0), int(_name(quad.object)))
    return known


def record_patches(patches: Iterable[Patch], tenant: str) -> list[Quad]:
    """Return what the audit graph says of patches that are in the memory."""
    audit = audit_iri(tenant)
    return [
        quad
        for patch in patches
        for quad in (
            (patch.iri, TYPE, MEM.Patch, audit),
            (patch.iri, MEM.machine, patch.machine, audit),
            (patch.iri, MEM.sequence, patch.sequence, audit),
            (patch.iri, MEM.at, _to_time(patch.stamp), audit),
        )
    ]


def _to_time(stamp: int) -> datetime:
    return datetime.fromtimestamp(stamp // 1000, UTC).replace(microsecond=stamp % 1000 * 1000)


def write_patch(patch: Patch, folder: Path) -> tuple[Path, str]:
    """
    Write a patch into the folder under another name; return the path, and the name that makes it count once it is renamed.

    Raises:
        InputError: the folder cannot be written.
    """
    about: list[Quad] = [
        (patch.iri, TYPE, MEM.Patch, patch.iri),
        (patch.iri, MEM.machine, patch.machine, patch.iri),
        (patch.iri, MEM.sequence, patch.sequence, patch.iri),
        (patch.iri, MEM.at, _to_time(patch.stamp), patch.iri),
        *((patch.iri, PROV.wasDerivedFrom, patch_iri(one, number), patch.iri) for one, number in patch.known.items()),
        *((patch.iri, MEM.removes, key.hex(), patch.iri) for key in patch.removes),
        *((patch.iri, MEM.erases, key.hex(), patch.iri) for key in patch.erases),
    ]
    fresh = folder / f"{patch.machine}-{patch.sequence:06}.part"
    digest = sha256()
    try:
        with open(fresh, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            for piece in written([to_quads(tuple(about)), sorted(patch.adds, key=str)], _FORM):
                digest.update(piece)
                file.write(piece)
        sync_to_disk(fresh, deep=False)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}") from error
    return fresh, f"{patch.machine}-{patch.sequence:06}-{digest.hexdigest()[:16]}.trig"


def list_patches(folder: Path) -> dict[str, dict[int, list[Path]]]:
    """List the patches of each machine by their sequence: several where one is being replaced."""
    found: dict[str, dict[int, list[Path]]] = {}
    for path in sorted(folder.glob("*.trig")):
        if name := _NAME.fullmatch(path.name):
            found.setdefault(name[1], {}).setdefault(int(name[2]), []).append(path)
    return found


def read_patch(paths: Sequence[Path]) -> Patch:
    """
    Read a patch from the first of its files that is whole.

    Raises:
        InputError: none is; names the file.
    """
    for path in paths:
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}") from error
        if sha256(data).hexdigest()[:16] == path.stem.rsplit("-", 1)[-1]:
            return _parse_patch(path)
    raise InputError(
        f"the patch {paths[-1].name} is damaged: its digest is another than its name says. Nothing was taken; let the folder be "
        "copied again, or run `memento sync` on the machine that wrote it"
    )


def _parse_patch(path: Path) -> Patch:
    name = cast("re.Match[str]", _NAME.fullmatch(path.name))
    iri = patch_iri(name[1], int(name[2]))
    adds, removes, erases, known, stamp = list[ox.Quad](), list[bytes](), list[bytes](), Vector(), 0
    for quad in read(path, _FORM, path.name):
        if _name(quad.graph_name) != iri:
            adds.append(quad)
            continue
        value = _name(quad.object)
        match quad.predicate.value:
            case MEM.removes:
                removes.append(bytes.fromhex(value))
            case MEM.erases:
                erases.append(bytes.fromhex(value))
            case MEM.at:
                stamp = round(datetime.fromisoformat(value).timestamp() * 1000)
            case PROV.wasDerivedFrom:
                machine, _, number = value.removeprefix("urn:memento:patch:").partition(":")
                known[machine] = int(number)
    return Patch(
        machine=name[1],
        sequence=int(name[2]),
        stamp=stamp,
        adds=tuple(adds),
        removes=tuple(removes),
        erases=tuple(erases),
        known=known,
    )


def read_patches(folder: Path, known: Mapping[str, int]) -> list[Patch]:
    """
    Read the patches that are not known yet, each after what it builds on.

    Raises:
        InputError: one is damaged, or one before it or that it builds on is missing; names it.
    """
    found, patches = list_patches(folder), list[Patch]()
    have = dict(known)
    for machine, numbered in found.items():
        for sequence in sorted(number for number in numbered if number > known.get(machine, 0)):
            if sequence != have.get(machine, 0) + 1:
                raise _explain_gap(machine, have.get(machine, 0) + 1, f"its patch {sequence} is there")
            patches.append(read_patch(numbered[sequence]))
            have[machine] = sequence
    for patch in patches:
        for machine, sequence in patch.known.items():
            if have.get(machine, 0) < sequence:
                raise _explain_gap(
                    machine, have.get(machine, 0) + 1, f"patch {patch.sequence} of {patch.machine} builds on it"
                )
    return sorted(patches, key=lambda patch: patch.order)


def _explain_gap(machine: str, sequence: int, why: str) -> InputError:
    return InputError(
        f"patch {sequence} of the machine {machine} is missing, and {why}. Nothing was taken: wait until the folder is whole, or "
        "run `memento sync` on that machine"
    )


def blank_patches(folder: Path, ledger: Ledger) -> int:
    """Take what is gone out of the patches that this machine wrote; return how many were written once more."""
    count = 0
    for machine, numbered in list_patches(folder).items():
        for paths in numbered.values() if machine in ledger.machines else ():
            patch = read_patch(paths)
            kept = tuple(quad for quad in patch.adds if _is_told(quad, ledger))
            if len(kept) == len(patch.adds):
                continue
            fresh, name = write_patch(
                Patch(
                    machine=patch.machine,
                    sequence=patch.sequence,
                    stamp=patch.stamp,
                    adds=kept,
                    removes=patch.removes,
                    erases=patch.erases,
                    known=patch.known,
                ),
                folder,
            )
            fresh.replace(folder / name)
            for path in paths:
                path.unlink(missing_ok=True)
            count += 1
    return count


def _is_told(quad: ox.Quad, ledger: Ledger) -> bool:
    key = key_quad(quad)
    if ledger.is_erased(key[:9]) or ledger.is_erased(key_node(_name(quad.object))):
        return False
    found = ledger.find(key)
    return found is None or found[1] or quad.predicate.value not in _TEXTS


class Merger:
    """
    What patches do to a memory: every statement as the latest patch that says something of it has it.

    The ledger is brought up to date as patches are taken; the store is not touched.
    """

    def __init__(self, ledger: Ledger, store: Store, graphs: Sequence[IRI]) -> None:
        self._ledger, self._store, self._graphs = ledger, store, graphs
        self.adds: dict[ox.Quad, Patch] = {}
        self.removes: dict[ox.Quad, None] = {}
        self.overruled = 0
        """How many values gave way to another one of the same property, and neither machine knew of the other's."""
        self._by_key: dict[bytes, ox.Quad] = {}
        self._about: dict[str, dict[ox.Quad, None]] = {}
        self._pointing: dict[str, dict[ox.Quad, None]] = {}

    def take(self, patches: Sequence[Patch]) -> None:
        """Take patches, in the order of `read_patches`."""
        gone = {key[:9] for patch in patches for key in patch.removes} | {
            key for patch in patches for key in patch.erases
        }
        names = self._index(gone) if gone else {}
        for patch in patches:
            for node in patch.erases:
                self._erase(node, names.get(node) or self._find_name(node), patch)
            for key in patch.removes:
                self._remove(key, patch)
            for quad in patch.adds:
                self._add(quad, patch)
            self._ledger.note_patch(patch)

    def describe(self, node: str) -> Iterator[ox.Quad]:
        """Yield what the patches say of a node."""
        return (quad for quad in self._about.get(node, ()) if quad in self.adds)

    def _index(self, nodes: set[bytes]) -> dict[bytes, str]:
        """Look through the store for the statements about some nodes, and for what these are called."""
        names: dict[bytes, str] = {}
        last, wanted = "", False
        for graph in self._graphs:
            for quad in self._store.match(graph=graph):
                subject = _name(quad.subject)
                if subject != last:
                    node = key_node(subject)
                    last, wanted = subject, node in nodes
                    if wanted:
                        names[node] = subject
                if wanted:
                    self._by_key[key_quad(quad)] = quad
        return names

    def _find_name(self, node: bytes) -> str | None:
        return next((name for name in self._about if key_node(name) == node), None)

    def _add(self, quad: ox.Quad, patch: Patch) -> None:
        key = key_quad(quad)
        if self._ledger.is_erased(key[:9]):
            return
        if isinstance(quad.object, ox.NamedNode) and self._ledger.is_erased(key_node(quad.object.value)):
            self._cascade(quad, patch)
            return
        before = self._ledger.find(key)
        if before and before[0] > patch.order:
            return
        if quad.predicate.value in _single_valued():
            latest = self._ledger.find_register(_key_register(quad))
            if latest > patch.order:
                self._ledger.note_removal(key, latest)
                self.overruled += 1
                return
            for other in self._list_values(quad):
                known = self._ledger.find(key_quad(other))
                self.overruled += known is None or known[0][0] > _known_until(patch, known[0][1], self._ledger)
                self._drop(other)
                self._ledger.note_removal(key_quad(other), patch.order)
        self._ledger.note_add(quad, patch.order)
        self._by_key[key] = quad
        self.removes.pop(quad, None)
        if not self._store.holds(quad):
            self.adds[quad] = patch
            self._about.setdefault(_name(quad.subject), {})[quad] = None
            if isinstance(quad.object, ox.NamedNode):
                self._pointing.setdefault(quad.object.value, {})[quad] = None

    def _list_values(self, quad: ox.Quad) -> list[ox.Quad]:
        """List the other statements of the same property of the same subject."""
        subject, predicate = _name(quad.subject), quad.predicate
        here = self._store.match(subject, predicate.value, graph=_name(quad.graph_name))
        there = (
            one for one in self.describe(subject) if (one.predicate, one.graph_name) == (predicate, quad.graph_name)
        )
        return [one for one in (*(one for one in here if one not in self.removes), *there) if one != quad]

    def _remove(self, key: bytes, patch: Patch) -> None:
        before = self._ledger.find(key)
        if (before and before[0] > patch.order) or self._ledger.is_erased(key[:9]):
            return
        self._ledger.note_removal(key, patch.order)
        if quad := self._by_key.get(key):
            self._drop(quad)

    def _drop(self, quad: ox.Quad) -> None:
        self.adds.pop(quad, None)
        if self._store.holds(quad):
            self.removes[quad] = None

    def _erase(self, node: bytes, name: str | None, patch: Patch) -> None:
        """Drop whatever is said of a node or points at it; what is nothing without it goes too."""
        if self._ledger.is_erased(node):
            return
        self._ledger.note_erased(node)
        if name is None:
            return
        told, pointing = list(self.describe(name)), [one for one in self._pointing.get(name, ()) if one in self.adds]
        for graph in self._graphs:
            told += self._store.match(name, graph=graph)
            pointing += self._store.match(value=name, graph=graph)
        for quad in told:
            self._drop(quad)
        for quad in pointing:
            self._drop(quad)
            self._ledger.note_removal(key_quad(quad), patch.order)
            self._cascade(quad, patch)

    def _cascade(self, quad: ox.Quad, patch: Patch) -> None:
        subject = _name(quad.subject)
        if quad.predicate.value in _needed() and _MINTED.fullmatch(subject):
            self._erase(key_node(subject), subject, patch)


def _known_until(patch: Patch, machine: str, ledger: Ledger) -> int:
    """Return the stamp of the last patch of a machine that another patch knew."""
    if machine == patch.machine:
        return patch.stamp
    return ledger.stamp_of(machine, patch.known.get(machine, 0))


def find_rivals(merger: Merger, ledger: Ledger, store: Store) -> list[Quad]:
    """
    Return links between memories that give one property of one subject different values, and were written apart.

    The same two memories make the same link on every machine.
    """
    arrived = [quad for quad in merger.adds if quad.predicate.value == MEM.slot]
    slots: dict[str, set[str]] = {}
    for quad in arrived:
        slots.setdefault(_name(quad.graph_name), set()).add(_name(quad.object))
    grouped: dict[tuple[str, str, str], dict[str, str]] = {}
    for graph, wanted in slots.items():
        here = (quad for quad in store.match(predicate=MEM.slot, graph=graph) if _name(quad.object) in wanted)
        for quad in (*here, *(one for one in arrived if _name(one.graph_name) == graph)):
            if found := _read_slot(_name(quad.subject), graph, merger, store):
                subject, slot, value = found
                grouped.setdefault((graph, subject, slot), {})[_name(quad.subject)] = value
    patches = {_name(quad.subject): merger.adds[quad] for quad in arrived}
    links = [
        _link(IRI(one), IRI(other), IRI(graph))
        for (graph, *_), values in grouped.items()
        for one in values.keys() & patches.keys()
        for other in values
        if values[one] != values[other] and _is_apart(other, graph, patches[one], merger, ledger)
    ]
    return list(dict.fromkeys(quad for link in links for quad in link))


def _read_slot(memory: str, graph: str, merger: Merger, store: Store) -> tuple[str, str, str] | None:
    """Return subject, slot and value of a memory that is not over."""
    here = (quad for quad in store.match(memory, graph=graph) if quad not in merger.removes)
    said = {quad.predicate.value: _name(quad.object) for quad in (*here, *merger.describe(memory))}
    if said.keys() & {MEM.invalidAt, MEM.expiredAt} or not {MEM.subject, MEM.slot, MEM.slotValue} <= said.keys():
        return None
    subject = said[MEM.subject]
    names = [_name(quad.object) for quad in store.match(subject, MEM.name)]
    names += [_name(quad.object) for quad in merger.describe(subject) if quad.predicate.value == MEM.name]
    is_named = names and not subject.startswith("urn:memento:user:")
    return min(names).casefold() if is_named else subject, said[MEM.slot], said[MEM.slotValue].casefold()


def _is_apart(other: str, graph: str, patch: Patch, merger: Merger, ledger: Ledger) -> bool:
    """Tell whether the machine of a patch did not know of another memory when it made it."""
    own = next((merger.adds[quad] for quad in merger.describe(other)), None)
    if own is not None:
        return own.machine != patch.machine and own.stamp > _known_until(patch, own.machine, ledger)
    kind = ox.Quad(ox.NamedNode(other), ox.NamedNode(TYPE), ox.NamedNode(MEM.Memory), ox.NamedNode(graph))
    found = ledger.find(key_quad(kind))
    if found is None:
        return True
    (stamp, machine), _ = found
    return machine != patch.machine and stamp > _known_until(patch, machine, ledger)


def _link(one: IRI, other: IRI, graph: IRI) -> list[Quad]:
    pair = tuple(sorted((one, other)))
    link = Rivalry(
        iri=IRI(f"urn:memento:rivalry:{uuid5(NAMESPACE_URL, ' '.join(pair))}"),
        rivals=pair,
        confidence=_SURE,
        reason=_APART,
    )
    return mapping.quads(link, graph)
