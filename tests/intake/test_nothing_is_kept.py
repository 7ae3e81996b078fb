"""Secrets through every operation and every way in: none is in a file, in a log, on the wire or in an error."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import structs

from conftest import OFFLINE
from doors import serving
from generated_secrets import Generated, make_secrets
from memento import telemetry
from memento.errors import InputError, MementoError
from memento.intake.redaction import IDENTIFYING, VERBATIM
from memento.model import NoteRow
from memento.operations import TABLE, Operation
from memento.plugins.cases.nouns import CaseRow
from memento.plugins.keys.nouns import ToRemember
from memento.python import Client, Memento, open_memento
from memento.settings import EmbeddingSettings, ModelSettings, ProxySettings, RedactionSettings, Settings
from operations.samples import CALLS, make_sample
from scripted import ScriptedModel

SECRET = "AKIA{:0>15}7"
PLANT = "and my AWS id is {} too"


def find_in_files(folder: Path, secrets: list[str]) -> list[str]:
    """Return which of some texts stand in the bytes of any file."""
    held = b"\n".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    return [one for one in secrets if any(line.encode() in held for line in one.split("\n") if len(line) > 3)]


def plant(value: Any, secret: str) -> Iterator[Any]:
    """Yield copies of a value, each with a secret in one more of its texts."""
    match value:
        case str():
            yield f"{value} {PLANT.format(secret)}"
        case bytes():
            yield value + f' <urn:planted> <urn:says> "{PLANT.format(secret)}" .'.encode()
        case list() | tuple():
            for place, one in enumerate(value):
                for planted in plant(one, secret):
                    yield type(value)([*value[:place], planted, *value[place + 1 :]])
        case msgspec.Struct():
            for name in value.__struct_fields__:
                if name not in VERBATIM:
                    for planted in plant(getattr(value, name), secret):
                        yield structs.replace(value, **{name: planted})
        case _ if is_dataclass(value) and not isinstance(value, type):
            for field in fields(value):
                for planted in plant(getattr(value, field.name), secret):
                    yield replace(value, **{field.name: planted})


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[ScriptedModel]:
    """An embedder and a model over real HTTP."""
    with ScriptedModel() as model:
        yield model


def configure(remote: ScriptedModel, **groups: Any) -> Settings:
    embedding = EmbeddingSettings(provider="openai", base_url=remote.openai, api_key="k", model="m", dimensions=256)
    return Settings(embedding=embedding, **groups)


def test_no_operation_keeps_or_sends_a_secret_from_any_of_its_texts(
    tmp_path: Path, remote: ScriptedModel, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    (tmp_path / "document.ttl").write_text(f'<urn:a> <urn:b> "{PLANT.format(SECRET.format("DOCUMENT"))}" .')
    planted, errors = [SECRET.format("DOCUMENT")], list[str]()
    with open_memento(tmp_path / "home", configured=configure(remote)) as memento:
        assert isinstance(memento, Memento)
        sample = make_sample(memento, "n", tmp_path)
        for operation in TABLE.values():
            if operation.__name__ in ("Backup", "Restore", "Rebuild", "Check", "Upgrade"):
                continue
            call: Operation[Any] = CALLS[operation](sample, "n")
            secret = SECRET.format(len(planted))
            for one in [call, *plant(call, secret)]:
                planted.append(secret)
                try:
                    memento.call(one)
                except MementoError as error:
                    errors.append(str(error))
    secrets = sorted(set(planted))

    assert len(secrets) > 60
    assert find_in_files(tmp_path / "home", secrets) == []
    assert not [one for one in secrets if one in caplog.text or one in "".join(errors) or one in telemetry.exposition()]
    assert not [one for one in secrets if any(one in json.dumps(asked.body) for asked in remote.requests)]


def test_fields_that_are_left_alone_are_fields_of_operations() -> None:
    known = {name for operation in TABLE.values() for name in operation.__struct_fields__}
    rows = {field.name for row in (NoteRow, ToRemember, CaseRow) for field in fields(row)}

    assert known >= VERBATIM
    assert known | rows >= IDENTIFYING


def send_everywhere(memory: Any, one: Generated, place: int) -> None:
    """Put a text with a secret where a text can be put."""
    match place % 9:
        case 0:
            memory.note(one.text)
        case 1:
            memory.intake.import_notes([NoteRow(content=one.text, title=f"{place}")], consolidate=False)
        case 2:
            memory.keys.remember(one.text, [one.text[:200]])
        case 3:
            memory.recall(one.text)
        case 4:
            memory.cases.add([CaseRow(task=f"Do {place}.", plan=one.text, outcome="success")])
        case 5:
            memory.graphs.update(
                f"INSERT DATA {{ <urn:x:{place}> <urn:says> {json.dumps(one.text, ensure_ascii=False)} }}"
            )
        case 6:
            memory.living.evaluate(f"(remember {json.dumps(one.text, ensure_ascii=False)})")
        case 7:
            noted = memory.note(f"I have {place} apples.")
            with suppress(MementoError):
                memory.correct(noted.memories[0], one.text)
        case _:
            memory.graphs.put(
                f"<urn:y> <urn:says> {json.dumps(one.text)} .".encode(), f"urn:memento:data:local:g{place}"
            )


def test_200_secrets_are_in_no_file_no_log_and_on_no_wire(
    tmp_path: Path, remote: ScriptedModel, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    generated = make_secrets(11)
    secrets = [one.trace for one in generated]
    model = ModelSettings(provider="openai", base_url=remote.openai, api_key="k", model="m")
    with open_memento(tmp_path / "home", configured=configure(remote, proxy=ProxySettings())) as memento:
        assert isinstance(memento, Memento)
        with serving(memento) as address, Client(address) as client:
            for place, one in enumerate(generated[:100]):
                send_everywhere(client, one, place)
        for place, one in enumerate(generated[100:], 100):
            send_everywhere(memento, one, place)
        assert sum(memento.status().redacted.values()) >= 150
        assert find_in_files(tmp_path / "home", secrets) == []
    with open_memento(tmp_path / "model", configured=configure(remote, model=model)) as memento:
        for one in generated[:20]:
            memento.note(one.text, wait=True)
    written = caplog.text + "".join(capfd.readouterr())

    assert find_in_files(tmp_path, secrets) == []
    wire = [json.dumps(asked.body, ensure_ascii=False) for asked in remote.requests]
    assert any("REDACTED" in body for body in wire)
    for secret in secrets:
        line = max(secret.split("\n"), key=len)
        assert line not in written
        assert not any(line in body for body in wire if len(line) > 6)


def test_the_answer_of_a_note_and_of_an_import_says_how_many_secrets_of_which_kind(memento: Memento) -> None:
    noted = memento.note("my password is hunter2 and my PIN is 4821.")
    imported = memento.intake.import_notes(
        [NoteRow(content="AKIAIOSFODNN7EXAMPLE is the key"), NoteRow(content="I like tea.")]
    )

    assert noted.redacted == {"PASSWORD": 1, "PIN": 1}
    assert noted.remarks[-1] == "2 secrets were taken out of it: PASSWORD (1), PIN (1)"
    assert imported.redacted == {"AWS_KEY": 1}
    assert memento.status().redacted == {"AWS_KEY": 1, "PASSWORD": 1, "PIN": 1}
    assert 'memento_events_total{event="redaction.PIN"}' in telemetry.exposition()


def test_an_rdf_document_says_how_many_secrets_it_had(memento: Memento, tmp_path: Path) -> None:
    (tmp_path / "own.ttl").write_text('<urn:a> <urn:b> "my password is hunter2" .')

    assert memento.intake.import_rdf(tmp_path / "own.ttl", data="own").redacted == {"PASSWORD": 1}


def test_a_namespace_that_refuses_says_what_and_where_and_keeps_nothing(tmp_path: Path) -> None:
    configured = replace(OFFLINE, redaction=RedactionSettings(refuse="work, bank"))
    with open_memento(tmp_path / "home", configured=configured) as memento:
        with pytest.raises(InputError, match=r"^content holds a secret at line 2, column 16: PASSWORD") as refused:
            memento.note("I like tea.\nmy password is hunter2", namespace="work")
        with pytest.raises(InputError, match=r"^rows\[2\]\.content holds a secret"):
            memento.intake.import_notes([NoteRow(content="Tea."), NoteRow(content="PIN 4821")], namespace="bank")
        with pytest.raises(InputError, match="a value of <urn:b> holds a secret"):
            memento.graphs.update('INSERT DATA { <urn:a> <urn:b> "my password is hunter2" }', namespace="work")

        assert "hunter2" not in str(refused.value)
        assert memento.status(namespace="work").notes == memento.status(namespace="bank").notes == 0
        assert memento.recall("is my password hunter2", namespace="work").memories == ()
        assert memento.note("my password is hunter2").redacted == {"PASSWORD": 1}


def test_a_secret_as_a_key_of_its_own_is_refused_and_an_ordinary_one_is_not(memento: Memento) -> None:
    with pytest.raises(InputError, match="idempotency_key holds a secret at line 1, column 1: AWS_KEY") as refused:
        memento.note("I like tea.", idempotency_key="AKIAIOSFODNN7EXAMPLE")

    assert "AKIA" not in str(refused.value)
    key = "Zq7RtW2xLp9vBn4mKs8dFh3jGc6yTa1e"
    assert memento.note("I like tea.", idempotency_key=key) == memento.note("I like tea.", idempotency_key=key)


def test_the_same_note_with_another_secret_under_the_same_key_is_the_same_note(memento: Memento) -> None:
    first = memento.note("my password is hunter2", idempotency_key="k")

    assert memento.note("my password is hunter3", idempotency_key="k").note == first.note


def test_with_redaction_off_every_word_is_kept(tmp_path: Path) -> None:
    configured = replace(OFFLINE, redaction=RedactionSettings(mode="off"))
    with open_memento(tmp_path / "home", configured=configured) as memento:
        noted = memento.note("my password is hunter2")

        assert noted.redacted == {}
        assert any("hunter2" in text for text in noted.contents.values())
