"""Settings come from TOML, JSON, .env and the environment; what cannot work is refused in one line that names the key and why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memento import settings
from memento.errors import InputError, SettingsError
from memento.settings import ModelSettings


def test_the_environment_wins_over_the_file_and_the_file_over_the_default(tmp_path: Path) -> None:
    file = tmp_path / "memento.toml"
    file.write_text('[land]\npool = 7\ncandidates = 8\n[embedding]\nmodel = "trigram"\n')
    found = settings.load(file, {"MEMENTO_LAND_POOL": "9", "OTHER": "x"})

    assert found.land.pool == 9
    assert found.land.candidates == 8
    assert found.embedding.model == "trigram"
    assert found.distill == settings.DistillSettings()


def test_a_profile_lies_under_file_and_environment() -> None:
    found = settings.load(None, {"MEMENTO_LAND_CANDIDATES": "3"}, profile="half")

    assert found.fusion.vector_weight == 0.5
    assert found.land.candidates == 3


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"MEMENTO_LAND_POOLS": "1"}, "unknown setting MEMENTO_LAND_POOLS"),
        ({"MEMENTO_LAND_POOL": "many"}, "pool of .* must be a whole number, not 'many'"),
        ({"MEMENTO_WORDS_K1": "much"}, "k1 of .* must be a number"),
        ({"MEMENTO_ANCHOR_USER": "perhaps"}, "user of .* must be true or false"),
        ({"MEMENTO_EMBEDDING_MODEL": "gpt"}, "model of .* must be one of minilm, trigram"),
        ({"MEMENTO_ANCHOR_SEMANTIC": "0.9"}, "must sum to 1"),
        ({"MEMENTO_DISTILL_LAMBDA_MIN": "0.9"}, "must not exceed"),
    ],
)
def test_a_mistake_in_the_environment_is_named(environment: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        settings.load(None, environment)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[lands]\npool = 1", r"unknown group \[lands\].*choose one of"),
        ("[land]\nponds = 1", r"unknown setting ponds of \[land\].*choose one of"),
        ("land = 3", r"land in .* must be a group"),
        ("[land]\npool = true", "must be a whole number"),
        ("[land", "is not TOML"),
    ],
)
def test_a_mistake_in_the_file_is_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "memento.toml").write_text(text)

    with pytest.raises(SettingsError, match=message):
        settings.load(tmp_path / "memento.toml", {})


def test_an_unknown_profile_is_refused_with_the_choices() -> None:
    with pytest.raises(SettingsError, match="choose one of seed, half"):
        settings.load(None, {}, profile="best")


def test_true_and_false_are_read_from_text() -> None:
    assert settings.load(None, {"MEMENTO_ANCHOR_USER": "Yes"}).anchor.user is True
    assert settings.load(None, {"MEMENTO_EMBEDDING_CACHE": "0"}).embedding.cache is False


def test_the_namespace_project_is_the_name_of_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "atlas" / ".git").mkdir(parents=True)
    (tmp_path / "atlas" / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "atlas" / "deep")

    assert settings.resolve_namespace("project") == "atlas"
    assert settings.resolve_namespace("other") == "other"


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 201])
def test_a_name_that_can_be_no_namespace_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="1 to 200 printable characters"):
        settings.resolve_namespace(name)


@pytest.mark.parametrize(
    ("asked", "groups"),
    [
        ("", ()),
        ("connectors", ("connectors",)),
        (" sexpr,keys ", ("keys", "sexpr")),
        ("full", settings.TOOL_GROUPS),
    ],
)
def test_groups_of_tools_are_switched_on_by_name(asked: str, groups: tuple[str, ...]) -> None:
    assert settings.tool_groups({"MEMENTO_TOOLS": asked}) == groups


def test_an_unknown_group_of_tools_is_named_with_the_choices() -> None:
    with pytest.raises(SettingsError, match=r"'everything' in MEMENTO_TOOLS: choose from connectors, .*full"):
        settings.tool_groups({"MEMENTO_TOOLS": "keys,everything"})


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


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('[store]\ntoken = "{env:GONE}"\n', r"token of \[store\] in .*memento.toml takes the variable GONE"),
        (
            '[capture.namespaces]\nprivate = "{env:GONE}"\n',
            r"private in namespaces of \[capture\] in .*memento.toml takes the variable GONE",
        ),
        ("[server]\nport = {env:GONE}\n", r"is not TOML.*the variable GONE is not set"),
    ],
)
def test_a_variable_that_is_not_set_is_an_error_that_names_it_and_its_setting(
    tmp_path: Path, text: str, where: str
) -> None:
    file = tmp_path / "memento.toml"
    file.write_text(text)
    with pytest.raises(SettingsError, match=where):
        settings.load(file, {})


def test_a_variable_may_be_set_to_nothing_and_one_of_another_group_may_be_missing_to_a_client(tmp_path: Path) -> None:
    file = tmp_path / "memento.toml"
    file.write_text(
        '[store]\ntoken = "{env:GONE}"\n[executor.servers.files]\ncommand = "x"\nenv = {K = "{env:GONE}"}\n'
    )

    assert settings.load(file, {"GONE": ""}).store.token == ""
    assert settings.load_client(file, {}) == settings.ClientSettings()
    file.write_text(file.read_text().split("\n", 2)[2])
    assert json.loads(settings.load(file, {}).executor.servers)["files"]["env"] == {"K": ""}


TABLES = [
    (name, key, item.metadata["json"])
    for name, group in settings.groups(settings.Settings())
    for key, item in settings.knobs(group).items()
    if item.metadata["json"]
]


@pytest.mark.parametrize(("group", "key", "example"), TABLES, ids=[f"{group}.{key}" for group, key, _ in TABLES])
def test_what_must_be_a_table_shows_an_example_that_is_taken(group: str, key: str, example: str) -> None:
    name = settings.variable(group, key)
    with pytest.raises(SettingsError) as wrong:
        settings.load(None, {name: "[1]"})

    assert f"must be a JSON object, as {example}, or a table" in str(wrong.value)
    found = settings.load(None, {name: example})
    assert settings.mask_secrets(found)[group][key] in (example, settings.MASK)
    assert ("reasoning_effort" in example) is (key == "options")


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
    [
        "MEMENTO_MODEL_PROVIDER",
        "MEMENTO_MODEL_BASE_URL",
        "MEMENTO_PROXY_OPENAI_BASE_URL",
        "MEMENTO_TELEMETRY_OTLP_ENDPOINT",
        "MEMENTO_SERVER_TOKEN_REQUIRED",
        "MEMENTO_CONFIG",
    ],
)
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


KEYED = {"MODEL": "m", "API_KEY": "k"}
BOX = {"MODEL": "m", "BASE_URL": "http://localhost:8000/v1"}


def load(group: str, values: dict[str, str]) -> settings.Settings:
    return settings.load(None, {f"MEMENTO_{group}_{key}": value for key, value in values.items()})


@pytest.mark.parametrize("provider", ["openai", "anthropic", "google"])
@pytest.mark.parametrize(
    ("values", "message"),
    [
        (KEYED, None),
        ({"API_KEY": "k"}, r"^model of \[model\] is required for {provider}"),
        ({"MODEL": "m"}, r"^api_key of \[model\] is required for {provider}: set MEMENTO_MODEL_API_KEY"),
        ({**KEYED, **BOX}, r"^base_url of \[model\] has one address for {provider} and must be empty"),
        ({**KEYED, "PROVIDER_NAME": "x"}, r"^provider_name of \[model\] is for openai-compatible only"),
    ],
    ids=str,
)
def test_rules_of_the_models_with_one_address(provider: str, values: dict[str, str], message: str | None) -> None:
    refused_or_not("MODEL", {"PROVIDER": provider, **values}, message and message.replace("{provider}", provider))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, None),
        ({"PROVIDER": "none", "BASE_URL": "waits to be used"}, None),
        ({"PROVIDER": "azure"}, r"^provider of \[model\] in the environment must be one of none, openai, anthropic"),
        ({"PROVIDER": "ollama", "MODEL": "m"}, None),
        ({"PROVIDER": "ollama", **BOX}, None),
        ({"PROVIDER": "ollama"}, r"^model of \[model\] is required for ollama"),
        ({"PROVIDER": "ollama", "MODEL": "m", "PROVIDER_NAME": "x"}, r"is for openai-compatible only"),
        ({"PROVIDER": "openai-compatible", **BOX}, None),
        ({"PROVIDER": "openai-compatible", **BOX, "PROVIDER_NAME": "x", "API_KEY": "k"}, None),
        ({"PROVIDER": "openai-compatible", "MODEL": "m"}, r"^base_url of \[model\] is required for openai-compatible, as"),
        ({"PROVIDER": "openai-compatible", **BOX, "BASE_URL": "localhost:8000"}, r"must be an address such as http://"),
        ({"PROVIDER": "openai-compatible", **BOX, "BASE_URL": "http://[x/v1"}, r"must be an address such as http://"),
        ({"PROVIDER": "openai-compatible", **BOX, "BASE_URL": "http://u:p@x/v1"}, r"must hold no password"),
        ({"PROVIDER": "openai", "MODEL": "m", "API_KEY": "sk-1\n"}, r"^api_key of \[model\] must be printable ASCII"),
        ({"TEMPERATURE": ""}, None),
        ({"TEMPERATURE": "2.1"}, r"^temperature of \[model\] in the environment must be from 0 to 2, not 2.1"),
        ({"TEMPERATURE": "nan"}, r"must be from 0 to 2"),
        ({"MAX_TOKENS": "0"}, r"must be at least 1, not 0"),
        ({"MAX_RETRIES": "-1"}, r"must be at least 0, not -1"),
        ({"TIMEOUT_S": "inf"}, r"must be at least 0.001"),
        ({"OPTIONS": '{"top_p": 0.9}'}, None),
        ({"OPTIONS": "top_p"}, r"^options of \[model\] in the environment must be a JSON object"),
        ({"OPTIONS": "[1]"}, r"must be a JSON object"),
        ({"HYPOTHESISE_TEMPERATURE": "9"}, r"^temperature of \[model.hypothesise\] .* must be from 0 to 2"),
        ({"HYPOTHESISE_TOP_P": "9"}, r"unknown setting MEMENTO_MODEL_HYPOTHESISE_TOP_P"),
    ],
    ids=str,
)  # fmt: skip
def test_rules_of_the_other_models(values: dict[str, str], message: str | None) -> None:
    refused_or_not("MODEL", values, message)


EMBEDDED = {"MODEL": "e", "DIMENSIONS": "8"}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"MODEL": "trigram"}, None),
        ({"MODEL": "gpt"}, r"^model of \[embedding\] must be one of minilm, trigram when its provider is local, not 'gpt'"),
        *(({"PROVIDER": name, **EMBEDDED, "API_KEY": "k"}, None) for name in ("openai", "google", "cohere", "mistral")),
        *(
            ({"PROVIDER": name, **EMBEDDED}, rf"^api_key of \[embedding\] is required for {name}")
            for name in ("openai", "google", "cohere", "mistral")
        ),
        ({"PROVIDER": "openai", "DIMENSIONS": "8", "API_KEY": "k"}, r"^model of \[embedding\] is required for openai"),
        ({"PROVIDER": "openai", "MODEL": "e", "API_KEY": "k"}, r"^dimensions of \[embedding\] is required for openai"),
        ({"PROVIDER": "openai", **EMBEDDED, "DIMENSIONS": "-8"}, r"must be at least 0, not -8"),
        ({"PROVIDER": "mistral", **EMBEDDED, "API_KEY": "k", "BASE_URL": "http://x"}, r"has one address for mistral"),
        ({"PROVIDER": "ollama", **EMBEDDED}, None),
        ({"PROVIDER": "ollama", **EMBEDDED, "PROVIDER_NAME": "x"}, r"is for openai-compatible only"),
        ({"PROVIDER": "openai-compatible", **EMBEDDED}, r"^base_url of \[embedding\] is required for openai-compatible"),
        ({"PROVIDER": "openai-compatible", **EMBEDDED, "BASE_URL": "ftp://x"}, r"must be an address such as"),
        ({"PROVIDER": "jina", **EMBEDDED}, r"must be one of local, openai, google, cohere, mistral, ollama"),
        ({"MAX_CHARS": "1"}, r"must be at least 100, not 1"),
    ],
    ids=str,
)  # fmt: skip
def test_rules_of_embedders(values: dict[str, str], message: str | None) -> None:
    refused_or_not("EMBEDDING", values, message)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"PROVIDER": "custom", "ANTHROPIC_BASE_URL": "", "OPENAI_BASE_URL": "http://x/v1"}, None),
        ({"PROVIDER": "azure"}, r"must be one of all, openai, anthropic, ollama, custom, not 'azure'"),
        ({"PROVIDER": "openai", "OPENAI_BASE_URL": ""}, r"^provider of \[proxy\] is openai: give openai_base_url, or choose all"),
        ({"PROVIDER": "custom", "OPENAI_BASE_URL": "", "ANTHROPIC_BASE_URL": ""}, r"give openai_base_url or anthropic_base_url"),
        ({"PROVIDER": "ollama", "OLLAMA_BASE_URL": ""}, r"^ollama_base_url of \[proxy\] is required"),
        ({"OLLAMA_BASE_URL": "11434"}, r"^ollama_base_url of \[proxy\] must be an address"),
        ({"DEADLINE_MS": "0"}, r"must be at least 1, not 0"),
    ],
    ids=str,
)  # fmt: skip
def test_rules_of_the_proxy(values: dict[str, str], message: str | None) -> None:
    refused_or_not("PROXY", values, message)


def refused_or_not(group: str, values: dict[str, str], message: str | None) -> None:
    if message is None:
        load(group, values)
        return
    with pytest.raises(SettingsError, match=message) as refused:
        load(group, values)
    assert "\n" not in str(refused.value)


def test_the_first_form_may_name_its_schema(tmp_path: Path) -> None:
    named = {"$schema": "https://example.org/memento.schema.json", "server": {"port": 7001}}

    assert settings.load(written(tmp_path, named), {}).server.port == 7001


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("MEMENTO_LAND_POOL", "0", "pool of .* must be at least 1, not 0"),
        ("MEMENTO_FUSION_VECTOR_WEIGHT", "1.5", "vector_weight of .* must be from 0 to 1, not 1.5"),
        ("MEMENTO_EXPAND_EPSILON", "0", "epsilon of .* must be above 0, not 0.0"),
        ("MEMENTO_LIMITS_TEXT_BYTES", "-1", "text_bytes of .* must be at least 1, not -1"),
        ("MEMENTO_SIGNALS_MEANING", "inf", "meaning of .* must be a finite number, not inf"),
        (
            "MEMENTO_LAND_ENGINE",
            "best",
            "engine of .* must be one of signals, ppr, spread, hops, published, vector, keyword, hybrid, not 'best'",
        ),
        ("MEMENTO_SERVER_PORT", "6366.5", "port of .* must be a whole number, not '6366.5'"),
    ],
)
def test_a_value_out_of_bounds_is_refused_with_its_bounds(name: str, value: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        settings.load(None, {name: value})


def test_names_of_the_published_design_of_keys_are_read_or_refused_aloud() -> None:
    found = settings.load(
        None,
        {
            "KEYMEM_KEY_RECALL": "0.31",
            "KEYMEM_KEY_HUB_MIN_LINKS": "5",
            "KEYMEM_DIRECT_RECALL": "true",
            "KEYMEM_AUTOKEY_PRUNE_AGE": "172800",
            "KEYMEM_KEY_MERGE": "0.8",
            "MEMENTO_KEYS_MERGE": "0.9",
        },
    ).keys

    assert (found.key_recall, found.hub, found.direct, found.autokey_days, found.merge) == (0.31, 5, True, 2.0, 0.9)
    assert settings.load_client(None, {"KEYMEM_DIRECT_RECALL": "true"}).keys.direct
    for name, told in (("KEYMEM_DATA_DIR", "set MEMENTO_HOME"), ("KEYMEM_COLOUR", "of these names KEYMEM_KEY_RECALL,")):
        with pytest.raises(SettingsError, match=f"{name} is not read here: {told}"):
            settings.load(None, {name: "x"})
    with pytest.raises(SettingsError, match="from 0 to 1"):
        settings.load(None, {"KEYMEM_KEY_RECALL": "7"})


def test_a_file_may_name_its_schema(tmp_path: Path) -> None:
    file = written(tmp_path, {"$schema": "https://x/memento.schema.json", "server": {"port": 7001}})
    file.write_text('"$schema" = "https://x/memento.schema.json"\n[land]\ncandidates = 7\n')
    found = settings.load(file, {})

    assert (found.server.port, found.land.candidates) == (7001, 7)
