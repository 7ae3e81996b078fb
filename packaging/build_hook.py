"""Builds the documentation into the wheel, where mkdocs is installed: `make dist` has it, an install from source need not."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class SiteHook(BuildHookInterface[Any]):
    """Puts the site at `memento/_assets/site`."""

    _folder: tempfile.TemporaryDirectory[str] | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the site; an editable install looks for it in the checkout instead."""
        if version == "editable":
            return
        if not all(find_spec(name) for name in ("mkdocs", "material", "mkdocstrings")):
            self.app.display_warning("the wheel has no documentation: install mkdocs-material and mkdocstrings[python]")
            return
        self._folder = tempfile.TemporaryDirectory()
        target = Path(self._folder.name) / "site"
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--clean", "--site-dir", str(target)]
        environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
        subprocess.run(command, cwd=self.root, check=True, env=environment)
        build_data["force_include"][str(target)] = "memento/_assets/site"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Delete what is in the wheel now."""
        if self._folder is not None:
            self._folder.cleanup()
