"""
How fast do the pages for people load? First paint of each in a real browser over a large memory, and a graph of 500 nodes.

    python tests/bench/pages.py [--memories 10000]

Prints milliseconds: the service's time for the response, the browser's first contentful paint (the second of two loads, with cached
scripts), for the graph the time until its layout is done, and the frames per second while it is dragged.
"""

from __future__ import annotations

import argparse
import os
from tempfile import TemporaryDirectory
from time import perf_counter

from playwright.sync_api import Page, sync_playwright

from conftest import BROWSER, OFFLINE
from doors import serving
from memento.model import NoteRow
from memento.operations.notes import ImportNotes
from memento.python import Memento, open_memento

PLACES = ("Lisbon", "Porto", "Oslo", "Bergen", "Zurich", "Berlin", "Madrid", "Paris", "Rome", "Vienna")
FIRST = ("Ada", "Ben", "Cora", "Dan", "Eva", "Finn", "Gina", "Hugo", "Ines", "Jan")
PAGES = (
    "/",
    "/search?q=Who+met+Ada%3F",
    "/memory",
    "/memory/{iri}",
    "/timeline?subject=Oslo",
    "/graph",
    "/review",
    "/system",
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
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1"
ANSWER = "(([one]) => one.responseEnd - one.requestStart)(performance.getEntriesByType('navigation'))"


def fill(memento: Memento, count: int) -> None:
    """Keep so many sentences about people and places."""
    rows = tuple(
        NoteRow(
            content=f"{FIRST[n % 10]} Moss{n // 40} met {FIRST[n // 10 % 10]} in {PLACES[n // 7 % 10]} about plan {n}."
        )
        for n in range(count)
    )
    memento.call(ImportNotes(rows, consolidate=False))


def measure_page(page: Page, address: str) -> tuple[float, float]:
    """Return the milliseconds of the answer and of the first paint."""
    page.goto(address)
    page.wait_for_load_state("networkidle")
    page.reload()
    page.wait_for_load_state("networkidle")
    return page.evaluate(ANSWER), page.evaluate(PAINT)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1] if __doc__ else None)
    parser.add_argument("--memories", type=int, default=10_000)
    asked = parser.parse_args()
    with TemporaryDirectory() as home:
        memento = open_memento(home, configured=OFFLINE)
        assert isinstance(memento, Memento)
        with memento:
            begin = perf_counter()
            fill(memento, asked.memories)
            print(
                f"{asked.memories:,} memories written in {perf_counter() - begin:.0f} s; load {os.getloadavg()[0]:.0f}"
            )
            memento.recall("warm")
            iri = memento.list(limit=1)[0].iri
            with serving(memento) as address, sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"])
                page = browser.new_page(viewport={"width": 1200, "height": 900})
                print(f"{'page':<40}{'answer ms':>10}{'paint ms':>10}")
                for path in PAGES:
                    answer, paint = measure_page(page, address + path.format(iri=iri))
                    print(f"{path[:39]:<40}{answer:>10.0f}{paint:>10.0f}")
                begin = perf_counter()
                page.goto(f"{address}/graph?node=Lisbon&limit=1000")
                page.locator("#graph[data-ready]").wait_for(timeout=60_000)
                took = perf_counter() - begin
                nodes = page.evaluate("memoryGraph.nodes().length")
                print(
                    f"graph of {nodes} nodes: {1000 * took:.0f} ms until laid out, {page.evaluate(FRAMES):.0f} pictures a second"
                )
                browser.close()


if __name__ == "__main__":
    main()
