"""
How to connect each client to Memento: the configuration it needs, in the client's own format.

*Flow:* the table `CLIENTS` → `memento connect CLIENT`, which prints or writes it, and `docs/clients.md`, which `make docs` makes
from it.

*Guarantees:* a user's own entries in such a file stay; the file is copied before it is first changed.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import click

from memento.errors import InputError
from memento.interfaces.cli.base import Chosen, command, running

Form = Literal["json", "toml", "yaml", "sh", "python", "text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """
    One step of the setup. `{address}` stands for the service's address, `{launch}` for the command that starts its stdio server,
    which starts the service if none runs. `by_address` is the text that reaches a service at a given address instead.

    `file` is the path it goes to, in the home folder (`~/…`) or in the project, and `elsewhere` the path on another `sys.platform`.
    `can_write` says whether `connect --write` can add it to an existing file.
    """

    does: str
    form: Form
    text: str
    by_address: str | None = None
    file: str | None = None
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    can_write: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """
    The hooks of a client: the file they are in, and what Memento does at each event of the client.

    `more` is added to every entry of an event, `head` to the top of the file. A hook returns recalled memories in the field
    `context` of its answer; `silent` is the answer, by event, of a hook that has nothing to return.
    """

    file: str
    events: Mapping[str, str]
    on_request: Mapping[str, str] = field(default_factory=dict)
    """Tool events, which are hooked only with `--tools`."""
    is_flat: bool = False
    """Whether an event's entries are commands; otherwise each entry is a group with a list of commands."""
    more: Mapping[str, object] = field(default_factory=dict)
    head: Mapping[str, object] = field(default_factory=dict)
    context: Literal["additionalContext", "additional_context"] = "additionalContext"
    silent: Mapping[str, str] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A program that people use with language models: how to connect it to Memento, and which hooks it runs."""

    title: str
    snippets: tuple[Snippet, ...]
    note: str = ""
    hooks: Hooks | str = "it runs no hooks; let it ask models through the proxy, which captures by the same setting"
    """The hooks, or the reason why the client has none."""


_PROXIED = "The proxy, which adds the relevant memories to every question and returns answers unchanged"
_DESKTOP = "Claude/claude_desktop_config.json"
_TOOLS = "Tools to note, recall, correct and forget"


def _servers(name: str, entry: str) -> str:
    return f'{{\n  "{name}": {{\n    "memento": {entry}\n  }}\n}}'


CLIENTS: Mapping[str, Client] = {
    "claude-code": Client(
        title="Claude Code",
        snippets=(
            Snippet(
                does=_TOOLS,
                form="json",
                text=_servers("mcpServers", '{ "type": "stdio", {launch} }'),
                by_address=_servers("mcpServers", '{ "type": "http", "url": "{address}/mcp" }'),
                file=".mcp.json",
                can_write=True,
            ),
            Snippet(does=_PROXIED, form="sh", text='export ANTHROPIC_BASE_URL="{address}"'),
        ),
        note="Instead of the file: `claude mcp add memento -- memento mcp`.",
        hooks=Hooks(
            file="~/.claude/settings.json",
            events={"SessionStart": "start", "Stop": "stop", "PreCompact": "compact"},
            on_request={"PostToolUse": "tool"},
            more={"type": "command", "timeout": 30},
        ),
    ),
    "claude-desktop": Client(
        title="Claude Desktop",
        snippets=(
            Snippet(
                does=_TOOLS,
                form="json",
                text=_servers("mcpServers", "{ {launch} }"),
                file=f"~/.config/{_DESKTOP}",
                elsewhere={"darwin": f"~/Library/Application Support/{_DESKTOP}", "win32": f"%APPDATA%/{_DESKTOP}"},
                can_write=True,
            ),
        ),
        note="On macOS the file is `~/Library/Application Support/Claude/claude_desktop_config.json`, on Windows "
        "`%APPDATA%\\Claude\\claude_desktop_config.json`. `memento connect` writes the absolute path of the command, because "
        "desktop programs do not use the shell's `PATH`. Restart Claude Desktop afterwards.",
        hooks="it runs no hooks; its model notes and recalls with the tools",
    ),
    "codex": Client(
        title="Codex",
        snippets=(
            Snippet(
                does=_TOOLS,
                form="toml",
                text="[mcp_servers.memento]\n{launch_toml}",
                by_address='[mcp_servers.memento]\nurl = "{address}/mcp"',
                file="~/.codex/config.toml",
                can_write=True,
            ),
            Snippet(
                does=_PROXIED,
                form="toml",
                text='[model_providers.memento]\nname = "OpenAI with memories"\nbase_url = "{address}/v1"\n'
                'env_key = "OPENAI_API_KEY"\nwire_api = "responses"',
                file="~/.codex/config.toml",
                can_write=True,
            ),
        ),
        hooks=Hooks(
            file="~/.codex/hooks.json",
            events={"SessionStart": "start", "UserPromptSubmit": "prompt", "Stop": "stop"},
            on_request={"PostToolUse": "tool"},
            more={"type": "command", "timeout": 30},
            silent={"stop": "{}"},
            note="Codex asks you to trust new hooks: `/hooks` shows them.",
        ),
        note='Select the provider with `codex -c model_provider="memento"`, or with `model_provider = "memento"` at the top '
        "of the file.",
    ),
    "cursor": Client(
        title="Cursor",
        snippets=(
            Snippet(
                does=_TOOLS,
                form="json",
                text=_servers("mcpServers", "{ {launch} }"),
                by_address=_servers("mcpServers", '{ "url": "{address}/mcp" }'),
                file="~/.cursor/mcp.json",
                can_write=True,
            ),
        ),
        note="Cursor calls models from its own servers, which cannot reach this machine: use the tools, not the proxy.",
        hooks=Hooks(
            file="~/.cursor/hooks.json",
            events={"sessionStart": "start", "beforeSubmitPrompt": "prompt", "afterAgentResponse": "stop"},
            on_request={"postToolUse": "tool"},
            is_flat=True,
            head={"version": 1},
            context="additional_context",
            silent={"prompt": '{"continue": true}'},
        ),
    ),
    "gemini": Client(
        title="Gemini CLI",
        snippets=(
            Snippet(
                does=_TOOLS,
                form="json",
                text=_servers("mcpServers", "{ {launch} }"),
                by_address=_servers("mcpServers", '{ "httpUrl": "{address}/mcp" }'),
                file="~/.gemini/settings.json",
                can_write=True,
            ),
        ),
        hooks=Hooks(
            file="~/.gemini/settings.json",
            events={"SessionStart": "start", "AfterAgent": "stop"},
            on_request={"AfterTool": "tool"},
            more={"type": "command", "name": "memento", "timeout": 30_000},
            silent={"start": "{}", "stop": "{}", "tool": "{}"},
        ),
    ),
    "vscode": Client(
        title="VS Code",
        hooks="its transcripts have no format that is promised; its model notes and recalls with the tools",
        snippets=(
            Snippet(
                does=_TOOLS,
                form="json",
                text=_servers("servers", '{ "type": "stdio", {launch} }'),
                by_address=_servers("servers", '{ "type": "http", "url": "{address}/mcp" }'),
                file=".vscode/mcp.json",
                can_write=True,
            ),
        ),
    ),
    "continue": Client(
        title="Continue.dev",
        snippets=(
            Snippet(
                does=_TOOLS,
                form="yaml",
                text='name: Memento\nversion: 0.0.1\nschema: v1\nmcpServers:\n  - { "name": "Memento", {launch} }',
                by_address="name: Memento\nversion: 0.0.1\nschema: v1\nmcpServers:\n  - name: Memento\n    type: streamable-http\n"
                "    url: {address}/mcp",
                file="~/.continue/mcpServers/memento.yaml",
                can_write=True,
            ),
            Snippet(
                does=_PROXIED,
                form="yaml",
                text="models:\n  - name: GPT with memories\n    provider: openai\n    model: gpt-5.4-mini\n"
                "    apiBase: {address}/v1\n    apiKey: ${{ secrets.OPENAI_API_KEY }}",
                file="~/.continue/config.yaml",
            ),
        ),
    ),
    "cherry-studio": Client(
        title="Cherry Studio",
        snippets=(
            Snippet(
                does="Settings → Model Provider → OpenAI: set the API host",
                form="text",
                text="{address}",
            ),
            Snippet(
                does="Settings → MCP Servers → Add → Import from JSON",
                form="json",
                text=_servers("mcpServers", '{ "type": "stdio", {launch} }'),
                by_address=_servers("mcpServers", '{ "type": "streamableHttp", "url": "{address}/mcp" }'),
            ),
        ),
    ),
    "open-webui": Client(
        title="Open WebUI",
        snippets=(
            Snippet(
                does=_PROXIED,
                form="sh",
                text='export OPENAI_API_BASE_URL="{address}/v1"\nexport OLLAMA_BASE_URL="{address}"',
            ),
            Snippet(
                does="Admin Settings → External Tools → Add Server → Type MCP (Streamable HTTP): set the URL",
                form="text",
                text="{address}/mcp",
            ),
        ),
        note="Open WebUI reads the variables at its first start only; later, set the URLs in Admin Settings → Connections. "
        "From a container, this machine is `host.docker.internal`. That needs `memento serve --host 0.0.0.0` and a token "
        "(see access.md): a connection sends the token in the header `X-Memento-Token`, a tool server as its Bearer key.",
    ),
    "openai-sdk": Client(
        title="OpenAI SDK for Python",
        snippets=(
            Snippet(
                does=_PROXIED,
                form="python",
                text='from openai import OpenAI\n\nclient = OpenAI(base_url="{address}/v1")\n'
                'answer = client.chat.completions.create(\n    model="gpt-5.4-mini",\n'
                '    messages=[{"role": "user", "content": "Where do I work?"}],\n)\nprint(answer.choices[0].message.content)',
            ),
        ),
    ),
    "anthropic-sdk": Client(
        title="Anthropic SDK for Python",
        snippets=(
            Snippet(
                does=_PROXIED,
                form="python",
                text='from anthropic import Anthropic\n\nclient = Anthropic(base_url="{address}")\n'
                'answer = client.messages.create(\n    model="claude-sonnet-5-5",\n    max_tokens=200,\n'
                '    messages=[{"role": "user", "content": "Where do I work?"}],\n)\nprint(answer.content[0].text)',
            ),
        ),
    ),
    "curl": Client(
        title="curl",
        snippets=(
            Snippet(
                does=_PROXIED,
                form="sh",
                text='curl -s {address}/v1/chat/completions \\\n  -H "Authorization: Bearer $OPENAI_API_KEY" '
                '-H "Content-Type: application/json" \\\n'
                """  -d '{"model": "gpt-5.4-mini", "messages": [{"role": "user", "content": "Where do I work?"}]}'""",
            ),
            Snippet(
                does="The same memories, without a model",
                form="sh",
                text='curl -s "{address}/memory/recall?query=Where+do+I+work&format=text"',
            ),
        ),
    ),
}
"""The clients, by the name that `memento connect` takes."""


def write_page() -> str:
    """Return the text of `docs/clients.md`."""
    lines = [
        "# Clients",
        "",
        "Generated by `make docs` from `src/memento/interfaces/cli/clients.py`. Start Memento with `memento serve`.",
        "`memento connect NAME` prints the configuration below; the tools start the service themselves when none runs;",
        "`memento connect NAME --write` adds it to the client's own configuration file.",
    ]
    for name, client in CLIENTS.items():
        lines += ["", f"## {client.title}", "", f"`memento connect {name}`"]
        for one in client.snippets:
            where = f", in `{one.file}`" if one.file else ""
            lines += ["", f"{one.does}{where}:", "", f"```{one.form}", fill_snippet(one.text, USUAL, LAUNCH), "```"]
        if client.note:
            lines += ["", fill_snippet(client.note, USUAL, LAUNCH)]
        if isinstance(client.hooks, Hooks):
            lines += ["", f"Hooks for recall and [capture](capture.md): `memento hook install {name}`"]
    return "\n".join(lines) + "\n"


def fill_snippet(text: str, address: str, launch: str) -> str:
    """Fill the address and the launch command into a snippet."""
    members: dict[str, object] = json.loads(f"{{{launch}}}")
    as_toml = "\n".join(f"{name} = {_to_toml(value)}" for name, value in members.items())
    return text.replace("{address}", address).replace("{launch}", launch).replace("{launch_toml}", as_toml)


def _to_toml(value: object) -> str:
    """
    Return a string, a list of strings or a table of strings as TOML.

    >>> _to_toml({"MEMENTO_HOME": "/m"}), _to_toml(["mcp"])
    ('{ "MEMENTO_HOME" = "/m" }', '["mcp"]')
    """
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(name)} = {json.dumps(one)}" for name, one in value.items()) + " }"
    return json.dumps(value)


USUAL = "http://127.0.0.1:6366"
LAUNCH = '"command": "memento", "args": ["mcp"]'


@command("connect")
@click.argument("client", type=click.Choice([*CLIENTS]), metavar="CLIENT")
@click.option("--write", is_flag=True, help="Write it into the client's configuration file; other entries stay.")
@click.option(
    "--address",
    metavar="URL",
    help="Connect to the service at this address; default: the client starts the service itself.",
)
def connect(chosen: Chosen, client: str, write: bool, address: str | None) -> None:
    """
    Print or write what connects a client to Memento.

    \b
    CLIENT is claude-code, claude-desktop, codex, cursor, gemini, vscode,
    continue, cherry-studio, open-webui, openai-sdk, anthropic-sdk or curl.
    """
    serving = None if address else running(chosen)
    port = chosen.settings().server.port
    usual = (
        USUAL.replace("6366", str(port)) if port else USUAL
    )  # what the service that the client starts will answer at
    at = (address or (serving.address if serving else usual)).rstrip("/")
    launch = _describe_launch(chosen)
    if write and not any(snippet.can_write for snippet in CLIENTS[client].snippets):
        click.echo(f"Memento cannot write the configuration of {client}: do it yourself as follows.\n", err=True)
    for snippet in CLIENTS[client].snippets:
        text = fill_snippet(snippet.by_address or snippet.text if address else snippet.text, at, launch)
        if write and snippet.can_write:
            click.echo(f"{write_snippet(snippet, text)}: {snippet.does} (written)")
        else:
            where = f" ({_find_place(snippet)})" if snippet.file else ""
            click.echo(f"# {snippet.does}{where}\n{text}\n")
    if note := CLIENTS[client].note:
        click.echo(fill_snippet(note, at, launch))


def write_snippet(snippet: Snippet, text: str) -> Path:
    """
    Add a snippet to the client's file, beside what is there, and return the path of the file.

    Raises:
        InputError: the file is not in the expected format; it is not changed.
    """
    path = Path(os.path.expandvars(_find_place(snippet))).expanduser()
    before = path.read_text(encoding="utf-8") if path.is_file() else ""
    after = {"json": _add_to_json, "toml": _add_to_toml}.get(snippet.form, _replace_text)(before, text, path)
    save_changed(path, before, after)
    return path


def save_changed(path: Path, before: str, after: str) -> None:
    """Replace a user's file atomically; before the first change keep a copy beside it."""
    from memento.datadir import replace_file  # help must be quick

    if after == before:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path = path.resolve()  # keep a symbolic link, and change the file it points to
    kept = path.with_name(f"{path.name}.before-memento")
    if before and not kept.exists():  # a second change must not overwrite the copy of the user's original
        replace_file(kept, before, mode=path.stat().st_mode & 0o777)
    # Other users must not read a new file, not even for a moment: client settings contain keys.
    replace_file(path, after, mode=path.stat().st_mode & 0o777 if path.exists() else 0o600)


def _find_place(snippet: Snippet) -> str:
    """Return the path of a snippet's file on this platform."""
    return snippet.elsewhere.get(sys.platform, snippet.file or "")


def _describe_launch(chosen: Chosen) -> str:
    """Return the launch command as members of a JSON object; desktop programs do not have the environment of a shell."""
    members: dict[str, object] = {"command": find_command(), "args": ["mcp"]}
    if chosen.home:
        members["env"] = {"MEMENTO_HOME": str(chosen.folder.path.absolute())}
    return json.dumps(members, ensure_ascii=False)[1:-1]


def find_command() -> str:
    """Return the absolute path of the command if it is known: the program that starts it may have another PATH."""
    return shutil.which("memento", path=str(Path(sys.executable).parent)) or shutil.which("memento") or "memento"


def _add_to_json(before: str, text: str, path: Path) -> str:
    return json.dumps(_merge(load_object(before, path), json.loads(text)), indent=2, ensure_ascii=False) + "\n"


def load_object(text: str, path: Path) -> dict[str, Any]:
    try:
        there = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise InputError(f"{path} is not JSON, so nothing was written: {error}") from error
    if not isinstance(there, dict):
        raise InputError(f"{path} is not a JSON object, so nothing was written")
    return there


def _merge(there: Mapping[str, object], more: Mapping[str, object]) -> dict[str, object]:
    """
    Merge two JSON objects; where both have a value, the new one wins.

    >>> _merge({"a": {"b": 1}, "c": 2}, {"a": {"d": 3}, "c": 4})
    {'a': {'b': 1, 'd': 3}, 'c': 4}
    """
    merged = dict(there)
    for key, value in more.items():
        old = merged.get(key)
        merged[key] = _merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def _add_to_toml(before: str, text: str, path: Path) -> str:
    """Append the snippet, so that it changes nothing before it; leave a table that exists already alone."""
    try:
        there = tomllib.loads(before)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path} is not TOML, so nothing was written: {error}") from error
    [(group, named)] = tomllib.loads(text).items()
    if set(named) <= set(there.get(group, {})):
        return before
    return f"{before.rstrip()}\n\n{text}\n".lstrip()


def _replace_text(before: str, text: str, path: Path) -> str:
    """Return the whole text of a file that belongs to Memento."""
    return text + "\n"
