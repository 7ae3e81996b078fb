"""A folder of version 0.1, as it was written then, opens and gets once what it lacks."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from conftest import OFFLINE
from memento.archive.upgrade import list_unclaimed
from memento.model import Change
from memento.python import Memento, open_memento

FOLDER = Path(__file__).with_name("folder-0.1.tar.xz")
"""Two notes, three rows kept as they are, one of them with a title, and a turn of a conversation; embedded by trigrams."""

BORN = "Tim Burton was born in Burbank."


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with tarfile.open(FOLDER) as archive:
        archive.extractall(tmp_path / "home", filter="data")
    return tmp_path / "home"


def opened(home: Path) -> Memento:
    memento = open_memento(home, configured=OFFLINE)
    assert isinstance(memento, Memento)
    return memento


def edges(memento: Memento, content: str) -> set[tuple[str, str]]:
    [memory] = [one.iri for one in memento.list() if one.content == content]
    links, nodes = memento.service.stores.indexes.links, memento.service.stores.indexes.nodes
    node = nodes.find(memory)
    assert node is not None
    table = links[nodes.graph(node)]
    subjects = {
        label for label in table.mentions(node) if (entity := table.entity(label)) and node in entity.subject_of
    }
    return {(label, "about" if label in subjects else "mentions") for label in table.mentions(node)}


def test_memories_get_the_edges_that_their_texts_give_them_after_a_backup(home: Path) -> None:
    with opened(home) as memento:
        found = memento.recall("Where was the director of the film Ed Wood born?", gate=False, explain=True)
        led = next(one for one in found.memories[:3] if one.content == BORN)

        assert ("1994", "mentions") in edges(memento, "Ed Wood is a 1994 film that was directed by Tim Burton.")
        assert ("tim burton", "about") in edges(memento, BORN)
        assert ("burbank", "about") in edges(memento, "It has many studios.")
        assert max(led.why, key=led.why.__getitem__) == "link"  # it has few words of the question
        assert memento.admin.check() == ()
    assert len(list((home / "backups").iterdir())) == 1


def test_what_is_taken_away_later_is_not_written_again(home: Path) -> None:
    with opened(home) as memento:
        memento.graphs.update(
            "PREFIX mem: <http://purl.org/memento/> "
            "DELETE { GRAPH ?g { ?m ?p ?name } } WHERE { GRAPH ?g { ?m a mem:Memory ; ?p ?name . ?name a mem:Name } }"
        )
        before = edges(memento, BORN)
    with opened(home) as memento:
        assert edges(memento, BORN) == before
        assert ("1994", "mentions") not in edges(memento, "Ed Wood is a 1994 film that was directed by Tim Burton.")
    assert len(list((home / "backups").iterdir())) == 1


def test_a_new_folder_is_left_alone(tmp_path: Path) -> None:
    for _ in range(2):
        with opened(tmp_path / "home") as memento:
            memento.note("I moved to Lisbon.")
    assert not (tmp_path / "home" / "backups").exists()


_CLAIMS = """
PREFIX mem: <http://purl.org/memento/>
SELECT ?relation ?value WHERE { GRAPH ?graph { ?claim a mem:Claim ; mem:relationName ?relation ; mem:valueText ?value } }
"""


def claims(memento: Memento) -> set[str]:
    return set(memento.graphs.query_bytes(_CLAIMS, accept="text/csv")[0].decode().split("\r\n")[1:-1])


def test_an_upgrade_reads_what_the_memories_claim_and_leaves_their_texts(home: Path) -> None:
    with opened(home) as memento:
        before = {(one.iri, one.content, one.valid_at, one.invalid_at) for one in memento.list(past=True)}
        assert claims(memento) == set()
        assert memento.status().unread == 0  # it opens as it is

        upgraded = memento.admin.upgrade()

        assert upgraded.memories == len([one for one in memento.list(past=True) if one.expired_at is None])
        assert Path(upgraded.backup).is_dir()
        assert "bear in,Burbank" in claims(memento)
        assert {(one.iri, one.content, one.valid_at, one.invalid_at) for one in memento.list(past=True)} == before
        assert memento.admin.check() == ()
        known = claims(memento)
    with opened(home) as memento:
        again = memento.admin.upgrade()

        assert (again.memories, again.backup) == (0, "")
        assert claims(memento) == known


def test_an_upgrade_that_was_killed_goes_on(home: Path) -> None:
    with opened(home) as memento, memento.service.writing:
        memento.service.stores.apply(Change(list_unclaimed(memento.service.stores)[:2]))
    with opened(home) as memento:
        assert memento.status().unread == 2
        memento.admin.upgrade()

        assert memento.status().unread == 0
        assert "bear in,Burbank" in claims(memento)


def test_a_new_memory_has_nothing_to_upgrade(memento: Memento) -> None:
    memento.note("It rains.")

    assert memento.admin.upgrade().memories == 0
