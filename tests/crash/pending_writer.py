"""
Notes without waiting, while a slow model understands them in the background, until it is killed or kills itself at a named step.

    python -m crash.pending_writer HOME MODEL FIRST STEP AFTER    prints "ready", then a number for each note that was acknowledged
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

from crash.writer import SETTINGS, STEPS, deadly, keep_indexes_early
from memento.consolidation.models import ModelAgents
from memento.python import open_memento
from memento.settings import ConsolidationSettings, ModelSettings, Settings

AT_ONCE = 6
"""Notes of one process: enough that some always wait."""

ALL_STEPS = {
    **STEPS,
    "before a model is asked": (ModelAgents, "_ask", True),
    "after a model has answered": (ModelAgents, "_ask", False),
}


def settings(address: str) -> Settings:
    """The scripted model understands notes, and is given every chance to."""
    model = ModelSettings(
        provider="openai-compatible", model="slow", base_url=address, retry_wait_s=0.0, breaker_failures=1_000_000
    )
    return replace(SETTINGS, model=model, consolidation=ConsolidationSettings(retries=1000, retry_wait_s=0.05))


def text(number: int) -> str:
    """The n-th note: every third is a new employer, so that many writes also retire a memory."""
    return f"I work at Company{number}." if number % 3 == 0 else f"I like tea number {number}."


def main(home: str, address: str, first: str, step: str, after: str) -> None:
    with open_memento(Path(home), configured=settings(address), command="writer") as memento:
        if step in ALL_STEPS:
            owner, name, before = ALL_STEPS[step]
            deadly(owner, name, int(after), before=before)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        for number in range(int(first), int(first) + AT_ONCE):
            memento.note(text(number), idempotency_key=str(number), wait=False)
            sys.stdout.write(f"{number}\n")
            sys.stdout.flush()
        time.sleep(60)


if __name__ == "__main__":
    keep_indexes_early()
    main(*sys.argv[1:])
