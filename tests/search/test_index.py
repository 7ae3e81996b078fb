"""An index is registered once: with its line everything follows it, without it everything goes on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from numpy.typing import NDArray

from memento.iris import MEM
from memento.python import Memento, open_memento
from memento.search import cache, index
from memento.search.arrays import Arrays, pack_strings, unpack_strings
from memento.search.attributes import Fadings, Numbers
from memento.search.index import Context, Index, Update, find_registered, register
from memento.search.indexes import Indexes
from memento.search.labels import Labels
from memento.settings import EmbeddingSettings, Settings

SETTINGS = Settings(embedding=EmbeddingSettings(model="trigram", cache=False))
NAMES = [kind.name for kind in find_registered()]


@pytest.fixture(autouse=True)
def _few_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "FEWEST", 1)


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[type[Index]]]:
    """The registry, put back when the test ends."""
    kinds = list(find_registered())
    monkeypatch.setattr(index, "_registered", kinds)
    find_registered.cache_clear()
    yield kinds
    monkeypatch.undo()
    find_registered.cache_clear()


def opened(home: Path) -> Memento:
    memento = open_memento(home, configured=SETTINGS)
    assert isinstance(memento, Memento)
    return memento


def use(memento: Memento) -> None:
    """Write, ask, change and forget, so that every index is asked to follow."""
    memento.note("I work at Google.")
    memento.note("Ada Byron is a poet.")
    memento.note("Did you see the whale?", speaker="Ana", session="one", position=1)
    [first, *_] = memento.note("My dog is called Rex.").memories
    memento.note("I joined Microsoft.")
    memento.keys.remember("Lisbon has seven hills", keys=["hills"])
    memento.living.associate(first, memento.list()[-1].iri)
    memento.forget(first)
    memento.recall("Where do I work?", gate=False)


def test_the_indexes_are_those_that_are_registered() -> None:
    expected = "adjacency associations claims fadings grains keys labels links numbers passages sorting successions"

    assert " ".join(NAMES) == f"{expected} vectors words"


@pytest.mark.parametrize("name", NAMES)
def test_all_goes_on_without_an_index_that_is_not_registered(
    tmp_path: Path, registry: list[type[Index]], name: str
) -> None:
    registry[:] = [kind for kind in registry if kind.name != name]
    with opened(tmp_path / "home") as memento:
        use(memento)
        assert name not in [one.name for one in memento.service.stores.indexes]
        assert memento.admin.check() == ()
    with opened(tmp_path / "home") as memento:  # from what was kept
        assert memento.admin.check() == ()
        memento.recall("Where do I work?", gate=False)
        memento.admin.rebuild()
        assert memento.admin.check() == ()


class Lengths(Index):
    """How many letters the text of a memory has."""

    name = "lengths"
    reads = frozenset({MEM.title})

    def __init__(self, context: Context | None = None) -> None:
        super().__init__(context)
        self.of: dict[str, int] = {}

    def apply(self, update: Update) -> None:
        self.of |= {one.iri: len(one.first(MEM.content)) for _, one in update.nodes if one.kind == "memory"}

    def drop(self, node: int) -> None:
        self.of.pop(self.context.nodes.iri(node), None)

    def arrays(self) -> Arrays:
        return pack_strings([f"{iri} {length}" for iri, length in self.of.items()])

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        rows = (row.split(" ") for row in unpack_strings(arrays))
        self.of = {iri: int(length) for iri, length in rows}


def test_an_index_that_registers_is_filled_follows_writes_and_is_kept(
    tmp_path: Path, registry: list[type[Index]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path / "home") as memento:
        use(memento)
    register(Lengths)
    with opened(tmp_path / "home") as memento:
        lengths = memento.service.stores.indexes[Lengths].of
        listed = {one.iri: len(one.content) for one in memento.list()}
        assert listed and listed.items() <= lengths.items()
        [iri] = memento.note("I drink tea.").memories
        assert lengths[iri] == len("I drink tea.")
        memento.forget(iri, erase=True)
        assert iri not in lengths
    with opened(tmp_path / "home"):
        pass
    monkeypatch.setattr(Indexes, "reconcile", None)  # whoever reads the graph now fails
    with opened(tmp_path / "home") as memento:
        assert memento.service.stores.indexes[Lengths].of == lengths


def test_what_was_kept_for_other_indexes_is_not_used(
    tmp_path: Path, registry: list[type[Index]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path / "home") as memento:
        use(memento)
    monkeypatch.setattr(Numbers, "version", 99)
    with opened(tmp_path / "home") as memento:
        assert memento.admin.check() == ()
        assert memento.recall("Where do I work?", gate=False).memories
    registry.remove(Fadings)
    with opened(tmp_path / "home") as memento:
        assert memento.admin.check() == ()


def test_check_names_an_index_that_lacks_a_node(tmp_path: Path) -> None:
    with opened(tmp_path / "home") as memento:
        use(memento)
        indexes = memento.service.stores.indexes
        labels = indexes[Labels]
        [node] = labels.find_exact("Google", indexes.nodes.graphs())
        labels.drop(node)
        [difference] = memento.admin.check()

    assert (difference.what, difference.iri) == ("not-indexed", indexes.nodes.iri(node))
    assert "`labels`" in difference.detail
