"""A delta as it travels, and as it is applied."""

from __future__ import annotations

import pyoxigraph as ox

from memento.graph.store import Delta, apply_delta, parse_quads, select_quads, serialise_quads, to_change
from memento.iris import IRI
from memento.model import Change

QUADS = """
<urn:a> <urn:p> "chat"@fr , "2026"^^<http://www.w3.org/2001/XMLSchema#gYear> , "#{\\n" , <<( <urn:a> <urn:p> _:n )>> .
_:n <urn:p> _:n .
<urn:g> { _:n <urn:p> <urn:a> . <urn:a> <urn:p> 1 }
"""


def quads() -> list[ox.Quad]:
    return list(ox.parse(QUADS, ox.RdfFormat.TRIG))


def test_a_delta_comes_back_from_its_bytes_as_it_was() -> None:
    full = Delta(
        removes=serialise_quads(quads()[:3]),
        adds=serialise_quads(quads()),
        removed=3,
        added=7,
        cleared=("urn:g", ""),
        dropped=("urn:h",),
        created=("urn:i",),
        touched=("urn:g",),
    )

    assert Delta.unpack(full.pack()) == full
    assert Delta.unpack(Delta().pack()) == Delta()
    assert Delta().is_empty
    assert not full.is_empty


def test_what_is_written_keeps_languages_datatypes_and_blank_nodes() -> None:
    store = ox.Store()
    apply_delta(Delta(adds=serialise_quads(quads()), added=7), store)
    before = set(store)

    assert before == set(quads()) | before
    assert len(before) == 7
    apply_delta(Delta(removes=serialise_quads(before), removed=7), store)
    assert set(store) == set()


def test_what_goes_goes_before_what_comes() -> None:
    store = ox.Store()
    store.extend(quads())
    again = [quad for quad in store if quad.graph_name == ox.NamedNode("urn:g")]
    apply_delta(
        Delta(
            removes=serialise_quads(again),
            adds=serialise_quads(again[:1]),
            cleared=("",),
            dropped=("urn:h",),
            created=("urn:i",),
        ),
        store,
    )

    assert set(store) == set(again[:1])
    assert {graph.value for graph in store.named_graphs() if isinstance(graph, ox.NamedNode)} == {"urn:g", "urn:i"}


def test_much_that_only_comes_is_written_as_well() -> None:
    many = b"".join(b"<urn:s%d> <urn:p> _:b%d <urn:g> .\n" % (n, n) for n in range(20_001))
    store = ox.Store()
    apply_delta(Delta(adds=many, added=20_001), store)

    assert len(store) == 20_001


def test_quads_of_our_own_go_along_uncounted() -> None:
    own = (IRI("urn:u"), IRI("urn:p"), 3, IRI("urn:audit"))
    with_own = Delta(adds=serialise_quads(quads()), added=7) + Change((own,), ())

    assert with_own.added == 7
    assert to_change((), select_quads(with_own.adds, ["urn:audit"])) == Change((own,), ())
    assert len(list(parse_quads(with_own.adds))) == 8
