"""A model's answers are checked: ids are those it was shown, counts and order those of the question."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from conftest import at
from memento import assets
from memento.consolidation.agents import USER, Add, Candidate, Draft, Existing, Invalidate, Mention, Skip
from memento.consolidation.models import QUESTIONS, ModelAgents, digest_prompts, parse_instant
from memento.consolidation.rules import RuleAgents
from memento.errors import ModelError
from memento.iris import IRI
from memento.llm import Chat, Form, Prompt, Reply
from memento.model import Entity, Memory, Note, User
from memento.search.nodes import content_hash

NOTE = Note(iri=IRI("urn:n"), content="I work at Google with Anna.", at=at("2024-05-06T10:00"))
ME = User(iri=IRI("urn:me"), name="Danny", description="USER lives in Rome.")
ANNA = Mention(name="Anna", kind="Person")


class Says(Chat):
    """A chat that says what it was given, and remembers what it was asked."""

    def __init__(self, answer: Mapping[str, Any]) -> None:
        self.name = "test:says"
        self.given = answer
        self.asked: list[Prompt] = []

    def answer(
        self, asked: Prompt, form: type[Form], complaint: Callable[[Form], str | None] | None = None
    ) -> Reply[Form]:
        self.asked.append(asked)
        return Reply(value=form.model_validate(self.given), tokens_in=100, tokens_out=10)

    def close(self) -> None:
        """Nothing to let go of."""


def agents(answer: Mapping[str, Any], tokens: int = 0) -> tuple[ModelAgents, Says]:
    says = Says(answer)
    return ModelAgents(dict.fromkeys(QUESTIONS, says), RuleAgents(), tokens), says


def entity(iri: str, name: str, kind: Any = "Person") -> Candidate:
    return Candidate(entity=Entity(iri=IRI(iri), name=name, kind=kind), similarity=1.0)


def known(iri: str, content: str, *about: str, since: str = "2020-01-01", until: str | None = None) -> Existing:
    memory = Memory(
        iri=IRI(iri),
        content=content,
        extracted_from=IRI("urn:o"),
        valid_at=at(since),
        created_at=at(since),
        invalid_at=at(until) if until else None,
        content_hash=content_hash(content),
    )
    return Existing(memory=memory, about=about or (USER,))


def draft(content: str, *about: str) -> Draft:
    return Draft(content=content, about=about or (USER,))


def test_every_question_has_its_prompt_and_all_of_them_one_digest() -> None:
    assert all(len(assets.read_prompt(question)) > 200 for question in QUESTIONS)
    assert len(digest_prompts()) == 64
    assert agents({})[0].account().prompts == digest_prompts()


def test_what_is_named_comes_once_and_is_never_the_user() -> None:
    chosen, says = agents(
        {
            "entities": [
                {"name": "google", "type": "Organization", "description": None},
                {"name": "Google", "type": "Organization"},
                {"name": "Danny", "type": "Person"},
                {"name": "me", "type": "Person"},
                {"name": "Danny Rose", "type": "Person"},
                {"name": " ", "type": "Concept"},
            ],
            "userBiographicalFacts": " ",
        }
    )
    found = chosen.extract_entities(replace(NOTE, content="Danny Rose got me a job at Google."), ME)

    assert [mention.name for mention in found.mentions] == ["Google", "Danny Rose"]
    assert found.biography is None
    assert '"user": "Danny"' in says.asked[0].user
    assert says.asked[0].system == assets.read_prompt("extract_entities")


def test_the_model_sees_short_ids_and_no_iri() -> None:
    chosen, says = agents({"entities": [{"id": "e1", "action": "MATCH", "matchedEntityId": "e1.2", "reason": "she"}]})
    found = chosen.resolve_entities([(ANNA, [entity("urn:a", "Hanna"), entity("urn:b", "Anna S.")])], None, ME)

    assert "urn:" not in says.asked[0].user
    assert [one.entity for one in found.resolutions] == ["urn:b"]
    assert found.user_description is None


@pytest.mark.parametrize(
    "answer",
    [
        [],
        [{"id": "e7", "action": "MATCH", "matchedEntityId": "e1.1"}],
        [{"id": "e1", "action": "MATCH", "matchedEntityId": "e2.1"}],
        [{"id": "e1", "action": "MATCH", "matchedEntityId": "urn:b"}],
        [{"id": "e1", "action": "MATCH"}],
    ],
)
def test_an_id_that_was_not_shown_means_nothing(answer: list[dict[str, str]]) -> None:
    chosen, _ = agents({"entities": answer})
    found = chosen.resolve_entities(
        [(ANNA, [entity("urn:a", "Hanna")]), (Mention(name="Rome", kind="Location"), [])], None, ME
    )

    assert [one.mention.name for one in found.resolutions] == ["Anna", "Rome"]
    assert [one.entity for one in found.resolutions] == [None, None]


def test_the_same_name_and_kind_is_the_same_thing_whatever_was_answered() -> None:
    chosen, _ = agents({"entities": [{"id": "e1", "action": "CREATE"}]})
    found = chosen.resolve_entities([(ANNA, [entity("urn:p", "Anna", "Project"), entity("urn:a", "anna")])], None, ME)

    assert [one.entity for one in found.resolutions] == ["urn:a"]


def test_the_user_is_described_anew_only_when_that_is_meant() -> None:
    for should, text, expected in ((True, "New.", "New."), (False, "New.", None), (True, " ", None)):
        update = {"newDescription": text, "shouldUpdate": should}
        chosen, _ = agents({"entities": [], "userDescriptionUpdate": update})
        assert chosen.resolve_entities([], "USER moved.", ME).user_description == expected


def test_facts_are_about_names_that_exist_at_times_that_can_be() -> None:
    chosen, says = agents(
        {
            "memories": [
                {"content": "USER  works at Google.", "aboutEntities": ["anna", "Bob"], "validAt": "2019"},
                {"content": "user works at google.", "aboutEntities": []},
                {"content": "Anna is kind.", "aboutEntities": [], "validAt": "whenever", "eventAt": "2024-12-24"},
                {"content": "USER's name is Danny-Lee.", "aboutEntities": ["user"]},
                {"content": "  ", "aboutEntities": ["Anna"]},
            ]
        }
    )
    dated = replace(NOTE, content="I'm Danny-Lee, at Google since 2019, and Anna, who is kind, comes on 24 December.")
    first, second, third = chosen.extract_memories(dated, [ANNA], ME)

    assert (first.content, first.about, first.valid_at) == ("USER works at Google.", ("Anna", USER), at("2019-01-01"))
    assert [(one.owner, one.relation, one.value) for one in first.claims] == [(USER, "work at", "Google")]
    assert (second.about, second.valid_at, second.event_at) == (("Anna",), None, at("2024-12-24"))
    assert third.user_name == "Danny-Lee"
    assert "(Monday)" in says.asked[0].user


@pytest.mark.parametrize(
    "content",
    [
        "USER works at Google with Anna and Boris.",
        "USER works at Google with 12 people.",
        "USER works at Google since 1999.",
        "Peter works at Google.",
        "USER works at Google with 6 people.",
        "USER works at Google since 2024-01-06.",
    ],
)
def test_a_fact_that_the_note_does_not_bear_out_is_sent_back_once_and_then_said_in_its_own_words(content: str) -> None:
    chosen, says = agents({"memories": [{"content": content, "aboutEntities": ["Anna"]}]})

    [only] = chosen.extract_memories(NOTE, [ANNA], ME)

    assert only.content == NOTE.content
    assert len(says.asked) == 2
    assert content in says.asked[1].user


@pytest.mark.parametrize("time", [{"validAt": "2019-05-01"}, {"eventAt": "2024-12-24"}])
def test_a_time_that_the_note_does_not_name_is_sent_back_once_and_then_left_out(time: dict[str, str]) -> None:
    content = "USER works at Google with Anna."
    chosen, says = agents({"memories": [{"content": content, "aboutEntities": ["Anna"], **time}]})

    [only] = chosen.extract_memories(NOTE, [ANNA], ME)

    assert (only.content, only.valid_at, only.event_at) == (NOTE.content, None, None)
    assert len(says.asked) == 2


def test_a_time_that_the_note_names_in_words_which_rules_do_not_read_is_taken() -> None:
    spring = replace(NOTE, content="Since spring I work at Google.")
    fact = {"content": "USER works at Google.", "aboutEntities": [], "validAt": "2024-03-20"}
    chosen, says = agents({"memories": [fact]})

    [only] = chosen.extract_memories(spring, [], ME)

    assert only.valid_at == at("2024-03-20")
    assert len(says.asked) == 1


def test_what_the_model_names_and_the_note_does_not_is_nothing() -> None:
    chosen, _ = agents(
        {
            "entities": [
                {"name": "Google", "type": "Organization"},
                {"name": "Zelda", "type": "Person", "aliases": ["Boris"]},
            ]
        }
    )

    found = chosen.extract_entities(NOTE, ME)

    assert [mention.name for mention in found.mentions] == ["Google"]


def test_an_alias_that_the_model_gives_bears_nothing_out_unless_everybody_knows_it() -> None:
    zelda = Mention(name="Anna", kind="Person", aliases=("Zelda",))
    chosen, _ = agents({"memories": [{"content": "USER works with Anna and Zelda.", "aboutEntities": ["Anna"]}]})

    assert chosen.extract_memories(NOTE, [zelda], ME)[0].content == NOTE.content


@pytest.mark.parametrize(
    "content",
    ["USER works at Google with Anna.", "On 6 May 2024, USER works at Google.", "USER, who is Danny, works with Anna."],
)
def test_what_the_note_or_its_day_or_its_user_has_is_not_sent_back(content: str) -> None:
    chosen, says = agents({"memories": [{"content": content, "aboutEntities": ["Anna"]}]})

    [only] = chosen.extract_memories(NOTE, [ANNA], ME)

    assert only.content == content
    assert len(says.asked) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024", "2024-01-01"),
        ("2024-05", "2024-05-01"),
        ("2024-05-06", "2024-05-06"),
        ("2024-05-06T10:00:00+02:00", "2024-05-06T08:00"),
        ("0001-01-01", None),
        ("next week", None),
        ("", None),
        (None, None),
    ],
)
def test_times_are_read_as_models_write_them(text: str | None, expected: str | None) -> None:
    assert parse_instant(text, NOTE) == (at(expected) if expected else None)


def test_each_draft_gets_one_decision_in_order_whatever_was_answered() -> None:
    old = [known("urn:tea", "USER drinks tea."), known("urn:anna", "Anna lives in Oslo.", "Anna")]
    new = [draft(f"USER has plan {number}.") for number in range(6)] + [draft("USER drinks tea.")]
    chosen, _ = agents(
        {
            "memories": [
                {"id": "n2", "action": "SKIP", "duplicateOf": "m1", "reason": "same"},
                {"id": "n1", "action": "INVALIDATE", "invalidates": [{"existingMemoryId": "m1", "reason": "no more"}]},
                {"id": "n1", "action": "SKIP", "duplicateOf": "m1"},
                {"id": "n3", "action": "SKIP", "duplicateOf": "m77"},
                {"id": "n4", "action": "INVALIDATE", "invalidates": [{"existingMemoryId": "m2", "reason": "?"}]},
                {"id": "n5", "action": "SKIP", "duplicateOf": "n1"},
                {"id": "n99", "action": "ADD"},
                {"id": "n7", "action": "ADD"},
            ]
        }
    )
    found = chosen.resolve_memories(new, old, NOTE)

    assert [one.draft for one in found] == new
    assert [type(one) for one in found] == [Invalidate, Skip, Add, Add, Skip, Add, Skip]
    assert isinstance(found[0], Invalidate)
    assert [(target.memory, target.reason, target.mode) for target in found[0].targets] == [
        ("urn:tea", "no more", "state-change")
    ]
    assert isinstance(found[4], Skip)
    assert found[4].duplicate is None


def test_two_that_skip_for_each_other_are_not_both_lost() -> None:
    answer = [{"id": "n1", "action": "SKIP", "duplicateOf": "n2"}, {"id": "n2", "action": "SKIP", "duplicateOf": "n1"}]
    chosen, _ = agents({"memories": answer})
    found = chosen.resolve_memories([draft("USER naps."), draft("USER sleeps.")], [known("urn:x", "USER eats.")], NOTE)

    assert [type(one) for one in found] == [Add, Add]


def test_an_ending_is_a_correction_when_the_model_or_the_note_says_so() -> None:
    ending = {"existingMemoryId": "m1", "reason": "", "isCorrection": True}
    chosen, _ = agents({"memories": [{"id": "n1", "action": "INVALIDATE", "invalidates": [ending], "reason": "typo"}]})
    [found] = chosen.resolve_memories([draft("USER drinks coffee.")], [known("urn:tea", "USER drinks tea.")], NOTE)

    assert isinstance(found, Invalidate)
    assert (found.targets[0].mode, found.targets[0].reason) == ("correction", "typo")


def test_what_costs_nothing_is_not_asked_and_what_costs_is_counted() -> None:
    chosen, says = agents({"memories": [], "entities": []})
    chosen.resolve_entities([(ANNA, [])], None, ME)
    chosen.resolve_memories([draft("USER naps.")], [], NOTE)
    assert says.asked == []
    chosen.extract_memories(NOTE, [], ME)

    assert (chosen.account().calls, chosen.account().tokens) == (1, 110)


def test_the_budget_of_a_note_is_kept() -> None:
    budget = (
        220 + len(assets.read_prompt("resolve_memories")) // 4
    )  # what two answers cost, and the third prompt without its question
    chosen, says = agents({"memories": [], "entities": []}, tokens=budget)
    chosen.extract_memories(NOTE, [], ME)
    chosen.extract_entities(NOTE, ME)

    with pytest.raises(ModelError, match=rf"more than {budget} tokens.*model\.tokens_per_note"):
        chosen.resolve_memories([draft("USER naps.")], [known("urn:x", "USER eats.")], NOTE)
    assert len(says.asked) == 2


def test_a_form_takes_what_small_models_add() -> None:
    chosen, _ = agents({"entities": [{"name": "Zed", "type": "Technology", "mood": "fine"}], "note": "hello"})

    assert [mention.name for mention in chosen.extract_entities(replace(NOTE, content="I use Zed."), ME).mentions] == [
        "Zed"
    ]
