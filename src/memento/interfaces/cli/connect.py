"""The command that tells a client of Memento: it prints what to put where, or puts it there."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import click

from memento.errors import InputError
from memento.interfaces.cli.base import Chosen, command, running
from memento.interfaces.cli.clients import CLIENTS, USUAL, Snippet, filled, page


@command("connect")
@click.argument("client", type=click.Choice([*CLIENTS, "docs"]), metavar="CLIENT")
@click.option("--write", is_flag=True, help="Put it where the client looks; what is there stays.")
@click.option("--address", metavar="URL", help="Where Memento answers; default the running service, else port 6366.")
def connect(chosen: Chosen, client: str, write: bool, address: str | None) -> None:
    """Tell a client of Memento: claude-code, cursor, codex, openai-sdk, curl …"""
    if client == "docs":
        click.echo(page(), nl=False)
        return
    serving = None if address else running(chosen)
    at = (address or (serving.address if serving else USUAL)).rstrip("/")
    launch = _launch(chosen)
    if write and not any(snippet.can_write for snippet in CLIENTS[client].snippets):
        click.echo(f"Nothing of {client} can be written for you: do it as follows.\n", err=True)
    for snippet in CLIENTS[client].snippets:
        text = filled(snippet.text, at, launch)
        if write and snippet.can_write:
            click.echo(f"{written(snippet, text)}: {snippet.does}")
        else:
            where = f" ({_place(snippet)})" if snippet.file else ""
            click.echo(f"# {snippet.does}{where}\n{text}\n")
    if note := CLIENTS[client].note:
        click.echo(filled(note, at, launch))


def written(snippet: Snippet, text: str) -> Path:
    """
    The file, once the snippet stands in it beside what was there.

    Raises:
        InputError: the file cannot be read as what it should be; it is left as it was.
    """
    path = Path(os.path.expandvars(_place(snippet))).expanduser()
    before = path.read_text(encoding="utf-8") if path.is_file() else ""
    after = {"json": _with_json, "toml": _with_toml}.get(snippet.form, _in_place)(before, text, path)
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


def _place(snippet: Snippet) -> str:
    """Where a snippet goes on this machine."""
    return snippet.elsewhere.get(sys.platform, snippet.file or "")


def _launch(chosen: Chosen) -> str:
    """What starts a window of this memory, as members of a JSON object: programs of the desktop know neither PATH nor variables."""
    beside = shutil.which("memento", path=str(Path(sys.executable).parent)) or shutil.which("memento") or "memento"
    members: dict[str, object] = {"command": beside, "args": ["mcp"]}
    if chosen.home:
        members["env"] = {"MEMENTO_HOME": str(chosen.folder.path.absolute())}
    return json.dumps(members, ensure_ascii=False)[1:-1]


def _with_json(before: str, text: str, path: Path) -> str:
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


def _with_toml(before: str, text: str, path: Path) -> str:
    """Added at the end, where it cannot change what stands before it; a table that is there already is left alone."""
    try:
        there = tomllib.loads(before)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path} is not TOML, so nothing was written: {error}") from error
    [(group, named)] = tomllib.loads(text).items()
    if set(named) <= set(there.get(group, {})):
        return before
    return f"{before.rstrip()}\n\n{text}\n".lstrip()


def _in_place(before: str, text: str, path: Path) -> str:
    """A file of Memento's own."""
    return text + "\n"
