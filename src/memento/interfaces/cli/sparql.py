"""The commands in SPARQL: queries, updates, and whole graphs in and out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memento.errors import InputError
from memento.interfaces.cli.base import Chosen, command, common, main, opened, printed
from memento.interfaces.cli.commands import read_text_or_file

if TYPE_CHECKING:
    from memento.model import Changed


@command("query")
@click.argument("sparql")
@click.option("--accept", help="Media type of the answer, as text/turtle; default CSV or Turtle.")
def query(chosen: Chosen, sparql: str, accept: str | None) -> None:
    """Answer a read-only SPARQL query: the text itself, a file that holds it, or - for standard input."""
    rows = "application/sparql-results+json" if chosen.as_json else "text/csv"
    with opened(chosen, "query") as memento:
        body, _ = memento.query(read_text_or_file(sparql), accept=accept or f"{rows}, text/turtle;q=0.9, */*;q=0.1")
    click.echo(body, nl=not body.endswith(b"\n"))


@command("update")
@click.argument("sparql")
@click.option("--timeout", "timeout_s", type=float, metavar="S", help="Seconds it may take.")
def update(chosen: Chosen, sparql: str, timeout_s: float | None) -> None:
    """Do what a SPARQL update says: the text itself, a file that holds it, or - for standard input."""
    with opened(chosen, "update") as memento:
        _tell(chosen, memento.update(read_text_or_file(sparql), timeout_s=timeout_s, namespace=chosen.namespace))


@main.group("graph")
def graph() -> None:
    """Whole graphs: by IRI, or a free graph by its name alone."""


@graph.command("get")
@click.argument("name")
@click.option("--accept", default="text/turtle", show_default=True, help="Media type of the document.")
@click.pass_obj
def get(chosen: Chosen, name: str, accept: str) -> None:
    """Print all triples of a graph."""
    with opened(chosen, "graph") as memento:
        body, _ = memento.get_graph(_call(name), accept=accept, namespace=chosen.namespace)
    click.echo(body, nl=not body.endswith(b"\n"))


@graph.command("put")
@click.argument("name")
@click.argument("file")
@click.option("--media", help="Media type of the document; default by the end of its name, else text/turtle.")
@click.pass_obj
def put(chosen: Chosen, name: str, file: str, media: str | None) -> None:
    """Let a graph hold what FILE says, or standard input when it is -, and nothing else."""
    with opened(chosen, "graph") as memento:
        document = _document(file)
        _tell(
            chosen,
            memento.put_graph(document, _call(name), media=media or _media(file), namespace=chosen.namespace),
        )


@graph.command("add")
@click.argument("name")
@click.argument("file")
@click.option("--media", help="Media type of the document; default by the end of its name, else text/turtle.")
@click.pass_obj
def add(chosen: Chosen, name: str, file: str, media: str | None) -> None:
    """Add what FILE says, or standard input when it is -, to a graph."""
    with opened(chosen, "graph") as memento:
        document = _document(file)
        _tell(
            chosen,
            memento.post_graph(document, _call(name), media=media or _media(file), namespace=chosen.namespace),
        )


@graph.command("delete")
@click.argument("name")
@click.pass_obj
def delete(chosen: Chosen, name: str) -> None:
    """Take a graph away with all that is in it."""
    with opened(chosen, "graph") as memento:
        _tell(chosen, memento.delete_graph(_call(name), namespace=chosen.namespace))


for one in (get, put, add, delete):
    common(one)


def _tell(chosen: Chosen, changed: Changed) -> None:
    from memento.codec import plain

    printed(chosen, plain(changed), lambda: f"Quads: {changed.added:,} added, {changed.removed:,} removed.")


def _call(name: str) -> str:
    """A graph by its IRI, or the free graph of that name of whoever sits at the machine."""
    from memento.access import OWNER
    from memento.iris import data_iri
    from memento.sparql.update import is_absolute

    return name if is_absolute(name) else data_iri(OWNER.tenant, name)


def _document(file: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}") from error


def _media(file: str) -> str:
    from memento.sparql.prepare import SUFFIXES

    return SUFFIXES.get(Path(file).suffix.lower(), "text/turtle")
