"""
A request in one of the four dialects as a conversation: who said what, which turns are a person's, where a block may stand.

A block goes into the last text of a person's turn, before its first character. Where that text or something behind it in the
same turn is marked for the provider's cache, it goes behind all of the turn instead: what is to be cached stays as it was.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from hashlib import sha256

from memento.interfaces.proxy.human import human
from memento.interfaces.proxy.spans import Span, Splice, Unreadable, document, items, members


class Voice(Enum):
    """Whose a message is."""

    HUMAN = auto()
    MODEL = auto()
    TOOL = auto()
    OTHER = auto()


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one kind of request is written: the key of its list of messages, and the type of a block of text."""

    list_key: str
    text_type: str


CHAT = Dialect("messages", "text")
MESSAGES = Dialect("messages", "text")
RESPONSES = Dialect("input", "input_text")
OLLAMA = Dialect("messages", "text")

# The requests that get memories, all by POST; every other path of a provider is passed on as it is.
DIALECTS: Mapping[str, Dialect] = {
    "/v1/chat/completions": CHAT,
    "/v1/responses": RESPONSES,
    "/v1/responses/input_tokens": RESPONSES,
    "/v1/messages": MESSAGES,
    "/v1/messages/count_tokens": MESSAGES,
    "/api/chat": OLLAMA,
}

_TEXTS = ("text", "input_text", "output_text")
_THINKING = ("thinking", "redacted_thinking", "reasoning")
_ROLES = {"user": Voice.HUMAN, "assistant": Voice.MODEL, "tool": Voice.TOOL, "function": Voice.TOOL}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a block may stand in a person's turn: `text` is the string it goes into, `end` the bracket it goes before."""

    text: Span
    end: int | None
    behind: bool

    def splices(self, block: str, behind: bool, text_type: str) -> list[Splice]:
        """
        What to put in for a block to stand here.

        Args:
            block: without quotes, as it is written inside a JSON string.
            behind: the side on which it stood when it came first; a client may write the same turn differently later.
        """
        if not behind:
            return [Splice(self.text.start + 1, f"{block}\\n\\n")]
        element = f'{{"type":"{text_type}","text":"{block}"}}'
        if self.end is not None:
            return [Splice(self.end, f",{element}")]
        return [Splice(self.text.start, f'[{{"type":"{text_type}","text":'), Splice(self.text.end, f"}},{element}]")]


@dataclass(frozen=True, slots=True)
class Message:
    """One message: whose it is, what was said in words, and where a block may stand if it is a person's."""

    voice: Voice
    said: str
    place: Place | None = None
    is_plain: bool = True  # nothing but words: no tool is called, nothing is thought


@dataclass(frozen=True, slots=True)
class Turn:
    """A person's message, by the digest of the conversation up to it."""

    key: bytes
    said: str
    place: Place


@dataclass(frozen=True, slots=True)
class Conversation:
    """A request as it was read: its text, its turns in their order, and whether the last one is yet to be answered."""

    text: str
    turns: list[Turn]
    is_open: bool
    system: str
    most_tokens: int | None


def read(body: bytes, dialect: Dialect, owner: str) -> Conversation:
    """
    A request as a conversation.

    Args:
        owner: whose conversation it is; part of every key.

    Raises:
        Unreadable: no JSON object with messages.
    """
    text, whole = document(body)
    if not isinstance(whole.value, dict):
        raise Unreadable("not an object")
    fields = members(text, whole)
    listed = fields.get(dialect.list_key)
    if listed is None or not isinstance(listed.value, list | str):
        raise Unreadable("no messages")
    if isinstance(listed.value, str):
        messages = [_read_words(text, Voice.HUMAN, listed)]
    else:
        messages = [_message(text, one) for one in items(text, listed)]
    earlier = [fields[name].value for name in ("previous_response_id", "conversation") if name in fields]
    turns = _turns(messages, json.dumps([owner, earlier]))
    last = max((place for place, one in enumerate(messages) if one.place), default=len(messages))
    return Conversation(
        text,
        turns,
        is_open=_is_unanswered(messages[last + 1 :]),
        system="\n".join(
            [_words(whole.value.get(name)) for name in ("system", "instructions")] + _systems(listed.value)
        ),
        most_tokens=_first_number(whole.value, "max_tokens", "max_completion_tokens", "max_output_tokens"),
    )


def _is_unanswered(tail: list[Message]) -> bool:
    """Whether nothing came of the last turn yet; a client may have begun the answer."""
    if tail and tail[-1].voice is Voice.MODEL and tail[-1].is_plain:
        tail = tail[:-1]
    return all(one.voice in (Voice.OTHER, Voice.HUMAN) for one in tail)


def _turns(messages: list[Message], seed: str) -> list[Turn]:
    """
    Words alone are digested: marks for the cache move from turn to turn, thoughts are dropped, a string becomes a list.
    """
    digest, turns = sha256(seed.encode("utf-8", "replace")), []
    for one in messages:
        if not one.said:
            continue
        said = one.said.encode("utf-8", "replace")
        digest.update(f"{one.voice.name} {len(said)} ".encode())
        digest.update(said)
        if one.place:
            turns.append(Turn(digest.digest(), one.said, one.place))
    return turns


def _message(text: str, span: Span) -> Message:
    if not isinstance(span.value, dict):
        raise Unreadable("a message that is no object")
    role, kind = span.value.get("role"), str(span.value.get("type", ""))
    if role is None:
        return Message(Voice.TOOL if kind.endswith(("_output", "_response")) else Voice.MODEL, "", is_plain=False)
    voice = _ROLES.get(str(role), Voice.OTHER)
    if voice is Voice.HUMAN:
        content = members(text, span).get("content")
        return _read_words(text, voice, content) if content else Message(voice, "")
    said = _words(span.value.get("content")) if voice is Voice.MODEL else ""
    return Message(voice, said.strip(), is_plain=not _is_busy(span.value))


def _read_words(text: str, voice: Voice, content: Span) -> Message:
    """A person's message, or a tool's result that is sent as one."""
    if isinstance(content.value, str):
        said = human(content.value)
        return Message(voice, said, Place(content, None, False) if said else None)
    if not isinstance(content.value, list):
        return Message(voice, "")
    blocks = items(text, content)
    own = [(place, said) for place, one in enumerate(blocks) if (said := _human_words(one.value))]
    results = [place for place, one in enumerate(blocks) if _kind(one.value).endswith("_result")]
    if not own or (results and results[-1] > own[-1][0]):
        return Message(Voice.TOOL if results else voice, "")
    place = own[-1][0]
    behind = any(_is_kept(one.value) for one in blocks[place:])
    target = members(text, blocks[place])["text"]
    return Message(voice, " ".join(said for _, said in own), Place(target, content.end - 1, behind))


def _human_words(block: object) -> str:
    if not isinstance(block, dict) or block.get("type") not in _TEXTS or not isinstance(block.get("text"), str):
        return ""
    return human(block["text"])


def _is_kept(block: object) -> bool:
    """Whether a provider is to cache what goes up to this block, or whether it must stand as the model wrote it."""
    return isinstance(block, dict) and (bool(block.get("cache_control")) or _kind(block) in _THINKING)


def _is_busy(message: dict[str, object]) -> bool:
    """Whether the model did more than speak."""
    if message.get("tool_calls") or message.get("function_call") or message.get("thinking"):
        return True
    content = message.get("content")
    return isinstance(content, list) and any(_kind(block) not in _TEXTS for block in content)


def _kind(block: object) -> str:
    return str(block.get("type", "")) if isinstance(block, dict) else ""


def _words(content: object) -> str:
    """The words of a content, whether it is a string or blocks."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(str(one["text"]).strip() for one in content if _kind(one) in _TEXTS and "text" in one)


def _systems(messages: object) -> list[str]:
    if not isinstance(messages, list):
        return []
    return [_words(one.get("content")) for one in messages if one.get("role") in ("system", "developer")]


def _first_number(fields: dict[str, object], *names: str) -> int | None:
    return next((value for name in names if isinstance(value := fields.get(name), int)), None)
