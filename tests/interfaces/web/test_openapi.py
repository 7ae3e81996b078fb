"""The page about the addresses: nothing missing, nothing made up, and asked at random they behave as it says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from flask import Flask
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import load_all_checks
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from conftest import OFFLINE
from memento.interfaces.web import openapi
from memento.interfaces.web.app import create_app
from memento.python import Memento, open_memento
from memento.time import now

load_all_checks()
SLOW = ("/memory/check", "/memory/rebuild", "/memory/backup", "/memory/restore", "/memory/migrate")


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    opened = open_memento(tmp_path_factory.mktemp("asked"), configured=OFFLINE)
    assert isinstance(opened, Memento)
    with opened:
        opened.note("I live in Lisbon.")
        token = opened.tokens.create("asker", tenant="local", namespaces=[], right="admin", at=now())
        made = create_app(opened.service)
        made.config["TOKEN"] = {"Authorization": f"Bearer {token}"}
        yield made


@pytest.fixture(scope="module")
def described(app: Flask) -> schemathesis.BaseSchema:
    return schemathesis.openapi.from_wsgi("/memory/openapi.json", app, headers=app.config["TOKEN"])


def test_every_address_of_the_memory_and_of_cases_is_described_and_no_other(app: Flask) -> None:
    served = {
        (method.lower(), re.sub(r"<path:(\w+)>", r"{\1}", rule.rule))
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith(("/memory", "/cases", "/ask")) and rule.rule != "/memory/openapi.json"
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }

    assert served == set(openapi.operations())


def test_answers_refer_to_nouns_that_are_described() -> None:
    page = openapi.page().decode()
    known = json.loads(page)["components"]["schemas"]

    assert set(re.findall(r'"#/components/schemas/(\w+)"', page)) == set(known)


@pytest.mark.parametrize(("verb", "path"), openapi.operations())
def test_what_is_asked_at_random_is_answered_as_described(
    verb: str, path: str, described: schemathesis.BaseSchema, app: Flask
) -> None:
    @given(case=described[path][verb.upper()].as_strategy())
    @settings(max_examples=2 if path in SLOW else 15, derandomize=True, suppress_health_check=list(HealthCheck))
    def asked(case: schemathesis.Case[Any]) -> None:
        case.call_and_validate(
            headers=app.config["TOKEN"],
            checks=[
                schemathesis.checks.not_a_server_error,
                status_code_conformance,
                content_type_conformance,
                response_schema_conformance,
            ],
        )

    asked()
