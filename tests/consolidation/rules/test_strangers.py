"""Notes as strangers write them: terse, dictated, of teams, shops and families, about others, and not in a first language."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from measure import fresh_memory
from memento.iris import MEM
from memento.model import Noted
from memento.service import Memento

NOTES = Path(__file__).parents[1] / "notes" / "strangers.jsonl"
LIVES = [json.loads(line) for line in NOTES.read_text(encoding="utf-8").splitlines()]
FALLS_SHORT = {
    "t083": "two words that both mean something else are not seen as a name",
}
"""What the rules do not reach, and why; each is expected to fail, so that reaching it is noticed."""


@pytest.fixture(scope="module")
def memento() -> Iterator[Memento]:
    with fresh_memory("minilm") as opened:
        yield opened


def _case(life: dict[str, Any]) -> Any:
    reason = FALLS_SHORT.get(life["id"])
    marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
    return pytest.param(life, id=f"{life['id']}-{life['how']}", marks=marks)


@pytest.mark.parametrize("life", [_case(life) for life in LIVES])
def test_a_strangers_notes_are_understood_without_harm(life: dict[str, Any], memento: Memento) -> None:
    namespace = f"stranger-{life['id']}"
    noted = [memento.note(text, at=at, namespace=namespace) for at, text in life["notes"]]
    listed = {str(one.iri): one for one in memento.list(limit=50, past=True, namespace=namespace)}
    contents = [one.content for one in listed.values()]
    last = [listed[str(iri)] for iri in noted[-1].memories]

    for words in life.get("words", ()):
        assert any(words.casefold() in content.casefold() for content in contents)
    for words in life.get("kept", ()):
        assert any(one.content == words and one.invalid_at is None for one in listed.values())
    for words in life.get("current", ()):
        assert any(words in one.content and one.invalid_at is None for one in listed.values())
    if "skipped" in life:
        assert life["skipped"] in (noted[-1].skipped or "")
    if "count" in life:
        assert len(last) == life["count"]
    if "remark" in life:
        assert life["remark"] in " ".join(noted[-1].remarks)
    if "valid" in life:
        assert f"{last[0].valid_at:%Y-%m-%d}" == life["valid"]
    if "until" in life:
        assert last[0].invalid_at is not None
        assert f"{last[0].invalid_at:%Y-%m-%d}" == life["until"]
    if "event" in life:
        properties = dict(memento.get(last[0].iri, namespace=namespace).properties)
        assert str(properties[MEM.eventAt])[:10] == life["event"]
    if "about" in life:
        assert set(life["about"]) <= names_of(last[0].iri, memento, namespace)
    for new, old in life.get("retired", ()):
        assert set(noted[old].memories) & set(noted[new].invalidated)
    for old in life.get("never_retired", ()):
        assert not any(set(noted[old].memories) & set(later.invalidated) for later in noted)
    for new, old in life.get("linked_or_retired", ()):
        assert set(noted[old].memories) & (set(noted[new].invalidated) | rivals_of(noted[new], memento, namespace))
    for new, old in life.get("unlinked", ()):
        assert not set(noted[old].memories) & (set(noted[new].invalidated) | rivals_of(noted[new], memento, namespace))


def rivals_of(noted: Noted, memento: Memento, namespace: str) -> set[str]:
    found: set[str] = set()
    for iri in noted.memories:
        rivalries = [
            subject
            for subject, predicate in memento.get(iri, namespace=namespace).pointed_at_by
            if predicate == MEM.rival
        ]
        for rivalry in rivalries:
            said = memento.get(rivalry, namespace=namespace).properties
            found |= {str(value) for predicate, value in said if predicate == MEM.rival}
    return found - {str(iri) for iri in noted.memories}


def names_of(iri: str, memento: Memento, namespace: str) -> set[str]:
    about = [value for predicate, value in memento.get(iri, namespace=namespace).properties if predicate == MEM.about]
    found = [memento.get(str(one), namespace=namespace) for one in about]
    named = [dict(one.properties) for one in found]
    return {"USER" if one.type == "User" else str(said[MEM.name]) for one, said in zip(found, named, strict=True)}
