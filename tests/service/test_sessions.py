"""Where a session starts, what it came to, and what a namespace is about."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conftest import OFFLINE
from kept import keep
from memento.access import Access
from memento.errors import Forbidden, InputError, NotFound
from memento.iris import MEM
from memento.model import NoteRow
from memento.overview import MOST_CHARS
from memento.python import Memento, open_memento
from memento.settings import ModelSettings
from scripted import Asked, ScriptedModel, Status


def rendered(memento: Memento, name: str) -> str:
    """What stands in the graph, without having it made."""
    found, _ = memento.graphs.query_bytes(
        f'SELECT ?text {{ ?page <{MEM.name}> "{name}" ; <{MEM.rendered}> ?text }}',
        accept="application/sparql-results+json",
    )
    return found.decode()


def test_a_session_starts_from_memories_grouped_by_their_tags(memento: Memento, tmp_path: Path) -> None:
    rows = [
        ("Postgres stays the store.", ("decision",)),
        ("Each service has one queue.", ("architecture", "decision")),
        ("Queues sit behind the gateway.", ("architecture",)),
        ("The login fails with 502.", ("error",)),
        ("Ada likes tea.", ()),
    ]
    for content, tags in rows:
        keep(memento, content, tags=list(tags))

    bundle = memento.sessions.start()

    assert {one.preview for one in bundle.decisions} == {"Postgres stays the store.", "Each service has one queue."}
    assert [one.preview for one in bundle.architecture] == ["Queues sit behind the gateway."]
    assert [one.preview for one in bundle.errors] == ["The login fails with 502."]
    assert [one.preview for one in bundle.other] == ["Ada likes tea."]
    assert bundle.text.splitlines()[0] == bundle.profile
    assert "## Decisions\n- " in bundle.text and "## Recent errors\n- The login fails with 502." in bundle.text

    asked = memento.sessions.start("Which login fails?", limit=1)
    assert [one.preview for one in (*asked.decisions, *asked.errors)] == ["The login fails with 502."]

    project = tmp_path / "shop"
    project.mkdir()
    (project / "README.md").write_text("# Shop\n\nIt sells tea.")
    assert memento.sessions.start(folder=str(project)).indexed
    assert not memento.sessions.start(folder=str(project)).indexed
    reader = memento.with_access(Access(right="read", name="reader"))
    assert reader.sessions.start().decisions
    with pytest.raises(Forbidden):
        reader.sessions.start(folder=str(project))


def test_a_session_is_summed_up_from_its_memories_and_summed_up_again(memento: Memento) -> None:
    for content in ("Ada chose Postgres.", "The login fails with 502.", "Ben tests it on Friday."):
        memento.note(content, session="monday")
    memento.note("I like tea.", session="sunday", at="2020-01-01")

    made = memento.sessions.summarize()

    assert (made.session, made.model, made.replaced) == ("monday", None, None)
    assert made.summary.splitlines() == [
        "Session monday:",
        "- Ada chose Postgres.",
        "- The login fails with 502.",
        "- Ben tests it on Friday.",
    ]
    derived = [one for predicate, one in memento.get(made.id).properties if predicate.endswith("wasDerivedFrom")]
    assert set(made.members) <= set(derived) and len(made.members) == 3
    [kept] = [one for one in memento.list() if one.iri == made.id]
    assert set(kept.tags) == {"conversation", "decision"}

    memento.note("Cleo writes the report.", session="monday")
    again = memento.sessions.summarize("monday")
    assert again.replaced == made.id and len(again.members) == 4
    assert [one.iri for one in memento.list() if one.content.startswith("Session monday")] == [again.id]

    memento.intake.import_notes(
        [NoteRow(content=f"Point {n} is about {'a long matter ' * 9}.", session="long") for n in range(60)],
        consolidate=False,
    )
    long = memento.sessions.summarize("long").summary
    assert len(long) <= MOST_CHARS and long.endswith(" more") and long.startswith("Session long:\n- Point 0")

    with pytest.raises(NotFound, match="tuesday"):
        memento.sessions.summarize("tuesday")
    with pytest.raises(NotFound, match="no session"):
        memento.sessions.summarize(namespace="empty")


@pytest.mark.parametrize("erase", [False, True])
def test_a_summary_goes_with_a_memory_that_it_was_made_of(memento: Memento, erase: bool) -> None:
    noted = memento.note("My locker code is kept by Zelda.", session="monday")
    memento.note("I like tea.", session="monday")
    made = memento.sessions.summarize("monday")
    assert "Zelda" in made.summary

    gone = memento.forget(noted.memories[0], erase=erase)

    assert made.id in gone.memories
    assert not any("Zelda" in one.content for one in memento.list())


def test_a_profile_is_counted_once_for_each_state_of_the_memory(memento: Memento) -> None:
    memento.note("I decided to use Postgres.", tags=["store"])
    memento.note("Ada works at Siemens.", tags=["store"])

    first, second = memento.sessions.profile(), memento.sessions.profile()

    assert not first.is_cached and second.is_cached
    assert first.tags["store"] == 2
    assert {"Ada", "Siemens"} <= first.entities.keys()
    assert first.decisions == ("I decided to use Postgres.",)
    assert (first.memories, first.notes) == (2, 2)
    assert first.line.startswith("2 memories from 2 notes in main; tagged store (2)")
    assert not memento.sessions.profile(regenerate=True).is_cached
    assert first.line in rendered(memento, "main")
    assert memento.sessions.profile().is_cached  # what keeps it is no news to it

    memento.note("Ben works at Nokia.")
    third = memento.sessions.profile()
    assert not third.is_cached and third.memories == 3
    assert memento.sessions.profile(namespace="empty").line == "Nothing is remembered in the namespace empty yet."
    memento.forget(memento.list()[0].iri)
    assert "2 memories" not in rendered(memento, "main")  # a profile names what may be forgotten


def test_the_languages_of_a_profile_are_those_of_the_files_that_are_named(memento: Memento, tmp_path: Path) -> None:
    (tmp_path / "till.py").write_text("import json\n\n\ndef open_till():\n    return json.loads('{}')\n")
    memento.intake.ingest(tmp_path / "till.py")
    found = memento.sessions.profile()
    assert [*found.languages] == ["Python"]
    assert next(iter(found.files)).endswith("till.py")


def test_a_search_of_everything_reads_what_the_caller_may_and_nothing_else(memento: Memento) -> None:
    keep(memento, "The Siemens contract ends in May.", namespace="work")
    keep(memento, "The Siemens oven is broken.", namespace="home")
    keep(memento, "The Siemens stock fell.", namespace="secret")
    narrow = memento.with_access(Access(namespaces=("work", "home"), right="read", name="narrow"))

    def found(memory: Memento, namespace: str) -> set[str]:
        answer = memory.recall("Siemens", k=10, mode="hybrid", everywhere=True, namespace=namespace)
        return {one.content.split()[2] for one in answer.memories}

    assert found(memento, "work") == {"contract", "oven", "stock"}
    assert found(narrow, "work") == {"contract", "oven"}
    only = memento.recall("Siemens", k=10, mode="hybrid", namespace="work")
    assert [one.content for one in only.memories] == ["The Siemens contract ends in May."]


def test_everything_with_a_tag_is_forgotten_together(memento: Memento) -> None:
    for content in ("Tea is green.", "Oslo is cold.", "Rome is warm."):
        keep(memento, content, tags=["trip"] if "is c" in content or "is w" in content else [])

    gone = memento.review.forget_tagged(["trip"])

    assert len(gone.memories) == 2 and not gone.erased
    assert [one.content for one in memento.list()] == ["Tea is green."]
    assert memento.review.unforget(gone.memories[0]).memories
    assert len(memento.review.forget_tagged(["Trip"], erase=True).memories) == 1
    with pytest.raises(NotFound, match="trip"):
        memento.review.forget_tagged(["trip"])
    with pytest.raises(InputError):
        memento.review.forget_tagged([" "])


def test_a_question_is_answered_with_memories_where_no_model_is_set(memento: Memento) -> None:
    memento.note("I work at Google.")
    found = memento.sessions.ask("Where do I work?")
    assert found.answer is None
    assert found.memories.memories[0].content == "I work at Google."


def test_a_model_words_answers_and_summaries_where_one_is_set(tmp_path: Path) -> None:
    asked: list[Asked] = []

    def say(one: Asked) -> dict[str, str] | Status:
        asked.append(one)
        return Status(500) if len(asked) > 2 else {"text": f"Words {len(asked)}."}

    with ScriptedModel(say) as scripted:
        model = ModelSettings(provider="openai-compatible", base_url=scripted.openai, model="m", max_retries=0)
        with open_memento(tmp_path / "home", configured=replace(OFFLINE, model=model)) as memento:
            memento.intake.import_notes([NoteRow(content="Ada chose Postgres.", session="s")], consolidate=False)
            answer = memento.sessions.ask("What did Ada choose?")
            summary = memento.sessions.summarize("s")
            failed = memento.sessions.summarize("s")
            silent = memento.sessions.ask("What did Ada choose?", answer=False)

    assert (answer.answer, answer.model) == ("Words 1.", "openai-compatible:m")
    assert "Ada chose Postgres." in str(asked[0].turns) and "nothing else" in asked[0].system
    assert (summary.summary, summary.model) == ("Words 2.", "openai-compatible:m")
    assert "- Ada chose Postgres." in str(asked[1].turns)
    assert failed.model is None and failed.summary.startswith("Session s:") and failed.replaced == summary.id
    assert failed.remarks[0].startswith("the model gave no summary: ")
    assert silent.answer is None and len(asked) == 3
