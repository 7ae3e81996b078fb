"""What is a secret and what is none, by the table, by chance and by hand."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generated_secrets import TOKENS, make_ordinary_lines, make_secrets
from memento.errors import InputError, SettingsError
from memento.intake.redaction import (
    TABLE,
    Redaction,
    Redactor,
    SecretRow,
    find_secrets,
    raise_if_secret_file,
    replace_secrets,
)
from memento.model import Scope
from memento.settings import RedactionSettings
from memento.text.tables import entries

ROWS = [entry.row for entry in entries(TABLE, SecretRow, {})]
HERE = Scope("local", "main")


def redact(text: str) -> str:
    return replace_secrets(text, find_secrets(text))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_of_the_table_finds_its_examples_and_not_its_counter_example(row: SecretRow) -> None:
    kind = row.name.partition(".")[0]

    for text, secret in zip(row.example[::2], row.example[1::2], strict=True):
        assert [(one.kind, text[one.begin : one.end]) for one in find_secrets(text)] == [(kind, secret)]
    assert not any(one.kind == kind for one in find_secrets(row.counter))


@pytest.mark.parametrize("seed", range(5))
def test_200_secrets_by_chance_are_all_found(seed: int) -> None:
    missed = [one for one in make_secrets(seed) if any(line in redact(one.text) for line in one.secret.split("\n"))]

    assert missed == []


@pytest.mark.parametrize("seed", range(5))
def test_of_2000_ordinary_lines_at_most_one_in_two_hundred_loses_anything(seed: int) -> None:
    lines = make_ordinary_lines(seed)

    assert sum(redact(line) != line for line in lines) <= len(lines) * 0.005


def test_redacting_twice_is_redacting_once() -> None:
    for one in make_secrets(7):
        assert redact(redact(one.text)) == redact(one.text)


@given(st.text())
def test_what_no_secret_stands_in_stays_as_it_is_and_nothing_fails(text: str) -> None:
    found = find_secrets(text)

    assert found or redact(text) == text
    assert all(before.end <= after.begin for before, after in pairwise(found))


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("key AKIAIOSFODNN7EXAMPLE", "key [REDACTED:AWS_KEY]"),
        ("it is sk-abcdefghijklmnopqrst1", "it is [REDACTED:API_KEY]"),
        ("postgres://ana:tea4two@db/x", "postgres://ana:[REDACTED:PASSWORD_IN_URL]@db/x"),
        (
            "my password is hunter2 and my PIN is 4821",
            "my password is [REDACTED:PASSWORD] and my PIN is [REDACTED:PIN]",
        ),
        ("export API_KEY=abc123def", "export API_KEY=[REDACTED:ENV_SECRET]"),
        ('my password is "open sesame"!', 'my password is "[REDACTED:PASSWORD]"!'),
        (
            "password changed from tea4two to tea5two",
            "password changed from [REDACTED:PASSWORD] to [REDACTED:PASSWORD]",
        ),
        ("Die PIN lautet 4821.", "Die PIN lautet [REDACTED:PIN]."),
        ('{"pin": 4821}', '{"pin": "[REDACTED:PIN]"}'),
        (r'{"note": "the \"password\": \"tea4two\""}', r'{"note": "the \"password\": \"[REDACTED:PASSWORD]\""}'),
        (r"-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----", "[REDACTED:PRIVATE_KEY]"),
        ("-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\nno end", "[REDACTED:PRIVATE_KEY]"),
    ],
)
def test_the_kind_stands_in_the_place_of_a_secret_and_what_is_around_it_stays(text: str, redacted: str) -> None:
    assert redact(text).startswith(redacted)


@pytest.mark.parametrize(
    "text",
    [
        "The pin at the door is broken since 2019.",
        "GPIO pin 1234 of 100 pins 2000",
        "I use 1Password as my password manager.",
        "export PWD=/home/ana/project",
        "PRIMARY_KEY=customer_identifier_long",
        "ticket JIRA-12345-ABCD-2024-XYZ9-K2, file Q3FY2024-EMEA-Sales-Report_v12-final.pptx",
        "contract 0x742d35Cc6634C0532925a3b844Bc454e4438f44e, paid to bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
        "spotify:track:4uLU6hMCjMI75M1A2tKUQC",
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
        'It says that my password is "too short".',
    ],
)
def test_numbers_names_folders_and_pictures_are_no_secrets(text: str) -> None:
    assert redact(text) == text


def test_a_text_within_json_stays_json_without_its_secret() -> None:
    for one in make_secrets(5):
        for text in (json.dumps({"text": one.text}), json.dumps(json.dumps([one.text]))):
            redacted = redact(text)

            json.loads(redacted)
            assert json.dumps(one.secret)[1:-1] not in redacted


def test_formats_of_providers_come_from_detect_secrets() -> None:
    mailchimp, twilio = "0123456789abcdef0123456789abcdef-us12", "SK0123456789abcdef0123456789abcdef"

    assert "REDACTED" in redact(f"mailchimp {mailchimp}")
    assert twilio not in redact(f"twilio {twilio}")


@pytest.mark.parametrize(
    "name",
    (
        ".env",
        ".env.local",
        ".env.example.local",
        "prod.env",
        "credentials",
        "credentials.json",
        "aws_credentials",
        "my-credentials-backup.txt",
        "server.pem",
        "tls.key",
        "id_rsa",
    ),
)
def test_a_file_that_holds_secrets_by_its_name_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="hold secrets"):
        raise_if_secret_file(Path("app") / name)


@pytest.mark.parametrize(
    "name", [".env.example", "notes.md", "environment.md", "keys.txt", "id_rsa.pub", "monkey.txt", "secretary.md"]
)
def test_other_files_are_not_refused(name: str) -> None:
    raise_if_secret_file(name)


def open_redactor(folder: Path, **knobs: object) -> Redactor:
    return Redactor(RedactionSettings(**knobs), folder / "redactions.json")  # type: ignore[arg-type]


def test_ones_own_patterns_are_secrets_and_what_is_allowed_is_none(tmp_path: Path) -> None:
    redactor = open_redactor(tmp_path, patterns='{"badge": "B-\\\\d{4}"}', allow="hunter2|AKIA.*")
    redaction = Redaction(redactor, lambda: HERE)

    assert redaction.redact("badge B-1234, my password is hunter2") == "badge [REDACTED:BADGE], my password is hunter2"
    assert redaction.close() == {"BADGE": 1}


@pytest.mark.parametrize("knobs", [{"patterns": '{"badge": "("}'}, {"allow": "["}])
def test_a_pattern_that_is_none_is_an_error_when_the_memory_is_opened(knobs: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no regular expression"):
        open_redactor(tmp_path, **knobs)


def test_nothing_is_looked_for_where_it_is_off(tmp_path: Path) -> None:
    redaction = Redaction(open_redactor(tmp_path, mode="off"), lambda: HERE)

    assert redaction.redact("my password is hunter2") == "my password is hunter2"


def test_entropy_alone_may_be_switched_off(tmp_path: Path) -> None:
    chance = TOKENS["HIGH_ENTROPY"](Random(3))
    redaction = Redaction(open_redactor(tmp_path, entropy=False), lambda: HERE)

    assert redaction.redact(f"{chance} AKIAIOSFODNN7EXAMPLE") == f"{chance} [REDACTED:AWS_KEY]"


def test_counts_outlive_the_process_and_hold_no_secret(tmp_path: Path) -> None:
    redaction = Redaction(open_redactor(tmp_path), lambda: HERE)
    redaction.redact(["my password is hunter2", "AKIAIOSFODNN7EXAMPLE"])
    redaction.close()

    assert open_redactor(tmp_path).count_by_kind(HERE) == {"AWS_KEY": 1, "PASSWORD": 1}
    assert "hunter2" not in (tmp_path / "redactions.json").read_text()


def test_n_quads_are_redacted_in_literals_and_iris_and_numbers_stay(tmp_path: Path) -> None:
    lines = (
        b'<urn:a> <urn:b> "my password is hunter2\\nand tea"@en <urn:g> .\n'
        b"<urn:a> <urn:b> <https://ana:tea4two@example.org/> <urn:g> .\n"
        b'<urn:a> <urn:b> "12"^^<http://www.w3.org/2001/XMLSchema#integer> <urn:g> .\n'
    )

    assert Redaction(open_redactor(tmp_path), lambda: HERE).redact_quads(lines).decode().splitlines() == [
        '<urn:a> <urn:b> "my password is [REDACTED:PASSWORD]\\nand tea"@en <urn:g> .',
        "<urn:a> <urn:b> <https://ana:REDACTED:PASSWORD_IN_URL@example.org/> <urn:g> .",
        '<urn:a> <urn:b> "12"^^<http://www.w3.org/2001/XMLSchema#integer> <urn:g> .',
    ]
