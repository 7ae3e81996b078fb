"""Several nodes write to one store: one wins each number, nothing is lost or done twice, and what a dead one began is finished."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pyoxigraph as ox
import pytest

from endpoints import Server
from memento.errors import GraphError, LostTurn, Unanswered
from memento.graph.store import Delta
from memento.iris import IRI, MEM
from memento.model import Change
from memento.plugins.scale import feed as module
from memento.plugins.scale.endpoint import SparqlClient
from memento.plugins.scale.feed import FEED, Entry, Told, Writing
from memento.plugins.scale.remote import RemoteStore

A = IRI("urn:memento:graph:local:a")
COUNT = f"SELECT (COUNT(*) AS ?n) WHERE {{ GRAPH <{A}> {{ ?s ?p ?o }} }}"


@pytest.fixture
def empty(server: Server) -> Server:
    server.empty()
    return server


@pytest.fixture
def pair(empty: Server) -> Iterator[tuple[RemoteStore, RemoteStore]]:
    """Two nodes that take a turn over after half a second."""
    one, two = empty.open("one", 0.5), empty.open("two", 0.5)
    yield one, two
    one.close()
    two.close()


def quad(number: int) -> tuple[IRI, IRI, str, IRI]:
    return (IRI(f"urn:{number}"), MEM.name, f"text {number}", A)


def count(server: Server) -> int:
    client = server.client()
    [row] = client.select(COUNT)
    client.close()
    return int(row["n"].value)  # type: ignore[union-attr]


def test_of_two_writes_after_the_same_number_one_is_there_and_the_other_not_at_all(
    pair: tuple[RemoteStore, RemoteStore],
) -> None:
    one, two = pair
    with one.turn:
        assert one.turn.lease
        first = Writing(adds=[ox.Quad(ox.NamedNode("urn:1"), ox.NamedNode("urn:p"), ox.Literal("1"), ox.NamedNode(A))])
        other = Writing(adds=[ox.Quad(ox.NamedNode("urn:2"), ox.NamedNode("urn:p"), ox.Literal("2"), ox.NamedNode(A))])
        one.feed.write_entry(first, 0, one.turn.lease)
        with pytest.raises(LostTurn):
            one.feed.write_entry(other, 0, one.turn.lease)
        with pytest.raises(LostTurn):
            two.feed.write_entry(other, 1, "a lease of nobody")

    assert [found.subject.value for found in two.match(graph=A)] == ["urn:1"]  # type: ignore[union-attr]
    assert two.feed.read_head().sequence == 1


def test_racing_threads_of_two_nodes_win_each_number_once_and_lose_nothing(
    empty: Server, pair: tuple[RemoteStore, RemoteStore]
) -> None:
    failed: list[Exception] = []

    def write(node: RemoteStore, first: int) -> None:
        try:
            for number in range(first, first + 15):
                node.apply(Change((quad(number),)))
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=(node, 100 * place)) for place, node in enumerate([*pair, *pair])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failed == []
    assert count(empty) == 60
    entries = pair[0].feed.list_entries(0)
    assert [entry.sequence for entry in entries] == list(range(1, 61))
    assert sorted(entry.told.subjects[0] for entry in entries) == sorted(
        f"urn:{100 * place + number}" for place in range(4) for number in range(15)
    )


_WRITER = """
import sys
from memento.plugins.scale.endpoint import SparqlClient
from memento.plugins.scale.remote import RemoteStore
from memento.iris import IRI, MEM
from memento.model import Change

store = RemoteStore(SparqlClient(sys.argv[1], sys.argv[2]), lease_s=5)
for number in range(20):
    with store.turn:  # reads, decides and writes
        [row] = store.client.select("SELECT ?n WHERE { GRAPH <urn:memento:data:a:n> { <urn:n> <urn:v> ?n } }")
        old = int(row["n"].value)
        graph = IRI("urn:memento:data:a:n")
        store.apply(Change(((IRI("urn:n"), IRI("urn:v"), old + 1, graph),), ((IRI("urn:n"), IRI("urn:v"), old, graph),)))
store.close()
"""


def test_processes_that_read_decide_and_write_count_without_a_loss(empty: Server) -> None:
    store = empty.open()
    graph = IRI("urn:memento:data:a:n")
    store.apply(Change(((IRI("urn:n"), IRI("urn:v"), 0, graph),)))
    words = [sys.executable, "-c", _WRITER, empty.query_url, empty.update_url]
    running = [subprocess.Popen(words) for _ in range(3)]
    assert [one.wait(120) for one in running] == [0, 0, 0]

    assert [value for _, _, value, _ in store.quads(graph)] == [60]
    store.close()


class Dying(SparqlClient):
    """A client of a node that dies before one of its updates."""

    left = 1_000_000

    def update(self, text: str, using: object = None, using_named: object = ()) -> None:
        self.left -= 1
        if self.left < 0:
            raise GraphError("the node has died")
        super().update(text)


LARGE = [quad(number) for number in range(5_000)]


@pytest.mark.parametrize("steps", [0, 2, 4, 5, 7, 9])
def test_a_large_write_of_a_node_that_dies_at_any_step_is_whole_or_not_there(empty: Server, steps: int) -> None:
    client = Dying(empty.query_url, empty.update_url)
    one, two = RemoteStore(client, lease_s=0.2), empty.open("two", 0.2)
    two.apply(Change((quad(9_999),)))
    one.follow_feed()
    client.left = steps
    with pytest.raises(GraphError):
        one.extend([], ())  # nothing: takes no turn
        one.apply(Change(tuple(LARGE), (quad(9_999),)))
    followed: list[Entry] = []
    two.on_follow = followed.extend
    two.apply(Change((quad(8_888),)))

    is_noted = any(entry.told.is_whole or len(entry.told.subjects) > 1_000 for entry in followed)
    names = {value for _, _, value, _ in two.quads(A)}
    everything = {f"text {number}" for number in range(5_000)}
    assert names == ({*everything, "text 8888"} if is_noted else {"text 9999", "text 8888"})
    assert is_noted or steps < 5
    assert not any(entry.journal for entry in two.feed.list_entries(0))
    two.close()


def test_a_portion_of_a_node_that_has_lost_its_turn_has_no_effect(pair: tuple[RemoteStore, RemoteStore]) -> None:
    one, two = pair
    two.apply(Change((quad(1),)))
    one.follow_feed()
    with pytest.raises(LostTurn), one.turn:  # and hangs
        time.sleep(0.7)
        two.apply(Change((quad(2),)))
        one.apply(Change((quad(3),), (quad(1),)))

    assert sorted(str(value) for _, _, value, _ in two.quads(A)) == ["text 1", "text 2"]
    one.apply(Change((quad(3),), (quad(1),)))
    assert sorted(str(value) for _, _, value, _ in two.quads(A)) == ["text 2", "text 3"]


def test_a_turn_that_is_renewed_is_not_taken_over(empty: Server) -> None:
    one, two = empty.open("one", 1.5), RemoteStore(empty.client(), node="two", lease_s=1.5, patience_s=4.0)
    with one.turn:
        stopped = threading.Event()

        def renew() -> None:
            while not stopped.wait(0.05):
                one.turn.renew()

        thread = threading.Thread(target=renew)
        thread.start()
        with pytest.raises(LostTurn, match="the node one"):
            two.apply(Change((quad(2),)))
        stopped.set()
        thread.join()
        one.apply(Change((quad(1),)))
    two.apply(Change((quad(2),)))
    one.close()
    two.close()


def test_what_others_wrote_is_followed_in_order_and_its_own_is_not(pair: tuple[RemoteStore, RemoteStore]) -> None:
    one, two = pair
    told: list[Entry] = []
    two.on_follow = told.extend
    one.apply(Change((quad(1),)))
    one.apply(Change(((quad(2)[0], MEM.to, IRI("urn:end"), A),)))
    assert two.writes == 0
    assert two.follow_feed()
    assert not two.follow_feed()
    assert [entry.told.subjects for entry in told] == [("urn:1",), ("urn:2", "urn:end")]
    assert two.writes == one.writes == 2
    two.apply(Change((quad(3),)))
    assert not two.follow_feed()
    assert len(told) == 2


def test_what_cannot_be_followed_is_tried_again_and_is_not_known_until_then(
    pair: tuple[RemoteStore, RemoteStore],
) -> None:
    one, two = pair
    one.apply(Change((quad(1),)))

    def fail(entries: object) -> None:
        raise GraphError("no embedder")

    two.on_follow = fail
    with pytest.raises(GraphError, match="no embedder"):
        two.follow_feed()
    with pytest.raises(GraphError, match="no embedder"):
        two.apply(Change((quad(2),)))
    assert two.writes == 0
    two.on_follow = lambda entries: None
    two.apply(Change((quad(2),)))
    assert two.writes == 2


def test_a_node_that_is_far_behind_is_told_that_anything_may_have_changed(
    pair: tuple[RemoteStore, RemoteStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = pair
    monkeypatch.setattr(module, "KEPT", 5)
    monkeypatch.setattr(module, "_TRIM_EVERY", 10)
    for number in range(10):
        one.apply(Change((quad(number),)))
    assert two.changes(0) == [Entry(sequence=10, token=two.changes(9)[0].token, told=Told(is_whole=True))]
    assert len(two.changes(6)) == 4


class Silent(SparqlClient):
    """A client whose updates are made, or lost, and never answered."""

    is_lost, is_silent = False, False

    def update(self, text: str, using: object = None, using_named: object = ()) -> None:
        if not (self.is_silent and self.is_lost):
            super().update(text)
        if self.is_silent:
            raise Unanswered("no answer")


def test_a_write_whose_answer_did_not_come_is_looked_for_and_not_made_twice(empty: Server) -> None:
    client = Silent(empty.query_url, empty.update_url)
    store = RemoteStore(client)
    with store.turn:
        client.is_silent = True
        store.apply(Change((quad(1),)))
        assert store.writes == 1
        client.is_lost = True
        with pytest.raises(Unanswered):
            store.apply(Change((quad(2),)))
        client.is_silent = False
    store.apply(Change((quad(3),)))
    assert sorted(str(value) for _, _, value, _ in store.quads(A)) == ["text 1", "text 3"]
    store.close()


def test_an_endpoint_that_was_put_back_to_an_earlier_state_is_looked_at_as_a_whole(
    pair: tuple[RemoteStore, RemoteStore],
) -> None:
    one, two = pair
    for number in range(3):
        one.apply(Change((quad(number),)))
    two.follow_feed()
    before = f"GRAPH <{FEED}> {{ <{FEED}> <{FEED}:head> 3 }}"
    one.client.update(f"DELETE DATA {{ {before} }} ; INSERT DATA {{ {before.replace('> 3', '> 1')} }}")
    followed: list[Entry] = []
    two.on_follow = followed.extend

    two.apply(Change((quad(7),)))
    assert [(entry.sequence, entry.told.is_whole, entry.told.graphs) for entry in followed] == [(1, True, ())]
    assert two.writes == 2


def test_a_blank_node_that_was_written_at_the_endpoint_is_read_and_not_taken_out(empty: Server) -> None:
    store = empty.open()
    store.client.update(f'INSERT DATA {{ GRAPH <{A}> {{ [] <urn:p> "theirs" }} }}')
    [found] = store.match(graph=A)
    removes = ox.serialize([found], format=ox.RdfFormat.N_QUADS) or b""
    with pytest.raises(GraphError, match="take it out there"):
        store.apply_delta(Delta(removes=removes, removed=1))
    store.close()


def test_the_graph_of_the_feed_is_no_callers(pair: tuple[RemoteStore, RemoteStore]) -> None:
    one, _ = pair
    one.apply(Change((quad(1),)))
    assert one.select("search/statements", [FEED], node=FEED) == []
    assert list(one.match(FEED)) == []
    assert one.graphs() == [A]
    with pytest.raises(GraphError, match="named graphs alone"):
        one.apply(Change(((FEED, MEM.name, "x", FEED),)))


def test_a_node_that_starts_finishes_what_a_dead_one_has_entered_last(empty: Server) -> None:
    client = Dying(empty.query_url, empty.update_url)
    one = RemoteStore(client, lease_s=0.2)
    client.left = 7
    with pytest.raises(GraphError):
        one.apply(Change(tuple(LARGE)))
    fresh = empty.open("fresh", 0.2)
    fresh.apply(Change((quad(8_888),)))

    assert len(list(fresh.quads(A))) == 5_001
    fresh.close()


class Cutting(BaseHTTPRequestHandler):
    """Stops after ten rows without a word, or midway where `fails` is asked, answers `page` with a page, and makes no update."""

    def do_POST(self) -> None:
        asked = self.rfile.read(int(self.headers["Content-Length"])).decode()
        row = '{"n":{"type":"literal","value":"1"}}'
        rows = 1 if "OFFSET" in asked else 10
        body = f'{{"head":{{"vars":["n"]}},"results":{{"bindings":[{",".join([row] * rows)}'
        body += "The operation has been cancelled" if "fails" in asked else "]}}"
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<!doctype html><p>Sign in" if "page" in asked else body.encode())

    def log_message(self, *said: object) -> None:
        """Say nothing."""


def test_an_answer_that_is_cut_off_is_an_error(empty: Server) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Cutting) as cutting:
        threading.Thread(target=cutting.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{cutting.server_port}/sparql"
        client = SparqlClient(url, url, cuts=[10])
        with pytest.raises(GraphError, match="cut its answer off after 10 rows"):
            client.select("SELECT ?n WHERE { ?s ?p ?n }")
        assert len(list(client.select("SELECT ?n WHERE { ?s ?p ?n } LIMIT 10"))) == 10
        with pytest.raises(GraphError, match="failed midway"):
            client.select("SELECT ?n WHERE { ?fails ?p ?n }")
        with pytest.raises(GraphError, match=r"SPARQL results: check store\.query_url"):
            client.select("SELECT ?n WHERE { ?page ?p ?n }")
        with pytest.raises(GraphError, match="true or false"):
            client.ask("ASK {}")
        client.close()
        empty.open().close()
        deaf = RemoteStore(SparqlClient(empty.query_url, url), patience_s=0.2)
        with pytest.raises(GraphError, match=r"does not make them: check store\.update_url"):
            deaf.apply(Change((quad(1),)))
        deaf.close()
        cutting.shutdown()
    secret = SparqlClient(empty.query_url, empty.update_url, token="a secret\n", timeout_s=0.01)
    with pytest.raises(GraphError) as raised:
        secret.update("CLEAR SILENT GRAPH <urn:nothing>")
    assert "a secret" not in str(raised.value)
