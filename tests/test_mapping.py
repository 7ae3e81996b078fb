"""The map as the service keeps it: drawn once, given without waiting, drawn anew in the background, gone with what is forgotten."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from conftest import OFFLINE
from doors import serving
from memento.access import Access
from memento.errors import Forbidden, InputError
from memento.interfaces.cli import main
from memento.interfaces.notebook import show_manifest
from memento.interfaces.web.app import create_app
from memento.manifest import draw_manifest
from memento.model import Manifest
from memento.python import Client, Memento, open_memento
from memento.service.handlers.recall import manifest_text
from memento.settings import ManifestSettings


def until(holds: Callable[[], bool]) -> None:
    """Wait for a thread; a minute is more than it ever needs."""
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def told(memento: Memento) -> Memento:
    for place in ("Lisbon", "Porto", "Braga"):
        memento.keys.remember(f"USER met Ada in {place}.", ["Ada", place, "travel"])
    for dish in ("soup", "bread", "cheese"):
        memento.keys.remember(f"USER cooks {dish} with Bob.", ["Bob", dish, "cooking"])
    return memento


def test_a_map_is_given_as_it_was_drawn_until_it_is_old(told: Memento, monkeypatch: pytest.MonkeyPatch) -> None:
    first = told.graphs.manifest()
    told.note("I like tea.")
    same = told.graphs.manifest()
    told.service.maps._knobs = ManifestSettings(cache_s=0)
    stale = told.graphs.manifest()
    until(lambda: told.graphs.manifest().layout.memories == 7)

    assert same is first
    assert stale is first
    assert first.layout.memories == 6


def test_nothing_is_drawn_when_nothing_was_written(told: Memento, monkeypatch: pytest.MonkeyPatch) -> None:
    told.service.maps._knobs = ManifestSettings(cache_s=0)
    first = told.graphs.manifest()
    monkeypatch.setattr("memento.manifest.draw_manifest", lambda *_: pytest.fail("drawn for nothing"))

    assert told.graphs.manifest() is first


def test_after_a_hundred_updates_it_is_drawn_anew_and_whoever_wanted_is_told(told: Memento) -> None:
    redrawn = threading.Event()
    told.service.maps.redrawn.append(redrawn.set)
    iri = told.list()[0].iri
    told.graphs.manifest()
    for _ in range(99):
        told.living.feedback(iri, helped=True)
    early = redrawn.wait(0.2)
    told.living.feedback(iri, helped=True)

    assert not early
    assert redrawn.wait(60)
    assert told.graphs.manifest().recent.startswith("feedback, helped: ")


def test_no_call_waits_while_a_map_is_drawn(told: Memento, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()
    told.graphs.manifest()

    def slow(*given: object) -> Manifest:
        begun.set()
        go_on.wait(60)
        return draw_manifest(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("memento.manifest.draw_manifest", slow)
    told.service.maps._want([told.context.scope(None)])
    assert begun.wait(60)
    told.note("I like tea.")

    assert told.recall("tea").memories
    assert told.graphs.manifest().layout.memories == 6
    assert manifest_text(told.context, None).startswith("Memory: 6 items")
    go_on.set()


def test_what_is_forgotten_is_on_no_map(told: Memento) -> None:
    iri = next(one.iri for one in told.list() if "Porto" in one.content)
    assert "Porto" in str(told.graphs.manifest())
    told.forget(iri)

    assert "Porto" not in str(told.graphs.manifest())


def test_each_reader_sees_the_map_of_their_share(told: Memento) -> None:
    told.note("I work on the bridge.", namespace="work")
    narrow = told.with_access(Access(namespaces=("work",)))

    assert "Ada" not in str(narrow.graphs.manifest())
    assert "Ada" in str(told.graphs.manifest())
    with pytest.raises(Forbidden):
        narrow.graphs.manifest(namespace="main")


def test_the_same_memory_gives_the_same_map_and_picture(told: Memento) -> None:
    first = told.graphs.manifest()
    told.graphs.manifest(fresh=True)
    again = told.graphs.manifest()

    assert replace(again, at=first.at) == first
    assert show_manifest(again) == show_manifest(first)


def test_the_picture_is_well_formed_and_shows_regions_and_bridges_escaped(memento: Memento) -> None:
    for number in range(4):
        memento.keys.remember(f"<b>Ada</b> & {number} met.", [f"<i>Ada {number}</i>", "Ada & Co", "meetings"])
        memento.keys.remember(f"Bob cooks dish {number}.", [f"dish {number}", "Bob", "cooking"])
    first, second = memento.list()[0].iri, memento.list()[1].iri
    memento.living.associate(first, second, weight=0.9)
    with create_app(memento.service).test_client() as client:
        svg = client.get("/memory/manifest?format=svg")
        page = client.get("/map")
        text = client.get("/memory/manifest?format=text").text
    found = memento.graphs.manifest()

    root = ElementTree.fromstring(svg.text)
    assert svg.mimetype == "image/svg+xml"
    assert len(root.findall(".//{*}circle")) > len(found.regions) >= 2
    assert len(root.findall(".//{*}line")) == len(found.crossings) >= 1
    assert "<b>Ada" not in page.text and "<i>Ada" not in page.text
    assert "<svg" in page.text and found.regions[0].label.split("/")[0].split("&")[0].strip("<>i ") in page.text
    assert len(text) <= 2_001


def test_an_empty_memory_has_a_map_that_says_how_to_begin(memento: Memento) -> None:
    with create_app(memento.service).test_client() as client:
        page = client.get("/map")

    assert memento.graphs.manifest().text == "Memory: nothing yet. Tell it something to remember."
    assert "Nothing belongs together yet" in page.text


def test_the_command_line_and_the_client_say_the_same(told: Memento, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*words: str, **more: str) -> Result:
        return CliRunner().invoke(main, ["--home", str(told.datadir.path), *words], prog_name="memento", **more)  # type: ignore[arg-type]

    with serving(told):
        reached = open_memento(told.datadir.path)
        assert isinstance(reached, Client)
        shown, evaluated = reached.graphs.manifest(), reached.living.evaluate('(recall "porto")')
        text, svg = run("manifest").stdout, run("manifest", "--svg").stdout
        value = run("eval-sexpr", '(get (first (recall "porto")) "content")')
        wrong = run("eval-sexpr", "(recal 1)")
        typed = run("repl", input='(recall\n "porto" 1)\n\n(nonsense)\n(get (stats) "memories")\nq\n')

    assert shown == replace(told.graphs.manifest(), at=shown.at)  # `(stats)` has drawn it again
    assert evaluated.values[0][0]["content"] == "USER met Ada in Porto."
    assert text.strip() == told.graphs.manifest().text
    assert svg.startswith("<svg")
    assert value.stdout == '"USER met Ada in Porto."\n'
    assert (wrong.exit_code, "line 1, column 2: unknown verb recal" in wrong.stderr) == (2, True)
    assert re.search(r'\(content "USER met Ada in Porto."\)', typed.stdout)
    assert "unknown verb nonsense" in typed.stderr
    assert typed.stdout.rstrip().endswith("6")


def test_the_command_evaluates_a_file(told: Memento, tmp_path: Path) -> None:
    (tmp_path / "one.sexp").write_text(told.living.evaluate("(snapshot)").text)
    settings = {"MEMENTO_EMBEDDING_MODEL": "trigram", "MEMENTO_EMBEDDING_CACHE": "false"}
    done = CliRunner().invoke(
        main, ["--home", str(tmp_path / "new"), "eval-sexpr", str(tmp_path / "one.sexp")], env=settings
    )
    other = open_memento(tmp_path / "new", configured=OFFLINE)
    assert isinstance(other, Memento)
    with other:
        assert done.exit_code == 0, done.output
        assert {one.content for one in other.list()} == {one.content for one in told.list()}


def test_expressions_over_http_are_json_or_text_and_errors_say_where(told: Memento) -> None:
    with create_app(told.service).test_client() as client:
        found = client.post("/memory/sexpr", json={"expression": '(count (recall "cooks"))'})
        text = client.post("/memory/sexpr?format=text", json={"expression": '(list 1 "a" true nil)'})
        wrong = client.post("/memory/sexpr", json={"expression": "(feedback 3)"})
        refused = client.post("/memory/sexpr", json={"expression": '(sparql "CLEAR ALL")'})

    assert found.json == {"values": [3], "text": "3", "calls": 2}
    assert text.text == '(1 "a" true nil)\n'
    assert (wrong.status_code, refused.status_code) == (400, 403)
    assert dict(wrong.json or {})["error"]["message"].startswith("line 1, column 1: feedback takes 2 values, not 1")
    with pytest.raises(InputError):
        told.living.evaluate("(list")
