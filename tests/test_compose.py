"""The compose files name what is there: images, addresses, settings and files."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from memento.interfaces.cli import main
from memento.settings import load

PACKAGING = Path(__file__).parent.parent / "packaging"
FILES = ("compose.yaml", "compose.scaled.yaml")


def services(name: str) -> dict[str, dict[str, Any]]:
    text = (PACKAGING / name).read_text(encoding="utf-8")
    text = text.replace("${MEMENTO_STORE_TOKEN:?set it in scaled.env}", "secret").replace("${TZ:-UTC}", "UTC")
    assert "${" not in text
    found: dict[str, dict[str, Any]] = yaml.safe_load(text)["services"]
    return found


@pytest.mark.parametrize("name", FILES)
def test_the_settings_of_each_service_are_ones_that_a_service_starts_with(name: str) -> None:
    for service in services(name).values():
        load(environment={key: str(value) for key, value in service.get("environment", {}).items()})


@pytest.mark.parametrize("name", FILES)
def test_files_and_folders_that_are_mounted_or_built_from_are_there(name: str) -> None:
    text = yaml.safe_load((PACKAGING / name).read_text(encoding="utf-8"))
    for service in text["services"].values():
        for mount in service.get("volumes", ()):
            source = mount.split(":")[0]
            assert source in text["volumes"] if not source.startswith(".") else (PACKAGING / source).is_file()
        if "build" in service:
            assert (PACKAGING / service["build"]["context"] / service["build"]["dockerfile"]).is_file()


def test_nodes_ask_the_store_that_its_command_serves_and_the_balancer_asks_the_nodes() -> None:
    found = services("compose.scaled.yaml")
    words = found["store"]["command"]
    command = main.commands[words[0]].commands[words[1]]  # type: ignore[attr-defined]
    parsed = command.make_context("serve", list(words[2:]))
    assert (parsed.params["host"], parsed.params["port"]) == ("0.0.0.0", 7878)
    nodes = [name for name, one in found.items() if "MEMENTO_STORE_KIND" in one.get("environment", {})]
    assert nodes == ["node1", "node2"]
    for node in nodes:
        settings = load(environment=found[node]["environment"]).store
        assert settings.query_url == "http://store:7878/query"
        assert settings.update_url == "http://store:7878/update"
        assert settings.token == found["store"]["environment"]["MEMENTO_STORE_TOKEN"]
    told = (PACKAGING / "Caddyfile").read_text(encoding="utf-8")
    assert all(f"{node}:6366" in told for node in nodes)


def test_a_node_waits_for_the_tokens_of_another_and_takes_them(tmp_path: Path) -> None:
    home, tokens, shims = tmp_path / "home", tmp_path / "first" / "tokens.json", tmp_path / "bin"
    for folder in (home, tokens.parent, shims):
        folder.mkdir()
    (shims / "memento").write_text('#!/bin/sh\necho "memento $*"\n', encoding="utf-8")
    (shims / "memento").chmod(0o755)
    environment = {
        "PATH": f"{shims}:{os.environ['PATH']}",
        "MEMENTO_HOME": str(home),
        "TOKENS_FROM": str(tokens),
    }
    words = ["sh", str(PACKAGING / "entrypoint.sh"), "serve", "--host", "0.0.0.0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment) as node:
        with pytest.raises(subprocess.TimeoutExpired):
            node.wait(0.3)
        tokens.write_text("[]", encoding="utf-8")
        said, _ = node.communicate(timeout=20)
    assert said == "memento serve --host 0.0.0.0\n"
    assert (home / "tokens.json").resolve() == tokens
