"""Two nodes over one store and one engine: what one has written the other finds, and nobody's death leaves the engine behind."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from shutil import copytree, rmtree
from typing import Any

import pytest

from conftest import OFFLINE
from endpoints import Server, free_port
from memento.errors import EngineError, GraphError, MementoError
from memento.plugins.scale.databases import Lance
from memento.plugins.scale.node import Node
from memento.plugins.scale.settings import IndexSettings, StoreSettings
from memento.python import Memento, open_memento

pytest.importorskip("lancedb", reason="pip install 'memento-rdf[lance]'")


def open_node(server: Server, home: Path, engine: Path) -> Memento:
    store = StoreSettings("sparql", server.query_url, server.update_url)
    settings = replace(OFFLINE, store=store, index=IndexSettings(kind="lance", uri=str(engine)))
    opened = open_memento(home, configured=settings)
    assert isinstance(opened, Memento)
    return opened


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("nodes")


@pytest.fixture(scope="module")
def nodes(server: Server, folder: Path) -> Iterator[tuple[Memento, Memento]]:
    server.empty()
    with ExitStack() as stack:
        one, two = (stack.enter_context(open_node(server, folder / name, folder / "engine")) for name in ("a", "b"))
        yield one, two


def knows(node: Memento, question: str, word: str) -> bool:
    return any(word in one.content for one in node.recall(question).memories)


def wait_until_known(node: Memento, question: str, word: str, within_s: float = 60.0) -> None:
    until = time.monotonic() + within_s
    while not knows(node, question, word):
        assert time.monotonic() < until, "it did not come to be known in time"
        time.sleep(0.05)


def test_what_one_node_notes_the_other_recalls_and_what_it_forgets_goes(nodes: tuple[Memento, Memento]) -> None:
    one, two = nodes
    noted = one.note("The otter's name is Pemberton.")
    wait_until_known(two, "What is the otter's name?", "Pemberton")
    two.note("My locker is number 51.")
    assert knows(one, "Which locker is mine?", "51")
    one.forget(noted.memories[0])
    assert not knows(two, "What is the otter's name?", "Pemberton")
    assert two.admin.check() == ()


def test_two_notes_about_one_slot_leave_the_latest(nodes: tuple[Memento, Memento]) -> None:
    one, two = nodes
    one.note("I live in Bergen.", at="2026-01-01")
    two.note("I moved to Graz.", at="2026-02-01")
    held = [memory.content for memory in one.recall("Where do I live?").memories if memory.invalid_at is None]
    assert "I moved to Graz." in held
    assert "I live in Bergen." not in held


def test_a_node_that_starts_later_embeds_nothing(
    nodes: tuple[Memento, Memento], server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> int:
        raise AssertionError("everything was put into the engine once more")

    nodes[0].note("My locker is number 51.")
    monkeypatch.setattr(Node, "rebuild_indexes", refuse)
    with open_node(server, folder / "c", folder / "engine") as late:
        assert knows(late, "Which locker is mine?", "51")


def test_an_engine_that_is_of_another_store_or_embedder_is_filled_again_and_the_log_says_so(
    nodes: tuple[Memento, Memento], server: Server, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    nodes[0].note("My locker is number 51.")
    engine = Lance(str(folder / "engine"), None, 256)
    owner = engine.owner
    assert owner.endswith(nodes[0].service.stores.embedder.fingerprint)
    engine.put([], owner="another")
    with open_node(server, folder / "d", folder / "engine") as late:
        assert engine.owner == owner
        assert knows(late, "Which locker is mine?", "51")
    assert "engine.foreign" in caplog.text


def fail_to_put(node: Memento, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise EngineError("it is away")

    monkeypatch.setattr(node.service.stores.indexes.engine, "put", refuse)  # type: ignore[attr-defined]


def test_what_the_engine_did_not_take_it_gets_with_the_next_write(
    nodes: tuple[Memento, Memento], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = nodes
    with monkeypatch.context() as broken:
        fail_to_put(one, broken)
        with pytest.raises(EngineError):
            one.note("The spare key hangs behind the boiler.")
    one.note("The bins go out on Thursdays.")
    assert knows(two, "Where is the spare key?", "boiler")
    assert one.admin.check() == ()


def test_what_a_node_that_died_has_not_put_another_one_puts_without_being_asked(
    nodes: tuple[Memento, Memento], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = nodes
    fail_to_put(one, monkeypatch)
    with pytest.raises(EngineError):
        one.note("The ladder is at number nine.")
    wait_until_known(two, "Where is the ladder?", "nine")


def test_a_store_that_was_put_back_to_an_earlier_state_is_noticed_and_the_engine_follows(
    tmp_path: Path,
) -> None:
    own = Server(tmp_path / "store", free_port())
    own.start()
    try:
        with (
            open_node(own, tmp_path / "a", tmp_path / "engine") as one,
            open_node(own, tmp_path / "b", tmp_path / "engine") as two,
        ):
            one.note("The kettle is blue.")
            own.kill()
            copytree(own.folder, tmp_path / "backup")
            own.start()
            wait_until_known(two, "What is the kettle?", "blue")
            two.note("The toaster is red.")
            own.kill()
            rmtree(own.folder)
            copytree(tmp_path / "backup", own.folder)
            own.start()
            wait_until_settled(one)
            assert not knows(one, "What is the toaster?", "red")
            one.note("The pan is green.")
            wait_until_settled(two)
            assert (knows(two, "What is the kettle?", "blue"), knows(two, "What is the pan?", "green")) == (True, True)
            assert one.admin.check() == ()

            own.empty()
            with pytest.raises(GraphError, match="emptied"):
                two.note("The cup is white.")
            with open_node(own, tmp_path / "c", tmp_path / "engine") as third:
                wait_until_settled(two)
                two.note("The jug is white.")
                wait_until_settled(third)
                assert not knows(third, "What is the kettle?", "blue")
                assert third.admin.check() == ()
    finally:
        own.kill()


def wait_until_settled(node: Memento, within_s: float = 60.0) -> None:
    """Wait until a node knows what the store has, and their engine has it."""
    stores, until = node.service.stores, time.monotonic() + within_s
    assert isinstance(stores, Node)
    while True:
        with suppress(MementoError):
            node.list(limit=1)
            head = stores.shared.system.read_head()
            if head.is_at(stores.shared.head) and not head.debts and not stores.pools.is_foreign:
                return
        assert time.monotonic() < until, "it did not settle in time"
        time.sleep(0.05)
