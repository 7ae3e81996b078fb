"""Nouns in a notebook: everything said, nothing run, nothing fetched."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any, cast
from xml.etree import ElementTree

import pytest

from memento.interfaces.notebook import attach, show_memento
from memento.interfaces.picture import draw_timeline
from memento.iris import IRI, MEM
from memento.model import (
    Believed,
    Described,
    Listed,
    Noted,
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
    Noted(note=IRI("urn:n"), memories=(IRI("urn:2"),), contents={IRI("urn:2"): EVIL}, remarks=(EVIL,)),
    Noted(note=None, skipped=EVIL),
]
DRAWN = {"svg", "title", "g", "rect", "line", "text"}
"""Of a timeline, which is a picture beside a table."""


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

    written = {"table", "caption", "thead", "tbody", "tr", "th", "td", "b", "code", "span", "div", "p"}
    assert found.names <= (written | DRAWN if isinstance(noun, Timeline) else written)
    assert isinstance(noun, Timeline) or found.attributes <= {"style"}
    assert not any(name.startswith("on") or name in ("href", "src") for name in found.attributes)
    assert "&lt;script&gt;" in html
    assert not re.search(r"url\(|#[0-9a-f]{3,6}\b|background|(?<![-\w])color", html), "colours are those around it"


def test_a_recollection_has_dates_sources_and_what_was_replaced(memento: Memento) -> None:
    memento.note("I work at Google.", at="2024-01-08")
    memento.note("I work at Microsoft.", at="2025-03-03")
    html = html_of(memento.recall("Where do I work?"))

    assert html.index("I work at Microsoft.") < html.index("I work at Google.")
    assert "2025-03-03" in html and "2024-01-08" in html
    assert "I work at Microsoft." in html
    assert "I work at Google." in html_of(memento.timeline("me"))
    assert "I work at Microsoft." in html_of(memento.list()[0])
    own = show_memento(memento)
    assert "2 memories of 2 notes, 1 current" in own
    assert own.index("I work at Microsoft.") > own.index(str(memento.datadir.path))
    assert "I work at Google." in html_of(memento.note("I work at Google.", at="2025-09-01"))


def test_a_timeline_is_drawn_with_a_bar_for_each_memory_as_long_as_it_was_true() -> None:
    spans = [
        ("A", 2020, 2022, "ended"),
        ("B", 2022, 2024, "ended"),
        ("C", 2024, None, "holds"),
        ("D", 2021, 2023, "corrected"),
    ]
    rows = tuple(
        replace(
            BELIEVED,
            content=name,
            valid_at=datetime(begin, 1, 1, tzinfo=UTC),
            invalid_at=datetime(end, 1, 1, tzinfo=UTC) if end else None,
            state=cast(Any, state),
        )
        for name, begin, end, state in spans
    )
    found = Timeline(subject="x", namespace="main", iris=(), memories=rows)
    drawn = draw_timeline(found, until=datetime(2026, 1, 1, tzinfo=UTC))
    root = ElementTree.fromstring(drawn)
    bars = [
        (float(one.get("x", "")), float(one.get("width", ""))) for one in root.iter("{http://www.w3.org/2000/svg}rect")
    ]
    wide = bars[0][1]
    assert [round(width / wide, 2) for _, width in bars] == [1.0, 1.0, 1.0, 1.0]
    assert bars[0][0] < bars[3][0] < bars[1][0] < bars[2][0], "each begins when it came true"
    assert drawn.count("stroke-dasharray") == 1, "what was never true is dashed"
    years = [one.text for one in root.iter("{http://www.w3.org/2000/svg}text") if one.get("font-size") == "10"]
    assert years == ["2020", "2021", "2022", "2023", "2024", "2025", "2026"]
    assert draw_timeline(replace(found, memories=())) == ""


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
