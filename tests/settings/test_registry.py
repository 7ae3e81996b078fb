"""A person sees every setting and no secret."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from memento import settings
from memento.errors import SettingsError
from memento.interfaces.cli import main

SECRET = "sk-0123456789"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "memento.toml").write_text(
        f'[model]\nprovider = "openai"\nmodel = "m"\napi_key = "{SECRET}"\noptions = {{ seed = 1 }}\n'
        '[model.hypothesise]\nmodel = "large"\n'
    )
    return tmp_path


def test_secrets_are_masked_and_only_they(home: Path) -> None:
    found = settings.load(home / "memento.toml", {})
    shown = settings.mask_secrets(found)

    assert found.model.api_key == SECRET
    assert shown["model"]["api_key"] == "***"
    assert shown["embedding"]["api_key"] == ""
    assert shown["model"]["options"] == '{"seed": 1}'
    assert shown["model.hypothesise"] == {"model": "large", "temperature": 0.7, "max_tokens": None}
    assert SECRET not in repr(found)


@pytest.mark.parametrize("flags", [[], ["--json"]], ids=str)
def test_config_show_prints_no_secret(home: Path, flags: list[str]) -> None:
    run = CliRunner().invoke(main, ["config", "show", "--home", str(home), *flags])

    assert run.exit_code == 0, run.output
    assert SECRET not in run.output
    assert "***" in run.output
    if flags:
        assert json.loads(run.output)["model"]["provider"] == "openai"


def test_a_secret_of_the_wrong_type_is_not_repeated(tmp_path: Path) -> None:
    (tmp_path / "memento.toml").write_text("[model]\napi_key = 123456\n")
    with pytest.raises(SettingsError, match=r"api_key of .* must be text$"):
        settings.load(tmp_path / "memento.toml", {})


def test_a_wrong_combination_ends_the_command_in_one_line(home: Path) -> None:
    run = CliRunner(env={"MEMENTO_MODEL_BASE_URL": "http://x/v1"}).invoke(main, ["status", "--home", str(home)])

    assert run.exit_code == 2
    assert run.stderr.count("\n") == 1
    assert "memento: base_url of [model] has one address for openai and must be empty" in run.stderr


def test_a_group_within_a_group_has_environment_names_of_its_own() -> None:
    found = settings.load(None, {"MEMENTO_MODEL_EXTRACT_MEMORIES_MAX_TOKENS": "9"})

    assert found.model.extract_memories.max_tokens == 9
    assert found.model.max_tokens == 15000
    assert "MEMENTO_MODEL_EXTRACT_MEMORIES_MAX_TOKENS" in settings.table()
    assert "## [model.extract_memories]" in settings.table()
