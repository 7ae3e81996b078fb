"""The commands of living memory: its numbers, feedback, associations, fading, the archive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from memento.interfaces.cli import shown
from memento.interfaces.cli.door import common, main, printed
from memento.interfaces.cli.opened import Chosen, ask, opened

Json = Mapping[str, Any]
SHARE = click.FloatRange(0, 1)


@main.group("living")
def group() -> None:
    """What use and time make of memories: feedback, associations, fading, the archive."""


@group.command("strength")
@click.argument("memory")
@click.pass_obj
def strength(chosen: Chosen, memory: str) -> None:
    """Importance, depth, energy and usefulness of MEMORY now."""
    with opened(chosen, "living strength") as memento:
        answer = ask(memento, "strength", iri=memory)
    printed(chosen, answer, lambda: shown.fields(answer))


@group.command("feedback")
@click.argument("memory")
@click.argument("outcome", type=click.Choice(["success", "fail"]))
@click.pass_obj
def feedback(chosen: Chosen, memory: str, outcome: str) -> None:
    """Say that MEMORY helped (success), or that it misled (fail)."""
    with opened(chosen, "living feedback") as memento:
        answer = ask(memento, "feedback", iri=memory, helped=outcome == "success")
    printed(chosen, answer, lambda: shown.fields(answer))


@group.command("associate")
@click.argument("source")
@click.argument("target")
@click.option("--relation", default="similar", show_default=True, help="The kind of link in a word or a few.")
@click.option("--weight", type=SHARE, default=0.5, show_default=True, help="How strongly; a link that is there grows.")
@click.pass_obj
def associate(chosen: Chosen, source: str, target: str, relation: str, weight: float) -> None:
    """Let the memory SOURCE lead to TARGET, or more strongly where it does."""
    with opened(chosen, "living associate") as memento:
        answer = ask(memento, "associate", source=source, target=target, relation=relation, weight=weight)
    printed(chosen, answer, lambda: f"It leads there with the weight {answer['weight']:.2f}.")


@group.command("trace")
@click.argument("memory")
@click.option("--depth", type=click.IntRange(1, 6), default=2, show_default=True, help="Most links of a path.")
@click.pass_obj
def trace(chosen: Chosen, memory: str, depth: int) -> None:
    """The paths over associations that lead away from MEMORY."""
    with opened(chosen, "living trace") as memento:
        answer = ask(memento, "trace", iri=memory, depth=depth)
    printed(chosen, answer, lambda: "\n".join(map(_path, answer)) or "Nothing leads away from it.")


@group.command("activate")
@click.argument("seeds", nargs=-1, required=True, metavar="MEMORY...")
@click.option("--steps", type=click.IntRange(1, 10), default=3, show_default=True, help="How often it is passed on.")
@click.option("--decay", type=SHARE, default=0.85, show_default=True, help="Share that arrives over a link.")
@click.option("--threshold", type=SHARE, default=0.1, show_default=True, help="Activation above which it is passed on.")
@click.pass_obj
def activate(chosen: Chosen, seeds: tuple[str, ...], steps: int, decay: float, threshold: float) -> None:
    """What comes to mind from each MEMORY: activation spreads over associations and shared names."""
    with opened(chosen, "living activate") as memento:
        answer = ask(memento, "activate", seeds=list(seeds), steps=steps, decay=decay, threshold=threshold)
    printed(chosen, answer, lambda: "\n".join(_active(one) for one in answer))


@group.command("decay")
@click.option(
    "--half-life", "half_life_days", type=float, metavar="DAYS", help="Days in which energies halve; default 7."
)
@click.pass_obj
def decay(chosen: Chosen, half_life_days: float | None) -> None:
    """Let the energies of the namespace fade up to now; again at once changes nothing."""
    with opened(chosen, "living decay") as memento:
        answer = ask(memento, "decay", half_life_days=half_life_days)
    printed(chosen, answer, lambda: f"Faded until {answer['until']}, by half in {answer['half_life']:g} days.")


@group.command("archive")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@click.pass_obj
def archive(chosen: Chosen, dry_run: bool) -> None:
    """Let memories come back no more that have no energy left and are hardly used; they stay whole."""
    with opened(chosen, "living archive") as memento:
        answer = ask(memento, "archive", dry_run=dry_run)
        contents = [shown.content_of(ask(memento, "get", iri=iri)) for iri in answer["memories"]]
    printed(chosen, answer, lambda: _archived(answer, contents))


@group.command("unarchive")
@click.argument("memory")
@click.pass_obj
def unarchive(chosen: Chosen, memory: str) -> None:
    """Bring the archived MEMORY back."""
    with opened(chosen, "living unarchive") as memento:
        answer = ask(memento, "unarchive", iri=memory)
    printed(chosen, answer, lambda: shown.fields(answer))


for one in (strength, feedback, associate, trace, activate, decay, archive, unarchive):
    common(one)


def _path(path: Json) -> str:
    begin, *texts = map(shown.clean, path["contents"])
    links = zip(path["relations"], path["weights"], texts, strict=True)
    return begin + "".join(f"\n  {shown.clean(relation)} ({weight:.2f}) → {text}" for relation, weight, text in links)


def _active(one: Json) -> str:
    return f"{one['activation']:.2f}  {shown.clean(one['content'])}  " + click.style(one["memory"], dim=True)


def _archived(answer: Json, contents: list[str]) -> str:
    if not contents:
        return "Every memory has energy left, or is used."
    head = "Would be archived:" if answer["dry_run"] else "Archived; `memento living unarchive` brings one back:"
    rows = zip(contents, answer["memories"], strict=True)
    return "\n".join([head, *(f"- {shown.clean(text)}  " + click.style(iri, dim=True) for text, iri in rows)])
