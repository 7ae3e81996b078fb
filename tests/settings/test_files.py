"""Settings are found in TOML, in the first design's JSON and in .env, and nothing is overridden that should not be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memento import settings
from memento.errors import SettingsError
from memento.settings import ModelSettings

FIRST: dict[str, Any] = {
    "server": {"port": 7000},
    "proxy": {"provider": "openai"},
    "llm": {
        "provider": "openai-compatible",
        "baseUrl": "http://{env:BOX}:8000/v1",
        "providerName": "box",
        "defaults": {"model": "small", "temperature": 0.3, "maxTokens": 900, "maxRetries": 1, "options": {"seed": 7}},
        "consolidation": {"temperature": 0.1},
        "retrieval": {"model": "other"},
    },
    "embedding": {
        "provider": "openai",
        "apiKey": "{env:OPENAI_KEY}",
        "model": "text-embedding-3-small",
        "dimensions": 512,
    },
}
ENVIRONMENT = {"BOX": "gpu.local", "OPENAI_KEY": "sk-1"}


def written(folder: Path, found: Any) -> Path:
    """The JSON where it is looked for beside a `memento.toml` that need not exist."""
    (folder / "config").mkdir(exist_ok=True)
    (folder / "config" / "memento.json").write_text(json.dumps(found))
    return folder / "memento.toml"


def changed(path: str, value: object) -> dict[str, Any]:
    """`FIRST` with one key changed; None takes it out."""
    found: dict[str, Any] = json.loads(json.dumps(FIRST))
    *groups, key = path.split(".")
    place = found
    for group in groups:
        place = place.setdefault(group, {})
    if value is None:
        place.pop(key)
    else:
        place[key] = value
    return found


def test_the_first_form_is_read(tmp_path: Path) -> None:
    found = settings.load(written(tmp_path, FIRST), ENVIRONMENT)

    assert found.server.port == 7000
    assert found.model == ModelSettings(
        provider="openai-compatible",
        base_url="http://gpu.local:8000/v1",
        provider_name="box",
        model="small",
        temperature=0.1,
        max_tokens=900,
        max_retries=1,
        options='{"seed": 7}',
    )
    assert (found.embedding.model, found.embedding.dimensions) == ("text-embedding-3-small", 512)
    assert found.embedding.api_key == "sk-1"
    assert found.proxy.upstreams == {"openai": "https://api.openai.com/v1"}


def test_memento_toml_and_the_environment_lie_over_the_first_form(tmp_path: Path) -> None:
    file = written(tmp_path, FIRST)
    file.write_text('[model]\nmodel = "large"\nmax_tokens = 5\n')
    found = settings.load(file, {**ENVIRONMENT, "MEMENTO_MODEL_MAX_TOKENS": "6"})

    assert (found.model.model, found.model.max_tokens, found.model.temperature) == ("large", 6, 0.1)


@pytest.mark.parametrize("name", ["elsewhere.json", "elsewhere.toml"])
def test_memento_config_names_another_file(tmp_path: Path, name: str) -> None:
    written(tmp_path, {"server": {"port": 1}})
    (tmp_path / name).write_text('{"server": {"port": 2}}' if name.endswith("json") else "[server]\nport = 2\n")
    found = settings.load(tmp_path / "memento.toml", {"MEMENTO_CONFIG": str(tmp_path / name)})

    assert found.server.port == 2


def test_memento_config_must_name_a_file(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"MEMENTO_CONFIG names .*gone.json, and there is no such file"):
        settings.load(None, {"MEMENTO_CONFIG": str(tmp_path / "gone.json")})


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ({"servers": {}}, None),  # an empty group says nothing
        ({"servers": {"port": 1}}, r"unknown key servers.port in .*memento.json: choose one of server.port, llm.provider"),
        (changed("server.port", 70000), r"server.port in .*memento.json must be from 0 to 65535, not 70000"),
        (changed("server.port", "high"), r"server.port in .* must be a whole number, not 'high'"),
        (changed("server.name", "x"), r"unknown key server.name in .*: choose one of server.port"),
        (changed("proxy.provider", None), r"proxy.provider is required in"),
        (changed("proxy.provider", "azure"), r"proxy.provider in .* must be one of openai, anthropic, ollama, custom"),
        (changed("proxy.baseUrl", "http://x"), r"proxy.baseUrl in .* must be left out for openai"),
        (changed("proxy.protocol", "openai"), r"proxy.protocol in .* is for proxy.provider custom only, not openai"),
        (changed("proxy.providerName", "x"), r"proxy.providerName in .* is for proxy.provider custom only"),
        ({"proxy": {"provider": "custom"}}, r"proxy.baseUrl is required in .* when proxy.provider is custom"),
        (
            {"proxy": {"provider": "custom", "baseUrl": "http://x"}},
            r"proxy.protocol in .* must be openai or anthropic when proxy.provider is custom",
        ),
        (
            {"proxy": {"provider": "custom", "baseUrl": "http://x", "protocol": "openai"}},
            r"proxy.providerName is required in",
        ),
        (changed("llm.provider", None), r"llm.provider is required in"),
        (changed("llm.provider", "mistral"), r"llm.provider in .* must be one of none, openai, anthropic, google"),
        (changed("llm.defaults.model", None), r"llm.defaults.model is required in"),
        (changed("llm.defaults.temperature", 3), r"llm.defaults.temperature in .* must be from 0 to 2, not 3"),
        (changed("llm.defaults.maxTokens", 0), r"llm.defaults.maxTokens in .* must be at least 1, not 0"),
        (changed("llm.consolidation.maxRetries", -1), r"llm.consolidation.maxRetries in .* must be at least 0, not -1"),
        (changed("llm.defaults.options", 3), r"llm.defaults.options in .* must be a JSON object"),
        (changed("llm.retrieval.temperature", 3), r"llm.retrieval.temperature in .* must be from 0 to 2, not 3"),
        (changed("llm.defaults.top", 3), r"unknown key llm.defaults.top in"),
        (changed("llm.baseUrl", None), r"base_url of \[model\] \(llm.baseUrl in .*\) is required for openai-compatible"),
        (changed("llm.provider", "anthropic"), r"api_key of \[model\] \(llm.apiKey in .*\) is required for anthropic"),
        (changed("embedding.model", None), r"embedding.model is required in"),
        (changed("embedding.dimensions", None), r"embedding.dimensions is required in"),
        (changed("embedding.apiKey", None), r"api_key of \[embedding\] \(embedding.apiKey in .*\) is required for openai"),
        (changed("embedding.provider", "jina"), r"embedding.provider in .* must be one of local, openai, google, cohere"),
        ([1], r"must hold an object with server, proxy, llm and embedding"),
    ],
    ids=repr,
)  # fmt: skip
def test_a_mistake_in_the_first_form_is_named_by_its_key(tmp_path: Path, found: Any, message: str | None) -> None:
    if message is None:
        assert settings.load(written(tmp_path, found), ENVIRONMENT) == settings.Settings()
        return
    with pytest.raises(SettingsError, match=message) as refused:
        settings.load(written(tmp_path, found), ENVIRONMENT)

    assert "\n" not in str(refused.value)


def test_text_that_is_no_json_is_named(tmp_path: Path) -> None:
    file = written(tmp_path, {})
    (tmp_path / "config" / "memento.json").write_text("{")
    with pytest.raises(SettingsError, match=r"memento.json is not JSON"):
        settings.load(file, {})


@pytest.mark.parametrize(
    ("proxy", "upstreams"),
    [
        ({"provider": "anthropic"}, {"anthropic": "https://api.anthropic.com"}),
        ({"provider": "ollama"}, {"openai": "http://localhost:11434/v1", "ollama": "http://localhost:11434"}),
        (
            {"provider": "ollama", "baseUrl": "http://box:1/api/"},
            {"openai": "http://box:1/v1", "ollama": "http://box:1"},
        ),
        (
            {"provider": "custom", "baseUrl": "http://x/v1", "protocol": "openai", "providerName": "x"},
            {"openai": "http://x/v1"},
        ),
        (
            {"provider": "custom", "baseUrl": "http://x", "protocol": "anthropic", "providerName": "x"},
            {"anthropic": "http://x"},
        ),
    ],
    ids=repr,
)
def test_the_proxys_one_provider_becomes_its_base_url(
    tmp_path: Path, proxy: dict[str, str], upstreams: dict[str, str]
) -> None:
    assert settings.load(written(tmp_path, {"proxy": proxy}), {}).proxy.upstreams == upstreams


def test_by_default_every_protocol_has_an_upstream_and_an_empty_one_has_none() -> None:
    found = settings.load(None, {"MEMENTO_PROXY_ANTHROPIC_BASE_URL": ""})

    assert list(found.proxy.upstreams) == ["openai", "ollama"]


@pytest.mark.parametrize(
    ("value", "read"), [("k", "k"), ('a"b', 'a"b'), ("a\\b", "a\\b"), ("a\nb", "a\nb"), (None, "")], ids=repr
)
def test_a_variable_is_put_in_before_a_file_is_parsed_and_cannot_break_it(
    tmp_path: Path, value: str | None, read: str
) -> None:
    file = tmp_path / "memento.toml"
    file.write_text('[model]\nprovider = "none"\napi_key = "{env:SOME_KEY}"\n')

    assert settings.load(file, {} if value is None else {"SOME_KEY": value}).model.api_key == read


def test_a_variable_may_be_a_number(tmp_path: Path) -> None:
    (tmp_path / "memento.toml").write_text("[server]\nport = {env:PORT}\n")

    assert settings.load(tmp_path / "memento.toml", {"PORT": "8080"}).server.port == 8080


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The data folder's settings file and the working directory."""
    for name in ("home", "here"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "home" / "memento.toml", tmp_path / "here"


def test_dotenv_lies_under_the_environment_and_over_the_file(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    file, here = folders
    file.write_text('[model]\nmodel = "file"\nmax_tokens = 1\nmax_retries = 1\napi_key = "{env:MY_KEY}"\n')
    file.with_name(".env").write_text("MEMENTO_MODEL_MODEL=home\nMEMENTO_MODEL_MAX_TOKENS=2\nMEMENTO_HOME=/nowhere\n")
    (here / ".env").write_text('MEMENTO_MODEL_MODEL=here\nMEMENTO_MODEL_MAX_RETRIES=3\nMY_KEY="sk-${HOME}"\n')
    monkeypatch.setenv("MEMENTO_MODEL_MAX_TOKENS", "9")
    found = settings.load(file)

    assert (found.model.model, found.model.max_tokens, found.model.max_retries) == ("home", 9, 3)
    assert found.model.api_key == "sk-${HOME}", "a key is taken as it is written"


@pytest.mark.parametrize(
    "name",
    ["MEMENTO_MODEL_PROVIDER", "MEMENTO_MODEL_BASE_URL", "MEMENTO_PROXY_OPENAI_BASE_URL", "MEMENTO_SERVER_HOST", "MEMENTO_CONFIG"],
)  # fmt: skip
def test_a_working_directory_does_not_decide_where_memories_go(folders: tuple[Path, Path], name: str) -> None:
    file, here = folders
    (here / ".env").write_text(f"{name}=http://127.0.0.1\n")
    with pytest.raises(SettingsError, match=rf"{name} in .*here/.env would decide where memories go"):
        settings.load(file)

    (here / ".env").unlink()
    file.with_name(".env").write_text("MEMENTO_MODEL_PROVIDER=ollama\nMEMENTO_MODEL_MODEL=m\n")
    assert settings.load(file).model.provider == "ollama"


def test_dotenv_changes_nothing_but_the_settings(folders: tuple[Path, Path]) -> None:
    import os

    file, here = folders
    (here / ".env").write_text("MY_KEY=sk\n")
    before = dict(os.environ)
    settings.load(file)

    assert dict(os.environ) == before
