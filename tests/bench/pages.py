"""
How fast do the pages for people load over a large memory? First paint and longest task of each in a real browser.

    python tests/bench/pages.py [--memories 3000] [--home FOLDER] [--page PATH…]

Prints milliseconds: the service's time for the first answer and for that of a reload, the browser's first contentful paint of
both (the scripts are cached), and its longest task; for a graph of hundreds of nodes also the time until its layout is done, and
the frames per second while it is dragged. `--home` keeps the memory in a folder for the next run. The notes are invented: what some
people and the user do, where they live and work, and what changed; rules understand each of them.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from tempfile import TemporaryDirectory
from time import perf_counter
from urllib.parse import quote

from playwright.sync_api import Browser, Page, sync_playwright

from conftest import BROWSER, OFFLINE
from doors import serving
from memento.model import NoteRow
from memento.operations.notes import ImportNotes
from memento.python import Memento, open_memento

PLACES = ("Lisbon", "Porto", "Oslo", "Bergen", "Zurich", "Berlin", "Madrid", "Paris", "Rome", "Vienna")
FIRMS = ("Halden Foods", "Brightwater", "Norsk Data", "Casa Verde", "Lumen Labs", "Otter Press")
THINGS = ("tea", "chess", "sailing", "jazz", "rye bread", "crosswords", "cycling", "opera")
FIRST = (
    "Ada",
    "Ben",
    "Cora",
    "Dan",
    "Eva",
    "Finn",
    "Gina",
    "Hugo",
    "Ines",
    "Jan",
    "Kira",
    "Leo",
    "Mara",
    "Nils",
    "Olga",
)
LAST = ("Almeida", "Bergstrom", "Conti", "Dahl", "Eriksson", "Faber", "Gruber", "Holm", "Ivanov", "Jansen")
TEMPLATES = (
    "{who} lives in {place}.",
    "{who} moved to {place}.",
    "{who} works at {firm}.",
    "{who} likes {thing}.",
    "{who} met {other} in {place}.",
    "{who}'s birthday is on {day} May.",
    "{who} now works at {firm}.",
    "{who}'s car is a Volvo from {place}.",
)
MINE = (
    "I live in {place}.",
    "I work at {firm}.",
    "I like {thing}.",
    "I met {other} in {place}.",
    "My dentist is Dr. {last}.",
    "My rent is {money} euros.",
    "I moved to {place}.",
    "My gym is in {place}.",
)
PAGES = (
    "/",
    "/search?q=Where+does+Ada+Dahl+work%3F",
    "/memory",
    "/memory?past=true",
    "/memory/{memory}",
    "/memory/{note}",
    "/memory/{person}",
    "/memory/{place}",
    "/memory/{me}",
    "/timeline",
    "/graph",
    "/map",
    "/review",
    "/cases",
    "/prompts",
    "/system",
    "/docs/",
    "/ontology",
)
FRAMES = """
async () => {
  const begin = performance.now();
  let frames = 0;
  while (performance.now() - begin < 2000) {
    memoryGraph.panBy({ x: 3 * Math.sin(frames / 10), y: 2 });
    await new Promise(requestAnimationFrame);
    frames += 1;
  }
  return frames / 2;
}
"""
WATCH = """
window.tasks = [];
const seen = new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map((one) => one.duration)));
seen.observe({ type: "longtask", buffered: true });
"""
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1"
ANSWER = "(([one]) => one.responseEnd - one.requestStart)(performance.getEntriesByType('navigation'))"
LONGEST = "Math.max(0, ...window.tasks)"


def tell(count: int) -> Iterator[NoteRow]:
    """Yield so many notes of a life, a fifth of them about the user, some of which change what was told before."""
    chance, at = random.Random(7), datetime(2023, 1, 1, 9, tzinfo=UTC)
    for n in range(count):
        who, other = (f"{chance.choice(FIRST)} {chance.choice(LAST)}" for _ in range(2))
        form = chance.choice(MINE if n % 5 == 0 else TEMPLATES)
        content = form.format(
            who=who,
            other=other,
            place=chance.choice(PLACES),
            firm=chance.choice(FIRMS),
            thing=chance.choice(THINGS),
            last=chance.choice(LAST),
            day=chance.randint(1, 28),
            money=chance.randrange(700, 1500, 50),
        )
        yield NoteRow(content=content, at=at + timedelta(hours=8 * n))


def measure_page(browser: Browser, address: str) -> tuple[float, float, float, float, float]:
    """Return the milliseconds of the first answer and paint, of those of a reload, and of the longest task of both."""
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.add_init_script(WATCH)
    figures: list[float] = []
    longest = 0.0
    for is_first in (True, False):
        page.goto(address) if is_first else page.reload()
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(300)  # for tasks that begin after the last answer
        figures += [page.evaluate(ANSWER), page.evaluate(PAINT)]
        longest = max(longest, page.evaluate(LONGEST))
    page.close()
    return figures[0], figures[1], figures[2], figures[3], longest


def measure_graph(page: Page, address: str) -> str:
    """Return what a graph of hundreds of nodes takes until it is drawn, and how it moves."""
    page.add_init_script(WATCH)
    begin = perf_counter()
    page.goto(f"{address}/graph?node=Lisbon&limit=1000")
    page.locator("#graph[data-ready]").wait_for(timeout=60_000)
    took = perf_counter() - begin
    nodes, longest = page.evaluate("memoryGraph.nodes().length"), page.evaluate(LONGEST)
    frames = page.evaluate(FRAMES)
    laid_out = f"graph of {nodes} nodes: {1000 * took:.0f} ms until laid out"
    return f"{laid_out}, longest task {longest:.0f} ms, {frames:.0f} frames a second"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1] if __doc__ else None)
    parser.add_argument("--memories", type=int, default=3000)
    parser.add_argument("--home", help="a folder that keeps the memory")
    parser.add_argument("--fill", action="store_true", help="only fill the folder")
    parser.add_argument("--page", nargs="*", help="measure only these")
    asked = parser.parse_args()
    with ExitStack() as kept:
        home = asked.home or kept.enter_context(TemporaryDirectory())
        memento = open_memento(home, configured=OFFLINE)
        assert isinstance(memento, Memento)
        kept.enter_context(memento)
        if not memento.list(limit=1):
            begin = perf_counter()
            memento.call(ImportNotes(tuple(tell(asked.memories))))
            print(f"{asked.memories:,} notes understood in {perf_counter() - begin:.0f} s")
        if asked.fill:
            return
        print(f"load {os.getloadavg()[0]:.1f}")
        memento.recall("warm")
        last = memento.list(limit=1)[0]
        names = {one.name: one.iri for one in memento.graphs.entities(limit=200)}
        known = {
            "memory": last.iri,
            "note": last.note,
            "person": quote(next(names[name] for name in names if " " in name and name.split()[0] in FIRST)),
            "place": quote(names["Lisbon"]),
            "me": "urn:memento:user:local",
        }
        address = kept.enter_context(serving(memento))
        playwright = kept.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"])
        print(f"{'page':<40}{'answer':>8}{'paint':>8}{'again':>8}{'paint':>8}{'task':>8}  ms")
        for path in asked.page or PAGES:
            figures = measure_page(browser, address + path.format(**known))
            print(f"{path[:39]:<40}{''.join(f'{one:>8.0f}' for one in figures)}", flush=True)
        if not asked.page:
            print(measure_graph(browser.new_page(viewport={"width": 1200, "height": 900}), address))
        browser.close()


if __name__ == "__main__":
    main()
