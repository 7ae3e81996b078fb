"""The pages for people in a real Chromium, used as people use them, by keyboard too; axe-core finds nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from conftest import BROWSER, BROWSERS, OFFLINE
from doors import serving
from kept import keep
from memento.plugins.cases.nouns import CaseRow
from memento.python import Memento, open_memento

OPTIONS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
AXE = Path(__file__).with_name("axe.min.js").read_text(encoding="utf-8")
ATTACK = "<img src=x onerror='window.broken=1'><script>window.broken=1</script>"

pytestmark = pytest.mark.skipif(
    BROWSER is None,
    reason=f"NOT TESTED: the pages for people, as no browser is installed here: {', '.join(BROWSERS)}",
)


@pytest.fixture(scope="module")
def memento(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memento]:
    opened = open_memento(tmp_path_factory.mktemp("home"), configured=OFFLINE)
    assert isinstance(opened, Memento)
    with opened:
        for content, at in (
            ("I live in Lisbon.", "2023-01-08"),
            ("I work at Google.", "2024-01-08"),
            ("My sister is Maria Silva.", "2024-02-01"),
            ("Maria Silva works at Google.", "2024-02-01"),
            ("I work at Microsoft.", "2025-03-03"),
            ("I drink tea.", "2025-04-01"),
        ):
            opened.note(content, at=at)
        keep(opened, f"The attack is {ATTACK}")
        opened.cases.add([CaseRow(task=f"Cook {ATTACK}", plan="Boil.", reward=0.5)])
        yield opened


@pytest.fixture(scope="module")
def address(memento: Memento) -> Iterator[str]:
    with serving(memento) as address:
        yield address


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=list(OPTIONS))
        expect.set_options(timeout=20_000)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser, address: str) -> Iterator[Page]:
    """A page of a fresh session; whatever its browser complains of, or asks elsewhere, fails the test."""
    context = chromium.new_context(base_url=address, viewport={"width": 1200, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(20_000)
    page = context.new_page()
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
    yield page
    broken = page.evaluate("window.broken")
    context.close()
    assert complaints == []
    assert hosts == {urlsplit(address).netloc}
    assert broken is None


def find(memento: Memento, words: str) -> str:
    return next(one.iri for one in memento.list(past=True, limit=100) if words in one.content)


def list_violations(page: Page) -> list[str]:
    """What axe-core finds, of whatever impact."""
    page.evaluate(AXE)
    found: dict[str, Any] = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [f"{one['id']}: {node['html'][:160]}" for one in found["violations"] for node in one["nodes"]]


def settle(page: Page) -> None:
    page.wait_for_load_state("networkidle")
    if page.locator(".graph-page").count():  # a term of the vocabulary has the anchor graph, too
        page.locator("#graph[data-ready]").wait_for()


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_no_page_has_a_fault_of_access_and_none_is_wider_than_a_phone(
    page: Page, memento: Memento, colours: str
) -> None:
    page.emulate_media(color_scheme="dark" if colours == "dark" else "light")
    entity = next(one.iri for one in memento.graphs.entities(limit=50) if one.name == "Google")
    note = memento.list()[0].note
    paths = [
        "/",
        "/search?q=Where+do+I+work%3F",
        "/memory?past=true",
        f"/memory/{quote(find(memento, 'Microsoft'))}",
        f"/memory/{quote(find(memento, 'I work at Google'))}",
        f"/memory/{quote(entity)}",
        f"/memory/{quote(note)}",
        "/memory/urn:memento:user:local",
        "/graph?q=Google",
        "/map",
        "/review",
        "/cases",
        f"/cases/{quote(memento.cases.list()[0].iri)}",
        "/prompts",
        "/tokens",
        "/system",
        "/docs",
        "/ontology",
    ]
    if colours == "dark":  # the same pages; only colours differ
        paths = [paths[at] for at in (0, 1, 3, 7, 8, 10, 15, 17)]
    faults: dict[str, list[str]] = {}
    for path in paths:
        page.goto(path)
        settle(page)
        if found := list_violations(page):
            faults[path] = found
        page.set_viewport_size({"width": 360, "height": 700})
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        if wide > 1:
            faults.setdefault(path, []).append(f"{wide} pixels wider than a phone")
        beside = page.evaluate(
            """[...document.querySelectorAll('header.top a')].filter(one => one.checkVisibility())
                .filter(one => one.getBoundingClientRect().right > innerWidth).length"""
        )
        if beside:
            faults.setdefault(path, []).append(f"{beside} pages that a phone has to scroll to")
        page.set_viewport_size({"width": 1200, "height": 900})
    assert faults == {}


def test_a_note_is_shown_before_it_is_saved_and_then_searched_corrected_forgotten_and_brought_back(
    page: Page, memento: Memento
) -> None:
    page.goto("/")
    page.get_by_label("Remember something").fill("I bought a Vespa in May 2025.")
    page.get_by_role("button", name="Show what will be understood").click()
    expect(page.locator("#preview .said")).to_have_text("I bought a Vespa in May 2025.")
    assert not any("Vespa" in one.content for one in memento.list())
    page.get_by_label("Remember something").press("Control+Enter")
    expect(page.locator("#receipts")).to_contain_text("Saved.")
    expect(page.locator("#preview")).to_be_empty()
    expect(page.get_by_label("Remember something")).to_have_value("")

    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("/")
    page.keyboard.type("bought a Vespa")
    page.keyboard.press("Enter")
    expect(page.locator(".phases")).to_be_hidden()  # the answer comes first
    page.locator("summary", has_text="Why these").click()
    expect(page.locator(".phases li")).to_have_count(5)
    hit = page.locator(".results li", has_text="Vespa")
    hit.locator("summary", has_text="Why").click()
    expect(hit.locator(".why tbody tr").first).to_be_visible()
    hit.get_by_role("link", name="I bought a Vespa").click()

    expect(page.locator(".source blockquote")).to_have_text("I bought a Vespa in May 2025.")
    page.locator("summary", has_text="Correct").click()
    page.get_by_label("What is right").fill("I bought a Vespa in June 2025.")
    page.get_by_role("button", name="Correct").click()
    page.locator("#receipts").get_by_role("link", name="June 2025").click()
    expect(page.locator(".history li")).to_have_count(2)
    expect(page.locator(".history li.is-corrected")).to_contain_text("May 2025")

    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Forget").click()
    expect(page.locator("#receipts")).to_contain_text("Forgotten: 1 memory")
    expect(page.get_by_role("button", name="Forget")).to_have_count(0)
    expect(page.locator(".facts")).to_contain_text("forgotten")
    expect(page.locator(".kind")).to_have_text("Memory, forgotten")
    assert not any("June" in one.content for one in memento.list())
    page.locator("#receipts").get_by_role("button", name="Bring it back").click()
    expect(page.locator("#receipts")).to_contain_text("Back again")
    expect(page.locator("#receipts")).not_to_contain_text("Forgotten")
    expect(page.get_by_role("button", name="Bring it back")).to_have_count(0)
    expect(page.get_by_role("button", name="Forget")).to_be_visible()
    page.get_by_role("button", name="Erase").click()
    expect(page.locator("#receipts")).to_contain_text("Erased")
    expect(page.locator("#said, #told, .facts")).to_have_count(0)
    assert not any("June" in one.content for one in memento.list(past=True))


def test_what_was_retired_is_undone(page: Page, memento: Memento) -> None:
    memento.note("I prefer tabs.")
    memento.note("I prefer spaces to tabs now; I no longer prefer tabs.")
    [retired] = [one for one in memento.list(past=True) if one.invalid_at and "tabs" in one.content]
    page.goto(f"/memory/{quote(retired.iri)}")
    page.get_by_role("button", name="Undo: both are true").click()
    expect(page.locator("#receipts")).to_contain_text("It is true again")
    assert retired.iri in [one.iri for one in memento.list()]


def test_words_that_ended_are_told_and_taken_back_while_the_rest_of_their_memory_holds(
    page: Page, memento: Memento
) -> None:
    memento.note("My rent is 700 euros. My dentist is Dr. Costa.", at="2024-05-01")
    page.goto("/")
    page.get_by_label("Remember something").fill("My rent is 800 euros.")
    page.get_by_role("button", name="Show what will be understood").click()
    expect(page.locator("#preview .replaced")).to_have_text("ends My rent is 700 euros")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#receipts")).to_contain_text("Saved.")

    page.goto("/timeline?subject=me")
    now = page.locator(".now")
    expect(now.locator("li", has_text="800 euros")).to_be_visible()
    expect(now.locator("li", has_text="700 euros")).to_have_count(0)
    now.locator("li", has_text="dentist").get_by_title("The memory that says so").click()

    expect(page.locator(".facts s")).to_have_text("My rent is 700 euros")
    expect(page.locator(".facts dd").first).not_to_contain_text("until")
    assert list_violations(page) == []
    page.get_by_role("button", name="Undo: make “My rent is 700 euros” true again").click()
    expect(page.locator("#receipts")).to_contain_text("It is true again")
    expect(page.locator(".facts s")).to_have_count(0)
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    [known] = [one for one in memento.timeline("me").memories if "dentist" in one.content]
    assert known.ended == ()


def test_what_is_true_of_somebody_is_scrubbed_on_both_axes(page: Page) -> None:
    page.goto("/")
    page.get_by_role("link", name="You", exact=True).click()
    now = page.get_by_role("list", name="True now")
    google, microsoft = (now.locator(f"li:has(.value:text-is('{name}'))") for name in ("Google", "Microsoft"))
    expect(microsoft).to_contain_text("work at Microsoft")
    expect(microsoft).to_contain_text("since 3 Mar 2025")
    expect(microsoft.get_by_title("The memory that says so")).to_have_text("“I work at Microsoft”")
    expect(google).to_have_count(0)
    past = page.locator("details.past").first
    expect(past.locator("li", has_text="Google")).to_be_hidden()
    past.locator("summary").press("Enter")
    expect(past.locator("li", has_text="Google")).to_contain_text("since 8 Jan 2024 until 3 Mar 2025")

    today = page.evaluate("new Date().toLocaleDateString('en-GB', {day: 'numeric', month: 'short', year: 'numeric'})")
    assert page.locator(".scrub output").all_inner_texts() == [today, today]  # not the day after

    true_on = page.get_by_label("True on")
    true_on.focus()
    while not re.search("2024", page.locator(".scrub output").first.inner_text()):
        true_on.press("PageDown")  # a tenth of the way
    expect(google).to_have_count(1)
    expect(microsoft).to_have_count(0)

    known = page.get_by_label("As known on")
    known.press("Home")  # long before anybody told anything
    expect(page.locator(".scrub .count")).to_contain_text("0 of")


def test_a_correction_and_a_note_are_undone_with_all_that_they_ended(page: Page, memento: Memento) -> None:
    memento.note("My bank is Halden.", at="2025-01-10")
    page.goto("/")
    page.get_by_label("Remember something").fill("My bank is Otter now.")
    page.get_by_role("button", name="Save").click()
    receipt = page.locator("#receipts")
    expect(receipt).to_contain_text(re.compile(r"That ended:\s*My bank is Halden\."))
    expect(page.locator(".memories:not(.changes)")).to_contain_text(
        "My bank is Otter now."
    )  # what was remembered last, too
    receipt.get_by_role("button", name="Undo").click()
    expect(receipt).to_contain_text(re.compile(r"True again, as before:\s*My bank is Halden\."))
    expect(page.locator(".memories:not(.changes)")).not_to_contain_text("Otter")

    page.goto(f"/memory/{quote(find(memento, 'Halden'))}")
    page.locator("summary", has_text="Correct").click()
    page.get_by_label("What is right").fill("My bank is Hallden.")
    page.get_by_role("button", name="Correct").click()
    expect(page.locator(".kind")).to_have_text("Memory, never true")
    receipt.get_by_role("button", name="Undo").click()
    expect(page.locator(".kind")).to_have_text("Memory")
    assert [one.content for one in memento.list() if "bank" in one.content] == ["My bank is Halden."]


def test_what_took_the_place_of_a_memory_is_taken_back_on_its_page(page: Page, memento: Memento) -> None:
    memento.note("My gym is Vulcan.", at="2025-01-10")
    memento.note("My gym is Apollo now.", at="2025-02-10")
    page.goto(f"/memory/{quote(find(memento, 'Vulcan'))}")
    page.get_by_role("button", name="Undo: the newer one was wrong").click()
    expect(page.locator("#receipts")).to_contain_text(re.compile(r"True again, as before:\s*My gym is Vulcan\."))
    assert [one.content for one in memento.list() if "gym" in one.content] == ["My gym is Vulcan."]


def test_search_answers_as_one_types_and_counts_no_use_of_it(page: Page, memento: Memento) -> None:
    tea = find(memento, "drink tea")
    page.goto("/")
    page.get_by_label("Ask your memory").press_sequentially("what do I drink", delay=20)
    expect(page.locator("#found .results li").first).to_contain_text("I drink tea.")
    expect(page).to_have_url(re.compile(r"/search\?q=what%20do%20I%20drink$"))
    page.locator("#found .results li", has_text="I drink tea.").get_by_role("button", name="Forget").click()
    expect(page.locator("#receipts")).to_contain_text("Forgotten: 1 memory")
    expect(page.locator("#found")).not_to_contain_text("I drink tea.")
    page.get_by_role("button", name="Bring it back").click()
    expect(page.locator("#found")).to_contain_text("I drink tea.")
    assert tea in [one.iri for one in memento.list()]


def test_the_menu_opens_and_closes_by_keyboard(page: Page) -> None:
    page.goto("/")
    assert page.locator("nav[aria-label=Pages] > *").count() == 4
    more = page.locator("details.more summary")
    more.press("Enter")
    expect(page.get_by_role("link", name="Graph")).to_be_visible()
    assert list_violations(page) == []
    page.set_viewport_size({"width": 360, "height": 700})
    expect(page.get_by_role("link", name="SPARQL")).to_be_in_viewport(ratio=0.99)
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Graph")).to_be_hidden()
    expect(more).to_be_focused()


def test_only_what_one_owner_cannot_be_both_is_disputed_on_its_page(page: Page, memento: Memento) -> None:
    memento.note("Ruth Vale lives in Madrid.", namespace="pairs", at="2025-01-01")
    memento.note("Carl Moor lives in Madrid.", namespace="pairs", at="2025-01-01")
    first = memento.note("Ruth Vale likes opera.", namespace="pairs").memories[0]
    other = memento.note("Ruth Vale avoids every theatre.", namespace="pairs").memories[0]
    contradicts, graph = "<http://purl.org/memento/contradicts>", "<urn:memento:graph:local:pairs>"
    both = f"<{first}> {contradicts} <{other}> . <{other}> {contradicts} <{first}>"
    memento.graphs.update(f"INSERT DATA {{ GRAPH {graph} {{ {both} }} }}")
    page.goto("/timeline?subject=Ruth+Vale&namespace=pairs")
    expect(page.locator(".dispute")).to_have_count(1)
    page.locator(".dispute").get_by_role("button", name="This one is right").first.click()
    expect(page.locator("#receipts")).to_contain_text("Settled.")
    expect(page.locator(".dispute")).to_have_count(0)
    page.locator("#receipts").get_by_role("button", name="Undo").click()
    expect(page.locator(".dispute")).to_have_count(1)
    page.goto("/timeline?subject=Carl+Moor&namespace=pairs")
    expect(page.locator(".dispute")).to_have_count(0)


def test_the_graph_grows_by_clicks_and_finds_ways_without_a_mouse(page: Page) -> None:
    page.goto("/graph")
    page.get_by_label("Start from a search").last.fill("drink tea")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("q=drink"))  # until then, what is settled is the page before
    settle(page)
    count = page.evaluate("memoryGraph.nodes().length")
    assert count >= 2
    assert page.locator("#graph-list button").count() == count
    page.locator("#graph-list button", has_text=re.compile("^you")).first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#graph-node .said")).to_contain_text("you")
    page.get_by_role("button", name="Show its neighbours").press("Enter")
    expect(page.locator("#graph-list button")).not_to_have_count(count)
    assert page.evaluate("memoryGraph.nodes().length") > count
    page.locator("[data-do=remove]").click()
    expect(page.locator("#graph-node")).to_be_hidden()

    page.goto("/graph?start=Maria+Silva&end=Microsoft")
    settle(page)
    assert page.evaluate("memoryGraph.edges().length") >= 2
    page.goto("/graph?start=Maria+Silva&end=Nowhere")
    expect(page.locator("#graph-status")).to_contain_text("Nowhere")


def test_regions_of_the_map_lead_to_what_is_in_them(page: Page) -> None:
    page.goto("/map")
    page.locator("svg.map a").first.press("Enter")
    expect(page).to_have_url(re.compile("/search"))


def test_a_dispute_is_settled(page: Page, memento: Memento) -> None:
    first = keep(memento, "The launch is on Monday.")
    other = keep(memento, "The launch is on Friday.")
    contradicts, graph = "<http://purl.org/memento/contradicts>", "<urn:memento:graph:local:main>"
    both = f"<{first}> {contradicts} <{other}> . <{other}> {contradicts} <{first}>"
    memento.graphs.update(f"INSERT DATA {{ GRAPH {graph} {{ {both} }} }}")
    page.goto("/review")
    page.locator(".dispute", has_text="launch").get_by_role("button", name="This one is right").first.click()
    expect(page.locator("#receipts")).to_contain_text("Settled.")
    expect(page.locator(".dispute", has_text="launch")).to_have_count(0)
    assert memento.review.disputes() == ()


def test_a_token_is_created_shown_once_and_revoked(page: Page, memento: Memento) -> None:
    page.goto("/tokens")
    page.get_by_label("Name", exact=True).fill("phone")
    page.get_by_role("button", name="Create").click()
    expect(page.locator("code.token")).to_have_text(re.compile("^mem_"))
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto("/tokens")
    page.get_by_role("button", name="Revoke").click()
    expect(page.locator("#receipts")).to_contain_text("phone is revoked")
    assert memento.admin.list_tokens() == ()


def test_stored_markup_never_runs(page: Page, memento: Memento) -> None:
    iri = find(memento, "attack")
    case = memento.cases.list()[0].iri
    for path in (
        "/",
        "/search?q=attack",
        f"/memory/{quote(iri)}",
        "/map",
        f"/cases/{quote(case)}",
        "/timeline?subject=me",
    ):
        page.goto(path)
        settle(page)
        assert page.evaluate("window.broken") is None
        assert page.locator("img[src='x']").count() == 0
    page.goto("/graph?q=attack")
    settle(page)
    expect(page.locator("#graph-list")).to_contain_text("<img src=x")
    page.locator("#graph-list button", has_text="The attack is").first.click()
    expect(page.locator("#graph-node .said")).to_contain_text("<img src=x")


def test_without_a_script_forms_answer_with_whole_pages(chromium: Browser, address: str) -> None:
    context = chromium.new_context(base_url=address, java_script_enabled=False)
    page = context.new_page()
    page.goto("/")
    page.get_by_label("Remember something").fill("I keep bees.")
    page.get_by_role("button", name="Show what will be understood").click()
    expect(page.locator("h1")).to_have_text("Preview")
    expect(page.locator(".receipt")).to_contain_text("I keep bees.")
    page.get_by_role("link", name="Back").click()
    expect(page.get_by_label("Remember something")).to_be_visible()
    context.close()


def test_a_term_is_reached_by_keyboard_and_by_its_address(page: Page) -> None:
    page.goto("/ontology/validAt")
    assert page.url.endswith("/ontology#validAt")
    expect(page.locator("#validAt")).to_be_in_viewport()
    expect(page.locator("#validAt dl")).to_contain_text("xsd:dateTime")
    page.locator("#validAt dl").get_by_role("link", name="mem:Memory").focus()
    page.keyboard.press("Enter")
    expect(page.locator("article#Memory")).to_be_in_viewport()
    expect(page.locator("article#Memory dl")).to_contain_text("prov:Entity")
