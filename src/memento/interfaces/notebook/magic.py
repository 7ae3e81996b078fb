"""The cell magic `%%sparql`: a query in a cell, its answer below."""

from __future__ import annotations

import argparse
import shlex
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, NoReturn

from IPython.core.error import UsageError

from memento.errors import InputError, MementoError
from memento.interfaces.notebook.answers import ACCEPTED, Rows, parse_answer
from memento.python import Client, Memento, open_memento

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


class _Options(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InputError(f"%%sparql: {message}; it takes {self.format_usage().split('%%sparql', 1)[-1].strip()}")


def load(shell: InteractiveShell) -> None:
    """Give a shell the magic; what `%load_ext memento` does."""

    def sparql(line: str, cell: str) -> object:
        """Answer the SPARQL query of the cell: a DataFrame, a truth, or a drawing of triples."""
        try:
            return _run_cell(line, cell, shell.user_ns)
        except MementoError as error:
            raise UsageError(str(error)) from error

    register: Any = shell.register_magic_function  # its types are those of a decorator
    register(sparql, magic_kind="cell", magic_name="sparql")


def _run_cell(line: str, cell: str, names: dict[str, Any]) -> object:
    chosen = _build_options().parse_args(shlex.split(line))
    with _open_memory(chosen, names) as memento:
        result = parse_answer(*memento.query(cell, accept=ACCEPTED, namespace=chosen.namespace))
    display = result.to_frame(short=chosen.short) if isinstance(result, Rows) else result
    if chosen.into:
        names[chosen.into] = display
        return None
    return display


def _build_options() -> _Options:
    options = _Options(prog="%%sparql", add_help=False, allow_abbrev=False)
    where = options.add_mutually_exclusive_group()
    where.add_argument("--memory", metavar="VARIABLE", default="memento")
    where.add_argument("--home", metavar="DIR")
    where.add_argument("--url", metavar="ADDRESS")
    options.add_argument("--namespace", metavar="NAME")
    options.add_argument("--into", metavar="VARIABLE")
    options.add_argument("--short", action="store_true")
    return options


def _open_memory(chosen: argparse.Namespace, names: dict[str, Any]) -> AbstractContextManager[Memento | Client]:
    """Return the memory that a cell asks: the notebook's own stays open."""
    if chosen.url:
        return Client(chosen.url)
    if chosen.home:
        return open_memento(chosen.home, resume=False)
    own = names.get(chosen.memory)
    if isinstance(own, Memento | Client):
        return nullcontext(own)
    if chosen.memory != "memento":
        raise InputError(f"%%sparql: there is no memory in the variable {chosen.memory!r}: open one with open_memento")
    return open_memento(resume=False)
