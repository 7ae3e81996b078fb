"""The compose files name what is there: images, addresses, settings and files."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml  # type: ignore[import-untyped]

from memento.archive.check import LOOK_S
from memento.interfaces.cli import main
from memento.interfaces.web.app import create_app
from memento.plugins.scale.settings import IndexSettings, StoreSettings
from memento.python import Memento
from memento.settings import load

PACKAGING = Path(__file__).parent.parent / "packaging"
FILES = ("compose.yaml", "compose.scaled.yaml")


def fill_in(found: re.Match[str], given: dict[str, str]) -> str:
    """The value of a variable, or its default; one that is needed must be given."""
    name, kind, default = found.groups()
    assert kind == "-" or name in given, f"{name} is needed: {default}"
    return given.get(name) or (default if kind == "-" else "")


def services(name: str, **variables: str) -> dict[str, dict[str, Any]]:
    text = (PACKAGING / name).read_text(encoding="utf-8")
    given = {"MEMENTO_STORE_TOKEN": "secret", **variables}
    text = re.sub(r"\$\{(\w+):([-?])([^}]*)\}", lambda found: fill_in(found, given), text)
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


def test_nodes_ask_the_store_that_its_command_serves_and_the_balancer_asks_the_nodes(memento: Memento) -> None:
    found = services("compose.scaled.yaml")
    words = found["store"]["command"]
    command = main.commands[words[0]].commands[words[1]]  # type: ignore[attr-defined]
    parsed = command.make_context("serve", list(words[2:]))
    assert (parsed.params["host"], parsed.params["port"]) == ("0.0.0.0", 7878)
    nodes = [name for name, one in found.items() if "MEMENTO_STORE_KIND" in one.get("environment", {})]
    assert nodes == ["node1", "node2"]
    for node in nodes:
        settings = load(environment={key: str(value) for key, value in found[node]["environment"].items()}).of(
            StoreSettings
        )
        assert settings.query_url == "http://store:7878/query"
        assert settings.update_url == "http://store:7878/update"
        assert settings.token == found["store"]["environment"]["MEMENTO_STORE_TOKEN"]
    told = (PACKAGING / "Caddyfile").read_text(encoding="utf-8")
    assert all(f"{node}:6366" in told for node in nodes)
    with create_app(memento.service).test_client() as client:
        [path] = re.findall(r"health_uri (\S+)", told)
        assert client.get(path).status_code in (200, 503)
    took_s = float(re.findall(r"health_timeout (\d+)s", told)[0])
    assert took_s > 2 * LOOK_S  # a node that is slow to say that its store is away must be heard


def profile(kind: str) -> dict[str, str]:
    """The variables of a profile, as scaled.env.example has them."""
    blocks = (PACKAGING / "scaled.env.example").read_text(encoding="utf-8").split("\n\n")
    [block] = [block for block in blocks if f"MEMENTO_INDEX_KIND={kind}" in block]
    return dict(re.findall(r"^# ([A-Z_]+)=(.*)$", block, re.MULTILINE))


@pytest.mark.parametrize("kind", ["lance", "milvus"])
def test_the_nodes_of_a_profile_ask_an_engine_that_is_among_its_services(kind: str) -> None:
    variables = {name: value or "b64random" for name, value in profile(kind).items()}
    found = services("compose.scaled.yaml", **variables)
    started = {name: one for name, one in found.items() if kind in one.get("profiles", [kind])}
    for name in ("node1", "node2"):
        environment = {key: str(value) for key, value in found[name]["environment"].items()}
        settings = load(environment=environment).of(IndexSettings)
        assert (settings.kind, settings.uri) == (kind, variables["MEMENTO_INDEX_URI"])
        if kind == "lance":
            objects = started["objects"]["environment"]
            assert urlsplit(environment["AWS_ENDPOINT"]).hostname == "objects"
            assert environment["AWS_ACCESS_KEY_ID"] == objects["MINIO_ROOT_USER"]
            assert environment["AWS_SECRET_ACCESS_KEY"] == objects["MINIO_ROOT_PASSWORD"] == "b64random"
            assert started["bucket"]["command"][-1] == f"objects/{urlsplit(settings.uri).netloc}"
        else:
            assert urlsplit(settings.uri).hostname in started
    extras = set(found["store"]["build"]["args"]["EXTRAS"].split(","))
    packaged = tomllib.loads((PACKAGING.parent / "pyproject.toml").read_text(encoding="utf-8"))
    assert kind in extras <= set(packaged["project"]["optional-dependencies"])


def test_without_a_profile_the_index_is_in_a_volume_that_the_nodes_share() -> None:
    found = services("compose.scaled.yaml")
    assert sorted(name for name, one in found.items() if "profiles" not in one) == [
        "balancer",
        "node1",
        "node2",
        "store",
    ]
    for node in ("node1", "node2"):
        environment = {key: str(value) for key, value in found[node]["environment"].items()}
        index = load(environment=environment).of(IndexSettings)
        assert (index.kind, index.uri) == ("lance", "/engine")
        assert "engine:/engine" in found[node]["volumes"]


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
        said, _ = node.communicate(timeout=60)
    assert said == "memento serve --host 0.0.0.0\n"
    assert (home / "tokens.json").resolve() == tokens
