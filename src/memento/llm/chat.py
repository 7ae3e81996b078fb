"""
A language model that fills in a form: asks by the strictest means the provider takes, checks, and asks again with what was wrong.

    prompt ── body ── endpoint ── said ── form? ── complaint? ──► reply
                ▲                           │          │
                └── what was wrong ─────────┴──────────┘

*But:* all retries of one answer, of the network's and of the form's, come out of the same few.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from memento import telemetry
from memento.errors import ModelError
from memento.llm.dialects import Asking, Dialect, Mode, Said, Turn
from memento.llm.endpoint import UNFIT, Answer, Endpoint, said
from memento.llm.forms import read, strict_schema
from memento.ports import Form, Prompt, Reply


@dataclass(slots=True)
class Service:
    """A provider's endpoint and what was learnt about its models: the modes and fields that they refuse."""

    endpoint: Endpoint
    dialect: Dialect
    refused_modes: dict[str, int] = field(default_factory=dict)  # model → how many of the dialect's modes
    cold: set[str] = field(default_factory=set)  # models that take no temperature


@dataclass(slots=True)
class _Spent:
    """What one answer has cost so far."""

    tokens_in: int = 0
    tokens_out: int = 0
    attempts: int = 0


@dataclass(slots=True, kw_only=True)
class Model:
    """One model of a service, with what is configured for it; itself a `ports.Chat`."""

    name: str
    service: Service
    model: str
    temperature: float | None
    max_tokens: int
    max_retries: int
    call_s: float
    options: Mapping[str, Any]

    def answer(
        self, asked: Prompt, form: type[Form], complaint: Callable[[Form], str | None] | None = None
    ) -> Reply[Form]:
        """As `ports.Chat` has it; the error carries the tokens that were spent."""
        until = time.monotonic() + self.call_s
        spent, turns = _Spent(), [Turn("user", asked.user)]
        wrong = "It is empty."
        while spent.attempts <= self.max_retries:
            answer = self._said(asked, turns, form, spent, until)
            if answer.declined:
                raise self._failed("declined to answer", spent)
            found = read(answer.text, form)
            if not isinstance(found, str):
                objection = complaint(found) if complaint else None
                if objection is None:
                    return Reply(
                        value=found, tokens_in=spent.tokens_in, tokens_out=spent.tokens_out, attempts=spent.attempts
                    )
                wrong = objection
            else:
                wrong = "It was cut off at the most tokens an answer may have. Be brief." if answer.cut else found
            telemetry.count("model.unfit")
            turns = [turns[0], *_corrected(answer, wrong, form)]
        raise self._failed(f"gave no fitting answer in {spent.attempts} attempts. {wrong}", spent)

    def close(self) -> None:
        """Let go of the service's connections, which the other models of the service share; the next question opens new ones."""
        self.service.endpoint.close()

    def _said(self, asked: Prompt, turns: list[Turn], form: type[Form], spent: _Spent, until: float) -> Said:
        """One answer, in the strictest mode that is not refused."""
        service, dialect = self.service, self.service.dialect
        place = service.refused_modes.get(self.model, 0)
        cold = self.model in service.cold
        while True:
            mode = dialect.modes[place]
            body = dialect.body(self._asking(asked, turns, form, mode, cold), mode)
            answer = self._posted(body, spent, until)
            if answer.status not in UNFIT:
                service.refused_modes[self.model] = place
                if cold:
                    service.cold.add(self.model)
                break
            why = said(answer.body)
            if not cold and "temperature" in why.lower():
                cold = True
            elif place + 1 < len(dialect.modes):
                place += 1
            else:
                raise self._failed(f"refuses the request: {service.endpoint.complaint(answer.status, why)}", spent)
        found = dialect.said(answer.body)
        spent.attempts += answer.attempts
        spent.tokens_in += found.tokens_in
        spent.tokens_out += found.tokens_out
        telemetry.count("model.tokens_in", found.tokens_in)
        telemetry.count("model.tokens_out", found.tokens_out)
        return found

    def _posted(self, body: dict[str, Any], spent: _Spent, until: float) -> Answer:
        retries = max(self.max_retries - spent.attempts, 0)
        try:
            return self.service.endpoint.post(self.service.dialect.path, body, retries=retries, until=until)
        except ModelError as error:
            raise ModelError(str(error), tokens_in=spent.tokens_in, tokens_out=spent.tokens_out) from error.__cause__

    def _asking(self, asked: Prompt, turns: list[Turn], form: type[Form], mode: Mode, cold: bool) -> Asking:
        schema = strict_schema(form)
        system = asked.system if mode in ("schema", "tool") else f"{asked.system}\n\n{_demand(schema)}"
        wanted = self.temperature if asked.temperature is None else asked.temperature
        return Asking(
            model=self.model,
            system=system,
            turns=turns,
            form=form.__name__,
            schema=schema,
            temperature=None if cold else wanted,
            max_tokens=asked.max_tokens or self.max_tokens,
            options=self.options,
        )

    def _failed(self, how: str, spent: _Spent) -> ModelError:
        return ModelError(f"{self.name} {how}", tokens_in=spent.tokens_in, tokens_out=spent.tokens_out)


def _demand(schema: Mapping[str, Any]) -> str:
    return f"Answer with one JSON object and nothing else. It must fit this JSON schema:\n{json.dumps(schema)}"


def _corrected(answer: Said, wrong: str, form: type[Form]) -> tuple[Turn, Turn]:
    """The unfit answer and what is wrong with it, as two more turns. Only the last try is kept: a talk would grow for nothing."""
    again = f"That answer cannot be used. {wrong}\n{_demand(strict_schema(form))}"
    return Turn("assistant", answer.text.strip() or "(nothing)"), Turn("user", again)
