"""
Parse a request in one of the four dialects as a conversation: who said what, which turns are a person's, where a block may go.

A block goes before the first character of the last text in a person's turn. If that text, or something after it in the same turn,
is marked for the provider's cache, the block goes after the whole turn instead, so that the cached part stays unchanged. The
request is parsed with the positions of its values, so that a block can be inserted without writing the rest again.

*Guarantees:* removing what `splice_in` inserted gives the original document, byte for byte. A document that two parsers could
understand differently, for example one with a duplicate key, is refused.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from hashlib import sha256

_scan = json.JSONDecoder().raw_decode
_blank = re.compile(r"[ \t\n\r]*").match


class Unreadable(Exception):
    """The body is not JSON, or ambiguous JSON; it is forwarded unchanged."""


@dataclass(frozen=True, slots=True)
class Span:
    """A value and its position: `text[start:end]` is its source text."""

    start: int
    end: int
    value: object


@dataclass(frozen=True, slots=True, order=True)
class Splice:
    """Text to insert before the character at a position."""

    at: int
    text: str


def document(body: bytes) -> tuple[str, Span]:
    """Return the text of a UTF-8 body, with its byte order mark if it has one, and its one value; raise `Unreadable`."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable("not UTF-8") from error
    span = _scan_value(text, _after_blank(text, 1 if text.startswith("\ufeff") else 0))
    if _after_blank(text, span.end) != len(text):
        raise Unreadable("more than one value")
    return text, span


def members(text: str, span: Span) -> dict[str, Span]:
    """
    Return the values of an object by key; raise `Unreadable` for a duplicate key.

    >>> text, whole = document(b'{"a": [1, 2]}')
    >>> members(text, whole)["a"]
    Span(start=6, end=12, value=[1, 2])
    """
    found: dict[str, Span] = {}
    at = _after_blank(text, span.start + 1)
    while text[at] != "}":
        key = _scan_value(text, at)
        one = _scan_value(text, _after_blank(text, _after_blank(text, key.end) + 1))  # after the colon
        if str(key.value) in found:
            raise Unreadable("a key comes twice")
        found[str(key.value)] = one
        at = _skip_comma(text, one.end)
    return found


def items(text: str, span: Span) -> list[Span]:
    """
    Return the values of an array, in order.

    >>> text, whole = document(b'[1, "b"]')
    >>> [one.start for one in items(text, whole)]
    [1, 4]
    """
    found: list[Span] = []
    at = _after_blank(text, span.start + 1)
    while text[at] != "]":
        found.append(_scan_value(text, at))
        at = _skip_comma(text, found[-1].end)
    return found


def splice_in(text: str, splices: Iterable[Splice]) -> bytes:
    """
    Return the document with texts inserted at some positions.

    >>> splice_in('["b"]', [Splice(2, "a ")])
    b'["a b"]'
    """
    pieces, before = [], 0
    for splice in sorted(splices):
        pieces += [text[before : splice.at], splice.text]
        before = splice.at
    return "".join([*pieces, text[before:]]).encode("utf-8")


def _scan_value(text: str, at: int) -> Span:
    try:
        value, end = _scan(text, at)
    except (ValueError, RecursionError) as error:
        raise Unreadable("not JSON") from error
    return Span(at, end, value)


def _skip_comma(text: str, at: int) -> int:
    """Return the position of the next member, or of the closing bracket."""
    at = _after_blank(text, at)
    return _after_blank(text, at + 1) if text[at] == "," else at


def _after_blank(text: str, at: int) -> int:
    found = _blank(text, at)
    return found.end() if found else at


# Elements that clients add to a person's turn; their content is not the person's. The first is our own block, echoed by a client.
ELEMENTS = (
    "memento",
    "system-reminder",
    "system",
    "instructions",
    "user_instructions",
    "environment_context",
    "local-command-stdout",
    "local-command-stderr",
    "local-command-caveat",
)
QUESTION_CHARACTERS = 2000  # of a longer text, use the beginning and the end: a pasted page is in the middle

_tag = re.compile(rf"<(/?)({'|'.join(ELEMENTS)})(?:\s[^<>]*)?>", re.IGNORECASE)
_VERBS = (
    r"(?:generate|write|create|reply with|respond with|provide|suggest|summari[sz]e|extract|produce|give|come up with)"
)
_CHAT = r"(?:chat|conversation|messages?|session|dialogue|thread|exchange)"
_TITLE = rf"\b{_VERBS}\b.{{0,80}}\b(?:an?|\d[\w\s-]{{0,40}})\s++(?:[\w,-]++\s++){{0,6}}title\b"
# "a short title for this chat" names the chat itself; "the title of the book" and "a title for my post" are a person's requests.
_NAMES_CHAT = re.compile(
    rf"{_TITLE}.{{0,80}}?\b(?:the|this|our|user's)\s+(?:[\w-]++\s++){{0,2}}{_CHAT}\b", re.DOTALL | re.IGNORECASE
)
# A short system prompt that mentions both a title and a chat has no other purpose.
_IS_FOR_NAMES = re.compile(rf"{_TITLE}|\binto an? (?:\w+ )?title\b", re.DOTALL | re.IGNORECASE)
_SPEAKS_OF_CHAT = re.compile(rf"\b{_CHAT}\b", re.IGNORECASE)
_TASK = re.compile(r"\A\s*### Task:.*(?:<chat_history>|### Chat History)", re.DOTALL | re.IGNORECASE)
UTILITY_CHARACTERS = 1500
"""The characters of a question that are searched for a title request, and the longest system prompt that may be one."""


def strip_programs(text: str) -> str:
    """
    Remove what programs put around a person's text; the result is empty if nothing is a person's.

    >>> strip_programs("<memento>\\n…\\n</memento>\\n\\nWhere do I live?"), strip_programs("Hi.<system>Be brief.</system>")
    ('Where do I live?', 'Hi.')
    >>> strip_programs("<system-reminder>Be brief.</system-reminder>"), strip_programs("Hello <system>obey")
    ('', 'Hello')
    """
    kept: list[str] = []
    at = 0
    tags = [(found.start(), found.end(), found[1], found[2].lower()) for found in _tag.finditer(text)]
    ends: dict[str, deque[tuple[int, int]]] = {name: deque() for name in ELEMENTS}
    for start, end, slash, name in tags:
        if slash:
            ends[name].append((start, end))
    for start, end, slash, name in tags:
        if start < at:
            continue
        while ends[name] and ends[name][0][0] < end and not slash:
            ends[name].popleft()
        if slash and name == "memento":
            kept, at = [], end  # an echoed block whose beginning was cut off
        elif not slash:
            kept.append(text[at:start])
            at = ends[name][0][1] if ends[name] else len(text)
    return " ".join([*kept, text[at:]]).strip()


def shorten_question(text: str) -> str:
    """
    Shorten a text to a question for recall: of a long one, keep the beginning and the end.

    >>> len(shorten_question("x" * 9000)), shorten_question("short")
    (2001, 'short')
    """
    text = text.encode("utf-8", "replace").decode("utf-8")  # JSON can contain a lone surrogate
    if len(text) <= QUESTION_CHARACTERS:
        return text
    half = QUESTION_CHARACTERS // 2
    return f"{text[:half]}\n{text[-half:]}"


def is_utility(question: str, system: str) -> bool:
    """
    Tell whether a client asks for its own purposes: to name a chat, to tag it, to propose the next message.

    >>> is_utility("Please reply with a title for this chat in 3-4 words.", ""), is_utility("What was the title?", "")
    (True, False)
    """
    if _TASK.match(question) or _NAMES_CHAT.search(question[:UTILITY_CHARACTERS]):
        return True
    is_short = len(system) <= UTILITY_CHARACTERS
    return is_short and bool(_IS_FOR_NAMES.search(system)) and bool(_SPEAKS_OF_CHAT.search(system))


class Voice(Enum):
    """The author of a message."""

    HUMAN = auto()
    MODEL = auto()
    TOOL = auto()
    OTHER = auto()


@dataclass(frozen=True, slots=True)
class Dialect:
    """The format of one kind of request: the key of its list of messages, and the type of a text block."""

    list_key: str
    text_type: str


CHAT = Dialect("messages", "text")
MESSAGES = Dialect("messages", "text")
RESPONSES = Dialect("input", "input_text")
OLLAMA = Dialect("messages", "text")

# The requests that get memories, all by POST; requests to any other path are forwarded unchanged.
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
    """The position of a block in a person's turn: `text` is the string it goes into, `end` the bracket it goes before."""

    text: Span
    end: int | None
    behind: bool

    def splices(self, block: str, behind: bool, text_type: str) -> list[Splice]:
        """
        Return what to insert to put a block here.

        Args:
            block: the block, escaped for a JSON string, without quotes.
            behind: the side where the block was first inserted; a client may write the same turn differently later.
        """
        if not behind:
            return [Splice(self.text.start + 1, f"{block}\\n\\n")]
        element = f'{{"type":"{text_type}","text":"{block}"}}'
        if self.end is not None:
            return [Splice(self.end, f",{element}")]
        return [Splice(self.text.start, f'[{{"type":"{text_type}","text":'), Splice(self.text.end, f"}},{element}]")]


@dataclass(frozen=True, slots=True)
class Message:
    """One message: its author, its words, and the position of a block if it is a person's."""

    voice: Voice
    said: str
    place: Place | None = None
    is_plain: bool = True  # only words: no tool call, no thinking


@dataclass(frozen=True, slots=True)
class Turn:
    """A person's message; its key is the digest of the conversation up to it."""

    key: bytes
    said: str
    place: Place


@dataclass(frozen=True, slots=True)
class Conversation:
    """A parsed request: its text, its turns in order, and whether the last one is still unanswered."""

    text: str
    turns: list[Turn]
    is_open: bool
    system: str
    most_tokens: int | None


def read_conversation(body: bytes, dialect: Dialect, owner: str) -> Conversation:
    """
    Parse a request as a conversation.

    Args:
        owner: the owner of the conversation; part of every key.

    Raises:
        Unreadable: the body is not a JSON object with messages.
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
    """Tell whether the last turn has no answer yet; the client may have begun one."""
    if tail and tail[-1].voice is Voice.MODEL and tail[-1].is_plain:
        tail = tail[:-1]
    return all(one.voice in (Voice.OTHER, Voice.HUMAN) for one in tail)


def _turns(messages: list[Message], seed: str) -> list[Turn]:
    """
    Return the person's turns. Only words go into the digest, because cache markers move from turn to turn, thinking is dropped, and
    a string becomes a list.
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
    """Parse a person's message, or a tool result that is sent as one."""
    if isinstance(content.value, str):
        said = strip_programs(content.value)
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
    return strip_programs(block["text"])


def _is_kept(block: object) -> bool:
    """Tell whether the provider should cache the prompt up to this block, or whether the block must stay as the model wrote it."""
    return isinstance(block, dict) and (bool(block.get("cache_control")) or _kind(block) in _THINKING)


def _is_busy(message: dict[str, object]) -> bool:
    """Tell whether the model did more than write text."""
    if message.get("tool_calls") or message.get("function_call") or message.get("thinking"):
        return True
    content = message.get("content")
    return isinstance(content, list) and any(_kind(block) not in _TEXTS for block in content)


def _kind(block: object) -> str:
    return str(block.get("type", "")) if isinstance(block, dict) else ""


def _words(content: object) -> str:
    """Return the words of a message's content, a string or a list of blocks."""
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
