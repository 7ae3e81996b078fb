"""The settings of what use and time make of memories."""

from __future__ import annotations

from dataclasses import dataclass

from memento.settings.knob import knob


@dataclass(frozen=True, slots=True)
class LivingSettings:
    half_life: float = knob(7.0, "days in which energies halve where decay is asked for without saying", least=0.001)
    archive_energy: float = knob(0.05, "energy up to which a memory that is hardly used is archived", least=0, most=1)
    archive_uses: int = knob(5, "uses up to which a memory without energy is archived", least=0)
    count_recall: bool = knob(
        False,
        "count a memory as used when recall gives it to somebody who may write; what the proxy puts in never counts",
    )
