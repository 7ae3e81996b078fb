"""
The words of `memento connect`, followed: each snippet is read as its client reads it, and what it names is done over real sockets.

What is printed for the running service, or written where the client looks, is all that a test knows of an address.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import anthropic
import anyio
import httpx2
import ollama
import openai
import pytest
import yaml  # type: ignore[import-untyped]  # its types are a package of their own
from click.testing import CliRunner
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from doors import text_of
from memento.interfaces.cli import main
from memento.interfaces.cli.clients import CLIENTS
from proxied import Proxied, in_front_of
from upstream import Upstream

KEYS = {"OPENAI_API_KEY": "sk-openai-of-a-test", "ANTHROPIC_API_KEY": "sk-anthropic-of-a-test"}
QUESTION = "Where do I work?"
Json = dict[str, Any]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    with Upstream() as upstream, in_front_of(upstream, tmp_path_factory.mktemp("guides")) as found:
        found.memento.note("I work at Microsoft.")
        yield found


@pytest.fixture(autouse=True)
def person(service: Proxied, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Somebody with keys, a home folder of their own, and the service running."""
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    for name in ("HOME", "APPDATA"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("MEMENTO_HOME", str(service.memento.datadir.path))
    monkeypatch.chdir(tmp_path)
    service.upstream.requests.clear()
    return tmp_path


def told(client: str, *options: str) -> str:
    done = CliRunner().invoke(main, ["connect", client, *options], prog_name="memento")
    assert done.exit_code == 0, done.output
    return done.output


def printed(client: str) -> list[str]:
    """The snippets of a client, each from its heading to the next or to the note."""
    shown, found = told(client), []
    for snippet in CLIENTS[client].snippets:
        head, _, shown = shown.partition(f"# {snippet.does}")
        assert not head.strip(), head
        text, _, shown = shown.partition("\n")[2].partition("\n\n" if snippet.form != "python" else "\n\n\n")
        if snippet.form == "python":
            shown = ""
        found.append(text)
    return found


def wrote(client: str) -> list[str]:
    """The contents of the files that `--write` says it wrote, each once."""
    does = "|".join(re.escape(one.does) for one in CLIENTS[client].snippets)
    paths = dict.fromkeys(re.findall(rf"^(.+): (?:{does}) \(written\)$", told(client, "--write"), flags=re.M))
    return [Path(path).read_text(encoding="utf-8") for path in paths]


def launch(entry: Mapping[str, Any]) -> StdioServerParameters:
    """What a client starts for an entry of its settings."""
    return StdioServerParameters(
        command=entry["command"], args=entry["args"], env={**os.environ, **entry.get("env", {})}
    )


def exported(script: str) -> Mapping[str, str]:
    """The environment after a script of the shell."""
    done = subprocess.run(["sh", "-ec", f"{script}\nenv"], capture_output=True, text=True, check=True)
    return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)


def has_tools(where: str | StdioServerParameters) -> bool:
    """Whether the tools are listed there, and recall knows what was noted."""

    async def use() -> bool:
        async with Client(where if isinstance(where, str) else stdio_client(where)) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            found = await client.call_tool("memento_recall", {"query": QUESTION})
            return "memento_recall" in names and "Microsoft" in text_of(found)

    return anyio.run(use)


def got_the_block(service: Proxied, path: str, key: str | None) -> bool:
    """Whether the provider was asked at a path, with the client's own key and with what Memento knows."""
    last = service.last
    given = [*last.header("authorization"), *last.header("x-api-key")]
    is_keyed = not given if key is None else [one.removeprefix("Bearer ") for one in given] == [key]
    return last.path == path and is_keyed and b"<memento>" in last.body and b"Microsoft" in last.body


def chatted(base_url: str, key: str) -> str | None:
    with openai.OpenAI(base_url=base_url, api_key=key, max_retries=0) as client:
        answer = client.chat.completions.create(model="m", messages=[{"role": "user", "content": QUESTION}])
    return answer.choices[0].message.content


def test_claude_code(service: Proxied) -> None:
    file, script = printed("claude-code")
    entry = json.loads(file)["mcpServers"]["memento"]
    assert "`claude mcp add memento -- memento mcp`" in told("claude-code")
    base_url = exported(script)["ANTHROPIC_BASE_URL"]
    with anthropic.Anthropic(base_url=base_url, max_retries=0) as claude:
        asked: Any = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": QUESTION}]}
        with claude.messages.stream(**asked) as stream:
            assert "".join(stream.text_stream) == "Hello."

    assert [json.loads(one) for one in wrote("claude-code")] == [json.loads(file)]
    assert entry["type"] == "stdio"
    assert has_tools(launch(entry))
    assert got_the_block(service, "/v1/messages", KEYS["ANTHROPIC_API_KEY"])


def test_claude_desktop_starts_what_it_is_told_to_start_without_a_shell(service: Proxied, person: Path) -> None:
    [file] = wrote("claude-desktop")
    entry = json.loads(file)["mcpServers"]["memento"]
    bare = {"PATH": "/usr/bin:/bin", "HOME": str(person), "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    start = StdioServerParameters(command=entry["command"], args=entry["args"], env={**bare, **entry["env"]})

    assert [json.loads(one) for one in printed("claude-desktop")] == [json.loads(file)]
    assert Path(entry["command"]).is_absolute()
    assert has_tools(start)
    assert service.memento.datadir.read_owner()


def test_codex(service: Proxied) -> None:
    [file] = wrote("codex")
    there = tomllib.loads(file)
    provider = there["model_providers"]["memento"]
    with openai.OpenAI(base_url=provider["base_url"], api_key=os.environ[provider["env_key"]], max_retries=0) as client:
        getattr(client, provider["wire_api"]).create(model="m", input=QUESTION)

    assert tomllib.loads("\n".join(printed("codex"))) == there
    assert has_tools(launch(there["mcp_servers"]["memento"]))
    assert got_the_block(service, "/v1/responses", KEYS["OPENAI_API_KEY"])


def test_cursor() -> None:
    [file] = wrote("cursor")

    assert [json.loads(one) for one in printed("cursor")] == [json.loads(file)]
    assert has_tools(launch(json.loads(file)["mcpServers"]["memento"]))


def test_gemini() -> None:
    [file] = wrote("gemini")

    assert [json.loads(one) for one in printed("gemini")] == [json.loads(file)]
    assert has_tools(launch(json.loads(file)["mcpServers"]["memento"]))


def test_vs_code() -> None:
    [file] = wrote("vscode")
    entry = json.loads(file)["servers"]["memento"]

    assert [json.loads(one) for one in printed("vscode")] == [json.loads(file)]
    assert entry["type"] == "stdio"
    assert has_tools(launch(entry))


def test_continue(service: Proxied) -> None:
    block, models = (yaml.safe_load(one) for one in printed("continue"))
    [server], [model] = block["mcpServers"], models["models"]
    [secret] = re.findall(r"^\$\{\{ secrets\.(\w+) \}\}$", model["apiKey"])
    chatted(model["apiBase"], os.environ[secret])

    assert [yaml.safe_load(one) for one in wrote("continue")] == [block]
    assert set(block) == {"name", "version", "schema", "mcpServers"}
    assert (model["provider"], server["name"]) == ("openai", "Memento")
    assert has_tools(launch(server))
    assert got_the_block(service, "/v1/chat/completions", KEYS["OPENAI_API_KEY"])


def test_cherry_studio(service: Proxied) -> None:
    host, file = printed("cherry-studio")
    entry = json.loads(file)["mcpServers"]["memento"]
    chatted(f"{host}/v1", KEYS["OPENAI_API_KEY"])  # what it adds to a host that does not end in a slash

    assert entry["type"] == "stdio"
    assert has_tools(launch(entry))
    assert not host.endswith("/")
    assert got_the_block(service, "/v1/chat/completions", KEYS["OPENAI_API_KEY"])


def test_open_webui(service: Proxied) -> None:
    script, tools = printed("open-webui")
    variables = exported(script)
    models = httpx2.get(f"{variables['OPENAI_API_BASE_URL']}/models").json()
    chatted(variables["OPENAI_API_BASE_URL"], KEYS["OPENAI_API_KEY"])
    openai_got = got_the_block(service, "/v1/chat/completions", KEYS["OPENAI_API_KEY"])
    llama = ollama.Client(host=variables["OLLAMA_BASE_URL"])
    listed = llama.list().models
    llama.chat(model="m", messages=[{"role": "user", "content": QUESTION}])
    llama._client.close()

    assert models["data"] and listed
    assert openai_got
    assert got_the_block(service, "/api/chat", None)
    assert has_tools(tools)


@pytest.mark.parametrize(
    ("client", "path", "key"),
    [
        ("openai-sdk", "/v1/chat/completions", "OPENAI_API_KEY"),
        ("anthropic-sdk", "/v1/messages", "ANTHROPIC_API_KEY"),
    ],
)
def test_the_programs_for_the_sdks_run_as_they_stand(client: str, path: str, key: str, service: Proxied) -> None:
    [program] = printed(client)
    said, names = StringIO(), dict[str, Any]()
    with redirect_stdout(said):
        exec(compile(program, client, "exec"), names)
    names["client"].close()

    assert said.getvalue() == "Hello.\n"
    assert got_the_block(service, path, KEYS[key])


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_curl(service: Proxied) -> None:
    answers = [
        subprocess.run(["sh", "-ec", script], capture_output=True, text=True, check=True).stdout
        for script in printed("curl")
    ]

    assert json.loads(answers[0])["choices"][0]["message"]["content"] == "Hello."
    assert got_the_block(service, "/v1/chat/completions", KEYS["OPENAI_API_KEY"])
    assert "I work at Microsoft." in answers[1]


def test_every_client_is_tried() -> None:
    tried = {name.removeprefix("test_").replace("_", "-") for name in globals() if name.startswith("test_")}
    others = {"openai-sdk", "anthropic-sdk"}
    called = {"vscode": "vs-code", "claude-desktop": "claude-desktop-starts-what-it-is-told-to-start-without-a-shell"}

    assert {name for name in CLIENTS if called.get(name, name) not in tried} == others
