"""
Carry out the commands of Claude's memory tool on the texts below `/memories`, and cut a text into memories.

*Guarantees:* pure: `run_command` reads texts through the function that it is given, and returns which of them change. No path leads
out of `/memories`. The pieces of a text, joined, are the text.

*Source:* commands, answers and errors as Anthropic publishes them for the tool `memory_20250818`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from memento.errors import InputError

if TYPE_CHECKING:
    from memento.plugins.intake.operations import MemoryFile

ROOT = "/memories"
MOST_LINES = 999_999
_LONGEST_PATH = 500
_LONG_PIECE = 2_000
"""The length, in characters, after which a piece ends at the end of its line."""
_LEVELS = 2
_NO_FILE = "The path {} does not exist. Please provide a valid path."
_GONE = "Error: The path {} does not exist"


class Refusal(InputError):
    """A command that cannot be carried out; the message is worded for the model that sent it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The answer to a command, and the texts that it changes, by path; None for a file that is deleted."""

    said: str
    writes: Mapping[str, str | None] = field(default_factory=dict)


def run_command(asked: MemoryFile, paths: Collection[str], read: Callable[[str], str]) -> Outcome:
    """
    Carry out a command on the existing files.

    Args:
        paths: the paths of the files.
        read: returns the text of a file.

    Raises:
        Refusal: it cannot be carried out; worded as published.
        InputError: a required argument is missing; names it.
    """
    match asked.command:
        case "view":
            return Outcome(said=_view(resolve_path(_need(asked, "path")), asked.view_range, paths, read))
        case "create":
            return _create(resolve_path(_need(asked, "path")), _need(asked, "file_text"), paths)
        case "str_replace":
            path = _find_file(asked, paths, f"Error: {_NO_FILE}")
            return _replace(path, read(path), _need(asked, "old_str"), asked.new_str or "")
        case "insert":
            path = _find_file(asked, paths, _GONE)
            return _insert(path, read(path), asked.insert_line, _need(asked, "insert_text"))
        case "delete":
            path = resolve_path(_need(asked, "path"))
            if not (going := _list_below(path, paths)) or path == ROOT:
                raise Refusal(_GONE.format(path) if path != ROOT else f"Error: The directory {ROOT} cannot be deleted")
            return Outcome(said=f"Successfully deleted {path}", writes=dict.fromkeys(going))
    return _rename(resolve_path(_need(asked, "old_path")), resolve_path(_need(asked, "new_path")), paths, read)


def resolve_path(path: str) -> str:
    """
    Normalise a path below `/memories`, without a slash at its end.

    Raises:
        Refusal: it leads elsewhere, in any spelling, or contains control characters.

    >>> resolve_path("/memories//work/./notes.txt/")
    '/memories/work/notes.txt'
    """
    plain = path
    while (once := unquote(plain)) != plain:
        plain = once
    if "\\" in plain or ".." in plain.split("/") or any(ord(sign) < 32 or ord(sign) == 127 for sign in plain):
        raise Refusal(f"Error: Path {path[:200]} would escape {ROOT} directory")
    whole = "/" + "/".join(part for part in path.split("/") if part not in ("", "."))
    if whole != ROOT and not whole.startswith(f"{ROOT}/"):
        raise Refusal(f"Error: Path must start with {ROOT}, got: {path[:200]}")
    if len(whole) > _LONGEST_PATH:
        raise Refusal(f"Error: Path must have at most {_LONGEST_PATH} characters")
    return whole


def _need(asked: MemoryFile, name: str) -> str:
    value: str | None = getattr(asked, name)
    if value is None:
        raise InputError(f"the command {asked.command} needs {name}")
    return value


def _list_below(path: str, paths: Collection[str]) -> list[str]:
    """List the file at a path, or the files in the folder at it."""
    return sorted(one for one in paths if one == path or one.startswith(f"{path}/"))


def _find_file(asked: MemoryFile, paths: Collection[str], why: str) -> str:
    path = resolve_path(_need(asked, "path"))
    if path not in paths:
        raise Refusal(why.format(path))
    return path


def _view(path: str, lines: Collection[int] | None, paths: Collection[str], read: Callable[[str], str]) -> str:
    if path in paths:
        return _number_lines(path, read(path), [*lines] if lines else [1, -1])
    found = _list_below(path, paths)
    if not found and path != ROOT:
        raise Refusal(_NO_FILE.format(path))
    sizes = dict.fromkeys([path], 0)
    for one in found:
        size, parts = len(read(one).encode()), one[len(path) + 1 :].split("/")
        sizes[path] += size
        if any(part.startswith(".") or part == "node_modules" for part in parts):
            continue
        for depth in range(1, min(len(parts), _LEVELS) + 1):
            name = "/".join([path, *parts[:depth]]) + ("/" if depth < len(parts) else "")
            sizes[name] = sizes.get(name, 0) + size
    head = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items and node_modules:"
    return "\n".join([head, *(f"{_show_size(size)}\t{name}" for name, size in sizes.items())])


def _show_size(size: int) -> str:
    """
    Format a number of bytes for people.

    >>> _show_size(12), _show_size(1536)
    ('12B', '1.5K')
    """
    if size < 1024:
        return f"{size}B"
    return f"{size / 1024:.1f}K" if size < 1024 * 1024 else f"{size / 1024 / 1024:.1f}M"


def _number_lines(path: str, text: str, wanted: list[int]) -> str:
    lines = text.split("\n")
    if len(lines) > MOST_LINES:
        raise Refusal(f"File {path} exceeds maximum line limit of 999,999 lines.")
    first, last = (*wanted, -1)[:2]
    first = max(first, 1)
    shown = lines[first - 1 : len(lines) if last == -1 else last]
    return f"Here's the content of {path} with line numbers:\n" + _join_numbered(shown, first)


def _join_numbered(lines: list[str], first: int) -> str:
    return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines, first))


def _create(path: str, text: str, paths: Collection[str]) -> Outcome:
    if path == ROOT or _list_below(path, paths):
        raise Refusal(f"Error: File {path} already exists")
    _raise_if_in_file(path, paths)
    return Outcome(said=f"File created successfully at: {path}", writes={path: text})


def _raise_if_in_file(path: str, paths: Collection[str]) -> None:
    for above in map(str, PurePosixPath(path).parents):
        if above in paths:
            raise Refusal(f"Error: The path {above} is not a directory")


def _replace(path: str, text: str, old: str, new: str) -> Outcome:
    at = text.find(old) if old else -1
    if at < 0:
        raise Refusal(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
    places = [one.start() for one in re.finditer(re.escape(old), text)]
    if len(places) > 1:
        lines = ", ".join(str(text.count("\n", 0, place) + 1) for place in places)
        raise Refusal(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. "
            "Please ensure it is unique"
        )
    after = text[:at] + new + text[at + len(old) :]
    line = after.count("\n", 0, at)
    first, last = max(line - 2, 0), line + new.count("\n") + 3
    snippet = _join_numbered(after.split("\n")[first:last], first + 1)
    return Outcome(said=f"The memory file has been edited.\n{snippet}", writes={path: after})


def _insert(path: str, text: str, at: int | None, more: str) -> Outcome:
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    if at is None or not 0 <= at <= len(lines):
        raise Refusal(
            f"Error: Invalid `insert_line` parameter: {at}. "
            f"It should be within the range of lines of the file: [0, {len(lines)}]"
        )
    if at and not lines[at - 1].endswith("\n"):
        lines[at - 1] += "\n"
    lines.insert(at, more if more.endswith("\n") else f"{more}\n")
    return Outcome(said=f"The file {path} has been edited.", writes={path: "".join(lines)})


def _rename(old: str, new: str, paths: Collection[str], read: Callable[[str], str]) -> Outcome:
    going = _list_below(old, paths)
    if not going or old == ROOT:
        raise Refusal(_GONE.format(old) if old != ROOT else f"Error: The directory {ROOT} cannot be renamed")
    if new == ROOT or _list_below(new, paths):
        raise Refusal(f"Error: The destination {new} already exists")
    if new.startswith(f"{old}/"):
        raise Refusal(f"Error: The destination {new} is inside of {old}")
    _raise_if_in_file(new, paths)
    fresh: dict[str, str | None] = {new + one[len(old) :]: read(one) for one in going}
    return Outcome(said=f"Successfully renamed {old} to {new}", writes={**fresh, **dict.fromkeys(going)})


_HEADING = re.compile(r"#{1,6}[ \t]")
_ITEM = re.compile(r"(?:[-*+•]|\d{1,3}[.)])[ \t]")
_FENCE = re.compile(r"[ \t]{0,3}(?:```|~~~)")


def cut_file(text: str) -> list[str]:
    """
    Cut a text into pieces that become one memory each: a paragraph, or a list item with what is indented below it.

    A heading stays with what follows it, and a code block stays whole. A blank text has no pieces.

    >>> cut_file("# Home\\n\\n- lives in Lisbon\\n- has a cat\\n\\nMoves soon.\\n")
    ['# Home\\n\\n- lives in Lisbon\\n', '- has a cat\\n\\n', 'Moves soon.\\n']
    """
    pieces, piece = list[str](), ""
    has_words = has_ended = is_fenced = False
    for line in re.findall(r"[^\n]*\n|[^\n]+", text):
        is_blank = not line.strip()
        is_begin = bool(_ITEM.match(line) or _HEADING.match(line))
        if not is_blank and has_words and not is_fenced and (has_ended or is_begin or len(piece) > _LONG_PIECE):
            pieces.append(piece)
            piece, has_words, has_ended = "", False, False
        piece += line
        is_fenced ^= bool(_FENCE.match(line))
        has_words |= not is_blank and not _HEADING.match(line)
        has_ended |= is_blank and has_words
    if has_words or (piece.strip() and not pieces):
        return [*pieces, piece]
    return [*pieces[:-1], pieces[-1] + piece] if pieces else []
