"""`docs/ontology.md`: every term with what the ontology, the alignment and the shapes say of it."""

from __future__ import annotations

from collections.abc import Iterator

from memento.iris import IRI, MEM, OWL, RDFS, Namespace
from memento.ontology.diagrams import diagram
from memento.ontology.terms import PREFIXES, Shape, Term, alignments, description, shapes, short, terms

_DCTERMS = Namespace("http://purl.org/dc/terms/")


def page() -> str:
    """The whole page."""
    headings = dict.fromkeys(term.heading for term in terms())
    lines = [
        "# The ontology",
        "",
        "Made by `make docs` from `ontology/memento.ttl`, `ontology/alignment.ttl` and `ontology/shapes.ttl`.",
        "",
        f"{description(_DCTERMS.description)} Namespace `{MEM.base}`, version {description(OWL.versionInfo)}, "
        f"{description(_DCTERMS.license)}.",
        "",
        description(RDFS.comment),
        "",
        "What Memento writes lies in named graphs: `urn:memento:graph:{tenant}:{namespace}` has the memories of a namespace,",
        "`urn:memento:self:{tenant}` the user, `urn:memento:provenance:{tenant}` the runs that made memories of notes, and",
        "`urn:memento:data:{tenant}:{name}` whatever RDF a user puts beside them. The vocabulary itself is in",
        "`urn:memento:ontology`. In JSON-LD the terms go by their names: see `ontology/context.jsonld`, or `/context.jsonld`.",
        "",
        "| prefix | namespace |",
        "| --- | --- |",
        *(f"| `{prefix}:` | `{base}` |" for prefix, base in PREFIXES.items()),
        "",
        *(f"- [{heading}](#{_anchor(heading)})" for heading in (*headings, _SHAPES)),
        *(line for heading in headings for line in _section(heading)),
        "",
        f"## {_SHAPES}",
        "",
        "What data must look like, in SHACL. What a model writes and what is imported is held against all of them; `memento check`",
        "holds the whole graph against them.",
        *(line for shape in shapes() for line in _shape(shape)),
    ]
    return "\n".join(lines) + "\n"


_SHAPES = "Shapes"


def _section(heading: str) -> Iterator[str]:
    yield from ("", f"## {heading}")
    if drawn := diagram(heading):
        yield from ("", "```mermaid", drawn, "```")
    for term in terms():
        if term.heading == heading:
            yield from _told(term)


def _told(term: Term) -> Iterator[str]:
    yield from ("", f"### {_title(term)}", "", f"*{_what(term)}.* {term.comment}")
    facts = []
    if term.domain:
        facts.append(f"of {_linked(term.domain)}")
    if term.range:
        facts.append(f"holds {_linked(term.range)}")
    if term.parents:
        facts.append(f"a kind of {_linked(term.parents)}")
    if term.members:
        facts.append(f"one of {_linked(term.members)}")
    own = set(term.parents)
    facts += [f"{short(how)} `{short(to)}`" for how, to in alignments().get(term.iri, ()) if to not in own]
    if facts:
        yield from ("", *(f"- {fact}" for fact in facts))


def _what(term: Term) -> str:
    if term.type:
        return f"{_linked((term.type,))}"
    return ", ".join((f"{term.kind} `mem:{term.name}`", *term.traits))


def _shape(shape: Shape) -> Iterator[str]:
    yield from (
        "",
        f"### {shape.iri.removeprefix(MEM.base)}",
        "",
        f"*{shape.label}.* For {', '.join(shape.targets)}.",
        "",
    )
    for rule in shape.rules:
        head = f"`{rule.path}`, {rule.count}: " if rule.path else ""
        yield f"- {head}{rule.message}"


def _linked(iris: tuple[IRI, ...]) -> str:
    """Our own terms as links to where they are told of."""
    known = {term.iri: term for term in terms()}
    return ", ".join(
        f"[{known[iri].name}](#{_anchor(_title(known[iri]))})" if iri in known else f"`{short(iri)}`" for iri in iris
    )


def _title(term: Term) -> str:
    """What a term goes by as a heading: `mem:State` and `mem:state` must lead to different places."""
    return f"Class {term.name}" if term.kind == "class" else term.name


def _anchor(heading: str) -> str:
    """
    Where Markdown viewers put a heading.

    >>> _anchor("Vectors, in exports")
    'vectors-in-exports'
    """
    return "".join(c for c in heading.lower().replace(" ", "-") if c.isalnum() or c == "-")
