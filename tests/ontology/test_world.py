"""The sample world: it conforms, it is what the nouns would write, and its story can be read."""

from collections import Counter
from uuid import UUID

import pyoxigraph
import pytest

from memento import assets
from memento.graph import mapping
from memento.graph.shapes import violations
from memento.iris import IRI, MEM, TYPE, self_iri
from memento.model import Claim, Entity, Invalidation, Memory, Note, Quad, Scope, Session, User
from memento.search.nodes import content_hash
from trig import parse_trig

WORLD = assets.read("ontology/world.trig")
CLASSES = (Session, Note, Entity, User, Memory, Claim, Invalidation)
SCOPE = Scope()


@pytest.fixture(scope="module")
def quads() -> list[Quad]:
    return list(parse_trig(WORLD))


def of(cls: type[mapping.N], quads: list[Quad]) -> list[mapping.N]:
    said = mapping.statements(quads)
    return [mapping.node(cls, iri, said[iri]) for iri, found in said.items() if MEM[cls.__name__] in found[TYPE]]


def test_the_world_conforms(quads: list[Quad]) -> None:
    assert violations(quads) == []


def test_the_world_lies_in_the_graphs_of_the_default_scope(quads: list[Quad]) -> None:
    assert {graph for *_, graph in quads} == {SCOPE.graph, self_iri(SCOPE.tenant)}
    assert {subject for subject, *_, graph in quads if graph != SCOPE.graph} == {SCOPE.user}


def test_the_world_is_what_the_nouns_would_write(quads: list[Quad]) -> None:
    memories, notes, ended = of(Memory, quads), of(Note, quads), of(Invalidation, quads)

    written = [
        q for cls in CLASSES if cls is not User for node in of(cls, quads) for q in mapping.quads(node, SCOPE.graph)
    ]
    written += [q for user in of(User, quads) for q in mapping.quads(user, self_iri(SCOPE.tenant))]
    written += [mapping.invalidates(one.invalidator, one.invalidated, SCOPE.graph) for one in ended]
    written += [mapping.attribute_note(note.iri, SCOPE.user, SCOPE.graph) for note in notes]
    written += [(note.iri, TYPE, MEM.Turn, SCOPE.graph) for note in notes if note.session]

    assert Counter(written) == Counter(quads)
    assert all(one.content_hash == content_hash(one.content) for one in memories)


def test_every_name_is_a_uuid_of_version_seven_that_sorts_by_time(quads: list[Quad]) -> None:
    minted = {IRI(subject) for subject, *_ in quads} - {SCOPE.user}
    kinds = {iri: set(said[TYPE]) for iri, said in mapping.statements(quads).items()}

    assert all(UUID(iri.rsplit(":", 1)[1]).version == 7 for iri in minted)
    assert all(MEM[iri.split(":")[2].capitalize()] in kinds[iri] for iri in minted)
    ordered = sorted(of(Memory, quads), key=lambda memory: memory.created_at)
    assert [memory.iri for memory in ordered] == sorted(memory.iri for memory in ordered)


def test_an_ended_belief_is_closed_when_its_successor_begins(quads: list[Quad]) -> None:
    believed = {one.iri: one for one in (*of(Memory, quads), *of(Claim, quads))}

    for ended in of(Invalidation, quads):
        assert believed[ended.invalidated].invalid_at == believed[ended.invalidator].valid_at


def test_a_claim_is_a_span_of_its_memory_and_ends_with_the_claim_that_ended_it(quads: list[Quad]) -> None:
    memories, claims = {memory.iri: memory for memory in of(Memory, quads)}, {one.iri: one for one in of(Claim, quads)}

    assert all(memories[one.memory].content[one.start : one.end] == one.words for one in claims.values())
    assert len([one for one in of(Invalidation, quads) if one.invalidated in claims]) == 4
    for ended in of(Invalidation, quads):
        if ended.invalidated in claims:
            newer, older = claims[ended.invalidator], claims[ended.invalidated]
            assert (newer.memory, older.memory) in {
                (one.invalidator, one.invalidated) for one in of(Invalidation, quads)
            }


def test_the_history_of_employers_is_two_hops_long() -> None:
    store = pyoxigraph.Store()
    store.load(WORLD, pyoxigraph.RdfFormat.TRIG)

    rows = store.query(
        """
        PREFIX mem: <http://purl.org/memento/>
        SELECT ?value WHERE {
          ?now mem:relationName "work at" ; mem:invalidates* ?then .
          ?then mem:valueText ?value ; mem:validAt ?since .
          FILTER NOT EXISTS { ?now mem:invalidAt ?end }
        } ORDER BY DESC(?since)
        """,
        use_default_graph_as_union=True,
    )

    assert isinstance(rows, pyoxigraph.QuerySolutions)
    assert [row["value"].value for row in rows] == ["Microsoft", "Google", "Siemens"]
