"""The page and the context say what the ontology says, all of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

from memento import assets
from memento import ontology as reference
from memento.iris import MEM
from memento.ontology import load_shapes, load_terms

ROOT = Path(__file__).parents[2]
PAGE = reference.write_page()


def test_the_committed_page_and_context_are_those_of_the_ontology() -> None:
    assert (ROOT / "docs" / "ontology.md").read_text(encoding="utf-8") == PAGE, "run `make docs`"
    assert assets.read("ontology/context.jsonld").decode() == reference.write_context(), "run `make docs`"


def test_the_page_has_every_term_with_its_comment_and_every_shape_with_its_messages() -> None:
    text = assets.read("ontology/memento.ttl").decode()
    named = set(re.findall(r"^mem:(\w+) a ", text, flags=re.M))

    assert {term.name for term in load_terms()} == named
    assert all(term.heading and term.label and term.comment in PAGE for term in load_terms())
    assert all(rule.message in PAGE for shape in load_shapes() for rule in shape.rules)
    assert len(load_shapes()) > 20


def test_every_link_of_the_page_leads_to_one_heading() -> None:
    headings = re.findall(r"^#+ (.*)$", PAGE, flags=re.M)
    anchors = [re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-")) for heading in headings]

    assert len(set(anchors)) == len(anchors)
    assert set(re.findall(r"\]\(#([^)]+)\)", PAGE)) <= set(anchors)


def test_the_context_has_every_term_typed_by_its_range_and_no_prefix() -> None:
    told = json.loads(reference.write_context())["@context"]

    assert {term.name for term in load_terms()} < set(told)
    assert told["validAt"] == {"@id": MEM.validAt, "@type": "http://www.w3.org/2001/XMLSchema#dateTime"}
    assert told["about"]["@type"] == "@id"
    assert told["content"] == MEM.content
    assert not [name for name, what in told.items() if isinstance(what, str) and what.endswith(("/", "#", ":"))]
