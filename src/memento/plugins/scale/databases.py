"""
Keep entries in the tables of a vector database: LanceDB, in a folder or an object store, or Milvus.

*Flow:* an `Entry` becomes one row for each window of its text; only the first row has text, keys and records, so that words and
keys find a node once. In LanceDB the first row also has the whole entry in one column: a search returns row ids, which its indexes
know, and that column is read for them.

*Guarantees:* no exception of a library leaves this file; it becomes an `EngineError`. LanceDB replaces and drops in one commit.

*But:* Milvus replaces a row by a deletion before an insertion: a question in between misses the entry, a kill in between leaves it
out until the killed node, or another one, puts it again from the store.
"""

from __future__ import annotations

import json
import logging
import random
import re
import time
import warnings
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from threading import Lock
from typing import Any, TypeVar

import msgspec
import numpy as np

from memento.assets import install_line
from memento.errors import EngineError, MissingPart
from memento.iris import IRI
from memento.plugins.scale.engine import KINDS, Engine, Entry, Hit, Where, time_calls
from memento.plugins.scale.settings import IndexSettings
from memento.ports import Vectors
from memento.search.nodes import NEVER

T = TypeVar("T")
logger = logging.getLogger(__name__)

_TABLE = "memento"
_TIMES = ("valid_from", "valid_until", "believed_from", "believed_until", "known_since")
_SEEN = IRI("urn:memento:seen")
"""The row that records of which store and embedder the table is."""
_AT_ONCE = 500  # names in one condition
_FRAGMENT = 16_384  # rows from which on a fragment is not merged with others
_LATE = 64  # commits after which LanceDB must be settled: each leaves a fragment
_INDEXED = 50_000  # number of rows from which on vectors get an index
_PROBED = 40  # partitions of some 8,000 vectors that LanceDB looks into, which is all of them up to 300,000 rows
_BREADTH = 1500  # efSearch of Milvus
_KEEPALIVE = {"grpc.keepalive_time_ms": 300_000, "grpc.keepalive_timeout_ms": 60_000}
"""How often a connection to Milvus is probed. The client's own 10 s are refused by `milvus-lite server` during a long request, and
its 5 s for the answer are too few for a server that is busy; either ends the connection and the request."""
_RETRY_S = 30.0
_PURGES = 6  # tries to rewrite the files while other nodes write

_SOURCE = re.compile(r"[, ] ?/[^\s:]++:\d++:\d++")
"""The position in an engine's source code that an error message names; of no use to our users."""


@contextmanager
def _translate(name: str, caught: tuple[type[BaseException], ...]) -> Iterator[None]:
    try:
        yield
    except caught as error:
        lines = str(error).splitlines() or [type(error).__name__]
        said = _SOURCE.sub("", lines[0])[:300]
        raise EngineError(
            f"{name} failed: {said}; if it has lost its table, `memento care rebuild` builds it again"
        ) from error


def _import_dataset() -> Callable[[str], Any]:
    """
    Return the function that opens a table for maintenance that LanceDB itself does not offer; raises `ImportError`.

    *Because:* `lance` warns at every fork, but each process forked here starts another program.
    """
    import lance

    warnings.filterwarnings("ignore", "lance is not fork-safe")
    return lance.dataset


class Lance:
    """Keep entries in a table of LanceDB, in a folder or an object store (`s3://bucket/path`, keys from the environment)."""

    def __init__(self, uri: str, token: str | None, dimensions: int) -> None:
        """
        Args:
            token: of LanceDB's own service; None for a folder or an object store.
        """
        try:
            import lancedb
            import pyarrow as pa

            self._dataset = _import_dataset()
        except ImportError as error:
            raise MissingPart(f"index.kind = 'lance' needs LanceDB: {install_line('lance')}") from error
        self.dimensions, self._uri = dimensions, uri.rstrip("/")
        self._pa = pa
        self._caught = (RuntimeError, OSError, ValueError, pa.lib.ArrowException)
        self._lock = Lock()
        self._commits, self._is_cleared = 0, False
        with self._failing():
            # Without an interval a node would keep the version that it read first; 0 checks for a new version at each question.
            self._db: Any = lancedb.connect(uri, api_key=token, read_consistency_interval=timedelta(0))
            self._open()

    def _ask(self, ask: Callable[[Any], T]) -> T:
        with self._failing():
            return ask(self._table)

    @contextmanager
    def _committing(self) -> Iterator[None]:
        """Admit one writer of this process to the table."""
        with self._failing(), self._lock:
            yield

    def _failing(self) -> Any:
        return _translate("LanceDB", self._caught)

    def _open(self) -> None:
        with suppress(ValueError):
            self._table: Any = self._db.open_table(_TABLE)
            fields = self._table.schema
            if "lasts" in fields.names and _fits(fields.field("vector").type.list_size, self.dimensions):
                return
            self._db.drop_table(_TABLE)  # also when an earlier version made it; the next start fills it again

        pa = self._pa
        schema = pa.schema(
            [
                *(pa.field(name, pa.utf8(), nullable=False) for name in ("iri", "graph", "kind")),
                pa.field("window", pa.int32(), nullable=False),
                pa.field("vector", pa.list_(pa.float32(), self.dimensions), nullable=False),
                pa.field("text", pa.utf8()),
                pa.field("lasts", pa.int32(), nullable=False),  # 1 when it has no end
                pa.field("until", pa.int64(), nullable=False),
                pa.field("keys", pa.list_(pa.utf8())),
                pa.field("packed", pa.binary(), nullable=False),
            ]
        )
        try:
            self._table = self._db.create_table(_TABLE, schema=schema)
        except ValueError:  # another node has just created it
            self._table = self._db.open_table(_TABLE)
            return
        self._index_columns()

    def _index_columns(self) -> None:
        """Create the indexes of all columns except the vectors, over the existing rows."""
        from lancedb.index import FTS, Bitmap, BTree

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
            ("kind", Bitmap()),
            ("window", Bitmap()),
            ("lasts", Bitmap()),
            ("until", BTree()),
        ):
            self._table.create_index(name, config=config, replace=True)
        self._index_values()

    def _index_values(self) -> None:
        """Create the indexes whose values may name persons, things and places."""
        from lancedb.index import Bitmap, LabelList

        self._table.create_index("graph", config=Bitmap(), replace=True)
        self._table.create_index("keys", config=LabelList(), replace=True)

    @property
    def owner(self) -> str:
        def read(table: Any) -> str:
            rows = table.search().where(f"iri = '{_SEEN}'").select(["packed"]).limit(1).to_arrow()
            return _unpack_mark(rows["packed"][0].as_py()) if rows.num_rows else ""

        return self._ask(read)

    def put(self, entries: Sequence[Entry], gone: Collection[IRI] = (), owner: str | None = None) -> None:
        rows = [*entries, *_mark_owner(owner, self.dimensions)]
        iris = [one.iri for one in rows] + [*gone]
        if not iris:
            return
        with self._committing():
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
        pa, columns, packed = self._pa, _columns(entries, self.dimensions), []
        for one in entries:
            first = one.packed if one.kind == _MARK else _pack_entry(one)
            packed += [first, *([_pack_iri(one.iri)] * (len(one.vectors) - 1))]
        times = np.array([columns.pop(name) for name in _TIMES], dtype=np.int64).reshape(5, -1)
        until = np.minimum(np.maximum(times[1], times[4]), times[3])
        columns |= {"packed": packed, "until": until, "lasts": (until >= NEVER).astype(np.int32)}
        vectors = pa.FixedSizeListArray.from_arrays(pa.array(columns.pop("vector").ravel()), self.dimensions)
        return pa.table({**columns, "vector": vectors}).select(self._table.schema.names).cast(self._table.schema)

    def nearest(self, asked: Vectors, k: int, where: Where) -> list[Hit]:
        def search(table: Any) -> list[Hit]:
            best: dict[int, float] = {}
            for row in asked:
                query = table.search(row, vector_column_name="vector").distance_type("cosine")
                query = query.where(f"{_condition_of_lance(where)} AND window >= 0", prefilter=True).nprobes(_PROBED)
                # The vectors of all rows found are compared exactly later. Windows of one text compete with each other.
                found = query.limit(2 * k).with_row_id(True).select(["_distance"]).to_arrow()
                for number, distance in zip(found["_rowid"].to_pylist(), found["_distance"].to_pylist(), strict=True):
                    best[number] = max(best.get(number, -1.0), 1.0 - distance)
            return _best(self._read_rows(table, best), k)

        return self._ask(search)

    def words(self, stems: Sequence[str], k: int, where: Where) -> list[Hit]:
        from lancedb.query import MatchQuery

        if not stems:
            return []

        def search(table: Any) -> list[Hit]:
            match: Any = MatchQuery
            query = table.search(match(" ".join(stems), "text"), query_type="fts").with_row_id(True)
            found = query.where(_condition_of_lance(where), prefilter=True).limit(k).select(["_score"]).to_arrow()
            scores = dict(zip(found["_rowid"].to_pylist(), found["_score"].to_pylist(), strict=True))
            return _best(self._read_rows(table, scores), k)

        return self._ask(search)

    def linked(self, keys: Sequence[str], most: int, where: Where) -> list[Hit]:
        def search(table: Any) -> list[Hit]:
            found: dict[int, float] = {}
            for some in _portions(dict.fromkeys(keys)):
                condition = f"array_has_any(keys, [{_quoted(some)}]) AND {_condition_of_lance(where)}"
                rows = table.search().where(condition).with_row_id(True).select(["_rowid"]).limit(most).to_arrow()
                found.update(dict.fromkeys(rows["_rowid"].to_pylist(), 0.0))
            return _best(self._read_rows(table, dict(list(found.items())[:most])), most)

        return self._ask(search)

    def _read_rows(self, table: Any, scores: dict[int, float]) -> list[Hit]:
        """Return the hits of some rows, with their entries; reading these is the main cost of a search."""
        if not scores:
            return []
        rows = table.take_row_ids([*scores]).select(["packed"]).with_row_id().to_arrow()
        read = zip(rows["_rowid"].to_pylist(), map(self._unpack_row, rows["packed"].to_pylist()), strict=True)
        return [Hit(iri, scores[number], entry) for number, (iri, entry) in read]

    def _unpack_row(self, packed: bytes) -> tuple[IRI, Entry | None]:
        iri, *more = msgspec.msgpack.decode(packed)
        if not more:
            return IRI(iri), None
        graph, kind, text, times, keys, records, is_half, vectors = more
        rows = np.frombuffer(vectors, dtype=np.float16 if is_half else np.float32).astype(np.float32)
        return IRI(iri), Entry(
            iri=IRI(iri),
            graph=IRI(graph),
            kind=kind,
            vectors=rows.reshape(-1, self.dimensions),
            text=text,
            times=tuple(times),
            keys=tuple(keys),
            packed=records,
        )

    def records(self, iris: Sequence[IRI] | None, graphs: Sequence[IRI] = ()) -> list[Entry]:
        def read(table: Any) -> list[Entry]:
            found: list[Entry] = []
            within = _condition(Where(graphs=graphs, kinds=()))
            for some in [None] if iris is None else _portions(dict.fromkeys(iris)):
                condition = within if some is None else f"iri IN ({_quoted(some)}) AND {within}"
                rows = table.search().where(condition).select(["packed"]).limit(1_000_000).to_arrow()
                entries = (self._unpack_row(packed)[1] for packed in rows["packed"].to_pylist())
                found += [one for one in entries if one is not None]
            return found

        return self._ask(read)

    def sample(self, most: int, where: Where) -> list[str]:
        condition = f"{_condition_of_lance(where)} AND window <= 0"
        return self._ask(
            lambda table: table.search().where(condition).select(["text"]).limit(most).to_arrow()["text"].to_pylist()
        )

    def count(self, where: Where) -> int:
        return self._ask(lambda table: int(table.count_rows(f"{_condition_of_lance(where)} AND window <= 0")))

    def settle(self) -> None:
        """Merge the fragments of small writes, update the indexes, and create the one of vectors if there are many."""
        from lancedb.index import IvfSq

        with self._committing():
            self._commits = 0
            with suppress(*self._caught):  # another node is doing it
                self._join_fragments(timedelta(hours=1))
            has_index = any("vector" in one.columns for one in self._table.list_indices())
            # After a rebuild the partitions of the vector index are those of vectors that are gone.
            if (self._is_cleared or not has_index) and self._table.count_rows("window >= 0") >= _INDEXED:
                self._table.create_index("vector", config=IvfSq(distance_type="cosine"))
            self._is_cleared = False

    def purge(self) -> None:
        for attempt in range(_PURGES):
            try:
                with self._committing():
                    self._join_fragments(None, deleted=0.0)
                    self._index_values()  # an index of values keeps values that no row has any more
                    self._join_fragments(timedelta(milliseconds=1))
                return
            except EngineError:  # another node has written the same rows meanwhile
                if attempt == _PURGES - 1:
                    raise
                time.sleep(random.uniform(0.0, 0.1 * 2**attempt))

    def _join_fragments(self, older: timedelta | None, deleted: float = 0.1) -> None:
        """
        Rewrite small fragments, and fragments that have lost more than a share of their rows, and update the indexes.

        *Because:* LanceDB itself merges up to a million rows, all of which a later erasure would have to rewrite.

        Args:
            older: the age from which versions are deleted; None deletes none. LanceDB deletes files of no version, which a writer
                leaves that was killed or lost a race, after seven days: they may belong to a version that is being written.
        """
        if self._uri.startswith("db://"):  # the service does this by itself
            self._table.optimize(cleanup_older_than=older)
            return
        rows = self._dataset(f"{self._uri}/{_TABLE}.lance")
        rows.optimize.compact_files(target_rows_per_fragment=_FRAGMENT, materialize_deletions_threshold=deleted)
        rows.optimize.optimize_indices()
        if older is not None:
            rows.cleanup_old_versions(older_than=older)

    def clear(self) -> None:
        with self._committing():
            self._is_cleared = True
            try:
                self._table.delete("true")  # not dropping the table: other nodes have it open and continue to use it
            except self._caught:
                self._db.drop_table(_TABLE, ignore_missing=True)
                self._open()

    def close(self) -> None:
        return


class Milvus:
    """Keep entries in a collection of Milvus: a cluster (`http://host:19530`), `milvus-lite server`, or a file for one process."""

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
        logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # it logs requests, which contain users' texts
        self.dimensions = dimensions
        self._refused = MilvusException
        self._caught = (MilvusException, grpc.RpcError, ValueError, OSError, TimeoutError)
        with self._failing():
            self._client: Any = MilvusClient(uri, token=token or "", grpc_options=_KEEPALIVE)
            self._is_lite = str(self._client.get_server_version()).startswith("milvus_lite")
            self._open()
        self._unsettled = 0  # rows put since the last settle

    def _failing(self) -> Any:
        return _translate("Milvus", self._caught)

    def _ask(self, call: str, *given: Any, **named: Any) -> Any:
        """Send a request about the collection; load it first if the server has restarted and has it only on disk."""
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
            fields = {field["name"]: field for field in client.describe_collection(_TABLE)["fields"]}
            if _fits(int(fields["vector"]["params"]["dim"]), self.dimensions):
                client.load_collection(_TABLE)
                return
            client.drop_collection(_TABLE)
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
    def owner(self) -> str:
        with self._failing():
            rows = self._ask("get", ids=[_key(_SEEN, -1)], output_fields=["packed"])
            return _unpack_mark(b64decode(rows[0]["packed"])) if rows and rows[0]["packed"] else ""

    def put(self, entries: Sequence[Entry], gone: Collection[IRI] = (), owner: str | None = None) -> None:
        with self._failing():
            known = self._find_keys([*(one.iri for one in entries), *gone]) if entries or gone else set()
            rows = self._build_rows(entries)
            for some in _portions(rows):
                self._ask("upsert", list(some))
            # Outdated rows are deleted last: a question in between finds the entry, old or new.
            if late := sorted(known.difference(row["id"] for row in rows)):
                self._ask("delete", filter=f"id in {_listed(late)}")
            # Only after everything before it is written.
            if mark := _mark_owner(owner, self.dimensions):
                self._ask("upsert", self._build_rows(mark))
        self._unsettled += len(rows)
        if self._is_lite and self._unsettled >= _UNSETTLED:  # a cluster indexes new rows by itself
            self.settle()

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
        # Lite returns scores below zero, a cluster above.
        return _ranked({IRI(hit["entity"]["iri"]): abs(float(hit["distance"])) for hit in found}, k)

    def linked(self, keys: Sequence[str], most: int, where: Where) -> list[Hit]:
        found: dict[IRI, None] = {}
        with self._failing():
            for some in _portions(dict.fromkeys(keys)):
                condition = f"ARRAY_CONTAINS_ANY(keys, {_listed(some)}) AND {_condition(where, _listed)}"
                rows = self._ask("query", filter=condition, output_fields=["iri"], limit=min(most, _MOST))
                found.update(dict.fromkeys(IRI(row["iri"]) for row in rows))
        return [*map(Hit, found)][:most]

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
        self._unsettled = 0

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


_MARK = "seen"  # the kind of the row that is not an entry
_STORED = ("iri", "graph", "kind", "window", "text", *_TIMES, "keys", "packed")
_LONGEST = 65_000  # bytes of a text that Milvus accepts
_MOST = 16_384  # rows that Milvus returns per query
_UNSETTLED = 256  # rows after which Milvus Lite must be settled: each adds .1 ms to a question
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
        if first is None:  # its first row is being replaced right now
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


def _mark_owner(owner: str | None, dimensions: int) -> list[Entry]:
    """Return the entry that records of what store and embedder a table is; none without an owner."""
    if owner is None:
        return []
    nothing, packed = np.zeros((0, dimensions), dtype=np.float32), msgspec.msgpack.encode((0, owner))
    return [Entry(iri=_SEEN, graph=_SEEN, kind=_MARK, vectors=nothing, text="", times=(0, 0, 0, 0, 0), packed=packed)]


def _unpack_mark(packed: bytes) -> str:
    return msgspec.msgpack.decode(packed, type=tuple[int, str])[1]  # an earlier version kept a number before it


def _pack_entry(entry: Entry) -> bytes:
    half = entry.vectors.astype(np.float16)
    is_half = bool(np.array_equal(half.astype(np.float32), entry.vectors))  # as the vectors in the file are
    vectors = (half if is_half else entry.vectors).tobytes()
    said = (str(entry.graph), entry.kind, entry.text, entry.times, entry.keys, entry.packed, is_half, vectors)
    return msgspec.msgpack.encode((str(entry.iri), *said))


def _pack_iri(iri: IRI) -> bytes:
    return msgspec.msgpack.encode((str(iri),))


def _condition(where: Where, several: Callable[[Iterable[str]], str] | None = None) -> str:
    """Write the condition for entries in the syntax that both databases share; each writes a list (`several`) in its own way."""
    several = several or (lambda names: f"({_quoted(names)})")
    parts = [f"kind IN {several(where.kinds or KINDS)}"]
    if where.graphs:
        parts.append(f"graph IN {several(where.graphs)}")
    if (now := where.current) is not None:
        parts.append(f"(valid_until > {now} OR known_since > {now}) AND believed_until > {now}")
    return " AND ".join(parts)


def _fits(width: int, dimensions: int) -> bool:
    """Tell whether the vectors of a table are as long as the embedder's; else the table is made again, and the log says so."""
    if width != dimensions:
        logger.warning("engine.foreign", extra={"numbers": width, "expected": dimensions})
    return width == dimensions


def _portions(items: Iterable[T]) -> Iterator[Sequence[T]]:
    every = list(items)
    return (every[begin : begin + _AT_ONCE] for begin in range(0, len(every), _AT_ONCE))


def _quoted(names: Iterable[str]) -> str:
    return ", ".join("'" + name.replace("'", "''") + "'" for name in names)


def _listed(names: Iterable[str]) -> str:
    return json.dumps([str(name) for name in names], ensure_ascii=False)


def _condition_of_lance(where: Where) -> str:
    """Write the condition for entries with indexed columns only; LanceDB would read any other one in full at each question."""
    condition = _condition(replace(where, current=None))
    if where.current is None:
        return condition
    return f"{condition} AND (lasts = 1 OR (until > {where.current} AND until < {NEVER}))"


def _best(hits: Iterable[Hit], k: int) -> list[Hit]:
    """Return the best hits, each IRI once."""
    best: dict[IRI, Hit] = {}
    for hit in hits:
        other = best.get(hit.iri, hit)
        best[hit.iri] = Hit(hit.iri, max(hit.score, other.score), hit.entry or other.entry)
    return sorted(best.values(), key=lambda hit: (-hit.score, hit.iri))[:k]


def _ranked(best: dict[IRI, float], k: int) -> list[Hit]:
    order = sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))
    return [Hit(iri, float(score)) for iri, score in order[:k]]


def _key(iri: str, window: int) -> str:
    return f"{iri} {window}"


def _shorten_text(text: str) -> str:
    """Cut a text to what Milvus accepts: whole words within the first 65,000 bytes."""
    if len(text.encode()) <= _LONGEST:
        return text
    return text.encode()[:_LONGEST].decode(errors="ignore").rpartition(" ")[0]


def open_engine(settings: IndexSettings, dimensions: int) -> Engine:
    """
    Open the engine of the settings.

    Raises:
        MissingPart: its package is not installed.
        EngineError: it cannot be opened or reached.
    """
    kind = Milvus if settings.kind == "milvus" else Lance
    return time_calls(kind(settings.uri, settings.token, dimensions))
