"""
The vectors of one kind of node in memory, for similarity search. Up to a configured number, a search compares all of them; above
it, it uses a FAISS inverted file of 8-bit codes, or an HNSW graph over such codes, and compares the hits again by the full vectors.

`Sketch` keeps the signs of vectors, 48 bytes for 384 numbers: it finds rows that may be near in a millisecond per hundred thousand
rows.

*But:* the kind of index is chosen at start; an index that grows past the limit keeps its kind. HNSW cannot remove rows: a removed
row stays in the graph as a connection between others and is never returned, until the graph is rebuilt, which happens when the
index is stored and less than `_LEAST_USED` of its rows are in use. The fewer rows a filter allows, the more rows an HNSW search
examines; if it still finds too few, it finally compares every allowed row. A sketch orders its hits only approximately;
`VectorIndex.near` compares the rows.

*Source:* Charikar 2002, STOC: the share of signs that differ estimates the angle. Malkov and Yashunin 2018, TPAMI: HNSW.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import faiss
import numpy as np
from numpy.typing import NDArray

from memento.ports import Vectors
from memento.search.arrays import Arrays, distinct, nest_arrays, select_part, spans
from memento.search.index import FLAT, Context, Everything, Index, Update, register
from memento.search.nodes import Ids, Kind, Mask, Record
from memento.search.vectors import VectorFile
from memento.settings import Above

Values = NDArray[np.float32]

_KEPT_AS: Mapping[Above, str] = {"ivf": "codes", "hnsw": "links"}

_LIST = 1000  # vectors per list of the inverted file
_SAMPLE = 40  # training vectors per list
_PROBES = 24  # lists that a search examines first
_EXACT = 4_000  # rows up to which all are compared even where the result need not be exact
_POOL = 256  # candidate rows found by their signs
_READ = 20_000  # rows up to which vectors are stored in the vector file alone
_FEW = 20_000  # allowed vectors up to which all are compared, whatever the index
_NEIGHBOURS = 16  # per row in an HNSW graph: M, as published
_BREADTH = 50  # rows that an HNSW search keeps as candidates: efSearch, as published
_BUILD_BREADTH = 200  # the same while the graph is built: efConstruction, as published
_STARVED = 10  # if fewer than one row in this many is allowed, an HNSW search finds too few
_LEAST_USED = 0.7  # share of an HNSW graph's rows that must be in use, or it is rebuilt


class VectorIndex:
    """An index whose rows are only appended; removed ones are masked out. A node has one row for each window of its text."""

    def __init__(self, dimensions: int, flat: int = FLAT, above: Above = "ivf") -> None:
        """
        Args:
            flat: number of rows up to which a search compares every one.
            above: the index structure that a search uses above that number.
        """
        self._flat, self._above = flat, above
        self._index: Any = faiss.IndexFlatIP(dimensions)
        self._dimensions = dimensions
        self._coded = False  # whether the index holds codes alone; the rows are then stored beside it
        self._base: Vectors = np.zeros((0, dimensions), dtype=np.float32)
        self._more: Vectors = np.zeros((0, dimensions), dtype=np.float32)
        self._owner = np.zeros(0, dtype=np.int32)
        self._first = np.zeros(0, dtype=np.int64)
        self._count = np.zeros(0, dtype=np.int32)
        self._used = self._nodes = self._here = 0
        self._sketch: Sketch | None = None  # built when `near` first needs it

    def __len__(self) -> int:
        return self._nodes

    def put(self, nodes: Sequence[int] | Ids, vectors: Sequence[Vectors]) -> None:
        """Add nodes with their (windows, d) unit vectors, replacing their earlier ones."""
        if len(nodes):
            self.fill(
                np.asarray(nodes, dtype=np.int32),
                np.array([len(found) for found in vectors]),
                np.concatenate(list(vectors)),
            )

    def fill(self, nodes: Ids, counts: NDArray[np.integer], rows: Vectors) -> None:
        """Do the same with the rows of all nodes in one array, `counts[i]` of them for `nodes[i]`."""
        for node in nodes[(nodes < len(self._count))].tolist():
            self.drop(node)
        self._reach(int(nodes.max(initial=-1)) + 1)
        begin, self._used = self._used, self._used + len(rows)
        if self._used > len(self._owner):
            spare = np.full(max(self._used, 2 * len(self._owner)) - len(self._owner), -1, dtype=np.int32)
            self._owner = np.concatenate([self._owner, spare])
        self._owner[begin : self._used] = np.repeat(nodes, counts)
        self._first[nodes] = begin + np.cumsum(counts) - counts
        self._count[nodes] = counts
        self._nodes += int((counts > 0).sum())
        self._here += len(rows)
        rows = np.ascontiguousarray(rows, dtype=np.float32)
        if self._coded:
            self._more = np.concatenate([self._more, rows])
            self._index.add(rows)
        elif not begin and len(rows) > self._flat:
            self._base, self._coded = rows, True
            self._index = self._train(rows)
        else:
            self._index.add(rows)

    def __contains__(self, node: int) -> bool:
        return node < len(self._count) and bool(self._count[node])

    def drop(self, node: int) -> None:
        """Make a node unfindable; harmless when it has no vector."""
        if node < len(self._count) and (count := int(self._count[node])):
            first = int(self._first[node])
            self._owner[first : first + count] = -1
            self._count[node] = 0
            self._nodes -= 1
            self._here -= count

    @property
    def is_whole(self) -> bool:
        """Whether a search compares every vector."""
        return not self._coded

    def vectors(self, nodes: Sequence[int] | Ids) -> Vectors:
        """Return (len(nodes), d): the first vector of each node, zeros where it has none; for comparing nodes with each other."""
        asked = np.asarray(nodes, dtype=np.int64)
        rows = np.zeros((len(asked), self._dimensions), dtype=np.float32)
        there = np.flatnonzero(self._counts(asked))
        rows[there] = self._rows(self._first[asked[there]])
        return rows

    def cosines(self, nodes: Sequence[int] | Ids, asked: Vectors) -> Values:
        """Return (len(nodes),) the best cosine of any window of a node to any row of `asked` (w, d); 0 where it has no vector."""
        wanted = np.asarray(nodes, dtype=np.int64)
        counts = self._counts(wanted)
        there = np.flatnonzero(counts)
        best = np.zeros(len(wanted), dtype=np.float32)
        if there.size:
            counts = counts[there]
            likeness = _products(self._rows(spans(self._first[wanted[there]], counts)), asked)
            best[there] = np.maximum.reduceat(likeness, np.cumsum(counts) - counts)
        return best

    def has_several(self, nodes: Sequence[int] | Ids) -> bool:
        """Tell whether one of some nodes has more than one vector."""
        return bool((self._counts(np.asarray(nodes, dtype=np.int64)) > 1).any())

    def likeness(self, asked: Vectors, size: int) -> Values:
        """
        Return (size,) for each id the best cosine of any of its windows with any row of `asked` (w, d); −1 where it has no vector.

        Compares every vector: some ten milliseconds for a hundred thousand.
        """
        best = np.full(size, -1.0, dtype=np.float32)
        if self._used:
            owner = self._owner[: self._used]
            stored = [self._base, self._more] if self._coded else [self._stored_rows()]
            scores = np.concatenate([_products(rows, asked) for rows in stored if len(rows)])
            if self._here < self._used:
                rows = np.flatnonzero(owner >= 0)
                owner, scores = owner[rows], scores[rows]
            if self._here == self._nodes:  # one window each
                best[owner] = scores
            else:
                np.maximum.at(best, owner, scores)
        return best

    def first_cosines(self, nodes: Sequence[int] | Ids, asked: Vectors) -> Values:
        """Return (len(nodes),) the best cosine of each node's first vector, its whole text, to any row of `asked` (w, d)."""
        return _products(self.vectors(nodes), asked)

    def search(self, asked: Vectors, k: int, inside: Mask) -> tuple[Ids, Values]:
        """
        Return the `k` nodes allowed by `inside` (ids,) whose best window is nearest to any row of `asked` (w, d).

        Returns:
            (≤ k,) ids and cosines, best first. Exactly k when that many are allowed. Above `flat` rows the search may miss some for
            others that are nearly as near, but not when few are allowed.
        """
        owner = self._owner[: self._used]
        allowed = np.zeros(self._used, dtype=np.bool_)
        if self._used and len(inside):
            reach = len(self._count) <= len(inside) or int(owner.max()) < len(inside)
            allowed = inside[
                owner if reach else np.minimum(owner, len(inside) - 1)
            ]  # a copy; entries for −1 are reset below
            if self._here < self._used or not reach:
                allowed &= (owner >= 0) & (owner < len(inside))
        count = int(np.count_nonzero(allowed))
        if not count:
            return np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.float32)
        is_graph = self._coded and self._above == "hnsw"
        if self._coded and count <= max(min(_FEW, self._used // _STARVED) if is_graph else _FEW, k):
            rows = np.flatnonzero(allowed)
            return _best_of(owner[rows], _products(self._rows(rows), asked), k)
        bits = np.packbits(allowed, bitorder="little")
        selector = faiss.IDSelectorBitmap(self._used, faiss.swig_ptr(bits))
        wanted, effort = (max(k, _BREADTH), _BREADTH * self._used // count) if is_graph else (k, _PROBES)
        most = self._used if is_graph else self._index.nlist if self._coded else 0
        # Windows of one text compete with each other: ask for more rows until k different nodes are found.
        while True:
            wanted = min(wanted, count)
            hits, rows = self._index.search(asked, wanted, params=self._parameters(selector, min(effort, most)))
            # Each row of the question needs k different nodes: the overall best are among these.
            if wanted == count or min(len(distinct(owner[row[row >= 0]])) for row in rows) >= k:
                break
            if effort < most:
                effort *= 4
            elif self._coded and (rows < 0).any():
                break
            wanted *= 2
        if (
            is_graph and (rows < 0).any() and len(distinct(owner[rows[rows >= 0]])) < k
        ):  # parts of the graph that no link reaches
            rows = np.flatnonzero(allowed)
        rows = np.unique(rows[rows >= 0]) if self._coded else rows
        scores = _products(self._rows(rows), asked) if self._coded else hits.ravel()
        return _best_of(owner[rows.ravel()], scores, k)

    def near(self, asked: Vectors, k: int, inside: Mask) -> tuple[Ids, Values]:
        """
        Do the same as `search`, but approximately: above some thousands of rows, only candidates found by their signs are compared.

        It finds a node whose cosine stands out; among nodes that are all far, it may miss some for others that are as far.
        """
        if self._used <= _EXACT or not len(inside):
            return self.search(asked, k, inside)
        owner = self._owner[: self._used]
        allowed = (owner >= 0) & (owner < len(inside))
        allowed &= inside[np.where(allowed, owner, 0)]
        if self._sketch is None:
            self._sketch = Sketch(self._dimensions)
        if len(self._sketch) < self._used:
            self._sketch.follow(self._rows(np.arange(len(self._sketch), self._used)))
        nearest = [self._sketch.nearest(one, max(_POOL, 4 * k), allowed) for one in asked]
        rows = np.unique(np.concatenate(nearest))
        return _best_of(owner[rows], _products(self._rows(rows), asked), k)

    def arrays(self) -> Arrays:
        """
        Return the arrays to store, without the rows that are masked out; an inverted file is built when there are enough rows.

        For few rows nothing is stored: the vector file has them and returns them as fast.
        """
        nodes = np.flatnonzero(self._count)
        counts = self._count[nodes]
        if self._coded and self._above == "hnsw" and self._here > max(_LEAST_USED * self._used, self._flat):
            rows = self._rows(np.arange(self._used))
            owner = self._owner[: self._used].copy()
            return {
                "nodes": nodes.astype(np.int32),
                "counts": counts,
                "rows": rows,
                "owner": owner,
                **self._pack(self._index),
            }
        packed = self._coded and self._here == self._used and bool((np.diff(self._first[nodes]) > 0).all())
        whole = packed and not len(self._more)
        rows = self._base if whole else self._rows(spans(self._first[nodes], counts))
        if len(rows) <= min(_READ, self._flat):
            return {"nodes": nodes.astype(np.int32)}
        kept: Arrays = {"nodes": nodes.astype(np.int32), "counts": counts, "rows": rows}
        if len(rows) > self._flat:
            kept |= self._pack(self._index if packed else self._train(rows))
        return kept

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], dimensions: int, flat: int = FLAT, above: Above = "ivf"
    ) -> Self:
        """Restore from what `arrays` returned; raise `KeyError` when the requested HNSW graph is not part of it."""
        index = cls(dimensions, flat, above)
        nodes, counts, rows = arrays["nodes"], arrays["counts"], arrays["rows"]
        if len(rows) <= flat or (above == "ivf" and _KEPT_AS[above] not in arrays):
            owner = arrays.get("owner", np.zeros(len(rows), dtype=np.int32))
            by_node = np.argsort(owner, kind="stable")[np.count_nonzero(owner < 0) :]
            index.fill(nodes, counts, rows[by_node])
            return index
        index._index, index._coded = faiss.deserialize_index(np.asarray(arrays[_KEPT_AS[above]])), True
        index._base, index._owner = rows, arrays.get("owner", np.repeat(nodes, counts))
        index._reach(int(nodes.max(initial=-1)) + 1)
        last_to_first = np.flatnonzero(index._owner >= 0)[::-1]
        index._first[index._owner[last_to_first]], index._count[nodes] = last_to_first, counts
        index._used, index._here, index._nodes = len(rows), len(last_to_first), len(nodes)
        return index

    def _train(self, rows: Vectors) -> Any:
        """Return an index of codes with the given rows, numbered in order."""
        dimensions = rows.shape[1]
        if self._above == "hnsw":
            code: Any = faiss.ScalarQuantizer.QT_8bit
            index: Any = faiss.IndexHNSWSQ(dimensions, code, _NEIGHBOURS, faiss.METRIC_INNER_PRODUCT)
            index.hnsw.efConstruction, index.hnsw.efSearch = _BUILD_BREADTH, _BREADTH
            sample = rows[:: max(len(rows) // 100_000, 1)]
        else:
            lists = max(len(rows) // _LIST, 1)
            index = faiss.index_factory(dimensions, f"IVF{lists},SQ8", faiss.METRIC_INNER_PRODUCT)
            sample = rows[:: max(len(rows) // (lists * _SAMPLE), 1)]
        index.train(np.ascontiguousarray(sample))
        for begin in range(0, len(rows), 100_000):
            index.add(np.ascontiguousarray(rows[begin : begin + 100_000]))
        return index

    def _pack(self, index: Any) -> Arrays:
        return {_KEPT_AS[self._above]: faiss.serialize_index(index)}

    def _parameters(self, selector: Any, effort: int) -> Any:
        if self._coded and self._above == "hnsw":
            return faiss.SearchParametersHNSW(sel=selector, efSearch=effort)  # type: ignore[attr-defined]
        if self._coded:
            return faiss.SearchParametersIVF(sel=selector, nprobe=effort)  # type: ignore[call-arg]
        return faiss.SearchParameters(sel=selector)  # type: ignore[call-arg]

    def _stored_rows(self) -> Vectors:
        """Return (rows, d) the vectors of a flat index, as a view of its memory."""
        stored: Vectors = faiss.rev_swig_ptr(self._index.get_xb(), self._used * self._dimensions)
        return stored.reshape(self._used, -1)

    def _rows(self, rows: NDArray[np.integer]) -> Vectors:
        if not self._coded:
            return np.asarray(self._stored_rows()[rows]) if self._used else self._base
        if not len(self._more):
            return np.asarray(self._base[rows])
        both = np.empty((len(rows), self._dimensions), dtype=np.float32)
        late = rows >= len(self._base)
        both[~late], both[late] = self._base[rows[~late]], self._more[rows[late] - len(self._base)]
        return both

    def _counts(self, nodes: NDArray[np.int64]) -> NDArray[np.int32]:
        known = nodes < len(self._count)
        return (
            np.where(known, self._count[np.where(known, nodes, 0)], 0)
            if len(self._count)
            else np.zeros(len(nodes), np.int32)
        )

    def _reach(self, size: int) -> None:
        if size > len(self._first):
            more = max(size, 2 * len(self._first), 64) - len(self._first)
            self._first = np.concatenate([self._first, np.zeros(more, dtype=np.int64)])
            self._count = np.concatenate([self._count, np.zeros(more, dtype=np.int32)])


def _products(rows: Vectors, asked: Vectors) -> Values:
    """
    Return (n,) the best product of each row with any of `asked`, by one thread: two threads that spin are slower on a busy machine.
    """
    rows, best = np.ascontiguousarray(rows), np.full(len(rows), -np.inf, dtype=np.float32)
    scores = np.empty(len(rows), dtype=np.float32)
    products: Any = faiss.fvec_inner_products_ny  # type: ignore[attr-defined]  # the stubs leave it out
    for one in np.ascontiguousarray(asked, dtype=np.float32):
        sizes = rows.shape[1], len(rows)
        products(faiss.swig_ptr(scores), faiss.swig_ptr(one), faiss.swig_ptr(rows), *sizes)
        np.maximum(best, scores, out=best)
    return best


def _best_of(nodes: Ids, scores: Values, k: int) -> tuple[Ids, Values]:
    """Return each node once with its best score, the `k` best first; ties by id."""
    order = np.lexsort((nodes, -scores))
    _, first = np.unique(nodes[order], return_index=True)
    kept = order[np.sort(first)][:k]
    return nodes[kept], scores[kept]


_WORD = 64


class Sketch:
    """
    The signs of rows, which are only appended.

    >>> sketch = Sketch(2)
    >>> sketch.follow(np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]], dtype=np.float32))
    >>> sketch.nearest(np.array([0.9, 0.8], dtype=np.float32), 1, np.ones(3, dtype=np.bool_)).tolist()
    [0]
    """

    def __init__(self, dimensions: int) -> None:
        self._words = -(-dimensions // _WORD)
        self._columns = np.zeros((self._words, 0), dtype=np.uint64)
        self._used = 0

    def __len__(self) -> int:
        return self._used

    def follow(self, rows: Vectors) -> None:
        """Append more rows (n, d)."""
        end = self._used + len(rows)
        if end > self._columns.shape[1]:
            more = max(end, 2 * self._columns.shape[1], 1024) - self._columns.shape[1]
            spare = np.zeros((self._words, more), dtype=np.uint64)
            self._columns = np.concatenate([self._columns, spare], axis=1)
        self._columns[:, self._used : end] = self._signs(rows).T
        self._used = end

    def nearest(self, asked: Vectors, count: int, allowed: NDArray[np.bool_]) -> NDArray[np.int64]:
        """
        Return the `count` rows whose signs differ least from those of `asked` (d,), ascending, and further rows that tie with the
        last of them.

        Args:
            allowed: (rows,) those that may be found; fewer are returned where fewer are allowed.
        """
        distances = np.zeros(self._used, dtype=np.uint16)
        for column, signs in zip(self._columns, self._signs(asked[None, :])[0], strict=True):
            distances += np.bitwise_count(column[: self._used] ^ signs)
        distances[~allowed] = self._words * _WORD + 1
        # Distances have few distinct values: counting them is quicker than sorting.
        within = np.cumsum(np.bincount(distances, minlength=self._words * _WORD + 2)[:-1])
        most = int(np.searchsorted(within, min(count, int(within[-1]))))
        near = np.flatnonzero(distances <= most)
        return np.asarray(near[distances[near] <= self._words * _WORD], dtype=np.int64)

    def _signs(self, rows: Vectors) -> NDArray[np.uint64]:
        bits = np.packbits(np.asarray(rows) > 0, axis=1)
        padded = np.zeros((len(bits), self._words * _WORD // 8), dtype=np.uint8)
        padded[:, : bits.shape[1]] = bits
        return padded.view(np.uint64)


@register
class KindVectors(Index):
    """The vectors of each kind of node."""

    name = "vectors"
    version = 2

    def __init__(self, context: Context | None = None, dimensions: int | None = None) -> None:
        """
        Args:
            dimensions: length of a vector, where it differs from the context's.
        """
        super().__init__(context)
        kinds: tuple[Kind, ...] = ("memory", "anchor", "key")
        self._shape = (dimensions or self.context.dimensions, self.context.flat, self.context.above)
        self._of = {kind: VectorIndex(*self._shape) for kind in kinds}
        self._unread = kinds  # kinds whose vectors are only in the vector file

    def __getitem__(self, kind: Kind) -> VectorIndex:
        return self._of[kind]

    def apply(self, update: Update) -> None:
        for kind, index in self._of.items():
            nodes = [node for node, record in update.fresh if record.kind == kind]
            index.put(nodes, [update.vectors[node] for node in nodes])

    def fill(self, everything: Everything) -> None:
        """Do nothing: `fill_vectors` does the work."""

    def fill_vectors(self, file: VectorFile) -> None:
        if not self._unread:
            return
        total, nodes = file.count_vectors(), self.context.nodes
        rows = np.empty((total, self._shape[0]), dtype=np.float32)
        owners = np.empty(total, dtype=np.int32)
        for place, (node, vector) in enumerate(file.read_all()):
            rows[place], owners[place] = vector, node
        for kind in self._unread:
            placed = np.isin(owners, np.flatnonzero(nodes.within(nodes.graphs(), kind)))
            some, counts = np.unique(owners[placed], return_counts=True)  # the file returns them by id
            if len(some):
                self._of[kind].fill(some.astype(np.int32), counts, rows[placed])
        self._unread = ()

    def forget_file(self) -> None:
        """Stop reading vectors from a file: all are loaded."""
        self._unread = ()

    def drop(self, node: int) -> None:
        self._of[self.context.nodes.kind(node)].drop(node)

    def holds(self, node: int, record: Record) -> bool:
        return record.kind is None or not record.is_embedded or node in self._of[record.kind]

    def arrays(self) -> Arrays:
        return nest_arrays({kind: index.arrays() for kind, index in self._of.items()})

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore from what `arrays` returned; `fill_vectors` does the rest."""
        parts = {kind: select_part(arrays, kind) for kind in self._of}
        self._unread = tuple(kind for kind, some in parts.items() if "rows" not in some and len(some["nodes"]))
        for kind, some in parts.items():
            if "rows" in some:
                self._of[kind] = VectorIndex.from_arrays(some, *self._shape)
