"""Nouns in a notebook: everything said, nothing run, nothing fetched."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any

import pytest

from memento.interfaces.notebook import attach
from memento.iris import IRI, MEM
from memento.model import (
    Believed,
    Described,
    Listed,
    NoteRef,
    Recalled,
    Recollection,
    Retired,
    Source,
    Timeline,
)
from memento.python import Memento

EVIL = "<script>alert('x')</script>\"><img src=x onerror=y>"
AT = datetime(2024, 1, 8, 9, tzinfo=UTC)
NOTE = NoteRef(iri=IRI("urn:n"), content=EVIL, at=AT)
OLDEST = Retired(iri=IRI("urn:0"), content=f"oldest {EVIL}", reason=EVIL, valid_at=AT)
OLD = Retired(iri=IRI("urn:1"), content=f"old {EVIL}", reason=EVIL, valid_at=AT, invalid_at=AT, invalidates=(OLDEST,))
RECALLED = Recalled(
    rank=1,
    iri=IRI("urn:2"),
    content=EVIL,
    score=0.5,
    source="words",
    valid_at=AT,
    about=(EVIL,),
    note=NOTE,
    invalidates=(OLD,),
)
BELIEVED = Believed(
    iri=IRI("urn:2"),
    content=EVIL,
    note=IRI("urn:n"),
    valid_at=AT,
    created_at=AT,
    state="ended",
    invalid_at=AT,
    reason=EVIL,
)
NOUNS = [
    RECALLED,
    Recollection(
        query=EVIL, namespace=EVIL, memories=(RECALLED,), entities=(), total_candidates=1, timings_ms={}, gated=False
    ),
    Recollection(query=EVIL, namespace="main", memories=(), entities=(), total_candidates=0, timings_ms={}, gated=True),
    BELIEVED,
    Timeline(subject=EVIL, namespace=EVIL, iris=(), memories=(BELIEVED,), earlier=3),
    Listed(iri=IRI("urn:2"), content=EVIL, note=IRI("urn:n"), valid_at=AT, created_at=AT, expired_at=AT),
    Described(
        iri=IRI("urn:2"),
        type=EVIL,
        namespace=EVIL,
        properties=((MEM.content, EVIL), (EVIL, EVIL)),
        pointed_at_by=((EVIL, EVIL),),
    ),
    Source(memory=IRI("urn:2"), content=EVIL, note=NOTE, said_by=EVIL, agent=EVIL, rules=(EVIL,)),
]


attach()


def html_of(noun: Any) -> str:
    """Ask a noun for its HTML, as a notebook does."""
    html: str = noun._repr_html_()
    return html


class Tags(HTMLParser):
    """Which elements and attributes there are, and what is left open."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def tags(html: str) -> Tags:
    found = Tags()
    found.feed(html)
    found.close()
    assert found.open == []
    return found


@pytest.mark.parametrize("noun", NOUNS, ids=lambda noun: type(noun).__name__)
def test_text_stays_text(noun: object) -> None:
    html = html_of(noun)
    found = tags(html)

    assert found.names <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "b", "code", "span", "div", "p"}
    assert found.attributes <= {"style"}
    assert "&lt;script&gt;" in html
    assert not re.search(r"url\(|#[0-9a-f]{3,6}\b|background|(?<![-\w])color", html), "colours are those around it"


def test_a_recollection_has_dates_sources_and_what_was_replaced(memento: Memento) -> None:
    memento.note("I work at Google.", at="2024-01-08")
    memento.note("I work at Microsoft.", at="2025-03-03")
    html = html_of(memento.recall("Where do I work?"))

    assert html.index("USER works at Microsoft.") < html.index("USER works at Google.")
    assert "2025-03-03" in html and "2024-01-08" in html
    assert "I work at Microsoft." in html
    assert "USER works at Google." in html_of(memento.timeline("me"))
    assert "USER works at Microsoft." in html_of(memento.list()[0])


ASKED = """
from memento.iris import IRI
from memento.model import NoteRef, Source
from IPython.core.formatters import HTMLFormatter

note = NoteRef(iri=IRI("urn:n"), content="I like tea.", at=__import__("datetime").datetime(2024, 1, 8))
print(HTMLFormatter()(Source(memory=IRI("urn:m"), content="USER likes tea.", note=note, said_by="USER")))
"""


@pytest.mark.parametrize(("first", "shown"), [("import IPython", "<table>"), ("", "None")])
def test_nouns_show_as_tables_wherever_ipython_runs_when_memento_is_imported(first: str, shown: str) -> None:
    run = subprocess.run([sys.executable, "-c", first + ASKED], capture_output=True, text=True, check=True)

    assert run.stdout.startswith(shown)
