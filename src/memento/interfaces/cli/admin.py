"""The commands of whoever runs Memento: serve it, let others in, show its settings, measure it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memento.errors import FolderInUse, InputError
from memento.interfaces.cli.base import Chosen, command, common, main, namespace_of, open_memory, running

if TYPE_CHECKING:
    from memento.settings import Settings


@command("serve")
@click.option("--host", help="Address to listen on; others than loopback take a token.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on; 0 picks a free one.  [default: 6366]")
@click.option("--bare", is_flag=True, help="An empty plain dataset behind SPARQL instead, without memories.")
def serve_memory(chosen: Chosen, host: str | None, port: int | None, bare: bool) -> None:
    """Serve the memory over HTTP until stopped."""
    from memento.python import Client
    from memento.telemetry import configure_logging, trace_to

    configure_logging()
    configured = chosen.settings()
    knobs = configured.server
    if configured.telemetry.otlp_endpoint:
        trace_to(configured.telemetry.otlp_endpoint)
    port = knobs.port if port is None else port
    if bare:
        _serve_bare(chosen, configured, host or "127.0.0.1", port)
        return
    if other := running(chosen):
        raise FolderInUse(f"{chosen.folder.path} is served already, at {other.address}")
    with open_memory(chosen, "serve") as memento:
        if isinstance(memento, Client):
            raise FolderInUse(f"{chosen.folder.path} is served already, at {memento.address}")
        from memento.interfaces.web.server import asgi, serve

        memento.resume()
        serve(memento, lambda busy: asgi(memento.service, busy), host or knobs.host, port, _announce)


def _serve_bare(chosen: Chosen, configured: Settings, host: str, port: int) -> None:
    from memento.interfaces.web.server import bare_asgi, serve
    from memento.service.bare import Bare

    with Bare(chosen.folder, configured, wait_s=configured.server.lock_wait_s) as bare:
        serve(
            bare,
            lambda busy: bare_asgi(bare, busy),
            host,
            port,
            lambda address: click.echo(f"SPARQL is ready at {address}"),
        )


@command("mcp")
def serve_stdio(chosen: Chosen) -> None:
    """Speak MCP over standard input and output; starts the service when none runs."""
    from memento.interfaces.mcp.shim import Service, Shim, claimed_stdout
    from memento.settings import load_client, offered_groups
    from memento.telemetry import configure_logging

    configure_logging()
    service = Service(chosen.folder, namespace_of(chosen))
    known = load_client(chosen.folder.settings)
    groups = offered_groups(known.cases)
    direct = "keys" in groups and known.keys.direct
    asking = known.mcp.confirmation
    Shim(service, groups, claimed_stdout(), direct=direct, confirmation=asking).serve_lines(iter(sys.stdin.buffer))


@command("eval")
@click.option(
    "--data",
    required=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder with corpus.jsonl, queries.jsonl and qrels.jsonl.",
)
@click.option("--profile", metavar="NAME", help="Retrieval settings by name, as seed.")
@click.option(
    "--compare", multiple=True, metavar="NAME", help="Ask another profile, or `default`, the same; may be repeated."
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="The first N queries only.")
@click.option("--per-type", is_flag=True, help="A row for each type of question.")
@click.option("--exclude-type", "exclude_types", multiple=True, metavar="T", help="Leave a type out; may be repeated.")
@click.option("--consolidate", is_flag=True, help="Let the rules split, skip and retire.")
@click.option("--gate", is_flag=True, help="Let questions come back empty when nothing is relevant.")
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
    from contextlib import nullcontext

    from memento.evaluation import evaluate, show_progress

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


@main.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def print_completion(shell: str) -> None:
    """Print what makes a shell complete commands and options: `eval "$(memento completion bash)"`."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise InputError(f"there is no completion for {shell}")
    # The template alone: asking the shell for its version, as `source` does, takes a shell of that kind.
    maker = kind(main, {}, "memento", "_MEMENTO_COMPLETE")
    click.echo(maker.source_template % maker.source_vars())


@main.group("config")
def config_group() -> None:
    """The settings."""


@config_group.command("show")
@click.pass_obj
def show_settings(chosen: Chosen) -> None:
    """The settings in force, by group."""
    from memento.settings import mask_secrets

    values = mask_secrets(chosen.settings())
    if chosen.as_json:
        click.echo(json.dumps(values))
        return
    for name, group in values.items():
        click.echo(f"[{name}]")
        for key, value in group.items():
            click.echo(f"{key} = {json.dumps(value)}")
        click.echo()


common(show_settings)


@config_group.command("docs")
def print_settings_page() -> None:
    """The page docs/settings.md."""
    from memento.settings import table

    click.echo(table(), nl=False)


def _announce(address: str) -> None:
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    console.print(f"[bold]Memento[/bold] is ready at {address}")
    console.print(f"  memory  {address}/memory")
    console.print(f"  SPARQL  {address}/sparql")
    console.print(f"  health  {address}/health")


@main.group("token")
def token_group() -> None:
    """Tokens: who may use the service from elsewhere, and for what."""


@token_group.command("create")
@click.argument("name")
@click.option("--tenant", default="local", show_default=True, help="Whose memory it opens.")
@click.option("--namespace", "namespaces", multiple=True, metavar="NAME", help="May be repeated; default all of them.")
@click.option("--scope", default="read", show_default=True, help="read, write or admin; each includes those before it.")
@click.pass_obj
def create_token(chosen: Chosen, name: str, tenant: str, namespaces: tuple[str, ...], scope: str) -> None:
    """Make a token and print it, this once: only its digest is kept."""
    from memento.access import Tokens, parse_right
    from memento.iris import check_namespace
    from memento.time import now

    wanted = [check_namespace(one) for one in namespaces]
    made = Tokens(chosen.folder.tokens).create(
        name, tenant=tenant, namespaces=wanted, right=parse_right(scope), at=now()
    )
    click.echo(json.dumps({"name": name, "token": made}) if chosen.as_json else made)


@token_group.command("list")
@click.pass_obj
def list_tokens(chosen: Chosen) -> None:
    """The tokens that are good, oldest first."""
    from memento.access import Tokens
    from memento.codec import plain

    issued = Tokens(chosen.folder.tokens).list_issued()
    if chosen.as_json:
        shown = ("name", "tenant", "namespaces", "right", "created_at")
        click.echo(json.dumps([{key: plain(one)[key] for key in shown} for one in issued]))
        return
    if not issued:
        click.echo("No tokens yet: make one with `memento token create NAME`.")
    for one in issued:
        spaces = ", ".join(one.namespaces) or "all namespaces"
        click.echo(f"{one.name}: {one.right}, tenant {one.tenant}, {spaces}, since {one.created_at[:10]}")


@token_group.command("revoke")
@click.argument("name")
@click.pass_obj
def revoke_token(chosen: Chosen, name: str) -> None:
    """Let a token open nothing any more, from the next request on."""
    from memento.access import Tokens

    Tokens(chosen.folder.tokens).revoke(name)
    click.echo(json.dumps({"revoked": name}) if chosen.as_json else f"Revoked {name}.")


common(create_token, without="namespace")
for listing in (list_tokens, revoke_token):
    common(listing)
