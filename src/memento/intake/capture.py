"""
Choose what is worth keeping of a client's session, and store it in a journal until it is noted.

*Flow:* what was said → `sort_turns`, by the rows of `capture.toml` → `Journal` → noted, or shown to the user as
a proposal (`service/handlers/capture.py`).

*Guarantees:* denied or too short texts and our own block never get into the journal; the caller has already removed secrets.
Appended entries survive a kill; a line that a kill left incomplete is skipped. Once an entry is settled its text is removed from
the file, and its key is not accepted again.

*But:* only the last `_SETTLED` of these keys are remembered; the notes themselves have keys as well.

*Source:* the published rules of capture: 50 characters, the tools that are skipped, the words that make a text important, and the
lengths to which texts are cut.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from memento.codec import decode, plain
from memento.datadir import replace_file
from memento.errors import BackendError, InputError
from memento.model import CapturedTurn, Capturing, NoteRow, Priority, Scope
from memento.text.tables import Entry, Row, entries
from memento.time import now

if TYPE_CHECKING:
    from memento.operations.capture import Capture
    from memento.settings import CaptureSettings

TABLE = Path(__file__).parent / "capture.toml"
SHORTEST = 50
"""The shortest answer of a tool or a model, in characters, that is kept."""
MOST_OUTPUT, MOST_INPUT, MOST_SAID = 10_000, 500, 2_000
"""The most characters that are kept of a tool's output, of its input, and of what a model says."""
ALIKE, ALIKE_HIGH = 0.92, 0.95
"""
The cosine from which a model's or tool's text counts as the same as a memory; the second applies if a word marks it as important.
"""
BATCH = 20
"""The number of entries that are noted at once."""
_SETTLED = 5_000
_LOCK_S = 10.0

State = Literal["waiting", "proposed"]


class CaptureRow(Row, frozen=True, kw_only=True):
    """A rule of `capture.toml`, which describes the fields."""

    of: Literal["tool", "command", "text"]


@cache
def list_rules(table: str) -> tuple[Entry[CaptureRow], ...]:
    """Return the rules of a table: deny, keep or signal."""
    return entries(TABLE, CaptureRow, {}, table=table)


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """An entry of the journal: the text of the note, its owner, and whether it is kept word for word."""

    id: str
    at: datetime
    state: State
    tenant: str
    namespace: str
    client: str
    row: NoteRow
    keep: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where captured texts come from and where they go."""

    client: str
    event: str
    session: str
    tenant: str
    namespace: str
    state: State


def keep_turns(operation: Capture, scope: Scope, settings: CaptureSettings, journal: Journal) -> Capturing:
    """
    Put what is worth keeping into the journal, by the settings of the namespace.

    Args:
        operation: what was said, already without secrets.

    Raises:
        BackendError: the journal cannot be written.
    """
    mode = settings.find_mode(scope.namespace)
    if mode == "off":
        return Capturing(mode=mode)
    place = Place(
        client=operation.client,
        event=operation.event,
        session=operation.session,
        tenant=scope.tenant,
        namespace=scope.namespace,
        state="waiting" if mode == "on" else "proposed",
    )
    fresh, left_out = sort_turns(operation.turns, place, settings.deny)
    kept, known = journal.append(fresh)
    return Capturing(mode=mode, kept=kept, left_out=dict((left_out + known).most_common()))


def sort_turns(
    turns: Iterable[CapturedTurn | InputError], place: Place, deny: str = ""
) -> tuple[list[Captured], Counter[str]]:
    """
    Select the turns that are captured, and count the reasons why others are not.

    Args:
        deny: words and phrases separated by commas; a text that contains one of them is not captured.
    """
    kept, left_out = list[Captured](), Counter[str]()
    for turn in turns:
        if isinstance(turn, InputError):
            left_out["it holds a secret, and the namespace takes none"] += 1
            continue
        turn = replace(turn, text=_BLOCK.sub("", turn.text).strip())
        if why := find_reason(turn, deny):
            left_out[why] += 1
            continue
        kept.append(_make_entry(turn, place))
    return kept, left_out


_BLOCK = re.compile(r"<memento>.*?(?:</memento>|\Z)", re.DOTALL)


def _is_denied(text: str, deny: str) -> bool:
    """Tell whether a text contains one of the words or phrases that the user does not want stored."""
    said = text.casefold()
    return any(phrase in said for one in deny.split(",") if (phrase := one.strip().casefold()))


def find_reason(turn: CapturedTurn, deny: str = "") -> str:
    """
    Say why a turn is not captured; "" if it is.

    >>> find_reason(CapturedTurn(role="user", text="Remember that I moved to Lisbon."))
    ''
    >>> find_reason(CapturedTurn(role="tool", text="a" * 60, tool="Read"))
    'its tool is passed over'
    """
    if not turn.text:
        return "it has no text"
    if turn.role == "tool":
        if _find_rule("deny", "tool", turn.tool):
            return "its tool is passed over"
        if _find_rule("deny", "command", turn.command):
            return "its command only looks"
    if _find_rule("deny", "text", turn.text) or _is_denied(turn.text, deny):
        return "it is not to be kept"
    if turn.role == "user":
        from memento.intake.importers import find_noise  # it loads the rules, which the output of a tool does not need

        return find_noise(turn.text)
    if len(turn.text) < SHORTEST:
        return f"it has less than {SHORTEST} characters"
    if turn.role == "tool" and not (_find_rule("keep", "tool", turn.tool) or _is_important(turn)):
        return "its tool changes nothing, and no word of it says that it matters"
    return ""


def _find_rule(table: str, of: str, text: str) -> str:
    return next((one.row.name for one in list_rules(table) if one.row.of == of and one.pattern.search(text)), "")


def _is_important(turn: CapturedTurn) -> bool:
    return bool(_find_rule("signal", "text", f"{turn.command}\n{turn.text}"))


_SPEAKERS = {"claude-code": "Claude", "codex": "Codex", "gemini": "Gemini", "cursor": "Cursor"}


def _make_entry(turn: CapturedTurn, place: Place) -> Captured:
    priority: Priority = "high" if _is_important(turn) else "normal"
    text = turn.text[: MOST_SAID if turn.role == "assistant" else MOST_OUTPUT]
    if turn.role == "tool":
        text = f"{turn.tool}: {turn.command[:MOST_INPUT]}\n\n{text}" if turn.command else f"{turn.tool}:\n\n{text}"
    session = f"{place.client}:{place.session}"
    told = "\0".join((place.tenant, place.namespace, session, turn.role, turn.turn or text))
    id = sha256(told.encode("utf-8", "replace")).hexdigest()[:16]
    row = NoteRow(
        content=text,
        at=turn.at,
        speaker=_SPEAKERS.get(place.client, "the assistant") if turn.role == "assistant" else None,
        session=session,
        idempotency_key=f"{place.client}:{turn.turn or id}",
        priority=priority,
        source="hook:post_tool_use" if turn.role == "tool" else f"hook:{place.event}",
    )
    return Captured(
        id=id,
        at=now(),
        state=place.state,
        tenant=place.tenant,
        namespace=place.namespace,
        client=place.client,
        row=row,
        keep=turn.role != "user",
    )


@dataclass(slots=True)
class _Content:
    """The content of a journal: the waiting entries, and how others were settled, both in order."""

    entries: dict[str, Captured] = field(default_factory=dict)
    settled: dict[str, str] = field(default_factory=dict)


class Journal:
    """
    Entries that wait to be noted, or for the user's consent: lines of JSON in one file, each an entry or how one was settled.

    Several processes may use it at once. Lines are appended and synced; to settle entries the file is rewritten.

    *Because:* the lock belongs to the system and ends with its process, so a dead process blocks nobody.
    """

    def __init__(self, path: Path, most: int) -> None:
        """
        Args:
            most: the most entries that may wait; further ones are refused.
        """
        self._path, self._most = path, most
        self._seen: tuple[tuple[int, int], list[Captured]] = ((-1, -1), [])

    def append(self, fresh: Sequence[Captured]) -> tuple[int, Counter[str]]:
        """
        Append entries that are new; return their number, and count why others were refused.

        Raises:
            BackendError: the file cannot be written; gives the reason.
        """
        left_out = Counter[str]()
        if not fresh:
            return 0, left_out
        with self._lock_file():
            content = self._read_journal()
            lines: list[str] = []
            for one in fresh:
                if one.id in content.entries or one.id in content.settled:
                    left_out["it is known"] += 1
                elif len(content.entries) >= self._most:
                    left_out[f"{self._most} wait already"] += 1
                else:
                    content.entries[one.id] = one
                    lines.append(_write_entry(one))
            if lines:
                self._append_lines(lines)
        return len(lines), left_out

    def list_waiting(self, scope: Scope | None = None) -> list[Captured]:
        """
        Return the waiting entries of all namespaces or of one, oldest first; the file is read again only if it has changed.

        Raises:
            BackendError: it cannot be read; gives the reason.
        """
        stamp = self._stamp()
        if stamp != self._seen[0]:
            try:
                self._seen = stamp, [*self._read_journal().entries.values()]
            except OSError as error:
                raise self._failure(error) from error
        return [
            one
            for one in self._seen[1]
            if scope is None or (one.tenant, one.namespace) == (scope.tenant, scope.namespace)
        ]

    def remove_entries(self, ids: Collection[str], how: str) -> None:
        """
        Remove entries from the journal; raises as `append`.

        Args:
            how: one word that is kept about them: noted, rejected.
        """
        if not ids:
            return
        with self._lock_file():
            content = self._read_journal()
            for id in ids:
                content.entries.pop(id, None)
                content.settled[id] = how
            settled = [*content.settled.items()][-_SETTLED:]
            lines = [json.dumps({"id": id, "committed": True, "how": how}) for id, how in settled]
            self._write_anew([*lines, *map(_write_entry, content.entries.values())])

    @contextmanager
    def taking(self) -> Iterator[bool]:
        """Take the lock of the one process that notes the entries; yield False if another process has it."""
        from filelock import FileLock, Timeout

        lock = FileLock(self._path.with_suffix(".taking"), thread_local=False)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            yield False
            return
        except OSError as error:
            raise self._failure(error) from error
        try:
            yield True
        finally:
            lock.release()

    def propose(self, ids: Collection[str]) -> None:
        """Mark entries as waiting for the user's consent; raises as `append`."""
        with self._lock_file():
            content = self._read_journal()
            moved = [replace(one, state="proposed") for id, one in content.entries.items() if id in ids]
            if moved:
                self._append_lines([_write_entry(one) for one in moved])

    def _stamp(self) -> tuple[int, int]:
        """Return the length and the modification time of the file, which show whether it has changed."""
        try:
            stat = self._path.stat()
        except OSError:
            return 0, 0
        return stat.st_size, stat.st_mtime_ns

    @contextmanager
    def _lock_file(self) -> Iterator[None]:
        from filelock import FileLock, Timeout

        try:
            # Each use has its own lock object; a shared one would admit several threads of a process at once.
            with FileLock(self._path.with_suffix(".lock"), timeout=_LOCK_S):
                yield
        except Timeout as error:
            raise BackendError(f"{self._path} is locked by another process for {_LOCK_S:g} s") from error
        except OSError as error:
            raise self._failure(error) from error

    def _failure(self, error: OSError) -> BackendError:
        return BackendError(
            f"what was captured cannot be kept in {self._path}: {error.strerror or error}; make room, or mend its rights"
        )

    def _read_journal(self) -> _Content:
        content = _Content()
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return content
        for line in data.split(b"\n"):
            try:
                fields = json.loads(line) if line.strip() else {}
                if fields.get("committed"):
                    content.settled[str(fields["id"])] = str(fields.get("how", ""))
                elif fields:
                    entry = decode(Captured, {**fields["data"], "at": fields["timestamp"]})
                    content.entries[entry.id] = entry
            except (ValueError, KeyError, TypeError, AttributeError, InputError):
                continue  # a line that a kill left incomplete
        return content

    def _append_lines(self, lines: Sequence[str]) -> None:
        """Append lines with one write; a line that a kill left without an end is ended first."""
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            size = os.lseek(handle, 0, os.SEEK_END)
            is_torn = size > 0 and os.lseek(handle, size - 1, os.SEEK_SET) >= 0 and os.read(handle, 1) != b"\n"
            data = ("\n" * is_torn + "\n".join(lines) + "\n").encode("utf-8", "replace")
            while data:
                data = data[os.write(handle, data) :]
            os.fsync(handle)
        finally:
            os.close(handle)

    def _write_anew(self, lines: Sequence[str]) -> None:
        replace_file(self._path, "".join(f"{line}\n" for line in lines))


def _write_entry(entry: Captured) -> str:
    """Write an entry as a line of a write-ahead log: id, timestamp, operation, committed, and the data."""
    fields = plain(entry)
    about = {"id": entry.id, "timestamp": fields.pop("at"), "operation": "upsert", "committed": False}
    row = {name: value for name, value in fields.pop("row").items() if value not in (None, [], "")}
    return json.dumps({**about, "data": {**fields, "row": row}}, ensure_ascii=False)
