"""Read a request: its parameters, its JSON, its namespace. Errors name the parameter or field."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import TypeVar, cast

from flask import g, request
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import UnsupportedMediaType

from memento.errors import InputError
from memento.intake.rows import Record
from memento.service import Context
from memento.service.handlers.graphs import Graphs

C = TypeVar("C", bound=str)


class Parameters:
    """The parameters of a query string or a form, read by name and type."""

    def __init__(self, *known: str, many: Sequence[str] = (), form: MultiDict[str, str] | None = None) -> None:
        """
        Args:
            many: the parameters that may be repeated.
            form: a form to read instead of the query string.

        Raises:
            InputError: a parameter is unknown, or comes twice.
        """
        self._values = request.args if form is None else form
        _refuse_unknown(list(self._values), tuple(dict.fromkeys((*known, "namespace"))), "parameter")
        for name, values in self._values.lists():
            if len(values) > 1 and name not in many:
                raise InputError(f"{name} comes {len(values)} times: give it once")
        what = "the query string" if form is None else "the form"
        self._record = Record(what, {name: value for name, value in self._values.items() if value})

    def read_text(self, *names: str) -> str | None:
        """Return the value of the first of these names that is present."""
        return self._record.read_text(*names)

    def all(self, name: str) -> list[str]:
        """Return every value of a parameter that may be repeated."""
        return [value for value in self._values.getlist(name) if value.strip()]

    def read_number(self, name: str) -> int | None:
        """Return a parameter as a whole number."""
        text = self.read_text(name)
        try:
            return None if text is None else int(text)
        except ValueError as error:
            raise InputError(f"{name} must be a whole number, not {text!r}") from error

    def decimal(self, name: str) -> float | None:
        """Return a parameter as a number."""
        text = self.read_text(name)
        try:
            return None if text is None else float(text)
        except ValueError as error:
            raise InputError(f"{name} must be a number, not {text!r}") from error

    def flag(self, name: str, default: bool = False) -> bool:
        """Return a parameter that is `true` or `false`."""
        text = self.read_text(name)
        values = {"true": True, "1": True, "false": False, "0": False, None: default}
        if text not in values:
            raise InputError(f"{name} must be true or false, not {text!r}")
        return values[text]

    def instant(self, name: str) -> datetime | None:
        """Return a parameter as a time; one without an offset stays without, because the service knows the user's time zone."""
        return self._record.read_instant(name)

    def choice(self, name: str, choices: Sequence[C]) -> C:
        """Return a parameter that is one of the choices; the first choice if it is missing."""
        text = self.read_text(name) or choices[0]
        for one in choices:
            if one == text:
                return one
        raise InputError(f"{name} must be one of {', '.join(choices)}, not {text!r}")


def context() -> Context:
    """Return the memory with the access rights of this request's caller."""
    return cast(Context, g.context)


def graphs_of_caller() -> Graphs:
    """Return the graphs of this request's caller."""
    return g.graphs if "graphs" in g else Graphs(context())


def namespace() -> str | None:
    """Return the namespace that the request names in a parameter or a header, or that the form of a page named."""
    named = request.args.get("namespace") or request.headers.get("Memento-Namespace")
    return named or g.get("namespace_of_form") or None


def read_object(*known: str) -> Record:
    """
    Return the body, which must be a JSON object with known fields.

    Raises:
        InputError: the body is not JSON, is not an object, or has an unknown field.
        UnsupportedMediaType: the body has another media type.
    """
    record = read_json_object(*known)
    _refuse_unknown(list(record.fields), known, "field")
    return record


def read_json_object(*named: str) -> Record:
    """
    Return the body, which must be a JSON object; `named` are fields that an error may name.

    Raises:
        InputError: the body is not JSON, or is not an object.
        UnsupportedMediaType: the body has another media type.
    """
    if not request.is_json:
        raise UnsupportedMediaType(f"send JSON with the header Content-Type: application/json, not {_media()}")
    fields = load_json(request.get_data())
    if not isinstance(fields, dict):
        hint = f" with the fields {', '.join(named)}" if named else ""
        raise InputError(f"the body must be a JSON object{hint}")
    return Record("the body", cast("dict[str, object]", fields))


def load_json(data: bytes) -> object:
    """Parse JSON; raise `InputError` if it is invalid."""
    try:
        return json.loads(data)
    except json.JSONDecodeError as error:
        raise InputError(f"the body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"the body is not usable JSON: {error}") from error


def _refuse_unknown(given: Sequence[str], known: Sequence[str], what: str) -> None:
    for name in given:
        if name not in known:
            raise InputError(f"unknown {what} {name[:80]!r}: this address knows {', '.join(known)}")


def _media() -> str:
    return request.mimetype or "nothing"
