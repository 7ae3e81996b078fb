"""Settings come from TOML, .env and the environment; what cannot work is refused in one line that names the key and why."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from memento import settings
from memento.errors import InputError, SettingsError
from memento.plugins.keys.settings import KeysSettings
from memento.plugins.scale.settings import StoreSettings


def test_the_environment_wins_over_the_file_and_the_file_over_the_default(tmp_path: Path) -> None:
    file = tmp_path / "memento.toml"
    file.write_text('[land]\nwhole = 7\nflat = 8\n[embedding]\nmodel = "trigram"\n')
    found = settings.load(file, {"MEMENTO_LAND_WHOLE": "9", "OTHER": "x"})

    assert found.land.whole == 9
    assert found.land.flat == 8
    assert found.embedding.model == "trigram"
    assert found.distill == settings.DistillSettings()


def test_a_profile_lies_under_file_and_environment() -> None:
    found = settings.load(None, {"MEMENTO_DISTILL_TOP_K": "9"}, profile="seed")

    assert found.gate.on is False
    assert found.distill.top_k == 9


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"MEMENTO_LAND_WHOLE": "many"}, "whole of .* must be a whole number, not 'many'"),
        ({"MEMENTO_GATE_KEEP": "much"}, "keep of .* must be a number"),
        ({"MEMENTO_LAND_MEND": "perhaps"}, "mend of .* must be true or false"),
        ({"MEMENTO_EMBEDDING_MODEL": "gpt"}, "model of .* must be one of minilm, trigram"),
        ({"MEMENTO_MODEL_PROVIDER": "ollama"}, "model of .* is required for ollama"),
    ],
)
def test_a_mistake_in_the_environment_is_named(environment: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        settings.load(None, environment)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("land = 3", r"land in .* must be a group"),
        ("[land]\nwhole = true", "must be a whole number"),
        ("[land", "is not TOML"),
    ],
)
def test_a_mistake_in_the_file_is_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "memento.toml").write_text(text)

    with pytest.raises(SettingsError, match=message):
        settings.load(tmp_path / "memento.toml", {})


def test_an_unknown_profile_is_refused_with_the_choices() -> None:
    with pytest.raises(SettingsError, match="unknown profile 'best': choose one of living, seed, half"):
        settings.load(None, {}, profile="best")


def test_true_and_false_are_read_from_text() -> None:
    assert settings.load(None, {"MEMENTO_RERANK_FACTORS": "Yes"}).rerank.factors is True
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
        ("full", settings.list_tool_groups()),
    ],
)
def test_groups_of_tools_are_switched_on_by_name(asked: str, groups: tuple[str, ...]) -> None:
    assert settings.tool_groups({"MEMENTO_TOOLS": asked}) == groups


def test_an_unknown_group_of_tools_is_named_with_the_choices() -> None:
    with pytest.raises(SettingsError, match=r"'everything' in MEMENTO_TOOLS: choose from connectors, .*full"):
        settings.tool_groups({"MEMENTO_TOOLS": "keys,everything"})


def test_memento_config_names_another_file(tmp_path: Path) -> None:
    (tmp_path / "elsewhere.toml").write_text("[server]\nport = 2\n[model]\nmax_tokens = 5\n")
    (tmp_path / "memento.toml").write_text("[model]\nmax_tokens = 6\n")
    found = settings.load(tmp_path / "memento.toml", {"MEMENTO_CONFIG": str(tmp_path / "elsewhere.toml")})

    assert (found.server.port, found.model.max_tokens) == (2, 6)


def test_memento_config_must_name_a_file(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"MEMENTO_CONFIG names .*gone.toml, and there is no such file"):
        settings.load(None, {"MEMENTO_CONFIG": str(tmp_path / "gone.toml")})


@pytest.mark.parametrize(
    ("proxy", "upstreams"),
    [
        ({"PROVIDER": "anthropic"}, {"anthropic": "https://api.anthropic.com"}),
        ({"PROVIDER": "ollama"}, {"openai": "http://localhost:11434/v1", "ollama": "http://localhost:11434"}),
        (
            {"PROVIDER": "ollama", "OLLAMA_BASE_URL": "http://box:1"},
            {"openai": "http://box:1/v1", "ollama": "http://box:1"},
        ),
        (
            {"PROVIDER": "custom", "OPENAI_BASE_URL": "http://x/v1", "ANTHROPIC_BASE_URL": ""},
            {"openai": "http://x/v1"},
        ),
    ],
    ids=repr,
)
def test_the_proxys_one_provider_becomes_its_base_url(proxy: dict[str, str], upstreams: dict[str, str]) -> None:
    assert load("PROXY", proxy).proxy.upstreams == upstreams


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

    assert settings.load(file, {"GONE": ""}).of(StoreSettings).token == ""
    bare = replace(settings.load_client(file, {}), plugged=settings.plugin_groups())
    assert bare == settings.ClientSettings()
    file.write_text(file.read_text().split("\n", 2)[2])
    assert json.loads(settings.load(file, {}).plugged["executor"].servers)["files"]["env"] == {"K": ""}


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


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("MEMENTO_DISTILL_TOP_K", "0", "top_k of .* must be at least 1, not 0"),
        ("MEMENTO_GATE_KEEP", "1.5", "keep of .* must be from 0 to 1, not 1.5"),
        ("MEMENTO_LIMITS_TEXT_BYTES", "-1", "text_bytes of .* must be at least 1, not -1"),
        ("MEMENTO_RERANK_FLOOR", "inf", "floor of .* must be a finite number, not inf"),
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
    ).of(KeysSettings)

    assert (found.key_recall, found.hub, found.direct, found.autokey_days, found.merge) == (0.31, 5, True, 2.0, 0.9)
    assert settings.is_on("keys.direct", settings.load_client(None, {"KEYMEM_DIRECT_RECALL": "true"}))
    for name, told in (("KEYMEM_DATA_DIR", "set MEMENTO_HOME"), ("KEYMEM_COLOUR", "of these names KEYMEM_KEY_RECALL,")):
        with pytest.raises(SettingsError, match=f"{name} is not read here: {told}"):
            settings.load(None, {name: "x"})
    with pytest.raises(SettingsError, match="from 0 to 1"):
        settings.load(None, {"KEYMEM_KEY_RECALL": "7"})


def test_a_file_may_name_its_schema(tmp_path: Path) -> None:
    file = tmp_path / "memento.toml"
    file.write_text('"$schema" = "https://x/memento.schema.json"\n[server]\nport = 7001\n')

    assert settings.load(file, {}).server.port == 7001


def test_settings_that_do_not_exist_are_ignored_with_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "memento.toml"
    file.write_text("[lands]\npool = 1\n[land]\nponds = 1\nmend = false\n[model.hypothesise]\ntop_p = 9\n")
    told: list[str] = []
    found = settings.load(file, {"MEMENTO_LAND_POOLS": "1"}, tell=told.append)

    assert found.land.mend is False
    [line] = told
    named = (
        f"[lands] in {file}, ponds of [land] in {file}, top_p of [model.hypothesise] in {file}",
        "MEMENTO_LAND_POOLS",
    )
    assert f"no such setting: {', '.join(named)}; remove it, or correct its name" in line
    settings.load(file, {})
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_a_constant_of_a_group_is_no_setting() -> None:
    told: list[str] = []
    found = settings.load(None, {"MEMENTO_WORDS_K1": "0.1"}, tell=told.append)

    assert found.words.k1 == 1.5
    assert len(told) == 1
    assert "`k1`" not in settings.table()
