"""The history of a subject: in the order of the times, on both time axes."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memento.errors import InputError, NotFound
from memento.model import Timeline
from memento.python import Memento
from memento.time import now


@pytest.fixture
def worker(memento: Memento) -> Memento:
    """Three employers, of which the last is true."""
    memento.note("I work at Siemens.", at="2020-01-01")
    memento.note("I work at Google.", at="2022-01-01")
    memento.note("I work at Microsoft.", at="2024-05-05")
    return memento


def contents(found: Timeline) -> list[str]:
    return [one.content for one in found.memories]


def test_the_history_of_the_user_is_told_in_the_order_it_became_true(worker: Memento) -> None:
    found = worker.timeline("me")

    assert contents(found) == ["I work at Siemens.", "I work at Google.", "I work at Microsoft."]
    assert [one.state for one in found.memories] == ["ended", "ended", "holds"]
    assert found.memories[0].successor == found.memories[1].iri
    assert "Google" in str(found.memories[0].reason)
    assert found.memories[0].invalid_at == found.memories[1].valid_at


def test_an_entity_is_found_by_its_name_and_by_its_iri(worker: Memento) -> None:
    by_name = worker.timeline("google")

    assert contents(by_name) == ["I work at Google."]
    assert worker.timeline(by_name.iris[0]).memories == by_name.memories


def test_a_memory_tells_what_it_replaced_and_what_replaced_it(worker: Memento) -> None:
    middle = worker.timeline("me").memories[1]

    assert contents(worker.timeline(middle.iri)) == contents(worker.timeline("me"))
    assert contents(worker.timeline(middle.note)) == ["I work at Google."]


def test_only_what_was_true_then_is_told_as_of_a_day(worker: Memento) -> None:
    found = worker.timeline("me", as_of="2023-01-01")

    assert contents(found) == ["I work at Google."]
    assert found.memories[0].state == "holds"


def test_what_was_learned_later_is_not_told_of_an_earlier_belief(worker: Memento) -> None:
    before = now()
    worker.note("I work at Apple.", at=before + timedelta(seconds=1))

    assert contents(worker.timeline("me"))[-1] == "I work at Apple."
    assert contents(worker.timeline("me", believed_at=before - timedelta(hours=1))) == []


def test_which_words_have_ended_is_told_of_a_memory_that_holds(memento: Memento) -> None:
    rent = memento.note("The rent is 1,250, deposit paid.", at="2024-01-10").memories[0]
    before = now()
    memento.note("Rent 1,300 from May.", at="2024-02-01")
    [told] = [one for one in memento.timeline("me").memories if one.iri == rent]

    assert (told.state, told.invalid_at) == ("holds", None)
    assert [(one.words, f"{one.at:%Y-%m-%d}", one.reason) for one in told.ended] == [
        ("The rent is 1,250", "2024-05-01", "rent: 1,300 instead of 1,250")
    ]
    assert not any(one.ended for one in memento.timeline("me", believed_at=before).memories)


def test_what_was_forgotten_is_no_longer_told(worker: Memento) -> None:
    known = worker.timeline("me").memories
    before = max(one.created_at for one in known)
    worker.forget(known[1].iri)

    assert "I work at Google." not in contents(worker.timeline("me"))
    assert "I work at Google." in contents(worker.timeline("me", believed_at=before))


def test_the_latest_are_kept_when_there_are_more_than_asked_for(worker: Memento) -> None:
    found = worker.timeline("me", limit=2)

    assert contents(found) == ["I work at Google.", "I work at Microsoft."]
    assert found.earlier == 1


def test_an_empty_memory_has_a_user_without_history(memento: Memento) -> None:
    assert memento.timeline("me").memories == ()


def test_another_namespace_is_not_told_of(worker: Memento) -> None:
    worker.note("I work at Apple.", namespace="secret")

    assert "I work at Apple." not in contents(worker.timeline("me"))
    with pytest.raises(NotFound, match="Apple"):
        worker.timeline("Apple")


@pytest.mark.parametrize("subject", ["Nobody", "urn:memento:entity:none", "urn:memento:memory:none"])
def test_an_unknown_subject_is_an_error_that_says_what_would_be_one(worker: Memento, subject: str) -> None:
    with pytest.raises(NotFound, match="namespace 'main'"):
        worker.timeline(subject)


@pytest.mark.parametrize(("subject", "limit"), [("", 5), ("me", 0), ("me", 1001)])
def test_an_impossible_question_is_refused(memento: Memento, subject: str, limit: int) -> None:
    with pytest.raises(InputError):
        memento.timeline(subject, limit=limit)


def test_the_most_mentioned_entities_come_first(memento: Memento) -> None:
    memento.note("I work at Google.")
    memento.note("Anna works at Google.")
    first, *_, last = memento.graphs.entities()

    assert (first.name, first.kind, first.memory_count) == ("Google", "Organization", 2)
    assert last.memory_count == 1
    assert [one.name for one in memento.graphs.entities(limit=1)] == ["Google"]
    with pytest.raises(InputError):
        memento.graphs.entities(limit=0)


def test_a_subject_goes_by_a_part_of_its_name_where_only_one_has_it(memento: Memento) -> None:
    memento.note("I met Anna Maria Smith in Lisbon.")
    assert contents(memento.timeline("Anna Smith")) == contents(memento.timeline("Anna Maria Smith")) != []

    memento.note("I met Anna Jones in Porto.")
    with pytest.raises(NotFound, match="Anna Jones, Anna Maria Smith"):
        memento.timeline("anna")
    with pytest.raises(NotFound, match="Smyth"):
        memento.timeline("Anna Smyth")


def test_a_history_says_what_is_claimed_since_when_and_what_ended_it(worker: Memento) -> None:
    found = worker.timeline("me")

    assert [(one.name, one.relation, one.value, one.state) for one in found.claims] == [
        ("you", "work at", "Siemens", "ended"),
        ("you", "work at", "Google", "ended"),
        ("you", "work at", "Microsoft", "holds"),
    ]
    assert [one.memory for one in found.claims] == [one.iri for one in found.memories]
    assert found.claims[0].by == found.claims[1].iri
    assert found.claims[0].invalid_at == found.claims[1].valid_at
    assert found.claims[2].words == "I work at Microsoft"
    assert found.claims[2].invalid_at is None


def test_the_claims_of_an_entity_are_also_those_whose_value_it_is(worker: Memento) -> None:
    [claim] = worker.timeline("Google").claims

    assert (claim.name, claim.entity) == ("you", worker.timeline("Google").iris[0])


def test_claims_are_those_of_the_asked_time_as_known_at_the_asked_time(worker: Memento) -> None:
    assert [one.value for one in worker.timeline("me", as_of="2023-01-01").claims] == ["Google"]
    assert worker.timeline("me", believed_at="2021-01-01").claims == ()

    [known] = worker.timeline("me", as_of="2023-01-01", believed_at=now() + timedelta(days=1)).claims
    worker.forget(known.memory)
    assert "Google" not in [one.value for one in worker.timeline("me").claims]
