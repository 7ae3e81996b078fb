"""The command that synchronises machines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from memento.interfaces.cli.base import Chosen, bar, command, open_memory, print_answer
from memento.interfaces.cli.views import Json
from memento.operations import fields_of
from memento.plugins.guard.operations import Sync

BY_HAND: Mapping[str, str] = {"sync": "sync"}


def show_sync(answer: Json) -> str:
    """Show what was sent and what was received, and what a person should review."""
    verbs = ("would be sent", "would be received") if answer["dry_run"] else ("sent", "received")
    lines = [
        f"{answer['sent']:,} statements and {answer['withdrawn']:,} removals {verbs[0]}; {answer['patches']:,} patches of other "
        f"machines {verbs[1]}, with {answer['added']:,} statements and {answer['removed']:,} removals."
    ]
    if answer["rivals"]:
        lines.append(f"{answer['rivals']:,} memories probably contradict others: `memento care disputes` lists them.")
    if answer["overruled"]:
        lines.append(f"{answer['overruled']:,} values were replaced by later ones from other machines.")
    if answer["joined"]:
        lines.append(
            "This machine would join, and would get a name then."
            if answer["dry_run"]
            else f"This machine is {answer['machine']} from now on."
        )
    return "\n".join(lines)


@command("sync")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--dry-run", is_flag=True, help=f"{fields_of(Sync)['dry_run'].description}.")
def sync_with_others(chosen: Chosen, folder: Path, dry_run: bool) -> None:
    """Write local changes to FOLDER, which other machines share, and read their changes from it."""
    from memento.codec import plain

    with open_memory(chosen, "sync") as memento, bar("Taking in") as progress:
        answer = plain(memento.call(Sync(str(folder.expanduser().absolute()), dry_run), progress))
    print_answer(chosen, answer, lambda: show_sync(answer))
