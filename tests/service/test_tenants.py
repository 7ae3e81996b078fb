"""A tenant's memory moves from one store to another while two nodes answer and write it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from wsgiref.simple_server import make_server

import pytest

from conftest import OFFLINE
from endpoints import Server, free_port
from memento.access import Access
from memento.archive import relocation
from memento.archive.check import explain_shards
from memento.archive.relocation import Differing, Move, Relocation, read_moves
from memento.backends import Backends
from memento.errors import (
    BackendError,
    Conflict,
    GraphError,
    InputError,
    Moved,
    NotFound,
    SettingsError,
    StoreAway,
    Unanswered,
)
from memento.graph.feed import FEED, ROUTES, Placement
from memento.interfaces.web.app import create_app
from memento.iris import IRI, MEM, graph_iri
from memento.model import Change, Value
from memento.operations.notes import Note
from memento.python import Client, Memento, open_memento
from memento.search.pool import Pools
from memento.service import handle
from memento.service.handlers.recall import health
from memento.settings import (
    IndexSettings,
    InferenceSettings,
    Settings,
    StoreSettings,
    check_settings,
    list_shards,
    load,
)

LEASE_S = 1.0
TENANTS = ("ada", "bob", "eve")


class Killed(BaseException):
    """Stands for the end of a process in the middle of a move."""


@dataclass
class Nodes:
    one: Memento
    two: Memento

    def of(self, tenant: str) -> tuple[Memento, Memento]:
        access = Access(tenant=tenant, right="write", name="caller")
        return self.one.with_access(access), self.two.with_access(access)


def configure(server: Server, second: Server) -> Settings:
    shards = f'{{"b": {{"query_url": "{second.query_url}", "update_url": "{second.update_url}"}}}}'
    store = StoreSettings("sparql", server.query_url, server.update_url, follow_ms=80, lease_s=LEASE_S, shards=shards)
    return replace(OFFLINE, store=store, inference=InferenceSettings(on=False))


@pytest.fixture(scope="module")
def second(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    other = Server(tmp_path_factory.mktemp("second"), free_port())
    other.start()
    yield other
    other.kill()


@pytest.fixture(scope="module")
def nodes(server: Server, second: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    server.empty()
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        patch.setattr(relocation, "FOLLOWED_S", 0.2)
        homes = [tmp_path_factory.mktemp("node") for _ in range(2)]
        opened = [open_memento(home, configured=configure(server, second)) for home in homes]
        one, two = (stack.enter_context(node) for node in opened if isinstance(node, Memento))
        found = Nodes(one, two)
        for tenant in TENANTS:
            for place, word in enumerate(WORDS):
                found.of(tenant)[place % 2].note(f"{tenant.title()} keeps the {word} in drawer {place * 7}.")
        yield found


WORDS = ["hammer", "pliers", "saw", "chisel", "ruler", "plane", "drill", "clamp"]


@pytest.fixture
def ada(nodes: Nodes) -> Iterator[tuple[Memento, Memento]]:
    """Ada's memory as both nodes have it, in the first store at the beginning of each test."""
    if nodes.one.locate_tenant("ada").moving_to:
        nodes.one.move_tenant("ada", cancel=True)
    if nodes.one.locate_tenant("ada").shard != "default":
        nodes.one.move_tenant("ada", to="default")
    yield nodes.of("ada")


def contents(memento: Memento, question: str) -> list[str]:
    return [memory.content for memory in memento.recall(question).memories]


def ask_some(memento: Memento) -> list[list[str]]:
    return [contents(memento, f"Where is the {word}?") for word in WORDS[:2]]


def wait_until(is_so: Callable[[], bool], within_s: float = 60.0) -> None:
    """Wait for a condition, for as long as a machine may take that does much else; a store that is away does not meet it."""
    until = time.monotonic() + within_s
    while True:
        with suppress(StoreAway, Unanswered):
            if is_so():
                return
        assert time.monotonic() < until, "it did not come to be in time"
        time.sleep(0.02)


def graphs_at(nodes: Nodes, shard: str, tenant: str) -> list[str]:
    graph = nodes.one.service.shards.open_shard(shard).stores.graph
    return list(map(str, graph.list_tenants().get(tenant, [])))  # type: ignore[attr-defined]


def test_a_tenant_moves_and_both_nodes_answer_as_before(nodes: Nodes, ada: tuple[Memento, Memento]) -> None:
    one, two = ada
    one.update('INSERT DATA { GRAPH <urn:memento:data:ada:tools> { <urn:t> <urn:part> [ <urn:name> "blade" ] } }')
    before = ask_some(one)
    statements = nodes.one.locate_tenant("ada").statements
    moved = nodes.one.move_tenant("ada", to="b")

    assert (moved.source, moved.target, moved.statements) == ("default", "b", statements)
    assert nodes.two.locate_tenant("ada").shard == "b"
    assert [found.tenant for found in nodes.two.list_tenants()] == ["ada", "bob", "eve"]
    assert [found.shard for found in nodes.two.list_tenants()] == ["b", "default", "default"]
    assert ask_some(one) == before == ask_some(two)
    assert "blade" in str(two.query("SELECT ?n WHERE { GRAPH ?g { ?t <urn:part> ?p . ?p <urn:name> ?n } }"))
    assert graphs_at(nodes, "default", "ada") == []
    assert not any("Ada" in text for text in contents(nodes.of("bob")[0], "What does Ada keep?"))
    for node in (nodes.one, nodes.two):
        for shard in ("default", "b"):
            stores = node.service.shards.open_shard(shard).stores
            assert not stores.indexes.check()


def test_what_was_moved_is_written_corrected_erased_and_exported_as_elsewhere(
    nodes: Nodes, ada: tuple[Memento, Memento], tmp_path: Path
) -> None:
    one, two = ada
    nodes.one.move_tenant("ada", to="b")
    noted = two.note("The spirit level is behind the yellow door.")
    wait_until(lambda: any("yellow" in text for text in contents(one, "Where is the spirit level?")))
    one.correct(noted.memories[0], "The spirit level is behind the green door.")
    two.forget(one.recall("Where is the spirit level?").memories[0].iri, erase=True)
    wait_until(lambda: not any("green" in text for text in contents(one, "Where is the spirit level?")))
    exported = one.export(tmp_path / "ada.trig", namespace="main")
    assert exported.statements
    copy = nodes.one.with_access(Access(tenant="copy", right="write"))
    nodes.one.move_tenant("copy", to="b")
    copy.import_rdf(tmp_path / "ada.trig", namespace="main")

    assert contents(copy, "Where is the chisel?") == contents(one, "Where is the chisel?") != []
    assert graphs_at(nodes, "default", "copy") == []


def test_nobody_loses_a_word_while_it_moves_there_and_back(nodes: Nodes) -> None:
    one, two = nodes.of("eve")
    bob, other_bob = nodes.of("bob")
    ended = threading.Event()
    acknowledged: list[str] = []
    empty: list[str] = []
    failed: list[BaseException] = []

    def run(step: Callable[[int], None]) -> threading.Thread:
        def go_on() -> None:
            place = 0
            try:
                while not ended.wait(0.05):
                    step(place)
                    place += 1
            except BaseException as error:
                failed.append(error)

        thread = threading.Thread(target=go_on)
        thread.start()
        return thread

    def write(node: Memento) -> Callable[[int], None]:
        def note(place: int) -> None:
            text = f"The box {place} of shelf {id(node) % 97} holds {place * 13} screws."
            assert node.note(text, idempotency_key=text).note
            acknowledged.append(text)

        return note

    def read(node: Memento) -> Callable[[int], None]:
        def ask(place: int) -> None:
            question = f"Where is the {WORDS[place % len(WORDS)]}?"
            if not contents(node, question):
                empty.append(question)

        return ask

    steps = [write(one), write(two), read(one), read(two), read(bob), read(other_bob)]
    threads = [run(step) for step in steps]
    try:
        nodes.one.move_tenant("eve", to="b")
        nodes.two.move_tenant("eve", to="default")
    finally:
        ended.set()
        for thread in threads:
            thread.join()

    assert (failed, empty) == ([], [])
    graph = nodes.one.service.stores.graph
    quads = graph.read_graph(graph_iri("eve", "main"))  # type: ignore[attr-defined]
    said = [quad.object.value for quad in quads if quad.predicate.value.endswith("content")]
    assert len(acknowledged) > 4
    assert [said.count(text) for text in acknowledged] == [2] * len(acknowledged)  # the note, and its memory


STEPS = ("copying", "level", "comparing", "cutting", "placed", "placed", "placing", "cut", "removing")


def test_a_move_that_was_killed_is_taken_back_or_goes_on_where_it_was(
    nodes: Nodes, ada: tuple[Memento, Memento], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = ask_some(ada[0])
    for place, step in enumerate(STEPS):
        source, target = ("b", "default") if place % 2 else ("default", "b")
        kill_at(nodes, step, target, monkeypatch)
        assert ask_some(ada[1]) == before, step
        if step in ("cut", "removing"):
            with pytest.raises(Conflict, match="already"):
                nodes.two.move_tenant("ada", cancel=True)
        elif target == "b" and step in ("copying", "placed"):
            assert nodes.two.move_tenant("ada", cancel=True).cancelled
            assert ask_some(ada[1]) == before, step
            assert graphs_at(nodes, target, "ada") == []
            assert nodes.one.locate_tenant("ada").shard == source
            with pytest.raises(NotFound):
                nodes.one.move_tenant("ada", cancel=True)
            kill_at(nodes, step, target, monkeypatch)
        if is_closed := step == "placed" and target == "default":  # till then nobody writes to either
            with pytest.raises(Moved):
                ada[1].note("The lamp is lost.")
            moved = nodes.two.move_tenant("ada", to=target)
        assert ada[place % 2].note(f"The lamp number {place} was mended by {step.title()}.").note
        moved = moved if is_closed else nodes.two.move_tenant("ada", to=target)

        assert (moved.source, moved.target) == (source, target)
        assert nodes.one.locate_tenant("ada").moving_to is None
        assert graphs_at(nodes, source, "ada") == []
        lamp = f"Who mended the lamp number {place}?"
        wait_until(lambda lamp=lamp, place=place: f"number {place} " in str(contents(ada[0], lamp)))  # type: ignore[misc]
        before = ask_some(ada[0])


def kill_at(nodes: Nodes, step: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the first node begin to move Ada, and die at a step."""

    def fail(self: Relocation, at: str) -> None:
        if at == step:
            raise Killed(step)

    with monkeypatch.context() as killing:
        killing.setattr(Relocation, "begin_step", fail)
        with pytest.raises(Killed):
            nodes.one.move_tenant("ada", to=target)


def test_a_mover_that_says_nothing_any_more_is_followed_by_another_and_one_that_does_is_not(
    nodes: Nodes, ada: tuple[Memento, Memento]
) -> None:
    feed = nodes.one.service.stores.graph.feed  # type: ignore[attr-defined]
    dead = Move(source="default", target="b", mover="somebody", holder="elsewhere:1")
    assert feed.swap_move("ada", "", dead.pack())
    with pytest.raises(Conflict, match="to 'b'"):
        nodes.one.move_tenant("ada", to="default")
    ended = threading.Event()

    def live() -> None:
        known, beat = dead, 0
        while not ended.wait(0.05):
            beat += 1
            following = replace(dead, beat=beat)
            assert feed.swap_move("ada", known.pack(), following.pack())
            known = following

    thread = threading.Thread(target=live)
    thread.start()
    with pytest.raises(Conflict, match="elsewhere:1"):
        nodes.one.move_tenant("ada", to="b")
    ended.set()
    thread.join()

    assert nodes.two.move_tenant("ada", to="b").target == "b"


def test_where_the_two_differ_the_tenant_stays_and_the_copy_goes(
    nodes: Nodes, ada: tuple[Memento, Memento], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, transfer = ask_some(ada[0]), Backends.transfer
    with monkeypatch.context() as losing:
        losing.setattr(Backends, "transfer", lambda self, removes, adds: transfer(self, removes, adds[:-1]))
        with pytest.raises(Differing, match=r"urn:memento:.*:ada"):
            nodes.one.move_tenant("ada", to="b")

    assert ask_some(ada[0]) == before == ask_some(ada[1])
    assert graphs_at(nodes, "b", "ada") == []
    assert read_moves(nodes.one.service.stores) == {}


def test_a_write_that_was_decided_at_the_old_store_is_made_at_the_new_one(
    nodes: Nodes, ada: tuple[Memento, Memento]
) -> None:
    old = ada[1].context  # a call that began before
    nodes.one.move_tenant("ada", to="b")
    answer = handle(Note("The paint is in the shed of Otto."), old)
    assert answer.note
    assert any("Otto" in text for text in contents(ada[1], "Where is the paint?"))
    assert graphs_at(nodes, "default", "ada") == []
    with pytest.raises(Moved), old.service.writing:
        late = (IRI("urn:memento:memory:1"), MEM.content, "late", graph_iri("ada", "main"))
        old.service.stores.graph.apply(Change((late,)))


def test_a_store_that_the_settings_do_not_name_concerns_its_tenants_alone(
    nodes: Nodes, ada: tuple[Memento, Memento], server: Server, second: Server, tmp_path: Path
) -> None:
    with pytest.raises(NotFound, match=r"no store 'c'.*default, b"):
        nodes.one.move_tenant("ada", to="c")
    nodes.one.move_tenant("ada", to="b")
    settings = configure(server, second)
    alone = replace(settings, store=replace(settings.store, shards=""))
    with open_memento(tmp_path / "alone", configured=alone) as third:
        assert isinstance(third, Memento)
        assert contents(third.with_access(Access(tenant="bob")), "Where is the saw?")
        with pytest.raises(
            GraphError, match=r"no store 'b'.*\[store.shards.b\].*alone/memento.toml, as on the node where.*moved$"
        ):
            third.with_access(Access(tenant="ada")).recall("Where is the saw?")


def test_one_process_does_not_answer_for_a_tenant_that_left_while_workers_served_the_folder(tmp_path: Path) -> None:
    with open_memento(tmp_path / "home", configured=OFFLINE) as memento:
        assert isinstance(memento, Memento)
        node = IRI(f"{FEED}:routes:ada")
        said: dict[str, Value] = {"tenant": "ada", "shard": "c", "since": 5}
        memento.service.stores.graph.apply(
            Change(tuple((node, IRI(f"{FEED}:{key}"), is_, ROUTES) for key, is_ in said.items()))
        )
    with open_memento(tmp_path / "home", configured=OFFLINE) as memento:
        assert isinstance(memento, Memento)
        ada = memento.with_access(Access(tenant="ada", right="write", name="caller"))
        with pytest.raises(
            GraphError, match=r"no store 'c'.*\[store.shards.c\] with query_url.*memento.toml.*--workers"
        ):
            ada.recall("Where is the saw?")
        with pytest.raises(GraphError, match=r"no store 'c'"):
            ada.note("The saw is in the shed.")
        memento.note("The rasp is in the shed.")


def test_a_store_has_one_name(
    nodes: Nodes, ada: tuple[Memento, Memento], server: Server, second: Server, tmp_path: Path
) -> None:
    """Otherwise taking back a move from a store to itself would delete the tenant."""
    settings = configure(server, second)
    shards = settings.store.shards.replace(second.query_url, server.query_url.replace("127.0.0.1", "localhost"))
    shards = shards.replace(second.update_url, server.update_url.replace("127.0.0.1", "localhost"))
    wrong = replace(settings, store=replace(settings.store, shards=shards))
    with open_memento(tmp_path / "wrong", configured=wrong) as third:
        assert isinstance(third, Memento)
        with pytest.raises(GraphError, match="'default' and 'b' of the settings are one and the same"):
            third.move_tenant("ada", to="b")
        assert not third.locate_tenant("ada").moving_to
        nodes.one.move_tenant("ada", to="b")
        with pytest.raises(GraphError, match="one and the same"):
            third.with_access(Access(tenant="ada", right="write")).note("The rasp is on the shelf.")
    assert contents(ada[0], "Where is the saw?")


def test_a_name_has_one_store(
    nodes: Nodes, ada: tuple[Memento, Memento], server: Server, second: Server, tmp_path: Path
) -> None:
    """Otherwise a tenant would be in two places, as two nodes see it."""
    nodes.one.move_tenant("ada", to="b")
    settings = configure(server, second)
    third = Server(tmp_path / "third", free_port())
    third.start()
    shards = settings.store.shards.replace(second.query_url, third.query_url)
    shards = shards.replace(second.update_url, third.update_url)
    wrong = replace(settings, store=replace(settings.store, shards=shards))
    try:
        with open_memento(tmp_path / "wrong", configured=wrong) as other:
            assert isinstance(other, Memento)
            there = other.with_access(Access(tenant="ada", right="write", name="caller"))
            with pytest.raises(GraphError, match=r"store\.shards\.b is not the one that was first opened"):
                there.note("The rasp is in the cellar.")
            with pytest.raises(GraphError, match=r"store\.shards\.b is not the one that was first opened"):
                there.recall("Where is the hammer?")
    finally:
        third.kill()
    nodes.one.move_tenant("ada", to="default")


def test_only_who_cares_for_the_whole_memory_may_move_and_look(nodes: Nodes, ada: tuple[Memento, Memento]) -> None:
    admin = nodes.one.with_access(Access(tenant="ada", right="admin"))
    for asked in (lambda: admin.move_tenant("ada", to="b"), admin.list_tenants, lambda: admin.locate_tenant("bob")):
        with pytest.raises(Exception, match="takes a token of the tenant 'local'"):
            asked()


@pytest.mark.parametrize("tenant", ["", "  "])
def test_a_tenant_without_a_name_is_refused(memento: Memento, tenant: str) -> None:
    with pytest.raises(InputError, match=r"^tenant must not be empty"):
        memento.locate_tenant(tenant)
    with pytest.raises(InputError, match=r"^tenant must not be empty"):
        memento.move_tenant(tenant, to="b")


def test_the_shards_of_settings_are_tables_of_addresses(tmp_path: Path) -> None:
    file = tmp_path / "memento.toml"
    file.write_text(
        '[store]\nkind = "sparql"\nquery_url = "http://a/query"\nupdate_url = "http://a/update"\ntimeout_s = 9\n'
        '[store.shards.b]\nquery_url = "http://b/query"\nupdate_url = "http://b/update"\ntoken = "{env:B_TOKEN}"\n'
    )
    found = list_shards(load(file, {"B_TOKEN": "hidden"}))["b"]

    assert (found.store.query_url, found.store.token, found.store.timeout_s) == ("http://b/query", "hidden", 9)
    for said, why in (
        ('{"b": {"url": "http://b"}}', "unknown setting url"),
        ('{"default": {"query_url": "http://b/q", "update_url": "http://b/u"}}', "other than default"),
        ('{"b": {"query_url": "http://b/q"}}', "shards.b.update_url"),
        ('{"b": {"query_url": "b/query"}}', "must be an address such as http://localhost:7878/query"),
        ('{"b": {"query_url": "http://u:p@b/query"}}', "must hold no password, .*; a key belongs into token"),
        ('{"b": 1}', "must be a table"),
        (
            '{"b": {"query_url": "http://b/q", "update_url": "http://b/u"}, "c": {"query_url": "http://b/q", "update_url": "http://c/u"}}',
            r"shards.b.query_url of \[store\] must be the address of another store than that of c",
        ),
    ):
        with pytest.raises(SettingsError, match=why):
            check_settings(replace(OFFLINE, store=StoreSettings(shards=said)))


def test_engines_of_the_index_have_what_came_and_nothing_of_what_left(
    server: Server, second: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("lancedb", reason="pip install 'memento-rdf[lance]'")
    monkeypatch.setattr(relocation, "FOLLOWED_S", 0.1)
    settings = configure(server, second)
    said = settings.store.shards.replace('"update_url"', f'"index_uri": "{tmp_path / "second"}", "update_url"')
    index = IndexSettings(kind="lance", uri=str(tmp_path / "first"))
    settings = replace(settings, store=replace(settings.store, shards=said), index=index)
    with open_memento(tmp_path / "home", configured=settings) as node:
        assert isinstance(node, Memento)
        zoe = node.with_access(Access(tenant="zoe", right="write"))
        zoe.note("The kiln is behind the bakery.")
        before = contents(zoe, "Where is the kiln?")
        node.move_tenant("zoe", to="b")

        assert contents(zoe, "Where is the kiln?") == before != []
        zoe.note("The wheel is beside the kiln.")
        assert any("wheel" in text for text in contents(zoe, "Where is the wheel?"))
        for name, is_there in (("default", False), ("b", True)):
            pools = node.service.shards.open_shard(name).stores.indexes
            assert isinstance(pools, Pools)
            found = pools.engine.records(None, [graph_iri("zoe", "main")])
            assert bool(found) == is_there


def test_a_store_that_is_away_concerns_its_tenants_alone(
    nodes: Nodes, ada: tuple[Memento, Memento], second: Server
) -> None:
    nodes.one.move_tenant("ada", to="b")
    before = ask_some(ada[0])
    second.kill()
    try:
        assert contents(nodes.of("bob")[0], "Where is the saw?")
        with pytest.raises(BackendError):
            ada[0].note("The attic is dry.")
        assert {one.tenant: one.shard for one in nodes.one.list_tenants()}["ada"] == "b"
        wait_until(lambda: health(nodes.one.context, {}).shards == {"default": "ok", "b": "failing"})
        with make_server("127.0.0.1", 0, create_app(nodes.one.service)) as web:
            nodes.one.service.stores.warm = True
            threading.Thread(target=web.serve_forever, daemon=True).start()
            [finding] = explain_shards(Client(f"http://127.0.0.1:{web.server_port}").list_shards())
            web.shutdown()
        assert (finding.kind, finding.found) == ("shard-away", "the store b does not answer")
    finally:
        second.start()
    wait_until(lambda: ask_some(ada[0]) == before)
    placements = nodes.one.service.stores.list_placements()
    assert placements["ada"] == Placement(shard="b", since=placements["ada"].since)
