"""Which function answers which operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from memento.operations import Operation, check
from memento.service.context import Context

A = TypeVar("A")
O = TypeVar("O", bound=Operation[Any])  # noqa: E741

HANDLERS: dict[type[Operation[Any]], Callable[[Any, Context], Any]] = {}
"""The function that answers each operation; the modules of `handlers` register theirs."""


def handles(operation: type[O]) -> Callable[[Callable[[O, Context], A]], Callable[[O, Context], A]]:
    """Register a function as the one that answers an operation."""

    def register(handler: Callable[[O, Context], A]) -> Callable[[O, Context], A]:
        HANDLERS[operation] = handler
        return handler

    return register


def handle(operation: Operation[A], context: Context) -> A:
    """
    Answer an operation for a caller.

    Raises:
        InputError: an argument is out of bounds.
        MementoError: as the operation says.
    """
    check(operation)
    answer: A = HANDLERS[type(operation)](operation, context)
    return answer
