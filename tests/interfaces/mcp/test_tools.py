"""What a tool is: schemas that describe its arguments and its answers, and errors that name the fix."""

from __future__ import annotations

import pytest

from memento.errors import InputError
from memento.interfaces.mcp import catalogue
from memento.interfaces.mcp.tools import Tool
from memento.settings import TOOL_GROUPS

EVERY = list(catalogue.tools(TOOL_GROUPS, direct=True).values())


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
    assert tuple(catalogue.GROUPS) == TOOL_GROUPS


@pytest.mark.parametrize("tool", EVERY, ids=lambda tool: tool.name)
def test_every_argument_is_described_and_every_hint_is_given(tool: Tool) -> None:
    listed = tool.describe()

    assert listed["inputSchema"]["type"] == listed["outputSchema"]["type"] == "object"
    assert listed["inputSchema"]["additionalProperties"] is False
    assert all(of.get("description") for of in listed["inputSchema"]["properties"].values())
    assert listed["description"]
    assert set(listed["annotations"]) == {"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
    assert not (tool.reads_only and tool.destroys)


def test_what_destroys_what_writes_and_what_reaches_out_says_so() -> None:
    assert [tool.name for tool in EVERY if tool.destroys] == ["memento_forget", "forget", "memento_case_run"]
    assert [tool.name for tool in EVERY if not tool.reads_only] == [
        *("memento_note", "memento_correct", "memento_forget"),
        *("remember", "correct", "forget", "remember_batch", "cleanup_expired"),
        *("feedback", "associate", "decay", "archive", "unarchive"),
        *("memento_case_retrieve", "memento_case_record", "memento_case_reward", "memento_case_plan"),
        "memento_case_run",
        "memory",
    ]
    assert [tool.name for tool in EVERY if tool.reaches_out] == ["memento_case_run"]


def test_no_two_tools_of_all_groups_have_the_same_name() -> None:
    listed = [*catalogue.DEFAULT, *(tool for group in catalogue.GROUPS.values() for tool in group)]

    assert len({tool.name for tool in listed}) == len(listed)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "memento_recall needs the argument query: The question"),
        ({"q": "x"}, "memento_recall has no argument 'q': it takes query, k, as_of, believed_at"),
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
