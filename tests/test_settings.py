"""Environment over file over default, and every mistake is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from memento import settings
from memento.errors import InputError, SettingsError


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

    assert settings.namespace_called("project") == "atlas"
    assert settings.namespace_called("other") == "other"


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 201])
def test_a_name_that_can_be_no_namespace_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="1 to 200 printable characters"):
        settings.namespace_called(name)


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
