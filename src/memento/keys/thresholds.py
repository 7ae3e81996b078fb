"""
From which cosine on things are alike, for each family of embedders: every model spreads its cosines differently.

*But:* where no family fits, the values are those of BGE and a warning is logged once; set those of `[keys]` then.

*Source:* keymem's profiles for the first four; those for MiniLM are its own too, those for trigrams tell spellings apart.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, fields, replace

from memento.settings import KeysSettings

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Cosines; the settings of the same names say what each decides."""

    key_recall: float
    content_recall: float
    auto_link: float
    merge: float
    short_merge: float
    dedup: float
    min_score: float
    contradiction: float


def _of(*values: float) -> Thresholds:
    return Thresholds(**dict(zip((item.name for item in fields(Thresholds)), values, strict=True)))


BGE = "bge"
CALIBRATED: dict[str, tuple[re.Pattern[str], Thresholds]] = {
    # key, content, link, merge, short, dedup, least, contradiction
    "openai": (re.compile(r"^openai-|text-embedding-(?:3|ada)"), _of(0.28, 0.28, 0.50, 0.85, 0.90, 0.90, 0.28, 0.85)),
    "bge-m3": (re.compile(r"bge-?_?m3"), _of(0.62, 0.55, 0.62, 0.86, 0.90, 0.94, 0.55, 0.80)),
    BGE: (re.compile(r"bge"), _of(0.60, 0.50, 0.60, 0.85, 0.90, 0.90, 0.50, 0.85)),
    "e5": (re.compile(r"\be5\b|_e5|e5[-_]"), _of(0.85, 0.80, 0.93, 0.97, 0.98, 0.985, 0.80, 0.95)),
    "minilm": (re.compile(r"minilm"), _of(0.50, 0.45, 0.60, 0.85, 0.90, 0.90, 0.45, 0.85)),
    "trigram": (re.compile(r"^trigram"), _of(0.50, 0.45, 0.60, 0.85, 0.90, 0.90, 0.45, 0.70)),
}
"""By family: what its fingerprints look like, first match, and its thresholds."""

_warned: set[str] = set()


def family(fingerprint: str) -> str | None:
    """
    The family of an embedder by its fingerprint; None when it is not calibrated.

    >>> family("all-MiniLM-L6-v2-512-53aa51172d14"), family("ollama-bge-m3-1024-localhost-1a2b"), family("x-1")
    ('minilm', 'bge-m3', None)
    """
    return next((name for name, (like, _) in CALIBRATED.items() if like.search(fingerprint.lower())), None)


def thresholds(fingerprint: str, knobs: KeysSettings) -> Thresholds:
    """
    The thresholds in force: those of the settings over those of the family.

    >>> thresholds("trigram-256", KeysSettings(merge=0.7)).merge
    0.7
    """
    name = family(fingerprint)
    if name is None and fingerprint not in _warned:
        _warned.add(fingerprint)
        logger.warning("keys.not-calibrated", extra={"embedder": fingerprint, "instead": BGE})
    found = CALIBRATED[name or BGE][1]
    told = {item.name: getattr(knobs, item.name) for item in fields(Thresholds)}
    return replace(found, **{key: value for key, value in told.items() if value is not None})
