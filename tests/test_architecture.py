"""The house as it was drawn: who may import whom, that every query and every term is used."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from memento import __version__
from memento.interfaces.reference import FLOORS

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "memento"

FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
FILES = sorted(SOURCE.rglob("*.py"))


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).with_suffix("").parts[0]


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """The syntax of a file, read once."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def imports(path: Path) -> Iterator[str]:
    """The rooms that a file imports from, type-only and lazy imports included."""
    for found in nodes(path):
        if isinstance(found, ast.ImportFrom) and (found.module or "").split(".")[0] == "memento":
            parts = (found.module or "").split(".")
            yield from [parts[1]] if len(parts) > 1 else (alias.name for alias in found.names)
        elif isinstance(found, ast.Import):
            yield from (alias.name.split(".")[1] for alias in found.names if alias.name.startswith("memento."))


def test_every_room_has_its_floor() -> None:
    assert {room_of(path) for path in FILES} <= set(FLOOR)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_file_imports_from_its_own_room_or_from_below(path: Path) -> None:
    if path == SOURCE / "__init__.py":
        return  # it offers the service under a short name, lazily
    above = [room for room in imports(path) if FLOOR.get(room, 0) > FLOOR[room_of(path)]]

    assert above == []


def test_rooms_of_one_floor_hang_together_without_circles() -> None:
    edges = {
        (room_of(path), room) for path in FILES for room in imports(path) if room in FLOOR and room != room_of(path)
    }
    circles = [(a, b) for a, b in edges if (b, a) in edges and "__init__" not in (a, b)]

    assert circles == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_file_says_first_what_comes_out_of_it(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("library", "rooms"),
    [
        ("pyoxigraph", {"graph", "sparql"}),
        ("pyshacl", {"graph"}),
        ("rdflib", {"graph"}),
        ("sqlite3", {"search", "interfaces"}),  # web: the blocks of the proxy, which no index knows
        ("sentence_transformers", {"search"}),
        ("onnxruntime", {"search"}),
        ("torch", {"search", "cases"}),
        ("flask", {"interfaces"}),
        ("uvicorn", {"interfaces"}),
        ("httpcore2", {"interfaces"}),  # the proxy: bytes there and back, below what a client of HTTP makes of them
        ("mcp", {"interfaces", "llm"}),  # llm: the client of the servers whose tools plans are carried out with
        ("click", {"interfaces"}),
        ("dateparser", {"text"}),
        ("detect_secrets", {"intake"}),
        ("markdown_it", {"intake"}),
        ("pypdf", {"intake"}),
        ("trafilatura", {"intake"}),
        ("watchfiles", {"intake"}),
        ("httpx2", {"llm", "interfaces"}),
        ("sknetwork", {"manifest"}),
        ("scipy", {"manifest"}),
        ("dotenv", {"settings"}),
        ("pandas", {"interfaces"}),
        ("IPython", {"interfaces"}),
    ],
)
def test_a_library_is_used_in_one_room(library: str, rooms: set[str]) -> None:
    users = {
        room_of(path)
        for path in FILES
        for node in nodes(path)
        if (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == library)
        or (isinstance(node, ast.Import) and any(alias.name.split(".")[0] == library for alias in node.names))
    }

    assert users <= rooms


def test_only_who_opens_a_folder_knows_which_store_is_behind_the_protocol() -> None:
    users = {
        room_of(path)
        for path in FILES
        for node in nodes(path)
        if isinstance(node, ast.ImportFrom) and node.module == "memento.graph.oxigraph"
    }

    assert users <= {"graph", "backends", "archive", "service"}


def test_only_settings_reads_the_environment() -> None:
    readers = {path.name for path in FILES if "environ.get" in path.read_text() or "getenv" in path.read_text()}

    assert readers <= {"settings.py"}


def test_the_version_is_that_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert project["version"] == __version__
