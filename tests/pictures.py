"""
Draws `docs/pictures/claims-in-time.svg`: what a memory claims after eight notes, and since when and until when each claim holds.

    python tests/pictures.py     writes the picture; `test_documents.py` fails if it is stale

The notes are told to a memory, and a SPARQL query returns the claims.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from memento.python import Memento, open_memento
from memento.settings import EmbeddingSettings, Settings

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "claims-in-time.svg"
NOTES = (
    ("I live in Lisbon.", "2022-03-01"),
    ("I work at Google.", "2023-01-09"),
    ("Maria Silva is my sister. She lives in Lisbon.", "2023-02-11"),
    ("The budget of Atlas is 40,000 euros.", "2024-01-20"),
    ("I started at Microsoft.", "2024-03-04"),
    ("I moved to Porto.", "2024-05-30"),
    ("Maria Silva moved to Porto.", "2024-09-14"),
    ("The budget of Atlas is 55,000 euros now.", "2025-02-17"),
)
STATES = ("live in", "work at", "sister", "budget")
QUERY = """PREFIX mem: <http://purl.org/memento/>
SELECT ?owner ?relation ?value ?since ?until WHERE {
  ?claim mem:owner ?o ; mem:relationName ?relation ; mem:valueText ?value ; mem:validAt ?since .
  OPTIONAL { ?o mem:name ?owner } OPTIONAL { ?claim mem:invalidAt ?until }
} ORDER BY ?since ?relation ?value"""
FIRST, LAST, THEN = (
    datetime(2022, 1, 1, tzinfo=UTC),
    datetime(2025, 9, 1, tzinfo=UTC),
    datetime(2023, 11, 1, tzinfo=UTC),
)
WIDTH, LEFT, ROW, TOP = 860, 150, 38, 52


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim: whose, of what kind, which value, and when it holds."""

    lane: str
    value: str
    since: datetime
    until: datetime | None


def list_claims(memento: Memento) -> list[Claim]:
    """Tell a memory the notes and return the states that it claims, in the order in which they began."""
    for content, at in NOTES:
        memento.note(content, at=at)
    rows = memento.query(QUERY)
    return [
        Claim(
            f"{row['owner'] or 'you'} · {row['relation']}", str(row["value"]), _time(row["since"]), _end(row["until"])
        )
        for row in rows
        if row["relation"] in STATES
    ]


def draw() -> str:
    """Return the picture as an SVG document on white, as it is a file of its own."""
    settings = Settings(embedding=EmbeddingSettings(model="trigram"))
    with TemporaryDirectory() as folder, open_memento(folder, configured=settings) as memento:
        assert isinstance(memento, Memento)
        claims = list_claims(memento)
    lanes = list(dict.fromkeys(claim.lane for claim in claims))
    height = TOP + len(lanes) * ROW + 30
    parts = [*_draw_years(height), *(_draw_claim(claim, lanes.index(claim.lane)) for claim in claims)]
    parts += [
        f'<text x="{LEFT - 12}" y="{TOP + at * ROW + 22}" text-anchor="end">{escape(lane)}</text>'
        for at, lane in enumerate(lanes)
    ]
    parts += [_draw_question(THEN, "--as-of 2023-11-01", claims, height), _draw_question(LAST, "today", claims, height)]
    said = "Claims of a memory in time: what ended is pale and stays; a question picks the day it asks about"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="system-ui,sans-serif" font-size="13" fill="#1f2430">\n<title>{said}</title>\n'
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _draw_years(height: int) -> Iterator[str]:
    for year in range(FIRST.year, LAST.year + 1):
        x = _place(datetime(year, 1, 1, tzinfo=UTC))
        yield f'<line x1="{x:.0f}" y1="{TOP - 8}" x2="{x:.0f}" y2="{height - 22}" stroke="#d5d9e2"/>'
        yield f'<text x="{x:.0f}" y="{height - 8}" text-anchor="middle" font-size="11" fill="#5b6475">{year}</text>'


def _draw_claim(claim: Claim, lane: int) -> str:
    x, end = _place(claim.since), _place(claim.until or LAST)
    fill, colour = ("#c9d6f0", "#1f2430") if claim.until else ("#2f5bb7", "#ffffff")
    y = TOP + lane * ROW
    return (
        f'<rect x="{x:.0f}" y="{y + 4}" width="{end - x - 2:.0f}" height="28" rx="4" fill="{fill}"/>'
        f'<text x="{x + 8:.0f}" y="{y + 22}" fill="{colour}">{escape(claim.value)}</text>'
    )


def _draw_question(at: datetime, label: str, claims: list[Claim], height: int) -> str:
    x = _place(at)
    [works] = [
        claim.value
        for claim in claims
        if claim.lane == "you · work at" and claim.since <= at and (claim.until is None or at < claim.until)
    ]
    anchor = "end" if at == LAST else "middle"
    return (
        f'<line x1="{x:.0f}" y1="{TOP - 14}" x2="{x:.0f}" y2="{height - 22}" stroke="#c2410c" stroke-dasharray="4 3"/>'
        f'<text x="{x:.0f}" y="{TOP - 34}" text-anchor="{anchor}" fill="#c2410c" font-size="12">Where do I work? {label}</text>'
        f'<text x="{x:.0f}" y="{TOP - 19}" text-anchor="{anchor}" fill="#c2410c" font-weight="bold">{escape(works)}</text>'
    )


def _place(at: datetime) -> float:
    return LEFT + (at - FIRST) / (LAST - FIRST) * (WIDTH - LEFT - 14)


def _time(cell: object) -> datetime:
    assert isinstance(cell, datetime), cell
    return cell


def _end(cell: object) -> datetime | None:
    return None if cell is None else _time(cell)


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
