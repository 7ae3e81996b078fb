"""Two nodes over one SPARQL endpoint are one memory: what is noted on one is recalled, corrected and forgotten on the other."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from conftest import OFFLINE
from endpoints import Server, free_port
from memento.access import OWNER
from memento.archive.check import report_health
from memento.consolidation.queue import list_waiting
from memento.errors import GraphError, InputError, SettingsError, StoreAway
from memento.interfaces.web.app import create_app
from memento.iris import ONTOLOGY
from memento.model import Noted, Scope
from memento.plugins.cases.operations import CaseMetrics as MeasureCases
from memento.plugins.cases.operations import CaseStatus
from memento.plugins.scale.agreement import adopt_store
from memento.plugins.scale.settings import IndexSettings, StoreSettings
from memento.python import Memento, open_memento
from memento.service import handle
from memento.service.understanding import retry_note, take_up
from memento.settings import Settings, check_settings, load
from memento.time import now, simulate_time


def shared(server: Server, **more: float | str) -> Settings:
    store = StoreSettings("sparql", server.query_url, server.update_url, **more)  # type: ignore[arg-type]
    index = IndexSettings(kind="lance", uri=str(server.folder.with_name("engine")))
    return replace(OFFLINE, store=store, index=index)


def open_node(server: Server, home: Path, **more: float | str) -> Memento:
    opened = open_memento(home, configured=shared(server, **more))
    assert isinstance(opened, Memento)
    return opened


@pytest.fixture(scope="module")
def nodes(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Memento, Memento]]:
    server.empty()
    with ExitStack() as stack:
        one, two = (stack.enter_context(open_node(server, tmp_path_factory.mktemp("node"))) for _ in range(2))
        yield one, two


def contents(memento: Memento, question: str) -> list[str]:
    return [memory.content for memory in memento.recall(question).memories]


def wait_until(is_so: Callable[[], bool], within_s: float = 60.0) -> None:
    until = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < until, "it did not come to be in time"
        time.sleep(0.02)


def test_a_memory_is_noted_recalled_corrected_forgotten_and_erased(nodes: tuple[Memento, Memento]) -> None:
    one, _ = nodes
    noted = one.note("The spare key of the boathouse is under the blue flowerpot.")
    assert noted.memories
    assert any("flowerpot" in text for text in contents(one, "Where is the spare key of the boathouse?"))

    one.correct(noted.memories[0], "The spare key of the boathouse is on the hook behind the door.")
    found = contents(one, "Where is the spare key of the boathouse?")
    assert any("hook" in text for text in found)
    assert not any("flowerpot" in text for text in found)

    now = one.recall("Where is the spare key of the boathouse?").memories[0]
    one.forget(now.iri)
    assert not any("hook" in text for text in contents(one, "Where is the spare key of the boathouse?"))
    second = one.note("The winter tyres are stored at the garage of Otto.").memories[0]
    one.forget(second, erase=True)
    rows = one.query('SELECT ?s WHERE { ?s ?p ?text FILTER (CONTAINS(STR(?text), "winter tyres")) }')
    assert not rows


def test_a_note_of_one_node_is_recalled_by_the_other_at_its_next_request(nodes: tuple[Memento, Memento]) -> None:
    one, two = nodes
    for place, (writer, reader) in enumerate([(one, two), (two, one)] * 3):
        text = f"The lighthouse number {place} on Rathlin was painted in colour {place * 7}."
        writer.note(text)
        assert text in contents(reader, text)


def test_what_one_node_forgets_the_other_does_not_recall(nodes: tuple[Memento, Memento]) -> None:
    one, two = nodes
    memory = one.note("The password hint for the attic chest is marmalade.").memories[0]
    wait_until(lambda: any("marmalade" in text for text in contents(two, "What is the hint for the attic chest?")))
    two.forget(memory, erase=True)

    wait_until(lambda: not any("marmalade" in text for text in contents(one, "What is the hint for the attic chest?")))
    assert not [one for one in one.admin.check() if one.what != "shape"]
    assert not [one for one in two.admin.check() if one.what != "shape"]


def note_at_once(writers: Sequence[Memento], namespace: str, apart_ms: int) -> list[Noted]:
    """Note two homes in threads that begin together: what each says, the second so many milliseconds after the first."""
    ready = threading.Barrier(2)
    first = now()

    def note(node: Memento, city: str, at: datetime) -> Noted:
        with simulate_time(at):
            ready.wait()
            return node.note(f"I live in {city}.", namespace=namespace)

    told = zip(writers, ("Aarhus", "Bergen"), (first, first + timedelta(milliseconds=apart_ms)), strict=True)
    with ThreadPoolExecutor(2) as threads:
        return [noting.result() for noting in [threads.submit(note, *one) for one in told]]


def homes(node: Memento, namespace: str) -> set[str]:
    told = {memory.content for memory in node.recall("Where do I live?", namespace=namespace).memories}
    return {text for text in told if text.startswith("I live")}  # every namespace reads `main` too


def test_two_notes_at_once_about_one_slot_end_as_they_would_on_one_node(nodes: tuple[Memento, Memento]) -> None:
    one, two = nodes
    for apart_ms in (1, -1, 2, -2):
        namespace = f"homes-{apart_ms}"
        note_at_once(nodes, namespace, apart_ms)
        later = "I live in Bergen." if apart_ms > 0 else "I live in Aarhus."
        wait_until(lambda namespace=namespace: homes(one, namespace) == homes(two, namespace))  # type: ignore[misc]
        assert homes(one, namespace) == {later}


def test_two_notes_of_one_instant_about_one_slot_contradict_each_other_on_two_nodes_as_on_one(
    nodes: tuple[Memento, Memento], tmp_path: Path
) -> None:
    one, two = nodes
    with open_memento(tmp_path, configured=OFFLINE) as alone:
        assert isinstance(alone, Memento)
        for writers in (nodes, (alone, alone)):
            first, second = note_at_once(writers, "instant", 0)
            assert (first.contradicts or second.contradicts) == (
                first.memories if second.contradicts else second.memories
            )
        wait_until(lambda: homes(one, "instant") == homes(two, "instant"))
        assert homes(one, "instant") == homes(alone, "instant") == {"I live in Aarhus.", "I live in Bergen."}


def test_cases_are_measured_while_another_node_writes(nodes: tuple[Memento, Memento]) -> None:
    one, two = nodes
    with two.service.writing:
        assert handle(MeasureCases(domain="main"), one.service.context()).cases == 0
        assert handle(CaseStatus(), one.service.context()).cases == 0


def test_sparql_reads_and_writes_what_both_nodes_have(nodes: tuple[Memento, Memento]) -> None:
    one, two = nodes
    graph = "urn:memento:data:local:boats"
    one.graphs.update(
        f'INSERT DATA {{ GRAPH <{graph}> {{ <urn:boat:1> <urn:name> "Tern" ; <urn:part> [ <urn:name> "mast" ] }} }}'
    )
    parts = "?boat <urn:part> ?part . ?part <urn:name> ?name"
    asked = f"SELECT ?name WHERE {{ GRAPH <{graph}> {{ {parts} FILTER (isIRI(?part)) }} }}"  # named as in a folder
    wait_until(lambda: "mast" in str(two.query(asked)))
    two.graphs.update(f"DELETE WHERE {{ GRAPH <{graph}> {{ {parts} }} }}")

    wait_until(lambda: "mast" not in str(one.query(asked)))
    assert "Tern" in str(one.query(f"SELECT ?name WHERE {{ GRAPH <{graph}> {{ ?boat <urn:name> ?name }} }}"))
    assert "feed" not in str(one.query("SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s ?p ?o } }"))


def test_what_needs_files_is_refused_with_what_to_do_instead(nodes: tuple[Memento, Memento]) -> None:
    one, _ = nodes
    for refused in (one.admin.backup, one.admin.restore):
        with pytest.raises(InputError, match="memento export"):
            refused()


def test_more_statements_than_may_be_copied_are_refused_by_name_of_the_setting(server: Server, tmp_path: Path) -> None:
    with (
        open_node(server, tmp_path, snapshot_quads=3) as node,
        pytest.raises(Exception, match=r"store\.snapshot_quads"),
    ):
        node.graphs.query_bytes("SELECT * WHERE { ?s ?p ?o }")


def test_an_endpoint_that_is_away_is_an_error_and_used_again_when_it_is_back(tmp_path: Path) -> None:
    server = Server(tmp_path / "endpoint", free_port())
    with pytest.raises(GraphError, match="cannot be reached"):
        open_node(server, tmp_path / "home", start_s=0.0)
    server.start()
    try:
        with open_node(server, tmp_path / "home") as node:
            node.note("The ferry to Iona leaves at nine.")
            server.kill()
            with pytest.raises(GraphError):
                node.note("The ferry to Mull leaves at ten.")
            with pytest.raises(GraphError):
                node.admin.check()
            server.start()
            node.note("The ferry to Jura leaves at eleven.")
            texts = str(contents(node, "When does the ferry leave?"))
            assert "nine" in texts
            assert "eleven" in texts
            assert not [one for one in node.admin.check() if one.what != "shape"]
    finally:
        server.kill()


class Gateway(BaseHTTPRequestHandler):
    """Answers for a store that it cannot reach."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_error(502)

    def log_message(self, format: str, *arguments: object) -> None:
        """Nobody reads it."""


def test_who_asks_while_the_endpoint_is_away_is_told_whether_to_ask_again_and_when(tmp_path: Path) -> None:
    server = Server(tmp_path / "endpoint", free_port())
    server.start()
    try:
        with (
            open_node(server, tmp_path / "home") as node,
            create_app(node.service).test_client() as client,
        ):
            node.note("The ferry to Iona leaves at nine.")
            server.kill()
            asked = client.get("/memory/recall", query_string={"question": "When does the ferry leave?"})
            noted = client.post("/memory/notes", json={"content": "The ferry to Mull leaves at ten."})
            gateway = HTTPServer(("127.0.0.1", server.port), Gateway)
            threading.Thread(target=gateway.serve_forever, daemon=True).start()
            between = client.get("/memory/recall", query_string={"question": "When does the ferry leave?"})
            gateway.shutdown()
            gateway.server_close()
    finally:
        server.kill()
    for answer in (asked, noted, between):
        assert answer.status_code == 503, answer.json
        error = (answer.json or {})["error"]
        assert (answer.status_code, error["code"], answer.headers.get("Retry-After")) == (503, "store_away", "5"), error
        assert "nothing was written: the same may be asked again, in 5 s" in error["message"]
    assert "502" in (between.json or {})["error"]["message"]
    assert "wrote" not in (between.json or {})["error"]["message"]


def test_a_start_waits_for_a_store_that_is_not_there_yet_and_gives_up_with_a_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server = Server(tmp_path / "endpoint", free_port())
    with pytest.raises(StoreAway, match=r"start the store, or check store\.query_url.*0\.3 s, store\.start_s"):
        open_node(server, tmp_path / "home", start_s=0.3)
    late = threading.Timer(0.5, server.start)
    late.start()
    try:
        with open_node(server, tmp_path / "home", start_s=20.0) as node:
            assert node.note("The ferry to Eigg leaves at noon.").memories
    finally:
        late.join()
        server.kill()
    assert [one.message for one in caplog.records].count("store.awaited") == 2


def test_a_note_that_waits_is_tried_as_soon_as_a_store_that_was_away_is_back(tmp_path: Path) -> None:
    server = Server(tmp_path / "endpoint", free_port())
    server.start()
    try:
        with open_node(server, tmp_path / "two") as two:
            two.service.consolidator.stop(5)
            waiting = two.note("The tide at Oban is high at four.", wait=False)
        with open_node(server, tmp_path / "one") as one:
            server.kill()
            one.service.consolidator.wake()
            time.sleep(0.5)  # it has tried, and rests for a minute
            assert contents(one, "When is the tide high?") == []
            server.start()
            wait_until(lambda: one.review.note_status(str(waiting.note)).state == "consolidated")
    finally:
        server.kill()


def test_a_note_of_one_node_is_known_by_its_name_on_the_other_at_once(nodes: tuple[Memento, Memento]) -> None:
    one, two = nodes
    for place in range(3):
        noted = one.note(f"The kayak number {place} is yellow.")
        assert two.review.note_status(str(noted.note)).state == "consolidated"


def test_a_text_that_was_erased_is_not_in_the_folder_of_any_node_after_its_end(server: Server, tmp_path: Path) -> None:
    server.empty()
    with open_node(server, tmp_path / "one") as one, open_node(server, tmp_path / "two") as two:
        kept = one.note("The anchor buoy is painted orange.").memories[0]
        gone = one.note("The vault opens with the word zanzibarquux.").memories[0]
        one.forget(gone, erase=True)
        wait_until(lambda: not contents(two, "zanzibarquux"))

    left = [path for path in tmp_path.rglob("*") if path.is_file() and b"zanzibarquux" in path.read_bytes()]
    assert left == []
    with open_node(server, tmp_path / "two") as two:
        assert two.recall("Which colour is the anchor buoy?").memories[0].iri == kept


def test_a_note_that_waits_is_tried_by_one_node_and_by_the_other_when_that_has_died(
    nodes: tuple[Memento, Memento], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = nodes
    one.service.consolidator.stop(5)
    two.service.consolidator.stop(5)
    noted = one.note("The beehive stands behind the shed.", wait=False)
    assert noted.pending
    two.service.stores.refresh()
    [waiting] = [found for found in list_waiting(two.service.stores) if found.note == noted.note]
    assert take_up(waiting, two.service) is not None
    one.service.stores.refresh()
    assert take_up(waiting, one.service) is None
    monkeypatch.setattr("memento.service.understanding.now", lambda: now() + timedelta(hours=1))
    taken = take_up(waiting, one.service)
    assert taken is not None
    assert retry_note(taken, one.service.new_agents(), one.service) is not None
    assert take_up(waiting, two.service) is None
    assert two.recall("Where is the beehive?").memories[0].content == "The beehive stands behind the shed."
    assert two.review.note_status(str(noted.note)).state == "consolidated"


def test_settings_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(SettingsError, match="query_url"):
        check_settings(Settings(store=StoreSettings("sparql")))
    urls = {"MEMENTO_STORE_KIND": "sparql", "MEMENTO_STORE_QUERY_URL": "http://s/query"}
    with pytest.raises(SettingsError, match="update_url"):
        load(environment=urls)
    with pytest.raises(SettingsError, match=r'set index\.kind = "lance" and index\.uri'):
        load(environment=urls | {"MEMENTO_STORE_UPDATE_URL": "http://s/update"})
    engine = {"MEMENTO_INDEX_KIND": "lance", "MEMENTO_INDEX_URI": "s3://bucket/index"}
    chosen = load(environment=urls | engine | {"MEMENTO_STORE_UPDATE_URL": "http://s/update"}).of(StoreSettings)
    more = {"MEMENTO_STORE_UPDATE_URL": "http://s/update", "MEMENTO_ENCRYPTION_ON": "true"}
    with pytest.raises(SettingsError, match=r"encryption.*must be false"):
        load(environment=urls | engine | more)
    assert (chosen.kind, chosen.query_url, chosen.update_url) == ("sparql", "http://s/query", "http://s/update")


def write_ontology(server: Server, version: str | None) -> None:
    """Let a node of another version write its ontology; None is ours."""
    store = server.open()
    said = '<http://purl.org/memento/> <http://www.w3.org/2002/07/owl#versionInfo> "{}" .'
    if version is None:
        adopt_store(store, [])
    else:
        store.load(said.format(version).encode(), ONTOLOGY)
    store.close()


def test_a_node_goes_on_beside_a_newer_one_and_writes_no_more_beside_one_that_it_cannot_read(
    nodes: tuple[Memento, Memento], server: Server
) -> None:
    one, two = nodes
    write_ontology(server, "0.999.0")
    one.note("The kayak is in the loft.")
    assert "0.999.0" in one.status().differences[0]
    write_ontology(server, "9.0.0")
    with pytest.raises(GraphError, match=r"nothing can be written.*9\.0\.0.*upgrade it"):
        one.note("The canoe is in the barn.")
    two.list()
    assert two.service.stores.graph.failure is not None
    assert "loft" in str(contents(two, "Where is the kayak?"))
    health = report_health(Scope(), OWNER, {}, two.service.stores, two.service.watch.report())
    assert health.store == "failing"
    assert "9.0.0" in str(health.degraded)
    with pytest.raises(GraphError, match=r"cannot join the store.*upgrade it"):
        open_node(server, one.service.datadir.path.with_name("third"))

    write_ontology(server, "0.999.0")
    two.list()
    assert two.service.stores.graph.failure is None
    write_ontology(server, None)
    two.note("The canoe is in the barn.")
    wait_until(lambda: one.status().differences == ())
