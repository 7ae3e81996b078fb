"""What follows from stated axioms is in the graph of inferences, whatever came and went before; a query proves each of it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memento.graph.binding import bind_query
from memento.graph.inferences import Inferences, ReadPremises
from memento.graph.oxigraph import Oxigraph
from memento.iris import IRI, MEM, OWL, RDF, RDFS, data_iri
from memento.model import Inferred, Scope
from memento.plugins.lab.inference import MOST, read_premises

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MAIN = Scope()
DATA = data_iri("local", "company")
PREFIXES = """
PREFIX ex: <http://example.org/> PREFIX owl: <http://www.w3.org/2002/07/owl#> PREFIX mem: <http://purl.org/memento/>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
"""


def make_readers(source: Inferences, most: int) -> list[ReadPremises]:
    return [lambda scope, now: read_premises(source, scope, now, most)]


class World:
    """A store with inferences over it."""

    def __init__(self, said: str = "", most: int = 10_000) -> None:
        self.graph = Oxigraph()
        self.inferences = Inferences(self.graph)
        self.readers = make_readers(self.inferences, most)
        with self.graph.reading() as store:
            self.store = store
        self.say(said)

    def say(self, said: str, graph: IRI = DATA) -> None:
        """Put triples into a graph."""
        with self.graph._one_writer:
            self.store.extend(self._quads(said, graph))

    def unsay(self, said: str, graph: IRI = DATA) -> None:
        """Take triples out of a graph."""
        with self.graph._one_writer:
            for quad in self._quads(said, graph):
                self.store.remove(quad)

    def current(self, at: datetime = NOW, scope: Scope = MAIN) -> Inferred:
        return self.inferences.current(scope, at, self.readers)

    def inferred(self, at: datetime = NOW, scope: Scope = MAIN) -> set[tuple[str, str, str]]:
        """The inferred triples, short."""
        self.current(at, scope)
        return {tuple(_short(term) for term in line) for line in self.graph.lines(scope.inferred)}  # type: ignore[misc]

    def proofs(self, subject: str, predicate: str) -> dict[str, set[tuple[str, str, str]]]:
        """The statements of each rule that leads to the triples of a subject and predicate."""
        text = bind_query("library/why", {"wantedSubject": IRI(subject), "wantedPredicate": IRI(predicate)})
        graphs = [ox.NamedNode(graph) for graph in (*MAIN.memory_graphs, DATA, MAIN.inferred)]
        rows = self.store.query(text, default_graph=[*graphs], named_graphs=[*graphs])
        assert isinstance(rows, ox.QuerySolutions)
        found: dict[str, set[tuple[str, str, str]]] = {}
        for row in rows:
            statement = tuple(_short(str(row[name])) for name in ("subject", "predicate", "object"))
            found.setdefault(str(row["rule"].value), set()).add(statement)  # type: ignore[arg-type]
        return found

    def _quads(self, said: str, graph: IRI) -> Iterable[ox.Quad]:
        fresh = ox.Store()
        fresh.update(f"{PREFIXES} INSERT DATA {{ GRAPH <{graph}> {{ {said} }} }}")
        return fresh


def _short(term: str) -> str:
    bases = (
        ("ex", "http://example.org/"),
        ("mem", MEM.base),
        ("rdf", RDF.base),
        ("rdfs", RDFS.base),
        ("owl", OWL.base),
    )
    for name, base in bases:
        if term.startswith(f"<{base}"):
            return f"{name}:{term[len(base) + 1 : -1]}"
    return term


PLACES = "ex:partOf a owl:TransitiveProperty . ex:lisbon ex:partOf ex:portugal . ex:portugal ex:partOf ex:europe ."


def test_nothing_follows_where_nothing_is_declared() -> None:
    world = World("ex:lisbon ex:partOf ex:portugal . ex:portugal ex:partOf ex:europe .")

    assert world.inferred() == set()
    assert world.current() == Inferred(namespace="main", graph=MAIN.inferred)


@pytest.mark.parametrize(
    ("said", "follows"),
    [
        ("ex:p rdfs:subPropertyOf ex:q . ex:a ex:p ex:b .", {("ex:a", "ex:q", "ex:b")}),
        ('ex:p rdfs:subPropertyOf ex:q . ex:a ex:p "b"@en .', {("ex:a", "ex:q", '"b"@en')}),
        ("ex:p owl:equivalentProperty ex:q . ex:a ex:q ex:b .", {("ex:a", "ex:p", "ex:b")}),
        ("ex:p owl:inverseOf ex:q . ex:a ex:p ex:b .", {("ex:b", "ex:q", "ex:a")}),
        ('ex:p owl:inverseOf ex:q . ex:a ex:p "b" .', set()),
        ("ex:p a owl:SymmetricProperty . ex:a ex:p ex:b .", {("ex:b", "ex:p", "ex:a")}),
        (PLACES, {("ex:lisbon", "ex:partOf", "ex:europe")}),
        (
            "ex:q owl:propertyChainAxiom (ex:p ex:r) . ex:a ex:p ex:b . ex:b ex:r ex:c .",
            {("ex:a", "ex:q", "ex:c")},
        ),
        (
            "ex:q owl:propertyChainAxiom (ex:p ex:p ex:r) . ex:a ex:p ex:b . ex:b ex:p ex:c . ex:c ex:r ex:d .",
            {("ex:a", "ex:q", "ex:d")},
        ),
        (
            "ex:p rdfs:domain ex:C ; rdfs:range ex:D . ex:a ex:p ex:b .",
            {("ex:a", "rdf:type", "ex:C"), ("ex:b", "rdf:type", "ex:D")},
        ),
        ('ex:p rdfs:range ex:D . ex:a ex:p "b" .', set()),
        ("ex:C owl:equivalentClass ex:D . ex:a a ex:C .", {("ex:a", "rdf:type", "ex:D")}),
        (
            'ex:p rdfs:subPropertyOf ex:q . ex:a ex:p "2026-01-01T00:00:00Z"^^xsd:dateTime .',
            {("ex:a", "ex:q", '"2026-01-01T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>')},
        ),
        ("ex:p a owl:TransitiveProperty . ex:a ex:p [] . ex:b ex:p ex:c .", set()),
        ("ex:Cat rdfs:subClassOf ex:Animal . ex:tom a ex:Cat .", {("ex:tom", "rdf:type", "ex:Animal")}),
        (
            "ex:p rdfs:subPropertyOf ex:q . ex:a owl:sameAs ex:b . ex:a ex:p ex:c .",
            {("ex:a", "ex:q", "ex:c"), ("ex:b", "ex:p", "ex:c"), ("ex:b", "ex:q", "ex:c")},
        ),
    ],
)
def test_each_rule_does_what_its_axiom_says(said: str, follows: set[tuple[str, str, str]]) -> None:
    assert World(said).inferred() == follows


def test_no_name_is_ever_made_the_same_as_another() -> None:
    world = World(
        "owl:sameAs a owl:SymmetricProperty , owl:TransitiveProperty . ex:alias rdfs:subPropertyOf owl:sameAs . "
        "ex:p a owl:InverseFunctionalProperty , owl:FunctionalProperty . ex:a ex:p ex:c , ex:d . ex:b ex:p ex:c . "
        "ex:a owl:sameAs ex:b . ex:b owl:sameAs ex:e . ex:c ex:alias ex:d ."
    )

    assert {predicate for _, predicate, _ in world.inferred()} <= {"ex:p"}


def test_an_axiom_that_is_taken_back_takes_what_followed_from_it_along() -> None:
    world = World(PLACES)
    assert world.inferred()
    world.unsay("ex:partOf a owl:TransitiveProperty .")

    assert list(world.graph.lines(MAIN.inferred)) != []
    assert world.inferred() == set()
    assert list(world.graph.lines(MAIN.inferred)) == []


def test_what_two_proofs_carry_stays_when_one_of_them_goes_and_falls_with_the_second() -> None:
    world = World(f"{PLACES} ex:lisbon ex:partOf ex:iberia . ex:iberia ex:partOf ex:europe .")
    europe = ("ex:lisbon", "ex:partOf", "ex:europe")
    assert world.inferred() == {europe}

    world.unsay("ex:lisbon ex:partOf ex:portugal .")
    assert world.inferred() == {europe}

    world.unsay("ex:iberia ex:partOf ex:europe .")
    assert world.inferred() == set()


def test_what_rests_on_something_inferred_goes_with_it_many_steps_away() -> None:
    steps = " ".join(f"ex:n{i} ex:partOf ex:n{i + 1} ." for i in range(20))
    world = World(f"ex:partOf a owl:TransitiveProperty ; rdfs:subPropertyOf ex:within . {steps}")
    assert ("ex:n0", "ex:within", "ex:n20") in world.inferred()
    world.unsay("ex:n10 ex:partOf ex:n11 .")

    assert not any(int(s[4:]) <= 10 < int(o[4:]) for s, _, o in world.inferred())
    assert ("ex:n11", "ex:within", "ex:n20") in world.inferred()


def test_a_circle_does_not_carry_itself() -> None:
    world = World(
        "ex:partOf a owl:TransitiveProperty . ex:a ex:partOf ex:b . ex:b ex:partOf ex:a . ex:b ex:partOf ex:c ."
    )
    assert ("ex:a", "ex:partOf", "ex:c") in world.inferred()
    world.unsay("ex:b ex:partOf ex:c .")

    assert world.inferred() == {("ex:a", "ex:partOf", "ex:a"), ("ex:b", "ex:partOf", "ex:b")}


def test_what_is_stated_after_it_was_inferred_is_inferred_no_more() -> None:
    world = World(PLACES)
    world.current()
    world.say("ex:lisbon ex:partOf ex:europe .")

    assert world.inferred() == set()
    world.unsay("ex:lisbon ex:partOf ex:europe .")
    assert world.inferred() == {("ex:lisbon", "ex:partOf", "ex:europe")}


def test_more_than_is_allowed_is_not_inferred_at_all_until_it_is_less() -> None:
    world = World(PLACES, most=5)
    assert world.current().is_complete
    chain = " ".join(f"ex:n{i} ex:partOf ex:n{i + 1} ." for i in range(6))
    world.say(chain)

    assert not world.current().is_complete
    assert not world.current().is_complete
    assert list(world.graph.lines(MAIN.inferred)) == []
    world.unsay(chain)
    assert world.inferred() == {("ex:lisbon", "ex:partOf", "ex:europe")}


def test_several_values_where_there_can_be_one_are_a_contradiction_and_no_identity() -> None:
    world = World("ex:born a owl:FunctionalProperty . ex:ada ex:born ex:london , ex:paris .")

    assert world.inferred() == set()
    assert world.current().contradictions == 1
    world.say("ex:paris owl:sameAs ex:london .")
    assert world.current().contradictions == 0


def test_a_reader_without_main_gets_what_follows_without_it() -> None:
    world = World("ex:partOf a owl:TransitiveProperty . ex:a ex:partOf ex:b .")
    world.say("ex:b ex:partOf ex:c .", Scope().graph)
    alone, both = Scope(namespace="work", with_main=False), Scope(namespace="work")

    assert world.inferred(scope=both) == {("ex:a", "ex:partOf", "ex:c")}
    assert world.inferred(scope=alone) == set()
    assert alone.inferred != both.inferred


def test_another_tenant_has_no_part_in_it() -> None:
    world = World(PLACES)

    assert world.inferred(scope=Scope(tenant="other")) == set()


def test_a_new_process_finds_the_graph_as_it_must_be_and_mends_it_where_it_is_not() -> None:
    world = World(PLACES)
    before = world.inferred()
    world.unsay("ex:portugal ex:partOf ex:europe .")  # and nobody asks before the process ends
    again = Inferences(world.graph)
    found = again.current(MAIN, NOW, make_readers(again, 100))

    assert before
    assert found.triples == 0
    assert list(world.graph.lines(MAIN.inferred)) == []


def test_a_write_that_nobody_told_of_is_seen_all_the_same() -> None:
    world = World(PLACES)
    world.current()
    with world.graph._one_writer:
        world.store.update(f"{PREFIXES} INSERT DATA {{ GRAPH <{DATA}> {{ ex:porto ex:partOf ex:portugal }} }}")

    assert ("ex:porto", "ex:partOf", "ex:europe") in world.inferred()


def test_nothing_is_written_when_nothing_new_follows() -> None:
    world = World(PLACES)
    world.current()
    world.say("ex:lisbon ex:mayor ex:somebody .")
    writes = world.graph.writes
    world.current()

    assert world.graph.writes == writes


def test_each_conclusion_is_proved_by_a_query() -> None:
    world = World(
        f"{PLACES} ex:partOf rdfs:subPropertyOf ex:within ; owl:inverseOf ex:has ; rdfs:domain ex:Place . "
        "ex:Place rdfs:subClassOf ex:Thing . ex:lisboa owl:sameAs ex:lisbon . "
    )
    world.current()
    axiom = ("ex:partOf", "rdf:type", "owl:TransitiveProperty")

    assert world.proofs("http://example.org/lisbon", "http://example.org/partOf") == {
        "prp-trp": {axiom, ("ex:lisbon", "ex:partOf", "ex:portugal"), ("ex:portugal", "ex:partOf", "ex:europe")},
        "eq-rep-s": {("ex:lisbon", "owl:sameAs", "ex:lisboa"), ("ex:lisboa", "ex:partOf", "ex:europe")},
        "prp-inv2": {("ex:partOf", "owl:inverseOf", "ex:has"), ("ex:europe", "ex:has", "ex:lisbon")},
    }
    assert set(world.proofs("http://example.org/portugal", "http://example.org/within")) == {"prp-spo1"}
    assert set(world.proofs("http://example.org/portugal", str(RDF.type))) == {"prp-dom", "cax-sco"}


NODES, PROPERTIES = "abcd", "pqr"
node, prop_ = st.sampled_from(NODES), st.sampled_from(PROPERTIES)
kinds = st.sampled_from("CDE")
statements = st.one_of(
    *[st.builds(lambda s, p, o: f"ex:{s} ex:{p} ex:{o} .", node, prop_, node)] * 3,
    st.builds(lambda s, kind: f"ex:{s} a ex:{kind} .", node, kinds),
    st.builds(lambda s, o: f"ex:{s} owl:sameAs ex:{o} .", node, node),
    *(
        st.builds(lambda p, q, of=of: f"ex:{p} {of} ex:{q} .", prop_, prop_)
        for of in ("rdfs:subPropertyOf", "owl:inverseOf", "owl:equivalentProperty")
    ),
    *(st.builds(lambda p, of=of: f"ex:{p} a owl:{of}Property .", prop_) for of in ("Transitive", "Symmetric")),
    *(st.builds(lambda p, c, of=of: f"ex:{p} rdfs:{of} ex:{c} .", prop_, kinds) for of in ("domain", "range")),
    *(
        st.builds(lambda c, d, of=of: f"ex:{c} {of} ex:{d} .", kinds, kinds)
        for of in ("rdfs:subClassOf", "owl:equivalentClass")
    ),
    st.builds(lambda p, q, r: f"ex:{p} owl:propertyChainAxiom (ex:{q} ex:{r}) .", prop_, prop_, prop_),
)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.booleans(), statements), min_size=1, max_size=20))
def test_after_any_changes_it_is_what_a_new_process_infers_and_everything_is_proved(
    changes: list[tuple[bool, str]],
) -> None:
    world = World()
    for is_said, triple in changes:
        if is_said or "(" in triple:
            world.say(triple)
        else:
            world.unsay(triple)
        world.current()
    inferred = world.inferred()
    again = Inferences(world.graph)
    again.current(MAIN, NOW, make_readers(again, MOST))

    assert {tuple(_short(term) for term in line) for line in world.graph.lines(MAIN.inferred)} == inferred
    for subject, predicate, _ in inferred:
        written = str(RDF.type) if predicate == "rdf:type" else predicate.replace("ex:", "http://example.org/")
        assert world.proofs(subject.replace("ex:", "http://example.org/"), written)
