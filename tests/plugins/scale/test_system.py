"""Several nodes write to one store: one wins each number, nothing is lost or done twice, and each learns of the others."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pyoxigraph as ox
import pytest

from endpoints import Server
from memento.errors import GraphError, LostTurn, Unanswered
from memento.graph.store import Delta
from memento.iris import IRI, MEM
from memento.model import Change
from memento.plugins.scale import system as module
from memento.plugins.scale.endpoint import SparqlClient
from memento.plugins.scale.remote import RemoteStore
from memento.plugins.scale.system import SYSTEM, Head, Writing

A = IRI("urn:memento:graph:local:a")
COUNT = f"SELECT (COUNT(*) AS ?n) WHERE {{ GRAPH <{A}> {{ ?s ?p ?o }} }}"


@pytest.fixture
def empty(server: Server) -> Server:
    server.empty()
    return server


@pytest.fixture
def pair(empty: Server) -> Iterator[tuple[RemoteStore, RemoteStore]]:
    one, two = empty.open(), empty.open()
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


def texts(store: RemoteStore) -> list[str]:
    return sorted(str(value) for _, _, value, _ in store.quads(A))


class Told:
    """Notes what a node is told of the writes of others."""

    def __init__(self) -> None:
        self.numbers: list[int] = []

    def __call__(self, known: Head, head: Head) -> None:
        self.numbers.append(head.number)


def test_of_two_writes_after_the_same_number_one_is_there_and_the_other_not_at_all(
    pair: tuple[RemoteStore, RemoteStore],
) -> None:
    one, two = pair
    first, other = (
        Writing(adds=[ox.Quad(ox.NamedNode(f"urn:{n}"), ox.NamedNode("urn:p"), ox.Literal(n), ox.NamedNode(A))])
        for n in "12"
    )
    head = one.system.read_head()
    one.system.write(first, head)
    with pytest.raises(LostTurn):
        two.system.write(other, head)

    assert [found.subject.value for found in two.match(graph=A)] == ["urn:1"]  # type: ignore[union-attr]
    assert two.system.read_head().number == 1


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
    assert count(empty) == pair[0].system.read_head().number == 60


_WRITER = """
import sys
from memento.errors import LostTurn
from memento.plugins.scale.endpoint import SparqlClient
from memento.plugins.scale.remote import RemoteStore
from memento.iris import IRI, MEM
from memento.model import Change

store = RemoteStore(SparqlClient(sys.argv[1], sys.argv[2]))
done = 0
while done < 20:
    store.refresh(lambda known, head: None)  # reads, decides and writes
    with store.attempt():
        [row] = store.client.select("SELECT ?n WHERE { GRAPH <urn:memento:data:a:n> { <urn:n> <urn:v> ?n } }")
        old = int(row["n"].value)
        graph = IRI("urn:memento:data:a:n")
        change = Change(((IRI("urn:n"), IRI("urn:v"), old + 1, graph),), ((IRI("urn:n"), IRI("urn:v"), old, graph),))
        try:
            store.apply(change)
            done += 1
        except LostTurn:
            continue
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


@pytest.mark.parametrize("steps", [0, 1])
@pytest.mark.parametrize("is_cleared", [False, True])
def test_a_large_write_is_one_update_of_the_endpoint(empty: Server, steps: int, is_cleared: bool) -> None:
    client = Dying(empty.query_url, empty.update_url)
    one, two = RemoteStore(client), empty.open()
    two.apply(Change((quad(9_999),)))
    one.refresh(lambda known, head: None)
    client.left = steps
    try:
        if is_cleared:
            adds = "".join(f"<{s}> <{p}> {ox.Literal(str(o))} <{g}> .\n" for s, p, o, g in LARGE).encode()
            one.apply_delta(Delta(adds=adds, cleared=(A,)))
        else:
            one.apply(Change(tuple(LARGE), (quad(9_999),)))
    except GraphError:
        assert not steps

    assert texts(two) == (sorted(f"text {number}" for number in range(5_000)) if steps else ["text 9999"])
    assert (len(two.system.read_owed(two.system.read_head().debts)[0]) > 1) == bool(steps)
    two.close()


def test_an_operation_begins_only_after_what_it_has_seen_and_goes_on_while_what_it_removes_is_there(
    pair: tuple[RemoteStore, RemoteStore],
) -> None:
    one, two = pair
    told = Told()
    one.apply(Change((quad(1), quad(2), quad(3))))
    two.refresh(told)
    one.apply(Change((quad(4),)))
    with two.attempt() as has_written:
        with pytest.raises(LostTurn):
            two.apply(Change((quad(5),)))
        assert not has_written()
        two.refresh(told)
        two.apply(Change((quad(5),)))
        one.refresh(told)
        one.apply(Change((), (quad(1),)))
        two.apply(Change((quad(6),), (quad(2),)))
        one.refresh(told)
        one.apply(Change((quad(7),)))
        with pytest.raises(LostTurn, match="the same"):
            two.apply(Change((quad(8),), (quad(1),)))
        assert has_written()
    assert texts(one) == [f"text {number}" for number in (3, 4, 5, 6, 7)]
    told.numbers.clear()
    two.refresh(told)
    assert told.numbers == [6]  # though it wrote after most of them


def test_a_node_is_told_that_others_have_written_and_not_of_its_own(pair: tuple[RemoteStore, RemoteStore]) -> None:
    one, two = pair
    told = Told()
    one.apply(Change((quad(1),)))
    one.apply(Change((quad(2),)))
    assert two.writes == 0
    two.refresh(told)
    two.refresh(told)
    assert told.numbers == [2] and two.writes == one.writes == 2
    two.apply(Change((quad(3),)))
    two.refresh(told)
    assert told.numbers == [2]


def test_what_could_not_be_dropped_is_not_known_until_it_is(pair: tuple[RemoteStore, RemoteStore]) -> None:
    one, two = pair
    one.apply(Change((quad(1),)))

    def fail(known: Head, head: Head) -> None:
        raise GraphError("no embedder")

    with pytest.raises(GraphError, match="no embedder"):
        two.refresh(fail)
    assert two.writes == 0
    two.refresh(Told())
    assert two.writes == 1


def test_the_tokens_of_old_writes_go(pair: tuple[RemoteStore, RemoteStore], monkeypatch: pytest.MonkeyPatch) -> None:
    one, _ = pair
    monkeypatch.setattr(module, "_KEPT", 5)
    monkeypatch.setattr(module, "_TRIM_EVERY", 10)
    for number in range(10):
        one.apply(Change((quad(number),)))
    [row] = one.client.select(f"SELECT (COUNT(?n) AS ?c) {{ GRAPH <{SYSTEM}> {{ ?write <{SYSTEM}:number> ?n }} }}")
    assert int(row["c"].value) == 6  # type: ignore[union-attr]


def test_what_the_engine_does_not_have_yet_is_in_the_store(pair: tuple[RemoteStore, RemoteStore]) -> None:
    one, two = pair
    one.apply(Change((quad(1), (IRI("urn:2"), MEM.to, IRI("urn:end"), A))))
    one.apply(Change(((IRI("urn:3"), MEM.name, "not indexed", IRI("urn:memento:data:local:x")),)))
    debts = two.system.read_head().debts
    nodes, graphs = two.system.read_owed(debts)
    assert (sorted(nodes), graphs) == (["urn:1", "urn:2", "urn:end"], [A])
    two.system.forgive(debts, [IRI("urn:1"), IRI("urn:2")])
    assert two.system.read_owed(debts)[0] == ["urn:end"]
    two.system.forgive(debts)
    assert one.system.read_head().debts == frozenset()
    one.system.owe("more", [IRI("urn:4")], [A])
    assert two.system.read_owed(two.system.read_head().debts) == (["urn:4"], [A])


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
    client.is_silent = True
    store.apply(Change((quad(1),)))
    assert store.writes == 1
    client.is_lost = True
    with pytest.raises(Unanswered):
        store.apply(Change((quad(2),)))
    client.is_silent = False
    store.apply(Change((quad(3),)))
    assert texts(store) == ["text 1", "text 3"]
    store.close()


@pytest.mark.parametrize("is_written", [False, True])
def test_an_endpoint_that_was_put_back_to_an_earlier_state_is_noticed(
    pair: tuple[RemoteStore, RemoteStore], is_written: bool
) -> None:
    one, two = pair
    one.apply(Change((quad(1),)))
    before = one.head
    for number in (2, 3):
        one.apply(Change((quad(number),)))
    two.refresh(Told())
    old, new = (
        f"GRAPH <{SYSTEM}> {{ <{SYSTEM}> <{SYSTEM}:number> {head.number} ; <{SYSTEM}:token> '{head.token}' }}"
        for head in (one.head, before)
    )
    later = (
        f"DELETE {{ GRAPH <{SYSTEM}> {{ ?w ?p ?o }} }} WHERE {{ GRAPH <{SYSTEM}> {{ ?w <{SYSTEM}:number> ?n ; ?p ?o }} "
    )
    later += f"FILTER (?w != <{SYSTEM}> && ?n > 1) }}"
    one.client.update(f"DELETE DATA {{ {old} }} ; INSERT DATA {{ {new} }} ; {later}")
    other = RemoteStore(one.client)
    for number in range(2 * is_written):
        other.apply(Change((quad(7 + number),)))
    told = Told()
    assert not two.system.is_after(two.system.read_head(), two.head)
    assert two.system.is_after(two.system.read_head(), before)
    two.refresh(told)
    assert told.numbers == [3 if is_written else 1]
    two.apply(Change((quad(9),)))
    assert two.writes == told.numbers[0] + 1


def test_what_an_earlier_version_kept_in_the_system_graph_goes(empty: Server) -> None:
    client = empty.client()
    client.update(f'INSERT DATA {{ GRAPH <{SYSTEM}> {{ <{SYSTEM}> <{SYSTEM}:head> 7 ; <{SYSTEM}:lease> "" }} }}')
    store = RemoteStore(client)
    assert store.writes == 0
    [row] = client.select(f"SELECT (COUNT(*) AS ?n) {{ GRAPH <{SYSTEM}> {{ ?s ?p ?o }} }}")
    assert int(row["n"].value) == 4  # type: ignore[union-attr]
    store.close()


def test_a_blank_node_that_was_written_at_the_endpoint_is_read_and_not_taken_out(empty: Server) -> None:
    store = empty.open()
    store.client.update(f'INSERT DATA {{ GRAPH <{A}> {{ [] <urn:p> "theirs" }} }}')
    [found] = store.match(graph=A)
    removes = ox.serialize([found], format=ox.RdfFormat.N_QUADS) or b""
    with pytest.raises(GraphError, match="take it out there"):
        store.apply_delta(Delta(removes=removes, removed=1))
    store.close()


def test_the_system_graph_is_no_callers(pair: tuple[RemoteStore, RemoteStore]) -> None:
    one, _ = pair
    one.apply(Change((quad(1),)))
    assert one.select("search/statements", [SYSTEM], node=SYSTEM) == []
    assert list(one.match(SYSTEM)) == []
    assert one.graphs() == [A]
    with pytest.raises(GraphError, match="named graphs alone"):
        one.apply(Change(((SYSTEM, MEM.name, "x", SYSTEM),)))


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
        deaf = RemoteStore(SparqlClient(empty.query_url, url))
        with pytest.raises(GraphError, match=r"does not make them: check store\.update_url"):
            deaf.apply(Change((quad(1),)))
        deaf.close()
        cutting.shutdown()
    secret = SparqlClient(empty.query_url, empty.update_url, token="a secret\n", timeout_s=0.01)
    with pytest.raises(GraphError) as raised:
        secret.update("CLEAR SILENT GRAPH <urn:nothing>")
    assert "a secret" not in str(raised.value)
