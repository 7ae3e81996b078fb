"""
The change log of a memory that several machines share: digests in one SQLite file, no text.

For each statement it records which patch last added or removed it; for each property with a single value, which patch last set it;
which nodes were erased; and which patches are applied. It derives from the patches; without it a machine joins again
(`patches`).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from memento.errors import GraphError, InputError

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
"""Stamp and machine of a patch, which decide which of two patches is later."""
_NEVER: Order = (-1, "")

Vector = dict[str, int]
"""Machine → the sequence number of its last known patch."""


class Ledger:
    """The state of every shared statement, by digest: which patch last changed it, and whether it is present."""

    def __init__(self, path: Path | None, tenant: str) -> None:
        """Open or create the file, or a database in memory; raise `GraphError` when it cannot be read."""
        try:
            self._db = sqlite3.connect(path or ":memory:", isolation_level=None, check_same_thread=False)
            if path:
                path.chmod(0o600)
            self._db.executescript(_SCHEMA)
            self._db.execute("INSERT OR IGNORE INTO meta VALUES ('machine', ?)", (uuid4().hex[:12],))
            self._db.execute("INSERT OR IGNORE INTO meta VALUES ('tenant', ?)", (tenant,))
        except sqlite3.Error as error:
            raise GraphError(
                f"{path} cannot be read: {error}; if you delete it, this machine joins again as a new one"
            ) from error
        if self._get("tenant") != tenant:
            raise InputError(f"{path} belongs to the tenant {self._get('tenant')!r}: a data folder can sync one tenant")

    def close(self) -> None:
        self._db.close()

    @property
    def machine(self) -> str:
        """The name of this machine in patches."""
        return str(self._get("machine"))

    @property
    def machines(self) -> set[str]:
        """The names of this machine: the present one, and those from before it joined again."""
        return {self.machine, *json.loads(self._get("former") or "[]")}

    def last_patches(self) -> Vector:
        """Return the last applied patch of each machine."""
        return dict(self._db.execute("SELECT machine, max(sequence) FROM patch GROUP BY machine"))

    def latest(self) -> int:
        """Return the stamp of the latest patch, 0 before there is one."""
        return int(self._db.execute("SELECT coalesce(max(stamp), 0) FROM patch").fetchone()[0])

    def stamp_of(self, machine: str, sequence: int) -> int:
        """Return the stamp of a patch, −1 for an unknown one."""
        found = self._db.execute(
            "SELECT stamp FROM patch WHERE machine = ? AND sequence = ?", (machine, sequence)
        ).fetchone()
        return -1 if found is None else int(found[0])

    def begin_anew(self) -> None:
        """Forget everything, and choose a new machine name."""
        former = json.dumps(sorted(self.machines))
        with self.transaction():
            for table in ("statement", "register", "erased", "patch"):
                self._db.execute(f"DELETE FROM {table}")
            self._db.execute(
                "INSERT OR REPLACE INTO meta VALUES ('former', ?), ('machine', ?)", (former, uuid4().hex[:12])
            )
            self._db.execute("DELETE FROM meta WHERE key = 'intended'")

    def intend(self, vector: Vector, name: str = "") -> None:
        """Note, before the memory is written, which patches it will contain, and the file name of this machine's own patch."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('intended', ?)", (json.dumps([vector, name]),))

    def read_intent(self) -> tuple[Vector, str]:
        """Return the last noted intent that has not been completed."""
        vector, name = json.loads(self._get("intended") or '[{}, ""]')
        return vector, name

    @contextmanager
    def transaction(self, *, is_trial: bool = False) -> Iterator[None]:
        """Commit everything noted within the block, or nothing; a trial commits nothing."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("ROLLBACK" if is_trial else "COMMIT")

    def list_present(self) -> set[bytes]:
        """Return the keys of all statements that are present."""
        return {key for (key,) in self._db.execute("SELECT key FROM statement WHERE is_there")}

    def find_statement(self, key: bytes) -> tuple[Order, bool] | None:
        """Return which patch last changed a statement, and whether it is present."""
        row = self._db.execute("SELECT stamp, machine, is_there FROM statement WHERE key = ?", (key,)).fetchone()
        return ((int(row[0]), str(row[1])), bool(row[2])) if row else None

    def find_register(self, key: bytes) -> Order:
        """Return which patch last set the single value of a property."""
        row = self._db.execute("SELECT stamp, machine FROM register WHERE key = ?", (key,)).fetchone()
        return (int(row[0]), str(row[1])) if row else _NEVER

    def is_erased(self, node: bytes) -> bool:
        """Return whether a node was erased on any machine."""
        return self._db.execute("SELECT 1 FROM erased WHERE key = ?", (node,)).fetchone() is not None

    def note_add(self, key: bytes, register: bytes | None, order: Order) -> None:
        """Note that a patch adds a statement; `register` is the key of its property if that has a single value."""
        self._db.execute("INSERT OR REPLACE INTO statement VALUES (?, ?, ?, 1, ?)", (key, *order, register))
        self._note_register(register, order)

    def note_removal(self, key: bytes, order: Order) -> None:
        """Note that a patch removes a statement."""
        row = self._db.execute("SELECT register FROM statement WHERE key = ?", (key,)).fetchone()
        register = row[0] if row else None
        self._db.execute("INSERT OR REPLACE INTO statement VALUES (?, ?, ?, 0, ?)", (key, *order, register))
        self._note_register(register, order)

    def _note_register(self, register: bytes | None, order: Order) -> None:
        if register is not None and self.find_register(register) < order:
            self._db.execute("INSERT OR REPLACE INTO register VALUES (?, ?, ?)", (register, *order))

    def note_erased(self, node: bytes) -> None:
        """Note that a node was erased, and delete everything else about it."""
        self._db.execute("INSERT OR IGNORE INTO erased VALUES (?)", (node,))
        self._db.execute("DELETE FROM statement WHERE key >= ? AND key < ?", (node, _after(node)))

    def note_patch(self, machine: str, sequence: int, stamp: int) -> None:
        """Note that a patch is applied."""
        self._db.execute("INSERT OR REPLACE INTO patch VALUES (?, ?, ?)", (machine, sequence, stamp))

    def _get(self, key: str) -> str | None:
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])


def _after(key: bytes) -> bytes:
    return (int.from_bytes(key, "big") + 1).to_bytes(len(key), "big")
