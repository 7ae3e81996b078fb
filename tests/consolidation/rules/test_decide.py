"""Notes told one after the other: what is known then, and what each retired."""

from __future__ import annotations

import pytest

from memento.consolidation.agents import Invalidate, Skip
from memento.model import Mode
from telling import START, Life


@pytest.mark.parametrize(
    "notes",
    [
        ("I work at Google.", "I work at Microsoft."),
        ("I work at Google.", "I joined Microsoft last week."),
        ("I joined Google in 2019.", "I started at Microsoft today."),
        ("I live in Berlin.", "I moved to Lisbon."),
        ("I live in Berlin.", "I moved to Lisbon two weeks ago."),
        ("I live in Berlin.", "I've lived in Lisbon since 2020."),
        ("I use VS Code as my editor.", "I switched to Zed."),
        ("I use VS Code.", "I switched from VS Code to Zed."),
        ("I use VS Code.", "I use Zed now."),
        ("I use VS Code.", "I no longer use VS Code."),
        ("My team has 5 people.", "My team has 8 people now."),
        ("My manager is Ana.", "My new boss is Peter."),
        ("Sarah is my manager.", "Sarah is no longer my manager."),
        ("My favourite film is Dune.", "My favorite film is Arrival."),
        ("The launch of Orion is on June 5.", "Orion's launch moved to July 1."),
        ("The launch of Orion is on June 5.", "Correction: the launch of Orion is on June 8."),
        ("My dentist appointment is on Friday March 1.", "My dentist appointment was moved to March 5."),
        ("My flight to Tokyo is on November 3.", "The flight was rescheduled to November 4."),
        ("My salary is 85k.", "My salary was raised to 92k."),
        ("I prefer JavaScript.", "I prefer TypeScript over JavaScript."),
        ("I'm vegetarian.", "I'm no longer vegetarian."),
        ("I drink coffee.", "I stopped drinking coffee."),
        ("I work at Google.", "I quit my job."),
        ("I work at Google.", "I left Google."),
        ("I work at Google.", "I don't work at Google."),
        ("We use Python 3.11.", "We upgraded to Python 3.12."),
        ("I'm 34.", "I turned 35 last week."),
        ("I prefer dark mode.", "I switched to light mode."),
        ("Project Atlas is blocked.", "Project Atlas is done."),
        ("The budget of Atlas is $50,000.", "The budget of Atlas was raised to $80,000."),
        ("Anna works at SAP.", "Anna joined Siemens."),
        ("My wife works at SAP.", "My wife works at Siemens."),
        ("My phone number is 555 1234.", "My phone number is 555 9876."),
        ("My name is Bea.", "My name is Ana."),
        ("I am learning Rust.", "I finished learning Rust."),
        ("I work at Siemens.", "I joined Spotify."),
        ("I work at Siemens.", "Yesterday I quit Siemens."),
        ("I work at Siemens.", "Last week I quit Siemens."),
        ("I work at Siemens.", "I finally quit Siemens yesterday."),
        ("I work at Siemens.", "I got fired from Siemens."),
        ("I work at Siemens.", "I was laid off by Siemens."),
        ("I work at Siemens.", "I was fired."),
        ("I work at Siemens.", "I never worked at Siemens."),
        ("I worked at Siemens.", "I never worked at Siemens."),
        ("I use VS Code as my editor.", "I went back to Emacs."),
        ("I have two children.", "I have three children now."),
        ("The server's IP is 10.0.0.1", "The server's IP is 10.0.0.2"),
        ("I live in Berlin.", "I'm moving to Paris next month."),
        ("I live at 12 High Street.", "I moved to Lyon."),
        ("I live at 12 High Street.", "I live in Lyon now."),
        ("My address is 12 High Street.", "I live at 4 Mill Lane now."),
        ("Anna lives at 12 High Street.", "Anna moved to Lyon."),
        ("I'm dating Tom.", "I broke up with Tom."),
    ],
)
def test_a_successor_retires_what_it_replaces(notes: tuple[str, str]) -> None:
    life = Life(*notes)

    assert len(life.believed) == 1
    assert isinstance(life.decisions[0], Invalidate)


@pytest.mark.parametrize(
    "notes",
    [
        ("I work at Google.", "Anna works at Siemens."),
        ("I work at Google.", "My wife works at Siemens."),
        ("I work at Google.", "My friend works at Siemens."),
        ("My friend Anna works at Google.", "I left Google."),
        ("I work at Google.", "I also work at Siemens part-time."),
        ("I work at Google.", "I used to work at IBM."),
        ("I work at Google.", "I worked at IBM until 2019."),
        ("I live in Berlin.", "I might move to Paris."),
        ("I live in Berlin.", "I plan to move to Paris next month."),
        ("I work at Siemens.", "I never worked at SAP."),
        ("I like Siemens.", "I never worked at Siemens."),
        ("I work at Siemens.", "I joined Gold's Gym."),
        ("The server's port is 80.", "The server's IP is 10.0.0.2"),
        ("I live in Berlin.", "If I moved to Paris, I would be happy."),
        ("I live in Berlin.", "I would like to live in Paris."),
        ("I live in Berlin.", "Should I move to Paris? I wonder."),
        ("I live in Berlin.", "Anna moved to Paris."),
        ("I live in Berlin.", "My sister lives in Paris."),
        ("I live in Berlin.", "I live in Kreuzberg, Berlin."),
        ("I live in Berlin.", "I live in Germany."),
        ("I live at 12 High Street.", "I live in Lyon."),
        ("I live in Lyon.", "I live at 12 High Street."),
        ("I live at 12 High Street, Lyon.", "I moved to Lyon for work."),
        ("I live at 12 High Street.", "I moved to Lyon in 2019."),
        ("I live at 12 High Street.", "I might move to Lyon."),
        ("I live at 12 High Street.", "Anna moved to Lyon."),
        ("My sister lives in Oslo.", "My sister lives in Rome."),
        ("I use VS Code.", "I use Vim for quick edits."),
        ("I use VS Code.", "I'm thinking about switching to Zed."),
        ("I use VS Code.", "I used to use Emacs."),
        ("I use Google Docs.", "I left Google."),
        ("I like tea.", "I like coffee."),
        ("I visited Rome last week.", "I visited Paris last week."),
        ("I like Java.", "I no longer use JavaScript."),
        ("I have a dog named Rex.", "I have a cat named Milo."),
        ("I speak German.", "I speak French."),
        ("PyCon 2025 is on May 5, 2025.", "PyCon 2026 is on May 4, 2026."),
        ("The meeting with Ana is on January 12.", "The meeting with Ana is on March 12."),
        ("My team has 5 people.", "The Orion team has 8 people."),
        ("I love Rome.", "I no longer live in Rome."),
        ("My brother uses Vim.", "My sister no longer uses Vim."),
    ],
)
def test_what_does_not_contradict_retires_nothing(notes: tuple[str, str]) -> None:
    life = Life(*notes)

    assert len(life.believed) == 2


@pytest.mark.parametrize(
    "notes",
    [
        ("I live in Berlin.", "I live in Berlin!"),
        ("I live in Berlin.", "i live in berlin"),
        ("I work at Google.", "I'm working at Google."),
        ("I work at Google.", "I am employed at Google now."),
        ("The CEO of Acme Corp is Jane Doe.", "Jane Doe is the CEO of Acme Corp."),
        ("I was born in Rome.", "I was born in Rome."),
        ("I like tea.", "I like tea. I like tea."),
    ],
)
def test_what_is_known_is_skipped(notes: tuple[str, str]) -> None:
    life = Life(*notes)

    assert len(life.believed) == 1
    assert all(isinstance(decision, Skip) for decision in life.decisions)


@pytest.mark.parametrize("note", ["I visited Rome last week.", "I met Anna yesterday.", "I ran a marathon in Oslo."])
def test_what_happens_again_is_remembered_again(note: str) -> None:
    assert len(Life(note, note).believed) == 2


def test_what_somebody_used_to_do_ends_when_a_now_follows() -> None:
    assert Life("I use Vim.", "I used to use Vim, now I use Emacs.").believed == [
        "USER used to use Vim, now USER uses Emacs.",
    ]


def test_a_note_told_twice_at_once_is_one_memory() -> None:
    life = Life()
    for _ in range(2):
        life.tell("I met Anna yesterday.", at=START)

    assert len(life.believed) == 1


def test_a_life_with_two_job_changes_and_a_move_has_one_job_and_one_home() -> None:
    life = Life(
        "I live in Berlin and work at Google as a data scientist.",
        "I left Google and joined Microsoft.",
        "Anna works at Google and lives in Berlin.",
        "I moved to Lisbon last week.",
        "I started at Anthropic as a research engineer on Monday.",
    )

    assert life.believed == [
        "USER left Google.",
        "Anna works at Google.",
        "Anna lives in Berlin.",
        "USER moved to Lisbon last week [2024-04-02].",
        "USER started at Anthropic as a research engineer on Monday.",
    ]


@pytest.mark.parametrize(
    ("notes", "reason", "mode", "rule"),
    [
        (
            ("I work at Google.", "I joined Microsoft."),
            "USER now works at Microsoft; employer was Google",
            "state-change",
            "slot:employer",
        ),
        (
            ("My team has 5 people.", "Correction: my team has 6 people."),
            "Corrected: USER's team size is 6, not 5",
            "correction",
            "slot:team size",
        ),
        (
            ("I work at Siemens.", "I never worked at Siemens."),
            "USER never worked at Siemens; until then: USER works at Siemens",
            "correction",
            "ends:never",
        ),
        (
            ("I use Zed for notes.", "I no longer use Zed."),
            "USER no longer uses Zed; until then: USER uses Zed for notes",
            "state-change",
            "ends:no-longer",
        ),
        (
            ("Anna has a red beagle.", "Correction: Anna has a brown beagle."),
            "Corrected to: Anna has a brown beagle",
            "correction",
            "correction:same-statement",
        ),
    ],
)
def test_every_ending_says_why_and_by_which_rule(notes: tuple[str, str], reason: str, mode: Mode, rule: str) -> None:
    (decision,) = Life(*notes).decisions

    assert isinstance(decision, Invalidate)
    (target,) = decision.targets
    assert (target.reason, target.mode, target.rule) == (reason, mode, rule)


@pytest.mark.parametrize(
    ("notes", "kept"),
    [
        (("The ferry to Elba cost €61.", "Correction: the crossing was €67, not €61."), 1),
        (("The lathe weighs 240 kg.", "Actually the lathe weighs not 240 but 260 kg."), 1),
        (("The ferry to Elba cost €61.", "The hotel was €67, not €81."), 2),
        (("The rope is 18 m long.", "The lathe weighs 16 kg, not 18 kg."), 2),
        (("Elba pays 12 euros each, for 18 bikes.", "Correction: the bikes are 16, not 18."), 2),
    ],
)
def test_a_corrected_figure_retires_the_one_memory_that_has_it_alone(notes: tuple[str, str], kept: int) -> None:
    assert len(Life(*notes).believed) == kept
