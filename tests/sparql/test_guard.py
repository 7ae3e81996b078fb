"""The guard of foreign SPARQL: what must pass, what must not, and that nothing it passes ends the process."""

from __future__ import annotations

import subprocess
import sys
import time
from bisect import bisect_left
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento.errors import Forbidden, InputError, MementoError, TooLong
from memento.settings import LimitsSettings
from memento.sparql.guard import read

LIMITS = LimitsSettings()
EVIL = "<http://127.0.0.1:1/>"


def passes(sparql: str) -> bool:
    try:
        read(sparql, LIMITS)
    except MementoError:
        return False
    return True


@pytest.mark.parametrize(
    "sparql",
    [
        "SELECT ?service WHERE { ?service ?load $insert }",
        "PREFIX ex: <http://x/service#> SELECT * { ?s ex:load ex:service ; ex:SERVICE.of 'LOAD' , \"SERVICE\"@en }",
        "ASK { ?s ?p '''it's ''a'' SERVICE''' , \"\"\"\"quoted\" \\\" CLEAR\"\"\" , '' , \"\" }",
        "ASK { } # SERVICE <x> { } ' \"",
        "BASE <http://x/> ASK { <service> <#load> <?q=(1)> }",
        "ASK { ?s ?p ?o FILTER(?o<5&&?o>=3 || !BOUND(?o) && -?o < +1.5e-3) }",
        "ASK { ?s (<urn:a>|^<urn:b#c>)/<http://x/#y>*/!(<urn:d>|<urn:e>) ?o }",
        "ASK { VALUES (?a ?b) { (<urn:a#(1)> <urn:b#'2'>) (UNDEF 'x'@en-GB) ('1'^^<urn:t> true) } }",
        "ASK { ?s ?p (1 <http://x/#(y)> [ ?q _:b.1 ]) , <<( <urn:a> <urn:b> <urn:c> )>> }",
        "PREFIX ö: <urn:ö> ASK { ö:ü\\,%20.é ö: 'é\\u00e9\\n' . FILTER EXISTS { ?s ?p ?o } }",
        "CONSTRUCT WHERE { ?s a ?t. ?s ?p 1.?o ?q true.}",
    ],
)
def test_a_query_that_only_reads_passes(sparql: str) -> None:
    read(sparql, LIMITS)


@pytest.mark.parametrize(
    ("sparql", "word"),
    [
        (f"ASK {{ SERVICE {EVIL} {{ ?s ?p ?o }} }}", "SERVICE"),
        (f"ASK {{ service silent {EVIL} {{ ?s ?p ?o }} }}", "SERVICE"),
        (f"ASK {{ SERVICESILENT{EVIL}{{?s ?p ?o}} }}", "SERVICE"),
        (f"ASK {{ ?s ?p 1SERVICE{EVIL}{{?s ?p ?o}} }}", "SERVICE"),
        ("PREFIX : <urn:x> ASK { ?s ?p true.SERVICE:x{?s ?p ?o} }", "SERVICE"),
        ("PREFIX SERVICEe: <urn:x> PREFIX e: <urn:y> ASK { SERVICEe:x {?s ?p ?o} }", "SERVICE"),
        (f"ASK {{ ?s ?p 'x'@enSERVICE{EVIL}{{?s ?p ?o}} }}", "SERVICE"),
        (f"ASK {{ ?s ?p 'x'@en--ltrSERVICE{EVIL}{{?s ?p ?o}} }}", "SERVICE"),
        ("LOAD <http://x/>", "LOAD"),
        ("INSERT DATA { <urn:a> <urn:b> <urn:c> }", "INSERT"),
        ("delete where { ?s ?p ?o }", "DELETE"),
        ("WITH <urn:g> DELETE { ?s ?p ?o } WHERE {}", "WITH"),
        ("CLEAR ALL", "CLEAR"),
        ("DROP GRAPH <urn:g>", "DROP"),
        ("CREATE GRAPH <urn:g>", "CREATE"),
        ("COPY <urn:a> TO <urn:b>", "COPY"),
        ("MOVE <urn:a> TO <urn:b>", "MOVE"),
        ("ADD <urn:a> TO <urn:b>", "ADD"),
        ("SELECT * FROM <urn:g> { ?s ?p ?o }", "FROM"),
        ("SELECT * from named <urn:g> { ?s ?p ?o }", "FROM"),
    ],
)
def test_what_reaches_out_or_writes_is_forbidden_by_name(sparql: str, word: str) -> None:
    with pytest.raises(Forbidden, match=word):
        read(sparql, LIMITS)


@pytest.mark.parametrize(
    "sparql",
    [
        "PREFIX : <urn:x> ASK { ?a ?b ?c FILTER(?a<?b)SERVICE:x#>\n{?s ?p ?o} }",
        f"ASK {{ ?a ?b ?c FILTER(?a<?b#>'''\n)SERVICE{EVIL}\n{{?s ?p ?o}} #'''\n }}",
        f"ASK {{ ?a ?b ?c FILTER(?a<'>'''' )SERVICE{EVIL}{{?s ?p ?o}} #'''\n }}",
        "PREFIX urn: <urn:> ASK { ?a ?b ?c FILTER(?a<urn:x#>'''\n)SERVICE urn:y{} #'''\n }",
        "ASK { FILTER(?a<" + "(" * 5000 + "1>0" + ")" * 5001 + " }",
    ],
)
def test_an_iri_that_could_hide_something_from_the_guard_is_refused(sparql: str) -> None:
    with pytest.raises(InputError, match="IRI or as a comparison"):
        read(sparql, LIMITS)


@pytest.mark.parametrize(
    ("sparql", "said"),
    [
        ("", "empty"),
        (" # nothing\n", "empty"),
        ("ASK { ?s ?p 'open }", "line 1"),
        ("ASK {\n ?s ?p '''open }", "line 2"),
        ("ASK { ?s ?p 'a\\q' }", "escape"),
        ("ASK { \\u0053ERVICE <urn:x> {} }", "not SPARQL"),
        ("ASK { \x00 }", "not SPARQL"),
        ("ASK { \ud800 }", "not SPARQL"),
        ("ASK { ?s ?p ( } )", "closes nothing"),
        ("ASK " + "{" * 51 + "}" * 51, "nested deeper than 50"),
        ("ASK { ?s ?p " + "[" * 60 + "]" * 60 + "}", "nested"),
        (f"SELECT ({'!' * 300}1 AS ?x) {{}}", "operators"),
        (f"SELECT ({'- ' * 300}1 AS ?x) {{}}", "operators"),
        (f"SELECT (?a<{'!' * 300}1> 0 AS ?x) {{}}", "operators"),
        (f"PREFIX : <urn:x> ASK {{ ?s {':p/' * 300}:p ?o }}", "operators"),
        (f"ASK {{ ?s ?p {'?o , ' * 2000} ?o }}", "VALUES"),
        (f"ASK {{ {'OPTIONAL{?s ?p ?o}' * 1000} }}", "VALUES"),
    ],
)
def test_what_the_engine_could_not_take_is_refused_with_a_reason(sparql: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(sparql, LIMITS)


def test_a_query_over_the_limit_is_too_long() -> None:
    with pytest.raises(TooLong, match="65536"):
        read("ASK {} #" + "x" * 65_536, LIMITS)


def test_thousands_of_values_pass() -> None:
    read("SELECT * { VALUES ?m { " + "<urn:uuid:0-1-2-3> " * 3000 + "} ?m ?p ?o }", LIMITS)


@pytest.mark.parametrize(
    "part", ["a.", "a.a", "<", "<a ", "'", "''", "a:", "a:.", "?", "(1<a>", "_:a.", "\\", "@a-", "1.", "..", "é-·"]
)
def test_the_time_it_takes_is_linear(part: str) -> None:
    begin = time.perf_counter()
    passes("ASK { " + part * (60_000 // len(part.encode())))

    assert time.perf_counter() - begin < 1.0


PIECES = [
    "ASK",
    "SELECT",
    "WHERE",
    "FILTER",
    "BIND",
    "VALUES",
    "OPTIONAL",
    "UNION",
    "MINUS",
    "GRAPH",
    "EXISTS",
    "IF(",
    "IN",
    "SERVICE",
    "LOAD",
    "FROM",
    "service:",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<<",
    ">>",
    "<<(",
    ")>>",
    "<",
    ">",
    "<=",
    "=",
    "!",
    "-",
    "+",
    "*",
    "/",
    "|",
    "^",
    "&&",
    "||",
    ".",
    ",",
    ";",
    "@en",
    "^^",
    "1",
    "1.5e3",
    "true",
    "a",
    "_:b",
    "?x",
    "$y",
    ":p",
    "ex:q.r",
    "<urn:a>",
    "<a#b>",
    "<?b#>",
    "'x'",
    '"y"',
    "'''",
    '"""',
    "\\",
    "#",
    "\n",
    "é",
    "�",
    "·",
    "%",
]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=60), st.sampled_from(["", " "]))
def test_it_raises_nothing_but_our_own_errors(pieces: list[str], between: str) -> None:
    passes(between.join(pieces))


def nested(open: str, inside: str, close: str) -> Callable[[int], str]:
    return lambda n: open * n + inside + close * n


SHAPES: list[tuple[str, Callable[[int], str]]] = [
    ("SELECT (%s AS ?x) {}", nested("(", "1", ")")),
    ("SELECT (%s AS ?x) {}", nested("IF(1,2,", "1", ")")),
    ("SELECT (%s AS ?x) {}", nested("!(", "1", ")")),
    ("SELECT (%s1 AS ?x) {}", lambda n: "!" * n),
    ("SELECT (%s1 AS ?x) {}", lambda n: "1+" * n),
    ("SELECT (%s1 AS ?x) {}", lambda n: "1||" * n),
    ("SELECT %s {}", lambda n: "".join(f"(1 AS ?x{i})" for i in range(n))),
    ("ASK { FILTER(?a<%s1>0) }", lambda n: "1*" * n),
    ("ASK { %s }", nested("{", "?s ?p ?o", "}")),
    ("ASK { %s }", nested("OPTIONAL{", "?s ?p ?o", "}")),
    ("ASK { %s }", nested("FILTER EXISTS{", "?s ?p ?o", "}")),
    ("ASK { %s }", nested("{SELECT*{", "?s ?p ?o", "}}")),
    ("ASK { %s }", lambda n: "OPTIONAL{?s ?p ?o}" * n),
    ("ASK { %s }", lambda n: "MINUS{?s ?p ?o}" * n),
    ("ASK { %s }", lambda n: "".join(f"BIND(1 AS ?x{i})" for i in range(n))),
    ("ASK { {}%s }", lambda n: "UNION{}" * n),
    ("ASK { ?s %s ?o }", nested("^(", "<urn:p>", ")")),
    ("ASK { ?s %s<urn:p> ?o }", lambda n: "<urn:p>/" * n),
    ("ASK { ?s ?p <<( <urn:a> <urn:b> %s )>> }", nested("<<( <urn:a> <urn:b> ", "1", ")>>")),
]


@pytest.mark.parametrize(("frame", "fill"), SHAPES)
def test_the_deepest_query_that_passes_does_not_end_the_process(frame: str, fill: Callable[[int], str]) -> None:
    size = bisect_left(range(3000), True, key=lambda n: not passes(frame % fill(n))) - 1
    engine = "import sys, pyoxigraph as ox\ntry: ox.Store().query(sys.stdin.read())\nexcept SyntaxError: pass"
    run = subprocess.run([sys.executable, "-c", engine], input=frame % fill(size), text=True, timeout=20, check=False)

    assert size >= 16
    assert run.returncode == 0
