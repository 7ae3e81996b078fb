"""
How long does a newcomer wait: for `make install` in a fresh clone, for the first start after it, and for the second; and how much
disk does it take? With `--sizes`, what does each dependency take, alone and with what only it brings?

Data: a clone of this checkout's last commit, with its own environment, cache and data folder below a temporary folder. Needs git,
make and a package index; without a cache of pip the index decides the seconds of the install.
Run: `python3 tests/bench/first_start.py [--sizes] [--port 7299]`, two minutes; needs no package itself.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
WAIT_S = 300.0
"""Most seconds to wait for a start."""

# Runs in the fresh environment, whose `packaging` comes with other packages.
SIZES = """
import json, os
from importlib.metadata import distributions
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name as name_of

found = {name_of(one.metadata["Name"]): one for one in distributions()}

def size_of(one):
    files = {one.locate_file(file) for file in one.files or ()}
    return sum(os.stat(file).st_blocks * 512 for file in files if file.exists())

def needs(name, extras):
    for line in found[name].requires or ():
        need = Requirement(line)
        if any(need.marker is None or need.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            if name_of(need.name) in found:
                yield name_of(need.name), frozenset(need.extras)

def reach(roots):
    seen, left = set(), list(roots)
    while left:
        one = left.pop()
        if one not in seen:
            seen.add(one)
            left += needs(*one)
    return {name for name, _ in seen}

roots = list(needs("memento-rdf", ()))
everything = reach(roots)
told = []
for root in roots:
    only = everything - reach(other for other in roots if other != root)
    told.append([root[0], size_of(found[root[0]]), sum(size_of(found[name]) for name in only | {root[0]})])
print(json.dumps(told))
"""


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Print and return the seconds of the install and of two starts, and the megabytes of the environment after the first."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=7299)
    parser.add_argument("--sizes", action="store_true", help="print a row for each dependency")
    chosen = parser.parse_args(argv)
    with TemporaryDirectory(prefix="memento-first-start-") as name:
        folder = Path(name)
        clone = folder / "clone"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        begin = time.perf_counter()
        subprocess.run(["make", "install"], cwd=clone, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        figures = {"install_s": round(time.perf_counter() - begin, 1)}
        figures["installed_mib"] = measure_folder(clone / ".venv")
        if chosen.sizes:
            print_sizes(clone)
        figures["first_start_s"] = start(clone, folder, chosen.port)
        figures["second_start_s"] = start(clone, folder, chosen.port)
        figures["started_mib"] = measure_folder(clone / ".venv")
    print(f"install of a fresh clone    {figures['install_s']:6.1f} s")
    print(
        f"disk of .venv               {figures['installed_mib']:6.0f} MiB, {figures['started_mib']:.0f} after the starts"
    )
    print(f"first start to /health 200  {figures['first_start_s']:6.1f} s")
    print(f"second start                {figures['second_start_s']:6.1f} s")
    print(f"load of the machine         {os.getloadavg()[0]:6.1f} on {os.cpu_count()} cores")
    return figures


def measure_folder(folder: Path) -> float:
    """Return the mebibytes that `du -s` counts."""
    counted = subprocess.run(["du", "-sm", str(folder)], check=True, capture_output=True, text=True).stdout
    return float(counted.split()[0])


def start(clone: Path, folder: Path, port: int) -> float:
    """Return the seconds from `make run` to a healthy service with a data folder of its own, and end it."""
    environment = {**os.environ, "MEMENTO_HOME": str(folder / "home"), "XDG_CACHE_HOME": str(folder / "cache")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # a newcomer has the second start quicker, and more disk in use
    begin = time.perf_counter()
    service = subprocess.Popen(
        ["make", "run", f"PORT={port}"],
        cwd=clone,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        while not is_healthy(port):
            if service.poll() is not None or time.perf_counter() - begin > WAIT_S:
                raise SystemExit(f"the service did not start on port {port}: is the port in use?")
            time.sleep(0.05)
        return round(time.perf_counter() - begin, 1)
    finally:
        if service.poll() is None:
            os.killpg(service.pid, signal.SIGTERM)
        service.wait()


def is_healthy(port: int) -> bool:
    """Tell whether a service answers `/health` with 200."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def print_sizes(clone: Path) -> None:
    """Print each dependency, the heaviest first: megabytes alone, and with what only it brings."""
    python = shutil.which("python", path=str(clone / ".venv" / "bin")) or sys.executable
    told = json.loads(subprocess.run([python, "-c", SIZES], check=True, capture_output=True, text=True).stdout)
    print(f"{'dependency':<26} {'MB':>6} {'with what only it brings':>26}")
    for name, own, whole in sorted(told, key=lambda row: -row[2]):
        print(f"{name:<26} {own / 1e6:6.1f} {whole / 1e6:26.1f}")


if __name__ == "__main__":
    main()
