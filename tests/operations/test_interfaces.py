"""Every operation is at every interface, or absent there with a reason."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any, get_args

import click
import pytest
from flask.testing import FlaskClient

from conftest import OFFLINE
from memento.interfaces.cli import main
from memento.interfaces.cli.commands import command_of
from memento.interfaces.mcp import catalogue
from memento.interfaces.mcp.tools import Reach
from memento.interfaces.reference import tools_of
from memento.interfaces.web import openapi
from memento.interfaces.web.app import create_app
from memento.operations import TABLE, Operation, fields_of, name_of
from memento.operations.base import LOCAL, Interface, method_of, places_of, route_of, summary_of
from memento.python import Memento, Memory
from memento.service.context import find_handler
from operations.samples import Sample, make_sample

TOOLS = tools_of()
by_name = pytest.mark.parametrize("name", TABLE)
PROTOCOL = "/sparql"
"""Where the protocols of SPARQL rule, which know parameters of their own."""


@pytest.fixture(scope="module")
def rest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    from memento.python import open_memento

    memento = open_memento(tmp_path_factory.mktemp("rest"), configured=OFFLINE)
    assert isinstance(memento, Memento)
    with memento, create_app(memento.service).test_client() as client:
        yield client


@pytest.fixture
def sample(memento: Memento, tmp_path: Path) -> Sample:
    return make_sample(memento, "main", tmp_path)


@by_name
def test_an_operation_is_declared_whole(name: str) -> None:
    operation = TABLE[name]

    assert summary_of(operation)
    find_handler(operation, OFFLINE)
    assert all(field.description for field in fields_of(operation).values())
    assert set(operation.absent) <= set(get_args(Interface))
    assert all(why.strip() for why in operation.absent.values())
    assert set(places_of(operation)) <= set(fields_of(operation))


@by_name
def test_the_address_of_an_operation_is_served_and_refuses_what_it_does_not_know_by_name(
    name: str, rest: FlaskClient
) -> None:
    verb, path = route_of(TABLE[name])
    rules = {
        (method, rule.rule) for rule in rest.application.url_map.iter_rules() for method in rule.methods or frozenset()
    }
    assert (verb, path.replace("{", "<path:").replace("}", ">")) in rules
    if path.startswith(PROTOCOL):
        assert "rest" in TABLE[name].absent
        return
    for place in places_of(TABLE[name]):
        path = path.replace(f"{{{place}}}", "urn:x")
    refused = [rest.open(f"{path}?nonsense=1", method=verb)]
    if verb == "POST" and "rest" not in TABLE[name].absent and name != "import_notes":
        refused.append(rest.open(path, method=verb, json={"nonsense": 1}))
    for answer in refused:
        assert (answer.status_code, "'nonsense'" in answer.text) == (400, True), answer.text


@pytest.mark.parametrize(
    "name", [name for name in TABLE if set(places_of(TABLE[name])) & {"iri", "case", "run", "retrieval"}]
)
def test_what_can_be_no_iri_is_refused_as_the_callers_mistake(name: str, rest: FlaskClient) -> None:
    verb, path = route_of(TABLE[name])
    needed = {"content": "USER lives in Rome.", "helped": True, "reward": 1.0, "task": "Pack."}
    body = {key: value for key, value in needed.items() if key in fields_of(TABLE[name])}
    for iri in ("urn:x%1B", "urn:x%20y", "urn:%3C%3E", "nothing"):
        how: dict[str, Any] = {"json": body} if verb == "POST" else {}
        answer = rest.open(path.replace(f"{{{places_of(TABLE[name])[0]}}}", iri), method=verb, **how)
        assert answer.status_code in (400, 404), (iri, answer.text)


@by_name
def test_openapi_describes_every_argument_of_an_operation(name: str) -> None:
    operation = TABLE[name]
    verb, path = route_of(operation)
    described = json.loads(openapi.page())["paths"].get(path, {}).get(verb.lower())
    if described is None:
        assert path.startswith(PROTOCOL) and "rest" in operation.absent
        return
    named = {one["name"] for one in described["parameters"]}
    body = described.get("requestBody", {}).get("content", {}).get("application/json", {})
    named |= set(body.get("schema", {}).get("properties", {}))
    told = {name: {name, *field.aliases} for name, field in fields_of(operation).items()}
    if "rest" in operation.absent:  # what travels is the file itself, and `form` is the parameter `format`
        told = {name: {name, *({"format"} if name == "form" else ())} for name in told if name not in LOCAL}

    assert described["summary"] == summary_of(operation)
    assert [name for name, names in told.items() if not names & named] == []


@by_name
def test_an_operation_is_a_method_with_its_docstring_and_its_arguments(name: str) -> None:
    operation = TABLE[name]
    method = reduce(getattr, method_of(operation).split("."), Memory)
    arguments, text = set(inspect.signature(method).parameters) - {"self", "progress"}, inspect.getdoc(method) or ""

    assert summary_of(operation) in " ".join(text.split())
    assert all(f"    {one}: {field.description}" in text for one, field in fields_of(operation).items())
    assert arguments == set(fields_of(operation))


@by_name
def test_an_operation_is_a_command_with_help(name: str) -> None:
    path = command_of(name)
    if path is None:
        assert TABLE[name].absent["cli"]
        return
    command: click.Command = main
    for word in path.split():
        assert isinstance(command, click.Group)
        command = command.commands[word]

    assert "cli" not in TABLE[name].absent
    assert command.help
    assert command.get_help(click.Context(command, info_name=path))


@by_name
def test_an_operation_is_asked_by_tools_or_says_why_not(name: str) -> None:
    assert ("mcp" in TABLE[name].absent) != bool(TOOLS.get(name)), "either it is there, or `absent` says why not"


class Recorder(Memento):
    """A memory that records what it is asked."""

    asked: set[str]

    def call(self, operation: Operation[Any], progress: Any = None) -> Any:
        self.asked.add(name_of(type(operation)))
        return super().call(operation, progress)


TOOL_CALLS: dict[str, dict[str, Any]] = {
    "memento_note": {"content": "I live in Lisbon.", "confirmed": True},
    "memento_recall": {"query": "Where do I work?"},
    "memento_correct": {"iri": "{memory}", "content": "I work at Siemens.", "confirmed": True},
    "memento_forget": {"iri": "{memory}", "confirmed": True},
    "memento_timeline": {"subject": "me"},
    "memento_status": {},
    "search": {"query": "Where do I work?"},
    "fetch": {"id": "{memory}"},
    "remember": {"content": "Rome is warm.", "keys": ["Rome"]},
    "correct": {"memory_id": "{other}", "content": "Oslo is mild."},
    "forget": {"memory_id": "{other}"},
    "remember_batch": {"items": [{"content": "Tea.", "keys": ["tea"]}]},
    "feedback": {"memory_id": "{memory}", "outcome": "success"},
    "memento_case_record": {"task": "Cook.", "plan": "Boil.", "outcome": "success"},
    "memory": {"expr": "(stats)"},
    "memory_ingest": {"input": "{folder}", "confirmed": True},
    "memory_save": {"content": "Rome is warm."},
    "memory_recall": {"query": "Where do I work?"},
    "memory_search": {"query": "Oslo"},
    "memory_forget": {"id": "{other}"},
    "memory_import": {"content": "Tea is green.", "format": "text"},
    "memory_export": {},
}


@pytest.mark.parametrize("name", TOOL_CALLS)
def test_a_tool_made_by_hand_asks_the_operations_that_it_says(name: str, memento: Memento, sample: Sample) -> None:
    tool = catalogue.tools(tuple(catalogue.GROUPS))[name]
    arguments = {
        key: value.format(memory=sample.memory, other=sample.other, folder=sample.folder)
        if isinstance(value, str)
        else value
        for key, value in TOOL_CALLS[name].items()
    }
    recorder = Recorder(memento.service)
    recorder.asked = set()
    tool.run(Reach(memory=recorder, namespace=None), tool.parse_arguments(arguments))

    assert recorder.asked and recorder.asked <= {name_of(one) for one in tool.asks}
    assert name_of(tool.asks[-1]) in recorder.asked or name == "search"


def test_every_tool_that_is_made_by_hand_is_tried() -> None:
    by_hand = {
        tool.name
        for tool in catalogue.tools(tuple(catalogue.GROUPS)).values()
        if not tool.run.__qualname__.startswith("tool_over")
    }

    assert by_hand - {"memento_sparql"} == set(TOOL_CALLS)  # which asks for rows as they come, not for the whole answer
