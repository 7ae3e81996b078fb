"""
Read what clients tell their hooks: the session, and what was said in it.

*Because:* its imports take longer than a hook may that has nothing to read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memento.model import CapturedTurn, NoteRow

_TAIL_BYTES = 512 * 1024
"""How many bytes of a transcript are read when a turn ends; before a client compacts its context, all of it is read."""


def read_payload(payload: Mapping[str, Any], client: str, event: str) -> tuple[str, list[CapturedTurn]]:
    """
    Read the payload that a client sends to its hooks, whatever its field names; return the session and what was said.

    Args:
        event: prompt, stop, compact or tool.

    Raises:
        InputError: the transcript that it refers to cannot be read.
    """
    session = _first_text(payload, "session_id", "conversation_id", "sessionId") or "unknown"
    key = _first_text(payload, "turn_id", "generation_id", "prompt_id")
    if event == "tool":
        return session, [_read_tool(payload)]
    transcript = _first_text(payload, "transcript_path")
    if client == "claude-code" and transcript and event != "prompt":
        # It loads the rules, which other hooks do not need.
        from memento.plugins.intake.programs import harvest_transcript

        rows = harvest_transcript(Path(transcript), "claude-code", None if event == "compact" else _TAIL_BYTES)
        last = next((row for row in reversed(rows) if row.speaker), None)
        return session, [_to_turn(row) for row in rows if row.speaker is None or row is last]
    said = (("user", _first_text(payload, "prompt")), ("assistant", _first_text(payload, *_REPLIES)))
    # Each role speaks once in a turn; if a client does not number turns, the text identifies them.
    return session, [
        CapturedTurn(role=role, text=text, turn=f"{key}:{role}" if key else None)  # type: ignore[arg-type]
        for role, text in said
        if text
    ]


_REPLIES = ("prompt_response", "last_assistant_message", "text")


def _first_text(payload: Mapping[str, Any], *names: str) -> str:
    return next((value for name in names if isinstance(value := payload.get(name), str) and value.strip()), "")


def _read_tool(payload: Mapping[str, Any]) -> CapturedTurn:
    given, answer = payload.get("tool_input"), payload.get("tool_response", payload.get("tool_output", ""))
    command = given.get("command") if isinstance(given, dict) else None
    return CapturedTurn(
        role="tool",
        text=_write_plainly(answer),
        tool=_first_text(payload, "tool_name"),
        command=command if isinstance(command, str) else _write_plainly(given),
        turn=_first_text(payload, "tool_use_id") or None,
    )


def _write_plainly(value: object) -> str:
    """Write the output of a tool as text, from those of its fields that contain some."""
    match value:
        case None:
            return ""
        case str():
            return value
        case dict():
            texts = [
                value[name] for name in ("stdout", "stderr", "content", "output", "llmContent", "text") if name in value
            ]
            return "\n".join(filter(None, map(_write_plainly, texts))) or json.dumps(value, ensure_ascii=False)
        case list():
            return "\n".join(filter(None, map(_write_plainly, value)))
    return json.dumps(value, ensure_ascii=False)


def _to_turn(row: NoteRow) -> CapturedTurn:
    key = (row.idempotency_key or "").partition(":")[2]
    return CapturedTurn(role="assistant" if row.speaker else "user", text=row.content, turn=key or None, at=row.at)
