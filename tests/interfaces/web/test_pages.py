"""The pages for people over HTTP: who gets which, what a browser may do with it, forms that count, stored text that is text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from html import unescape
from pathlib import Path
from urllib.parse import quote

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from conftest import OFFLINE
from kept import keep
from memento.interfaces.proxy.blocks import Block, Sticky
from memento.interfaces.web import pages
from memento.interfaces.web.app import create_app
from memento.model import CapturedTurn
from memento.plugins.cases.nouns import CaseRow
from memento.python import Memento, open_memento
from memento.settings import CaptureSettings, GateSettings
from memento.time import now

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
ELSEWHERE = {"REMOTE_ADDR": "10.0.0.7"}
ATTACK = "<img src=x onerror=alert(1)><script>alert(2)</script>\"'`{{7*7}}"
PAGES = (
    "/",
    "/search?q=attack",
    "/memory?past=true",
    "/timeline",
    "/graph?q=attack",
    "/map",
    "/review",
    "/cases",
    "/docs",
)


@pytest.fixture(scope="module")
def memento(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memento]:
    opened = open_memento(tmp_path_factory.mktemp("home"), configured=OFFLINE)
    assert isinstance(opened, Memento)
    with opened:
        opened.note("I live in Lisbon.")
        opened.note("I work at Google.", at="2024-01-08")
        opened.note("I work at Microsoft.", at="2025-03-03")
        keep(opened, f"The attack is {ATTACK}", tags=[f"t{ATTACK[:20]}"], container=ATTACK[:30])
        keep(opened, f"The attack was {ATTACK}")
        opened.cases.add([CaseRow(task=f"Attack {ATTACK}", plan=ATTACK, reward=1.0)])
        opened.note("Atlantis is hidden.", namespace="hidden")
        yield opened


@pytest.fixture(scope="module")
def app(memento: Memento) -> Flask:
    return create_app(memento.service)


@pytest.fixture
def web(app: Flask) -> Iterator[FlaskClient]:
    with app.test_client() as client:
        yield client


def secret_of(page: TestResponse) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', page.text)
    assert found
    return found[1]


def find(memento: Memento, words: str) -> str:
    return next(one.iri for one in memento.list(past=True, limit=100) if words in one.content)


@pytest.mark.parametrize("path", ["/memory", "/memory/{iri}", "/cases", "/cases/{case}"])
def test_a_browser_gets_a_page_where_programs_get_json(web: FlaskClient, memento: Memento, path: str) -> None:
    address = path.format(iri=quote(find(memento, "Lisbon")), case=quote(memento.cases.list()[0].iri))
    for accept in ("*/*", "application/json", "", "application/json, text/html;q=0.9"):
        assert web.get(address, headers={"Accept": accept} if accept else {}).mimetype == "application/json"
    shown = web.get(address, headers=BROWSER)
    assert (shown.status_code, shown.mimetype) == (200, "text/html")


def test_fixed_addresses_below_memory_stay_as_they_were(web: FlaskClient) -> None:
    assert web.get("/memory/status", headers=BROWSER).mimetype == "application/json"
    assert web.get("/memory/manifest?format=svg", headers=BROWSER).mimetype == "image/svg+xml"


@pytest.mark.parametrize("path", [*PAGES, "/prompts", "/tokens", "/system", "/nothing-of-ours?"])
def test_a_page_has_no_code_and_no_style_but_files_of_this_address(web: FlaskClient, path: str) -> None:
    page = web.get(path, headers=BROWSER)
    if page.status_code == 404:
        return
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
    assert page.headers["Cache-Control"] == "no-store"
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=\"|javascript:", page.text)
    assert [
        one for one in re.findall(r'(?:src|href|action)="([^"]*)"', page.text) if not one.startswith(("/", "#"))
    ] == []


def test_stored_markup_is_shown_as_it_was_written(web: FlaskClient, memento: Memento) -> None:
    nodes = [f"/memory/{quote(one.iri)}" for one in memento.graphs.neighbours([find(memento, "attack is")]).nodes]
    shown = [
        web.get(path, headers=BROWSER, buffered=True)
        for path in (*PAGES, *nodes, f"/cases/{quote(memento.cases.list()[0].iri)}")
    ]
    assert {page.status_code for page in shown} == {200}
    for page in shown:
        assert "<img src=x" not in page.text and "<script>alert" not in page.text
    assert any(ATTACK in unescape(page.text) for page in shown)
    assert not any("The attack is" in page.text and "49" in page.text.split("The attack is")[1][:90] for page in shown)


def test_a_receipt_shows_markup_as_it_was_written(web: FlaskClient) -> None:
    form = {"csrf": secret_of(web.get("/", headers=BROWSER)), "content": f"I like {ATTACK}.", "dry_run": "true"}
    receipt = web.post("/do/note", data=form, headers={"HX-Request": "true"})
    assert receipt.status_code == 200 and "What will be remembered" in receipt.text
    assert "<img" not in receipt.text and "<script" not in receipt.text


def test_a_form_counts_with_the_secret_of_its_session_alone(web: FlaskClient, app: Flask, memento: Memento) -> None:
    before = memento.status().notes
    content = {"content": "I own a boat."}
    nothing = web.post("/do/note", data=content)
    secret = secret_of(web.get("/", headers=BROWSER))
    wrong = web.post("/do/note", data={**content, "csrf": "0" * 64})
    with app.test_client() as another:
        another.get("/", headers=BROWSER)
        foreign = another.post("/do/note", data={**content, "csrf": secret})
    assert [one.status_code for one in (nothing, wrong, foreign)] == [403, 403, 403]
    assert memento.status().notes == before

    right = web.post("/do/note", data={**content, "csrf": secret, "back": "/memory"}, headers=BROWSER)
    assert right.status_code == 200 and "I own a boat." in right.text and 'href="/memory"' in right.text
    assert memento.status().notes == before + 1


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "http://localhost:9999"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_form_from_another_address_does_nothing_even_with_the_secret(
    web: FlaskClient, headers: dict[str, str]
) -> None:
    secret = secret_of(web.get("/", headers=BROWSER))
    assert web.post("/do/retry", data={"csrf": secret}, headers=headers).status_code == 403
    own = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}
    assert web.post("/do/retry", data={"csrf": secret}, headers=own).status_code == 200


def test_only_the_operations_of_buttons_can_be_asked_by_a_form(web: FlaskClient) -> None:
    secret = secret_of(web.get("/", headers=BROWSER))
    for name in ("update", "restore", "ingest", "import_rdf", "nothing"):
        assert web.post(f"/do/{name}", data={"csrf": secret}).status_code == 404


def test_bad_input_is_named_and_nothing_breaks(web: FlaskClient) -> None:
    secret = secret_of(web.get("/", headers=BROWSER))
    missing = web.post("/do/note", data={"csrf": secret, "content": " "}, headers={"HX-Request": "true"})
    assert missing.status_code == 400 and 'role="alert"' in missing.text and "content" in missing.text
    wrong = web.get("/search?q=tea&after=yesterday-ish", headers=BROWSER)
    assert wrong.status_code == 400 and wrong.mimetype == "text/html" and "yesterday-ish" in wrong.text
    assert web.get("/memory/urn:memento:memory:none", headers=BROWSER).status_code == 404
    for path in ("/memory/9d2f", "/cases/9d2f"):
        odd = web.get(path, headers=BROWSER)
        assert (odd.status_code, odd.mimetype) == (400, "text/html") and "9d2f" in odd.text
        assert web.get(path).is_json


@pytest.mark.parametrize("path", ["/nothing/x", "/memory/urn:memento:memory:none", "/search?q=tea&after=yesterday-ish"])
@pytest.mark.parametrize("fragment", [{}, {"HX-Request": "true"}])
def test_a_failure_has_the_headers_of_a_page_as_a_fragment_too(
    web: FlaskClient, path: str, fragment: dict[str, str]
) -> None:
    shown = web.get(path, headers={**BROWSER, **fragment})
    assert shown.status_code >= 400 and shown.mimetype == "text/html"
    assert "default-src 'none'" in shown.headers["Content-Security-Policy"]
    assert shown.headers["X-Content-Type-Options"] == "nosniff"


def test_who_needs_a_token_signs_in_and_out_again(web: FlaskClient, memento: Memento) -> None:
    token = memento.tokens.create("laptop", tenant="local", namespaces=[], right="write", at=now())
    asked = web.get("/memory?tags=a", headers=BROWSER, environ_base=ELSEWHERE)
    assert asked.status_code == 401 and "Lisbon" not in asked.text and 'name="token"' in asked.text
    assert 'value="/memory?tags=a"' in asked.text
    wrong = web.post("/sign-in", data={"token": "mem_wrong"}, headers=BROWSER, environ_base=ELSEWHERE)
    assert wrong.status_code == 401 and "mem_wrong" not in wrong.text

    evil = {"token": token, "back": "//evil.example/"}
    done = web.post("/sign-in", data=evil, headers=BROWSER, environ_base=ELSEWHERE)
    assert (done.status_code, done.headers["Location"]) == (303, "/")
    cookie = done.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    shown = web.get("/", headers=BROWSER, environ_base=ELSEWHERE)
    assert "Lisbon" in shown.text and "Sign out" in shown.text and token not in shown.text

    # The cookie opens pages, and nothing that programs ask.
    assert web.get("/memory/list", environ_base=ELSEWHERE).status_code == 401
    assert web.post("/memory/notes", json={"content": "I am tall."}, environ_base=ELSEWHERE).status_code == 401
    assert web.get("/sparql?query=ASK{}", environ_base=ELSEWHERE).status_code == 401

    web.post("/sign-out", data={"csrf": secret_of(shown)}, environ_base=ELSEWHERE)
    assert web.get("/", headers=BROWSER, environ_base=ELSEWHERE).status_code == 401
    memento.tokens.revoke("laptop")


def test_a_wrong_token_is_asked_for_again_and_the_page_that_was_wanted_follows(
    web: FlaskClient, memento: Memento
) -> None:
    wrong = {"token": "mem_wrong", "back": "/memory?tags=a"}
    again = web.post("/sign-in", data=wrong, headers=BROWSER, environ_base=ELSEWHERE)
    assert again.status_code == 401 and 'name="back" value="/memory?tags=a"' in again.text
    evil = web.post("/sign-in", data={**wrong, "back": "//evil.example"}, headers=BROWSER, environ_base=ELSEWHERE)
    assert 'name="back" value="/"' in evil.text


def test_a_page_says_that_nothing_is_remembered_in_a_misspelt_namespace(web: FlaskClient) -> None:
    for path in ("/", "/search?q=attack", "/memory", "/timeline", "/graph", "/review", "/system"):
        asked = f"{path}{'&' if '?' in path else '?'}namespace="
        assert web.get(f"{asked}hiden", headers=BROWSER).text.count("nothing is remembered in a namespace") == 1, path
        assert 'href="/system"' in web.get(f"{asked}hiden", headers=BROWSER).text.partition('role="search"')[2], path
        assert "nothing is remembered" not in web.get(f"{asked}hidden", headers=BROWSER).text, path


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/nothing-of-ours", 404), ("POST", "/search", 405), ("POST", "/do/note", 413), ("GET", "/static/x", 404)],
)
def test_what_http_refuses_is_a_page_for_browsers_and_json_for_programs(
    web: FlaskClient, method: str, path: str, status: int
) -> None:
    data = b"content=" + b"a" * 4_000_000 if status == 413 else None
    form = {"Content-Type": "application/x-www-form-urlencoded"} if data else {}
    came_from = {"Referer": "http://localhost/memory?tags=a"}
    web.get("/", headers=BROWSER)
    page = web.open(path, method=method, data=data, headers={**BROWSER, **form, **came_from})
    assert (page.status_code, page.mimetype) == (status, "text/html")
    assert 'href="/memory?tags=a"' in page.text and "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert ("Allow" in page.headers) == (status == 405)
    program = web.open(path, method=method, data=data, headers={"Accept": "application/json", **form})
    assert (program.status_code, program.mimetype) == (status, "application/json")


def test_an_address_below_a_provider_s_stays_json(web: FlaskClient) -> None:
    assert web.open("/v1/chat/completions", method="GET", headers=BROWSER).mimetype != "text/html"


def test_texts_that_run_the_other_way_are_kept_apart(web: FlaskClient, memento: Memento) -> None:
    words = "ספר <b> שלום"
    keep(memento, words, namespace="hebrew")
    home = web.get("/?namespace=hebrew", headers=BROWSER)
    assert re.search(r'<a class="said" dir="auto"[^>]*>ספר', home.text)
    found = web.get(f"/search?namespace=hebrew&q={quote(words)}", headers=BROWSER).text
    assert "<bdi>ספר" in found and all('dir="auto"' in one for one in re.findall(r'<a[^>]*class="said"[^>]*>', found))
    for template in (Path(pages.__file__).parent / "templates").glob("*.html"):
        marked = re.findall(r'<\w+[^>]*class="said"[^>]*>', template.read_text(encoding="utf-8"))
        assert [one for one in marked if 'dir="auto"' not in one] == [], template.name


@pytest.mark.parametrize(("limit", "says"), [("-3", "from 0 to 1000"), ("many", "whole number"), ("5000", "1000")])
def test_a_graph_of_no_possible_size_is_refused(web: FlaskClient, limit: str, says: str) -> None:
    answer = web.get(f"/graph/data?node=me&limit={limit}")
    assert answer.status_code == 400 and "limit" in answer.text and says in answer.text


def test_browsers_get_a_picture_of_the_address_without_a_token(web: FlaskClient) -> None:
    icon = web.get("/favicon.ico", environ_base=ELSEWHERE)
    assert (icon.status_code, icon.mimetype) == (200, "image/svg+xml")


def test_relations_are_shown_in_words(web: FlaskClient, memento: Memento) -> None:
    lisbon = find(memento, "Lisbon")
    memento.living.associate(lisbon, find(memento, "Microsoft"), "livesIn")
    shown = web.get(f"/memory/{quote(lisbon)}", headers=BROWSER).text
    headings = re.findall(r"<h3[^>]*>([^<]*)</h3>", shown)
    assert {"lives in", "extracted from"} <= set(headings), headings


def test_one_memory_is_counted_as_one(web: FlaskClient, memento: Memento) -> None:
    [iri] = memento.note("I collect stamps.").memories
    form = {"csrf": secret_of(web.get("/", headers=BROWSER)), "iri": iri}
    receipt = web.post("/do/forget", data=form, headers={"HX-Request": "true"})
    assert "1 memory" in receipt.text and receipt.headers["HX-Trigger-After-Swap"] == "changed"
    shown = web.get(f"/memory/{quote(iri)}", headers=BROWSER).text
    assert "Bring it back" in shown and ">Forget<" not in shown
    note = web.get(f"/memory/{quote(memento.review.sources(iri)[0].note.iri)}", headers=BROWSER).text
    assert "Bring it back" in note and "Forget all of it" not in note


def test_what_stands_above_the_results_is_sent_before_anything_is_recalled(web: FlaskClient, memento: Memento) -> None:
    answer = web.get("/search?q=Where+do+I+live", headers=BROWSER)
    first = next(iter(answer.iter_encoded())).decode()
    answer.close()
    assert 'value="Where do I live"' in first and "Lisbon" not in first and "</html>" not in first
    whole = web.get("/search?q=Where+do+I+live", headers=BROWSER, buffered=True)
    assert "Lisbon" in whole.text and "</html>" in whole.text and 'name="csrf"' in whole.text
    assert whole.mimetype == "text/html" and "default-src 'none'" in whole.headers["Content-Security-Policy"]


def test_a_narrow_token_sees_its_namespace_and_gets_no_buttons_it_may_not_press(
    web: FlaskClient, memento: Memento
) -> None:
    token = memento.tokens.create("narrow", tenant="local", namespaces=["hidden"], right="read", at=now())
    web.post("/sign-in", data={"token": token}, environ_base=ELSEWHERE)
    lisbon = quote(find(memento, "Lisbon"))
    home = web.get("/", headers=BROWSER, environ_base=ELSEWHERE)
    assert "Atlantis" in home.text and "Lisbon" not in home.text and "/do/note" not in home.text
    assert web.get("/?namespace=main", headers=BROWSER, environ_base=ELSEWHERE).status_code == 403
    assert web.get(f"/memory/{lisbon}", headers=BROWSER, environ_base=ELSEWHERE).status_code == 404
    assert "Lisbon" not in web.get("/graph/data?node=me", environ_base=ELSEWHERE).text
    for path in ("/tokens", "/prompts"):
        assert web.get(path, headers=BROWSER, environ_base=ELSEWHERE).status_code == 403
    form = {"csrf": secret_of(home), "content": "I am tall."}
    assert web.post("/do/note", data=form, environ_base=ELSEWHERE).status_code == 403
    memento.tokens.revoke("narrow")


def test_the_page_of_prompts_says_that_nothing_is_kept_where_nothing_is(web: FlaskClient) -> None:
    shown = web.get("/prompts", headers=BROWSER)
    assert shown.status_code == 200 and "Nothing was put into a prompt yet" in shown.text


def test_the_page_of_prompts_links_the_memories_of_each_block(tmp_path: Path) -> None:
    with open_memento(tmp_path, configured=OFFLINE) as opened:
        assert isinstance(opened, Memento)
        [memory] = opened.note("I keep bees.").memories
        sticky = Sticky(opened.service.datadir, 10)
        block = Block(text="<memento>\\nyou: I keep bees.", behind=False, memories=1, made=now().timestamp())
        sticky.put(b"turn", block, [memory])
        with create_app(opened.service).test_client() as web:
            page = web.get("/prompts", headers=BROWSER).text
        sticky.close()
    shown = page.partition('class="meta"')[2]
    assert "1 memory ·" in shown and "tokens" in shown
    assert f'href="/memory/{memory}"' in shown and "I keep bees." in shown.partition("<details>")[0]


def test_files_of_the_pages_are_there_for_ever_and_nothing_else_is(web: FlaskClient) -> None:
    page = web.get("/graph", headers=BROWSER).text
    addresses = re.findall(r'(?:src|href)="(/static/pages/[^"]+)"', page)
    assert len(set(addresses)) >= 6
    for address in addresses:
        file = web.get(address, environ_base=ELSEWHERE)
        assert file.status_code == 200 and "immutable" in file.headers["Cache-Control"]
    folder = addresses[0].rpartition("/")[0]
    assert web.get(f"{folder}/..%2F..%2Fpages.py").status_code == 404
    assert web.get(f"{folder}/page.html").status_code == 404


def test_the_scripts_of_others_are_the_files_that_the_notice_names() -> None:
    notice = (Path(__file__).parents[3] / "NOTICE").read_text(encoding="utf-8")
    for name in ("htmx.min.js", "cytoscape.min.js"):
        assert f"{sha256(pages.BUNDLE.files[name]).hexdigest()}  {name}" in notice
    assert b"htmx 2" in pages.BUNDLE.files["licences.txt"] and b"cytoscape 3" in pages.BUNDLE.files["licences.txt"]


def test_what_is_proposed_is_accepted_or_rejected_on_the_page(tmp_path: Path) -> None:
    settings = replace(OFFLINE, capture=CaptureSettings(mode="propose"))
    opened = open_memento(tmp_path / "home", configured=settings)
    assert isinstance(opened, Memento)
    with opened, create_app(opened.service).test_client() as web:
        said = ("I moved to Porto in March 2025.", "I hate olives.")
        turns = [CapturedTurn(role="user", text=text, turn=str(number)) for number, text in enumerate(said)]
        opened.intake.capture("monday", turns, client="claude-code")
        first, other = opened.intake.proposals()
        page = web.get("/review", headers=BROWSER)
        assert first.content in unescape(page.text)
        secret = {"csrf": secret_of(page)}
        accepted = web.post(
            "/do/accept_proposals", data={**secret, "proposals": first.id}, headers={"HX-Request": "true"}
        )
        rejected = web.post(
            "/do/reject_proposals", data={**secret, "proposals": other.id}, headers={"HX-Request": "true"}
        )
        assert "Accepted: 1 memory" in re.sub(r"<[^>]+>", "", accepted.text) and "Rejected" in rejected.text
        assert opened.intake.proposals() == ()
        [memory] = opened.list()
        assert "Porto" in memory.content


def test_a_text_as_long_as_a_book_is_shown_whole_on_its_own_page_alone(tmp_path: Path) -> None:
    book = "The tide turned at noon. " * 8_000
    with open_memento(tmp_path, configured=OFFLINE) as opened:
        assert isinstance(opened, Memento)
        opened.keys.remember(book, ["tide"])
        [iri] = [one.iri for one in opened.list()]
        with create_app(opened.service).test_client() as web:
            sizes = {
                path: len(web.get(path, headers=BROWSER, buffered=True).data)
                for path in ("/", "/memory", "/search?q=tide", "/timeline?subject=tide", "/map", "/review")
            }
            whole = web.get(f"/memory/{quote(iri)}", headers=BROWSER).text
    assert max(sizes.values()) < 20_000, sizes
    assert book.strip() in unescape(whole)


def test_what_is_only_near_a_question_is_not_shown_as_an_answer(tmp_path: Path) -> None:
    strict = replace(OFFLINE, gate=GateSettings(base=0.99, floor=0.99))  # opens for nothing but what surely answers
    with open_memento(tmp_path, configured=strict) as opened:
        assert isinstance(opened, Memento)
        for note in ("My dentist is Dr Okafor.", "My dentist has a new assistant.", "The cellar floods in November."):
            opened.note(note, at="2025-03-03")
        with create_app(opened.service).test_client() as web:
            page = web.get("/search?q=Which+dentists+have+a+new+car%3F", headers=BROWSER, buffered=True).text
    before, after = page.split("Nothing told answers this. Nearest to it:")
    assert "dentist has" not in before.partition('class="results"')[2] and "No memory answers" not in before
    assert "My dentist" in after and ">nearest</span>" in after


@pytest.mark.parametrize(
    "text, addressed",
    [
        ("USER lives in Oslo. USER has a dog.", "You live in Oslo. You have a dog."),
        ("Ann met USER's sister, and USER was ill.", "Ann met your sister, and you were ill."),
        ("The user misses Rome.", "You miss Rome."),
        ("USER", "you"),
        ("I live in Oslo.", "I live in Oslo."),
        ("USERNAME is taken.", "USERNAME is taken."),
    ],
)
def test_a_text_that_a_model_wrote_of_the_user_addresses_the_user(text: str, addressed: str) -> None:
    assert pages.address_user(text) == addressed


def test_a_case_that_is_erased_goes_from_the_page_that_shows_it(tmp_path: Path) -> None:
    with open_memento(tmp_path, configured=OFFLINE) as opened:
        assert isinstance(opened, Memento)
        opened.cases.add([CaseRow(task="Move the mill.", plan="Stone by stone.", reward=1.0)])
        [case] = opened.cases.list()
        with create_app(opened.service).test_client() as web:
            page = web.get(f"/cases/{quote(case.iri)}", headers=BROWSER)
            form = {"csrf": secret_of(page), "case": case.iri, "erase": "true"}
            receipt = web.post("/do/forget_case", data=form, headers={"HX-Request": "true"}).text
    assert "Erased." in receipt
    assert 'id="page"' in page.text and 'id="page" hx-swap-oob="delete"' in receipt
