"""
Secrets sent through every way to fail, of every door of a real service: none comes back in an error, a log, a metric or `/health`.

The secrets are a provider's key, Memento's own tokens, and what notes and questions say. What somebody names, as an IRI or a
parameter, an error may repeat to them; a key or a text it may not.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from click.testing import CliRunner
from mcp import Client
from mcp.shared.exceptions import MCPError

from doors import text_of
from memento.access import Tokens
from memento.interfaces.cli import main
from memento.time import now
from upstream import Upstream

KEY = "sk-canary-Xylocarp"
MODEL_KEY = "sk-canary-Quillwort"
WRONG = "mem_canary-Zirconia"
TEXT = "Snollygoster"
NOTE = f"My {TEXT} lives in Lisbon."
FAILING = ("400", "401", "429", "500", "503")

PROXIED = {"Authorization": f"Bearer {KEY}"}
CLAUDE = {"x-api-key": KEY, "anthropic-version": "2023-06-01"}
HOST = {"Host": "rebound.example"}
JSON = {"Content-Type": "application/json"}


@dataclass
class Told:
    """What came of everything that was sent: errors by what they are called, and what the process wrote."""

    errors: dict[str, str] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)
    log: str = ""
    secrets: tuple[str, ...] = ()


def chat(model: str, **fields: Any) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": f"Where does my {TEXT} live?"}], **fields}


REQUESTS: Mapping[str, tuple[str, str, dict[str, Any]]] = {
    **{
        f"provider says {status}": ("POST", "/v1/chat/completions", {"json": chat(status), "headers": PROXIED})
        for status in FAILING
    },
    "stream breaks": ("POST", "/v1/chat/completions", {"json": chat("broken", stream=True), "headers": PROXIED}),
    "stream is cut": (
        "POST",
        "/v1/chat/completions",
        {"json": chat("broken", stream=True, abort=True), "headers": PROXIED},
    ),
    "client leaves": ("POST", "/v1/chat/completions", {"json": chat("silent"), "headers": PROXIED, "timeout": 0.3}),
    "provider is down": ("POST", "/v1/messages", {"json": chat("m", max_tokens=9), "headers": CLAUDE}),
    "provider is down, counting": ("POST", "/v1/messages/count_tokens", {"json": chat("m"), "headers": CLAUDE}),
    "provider takes no connection": ("POST", "/api/chat", {"json": chat("m"), "headers": PROXIED}),
    "chat is no JSON": ("POST", "/v1/messages", {"content": f'{{"messages": "{TEXT}'.encode(), "headers": CLAUDE}),
    "chat to a wrong host": ("POST", "/v1/chat/completions", {"json": chat("m"), "headers": {**PROXIED, **HOST}}),
    "chat with a wrong token": (
        "POST",
        "/v1/chat/completions",
        {"json": chat("m"), "headers": {**PROXIED, "X-Memento-Token": WRONG}},
    ),
    "chat in a namespace that can be none": (
        "POST",
        "/v1/messages",
        {"json": chat("m"), "headers": {**CLAUDE, "x-memento-namespace": "n" * 300}},
    ),
    "note is no JSON": ("POST", "/memory/notes", {"content": f'{{"content": "{NOTE}"'.encode(), "headers": JSON}),
    "note is a list": ("POST", "/memory/notes", {"json": [NOTE]}),
    "note of a wrong type": ("POST", "/memory/notes", {"json": {"content": [NOTE]}}),
    "note at no time": ("POST", "/memory/notes", {"json": {"content": NOTE, "at": "never"}}),
    "note is too long": ("POST", "/memory/notes", {"json": {"content": TEXT * 1_000}}),
    "note as plain text": (
        "POST",
        "/memory/notes",
        {"content": NOTE.encode(), "headers": {"Content-Type": "text/plain"}},
    ),
    "note with a wrong token": (
        "POST",
        "/memory/notes",
        {"json": {"content": NOTE}, "headers": {"Authorization": f"Bearer {WRONG}"}},
    ),
    "note from another origin": (
        "POST",
        "/memory/notes",
        {"json": {"content": NOTE}, "headers": {"Origin": "https://evil.example", **CLAUDE}},
    ),
    "note whose key was used": (
        "POST",
        "/memory/notes",
        {"json": {"content": f"Another {TEXT}.", "idempotency_key": "once"}},
    ),
    "import of a broken row": ("POST", "/memory/import", {"content": f'{{"{TEXT}'.encode()}),
    "import of a row that is too long": ("POST", "/memory/import", {"json": {"rows": [{"content": TEXT * 1_000}]}}),
    "question with a wrong k": ("GET", "/memory/recall", {"params": {"query": NOTE, "k": "-1"}}),
    "question that is too long": ("GET", "/memory/recall", {"params": {"query": TEXT * 1_000}}),
    "correction of nothing": ("POST", "/memory/urn:x:none/correct", {"json": {"content": NOTE}}),
    "nothing there": ("POST", "/nowhere", {"json": {"content": NOTE}, "headers": CLAUDE}),
    "not that way": ("PUT", "/memory/notes", {"json": {"content": NOTE}, "headers": CLAUDE}),
    "broken query": ("GET", "/sparql", {"params": {"query": f'SELECT * {{ ?s ?p "{TEXT}" ?x'}}),
    "query that reaches out": (
        "POST",
        "/sparql",
        {"data": {"query": f'SELECT * {{ SERVICE <http://x.example/> {{ ?s ?p "{TEXT}" }} }}'}},
    ),
    "update": ("POST", "/sparql", {"data": {"update": f'INSERT DATA {{ <urn:a> <urn:b> "{TEXT}" }}'}}),
    "query in no known form": (
        "GET",
        "/sparql",
        {"params": {"query": f'ASK {{ ?s ?p "{TEXT}" }}'}, "headers": {"Accept": "image/png", **CLAUDE}},
    ),
}
"""Method, path and the rest, by what goes wrong."""

CALLS: Mapping[str, tuple[str, dict[str, object]]] = {
    "tool: note at no time": ("memento_note", {"content": NOTE, "confirmed": True, "at": "never"}),
    "tool: note of a wrong type": ("memento_note", {"content": [NOTE], "confirmed": True}),
    "tool: note with more": ("memento_note", {"content": NOTE, "confirmed": True, "colour": "red"}),
    "tool: note is too long": ("memento_note", {"content": TEXT * 1_000, "confirmed": True}),
    "tool: question with a wrong k": ("memento_recall", {"query": NOTE, "k": -1}),
    "tool: correction of nothing": ("memento_correct", {"memory": "urn:x:none", "content": NOTE, "confirmed": True}),
    "tool: broken query": ("memento_sparql", {"query": f'SELECT * {{ ?s ?p "{TEXT}" ?x'}),
    "tool: update": ("memento_sparql", {"query": f'INSERT DATA {{ <urn:a> <urn:b> "{TEXT}" }}'}),
}

COMMANDS: Mapping[str, list[str]] = {
    "command: note is too long": ["note", TEXT * 1_000],
    "command: correction of nothing": ["correct", "urn:x:none", NOTE],
    "command: question with a wrong k": ["recall", NOTE, "-k", "-1"],
    "command: broken query": ["query", f'SELECT * {{ ?s ?p "{TEXT}" ?x'],
}


@contextmanager
def full() -> Iterator[int]:
    """A port where connections are asked for and never taken."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(4):
            knock = stack.enter_context(socket.socket())
            knock.setblocking(False)
            with suppress(BlockingIOError):
                knock.connect(listener.getsockname())
        yield int(listener.getsockname()[1])


def settings_of(home: Path, upstream: Upstream, never: int) -> dict[str, str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        nobody = probe.getsockname()[1]
    return {
        "MEMENTO_HOME": str(home),
        "MEMENTO_EMBEDDING_MODEL": "trigram",
        "MEMENTO_EMBEDDING_CACHE": "false",
        "MEMENTO_LIMITS_TEXT_BYTES": "8192",
        "MEMENTO_PROXY_OPENAI_BASE_URL": f"{upstream.url}/v1",
        "MEMENTO_PROXY_ANTHROPIC_BASE_URL": f"http://127.0.0.1:{nobody}",
        "MEMENTO_PROXY_OLLAMA_BASE_URL": f"http://127.0.0.1:{never}",
        "MEMENTO_PROXY_CONNECT_S": "0.5",
        "MEMENTO_PROXY_DEADLINE_MS": "20000",
        # The model that understands notes fails as well.
        "MEMENTO_MODEL_PROVIDER": "openai-compatible",
        "MEMENTO_MODEL_MODEL": "500",
        "MEMENTO_MODEL_BASE_URL": f"{upstream.url}/v1",
        "MEMENTO_MODEL_API_KEY": MODEL_KEY,
        "MEMENTO_MODEL_MAX_RETRIES": "0",
        "MEMENTO_CONSOLIDATION_RETRIES": "0",
    }


def over_http(url: str, told: Told) -> None:
    with httpx2.Client(base_url=url, timeout=60) as client:
        kept = client.post("/memory/notes", json={"content": NOTE, "idempotency_key": "once"}, headers=CLAUDE)
        assert kept.status_code in (200, 201, 202), kept.text
        for name, (method, path, how) in REQUESTS.items():
            try:
                answer = client.request(method, path, **how)
                told.statuses[name] = answer.status_code
                told.errors[name] = f"{answer.headers} {answer.text}"
            except httpx2.HTTPError as error:
                told.statuses[name] = 0
                told.errors[name] = str(error)
        for page in ("/metrics", "/health", "/memory/status"):
            told.pages[page] = client.get(page).text


def over_mcp(url: str, told: Told) -> None:
    async def call() -> None:
        async with Client(f"{url}/mcp") as client:
            for name, (tool, arguments) in CALLS.items():
                try:
                    result = await client.call_tool(tool, arguments)
                except MCPError as error:
                    told.statuses[name], told.errors[name] = 400, str(error)
                else:
                    told.statuses[name], told.errors[name] = 400 if result.is_error else 200, text_of(result)

    anyio.run(call)


def by_command(told: Told) -> None:
    for name, words in COMMANDS.items():
        done = CliRunner().invoke(main, words, prog_name="memento")
        told.statuses[name] = 400 if done.exit_code else 200
        told.errors[name] = done.output


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    home, found = tmp_path_factory.mktemp("canary"), Told()
    token = Tokens(home / "tokens.json").create("narrow", tenant="local", namespaces=["work"], right="read", at=now())
    with Upstream() as upstream, full() as never, pytest.MonkeyPatch.context() as patch:
        for name, value in settings_of(home, upstream, never).items():
            patch.setenv(name, value)
        with (home / "log").open("w+", encoding="utf-8") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "memento", "serve", "--port", "0"],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=dict(os.environ),
            )
            try:
                assert process.stdout
                url = process.stdout.readline().split()[-1]
                owner = json.loads((home / "owner.json").read_text(encoding="utf-8"))
                found.secrets = (KEY, MODEL_KEY, WRONG, token, owner["token"], TEXT)
                refused = {"Authorization": f"Bearer {token}"}
                answer = httpx2.post(f"{url}/memory/notes", json={"content": NOTE}, headers=refused)
                found.statuses["note with a token that may not"] = answer.status_code
                found.errors["note with a token that may not"] = answer.text
                over_http(url, found)
                over_mcp(url, found)
                by_command(found)
            finally:
                process.terminate()
                rest, _ = process.communicate(timeout=60)
            log.seek(0)
            found.log = rest + log.read()
        assert upstream.requests
    yield found


@pytest.mark.parametrize("name", ["note with a token that may not", *REQUESTS, *CALLS, *COMMANDS])
def test_an_error_repeats_no_secret(name: str, told: Told) -> None:
    is_cut = name.startswith("stream") or name == "client leaves"

    assert told.statuses[name] >= 400 or is_cut, told.errors[name]
    assert [secret for secret in told.secrets if secret in told.errors[name]] == []


def test_a_log_tells_what_went_wrong_and_no_secret(told: Told) -> None:
    lines = [json.loads(line) for line in told.log.splitlines() if line.startswith("{")]

    assert lines
    assert [secret for secret in told.secrets if secret in told.log] == []


@pytest.mark.parametrize("page", ["/metrics", "/health", "/memory/status"])
def test_a_page_about_the_service_has_no_secret(page: str, told: Told) -> None:
    assert told.pages[page]
    assert [secret for secret in told.secrets if secret in told.pages[page]] == []
