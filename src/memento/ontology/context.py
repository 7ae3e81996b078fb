"""
The JSON-LD context of the vocabulary, `ontology/context.jsonld`: each term under its own name, typed by its range.

*Because:* no prefixes. An IRI of the data that happens to begin like one would be read as something else.
"""

from __future__ import annotations

import json
from typing import Any

from memento.iris import IRI, PROV, SKOS, XSD
from memento.ontology.terms import Term, terms

_OTHERS: dict[str, IRI | dict[str, IRI | str]] = {
    "altLabel": SKOS.altLabel,
    "wasAttributedTo": {"@id": PROV.wasAttributedTo, "@type": "@id"},
    "used": {"@id": PROV.used, "@type": "@id"},
    "generated": {"@id": PROV.generated, "@type": "@id"},
    "wasAssociatedWith": {"@id": PROV.wasAssociatedWith, "@type": "@id"},
    "startedAtTime": {"@id": PROV.startedAtTime, "@type": XSD.dateTime},
    "endedAtTime": {"@id": PROV.endedAtTime, "@type": XSD.dateTime},
}
"""What Memento writes with other vocabularies."""


def context() -> dict[str, Any]:
    """Term → its definition, in the order of the ontology, those of other vocabularies last."""
    return {"@version": 1.1, **{term.name: _defined(term) for term in terms()}, **_OTHERS}


def file() -> str:
    """`ontology/context.jsonld`."""
    lines = [f"    {json.dumps(name)}: {json.dumps(what)}" for name, what in context().items()]
    return '{\n  "@context": {\n' + ",\n".join(lines) + "\n  }\n}\n"


def _defined(term: Term) -> IRI | dict[str, IRI | str]:
    match term.kind:
        case "object property":
            return {"@id": term.iri, "@type": "@id"}
        case "datatype property" if term.range and term.range != (XSD.string,):
            return {"@id": term.iri, "@type": term.range[0]}
        case _:
            return term.iri
