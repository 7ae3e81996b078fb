"""
Every pattern of the package on texts made of its own atoms: `python tests/runaway.py` prints those that run away.

A pattern runs away when its time grows faster than the text, because a repeat can share a text with its neighbour, with itself, or
with the next place that a search begins at. Such a text is made of the pattern: what leads to a repeat, then what the repeat takes,
tens of thousands of characters of it, then something that nothing takes. `re` holds the interpreter's lock meanwhile, so that one
such pattern stops every thread of a service.

    patterns ── module-level names, classes, tables in files, and what functions hand to `re`
    texts    ── for each repeat, branch and beginning of a pattern, some of its own text over and over
    measure  ── all texts short, the slowest of them ever longer: four times the text may take about four times as long

Where code bounds the text before any pattern of a module sees it, the bound is in `BOUNDS`, the texts are that long, and the time
may grow with the square of the text. Nothing depends on how fast the machine is or what else it does: the longer text is timed
against so many runs over the shorter one as would take as long if the pattern grew as it may.

*But:* a search for texts finds what is there to be found and proves nothing: what no test can know is held by the deadline.
"""

from __future__ import annotations

import ast
import importlib
import math
import pkgutil
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import _lru_cache_wrapper
from inspect import signature
from pathlib import Path
from types import BuiltinMethodType, MethodType, ModuleType
from typing import Any, NamedTuple

import memento
from memento.interfaces.proxy.dialects import UTILITY_CHARACTERS
from memento.search.subjects import LONGEST as SUBJECTS_READ
from memento.text.sentences import LONGEST_READ, shorten_blanks

parser: Any = importlib.import_module("re._parser")
compiler: Any = importlib.import_module("re._compiler")
sre: Any = importlib.import_module("re._constants")

ENDLESS_S, SHORT_ENDLESS_S = 5.0, 1.0
"""Seconds of the processor after which a pattern is held to run for ever: on a long text, and on one of `SHORT` characters."""
CHARACTERS = 40_000
SHORT, SLOWEST = 500, 4
STEP = 4
"""How many times as long as the shorter text the longer one is."""
MOST = 2.0
"""How much longer than what it is compared with the longer text may take; the next higher power takes `STEP` times as long."""
TOO_SHORT_S = 0.005
"""What takes less than this is not compared, as it says more about the clock than about the pattern."""
SURE_S = 0.5
"""Seconds of the processor that both take in all before a pattern is said to run away."""
BOUNDS = {
    "memento.consolidation.rules": LONGEST_READ,
    "memento.text.sentences._LINE_": CHARACTERS,
    "memento.text": LONGEST_READ,
    "memento.search.subjects": SUBJECTS_READ,
    "memento.interfaces.proxy.dialects._NAMES_CHAT": UTILITY_CHARACTERS,
    "memento.interfaces.proxy.dialects._IS_FOR_NAMES": UTILITY_CHARACTERS,
}
"""Characters of the texts that some patterns are given, where code sees to it before any of them is tried."""
ENTRIES: dict[str, Callable[[str], str]] = {
    "memento.consolidation.rules": shorten_blanks,
    "memento.text.sentences._LINE_": str,
    "memento.text": shorten_blanks,
}
"""What else code does to every text before."""

TABLES = ("memento.text", "memento.consolidation.rules")
"""Rooms whose patterns stand in tables, which are read when they are first asked for."""
METHODS = ("match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer")
ANCHORED = {"match", "fullmatch"}
REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)
FEW_TIMES = 20
"""A repeat of no more than so many times is no repeat here."""
POOL = "a Z5.\n-'\"(é,_/<:0tT\\[{%@\x00"
SAMPLE = "ab"
"""What stands for a value that a function puts into its pattern."""


class Found(NamedTuple):
    """A pattern, where it is, and whether it is only tried at one place of a text."""

    name: str
    pattern: re.Pattern[Any]
    anchored: bool


class Slow(Exception):
    """The time is up."""


def modules() -> Iterator[ModuleType]:
    """All modules of the package, each imported."""
    for found in pkgutil.walk_packages(memento.__path__, "memento."):
        if not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def patterns() -> list[Found]:
    """Every pattern, each once."""
    found: dict[tuple[Any, int, bool], Found] = {}
    loaded = list(modules())
    trees = {module.__name__: ast.parse(Path(str(module.__file__)).read_text("utf-8")) for module in loaded}
    uses = _uses(trees)
    for module in loaded:
        for name, value in list(vars(module).items()):
            used = uses.get((module.__name__, name), set())
            anchored = bool(used) and used <= ANCHORED
            for where, pattern in _inside(f"{module.__name__}.{name}", _loaded(module, value)):
                found.setdefault((pattern.pattern, pattern.flags, anchored), Found(where, pattern, anchored))
        for one in _in_functions(module, trees[module.__name__]):
            found.setdefault((one.pattern.pattern, one.pattern.flags, one.anchored), one)
    return list(found.values())


def _loaded(module: ModuleType, value: Any) -> Any:
    """What a function gives that reads a table of the language, where it needs nothing for it; else the value itself."""
    reads = type(value) is _lru_cache_wrapper and module.__name__.startswith(TABLES)
    return value() if reads and not signature(value).parameters else value


def _inside(name: str, value: Any, depth: int = 0) -> Iterator[tuple[str, re.Pattern[Any]]]:
    """The patterns in a value of a module: itself, in a table, in a class, or as `re.compile(…).match`."""
    kind = type(value)
    if kind is re.Pattern:
        yield name, value
    elif depth > 4:
        return
    elif kind is dict:
        for key, one in value.items():
            yield from _inside(f"{name}[{key!r}]", key, depth + 1)
            yield from _inside(f"{name}[{key!r}]", one, depth + 1)
    elif kind in (list, tuple, set, frozenset):
        for at, one in enumerate(value):
            yield from _inside(f"{name}[{at}]", one, depth + 1)
    elif kind is type and value.__module__.startswith("memento"):
        for key, one in list(vars(value).items()):
            yield from _inside(f"{name}.{key}", one, depth + 1)
    elif kind in (BuiltinMethodType, MethodType):
        yield from _inside(name, value.__self__, depth + 1)
    elif is_dataclass(value) and not isinstance(value, type):
        for one in fields(value):
            yield from _inside(f"{name}.{one.name}", getattr(value, one.name), depth + 1)


def _uses(trees: dict[str, ast.Module]) -> dict[tuple[str, str], set[str]]:
    """What is done with each name of a module, wherever it is imported; a use that is no method is a search."""
    found: dict[tuple[str, str], set[str]] = {}
    for module, tree in trees.items():
        home = {
            alias.asname or alias.name: (node.module, alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module
            for alias in node.names
        }
        called = {
            id(node.value): node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and node.attr in METHODS
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                found.setdefault(home.get(node.id, (module, node.id)), set()).add(called.get(id(node), "search"))
    return found


def _in_functions(module: ModuleType, tree: ast.Module) -> Iterator[Found]:
    """The patterns that functions hand to `re`, a sample in the place of what they put in.

    What reads the tables compiles what is seen in the tables.

    Raises:
        AssertionError: a pattern cannot be seen.
    """
    inside = {id(node) for top in ast.walk(tree) if isinstance(top, ast.FunctionDef) for node in ast.walk(top)}
    for node in ast.walk(tree):
        if module.__name__ == "memento.text.tables" or not (
            id(node) in inside
            and isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.func.attr in (*METHODS, "compile")
        ):
            continue
        where = f"{module.__name__}:{node.lineno}"
        written = node.args[0]
        if isinstance(written, ast.Name) and not isinstance(vars(module).get(written.id), str):
            raise AssertionError(f"{where}: compile this pattern where a test can see it, at the top of the module")
        names = {one.id: SAMPLE for one in ast.walk(written) if isinstance(one, ast.Name)}
        known = {**vars(__builtins__ if isinstance(__builtins__, ModuleType) else sys.modules["builtins"])}
        text = eval(ast.unparse(written), {**names, **known, **vars(module)})
        rest = [*node.args[2:], *(one.value for one in node.keywords if one.arg == "flags")]
        flags = next((eval(ast.unparse(one), vars(module)) for one in rest if "re." in ast.unparse(one)), 0)
        yield Found(where, re.compile(text, flags), node.func.attr in ANCHORED)


def texts(pattern: re.Pattern[Any]) -> list[tuple[str, str]]:
    """(what comes first, what is repeated behind it) of each text that may be hard for a pattern."""
    flags = pattern.flags
    items = list(parser.parse(pattern.pattern, flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else flags))
    found: dict[tuple[str, str], None] = {}
    for before, bodies in _repeats(items, "", flags):
        for body in filter(None, bodies):
            for one in ((before, body), ("", body), ("", before + body), (before, f"{body} ")):
                found[one] = None
    for head in filter(None, _heads(items, flags)):
        found["", head] = found["", f"{head} "] = None
    for atom in ("a", "A ", " ", "1", "\n"):
        found["", atom] = None
    return list(found)


def _matched(items: Any, flags: int, few: int) -> list[str]:
    """A few texts that a sequence of parsed nodes takes; what looks around is left aside."""
    ways = [way for op, argument in items if (way := _taken(op, argument, flags, few))]
    count = min(max((len(way) for way in ways), default=1), few)
    return list(dict.fromkeys("".join(way[at % len(way)] for way in ways) for at in range(count)))


def _taken(op: Any, argument: Any, flags: int, few: int) -> list[str]:
    if op is sre.LITERAL:
        return [chr(argument)]
    if op in (sre.NOT_LITERAL, sre.ANY, sre.IN):
        return _characters(op, argument, flags)[:few]
    if op is sre.SUBPATTERN:
        return _matched(argument[3], flags, few)
    if op is sre.ATOMIC_GROUP:
        return _matched(argument, flags, few)
    if op is sre.BRANCH:
        ways = argument[1]
        return [text for way in ways[:: max(len(ways) // few, 1)] for text in _matched(way, flags, 1)]
    if op in REPEATS:
        least, _, body = argument
        return [text * max(least, 1) for text in _matched(body, flags, few)]
    if op is sre.GROUPREF_EXISTS:
        return _matched(argument[1], flags, few)
    return []


def _characters(op: Any, argument: Any, flags: int) -> list[str]:
    """Characters that a class takes, some that others take as well among the first."""
    own = [chr(one[1] if one[0] is sre.LITERAL else one[1][0]) for one in _named(argument)]
    tree = parser.SubPattern(parser.State(), [(op, argument)])
    tree.state.flags, tree.state.str = flags, ""
    one = compiler.compile(tree, flags)
    return [text for text in dict.fromkeys([*POOL[:3], *own[:3], *POOL]) if one.fullmatch(text)]


def _named(argument: Any) -> Iterator[Any]:
    if isinstance(argument, list):
        yield from (one for one in argument if one[0] in (sre.LITERAL, sre.RANGE))


def _repeats(items: Any, before: str, flags: int) -> Iterator[tuple[str, list[str]]]:
    """(what leads to it, texts that it takes) of each repeat without a small bound."""
    for at, (op, argument) in enumerate(items):
        here = before + (_matched(items[:at], flags, 1) or [""])[0]
        if op in REPEATS:
            _, most, body = argument
            if most is sre.MAXREPEAT or most > FEW_TIMES:
                yield here, _matched(body, flags, 12)
            yield from _repeats(body, here, flags)
        elif op is sre.SUBPATTERN:
            yield from _repeats(argument[3], here, flags)
        elif op is sre.ATOMIC_GROUP:
            yield from _repeats(argument, here, flags)
        elif op is sre.BRANCH:
            for way in argument[1]:
                yield from _repeats(way, here, flags)
        elif op in (sre.ASSERT, sre.ASSERT_NOT):
            yield from _repeats(argument[1], here if argument[0] > 0 else before, flags)
        elif op is sre.GROUPREF_EXISTS:
            for way in filter(None, argument[1:]):
                yield from _repeats(way, here, flags)


def _heads(items: Any, flags: int) -> Iterator[str]:
    """A pattern's own text, broken off after each of its parts: where a search begins again and again."""
    while len(items) == 1 and items[0][0] is sre.SUBPATTERN:
        items = items[0][1][3]
    if len(items) == 1 and items[0][0] is sre.BRANCH:
        for way in items[0][1][1][:40]:
            yield from _heads(list(way), flags)
        return
    for end in range(1, len(items) + 1):
        yield from _matched(items[:end], flags, 2)


def text_of(found: Found, before: str, repeated: str, size: int) -> Any:
    """A text of that size, as the pattern gets it."""
    enter = next((enter for name, enter in ENTRIES.items() if found.name.startswith(name)), str)
    text = enter(before + repeated * (size // len(repeated) + 1))[:size] + "\x00"
    return text.encode() if isinstance(found.pattern.pattern, bytes) else text


def seconds(found: Found, text: Any, times: int = 1, endless_s: float = ENDLESS_S) -> float:
    """How long a pattern takes for a text, so many times; infinity when it computes for longer than it may."""
    began = time.perf_counter()
    signal.setitimer(signal.ITIMER_PROF, endless_s)
    try:
        for _ in range(times):
            if found.anchored:
                found.pattern.match(text)
                found.pattern.fullmatch(text)
            else:
                for _ in found.pattern.finditer(text):
                    pass
    except Slow:
        return math.inf
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return time.perf_counter() - began


def grows_too_fast(found: Found, short: Any, long: Any, power: int) -> bool:
    """Whether the time grows faster than that power of the text, which is `STEP` times as long.

    What is compared takes the same time if it does not. One round by the clock acquits most patterns; what the clock suspects may
    have been interrupted, so the seconds of the processor decide, which are too coarse for one round and right for many.
    """
    if seconds(found, long) < TOO_SHORT_S:
        return False
    computed_short = computed_long = 0.0
    while computed_short + computed_long < SURE_S:
        began = time.process_time()
        taken_short = seconds(found, short, STEP**power)
        between = time.process_time()
        taken_long = seconds(found, long)
        if math.isinf(taken_long):
            return True
        if taken_long <= MOST * taken_short:
            return False
        computed_short += between - began
        computed_long += time.process_time() - between
    return computed_long > MOST * computed_short


def runs_away(found: Found) -> str | None:
    """The text on which a pattern takes too much more time than on a shorter one; None when there is none."""
    bound = next((size for name, size in BOUNDS.items() if found.name.startswith(name)), CHARACTERS)
    sizes, power = ([bound], 2) if bound < CHARACTERS else ([CHARACTERS // STEP**2, CHARACTERS // STEP, CHARACTERS], 1)
    measured: list[tuple[float, tuple[str, str]]] = []
    for text in texts(found.pattern):
        measured.append((seconds(found, text_of(found, *text, SHORT), endless_s=SHORT_ENDLESS_S), text))
        if math.isinf(measured[-1][0]):
            return f"{text[0]!r}, then {text[1]!r} over and over, {SHORT} characters"
    # Whatever else the machine does makes a few of them slow once, and none the fastest of three times.
    slow = [text for _, text in sorted(measured, reverse=True)[: 4 * SLOWEST]]
    again = [(min(seconds(found, text_of(found, *text, SHORT)) for _ in range(3)), text) for text in slow]
    for _, text in sorted(again, reverse=True)[:SLOWEST]:
        for size in sizes:
            short, long = (text_of(found, *text, one) for one in (size // STEP, size))
            if grows_too_fast(found, short, long, power):
                return f"{text[0]!r}, then {text[1]!r} over and over, {size} characters"
    return None


def stop_when_slow() -> None:
    """Let the timer of `seconds` end a match: `re` looks for signals in the main thread, and only there."""

    def stop(*_: object) -> None:
        raise Slow

    signal.signal(signal.SIGPROF, stop)


def main() -> None:
    """Print a line for each pattern that runs away, then how many there are in all."""
    stop_when_slow()
    found = [one for one in patterns() if len(sys.argv) < 2 or any(part in one.name for part in sys.argv[1:])]
    for one in found:
        if text := runs_away(one):
            print(f"{one.name} on {text}", flush=True)  # noqa: T201
    print(f"{len(found)} patterns", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
