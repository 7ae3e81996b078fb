"""Real parts, small: a data folder in a temporary place, the embedder that needs no model, the sample world."""

from __future__ import annotations

import functools
import gc
import os
import re
import shutil
import subprocess
from collections.abc import Generator, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from endpoints import Server, serve_graphs
from memento import assets
from memento.graph.oxigraph import Oxigraph
from memento.interfaces.web import pages
from memento.model import Change, Status
from memento.plugins.scale.settings import StoreSettings
from memento.python import Memento, open_memento
from memento.search import minilm
from memento.settings import ConsolidationSettings, EmbeddingSettings, Settings, without_plugins
from trig import parse_trig

MEMORY = Path("/dev/shm")
"""A folder whose files are in memory, on Linux."""

ROOM = 4 << 30
"""Bytes that have to be free there: the folders of tests that passed go at once, those of modules stay until the end."""


def has_room_in_memory() -> bool:
    """Whether the folders of tests can be in memory: there is room, and commands that tests install there may run."""
    if not os.access(MEMORY, os.W_OK):
        return False
    system = os.statvfs(MEMORY)
    return system.f_bavail * system.f_frsize >= ROOM and not system.f_flag & os.ST_NOEXEC


# Each memory that is opened and closed waits for a disk several times. What tests end is processes, never the machine, and files in
# memory outlive a process as files on a disk do.
if has_room_in_memory():
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

# What tests import, and the ten thousand of them, lives to the end: looked through for garbage again and again it takes a fifth of
# the time.
gc.set_threshold(20_000, 20, 20)


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()


# How long an example may take is no property of what is tested: on a busy machine a right answer would be a failure.
hypothesis.settings.register_profile("memento", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("memento")

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge")
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)
"""What the tests of pages run in, if it is installed."""


def without_disk(report: Status) -> Status:
    """Return a report without the bytes that are free, which others change meanwhile."""
    parts = tuple(replace(one, figures={}) if one.part == "disk" else one for one in report.parts)
    return replace(report, parts=parts)


def pytest_report_header() -> str:
    if BROWSER is None:
        return f"pages: NOT TESTED, as no browser is installed: {', '.join(BROWSERS)}"
    version = subprocess.run([BROWSER, "--version"], capture_output=True, text=True).stdout.strip()
    return f"pages: tested in {version} ({BROWSER})"


OFF = frozenset(filter(None, os.environ.get("PLUGINS_OFF", "").split(",")))
"""Plug-ins that the memories of tests are without: `PLUGINS_OFF=keys pytest tests/service` skips what asks them."""

OFFLINE = without_plugins(
    Settings(
        embedding=EmbeddingSettings(model="trigram", cache=False),
        consolidation=ConsolidationSettings(read_imports=False),  # nothing writes to the graph behind a test's back
    ),
    OFF,
)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    report = yield
    said = str(call.excinfo.value) if OFF and call.excinfo else ""
    if "is switched off by plugins.off" in said or re.search(r"needs the plug-in \w+, which is switched off", said):
        report.outcome = "skipped"
        report.longrepr = (str(item.path), item.location[1] or 0, f"Skipped: it asks {', '.join(sorted(OFF))}")
    return report


@pytest.fixture(scope="session", autouse=True)
def model_loaded_once() -> Iterator[None]:
    """The model takes seconds to load and is the same in every test, and in what several tests share."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(minilm, "load_torch_model", functools.cache(minilm.load_torch_model))
        patch.setenv("MEMENTO_EMBEDDING_RUNTIME", "torch")
        yield


@pytest.fixture(scope="session", autouse=True)
def site_not_built() -> Iterator[None]:
    """What `/docs` shows depends on no `make site` of the person who runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pages, "find_site", lambda: None)
        yield


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No setting and no folder of the person who runs the tests reaches them."""
    for name in [name for name in os.environ if name.startswith("MEMENTO_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--endpoint", action="store_true", help="have the memories of the fixture over a SPARQL endpoint")


@pytest.fixture
def memento(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Memento]:
    """An empty memory."""
    chosen = OFFLINE
    if request.config.getoption("--endpoint"):
        server: Server = request.getfixturevalue("server")
        server.empty()
        chosen = replace(
            OFFLINE,
            store=StoreSettings("sparql", server.query_url, server.update_url),
        )
    opened = open_memento(tmp_path / "home", configured=chosen)
    assert isinstance(opened, Memento)
    with opened:
        yield opened


@pytest.fixture
def world() -> Oxigraph:
    """The sample world in a store of its own."""
    graph = Oxigraph()
    graph.apply(Change(tuple(parse_trig(assets.read("ontology/world.trig")))))
    return graph


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A SPARQL endpoint; whoever needs it empty empties it."""
    with serve_graphs(tmp_path_factory.mktemp("endpoint")) as made:
        yield made


def make_grains(memento: Memento) -> None:
    """Compute the masked vectors that memories lack: else a question computes some, and finds more than the one before."""
    stores = memento.service.stores
    while pending := stores.indexes.read_pending(1000):
        texts = [text for one in pending for text in one.texts if text]
        stores.indexes.put_grains(pending, stores.embedder.embed_aside(texts))


def at(text: str) -> datetime:
    """An instant in UTC from ISO text."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
