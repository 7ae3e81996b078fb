"""What is wrong with a service description: the three tests that the suite names and leaves to be written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyshacl
import rdflib

if TYPE_CHECKING:
    from w3c.endpoint import Endpoint

SD = rdflib.Namespace("http://www.w3.org/ns/sparql-service-description#")
SHAPES = Path(__file__).with_name("service-description.ttl")
FORMATS = ("text/turtle", "application/rdf+xml")


def wrong_with_description(test: str, endpoint: Endpoint) -> str:
    """`returns-rdf`, `has-endpoint-triple` or `conforms-to-schema`; nothing when it is right in every format."""
    for media in FORMATS:
        answer = endpoint.client.get(endpoint.query, headers={"Accept": media})
        given = answer.headers.get("content-type", "").partition(";")[0]
        if not answer.is_success or given != media:
            return f"{answer.status_code} {given}, not {media}"
        graph = rdflib.Graph().parse(data=answer.content, format=media, publicID=endpoint.query)
        wrong = _wrong(test, graph, endpoint.query)
        if wrong:
            return f"in {media}: {wrong}"
    return ""


def _wrong(test: str, graph: rdflib.Graph, address: str) -> str:
    if test == "has-endpoint-triple" and (None, SD.endpoint, rdflib.URIRef(address)) not in graph:
        return f"no sd:endpoint <{address}>"
    if test == "conforms-to-schema":
        conforms, _, report = pyshacl.validate(graph, shacl_graph=str(SHAPES), inference="none")
        return "" if conforms else " ".join(str(report).split())[:300]
    return "" if len(graph) else "no triple"
