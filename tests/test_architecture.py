"""The house as it was drawn: who may import whom, that every query and every term is used."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

from memento import __version__, assets, plugin
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
        ("pyoxigraph", {"graph", "sparql", "plugins"}),  # plugins: the terms of a store behind an endpoint
        ("pyshacl", {"graph"}),
        ("rdflib", {"graph", "plugins"}),
        (
            "sqlite3",
            {"search", "interfaces", "plugins"},
        ),  # web: the blocks of the proxy; plugins: what machines know of others
        ("sentence_transformers", {"search"}),
        ("onnxruntime", {"search"}),
        ("torch", {"search", "plugins"}),
        ("flask", {"interfaces", "plugins", "testing"}),
        ("uvicorn", {"interfaces", "plugins"}),  # plugins: the store that nodes share
        ("httpcore2", {"interfaces"}),  # the proxy: bytes there and back, below what a client of HTTP makes of them
        ("mcp", {"interfaces", "plugins"}),  # plugins: the client of the servers whose tools plans are carried out with
        ("click", {"interfaces", "plugins", "testing"}),
        ("dateparser", {"text"}),
        ("detect_secrets", {"intake"}),
        ("markdown_it", {"plugins"}),
        ("pypdf", {"plugins"}),
        ("trafilatura", {"plugins"}),
        ("watchfiles", {"plugins"}),
        ("httpx2", {"llm", "interfaces", "plugins"}),
        ("sknetwork", {"manifest"}),
        ("scipy", {"manifest"}),
        ("dotenv", {"settings"}),
        ("pandas", {"python"}),
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

    assert users <= {"graph", "backends", "archive", "service", "plugins"}


def test_only_settings_reads_the_environment() -> None:
    readers = {path.name for path in FILES if "environ.get" in path.read_text() or "getenv" in path.read_text()}

    assert readers <= {"settings.py"}


PLUGINS = sorted(path.name for path in (SOURCE / "plugins").iterdir() if (path / "__init__.py").is_file())


def name_plugins(text: str, names: Sequence[str]) -> list[str]:
    """The places where a text names plug-ins: their packages and the folders of their queries, whole or as the end of a path."""
    return re.findall(rf"\bplugins[./](?:{'|'.join(names)})\b|\bmemento\.plugins\b|\bimport plugins\b", text)


def test_the_core_names_no_plugin() -> None:
    texts = {
        path.relative_to(ROOT).as_posix(): re.sub(r"(?m)^# used by: .*$", "", path.read_text(encoding="utf-8"))
        for folder in (SOURCE, ROOT / "queries", ROOT / "ontology")
        for path in folder.rglob("*")
        if path.suffix in (".py", ".html", ".rq", ".ru", ".ttl", ".toml", ".md", ".trig")
    }
    core = {path: text for path, text in texts.items() if "/plugins/" not in path}

    assert {path: found for path, text in core.items() if (found := name_plugins(text, PLUGINS))} == {
        "src/memento/plugin.py": ["memento.plugins", "memento.plugins"]  # the group of entry points
    }
    for name in PLUGINS:
        others = [one for one in PLUGINS if one != name] or ["none"]
        for path, text in texts.items():
            if f"/plugins/{name}/" in path:
                assert [found for found in name_plugins(text, others) if found != "memento.plugins"] == [], path


def test_naming_a_plugin_would_be_found() -> None:
    for text in (
        "from memento.plugins.living import operations",
        'import_module("memento.plugins.living.tools")',
        'import_module(f"memento.plugins.{name}")',
        "from memento import plugins",
        'graph.select("plugins/living/policies", graphs)',
    ):
        assert name_plugins(text.replace("from memento import", "import"), PLUGINS), text


def test_every_plugin_that_comes_with_memento_is_an_entry_point() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert project["entry-points"]["memento.plugins"] == {name: f"memento.plugins.{name}:plugin" for name in PLUGINS}
    assert set(plugin.find_plugins()) >= set(PLUGINS), "install the project again: `pip install --editable .`"
    assert plugin.list_problems() == {}


def test_a_plugin_is_read_without_a_library_and_few_modules() -> None:
    for name in PLUGINS:
        program = f"""
import sys
import memento.plugin
before = set(sys.modules)
from memento.plugins.{name} import plugin
loaded = set(sys.modules) - before
assert len(loaded) <= 2 and all(one.startswith("memento.") for one in loaded), loaded
"""
        subprocess.run([sys.executable, "-c", program], check=True)


def test_the_version_is_that_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert project["version"] == __version__
    assert project["name"] == assets.DISTRIBUTION


def test_every_line_that_installs_memento_names_the_distribution() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "packaging").rglob("*"), *FILES]
    written = [page for page in pages if page.is_file() and page.suffix != ".pyc"]
    lines = [line for page in written for line in page.read_text(encoding="utf-8").splitlines()]
    said = [line for line in lines if re.search(r"(?:install|--from|uvx)\s+['\"]?memento(?![\w-])", line)]

    assert said == []


def test_what_the_registry_and_the_bundle_say_is_that_of_the_project() -> None:
    listed = json.loads((ROOT / "packaging" / "server.json").read_text(encoding="utf-8"))
    bundled = json.loads((ROOT / "packaging" / "bundle" / "manifest.json").read_text(encoding="utf-8"))
    [package] = listed["packages"]
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]

    assert {listed["version"], package["version"], bundled["version"]} == {__version__}
    assert package["identifier"] == assets.DISTRIBUTION
    assert package["identifier"] in scripts  # `uvx NAME` runs the command of that name
    assert len(listed["description"]) <= 100
    # The registry looks for this line in what the index shows, as a proof of who owns the package.
    assert f"mcp-name: {listed['name']}" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_package_offers_its_public_names_and_loads_none_of_them_before_it_is_used() -> None:
    program = """
import sys
import memento
heavy = [name for name in sys.modules if name.split(".")[0] in ("numpy", "pyoxigraph", "click", "torch", "msgspec")]
assert not heavy, heavy
missing = [name for name in dir(memento) if getattr(memento, name) is None]
assert not missing and {"open_memento", "Memento", "Client", "Recollection", "MementoError"} <= set(dir(memento))
"""
    subprocess.run([sys.executable, "-c", program], check=True)
