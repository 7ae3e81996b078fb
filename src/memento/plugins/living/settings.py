"""The settings of living memories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from memento.settings import Positive, constant, knob


@dataclass(frozen=True, slots=True)
class SexprSettings:
    chars: Annotated[int, Meta(ge=100)] = knob(
        4_000_000, "longest text of expressions, in characters; a snapshot is one too"
    )
    fuel: Positive = knob(500, "most calls of verbs in one evaluation, including those inside policies")
    # Deepest nesting of calls in one evaluation.
    depth: int = constant(64)
    # Most rows that `sparql` gives to an expression.
    rows: int = constant(1000)


LIVING: Mapping[str, Mapping[str, object]] = {"living": {"rank_energy": 0.3}}
"""The profile that ranks by energy too, which grows by use and feedback, and decays."""
