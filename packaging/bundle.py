"""
Write `dist/memento-VERSION.mcpb`: what Claude Desktop and other clients of MCP install by a double click.

Run: `make bundle`. The bundle is an archive with the manifest, the wheel in `dist/`, and a project that names it; the client's own
`uv` installs what that takes. The same files give the same bytes.
"""

from __future__ import annotations

import json
import sys
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "packaging" / "bundle"
EARLIEST = (1980, 1, 1, 0, 0, 0)


def write_bundle(dist: Path) -> Path:
    """
    Write the bundle of the wheel in a folder, and return its path.

    Raises:
        SystemExit: there is no wheel of this version, or the manifest has another version.
    """
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    manifest = json.loads((SOURCE / "manifest.json").read_text(encoding="utf-8"))
    if manifest["version"] != version:
        raise SystemExit(f"packaging/bundle/manifest.json says {manifest['version']}, not {version}")
    wheels = sorted(dist.glob(f"memento_rdf-{version}-*.whl"))
    if not wheels:
        raise SystemExit(f"{dist} has no wheel of {version}: build it first")
    project = (SOURCE / "pyproject.toml").read_text(encoding="utf-8")
    files = {
        "manifest.json": (SOURCE / "manifest.json").read_bytes(),
        "pyproject.toml": project.replace("0.0.0", version).replace("WHEEL", wheels[0].name).encode(),
        "src/server.py": (SOURCE / "src" / "server.py").read_bytes(),
        f"wheels/{wheels[0].name}": wheels[0].read_bytes(),
        "LICENSE": (ROOT / "LICENSE").read_bytes(),
        "NOTICE": (ROOT / "NOTICE").read_bytes(),
    }
    path = dist / f"memento-{version}.mcpb"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, EARLIEST), content, zipfile.ZIP_DEFLATED)
    return path


if __name__ == "__main__":
    made = write_bundle(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist"))
    print(f"{made} ({made.stat().st_size:,} bytes)")  # noqa: T201
