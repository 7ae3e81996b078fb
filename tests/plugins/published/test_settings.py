"""The profiles and the engine lie over the settings, and are refused while their plug-in is off."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from memento.errors import InputError, SettingsError
from memento.interfaces.cli import main
from memento.plugins.published.settings import PublishedSettings
from memento.settings import load, with_engine, with_profile, without_plugins
from memento.testing import SMALL, check_plugin, memory

OFF = "which is switched off: `memento plugins --on published` switches it on"


def test_it_is_a_good_plugin() -> None:
    assert check_plugin("published") == []


def test_a_profile_sets_the_constants_and_the_environment_overrides_it() -> None:
    told: list[str] = []
    chosen = {"MEMENTO_PUBLISHED_LAMBDA_MAX": "1.0", "MEMENTO_PUBLISHED_VECTOR_WEIGHT": "0.1"}
    found = load(None, chosen, profile="half", tell=told.append).of(PublishedSettings)

    assert (found.vector_weight, found.candidates, found.iterations) == (0.5, 1000, 0)
    assert len(told) == 1 and "MEMENTO_PUBLISHED_VECTOR_WEIGHT" in told[0]
    assert load(None, {"MEMENTO_PUBLISHED_LAMBDA_MAX": "0.9"}, profile="seed").of(PublishedSettings).lambda_max == 0.9
    assert (
        with_profile(load(None, {"MEMENTO_PUBLISHED_LAMBDA_MAX": "0.9"}), "seed").of(PublishedSettings).lambda_max
        == 0.7
    )


def test_shares_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(SettingsError, match=r"lambda_min of \[published\] must not exceed lambda_max"):
        load(None, {"MEMENTO_PUBLISHED_LAMBDA_MIN": "0.8"})
    with pytest.raises(SettingsError, match=r"lambda_max of .* must be from 0 to 1, not 1.5"):
        load(None, {"MEMENTO_PUBLISHED_LAMBDA_MAX": "1.5"})


def test_with_it_off_its_engine_and_its_profiles_are_refused_with_the_remedy(tmp_path: Path) -> None:
    off = without_plugins(SMALL, ["published"])
    for profile in ("seed", "half"):
        with pytest.raises(SettingsError, match=f"the profile {profile} needs the plug-in published, {OFF}"):
            with_profile(off, profile)
        with pytest.raises(SettingsError, match=f"the profile {profile} needs the plug-in published, {OFF}"):
            load(None, {"MEMENTO_PLUGINS_OFF": "published"}, profile=profile)
    with pytest.raises(SettingsError, match=f"the engine published needs the plug-in published, {OFF}"):
        with_engine(off, "published")
    with pytest.raises(SettingsError, match=f"the engine published needs the plug-in published, {OFF}"):
        load(None, {"MEMENTO_PLUGINS_OFF": "published", "MEMENTO_LAND_ENGINE": "published"})
    with memory() as memento:
        memento.note("I like tea.")
        assert memento.recall("What do I like?", mode="hybrid").memories
        with pytest.raises(SettingsError, match=OFF):
            memento.recall("What do I like?", engine="published")
        with pytest.raises(InputError, match="unknown engine 'steam': choose one of signals"):
            memento.recall("What do I like?", engine="steam")
    words = ["--home", str(tmp_path), "recall", "x", "--profile", "seed"]
    refused = CliRunner().invoke(
        main, words, env={"MEMENTO_PLUGINS_OFF": "published", "MEMENTO_EMBEDDING_MODEL": "trigram"}
    )
    assert refused.exit_code == 2 and OFF in " ".join(refused.output.split())
