"""
Read the cases in a graph, embed their tasks, and find everything that goes with them when they are erased.

*Because:* cases are data of the graph, whether the plug-in that keeps and finds them is on or off: an export has them, a new
embedder embeds their tasks, and what was erased is erased from them too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memento.backends import Backends
from memento.datadir import DataFolder
from memento.errors import NotFound
from memento.graph.runs import read_run
from memento.graph.store import Row, Store
from memento.graph.terms import to_own_quad
from memento.iris import CASES, IRI, MEM, TYPE, cases_iri, tag_name
from memento.model import CaseShown, Change, Difference, Quad, TaskStep, Verdict
from memento.ports import Embedder, Vectors
from memento.search.postings import tokens
from memento.search.vectors import digest

Vector = NDArray[np.float32]

_BATCH = 256  # tasks that are embedded together
_AT_ONCE = 200  # cases whose quads are read in one batch


def load_tasks(graph: IRI, parts: Backends) -> dict[IRI, str]:
    """Load the tasks of all cases and retrievals of a domain, which have vectors in the file. A blank task has none."""
    rows = parts.graph.select("exchange/case_tasks", [graph])
    return {row["node"]: task for row in rows if (task := str(row["task"])).strip()}


def load_vectors(texts: Mapping[IRI, str], parts: Backends) -> dict[IRI, Vector]:
    """Load the vector of each task, by its case or retrieval, from the vector file; missing ones are embedded and stored there."""
    file = parts.indexes.file
    vectors = {
        iri: vector for iri, (mark, vector) in file.find_states(list(texts)).items() if mark == digest(texts[iri])
    }
    missing = [iri for iri in texts if iri not in vectors]
    for begin in range(0, len(missing), _BATCH):
        batch = missing[begin : begin + _BATCH]
        rows = embed_tasks([texts[iri] for iri in batch], parts.embedder)
        file.write_states([(iri, digest(texts[iri]), row) for iri, row in zip(batch, rows, strict=True)])
        vectors |= zip(batch, rows, strict=True)
    return vectors


def embed_tasks(texts: Sequence[str], embedder: Embedder) -> Vectors:
    """Embed tasks as (len(texts), d) unit rows; a task longer than the model's window gets the mean of its windows."""
    windows = [embedder.windows(text) for text in texts]
    flat = embedder.embed([window for some in windows for window in some])
    if len(flat) == len(texts):
        return flat
    ends = np.cumsum([len(some) for some in windows])
    means = np.array([rows.mean(axis=0) for rows in np.split(flat, ends[:-1])], dtype=np.float32)
    return np.asarray(means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-12), dtype=np.float32)


def embed_all_tasks(parts: Backends) -> int:
    """Embed the task of every case and look-up that has no vector in the file; return how many there are."""
    return sum(len(load_vectors(load_tasks(graph, parts), parts)) for graph in _list_graphs(parts))


def find_task_differences(parts: Backends) -> list[Difference]:
    """Return the differences between the vectors of tasks and the graph; change nothing."""
    known = parts.indexes.file.read_state_digests()
    wanted = {iri: digest(text) for graph in _list_graphs(parts) for iri, text in load_tasks(graph, parts).items()}
    differences = [
        Difference(what="missing-vector", iri=iri, detail="no vector of its state in the file")
        for iri in wanted.keys() - known
    ]
    differences += [
        Difference(what="orphan-vector", iri=iri, detail="the graph has no such case or retrieval")
        for iri in known.keys() - wanted
    ]
    differences += [
        Difference(what="outdated-vector", iri=iri, detail="the task has changed since it was embedded")
        for iri in known.keys() & wanted
        if known[iri] != wanted[iri]
    ]
    return sorted(differences, key=lambda one: (one.what, one.iri))


def _list_graphs(parts: Backends) -> list[IRI]:
    return [graph for graph in parts.graph.graphs() if graph.startswith(CASES)]


def list_domains(tenant: str, parts: Backends) -> list[IRI]:
    """Return the graphs of a tenant's cases, sorted."""
    return [graph for graph in parts.graph.graphs() if graph.startswith(cases_iri(tenant, ""))]


def list_case_iris(graph: IRI, past: bool, store: Store) -> list[IRI]:
    """List the cases in a graph, sorted; with `past`, the forgotten ones too."""
    found = {subject for subject, *_ in map(to_own_quad, store.match(None, TYPE, MEM.Case, graph))}
    gone = set() if past else {subject for subject in found if any(store.match(subject, MEM.expiredAt, None, graph))}
    return sorted(found - gone)


def read_cases(iris: Sequence[IRI], graph: IRI, name: str, store: Store, *, steps: bool) -> tuple[CaseShown, ...]:
    """
    Read some cases of a graph, in order, without what they earned; those that cannot be read are left out.

    Args:
        name: the name of the domain.
        steps: read their steps too.
    """
    if not iris:
        return ()
    rows = {row["case"]: row for row in store.select("exchange/cases", [graph], case=iris)}
    links: dict[Any, list[Row]] = {}
    for row in store.select("exchange/case_links", [graph], case=iris):
        links.setdefault(row["case"], []).append(row)
    return tuple(_to_case(rows[iri], links.get(iri, []), graph, name, store, steps) for iri in iris if iri in rows)


def _to_case(row: Row, links: Sequence[Row], graph: IRI, name: str, store: Store, steps: bool) -> CaseShown:
    iri, way = row["case"], row.get("trajectory")
    steps_taken: tuple[TaskStep, ...] = ()
    if way and steps:
        with suppress(NotFound):  # only its trajectory cannot be read
            steps_taken = read_run(way, graph, store).list_steps()
    return CaseShown(
        iri=iri,
        task=str(row["task"]),
        plan=str(row["plan"]),
        domain=name,
        at=row["at"],
        reward=row.get("reward"),
        q=row.get("q"),
        about=tuple(link["about"] for link in links if "about" in link),
        derived_from=tuple(link["derivedFrom"] for link in links if "derivedFrom" in link),
        tags=tuple(tag_name(link["tag"]) for link in links if "tag" in link),
        trajectory=way,
        steps=steps_taken,
        verdicts=tuple(_to_verdict(link) for link in links if "reward" in link),
        expired_at=row.get("expiredAt"),
    )


def _to_verdict(row: Row) -> Verdict:
    return Verdict(
        reward=float(str(row["reward"])),
        at=row["at"],
        outcome=row.get("outcome"),
        efficiency=row.get("efficiency"),
        score=row.get("score"),
        reason=row.get("reason"),
    )


def load_quads(cases: Sequence[IRI], domain: IRI, parts: Backends) -> tuple[Quad, ...]:
    """Load all quads of some cases, or trajectories of runs, including everything that belongs to them alone."""
    quads: dict[Quad, None] = {}
    for begin in range(0, len(cases), _AT_ONCE):
        rows = parts.graph.select("exchange/case_traces", [domain], case=cases[begin : begin + _AT_ONCE])
        for row in rows:
            quads[(row["subject"], row["predicate"], row["value"], domain)] = None
    return tuple(quads)


def weights_path(graph: IRI, home: DataFolder) -> Path:
    """Return the file with the weights of a domain's Q function."""
    return home.weights / f"{sha256(graph.encode()).hexdigest()[:32]}.npz"


def drop_weights(change: Change | None, home: DataFolder) -> None:
    """Delete what was learned from cases that a change erases: it is erased with them."""
    for graph in {quad[3] for quad in change.removes if quad[1:3] == (TYPE, MEM.Case)} if change else ():
        weights_path(graph, home).unlink(missing_ok=True)


def drop_traces(gone: Sequence[Quad], parts: Backends) -> None:
    """Remove other data of erased cases: their vectors, those of their texts, and snapshots of the store."""
    parts.snapshots.drop()
    parts.indexes.file.write_states([], sorted({quad[0] for quad in gone}))
    parts.embedder.discard([str(value) for _, predicate, value, _ in gone if predicate == MEM.content])


def find_derived_cases(nodes: Sequence[IRI], tenant: str, parts: Backends) -> tuple[tuple[IRI, ...], tuple[Quad, ...]]:
    """
    Return the cases of a tenant that were derived from some memories or notes, and all quads of these cases and of such unfinished
    runs.

    *Because:* a plan or a result may repeat what a memory said, and this cannot be detected.
    """
    graphs = list_domains(tenant, parts)
    rows = parts.graph.select("exchange/derived_cases", graphs, node=nodes) if graphs and nodes else []
    by_graph: dict[IRI, list[IRI]] = {}
    for row in rows:
        by_graph.setdefault(row["graph"], []).append(row.get("case", row.get("run")))
    gone = tuple(quad for graph, some in by_graph.items() for quad in load_quads(some, graph, parts))
    return tuple(dict.fromkeys(row["case"] for row in rows if "case" in row)), gone


def find_look_ups(names: Sequence[str], tenant: str, parts: Backends) -> tuple[Quad, ...]:
    """Return all quads of a tenant's retrievals whose tasks contain one of some names."""
    graphs = list_domains(tenant, parts)
    wanted = [f" {' '.join(tokens(name))} " for name in names if tokens(name)]
    gone: list[Quad] = []
    for row in parts.graph.select("exchange/case_questions", graphs) if graphs and wanted else ():
        task, graph = f" {' '.join(tokens(str(row['task'])))} ", row["graph"]
        if any(name in task for name in wanted):
            found = parts.graph.select("exchange/case_look_ups", [graph], retrieval=row["retrieval"])
            gone += [(one["subject"], one["predicate"], one["value"], graph) for one in found]
    return tuple(dict.fromkeys(gone))
