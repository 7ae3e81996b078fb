"""The names of graphs, read: whose they are, what is in them, and what they are called in another tenant or namespace."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from urllib.parse import quote, unquote

from memento.vocabulary import IRI

_FORM = re.compile(r"urn:memento:(?:(graph|data|inferred):([^:]+):([^:]+)|(self|provenance|audit):([^:]+))")


@dataclass(frozen=True, slots=True)
class GraphName:
    """
    What a graph is: `graph` (memories), `data` (somebody's own RDF) and `inferred` have a name within their tenant; a tenant has
    one each of `self`, `provenance` and `audit`.
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
