"""The commands for administrators: serve Memento, manage tokens and encryption, show the settings."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import click

from memento import plugin
from memento.errors import FolderInUse, InputError, NotFound
from memento.interfaces.cli.base import (
    FAILED,
    Chosen,
    command,
    common,
    list_owned,
    main,
    namespace_of,
    open_memory,
    print_answer,
    running,
)
from memento.operations import PLUGGED

if TYPE_CHECKING:
    from memento.access import Tokens


@command("serve")
@click.option("--host", help="Address to listen on; one that is not loopback needs a token.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on; 0 picks a free one.  [default: 6366]")
@click.option("--encrypted", is_flag=True, help="Refuse a data folder that is not encrypted; a new one is encrypted.")
def serve_memory(chosen: Chosen, host: str | None, port: int | None, encrypted: bool) -> None:
    """Serve the memory over HTTP until you stop it."""
    from memento.python import Client
    from memento.telemetry import configure_logging, trace_to

    configure_logging()
    configured = chosen.settings()
    if encrypted:
        configured = replace(configured, encryption=replace(configured.encryption, on=True))
    knobs = configured.server
    if configured.telemetry.otlp_endpoint:
        trace_to(configured.telemetry.otlp_endpoint)
    port = knobs.port if port is None else port
    if other := running(chosen):
        raise FolderInUse(f"{chosen.folder.path} is served already, at {other.address}")
    with open_memory(chosen, "serve", configured) as memento:
        if isinstance(memento, Client):
            raise FolderInUse(f"{chosen.folder.path} is served already, at {memento.address}")
        from memento.interfaces.web.server import serve

        memento.resume()
        serve(memento, host or knobs.host, port, announce)


@command("mcp")
def serve_stdio(chosen: Chosen) -> None:
    """Speak MCP over standard input and output; start the service when none runs."""
    from memento.interfaces.mcp.shim import Service, Shim, claimed_stdout
    from memento.settings import load_client, offered_groups
    from memento.telemetry import configure_logging

    configure_logging()
    service = Service(chosen.folder, namespace_of(chosen))
    known = load_client(chosen.folder.settings_file)
    Shim(service, offered_groups(known), claimed_stdout(), known).serve_lines(iter(sys.stdin.buffer))


_SETUP = """# The settings of this memory. What is not named here is as `memento config docs` says; the environment comes first.

[scope]
namespace = {namespace}

[server]
port = {port}

[embedding]
model = {embedder}

[model]
provider = {provider}
{more}"""


@command("setup")
@click.option("--yes", is_flag=True, help="Ask nothing: use the options given here, and defaults for the rest.")
@click.option("--port", type=click.IntRange(1, 65535), help="The port of the service.  [default: 6366]")
@click.option(
    "--embedder", metavar="NAME", help="The embedder: minilm, trigram, or the folder of a model.  [default: minilm]"
)
@click.option(
    "--provider", metavar="NAME", help="What extracts facts from notes: none (rules), ollama, openai …  [default: none]"
)
@click.option("--model", metavar="NAME", help="The model, by the provider's name for it.")
def set_up(
    chosen: Chosen, yes: bool, port: int | None, embedder: str | None, provider: str | None, model: str | None
) -> None:
    """Write the settings file of a new memory; an existing file is never changed."""
    from memento.settings import Settings, load

    file = chosen.folder.settings_file
    if file.exists():
        raise InputError(
            f"{file} is there already and stays as it is: change it by hand, or name another folder with --home"
        )
    usual = Settings()

    def ask_for(given: object, question: str, default: object) -> object:
        if given is not None or yes:
            return default if given is None else given
        return click.prompt(question, default=default, type=type(default), err=True)

    values = {
        "namespace": ask_for(
            chosen.namespace, "Namespace (`project` for the git checkout's name)", usual.scope.namespace
        ),
        "port": ask_for(port, "Port", usual.server.port),
        "embedder": ask_for(embedder, "Embedder (minilm, trigram, or a folder)", usual.embedding.model),
        "provider": ask_for(
            provider, "Who understands notes (none, ollama, openai, anthropic, google)", usual.model.provider
        ),
    }
    named = model
    if values["provider"] != "none" and named is None and not yes:
        named = click.prompt("Model, as the provider calls it", type=str, err=True)
    more = f"model = {json.dumps(named)}\n" if named else ""
    text = _SETUP.format(**{name: json.dumps(value) for name, value in values.items()}, more=more)
    fresh = file.with_name(f"{file.name}.new")
    try:
        fresh.touch(mode=0o600)
        fresh.write_text(text, encoding="utf-8")
        load(fresh)  # nothing is written that could not be read
        fresh.replace(file)
    finally:
        fresh.unlink(missing_ok=True)
    answer = {"settings": str(file), "home": str(chosen.folder.path), **values}
    print_answer(
        chosen,
        answer,
        lambda: f"Wrote {file}. `memento serve` starts the service.",
    )


_STOP_S = 20.0
"""Seconds that a service may take to stop."""


@command("teardown")
@click.option(
    "--settings", "drops_settings", is_flag=True, help="Also rename memento.toml to memento.toml.before-teardown."
)
def tear_down(chosen: Chosen, drops_settings: bool) -> None:
    """Stop the service of the data folder and remove the file that names its owner; the memories stay."""
    folder, stopped = chosen.folder, None
    if (owner := folder.serving_owner()) is not None:
        import os
        import signal
        from contextlib import suppress
        from time import monotonic, sleep

        with suppress(ProcessLookupError):
            os.kill(owner.pid, signal.SIGTERM)
        until = monotonic() + _STOP_S
        while folder.is_open():
            if monotonic() > until:
                raise FolderInUse(f"the service (process {owner.pid}) did not stop: stop it by hand, then try again")
            sleep(0.05)
        stopped = owner.address
    elif folder.is_open():
        raise FolderInUse(f"{folder.path} is in use by another process, which is not the service: stop it first")
    (folder.path / "owner.json").unlink(missing_ok=True)
    aside = None
    if drops_settings and folder.settings_file.is_file():
        aside = folder.settings_file.with_name("memento.toml.before-teardown")
        folder.settings_file.replace(aside)
    answer = {"stopped": stopped, "settings": str(aside) if aside else None, "kept": str(folder.path)}
    said = [f"Stopped the service at {stopped}." if stopped else "No service was running."]
    said += [f"The settings are in {aside}."] if aside else []
    said.append(f"The memories stay in {folder.path}: delete that folder to remove them.")
    print_answer(chosen, answer, lambda: "\n".join(said))


@command("doctor")
@click.option("--room", default=200, show_default=True, metavar="MIB", help="Free disk space below which it warns.")
def examine(chosen: Chosen, room: int) -> None:
    """Check the data folder for problems and say how to fix them; exit code 1 when there is one."""
    from memento.archive.check import Finding, examine_folder, explain_difference, explain_part
    from memento.codec import plain
    from memento.errors import MementoError
    from memento.time import now

    if not (place := chosen.home_folder).is_dir():  # a check must not create the folder
        raise NotFound(f"there is no folder {place}: name another with --home, or create one with `memento setup`")
    found = examine_folder(chosen.folder, now(), room * 2**20)
    # Opening the folder would repair or replace the other kinds of findings, so it is opened only without them.
    if not {one.kind for one in found} - {
        "disk-full",
        "left-over-owner",
        "clock",
        "unreadable-backup",
        "missing-memories",
    }:
        try:
            with open_memory(chosen, "check") as memento:
                found += [explain_part(one) for one in memento.status().parts if one.state not in ("ok", "starting")]
                found += [explain_difference(one) for one in memento.admin.check()]
        except MementoError as error:
            remedy = "The message says what to do; `memento status` shows who has the folder open."
            found.append(Finding(kind="cannot-open", found=str(error), remedy=remedy))
    answer = [plain(one) for one in found]
    lines = [f"{one.kind}: {one.found}\n  → {one.remedy}" for one in found]
    print_answer(chosen, answer, lambda: "\n".join(lines) or f"{chosen.folder.path} is well.")
    if found:
        sys.exit(FAILED)


@main.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def print_completion(shell: str) -> None:
    """Print the shell code that completes commands and options: `eval "$(memento config completion bash)"`."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise InputError(f"there is no completion for {shell}")
    # Fill in the template here: `source` asks the shell for its version, which needs that shell to be installed.
    maker = kind(main, {}, "memento", "_MEMENTO_COMPLETE")
    click.echo(maker.source_template % maker.source_vars())


@main.group("config")
def config_group() -> None:
    """Show the settings."""


@config_group.command("show")
@click.pass_obj
def show_settings(chosen: Chosen) -> None:
    """Show the current settings, by group."""
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
    """Print the page docs/settings.md."""
    from memento.settings import table

    click.echo(table(), nl=False)


@command("plugins")
@click.option("--on", "switched_on", multiple=True, metavar="NAME", help="Switch a plug-in on, from the next start on.")
@click.option("--off", "switched_off", multiple=True, metavar="NAME", help="Switch a plug-in off; its data stay.")
@click.option("--strict", is_flag=True, help="Fail if a plug-in cannot be loaded.")
def list_plugins(chosen: Chosen, switched_on: tuple[str, ...], switched_off: tuple[str, ...], strict: bool) -> None:
    """List the plug-ins: what each adds, and what it costs at a start. Switch them on or off."""
    if switched_on or switched_off:
        _switch_plugins(chosen, frozenset(switched_on), frozenset(switched_off))
    rows = describe_plugins(chosen.settings().plugins.left_out)
    print_answer(chosen, rows, lambda: "\n".join(map(_show_plugin, rows)) or "No plug-in is installed.")
    if strict and any(row["state"] == "problem" for row in rows):
        raise SystemExit(FAILED)


def describe_plugins(left_out: Collection[str] = ()) -> list[dict[str, Any]]:
    """Describe each plug-in: its state, what it adds by kind, and the modules and milliseconds that it takes to start a service."""
    from memento.interfaces.mcp import catalogue as catalogue  # a plug-in does not cost what it shares with Memento
    from memento.interfaces.web import rest as rest

    for kind in get_args(plugin.Kind):
        plugin.collect(kind)
    rows = []
    for name, found in plugin.find_plugins().items():
        state = "problem" if found.problem else "off" if name in left_out else "on"
        brings: dict[str, list[str]] = {
            kind: sorted(one for one, of in plugin.name_owners(kind).items() if of == name) for kind in _BROUGHT
        }
        brings["commands"] = sorted(
            path for path, one in list_owned(name, main) if not (isinstance(one, click.Group) or one.hidden)
        )
        brings["operations"] = sorted(operation for operation, of in PLUGGED.items() if of == name)
        rows.append(
            {
                "name": name,
                "state": state,
                "summary": found.plugin.summary if found.plugin else "",
                "distribution": found.distribution,
                "problem": found.problem,
                "brings": {kind: names for kind, names in brings.items() if names},
                "modules": found.modules,
                "ms": round(found.seconds * 1000, 1),
            }
        )
    return rows


_BROUGHT: tuple[Literal["groups", "settings", "tools"], ...] = ("groups", "settings", "tools")


def _show_plugin(row: Mapping[str, Any]) -> str:
    said = row["problem"] or row["summary"]
    brings = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in row["brings"].items())
    lines = [f"{row['name']:<12} {row['state']:<8} {said}", f"{'':21} {brings}" if brings else ""]
    return "\n".join(
        [line for line in lines if line] + [f"{'':21} {row['modules']} modules, {row['ms']:g} ms at a start"]
    )


def _switch_plugins(chosen: Chosen, switched_on: frozenset[str], switched_off: frozenset[str]) -> None:
    """Write into the settings file which plug-ins are off; raise `InputError` for one that is not installed."""
    from memento.datadir import replace_file
    from memento.settings import set_in_file

    known = plugin.find_plugins()
    for name in sorted(switched_on | switched_off):
        if name not in known:
            raise InputError(f"there is no plug-in {name[:80]!r}: there are {', '.join(known) or 'none'}")
    off = (chosen.settings().plugins.left_out | switched_off) - switched_on
    file = chosen.folder.settings_file
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    chosen.home_folder.mkdir(parents=True, exist_ok=True)
    replace_file(file, set_in_file(text, "plugins", {"off": ", ".join(sorted(off))}))
    if running(chosen):
        chosen.tell("a service runs: it takes this up when it starts again")


def announce(address: str) -> None:
    """Print where the service is reached."""
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    console.print(f"[bold]Memento[/bold] is ready at {address}")
    console.print(f"  chat    {address}/v1       the base URL of your chat app: its questions get their memories")
    console.print(f"  MCP     {address}/mcp      the address for MCP clients (or run memento connect NAME)")
    console.print(f"  pages   {address}/         look, correct, forget; /docs explains")
    console.print(f"  SPARQL  {address}/sparql")
    console.print(f"  REST    {address}/memory   /health says how it is")


@main.group("store")
def store_group() -> None:
    """Change the embedder of the store, upgrade it, move tenants, encrypt it."""


@main.group("token")
def token_group() -> None:
    """Manage tokens: who may use the service from other machines, and with which rights."""


def _tokens(chosen: Chosen) -> Tokens:
    """Return the tokens of the data folder; an encrypted folder keeps them encrypted."""
    from memento.access import Tokens, unlock_folder

    folder = chosen.folder
    if folder.is_encrypted:
        unlock_folder(folder, chosen.settings(), opens=False)
    return Tokens(folder.tokens, folder.vault)


@token_group.command("create")
@click.argument("name")
@click.option("--tenant", default="local", show_default=True, help="The tenant whose memory the token opens.")
@click.option(
    "--namespace",
    "namespaces",
    multiple=True,
    metavar="NAME",
    help="A namespace that it opens; may be repeated; default all.",
)
@click.option(
    "--scope", default="read", show_default=True, help="read, write or admin; each includes the ones before it."
)
@click.option(
    "--graph",
    "graphs",
    multiple=True,
    metavar="NAME[:write]",
    help="A free graph that a token for some namespaces reads, and writes with :write; may be repeated; default none.",
)
@click.pass_obj
def create_token(
    chosen: Chosen, name: str, tenant: str, namespaces: tuple[str, ...], scope: str, graphs: tuple[str, ...]
) -> None:
    """Create a token and print it once: only its digest is stored."""
    from memento.access import parse_right
    from memento.iris import check_namespace
    from memento.time import now

    wanted = [check_namespace(one) for one in namespaces]
    tokens = _tokens(chosen)
    made = tokens.create(name, tenant=tenant, namespaces=wanted, right=parse_right(scope), at=now(), graphs=graphs)
    if limit := tokens.access(made).describe_limit():
        chosen.tell(limit)
    click.echo(json.dumps({"name": name, "token": made}) if chosen.as_json else made)


@token_group.command("list")
@click.pass_obj
def list_tokens(chosen: Chosen) -> None:
    """List the valid tokens, oldest first."""
    from memento.codec import plain

    issued = _tokens(chosen).list_issued()
    if chosen.as_json:
        shown = ("name", "tenant", "namespaces", "graphs", "right", "created_at")
        click.echo(json.dumps([{key: plain(one)[key] for key in shown} for one in issued]))
        return
    if not issued:
        click.echo("No tokens yet: make one with `memento token create NAME`.")
    for one in issued:
        spaces = ", ".join(one.namespaces) or "all namespaces"
        if one.graphs:
            spaces += f", graphs {', '.join(one.graphs)}"
        click.echo(f"{one.name}: {one.right}, tenant {one.tenant}, {spaces}, since {one.created_at[:10]}")


@token_group.command("revoke")
@click.argument("name")
@click.pass_obj
def revoke_token(chosen: Chosen, name: str) -> None:
    """Revoke a token; the next request with it is refused."""
    _tokens(chosen).revoke(name)
    click.echo(json.dumps({"revoked": name}) if chosen.as_json else f"Revoked {name}.")


common(create_token, without="namespace")
for listing in (list_tokens, revoke_token):
    common(listing)
