"""What Memento is made of and never given up: its packages, its folders, its graph and its queries."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import rdflib
from click.testing import CliRunner

from memento import assets
from memento.interfaces.cli import main
from memento.python import Memento

ROOT = Path(__file__).parents[1]
PACKAGES = (
    "rdflib",
    "oxigraph",
    "pyoxigraph",
    "faiss-cpu",
    "numpy",
    "torch",
    "sentence-transformers",
    "flask",
    "mcp",
)
AT_THE_TOP = ("pyproject.toml", "README.md", "ontology", "src", "queries", "tests", "notebooks")
KINDS = ("Note", "Memory", "Entity", "Invalidation")


def test_the_default_install_has_the_nine_packages() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.split(r"[<>=!~\[ ;]", one)[0].lower() for one in project["dependencies"]}

    assert [name for name in PACKAGES if name not in names] == []
    assert project["requires-python"].startswith(">=3.")


def test_the_folders_and_files_are_at_the_top() -> None:
    assert [name for name in AT_THE_TOP if not (ROOT / name).exists()] == []


def test_what_is_noted_is_of_the_classes_of_the_turtle_ontology(memento: Memento) -> None:
    memento.note("I work at Siemens with Ana Silva.")
    memento.note("I left Siemens and joined Acme Tools.")
    ontology = rdflib.Graph().parse(data=assets.read("ontology/memento.ttl"), format="turtle")

    for kind in KINDS:
        term = f"http://purl.org/memento/{kind}"
        assert (rdflib.URIRef(term), rdflib.RDF.type, rdflib.OWL.Class) in ontology
        assert memento.graphs.query_bytes(f"ASK {{ ?one a <{term}> }}", accept="text/csv")[0].strip() == b"true"


def test_anchor_and_trace_are_property_paths() -> None:
    for name in ("entities", "trace"):
        query = assets.read(f"queries/retrieval/{name}.rq").decode()
        assert re.search(r"mem:\w+/mem:invalidates\?|mem:about\|mem:saidBy", query), name
    assert "mem:invalidates/mem:invalidates? ?node" in assets.read("queries/retrieval/trace.rq").decode()


def test_the_port_is_6366_unless_told_otherwise() -> None:
    shown: Any = CliRunner().invoke(main, ["config", "show"], prog_name="memento").output

    assert re.search(r"port\W+6366", shown)
