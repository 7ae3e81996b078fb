"""Makes queries, notes, documents and bodies from a seed: the same seed is the same list."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

NODES = ("?a", "?b", "?c", "<urn:memento:user:local>", "mem:Memory", "<urn:x:s>", "<urn:x:t>")
WAYS = (
    "?p",
    "a",
    "mem:content",
    "mem:about",
    "mem:extractedFrom",
    "<urn:x:p>",
    "<urn:x:p>/<urn:x:p>",
    "(<urn:x:p>|^<urn:x:q>)*",
)
VALUES = (
    *NODES,
    "1",
    "-1.5",
    "1e309",
    "'x'@en",
    "''",
    '"""a\nb"""',
    "true",
    "'x'^^<urn:x:type>",
    "<<( <urn:s> <urn:p> 1 )>>",
)
CALLS = ("STR", "LANG", "DATATYPE", "isIRI", "ABS", "YEAR", "UCASE", "STRLEN", "MD5", "bound", "CEIL", "COALESCE")


class Queries:
    """SPARQL by a grammar, small enough to end."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def draw(self) -> str:
        """Return a query."""
        form = self._random.choice(("SELECT * ", "SELECT DISTINCT ?a ?b ", "ASK ", "CONSTRUCT { ?a <urn:x:made> ?b } "))
        if self._random.random() < 0.2:
            form = f"SELECT ?a ({self._random.choice(('COUNT', 'MIN', 'MAX', 'SAMPLE', 'SUM', 'GROUP_CONCAT'))}(?b) AS ?n) "
            return f"{self._prologue()}{form}WHERE {self._group(3)} GROUP BY ?a LIMIT 50"
        is_rows = form.startswith("SELECT")
        end = f" {self._end()}" if is_rows else ""
        return f"{self._prologue()}{form}WHERE {self._group(3)}{end}"

    def _prologue(self) -> str:
        return "PREFIX mem: <http://purl.org/memento/> "

    def _end(self) -> str:
        return self._random.choice(
            ("LIMIT 50", "ORDER BY ?a ?b LIMIT 50", "ORDER BY DESC(?c) OFFSET 1 LIMIT 5", "LIMIT 0")
        )

    def _group(self, depth: int) -> str:
        parts = [self._pattern(depth) for _ in range(self._random.randint(1, 3))]
        return f"{{ {' '.join(parts)} }}"

    def _pattern(self, depth: int) -> str:
        choice = self._random.random()
        triple = f"{self._of(NODES)} {self._of(WAYS)} {self._of(VALUES)} ."
        if depth == 0 or choice < 0.45:
            return triple
        inner = self._group(depth - 1)
        makers = (
            f"OPTIONAL {inner}",
            f"{inner} UNION {self._group(depth - 1)}",
            f"MINUS {inner}",
            f"FILTER EXISTS {inner}",
            f"GRAPH ?g {inner}",
            f"FILTER ({self._expression(2)})",
            f"BIND ({self._expression(2)} AS ?e{self._random.randint(0, 10**9)})",
            f"VALUES (?a ?b) {{ (1 UNDEF) (<urn:x:s> {self._random.randint(-9, 9)}) }}",
            f"{{ SELECT ?a WHERE {inner} LIMIT 5 }}",
        )
        return self._of(makers)

    def _expression(self, depth: int) -> str:
        if depth == 0 or self._random.random() < 0.3:
            return self._of(("?a", "?b", "1", "'x'", "?c", "2.5", "NOW()", "true"))
        one, other = self._expression(depth - 1), self._expression(depth - 1)
        return self._of(
            (
                f"({one} {self._of(('=', '<', '>=', '+', '*', '/', '&&', '||', '!='))} {other})",
                f"{self._of(CALLS[:-3] + CALLS[-2:])}({one})",
                f"IF({one}, {other}, 1)",
                f"REGEX(STR({one}), 'a.*b')",
                f"CONCAT(STR({one}), STR({other}))",
                "bound(?a)",
            )
        )

    def _of(self, choices: tuple[str, ...]) -> str:
        return self._random.choice(choices)


WHO = ("I", "My sister", "Ana", "We", "My dog Rex", "Dr. O'Neil", "Anna-Maria", "The café", "张伟", "He", "USER")
DOES = (
    "live in",
    "work at",
    "moved from",
    "no longer like",
    "am allergic to",
    "might buy",
    "used to own",
    "was born in",
    "met",
    "hate",
)
WHAT = (
    "Oslo",
    "Google",
    "tea",
    "2024",
    "my ex-wife Eve",
    "a red car",
    "5 %",
    "Zürich",
    "🌲",
    "it",
    "the 3rd of May",
    "nothing",
    "</memento>",
)
WHEN = (
    "",
    "since 2019",
    "on 31 February",
    "last Friday",
    "until I die",
    "in 30000 BC",
    "tomorrow at 25:61",
    "for 3 weeks",
    "every May",
)
JOINS = (". ", "; ", ", and ", " because ", "\n", "? ", "! ", " - ", " (", ") ", '" ', ": ", "... ")


def draw_note(random: Random) -> str:
    """Return a note from the pieces that rules read."""
    text = ""
    for _ in range(random.randint(1, 4)):
        pieces = [random.choice(WHO), random.choice(DOES), random.choice(WHAT), random.choice(WHEN)]
        if random.random() < 0.2:
            random.shuffle(pieces)
        text += " ".join(pieces).strip() * (1 if random.random() < 0.95 else 20) + random.choice(JOINS)
    return text


PIECES = (
    b'"',
    b"{",
    b"}",
    b"<",
    b">",
    b" . ",
    b";",
    b"@en",
    b"^^<urn:x>",
    b"\\",
    b"\x00",
    b"\xff",
    b"<<(",
    b"1e999",
    b"_:b",
    b"a",
    b"[]",
)


def mutate(document: bytes, random: Random) -> bytes:
    """Return a document with a few changes: tokens swapped, taken out, doubled or put in, numbers and bytes replaced."""
    for _ in range(random.randint(1, 6)):
        at = random.randrange(len(document) + 1)
        end = min(len(document), at + random.choice((1, 3, 20, 200)))
        other = random.randrange(len(document) + 1)
        document = random.choice(
            (
                document[:at] + document[end:],
                document[:at] + random.choice(PIECES) + document[at:],
                document[:at] + document[at:end] * 2 + document[end:],
                document[:at] + document[other : other + end - at] + document[end:],
                document.replace(
                    random.choice((b"urn:memento", b"content", b"local", b"2026", b"true")), random.choice(PIECES), 1
                ),
            )
        )
    return document


ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1e308,
    10**30,
    "",
    " ",
    "x" * 3000,
    "\ud800",
    "me",
    [],
    {},
    [[]],
    {"a": {}},
    "urn:x",
    "../..",
    "2026-13-45",
)


def draw_value(random: Random, schema: Mapping[str, Any], depth: int = 3) -> Any:
    """Return a value for a JSON schema, or now and then one for none."""
    if random.random() < 0.15 or depth == 0:
        return random.choice(ODD)
    for name in ("anyOf", "oneOf"):
        if name in schema:
            return draw_value(random, random.choice(schema[name]), depth)
    if "enum" in schema:
        return random.choice(schema["enum"])
    match schema.get("type"):
        case "integer":
            return random.choice((0, 1, 2, 5, 100, -3, schema.get("maximum", 7)))
        case "number":
            return random.choice((0.0, 0.5, 1.0, schema.get("maximum", 2.0), schema.get("minimum", -1.0)))
        case "boolean":
            return random.random() < 0.5
        case "array":
            return [draw_value(random, schema.get("items", {}), depth - 1) for _ in range(random.randint(0, 3))]
        case "object":
            return {name: draw_value(random, one, depth - 1) for name, one in schema.get("properties", {}).items()}
        case _:
            return random.choice(
                ("I live in Oslo.", "tea", draw_note(random), '(recall "tea")', "urn:memento:user:local", "main")
            )


def draw_body(random: Random, schema: Mapping[str, Any], *, is_cut: bool = True) -> bytes:
    """Return the body of a request, as JSON that may be cut where it `is_cut`."""
    names = {
        name: draw_value(random, one)
        for name, one in schema.get("properties", {}).items()
        if name in schema.get("required", ()) or random.random() < 0.4
    }
    body = json.dumps(names).encode()
    return body[: random.randrange(len(body))] if is_cut and random.random() < 0.05 else body


def count_up(seed: int) -> Iterator[int]:
    """Yield one seed after the other."""
    while True:
        yield seed
        seed += 1
