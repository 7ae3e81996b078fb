"""What the test of an endpoint found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeFinding:
    """The result of one probe of a store: the request, and the response."""

    name: str
    is_needed: bool
    """Whether the feature is required; the others are desirable."""
    outcome: Literal["ok", "failed", "unknown"]
    asked: str
    answered: str
    why: str
    """The consequence for memories if it fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """Whether a SPARQL endpoint can store a memory; `verdict` says so in a line, with the reasons if it cannot."""

    query_url: str
    update_url: str
    reachable: bool
    fit: bool
    verdict: str
    findings: tuple[ProbeFinding, ...]
    seconds: float
