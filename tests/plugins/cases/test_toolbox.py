"""The client of MCP servers: programs and addresses, names that clash, servers that die, and what a program is given."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import fileserver
from fileserver import serving_files
from memento.errors import SettingsError, ToolError
from memento.plugins.cases.settings import ExecutorSettings
from memento.plugins.cases.toolbox import Toolbox, servers_of

Json = dict[str, Any]


def toolbox(start_s: float = 60.0, **servers: Json) -> Toolbox:
    knobs = ExecutorSettings(servers=json.dumps(servers), start_s=start_s, call_s=10.0)
    return Toolbox(servers_of(knobs), knobs)


def soon() -> float:
    return time.monotonic() + 60


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("files")
    (folder / "a.txt").write_text("hello")
    with serving_files(folder) as at:
        yield at


def test_a_program_is_started_with_its_own_environment_alone_and_may_die(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMENTO_MODEL_API_KEY", "sk-secret")
    paths = [str(Path(fileserver.__file__).parent), *sys.path]
    program = {
        "command": sys.executable,
        "args": [fileserver.__file__, str(tmp_path)],
        "env": {"PYTHONPATH": ":".join(filter(None, paths)), "SHELF": "1"},
    }
    with toolbox(files=program) as tools:
        given = tools.call_tool("environment", {}, soon()).text.split()
        died = tools.call_tool("die", {}, soon())
        after = tools.call_tool("list_files", {}, soon())

    assert "SHELF" in given
    assert not [name for name in given if name.startswith("MEMENTO")]
    assert died.failed and died.uncertain
    assert after.failed


def test_a_program_that_does_not_start_says_so_with_its_last_words() -> None:
    script = "import sys; sys.exit('the shelf is locked')"
    with (
        pytest.raises(ToolError, match=r"'files' of \[executor\] cannot be used: .*the shelf is locked"),
        toolbox(files={"command": sys.executable, "args": ["-c", script]}),
    ):
        pass
    with pytest.raises(ToolError, match="cannot be used: FileNotFoundError"), toolbox(x={"command": "/no/such"}):
        pass


def test_a_server_that_says_nothing_is_left_after_its_time() -> None:
    silent = {"command": sys.executable, "args": ["-c", "import sys; sys.stdin.read()"]}
    with pytest.raises(ToolError, match="cannot be used"), toolbox(start_s=0.5, silent=silent):
        pass


def test_two_tools_of_one_name_are_refused_until_one_has_a_prefix(address: str) -> None:
    with pytest.raises(SettingsError, match=r"'one' and 'two' of .* both have a tool 'list_files'"):
        toolbox(one={"url": address}, two={"url": address}).__enter__()
    with toolbox(one={"url": address}, two={"url": address, "prefix": "two_"}) as tools:
        assert tools.call_tool("two_read_file", {"path": "a.txt"}, soon()) == ("hello", False, False)
        assert tools.offered["two_read_file"].server == "two"


def test_only_the_tools_that_are_listed_may_be_used(address: str) -> None:
    with toolbox(files={"url": address, "tools": ["read_file"]}) as tools:
        assert list(tools.offered) == ["read_file"]
        assert tools.offered["read_file"].repeatable
        with pytest.raises(ToolError, match="there is no tool 'append_line': there are read_file"):
            tools.call_tool("append_line", {}, soon())
    with pytest.raises(SettingsError, match="has no tool 'fly'"):
        toolbox(files={"url": address, "tools": ["fly"]}).__enter__()


def test_without_servers_there_are_no_tools() -> None:
    with toolbox() as tools, pytest.raises(ToolError, match="no server is configured"):
        tools.call_tool("x", {}, soon())


@pytest.mark.parametrize(
    ("servers", "told"),
    [
        ({"a": {}}, "a of .executor.servers. needs either command"),
        ({"a": {"command": "x", "url": "http://y"}}, "needs either command"),
        ({"a": {"url": "file:///etc/passwd"}}, "must begin with http"),
        ({"a": {"command": "x", "shell": True}}, "a of .executor.servers. is no server: .*shell"),
        ({"a": "x"}, "is no server"),
    ],
)
def test_a_server_that_is_none_is_named(servers: Json, told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        servers_of(ExecutorSettings(servers=json.dumps(servers)))


def test_keys_of_servers_are_shown_nowhere() -> None:
    from memento.settings import Settings, mask_secrets

    knobs = ExecutorSettings(servers='{"a": {"url": "http://x", "headers": {"Authorization": "Bearer canary"}}}')

    assert "canary" not in repr(knobs)
    assert "canary" not in str(mask_secrets(Settings().having(knobs)))
