"""What a tool is: schemas that describe its arguments and its answers, and errors that name the fix."""

from __future__ import annotations

import json
import re

import pytest

from memento.errors import InputError
from memento.interfaces.mcp import catalogue
from memento.interfaces.mcp.tools import USUAL, Tool
from memento.settings import Settings, list_tool_groups

EVERY = list(catalogue.tools(list_tool_groups()).values())


def test_the_default_tools_are_at_most_eight_and_those_of_the_design() -> None:
    assert list(catalogue.tools(())) == [
        "memento_note",
        "memento_recall",
        "memento_correct",
        "memento_forget",
        "memento_timeline",
        "memento_sparql",
        "memento_status",
    ]


def test_a_group_adds_its_tools_after_the_default_ones() -> None:
    assert list(catalogue.tools(("connectors",)))[-2:] == ["search", "fetch"]
    assert tuple(catalogue.GROUPS) == list_tool_groups()


@pytest.mark.parametrize("tool", EVERY, ids=lambda tool: tool.name)
def test_every_argument_is_described_and_every_hint_is_given(tool: Tool) -> None:
    listed = tool.describe()

    assert listed["inputSchema"]["type"] == "object"
    assert listed.get("outputSchema", {"type": "object"})["type"] == "object"
    assert listed["inputSchema"]["additionalProperties"] is False
    assert all(of.get("description") for of in listed["inputSchema"]["properties"].values())
    assert listed["description"]
    told = {**USUAL, **listed["annotations"]}
    assert (told["readOnlyHint"], told["openWorldHint"]) == (tool.reads_only, tool.reaches_out)
    assert tool.reads_only or told["destructiveHint"] is tool.destroys
    assert tool.reads_only or told["idempotentHint"] is tool.repeats_harmlessly
    assert not (tool.reads_only and tool.destroys)


def test_what_destroys_what_writes_and_what_reaches_out_says_so() -> None:
    assert {tool.name for tool in EVERY if tool.destroys} == {
        *("memento_forget", "forget", "memory_forget", "memento_case_run")
    }
    assert {tool.name for tool in EVERY if not tool.reads_only} == {
        *("memento_note", "memento_correct", "memento_forget"),
        *("remember", "correct", "forget", "remember_batch", "cleanup_expired"),
        *("memory_save", "memory_forget", "memory_import", "memory_session_start", "memory_session_summary"),
        *("memory_index", "memory_ingest", "memory_profile", "memory_compact", "memory_migrate"),
        *("memento_case_retrieve", "memento_case_record", "memento_case_reward", "memento_case_plan"),
        "memento_case_run",
        *("feedback", "associate", "decay", "archive", "unarchive"),
        "memory",
    }
    assert [tool.name for tool in EVERY if tool.reaches_out] == ["memory_ingest", "memento_case_run"]


def test_no_two_tools_of_all_groups_have_the_same_name() -> None:
    listed = {
        id(tool): tool
        for tool in (*catalogue.DEFAULT, *(tool for group in catalogue.GROUPS.values() for tool in group))
    }

    assert len({tool.name for tool in listed.values()}) == len(listed)  # two groups may have the same tool


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "memento_recall needs the argument query: The question"),
        (
            {"engine": "ppr"},
            "memento_recall has no argument 'engine': it takes query, k, as_of, believed_at, budget, tags",
        ),
        ({"query": "x", "k": "many"}, "k must be"),
        ({"query": 3}, "query must be"),
    ],
)
def test_wrong_arguments_are_named_with_the_fix(given: dict[str, object], told: str) -> None:
    with pytest.raises(InputError, match=told):
        catalogue.tools(())["memento_recall"].parse_arguments(given)


def test_numbers_and_truths_may_come_as_text() -> None:
    read = catalogue.tools(())["memento_recall"].parse_arguments({"query": "x", "k": "3", "as_of": None})

    assert getattr(read, "k", None) == 3


def test_a_call_may_use_the_names_that_arguments_have_over_http() -> None:
    for name, given, field in (
        ("read_key", {"iri": "urn:memento:key:1"}, "key_id"),
        ("recall", {"query": "tea", "k": 3}, "top_k"),
        ("remember", {"content": "x", "keys": ["tea"], "ttl_s": 3}, "ttl_seconds"),
        ("correct", {"iri": "urn:m:1", "content": "x"}, "memory_id"),
    ):
        [tool] = [one for one in EVERY if one.name == name]
        read = tool.parse_arguments(given)
        assert getattr(read, field) == list(given.values())[-1 if field in ("top_k", "ttl_seconds") else 0]


def test_a_profile_of_tools_says_one_rule_for_asking_before_writing() -> None:
    assert "only after the user has seen the note" in catalogue.instructions(())
    silent = catalogue.instructions(("keys",))
    assert "without asking" in silent and "only after" not in silent


@pytest.mark.parametrize(("mode", "word"), [("client", "the client shows"), ("never", "without asking")])
def test_what_nobody_is_asked_about_here_is_described_so(mode: str, word: str) -> None:
    for name in ("memento_note", "memento_correct", "memento_forget"):
        shown = catalogue.tools((), confirmation=mode)[name].describe()
        assert word in shown["description"] and "confirmed=true" not in shown["description"]
        assert "confirmed=true" in catalogue.tools(())[name].describe()["description"]
        assert "readOnlyHint" not in shown["annotations"]
    assert "only after" not in catalogue.instructions((), mode) and "memento_note" in catalogue.instructions((), mode)
    assert "shows them the note first" not in catalogue.instructions(("keys",), mode)


def test_the_default_tools_take_few_words_and_answer_in_text() -> None:
    listed = catalogue.lists((), Settings())["tools/list"]["tools"]

    assert len(json.dumps(listed, separators=(",", ":"))) <= 4 * 2_200
    assert not any("outputSchema" in tool for tool in listed)
    assert not {"engine", "mode", "map"} & {name for tool in listed for name in tool["inputSchema"]["properties"]}
    for name in ("memento_note", "memento_correct", "memento_forget"):
        [tool] = [one for one in listed if one["name"] == name]
        assert tool["inputSchema"]["properties"]["confirmed"]["default"] is False
        assert "confirmed" not in tool["inputSchema"]["required"]


def test_no_tool_tells_of_one_that_is_not_listed_beside_it() -> None:
    names = {tool.name for tool in EVERY if "_" in tool.name}
    for groups in ((), *((group,) for group in catalogue.GROUPS)):
        listed = catalogue.tools(groups)
        for tool in listed.values():
            told = {name for name in names if re.search(rf"\b{name}\b", tool.description)}
            assert told <= set(listed), (groups, tool.name)
