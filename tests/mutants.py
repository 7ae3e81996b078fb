"""
Changes `src/memento/access.py` in one place at a time, and checks whether its tests notice.

Each mutant runs in a separate process, forked after all imports, and replaces the module before the tests import it.
Prints the mutants that survive, and exits with 1 if `EXPLAINED` does not explain one of them.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import memento.access as module

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "memento" / "access.py"
TESTS = ("tests/test_access.py",)
EXPLAINED: dict[str, str] = {}
"""Why a mutant may survive, by the name that is printed."""
_OTHER: dict[type[ast.AST], ast.AST] = {
    ast.Eq: ast.NotEq(),
    ast.NotEq: ast.Eq(),
    ast.LtE: ast.Lt(),
    ast.Lt: ast.LtE(),
    ast.Gt: ast.GtE(),
    ast.GtE: ast.Gt(),
    ast.In: ast.NotIn(),
    ast.NotIn: ast.In(),
    ast.Is: ast.IsNot(),
    ast.IsNot: ast.Is(),
    ast.And: ast.Or(),
    ast.Or: ast.And(),
}


def mutants(tree: ast.Module) -> Iterator[tuple[str, ast.Module]]:
    """Yield each mutant with its change: an operator, a condition, a part of a condition, or a returned value."""
    for place, node in enumerate(ast.walk(tree)):
        for name, change in _changes(node):
            other = deepcopy(tree)
            target = next(found for at, found in enumerate(ast.walk(other)) if at == place)
            change(target)
            yield f"{name}: {ast.unparse(node).splitlines()[0][:90]}", ast.fix_missing_locations(other)


def _changes(node: ast.AST) -> Iterator[tuple[str, Callable[[Any], object]]]:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _OTHER:
        yield "comparison", lambda one: one.ops.__setitem__(0, _OTHER[type(one.ops[0])])
    if isinstance(node, ast.BoolOp):
        yield "and/or", lambda one: setattr(one, "op", _OTHER[type(one.op)])
        for at in range(len(node.values)):
            yield f"without its part {at + 1}", partial(_drop_part, at=at)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "without not", _drop_not
    if isinstance(node, ast.If):
        yield "if always", lambda one: setattr(one, "test", ast.Constant(True))
        yield "if never", lambda one: setattr(one, "test", ast.Constant(False))
    if isinstance(node, ast.Return) and node.value is not None:
        yield "returns nothing", lambda one: setattr(one, "value", ast.Constant(None))


def _drop_not(node: Any) -> None:
    node.op, node.operand = ast.UAdd(), ast.Call(func=ast.Name("bool", ast.Load()), args=[node.operand], keywords=[])


def _drop_part(node: Any, at: int) -> None:
    node.values.pop(at)


def survives(tree: ast.Module) -> bool:
    """Tell whether all tests pass on a mutant."""
    child = os.fork()
    if child == 0:
        code = 1
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            try:
                exec(compile(tree, str(SOURCE), "exec"), module.__dict__)
                code = pytest.main(["-q", "-x", "-n", "0", "-p", "no:cacheprovider", *TESTS])
            except BaseException:
                code = 1
        os._exit(0 if code == 0 else 1)
    return os.waitpid(child, 0)[1] == 0


def main() -> int:
    """Try every mutant."""
    os.chdir(ROOT)
    tree = ast.parse(SOURCE.read_text(encoding="utf-8"))
    count, left = 0, []
    for name, mutant in mutants(tree):
        count += 1
        if survives(mutant):
            left.append(name)
            sys.stdout.write(f"survived{'' if name in EXPLAINED else ', unexplained'}: {name}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{count} mutants, {len(left)} survived\n")
    return int(any(name not in EXPLAINED for name in left))


if __name__ == "__main__":
    sys.exit(main())
