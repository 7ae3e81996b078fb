"""The graph of inferences is what the rules' own queries give, whatever came and went before; proofs hold up."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from graphlib import TopologicalSorter

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memento import assets
from memento.graph.binding import load_query
from memento.graph.closure import RULES, describe_rule
from memento.graph.inferences import Inferences
from memento.graph.oxigraph import Oxigraph
from memento.iris import IRI, MEM, RDF, data_iri
from memento.model import Inferred, Scope

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MAIN = Scope()
DATA = data_iri("local", "company")
PREFIXES = """
PREFIX ex: <http://example.org/> PREFIX owl: <http://www.w3.org/2002/07/owl#> PREFIX mem: <http://purl.org/memento/>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
PREFIX skos: <http://www.w3.org/2004/02/skos/core#> PREFIX entity: <urn:memento:entity:> PREFIX memory: <urn:memento:memory:>
PREFIX prov: <http://www.w3.org/ns/prov#> PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
"""
OWN = ("<urn:memento:inference:", "<urn:memento:statement:", "<urn:memento:contradiction:")


class World:
    """A store with inferences over it; what is said in it is told to them as a write is."""

    def __init__(self, said: str = "", most: int = 10_000) -> None:
        self.graph = Oxigraph()
        self.inferences = Inferences(self.graph, most)
        self.graph.after_write = self.inferences.note_write
        with self.graph.reading() as store:
            self.store = store
        self.say(said)

    def say(self, said: str, graph: IRI = DATA) -> None:
        """Put triples into a graph."""
        quads = list(self._quads(said, graph))
        with self.graph._one_writer:
            self.store.extend(quads)
            self._touched(quads)

    def unsay(self, said: str, graph: IRI = DATA) -> None:
        """Take triples out of a graph."""
        quads = list(self._quads(said, graph))
        with self.graph._one_writer:
            for quad in quads:
                self.store.remove(quad)
            self._touched(quads)

    def current(self, at: datetime = NOW, scope: Scope = MAIN) -> Inferred:
        return self.inferences.current(scope, at)

    def inferred(self, at: datetime = NOW, scope: Scope = MAIN) -> set[tuple[str, str, str]]:
        """The inferred triples, short, without what is said of them."""
        self.current(at, scope)
        lines = (line for line in self.graph.lines(scope.inferred) if not line[0].startswith(OWN))
        return {tuple(_short(term) for term in line) for line in lines}  # type: ignore[misc]

    def asked(self, sparql: str, scope: Scope = MAIN) -> list[tuple[str, ...]]:
        """The rows of a query over everything that the scope reads and what follows from it."""
        graphs = [ox.NamedNode(graph) for graph in (*scope.readable, DATA, scope.inferred)]
        rows = self.store.query(PREFIXES + sparql, default_graph=list(graphs), named_graphs=list(graphs))
        assert isinstance(rows, ox.QuerySolutions)
        return [tuple(_short(str(term)) for term in row) for row in rows]

    def _quads(self, said: str, graph: IRI) -> Iterable[ox.Quad]:
        fresh = ox.Store()
        fresh.update(f"{PREFIXES} INSERT DATA {{ GRAPH <{graph}> {{ {said} }} }}")
        return fresh

    def _touched(self, quads: Iterable[ox.Quad]) -> None:
        subjects = (quad.subject for quad in quads)
        self.inferences.note_write([IRI(one.value if isinstance(one, ox.NamedNode) else str(one)) for one in subjects])


def _short(term: str) -> str:
    for name, base in (("ex", "http://example.org/"), ("mem", MEM.base), ("urn", "urn:memento:"), ("rdf", RDF.base)):
        if term.startswith(f"<{base}"):
            return f"{name}:{term[len(base) + 1 : -1]}"
    return term


def assert_well_founded(world: World) -> None:
    """No chain of proofs comes back to where it began."""
    rests_on: dict[str, set[str]] = {}
    for conclusion, premise in world.asked("SELECT ?c ?p { ?i mem:concludes ?c ; mem:premise ?p }"):
        rests_on.setdefault(conclusion, set()).add(premise)
    assert list(TopologicalSorter(rests_on).static_order()) or not rests_on


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
    assert world.current().by_rule == {"prp-trp": 2}

    world.unsay("ex:lisbon ex:partOf ex:portugal .")
    assert world.inferred() == {europe}
    assert world.current().by_rule == {"prp-trp": 1}

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
    world = World(PLACES, most=4)
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
    assert world.asked(
        "SELECT ?s ?p ?o { ?c a mem:Contradiction ; rdf:subject ?s ; rdf:predicate ?p ; rdf:object ?o } ORDER BY ?o"
    ) == [
        ("ex:ada", "ex:born", "ex:london"),
        ("ex:ada", "ex:born", "ex:paris"),
    ]
    world.say("ex:paris owl:sameAs ex:london .")
    assert world.current().contradictions == 0
    assert world.asked("SELECT ?c { ?c a mem:Contradiction }") == []


def test_everything_inferred_has_a_proof_and_no_proof_rests_on_what_it_proves() -> None:
    world = World(
        f"{PLACES} ex:partOf owl:inverseOf ex:has . ex:has a owl:TransitiveProperty . ex:has rdfs:subPropertyOf ex:knows . "
        "ex:knows a owl:SymmetricProperty . ex:lisbon owl:sameAs ex:lisboa ."
    )
    triples = world.inferred()
    concluded = (
        "?i a mem:Inference ; mem:rule ?r ; mem:concludes ?c . ?c rdf:subject ?s ; rdf:predicate ?p ; rdf:object ?o"
    )
    proved = world.asked(f"SELECT ?s ?p ?o {{ {concluded} }}")

    assert set(proved) == triples
    assert_well_founded(world)
    premises = "?i mem:premise ?c . FILTER NOT EXISTS { ?c mem:statedIn ?g } FILTER NOT EXISTS { ?j mem:concludes ?c }"
    assert world.asked(f"SELECT ?c {{ {premises} }}") == []
    assert not any("_:" in term for line in world.graph.lines(MAIN.inferred) for term in line)


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
    again = Inferences(world.graph, 100)
    found = again.current(MAIN, NOW)

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


# Against the queries that state the rules

NODES, PROPERTIES = "abcd", "pqr"
node, prop_ = st.sampled_from(NODES), st.sampled_from(PROPERTIES)
facts = st.builds(lambda s, p, o: f"ex:{s} ex:{p} ex:{o} .", node, prop_, node)
axioms = st.one_of(
    st.builds(lambda p, q: f"ex:{p} rdfs:subPropertyOf ex:{q} .", prop_, prop_),
    st.builds(lambda p, q: f"ex:{p} owl:inverseOf ex:{q} .", prop_, prop_),
    st.builds(lambda p, q: f"ex:{p} owl:equivalentProperty ex:{q} .", prop_, prop_),
    st.builds(lambda p: f"ex:{p} a owl:TransitiveProperty .", prop_),
    st.builds(lambda p: f"ex:{p} a owl:SymmetricProperty .", prop_),
    st.builds(lambda p: f"ex:{p} a owl:FunctionalProperty .", prop_),
    st.builds(lambda p, q, r: f"ex:{p} owl:propertyChainAxiom (ex:{q} ex:{r}) .", prop_, prop_, prop_),
)
classes = st.one_of(
    st.builds(lambda c, d: f"ex:{c} rdfs:subClassOf ex:{d} .", st.sampled_from("CDE"), st.sampled_from("CDE")),
    st.builds(lambda n, c: f"ex:{n} a ex:{c} .", node, st.sampled_from("CDE")),
)
same = st.builds(lambda s, o: f"ex:{s} owl:sameAs ex:{o} .", node, node)
steps = st.lists(
    st.tuples(st.booleans(), st.one_of(facts, facts, facts, axioms, same, classes)), min_size=1, max_size=25
)


def by_queries(world: World) -> set[tuple[str, str, str]]:
    """What the queries of the rules give when they are run until nothing new comes, without what is stated."""
    store = ox.Store()
    store.extend(
        ox.Quad(q.subject, q.predicate, q.object)
        for q in world.store.quads_for_pattern(None, None, None, ox.NamedNode(DATA))
    )
    store.load(assets.read("ontology/rules.ttl"), ox.RdfFormat.TURTLE)
    stated = set(store)
    texts = [load_query(name).text for name in dict.fromkeys(RULES.values()) if "CONSTRUCT" in load_query(name).text]
    size = -1
    while size != len(store):
        size = len(store)
        for text in texts:
            found = store.query(text)
            assert isinstance(found, ox.QueryTriples)
            store.extend([ox.Quad(*triple) for triple in found])
    new = set(store) - stated
    return {(_short(str(q.subject)), _short(str(q.predicate)), _short(str(q.object))) for q in new}


@settings(max_examples=40)
@given(steps)
def test_it_is_what_the_queries_of_the_rules_give_after_every_step(changes: list[tuple[bool, str]]) -> None:
    world = World()
    world.current()
    for number, (is_said, triple) in enumerate(changes):
        if is_said or "(" in triple:
            world.say(triple)
        else:
            world.unsay(triple)
        if number % 3 == 2:
            assert world.inferred() == by_queries(world)
    assert world.inferred() == by_queries(world)
    lines = set(world.graph.lines(MAIN.inferred))
    Inferences(world.graph, 10_000).current(MAIN, NOW)
    fresh = set(world.graph.lines(MAIN.inferred))
    assert {line for line in lines if not line[0].startswith(OWN)} == {
        line for line in fresh if not line[0].startswith(OWN)
    }
    assert_well_founded(world)


@settings(max_examples=30)
@given(steps)
def test_contradictions_are_what_the_query_of_their_rule_finds(changes: list[tuple[bool, str]]) -> None:
    world = World("ex:p a owl:FunctionalProperty . ex:q rdfs:subPropertyOf ex:p .")
    world.current()
    for _, triple in changes:
        world.say(triple)
    world.inferred()
    select = load_query("inference/functional").text
    found = {(subject, predicate) for subject, predicate, *_ in world.asked(select)}
    told = "SELECT ?s ?p { ?c a mem:Contradiction ; rdf:subject ?s ; rdf:predicate ?p }"

    assert set(world.asked(told)) == found


def test_every_rule_has_a_sentence() -> None:
    assert all(describe_rule(rule).endswith(".") for rule in RULES)
