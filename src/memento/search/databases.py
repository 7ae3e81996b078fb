"""
The engines that keep entries in the tables of a vector database: LanceDB, in a folder or an object store, and Milvus.

*Flow:* an `Entry` is one row for each window of its text; text, keys and records stand in the first row alone, so that words and
keys find a node once.

*Guarantees:* an exception of a library does not leave this file: it is an `EngineError`. LanceDB replaces and drops in one commit.

*But:* Milvus replaces by a deletion before an insertion: a question in between misses the entry, a kill in between leaves it out
until the node that was killed, or another one, puts it again from the store.
"""

from __future__ import annotations

import json
import logging
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from threading import Lock
from typing import Any, TypeVar

import numpy as np

from memento.assets import install_line
from memento.errors import EngineError, MissingPart
from memento.iris import IRI
from memento.ports import Vectors
from memento.search.engine import KINDS, Engine, Entry, Hit, Where, time_calls
from memento.settings import IndexSettings

T = TypeVar("T")

_TABLE = "memento"
_TIMES = ("valid_from", "valid_until", "believed_from", "believed_until", "known_since")
_SEEN = IRI("urn:memento:seen")
"""The row whose `believed_from` is the sequence of the store that the table has seen."""
_AT_ONCE = 500  # names in one condition
_LATE = 64  # commits after which LanceDB is to be settled: each leaves a fragment
_INDEXED = 50_000  # rows from which on vectors are found by an index
_BREADTH, _REFINED = (
    1500,
    4,
)  # efSearch, and how many times `k` are compared exactly: measured at 100,000 rows, recall .94
_RETRY_S = 30.0

_SOURCE = re.compile(r"[, ] ?/[^\s:]++:\d++:\d++")
"""Where an error was raised in the code of an engine, which helps nobody here."""


@contextmanager
def _translate(name: str, caught: tuple[type[BaseException], ...]) -> Iterator[None]:
    try:
        yield
    except caught as error:
        lines = str(error).splitlines() or [type(error).__name__]
        said = _SOURCE.sub("", lines[0])[:300]
        raise EngineError(
            f"{name} failed: {said}; where it has lost its table, `memento rebuild` makes it again"
        ) from error


class Lance:
    """A table of LanceDB in a folder, or in an object store (`s3://bucket/path`, keys from the environment)."""

    def __init__(self, uri: str, token: str | None, dimensions: int) -> None:
        """
        Args:
            token: of LanceDB's own service; None for a folder or an object store.
        """
        try:
            import lancedb
            import pyarrow as pa
        except ImportError as error:
            raise MissingPart(f"index.kind = 'lance' needs LanceDB: {install_line('lance')}") from error
        self.dimensions = dimensions
        self._pa = pa
        self._caught = (RuntimeError, OSError, ValueError, pa.lib.ArrowException)
        self._lock = Lock()
        self._commits = 0
        with self._failing():
            # Without an interval a node would read what it saw first; 0 looks for a new version at each question.
            self._db: Any = lancedb.connect(uri, api_key=token, read_consistency_interval=timedelta(0))
            self._open()

    def _failing(self) -> Any:
        return _translate("LanceDB", self._caught)

    def _open(self) -> None:
        with suppress(ValueError):
            self._table: Any = self._db.open_table(_TABLE)
            width = self._table.schema.field("vector").type.list_size
            if width != self.dimensions:
                raise EngineError(
                    f"the table has vectors of {width} numbers, the embedder makes {self.dimensions}: rebuild it"
                )
            return
        from lancedb.index import FTS, Bitmap, BTree, LabelList

        pa = self._pa
        schema = pa.schema(
            [
                *(pa.field(name, pa.utf8(), nullable=False) for name in ("iri", "graph", "kind")),
                pa.field("window", pa.int32(), nullable=False),
                pa.field("vector", pa.list_(pa.float32(), self.dimensions), nullable=False),
                pa.field("text", pa.utf8()),
                *(pa.field(name, pa.int64(), nullable=False) for name in _TIMES),
                pa.field("keys", pa.list_(pa.utf8())),
                pa.field("packed", pa.binary()),
            ]
        )
        try:
            self._table = self._db.create_table(_TABLE, schema=schema)
        except ValueError:  # another node has just made it
            self._table = self._db.open_table(_TABLE)
            return
        plain = FTS(
            base_tokenizer="whitespace",
            lower_case=False,
            stem=False,
            remove_stop_words=False,
            ascii_folding=False,
            max_token_length=None,
        )
        for name, config in (
            ("text", plain),
            ("iri", BTree()),
            ("graph", Bitmap()),
            ("kind", Bitmap()),
            ("keys", LabelList()),
        ):
            self._table.create_index(name, config=config)

    @property
    def seen(self) -> int:
        with self._failing():
            rows = self._table.search().where(f"iri = '{_SEEN}'").select(["believed_from"]).limit(1).to_arrow()
            return int(rows["believed_from"][0].as_py()) if rows.num_rows else 0

    def put(self, entries: Sequence[Entry], gone: Collection[IRI] = (), seen: int | None = None) -> None:
        rows = [*entries, *([_seen_entry(seen, self.dimensions)] if seen is not None and seen > self.seen else [])]
        iris = [one.iri for one in rows] + [*gone]
        if not iris:
            return
        with self._failing(), self._lock:
            if rows:
                replaced = f"iri IN ({_quoted(iris)})"
                self._table.merge_insert(
                    ["iri", "window"]
                ).when_matched_update_all().when_not_matched_insert_all().when_not_matched_by_source_delete(
                    replaced
                ).execute(self._build_rows(rows), timeout=timedelta(seconds=_RETRY_S))
            else:
                self._table.delete(f"iri IN ({_quoted(iris)})")
            self._commits += 1
        if self._commits >= _LATE:
            self.settle()

    def _build_rows(self, entries: Sequence[Entry]) -> Any:
        pa, columns = self._pa, _columns(entries, self.dimensions)
        vectors = pa.FixedSizeListArray.from_arrays(pa.array(columns.pop("vector").ravel()), self.dimensions)
        return pa.table({**columns, "vector": vectors}).select(self._table.schema.names).cast(self._table.schema)

    def nearest(self, asked: Vectors, k: int, where: Where) -> list[Hit]:
        best: dict[IRI, float] = {}
        with self._failing():
            for row in asked:
                query = self._table.search(row, vector_column_name="vector").distance_type("cosine")
                query = query.where(f"{_condition(where)} AND window >= 0", prefilter=True).ef(max(_BREADTH, 2 * k))
                # Windows of one text crowd each other out.
                found = query.refine_factor(_REFINED).limit(2 * k).select(["iri", "_distance"]).to_arrow()
                for iri, distance in zip(found["iri"].to_pylist(), found["_distance"].to_pylist(), strict=True):
                    best[IRI(iri)] = max(best.get(IRI(iri), -1.0), 1.0 - distance)
        return _ranked(best, k)

    def words(self, stems: Sequence[str], k: int, where: Where) -> list[Hit]:
        from lancedb.query import MatchQuery

        if not stems:
            return []
        with self._failing():
            match: Any = MatchQuery
            query = self._table.search(match(" ".join(stems), "text"), query_type="fts")
            found = query.where(_condition(where), prefilter=True).limit(k).select(["iri", "_score"]).to_arrow()
        return _ranked(dict(zip(map(IRI, found["iri"].to_pylist()), found["_score"].to_pylist(), strict=True)), k)

    def linked(self, keys: Sequence[str], most: int, where: Where) -> list[IRI]:
        found: dict[IRI, None] = {}
        with self._failing():
            for some in _portions(dict.fromkeys(keys)):
                condition = f"array_has_any(keys, [{_quoted(some)}]) AND {_condition(where)}"
                rows = self._table.search().where(condition).select(["iri"]).limit(most).to_arrow()
                found.update(dict.fromkeys(map(IRI, rows["iri"].to_pylist())))
        return [*found][:most]

    def records(self, iris: Sequence[IRI] | None, graphs: Sequence[IRI] = ()) -> list[Entry]:
        found: list[Any] = []
        with self._failing():
            within = _condition(Where(graphs=graphs, kinds=()))
            for some in [None] if iris is None else _portions(dict.fromkeys(iris)):
                condition = within if some is None else f"iri IN ({_quoted(some)}) AND {within}"
                found.append(self._table.search().where(condition).limit(1_000_000).to_arrow())
        if not found:
            return []
        rows = self._pa.concat_tables(found)
        flat = rows["vector"].combine_chunks()
        vectors = np.asarray(flat.values if hasattr(flat, "values") else flat.flatten(), dtype=np.float32)
        columns = {name: rows[name].to_pylist() for name in rows.schema.names if name != "vector"}
        return _entries(columns, vectors.reshape(-1, self.dimensions))

    def sample(self, most: int, where: Where) -> list[str]:
        with self._failing():
            condition = f"{_condition(where)} AND text IS NOT NULL"
            return list(
                self._table.search().where(condition).select(["text"]).limit(most).to_arrow()["text"].to_pylist()
            )

    def count(self, where: Where) -> int:
        with self._failing():
            return int(self._table.count_rows(f"{_condition(where)} AND window <= 0"))

    def settle(self) -> None:
        """Join the fragments of small writes, bring the indexes up to them, and make one of vectors where there are many."""
        from lancedb.index import HnswSq

        with self._failing(), self._lock:
            self._commits = 0
            with suppress(*self._caught):  # another node does it now
                self._table.optimize(cleanup_older_than=timedelta(hours=1))
            has_index = any("vector" in one.columns for one in self._table.list_indices())
            if not has_index and self._table.count_rows("window >= 0") >= _INDEXED:
                self._table.create_index("vector", config=HnswSq(distance_type="cosine", ef_construction=300, m=20))

    def purge(self) -> None:
        with self._failing(), self._lock:
            # Twice: the first makes rows without what was dropped, the second lets go of the versions that had it.
            for _ in range(2):
                self._table.optimize(cleanup_older_than=timedelta(milliseconds=1))

    def clear(self) -> None:
        with self._failing():
            self._db.drop_table(_TABLE, ignore_missing=True)
            self._open()

    def close(self) -> None:
        return


class Milvus:
    """A collection of Milvus: a cluster (`http://host:19530`), `milvus-lite server`, or a file for one process."""

    def __init__(self, uri: str, token: str | None, dimensions: int) -> None:
        """
        Args:
            token: `user:password` or a key, where the cluster asks for one.
        """
        try:
            import grpc
            from pymilvus import MilvusClient
            from pymilvus.exceptions import MilvusException
        except ImportError as error:
            raise MissingPart(f"index.kind = 'milvus' needs pymilvus: {install_line('milvus')}") from error
        logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # it logs what it was asked
        self.dimensions = dimensions
        self._refused = MilvusException
        self._caught = (MilvusException, grpc.RpcError, ValueError, OSError, TimeoutError)
        with self._failing():
            self._client: Any = MilvusClient(uri, token=token or "")
            self._open()

    def _failing(self) -> Any:
        return _translate("Milvus", self._caught)

    def _ask(self, call: str, *given: Any, **named: Any) -> Any:
        """Ask the server about the collection; one that was started again has it on disk alone, and loads it first."""
        ask = getattr(self._client, call)
        try:
            return ask(_TABLE, *given, **named)
        except self._refused as error:
            if error.code != _NOT_LOADED:
                raise
            self._client.load_collection(_TABLE)
            return ask(_TABLE, *given, **named)

    def _open(self) -> None:
        from pymilvus import DataType, Function, FunctionType

        client = self._client
        if client.has_collection(_TABLE):
            client.load_collection(_TABLE)
            return
        schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=1100)
        for name, length in (("iri", 1024), ("graph", 512), ("kind", 16)):
            schema.add_field(name, DataType.VARCHAR, max_length=length)
        schema.add_field("window", DataType.INT64)
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=self.dimensions)
        schema.add_field(
            "text", DataType.VARCHAR, max_length=65_535, enable_analyzer=True, analyzer_params={"tokenizer": "standard"}
        )
        schema.add_field("sparse", DataType.SPARSE_FLOAT_VECTOR)
        for name in _TIMES:
            schema.add_field(name, DataType.INT64)
        schema.add_field("keys", DataType.ARRAY, element_type=DataType.VARCHAR, max_capacity=4096, max_length=1024)
        schema.add_field("packed", DataType.VARCHAR, max_length=65_535)
        schema.add_function(
            Function("bm25", FunctionType.BM25, input_field_names=["text"], output_field_names=["sparse"])
        )
        indexes = client.prepare_index_params()
        indexes.add_index("vector", index_type="AUTOINDEX", metric_type="COSINE")
        indexes.add_index("sparse", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25")
        client.create_collection(_TABLE, schema=schema, index_params=indexes, consistency_level="Strong")

    @property
    def seen(self) -> int:
        with self._failing():
            rows = self._ask("get", ids=[_key(_SEEN, -1)], output_fields=["believed_from"])
            return int(rows[0]["believed_from"]) if rows else 0

    def put(self, entries: Sequence[Entry], gone: Collection[IRI] = (), seen: int | None = None) -> None:
        with self._failing():
            known = self._find_keys([*(one.iri for one in entries), *gone]) if entries or gone else set()
            rows = self._build_rows(entries)
            for some in _portions(rows):
                self._ask("upsert", list(some))
            # What is no longer needed goes last: a question in between finds the entry, old or new.
            if late := sorted(known.difference(row["id"] for row in rows)):
                self._ask("delete", filter=f"id in {_listed(late)}")
            if seen is not None and seen > self.seen:  # when all before it is there
                self._ask("upsert", self._build_rows([_seen_entry(seen, self.dimensions)]))

    def _find_keys(self, iris: Sequence[IRI]) -> set[str]:
        found: set[str] = set()
        for some in _portions(dict.fromkeys(iris)):
            rows = self._ask("query", filter=f"iri in {_listed(some)}", output_fields=["id"])
            found |= {row["id"] for row in rows}
        return found

    def _build_rows(self, entries: Sequence[Entry]) -> list[dict[str, Any]]:
        columns = _columns(entries, self.dimensions)
        vectors = columns.pop("vector")
        rows = []
        for place, vector in enumerate(vectors):
            row = {name: column[place] for name, column in columns.items()}
            packed = b64encode(row["packed"] or b"").decode()
            row |= {"id": _key(row["iri"], row["window"]), "vector": vector.tolist()}
            row |= {"text": _shorten_text(row["text"] or ""), "keys": row["keys"] or [], "packed": packed[:_LONGEST]}
            rows.append(row)
            for part, begin in enumerate(range(_LONGEST, len(packed), _LONGEST), start=1):
                window = -1 - part
                more = {"id": _key(row["iri"], window), "window": window, "packed": packed[begin : begin + _LONGEST]}
                rows.append({**row, **more, "text": "", "keys": [], "kind": "part"})
        return rows

    def nearest(self, asked: Vectors, k: int, where: Where) -> list[Hit]:
        best: dict[IRI, float] = {}
        with self._failing():
            found = self._ask(
                "search",
                data=[row.tolist() for row in asked],
                anns_field="vector",
                filter=f"{_condition(where, _listed)} AND window >= 0",
                limit=min(2 * k, _MOST),
                output_fields=["iri"],
                search_params={"metric_type": "COSINE", "params": {"ef": max(_BREADTH, 2 * k)}},
            )
        for hit in (hit for hits in found for hit in hits):
            iri = IRI(hit["entity"]["iri"])
            best[iri] = max(best.get(iri, -1.0), float(hit["distance"]))
        return _ranked(best, k)

    def words(self, stems: Sequence[str], k: int, where: Where) -> list[Hit]:
        if not stems:
            return []
        with self._failing():
            [found] = self._ask(
                "search",
                data=[_shorten_text(" ".join(stems))],
                anns_field="sparse",
                filter=_condition(where, _listed),
                limit=min(k, _MOST),
                output_fields=["iri"],
                search_params={"metric_type": "BM25"},
            )
        # Lite gives the score below zero, a cluster above.
        return _ranked({IRI(hit["entity"]["iri"]): abs(float(hit["distance"])) for hit in found}, k)

    def linked(self, keys: Sequence[str], most: int, where: Where) -> list[IRI]:
        found: dict[IRI, None] = {}
        with self._failing():
            for some in _portions(dict.fromkeys(keys)):
                condition = f"ARRAY_CONTAINS_ANY(keys, {_listed(some)}) AND {_condition(where, _listed)}"
                rows = self._ask("query", filter=condition, output_fields=["iri"], limit=min(most, _MOST))
                found.update(dict.fromkeys(IRI(row["iri"]) for row in rows))
        return [*found][:most]

    def records(self, iris: Sequence[IRI] | None, graphs: Sequence[IRI] = ()) -> list[Entry]:
        columns: dict[str, list[Any]] = {name: [] for name in _STORED}
        names, vectors = [*_STORED, "vector"], []
        parts: list[Any] = []
        with self._failing():
            within = _condition(Where(graphs=graphs, kinds=("part", *KINDS)), _listed)
            for some in [None] if iris is None else _portions(dict.fromkeys(iris)):
                condition = within if some is None else f"iri in {_listed(some)} AND {within}"
                parts += self._ask("query", filter=condition, output_fields=names, limit=_MOST)
        longer: dict[str, dict[int, str]] = {}
        for row in parts:
            if row["window"] < -1:
                longer.setdefault(row["iri"], {})[-row["window"]] = row["packed"]
        for row in (row for row in parts if row["window"] >= -1):
            more = longer.get(row["iri"], {})
            row["packed"] = b64decode(row["packed"] + "".join(more[number] for number in sorted(more)))
            for name in _STORED:
                columns[name].append(row[name])
            vectors.append(row["vector"])
        return _entries(columns, np.array(vectors, dtype=np.float32).reshape(-1, self.dimensions))

    def sample(self, most: int, where: Where) -> list[str]:
        with self._failing():
            condition = f"{_condition(where, _listed)} AND window <= 0"
            rows = self._ask("query", filter=condition, output_fields=["text"], limit=min(most, _MOST))
            return [row["text"] for row in rows]

    def count(self, where: Where) -> int:
        with self._failing():
            condition = f"{_condition(where, _listed)} AND window <= 0"
            return int(self._ask("query", filter=condition, output_fields=["count(*)"])[0]["count(*)"])

    def settle(self) -> None:
        with self._failing():
            self._ask("flush")

    def purge(self) -> None:
        with self._failing():
            self._ask("flush")
            self._ask("compact")

    def clear(self) -> None:
        with self._failing():
            self._client.drop_collection(_TABLE)
            self._open()

    def close(self) -> None:
        with self._failing():
            self._client.close()


_STORED = ("iri", "graph", "kind", "window", "text", *_TIMES, "keys", "packed")
_LONGEST = 65_000  # bytes of a text in Milvus
_MOST = 16_384  # rows that Milvus gives at once
_NOT_LOADED = 101  # Milvus: ErrCollectionNotLoaded


def _columns(entries: Sequence[Entry], dimensions: int) -> dict[str, Any]:
    """Return the rows of some entries, column by column: one for each window, -1 where there is none."""
    columns: dict[str, Any] = {name: [] for name in _STORED}
    vectors: list[Vectors] = []
    for one in entries:
        windows = len(one.vectors)
        vectors.append(one.vectors if windows else np.zeros((1, dimensions), dtype=np.float32))
        for window in range(windows) or (-1,):
            is_first = window <= 0
            once = (list(one.keys), one.packed) if is_first else (None, None)
            row = (one.iri, one.graph, one.kind, window, one.text if is_first else None, *one.times, *once)
            for name, value in zip(_STORED, row, strict=True):
                columns[name].append(str(value) if isinstance(value, IRI) else value)
    columns["vector"] = np.concatenate(vectors) if vectors else np.zeros((0, dimensions), dtype=np.float32)
    return columns


def _entries(columns: dict[str, list[Any]], vectors: Vectors) -> list[Entry]:
    """Return the entries of some rows, which may be in any order."""
    rows: dict[IRI, dict[int, int]] = {}
    for place, (iri, window) in enumerate(zip(columns["iri"], columns["window"], strict=True)):
        rows.setdefault(IRI(iri), {})[window] = place
    found = []
    for iri, windows in rows.items():
        first = windows.get(-1, windows.get(0))
        if first is None:  # its first row is being replaced
            continue
        found.append(
            Entry(
                iri=iri,
                graph=IRI(columns["graph"][first]),
                kind=columns["kind"][first],
                vectors=vectors[[windows[window] for window in sorted(windows) if window >= 0]],
                text=columns["text"][first] or "",
                times=tuple(columns[name][first] for name in _TIMES),
                keys=tuple(columns["keys"][first] or ()),
                packed=bytes(columns["packed"][first] or b""),
            )
        )
    return found


def _seen_entry(seen: int, dimensions: int) -> Entry:
    nothing = np.zeros((0, dimensions), dtype=np.float32)
    return Entry(iri=_SEEN, graph=_SEEN, kind="seen", vectors=nothing, text="", times=(0, 0, seen, 0, 0))


def _condition(where: Where, several: Callable[[Iterable[str]], str] | None = None) -> str:
    """Return what an entry has to be, in the words that both databases know; they write `several` names each in its way."""
    several = several or (lambda names: f"({_quoted(names)})")
    parts = [f"kind IN {several(where.kinds or KINDS)}"]
    if where.graphs:
        parts.append(f"graph IN {several(where.graphs)}")
    if (now := where.current) is not None:
        parts.append(f"(valid_until > {now} OR known_since > {now}) AND believed_until > {now}")
    return " AND ".join(parts)


def _portions(items: Iterable[T]) -> Iterator[Sequence[T]]:
    every = list(items)
    return (every[begin : begin + _AT_ONCE] for begin in range(0, len(every), _AT_ONCE))


def _quoted(names: Iterable[str]) -> str:
    return ", ".join("'" + name.replace("'", "''") + "'" for name in names)


def _listed(names: Iterable[str]) -> str:
    return json.dumps([str(name) for name in names], ensure_ascii=False)


def _ranked(best: dict[IRI, float], k: int) -> list[Hit]:
    order = sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))
    return [Hit(iri, float(score)) for iri, score in order[:k]]


def _key(iri: str, window: int) -> str:
    return f"{iri} {window}"


def _shorten_text(text: str) -> str:
    """Return the words of a text that Milvus takes: the first 65,000 bytes of them."""
    if len(text.encode()) <= _LONGEST:
        return text
    return text.encode()[:_LONGEST].decode(errors="ignore").rpartition(" ")[0]


def open_engine(settings: IndexSettings, dimensions: int) -> Engine | None:
    """
    Return the engine of the settings; None for the index in memory that is kept in the data folder.

    Raises:
        MissingPart: its package is not installed.
        EngineError: it cannot be opened or reached.
    """
    if settings.kind == "faiss":
        return None
    opened = Lance if settings.kind == "lance" else Milvus
    return time_calls(opened(settings.uri, settings.token, dimensions))
