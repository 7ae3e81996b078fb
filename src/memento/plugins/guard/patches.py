"""
Synchronises the memories of several machines by patches, which each machine writes into a shared folder.

    {folder}/{machine}-{sequence}-{digest}.trig    the changes of one machine since its last patch, written once and numbered from 1

A patch has the added statements, each in its graph; only digests of the removed ones; and the patches that its machine knew.

*Flow:* `collect_changes` (what differs from the known statements) → `write_patch` → `read_patches` (complete, in order, none
missing) → `Merger` (each statement as its latest patch has it) → `merge.write_merge`, atomically.

*Guarantees:* the memory is the same in whatever order, and however often, patches arrive. If a patch is damaged, or a patch before
it or one that it builds on is missing, the error names it, and no patch is applied. What is erased on one machine stays erased on
all: a digest of its IRI keeps it out, and each machine removes the text from the patches that it wrote. Of a property with one
value, the latest is kept. If two memories give one property of one subject different values, and neither machine knew of the other,
both stay, and are linked as rivals. What one machine removed stays if another refers to it. The audit graph of a memory records
which patches are in it, and is written together with their content.

*But:* whoever can write to the folder can write to the memory. Notes that are not processed yet, the audit, and inferences are not
synchronised. An entity that two machines created separately becomes two entities.

*Because:* changes are not recorded as they are made; they are found by the digests of the statements known at the last time. These
are in their own file, {home}/sync.sqlite. Without it, or after a restore, the machine joins under another name, and where the
folder differs from the machine, the folder counts.

*Source:* Shapiro et al. 2011, A comprehensive study of Convergent and Commutative Replicated Data Types, INRIA RR-7506
(LWW-element-set, LWW-register).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from hashlib import blake2b, sha256
from pathlib import Path
from typing import cast
from uuid import NAMESPACE_URL, uuid5

from memento.errors import InputError
from memento.graph import mapping
from memento.graph.backups import sync_to_disk
from memento.graph.documents import document, form_called, read_document, write_document
from memento.graph.store import Store
from memento.graph.terms import to_quads
from memento.graph.transfer import Statement, is_iri
from memento.iris import IRI, MEM, OWL, PROV, SH, TYPE, audit_iri, parse_graph_name
from memento.model import Quad, Rivalry
from memento.plugins.guard.ledger import Ledger, Order, Vector
from memento.text.claims import may_stand_together

_NAME = re.compile(r"([0-9a-f]{12})-(\d{6})-([0-9a-f]{16})\.trig")
_TEXTS = (MEM.content, MEM.title, MEM.name, MEM.description, MEM.reason)
_KINDS = ("self", "graph", "cases", "provenance", "data")
_WAITING = ("pending", "failed")
_FORM = form_called("trig")
_SAID = re.compile(r"urn:memento:(?:memory|claim|note):")
"""Types of nodes whose erased text never returns; for all others, removed statements may return."""
_FOOTING = re.compile(r"urn:memento:(?!memory:|claim:|note:|user:)")
_APART = "written on two machines that did not know of each other: one of them is likely over"
_SURE = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """
    The changes of one machine: `removes` are keys of statements, `erases` of nodes; `known` are the patches of others that it
    builds on; `footing` describes what the additions refer to, for machines that have removed it. `stamp` is in milliseconds since
    1970, and later than that of any patch the machine knew.
    """

    machine: str
    sequence: int
    stamp: int
    adds: tuple[Statement, ...]
    removes: tuple[bytes, ...] = ()
    erases: tuple[bytes, ...] = ()
    footing: tuple[Statement, ...] = ()
    known: Mapping[str, int] = field(default_factory=dict)

    @property
    def iri(self) -> IRI:
        """The IRI of the patch."""
        return patch_iri(self.machine, self.sequence)

    @property
    def order(self) -> tuple[int, str]:
        """Its position among all patches: after everything it builds on."""
        return self.stamp, self.machine


def patch_iri(machine: str, sequence: int) -> IRI:
    """Return the IRI of a machine's n-th patch."""
    return IRI(f"urn:memento:patch:{machine}:{sequence}")


def list_graphs(store: Store, tenant: str) -> list[IRI]:
    """List the graphs of a tenant that are synchronised."""
    named = ((name, parse_graph_name(name)) for name in store.graphs())
    return [name for name, found in named if found and found.tenant == tenant and found.kind in _KINDS]


def key_node(iri: str) -> bytes:
    """Return the (9,) digest of a node; the first byte says whether it can be erased."""
    return (b"m" if _SAID.match(iri) else b"o") + blake2b(iri.encode(), digest_size=8).digest()


def key_quad(quad: Statement) -> bytes:
    """Return the (25,) digest of a statement, which begins with that of its subject."""
    whole = blake2b(str(quad).encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return key_node(_text(quad.subject)) + whole


def _find_register(quad: Statement) -> bytes | None:
    """Return the key of a statement's property if that has one value; None otherwise."""
    if quad.predicate.value not in _single_valued():
        return None
    return blake2b(f"{quad.subject} {quad.predicate} {quad.graph_name}".encode(), digest_size=16).digest()


def _text(term: object) -> str:
    return str(getattr(term, "value", term))


@cache
def _single_valued() -> frozenset[str]:
    ontology, shapes = document("ontology/memento.ttl"), list(document("ontology/shapes.ttl").triples())
    single = {node for node, predicate, value in shapes if predicate == SH.maxCount and value == "1"}
    paths = {str(value) for node, predicate, value in shapes if predicate == SH.path and node in single}
    return frozenset(paths | set(map(str, ontology.subjects(TYPE, OWL.FunctionalProperty))))


@cache
def _list_needed() -> frozenset[str]:
    """Return the properties that some kind of node must have."""
    shapes = list(document("ontology/shapes.ttl").triples())
    needed = {node for node, predicate, _ in shapes if predicate == SH.minCount}
    return frozenset(str(value) for node, predicate, value in shapes if predicate == SH.path and node in needed)


def collect_changes(
    ledger: Ledger, store: Store, graphs: Sequence[IRI]
) -> tuple[list[Statement], list[bytes], list[bytes]]:
    """Return the new statements, the keys of the removed ones, and those of the erased nodes."""
    waiting, there = _find_waiting(store, graphs), ledger.list_present()
    adds, now, subjects = list[Statement](), set[bytes](), set[bytes]()
    for graph in graphs:
        for quad in store.match(graph=graph):
            if _text(quad.subject) in waiting:
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


def find_footing(adds: Sequence[Statement], store: Store, graphs: Sequence[IRI]) -> list[Statement]:
    """
    Find further statements about the nodes that additions refer to, such as entities, keys and agents, and what these refer to.
    """
    new, told, found = set(adds), set[str](), list[Statement]()
    wanted = {_text(quad.object) for quad in adds if is_iri(quad.object)}
    while wanted := {iri for iri in wanted - told if _FOOTING.match(iri)}:
        told |= wanted
        said = [quad for iri in sorted(wanted) for graph in graphs for quad in store.match(iri, graph=graph)]
        found += said
        wanted = {_text(quad.object) for quad in said if is_iri(quad.object)}
    return [quad for quad in found if quad not in new]


def note_own(patch: Patch, ledger: Ledger) -> None:
    """Record the content of this machine's own patch, which the memory has already."""
    for node in patch.erases:
        ledger.note_erased(node)
    for key in patch.removes:
        ledger.note_removal(key, patch.order)
    for quad in patch.adds:
        ledger.note_add(key_quad(quad), _find_register(quad), patch.order)
    ledger.note_patch(patch.machine, patch.sequence, patch.stamp)


def _find_waiting(store: Store, graphs: Iterable[IRI]) -> set[str]:
    """Find the notes and runs that are not finished: another machine would process them again."""
    return {
        _text(quad.subject)
        for graph in graphs
        for quad in store.match(predicate=MEM.state, graph=graph)
        if _text(quad.object) in _WAITING and not graph.startswith("urn:memento:cases:")
    }


def read_known(store: Store, tenant: str) -> Vector:
    """Read which patches are in a memory from its audit graph."""
    audit, known = audit_iri(tenant), Vector()
    for quad in store.match(predicate=MEM.sequence, graph=audit):
        for said in store.match(_text(quad.subject), MEM.machine, graph=audit):
            machine = _text(said.object)
            known[machine] = max(known.get(machine, 0), int(_text(quad.object)))
    return known


def record_patches(patches: Iterable[Patch], tenant: str) -> list[Quad]:
    """Return the statements of the audit graph about patches in the memory."""
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
    Write a patch into the folder under a temporary name; return the path, and the name to which renaming makes it valid.

    Raises:
        InputError: the folder is not writable.
    """
    about: list[Quad] = [
        (patch.iri, TYPE, MEM.Patch, patch.iri),
        (patch.iri, MEM.machine, patch.machine, patch.iri),
        (patch.iri, MEM.sequence, patch.sequence, patch.iri),
        (patch.iri, MEM.at, _to_time(patch.stamp), patch.iri),
        *((patch.iri, PROV.wasDerivedFrom, patch_iri(one, number), patch.iri) for one, number in patch.known.items()),
        *((patch.iri, MEM.removes, key.hex(), patch.iri) for key in patch.removes),
        *((patch.iri, MEM.erases, key.hex(), patch.iri) for key in patch.erases),
        *((patch.iri, MEM.restates, key.hex(), patch.iri) for key in sorted(map(key_quad, patch.footing))),
    ]
    fresh = folder / f"{patch.machine}-{patch.sequence:06}.part"
    digest = sha256()
    try:
        with open(fresh, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            for piece in write_document(
                [to_quads(tuple(about)), sorted((*patch.adds, *patch.footing), key=str)], _FORM
            ):
                digest.update(piece)
                file.write(piece)
        sync_to_disk(fresh, deep=False)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}") from error
    return fresh, f"{patch.machine}-{patch.sequence:06}-{digest.hexdigest()[:16]}.trig"


def list_patches(folder: Path) -> dict[str, dict[int, list[Path]]]:
    """List the patches of each machine by sequence number; a patch that is being replaced has several files."""
    found: dict[str, dict[int, list[Path]]] = {}
    for path in sorted(folder.glob("*.trig")):
        if name := _NAME.fullmatch(path.name):
            found.setdefault(name[1], {}).setdefault(int(name[2]), []).append(path)
    return found


def read_patch(paths: Sequence[Path]) -> Patch:
    """
    Read a patch from the first intact one of its files.

    Raises:
        InputError: none is intact; names the file.
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
        f"the patch {paths[-1].name} is damaged: its digest differs from the one in its name. Nothing was received; copy the "
        "folder again, or run `memento sync` on the machine that wrote it"
    )


def _parse_patch(path: Path) -> Patch:
    name = cast("re.Match[str]", _NAME.fullmatch(path.name))
    iri = patch_iri(name[1], int(name[2]))
    quads, removes, erases, known, stamp = list[Statement](), list[bytes](), list[bytes](), Vector(), 0
    footing = set[bytes]()
    for quad in read_document(path, _FORM, path.name):
        if _text(quad.graph_name) != iri:
            quads.append(quad)
            continue
        value = _text(quad.object)
        match quad.predicate.value:
            case MEM.restates:
                footing.add(bytes.fromhex(value))
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
        adds=tuple(quad for quad in quads if key_quad(quad) not in footing),
        removes=tuple(removes),
        erases=tuple(erases),
        footing=tuple(quad for quad in quads if key_quad(quad) in footing),
        known=known,
    )


def read_patches(folder: Path, known: Mapping[str, int]) -> list[Patch]:
    """
    Read the unknown patches, each after what it builds on.

    Raises:
        InputError: one is damaged, or one before it or one that it builds on is missing; names it.
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
        f"patch {sequence} of the machine {machine} is missing, and {why}. Nothing was received: wait until the folder is "
        "complete, or run `memento sync` on that machine"
    )


def blank_patches(folder: Path, ledger: Ledger) -> int:
    """Remove erased statements and removed texts from the patches that this machine wrote; return how many were rewritten."""
    count = 0
    for machine, numbered in list_patches(folder).items():
        for paths in numbered.values() if machine in ledger.machines else ():
            patch = read_patch(paths)
            adds, footing = (
                tuple(quad for quad in some if _is_told(quad, ledger)) for some in (patch.adds, patch.footing)
            )
            if (len(adds), len(footing)) == (len(patch.adds), len(patch.footing)):
                continue
            fresh, name = write_patch(replace(patch, adds=adds, footing=footing), folder)
            fresh.replace(folder / name)
            for path in paths:
                path.unlink(missing_ok=True)
            count += 1
    return count


def _is_told(quad: Statement, ledger: Ledger) -> bool:
    key = key_quad(quad)
    if ledger.is_erased(key[:9]) or ledger.is_erased(key_node(_text(quad.object))):
        return False
    found = ledger.find_statement(key)
    return found is None or found[1] or quad.predicate.value not in _TEXTS


class Merger:
    """
    Computes what patches change in a memory: each statement as in the latest patch that mentions it.

    It updates the ledger with each patch, and does not touch the store.
    """

    def __init__(self, ledger: Ledger, store: Store, graphs: Sequence[IRI]) -> None:
        self._ledger, self._store, self._graphs = ledger, store, graphs
        self.adds: dict[Statement, Patch] = {}
        self.removes: dict[Statement, None] = {}
        self.overruled = 0
        """The number of values replaced by another value of the same property, while neither machine knew the other's."""
        self._by_key: dict[bytes, Statement] = {}
        self._about: dict[str, dict[Statement, None]] = {}
        self._pointing: dict[str, dict[Statement, None]] = {}
        self._footing: dict[str, dict[Statement, Patch]] = {}

    def merge_patches(self, patches: Sequence[Patch]) -> None:
        """Merge patches, in the order of `read_patches`."""
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
                self._add_quad(quad, patch)
            for quad in patch.footing:
                self._footing.setdefault(_text(quad.subject), {})[quad] = patch
            self._ledger.note_patch(patch.machine, patch.sequence, patch.stamp)

        self._keep_footing(patches[-1])

    def _keep_footing(self, last: Patch) -> None:
        """Keep or restore the description of nodes that one machine has removed and another refers to."""
        gone: dict[str, dict[Statement, Patch]] = {}
        for quad in self.removes:
            if _FOOTING.match(_text(quad.subject)) and not self._ledger.is_erased(key_node(_text(quad.subject))):
                gone.setdefault(_text(quad.subject), {})[quad] = last
        waiting = gone | self._footing
        while waiting:
            kept = [node for node in waiting if not self._is_described(node) and self._is_referred_to(node)]
            for node in kept:
                for quad, patch in waiting.pop(node).items():
                    self._keep(quad, patch, max(patch.order, last.order))
            if not kept:
                return

    def _is_described(self, node: str) -> bool:
        here = (quad for graph in self._graphs for quad in self._store.match(node, TYPE, graph=graph))
        there = (quad for quad in self.describe(node) if quad.predicate.value == TYPE)
        return any(True for _ in there) or any(quad not in self.removes for quad in here)

    def _is_referred_to(self, node: str) -> bool:
        here = (quad for graph in self._graphs for quad in self._store.match(value=node, graph=graph))
        there = (quad for quad in self._pointing.get(node, ()) if quad in self.adds)
        return any(True for _ in there) or any(quad not in self.removes for quad in here)

    def describe(self, node: str) -> Iterator[Statement]:
        """Yield what the patches state about a node."""
        return (quad for quad in self._about.get(node, ()) if quad in self.adds)

    def _index(self, nodes: set[bytes]) -> dict[bytes, str]:
        """Find the statements of the store about some nodes, and the IRIs of these nodes."""
        names: dict[bytes, str] = {}
        last, wanted = "", False
        for graph in self._graphs:
            for quad in self._store.match(graph=graph):
                subject = _text(quad.subject)
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

    def _add_quad(self, quad: Statement, patch: Patch) -> None:
        key = key_quad(quad)
        if self._ledger.is_erased(key[:9]):
            return
        if is_iri(quad.object) and self._ledger.is_erased(key_node(_text(quad.object))):
            self._cascade(quad, patch)
            return
        before = self._ledger.find_statement(key)
        if before and before[0] > patch.order:
            return
        register = _find_register(quad)
        if register is not None:
            latest = self._ledger.find_register(register)
            if latest > patch.order:
                self._ledger.note_removal(key, latest)
                self.overruled += 1
                return
            for other in self._list_values(quad):
                known = self._ledger.find_statement(key_quad(other))
                self.overruled += known is None or known[0][0] > _known_until(patch, known[0][1], self._ledger)
                self._drop(other)
                self._ledger.note_removal(key_quad(other), patch.order)
        self._keep(quad, patch, patch.order)

    def _keep(self, quad: Statement, patch: Patch, order: Order) -> None:
        key = key_quad(quad)
        self._ledger.note_add(key, _find_register(quad), order)
        self._by_key[key] = quad
        self.removes.pop(quad, None)
        if not self._store.holds(quad):
            self.adds[quad] = patch
            self._about.setdefault(_text(quad.subject), {})[quad] = None
            if is_iri(quad.object):
                self._pointing.setdefault(_text(quad.object), {})[quad] = None

    def _list_values(self, quad: Statement) -> list[Statement]:
        """List the other values of the same property of the same subject, as statements."""
        subject, predicate = _text(quad.subject), quad.predicate
        here = self._store.match(subject, predicate.value, graph=_text(quad.graph_name))
        there = (
            one for one in self.describe(subject) if (one.predicate, one.graph_name) == (predicate, quad.graph_name)
        )
        return [one for one in (*(one for one in here if one not in self.removes), *there) if one != quad]

    def _remove(self, key: bytes, patch: Patch) -> None:
        before = self._ledger.find_statement(key)
        if (before and before[0] > patch.order) or self._ledger.is_erased(key[:9]):
            return
        self._ledger.note_removal(key, patch.order)
        if quad := self._by_key.get(key):
            self._drop(quad)

    def _drop(self, quad: Statement) -> None:
        self.adds.pop(quad, None)
        if self._store.holds(quad):
            self.removes[quad] = None

    def _erase(self, node: bytes, name: str | None, patch: Patch) -> None:
        """Remove all statements about a node and references to it, and nodes that are incomplete without it."""
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

    def _cascade(self, quad: Statement, patch: Patch) -> None:
        subject = _text(quad.subject)
        if quad.predicate.value in _list_needed() and subject.startswith("urn:memento:"):
            self._erase(key_node(subject), subject, patch)


def _known_until(patch: Patch, machine: str, ledger: Ledger) -> int:
    """Return the stamp of the last patch of a machine that another patch knew."""
    if machine == patch.machine:
        return patch.stamp
    return ledger.stamp_of(machine, patch.known.get(machine, 0))


def find_rivals(merger: Merger, ledger: Ledger, store: Store) -> list[Quad]:
    """
    Return links between memories that claim different values for one relation of one owner, written without knowledge of each
    other; not where several values stand together as a matter of course.

    Every machine derives the same link for the same two memories.
    """
    arrived = [
        quad
        for quad in merger.adds
        if quad.predicate.value == MEM.relationName and not may_stand_together(_text(quad.object))
    ]
    relations: dict[str, set[str]] = {}
    for quad in arrived:
        relations.setdefault(_text(quad.graph_name), set()).add(_text(quad.object))
    grouped: dict[tuple[str, str, str, str], dict[str, str]] = {}
    patches: dict[str, Patch] = {}
    for graph, wanted in relations.items():
        here = (quad for quad in store.match(predicate=MEM.relationName, graph=graph) if _text(quad.object) in wanted)
        for quad in (*here, *(one for one in arrived if _text(one.graph_name) == graph)):
            if found := _read_fact(_text(quad.subject), graph, merger, store):
                memory, owner, complement, value = found
                grouped.setdefault((graph, owner, _text(quad.object), complement), {})[memory] = value
                if quad in merger.adds:
                    patches[memory] = merger.adds[quad]
    links = [
        _link(IRI(one), IRI(other), IRI(graph))
        for (graph, *_), values in grouped.items()
        for one in values.keys() & patches.keys()
        for other in values
        if values[one] != values[other] and _is_apart(other, graph, patches[one], merger, ledger)
    ]
    return list(dict.fromkeys(quad for link in links for quad in link))


def _read_fact(claim: str, graph: str, merger: Merger, store: Store) -> tuple[str, str, str, str] | None:
    """Return the memory, the owner by name, the complement and the value of a claim that states a fact and has not ended."""
    here = [quad for quad in store.match(claim, graph=graph) if quad not in merger.removes]
    quads = [*here, *merger.describe(claim)]
    said = {quad.predicate.value: _text(quad.object) for quad in quads}
    complement = " ".join(sorted({_text(quad.object) for quad in quads if quad.predicate.value == MEM.complement}))
    if said.keys() & {MEM.invalidAt, MEM.expiredAt} or not {MEM.owner, MEM.valueText, MEM.statedBy} <= said.keys():
        return None
    if said.get(MEM.mood) != "fact" or said.get(MEM.polarity) == "false" or said.get(MEM.isEvent) == "true":
        return None
    owner = said[MEM.owner]
    names = [_text(quad.object) for quad in store.match(owner, MEM.name)]
    names += [_text(quad.object) for quad in merger.describe(owner) if quad.predicate.value == MEM.name]
    is_named = names and not owner.startswith("urn:memento:user:")
    return said[MEM.statedBy], min(names).casefold() if is_named else owner, complement, said[MEM.valueText].casefold()


def _is_apart(other: str, graph: str, patch: Patch, merger: Merger, ledger: Ledger) -> bool:
    """Tell whether the machine of a patch did not know another memory when it wrote the patch."""
    own = next((merger.adds[quad] for quad in merger.describe(other)), None)
    if own is not None:
        return own.machine != patch.machine and own.stamp > _known_until(patch, own.machine, ledger)
    (kind,) = to_quads([(IRI(other), TYPE, MEM.Memory, IRI(graph))])
    found = ledger.find_statement(key_quad(kind))
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
