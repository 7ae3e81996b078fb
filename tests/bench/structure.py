"""
How is the code structured? Counts over `src/memento`, from the syntax tree of every file.

    python tests/bench/structure.py [--json] [--list NAME]

`--list` prints what a figure counts: single, participles, repeated, foreign, cycles.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "memento"
IRREGULAR = re.compile(
    "told|named|written|said|shown|found|given|made|kept|held|seen|known|taken|left|drawn|begun|done|gone|built|bound|bought"
    "|brought|caught|fed|felt|got|heard|hidden|led|lent|lost|meant|met|paid|sent|spent|spoken|stood|sung|sworn|taught|thought"
    "|thrown|torn|understood|undone|withdrawn|won|worn|wound|chosen|driven|eaten|fallen|forgotten|frozen|grown|ridden|risen"
    "|shaken|sold|sought|stolen|struck|trodden|woken|overdue|laid"
)
VERBS = frozenset(["embed", "feed", "need", "seed", "proceed", "succeed", "exceed", "speed", "bleed", "breed", "shed"])
"""Words that end like a participle and are verbs."""


def is_participle(name: str) -> bool:
    """
    Tell whether a function is named by a bare participle.

    >>> is_participle("_written"), is_participle("write_row"), is_participle("embed")
    (True, False, False)
    """
    word = name.strip("_")
    return (
        "_" not in word
        and word not in VERBS
        and (bool(IRREGULAR.fullmatch(word) or re.fullmatch(r"[a-z]{2,}ed", word)))
    )


def module_of(path: Path) -> str:
    """Return the dotted name of a file's module."""
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_modules(tree: ast.Module, modules: frozenset[str]) -> Iterator[str]:
    """Yield the modules of the package that a file imports, lazy and type-only imports included."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.ImportFrom)
            and node.module
            and node.module.split(".")[0] == "memento"
            and not node.level
        ):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in modules else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)


def functions_of(tree: ast.Module) -> Iterator[str]:
    """Yield the name of every function and method, dunders left out."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("__"):
            yield node.name


def foreign_privates(tree: ast.Module) -> Iterator[str]:
    """Yield each use of a private attribute that the file itself neither sets nor defines."""
    own: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            own.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            own.add(node.attr)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            own.add(node.value)  # __slots__
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and re.fullmatch(r"_[a-z]\w*", node.attr) and node.attr not in own:
            yield node.attr


def cycles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Return the strongly connected groups of more than one module, by Tarjan's algorithm."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    groups: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in edges[node]:
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            group = []
            while True:
                last = stack.pop()
                group.append(last)
                if last == node:
                    break
            if len(group) > 1:
                groups.append(sorted(group))

    for node in list(edges):
        if node not in index:
            visit(node)
    return groups


def measure() -> tuple[dict[str, float], dict[str, list[str]]]:
    """Return the figures, and what each of the listed ones counts."""
    paths = sorted(SOURCE.rglob("*.py"))
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    modules = {module_of(path): path for path in paths}
    names = frozenset(modules)
    edges = {
        module_of(path): {m for m in imported_modules(tree, names) if m in names and m != module_of(path)}
        for path, tree in trees.items()
    }
    importers: dict[str, set[str]] = defaultdict(set)
    for module, targets in edges.items():
        for target in targets:
            importers[target].add(module)
    single = [
        module
        for module, users in importers.items()
        if len(users) == 1
        and modules[module].name != "__init__.py"
        and modules[next(iter(users))].parent == modules[module].parent
    ]
    called = [(name, module_of(path)) for path, tree in trees.items() for name in functions_of(tree)]
    participles = [f"{module}: {name}" for name, module in called if is_participle(name)]
    homes = defaultdict(set)
    for name, module in called:
        homes[name].add(module)
    repeated = [f"{name} ×{len(where)}" for name, where in homes.items() if len(where) >= 5]
    foreign = [f"{module_of(path)}: {name}" for path, tree in trees.items() for name in foreign_privates(tree)]
    groups = cycles(edges)
    text = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    figures = {
        "files": len(paths),
        "rooms": sum(1 for path in SOURCE.iterdir() if path.is_dir() and any(path.rglob("*.py"))),
        "folders": sum(1 for path in SOURCE.rglob("*") if path.is_dir() and any(path.glob("*.py"))),
        "lines": sum(path.read_text(encoding="utf-8").count("\n") for path in paths),
        "files with one importer in their folder": len(single),
        "functions": len(called),
        "bare participles, percent": round(100 * len(participles) / len(called), 1),
        "function names in five files or more": len(repeated),
        "private attributes of other files": len(foreign),
        "of these in service": sum(one.startswith("memento.service") for one in foreign),
        "import cycles": len(groups),
        "'See `Memento' docstrings": text.count('"""See `Memento'),
        "'namespace: str | None = None'": text.count("namespace: str | None = None"),
    }
    lists = {
        "single": sorted(single),
        "participles": sorted(participles),
        "repeated": sorted(repeated),
        "foreign": sorted(f"{one} ×{n}" for one, n in Counter(foreign).items()),
        "cycles": [" ".join(group) for group in groups],
    }
    return figures, lists


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--list", choices=["single", "participles", "repeated", "foreign", "cycles"])
    options = parser.parse_args()
    figures, lists = measure()
    if options.list:
        print("\n".join(lists[options.list]))
    elif options.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:45} {value:>10,}")


if __name__ == "__main__":
    main()
