"""The prompts, one file for each question, and the digest that tells memories made by these words from others."""

from __future__ import annotations

from functools import cache
from hashlib import sha256

from memento import assets

QUESTIONS = ("extract_entities", "resolve_entities", "hypothesise", "extract_memories", "resolve_memories")


@cache
def prompt(question: str) -> str:
    """
    What a model is told before it is asked one of `QUESTIONS`.

    Raises:
        MissingPart: the prompts are not part of this installation.
    """
    return assets.read_prompt(question)


@cache
def digest() -> str:
    """SHA-256 over all prompts, in hexadecimal."""
    return sha256("\0".join(prompt(question) for question in QUESTIONS).encode()).hexdigest()
