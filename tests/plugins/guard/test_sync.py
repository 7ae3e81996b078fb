"""Several machines keep their memories alike by a folder of patches: whatever came first, and nothing half."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from hashlib import sha256
from itertools import count
from pathlib import Path

import pyoxigraph as ox
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import OFFLINE
from memento.access import Access
from memento.codec import plain
from memento.errors import Forbidden, InputError
from memento.graph.terms import to_quads
from memento.graph.transfer import Statement
from memento.iris import IRI, MEM, graph_iri
from memento.plugins.guard.commands import show_sync
from memento.plugins.guard.nouns import Synced
from memento.plugins.guard.patches import Patch, key_quad, list_graphs, read_patch, write_patch
from memento.python import Memento, open_memento

_numbers = count()


def open_at(home: Path) -> Memento:
    memento = open_memento(home, configured=OFFLINE, resume=False)
    assert isinstance(memento, Memento)
    return memento


def digest(memento: Memento) -> str:
    """Digest the graphs that machines share."""
    graph = memento.service.stores.graph
    quads = [str(quad) for name in list_graphs(graph, "local") for quad in graph.match(graph=name)]
    return sha256("\n".join(sorted(quads)).encode()).hexdigest()


def sync_all(machines: Sequence[Memento], folder: Path, rounds: int = 3) -> None:
    for _ in range(rounds):
        for machine in machines:
            machine.admin.sync(folder)


def contents(memento: Memento) -> set[str]:
    return {one.content for one in memento.list(limit=100)}


class Machines:
    """Opens machines, each with a folder of its own, and the folder that they share."""

    def __init__(self, place: Path, stack: ExitStack) -> None:
        self.place, self.shared, self._stack = place, place / "shared", stack
        self.shared.mkdir(parents=True)

    def open(self, name: str) -> Memento:
        return self._stack.enter_context(open_at(self.place / name))


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    with ExitStack() as stack:
        yield Machines(tmp_path, stack)


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_two_folders_that_were_edited_apart_become_alike_in_either_order(machines: Machines, order: str) -> None:
    a, b = machines.open("a"), machines.open("b")
    a.note("I live in Rome.")
    a.admin.sync(machines.shared)
    joined = b.admin.sync(machines.shared)
    assert joined.joined and joined.patches == 1 and joined.sent == 0
    assert digest(a) == digest(b)

    gone, kept = b.note("I collect stamps."), b.note("Ana works at Google.")
    sync_all([b, a], machines.shared)
    a.forget(gone.memories[0])  # hidden here
    a.note("Tom plays chess.")
    b.correct(kept.memories[0], "Ana works at Microsoft.")  # corrected there
    b.graphs.update("INSERT DATA { GRAPH <urn:memento:data:local:mine> { <urn:x> <urn:y> 'z'@en , [ <urn:p> 1 ] } }")
    sync_all([a, b] if order == "ab" else [b, a], machines.shared, 2)

    assert digest(a) == digest(b)
    assert contents(a) == contents(b) >= {"Tom plays chess.", "Ana works at Microsoft."}
    assert "I collect stamps." not in contents(a)
    for machine in (a, b):
        assert machine.admin.check() == ()
        assert "Microsoft" in machine.recall("Where does Ana work?", k=1).memories[0].content
        assert machine.admin.sync(machines.shared).sent == 0  # a second time nothing


def test_what_was_said_on_both_stays_and_is_in_dispute(machines: Machines) -> None:
    a, b = machines.open("a"), machines.open("b")
    a.note("I live in Rome.")
    b.note("I live in Berlin.")
    a.admin.sync(machines.shared)
    assert b.admin.sync(machines.shared).rivals == 1
    assert a.admin.sync(machines.shared).patches == 1

    assert digest(a) == digest(b)
    for machine in (a, b):
        (dispute,) = machine.review.disputes()
        assert set(dispute.contents) == {"I live in Rome.", "I live in Berlin."}
        assert "did not know of each other" in dispute.reason
    a.review.settle(dispute.one, dispute.other)
    sync_all([a, b], machines.shared, 1)
    assert b.review.disputes() == () and digest(a) == digest(b)


def test_a_claim_that_is_erased_here_and_ended_there_is_gone_on_both(machines: Machines) -> None:
    a, b = machines.open("a"), machines.open("b")
    secret = a.note("My locker code is heliotrope, tell nobody of it.")
    sync_all([a, b], machines.shared)
    b.forget(secret.memories[0], erase=True)
    a.note("My locker code is vermilion.")  # without knowledge of that
    sync_all([b, a], machines.shared)

    assert digest(a) == digest(b)
    for machine in (a, b):
        assert machine.admin.check() == ()
        assert contents(machine) == {"My locker code is vermilion."}
        assert not any("heliotrope" in str(quad) for quad in machine.service.stores.graph.match())
    assert not any("heliotrope" in path.read_text() for path in machines.shared.iterdir())


def test_a_claim_that_ends_on_one_machine_has_ended_on_the_other(machines: Machines) -> None:
    a, b = machines.open("a"), machines.open("b")
    a.note("The rent is 1,250, deposit paid.", at="2024-01-10")
    sync_all([a, b], machines.shared)
    b.note("Rent 1,300 from May.", at="2024-02-01")
    sync_all([b, a], machines.shared)

    assert digest(a) == digest(b)
    for machine in (a, b):
        assert machine.admin.check() == ()
        parts = [part for one in machine.timeline("me").memories for part in one.ended]
        assert [part.words for part in parts] == ["The rent is 1,250"]


def test_what_may_stand_together_is_in_no_dispute(machines: Machines) -> None:
    a, b = machines.open("a"), machines.open("b")
    a.note("I like tea.")
    b.note("I like coffee.")
    a.admin.sync(machines.shared)

    assert b.admin.sync(machines.shared).rivals == 0
    assert b.review.disputes() == ()


def test_what_was_erased_on_one_is_gone_on_all_and_from_the_patches(machines: Machines) -> None:
    a, b, c = machines.open("a"), machines.open("b"), machines.open("c")
    secret = a.note("My locker combination is heliotrope.")
    a.note("I like tea.")
    sync_all([a, b], machines.shared)
    (memory,) = secret.memories
    b.forget(memory, erase=True)
    a.correct(memory, "My locker combination is vermilion.")  # without knowledge of that
    sync_all([b, a, c], machines.shared)

    assert digest(a) == digest(b) == digest(c)
    for machine in (a, b, c):
        assert machine.admin.check() == ()
        assert not any("heliotrope" in str(quad) for quad in machine.service.stores.graph.match())
    assert not any("heliotrope" in path.read_text() for path in machines.shared.iterdir())


def test_what_one_machine_lets_go_of_stays_where_another_speaks_of_it(machines: Machines) -> None:
    a, b, c = machines.open("a"), machines.open("b"), machines.open("c")
    told = a.note("Ana works at Google.")
    sync_all([a, b], machines.shared, 1)
    a.forget(told.memories[0], erase=True)  # with which goes what only it was about
    b.note("Ana plays the cello.")
    sync_all([a, b, c], machines.shared, 2)

    assert digest(a) == digest(b) == digest(c)
    for machine in (a, b, c):
        assert contents(machine) == {"Ana plays the cello."}
        assert machine.timeline("Ana").memories[0].content == "Ana plays the cello."
        assert machine.admin.check() == ()


def test_a_patch_is_read_as_it_was_written_and_what_it_restates_is_no_news(tmp_path: Path) -> None:
    def about(node: str, name: str) -> Statement:
        (quad,) = to_quads([(IRI(f"urn:memento:entity:{node}"), MEM.name, name, graph_iri("local", "main"))])
        return quad

    patch = Patch(
        machine="0123456789ab",
        sequence=2,
        stamp=1_700_000_000_123,
        adds=(about("a", "Ada"),),
        removes=(key_quad(about("b", "Bob")),),
        footing=(about("c", "Cleo"), about("c", "Chloe")),
        known={"ba9876543210": 7},
    )
    fresh, name = write_patch(patch, tmp_path)
    read = read_patch([fresh.rename(tmp_path / name)])

    assert sorted(read.footing, key=str) == sorted(patch.footing, key=str)
    assert replace(read, footing=()) == replace(patch, footing=())


def test_three_machines_in_a_ring_end_alike(machines: Machines) -> None:
    ring = [machines.open(name) for name in "abc"]
    for number, machine in enumerate(ring):
        machine.note(f"Person{number} lives in City{number}.")
    sync_all(ring, machines.shared, 2)
    assert len({digest(machine) for machine in ring}) == 1

    for number, machine in enumerate(ring):
        machine.note(f"I met Person{(number + 1) % 3} today.")
        machine.forget(machine.list(limit=1)[0].iri)
        machine.admin.sync(machines.shared)
    sync_all(ring[::-1], machines.shared, 2)

    assert len({digest(machine) for machine in ring}) == 1
    assert all(machine.admin.check() == () for machine in ring)


def test_a_gap_and_a_damaged_patch_are_named_and_nothing_is_taken(machines: Machines) -> None:
    a, b = machines.open("a"), machines.open("b")
    for text in ("I live in Rome.", "I like tea."):
        a.note(text)
        a.admin.sync(machines.shared)
    first, _ = sorted(machines.shared.glob("*.trig"))
    before, whole = digest(b), first.read_bytes()

    first.rename(machines.shared / "away")
    with pytest.raises(InputError, match=r"patch 1 of the machine [0-9a-f]{12} is missing, and its patch 2 is there"):
        b.admin.sync(machines.shared)
    (machines.shared / "away").rename(first)
    for damaged in (whole[:-40], whole.replace(b"Rome", b"Nice")):
        first.write_bytes(damaged)
        with pytest.raises(InputError, match=f"the patch {first.name} is damaged"):
            b.admin.sync(machines.shared)
    assert digest(b) == before

    first.write_bytes(whole)
    assert b.admin.sync(machines.shared).patches == 2
    assert digest(a) == digest(b)


def test_a_dry_run_says_what_would_come_and_changes_nothing(machines: Machines) -> None:
    a, b = machines.open("a"), machines.open("b")
    a.note("I live in Rome.")
    b.note("I live in Berlin.")
    a.admin.sync(machines.shared)
    before = digest(b)

    planned = b.admin.sync(machines.shared, dry_run=True)

    assert planned.joined and planned.machine == "" and "would join" in show_sync(plain(planned))
    assert planned.dry_run and planned.patches == 1 and planned.added > 0 and planned.rivals == 1 and planned.sent > 0
    assert digest(b) == before and not (machines.place / "b" / "sync.sqlite").exists()
    assert len(list(machines.shared.iterdir())) == 1


def test_after_a_backup_was_put_back_the_machine_joins_again_and_loses_nothing(machines: Machines) -> None:
    a, b = machines.open("a"), machines.open("b")
    a.note("I live in Rome.")
    a.admin.backup()
    a.note("I like tea.")
    sync_all([a, b], machines.shared)
    b.note("Ana works at Google.")
    sync_all([b, a], machines.shared, 1)
    a.admin.restore()

    again: Synced = a.admin.sync(machines.shared)

    assert again.joined
    sync_all([b, a], machines.shared, 1)
    assert digest(a) == digest(b)
    assert contents(a) >= {"I live in Rome.", "I like tea.", "Ana works at Google."}
    assert a.admin.check() == ()


def test_secrets_are_taken_out_of_what_comes_and_from_where_it_came(machines: Machines) -> None:
    a = machines.open("a")
    b = machines.open("b")
    graph = "urn:memento:data:local:mine"
    key = "AKIA" + "QYLPMN5HIYEXAMP1"
    quad = ox.Quad(ox.NamedNode("urn:a"), ox.NamedNode("urn:b"), ox.Literal(f"the key is {key}"), ox.NamedNode(graph))
    a.service.stores.graph.extend([quad], [])  # of a time when nothing was redacted
    a.admin.sync(machines.shared)

    assert b.admin.sync(machines.shared).redacted
    sync_all([a, b], machines.shared, 1)

    assert digest(a) == digest(b)
    assert not any(key in str(quad) for quad in a.service.stores.graph.match(graph=graph))


def test_only_the_owner_names_a_folder(machines: Machines) -> None:
    a = machines.open("a")
    with pytest.raises(InputError, match="is not a folder"):
        a.admin.sync(machines.place / "nowhere")
    with pytest.raises(Forbidden):
        a.with_access(Access(name="writer", right="write")).admin.sync(machines.shared)
    with pytest.raises(Forbidden):
        a.with_access(Access(name="admin", right="admin")).admin.sync(machines.shared)


EDITS = st.lists(
    st.tuples(
        st.integers(0, 2), st.sampled_from(["note", "forget", "erase", "correct", "own", "sync"]), st.integers(0, 5)
    ),
    min_size=4,
    max_size=14,
)


@settings(max_examples=3, suppress_health_check=list(HealthCheck))
@given(edits=EDITS)
def test_machines_end_alike_whatever_was_done_in_whatever_order(
    edits: list[tuple[int, str, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    with ExitStack() as stack:
        machines = Machines(tmp_path_factory.mktemp("any") / str(next(_numbers)), stack)
        three = [machines.open(name) for name in "abc"]
        for who, what, number in edits:
            edit(three[who], what, number, machines.shared)
        sync_all(three, machines.shared, 3)

        assert len({digest(machine) for machine in three}) == 1
        for machine in three:
            assert machine.admin.check() == ()
            assert machine.admin.sync(machines.shared).sent == 0


def edit(machine: Memento, what: str, number: int, folder: Path) -> None:
    listed = machine.list(limit=20)
    chosen = listed[number % len(listed)].iri if listed else None
    if what == "sync":
        machine.admin.sync(folder)
    elif what == "note" or chosen is None:
        machine.note(f"I live in City{number}." if number % 2 else f"Person{number} likes tea.")
    elif what == "own":
        said = f"<urn:a> <{MEM.base}name> 'n{number}' ; <urn:b> {number}"
        machine.graphs.update(
            f"DELETE {{ GRAPH ?g {{ <urn:a> ?p ?o }} }} INSERT {{ GRAPH <urn:memento:data:local:x> {{ {said} }} }} "
            "WHERE { OPTIONAL { GRAPH ?g { <urn:a> ?p ?o } } }"
        )
    elif what == "correct":
        machine.correct(chosen, f"I live in Town{next(_numbers)}.")  # the same once more would be refused
    else:
        machine.forget(chosen, erase=what == "erase")
