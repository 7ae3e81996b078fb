"""The commands for a memory as a whole: export, import, backup, restore; and for the vocabulary."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from memento.interfaces.cli.base import FAILED, Chosen, ask, bar, command, main, opened, printed, running

_RDF = (".trig", ".nq", ".nquads", ".jsonld", ".ttl", ".turtle", ".nt", ".ntriples", ".rdf", ".owl")


@command("export")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--format", "form", metavar="NAME", help="trig, nquads or jsonld; default by the name of FILE.")
@click.option("--vectors", is_flag=True, help="With the vectors, so that an import need not make them again.")
@click.option("--audit", is_flag=True, help="With what was done with the store, for reading.")
def export(chosen: Chosen, file: Path, **details: Any) -> None:
    """Write everything into FILE, as .trig, .nq or .jsonld, also .gz; with --namespace that one alone."""
    from memento.codec import plain

    with opened(chosen, "export") as memento, bar("Exporting") as progress:
        answer = plain(memento.export(file, **details, namespace=chosen.namespace, progress=progress))
    printed(
        chosen,
        answer,
        lambda: f"{answer['statements']:,} statements written to {answer['file']} ({answer['bytes']:,} bytes).",
    )


@command("import")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--keep", is_flag=True, help="Notes: keep each row as one memory of its own text, and retire nothing.")
@click.option("--format", "form", metavar="NAME", help="RDF: its format; default by the name of FILE.")
@click.option("--data", metavar="NAME", help="RDF: the graph of your own for triples that are in no graph.")
@click.option("--no-check", is_flag=True, help="RDF: do not hold it against the shapes, which takes 10 ms a memory.")
def imported(chosen: Chosen, file: Path, keep: bool, form: str | None, data: str | None, no_check: bool) -> None:
    """Take in FILE: an export or other RDF, all or nothing; or notes as JSON lines, a JSON array or paragraphs."""
    if form or data or Path(file.name.removesuffix(".gz")).suffix.lower() in _RDF:
        _merge(chosen, file, form=form, data=data, check=not no_check)
        return
    from memento.codec import plain
    from memento.intake import read_rows

    listed = read_rows(file)
    with opened(chosen, "import") as memento, bar("Importing") as progress:
        answer = plain(memento.import_notes(listed, consolidate=not keep, progress=progress))
    printed(
        chosen,
        answer,
        lambda: (
            f"{len(answer['notes']):,} notes read: {answer['memories']:,} memories stored, "
            f"{answer['invalidated']:,} retired, {answer['skipped']:,} skipped"
            + (f", {answer['verbatim']:,} kept word for word" if answer["verbatim"] else "")
            + (f", {answer['pending']:,} still to be understood." if answer["pending"] else ".")
        ),
    )


@command("backup")
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
@click.option("--keep", type=click.IntRange(1), metavar="N", help="Leave the latest N backups there; default all.")
def backup(chosen: Chosen, folder: Path | None, keep: int | None) -> None:
    """Back up the memory into FOLDER, under the time, also while a service runs; default the data folder's own."""
    with opened(chosen, "backup") as memento:
        answer = ask(memento, "backup", folder=_whole(folder), keep=keep)
    printed(
        chosen,
        answer,
        lambda: (
            f"{answer['statements']:,} statements and {answer['vectors']:,} vectors in {answer['folder']} "
            f"({answer['bytes']:,} bytes)."
        ),
    )


@command("restore")
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
def restore(chosen: Chosen, folder: Path | None) -> None:
    """Let the backup FOLDER, or the latest in it, be the memory; what is there now is moved aside and stays."""
    if client := running(chosen):
        answer = ask(client, "restore", folder=_whole(folder))
    else:
        from memento.codec import plain
        from memento.python import restore_folder as restored

        wait_s = chosen.settings().server.lock_wait_s
        answer = plain(restored(chosen.folder.path, _whole(folder), wait_s=wait_s))
    printed(
        chosen,
        answer,
        lambda: (
            f"{answer['statements']:,} statements and {answer['vectors']:,} vectors from {answer['folder']}. "
            f"What was there before is in {answer['aside']}."
        ),
    )


@command("rebuild")
def rebuild(chosen: Chosen) -> None:
    """Make every index anew from the graph alone."""
    with opened(chosen, "rebuild") as memento, bar("Embedding") as progress:
        count = memento.rebuild(progress)
    printed(chosen, {"embedded": count}, lambda: f"{count:,} texts indexed.")


@main.command("docs", hidden=True)
@click.argument("folder", default=".", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--check", is_flag=True, help="Write nothing; exit code 1 when a page is stale.")
def docs_of_checkout(folder: Path, check: bool) -> None:
    """Write the generated pages that are stale into FOLDER, a checkout; print their names."""
    from memento.interfaces.reference import find_stale, write_stale

    stale = find_stale(folder) if check else write_stale(folder)
    for path in stale:
        click.echo(path)
    if check and stale:
        sys.exit(FAILED)


@main.group("ontology")
def ontology() -> None:
    """The vocabulary."""


@ontology.command("docs")
def docs() -> None:
    """The page docs/ontology.md."""
    from memento.ontology import write_page

    click.echo(write_page(), nl=False)


@ontology.command("context")
def context() -> None:
    """The JSON-LD context, ontology/context.jsonld."""
    from memento.ontology import write_context

    click.echo(write_context(), nl=False)


def _merge(chosen: Chosen, file: Path, **details: Any) -> None:
    from memento.codec import plain

    with opened(chosen, "import") as memento, bar("Importing") as progress:
        answer = plain(memento.import_rdf(file, **details, namespace=chosen.namespace, progress=progress))
    kept = f", {answer['kept']:,} kept as they are here" if answer["kept"] else ""
    over = f", {answer['passed_over']:,} passed over" if answer["passed_over"] else ""
    printed(
        chosen,
        answer,
        lambda: (
            f"{answer['statements']:,} statements read, {answer['added']:,} of them new{kept}{over}: "
            f"{answer['memories']:,} memories, {answer['notes']:,} notes, {answer['cases']:,} cases."
        ),
    )


def _whole(folder: Path | None) -> str | None:
    """From the root: the service was started somewhere else."""
    return None if folder is None else str(folder.expanduser().absolute())
