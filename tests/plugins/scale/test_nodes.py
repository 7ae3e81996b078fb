"""Nodes over one store and one engine keep nothing: what one has written, the others answer at their next request."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import OFFLINE
from endpoints import Server, free_port, serve_milvus
from memento.access import OWNER, Access
from memento.errors import MementoError
from memento.iris import data_iri
from memento.operations import TABLE
from memento.plugins.cases.nouns import CaseRow
from memento.plugins.scale.settings import IndexSettings, StoreSettings
from memento.python import Memento, open_memento
from operations.samples import CALLS, make_sample

NOTES = {
    "The otter's name is Pemberton.": ("What is the otter's name?", "Pemberton"),
    "My locker is number 51.": ("Which locker is mine?", "51"),
    "Petra drives a Volvo.": ("What does Petra drive?", "Volvo"),
    "The ferry to Arran leaves at seven.": ("When does the ferry to Arran leave?", "seven"),
}
COUNT = "SELECT (COUNT(?m) AS ?n) WHERE { GRAPH ?g { ?m a <http://purl.org/memento/Memory> } }"
NOTED = 20
MILVUS = shutil.which("milvus-lite", path=str(Path(sys.executable).parent))


@pytest.fixture(params=["lance", pytest.param("milvus", marks=pytest.mark.skipif(not MILVUS, reason="no milvus-lite"))])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[IndexSettings]:
    if request.param == "lance":
        yield IndexSettings(kind="lance", uri=str(tmp_path / "engine"))
        return
    port = free_port()
    (tmp_path / "milvus").mkdir()
    with serve_milvus(tmp_path / "milvus", port):
        yield IndexSettings(kind="milvus", uri=f"http://127.0.0.1:{port}")


def open_node(server: Server, home: Path, index: IndexSettings) -> Memento:
    store = StoreSettings("sparql", server.query_url, server.update_url)
    node = open_memento(home, configured=replace(OFFLINE, store=store, index=index))
    assert isinstance(node, Memento)
    return node


def count(node: Memento) -> int:
    [row] = json.loads(node.graphs.query_bytes(COUNT)[0])["results"]["bindings"]
    return int(row["n"]["value"])


@pytest.mark.parametrize("is_full", [False, True])
def test_what_one_node_notes_the_other_recalls_lists_and_finds_by_sparql_at_its_next_request(
    is_full: bool, server: Server, index: IndexSettings, tmp_path: Path
) -> None:
    server.empty()
    if is_full:
        with open_node(server, tmp_path / "first", index) as first:
            for word in ("hammer", "pliers", "saw"):
                first.note(f"The {word} hangs beside the window.")
    with ExitStack() as stack:
        nodes = [stack.enter_context(open_node(server, tmp_path / name, index)) for name in ("a", "b")]
        for node in nodes:  # each has looked at the store as it is before anything more is written
            assert (len(node.list()), count(node)) == ((3, 3) if is_full else (0, 0))
            node.recall("What is the otter's name?")
        for place, (text, (question, word)) in enumerate(NOTES.items()):
            writer, reader = nodes[place % 2], nodes[1 - place % 2]
            writer.note(text)
            assert word in reader.recall(question).memories[0].content
            assert reader.list()[0].content == text
            assert count(reader) == count(writer) == place + 1 + 3 * is_full
        gone = nodes[0].list()[0].iri
        nodes[0].forget(gone)
        assert gone not in {one.iri for one in nodes[1].list()}
        assert gone not in {one.iri for one in nodes[1].recall("When does the ferry to Arran leave?").memories}
        assert nodes[1].admin.check() == ()


def test_while_both_nodes_write_each_knows_at_its_next_request_all_that_the_other_has_acknowledged(
    server: Server, tmp_path: Path
) -> None:
    server.empty()
    engine = IndexSettings(kind="lance", uri=str(tmp_path / "engine"), whole=20)
    with open_node(server, tmp_path / "a", engine) as one, open_node(server, tmp_path / "b", engine) as other:

        def note_and_ask(writer: Memento, reader: Memento, name: str) -> list[str]:
            missed = []
            for number in range(NOTED):
                text = f"The crate {name}{number} stands in hall {number * 7}."
                writer.note(text)
                found = reader.recall(f"Where does the crate {name}{number} stand?").memories
                missed += [text] if text not in [memory.content for memory in found] else []
            return missed

        with ThreadPoolExecutor(2) as threads:
            asked = [threads.submit(note_and_ask, *pair) for pair in ((one, other, "alder"), (other, one, "birch"))]
            assert [one.result() for one in asked] == [[], []]
        assert len(one.list(limit=1000)) == len(other.list(limit=1000)) == 2 * NOTED
        assert one.admin.check() == ()


CANARIES = [f"Xq{place}zorb" for place in ("memory", "entity", "key", "tag", "case", "graph")]
NARROW = {
    "another namespace": Access(namespaces=("work",), right="write", name="another namespace"),
    "another tenant": Access(tenant="rival", right="admin", name="another tenant"),
}


def test_no_operation_on_a_node_tells_what_another_node_has_from_another_namespace_or_tenant(
    server: Server, tmp_path: Path
) -> None:
    server.empty()
    memory, entity, key, tag, case, graph = CANARIES
    engine = IndexSettings(kind="lance", uri=str(tmp_path / "engine"))
    with open_node(server, tmp_path / "a", engine) as one, open_node(server, tmp_path / "b", engine) as other:
        foreign = make_sample(one, "private", tmp_path)
        one.note(f"My doctor is Ana {entity}.", namespace="private")
        one.keys.remember(f"The {memory} is in the safe.", [key], tags=[tag], namespace="private")
        one.cases.add([CaseRow(task=f"Do {case}.", plan="Pack.", reward=1.0)], namespace="private")
        one.graphs.put(f"<urn:a> <urn:b> '{graph}' .".encode(), data_iri("local", "company"))
        asked = [operation for operation in TABLE.values() if operation.right == "read"]

        def ask(access: Access, namespace: str) -> str:
            told, reader = [], other.with_access(access)
            for operation in asked:
                try:
                    told.append(repr(reader.call(CALLS[operation](foreign, namespace))))
                except MementoError as error:
                    told.append(str(error))
            told.append(str(reader.recall("What is in the safe of my doctor?", everywhere=True)))
            told.append(
                reader.graphs.query_bytes("SELECT * { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }")[0].decode()
            )
            return " ".join(told).casefold()

        owner = ask(OWNER, "private")
        assert [word for word in CANARIES if word.casefold() not in owner] == []
        for access in NARROW.values():
            for namespace in ("work" if access.namespaces else "main", "private"):
                told = ask(access, namespace)
                leaked = [word for word in CANARIES if word.casefold() in told]
                assert leaked == [], f"{access.name} in {namespace}"
