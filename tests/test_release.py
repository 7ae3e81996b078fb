"""A release is refused where anything about it does not agree, before anything is built."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("release.sh")
CHANGELOG = "# Changelog\n\n## Unreleased\n\n## 0.2.0 – 2026-12-01\n\n- New.\n"
PYPROJECT = '[project]\nname = "x"\nversion = "0.2.0"\n'


def run(root: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    names = {f"GIT_{role}_{part}": "x" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    return subprocess.run(
        command, cwd=root, env={**os.environ, **names, **environment}, capture_output=True, text=True, check=False
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "checkout"
    (root / "tests").mkdir(parents=True)
    shutil.copy(SCRIPT, root / "tests")
    (root / "CHANGELOG.md").write_text(CHANGELOG, encoding="utf-8")
    (root / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    (root / "src" / "memento").mkdir(parents=True)
    (root / "src" / "memento" / "assets.py").write_text('VERSION = "0.2.0"\n', encoding="utf-8")
    for name in ("server.json", "bundle/manifest.json"):
        (root / "packaging" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "packaging" / name).write_text('{\n  "version": "0.2.0"\n}\n', encoding="utf-8")
    assert run(root, "sh", "-c", "git init -q && git add -A && git commit -q -m first").returncode == 0
    return root


def change(path: Path, old: str, new: str) -> Callable[[Path], None]:
    def apply(root: Path) -> None:
        text = (root / path).read_text(encoding="utf-8")
        assert old in text
        (root / path).write_text(text.replace(old, new), encoding="utf-8")
        assert run(root, "git", "commit", "-q", "-a", "-m", "change").returncode == 0

    return apply


@pytest.mark.parametrize(
    ("version", "prepare", "reason"),
    [
        ("", None, "say which version"),
        ("0.2.0", lambda root: (root / "new.txt").write_text("x"), "commit or remove what git status shows"),
        ("0.3.0", None, "pyproject.toml says 0.2.0, not 0.3.0"),
        ("0.2.0", change(Path("src/memento/assets.py"), "0.2.0", "0.1.9"), "has another VERSION than 0.2.0"),
        ("0.2.0", change(Path("packaging/server.json"), "0.2.0", "0.1.9"), "packaging/server.json has another version"),
        ("0.2.0", change(Path("CHANGELOG.md"), "## 0.2.0", "## 0.1.0"), "CHANGELOG.md has no line '## 0.2.0 –"),
        ("0.2.0", change(Path("CHANGELOG.md"), "Unreleased\n", "Unreleased\n\n- More.\n"), "has 1 entries under"),
        ("0.2.0", lambda root: run(root, "git", "tag", "v0.2.0"), "the tag v0.2.0 is there already"),
    ],
)
def test_a_release_is_refused_with_the_reason(
    version: str, prepare: Callable[[Path], object] | None, reason: str, checkout: Path
) -> None:
    if prepare:
        prepare(checkout)
    done = run(checkout, "sh", "tests/release.sh", VERSION=version, PYTHON="/nowhere/python")

    assert (done.returncode, reason in done.stderr) == (1, True), done.stderr
    assert not (checkout / "dist").exists()


def test_a_release_that_agrees_goes_on_to_build(checkout: Path) -> None:
    done = run(checkout, "sh", "tests/release.sh", VERSION="0.2.0", PYTHON="/nowhere/python")

    assert "no release" not in done.stderr
    assert "/nowhere/python" in done.stderr
    assert run(checkout, "git", "tag").stdout == ""
