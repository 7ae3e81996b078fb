"""What a model proposes is held against the shapes before it is written; what does not conform waits, with the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import OFFLINE
from memento.consolidation.agents import Draft, Mention
from memento.consolidation.rules import RuleAgents
from memento.errors import ShapeViolation
from memento.model import AgentKind, Note, User
from memento.python import Memento, open_memento
from memento.settings import ConsolidationSettings
from understanding import contents


class Careless(RuleAgents):
    """Understands as rules do, but may propose a claim of a relation without a name."""

    name = "careless:1"

    def __init__(self, kind: AgentKind) -> None:
        super().__init__()
        self.kind: AgentKind = kind
        self.blank = True

    def extract_memories(self, note: Note, mentions: Sequence[Mention], user: User) -> list[Draft]:
        found = super().extract_memories(note, mentions, user)
        return [_blank(draft) for draft in found] if self.blank else found


def _blank(draft: Draft) -> Draft:
    return replace(draft, claims=tuple(replace(claim, relation="\n ") for claim in draft.claims))


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Memento]:
    chosen = replace(OFFLINE, consolidation=ConsolidationSettings(retries=1000, retry_wait_s=60.0))
    with open_memento(tmp_path / "home", configured=chosen) as opened:
        assert isinstance(opened, Memento)
        yield opened


def understood_by(memento: Memento, agents: RuleAgents) -> Memento:
    memento.service.new_agents = lambda: agents
    return memento


def test_a_violation_keeps_the_note_pending_with_the_report(folder: Memento) -> None:
    careless = Careless("model")
    memento = understood_by(folder, careless)
    noted = memento.note("I work at Google.")
    state = memento.review.note_status(str(noted.note))

    assert noted.pending
    assert (state.state, state.error) == ("pending", "ShapeViolation")
    assert "ClaimShape" in (state.reason or "")
    assert contents(memento) == set()
    assert [one.what for one in memento.admin.check()] == ["pending-note"]
    careless.blank = False
    assert [one.state for one in memento.review.retry()] == ["consolidated"]
    assert memento.admin.check() == ()


def test_what_conforms_passes_with_all_that_it_refers_to(folder: Memento) -> None:
    agents = Careless("model")
    agents.blank = False
    memento = understood_by(folder, agents)
    for when, text in (
        ("2020-01-01", "My name is Danny and I work at Google in Paris."),
        ("2021-01-01", "Anna works at Google."),
        ("2022-01-01", "I work at Microsoft."),
        ("2022-01-01", "I work at Acme."),
    ):
        assert not memento.note(text, at=when, session="s", speaker="Anna" if "Anna" in text else None).pending
    assert memento.admin.check() == ()


def test_rules_are_held_against_the_shapes_where_the_settings_say_so(tmp_path: Path) -> None:
    chosen = replace(OFFLINE, consolidation=ConsolidationSettings(check_rules=True))
    with open_memento(tmp_path, configured=chosen) as memento:
        assert isinstance(memento, Memento)
        assert memento.note("I work at Google.").memories
        careless = Careless("rules")
        with pytest.raises(ShapeViolation) as caught:
            understood_by(memento, careless).note("I live in Rome.")

        assert "ClaimShape" in caught.value.report
        assert memento.admin.check() == ()
