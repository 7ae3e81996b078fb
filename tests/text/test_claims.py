"""Sentences are read as claims: whose, which relation, which value, in which tense and mood, denied or not."""

from __future__ import annotations

import time

import pytest

from memento.text.claims import LONGEST, Assertion, read_claims, read_question

PRESENT, PAST, FUTURE = "present", "past", "future"


def tell(claim: Assertion) -> tuple[str, str, str, str, str, bool]:
    return claim.owner, claim.relation, claim.value, claim.tense, claim.mood, claim.polarity


@pytest.mark.parametrize(
    ("sentence", "claim"),
    [
        ("My landlord is Mr Okafor.", ("USER", "landlord", "Mr Okafor", PRESENT, "fact", True)),
        ("Dr Lindqvist is our vet.", ("USER", "vet", "Dr Lindqvist", PRESENT, "fact", True)),
        ("Our vet is Dr Lindqvist.", ("USER", "vet", "Dr Lindqvist", PRESENT, "fact", True)),
        (
            "Priya's brother works at Halden Foods.",
            ("Priya's brother", "work at", "Halden Foods", PRESENT, "fact", True),
        ),
        ("I moved to Tampere last spring.", ("USER", "move to", "Tampere", PAST, "fact", True)),
        ("We no longer use Jenkins.", ("USER", "use", "Jenkins", PRESENT, "fact", False)),
        ("I might move to Leeds.", ("USER", "move to", "Leeds", PRESENT, "possible", True)),
        ("I want to learn Welsh.", ("USER", "learn", "Welsh", PRESENT, "plan", True)),
        ("Karim lives in Turin.", ("Karim", "live in", "Turin", PRESENT, "fact", True)),
        ("My rent is 940 euros.", ("USER", "rent", "940 euros", PRESENT, "fact", True)),
        ("I have never eaten oysters.", ("USER", "eat", "oysters", PRESENT, "fact", False)),
        ("Locker: 27", ("USER", "locker", "27", PRESENT, "fact", True)),
        ("I used to live in Graz.", ("USER", "live in", "Graz", PAST, "past", True)),
        ("My sister Olga teaches chemistry.", ("Olga", "teach", "chemistry", PRESENT, "fact", True)),
        ("My brother Ilya teaches chess.", ("USER", "brother", "Ilya", PRESENT, "fact", True)),
        ("My brother Ilya teaches chess.", ("Ilya", "teach", "chess", PRESENT, "fact", True)),
        ("My aunt Ingrid sells boats.", ("Ingrid", "sell", "boats", PRESENT, "fact", True)),
        ("My cousin Peter drives a tram in Lyon.", ("Peter", "drive in", "Lyon", PRESENT, "fact", True)),
        ("Our neighbour Karim repairs bikes.", ("Karim", "repair", "bikes", PRESENT, "fact", True)),
        ("Lena's uncle Kwame coaches handball.", ("Lena", "uncle", "Kwame", PRESENT, "fact", True)),
        ("Saoirse's flatmate Niamh plays the harp.", ("Saoirse", "flatmate", "Niamh", PRESENT, "fact", True)),
        ("My brother-in-law Casimir sells insurance.", ("USER", "brother-in-law", "Casimir", PRESENT, "fact", True)),
        ("Our landlord Mr Oyelaran lives upstairs.", ("USER", "landlord", "Mr Oyelaran", PRESENT, "fact", True)),
        (
            "Mina Sol has taken office as Prime Minister of Norland.",
            ("Norland", "prime minister", "Mina Sol", PRESENT, "fact", True),
        ),
        (
            "Prime Minister of the Westlands: Tom Reed starts the job.",
            ("Westlands", "prime minister", "Tom Reed", PRESENT, "fact", True),
        ),
        (
            "Mina Sol, the Prime Minister of Norland, spoke about trade.",
            ("Norland", "prime minister", "Mina Sol", PRESENT, "fact", True),
        ),
        (
            "The rowing club elected Tom Reed treasurer.",
            ("rowing club", "treasurer", "Tom Reed", PRESENT, "fact", True),
        ),
        (
            "Mina Sol has been appointed treasurer of the rowing club.",
            ("rowing club", "treasurer", "Mina Sol", PRESENT, "fact", True),
        ),
        (
            "Orbital has named Grace Ito chief executive officer.",
            ("Orbital", "ceo", "Grace Ito", PRESENT, "fact", True),
        ),
        ("Lumen has hired Tom Reed.", ("Tom Reed", "work at", "Lumen", PRESENT, "fact", True)),
        ("Tom Reed was hired by Lumen.", ("Tom Reed", "work at", "Lumen", PRESENT, "fact", True)),
        ("Ravi is no longer vegetarian.", ("Ravi", "be", "vegetarian", PRESENT, "fact", False)),
        ("The plumber is no longer Delroy.", ("USER", "plumber", "Delroy", PRESENT, "fact", False)),
        ("Nina's allergic to nuts.", ("Nina", "be allergic to", "nuts", PRESENT, "fact", True)),
        ("We dropped GlitchTip for Sentry.", ("USER", "have", "Sentry", PRESENT, "fact", True)),
        ("Hedvig fixes bicycles in a shed.", ("Hedvig", "fix", "bicycles", PRESENT, "fact", True)),
        ("Bongi studies law.", ("Bongi", "study", "law", PRESENT, "fact", True)),
        ("Ilya bakes bread for a living.", ("Ilya", "bake", "bread", PRESENT, "fact", True)),
        ("Farouk Okonkwo has goldfish.", ("Farouk Okonkwo", "have", "goldfish", PRESENT, "fact", True)),
        ("On Sundays Bartek goes to fencing.", ("Bartek", "go to", "fencing", PRESENT, "fact", True)),
        ("I don't have a car.", ("USER", "have", "a car", PRESENT, "fact", False)),
        ("We're moving to Porto in June.", ("USER", "move to", "Porto", FUTURE, "plan", True)),
        ("The captain of the team is Mei Tan.", ("team", "captain", "Mei Tan", PRESENT, "fact", True)),
        ("I was born in Lima.", ("USER", "bear in", "Lima", PAST, "fact", True)),
        ("Petra works at Vega until March.", ("Petra", "work at", "Vega", PRESENT, "fact", True)),
        ("I switched from Vim to Helix.", ("USER", "switch to", "Helix", PAST, "fact", True)),
        ("My email is ana@example.org.", ("USER", "email", "ana@example.org", PRESENT, "fact", True)),
        ("The CEO of Lumen is Ana Ruiz.", ("Lumen", "ceo", "Ana Ruiz", PRESENT, "fact", True)),
        ("Karim and I live in Malaga.", ("USER", "live in", "Malaga", PRESENT, "fact", True)),
        ("Helga didn't buy the piano.", ("Helga", "buy", "the piano", PAST, "fact", False)),
        ("Joost will join Meridian in May.", ("Joost", "join", "Meridian", FUTURE, "plan", True)),
        ("I work for a bakery.", ("USER", "work at", "a bakery", PRESENT, "fact", True)),
        ("My dog is called Biscuit.", ("USER", "dog", "Biscuit", PRESENT, "fact", True)),
        ("We have a new dentist, Dr Lenz.", ("USER", "dentist", "Dr Lenz", PRESENT, "fact", True)),
        ("The standup was moved to 9:40.", ("USER", "standup", "9:40", PRESENT, "fact", True)),
        ("Nadia married Tom in 2019.", ("Nadia", "partner", "Tom", PAST, "fact", True)),
        ("Ilse got married to Fedor in May, lovely soup.", ("Ilse", "partner", "Fedor", PAST, "fact", True)),
        ("Optician: Dr Amsel. She is kind.", ("USER", "optician", "Dr Amsel", PRESENT, "fact", True)),
        ("Nadia is a vet at Harlow & Sons.", ("Nadia", "work at", "Harlow & Sons", PRESENT, "fact", True)),
        ("Nadia is a vet at Harlow & Sons.", ("Nadia", "be", "vet", PRESENT, "fact", True)),
        ("My brother-in-law is Karl.", ("USER", "brother-in-law", "Karl", PRESENT, "fact", True)),
        ("My mother-in-law prefers tea.", ("USER's mother-in-law", "prefer", "tea", PRESENT, "fact", True)),
        ("Rent for the flat is 900.", ("USER", "rent", "900", PRESENT, "fact", True)),
        ("The rent for the studio went up to 750.", ("USER", "rent", "750", PRESENT, "fact", True)),
        ("We switched banks to ING.", ("USER", "bank", "ING", PRESENT, "fact", True)),
        ("I keep my bike in the cellar.", ("USER", "bike", "the cellar", PRESENT, "fact", True)),
        ("The crate 3 is in hall 4.", ("USER", "crate 3", "hall 4", PRESENT, "fact", True)),
        ("Nadia is married to Tom.", ("Nadia", "partner", "Tom", PRESENT, "fact", True)),
        ("Roofer: Bo Lind, 80 an hour. Gutters next.", ("USER", "roofer", "Bo Lind", PRESENT, "fact", True)),
        ("The council raised the fee to 70.", ("USER", "fee", "70", PRESENT, "fact", True)),
        ("Harvest -> Toggl since May", ("USER", "change to", "Toggl", PRESENT, "fact", True)),
        ("Kettle dead, replaced by a Bosch.", ("USER", "replace", "a Bosch", PAST, "fact", True)),
    ],
)
def test_a_sentence_states_a_claim(sentence: str, claim: tuple[str, str, str, str, str, bool]) -> None:
    assert claim in [tell(one) for one in read_claims(sentence)]


@pytest.mark.parametrize(
    "text", ["Where is my passport?", "Call the plumber tomorrow.", "Hello!", "", "[photo of a red kite]"]
)
def test_a_question_a_command_and_a_greeting_state_nothing(text: str) -> None:
    assert read_claims(text) == []


@pytest.mark.parametrize("text", ["Bo quoted 6,100, plus tax.", "Fee: see the leaflet. The council raised it."])
def test_a_measure_or_an_explanation_is_nobodys_property(text: str) -> None:
    assert [tell(one) for one in read_claims(text) if one.is_property or one.relation.endswith(" in")] == []


def test_the_words_of_a_claim_are_a_span_of_its_passage() -> None:
    text = "- Desk: 2.05\n- My boss is Ana Ruiz. She lives in Gent.\n\nWe use Redis, and Karim leads the team."

    spans = [text[one.start : one.end] for one in read_claims(text)]

    assert "My boss is Ana Ruiz" in spans
    assert all(span.strip() and span in text for span in spans)


def test_an_event_leaves_a_state_and_ends_one() -> None:
    bought, has = read_claims("I bought a canoe.")
    [sold] = read_claims("I sold the canoe.")
    [wrecked] = read_claims("Wrote off the Fiesta.")

    assert (bought.is_event, has.is_event, has.relation, has.value) == (True, False, "have", "a canoe")
    assert (sold.ends, wrecked.ends) == ((("*", "the canoe"),), (("*", "the Fiesta"),))


def test_a_pronoun_means_whom_the_passage_has_named_and_else_nobody() -> None:
    named = read_claims("My uncle is Piet. He lives in Delft.")
    unnamed = read_claims("He lives in Delft.")

    assert ("Piet", "live in", "Delft") in [(one.owner, one.relation, one.value) for one in named]
    assert unnamed == []


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Who is my boss?", ("USER", "boss")),
        ("Where does Karim live?", ("Karim", "live")),
        ("Who is Anna married to?", ("Anna", "partner")),
        ("Who's Anna Costa?", ("Anna Costa", "be")),
        ("Who's my vet?", ("USER", "vet")),
        ("What's the name of my dog?", ("USER", "dog")),
        ("Who is the captain of the team?", ("team", "captain")),
    ],
)
def test_a_question_asks_for_a_relation_of_somebody(question: str, asked: tuple[str, str]) -> None:
    assert asked in [(one.owner, one.relation) for one in read_question(question).clauses]


def test_a_name_that_the_tagger_takes_for_a_word_is_read_where_it_is_known() -> None:
    clauses = read_question("Where does Ilya live?", ["ilya"]).clauses
    assert ("Ilya", "live") in [(one.owner, one.relation) for one in clauses]
    assert read_question("Where does Ilya live near Anna?", ["Ilya", "Anna"]).clauses[0].owner == "Ilya"


@pytest.mark.parametrize("words", ["that he said ", "not ", "who is ", "my boss of ", "and Ana ", "a: b\n", "12 May "])
def test_a_text_twice_as_long_takes_about_twice_as_long(words: str) -> None:
    def measure(length: int) -> float:
        text = words * (length // len(words))
        began = time.process_time()
        read_claims(text)
        read_question(text)
        return time.process_time() - began

    measure(500)
    assert measure(12_000) < 12 * measure(3_000)


def test_a_sentence_longer_than_any_that_people_write_states_nothing() -> None:
    assert read_claims("I work at Acme and Ana lives in Rome " + "and so on " * LONGEST) == []


def test_what_is_his_is_nobodys_where_nobody_was_named() -> None:
    assert read_claims("His boss is Douwe Postma.") == []
    assert [one.owner for one in read_claims("His boss is Douwe Postma.", keeps_open=True)] == [""]
    assert [one.owner for one in read_claims("Karim lives in Turin. His boss is Douwe Postma.")] == ["Karim", "Karim"]


@pytest.mark.parametrize(
    ("question", "steps"),
    [
        ("What is the name of Ana Costa's husband?", 1),
        ("What is Ana's brother called?", 1),
        ("Where does the brother of Ana work?", 2),
    ],
)
def test_to_ask_for_a_name_is_no_step(question: str, steps: int) -> None:
    assert read_question(question).steps == steps


@pytest.mark.parametrize(
    ("sentence", "owner", "relation", "value"),
    [
        ("Karen's my charge nurse.", "USER", "charge nurse", "Karen"),
        ("Ilse's a nurse.", "Ilse", "be", "a nurse"),
        ("Otto’s in hospital.", "Otto", "be in", "hospital"),
        ("Rent's 900.", "USER", "rent", "900"),
        ("My brother's at Arup now.", "USER's brother", "be at", "Arup"),
    ],
)
def test_a_contracted_is_behind_a_name_is_no_possessor(sentence: str, owner: str, relation: str, value: str) -> None:
    [claim] = read_claims(sentence)
    assert (claim.owner, claim.relation, claim.value) == (owner, relation, value)
    assert sentence[claim.start : claim.end] == sentence.rstrip(".")


def test_who_is_moving_has_not_moved() -> None:
    assert {claim.mood for claim in read_claims("Otto's moving to Ghent.")} == {"plan"}


def test_maybe_states_no_fact() -> None:
    assert {claim.mood for claim in read_claims("Maybe getting a cat.")} == {"possible"}
    assert {claim.mood for claim in read_claims("Getting a cat.")} == {"fact"}


@pytest.mark.parametrize(
    ("sentence", "claim"),
    [
        ("Got a new job at Harlow & Sons.", ("USER", "work at", "Harlow & Sons")),
        ("They raised my salary to 52k.", ("USER", "salary", "52k")),
        ("New number: 0171 555 01 20.", ("USER", "phone", "0171 555 01 20")),
        ("Dentist is now Dr Imani.", ("USER", "dentist", "Dr Imani")),
        ("Landlord raised the rent to 900.", ("USER", "rent", "900")),
        ("Swapped the Golf for a Zoe.", ("USER", "have", "a Zoe")),
    ],
)
def test_what_the_tagger_misses_is_a_claim(sentence: str, claim: tuple[str, str, str]) -> None:
    assert claim in [(one.owner, one.relation, one.value) for one in read_claims(sentence)]
