"""
The masked vectors of the memories, their grains: one of the text with the names of people replaced by a neutral word.

A question about somebody is compared with what is said, whoever it is said of: "Where does someone work?" is nearer to "someone is
a nurse in Porto" than two texts with the same name are.

*Flow:* a memory is written → `Grains.apply` notes that it has none → those that were embedded with the note are stored at once, the
others in the background (`Backends.wake_grains`), and those that a question needs before it is answered.

*But:* names are recognised by their capitals. A turn of a conversation is not masked: who speaks is known otherwise. A memory
without a grain is ranked by its own vector.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memento.ports import Vectors
from memento.search.arrays import Arrays
from memento.search.index import Context, Index, Update, register
from memento.search.names import is_everyday, read_names
from memento.search.nearest import VectorIndex
from memento.search.vectors import VectorFile
from memento.text.words import FIRST_NAMES, name_pattern

MASK = "someone"
"""
The word in place of a name. In `tests/bench/address_book.py`, the cosine with this word finds the asked fact first for .95 of the
questions; with "it" for .91, with a name such as "Alex" for .83.
"""
_USER = frozenset(("user", "the user"))


def list_grains(text: str, *, is_turn: bool) -> list[str]:
    """
    Return the text to embed for a memory besides its own: the masked one, empty if it names nobody or is a turn of a conversation.

    >>> list_grains("Ana Costa is a nurse. She likes tea.", is_turn=False), list_grains("It rains.", is_turn=False)
    (['Someone is a nurse. She likes tea.'], [''])
    """
    return ["" if is_turn else mask_subject(text)]


def mask_subject(text: str) -> str:
    """
    Return a text with the people that it names masked, or else with the first other name masked; empty if it names nobody.

    >>> mask_subject("Ana Costa moved from Lisbon to Porto."), mask_subject("Lantern uses Rust."), mask_subject("It rains.")
    ('Someone moved from Lisbon to Porto.', 'Someone uses Rust.', '')
    """
    labels = [label for label in read_names(text).spans if label not in _USER and not is_everyday(label)]
    masked = mask_names(text, choose_masked(labels))
    return "" if masked == text else masked


def choose_masked(labels: Sequence[str]) -> list[str]:
    """Return the names of people among some labels, or else the first one; a question and a memory are masked alike."""
    return find_people(labels) or [*labels[:1]]


def find_people(labels: Iterable[str]) -> list[str]:
    """
    Return the labels that begin with a first name.

    >>> find_people(["ana costa", "porto"])
    ['ana costa']
    """
    return [label for label in labels if label.split()[0].capitalize() in FIRST_NAMES]


def mask_names(text: str, labels: Collection[str]) -> str:
    """
    Return a text with each of some names, given as labels, replaced by the neutral word.

    >>> mask_names("Where does Ana Costa work?", ["ana costa"])
    'Where does someone work?'
    """
    if not labels:
        return text
    ordered = sorted(labels, key=len, reverse=True)
    names = "|".join(map(name_pattern, ordered))
    masked = re.sub(rf"(?<!\w)(?:{names})(?!\w)", MASK, text, flags=re.IGNORECASE)
    return masked[:1].upper() + masked[1:] if masked.startswith(MASK) else masked


@register
class Grains(Index):
    """The masked vector of each memory that names somebody."""

    name = "grains"

    def __init__(self, context: Context | None = None, dimensions: int | None = None) -> None:
        """
        Args:
            dimensions: length of a vector, where it differs from the context's.
        """
        super().__init__(context)
        self._shape = (dimensions or self.context.dimensions, self.context.flat, self.context.above)
        self.masked = VectorIndex(*self._shape)
        self._is_read = False  # whether the vectors are not only in the vector file
        self.pending: dict[int, None] = {}
        """The memories without grains, in the order in which they came."""

    def put(self, nodes: Sequence[int], grains: Sequence[Vectors]) -> None:
        """Add the (1, d) grains of some memories, zero where there is none."""
        some = [(node, rows) for node, rows in zip(nodes, grains, strict=True) if rows.any()]
        self.masked.put([node for node, _ in some], [rows for _, rows in some])
        for node in nodes:
            self.pending.pop(node, None)

    def apply(self, update: Update) -> None:
        for node, record in update.fresh:
            if record.kind == "memory":
                self.drop(node)
                self.pending[node] = None

    def fill(self, everything: Update) -> None:
        """Do nothing: `fill_vectors` does the work."""

    def fill_vectors(self, file: VectorFile) -> None:
        nodes = self.context.nodes
        within = nodes.within(nodes.graphs(), "memory")
        if not self._is_read:
            rows = np.empty((file.count_grains(), self._shape[0]), dtype=np.float32)
            owners = np.empty(len(rows), dtype=np.int32)
            for place, (node, _, vector) in enumerate(file.read_grains()):
                rows[place], owners[place] = vector, node
            known = owners < len(within)
            known[known] = within[owners[known]]
            some, counts = np.unique(owners[known], return_counts=True)  # the file returns them by id
            if len(some):
                self.masked.fill(some, counts, rows[known])
            self._is_read = True
        lacking = (node for node in file.list_without_grains() if node < len(within) and within[node])
        self.pending = dict.fromkeys(lacking)

    def drop(self, node: int) -> None:
        self.masked.drop(node)
        self.pending.pop(node, None)

    def arrays(self) -> Arrays:
        return self.masked.arrays()

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore from what `arrays` returned; `fill_vectors` does the rest."""
        self._is_read = "rows" in arrays or not len(arrays["nodes"])
        if "rows" in arrays:
            self.masked = VectorIndex.from_arrays(arrays, *self._shape)
