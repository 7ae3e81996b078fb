"""What a note names, of which kind, and what is no name at all."""

from __future__ import annotations

import pytest

from memento.iris import user_iri
from memento.model import User
from memento.text.names import mentions, normalised_name, self_name

NOBODY = User(iri=user_iri("local"))
ANA = User(iri=user_iri("local"), name="Ana Silva")


def kinds(text: str, user: User = NOBODY) -> dict[str, str]:
    return {mention.name: mention.kind for mention in mentions(text, user)}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I moved to Lisbon with Anna Smith.", {"Lisbon": "Location", "Anna Smith": "Person"}),
        ("My friend Jordan works at Bank of America.", {"Jordan": "Person", "Bank of America": "Organization"}),
        ("I love Ludwig van Beethoven.", {"Ludwig van Beethoven": "Person"}),
        ("I studied at the University of Lisbon.", {"University of Lisbon": "Organization"}),
        ("I went to PyCon 2025 in Pittsburgh.", {"PyCon 2025": "Event", "Pittsburgh": "Location"}),
        ("Orion's launch is on May 5.", {"Orion": "Project"}),
        ("I work on project Atlas.", {"Atlas": "Project"}),
        ("I use VS Code and vim.", {"VS Code": "Technology", "Vim": "Technology"}),
        ("I study machine learning.", {"Machine Learning": "Concept"}),
        ("I'm learning pottery.", {"Pottery": "Concept"}),
        ("I work at Siemens GmbH.", {"Siemens GmbH": "Organization"}),
        ("I started at Netflix.", {"Netflix": "Organization"}),
        ("I watch Netflix.", {"Netflix": "Technology"}),
        ("I met Jean-Luc Picard.", {"Jean-Luc Picard": "Person"}),
        ("I asked Dr. O'Brien.", {"O'Brien": "Person"}),
        ('I read "The Pragmatic Programmer".', {"The Pragmatic Programmer": "Concept"}),
        ("I like C++ and C#.", {"C++": "Technology", "C#": "Technology"}),
        ("The Hague is nice.", {"The Hague": "Location"}),
        ("Thanks Caroline!", {"Caroline": "Person"}),
        ("Kubernetes is hard.", {"Kubernetes": "Technology"}),
        ("Initech hired my sister Maria.", {"Initech": "Organization", "Maria": "Person"}),
    ],
)
def test_names_are_found_with_their_kinds(text: str, found: dict[str, str]) -> None:
    assert kinds(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "Work is busy. Dinner was great.",
        "Yesterday I went home on Monday in May.",
        "I paid 30 EUR to the CEO.",
        "Remember that my Mom is a Manager.",
        "HELLO THIS IS A SHOUTED NOTE ABOUT NOTHING",
        "I go home. Thanks!",
        'She said "I love you".',
        "",
    ],
)
def test_common_words_roles_and_dates_are_no_names(text: str) -> None:
    assert kinds(text) == {}


def test_what_stands_for_a_secret_is_no_name() -> None:
    [only] = mentions("The router of Ana has the password [REDACTED:PASSWORD].", NOBODY)
    assert only.name == "Ana"


@pytest.mark.parametrize("text", ["Ana likes tea", "Ana Silva likes tea", "ana silva is here", "My name is Ana"])
def test_the_user_is_never_among_the_names(text: str) -> None:
    assert kinds(text, ANA) == {}


def test_another_surname_is_another_person() -> None:
    assert kinds("I met Ana Costa", ANA) == {"Ana Costa": "Person"}


def test_a_name_that_the_writer_gives_as_their_own_is_no_entity() -> None:
    assert kinds("My name is Priya and I live in Pune") == {"Pune": "Location"}
    assert self_name("Call me Bea") == "Bea"


def test_an_office_names_nobody() -> None:
    assert set(kinds("Ana Ruiz, the Premier of Norland, met the Prime Minister of Peru.")) == {
        "Ana Ruiz",
        "Norland",
        "Peru",
    }


def test_a_first_name_stands_for_the_full_name_of_the_same_note() -> None:
    (anna,) = mentions("Anna Smith called. Anna is ill.", NOBODY)

    assert (anna.name, anna.aliases) == ("Anna Smith", ("Anna",))


def test_only_well_known_names_are_well_known() -> None:
    found = {mention.name: mention.is_well_known for mention in mentions("I use Rust at Initech", NOBODY)}

    assert found == {"Rust": True, "Initech": False}


def test_a_description_says_what_the_thing_is() -> None:
    found = {mention.name: mention.description for mention in mentions("My manager Ana uses Zed.", NOBODY)}

    assert found == {"Ana": "USER's manager", "Zed": "code editor"}
    assert [mention.description for mention in mentions("Our daughter Lena walks.", NOBODY)] == ["USER's daughter"]


@pytest.mark.parametrize(
    ("name", "normalised"),
    [
        ("machine learning", "Machine Learning"),
        ("AWS", "AWS"),
        ("TypeScript", "TypeScript"),
        ("GPT-4o", "GPT-4o"),
        ("jean-luc", "Jean-Luc"),
        ("University of Lisbon", "University of Lisbon"),
    ],
)
def test_names_are_normalised(name: str, normalised: str) -> None:
    assert normalised_name(name) == normalised


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# Weekly Plan\n\nI met Anna Frey.", {"Anna Frey": "Person"}),
        ("To do:\n- **Final Review**: ask Anna Frey.\n- **Next Step**: wait.", {"Anna Frey": "Person"}),
        ("I set it up:\n```\nclass LoginForm(Schema): pass\n```\nand told Anna Frey.", {"Anna Frey": "Person"}),
        ("I set MAX_RETRIES to 5 and call `fetchUser()` for Anna Frey.", {"Anna Frey": "Person"}),
        ("I call appendChild twice.", {}),
        ("I GOT THE JOB and left Siemens.", {"Siemens": "Organization"}),
        ("I've worked a lot since May. It's fine. They'll see.", {}),
        ("Congrats on your store, Gina!", {"Gina": "Person"}),
        ("We rent 64 A100 cards in Detroit.", {"A100": "Concept", "Detroit": "Location"}),
        ('Play "Heron 2077".', {"Heron 2077": "Concept"}),
        ('We play a game called "Heron 2090".', {"Heron 2090": "Concept"}),
        ("Nice to hear from you!", {}),
        ("Creativity is fun. Allergies are tough. Afterwards I slept.", {}),
        ("Grace is a virtue.", {}),
        ("Grace said so.", {"Grace": "Person"}),
        ("I started as a Financial Analyst.", {}),
        ("Hey Anna, my online shop is open.", {"Anna": "Person"}),
        ('That sounds great, See you soon. Can\'t wait. He said "Let go of it".', {}),
        ("We sold the Olivia.", {"Olivia": "Concept"}),
        ("The Olivia broke down.", {"Olivia": "Concept"}),
        ("Olivia broke her arm.", {"Olivia": "Person"}),
    ],
)
def test_headings_code_constants_pronouns_verbs_and_shouting_name_nothing(text: str, found: dict[str, str]) -> None:
    assert kinds(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "I'm Anna Frey. Anna Frey sings.",
        "I am Anna Frey and I sing.",
        "Hi, this is Anna Frey here!",
        "Anna here, hello.",
    ],
)
def test_the_name_that_the_writer_gives_is_no_entity(text: str) -> None:
    assert kinds(text) == {}
    assert self_name(text) in ("Anna Frey", "Anna")


def test_a_short_form_is_an_alias_of_the_one_long_form_in_a_note() -> None:
    (brandt,) = mentions("I joined Brandt Logistics. Brandt has a pool.", NOBODY)

    assert (brandt.name, brandt.aliases) == ("Brandt Logistics", ("Brandt",))
    assert set(kinds("I left Brandt Logistics for Brandt Bakery; Brandt is common here.")) >= {
        "Brandt Logistics",
        "Brandt Bakery",
    }
