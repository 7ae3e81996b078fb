"""
The cases of a checkout of w3c/rdf-tests, read from its manifests: what to send, over which data, and what must come back.

Files keep the addresses that they have on the web, so that a relative IRI in a query or a manifest means the same everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from pyoxigraph import Literal, NamedNode, RdfFormat, Store

from w3c.exchanges import Exchange, Expected

WEB = "https://w3c.github.io/rdf-tests/sparql/"

MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
QT = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#"
UT = "http://www.w3.org/2009/sparql/tests/test-update#"
HT = "http://www.w3.org/2011/http#"
CNT = "http://www.w3.org/2011/content#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"

FOLDERS: Mapping[str, str] = MappingProxyType(
    {
        "entailment": "entailment regimes",
        "service": "federated query",
        "syntax-fed": "federated query",
        "csv-tsv-res": "results in CSV, TSV and JSON",
        "json-res": "results in CSV, TSV and JSON",
        "protocol": "protocol",
        "service-description": "service description",
        "http-rdf-update": "graph store protocol, in prose",
    }
)
"""The suite of a folder, where its kinds of test do not say."""

STATUSES: Mapping[str, range] = MappingProxyType(
    {
        "OK": range(200, 201),
        "Created": range(201, 202),
        "NoContent": range(204, 205),
        "NotFound": range(404, 405),
        **{f"StatusCode{n}xx": range(n * 100, n * 100 + 100) for n in (2, 3, 4, 5)},
    }
)


@dataclass(frozen=True, slots=True)
class Data:
    """The files that make a dataset: those of the default graph, and those of each named one."""

    default: tuple[str, ...] = ()
    named: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One test: files are given by their address on the web."""

    iri: str
    name: str
    kind: str
    suite: str
    text: str = ""
    data: Data = Data()
    result: str = ""
    after: Data = Data()
    is_lax: bool = False
    exchanges: tuple[Exchange, ...] = ()

    @property
    def skipped(self) -> str:
        """Why no server is asked; empty when it is."""
        if self.suite.endswith("entailment regimes"):
            return "no entailment regime is claimed"
        if self.suite.endswith("federated query"):
            return "asks other endpoints"
        if self.suite.endswith("in prose"):
            return "deprecated by the suite itself"
        return ""


class Checkout:
    """A folder that holds `sparql10`, `sparql11` and `sparql12`, or whichever of them there is."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "sparql" if (folder / "sparql").is_dir() else folder

    def cases(self) -> Iterator[Case]:
        """Every case, in the order of folders and manifests."""
        for path in sorted(self.folder.rglob("manifest*.ttl")):
            manifest = Manifest(self.address(path), path)
            yield from manifest.cases()

    def address(self, path: Path) -> str:
        """Where a file of the checkout is on the web."""
        return WEB + path.relative_to(self.folder).as_posix()

    def path(self, address: str) -> Path:
        """Where a file on the web is in the checkout."""
        return self.folder / address.removeprefix(WEB)

    def read(self, address: str) -> bytes:
        """The bytes of a file."""
        return self.path(address).read_bytes()

    def has(self, address: str) -> bool:
        """Whether there is a file with this address."""
        return address.startswith(WEB) and self.path(address).is_file()


class Manifest:
    """One manifest as a graph."""

    def __init__(self, address: str, path: Path) -> None:
        self.graph = Store()
        self.graph.load(path=path, format=RdfFormat.TURTLE, base_iri=address)
        self.suites = address.removeprefix(WEB).split("/")

    def cases(self) -> Iterator[Case]:
        """The entries, in order."""
        for quad in self.graph.quads_for_pattern(None, NamedNode(MF + "entries"), None):
            yield from (self.case(entry) for entry in self.members(quad.object))

    def case(self, entry: object) -> Case:
        """One entry."""
        kind = self.value(entry, RDF + "type").rpartition("#")[2]
        action, result = self.one(entry, MF + "action"), self.one(entry, MF + "result")
        plain = action.value if isinstance(action, NamedNode) else ""
        text = plain or self.value(action, QT + "query") or self.value(action, UT + "request")
        update = kind == "UpdateEvaluationTest"
        return Case(
            iri=getattr(entry, "value", ""),
            name=self.value(entry, MF + "name"),
            kind=kind,
            suite=self.suite(kind, text, entry),
            text=text,
            data=self.data(entry if kind == "ProtocolTest" else action),
            result="" if update else getattr(result, "value", ""),
            after=self.data(result) if update else Data(),
            is_lax=self.value(entry, MF + "resultCardinality") == MF + "LaxCardinality",
            exchanges=tuple(self.exchange(request) for request in self.members(self.one(action, HT + "requests"))),
        )

    def suite(self, kind: str, text: str, entry: object) -> str:
        """The line of the table that an entry counts in."""
        version, folder = f"SPARQL 1.{self.suites[0][-1]}", self.suites[1]
        if folder in FOLDERS:
            return f"{version} {FOLDERS[folder]}"
        if kind == "GraphStoreProtocolTest":
            direct = MF + "DirectGraphIdentification" in self.values(entry, MF + "requires")
            return f"{version} graph store protocol, {'direct' if direct else 'indirect'}"
        form = "update" if text.endswith(".ru") else "query"  # some updates are called by the kind of queries
        return f"{version} {form} {'syntax' if 'Syntax' in kind else 'evaluation'}"

    def data(self, node: object) -> Data:
        """The files of an action or a result; a named graph without a label is named after its file."""
        named = []
        for graph in self.objects(node, QT + "graphData") + self.objects(node, UT + "graphData"):
            file = self.value(graph, UT + "graph") or self.value(graph, QT + "graph") or getattr(graph, "value", "")
            named.append((self.value(graph, LABEL) or file, file))
        return Data(tuple(self.values(node, QT + "data") + self.values(node, UT + "data")), tuple(named))

    def exchange(self, request: object) -> Exchange:
        """One request of a protocol test, and what must come back."""
        response = self.one(request, HT + "resp")
        body, answer = self.one(request, HT + "body"), self.one(response, HT + "body")
        encoding = self.value(body, CNT + "characterEncoding") or "UTF-8"
        boolean = self.value(response, MF + "expectedBoolean")
        return Exchange(
            method=self.value(request, HT + "methodName"),
            path=self.value(request, HT + "absolutePath"),
            headers=self.headers(request),
            body=self.value(body, CNT + "chars").encode(encoding),
            expected=Expected(
                statuses=tuple(STATUSES[s.rpartition("#")[2]] for s in self.values(response, MF + "expectedStatus")),
                boolean=boolean == "true" if boolean else None,
                form=self.value(response, MF + "expectedFormat"),
                location=self.value(response, MF + "expectedLocation"),
                headers=self.headers(response),
                graph=self.value(answer, CNT + "chars"),
            ),
        )

    def headers(self, message: object) -> tuple[tuple[str, str], ...]:
        """Header fields by name."""
        fields = self.members(self.one(message, HT + "headers"))
        return tuple((self.value(f, HT + "fieldName"), self.value(f, HT + "fieldValue")) for f in fields)

    def members(self, head: object) -> Iterator[object]:
        """The members of a list."""
        while head is not None and getattr(head, "value", "") != RDF + "nil":
            yield self.one(head, RDF + "first")
            head = self.one(head, RDF + "rest")

    def objects(self, node: object, predicate: str) -> list[object]:
        """What a node has there, in no order."""
        if node is None or isinstance(node, Literal):
            return []
        return [quad.object for quad in self.graph.quads_for_pattern(node, NamedNode(predicate), None)]  # type: ignore[arg-type]

    def one(self, node: object, predicate: str) -> object | None:
        """The one thing it has there, or None."""
        return next(iter(self.objects(node, predicate)), None)

    def values(self, node: object, predicate: str) -> list[str]:
        """The texts or addresses that it has there."""
        return sorted(getattr(term, "value", "") for term in self.objects(node, predicate))

    def value(self, node: object, predicate: str) -> str:
        """The one text or address that it has there, or nothing."""
        return next(iter(self.values(node, predicate)), "")


def datasets_named(query: str, base: str) -> list[str]:
    """The graphs that FROM and FROM NAMED name, as addresses."""
    folder = base.rpartition("/")[0] + "/"
    found = re.findall(r"\bFROM\s+(?:NAMED\s+)?<([^>]*)>", query, flags=re.I)
    return [iri if re.match(r"[a-z]+:", iri) else folder + iri for iri in found]
