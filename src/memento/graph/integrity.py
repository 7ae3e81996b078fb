"""
What is damaged in a store's files: every index is read to its end, which opening a store does not do.

*Guarantees:* the store is only read. What the engine does with damaged bytes happens to a child process alone.

*But:* each of the six orders is read quad by quad: 300,000 quads take some 20 s of a core and 250 MiB.

*Because:* the checksum of a block is looked at when the block is read, and a lookup reads only blocks of its own order.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyoxigraph as ox

_BOOT = (
    "import sys; sys.path[:] = sys.argv[1].split(chr(10)); from memento.graph.integrity import main; main(sys.argv[2])"
)
_NICE = 10
_PLACE = re.compile(r"(/[^\s:]*)?/")

Pattern = tuple[Any, Any, Any, Any]
"""Subject, predicate, object, graph; None is any."""


def find_damage(folder: Path) -> str | None:
    """Read a store that nobody writes to, as a snapshot or a backup, to its end; return what is damaged, None when nothing is."""
    words = [sys.executable, "-I", "-S", "-c", _BOOT, "\n".join(sys.path), str(folder)]
    # What the engine says when it dies might quote a text.
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if done.returncode:
        return f"its files cannot be read to the end: the reader ended with {done.returncode}"
    return done.stdout.decode(errors="replace").strip() or None


def main(folder: str) -> None:
    """In the child: write what is damaged, or nothing."""
    with suppress(OSError):
        os.nice(_NICE)
    sys.stdout.write(_PLACE.sub("", " ".join(read_to_end(Path(folder)).split())))


def read_to_end(folder: Path) -> str:
    """Read the store to its end; returns what is damaged, in words, or an empty string."""
    order = "the files as a whole"
    try:
        store = ox.Store.read_only(str(folder))
        order = "the index by graph and subject, or the texts"
        count, orders = _plan_lookups(store)
        for order, patterns in orders.items():
            read = sum(1 for pattern in patterns for _ in store.quads_for_pattern(*pattern))
            if read != count:
                return f"{order} holds {read} statements, and the one by graph and subject {count}"
    except (OSError, RuntimeError, ValueError, SyntaxError) as error:
        return f"{order} cannot be read: {error}"
    return ""


def _plan_lookups(store: ox.Store) -> tuple[int, dict[str, Iterable[Pattern]]]:
    """Count the quads in the order that holds each graph together, and list what is to be looked up in each of the others."""
    terms: dict[Any, Any] = {}  # one object for each: a quad brings new ones
    subjects, by_predicate, by_object = set(), set(), set()
    count = 0
    for quad in store.quads_for_pattern(None, None, None, None):
        count += 1
        graph, predicate = (terms.setdefault(term, term) for term in (quad.graph_name, quad.predicate))
        subjects.add(quad.subject)
        by_predicate.add((predicate, graph))
        by_object.add((quad.object, graph))
    return count, {
        "the index by subject": ((one, None, None, None) for one in subjects),
        "the index by predicate": ((None, one, None, None) for one in {one for one, _ in by_predicate}),
        "the index by object": ((None, None, one, None) for one in dict.fromkeys(one for one, _ in by_object)),
        "the index by graph and predicate": ((None, one, None, graph) for one, graph in by_predicate),
        "the index by graph and object": ((None, None, one, graph) for one, graph in by_object),
    }
