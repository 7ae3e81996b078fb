"""The commands that read in files, folders and pages, and what agents have written on this machine."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from memento.interfaces.cli.base import Chosen, bar, call_operation, command, open_memory, print_answer
from memento.interfaces.cli.commands import Command, Option
from memento.interfaces.cli.documents import show_way_back
from memento.interfaces.cli.views import Json, clean, dim, show_redacted
from memento.operations import fields_of
from memento.plugins.intake import hooks as _hooks
from memento.plugins.intake.operations import Adopt
from memento.plugins.intake.settings import IntakeSettings

COMMANDS: Mapping[str, Command] = {
    "memory_file": Command(
        path="memory-file",
        view=lambda answer: answer["text"],
        places={"command": "COMMAND"},
        options={
            "path": Option(metavar="PATH"),
            "view_range": Option(metavar="LINE"),
            "old_path": Option(metavar="PATH"),
            "new_path": Option(metavar="PATH"),
        },
        fails_when=lambda answer: answer["failed"],
    ),
}
_registered = (_hooks,)
BY_HAND: Mapping[str, str] = {"adopt": "adopt", "ingest": "ingest", "index_project": "index"}
OLD_NAMES: Mapping[str, str] = {"watch": "files watch", "index": "files index", "memory-file": "files memory"}


def show_ingested(answer: Json, is_trial: bool = False) -> str:
    """Show what was ingested of a file, a folder or a page, and what was left out."""
    counts = {
        "new": answer["fresh"],
        "changed": answer["changed"],
        "unchanged": answer["unchanged"],
        "gone": answer["gone"],
        "still to be read": answer["left"],
    }
    lines = [f"{count:>8,} documents {name}" for name, count in counts.items() if count]
    lines += [f"{count:>8,} left out: {reason}" for reason, count in answer["left_out"].items()]
    lines += [f"           {clean(name)}" for name in answer["names"][:10]]
    if is_trial:
        lines.append(f"{answer['pieces']:>8,} pieces would be read. Nothing was written.")
    else:
        lines.append(f"{answer['memories']:>8,} memories stored, {answer['retired']:,} retired.")
    return "\n".join([*lines, *map(clean, answer["remarks"])]) + show_redacted(answer)


def show_adoptable(answer: Json) -> str:
    """Show what agents have written: a line for each agent and place, and below it the beginnings of what is new."""
    lines = []
    for one in answer["found"]:
        known = f", {one['known']:,} known" if one["known"] else ""
        lines.append(
            f"{one['agent']:<12} {one['kind']:<9} {clean(one['place'])}: {one['files']:,} files, {one['rows']:,} notes{known}"
        )
        lines += [f"    {dim(clean(line))}" for line in one["lines"][:3]]
    lines += [f"{count:>8,} left out: {clean(reason)}" for reason, count in answer["left_out"].items()]
    lines += [f"         {dim(clean(name))}" for name in answer["names"][:5]]
    return (
        "\n".join([*lines, show_redacted(answer).strip()]).rstrip() if lines else "No agent has written anything here."
    )


@command("adopt")
@click.argument(
    "projects", metavar="[PROJECT]...", nargs=-1, type=click.Path(path_type=Path, exists=True, file_okay=False)
)
@click.option(
    "--from", "agents", metavar="AGENT", multiple=True, help=f"{fields_of(Adopt)['agents'].sentence} May be repeated."
)
@click.option("--no-sessions", is_flag=True, help="Leave the sessions out.")
@click.option("--yes", is_flag=True, help="Bring it in without asking.")
@click.option(
    "--user-home", metavar="DIR", type=click.Path(path_type=Path), help=fields_of(Adopt)["user_home"].sentence
)
def adopt_memories(
    chosen: Chosen,
    projects: tuple[Path, ...],
    agents: tuple[str, ...],
    no_sessions: bool,
    yes: bool,
    user_home: Path | None,
) -> None:
    """
    Show what coding agents have written on this machine, and bring it in if you agree: rules, memory files, sessions.

    Looks in your home folder and in each PROJECT; default the current folder.
    """
    asked = {
        "projects": [str(one.absolute()) for one in projects or (Path.cwd(),)],
        "agents": list(agents),
        "sessions": not no_sessions,
        "user_home": str((user_home or Path.home()).expanduser().absolute()),
        "namespace": chosen.namespace,
    }
    with open_memory(chosen, "adopt") as memento:
        with bar("Reading") as progress:
            answer = call_operation(memento, "adopt", progress, **asked, apply=yes and chosen.as_json)
        if chosen.as_json:
            print_answer(chosen, answer, lambda: "")
            return
        click.echo(show_adoptable(answer))
        fresh = sum(one["rows"] - one["known"] for one in answer["found"])
        if not fresh:
            click.echo("Nothing is new.")
            return
        is_asked = sys.stdin.isatty() and sys.stdout.isatty()
        if not yes and not (is_asked and click.confirm(f"Bring in {fresh:,} notes?")):
            click.echo("Nothing was written." + ("" if is_asked else " --yes brings it in."))
            return
        with bar("Bringing in") as progress:
            done = call_operation(memento, "adopt", progress, **asked, apply=True)
    click.echo(
        f"{done['notes']:,} notes: {done['memories']:,} memories stored, {done['invalidated']:,} retired, "
        f"{done['skipped']:,} skipped"
        + (f", {done['pending']:,} still to be understood." if done["pending"] else ".")
        + show_way_back(done["iri"])
    )


@command("ingest")
@click.argument("file", metavar="PATH|URL")
@click.option("--dry-run", is_flag=True, help="Show what would be ingested, and write nothing.")
@click.option("--force", is_flag=True, help="Read unchanged documents again too.")
@click.option(
    "--exclude", multiple=True, metavar="NAME", help="Skip files, as '*.log' or 'docs/old/*'; may be repeated."
)
def ingest_files(chosen: Chosen, file: str, dry_run: bool, force: bool, exclude: tuple[str, ...]) -> None:
    """Ingest a file, a folder or a web page: Markdown, text, source, HTML, PDF, pictures, tables; again, only what changed."""
    from memento.codec import plain

    with open_memory(chosen, "ingest") as memento, bar("Reading") as progress:
        answer = plain(
            memento.intake.ingest(
                file, dry_run=dry_run, force=force, exclude=exclude, namespace=chosen.namespace, progress=progress
            )
        )
    print_answer(chosen, answer, lambda: show_ingested(answer, dry_run))


@command("watch")
@click.argument("folder", required=False, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--once", is_flag=True, help="Ingest the files that are there, and exit.")
def watch_folder(chosen: Chosen, folder: Path | None, once: bool) -> None:
    """Ingest files as they arrive in FOLDER, and move them to `processed` in it; default the inbox of the settings."""
    from memento.plugins.intake.inbox import drain_inbox, watch_inbox

    named = chosen.settings().of(IntakeSettings).inbox
    inbox = (folder or Path(named or chosen.folder.path / "inbox")).expanduser().absolute()
    taken = (drain_inbox if once else watch_inbox)(inbox, lambda path: _take_file(chosen, path))
    if not once:
        click.echo(f"Watching {inbox}; Ctrl-C ends it.", err=True)
    for path, said, is_well in taken:
        if chosen.as_json:
            click.echo(json.dumps({"file": path.name, "done": is_well, "said": said}, ensure_ascii=False))
        else:
            click.echo(f"{path.name}: {said}" if is_well else f"{path.name} failed: {said}")


def _take_file(chosen: Chosen, path: Path) -> tuple[str, Sequence[str]]:
    """
    Ingest one file of an inbox, and return the result and the rows that could not be read; the memory is open only for that
    time, so that other processes can use it.
    """
    from memento.codec import plain

    with open_memory(chosen, "watch") as memento:
        if path.suffix.lower() in (".json", ".jsonl", ".ndjson", ".csv"):
            done = memento.intake.import_files(path, namespace=chosen.namespace)
            return f"{len(done.notes):,} rows, {done.memories:,} memories", done.refused
        answer = plain(memento.intake.ingest(path, source="import", namespace=chosen.namespace))
    return f"{answer['pieces']:,} pieces, {answer['memories']:,} memories" + show_redacted(answer).replace(
        "\n", "; "
    ), ()


@command("index")
@click.argument("folder", default=".", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--force", is_flag=True, help="Read the project again.")
def index_folder(chosen: Chosen, folder: Path, force: bool) -> None:
    """Index the project in FOLDER, once: its README, manifests, settings, and a tree of its files."""
    from memento.codec import plain

    with open_memory(chosen, "index") as memento:
        answer = plain(memento.intake.index_project(str(folder), force=force, namespace=chosen.namespace))
    print_answer(chosen, answer, lambda: show_ingested(answer))
