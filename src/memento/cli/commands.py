"""The commands over a memory: read the arguments, ask, print."""

from __future__ import annotations

import re
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memento.cli import shown
from memento.cli.door import FAILED, Instant, bar, command, printed
from memento.cli.opened import Chosen, ask, opened
from memento.errors import InputError, NotFound

if TYPE_CHECKING:
    from memento.client import Client
    from memento.service import Memento

_PATH = re.compile(r"""[^\s<>?"]*(?:[/\\][^\s<>?"]*|\.\w{1,6})""")  # what is meant for the name of a file


@command("note")
@click.argument("text")
@click.option("--at", type=Instant(), help="When it was said; default now.")
@click.option("--title", help="What it is about, when the text does not say.")
@click.option("--speaker", help="Who said it, when it was not you.")
@click.option("--session", help="The conversation it belongs to.")
@click.option("--position", type=click.IntRange(0), help="Its place in that conversation, from 0.")
@click.option("--key", "idempotency_key", help="A retry with the same key is the same note.")
@click.option("--no-wait", "wait", is_flag=True, default=True, flag_value=False, help="Return as soon as it is kept.")
def note(chosen: Chosen, text: str, **details: Any) -> None:
    """Remember TEXT, or standard input when it is -."""
    with opened(chosen, "note") as memento:
        answer = ask(memento, "note", content=text_of(text), **details)
        printed(chosen, answer, lambda: shown.noted(answer, _contents(memento, answer)))


@command("recall")
@click.argument("question")
@click.option("-k", type=int, metavar="N", help="Most memories to show.")
@click.option("--as-of", type=Instant(), help="What was true then.")
@click.option("--believed-at", type=Instant(), help="What was believed then.")
@click.option("--profile", metavar="NAME", help="Retrieval settings by name, as seed.")
@click.option("--engine", metavar="NAME", help="What ranks: signals, ppr, spread, hops or published.")
@click.option("--no-gate", is_flag=True, help="Show the best there is, even when nothing is relevant.")
@click.option("--explain", is_flag=True, help="Say why each came back, and by which SPARQL query.")
@click.option(
    "--format", "form", type=click.Choice(["text", "xml"]), help="A tree, or the block that a model is given."
)
def recall(chosen: Chosen, question: str, no_gate: bool, form: str | None, **details: Any) -> None:
    """The memories that answer QUESTION, best first; none when none is relevant."""
    details["gate"] = False if no_gate else None
    with opened(chosen, "recall") as memento:
        if form and not chosen.as_json:
            click.echo(_rendered(chosen, memento, form, question, details))
            return
        answer = ask(memento, "recall", question=question, **details)
    printed(chosen, answer, lambda: shown.recollection(answer))


@command("correct")
@click.argument("iri")
@click.argument("text")
@click.option("--at", type=Instant(), help="Since when that holds; default since the memory did.")
@click.option("--key", "keys", multiple=True, metavar="KEY", help="Its key instead; may be repeated.")
def correct(chosen: Chosen, iri: str, text: str, at: datetime | None, keys: tuple[str, ...]) -> None:
    """Put TEXT, which is right, in the place of the memory IRI."""
    with opened(chosen, "correct") as memento:
        answer = ask(memento, "correct", iri=iri, content=text_of(text), at=at, keys=list(keys) or None)
        printed(chosen, answer, lambda: shown.noted(answer, _contents(memento, answer)))


@command("undo")
@click.argument("iri")
def undo(chosen: Chosen, iri: str) -> None:
    """Let the retired memory IRI hold again; or the one that the invalidation IRI retired."""
    with opened(chosen, "undo") as memento:
        answer = ask(memento, "undo", iri=iri)
        contents = {one: shown.content_of(ask(memento, "get", iri=answer[one])) for one in ("restored", "invalidator")}
    printed(chosen, answer, lambda: shown.undone(contents))


@command("sources")
@click.argument("iri")
def sources(chosen: Chosen, iri: str) -> None:
    """Who told the memory IRI, or the memories of a note, and what made them of it."""
    with opened(chosen, "sources") as memento:
        answer = ask(memento, "sources", iri=iri)
    printed(chosen, answer, lambda: shown.sources(answer))


@command("note-status")
@click.argument("iri")
def note_status(chosen: Chosen, iri: str) -> None:
    """How far the note IRI has come."""
    with opened(chosen, "note-status") as memento:
        answer = ask(memento, "note_status", iri=iri)
    printed(chosen, answer, lambda: shown.fields(answer))


@command("retry")
def retry(chosen: Chosen) -> None:
    """Try every note now that is still to be understood."""
    with opened(chosen, "retry") as memento:
        answer = ask(memento, "retry")
    printed(chosen, answer, lambda: shown.tried(answer))


@command("get")
@click.argument("iri")
def get(chosen: Chosen, iri: str) -> None:
    """Everything known of a note, a memory, an entity or the user."""
    with opened(chosen, "get") as memento:
        answer = ask(memento, "get", iri=iri)
    printed(chosen, answer, lambda: shown.described(answer))


@command("list")
@click.option("--limit", type=int, default=50, show_default=True, help="Most memories to show.")
@click.option("--offset", type=int, default=0, help="How many to pass over.")
@click.option("--past", is_flag=True, help="Also what is over or forgotten.")
def listed(chosen: Chosen, limit: int, offset: int, past: bool) -> None:
    """The memories, the latest first."""
    with opened(chosen, "list") as memento:
        answer = ask(memento, "list", limit=limit, offset=offset, past=past)
    printed(chosen, answer, lambda: shown.listing(answer))


@command("timeline")
@click.argument("subject")
@click.option("--as-of", type=Instant(), help="Only what was true then.")
@click.option("--believed-at", type=Instant(), help="As far as it was known then.")
@click.option("--limit", type=int, default=50, show_default=True, help="Most memories to show, the latest.")
def timeline(chosen: Chosen, subject: str, **details: Any) -> None:
    """The history of SUBJECT: the name of an entity, an IRI, or `me`."""
    with opened(chosen, "timeline") as memento:
        answer = ask(memento, "timeline", subject=subject, **details)
    printed(chosen, answer, lambda: shown.timeline(answer))


@command("forget")
@click.argument("iri")
@click.option("--erase", is_flag=True, help="Delete the text too, and the note when nothing else needs it.")
def forget(chosen: Chosen, iri: str, erase: bool) -> None:
    """Hide a memory, or the memories of a note or of an agent, from now on."""
    with opened(chosen, "forget") as memento:
        answer = ask(memento, "forget", iri=iri, erase=erase)
    printed(chosen, answer, lambda: shown.forgotten(answer))


@command("query")
@click.argument("sparql")
@click.option("--accept", help="Media type of the answer, as text/turtle; default CSV or Turtle.")
def query(chosen: Chosen, sparql: str, accept: str | None) -> None:
    """Answer a read-only SPARQL query: the text itself, a file that holds it, or - for standard input."""
    rows = "application/sparql-results+json" if chosen.as_json else "text/csv"
    with opened(chosen, "query") as memento:
        body, _ = memento.query(text_or_file(sparql), accept=accept or f"{rows}, text/turtle;q=0.9, */*;q=0.1")
    click.echo(body, nl=not body.endswith(b"\n"))


@command("infer")
def infer(chosen: Chosen) -> None:
    """How much follows from what the graphs of the namespace state, by the rules it follows by."""
    with opened(chosen, "infer") as memento:
        answer = ask(memento, "infer")
    printed(chosen, answer, lambda: shown.inferred(answer))


@command("status")
def status(chosen: Chosen) -> None:
    """What the memory holds and how it stands."""
    with opened(chosen, "status") as memento:
        answer = ask(memento, "status")
    printed(chosen, answer, lambda: shown.fields({**answer, "set_aside": shown.set_aside(answer["set_aside"])}))


@command("check")
def check(chosen: Chosen) -> None:
    """Read the store to its end, compare indexes and shapes with the graph; exit code 1 when something is wrong."""
    with opened(chosen, "check") as memento:
        answer = ask(memento, "check")
    printed(chosen, answer, lambda: shown.differences(answer))
    if answer:
        sys.exit(FAILED)


@command("rebuild")
def rebuild(chosen: Chosen) -> None:
    """Make every index anew from the graph alone."""
    with opened(chosen, "rebuild") as memento, bar("Embedding") as progress:
        count = memento.rebuild(progress)
    printed(chosen, {"embedded": count}, lambda: f"{count:,} texts indexed.")


def _contents(memento: Memento | Client, answer: Any) -> dict[str, str]:
    iris = answer["memories"] + answer["invalidated"] + answer["contradicts"]
    return {iri: shown.content_of(ask(memento, "get", iri=iri)) for iri in iris}


def _rendered(chosen: Chosen, memento: Memento | Client, form: str, question: str, details: dict[str, Any]) -> str:
    from zoneinfo import ZoneInfo

    from memento.retrieval.render import as_text, as_xml

    found = memento.recall(question, **details)
    if form == "text":
        return as_text(found)
    return as_xml(found, datetime.now(ZoneInfo(chosen.settings().consolidation.time_zone)).date())


def text_of(argument: str) -> str:
    """The text of an argument, or standard input when it is -; raises `InputError` when that is no text."""
    if argument != "-":
        return argument
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise InputError(f"standard input is not UTF-8: {error}") from error


def text_or_file(argument: str, brackets: str = "{") -> str:
    """
    The text itself, or what is in the file of that name.

    Args:
        brackets: what no file's name has, and nearly every text.
    """
    if argument == "-" or any(bracket in argument for bracket in brackets):
        return text_of(argument)
    try:
        if Path(argument).is_file():
            return Path(argument).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise NotFound(f"{argument[:80]} cannot be read: {error}") from error
    if _PATH.fullmatch(argument):
        raise NotFound(f"there is no file {argument[:80]}")
    return argument
