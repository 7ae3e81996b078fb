"""Nodes of several versions over one store: who writes the ontology, who goes on, and who must not write any more."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from endpoints import Server
from memento.errors import GraphError
from memento.graph.oxigraph import Oxigraph
from memento.graph.store import Store
from memento.graph.version import load_ontology, read_own_version
from memento.iris import IRI, MEM, ONTOLOGY
from memento.plugins.scale import agreement
from memento.plugins.scale.agreement import Agreed, Review, adopt_store, join_store, review_store
from memento.plugins.scale.remote import RemoteStore

OWN = read_own_version()
ZONE = Agreed(name="time_zone", value="UTC", harm="yesterday is another day")
EMBEDDER = Agreed(name="embedding", value="trigram", harm="vectors do not go together", is_needed=True)


@pytest.fixture
def store(server: Server) -> Iterator[RemoteStore]:
    server.empty()
    with_feed = server.open()
    yield with_feed
    with_feed.close()


def write_version(store: Store, version: str) -> None:
    """Let the store have an ontology of another program."""
    text = (
        f'<{MEM.base}> <http://www.w3.org/2002/07/owl#versionInfo> "{version}" . <{ONTOLOGY}> <{MEM.contentHash}> "x" .'
    )
    store.load(text.encode(), ONTOLOGY)


def read_version(store: Store) -> str:
    [row] = [
        row
        for row in store.select("search/statements", [ONTOLOGY], node=IRI(MEM.base))
        if row["predicate"] == "http://www.w3.org/2002/07/owl#versionInfo"
    ]
    return str(row["value"])


def test_the_first_node_writes_the_ontology_and_the_next_nothing(store: RemoteStore) -> None:
    assert join_store(store, [ZONE]) == Review()
    writes = store.writes
    assert read_version(store) == OWN
    assert join_store(store, [ZONE]) == Review()
    assert store.writes == writes


def test_an_older_ontology_is_replaced_once_and_a_newer_one_that_adds_to_ours_stays(store: RemoteStore) -> None:
    write_version(store, "0.0.9")
    join_store(store, [])
    assert read_version(store) == OWN
    write_version(store, "0.999.0")
    writes = store.writes

    [said] = join_store(store, []).differences

    assert "0.999.0" in said
    assert store.writes == writes
    assert read_version(store) == "0.999.0"


def test_a_node_that_cannot_read_the_ontology_is_refused_and_says_what_to_do(store: RemoteStore) -> None:
    write_version(store, "9.0.0")
    with pytest.raises(GraphError, match=r"ontology 9\.0\.0, and this program knows .*: upgrade it"):
        join_store(store, [])
    with pytest.raises(GraphError, match=r"9\.0\.0"):
        adopt_store(store, [])
    assert read_version(store) == "9.0.0"


def test_a_node_that_older_ones_could_not_read_waits_until_it_is_told_that_they_are_gone(
    store: RemoteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    join_store(store, [])
    monkeypatch.setattr(agreement, "read_own_version", lambda: "9.0.0")
    with pytest.raises(GraphError, match=r"stop them, .*`memento store adopt`"):
        join_store(store, [])
    writes = store.writes

    assert adopt_store(store, []) == OWN

    assert store.writes == writes + 1


def test_the_same_version_of_another_build_is_left_and_told(store: RemoteStore) -> None:
    write_version(store, OWN)
    writes = store.writes
    assert "another build" in join_store(store, []).differences[0]
    assert store.writes == writes
    adopt_store(store, [])
    assert review_store(store, []) == Review()


def test_a_setting_that_differs_is_told_or_refused_until_it_is_adopted(store: RemoteStore) -> None:
    join_store(store, [ZONE, EMBEDDER])
    other = [
        Agreed(name="time_zone", value="Asia/Tokyo", harm="yesterday is another day"),
        Agreed(name="redaction", value="1", harm="secrets stay"),
        EMBEDDER,
    ]
    said = "time_zone is Asia/Tokyo here and UTC on the other nodes: yesterday is another day"
    assert join_store(store, other).differences == (said,)
    refused = [Agreed(name="embedding", value="minilm", harm="vectors do not go together", is_needed=True)]
    with pytest.raises(GraphError, match="minilm here and trigram on the other nodes"):
        join_store(store, refused)
    adopt_store(store, [*other[:2], *refused])

    assert join_store(store, refused) == Review()
    assert store.system.read_agreed() == {"time_zone": "Asia/Tokyo", "redaction": "1", "embedding": "minilm"}


def test_a_folder_that_a_newer_program_has_written_is_opened_only_where_it_can_be_read() -> None:
    store = Oxigraph()
    write_version(store, "0.999.0")
    load_ontology(store)
    assert read_version(store) == "0.999.0"
    write_version(store, "9.0.0")
    with pytest.raises(GraphError, match="upgrade it"):
        load_ontology(store)
