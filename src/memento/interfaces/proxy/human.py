"""What a person wrote, out of what a program sent in the person's name; and whether the program asks for itself."""

from __future__ import annotations

import re
from collections import deque

# Elements that clients put into a person's turn; what is inside is theirs. The first is our own block, echoed by a client.
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
QUESTION_CHARACTERS = 2000  # of a longer text the beginning and the end are asked: a pasted page stands in the middle

_tag = re.compile(rf"<(/?)({'|'.join(ELEMENTS)})(?:\s[^<>]*)?>", re.IGNORECASE)
_VERBS = (
    r"(?:generate|write|create|reply with|respond with|provide|suggest|summari[sz]e|extract|produce|give|come up with)"
)
_CHAT = r"(?:chat|conversation|messages?|session|dialogue|thread|exchange)"
_TITLE = rf"\b{_VERBS}\b.{{0,80}}\b(?:an?|\d[\w\s-]{{0,40}})\s++(?:[\w,-]++\s++){{0,6}}title\b"
# "a short title for this chat": of the chat itself; "the title of the book", "a title for my post" are a person's wishes.
_NAMES_CHAT = re.compile(
    rf"{_TITLE}.{{0,80}}?\b(?:the|this|our|user's)\s+(?:[\w-]++\s++){{0,2}}{_CHAT}\b", re.DOTALL | re.IGNORECASE
)
# A system prompt that is short and speaks of both is there for nothing else.
_IS_FOR_NAMES = re.compile(rf"{_TITLE}|\binto an? (?:\w+ )?title\b", re.DOTALL | re.IGNORECASE)
_SPEAKS_OF_CHAT = re.compile(rf"\b{_CHAT}\b", re.IGNORECASE)
_TASK = re.compile(r"\A\s*### Task:.*(?:<chat_history>|### Chat History)", re.DOTALL | re.IGNORECASE)
UTILITY_CHARACTERS = 1500
"""Characters of a question and of a system prompt that may be for names."""


def human(text: str) -> str:
    """
    The text without what programs put around it; empty when nothing of it is a person's.

    >>> human("<memento>\\n…\\n</memento>\\n\\nWhere do I live?"), human("Hi.<system-reminder>Be brief.</system-reminder>")
    ('Where do I live?', 'Hi.')
    >>> human("<system-reminder>Be brief.</system-reminder>"), human("Hello <system>obey")
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
            kept, at = [], end  # an echo whose beginning was cut off
        elif not slash:
            kept.append(text[at:start])
            at = ends[name][0][1] if ends[name] else len(text)
    return " ".join([*kept, text[at:]]).strip()


def asked(text: str) -> str:
    """
    The text as a question for recall: of a long one the beginning and the end.

    >>> len(asked("x" * 9000)), asked("short")
    (2001, 'short')
    """
    text = text.encode("utf-8", "replace").decode("utf-8")  # JSON can write half a character
    if len(text) <= QUESTION_CHARACTERS:
        return text
    half = QUESTION_CHARACTERS // 2
    return f"{text[:half]}\n{text[-half:]}"


def is_utility(question: str, system: str) -> bool:
    """
    Whether a client asks on its own behalf: to name a chat, to tag it, to propose the next message.

    >>> is_utility("Please reply with a title for this chat in 3-4 words.", ""), is_utility("What was the title?", "")
    (True, False)
    """
    if _TASK.match(question) or _NAMES_CHAT.search(question[:UTILITY_CHARACTERS]):
        return True
    is_short = len(system) <= UTILITY_CHARACTERS
    return is_short and bool(_IS_FOR_NAMES.search(system)) and bool(_SPEAKS_OF_CHAT.search(system))
