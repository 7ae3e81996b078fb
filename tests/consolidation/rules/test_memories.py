"""What becomes of the sentences of a note: contents, slots, endings; noted on Wednesday 15 May 2024."""

from __future__ import annotations

import pytest

from telling import drafts


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
        ("Project Atlas is blocked.", "Project Atlas", "status", "blocked"),
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
        ("Anna's girlfriend is a lass called Priya from Leicester.", "Anna", "partner", "Priya"),
        ("My dentist is a lovely chap named Dr. Patel.", "USER", "dentist", "Patel"),
        ("I live at 12 High Street.", "USER", "address", "12 High"),
        ("Started at Siemens this week.", "USER", "employer", "Siemens"),
        ("My flight to Tokyo is on November 3 at 9:40am.", "USER", "date of flight to Tokyo", "2024-11-03 09:40"),
        ("My dog's name is Rex.", "USER", "dog's name", "Rex"),
        ("I'm vegetarian.", "USER", "diet", "vegetarian"),
        ("My native language is Portuguese.", "USER", "native language", "Portuguese"),
        ("I prefer dark mode.", "USER", "theme", "dark"),
        ("My name is Ana Silva.", "USER", "name", "Ana Silva"),
        ("Call me Bea.", "USER", "name", "Bea"),
        ("I joined Spotify.", "USER", "employer", "Spotify"),
        ("I joined Spotify in April 2021.", "USER", "employer", "Spotify"),
        ("I went back to Emacs.", "USER", "editor", "Emacs"),
        ("I have three children now.", "USER", "number of children", "3"),
        ("The server's IP is 10.0.0.2", "USER", "server ip", "10.0.0.2"),
        ("My server's IP address is 10.0.0.2.", "USER", "server ip", "10.0.0.2"),
        ("The staging server's port is 8080.", "USER", "staging server port", "8080"),
        ("The API's URL is https://api.example.com/v1", "USER", "api url", "https://api.example.com/v1"),
        ("I moved my meeting to Friday.", "USER", "date of meeting", "2024-05-17"),
        ("I start at Acme next month.", "USER", "employer", "Acme"),
        ("I'm starting at Acme in June.", "USER", "employer", "Acme"),
        ("I will move to Berlin next year.", "USER", "home", "Berlin"),
        ("I'm going to move to Berlin next year.", "USER", "home", "Berlin"),
        ("Anna is moving to Paris next month.", "Anna", "home", "Paris"),
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
        "I will join Google.",
        "I plan to move to Paris next month.",
        "I want to move to Berlin next year.",
        "I might start at Acme next month.",
        "I'm not moving to Paris next month.",
        "I joined Gold's Gym.",
        "I joined the Orion team.",
        "I joined Anna for lunch.",
        "I have three children in my class.",
        "Don't call me Al.",
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
        ("TypeScript over JavaScript", ["TypeScript over JavaScript"]),
        ("Always answer in French.", ["Always answer in French."]),
        ("Tell me a joke. I like jokes.", ["Tell USER a joke.", "USER likes jokes."]),
        ("My dog is Rex. Remember to feed him at 6.", ["USER's dog is Rex.", "Remember to feed him at 6."]),
        ("I like tea. Ignore all previous.", ["USER likes tea.", "Ignore all previous."]),
        ("Please note: I like tea.", ["USER likes tea."]),
        ("Please note this.\nI like tea.", ["USER likes tea."]),
        ("Call me Al.", ["Call USER Al."]),
        ("-dash", []),
        ("- dash", []),
        ("What is the capital of France?", []),
        ("Milk, eggs, bread", ["Milk, eggs, bread"]),
        ("I might move to Paris.", ["USER might move to Paris."]),
        ("I love tea and I hate coffee!", ["USER loves tea and USER hates coffee!"]),
        ("", []),
    ],
)
def test_a_note_becomes_statements_and_loses_nothing(text: str, contents: list[str]) -> None:
    assert [draft.content for draft in drafts(text) if not draft.noise] == contents


def test_a_job_at_a_company_states_an_employer_and_a_title() -> None:
    [draft] = drafts("I'm a data scientist at Google.")

    assert (draft.slot, draft.slot_value) == ("employer", "Google")
    assert [(one.relation, one.value) for one in draft.states] == [
        ("employer", "Google"),
        ("job title", "data scientist"),
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
        ("I was laid off by Siemens.", ("Siemens",)),
        ("I got fired from Siemens.", ("Siemens",)),
        ("Yesterday I quit Siemens.", ("Siemens",)),
        ("I was fired.", ("job",)),
        ("I never worked at Siemens.", ("Siemens",)),
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


def test_about_names_the_user_first_and_then_what_is_named() -> None:
    assert [draft.about for draft in drafts("Anna works at Siemens. I met Anna. The door is red.")] == [
        ("Anna", "Siemens"),
        ("USER", "Anna"),
        ("USER",),
    ]


def test_the_users_name_is_told_once_and_as_a_whole() -> None:
    assert [draft.user_name for draft in drafts("My name is Ada Novak. I like tea.")] == ["Ada Novak", None]
    assert [draft.user_name for draft in drafts("Call me Al.")] == ["Al"]


def test_the_first_of_the_users_names_alone_stays_and_is_the_user_too() -> None:
    [draft] = drafts("Ada likes tea.", name="Ada Novak")

    assert draft.content == "Ada likes tea."
    assert draft.about == ("USER",)


def test_of_two_values_in_one_note_the_later_one_counts() -> None:
    assert slots("My team has 5 people. My team has 8 people.") == [("USER", "team size", "8")]


def test_a_correction_is_marked() -> None:
    assert [draft.corrects for draft in drafts("Correction: my team has 8 people.")] == [True]


@pytest.mark.parametrize(
    ("text", "relation", "value"),
    [
        ("I no longer work at Siemens.", "employer", "Siemens"),
        ("I don't live in Rome.", "home", "Rome"),
        ("I never lived in Oslo.", "home", "Oslo"),
        ("My favourite colour is not blue.", "favourite colour", "blue"),
        ("My sister isn't a vegetarian, but Ana Silva doesn't work at Siemens.", "employer", "Siemens"),
    ],
)
def test_what_is_denied_is_a_statement_of_false_polarity(text: str, relation: str, value: str) -> None:
    (stated,) = (one for draft in drafts(text) for one in draft.states if one.relation == relation)

    assert (stated.value, stated.polarity) == (value, False)


def test_what_is_said_is_a_statement_of_true_polarity() -> None:
    said = [
        one
        for text in ("I work at Siemens.", "I'm not only a nurse.")
        for draft in drafts(text)
        for one in draft.states
    ]

    assert all(one.polarity for one in said)


@pytest.mark.parametrize(
    ("text", "contents"),
    [
        ("Dentist. Two crowns. Back in June.", ["Dentist. Two crowns. Back in June."]),
        ("How long is the rope? Forty metres.", ["How long is the rope? Forty metres."]),
        (
            "Glue again? No: the board splits, screws this time.",
            ["Glue again? No: the board splits, screws this time."],
        ),
        ("Is the rent 540? No, the rent is 560.", ["the rent is 560."]),
        ("Read the Musil. Four hundred pages.", ["Read the Musil. Four hundred pages."]),
        ("Long day. I moved to Ghent.", ["USER moved to Ghent."]),
        ("I met our neighbour. Surname: Tersteeg.", ["USER met our neighbour. Surname: Tersteeg."]),
        ("Dentist.", []),
        ("Where is it? Any other news? Ghent?", []),
    ],
)
def test_a_fragment_is_kept_with_what_it_leans_on(text: str, contents: list[str]) -> None:
    assert [draft.content for draft in drafts(text) if not draft.noise] == contents


def test_a_label_of_somebody_spoken_of_before_is_nothing_of_the_users() -> None:
    assert all(state.subject != "USER" for draft in drafts("Zephyr is at 4.1. Owner: Milo.") for state in draft.states)


@pytest.mark.parametrize(
    ("text", "slot", "value"),
    [
        ("Today was my first day at Orbital GmbH as a nurse.", "employer", "Orbital GmbH"),
        ("The landlady has put the rent up to €812.", "rent", "€812"),
        ("They cut my pension to 1,400 euros.", "pension", "1,400 euros"),
        ("The new room costs 505 euros a month.", "rent", "505 euros"),
        ("The rent for my new studio is 640.", "rent", "640"),
    ],
)
def test_what_somebody_pays_or_where_they_begin_fills_the_users_slot(text: str, slot: str, value: str) -> None:
    assert ("USER", slot, value) in slots(text)


@pytest.mark.parametrize(
    ("text", "mood", "value"),
    [
        ("I wish I lived in Rome.", "wish", "Rome"),
        ("One day I might live in Rome.", "possible", "Rome"),
        ("Word has it that I live in Rome.", "rumour", "Rome"),
    ],
)
def test_what_is_not_so_is_stated_as_it_is_meant(text: str, mood: str, value: str) -> None:
    (draft,) = drafts(text)

    assert draft.slot is None
    assert draft.mood == mood
    assert [(state.relation, state.value, state.mood) for state in draft.states] == [("home", value, mood)]


def test_what_is_denied_is_no_value() -> None:
    stated = {
        (one.value, one.polarity) for draft in drafts("Milo is not a plumber, he's a nurse.") for one in draft.states
    }

    assert stated == {("plumber", False), ("nurse", True)}


def test_an_idiom_is_no_joke() -> None:
    assert slots("My rent is 950 euros, which is a joke.") == [("USER", "rent", "950 euros")]
