"""What a probe says of endpoints: of a good one, of one real bad one, and of each fault alone."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from conftest import OFFLINE
from endpoints import BINARY, Server, free_port
from faulty import FAULTS, open_front
from memento.errors import GraphError, InputError, SettingsError, Unanswered
from memento.interfaces.cli import main
from memento.plugins.scale.endpoint import SparqlClient
from memento.plugins.scale.nouns import Probed
from memento.plugins.scale.probe import PROBE, probe_quickly, probe_store, raise_if_unfit
from memento.plugins.scale.settings import IndexSettings, StoreSettings
from memento.python import open_memento

pytestmark = pytest.mark.skipif(BINARY is None, reason="there is no oxigraph: pip install oxigraph")

VIRTUOSO = shutil.which("virtuoso-t")

QUICK: tuple[dict[str, str], ...] = (
    {
        "default graphs are dropped": "default-graph-uri is the dataset",
        "named graphs are dropped": "named-graph-uri is what GRAPH sees",
    },
    {
        "FROM adds a graph": "FROM cannot widen the dataset",
        "USING is ignored": "USING is what an update reads",
        "doubles are rounded": "doubles keep 17 digits",
        "operations commit alone": "a failing second operation leaves the first undone",
    },
    {
        "nothing named is everything": "GRAPH ?g sees nothing where nothing is named",
        "FROM NAMED adds a graph": "FROM NAMED cannot widen the dataset",
        "line ends are changed": "texts of every kind",
        "the comparison is apart": "compare-and-set has one winner, 4 writers",
    },
    {
        "paths leave the dataset": "paths stay in the dataset",
        "pragmas are obeyed": "pragmas cannot widen the dataset",
        "instants lose fractions": "instants",
        "ASK answers with rows": "ASK is answered with true or false",
    },
    {
        "EXISTS leaves the dataset": "EXISTS { GRAPH } stays in the dataset",
        "an optional path is a step": "one value before an optional path",
        "large numbers wrap": "whole numbers and truths",
        "IRIs become texts": "IRIs stay IRIs in UNION with ORDER BY",
    },
)
"""What is found of each fault that is seen at once; those of a group break nothing of each other, and all but the
first nothing else."""

SLOW = {
    "long queries are cut short": {"a long query is answered whole or refused"},
    "aggregates are rounded": {"aggregates"},
    "IRIs are escaped": {"IRIs beyond ASCII"},
    "rows are left out": {"12,001 rows come back whole"},
    "large requests are refused": {"an update of 1 MB", "an update of 8 MB"},
    "the comparison is apart": {"no update is lost, 4 writers", "a reader never sees half an operation"},
}


@pytest.fixture(scope="module")
def oxigraph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("probed") / "store", free_port())
    server.start()
    yield server
    server.kill()


def failed(probed: Probed) -> set[str]:
    return {one.name for one in probed.findings if one.outcome == "failed"}


def count_left(server: Server) -> int:
    """How many statements there are in graphs of probes."""
    client = server.client()
    [row] = client.select(
        f'SELECT (COUNT(*) AS ?many) {{ GRAPH ?g {{ ?s ?p ?o }} FILTER(STRSTARTS(STR(?g), "{PROBE}")) }}'
    )
    client.close()
    return int(str(getattr(row["many"], "value", "")))


def test_oxigraph_is_fit_where_one_update_comes_at_a_time(oxigraph: Server) -> None:
    with open_front(oxigraph.port) as front:
        probed = probe_store(*front.urls)

    assert probed.fit and probed.reachable and probed.verdict.startswith("fit")
    assert [one for one in probed.findings if one.outcome == "unknown" or (one.is_needed and one.outcome != "ok")] == []
    assert all(one.asked and one.answered and one.why for one in probed.findings if one.outcome == "failed")
    assert count_left(oxigraph) == 0


def test_oxigraph_over_a_folder_is_refused_as_it_lets_two_writers_win(oxigraph: Server) -> None:
    probed = probe_store(oxigraph.query_url, f"http://127.0.0.1:{oxigraph.port}/update", quick=True)

    assert failed(probed) == {"compare-and-set has one winner, 4 writers"}
    assert not probed.fit and "compare-and-set" in probed.verdict


def test_a_node_refuses_to_start_over_a_store_that_is_not_fit_unless_it_has_it_alone(
    oxigraph: Server, tmp_path: Path
) -> None:
    store = StoreSettings("sparql", oxigraph.query_url, f"http://127.0.0.1:{oxigraph.port}/update")
    index = IndexSettings(kind="lance", uri=str(tmp_path / "lance"))
    configured = replace(OFFLINE, store=store, index=index)

    with pytest.raises(SettingsError, match="compare-and-set has one winner"):
        open_memento(tmp_path, configured=configured)
    with open_memento(tmp_path, configured=replace(configured, store=replace(store, probe=False))) as memento:
        assert memento.note("I live in Rome.").memories
    oxigraph.empty()


def test_oxigraph_in_memory_keeps_writers_apart() -> None:
    assert BINARY
    port = free_port()
    with subprocess.Popen([BINARY, "serve", "-b", f"127.0.0.1:{port}"], stderr=subprocess.DEVNULL) as process:
        client = SparqlClient(f"http://127.0.0.1:{port}/query", f"http://127.0.0.1:{port}/update")
        try:
            client.wait_until_there(20, lambda: None)
            assert probe_quickly(client).verdict == "fit"
            raise_if_unfit(client)
        finally:
            client.close()
            process.kill()


@pytest.mark.parametrize("faults", QUICK, ids=lambda faults: next(iter(faults)))
def test_each_fault_is_found_at_once_and_named(oxigraph: Server, faults: dict[str, str]) -> None:
    with open_front(oxigraph.port, list(faults)) as front:
        client = SparqlClient(*front.urls)
        probed = probe_quickly(client)
        client.close()

    assert set(faults.values()) == failed(probed) or faults is QUICK[0]
    assert set(faults.values()) <= failed(probed)
    assert not probed.fit and all(name in probed.verdict for name in faults.values())
    assert count_left(oxigraph) == 0


def test_a_store_that_is_not_fit_is_refused_with_what_it_lacks_and_what_to_do(oxigraph: Server) -> None:
    with open_front(oxigraph.port) as front:
        client = SparqlClient(*front.urls)
        raise_if_unfit(client)
        front.faults.add("FROM adds a graph")
        with pytest.raises(SettingsError, match=r"FROM cannot widen.*store\.query_url.*memento store probe http"):
            raise_if_unfit(client)
        client.close()


def test_each_fault_that_takes_longer_to_see_is_found_and_named(oxigraph: Server) -> None:
    with open_front(oxigraph.port, list(SLOW)) as front:
        found = failed(probe_store(*front.urls))

    assert set[str]().union(*SLOW.values()) <= found


def test_an_answer_that_breaks_off_is_noticed(oxigraph: Server) -> None:
    with open_front(oxigraph.port, ["answers are cut off"]) as front:
        found = {one.name: one.answered for one in probe_store(*front.urls, quick=True).findings}

    assert "cut its answer off" in found["doubles keep 17 digits"]


def test_what_a_proxy_has_no_answer_to_may_be_written_all_the_same(oxigraph: Server) -> None:
    with open_front(oxigraph.port, ["answers are lost"]) as front:
        client = SparqlClient(*front.urls)
        with pytest.raises(Unanswered, match="answered 502"):
            client.update("INSERT DATA { GRAPH <urn:lost> { <urn:a> <urn:b> 1 } }")
        assert client.ask("ASK { GRAPH <urn:lost> { <urn:a> <urn:b> 1 } }")
        client.close()
    oxigraph.empty()


def test_every_fault_is_tried() -> None:
    assert {*(fault for faults in QUICK for fault in faults), *SLOW, "answers are cut off", "answers are lost"} == set(
        FAULTS
    )


def test_what_cannot_be_reached_is_said_to_be_so_and_what_is_no_address_refused() -> None:
    probed = probe_store("http://127.0.0.1:9/query", "http://127.0.0.1:9/update", token="hidden word")

    assert (probed.reachable, probed.fit, probed.findings) == (False, False, ())
    assert "cannot be reached" in probed.verdict and "hidden word" not in probed.verdict
    with pytest.raises(InputError, match="must begin with http"):
        probe_store("127.0.0.1:9", "http://127.0.0.1:9/update")
    with pytest.raises(GraphError, match="cannot be reached"):
        raise_if_unfit(SparqlClient("http://127.0.0.1:9/query", "http://127.0.0.1:9/update"))


def test_the_command_says_it_by_its_exit_code_and_needs_no_folder(oxigraph: Server, tmp_path: Path) -> None:
    def ask(*words: str) -> tuple[int, str]:
        home = {"MEMENTO_HOME": str(tmp_path / "none")}
        result = CliRunner().invoke(main, ["store", "probe", *words], env=home)
        return result.exit_code, result.output

    with open_front(oxigraph.port) as front:
        code, said = ask(*front.urls, "--quick", "--json")
        assert code == 0 and json.loads(said)["verdict"] == "fit"
        front.faults.add("FROM adds a graph")
        code, said = ask(*front.urls, "--quick")
        assert code == 1
        assert "fails   needed  FROM cannot widen the dataset" in said
        assert said.splitlines()[-1].startswith(f"{front.urls[0]}: not fit because it fails at: FROM cannot widen")
    assert ask("http://127.0.0.1:9/query", "http://127.0.0.1:9/update")[0] == 2
    assert ask("nonsense", "http://127.0.0.1:9/update")[0] == 2
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM], ids=lambda sent: sent.name)
def test_what_was_written_is_removed_after_an_interruption(oxigraph: Server, sent: signal.Signals) -> None:
    with open_front(oxigraph.port) as front:
        is_racing = threading.Event()
        front.on_update = lambda text: is_racing.set() if "p:won 1 " in text else None
        command = [sys.executable, "-m", "memento", "store", "probe", *front.urls]
        # A shell lets what it runs in the background ignore Ctrl-C, and all that this starts.
        hear, quiet = partial(signal.signal, signal.SIGINT, signal.SIG_DFL), subprocess.DEVNULL
        with subprocess.Popen(command, stdout=quiet, stderr=quiet, preexec_fn=hear) as process:
            try:
                assert is_racing.wait(60)
                assert count_left(oxigraph) > 0
                process.send_signal(sent)
                assert process.wait(60) == 130
            finally:
                process.kill()

    assert count_left(oxigraph) == 0


@pytest.fixture(scope="module")
def virtuoso(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if VIRTUOSO is None:
        pytest.skip("there is no virtuoso-t: apt-get install virtuoso-opensource-7-bin virtuoso-opensource-7-common")
    folder, port, sql = tmp_path_factory.mktemp("virtuoso"), free_port(), free_port()
    (folder / "virtuoso.ini").write_text(
        f"""
[Database]
DatabaseFile = {folder}/virtuoso.db
ErrorLogFile = {folder}/virtuoso.log
LockFile = {folder}/virtuoso.lck
TransactionFile = {folder}/virtuoso.trx
xa_persistent_file = {folder}/virtuoso.pxa
FileExtend = 200
[TempDatabase]
DatabaseFile = {folder}/temp.db
TransactionFile = {folder}/temp.trx
FileExtend = 200
[Parameters]
ServerPort = 127.0.0.1:{sql}
ServerThreads = 20
NumberOfBuffers = 10000
DirsAllowed = {folder}
[HTTPServer]
ServerPort = 127.0.0.1:{port}
ServerRoot = {folder}
ServerThreads = 20
[SPARQL]
ResultSetMaxRows = 10000
""",
        encoding="utf-8",
    )
    command = [VIRTUOSO, "-f", "+configfile", str(folder / "virtuoso.ini"), "+wait"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        url, until = f"http://127.0.0.1:{port}/sparql", time.monotonic() + 90
        grant = ["isql-vt", f"127.0.0.1:{sql}", "dba", "dba", 'exec=GRANT SPARQL_UPDATE TO "SPARQL";']
        while b"Done" not in subprocess.run(grant, capture_output=True, check=False).stdout:
            assert time.monotonic() < until and process.poll() is None
            time.sleep(0.2)
        while not probe_store(url, url, quick=True).reachable:
            assert time.monotonic() < until
            time.sleep(0.2)
        yield url
    finally:
        process.kill()
        process.wait()


def test_virtuoso_of_debian_is_refused_for_its_five_faults(virtuoso: str) -> None:
    probed = probe_store(virtuoso, virtuoso)
    found = failed(probed)

    assert not probed.fit
    assert "a failing second operation leaves the first undone" in found
    assert found & {"compare-and-set has one winner, 4 writers", "no update is lost, 4 writers"}
    assert {"FROM cannot widen the dataset", "FROM NAMED cannot widen the dataset"} <= found
    assert "pragmas cannot widen the dataset" in found
    assert "EXISTS { GRAPH } stays in the dataset" in found
    assert {"doubles keep 17 digits", "one value before an optional path"} <= found
    assert "IRIs stay IRIs in UNION with ORDER BY" in found
    assert [one.outcome for one in probed.findings if one.name == "the probe's graphs are removed"] == ["ok"]
