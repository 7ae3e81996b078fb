"""Memory inside a query is put in as rows, patterns and tables, and the answer is what the blocks as they stand would give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memento.errors import Forbidden, GraphError, InputError, MementoError
from memento.iris import IRI
from memento.settings import LimitsSettings
from memento.sparql.guard import read_sparql
from memento.sparql.rewrite import SERVICES, MemoryAccess, SearchBlock, is_without_memory, rewrite_query

PREFIX = (
    "PREFIX mem: <http://purl.org/memento/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> PREFIX ex: <http://e/> "
)
ROWS = [(IRI("http://e/a"), 0.75), (IRI("http://e/b"), 0.5)]
VALUES = 'VALUES (?m ?s) { (ex:a "0.75"^^xsd:double) (ex:b "0.5"^^xsd:double) }'
BLOCK = 'SERVICE mem:search { ?m mem:matches "a question" ; mem:score ?s }'


class Told:
    """A memory that has one answer to everything, and takes note of what it was asked."""

    def __init__(self, rows: Sequence[tuple[IRI, float]] = ROWS, failure: Exception | None = None) -> None:
        self.rows, self.failure = rows, failure
        self.searches: list[tuple[str, SearchBlock]] = []
        self.compared: list[tuple[str, bool]] = []

    def recalled(self, question: str, asked: SearchBlock) -> Sequence[tuple[IRI, float]]:
        self.searches.append((question, asked))
        if self.failure:
            raise self.failure
        return self.rows

    def likeness(self, asked: str, is_iri: bool) -> bytes:
        self.compared.append((asked, is_iri))
        return b""

    @property
    def access(self) -> MemoryAccess:
        return MemoryAccess(zone=UTC, recall=self.recalled, compare=self.likeness)


def put_in(sparql: str, told: Told | None = None) -> str:
    edited, _ = rewrite_query(
        read_sparql(PREFIX + sparql, LimitsSettings(), services=SERVICES), (told or Told()).access
    )
    return edited.text


def asked(sparql: str) -> Told:
    told = Told()
    put_in(sparql, told)
    return told


def rows(sparql: str, store: ox.Store | None = None) -> Counter[tuple[tuple[str, str], ...]]:
    found = (store or ox.Store()).query(sparql)
    assert isinstance(found, ox.QuerySolutions)
    names = [variable.value for variable in found.variables]
    told = ({name: str(term) for name, term in zip(names, row, strict=True) if term is not None} for row in found)
    return Counter(tuple(sorted(row.items())) for row in told)


@pytest.mark.parametrize(
    "block",
    [
        BLOCK,
        'SERVICE SILENT mem:search { ?m mem:matches "a question" ; mem:score ?s }',
        'SERVICE <http://purl.org/memento/search> { ?m <http://purl.org/memento/matches> """a question""" ; mem:score ?s . }',
        "service mem:search{?m mem:matches'a question';mem:score?s}",
        'SERVICE mem:search { # a comment with }\n ?m mem:score ?s . ?m mem:matches "a question"@en ; }',
        'BIND("a question" AS ?q) SERVICE mem:search { ?m mem:matches ?q ; mem:score ?s }',
        'SERVICE mem:search { VALUES ?q { "a question" } ?m mem:matches ?q ; mem:score ?s }',
        'SERVICE mem:search { $m mem:matches "a\\u0020question" ; mem:score $s } .',
    ],
)
def test_a_block_becomes_the_rows_of_a_recall_however_it_is_written(block: str) -> None:
    told = Told()
    text = put_in(f"SELECT ?m ?s {{ {block} }}", told)

    assert rows(text) == rows(f"{PREFIX} SELECT ?m ?s {{ {VALUES} }}")
    assert [question for question, _ in told.searches] == ["a question"]


def test_prefixes_and_bases_are_those_of_the_query() -> None:
    named = read_sparql(
        'BASE <http://purl.org/> PREFIX m: <memento/> ASK { SERVICE m:search { ?m <memento/matches> "q" } }',
        LimitsSettings(),
        services=SERVICES,
    )
    edited, _ = rewrite_query(named, Told().access)

    assert "SERVICE" not in edited.text


def test_everything_about_the_recall_can_be_said() -> None:
    told = asked(
        'ASK { SERVICE mem:search { ?m mem:matches "q" ; mem:rank ?r ; mem:limit 3 ; mem:asOf "2026-03-01"^^xsd:date ; '
        'mem:believedAt "2026-04-01T10:00:00+02:00" ; mem:engine "ppr" ; mem:profile "seed" ; mem:gate false } }'
    )
    [(_, search)] = told.searches

    assert (search.memory, search.score, search.rank, search.k) == ("m", "", "r", 3)
    assert (search.engine, search.profile, search.gate) == ("ppr", "seed", False)
    assert search.as_of is not None
    assert search.believed_at is not None
    assert (search.as_of.isoformat(), search.believed_at.isoformat()) == (
        "2026-03-01T00:00:00+00:00",
        "2026-04-01T08:00:00+00:00",
    )


def test_several_questions_in_values_are_several_recalls_each_with_its_rows() -> None:
    told = Told()
    text = put_in(
        'SELECT ?q ?m ?r { VALUES ?q { "one" "two"@en } SERVICE mem:search { ?m mem:matches ?q ; mem:rank ?r } }', told
    )

    assert [question for question, _ in told.searches] == ["one", "two"]
    assert sum(rows(text).values()) == 4


def test_a_question_that_is_given_twice_is_asked_once_and_counts_as_often_as_it_is_given() -> None:
    told = Told()
    text = put_in("SELECT * { VALUES ?q { 'one' \"one\" 'two' } SERVICE mem:search { ?m mem:matches ?q } }", told)

    assert [question for question, _ in told.searches] == ["one", "two"]
    assert sum(rows(text).values()) == 3 * len(ROWS)


def test_no_memory_is_no_row() -> None:
    assert rows(put_in(f"SELECT * {{ {BLOCK} }}", Told([]))) == Counter()


def test_a_failing_recall_fails_the_query_but_for_silent() -> None:
    told = Told(failure=GraphError("the store failed"))

    with pytest.raises(GraphError):
        put_in(f"SELECT * {{ {BLOCK} }}", told)
    assert sum(rows(put_in(f"SELECT * {{ {BLOCK.replace('mem:search', 'SILENT mem:search')} }}", told)).values()) == 1


def test_no_text_becomes_syntax() -> None:
    told = Told([(IRI("http://e/a"), 0.5)])
    text = put_in("SELECT * { SERVICE mem:search { ?m mem:matches '''} SERVICE <http://e/> { \"''' } }", told)

    assert told.searches[0][0] == '} SERVICE <http://e/> { "'
    assert sum(rows(text).values()) == 1
    with pytest.raises(GraphError):
        put_in(f"ASK {{ {BLOCK} }}", Told([(IRI("http://e/> } SERVICE <x>"), 0.5)]))


FORM = r".*Write SERVICE mem:search \{"


@pytest.mark.parametrize(
    ("sparql", "message"),
    [
        (
            "ASK { SERVICE mem:search { ?m mem:matches ?q } ?x ex:p ?q }",
            r"line 2, column 43 .*\?q is bound to none.*" + FORM,
        ),
        ("ASK { VALUES ?q { 'a' UNDEF } SERVICE mem:search { ?m mem:matches ?q } }", r"\?q is bound to none"),
        ("ASK { BIND(STR(?x) AS ?q) SERVICE mem:search { ?m mem:matches ?q } }", r"\?q is bound to none"),
        ("ASK { { BIND('a' AS ?q) } SERVICE mem:search { ?m mem:matches ?q } }", r"\?q is bound to none"),
        ("ASK { SERVICE mem:search { } }", "line 2, column 7 .*the block is empty" + FORM),
        ("ASK { SERVICE mem:search { ?m mem:score ?s } }", "line 2, column 7 .*mem:matches is missing" + FORM),
        ("ASK { SERVICE mem:search { ?m mem:matches 3 } }", "line 2, column 43 .*takes a text"),
        ("ASK { SERVICE mem:search { ?m mem:matches ex:q } }", "line 2, column 43 .*takes a text"),
        ("ASK { SERVICE mem:search { ?m mem:matches 'a' , 'b' } }", "line 2, column 47 .*one value"),
        ("ASK { SERVICE mem:search { ?m mem:matches 'a' ; mem:matches 'b' } }", "line 2, column 49 .*twice"),
        (
            "ASK { SERVICE mem:search { ?m mem:matches 'a' ; mem:about ?e } }",
            "line 2, column 49 .*mem:about is not known",
        ),
        ("ASK { SERVICE mem:search { ?m mem:matches 'a' . ?e ex:p ?m } }", "line 2, column 49 .*one memory"),
        ("ASK { SERVICE mem:search { ex:a mem:matches 'a' } }", "line 2, column 28 .*'ex:a' cannot stand here"),
        ("ASK { SERVICE mem:search { ?m mem:matches 'a' ; mem:score 1 } }", "line 2, column 59 .*takes a variable"),
        ("ASK { SERVICE mem:search { ?m mem:matches 'a' ; mem:score ?m } }", "line 2, column 7 .*two places"),
        ("ASK { SERVICE mem:search { ?m mem:matches 'a' ; mem:limit 'x' } }", "line 2, column 59 .*whole number"),
        ("ASK { SERVICE mem:search { ?m mem:matches 'a' ; mem:asOf 'soon' } }", "line 2, column 58 .*ISO 8601"),
        ("ASK { SERVICE mem:search { ?m mem:matches 'a' ; mem:gate 'x' } }", "line 2, column 58 .*true or false"),
        ("ASK { SERVICE mem:search { ?m a mem:Memory } }", "line 2, column 31 .*'a' is no property"),
        ("ASK { SERVICE mem:asOf { ?m mem:matches 'a' } }", "line 2, column 29 .*mem:validOn"),
        ("ASK { FILTER(mem:similarity(?m, ?t) > 0.5) ?m ex:p ?t }", r"line 2, column 33 .*\?t is bound to none"),
        ("ASK { FILTER(mem:similarity(?m) > 0.5) }", "line 2, column 14 .*two arguments"),
        ("ASK { ?m ?p ?o } ORDER BY mem:similarity(?m,", "line 2, column 27 .*two arguments"),
        ("ASK { FILTER(mem:similarity(?m, STR('a')) > 0.5) }", "line 2, column 33 .*no expression"),
        ("ASK { FILTER(mem:similarity(?m, 3) > 0.5) }", "line 2, column 33 .*a text or a memory"),
        (
            "ASK { VALUES ?q { "
            + " ".join(f"'{n}'" for n in range(21))
            + " } SERVICE mem:search { ?m mem:matches ?q } }",
            "20 questions",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_place_and_the_right_form(sparql: str, message: str) -> None:
    with pytest.raises(InputError, match=f"(?s){message}"):
        put_in("\n" + sparql)


def test_another_service_stays_forbidden() -> None:
    with pytest.raises(Forbidden):
        put_in(f"ASK {{ {BLOCK} SERVICE <http://e/> {{ ?m ?p ?o }} }}")


def test_a_query_without_memory_in_it_is_known_as_such() -> None:
    plain, asking = "ASK { ?m mem:score ?s }", "ASK { FILTER(mem:similarity(?m, 'a') > 0.5) }"

    assert is_without_memory(read_sparql(PREFIX + plain, LimitsSettings(), services=SERVICES))
    assert not is_without_memory(read_sparql(PREFIX + asking, LimitsSettings(), services=SERVICES))


@pytest.mark.parametrize(
    ("sparql", "compared"),
    [
        ('SELECT (mem:similarity(?m, "a") AS ?x) { ?m ?p ?o }', [("a", False)]),
        ('SELECT * { ?m ?p ?o } ORDER BY DESC(mem:similarity(?m, "a"))', [("a", False)]),
        ('SELECT * { ?m ?p ?o } ORDER BY mem:similarity(?m, ?t) VALUES ?t { "a" "b" }', [("a", False), ("b", False)]),
        ("SELECT * { ?m ?p ?o FILTER(mem:similarity(?m, ex:other) > 0.5) }", [("http://e/other", True)]),
        ('SELECT * { { SELECT ?m { ?m ?p ?o BIND("a" AS ?t) } ORDER BY mem:similarity(?m, ?t) } }', [("a", False)]),
        ("SELECT * { BIND(mem:similarity(?m, 'a') AS ?x) BIND(mem:similarity(?n, 'a') AS ?y) }", [("a", False)]),
    ],
)
def test_what_memories_are_compared_with_is_known_beforehand(sparql: str, compared: list[tuple[str, bool]]) -> None:
    assert asked(sparql).compared == compared


def test_an_error_of_the_engine_is_found_at_its_place_in_what_was_written() -> None:
    sparql = f"SELECT * {{\n {BLOCK}\n ?m ?p ?o . wrong\n}}"
    edited, _ = rewrite_query(read_sparql(PREFIX + sparql, LimitsSettings(), services=SERVICES), Told().access)
    at = edited.text.index("wrong")
    line, column = edited.text[:at].count("\n") + 1, at - edited.text.rfind("\n", 0, at)

    assert edited.original_place(line, column) == (3, 13)


# The rows may stand somewhere else than the block did; the answer is the same.

TRIPLES = st.sampled_from(
    [
        "?m ex:p ?x .",
        "?x ex:p ?m .",
        "?m ex:q ?y .",
        "?x ex:q ?y .",
        "?m (ex:p|ex:q)+ ?y .",
        "GRAPH ex:g { ?m ex:p ?x }",
    ]
)
SIMPLE = st.one_of(
    TRIPLES,
    st.sampled_from(
        [
            "FILTER(!BOUND(?s) || ?s > 0.6)",
            # Of a variable that its group does not bind, or of a name that is used elsewhere too, the engine's EXISTS is not sure.
            "?m ex:q ?k . FILTER EXISTS { ?m ex:p ?only }",
            "BIND(?m AS ?z)",
            "BIND(?s * 2 AS ?w)",
            "VALUES ?y { ex:c UNDEF }",
            "{ SELECT ?m (COUNT(?x) AS ?n) { ?m ex:p ?x } GROUP BY ?m }",
        ]
    ),
)
INNER = st.lists(SIMPLE, min_size=1, max_size=3).map(" ".join)
ELEMENT = st.one_of(
    SIMPLE,
    INNER.map(lambda inner: f"OPTIONAL {{ {inner} }}"),
    INNER.map(lambda inner: f"MINUS {{ {inner} }}"),
    st.tuples(INNER, INNER).map(lambda two: f"{{ {two[0]} }} UNION {{ {two[1]} }}"),
    INNER.map(lambda inner: f"GRAPH ?g {{ {inner} }}"),
)
DATA = """PREFIX ex: <http://e/> INSERT DATA {
 ex:a ex:p ex:b ; ex:q ex:c . ex:b ex:p ex:c . ex:c ex:p ex:a ; ex:q ex:c . ex:d ex:q ex:b , ex:a .
 GRAPH ex:g { ex:a ex:p ex:b . ex:d ex:p ex:c . ex:b ex:q ex:a } }"""


@settings(max_examples=80)
@given(
    st.lists(ELEMENT, max_size=4),
    st.lists(ELEMENT, max_size=3),
    st.sampled_from(["", "OPTIONAL", "MINUS", "GRAPH ex:g"]),
)
def test_where_the_rows_are_put_changes_no_answer(before: list[str], after: list[str], around: str) -> None:
    def query(block: str) -> str:
        inside = f"{' '.join(before)} {block} {' '.join(after)}"
        return f"SELECT * {{ {f'?m ex:q ?u . {around} {{ {inside} }}' if around else inside} }}"

    store = ox.Store()
    store.update(DATA)
    try:
        expected = rows(PREFIX + query(f"{{ {VALUES} }}"), store)
    except SyntaxError:
        return  # a variable that is bound twice

    assert rows(put_in(query(BLOCK)), store) == expected


PIECES = st.sampled_from(
    [
        *(
            "SELECT",
            "*",
            "{",
            "}",
            "(",
            ")",
            ".",
            ";",
            ",",
            "?m",
            "?q",
            "'a'",
            '"b"@en',
            "3",
            "-",
            "true",
            "a",
            "UNION",
            "AS",
        ),
        *(
            "OPTIONAL",
            "MINUS",
            "FILTER",
            "BIND",
            "VALUES",
            "GRAPH",
            "EXISTS",
            "WHERE",
            "ORDER",
            "BY",
            "UNDEF",
            "^^",
            "xsd:date",
        ),
        *(
            "SERVICE",
            "SILENT",
            "mem:search",
            "mem:asOf",
            "mem:matches",
            "mem:score",
            "mem:limit",
            "mem:validOn",
            "mem:similarity",
        ),
        *("SERVICE mem:search {", "mem:similarity(", "ex:p", "<urn:x>", "wrong:x", "BIND(", "VALUES ?q {", BLOCK),
    ]
)


@settings(max_examples=150)
@given(st.lists(PIECES, max_size=30), st.lists(PIECES, max_size=3))
def test_whatever_is_written_is_rewritten_or_refused(pieces: list[str], behind: list[str]) -> None:
    text = " ".join(pieces)
    opened = text.count("{") - text.count("}")
    with suppress(MementoError):
        assert "SERVICE" not in put_in(f"SELECT * {{ {text} {'}' * max(opened + 1, 0)} {' '.join(behind)}")
