"""
How each client is told of Memento: what to put where, in the client's own format.

*Flow:* this table → `memento connect CLIENT`, which prints or writes it → `docs/clients.md`, which `make docs` makes from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

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
        "programs of the desktop do not know the shell's. Start Claude Desktop anew afterwards.",
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


def page() -> str:
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
            lines += ["", f"{one.does}{where}:", "", f"```{one.form}", filled(one.text, USUAL, LAUNCH), "```"]
        if client.note:
            lines += ["", filled(client.note, USUAL, LAUNCH)]
    return "\n".join(lines) + "\n"


def filled(text: str, address: str, launch: str) -> str:
    """A snippet without gaps."""
    return text.replace("{address}", address).replace("{launch}", launch)


USUAL = "http://127.0.0.1:6366"
LAUNCH = '"command": "memento", "args": ["mcp"]'
