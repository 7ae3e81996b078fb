"""
Writes the pictures of the pages that docs show.

    python tests/interfaces/web/screenshots.py [FOLDER]

Needs a Chromium. The memory is made up, and the same every time but for its IRIs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from conftest import BROWSER, OFFLINE
from doors import serving
from memento.plugins.cases.nouns import CaseRow
from memento.python import Memento, open_memento

PICTURES = Path(__file__).parents[3] / "docs" / "pictures"
OPTIONS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--hide-scrollbars")

NOTES = (
    ("I live in Lisbon.", "2022-03-01"),
    ("I work at Google as a data engineer.", "2023-01-09"),
    ("My sister is Maria Silva.", "2023-02-11"),
    ("Maria Silva works at Hospital Santa Maria in Lisbon.", "2023-02-11"),
    ("I play the cello in the Harbour Quartet.", "2023-06-20"),
    ("The Harbour Quartet rehearses in Porto.", "2023-06-20"),
    ("I prefer dark mode.", "2023-09-02"),
    ("I am allergic to peanuts.", "2023-10-15"),
    ("I work at Microsoft since March 2024.", "2024-03-04"),
    ("I moved to Porto in May 2024.", "2024-05-30"),
    ("Maria Silva lives in Porto.", "2024-07-14"),
    ("We decided to use PostgreSQL for the Atlas project.", "2024-09-03"),
    ("The Atlas project is led by Ines Costa.", "2024-09-03"),
    ("Ines Costa works at Microsoft.", "2024-09-03"),
    ("The budget of the Atlas project is 40,000 euros.", "2025-01-20"),
    ("The budget of the Atlas project is 55,000 euros.", "2025-02-17"),
    ("I run a half marathon every spring.", "2025-04-06"),
    ("I drink green tea in the morning.", "2025-06-01"),
)


def fill(memento: Memento) -> None:
    """Tell a memory what the pictures show."""
    stores = memento.service.stores
    clock = stores.clock
    for content, at in NOTES:
        stores.clock = partial(datetime.fromisoformat, f"{at}T18:00:00+00:00")  # each is told when it is said
        memento.note(content, at=at, tags=["work"] if "project" in content else ["life"])
    stores.clock = clock
    memento.cases.add(
        [
            CaseRow(
                task="Move the Atlas database to a new server.", plan="Dump, copy, restore, compare counts.", reward=1.0
            ),
            CaseRow(task="Cut the nightly report to ten minutes.", plan="Add an index on the day.", reward=0.8),
            CaseRow(task="Upgrade PostgreSQL in place.", plan="Run the installer over it.", reward=-0.2),
        ]
    )


@contextmanager
def browsing() -> Iterator[Browser]:
    """A browser until the end of the block."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=list(OPTIONS))
        yield browser
        browser.close()


def settle(page: Page) -> None:
    """Wait until a page has drawn what its scripts draw."""
    page.wait_for_load_state("networkidle")
    if page.locator("#graph").count():
        page.locator("#graph[data-ready]").wait_for()
        page.wait_for_timeout(300)


def write_pictures(folder: Path) -> None:
    """Write every picture."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as home:
        memento = open_memento(Path(home), configured=OFFLINE)
        assert isinstance(memento, Memento)
        with memento:
            fill(memento)
            memento.recall("What is slow once?")
            [budget] = [one for one in memento.list() if "55,000" in one.content]
            shots = {
                "home": ("/", "light", 1200, 820),
                "memory": (f"/memory/{budget.iri}", "light", 1200, 900),
                "timeline": ("/timeline?subject=me", "dark", 1200, 900),
                "graph": ("/graph?q=the+Atlas+project", "light", 1200, 860),
            }
            with serving(memento) as address, browsing() as browser:
                for name, (path, colours, width, height) in shots.items():
                    page = browser.new_page(
                        viewport={"width": width, "height": height},
                        color_scheme="dark" if colours == "dark" else "light",
                        reduced_motion="reduce",
                    )
                    page.goto(address + path)
                    settle(page)
                    if name == "home":
                        page.fill("#note", "My brother Tom moved to Berlin in June 2025.")
                        page.get_by_role("button", name="Show what will be understood").click()
                        page.locator(".readings").wait_for()
                    picture = folder / f"page-{name}.png"
                    page.screenshot(path=picture)
                    # A page has few colours: a palette makes the file a third as long.
                    Image.open(picture).convert("RGB").quantize(
                        256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE
                    ).save(picture, optimize=True)
                    page.close()


if __name__ == "__main__":
    write_pictures(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES)
