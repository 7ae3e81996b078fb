"""The namespaces of the graph, as IRIs: `MEM.validAt`, `PROV.wasAttributedTo`, `graph_iri("local", "main")`."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from urllib.parse import quote, unquote

from uuid_utils import NAMESPACE_URL, uuid5, uuid7

from memento.errors import InputError


class IRI(str):
    """An IRI. A class, so that query binding can tell it from text."""

    __slots__ = ()


class Namespace:
    """Makes IRIs by attribute or by index; tests check that each term exists in the ontology."""

    def __init__(self, base: str) -> None:
        self.base = base

    def __getattr__(self, name: str) -> IRI:
        if name.startswith("__"):
            raise AttributeError(name)
        found = self.__dict__[name] = IRI(self.base + name)  # cached, so that the next look-up finds it
        return found

    def __getitem__(self, name: str) -> IRI:
        return IRI(self.base + name)


MEM = Namespace("http://purl.org/memento/")
RDF = Namespace("http://www.w3.org/1999/02/22-rdf-syntax-ns#")
RDFS = Namespace("http://www.w3.org/2000/01/rdf-schema#")
OWL = Namespace("http://www.w3.org/2002/07/owl#")
SKOS = Namespace("http://www.w3.org/2004/02/skos/core#")
OWL = Namespace("http://www.w3.org/2002/07/owl#")
SH = Namespace("http://www.w3.org/ns/shacl#")
PROV = Namespace("http://www.w3.org/ns/prov#")
XSD = Namespace("http://www.w3.org/2001/XMLSchema#")
ZPT = Namespace("http://purl.org/stuff/zpt/")

PREFIXES: Mapping[str, str] = {
    "mem": MEM.base,
    "owl": OWL.base,
    "prov": PROV.base,
    "rdf": RDF.base,
    "rdfs": RDFS.base,
    "skos": SKOS.base,
    "xsd": XSD.base,
    **{
        kind: f"urn:memento:{kind}:"
        for kind in ("agent", "entity", "invalidation", "memory", "note", "session", "user")
    },
}
"""The prefixes that shorten IRIs for people, including those that Memento mints."""

TYPE = RDF.type
ONTOLOGY = IRI("urn:memento:ontology")
_ENTITY, _KEY, _PHRASE = "urn:memento:entity:", "urn:memento:key:", "urn:memento:phrase:"

CASES = "urn:memento:cases:"
"""The prefix of the name of every graph of cases."""


def shorten(iri: str) -> str:
    """
    Shorten an IRI by its prefix, if it has one of `PREFIXES`.

    >>> shorten("http://purl.org/memento/about"), shorten("urn:other:1")
    ('mem:about', 'urn:other:1')
    """
    found = (f"{prefix}:{iri[len(base) :]}" for prefix, base in PREFIXES.items() if iri.startswith(base))
    return next(found, iri)


_MINTED = re.compile(r"urn:memento:[a-z]+:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def short_id(iri: str) -> str:
    """
    Return the end of an IRI, which every operation takes in its place; an IRI that Memento did not mint is returned whole.

    The end of a minted IRI is 32 random bits: of a million memories, one in four thousand shares it with another.

    >>> short_id("urn:memento:memory:01a2208d-01f6-75e2-8b1e-fba8d25aa60e"), short_id("urn:other:1")
    ('d25aa60e', 'urn:other:1')
    """
    return iri[-8:] if _MINTED.fullmatch(iri) else iri


def is_short_id(text: str) -> bool:
    """Tell whether a text looks like what `short_id` returns."""
    return re.fullmatch(r"[0-9a-f]{8}", text) is not None


_IRI = re.compile(r"""[A-Za-z][A-Za-z0-9+.-]*:(?:[^\s<>"{}|\\^`\[\]%]|%[0-9A-Fa-f]{2})+""")


def parse_iri(iri: str) -> IRI:
    """
    Parse text as an IRI; raises `InputError` if it is not one.

    >>> parse_iri("urn:memento:case:1")
    'urn:memento:case:1'
    """
    if not _IRI.fullmatch(iri) or not iri.isprintable():
        raise InputError(f"{iri[:80]!r} is no IRI: give one such as urn:memento:memory:0192d5a0-…")
    return IRI(iri)


def mint(kind: str) -> IRI:
    """Mint a new IRI `urn:memento:{kind}:{uuid7}`; later ones sort after earlier ones."""
    return IRI(f"urn:memento:{kind}:{uuid7()}")


@lru_cache(maxsize=4096)
def graph_iri(tenant: str, namespace: str) -> IRI:
    """
    Return the IRI of the named graph of one namespace; both parts are percent-encoded, so they contain no colon.

    >>> graph_iri("local", "work: alpha")
    'urn:memento:graph:local:work%3A%20alpha'
    """
    return IRI(f"urn:memento:graph:{quote(tenant, safe='')}:{quote(namespace, safe='')}")


def data_iri(tenant: str, name: str) -> IRI:
    """
    Return the IRI of a free graph of the user, which may contain any RDF.

    >>> data_iri("local", "my company")
    'urn:memento:data:local:my%20company'
    """
    return IRI(f"urn:memento:data:{quote(tenant, safe='')}:{quote(name, safe='')}")


_LONGEST = 200  # most characters of the name of a graph, as for namespaces


def data_name(tenant: str, graph: str) -> str | None:
    """
    Return the name of a free graph of a tenant by its IRI; None if it is not one in its canonical spelling.

    >>> data_name("local", "urn:memento:data:local:my%20company"), data_name("other", "urn:memento:data:local:my%20company")
    ('my company', None)
    """
    return name_within(graph, data_iri(tenant, ""))


def name_within(graph: str, prefix: str) -> str | None:
    """Return the name behind the prefix of a kind of graphs; None if there is none in its canonical spelling."""
    name = unquote(graph.removeprefix(prefix)) if graph.startswith(prefix) else ""
    is_name = bool(name.strip()) and len(name) <= _LONGEST and name.isprintable()
    return name if is_name and graph == prefix + quote(name, safe="") else None


@lru_cache(maxsize=1024)
def self_iri(tenant: str) -> IRI:
    """Return the IRI of the named graph of the tenant's one user."""
    return IRI(f"urn:memento:self:{quote(tenant, safe='')}")


@lru_cache(maxsize=1024)
def provenance_iri(tenant: str) -> IRI:
    """Return the IRI of the named graph that records which run of which agent made the tenant's memories."""
    return IRI(f"urn:memento:provenance:{quote(tenant, safe='')}")


def audit_iri(tenant: str) -> IRI:
    """Return the IRI of the tenant's audit graph: who changed its graphs by SPARQL, who read and wrote cases, and when."""
    return IRI(f"urn:memento:audit:{quote(tenant, safe='')}")


def branch_prefix(tenant: str) -> str:
    """Return the prefix of the names of all graph branches of a tenant."""
    return f"urn:memento:branch:{quote(tenant, safe='')}:"


def branch_iri(tenant: str, namespace: str) -> IRI:
    """Mint the IRI of a graph branch: the additions of one run to the graph of a namespace; later ones sort after earlier ones."""
    return IRI(f"{branch_prefix(tenant)}{quote(namespace, safe='')}:{uuid7()}")


GLOBAL = "__global__"
"""The namespace that every other namespace reads, beside `main`."""


def inferred_iri(
    tenant: str,
    namespace: str,
    *,
    alone: bool = False,
    narrow: bool = False,
    shared: bool = False,
    free: Collection[str] = (),
) -> IRI:
    """
    Return the IRI of the named graph of the triples inferred from the graphs that a reader of a namespace sees.

    Args:
        alone: for a reader who does not see `main`.
        narrow: for a reader of some namespaces who sees `main`, but not the statements about the user.
        shared: for a reader of some namespaces including `GLOBAL`.
        free: the free graphs that a reader of some namespaces sees.
    """
    graph = f"urn:memento:inferred:{quote(tenant, safe='')}:{quote(namespace, safe='')}"
    reader = ":alone" if alone else ":narrow" if narrow else ""
    seen = f":free-{uuid5(NAMESPACE_URL, ' '.join(sorted(free))).hex}" if free else ""
    return IRI(f"{graph}{reader}{':shared' if shared else ''}{seen}")


def cases_iri(tenant: str, domain: str) -> IRI:
    """
    Return the IRI of the named graph of the tenant's cases of one domain.

    >>> cases_iri("local", "billing")
    'urn:memento:cases:local:billing'
    """
    return IRI(f"urn:memento:cases:{quote(tenant, safe='')}:{quote(domain, safe='')}")


def agent_iri(name: str) -> IRI:
    """
    Return the IRI of the agent that understood a note; the same name is always the same agent.

    >>> agent_iri("openai:gpt-5-mini")
    'urn:memento:agent:openai%3Agpt-5-mini'
    """
    return IRI(f"urn:memento:agent:{quote(name, safe='')}")


def user_iri(tenant: str) -> IRI:
    """Return the IRI of the tenant's one user: what "I" in a note stands for."""
    return IRI(f"urn:memento:user:{quote(tenant, safe='')}")


def user_of(graph: str) -> IRI:
    """
    Return the user whose memories are in a graph.

    >>> user_of("urn:memento:graph:local:work")
    'urn:memento:user:local'
    """
    return IRI(f"urn:memento:user:{graph.split(':')[3]}")


def session_iri(graph: str, name: str) -> IRI:
    """Return the IRI of a session by its name in a graph; the same name is always the same session."""
    return named_iri("session", graph, name)


def named_iri(kind: str, graph: str, name: str) -> IRI:
    """Return the IRI of a node identified by its name in a graph; the same name is always the same node of that kind."""
    return IRI(f"urn:memento:{kind}:{uuid5(NAMESPACE_URL, f'{graph} {name}')}")


def code_iri(graph: str, kind: str, name: str) -> IRI:
    """Return the IRI of a piece of code of one namespace: of an ingested file by its whole path, else by its spelling."""
    return IRI(f"urn:memento:code:{uuid5(NAMESPACE_URL, f'{graph} {kind} {name}')}")


def name_iri(graph: str, label: str) -> IRI:
    """Return the IRI of something of which only a name in a graph is known; one name is one IRI."""
    return IRI(f"urn:memento:name:{uuid5(NAMESPACE_URL, f'{graph} {label}')}")


def import_iri(graph: str, source: str, keys: Iterable[str]) -> IRI:
    """Return the IRI of an import by the keys of all that it brings; the same import sent again is the same one."""
    return IRI(f"urn:memento:import:{uuid5(NAMESPACE_URL, json.dumps([graph, source, *keys]))}")


def policy_iri(graph: str, name: str) -> IRI:
    """Return the IRI of a policy by its name in a graph."""
    return IRI(f"urn:memento:policy:{uuid5(NAMESPACE_URL, f'{graph} {name}')}")


TAGS = "urn:memento:tag:"


def tag_iri(name: str) -> IRI:
    """
    Return the IRI of a tag by its name, however it is spelled.

    >>> tag_iri("To do"), tag_iri("to do")
    ('urn:memento:tag:to%20do', 'urn:memento:tag:to%20do')
    """
    return IRI(f"{TAGS}{quote(' '.join(name.split()).casefold(), safe='')}")


def is_tag(iri: IRI) -> bool:
    """Tell whether an IRI is that of a tag."""
    return iri.startswith(TAGS)


def is_claim(iri: str) -> bool:
    """Tell whether an IRI is that of a claim."""
    return iri.startswith("urn:memento:claim:")


def tag_name(iri: IRI) -> str:
    """
    Return the name of a tag by its IRI.

    >>> tag_name(tag_iri("To do"))
    'to do'
    """
    return unquote(iri.removeprefix(TAGS))


def key_iri(anchor: str) -> IRI:
    """
    Return the IRI of the key of an entity or of the user: the same before and after the key is written.

    >>> key_iri("urn:memento:entity:0192"), anchor_of("urn:memento:key:0192")
    ('urn:memento:key:0192', 'urn:memento:entity:0192')
    >>> anchor_of(key_iri("http://example.org/ada"))
    'http://example.org/ada'
    """
    return IRI(_KEY + quote(anchor.removeprefix(_ENTITY), safe=""))


def anchor_of(key: str) -> IRI | None:
    """
    Return the anchor that a key denotes, if its IRI is that of an anchor's key; only the graph tells whether the anchor exists.
    """
    if not key.startswith(_KEY):
        return None
    named = unquote(key.removeprefix(_KEY))
    return IRI(named if ":" in named else _ENTITY + named)


def phrase_iri(phrase: str) -> IRI:
    """
    Return the IRI of a phrase that connects texts without a written key.

    >>> phrase_iri("green tea"), phrase_of("urn:memento:phrase:green%20tea"), phrase_of("urn:x")
    ('urn:memento:phrase:green%20tea', 'green tea', None)
    """
    return IRI(_PHRASE + quote(phrase, safe=""))


def phrase_of(iri: str) -> str | None:
    """Return the phrase of an IRI; None if it is not the IRI of a phrase."""
    return unquote(iri.removeprefix(_PHRASE)) if iri.startswith(_PHRASE) else None


def link_iri(key: str, memory: str) -> IRI:
    """Return the IRI of the link from a key to a memory; there is at most one."""
    return IRI(f"urn:memento:keylink:{uuid5(NAMESPACE_URL, f'{key} {memory}')}")


def learned_iri(key: str, phrase: str) -> IRI:
    """Return the IRI of the record that a key has learned a phrase."""
    return IRI(f"urn:memento:learned:{uuid5(NAMESPACE_URL, f'{key} {phrase}')}")


def association_iri(source: str, relation: str, target: str) -> IRI:
    """Return the IRI of the association of a kind from one memory to another; there is at most one."""
    return IRI(f"urn:memento:association:{uuid5(NAMESPACE_URL, f'{source} {relation} {target}')}")


def relation_iri(name: str) -> IRI:
    """
    Return the IRI of a kind of association by its name; kinds in the ontology have their own IRIs.

    >>> relation_iri("similar"), relation_iri("leads to")
    ('http://purl.org/memento/Similar', 'urn:memento:relation:leads%20to')
    """
    known = "".join(word.capitalize() for word in name.replace("-", " ").split())
    return MEM[known] if known in _RELATIONS else IRI(f"urn:memento:relation:{quote(name.strip(), safe='')}")


def relation_name(iri: str) -> str:
    """
    Return the name of a kind of association.

    >>> relation_name("http://purl.org/memento/CoActivated"), relation_name(relation_iri("leads to"))
    ('co-activated', 'leads to')
    >>> relation_name(MEM.supersedes)
    'supersedes'
    """
    name = iri.rsplit("/", 1)[-1]
    return (
        _RELATIONS.get(name)
        or (name if iri.startswith(MEM.base) else "")
        or unquote(iri.removeprefix("urn:memento:relation:"))
    )


_RELATIONS = {
    "Similar": "similar",
    "References": "references",
    "Elaborates": "elaborates",
    "CoActivated": "co-activated",
}


def fading_iri(graph: str, place: int) -> IRI:
    """Return the IRI of a span over which the energies of a graph decayed, by its position among them."""
    return IRI(f"urn:memento:fading:{uuid5(NAMESPACE_URL, graph)}:{place}")


def tenant_of(graph: str) -> str:
    """
    Return the tenant that a named graph belongs to.

    >>> tenant_of("urn:memento:graph:a%3Ab:work")
    'a:b'
    """
    return unquote(graph.split(":")[3])


_OWNED = re.compile(r"urn:memento:(?:graph|cases|data|inferred|branch|self|provenance|audit):([^:]+)")


def owner_of(graph: str) -> str | None:
    """
    Return the tenant that a graph of any kind belongs to; None for one without a tenant.

    >>> owner_of("urn:memento:branch:a%3Ab:main:1"), owner_of("urn:memento:self:local"), owner_of("urn:memento:ontology")
    ('a:b', 'local', None)
    """
    found = _OWNED.match(graph)
    return unquote(found[1]) if found else None


def namespace_of(graph: str) -> str:
    """
    Return the namespace that a memory graph belongs to.

    >>> namespace_of("urn:memento:graph:local:work%3A%20alpha")
    'work: alpha'
    """
    return unquote(graph.rsplit(":", 1)[-1])


def check_namespace(name: str) -> str:
    """
    Return a name unchanged if it is a valid name of a namespace.

    Raises:
        InputError: it is empty, longer than 200 characters, or contains a control character.
    """
    if not name.strip() or len(name) > 200 or not name.isprintable():
        raise InputError(f"a namespace must have 1 to 200 printable characters, not {name[:40]!r}")
    return name


_GRAPH = re.compile(
    r"urn:memento:(?:(graph|cases|data|inferred):([^:]+):([^:]+)(?::alone|:narrow)?(?::shared)?(?::free-[0-9a-f]{32})?|(self|provenance|audit):([^:]+))"
)


@dataclass(frozen=True, slots=True)
class GraphName:
    """
    The kind and name of a graph: `graph` (memories), `cases`, `data` (free RDF) and `inferred` have a name within their tenant; a
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
        """Return the graph of the same kind and name of another tenant."""
        return replace(self, tenant=tenant)


def parse_graph_name(iri: str) -> GraphName | None:
    """
    Parse the name of a graph; None if it is not one of a tenant's graphs.

    >>> parse_graph_name("urn:memento:graph:local:work%3A%20alpha")
    GraphName(kind='graph', tenant='local', name='work: alpha')
    >>> parse_graph_name("urn:memento:ontology") is None
    True
    """
    found = _GRAPH.fullmatch(iri)
    if not found:
        return None
    kind, tenant, name, single, owner = found.groups()
    return GraphName(kind, unquote(tenant), unquote(name)) if kind else GraphName(single, unquote(owner))
