"""The commands of the laboratory: measure recall, infer what follows."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path

import click

from memento.interfaces.cli.base import Chosen, command
from memento.interfaces.cli.commands import Command
from memento.interfaces.cli.views import Json


def show_inferred(found: Json) -> str:
    """Show how many triples were inferred, and the number of contradictions."""
    if not found["is_complete"]:
        return "Nothing is inferred, because too many facts take part: state fewer axioms, or axioms about rarer properties."
    if not found["triples"] and not found["contradictions"]:
        return "Nothing follows: state axioms in a graph of your own, as docs/inference.md says."
    lines = [f"{found['triples']:,} triples follow, in {found['graph']}"]
    if found["contradictions"]:
        lines.append(f"{found['contradictions']:,} properties that may have one value have several")
    return "\n".join(lines)


COMMANDS: Mapping[str, Command] = {"infer": Command(path="infer", view=show_inferred)}
OLD_NAMES: Mapping[str, str] = {"eval": "care eval", "infer": "graph infer"}


@command("eval")
@click.option(
    "--data",
    required=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="The folder with corpus.jsonl, queries.jsonl and qrels.jsonl.",
)
@click.option("--profile", metavar="NAME", help="The profile of retrieval settings, for example seed.")
@click.option(
    "--compare", multiple=True, metavar="NAME", help="Measure another profile too, or `default`; may be repeated."
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Ask only the first N queries.")
@click.option("--per-type", is_flag=True, help="Print a row for each type of question.")
@click.option("--exclude-type", "exclude_types", multiple=True, metavar="T", help="Leave a type out; may be repeated.")
@click.option("--consolidate", is_flag=True, help="Let the rules split notes, skip them and retire memories.")
@click.option("--gate", is_flag=True, help="Allow an empty answer where nothing is relevant.")
def evaluate_recall(
    chosen: Chosen,
    data: Path,
    profile: str | None,
    compare: tuple[str, ...],
    limit: int | None,
    per_type: bool,
    exclude_types: tuple[str, ...],
    consolidate: bool,
    gate: bool,
) -> None:
    """Measure recall on questions with known answers."""
    from memento.plugins.lab.evaluation import evaluate, show_progress

    with show_progress() if sys.stderr.isatty() else nullcontext() as progress:
        report = evaluate(
            data,
            profile=profile,
            compare=compare,
            limit=limit,
            exclude_types=exclude_types,
            consolidate=consolidate,
            gate=gate,
            progress=progress,
        )
    click.echo(json.dumps(report.as_json()) if chosen.as_json else report.as_table(per_type=per_type))
