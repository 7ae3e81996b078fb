"""What becomes of the sentences of a note: contents, dates, slots, endings; noted on Wednesday 15 May 2024."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memento.consolidation.agents import Draft
from memento.consolidation.rules import RuleAgents
from memento.model import Note, User
from memento.vocabulary import mint, user_iri

AT = datetime(2024, 5, 15, 12, tzinfo=UTC)


def drafts(text: str, name: str | None = None) -> list[Draft]:
    agents, user = RuleAgents(), User(iri=user_iri("local"), name=name)
    note = Note(iri=mint("note"), content=text, at=AT)
    return agents.extract_memories(note, agents.extract_entities(note, user).mentions, user)


def slots(text: str) -> list[tuple[str | None, str | None, str | None]]:
    return [(draft.subject, draft.slot, draft.slot_value) for draft in drafts(text) if draft.slot]


@pytest.mark.parametrize(
    ("text", "subject", "slot", "value"),
    [
        ("I work at Google.", "USER", "employer", "Google"),
        ("I work for a small bank.", "USER", "employer", "small bank"),
        ("I've been working at Initech since 2021.", "USER", "employer", "Initech"),
        ("I joined Microsoft last week.", "USER", "employer", "Microsoft"),
        ("I just started at Netflix.", "USER", "employer", "Netflix"),
        ("I got a new job at Siemens.", "USER", "employer", "Siemens"),
        ("I was hired by IBM.", "USER", "employer", "IBM"),
        ("I'm now at Stripe Inc.", "USER", "employer", "Stripe Inc"),
        ("I switched jobs from IBM to Siemens.", "USER", "employer", "Siemens"),
        ("Anna works at Siemens.", "Anna", "employer", "Siemens"),
        ("My friend Anna works at SAP.", "Anna", "employer", "SAP"),
        ("My wife works at Siemens.", "USER", "wife employer", "Siemens"),
        ("I work as a nurse.", "USER", "job title", "nurse"),
        ("I was promoted to senior engineer.", "USER", "job title", "senior engineer"),
        ("I live in Berlin.", "USER", "home", "Berlin"),
        ("I moved to Lisbon in March.", "USER", "home", "Lisbon"),
        ("I moved from Berlin to Paris.", "USER", "home", "Paris"),
        ("I have lived in Porto for two years.", "USER", "home", "Porto"),
        ("I moved into a flat; I'm based in Oslo now.", "USER", "home", "Oslo"),
        ("Anna moved to Oslo.", "Anna", "home", "Oslo"),
        ("I use VS Code as my editor.", "USER", "editor", "VS Code"),
        ("My main editor is Zed.", "USER", "editor", "Zed"),
        ("I switched to Firefox.", "USER", "browser", "Firefox"),
        ("My favorite movie is Dune.", "USER", "favourite movie", "Dune"),
        ("Sushi is my favourite food.", "USER", "favourite food", "Sushi"),
        ("My manager is Ana.", "USER", "manager", "Ana"),
        ("My new boss is Peter.", "USER", "manager", "Peter"),
        ("I report to Peter.", "USER", "manager", "Peter"),
        ("I'm married to Carla.", "USER", "partner", "Carla"),
        ("My husband is Tom.", "USER", "partner", "Tom"),
        ("My phone number is +49 170 1234567.", "USER", "phone", "+49 170 1234567"),
        ("My work email is a.b@example.com", "USER", "work email", "a.b@example.com"),
        ("My birthday is on May 5.", "USER", "birthday", "5 May"),
        ("I'm 34 years old.", "USER", "age", "34"),
        ("I turned 35 last week.", "USER", "age", "35"),
        ("My team has 5 people.", "USER", "team size", "5"),
        ("I lead a team of eight.", "USER", "team size", "8"),
        ("We're a team of 9.", "USER", "team size", "9"),
        ("The Orion team has 4 engineers.", "Orion", "team size", "4"),
        ("The launch of Orion is on June 5.", "Orion", "date of launch", "2024-06-05"),
        ("Orion's launch moved to June 1.", "Orion", "date of launch", "2024-06-01"),
        ("Orion launches on September 1.", "Orion", "date of launch", "2024-09-01"),
        ("The meeting with Ana is at 3pm Tuesday.", "USER", "date of meeting with Ana", "2024-05-21 15:00"),
        ("My dentist appointment was moved to Friday.", "USER", "date of dentist appointment", "2024-05-17"),
        ("The deadline for my thesis is June 30.", "USER", "deadline for thesis", "2024-06-30"),
        ("We use Python 3.12 at work.", "USER", "python version", "3.12"),
        ("We upgraded Django from 4.2 to 5.0.", "USER", "django version", "5.0"),
        ("Project Atlas is blocked.", "Atlas", "status", "blocked"),
        ("Initech GmbH is headquartered in Munich.", "Initech GmbH", "headquarters", "Munich"),
        ("The CEO of Acme Corp is Jane Doe.", "Acme Corp", "ceo", "Jane Doe"),
        ("Jane Doe is the CEO of Acme Corp.", "Acme Corp", "ceo", "Jane Doe"),
        ("The budget of Atlas is $50,000.", "Atlas", "budget", "$50,000"),
        ("My rent went up to 1350 euros.", "USER", "rent", "1350 euros"),
        ("My salary was raised to 92k in April.", "USER", "salary", "92k"),
        ("My GitHub username is oktocat.", "USER", "github username", "oktocat"),
        ("I changed my phone number to 555 98 76.", "USER", "phone", "555 98 76"),
        ("After six years in Hamburg, I relocated to Vienna.", "USER", "home", "Vienna"),
        ("I live with my partner Sam in a flat in Leeds.", "USER", "home", "Leeds"),
        ("I got married to Julia last June.", "USER", "partner", "Julia"),
        ("Started at Siemens this week.", "USER", "employer", "Siemens"),
        ("My flight to Tokyo is on November 3 at 9:40am.", "USER", "date of flight to Tokyo", "2024-11-03 09:40"),
        ("My dog's name is Rex.", "USER", "dog's name", "Rex"),
        ("I'm vegetarian.", "USER", "diet", "vegetarian"),
        ("My native language is Portuguese.", "USER", "native language", "Portuguese"),
        ("I prefer dark mode.", "USER", "theme", "dark"),
        ("My name is Ana Silva.", "USER", "name", "Ana Silva"),
        ("Call me Bea.", "USER", "name", "Bea"),
        ("My wifi password is hunter2.", "USER", "wifi password", "hunter2"),
    ],
)
def test_a_fact_fills_the_slot_of_its_subject(text: str, subject: str, slot: str, value: str) -> None:
    assert slots(text) == [(subject, slot, value)]


@pytest.mark.parametrize(
    "text",
    [
        "I like tea.",
        "I visited Rome last week.",
        "I speak English and German.",
        "I have a cat.",
        "My sister lives in Oslo.",
        "My friend works at Google.",
        "I also work at Google part-time.",
        "I work at Google as well.",
        "I used to work at IBM.",
        "I worked at IBM until 2019.",
        "I was a teacher.",
        "I might move to Paris.",
        "I'm thinking about switching to Emacs.",
        "I would like to work at Google.",
        "If I moved to Paris, I would work at Mistral.",
        "Maybe I work at Google one day.",
        "I'm moving to Paris next month.",
        "I will join Google in June.",
        "I have an offer from Google.",
        "I don't work at Google.",
        "Do I work at Google?",
        "Anna said I work at Google.",
        "My back is killing me.",
        "My day is going well.",
        "I work at night.",
        "I work from home.",
        "I moved to a new team.",
        "One of my favourite movies is Dune.",
        "Our standup is great.",
    ],
)
def test_what_is_not_a_single_valued_fact_fills_no_slot(text: str) -> None:
    assert slots(text) == []


@pytest.mark.parametrize(
    ("text", "contents"),
    [
        ("I live in Berlin and work at Acme.", ["USER lives in Berlin.", "USER works at Acme."]),
        ("I left Google and joined Microsoft.", ["USER left Google.", "USER joined Microsoft."]),
        (
            "My friend Anna works at SAP and lives in Rome",
            ["USER's friend Anna works at SAP", "USER's friend Anna lives in Rome"],
        ),
        ("FYI, my dog is a beagle.", ["USER's dog is a beagle."]),
        ("Anna is nice. She lives in Oslo.", ["Anna is nice.", "Anna lives in Oslo."]),
        ("I loved Dune. It was long.", ["USER loved Dune. It was long."]),
        ("Hi Mel! I bought a car. How are you?", ["USER bought a car."]),
        ("TypeScript over JavaScript", ["USER prefers TypeScript over JavaScript"]),
        ("Always answer in French.", ["Always answer in French."]),
        ("Tell me a joke. I like jokes.", ["USER likes jokes."]),
        ("What is the capital of France?", ["What is the capital of France?"]),
        ("Milk, eggs, bread", ["Milk, eggs, bread"]),
        ("I might move to Paris.", ["USER might move to Paris."]),
        ("I love tea and I hate coffee!", ["USER loves tea!", "USER hates coffee!"]),
        ("", []),
    ],
)
def test_a_note_becomes_statements_and_loses_nothing(text: str, contents: list[str]) -> None:
    assert [draft.content for draft in drafts(text)] == contents


def test_a_job_at_a_company_is_an_employer_and_a_title() -> None:
    assert slots("I'm a data scientist at Google.") == [
        ("USER", "employer", "Google"),
        ("USER", "job title", "data scientist"),
    ]


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("I no longer use VS Code.", ("VS Code",)),
        ("I don't use VS Code anymore.", ("VS Code",)),
        ("I stopped using VS Code.", ("VS Code",)),
        ("I switched from VS Code to Zed.", ("VS Code",)),
        ("I've switched our CI from Jenkins to GitHub Actions.", ("Jenkins",)),
        ("I switched to Zed from VS Code.", ("VS Code",)),
        ("I replaced VS Code with Zed.", ("VS Code",)),
        ("I use Zed instead of VS Code.", ("VS Code",)),
        ("I prefer TypeScript over JavaScript.", ("JavaScript",)),
        ("I moved from Berlin to Paris.", ("Berlin",)),
        ("I left Google.", ("Google",)),
        ("I quit my job.", ("job",)),
        ("I got laid off from Google.", ("Google",)),
        ("I'm no longer vegetarian.", ("vegetarian",)),
        ("I quit drinking coffee.", ("coffee",)),
        ("I broke up with Tom.", ("Tom",)),
        ("I live in Rome, not Oslo.", ("Oslo",)),
        ("I used to use Vim, now I use Emacs.", ("Vim",)),
        ("I used to use Vim.", ()),
        ("I might stop using Vim.", ()),
        ("I left Anna at the station.", ()),
        ("I like Vim.", ()),
    ],
)
def test_what_no_longer_holds_is_named(text: str, ends: tuple[str, ...]) -> None:
    assert tuple(phrase for draft in drafts(text) for phrase in draft.ends) == ends


@pytest.mark.parametrize(
    ("text", "valid", "event"),
    [
        ("I live in Berlin.", None, None),
        ("I visited Rome last week.", "2024-05-08", None),
        ("I moved to Rome in March.", "2024-03-01", None),
        ("I have lived in Rome since 2019.", "2019-01-01", None),
        ("I have lived in Rome for two years.", "2022-05-15", None),
        ("I met Ana yesterday.", "2024-05-14", None),
        ("In 2015 I moved to Paris.", "2015-01-01", None),
        ("I'm meeting Carla tomorrow.", None, "2024-05-16"),
        ("The launch is on June 5.", None, "2024-06-05"),
        ("The launch was moved to June 1.", None, "2024-06-01"),
        ("I will join Google in June.", None, "2024-06-01"),
        ("I might move to Paris next year.", None, "2025-05-15"),
        ("My birthday is on March 3.", None, None),
        ("I run every Monday.", None, None),
    ],
)
def test_a_statement_knows_when_it_began_and_what_date_it_is_about(
    text: str, valid: str | None, event: str | None
) -> None:
    (draft,) = drafts(text)
    told = [f"{time:%Y-%m-%d}" if time else None for time in (draft.valid_at, draft.event_at)]

    assert told == [valid, event]


def test_facts_of_one_sentence_share_its_date() -> None:
    assert {draft.valid_at for draft in drafts("In March I moved to Berlin and I joined Siemens.")} == {
        datetime(2024, 3, 1, tzinfo=UTC)
    }


def test_about_names_the_user_first_and_then_what_is_named() -> None:
    assert [draft.about for draft in drafts("Anna works at Siemens. I met Anna. The door is red.")] == [
        ("Anna", "Siemens"),
        ("USER", "Anna"),
        ("USER",),
    ]


def test_the_users_name_is_told_once_by_its_first_part() -> None:
    assert [draft.user_name for draft in drafts("My name is Ana Silva. I like tea.")] == ["Ana", None]


def test_of_two_values_in_one_note_the_later_one_counts() -> None:
    assert slots("My team has 5 people. My team has 8 people.") == [("USER", "team size", "8")]


def test_a_correction_is_marked() -> None:
    assert [draft.corrects for draft in drafts("Correction: my team has 8 people.")] == [True]
