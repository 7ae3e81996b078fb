"""
Evaluates forms: each list calls the verb at its head, after its inner lists.

*Guarantees:* evaluation always ends. Only verbs of the table are called; every call costs fuel, and running out of fuel or nesting
too deeply is an error. All forms are checked against the table before the first one runs: the verbs, the number and kinds of their
values, and for values that stand in the text also their ranges, and that the memories exist that a changing text names.

*But:* writing verbs write one by one: if a later one fails because of a computed value, earlier writes stay.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from memento.errors import InputError, MementoError
from memento.operations import Operation
from memento.plugins.living.sexpr.forms import DEEPEST, MOST_CHARS, Form, Symbol, read_forms

FUEL = 500
"""The default limit of verb calls in one evaluation, including those inside policies."""

Kind = Literal["text", "whole", "number", "truth", "texts", "any"]

_CONSTANTS: Mapping[str, Any] = {"true": True, "false": False}
_REQUIRED: Any = object()
_KINDS: Mapping[Kind, tuple[str, Callable[[Any], bool]]] = {
    "text": ("text in quotes", lambda value: isinstance(value, str)),
    "whole": ("a whole number", lambda value: isinstance(value, int) and not isinstance(value, bool)),
    "number": ("a number", lambda value: isinstance(value, int | float) and not isinstance(value, bool)),
    "truth": ("true or false", lambda value: isinstance(value, bool)),
    "texts": (
        'a list of texts, as (list "a" "b")',
        lambda value: isinstance(value, list | tuple) and all(isinstance(one, str) for one in value),
    ),
    "any": ("anything", lambda value: True),
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """
    A parameter of a verb; required if it has no default.

    `check` raises `InputError` for a value of the right kind that the verb does not take; `look_up` gets the evaluation too, and
    raises `NotFound` for the name of a memory that does not exist.
    """

    name: str
    kind: Kind
    default: Any = _REQUIRED
    check: Callable[[Any], object] | None = None
    look_up: Callable[[Any, Any], object] | None = None

    @property
    def is_required(self) -> bool:
        return self.default is _REQUIRED


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """A verb of the language: `run` gets the evaluation, then a value for each parameter."""

    name: str
    does: str
    parameters: tuple[Parameter, ...]
    run: Callable[..., Any]
    asks: tuple[type[Operation[Any]] | str, ...] = ()
    """The operations that it calls, besides those of the forms it evaluates; one of another plug-in by its name."""
    writes: bool = False
    takes_more: bool = False
    """Whether it takes any number of further values."""
    takes_forms: bool = False
    """Whether it gets its arguments unevaluated."""
    brings_memories: bool = False
    """Whether memories may exist after it that later forms can name."""

    @property
    def signature(self) -> str:
        """The signature, such as `(recall query [limit=10])`."""
        parameters = [p.name if p.is_required else f"[{p.name}={_spell_default(p.default)}]" for p in self.parameters]
        return f"({' '.join([self.name, *parameters, *(['…'] if self.takes_more else [])])})"


Table = Mapping[str, Verb]


@dataclass(slots=True)
class Evaluation:
    """An evaluation in progress: at most `most` calls, nested at most `deepest`; `within` is what the verbs work on."""

    verbs: Table
    most: int = FUEL
    deepest: int = DEEPEST
    most_chars: int = MOST_CHARS
    within: Any = None
    calls: int = field(default=0, init=False)
    depth: int = field(default=0, init=False)

    def evaluate_text(self, text: str) -> list[Any]:
        """
        Return the value of each form of a text, in order.

        Raises:
            InputError: no form, an unknown verb, a wrong number or kind of values, or too many calls; each with line, column and
                the signature of the verb. Errors of a verb keep their class, with the place added.
        """
        return [self._evaluate(form) for form in self.check_forms(text)]

    def check_forms(self, text: str) -> tuple[Form, ...]:
        """Return the forms of a text, checked against the table but not run; raise as `evaluate_text`."""
        forms = read_forms(text, self.most_chars)
        if not forms:
            raise InputError('there is no expression: write one, as (recall "tea")')
        for form in forms:
            self._check(form)
        return forms

    def may_write(self, forms: Sequence[Form]) -> bool:
        """Tell whether some checked forms call a verb that changes the memory."""
        return any(
            self._verb(form).writes or (not self._verb(form).takes_forms and self.may_write(form.value[1:]))
            for form in forms
            if isinstance(form.value, tuple)
        )

    def evaluate_forms(self, forms: Sequence[Form]) -> list[Any]:
        """
        Return the value of each of some checked forms, in order.

        Raises:
            NotFound: a form names a memory that does not exist, and some form would change the memory; nothing is evaluated.
        """
        if self.may_write(forms) and not any(map(self._brings_memories, forms)):
            for form in forms:
                self._look_up(form)
        return [self._evaluate(form) for form in forms]

    def _check(self, form: Form) -> None:
        """Check that every list calls a verb of the table, with the right number of values and the right kinds of literals."""
        if not isinstance(form.value, tuple):
            return
        verb = self._verb(form)
        given = form.value[1:]
        least = sum(parameter.is_required for parameter in verb.parameters)
        most = len(verb.parameters)
        if len(given) < least or (len(given) > most and not verb.takes_more):
            wanted = (
                f"{least}" if least == most else f"{least} to {most}" if not verb.takes_more else f"at least {least}"
            )
            raise InputError(f"{form.position}: {verb.name} takes {wanted} values, not {len(given)}: {verb.signature}")
        if verb.takes_forms:
            return
        for parameter, one in zip(verb.parameters, given, strict=False):
            if not isinstance(one.value, tuple):
                value = self._evaluate_atom(one)
                self._check_kind(value, parameter, verb, one)
                if parameter.check and value is not None:
                    with _placing_errors(form, verb):
                        parameter.check(value)
        for one in given:
            self._check(one)

    def _brings_memories(self, form: Form) -> bool:
        """Tell whether a checked form calls a verb after which memories may exist that did not before."""
        if not isinstance(form.value, tuple):
            return False
        verb = self._verb(form)
        return verb.brings_memories or (not verb.takes_forms and any(map(self._brings_memories, form.value[1:])))

    def _look_up(self, form: Form) -> None:
        """Check that the memories exist that a checked form names."""
        if not isinstance(form.value, tuple) or (verb := self._verb(form)).takes_forms:
            return
        for parameter, one in zip(verb.parameters, form.value[1:], strict=False):
            if parameter.look_up and not isinstance(one.value, tuple):
                with _placing_errors(form, verb):
                    parameter.look_up(self, one.value)
        for one in form.value[1:]:
            self._look_up(one)

    def _verb(self, form: Form) -> Verb:
        items = form.value
        if not isinstance(items, tuple) or not items or not isinstance(items[0].value, Symbol):
            raise InputError(
                f'{form.position}: a list begins with a verb, as (recall "tea"): for plain values write (list 1 2)'
            )
        name = items[0].value.name
        if name not in self.verbs:
            near = difflib.get_close_matches(name, self.verbs, n=1)
            meant = (
                f": is {self.verbs[near[0]].signature} meant?"
                if near
                else f": there are {', '.join(sorted(self.verbs))}"
            )
            raise InputError(f"{items[0].position}: unknown verb {name}{meant}")
        return self.verbs[name]

    def _evaluate(self, form: Form) -> Any:
        if not isinstance(form.value, tuple):
            return self._evaluate_atom(form)
        verb = self._verb(form)
        if self.calls >= self.most:
            raise InputError(
                f"{form.position}: more than {self.most} calls in one evaluation: send the rest in another one"
            )
        if self.depth >= self.deepest:
            raise InputError(f"{form.position}: calls are nested deeper than {self.deepest}: does a policy run itself?")
        self.calls += 1
        self.depth += 1
        try:
            with _placing_errors(form, verb):
                if verb.takes_forms:
                    return verb.run(self, *form.value[1:])
                values = [self._evaluate(one) for one in form.value[1:]]
                for value, parameter, one in zip(values, verb.parameters, form.value[1:], strict=False):
                    self._check_kind(value, parameter, verb, one)
                values += [parameter.default for parameter in verb.parameters[len(values) :]]
                return verb.run(self, *values)
        finally:
            self.depth -= 1

    def _evaluate_atom(self, form: Form) -> Any:
        match form.value:
            case Symbol(name=name) if name in _CONSTANTS:
                return _CONSTANTS[name]
            case Symbol(name=name):
                raise InputError(f'{form.position}: {name} stands for nothing here: put text in quotes, as "{name}"')
        return form.value

    def _check_kind(self, value: Any, parameter: Parameter, verb: Verb, form: Form) -> None:
        wanted, fits = _KINDS[parameter.kind]
        if value is None and not parameter.is_required and parameter.default is None:
            return
        if not fits(value):
            raise InputError(f"{form.position}: {parameter.name} of {verb.name} is {wanted}: {verb.signature}")


@contextmanager
def _placing_errors(form: Form, verb: Verb) -> Iterator[None]:
    """Add the place of a form and the signature of its verb to the errors that it raises."""
    try:
        yield
    except MementoError as error:
        if not getattr(error, "is_placed", False):
            is_told = str(error).startswith("line ")  # of a form that the verb got unevaluated
            place = "" if is_told else f"{form.position}: {verb.name}: "
            error.args = (f"{place}{error}: {verb.signature}", *error.args[1:])
            error.is_placed = True  # type: ignore[attr-defined]
        raise


def _spell_default(default: Any) -> str:
    if default is None:
        return "nil"
    if isinstance(default, bool):
        return "true" if default else "false"
    return f'"{default}"' if isinstance(default, str) else str(default)


def _get_field(_: Evaluation, record: Any, name: str) -> Any:
    if not isinstance(record, Mapping):
        raise InputError("only a record has fields: take one from a list first, with first or nth")
    if name not in record:
        raise InputError(f"the record has no field {name!r}: it has {', '.join(map(str, record))}")
    return record[name]


def _take_nth(_: Evaluation, values: Any, place: int) -> Any:
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise InputError("only a list has places")
    return values[place] if 0 <= place < len(values) else None


VALUES = (
    Verb(
        name="list",
        does="A list of the values.",
        parameters=(),
        run=lambda _, *values: list(values),
        takes_more=True,
    ),
    Verb(
        name="first",
        does="The first of a list, nil when it is empty.",
        parameters=(Parameter("values", "any"),),
        run=lambda evaluation, values: _take_nth(evaluation, values, 0),
    ),
    Verb(
        name="nth",
        does="The value at a place of a list, from 0; nil when it has no such place.",
        parameters=(Parameter("values", "any"), Parameter("place", "whole")),
        run=_take_nth,
    ),
    Verb(
        name="count",
        does="How many values a list has.",
        parameters=(Parameter("values", "any"),),
        run=lambda _, values: len(values) if isinstance(values, list | tuple) else 1,
    ),
    Verb(
        name="get",
        does="A field of a record.",
        parameters=(Parameter("record", "any"), Parameter("name", "text")),
        run=_get_field,
    ),
)
"""Verbs on values alone; they do not access the memory."""
