"""The tools that change the memory: note, correct, forget. Two of them ask the user first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

from memento.interfaces.mcp.tools import Arguments, Ask, Reach, Told, Tool
from memento.iris import IRI, MEM
from memento.model import Noted
from memento.operations import notes
from memento.operations.recall import Get

NOTE = """Remember something about the user for later conversations.

Use when the user asks to remember, or says something lasting about themselves, their people, work or preferences.
1. Draft a note in the first person, as the user would say it: concise, self-contained, with full names and dates, and only what \
is new. "I moved from Paris to Lisbon in March 2025."
2. Show the draft to the user and wait for a clear yes.
3. Call this tool with confirmed=true. With confirmed=false nothing is stored.
What the note replaces is retired, not deleted. Never note secrets, nor what a recall returned."""

CORRECT = """Put right a memory that was never true, such as a misspelt name or a wrong date.

Use when the user says that something recalled is wrong. What was true once and has changed is a new note, not a correction. The \
old wording stays in the history, marked as corrected."""

FORGET = """Forget a memory, or all memories of a note: they are never recalled again.

Use when the user asks to forget. Show them what would be forgotten, wait for a clear yes, then call with confirmed=true. With \
erase=true the text itself is deleted and cannot be brought back: only on the user's explicit wish."""


class NoteArguments(Arguments, frozen=True, kw_only=True):
    content: Annotated[str, Meta(description="The note, in the first person, as the user would say it.")]
    confirmed: Annotated[bool, Meta(description="Whether the user has seen this very note and said yes.")]
    at: Annotated[str | None, Meta(description="When it was said or happened, ISO 8601; default now.")] = None
    wait: Annotated[
        bool, Meta(description="False returns as soon as the note is safe, before its facts are extracted.")
    ] = True


class CorrectArguments(Arguments, frozen=True, kw_only=True):
    iri: Annotated[str, Meta(description="The memory that is wrong, by the IRI that a recall gave.")]
    content: Annotated[str, Meta(description="What is right, as one sentence in the third person.")]
    at: Annotated[str | None, Meta(description="Since when that is true, ISO 8601; default as before.")] = None


class ForgetArguments(Arguments, frozen=True, kw_only=True):
    iri: Annotated[str, Meta(description="A memory or a note, by the IRI that a recall gave.")]
    confirmed: Annotated[bool, Meta(description="Whether the user has seen what would be forgotten and said yes.")]
    erase: Annotated[bool, Meta(description="Delete the text for good instead of hiding it.")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """
    What became of a call. `memories` are those that were stored, `retired` those that they replaced, were corrected or forgotten;
    of a `pending` note, which is safe but not yet understood, they are still to come.
    """

    status: Literal["noted", "pending", "skipped", "corrected", "forgotten", "erased", "unconfirmed", "declined"]
    note: IRI | None = None
    memories: tuple[IRI, ...] = ()
    retired: tuple[IRI, ...] = ()
    reason: str | None = None


def note(reach: Reach, asked: NoteArguments) -> Told | Ask:
    """Ask, or remember."""
    if not asked.confirmed:
        return _list_unconfirmed(
            f"Remember this?\n\n{asked.content.strip()}",
            "Nothing is stored yet. Show this note to the user and ask whether to remember it; when they say yes, call "
            f"memento_note again with confirmed=true:\n\n{asked.content.strip()}",
        )
    noted = reach.memory.note(asked.content, at=asked.at, wait=asked.wait, namespace=reach.namespace)
    return _store(noted, "noted", "Noted.")


def correct(reach: Reach, asked: CorrectArguments) -> Told:
    """Put a memory right."""
    corrected = reach.memory.correct(asked.iri, asked.content, at=asked.at, namespace=reach.namespace)
    return _store(corrected, "corrected", "Corrected.")


def forget(reach: Reach, asked: ForgetArguments) -> Told | Ask:
    """Ask, or forget."""
    verb = "Delete for good" if asked.erase else "Forget"
    if not asked.confirmed:
        what = _content(reach, asked.iri)
        return _list_unconfirmed(
            f"{verb}?\n\n{what}",
            "Nothing is forgotten yet. Show this to the user and ask whether to "
            f"{verb.lower()} it; when they say yes, call memento_forget again with confirmed=true:\n\n{what}",
        )
    gone = reach.memory.forget(asked.iri, erase=asked.erase, namespace=reach.namespace)
    return Told(
        answer=Change(status="erased" if gone.erased else "forgotten", retired=gone.memories),
        text="Erased." if gone.erased else "Forgotten.",
    )


def _store(noted: Noted, status: Literal["noted", "corrected"], text: str) -> Told:
    if noted.skipped:
        return Told(answer=Change(status="skipped", reason=noted.skipped), text=f"Skipped: {noted.skipped}")
    state: Literal["noted", "pending", "corrected"] = "pending" if noted.pending else status
    done = Change(
        status=state, note=noted.note, memories=noted.memories, retired=noted.invalidated, reason=noted.verbatim
    )
    return Told(answer=done, text=f"{text} But {noted.verbatim}." if noted.verbatim else text)


def _list_unconfirmed(question: str, instead: str) -> Ask:
    return Ask(
        question=question,
        instead=Told(answer=Change(status="unconfirmed"), text=instead),
        refused=Told(answer=Change(status="declined"), text="The user said no: nothing was changed."),
    )


def _content(reach: Reach, iri: str) -> str:
    """The text of a memory or a note; raises `NotFound` before the user is asked in vain."""
    found = reach.memory.get(iri, namespace=reach.namespace)
    return next((value for name, value in found.properties if name == MEM.content), found.iri)


TOOLS = (
    Tool(
        name="memento_note",
        title="Remember",
        description=NOTE,
        arguments=NoteArguments,
        answer=Change,
        run=note,
        asks=(notes.Note,),
        repeats_harmlessly=True,
    ),
    Tool(
        name="memento_correct",
        title="Correct a memory",
        description=CORRECT,
        arguments=CorrectArguments,
        answer=Change,
        run=correct,
        asks=(notes.Correct,),
        repeats_harmlessly=True,
    ),
    Tool(
        name="memento_forget",
        title="Forget",
        description=FORGET,
        arguments=ForgetArguments,
        answer=Change,
        run=forget,
        asks=(Get, notes.Forget),
        destroys=True,
        repeats_harmlessly=True,
    ),
)
