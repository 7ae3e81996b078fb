"""
Read what other programs have written as `NoteRow`s: exported chats, transcripts of coding agents, other memories, folders of notes.

The constants at the end have a row for each source: how its documents are recognised, and which function reads them. Of chats, the
user's own turns become notes, with their session and position, except mere greetings, thanks and questions. If a source has no
identifiers, the key of a row is a hash of the text without its secrets.

*But:* pictures, attachments, tool calls and a model's hidden thoughts are left out.

*Source:* the formats as their programs write them in 2025 and 2026: data exports of ChatGPT and Claude, sessions of Claude Code,
rollouts of Codex, chats of Gemini CLI, `get_all` of mem0, Basic Memory's note format, the knowledge graph of MCP's `server-memory`,
vaults of Obsidian, bundles of the Open Knowledge Format 0.2.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from memento.errors import InputError
from memento.intake.importers import Document, Harvest, Source, digest_text, find_noise, make_note
from memento.intake.rows import Record, decode_text, split_records
from memento.model import NoteRow
from memento.time import now, utc


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    """A turn of a conversation: the role of its speaker, and the key that identifies it."""

    record: Record
    role: str
    text: str
    key: str
    at: datetime | None


def _add_turns(
    turns: Sequence[_Turn], source: Source, found: Harvest, session: str, title: str | None, all_turns: bool
) -> None:
    """Add rows for the turns of a conversation; positions count all turns, also those that do not become notes."""
    found.conversations += 1
    for position, turn in enumerate(turns):
        if not turn.text.strip():
            found.skipped["it has no text"] += 1
        elif turn.role != "user" and not all_turns:
            found.skipped["an assistant said it"] += 1
        elif why := find_noise(turn.text):
            found.skipped[why] += 1
        else:
            found.rows.append(
                NoteRow(
                    content=turn.text.strip(),
                    at=turn.at,
                    title=title,
                    speaker=None if turn.role == "user" else source.assistant,
                    session=session,
                    position=position,
                    idempotency_key=turn.key,
                )
            )


def _read_chatgpt(document: Document, source: Source, found: Harvest, all_turns: bool) -> None:
    for conversation in document.records:
        mapping = conversation.fields.get("mapping")
        if not isinstance(mapping, dict):
            raise conversation.wrong("mapping", "an object", mapping)
        session = conversation.label("conversation_id", "id") or digest_text(str(sorted(mapping)))
        begun = _read_time(conversation, "create_time")
        turns = [
            turn
            for node in _follow_branch(conversation, mapping)
            if isinstance(message := node.fields.get("message"), dict)
            and (turn := _read_chatgpt_turn(Record(node.where, message), node, begun))
        ]
        _add_turns(turns, source, found, f"chatgpt:{session}", conversation.read_text("title"), all_turns)


def _follow_branch(conversation: Record, mapping: Mapping[str, object]) -> list[Record]:
    """Return the branch of a conversation that the user saw last, from its beginning; regenerated answers are on other branches."""

    def find_node(node: object) -> Record | None:
        one = mapping.get(node) if isinstance(node, str) else None
        if node is not None and not isinstance(one, dict):
            raise InputError(f"{conversation.where}: the tree of messages has no node {str(node)[:60]!r}")
        return Record(f"{conversation.where} node {node}", one) if isinstance(one, dict) else None

    last = conversation.fields.get("current_node") or next(
        (key for key in reversed(list(mapping)) if isinstance(one := mapping[key], dict) and not one.get("children")),
        None,
    )
    branch, seen = [], set[object]()
    while last is not None and last not in seen:
        seen.add(last)
        node = find_node(last)
        assert node is not None
        branch.append(node)
        last = node.fields.get("parent")
    return branch[::-1]


def _read_chatgpt_turn(message: Record, node: Record, begun: datetime | None) -> _Turn | None:
    author, content = message.fields.get("author"), message.fields.get("content")
    role = author.get("role") if isinstance(author, dict) else None
    about = message.fields.get("metadata")
    is_hidden = isinstance(about, dict) and about.get("is_visually_hidden_from_conversation")
    if role not in ("user", "assistant") or is_hidden or not isinstance(content, dict):
        return None
    if message.fields.get("recipient") not in (None, "all"):  # addressed to a tool
        return None
    parts = content.get("parts") if content.get("content_type") in ("text", "multimodal_text") else None
    text = "\n".join(one for one in parts if isinstance(one, str)) if isinstance(parts, list) else ""
    key = message.label("id") or node.where
    return _Turn(
        record=message,
        role=role,
        text=text,
        key=f"chatgpt:{key}",
        at=_read_time(message, "create_time") or begun,
    )


def _read_claude(document: Document, source: Source, found: Harvest, all_turns: bool) -> None:
    for conversation in document.records:
        messages = conversation.fields.get("chat_messages")
        if not isinstance(messages, list):
            raise conversation.wrong("chat_messages", "a list", messages)
        session = conversation.label("uuid") or digest_text(conversation.where)
        turns = []
        for place, one in enumerate(messages, 1):
            if not isinstance(one, dict):
                raise InputError(f"{conversation.where} message {place}: must be an object")
            message = Record(f"{conversation.where} message {place}", one)
            role = {"human": "user"}.get(sender := message.require_text("sender"), sender)
            turns.append(
                _Turn(
                    record=message,
                    role=role,
                    text=_join_texts(one.get("content")) or message.read_text("text") or "",
                    key=f"claude:{message.label('uuid') or f'{session}:{place}'}",
                    at=_read_time(message, "created_at"),
                )
            )
        _add_turns(turns, source, found, f"claude:{session}", conversation.read_text("name"), all_turns)


_HARNESS = re.compile(
    r"\s*(?:<(?:[a-z]+[-_])+[a-z]+[ >]|\[Request interrupted|Caveat: The messages below|# AGENTS\.md )"
)
"""The beginnings of texts that a program sent in the user's name: its environment, instructions, the output of commands."""


def _read_claude_code(document: Document, source: Source, found: Harvest, all_turns: bool) -> None:
    sessions: dict[str, list[_Turn]] = {}
    title = next((one.read_text("summary") for one in document.records if one.fields.get("type") == "summary"), None)
    for record in document.records:
        role, message = record.fields.get("type"), record.fields.get("message")
        is_aside = any(record.fields.get(flag) for flag in ("isMeta", "isSidechain", "isCompactSummary"))
        if role not in ("user", "assistant") or is_aside:
            continue
        if not isinstance(message, dict):
            raise record.wrong("message", "an object", message)
        session = record.label("sessionId") or document.path.stem
        text = _join_texts(message.get("content"))
        if text and not (role == "user" and _HARNESS.match(text)):
            key = record.label("uuid") or f"{session}:{record.where}"
            at = _read_time(record, "timestamp")
            turn = _Turn(record=record, role=role, text=text, key=f"claude-code:{key}", at=at)
            sessions.setdefault(session, []).append(turn)
    for session, turns in sessions.items():
        _add_turns(turns, source, found, f"claude-code:{session}", title, all_turns)


def _read_codex(document: Document, source: Source, found: Harvest, all_turns: bool) -> None:
    session, begun, turns = document.path.stem, None, list[_Turn]()
    for place, record in enumerate(document.records):
        kind, inside = record.fields.get("type"), record.fields.get("payload")
        item = Record(record.where, inside) if isinstance(inside, dict) else record
        if kind == "session_meta" or (kind is None and place == 0):
            session, begun = item.label("id") or session, _read_time(item, "timestamp")
        elif kind in ("response_item", "message") and item.fields.get("type") == "message":
            role, text = item.fields.get("role"), _join_texts(item.fields.get("content"))
            if role in ("user", "assistant") and text and not (role == "user" and _HARNESS.match(text)):
                at = _read_time(record, "timestamp") or begun
                turn = _Turn(record=item, role=str(role), text=text, key=f"codex:{session}:{place}", at=at)
                turns.append(turn)
    _add_turns(turns, source, found, f"codex:{session}", None, all_turns)


def _read_gemini(document: Document, source: Source, found: Harvest, all_turns: bool) -> None:
    """Read a session: an object with its messages, or lines that add a message, repeat it, or take back what was said since."""
    session, messages = document.path.stem, dict[str, Record]()
    for record in document.records:
        session = record.label("sessionId") or session
        back = record.label("$rewindTo")
        for undone in [*messages][[*messages].index(back) :] if back in messages else ():
            del messages[undone]
        inside = record.fields.get("messages")
        lines = (
            [
                Record(f"{record.where} message {place}", one)
                for place, one in enumerate(inside, 1)
                if isinstance(one, dict)
            ]
            if isinstance(inside, list)
            else [record]
        )
        messages |= {
            name: one for one in lines if (name := one.label("id")) and one.fields.get("type") in _GEMINI_ROLES
        }
    turns = [
        _Turn(record=one, role=role, text=text, key=f"gemini:{session}:{key}", at=_read_time(one, "timestamp"))
        for key, one in messages.items()
        if (text := _join_texts(one.fields.get("content")))
        and not ((role := _GEMINI_ROLES[str(one.fields["type"])]) == "user" and _HARNESS.match(text))
    ]
    _add_turns(turns, source, found, f"gemini:{session}", None, all_turns)


_GEMINI_ROLES = {"user": "user", "gemini": "assistant"}


def _join_texts(content: object) -> str:
    """Join the text blocks of a message; its content may also be a plain text."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [
        one.get("text")
        for one in blocks
        if isinstance(one, dict) and one.get("type") in (None, "text", "input_text", "output_text")
    ]
    return "\n".join(one for one in texts if isinstance(one, str) and one.strip())


def _read_mem0(document: Document, source: Source, found: Harvest, all_turns: bool) -> None:
    for record in document.records:
        content = record.require_text("memory", "text", "data")
        found.rows.append(
            NoteRow(
                content=content,
                at=_read_time(record, "created_at"),
                idempotency_key=f"mem0:{record.label('id') or digest_text(content)}",
            )
        )


def _read_server_memory(document: Document, source: Source, found: Harvest, all_turns: bool) -> None:
    for record in document.records:
        kind = record.require_text("type")
        if kind == "relation":
            one, other = (_spell(record.require_text(end)) for end in ("from", "to"))
            texts, title = [f"{one} {_spell(record.require_text('relationType'))} {other}."], one
        elif kind == "entity":
            title, said = _spell(record.require_text("name")), record.fields.get("observations")
            if not isinstance(said, list) or not all(isinstance(one, str) for one in said):
                raise record.wrong("observations", "a list of texts", said)
            texts = [_name_subject(one, title) for one in said]
        else:
            raise record.wrong("type", "entity or relation", kind)
        found.rows += [make_note(text, "server-memory", title) for text in texts if text.strip()]


FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*\r?(?:\n|\Z)", re.DOTALL | re.MULTILINE)
FRONT_FIELD = re.compile(r"^([\w-]+):(.*)$", re.MULTILINE)
_OBSERVATION = re.compile(r"^[ \t]*[-*] \[([^\[\]()\n]{2,})\] ++(?!\()(\S.*)$", re.MULTILINE)
_RELATION = re.compile(
    r"^[ \t]*[-*] ([\w-]++(?: ++[\w-]++)*+) ++\[\[([^\[\]\n]+)\]\](?: *\(([^()\n]*)\))?[ \t\r]*$", re.MULTILINE
)
_TAG = re.compile(r"(?<!\S)#[\w/-]+")
_LINK = re.compile(r"(!?)\[\[([^\[\]|#^\n]*)(?:[#^][^\[\]|\n]*)?(?:\|([^\[\]\n]*))?\]\]")
_COMMENT = re.compile(r"%%.*?%%", re.DOTALL)
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)")
_HEADING = re.compile(r"#{1,6}[ \t]+\S[^\n]*")


def _read_basic_memory(document: Document, source: Source, found: Harvest, all_turns: bool) -> None:
    front, body = _split_front(document)
    title, at = _read_title(document, front), _read_day(document, front)
    texts = [_name_subject(" ".join(_TAG.sub("", one[2]).split()), title) for one in _OBSERVATION.finditer(body)]
    texts += [
        f"{title} {_spell(one[1])} {one[2]}{f' ({one[3]})' if one[3] else ''}." for one in _RELATION.finditer(body)
    ]
    prose = _RELATION.sub("", _OBSERVATION.sub("", body))
    texts += _list_paragraphs(prose, found)
    found.rows += [make_note(text, f"basic-memory:{front.get('permalink', title)}", title, at) for text in texts]


def _read_obsidian(document: Document, source: Source, found: Harvest, all_turns: bool) -> None:
    front, body = _split_front(document)
    title, at = _read_title(document, front), _read_day(document, front)
    found.rows += [make_note(text, f"obsidian:{title}", title, at) for text in _list_paragraphs(body, found)]


_OKF_STATEMENTS = re.compile(r"^# Statements\n\n```trig sha256=", re.MULTILINE)
_OKF_CLAIMS = re.compile(r"^# Claims\n\n(?:- .*\n)+", re.MULTILINE)
_OKF_LINK = re.compile(r"\[([^\[\]\n]*)\]\([^()\n]*\)")
_FOOTNOTE = re.compile(r"^\[\^[^\[\]\n]+\]:.*$|\[\^[^\[\]\n]+\]", re.MULTILINE)
_INLINE_AT = re.compile(r"\bat:\s*[\"']?([\dT:.Z+-]+)")


def _read_okf(document: Document, source: Source, found: Harvest, all_turns: bool) -> None:
    """Read a concept of the Open Knowledge Format: its description and each paragraph or list item is a note about its title."""
    if document.path.suffix.lower() != ".md":
        found.skipped["it is no Markdown"] += 1
        return
    if document.name in ("index.md", "log.md"):
        found.skipped["it is an index or a log"] += 1
        return
    front, body = _split_front(document)
    if not front.get("type"):
        raise InputError(f"{document.name} line 1: type is missing: a concept has front matter with a type")
    if _OKF_STATEMENTS.search(body):
        found.skipped["it has statements: import it without --from"] += 1
        return
    if front.get("status") == "deprecated":
        found.skipped["it is deprecated"] += 1
        return
    until = _read_stale_day(front, document)
    ttl_s = (until - now()).total_seconds() if until else None
    if ttl_s is not None and ttl_s <= 0:
        found.skipped["it is stale"] += 1
        return
    stated = _INLINE_AT.search(front.get("generated", "")) or _INLINE_AT.search(f"at: {front.get('timestamp', '')}")
    at = _read_day(document, {"date": stated[1] if stated else "", **front})
    title = _read_title(document, front)
    is_ours = "memento/" in front.get("generated", "")
    if is_ours:  # what memories claim, and the description made of that, are read from their text again
        body = _OKF_CLAIMS.sub("", body)
    plain = _FOOTNOTE.sub("", _OKF_LINK.sub(r"\1", body))
    items = (item for paragraph in _list_paragraphs(plain, found) for item in re.split(r"\n(?=[-*] )", paragraph))
    texts = ["" if is_ours else front.get("description", ""), *(re.sub(r"\A[-*] ", "", item).strip() for item in items)]
    tags = tuple(tag.strip(" \"'") for tag in front.get("tags", "").strip("[]").split(",") if tag.strip(" \"'"))
    found.rows += [
        replace(make_note(text, "okf", title, at), tags=tags, ttl_s=ttl_s) for text in dict.fromkeys(texts) if text
    ]


def _read_stale_day(front: Mapping[str, str], document: Document) -> datetime | None:
    if not (day := front.get("stale_after")):
        return None
    try:
        return utc(datetime.fromisoformat(day))
    except ValueError as error:
        raise InputError(f"{document.name}: stale_after must be a date such as 2026-09-23, not {day[:40]!r}") from error


def _split_front(document: Document) -> tuple[dict[str, str], str]:
    """Split a note into the simple fields of its front matter and its body."""
    head = FRONT_MATTER.match(document.text)
    if head is None and re.match(r"---[ \t]*\r?\n[\w-]+:", document.text):
        raise InputError(f"{document.name} line 1: the front matter has no end: close it with a line of ---")
    fields = {key.lower(): value.strip().strip("'\"") for key, value in FRONT_FIELD.findall(head[1] if head else "")}
    return fields, document.text[head.end() if head else 0 :]


def _read_title(document: Document, front: Mapping[str, str]) -> str:
    return front.get("title") or document.path.stem


def _read_day(document: Document, front: Mapping[str, str]) -> datetime | None:
    """Return the date of a note: the one it states, the one in its name, or when its file was changed."""
    for given in (*(front.get(name) for name in ("created", "created_at", "date")), document.path.stem[:10]):
        try:
            if given and (at := datetime.fromisoformat(given)):
                return at
        except ValueError:
            continue
    return datetime.fromtimestamp(document.path.stat().st_mtime, UTC).replace(microsecond=0)


def _list_paragraphs(body: str, found: Harvest) -> list[str]:
    """List the paragraphs of a note, with links replaced by their text; fenced blocks stay whole."""
    text = _LINK.sub(lambda one: "" if one[1] else (one[3] or one[2]).strip(), _COMMENT.sub("", body))
    paragraphs, lines, is_fenced = list[str](), list[str](), False
    for line in [*text.replace("\r\n", "\n").split("\n"), ""]:
        is_fenced ^= bool(_FENCE.match(line))
        if line.strip() or is_fenced:
            lines.append(line)
            continue
        paragraph = "\n".join(lines).strip()
        lines = []
        if _HEADING.fullmatch(paragraph) or paragraph.strip("-*_ ") == "":
            found.skipped["it is a heading alone"] += bool(paragraph)
        else:
            paragraphs.append(paragraph)
    return paragraphs + (["\n".join(lines).strip()] if any(one.strip() for one in lines) else [])


def _name_subject(text: str, name: str) -> str:
    return text if name.casefold() in text.casefold() else f"{name}: {text}"


def _spell(name: str) -> str:
    return " ".join(name.replace("_", " ").split())


def _read_time(record: Record, name: str) -> datetime | None:
    """Read an instant as ISO 8601 or as seconds since 1970."""
    value = record.fields.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value, UTC)
        except (ValueError, OverflowError, OSError) as error:
            raise record.wrong(name, "seconds since 1970", value) from error
    return record.read_instant(name)


def _has(*names: str) -> Callable[[Document], bool]:
    """Recognise documents whose first record has all of some fields."""
    return lambda document: bool(document.records) and all(name in document.records[0].fields for name in names)


def _is_claude_code(document: Document) -> bool:
    return any("sessionId" in one.fields and "message" in one.fields for one in document.records[:200])


def _is_codex(document: Document) -> bool:
    return any(
        one.fields.get("type") in ("session_meta", "response_item") and isinstance(one.fields.get("payload"), dict)
        for one in document.records[:20]
    ) or (document.name.startswith("rollout-") and bool(document.records))


def _is_gemini(document: Document) -> bool:
    return _has("sessionId", "projectHash")(document)


def _is_mem0(document: Document) -> bool:
    return bool(document.records) and "content" not in document.records[0].fields and _has("memory")(document)


def _is_server_memory(document: Document) -> bool:
    kinds = {"entity": "observations", "relation": "relationType"}
    first = document.records[0].fields if document.records else {}
    return kinds.get(str(first.get("type")), "") in first


def _is_basic_memory(document: Document) -> bool:
    if not document.text:
        return False
    head = FRONT_MATTER.match(document.text)
    return bool(_OBSERVATION.search(document.text)) or bool(head and re.search("^permalink:", head[1], re.MULTILINE))


def _is_obsidian(document: Document) -> bool:
    return bool(document.text) and bool(FRONT_MATTER.match(document.text) or _LINK.search(document.text))


CHATGPT = Source(is_of=_has("mapping"), read=_read_chatgpt, assistant="ChatGPT")
CLAUDE = Source(is_of=_has("chat_messages"), read=_read_claude, assistant="Claude")
CLAUDE_CODE = Source(is_of=_is_claude_code, read=_read_claude_code, assistant="Claude")
CODEX = Source(is_of=_is_codex, read=_read_codex, assistant="Codex")
GEMINI = Source(is_of=_is_gemini, read=_read_gemini, assistant="Gemini")
MEM0 = Source(is_of=_is_mem0, read=_read_mem0)
SERVER_MEMORY = Source(is_of=_is_server_memory, read=_read_server_memory)
BASIC_MEMORY = Source(is_of=_is_basic_memory, read=_read_basic_memory)
OKF = Source(is_of=lambda document: False, read=_read_okf)
OBSIDIAN = Source(is_of=_is_obsidian, read=_read_obsidian, suffixes=(".md", ".markdown"))

_TRANSCRIPTS: Mapping[str, Source] = {"claude-code": CLAUDE_CODE, "codex": CODEX, "gemini": GEMINI}


def harvest_transcript(
    path: Path, source: str, last_bytes: int | None = None, *, all_turns: bool = True
) -> list[NoteRow]:
    """
    Read a transcript that is still being written, or only its end; positions in the conversation are left out.

    Args:
        last_bytes: how many bytes of its end are read; default: all.
        all_turns: also return what the assistant said.

    Raises:
        InputError: it cannot be read, or is not of this source.
    """
    try:
        with path.open("rb") as file:
            begin = max(file.seek(0, os.SEEK_END) - last_bytes, 0) if last_bytes else 0
            file.seek(begin)
            data = file.read()
    except OSError as error:
        raise InputError(f"{path.name} cannot be read: {error.strerror}") from error
    whole = data[data.find(b"\n") + 1 if begin else 0 : data.rfind(b"\n") + 1]
    document = Document(path=path, records=list(split_records(decode_text(whole, path.name), path.name)))
    found = Harvest()
    reader = _TRANSCRIPTS[source]
    reader.read(document, reader, found, all_turns)
    return [replace(row, position=None) for row in found.rows]
