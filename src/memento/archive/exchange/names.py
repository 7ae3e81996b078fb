"""The names of graphs, read: whose they are, what is in them, and what they are called in another tenant or namespace."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from hashlib import sha256
from urllib.parse import quote, unquote

from memento.iris import IRI

_MINTED = re.compile(r"urn:memento:\w+:[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_FORM = re.compile(
    r"urn:memento:(?:(graph|cases|data|inferred):([^:]+):([^:]+)(?::alone)?|(self|provenance|audit):([^:]+))"
)


@dataclass(frozen=True, slots=True)
class GraphName:
    """
    What a graph is: `graph` (memories), `cases`, `data` (somebody's own RDF) and `inferred` have a name within their tenant; a
    tenant has one each of `self`, `provenance` and `audit`.
    """

    kind: str
    tenant: str
    name: str = ""

    @property
    def iri(self) -> IRI:
        parts = [self.kind, self.tenant, *([self.name] if self.name else [])]
        return IRI("urn:memento:" + ":".join(quote(part, safe="") for part in parts))

    def within(self, tenant: str) -> GraphName:
        """The same of another tenant."""
        return replace(self, tenant=tenant)


def graph_name(iri: str) -> GraphName | None:
    """
    A graph's name, read; None when it is none of those that a tenant has.

    >>> graph_name("urn:memento:graph:local:work%3A%20alpha")
    GraphName(kind='graph', tenant='local', name='work: alpha')
    >>> graph_name("urn:memento:ontology") is None
    True
    """
    found = _FORM.fullmatch(iri)
    if not found:
        return None
    kind, tenant, name, single, owner = found.groups()
    return GraphName(kind, unquote(tenant), unquote(name)) if kind else GraphName(single, unquote(owner))


def another(iri: IRI, beside: IRI) -> IRI:
    """
    What a node is called beside something, as its graph, when its IRI is taken: always the same, and in the same order.

    >>> another(IRI("urn:memento:note:018083e4-0340-7468-adf9-ea111c1907b1"), IRI("urn:memento:graph:local:copy"))
    'urn:memento:note:018083e4-0340-7468-adf9-ea11c7204d41'
    """
    mark = sha256(f"{beside} {iri}".encode()).hexdigest()
    if _MINTED.fullmatch(iri):
        return IRI(
            iri[:-8] + mark[:8]
        )  # before it stand the time, and the count of those that were minted in one millisecond
    return IRI(f"urn:memento:node:{mark[:8]}-{mark[8:12]}-7{mark[12:15]}-8{mark[15:18]}-{mark[18:30]}")
