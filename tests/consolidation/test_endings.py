"""What a note ends of what is known, what it does not end, and why; each ending reads back, and can be taken back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from conftest import OFFLINE, at
from memento.errors import InputError, NotFound
from memento.iris import IRI, MEM
from memento.python import Memento, open_memento
from understanding import contents

_ENDED = """
PREFIX mem: <http://purl.org/memento/>
SELECT ?claim ?words ?at ?by ?reason WHERE {
  GRAPH ?graph {
    ?claim a mem:Claim ; mem:words ?words ; mem:invalidAt ?at .
    OPTIONAL {
      ?end mem:invalidated ?claim ; mem:invalidator ?newer ; mem:reason ?reason .
      ?newer mem:words ?by ; mem:validAt ?begun .
      FILTER (?begun <= ?at)
    }
  }
}
ORDER BY ?at ?words
"""


@dataclass(frozen=True)
class Over:
    """The words of a claim that is over, since when, and the words that ended it ("" if they closed themselves)."""

    words: str
    since: str
    by: str
    reason: str
    iri: IRI


def ended(memento: Memento) -> list[Over]:
    body, _ = memento.graphs.query_bytes(_ENDED, accept="application/sparql-results+json")
    rows = msgspec.json.decode(body)["results"]["bindings"]
    return [
        Over(
            row["words"]["value"],
            row["at"]["value"][:10],
            row.get("by", {}).get("value", ""),
            row.get("reason", {}).get("value", ""),
            IRI(row["claim"]["value"]),
        )
        for row in rows
    ]


def tell(memento: Memento, *notes: str) -> list[str]:
    """Tell notes a month apart, and return the words that are over, with those that ended them."""
    for month, text in enumerate(notes, start=1):
        memento.note(text, at=f"2024-{month:02}-01")
    assert memento.admin.check() == ()
    return [f"{one.words} ← {one.by}" for one in ended(memento)]


@pytest.mark.parametrize(
    ("before", "after", "relation", "value"),
    [
        ("Our caterer is Rosmarin.", "Switched from Rosmarin to Tafelhaus.", "caterer", "Tafelhaus"),
        ("Our caterer is Rosmarin.", "Rosmarin was replaced by Tafelhaus.", "caterer", "Tafelhaus"),
        ("My fee is 60.", "fee 60 -> 70 from May", "fee", "70"),
        ("Our printer is a Brother.", "Printer dead, replaced by a Canon.", "printer", "a Canon"),
    ],
)
def test_what_replaces_a_value_becomes_what_that_one_was(
    memento: Memento, before: str, after: str, relation: str, value: str
) -> None:
    assert len(tell(memento, before, after)) == 1
    [newest] = memento.list()
    claims = memento.query(
        "PREFIX mem: <http://purl.org/memento/> SELECT ?relation ?value "
        "{ ?claim mem:relationName ?relation ; mem:valueText ?value FILTER NOT EXISTS { ?claim mem:invalidAt ?end } }"
    )

    assert newest.content == after
    assert (relation, value) in [tuple(row) for row in claims]


# What ends ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "over"),
    [
        ("I work at Acme.", "I quit.", "I work at Acme ← I quit"),
        ("I work at Acme.", "I left Acme.", "I work at Acme ← I left Acme"),
        ("I work at Acme.", "I work at Beta now.", "I work at Acme ← I work at Beta now"),
        ("I work at Acme.", "I joined Beta.", "I work at Acme ← I joined Beta"),
        ("I live in Ghent.", "I moved to Faro.", "I live in Ghent ← I moved to Faro"),
        ("We use Redis.", "We no longer use Redis.", "We use Redis ← We no longer use Redis"),
        ("We use Oban.", "We moved from Oban to RabbitMQ.", "We use Oban ← We moved from Oban to RabbitMQ"),
        (
            "Our error tracker is GlitchTip.",
            "We dropped GlitchTip for Sentry.",
            "Our error tracker is GlitchTip ← We dropped GlitchTip for Sentry",
        ),
        ("We use Netflix.", "We ditched Netflix.", "We use Netflix ← We ditched Netflix"),
        ("I have a Skoda.", "I sold the Skoda.", "I have a Skoda ← I sold the Skoda"),
        ("My boss is Ana Ruiz.", "My new boss is Bo Lind.", "My boss is Ana Ruiz ← My new boss is Bo Lind"),
        ("The rent is 1,250.", "The rent went up to 1,300.", "The rent is 1,250 ← The rent went up to 1,300"),
        (
            "Production runs on Heroku.",
            "Production is on Hetzner now.",
            "Production runs on Heroku ← Production is on Hetzner now",
        ),
        ("Maria works at Acme.", "Maria quit.", "Maria works at Acme ← Maria quit"),
        ("My brother works at Acme.", "My brother left Acme.", "My brother works at Acme ← My brother left Acme"),
        ("I'm a nurse at Acme.", "I don't work at Acme anymore.", "I'm a nurse at Acme ← I don't work at Acme anymore"),
        ("Ines leads Osprey.", "Osprey is led by Milo now.", "Ines leads Osprey ← Osprey is led by Milo now"),
        (
            "Production runs on Postgres 15.",
            "Production runs on Postgres 17 now.",
            "Production runs on Postgres 15 ← Production runs on Postgres 17 now",
        ),
        (
            "My favourite colour is blue.",
            "My favourite colour is red these days.",
            "My favourite colour is blue ← My favourite colour is red these days",
        ),
        (
            "Grandma Ruth lives in Ghent.",
            "Grandma Ruth passed away.",
            "Grandma Ruth lives in Ghent ← Grandma Ruth passed away",
        ),
        ("I'm on antibiotics.", "I'm off the antibiotics.", "I'm on antibiotics ← I'm off the antibiotics"),
        ("I play the cello.", "I used to play the cello.", "I play the cello ← I used to play the cello"),
        ("We use Jira.", "Switched from Jira to Linear, it's faster.", "We use Jira ← Switched from Jira to Linear"),
        (
            "Hamid is from Shiraz.",
            "Hamid is from Isfahan, not Shiraz.",
            "Hamid is from Shiraz ← Hamid is from Isfahan, not Shiraz",
        ),
        ("I'm reading Dune.", "I finished Dune.", "I'm reading Dune ← I finished Dune"),
        ("My manager is Bea.", "I report to Olaf now.", "My manager is Bea ← I report to Olaf now"),
    ],
)
def test_what_a_note_says_is_over_ends_and_names_what_ended_it(
    memento: Memento, before: str, after: str, over: str
) -> None:
    found = tell(memento, before, after)

    assert over in found
    assert [one.since for one in ended(memento) if one.by][-1] == "2024-02-01"
    assert contents(memento) == {after}


def test_one_claim_of_a_memory_ends_and_the_rest_of_it_stays(memento: Memento) -> None:
    old = memento.note("The rent is 1,250, deposit paid.", at="2024-01-10")
    new = memento.note("Rent 1,300 from May.", at="2024-02-01")
    [over] = ended(memento)

    assert (over.words, over.since, over.by) == ("The rent is 1,250", "2024-05-01", "Rent 1,300 from May")
    assert over.reason == "rent: 1,300 instead of 1,250"
    assert new.invalidated == ()
    assert MEM.invalidAt not in dict(memento.get(old.memories[0]).properties)
    [recalled] = [
        one for one in memento.recall("Is the deposit paid?", gate=False).memories if one.iri == old.memories[0]
    ]
    [part] = recalled.ended
    assert (part.words, part.at, part.reason) == ("The rent is 1,250", at("2024-05-01"), over.reason)
    assert memento.admin.check() == ()


def test_what_was_not_known_then_is_not_told_of_an_earlier_belief(tmp_path: Path) -> None:
    moment = [at("2024-01-10")]
    with open_memento(tmp_path, clock=lambda: moment[0], configured=OFFLINE) as memento:
        assert isinstance(memento, Memento)
        [rent] = memento.note("The rent is 1,250, deposit paid.").memories
        moment[0] = at("2024-02-01")
        memento.note("I misread it, the rent is 1,205.")

        def tell_ended(believed_at: str | None) -> list[str]:
            found = memento.recall("How much is the rent?", believed_at=believed_at, gate=False).memories
            return [part.words for one in found if one.iri == rent for part in one.ended]

        assert tell_ended("2024-01-20") == []
        assert tell_ended(None) == ["The rent is 1,250"]
        assert [one.words for one in ended(memento)] == ["The rent is 1,250"]


def test_a_memory_is_past_once_the_last_of_its_claims_is(memento: Memento) -> None:
    old = memento.note("My boss is Ana Ruiz. I work at Acme.", at="2024-01-01")
    first = memento.note("My boss is Bo Lind.", at="2024-02-01")
    last = memento.note("I work at Beta.", at="2024-03-01")

    assert first.invalidated == ()
    assert last.invalidated == old.memories
    assert dict(memento.get(old.memories[0]).properties)[MEM.invalidAt][:10] == "2024-03-01"
    assert memento.admin.check() == ()


def test_who_a_description_is_about_may_be_told_in_the_sentence_before(memento: Memento) -> None:
    found = tell(
        memento,
        "My boss is Aldo Bruni.",
        "Joost's boss is Els Kok.",
        "Joost has trouble at work. The new manager is Douwe Postma.",
    )

    assert found == ["Joost's boss is Els Kok ← The new manager is Douwe Postma"]


# What does not end, and why -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "notes",
    [
        ("Bought a Koga for 350.", "Sold the Canyon for 200."),
        ("I met Ana in Oslo.", "I met Ana in Rome."),
        ("I visited Porto.", "I visited Faro."),
        ("Lena won the regatta.", "Joost won the regatta."),
        ("My son was born in Ghent.", "My daughter was born in Faro."),
    ],
)
def test_an_event_never_ends(memento: Memento, notes: tuple[str, ...]) -> None:
    assert tell(memento, *notes) == []
    assert contents(memento) == set(notes)


def test_what_one_sells_one_has_no_longer_but_has_bought_once(memento: Memento) -> None:
    """The purchase happened, and stays so; its words are over only as far as they say what one has."""
    tell(memento, "Bought a Koga for 350.", "Sold the Koga for 200.")
    events = [one for one in memento.list(limit=10) if one.content == "Bought a Koga for 350."]

    assert len(events) == 1


@pytest.mark.parametrize(
    "after",
    [
        "I want to move to Porto.",
        "We plan to move to Porto.",
        "I might move to Porto.",
        "If I moved to Porto, I would row.",
        "They say I moved to Porto.",
        "I dreamt that I moved to Porto.",
        "Should I move to Porto?",
        "I'd love to live in Porto.",
    ],
)
def test_a_plan_a_condition_and_a_rumour_end_nothing(memento: Memento, after: str) -> None:
    assert tell(memento, "I live in Faro.", after) == []
    assert "I live in Faro." in contents(memento)


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ("I work at Acme.", "Lena quit."),
        ("I work at Acme.", "My brother quit."),
        ("I work at Acme.", "My brother works at Beta now."),
        ("I use Netflix.", "My brother ditched Netflix."),
        ("I use Oban.", "My sister moved from Oban to RabbitMQ."),
        ("I live in Faro.", "Maria moved to Porto."),
        ("I have a Koga.", "Lena sold the Koga."),
        ("My boss is Aldo Bruni.", "Joost has trouble at work. The new manager is Douwe Postma."),
        ("Maria Silva lives in Faro.", "Maria Costa moved to Porto."),
        ("My brother works at Acme.", "My sister left Acme."),
    ],
)
def test_somebody_elses_change_ends_nothing(memento: Memento, mine: str, theirs: str) -> None:
    assert tell(memento, mine, theirs) == []
    assert mine in contents(memento)


@pytest.mark.parametrize(
    "notes",
    [
        ("My phone number is 555 0100.", "My other phone number is 555 0200."),
        ("We speak Dutch at home.", "We also speak Frisian at home."),
        ("We buy flour from Molen.", "We buy flour from Zaan."),
        ("I have a cat.", "I have a dog."),
        ("I often wear a fedora.", "Beanies are my go-to."),
        ("My friend is Ana.", "My friend is Bo."),
        ("I work at Acme.", "I also work at Beta."),
    ],
)
def test_several_at_once_stay(memento: Memento, notes: tuple[str, str]) -> None:
    assert tell(memento, *notes) == []
    assert contents(memento) == set(notes)


def test_nothing_in_one_note_ends_another_piece_of_it(memento: Memento) -> None:
    words = " ".join(f"On day {day} the crew of the Alba scrubbed the deck and mended net {day}." for day in range(12))
    note = f"I work at Acme. I quit. I work at Beta now.\n\n{words}\n\nI work at Gamma now. Lena is my boss.\n\nBo is my boss."
    noted = memento.note(note)

    assert len(noted.memories) > 1
    assert ended(memento) == []
    assert memento.admin.check() == ()


def test_a_denial_of_another_value_ends_nothing(memento: Memento) -> None:
    assert tell(memento, "I live in Faro.", "I do not live in Porto.") == []


# Corrections, temporary states, returns -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("The dentist is on the 13th.", "Not the 13th: the dentist is on the 14th."),
        ("My desk is 2.05.", "I got that wrong: my desk is 2.06."),
        ("My boss is Ana Ruiz.", "I misread it, my boss is Ana Ruis."),
    ],
)
def test_a_correction_holds_for_every_time_for_which_the_mistake_was_told(
    memento: Memento, wrong: str, right: str
) -> None:
    memento.note(wrong, at="2024-01-01")
    noted = memento.note(right, at="2024-03-01")
    [over] = ended(memento)

    assert over.since == "2024-01-01"
    assert dict(memento.get(noted.memories[0]).properties)[MEM.validAt][:10] == "2024-01-01"
    assert contents(memento) == {right}
    assert memento.admin.check() == ()


def test_a_temporary_state_leaves_the_standing_one_and_closes_by_itself(memento: Memento) -> None:
    tell(memento, "I live in Ghent.", "I live in Faro until 20 April.")
    [closed] = ended(memento)

    assert (closed.words, closed.since, closed.by) == ("I live in Faro until 20 April", "2024-04-20", "")
    assert contents(memento) == {"I live in Ghent."}


def test_a_return_ends_what_stood_between(memento: Memento) -> None:
    found = tell(memento, "I live in Ghent.", "I live in Faro until 20 April.", "Back in Ghent.")

    assert found == ["I live in Faro until 20 April ← Back in Ghent"]
    assert [one.since for one in ended(memento)] == ["2024-03-01"]
    assert contents(memento) == {"I live in Ghent.", "Back in Ghent."}


def test_on_and_off_and_on_again_holds_again(memento: Memento) -> None:
    found = tell(memento, "We use Redis.", "We no longer use Redis.", "We use Redis again.")

    assert found == ["We use Redis ← We no longer use Redis", "We no longer use Redis ← We use Redis again"]
    assert "We use Redis again." in contents(memento)


# What is told late ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (1, 2, 0), (2, 1, 0), (0, 2, 1)], ids=str)
def test_a_history_is_the_same_in_whatever_order_it_is_told(memento: Memento, order: tuple[int, ...]) -> None:
    cities = ("Rome", "Oslo", "Bern")
    for year in order:
        memento.note(f"I live in {cities[year]}.", at=f"{2020 + year}-01-01")

    held = [(one.words, one.since) for one in ended(memento)]
    assert held == [("I live in Rome", "2021-01-01"), ("I live in Oslo", "2022-01-01")]
    assert contents(memento) == {"I live in Bern."}
    assert memento.admin.check() == ()


def test_an_old_change_told_late_is_over_since_the_belief_it_precedes(memento: Memento) -> None:
    memento.note("I live in Berlin.", at="2024-01-01")
    memento.note("In 2015 I moved to Paris.", at="2024-02-01")

    [over] = ended(memento)
    assert over.since == "2024-01-01"
    assert over.by == "I live in Berlin"
    assert contents(memento) == {"I live in Berlin."}


def test_the_end_of_a_belief_moves_when_something_turns_out_to_have_come_between(memento: Memento) -> None:
    memento.note("We use Redis.", at="2024-01-01")
    memento.note("We switched from Redis to Valkey.", at="2024-06-01")
    memento.note("We no longer use Redis.", at="2024-03-01")

    assert [(one.words, one.since) for one in ended(memento)] == [("We use Redis", "2024-03-01")]
    assert memento.admin.check() == ()


def test_what_is_yet_to_come_ends_the_present_only_then(memento: Memento) -> None:
    memento.note("I live in Rome.", at="2024-01-10")
    memento.note("I will move to Berlin next month.", at="2024-02-09")

    assert [(one.words, one.since) for one in ended(memento)] == [("I live in Rome", "2024-03-09")]


# By hand --------------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def flat(memento: Memento) -> Memento:
    memento.note("The rent is 1,250, deposit paid. My landlord is Aldo Bruni.", at="2024-01-10")
    memento.note("Rent 1,300 from May.", at="2024-02-01")
    return memento


def find_claim(memento: Memento, words: str) -> IRI:
    body, _ = memento.graphs.query_bytes(
        f'SELECT ?c {{ GRAPH ?g {{ ?c <{MEM.words}> "{words}" }} }}', accept="application/sparql-results+json"
    )
    [row] = msgspec.json.decode(body)["results"]["bindings"]
    return IRI(row["c"]["value"])


@pytest.mark.parametrize("by", ["claim", "invalidation", "memory"])
def test_the_end_of_a_claim_is_taken_back(flat: Memento, by: str) -> None:
    [over] = ended(flat)
    invalidation = next(s for s, name in flat.get(over.iri).pointed_at_by if name == MEM.invalidated)
    memory = dict(flat.get(over.iri).properties)[MEM.statedBy]
    done = flat.undo({"claim": over.iri, "invalidation": invalidation, "memory": memory}[by])

    assert (done.restored, done.invalidation) == (memory, invalidation)
    assert ended(flat) == []
    assert flat.admin.check() == ()
    with pytest.raises(NotFound):
        flat.undo(over.iri)


def test_with_a_memory_all_comes_back_that_the_same_note_had_ended(memento: Memento) -> None:
    old = memento.note("My boss is Ana Ruiz. I work at Acme.", at="2024-01-01").memories[0]
    memento.note("My boss is Bo Lind. I work at Beta.", at="2024-02-01")
    assert len(ended(memento)) == 2
    memento.undo(old)

    assert ended(memento) == []
    assert MEM.invalidAt not in dict(memento.get(old).properties)
    assert memento.admin.check() == ()


def test_with_one_claim_the_memory_comes_back_that_had_ended_with_it(memento: Memento) -> None:
    old = memento.note("My boss is Ana Ruiz. I work at Acme.", at="2024-01-01").memories[0]
    memento.note("My boss is Bo Lind.", at="2024-02-01")
    memento.note("I work at Beta.", at="2024-03-01")
    first, _ = ended(memento)
    memento.undo(first.iri)

    assert [one.words for one in ended(memento)] == ["I work at Acme"]
    assert MEM.invalidAt not in dict(memento.get(old).properties)
    assert memento.admin.check() == ()


def test_one_claim_is_corrected_and_the_rest_of_its_memory_stays(memento: Memento) -> None:
    memento.note("My landlord is Aldo Bruni. I work at Acme.", at="2024-01-10")
    claim = find_claim(memento, "My landlord is Aldo Bruni")
    done = memento.correct(claim, "My landlord is Aldo Bruno.")
    [wrong] = ended(memento)

    assert (wrong.since, wrong.by) == ("2024-01-10", "My landlord is Aldo Bruno")
    assert done.invalidated == ()
    assert dict(memento.get(done.memories[0]).properties)[MEM.validAt][:10] == "2024-01-10"
    assert memento.admin.check() == ()
    again = memento.correct(claim, "My landlord is Alda Bruno.")  # an old claim leads to what took its place
    assert again.invalidated == done.memories
    assert memento.admin.check() == ()
    with pytest.raises(InputError, match="no statement is found"):
        memento.correct(find_claim(memento, "I work at Acme"), "hm")
    with pytest.raises(NotFound):
        memento.correct("urn:memento:claim:none", "My landlord is Bo.")


def test_a_claim_is_forgotten_alone_and_comes_back(flat: Memento) -> None:
    claim = find_claim(flat, "My landlord is Aldo Bruni")
    memory = dict(flat.get(claim).properties)[MEM.statedBy]
    assert flat.forget(claim).claims == (claim,)
    flat.note("My landlord is Bo Lind.", at="2024-03-01")

    assert claim not in [one.iri for one in ended(flat)]  # nobody believes it, so nothing has to end it
    assert memory in [one.iri for one in flat.list()]
    with pytest.raises(InputError, match=f"erase the memory <{memory}>"):
        flat.forget(claim, erase=True)
    assert flat.review.unforget(claim).contents == {claim: "My landlord is Aldo Bruni"}
    with pytest.raises(NotFound):
        flat.review.unforget(claim)
    assert flat.admin.check() == ()


@pytest.mark.parametrize("which", ["older", "newer"])
def test_erasing_one_side_of_an_ending_leaves_no_half_of_it(flat: Memento, which: str) -> None:
    newer, older = flat.list()
    gone = older if which == "older" else newer
    flat.forget(gone.iri, erase=True)
    body, _ = flat.graphs.query_bytes("SELECT ?s ?p ?o { GRAPH ?g { ?s ?p ?o } }", accept="text/csv")

    assert gone.content.encode() not in body
    assert b"urn:memento:invalidation:" not in body
    assert [(one.words, one.by) for one in ended(flat)] == ([] if which == "older" else [("The rent is 1,250", "")])
    assert flat.admin.check() == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("My rent is 810.", "My rent went up to 845."),
        ("Flour comes from Aldous Mill.", "Flour comes from Weir Mill now."),
        ("The fare was 47 euros.", "The fare was 41 euros, not 47, I got that wrong."),
        ("I take the 8:15 train.", "I take the 8:40 train now."),
        ("The shop closes at six.", "From June the shop closes at seven."),
        ("I work at Acme.", "I started at Beta on Monday."),
        ("My doctor is Dr Lee.", "Dr Kaur is my new doctor."),
        ("Anna lives in Rome.", "Anna moved to Milan."),
        ("My favourite colour is blue.", "My favourite colour is green now."),
        ("The meeting is on Tuesday.", "The meeting was moved to Thursday."),
        ("I drink coffee.", "I stopped drinking coffee."),
        ("I have a dog called Rex.", "Rex died last week."),
        ("Our office is in Leeds.", "Our office moved to York."),
        ("Tom is the captain.", "Sara is captain now."),
        ("My phone number is 555-1234.", "My new number is 555-9876."),
        ("I'm allergic to nuts.", "I'm not allergic to nuts any more."),
    ],
)
def test_a_change_in_plain_words_ends_what_was_so(memento: Memento, before: str, after: str) -> None:
    memento.note(before, at="2025-01-05")
    assert memento.note(after, at="2025-06-05").invalidated


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I take the 8:15 train.", "I took the bus today."),
        ("Tom is the captain.", "Sara is a good captain."),
        ("My brother lives in Rome.", "I moved to Milan."),
        ("I have a dog called Rex.", "I have a cat called Mia."),
        ("Rent is 800.", "Anna's rent is 900."),
        ("I drink coffee.", "I drank tea today."),
        ("I play chess on Mondays.", "I play tennis on Tuesdays."),
        ("The shop closes at six.", "The museum closes at eight."),
        ("I'm allergic to nuts.", "I'm allergic to milk."),
        ("We use Slack.", "We use Jira."),
        ("I left the keys at work.", "I left early."),
        ("I work at Acme.", "I left the house at eight."),
    ],
)
def test_what_may_stand_beside_it_ends_nothing(memento: Memento, before: str, after: str) -> None:
    memento.note(before, at="2025-01-05")
    assert not memento.note(after, at="2025-06-05").invalidated
