"""The commands that read and write files and RDF: exports, imports, backups, SPARQL queries and updates, graphs, the vocabulary."""

from __future__ import annotations

import contextlib
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memento.errors import InputError
from memento.interfaces.cli.base import (
    FAILED,
    Chosen,
    bar,
    call_operation,
    command,
    common,
    main,
    open_memory,
    print_answer,
    running,
)
from memento.interfaces.cli.commands import FILTERED, Option, absolute_path, options_of, read_text_or_file
from memento.interfaces.cli.views import (
    clean,
    shorten_id,
    show_import_undone,
    show_migration,
    show_redacted,
    show_undone,
)
from memento.operations.base import fields_of
from memento.operations.care import Export, Migrate

if TYPE_CHECKING:
    from memento.model import Changed

_RDF = (".trig", ".nq", ".nquads", ".jsonld", ".ttl", ".turtle", ".nt", ".ntriples", ".rdf", ".owl")


@command("export")
@click.argument("file", type=click.Path(path_type=Path))
@options_of(
    Export,
    {
        **FILTERED,
        "form": Option(
            names=("--format",), metavar="NAME", help=f"Its format: {fields_of(Export)['form'].description}."
        ),
    },
    left_out={"file"},
)
def export_memory(chosen: Chosen, file: Path, **details: Any) -> None:
    """
    Write the memory into FILE: .trig, .nq or .jsonld for all of it, .jsonl, .json, .csv or .md for rows; also .gz.

    With --namespace, write that namespace alone.
    """
    from memento.archive.tables import NOT_GUARANTEED, TABLE_FORMS
    from memento.codec import plain

    if details["anonymise"]:
        chosen.tell(NOT_GUARANTEED)
    with open_memory(chosen, "export") as memento, bar("Exporting", at_once=True) as progress:
        answer = plain(memento.export(file, **details, namespace=chosen.namespace, progress=progress))
    rows = [*(one.name for one in TABLE_FORMS), "okf"]
    print_answer(
        chosen,
        answer,
        lambda: (
            f"{answer['statements']:,} {'memories' if answer['form'] in rows else 'statements'} written to {answer['file']} "
            f"({answer['bytes']:,} bytes)."
        ),
    )


@command("import")
@click.argument("file", metavar="PATH", type=click.Path(path_type=Path, exists=True))
@click.option(
    "--from",
    "source",
    metavar="NAME",
    help="The program that PATH is from, as chatgpt or obsidian; default by its content.",
)
@click.option("--all", "all_turns", is_flag=True, help="Chats: also import what assistants said.")
@click.option("--dry-run", is_flag=True, help="Notes: show what would be imported, and write nothing.")
@click.option("--keep", is_flag=True, help="Notes: store each row as one memory, word for word, and retire nothing.")
@click.option("--format", "form", metavar="NAME", help="RDF: its format; default by the name of PATH.")
@click.option("--data", metavar="NAME", help="RDF: your own graph for triples that are in no named graph.")
@click.option("--no-check", is_flag=True, help="RDF: skip the SHACL validation, which takes 10 ms a memory.")
def import_file(
    chosen: Chosen,
    file: Path,
    source: str | None,
    all_turns: bool,
    dry_run: bool,
    keep: bool,
    form: str | None,
    data: str | None,
    no_check: bool,
) -> None:
    """Import PATH: an export, RDF, notes as JSON lines or paragraphs, or chats, notes and memories of other programs."""
    from memento.archive.okf import has_statements, is_bundle

    if not source and file.is_dir() and is_bundle(file):
        if has_statements(file):
            form = "okf"
        else:
            source = "okf"
    is_rdf = form or data or Path(file.name.removesuffix(".gz")).suffix.lower() in _RDF
    if not source and (is_rdf or _is_export(file)):
        if dry_run:
            raise InputError(
                "--dry-run counts notes: an export is imported completely or not at all, and importing it twice changes nothing"
            )
        _import_rdf(chosen, file, form=form, data=data, check=not no_check)
        return
    from memento.codec import plain
    from memento.intake.importers import harvest
    from memento.settings import load_client

    left_out = load_client(chosen.folder.settings_file).plugins.left_out
    found = harvest(file, source, all_turns=all_turns, left_out=left_out)
    with open_memory(chosen, "import") as memento, bar("Importing") as progress:
        done = memento.intake.import_notes(
            found.rows,
            consolidate=not keep,
            dry_run=dry_run,
            origin=found.origin,
            namespace=chosen.namespace,
            progress=progress,
        )
    counts = {
        "files": found.files,
        "conversations": found.conversations,
        "rows": len(found.rows),
        "sources": dict(found.sources),
        "left_out": dict(found.skipped.most_common()),
    }
    answer = {**plain(done), **counts, "refused": found.refused}
    print_answer(chosen, answer, lambda: _describe_trial(answer) if dry_run else _describe_import(answer))


def _describe_import(answer: dict[str, Any]) -> str:
    return (
        f"{answer['rows']:,} notes read: {answer['memories']:,} memories stored, "
        f"{answer['invalidated']:,} retired, {answer['skipped']:,} skipped"
        + (f", {answer['known']:,} known" if answer["known"] else "")
        + (f", {answer['verbatim']:,} kept word for word" if answer["verbatim"] else "")
        + (f", {answer['pending']:,} still to be understood." if answer["pending"] else ".")
        + show_redacted(answer)
        + _show_refused(answer["refused"])
        + show_way_back(answer["iri"])
    )


def show_way_back(iri: str | None) -> str:
    """Return a line that says how an import is undone; empty if nothing came of it."""
    return f"\n`memento undo {shorten_id(iri)}` takes all of it out again." if iri else ""


_SHOWN = 20
"""The most unusable rows that are shown; `--json` has all."""


def _show_refused(refused: Sequence[str]) -> str:
    """Show the rows that could not be read, a line each."""
    lines = [f"\nNot read: {one}" for one in refused[:_SHOWN]]
    return "".join(lines) + (f"\n… and {len(refused) - _SHOWN:,} more" if len(refused) > _SHOWN else "")


def _describe_trial(answer: dict[str, Any]) -> str:
    lines = [f"{answer[name]:>8,} {name}" for name in ("files", "conversations", "rows")]
    lines.append(f"{answer['known']:>8,} of the rows are known")
    for title, counts in (
        ("from", answer["sources"]),
        ("left out:", answer["left_out"]),
        ("redacted:", answer["redacted"]),
    ):
        lines += [f"{count:>8,} {title} {name}" for name, count in counts.items()]
    lines += [f"    {clean(line)}" for line in answer["lines"]]
    return "\n".join([*lines, "Nothing was written."]) + _show_refused(answer["refused"])


@command("undo")
@click.argument("iri", metavar="ID")
def undo(chosen: Chosen, iri: str) -> None:
    """Undo an import, with all that came of it, or an invalidation: the memory or claim that it retired is current again."""
    with open_memory(chosen, "undo") as memento:
        imports = [one["iri"] for one in call_operation(memento, "imports", namespace=chosen.namespace)]
        found = [one for one in imports if one == iri or (len(iri) > 4 and one.endswith(iri))]
        if found:
            with bar("Taking out", at_once=True) as progress:
                gone = call_operation(memento, "undo_import", progress, iri=found[0], namespace=chosen.namespace)
            print_answer(chosen, gone, lambda: show_import_undone(gone))
            return
        answer = call_operation(memento, "undo", iri=iri, namespace=chosen.namespace)
    print_answer(chosen, answer, lambda: show_undone(answer))


@command("restore")
@click.argument("folder", required=False, type=click.Path(file_okay=False))
def restore_backup(chosen: Chosen, folder: str | None) -> None:
    """Restore the backup FOLDER, or the latest one in it; the current memory is moved aside and kept."""
    place = absolute_path(folder) if folder else None
    with bar("Restoring", at_once=True) as progress:
        if client := running(chosen):
            answer = call_operation(client, "restore", folder=place)
        else:
            from memento.codec import plain
            from memento.python import restore_folder as restored

            configured = chosen.settings()
            answer = plain(
                restored(
                    chosen.folder.path,
                    place,
                    wait_s=configured.server.lock_wait_s,
                    configured=configured,
                    progress=progress,
                )
            )
    print_answer(
        chosen,
        answer,
        lambda: (
            f"{answer['statements']:,} statements and {answer['vectors']:,} vectors from {answer['folder']}. "
            f"What was there before is in {answer['aside']}."
        ),
    )


@command("migrate")
@click.argument("model", required=False)
@options_of(Migrate, left_out={"model"})
def migrate(chosen: Chosen, model: str | None, **details: Any) -> None:
    """Change the embedder while the memory is in use; MODEL is as in `embedding.model`, default the one in the settings."""
    if model and details["provider"] in (None, "local") and Path(model).expanduser().is_dir():
        model = absolute_path(model)
    with open_memory(chosen, "migrate") as memento, bar("Embedding") as progress:
        answer = call_operation(memento, "migrate", progress, model=model, **details)
    print_answer(chosen, answer, lambda: show_migration(answer))


@command("rebuild")
def rebuild_indexes(chosen: Chosen) -> None:
    """Rebuild every index from the graph."""
    with open_memory(chosen, "rebuild") as memento, bar("Embedding", at_once=True) as progress:
        count = memento.admin.rebuild(progress=progress)
    print_answer(chosen, {"embedded": count}, lambda: f"{count:,} texts indexed.")


@main.command("docs", hidden=True)
@click.argument("folder", default=".", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--check", is_flag=True, help="Write nothing; exit code 1 when a page is stale.")
def docs_of_checkout(folder: Path, check: bool) -> None:
    """Write the generated pages that are stale in FOLDER, a checkout; print their names."""
    from memento.interfaces.reference import find_stale, write_stale

    stale = find_stale(folder) if check else write_stale(folder)
    for path in stale:
        click.echo(path)
    if check and stale:
        sys.exit(FAILED)


@main.group("ontology")
def ontology() -> None:
    """Print the vocabulary."""


@ontology.command("docs")
def print_ontology_page() -> None:
    """Print the page docs/ontology.md."""
    from memento.ontology import write_page

    click.echo(write_page(), nl=False)


@ontology.command("context")
def print_context() -> None:
    """Print the JSON-LD context, ontology/context.jsonld."""
    from memento.ontology import write_context

    click.echo(write_context(), nl=False)


def _import_rdf(chosen: Chosen, file: Path, **details: Any) -> None:
    from memento.codec import plain

    with open_memory(chosen, "import") as memento, bar("Importing") as progress:
        answer = plain(memento.intake.import_rdf(file, **details, namespace=chosen.namespace, progress=progress))
    kept = f", {answer['kept']:,} kept as they are here" if answer["kept"] else ""
    over = f", {answer['passed_over']:,} passed over" if answer["passed_over"] else ""
    print_answer(
        chosen,
        answer,
        lambda: (
            f"{answer['statements']:,} statements read, {answer['added']:,} of them new{kept}{over}: "
            f"{answer['memories']:,} memories, {answer['notes']:,} notes, {answer['cases']:,} cases."
            + show_redacted(answer)
        ),
    )


def _is_export(file: Path) -> bool:
    """Tell by its first bytes whether a file is an export as rows, compressed or not."""
    import gzip

    from memento.archive.tables import HEAD, is_table

    if file.is_dir():
        return False
    with contextlib.suppress(OSError, EOFError, zlib.error), file.open("rb") as plain:
        packed = plain.read(2) == b"\x1f\x8b"
        plain.seek(0)
        return is_table(gzip.GzipFile(fileobj=plain).read(HEAD) if packed else plain.read(HEAD))
    return False


@command("query")
@click.argument("sparql")
@click.option("--accept", help="The media type of the answer, as text/turtle; default CSV or Turtle.")
def answer_query(chosen: Chosen, sparql: str, accept: str | None) -> None:
    """Answer a read-only SPARQL query: give its text, a file with it, or - for standard input."""
    rows = "application/sparql-results+json" if chosen.as_json else "text/csv"
    with open_memory(chosen, "query") as memento:
        body, media = memento.graphs.query_bytes(
            read_text_or_file(sparql), accept=accept or f"{rows}, text/turtle;q=0.9, */*;q=0.1"
        )
    # With --accept the answer is as the standard says, so CSV lines end with \r\n. Otherwise they end with \n, for shells.
    _print_document(body if accept else _end_lines(body) if media == "text/csv" else body, "" if accept else media)


def _print_document(body: bytes, media: str) -> None:
    """Print a document; Turtle is printed with prefixes."""
    if media.partition(";")[0] == "text/turtle":
        from memento.graph.documents import shorten_turtle

        body = shorten_turtle(body)
    click.echo(body, nl=not body.endswith(b"\n"))


def _end_lines(body: bytes) -> bytes:
    """
    End the lines of CSV with a line feed alone; line ends inside quotes stay.

    >>> _end_lines(b'a,b\\r\\n"x\\r\\ny",1\\r\\n')
    b'a,b\\n"x\\r\\ny",1\\n'
    """
    parts = body.split(b'"')
    parts[::2] = [part.replace(b"\r\n", b"\n") for part in parts[::2]]
    return b'"'.join(parts)


@command("update")
@click.argument("sparql")
@click.option("--timeout", "timeout_s", type=float, metavar="S", help="Seconds that it may take.")
def run_update(chosen: Chosen, sparql: str, timeout_s: float | None) -> None:
    """Run a SPARQL update: give its text, a file with it, or - for standard input."""
    with open_memory(chosen, "update") as memento:
        _print_change(
            chosen, memento.graphs.update(read_text_or_file(sparql), timeout_s=timeout_s, namespace=chosen.namespace)
        )


@main.group("graph")
def graph() -> None:
    """Read and write whole graphs: by IRI, or one of your own graphs by its name."""


@graph.command("get")
@click.argument("name")
@click.option("--accept", default="text/turtle", show_default=True, help="The media type of the document.")
@click.pass_obj
def print_graph(chosen: Chosen, name: str, accept: str) -> None:
    """Print all triples of a graph."""
    with open_memory(chosen, "graph") as memento:
        body, media = memento.graphs.get(_graph_iri(name), accept=accept, namespace=chosen.namespace)
    _print_document(body, media)


@graph.command("put")
@click.argument("name")
@click.argument("file")
@click.option("--media", help="Media type of the document; default by the end of its name, else text/turtle.")
@click.pass_obj
def replace_graph(chosen: Chosen, name: str, file: str, media: str | None) -> None:
    """Replace a graph by the triples in FILE, or in standard input when it is -."""
    _upload(chosen, name, file, media, replaces=True)


@graph.command("add")
@click.argument("name")
@click.argument("file")
@click.option("--media", help="Media type of the document; default by the end of its name, else text/turtle.")
@click.pass_obj
def add_to_graph(chosen: Chosen, name: str, file: str, media: str | None) -> None:
    """Add the triples in FILE, or in standard input when it is -, to a graph."""
    _upload(chosen, name, file, media, replaces=False)


def _upload(chosen: Chosen, name: str, file: str, media: str | None, *, replaces: bool) -> None:
    with open_memory(chosen, "graph") as memento:
        send = memento.graphs.put if replaces else memento.graphs.post
        document = _read_document(file)
        _print_change(
            chosen, send(document, _graph_iri(name), media=media or _media_of(file), namespace=chosen.namespace)
        )


@graph.command("patch")
@click.argument("name")
@click.argument("sparql")
@click.pass_obj
def patch_graph(chosen: Chosen, name: str, sparql: str) -> None:
    """Run a SPARQL update in one graph: give its text, a file with it, or - for standard input."""
    with open_memory(chosen, "graph") as memento:
        _print_change(
            chosen, memento.graphs.patch(read_text_or_file(sparql), _graph_iri(name), namespace=chosen.namespace)
        )


@graph.command("delete")
@click.argument("name")
@click.pass_obj
def delete_graph(chosen: Chosen, name: str) -> None:
    """Delete a graph with all its triples."""
    with open_memory(chosen, "graph") as memento:
        _print_change(chosen, memento.graphs.delete(_graph_iri(name), namespace=chosen.namespace))


for one in (print_graph, replace_graph, add_to_graph, patch_graph, delete_graph):
    common(one)


def _print_change(chosen: Chosen, changed: Changed) -> None:
    from memento.codec import plain

    print_answer(chosen, plain(changed), lambda: f"Quads: {changed.added:,} added, {changed.removed:,} removed.")


def _graph_iri(name: str) -> str:
    """Return the IRI of a graph: an absolute IRI as it is, a name as the owner's own graph of that name."""
    from memento.access import OWNER
    from memento.iris import data_iri
    from memento.sparql.update import is_absolute

    return name if is_absolute(name) else data_iri(OWNER.tenant, name)


def _read_document(file: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}") from error


def _media_of(file: str) -> str:
    from memento.sparql.prepare import SUFFIXES

    return SUFFIXES.get(Path(file).suffix.lower(), "text/turtle")
