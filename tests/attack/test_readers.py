"""Whatever lies in the graph, every reader reads the rest: no literal ends a start, a question or a write."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from urllib.request import urlopen

import pyoxigraph as ox
import pytest
from click.testing import CliRunner

from attack.lived import Lived, opened, reads, spoil, writes
from conftest import at
from doors import serving
from memento.errors import Conflict, InputError, MementoError, NotFound
from memento.graph.oxigraph import Oxigraph
from memento.graph.ranges import read_ranges
from memento.interfaces.cli import main
from memento.interfaces.mcp.core_tools import StatusArguments
from memento.interfaces.mcp.core_tools import status as tell_status
from memento.interfaces.mcp.tools import Reach, Told
from memento.iris import IRI, MEM, PROV, TYPE, XSD
from memento.model import Change, Value
from memento.python import Client, Memento

SECRET = "the words of somebody"
TYPED = [XSD.integer, XSD.dateTime, XSD.double, XSD.boolean]
ODD: tuple[ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple, ...] = (
    ox.Literal(SECRET),
    ox.Literal("!"),
    ox.Literal(""),
    ox.Literal("abc", language="en"),
    *(ox.Literal(SECRET, datatype=ox.NamedNode(datatype)) for datatype in TYPED),
    ox.Literal("NaN", datatype=ox.NamedNode(XSD.double)),
    ox.Literal("-INF", datatype=ox.NamedNode(XSD.double)),
    ox.Literal("9" * 400, datatype=ox.NamedNode(XSD.integer)),
    ox.Literal("12026-01-01T00:00:00Z", datatype=ox.NamedNode(XSD.dateTime)),
    ox.Literal("0001-01-01T00:00:00+14:00", datatype=ox.NamedNode(XSD.dateTime)),
    ox.Literal(-5),
    ox.NamedNode("urn:x:nothing"),
    ox.BlankNode("b0"),
    ox.Triple(ox.NamedNode("urn:a"), ox.NamedNode("urn:b"), ox.Literal("c")),
)


def is_ours(quad: ox.Quad) -> bool:
    return quad.predicate.value.startswith((MEM.base, PROV.base))


def all_of_them(quad: ox.Quad) -> list[ox.Quad]:
    """Beside what a statement says, everything odd; any words are right where a text is."""
    is_odd = is_ours(quad) and IRI(quad.predicate.value) in read_ranges()
    return [ox.Quad(quad.subject, quad.predicate, odd, quad.graph_name) for odd in ODD] if is_odd else []


def one_of_them(seed: int) -> Callable[[ox.Quad], list[ox.Quad]]:
    """In the place of a statement one odd one, drawn by it."""

    def drawn(quad: ox.Quad) -> list[ox.Quad]:
        mark = sha256(f"{seed} {quad.subject} {quad.predicate} {quad.object}".encode()).digest()
        odd = ODD[mark[0] % len(ODD)]
        # What everything hangs on is left in two of three places, so that something can be read.
        is_left = mark[1] % 3 and quad.predicate.value in (MEM.content, MEM.session, MEM.hasState, MEM.extractedFrom)
        return [] if is_left or not is_ours(quad) else [ox.Quad(quad.subject, quad.predicate, odd, quad.graph_name)]

    return drawn


def failures(memento: Memento, lived: Lived, allowed: tuple[type[MementoError], ...]) -> Iterator[str]:
    """What cannot be read or written."""
    for name, call in (*reads(memento, lived), *writes(memento, lived)):
        try:
            call()
        except allowed:
            pass
        except Exception as error:
            yield f"{name}: {type(error).__name__}: {error}"


def test_what_is_odd_beside_what_is_right_is_passed_over(
    lived: Lived, copied: Callable[[], Path], caplog: pytest.LogCaptureFixture
) -> None:
    home = copied()
    caplog.set_level(logging.DEBUG)
    count = spoil(home, all_of_them, instead=False)
    with opened(home) as memento:
        aside = memento.status().set_aside
        assert aside is not None and count / 2 < aside.statements < count
        assert lived.memories[0] in aside.nodes
        assert "Microsoft" in str(memento.recall("Where do I work?").memories)
        # JSON-LD has no form for a triple within a triple, and says so.
        assert [one for one in failures(memento, lived, ()) if "triple terms" not in one] == []
    assert SECRET not in caplog.text, "the log tells no text"
    assert any(record.msg == "store.set-aside" for record in caplog.records)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_odd_in_the_place_of_what_is_right_leaves_the_rest(
    seed: int, lived: Lived, copied: Callable[[], Path]
) -> None:
    home = copied()
    spoil(home, one_of_them(seed), instead=True)
    with opened(home) as memento:
        assert memento.status().set_aside is not None
        assert list(failures(memento, lived, (NotFound, Conflict, InputError))) == []
    with opened(home) as memento:
        assert memento.note("I have a cat.").memories


def test_an_entity_of_no_kind_leaves_notes_that_may_mean_it_understood(copied: Callable[[], Path]) -> None:
    home = copied()
    nothing = ox.NamedNode("urn:x:nothing")
    spoil(
        home,
        lambda quad: (
            [ox.Quad(quad.subject, quad.predicate, nothing, quad.graph_name)]
            if quad.predicate.value == MEM.entityType
            else []
        ),
        instead=True,
    )
    with opened(home) as memento:
        aside = memento.status().set_aside
        assert aside is not None and aside.statements
        memento.note("I work at Apple now.")
        assert memento.recall("Where do I work?").memories[0].content == "I work at Apple now."


@pytest.mark.parametrize(
    ("kind", "predicate", "odd"),
    [
        (MEM.Note, MEM.position, "abc"),
        (MEM.Fading, MEM.halfLife, "x"),
        (MEM.Fading, MEM.halfLife, 0.0),
        (MEM.KeyLink, MEM.weight, "heavy"),
        (MEM.KeyLink, MEM.weight, float("nan")),
        (MEM.KeyLink, MEM.to, "a memory"),
        (MEM.Association, MEM.weight, 1e300),
        (MEM.Key, MEM.keyType, "odd"),
        (MEM.Memory, MEM.extractedFrom, "a note"),
        (MEM.Memory, MEM.validAt, "yesterday"),
        (MEM.Invalidation, MEM.at, "soon"),
    ],
)
def test_indexes_take_in_a_node_with_an_odd_value_as_if_it_had_none(
    kind: IRI, predicate: IRI, odd: str | float, tmp_path: Path
) -> None:
    """Written under the indexes, as no interface does it."""
    with opened(tmp_path / "home") as memento:
        memento.note("I live in Lisbon.")
        parts, graph = memento.service.stores, memento.context.scope(None).graph
        node = IRI("urn:memento:odd:1")
        usual: list[tuple[IRI, Value]] = [
            (MEM.session, IRI("urn:x:s")),
            (MEM.at, at("2026-03-01")),
            (MEM.content, "It is odd."),
            (MEM.name, "odd"),
        ]
        ends = [(MEM["from"], IRI("urn:x:a")), (MEM.to, IRI("urn:x:b")), (MEM.invalidated, IRI("urn:x:c"))]
        said: dict[IRI, Value] = {TYPE: kind, **dict(usual), **dict(ends), predicate: odd}
        parts.graph.apply(Change(tuple((node, name, value, graph) for name, value in said.items())))
        parts.indexes.refresh([node], [graph])
        assert memento.recall("Where do I live?").memories[0].content == "I live in Lisbon."
    with opened(tmp_path / "home") as memento:
        assert memento.recall("Where do I live?").memories[0].content == "I live in Lisbon."


def test_a_row_without_what_is_out_of_range_is_a_row_where_it_makes_sense() -> None:
    graph, store = IRI("urn:memento:graph:local:main"), Oxigraph()
    memory, other = IRI("urn:memento:memory:1"), IRI("urn:memento:memory:2")
    usual: dict[IRI, Value] = {
        MEM.content: "It is.",
        MEM.extractedFrom: IRI("urn:n"),
        MEM.createdAt: at("2026-03-01"),
        MEM.validAt: at("2026-03-01"),
    }
    quads = [(iri, name, value, graph) for iri in (memory, other) for name, value in usual.items()]
    odd = (
        (memory, MEM.invalidAt, "never", graph),
        (memory, MEM.validAt, "!", graph),
        (other, MEM.createdAt, "!", graph),
    )
    store.apply(Change((*quads, *odd), ()))
    store.apply(Change((), ((other, MEM.createdAt, at("2026-03-01"), graph),)))

    (row,) = store.select("library/listed", [graph], memory=[memory, other])

    assert (row["memory"], row["validAt"]) == (memory, at("2026-03-01"))
    assert "invalidAt" not in row


def test_every_interface_says_what_is_set_aside_to_those_who_see_it(copied: Callable[[], Path]) -> None:
    home = copied()

    def position(quad: ox.Quad) -> list[ox.Quad]:
        is_place = quad.predicate.value == MEM.position
        return [ox.Quad(quad.subject, quad.predicate, ox.Literal(SECRET), quad.graph_name)] if is_place else []

    spoil(home, position, instead=True)
    with opened(home) as memento:
        aside = memento.status().set_aside
        assert aside is not None and (aside.statements, len(aside.nodes)) == (3, 3)
        token = memento.tokens.create("narrow", tenant="local", namespaces=["other"], right="read", at=at("2026-03-01"))
        with serving(memento) as address:
            client = Client(address)
            assert client.status().set_aside == aside
            told = tell_status(Reach(memory=memento, namespace=None), StatusArguments())
            assert isinstance(told, Told) and told.text
            assert "3 statements of urn:memento:note:" in told.text and SECRET not in told.text
            memento.warm_up()
            with urlopen(f"{address}/health") as answer:
                assert json.load(answer)["set_aside"] == {"statements": 3, "nodes": list(aside.nodes)}
            assert Client(address, token=token, namespace="other").status().set_aside is None
            shown = CliRunner().invoke(main, ["status"], env={"MEMENTO_HOME": str(home)}).output
    assert "3 statements of urn:memento:note:" in shown and "memento care check" in shown
    assert SECRET not in shown + json.dumps(aside.nodes)


def test_what_is_mended_is_set_aside_no_more(copied: Callable[[], Path]) -> None:
    home = copied()
    odd = "<urn:memento:note:odd> <http://purl.org/memento/position>"
    store = ox.Store(home / "store")
    store.update(f'INSERT DATA {{ GRAPH <urn:memento:graph:local:main> {{ {odd} "abc" }} }}')
    store.flush()
    del store
    with opened(home) as memento:
        assert memento.status().set_aside is not None
        memento.graphs.update(f'DELETE DATA {{ GRAPH <urn:memento:graph:local:main> {{ {odd} "abc" }} }}')
        assert memento.status().set_aside is None
    with opened(home) as memento:
        assert memento.status().set_aside is None


def test_a_start_that_knows_what_is_set_aside_does_not_look_again(copied: Callable[[], Path]) -> None:
    """Of a folder that nobody else has written to."""
    home = copied()
    with opened(home) as memento:
        memento.service.stores.indexes.file.set_mark(
            "aside",
            memento.service.stores.aside.text().replace(
                '"found": []', '"found": [["urn:memento:self:local", "urn:x:kept", 1]]'
            ),
        )
    with opened(home) as memento:
        aside = memento.status().set_aside
        assert aside is not None and aside.nodes == ("urn:x:kept",)
    ox.Store(home / "store").flush()  # somebody else
    with opened(home) as memento:
        assert memento.status().set_aside is None


def test_an_update_that_would_write_what_no_reader_can_take_is_refused_by_statement(copied: Callable[[], Path]) -> None:
    with opened(copied()) as memento:
        for predicate, odd in (
            ("position", '"abc"'),
            ("halfLife", '"x"'),
            ("weight", '"heavy"'),
            ("session", '"talk"'),
        ):
            with pytest.raises(InputError, match=rf"<urn:x:note> mem:{predicate} {odd}.*Write it|point at") as refused:
                memento.graphs.update(f"PREFIX mem: <{MEM.base}> INSERT DATA {{ <urn:x:note> mem:{predicate} {odd} }}")
            assert refused.value.status == 422
        with pytest.raises(InputError, match="mem:position"):
            memento.graphs.post(f'<urn:x:note> <{MEM.position}> "abc" .'.encode())
        memento.graphs.post(f'<urn:x:note> <{MEM.position}> "abc" .'.encode(), "urn:memento:data:local:mine")
        assert memento.status().set_aside is None
