"""Every combination that cannot work is refused in one line that names the key and what would do."""

from __future__ import annotations

import pytest

from memento import settings
from memento.errors import SettingsError

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
