"""The page at /sparql in a real Chromium: rows, a graph, errors with their place, tokens, and no request to anywhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, urlsplit

import matplotlib.image
import numpy as np
import pytest
from playwright.sync_api import BrowserContext, Page, expect, sync_playwright

from conftest import BROWSER, BROWSERS, OFFLINE
from doors import serving
from memento.python import Memento, open_memento
from memento.settings import ServerSettings, Settings, SparqlSettings
from memento.time import now

OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
TOLD = (
    "I live in Lisbon.",
    "I work at Google.",
    "I work at Microsoft.",
    "My sister is Maria Silva.",
    "I prefer dark mode.",
)
EDITOR = ".tabPanel.active .yasqe .CodeMirror"
RESULT = ".tabPanel.active .yasr_results"

PARSED = """
window.parsed = [];
const keep = (text) => { if (String(text).includes("<img")) window.parsed.push(String(text)); };
for (const name of ["innerHTML", "outerHTML"]) {
  const { get, set } = Object.getOwnPropertyDescriptor(Element.prototype, name);
  Object.defineProperty(Element.prototype, name, { get, set(text) { keep(text); set.call(this, text); } });
}
const parsers = [[Element, "insertAdjacentHTML"], [Range, "createContextualFragment"], [DOMParser, "parseFromString"]];
for (const [owner, name] of parsers) {
  const parse = owner.prototype[name];
  owner.prototype[name] = function (...given) { given.forEach(keep); return parse.apply(this, given); };
}
"""
"""Keeps every text with an element that a script hands to the parser of HTML, also where a cleaner or the policy would stop it."""

pytestmark = pytest.mark.skipif(
    BROWSER is None,
    reason=f"NOT TESTED: the page at /sparql, as no browser is installed here: {', '.join(BROWSERS)}",
)


@contextmanager
def opened(home: Path, configured: Settings = OFFLINE) -> Iterator[Memento]:
    memento = open_memento(home, configured=configured)
    assert isinstance(memento, Memento)
    with memento:
        yield memento


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("profile"),
            executable_path=BROWSER,
            args=list(OPTIONS),
            viewport={"width": 1280, "height": 900},
        )
        context.set_default_timeout(20_000)  # of the unlucky only: what is there is seen at once
        expect.set_options(timeout=20_000)
        yield context
        context.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with opened(tmp_path_factory.mktemp("home")) as memento:
        for content in TOLD:
            memento.note(content)
        memento.note("I collect stamps.", namespace="hobby")
        with serving(memento) as address:
            yield address


@pytest.fixture
def page(chromium: BrowserContext, address: str) -> Iterator[Page]:
    """A new page of the service; whatever its browser complains of or asks elsewhere fails the test."""
    page = chromium.new_page()
    hosts: set[str] = set()
    complaints: list[str] = []
    page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    # That a request was refused is the business of each test; everything else is a fault of the page, a broken policy among it.
    page.on(
        "console",
        lambda said: (
            complaints.append(said.text)
            if said.type in ("error", "warning") and "the server responded with" not in said.text
            else None
        ),
    )
    page.goto(f"{address}/sparql")
    expect(page.locator(EDITOR)).to_be_visible()
    expect(page.locator("#namespace")).to_have_value("main")
    yield page
    page.evaluate("localStorage.clear()")
    page.close()
    assert complaints == []
    assert hosts == {urlsplit(address).netloc}


def example(page: Page, beginning: str) -> None:
    page.get_by_role("button", name=beginning).click()


def write(page: Page, query: str) -> None:
    """Put a query into the editor, as pasting does."""
    page.locator(EDITOR).evaluate("(editor, query) => editor.CodeMirror.setValue(query)", query)


def test_an_empty_page_starts_with_a_query_of_five_lines_and_its_answer(page: Page) -> None:
    expect(page.locator(f"{RESULT} tbody tr")).to_have_count(4)
    expect(page.locator(RESULT)).to_contain_text("I live in Lisbon.")
    query = page.locator(EDITOR).evaluate("(editor) => editor.CodeMirror.getValue()")
    assert len(query.strip().splitlines()) == 5


def test_an_example_lists_rows_and_another_draws_a_graph(page: Page, tmp_path: Path) -> None:
    example(page, "The memories that hold now")
    expect(page.locator(f"{RESULT} tbody tr")).to_have_count(4)
    expect(page.locator(RESULT)).to_contain_text("I live in Lisbon.")
    expect(page.locator(RESULT)).not_to_contain_text("Google")
    grip = page.locator(f"{RESULT} .grip-handle .grip-resizable").first.bounding_box()
    assert grip
    page.mouse.move(grip["x"] + 5, grip["y"] + 5)
    page.mouse.down()  # a column that is made wider brings a style of its own
    page.mouse.move(grip["x"] + 40, grip["y"] + 5)
    expect(page.locator(".grip-drag")).to_have_count(1)
    page.mouse.up()

    example(page, "The newest memories with the people")
    nodes = page.locator(f"{RESULT} .graph .node")
    expect(nodes.filter(has_text="Microsoft").first).to_be_visible()
    assert nodes.count() >= 8
    assert page.locator(f"{RESULT} .graph .edges path").count() >= 8

    picture = tmp_path / "page.png"
    page.screenshot(path=picture)
    drawn = page.locator(f"{RESULT} .graph")
    drawn.screenshot(path=tmp_path / "graph.png")
    for file, least in ((picture, 200), (tmp_path / "graph.png", 100)):
        pixels = (matplotlib.image.imread(file)[..., :3] * 255).astype(np.int64).reshape(-1, 3)
        colours = np.unique(pixels @ [1 << 16, 1 << 8, 1], return_counts=True)[1]
        assert len(colours) > least, f"{file} shows {len(colours)} colours"
        assert colours.max() < 0.99 * len(pixels), f"{file} is all but blank"


def test_the_keyboard_walks_the_graph_and_asks_what_is_known_of_a_node(page: Page) -> None:
    example(page, "The newest memories with the people")
    page.locator(f"{RESULT} .graph [tabindex='0']").focus()
    told = page.locator(f"{RESULT} .details code")
    begun = told.inner_text()
    for arrow in ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"):  # on some side there is another node
        page.keyboard.press(arrow)
        if (chosen := told.inner_text()) != begun:
            break
    else:
        pytest.fail("no arrow led to another node")

    page.keyboard.press("Enter")
    expect(page.locator(EDITOR)).to_contain_text(f"DESCRIBE <{chosen}>")
    expect(page.locator(f"{RESULT} .graph .node").first).to_be_visible()


def test_an_example_that_needs_an_iri_is_ready_for_it_to_be_pasted(page: Page) -> None:
    example(page, "Every statement about one node")
    page.keyboard.insert_text("<urn:memento:user:local>")

    assert (
        page.locator(EDITOR).evaluate("(editor) => editor.CodeMirror.getValue()").count("<urn:memento:user:local>") == 2
    )
    page.keyboard.press("Control+Enter")
    expect(page.locator(RESULT)).to_contain_text("mem:User")


def test_an_iri_in_a_row_is_looked_up_here(page: Page) -> None:
    example(page, "The memories that hold now")
    page.locator(f"{RESULT} a.iri").first.click()

    expect(page.locator(EDITOR)).to_contain_text("DESCRIBE <urn:memento:memory:")
    expect(page.locator(f"{RESULT} .graph .node").first).to_be_visible()
    assert len(page.context.pages) == 2  # this one, and the empty one that a browser begins with


def test_what_is_in_the_data_is_text_and_never_runs(page: Page) -> None:
    attack = "<img src=x onerror='window.broken=1'>&"
    page.add_init_script(PARSED)
    page.reload()
    expect(page.locator(EDITOR)).to_be_visible()
    rows = f'WHERE {{ VALUES (?s ?p ?o) {{ (<javascript:window.broken=1> <urn:p> "{attack}") }} }}'
    write(page, f"CONSTRUCT {{ ?s ?p ?o }} {rows}")
    page.get_by_role("button", name="Run query").click()
    page.locator(f"{RESULT} .graph .node circle").click()
    expect(page.locator(f"{RESULT} .details dd")).to_have_text(attack)

    write(page, f"SELECT ?s ?p ?o {rows}")
    page.get_by_role("button", name="Run query").click()
    expect(page.locator(f"{RESULT} tbody td").last).to_have_text(attack)
    page.locator(f"{RESULT} thead th").last.click()  # sorted by it
    page.locator("input.tableFilter").press_sequentially("onerror")  # and searched for it
    expect(page.locator(f"{RESULT} tbody td").last).to_have_text(attack)
    assert page.evaluate("window.parsed") == []
    page.locator(f"{RESULT} a.iri").first.click()
    expect(page.locator(EDITOR)).to_contain_text("DESCRIBE <javascript:window.broken=1>")
    expect(page.locator(RESULT)).to_contain_text("The graph is empty")
    assert page.evaluate("window.broken") is None


def test_what_is_wrong_is_told_with_its_place_and_a_way_there(page: Page) -> None:
    write(page, "SELECT * {\n  ?s ?p ?o\n} }")
    page.locator(EDITOR).click()
    page.keyboard.press("Control+Enter")
    failure = page.locator(f"{RESULT} [role=alert]")
    expect(failure).to_contain_text("400")
    expect(failure).to_contain_text("line 3")

    failure.get_by_role("button", name="Go to line 3").click()
    assert page.locator(EDITOR).evaluate("(editor) => editor.CodeMirror.getCursor().line") == 2
    expect(page.locator(f"{EDITOR} .failed")).to_have_count(1)
    page.locator(f"{EDITOR} .parseErrorIcon").first.hover()  # its words bring their own style


def test_terms_of_the_ontology_are_completed_and_their_prefix_is_declared(page: Page) -> None:
    write(page, "SELECT * {\n  ?memory ")
    page.locator(EDITOR).click()
    page.keyboard.press("Control+End")
    page.keyboard.type("mem:validA")
    page.keyboard.press("Control+Space")
    page.locator(".CodeMirror-hints li", has_text="mem:validAt").click()

    expect(page.locator(EDITOR)).to_contain_text("PREFIX mem: <http://purl.org/memento/>")
    expect(page.locator(EDITOR)).to_contain_text("?memory mem:validAt")


def test_a_graph_of_rows_says_what_it_leaves_out(page: Page) -> None:
    write(page, "SELECT ?s ?p ?o WHERE { GRAPH <urn:memento:ontology> { ?s ?p ?o } }")
    page.get_by_role("button", name="Run query").click()
    expect(page.locator(f"{RESULT} tbody tr").first).to_be_visible()
    page.get_by_role("button", name="Shows Graph view").click()

    expect(page.locator(f"{RESULT} .graph .node")).to_have_count(300)
    expect(page.locator(f"{RESULT} .count")).to_contain_text("triples more are not drawn")


@pytest.mark.parametrize("target", ["http://localhost:1/sparql", "/sparql/update"])
def test_a_link_brings_a_query_and_neither_an_update_nor_another_address(page: Page, address: str, target: str) -> None:
    asked: list[str] = []
    page.goto("about:blank")
    page.on("request", lambda request: asked.append(request.url) if request.method == "POST" else None)
    endpoint = quote(target if target.startswith("http") else address + target)
    page.goto(f"{address}/sparql#query={quote('DELETE WHERE { ?s ?p ?o }')}&endpoint={endpoint}&requestMethod=POST")

    expect(page.locator(EDITOR)).to_contain_text("DELETE WHERE")
    expect(page.locator(f"{RESULT} [role=alert]")).to_contain_text("403")
    assert set(asked) == {f"{address}/sparql"}


def test_the_chosen_namespace_is_asked(page: Page) -> None:
    page.locator("#namespace").select_option("hobby")
    example(page, "The memories that hold now")

    expect(page.locator(RESULT)).to_contain_text("stamps")


def test_an_answer_that_breaks_off_is_no_answer(chromium: BrowserContext, tmp_path: Path) -> None:
    configured = replace(OFFLINE, sparql=SparqlSettings(rows=500))
    with opened(tmp_path / "home", configured) as memento, serving(memento) as address:
        page = chromium.new_page()
        page.goto(f"{address}/sparql")
        write(page, "SELECT * { GRAPH ?graph { ?s ?p ?o } }")
        page.get_by_role("button", name="Run query").click()
        expect(page.locator(f"{RESULT} [role=alert]")).to_contain_text("ended too early")
        page.evaluate("localStorage.clear()")
        page.close()


def test_a_token_is_asked_for_and_kept_nowhere_but_in_the_tab(chromium: BrowserContext, tmp_path: Path) -> None:
    configured = replace(OFFLINE, server=ServerSettings(token_required=True))
    with opened(tmp_path / "home", configured) as memento, serving(memento) as address:
        token = memento.tokens.create("reader", tenant="local", namespaces=[], right="read", at=now())
        memento.note("I live in Lisbon.")
        page = chromium.new_page()
        page.goto(f"{address}/sparql")
        field = page.get_by_label("Token", exact=True)
        expect(field).to_be_focused()
        expect(page.locator("#token-why")).to_be_visible()

        field.fill(token)
        page.keyboard.press("Enter")
        expect(page.locator("#namespace")).to_have_value("main")
        example(page, "The memories that hold now")
        expect(page.locator(RESULT)).to_contain_text("I live in Lisbon.")

        page.get_by_role("button", name="Share query").click()
        page.locator(".yasqe_sharePopup .curl").click()
        shared = page.locator(".yasqe_sharePopup input").input_value()
        kept = page.evaluate("JSON.stringify(localStorage)")
        page.evaluate("localStorage.clear()")
        page.close()

    assert "curl" in shared and token not in shared
    assert token not in kept and "Lisbon" not in kept
