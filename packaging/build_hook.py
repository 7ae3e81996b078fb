"""Builds the documentation into the wheel, where mkdocs is installed: `make dist` has it, an install from source need not."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class SiteHook(BuildHookInterface[Any]):
    """Puts the site at `memento/_assets/site`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the site; an editable install looks for it in the checkout instead."""
        if version == "editable":
            return
        if not all(find_spec(name) for name in ("mkdocs", "material", "mkdocstrings")):
            self.app.display_warning("the wheel has no documentation: install mkdocs-material and mkdocstrings[python]")
            return
        target = Path(self.directory) / "site"
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--clean", "--site-dir", str(target)]
        subprocess.run(command, cwd=self.root, check=True)
        build_data["force_include"][str(target)] = "memento/_assets/site"
