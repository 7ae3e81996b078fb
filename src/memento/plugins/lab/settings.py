"""The settings of inference."""

from __future__ import annotations

from dataclasses import dataclass

from memento.settings import knob


@dataclass(frozen=True, slots=True)
class InferenceSettings:
    on: bool = knob(
        True, "let SPARQL queries see what follows from the axioms that you state; without axioms nothing is inferred"
    )
