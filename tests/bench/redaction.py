"""
How long does redaction of 1 kB take, which secrets does it find, and what does it remove from ordinary lines?

Data: generated secrets and lines, seeded (`generated_secrets.py`), and the lines of the project's own documents and code. Run:
`.venv/bin/python tests/bench/redaction.py`, some seconds.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path
from time import process_time

from generated_secrets import make_ordinary_lines, make_secrets
from memento.intake.redaction import find_secrets, load_detectors, replace_secrets

ROOT = Path(__file__).parents[2]


def measure_ms(text: str, times: int = 200) -> float:
    """Return the milliseconds of processor time that a text takes for each kB."""
    begin = process_time()
    for _ in range(times):
        find_secrets(text)
    return (process_time() - begin) * 1000 / times / (len(text) / 1000)


def fill(lines: Sequence[str], size: int = 1000) -> str:
    """Join lines up to a size."""
    return "\n".join(lines[: next(n for n in range(1, len(lines)) if len("\n".join(lines[:n])) >= size)])[:size]


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Print and return the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    chosen = parser.parse_args(argv)
    load_detectors()
    secrets = [one for seed in range(chosen.seeds) for one in make_secrets(seed)]
    ordinary = [line for seed in range(chosen.seeds) for line in make_ordinary_lines(seed)]
    files = [*ROOT.glob("docs/*.md"), *ROOT.glob("src/**/*.py")]
    own = [line for file in files for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    texts = [one.text for one in secrets]
    random.Random(1).shuffle(texts)
    missed = [one for one in secrets if one.secret in replace_secrets(one.text, find_secrets(one.text))]
    hostile = (
        "-eyJ-eyJ",
        "_____",
        "0 1 ",
        "password ",
        "://a:",
        "-----BEGIN PRIVATE KEY-----",
        "sk-a-",
        "curl -",
        "AAAA",
        "\\n",
    )
    figures = {
        "prose, ms a kB": measure_ms(
            "I met Ana in Lisbon on Tuesday, and we walked by the river until it rained. " * 13
        ),
        "ordinary lines, ms a kB": measure_ms(fill(ordinary)),
        "code, ms a kB": measure_ms(fill(own[len(own) // 2 :])),
        "secrets, ms a kB": measure_ms(fill(texts)),
        "hostile, 200 kB, ms a kB": max(measure_ms(piece * (200_000 // len(piece)), 1) for piece in hostile),
        f"missed of {len(secrets)} secrets": float(len(missed)),
        f"lost of {len(ordinary)} ordinary lines": float(sum(bool(find_secrets(line)) for line in ordinary)),
        f"lost of {len(own)} lines of this project": float(sum(bool(find_secrets(line)) for line in own)),
    }
    for name, figure in figures.items():
        print(f"{name:<45}{figure:>10.3f}" if "ms" in name else f"{name:<45}{figure:>10.0f}")
    return figures


if __name__ == "__main__":
    main()
