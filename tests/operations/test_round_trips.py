"""Every operation answers alike in this process and over HTTP."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from conftest import OFFLINE
from doors import serving
from memento.codec import plain
from memento.errors import MementoError
from memento.operations import TABLE, Operation
from memento.plugins.keys.settings import KeysSettings
from memento.python import Client, Memento, open_memento
from operations.samples import CALLS, Sample, make_sample

UNANSWERED = {
    "unarchive": "nothing is archived",
    "unforget": "nothing is forgotten",
    "execute_task": "no server of tools is set",
}
"""The operations that the sample has nothing for: both interfaces say so."""
LEAVE_A_MARK = ("profile", "export")
"""Operations that only read, but say the second time that they were asked before, or find their file."""
SMALL_FIRST = sorted(TABLE, key=lambda name: name not in ("check", "backup", "restore", "rebuild", "sync"))
"""The operations on the whole folder come while little is in it."""


@dataclass(frozen=True, slots=True)
class Served:
    """A memory, and a client of the service over it."""

    memento: Memento
    client: Client
    folder: Path
    numbers: Iterator[int] = field(default_factory=count)
    read: list[tuple[str, Sample]] = field(default_factory=list)

    def sample(self, name: str) -> tuple[str, Sample]:
        """A namespace and what is in it: the same one for operations that leave everything as it was, else a new one."""
        is_read = TABLE[name].right == "read" and name not in LEAVE_A_MARK
        if is_read and self.read:
            return self.read[0]
        namespace = f"n{next(self.numbers)}"
        made = namespace, make_sample(self.memento, namespace, self.folder)
        if is_read:
            self.read.append(made)
        return made


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("operations")
    (folder / "document.ttl").write_text("<urn:a> <urn:b> <urn:c> .", encoding="utf-8")
    memento = open_memento(folder / "home", configured=OFFLINE.having(KeysSettings(direct=True)))
    assert isinstance(memento, Memento)
    with memento, serving(memento) as address:
        yield Served(memento, Client(address), folder)


def outcome(memory: Memento | Client, operation: Operation[Any]) -> tuple[object, object]:
    """What kind of answer it is, and its form; of an error what it says first."""
    try:
        answer = memory.call(operation)
    except MementoError as error:
        return type(error), str(error).split(":")[0][:30]
    return type(answer), form(plain(answer) if not isinstance(answer, bytes | tuple) else answer)


def form(value: object) -> object:
    """Which fields, lists and kinds of values there are; an IRI is as good as another."""
    match value:
        case bytes():
            return "bytes"
        case dict():
            return {re.sub(r"^urn:.*", "an IRI", name): form(one) for name, one in value.items()}
        case list() | tuple():
            return sorted({repr(form(one)) for one in value})
        case bool() | None:
            return value
        case int() | float():
            return "number"
        case str():
            return "text"
    return form(plain(value))


def test_there_is_a_call_of_every_operation() -> None:
    assert set(CALLS) == set(TABLE.values())


@pytest.mark.parametrize("name", SMALL_FIRST)
def test_an_operation_answers_alike_in_this_process_and_over_http(name: str, served: Served) -> None:
    outcomes = {}
    if name == "restore":
        served.memento.admin.backup(served.folder / "backups")
    for memory in (served.memento, served.client):
        namespace, sample = served.sample(name)
        if name == "unarchive":
            served.memento.living.associate(sample.memory, sample.other, namespace=namespace)
        if name == "revoke_token":
            served.memento.admin.create_token(f"phone of {namespace}")
        outcomes[type(memory)] = outcome(memory, CALLS[TABLE[name]](sample, namespace))

    assert outcomes[Memento] == outcomes[Client]
    kind, said = outcomes[Memento]
    assert not (isinstance(kind, type) and issubclass(kind, MementoError)) or name in UNANSWERED, said
