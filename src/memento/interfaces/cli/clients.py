"""
How each client is told of Memento: what to put where, in the client's own format.

*Flow:* the table `CLIENTS` → `memento connect CLIENT`, which prints or writes it → `docs/clients.md`, which `make docs` makes
from it.
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
from typing import Literal

import click

from memento.errors import InputError
from memento.interfaces.cli.base import Chosen, command, running

Form = Literal["json", "toml", "yaml", "sh", "python", "text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """
    One thing to do. `{address}` stands for the service's own, `{launch}` for what starts a window of it.

    `file` is where it goes, from the home folder (`~/…`) or from the project's, and `elsewhere` where on another `sys.platform`;
    `can_write` says that `connect --write` knows how to add it to what is there.
    """

    does: str
    form: Form
    text: str
    file: str | None = None
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    can_write: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A program that people use with language models, and what tells it of Memento."""

    title: str
    snippets: tuple[Snippet, ...]
    note: str = ""


_PROXIED = "Every question gets the memories that matter; answers come back untouched"
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
                text=_servers("mcpServers", '{ "type": "http", "url": "{address}/mcp" }'),
                file=".mcp.json",
                can_write=True,
            ),
            Snippet(does=_PROXIED, form="sh", text='export ANTHROPIC_BASE_URL="{address}"'),
        ),
        note="Instead of the file: `claude mcp add --transport http memento {address}/mcp`.",
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
        "`%APPDATA%\\Claude\\claude_desktop_config.json`. `memento connect` puts the whole path of the command there, as "
        "programs of the desktop do not know the shell's. Restart Claude Desktop afterwards.",
    ),
    "codex": Client(
        title="Codex",
        snippets=(
            Snippet(
                does=_TOOLS,
                form="toml",
                text='[mcp_servers.memento]\nurl = "{address}/mcp"',
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
        note='Choose the provider with `codex -c model_provider="memento"`, or with `model_provider = "memento"` at the top '
        "of the file.",
    ),
    "cursor": Client(
        title="Cursor",
        snippets=(
            Snippet(
                does=_TOOLS,
                form="json",
                text=_servers("mcpServers", '{ "url": "{address}/mcp" }'),
                file="~/.cursor/mcp.json",
                can_write=True,
            ),
        ),
        note="Cursor asks models from its own servers, which cannot reach this machine: use the tools, not the base URL.",
    ),
    "vscode": Client(
        title="VS Code",
        snippets=(
            Snippet(
                does=_TOOLS,
                form="json",
                text=_servers("servers", '{ "type": "http", "url": "{address}/mcp" }'),
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
                text="name: Memento\nversion: 0.0.1\nschema: v1\nmcpServers:\n  - name: Memento\n    type: streamable-http\n"
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
                text=_servers("mcpServers", '{ "type": "streamableHttp", "url": "{address}/mcp" }'),
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
        note="The variables count for the first start; later the same is set in Admin Settings → Connections. "
        "In a container this machine is `host.docker.internal`, which takes a token and `memento serve --host 0.0.0.0` "
        "(see access.md): a connection sends it as the header `X-Memento-Token`, a tool server as its Bearer key.",
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
                does="The same memories without a model",
                form="sh",
                text='curl -s "{address}/memory/recall?query=Where+do+I+work&format=text"',
            ),
        ),
    ),
}
"""By the name that `memento connect` takes."""


def write_page() -> str:
    """`docs/clients.md`."""
    lines = [
        "# Clients",
        "",
        "Made by `make docs` from `src/memento/interfaces/cli/clients.py`. `memento connect NAME` prints one of these with the",
        "address of the running service; `memento connect NAME --write` puts it where the client looks. Memento runs with",
        "`memento serve`.",
    ]
    for name, client in CLIENTS.items():
        lines += ["", f"## {client.title}", "", f"`memento connect {name}`"]
        for one in client.snippets:
            where = f", in `{one.file}`" if one.file else ""
            lines += ["", f"{one.does}{where}:", "", f"```{one.form}", fill_snippet(one.text, USUAL, LAUNCH), "```"]
        if client.note:
            lines += ["", fill_snippet(client.note, USUAL, LAUNCH)]
    return "\n".join(lines) + "\n"


def fill_snippet(text: str, address: str, launch: str) -> str:
    """A snippet without gaps."""
    return text.replace("{address}", address).replace("{launch}", launch)


USUAL = "http://127.0.0.1:6366"
LAUNCH = '"command": "memento", "args": ["mcp"]'


@command("connect")
@click.argument("client", type=click.Choice([*CLIENTS, "docs"]), metavar="CLIENT")
@click.option("--write", is_flag=True, help="Put it where the client looks; what is there stays.")
@click.option("--address", metavar="URL", help="Where Memento answers; default the running service, else port 6366.")
def connect(chosen: Chosen, client: str, write: bool, address: str | None) -> None:
    """Tell a client of Memento: claude-code, cursor, codex, openai-sdk, curl …"""
    if client == "docs":
        click.echo(write_page(), nl=False)
        return
    serving = None if address else running(chosen)
    at = (address or (serving.address if serving else USUAL)).rstrip("/")
    launch = _describe_launch(chosen)
    if write and not any(snippet.can_write for snippet in CLIENTS[client].snippets):
        click.echo(f"Nothing of {client} can be written for you: do it as follows.\n", err=True)
    for snippet in CLIENTS[client].snippets:
        text = fill_snippet(snippet.text, at, launch)
        if write and snippet.can_write:
            click.echo(f"{write_snippet(snippet, text)}: {snippet.does}")
        else:
            where = f" ({_find_place(snippet)})" if snippet.file else ""
            click.echo(f"# {snippet.does}{where}\n{text}\n")
    if note := CLIENTS[client].note:
        click.echo(fill_snippet(note, at, launch))


def write_snippet(snippet: Snippet, text: str) -> Path:
    """
    The file, once the snippet stands in it beside what was there.

    Raises:
        InputError: the file cannot be read as what it should be; it is left as it was.
    """
    path = Path(os.path.expandvars(_find_place(snippet))).expanduser()
    before = path.read_text(encoding="utf-8") if path.is_file() else ""
    after = {"json": _add_to_json, "toml": _add_to_toml}.get(snippet.form, _replace_text)(before, text, path)
    if after != before:
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = path.with_name(f"{path.name}.before-memento")
        if (
            before and not kept.exists()
        ):  # a second snippet, or a second time, must not take the place of what was theirs
            kept.write_text(before, encoding="utf-8")
        fresh = path.with_name(f"{path.name}.new")
        fresh.write_text(after, encoding="utf-8")
        fresh.replace(path)
    return path


def _find_place(snippet: Snippet) -> str:
    """Where a snippet goes on this machine."""
    return snippet.elsewhere.get(sys.platform, snippet.file or "")


def _describe_launch(chosen: Chosen) -> str:
    """What starts a window of this memory, as members of a JSON object: programs of the desktop know neither PATH nor variables."""
    beside = shutil.which("memento", path=str(Path(sys.executable).parent)) or shutil.which("memento") or "memento"
    members: dict[str, object] = {"command": beside, "args": ["mcp"]}
    if chosen.home:
        members["env"] = {"MEMENTO_HOME": str(chosen.folder.path.absolute())}
    return json.dumps(members, ensure_ascii=False)[1:-1]


def _add_to_json(before: str, text: str, path: Path) -> str:
    try:
        there = json.loads(before) if before.strip() else {}
    except ValueError as error:
        raise InputError(f"{path} is not JSON, so nothing was written: {error}") from error
    if not isinstance(there, dict):
        raise InputError(f"{path} is not a JSON object, so nothing was written")
    return json.dumps(_merge(there, json.loads(text)), indent=2, ensure_ascii=False) + "\n"


def _merge(there: Mapping[str, object], more: Mapping[str, object]) -> dict[str, object]:
    """
    Both, and what is new where both say something.

    >>> _merge({"a": {"b": 1}, "c": 2}, {"a": {"d": 3}, "c": 4})
    {'a': {'b': 1, 'd': 3}, 'c': 4}
    """
    merged = dict(there)
    for key, value in more.items():
        old = merged.get(key)
        merged[key] = _merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def _add_to_toml(before: str, text: str, path: Path) -> str:
    """Added at the end, where it cannot change what stands before it; a table that is there already is left alone."""
    try:
        there = tomllib.loads(before)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path} is not TOML, so nothing was written: {error}") from error
    [(group, named)] = tomllib.loads(text).items()
    if set(named) <= set(there.get(group, {})):
        return before
    return f"{before.rstrip()}\n\n{text}\n".lstrip()


def _replace_text(before: str, text: str, path: Path) -> str:
    """A file of Memento's own."""
    return text + "\n"
