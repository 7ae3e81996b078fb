"""The documentation as a site: it builds without a warning; `/docs` serves it under the policy of pages, to who may see them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from flask.testing import FlaskClient
from playwright.sync_api import expect, sync_playwright

from conftest import BROWSER, BROWSERS, OFFLINE
from doors import serving
from memento.interfaces.web import pages
from memento.interfaces.web.app import create_app
from memento.python import Memento, open_memento

ROOT = Path(__file__).parents[3]
HTML = {"Accept": "text/html"}
AXE = Path(__file__).with_name("axe.min.js").read_text(encoding="utf-8")
VIOLATIONS = """axe.run().then(found => found.violations.filter(one => ["serious", "critical"].includes(one.impact))
.map(one => `${one.id}: ${one.nodes[0].html.slice(0, 200)}`))"""
PAGES = (
    "",
    "start/app.html",
    "reference/api.html",
    "ontology.html",
    "explanation/architecture.html",
    "notebooks/01-first-note.html",
)
ELSEWHERE = {"REMOTE_ADDR": "10.0.0.7"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, as `make site` builds it: a warning, as of a broken link or anchor, is an error."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr + done.stdout
    return folder


@pytest.fixture(scope="module")
def memento(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memento]:
    opened = open_memento(tmp_path_factory.mktemp("home"), configured=OFFLINE)
    assert isinstance(opened, Memento)
    with opened:
        yield opened


@pytest.fixture
def web(memento: Memento, built: Path, monkeypatch: pytest.MonkeyPatch) -> FlaskClient:
    monkeypatch.setattr(pages, "find_site", lambda: built)
    return create_app(memento.service).test_client()


class Addresses(HTMLParser):
    """Everything that a page loads."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        names = {"script": "src", "img": "src", "link": "href", "iframe": "src"}
        address = known.get(names.get(tag, ""))
        if address and not (tag == "link" and known.get("rel") in ("canonical", "prev", "next")):
            self.loaded.append(address)


def test_no_page_has_a_script_or_a_style_inside_or_loads_anything_from_elsewhere(built: Path) -> None:
    pages = sorted(built.rglob("*.html"))
    faults = []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for address in Addresses(text).loaded:
            if address.startswith("data:image/"):  # a picture of a notebook
                continue
            if urlsplit(address).netloc or not (page.parent / urlsplit(address).path).resolve().is_file():
                faults.append(f"{page.name}: {address}")
        faults += [f"{page.name}: {one[:80]}" for one in re.findall(r"<script>.*|<style.*|<[^>]+\sstyle=[^>]*", text)]
    assert len(pages) > 50
    assert faults == []


def test_the_address_without_a_slash_leads_to_the_site(web: FlaskClient) -> None:
    answer = web.get("/docs", headers=HTML)
    assert (answer.status_code, answer.location) == (302, "/docs/")
    shown = web.get("/docs/", headers=HTML)
    assert (shown.status_code, shown.mimetype) == (200, "text/html")
    assert shown.data == web.get("/docs/index.html").data


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("index.html", "text/html; charset=utf-8"),
        ("reference/rest.html", "text/html; charset=utf-8"),
        ("search/search_index.json", "application/json"),
        ("queries/library/latest.rq", "text/plain; charset=utf-8"),
        ("ontology/memento.ttl", "text/plain; charset=utf-8"),
        ("pictures/page-home.png", "image/png"),
    ],
)
def test_a_file_has_its_type_and_the_policy_of_pages(web: FlaskClient, path: str, kind: str) -> None:
    answer = web.get(f"/docs/{path}")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, kind)
    assert "default-src 'none'; script-src 'self'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    again = web.get(f"/docs/{path}", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


@pytest.mark.parametrize(
    "path",
    [
        "../pyproject.toml",
        "%2e%2e/pyproject.toml",
        "..%2f..%2f..%2f..%2f..%2f..%2fetc%2fpasswd",
        "assets/../../secret.txt",
        "assets/..%5c..%5csecret.txt",
        "/etc/passwd",
        "%2Fetc%2Fpasswd",
        "index.html%00.png",
        "assets",
        "nothing.html",
    ],
)
def test_no_path_leads_out_of_the_site(web: FlaskClient, built: Path, path: str) -> None:
    (built.parent / "secret.txt").write_text("secret", encoding="utf-8")
    assert web.get(f"/docs/{path}").status_code == 404


def test_a_stranger_needs_a_token_for_the_site(web: FlaskClient, memento: Memento) -> None:
    token = memento.admin.create_token("reader", "read").token
    for path in ("/docs/", "/docs/index.html", "/docs/search/search_index.json"):
        assert web.get(path, environ_base=ELSEWHERE).status_code == 401
        allowed = web.get(path, environ_base=ELSEWHERE, headers={"Authorization": f"Bearer {token}"})
        assert allowed.status_code == 200


def test_a_checkout_without_the_site_says_how_to_build_it(memento: Memento) -> None:
    web = create_app(memento.service).test_client()
    shown = web.get("/docs", headers=HTML)
    assert shown.status_code == 200
    assert "make site" in shown.text
    assert web.get("/docs/index.html").status_code == 404


@pytest.mark.skipif(BROWSER is None, reason=f"NOT TESTED: the site in a browser: {', '.join(BROWSERS)}")
def test_a_browser_shows_the_site_without_a_complaint_and_its_search_finds_a_word(
    memento: Memento, built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "find_site", lambda: built)
    complaints: list[str] = []
    faults: list[str] = []
    hosts: set[str] = set()
    with serving(memento) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(base_url=address, viewport={"width": 1200, "height": 900})
        page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda asked: hosts.add(urlsplit(asked.url).netloc))
        expect.set_options(timeout=20_000)
        for path in PAGES:
            page.goto(f"/docs/{path}")
            expect(page.locator("article h1")).to_be_visible()
            page.evaluate(AXE)
            faults += [f"{path}: {one}" for one in page.evaluate(VIOLATIONS)]
            assert page.evaluate("[...document.images].every(one => one.complete && one.naturalWidth > 0)"), path
        page.goto("/docs")
        page.keyboard.press("/")
        page.keyboard.type("bitemporal")
        hit = page.locator(".md-search-result__item a").first
        expect(hit).to_be_visible()
        hit.click()
        page.wait_for_url(re.compile(r"/docs/.+\.html"))
        expect(page.locator("article mark").first).to_be_visible()
        page.goto("/docs/")
        scheme = page.locator("body").get_attribute("data-md-color-scheme")
        page.get_by_title("Dark", exact=True).click()
        expect(page.locator("body")).not_to_have_attribute("data-md-color-scheme", str(scheme))
        browser.close()
        host = urlsplit(address).netloc
    assert complaints == []
    assert faults == []
    assert hosts == {host}
