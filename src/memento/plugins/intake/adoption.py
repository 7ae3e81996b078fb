"""
Find what agents on this machine have written, and read it as `NoteRow`s: their rules, their memory files, their sessions.

`PLACES` has a row for each place in which an agent keeps something, in the user's home or in a project.

*Guarantees:* only the given folders are read. A link is followed only if it leads to something in the same folder; a folder that a
wildcard finds is never entered through a link. A file that is reached in two ways is read once, as what its own name says. Nothing
is written.

*But:* what agents keep in databases or encrypted is not read: the sessions and user rules of Cursor, the memories of Windsurf.

*Source:* the documentation and sources of the agents, 2026.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from memento.errors import InputError
from memento.intake.importers import harvest, make_note
from memento.intake.rows import decode_text
from memento.model import NoteRow
from memento.plugins.intake.locations import GENERATED, LeftOut, read_bytes
from memento.plugins.intake.memory_files import cut_file
from memento.plugins.intake.programs import FRONT_MATTER, harvest_transcript

Kind = Literal["rules", "memory", "sessions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """
    Where an agent keeps something of one kind: patterns of paths below the home folder or a project.

    `**` stands for any folders that are neither hidden nor generated. `speaker` is who wrote it, empty for the user.
    """

    agent: str
    kind: Kind
    is_in_home: bool
    patterns: tuple[str, ...]
    speaker: str = ""


def _list_places(
    agent: str, places: Sequence[tuple[Kind, Literal["home", "project"], str]], name: str
) -> Iterator[Place]:
    for kind, below, patterns in places:
        yield Place(
            agent=agent,
            kind=kind,
            is_in_home=below == "home",
            patterns=tuple(patterns.split()),
            speaker=name if kind == "memory" else "",
        )


PLACES: tuple[Place, ...] = (
    *_list_places(
        "claude-code",
        [
            ("rules", "home", ".claude/CLAUDE.md .claude/rules/**/*.md"),
            ("memory", "home", ".claude/projects/*/memory/**/*.md .claude/agent-memory/*/*.md"),
            ("sessions", "home", ".claude/projects/*/*.jsonl"),
            ("rules", "project", "**/CLAUDE.md **/CLAUDE.local.md .claude/CLAUDE.md .claude/rules/**/*.md"),
            ("memory", "project", ".claude/agent-memory/*/*.md .claude/agent-memory-local/*/*.md"),
        ],
        "Claude",
    ),
    *_list_places(
        "codex",
        [
            ("rules", "home", ".codex/AGENTS.md .codex/AGENTS.override.md"),
            ("memory", "home", ".codex/memories/**/*.md"),
            ("sessions", "home", ".codex/sessions/**/rollout-*.jsonl .codex/archived_sessions/rollout-*.jsonl"),
            ("rules", "project", "**/AGENTS.md **/AGENTS.override.md"),
        ],
        "Codex",
    ),
    *_list_places(
        "gemini",
        [
            ("rules", "home", ".gemini/GEMINI.md"),
            ("sessions", "home", ".gemini/tmp/*/chats/session-*.jsonl .gemini/tmp/*/chats/session-*.json"),
            ("rules", "project", "**/GEMINI.md"),
        ],
        "Gemini",
    ),
    *_list_places("cursor", [("rules", "project", ".cursorrules **/.cursor/rules/**/*.mdc")], "Cursor"),
    *_list_places(
        "windsurf",
        [
            ("rules", "home", ".codeium/windsurf/memories/*.md"),
            ("rules", "project", ".windsurfrules **/.windsurf/rules/**/*.md"),
        ],
        "Windsurf",
    ),
    *_list_places(
        "cline",
        [
            ("rules", "home", "Documents/Cline/Rules/**/*.md Cline/Rules/**/*.md"),
            ("rules", "project", ".clinerules .clinerules/**/*.md .cline/rules/**/*.md"),
            ("memory", "project", "memory-bank/**/*.md"),
        ],
        "Cline",
    ),
    *_list_places(
        "copilot",
        [("rules", "project", ".github/copilot-instructions.md .github/instructions/**/*.instructions.md")],
        "Copilot",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Find:
    """A file that an agent has written: below which folder, by its real path, and as messages show it."""

    place: Place
    root: Path
    path: Path
    shown: str


def list_agents() -> list[str]:
    """Return the names of the agents whose places are known."""
    return [*dict.fromkeys(one.agent for one in PLACES)]


def find_files(home: Path, projects: Sequence[Path], left_out: LeftOut) -> list[Find]:
    """
    Find the files of agents, by folder and place.

    Args:
        home: the real path of the home folder.
        projects: the real paths of projects.
        left_out: gets the links that are not followed and the folders that cannot be read.
    """
    finds: dict[Path, Find] = {}
    roots = [*dict.fromkeys((home, *projects))]
    for root in roots:
        for place in PLACES:
            if place.is_in_home != (root == home) and not (root == home and root in projects):
                continue
            for pattern in place.patterns:
                for path in _match(root, root, pattern.split("/"), left_out):
                    shown = f"{'~' if root == home else root.name}/{path.relative_to(root).as_posix()}"
                    if (real := _follow(path, root)) is None:
                        left_out.leave_out(shown, "it is a link that leads out of the folder")
                    elif real.is_file() and (real == path or real not in finds):
                        finds[real] = Find(place=place, root=root, path=real, shown=shown)
    return sorted(finds.values(), key=lambda one: (roots.index(one.root), PLACES.index(one.place), one.shown))


def _match(root: Path, folder: Path, parts: Sequence[str], left_out: LeftOut) -> Iterator[Path]:
    """Yield the paths in a folder that match the parts of a pattern, sorted by name."""
    head, rest = parts[0], parts[1:]
    if head == "**":
        yield from _match(root, folder, rest, left_out)
        for entry in _list_entries(folder, left_out):
            is_kept = not entry.name.startswith(".") and entry.name not in GENERATED
            if is_kept and entry.is_dir(follow_symlinks=False):
                yield from _match(root, Path(entry.path), parts, left_out)
    elif "*" in head:
        for entry in _list_entries(folder, left_out):
            if fnmatchcase(entry.name, head) and (not rest or entry.is_dir(follow_symlinks=False)):
                yield from _match(root, Path(entry.path), rest, left_out) if rest else (Path(entry.path),)
    elif not rest:
        if os.path.lexists(folder / head):
            yield folder / head
    elif (real := _follow(folder / head, root)) and real.is_dir():
        yield from _match(root, folder / head, rest, left_out)


def _list_entries(folder: Path, left_out: LeftOut) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda one: one.name)
    except NotADirectoryError:
        return []
    except OSError as error:
        left_out.leave_out(folder.name, f"it cannot be read: {error.strerror}")
        return []


def _follow(path: Path, root: Path) -> Path | None:
    """Return the real path of a path; None if it is outside of a folder, or a link in a circle."""
    try:
        real = path.resolve()
    except (OSError, RuntimeError):
        return None
    return real if real.is_relative_to(root) else None


def read_find(find: Find, most: int) -> list[NoteRow]:
    """
    Read a file as rows.

    Args:
        most: the most bytes of a file.

    Raises:
        InputError: with the reason only, and the line where the format is broken.
    """
    place = find.place
    if place.kind != "sessions":
        data, at = read_bytes(find.path, most)
        title = _name_project(find)
        rows = [
            make_note(text, f"{place.agent}-{place.kind}", title, at)
            for text in _cut_markdown(decode_text(data, find.path.name))
        ]
        rows = [replace(row, title=title or None, speaker=place.speaker or None) for row in rows]
    elif (size := find.path.stat().st_size) > most:
        raise InputError(f"it is longer than {most:,} bytes (intake.file_bytes): {size:,}")
    elif find.path.suffix == ".jsonl":  # the agent may be writing to it
        rows = harvest_transcript(find.path, place.agent, all_turns=False)
    else:
        rows = harvest(find.path, place.agent).rows
    return [replace(row, source=f"adopt:{place.agent}") for row in rows]


_COMMENT = re.compile(r"<!--(?:(?!<!--).)*?-->", re.DOTALL)
_REFERENCE = re.compile(r"(?:[-*] )?@\S+")
"""A line that only includes another file."""


def _cut_markdown(text: str) -> Iterator[str]:
    """
    Cut Markdown into the texts that become a memory each, without front matter, comments and references to other files.

    >>> [*_cut_markdown("---\\nglobs: '*.ts'\\n---\\n# Style\\n\\n- Use tabs.\\n- Avoid any.\\n\\n@AGENTS.md\\n")]
    ['# Style\\n\\n- Use tabs.', '- Avoid any.']
    """
    body = _COMMENT.sub("", FRONT_MATTER.sub("", text.replace("\r\n", "\n"), count=1))
    for piece in cut_file(body):
        lines = [line for line in piece.strip().split("\n") if line.strip()]
        if any(not line.startswith("#") and not _REFERENCE.fullmatch(line.strip()) for line in lines):
            yield piece.strip()


def _name_project(find: Find) -> str:
    """
    Return the name of the project that a file is about; empty if it is about none.

    Claude Code names the folder of a project by its whole path, with dashes for all that is no letter or digit.
    """
    if not find.place.is_in_home:
        return find.root.name
    parts = find.path.relative_to(find.root).parts
    if parts[:2] != (".claude", "projects"):
        return ""
    dashed_home = re.sub(r"[^A-Za-z0-9]", "-", str(find.root))
    return parts[2].removeprefix(dashed_home).strip("-") if parts[2] != dashed_home else ""


def show_place(place: Place, root: Path) -> str:
    """
    Return where a place is, as lists show it.

    >>> show_place(PLACES[1], Path("/home/ana")), show_place(PLACES[3], Path("/home/ana/parser"))
    ('~/.claude', '/home/ana/parser')
    """
    return f"~/{place.patterns[0].split('/')[0]}" if place.is_in_home else str(root)
