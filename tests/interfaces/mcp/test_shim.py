"""The stdio end by the official client and by hand, as a real process over a real service."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest
from mcp import Client
from mcp.client.context import ClientRequestContext
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import ElicitRequestParams, ElicitResult, TextResourceContents

from conftest import OFFLINE
from doors import serving, shim_of, text_of
from memento.datadir import DataFolder
from memento.interfaces.mcp import catalogue, shim
from memento.python import Memento, open_memento
from memento.settings import ClientSettings, Settings, list_tool_groups

Era = Literal["auto", "legacy"]
Json = dict[str, Any]
eras = pytest.mark.parametrize("era", ["auto", "legacy"])

HELLO: Json = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
MODERN: Json = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
}


def spoken(shim: StdioServerParameters, *messages: object) -> list[Json]:
    """What comes back for some lines, of which those that are no text are JSON; every line of it must be JSON-RPC."""
    lines = [line if isinstance(line, str) else json.dumps(line) for line in messages]
    done = subprocess.run(
        [shim.command, *shim.args],
        input="\n".join(lines) + "\n",
        env=shim.env,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)
    return answers


def asked(method: str, own: object = 1, **params: object) -> Json:
    return {"jsonrpc": "2.0", "id": own, "method": method, "params": params}


async def lists(client: Client) -> list[Json]:
    found = [
        await client.list_tools(),
        await client.list_resources(),
        await client.list_resource_templates(),
        await client.list_prompts(),
    ]
    return [one.model_dump() for one in found]


@eras
def test_the_shim_lists_what_the_service_lists(memory: Memento, address: str, era: Era) -> None:
    async def both() -> None:
        async with (
            Client(stdio_client(shim_of(memory.datadir.path)), mode=era) as here,
            Client(f"{address}/mcp", mode=era) as there,
        ):
            assert here.protocol_version == there.protocol_version
            assert here.instructions == there.instructions
            assert here.server_capabilities == there.server_capabilities
            assert await lists(here) == await lists(there)

    anyio.run(both)


@eras
def test_calls_resources_and_prompts_are_those_of_the_service(memory: Memento, address: str, era: Era) -> None:
    async def call() -> tuple[str, str, str, str]:
        async with Client(stdio_client(shim_of(memory.datadir.path)), mode=era) as client:
            note = {"content": f"My {era} car is a Škoda.", "confirmed": True}
            noted = text_of(await client.call_tool("memento_note", note))
            found = text_of(await client.call_tool("memento_recall", {"query": f"Which {era} car do I have?"}))
            [manifest] = (await client.read_resource("memento://manifest")).contents
            assert isinstance(manifest, TextResourceContents)
            wrong = await client.call_tool("memento_recall", {"query": ""})
            assert wrong.is_error
            return noted, found, manifest.text, text_of(wrong)

    noted, found, manifest, wrong = anyio.run(call)

    assert noted.startswith("Noted: ")
    assert "Škoda" in found
    assert "Memory of the user" in manifest
    assert wrong == "query must not be empty"


@eras
def test_the_user_is_asked_in_the_way_of_the_client(memory: Memento, address: str, era: Era) -> None:
    questions: list[str] = []

    async def note(answer: Literal["accept", "decline"]) -> str:
        async def callback(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
            questions.append(params.message)
            return ElicitResult(action=answer, content={} if answer == "accept" else None)

        shim = stdio_client(shim_of(memory.datadir.path))
        async with Client(shim, mode=era, elicitation_callback=callback) as client:
            arguments = {"content": f"I keep {era} bees.", "confirmed": False}
            return text_of(await client.call_tool("memento_note", arguments))

    assert anyio.run(note, "decline").startswith("The user said no")
    assert anyio.run(note, "accept").startswith("Noted: ")
    assert f"I keep {era} bees." in questions[-1]


def test_nothing_but_json_rpc_reaches_standard_output(memory: Memento, address: str) -> None:
    quiet = shim_of(memory.datadir.path)
    noisy = quiet.model_copy(update={"args": [str(Path(__file__).with_name("noise.py"))]})
    answers = spoken(
        noisy, asked("initialize", **HELLO), asked("tools/list", 2), asked("tools/call", 3, name="memento_status")
    )

    assert sorted(answer["id"] for answer in answers) == [1, 2, 3]
    assert all("result" in answer for answer in answers)


def test_lines_that_are_no_requests_are_told_so(memory: Memento, address: str) -> None:
    unknown = {**MODERN, "io.modelcontextprotocol/protocolVersion": "2031-01-01"}
    answers = spoken(
        shim_of(memory.datadir.path),
        "this is not JSON",
        [asked("ping")],
        {"jsonrpc": "2.0", "id": 2, "params": {}},
        "",
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        asked("ping", 3),
        asked("nothing", 4),
        asked("tools/list", 5, _meta=unknown),
        asked("server/discover", 6, _meta=MODERN),
        asked("tools/call", 7, _meta=MODERN, name="nothing"),
    )
    by_id = {answer["id"]: answer for answer in answers[2:]}

    assert [answer["error"]["code"] for answer in answers[:3]] == [-32700, -32600, -32600]
    assert by_id[3]["result"] == {}
    assert by_id[4]["error"]["code"] == -32601
    assert by_id[5]["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2031-01-01"}
    assert by_id[6]["result"]["supportedVersions"] == ["2026-07-28"]
    assert by_id[7]["error"]["code"] == -32602


@pytest.mark.parametrize(("offered", "agreed"), [("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-11-25")])
def test_the_revision_of_an_older_client_is_kept_where_it_is_known(
    memory: Memento, address: str, offered: str, agreed: str
) -> None:
    [answer] = spoken(shim_of(memory.datadir.path), asked("initialize", **{**HELLO, "protocolVersion": offered}))

    assert answer["result"]["protocolVersion"] == agreed


@pytest.mark.parametrize("cancelled", [True, False])
def test_a_subscription_is_carried_until_it_is_cancelled_or_the_client_leaves(
    memory: Memento, address: str, cancelled: bool
) -> None:
    patient = Path(__file__).with_name("patient.py")  # a shim that waits for a stream outlives the test's patience
    environment = shim_of(memory.datadir.path).env
    process = subprocess.Popen(
        [sys.executable, str(patient)], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with process:
        assert process.stdin and process.stdout

        def send(message: Json) -> None:
            assert process.stdin
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()

        wanted = {"resourceSubscriptions": ["memento://manifest"]}
        send(asked("subscriptions/listen", "sub", _meta=MODERN, notifications=wanted))
        first = json.loads(process.stdout.readline())
        send(
            asked(
                "tools/call",
                2,
                _meta=MODERN,
                name="memento_note",
                arguments={"content": f"I ski, {cancelled}.", "confirmed": True},
            )
        )
        both = [json.loads(process.stdout.readline()) for _ in range(2)]
        if cancelled:
            send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "sub"}})
        rest, _ = process.communicate(timeout=60)

    assert first["method"] == "notifications/subscriptions/acknowledged"
    assert {one.get("method", one.get("id")) for one in both} == {"notifications/resources/updated", 2}
    assert rest == b""
    assert process.returncode == 0


def test_a_service_that_was_started_anew_is_found_again(tmp_path: Path) -> None:
    async def call() -> list[str]:
        texts = []
        async with Client(stdio_client(shim_of(tmp_path))) as client:
            for _ in range(2):
                opened = open_memento(tmp_path, configured=OFFLINE)
                assert isinstance(opened, Memento)
                with opened, serving(opened):
                    texts.append(text_of(await client.call_tool("memento_status")))
        return texts

    assert all("Namespace main" in text for text in anyio.run(call))


def test_two_windows_start_one_service(tmp_path: Path) -> None:
    shim = shim_of(tmp_path)

    async def call() -> list[str]:
        texts: list[str] = []

        async def window(name: str) -> None:
            async with Client(stdio_client(shim)) as client:
                await client.list_tools()
                note = {"content": f"My {name} cat is called Tom.", "confirmed": True}
                texts.append(text_of(await client.call_tool("memento_note", note)))

        async with anyio.create_task_group() as windows:
            windows.start_soon(window, "left")
            windows.start_soon(window, "right")
        return texts

    try:
        assert all("cat · Tom" in text for text in anyio.run(call))
        owner = DataFolder(tmp_path).serving_owner()
        assert owner is not None
        assert owner.command == "memento serve"
        [later] = spoken(shim, asked("tools/call", name="memento_status"))
        assert "from 2 notes" in later["result"]["content"][0]["text"]
    finally:
        stop(tmp_path)


def stop(home: Path) -> None:
    """End the service that a shim has started, which outlives it."""
    owner = DataFolder(home).serving_owner()
    assert owner is not None
    os.kill(owner.pid, signal.SIGTERM)
    until = time.monotonic() + 60
    while DataFolder(home).serving_owner() and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(0.5)
    assert DataFolder(home).serving_owner() is None  # nobody waited for the folder to become free


def test_why_no_service_could_be_started_is_in_the_result(tmp_path: Path) -> None:
    nonsense = shim_of(tmp_path, MEMENTO_EMBEDDING_MODEL="nonsense")
    answers = spoken(
        nonsense, asked("tools/call", name="memento_status"), asked("resources/read", 2, uri="memento://status")
    )
    by_id = {answer["id"]: answer for answer in answers}

    assert by_id[1]["result"]["isError"] is True
    assert "must be one of minilm, trigram" in by_id[1]["result"]["content"][0]["text"]
    assert by_id[2]["error"]["code"] == -32603


def test_an_unknown_group_of_tools_is_said_at_once(tmp_path: Path) -> None:
    shim = shim_of(tmp_path, MEMENTO_TOOLS="nonsense")
    done = subprocess.run(
        [shim.command, *shim.args], env=shim.env, capture_output=True, text=True, input="", check=False
    )

    assert done.returncode == 2
    assert done.stdout == ""
    assert "unknown group 'nonsense' in MEMENTO_TOOLS: choose from connectors" in done.stderr


def test_the_shim_waits_for_no_heavy_library(memory: Memento, address: str) -> None:
    shim = shim_of(memory.datadir.path, MEMENTO_TOOLS="full")
    code = (
        "import sys; from memento.interfaces.cli import main\n"
        "try: main(['mcp'])\n"
        "except SystemExit: pass\n"
        "heavy = {'mcp', 'pydantic', 'torch', 'numpy', 'faiss', 'pyoxigraph', 'flask', 'rich'} & set(sys.modules)\n"
        "print(heavy, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=shim.env,
        input=json.dumps(asked("tools/list")) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )

    assert len(json.loads(done.stdout)["result"]["tools"]) == len(catalogue.list_tools(list_tool_groups(), Settings()))
    assert done.stderr.strip() == "set()"


def test_a_client_that_cannot_subscribe_is_told_when_the_map_that_it_was_shown_changes(
    memory: Memento, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shim, "WATCH_S", 0.05)
    out = io.BytesIO()
    memory.graphs.manifest(fresh=True)

    def lines() -> Iterator[bytes]:
        yield json.dumps(asked("initialize", **HELLO)).encode()
        yield json.dumps(asked("tools/list", 2)).encode()
        memory.note("I have adopted a tortoise.")
        memory.graphs.manifest(fresh=True)
        until = time.monotonic() + 60
        while b"list_changed" not in out.getvalue() and time.monotonic() < until:
            time.sleep(0.05)

    shim.Shim(shim.Service(memory.datadir, "main"), ["sexpr"], out, ClientSettings()).serve_lines(lines())
    told = [json.loads(line) for line in out.getvalue().splitlines()]

    assert told[0]["result"]["capabilities"]["tools"] == {"listChanged": True}
    assert [one["method"] for one in told if "method" in one] == ["notifications/tools/list_changed"]
