"""
The commands that ask one operation: a loop over the table of operations.

A command takes the required arguments of its operation by place, the others as options, with the help, the bounds and the defaults
of the declaration. `COMMANDS` says where a command is called otherwise than its operation, and how its answer is shown.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from memento.errors import InputError, NotFound
from memento.interfaces.cli import views
from memento.interfaces.cli.base import (
    FAILED,
    GROUPS,
    Chosen,
    Instant,
    ShellCommand,
    bar,
    call_operation,
    common,
    main,
    open_memory,
    print_answer,
)
from memento.operations import TABLE, Field, fields_of
from memento.operations.base import FILTERS, Filtered, summary_of

if TYPE_CHECKING:
    from memento.model import CaseRow
    from memento.ports import Progress

F = TypeVar("F", bound=Callable[..., Any])

_PATH = re.compile(r"""[^\s<>?"]*(?:[/\\][^\s<>?"]*|\.\w{1,6})""")  # what is meant for the name of a file


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """How an option differs from what the declaration of its field makes of it."""

    names: tuple[str, ...] = ()
    """Its names; default `--` and the field's."""
    type: click.ParamType[Any] | type | None = None
    help: str = ""
    metavar: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command: what it is called, and how its answer is shown."""

    path: str
    """Its name, after that of its group."""
    view: Callable[[Any], str]
    help: str = ""
    """Default the first sentence of the operation."""
    places: Mapping[str, str] = field(default_factory=dict)
    """What is given by place, in this order: field and metavar; default the required fields."""
    options: Mapping[str, Option] = field(default_factory=dict)
    left_out: frozenset[str] = frozenset()
    """Fields that the command does not offer."""
    reads: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    """What makes of the word that is given the value of a field."""
    long: str = ""
    """What it is doing, where it may take long enough for a progress bar."""
    fails_when: Callable[[Any], bool] = field(default=lambda answer: False)
    """Whether an answer makes the exit code 1."""


def read_text(argument: str) -> str:
    """Return the text of an argument, or standard input when it is -; raise `InputError` when that is no text."""
    if argument != "-":
        return argument
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise InputError(f"standard input is not UTF-8: {error}") from error


def read_text_or_file(argument: str, brackets: str = "{") -> str:
    """
    Return the text itself, or what is in the file of that name.

    Args:
        brackets: what no file's name has, and nearly every text.
    """
    if argument == "-" or any(bracket in argument for bracket in brackets):
        return read_text(argument)
    try:
        if Path(argument).is_file():
            return Path(argument).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise NotFound(f"{argument[:80]} cannot be read: {error}") from error
    if _PATH.fullmatch(argument):
        raise NotFound(f"there is no file {argument[:80]}")
    return argument


_ENDED = Option(type=click.Choice(["success", "partial", "failure"]), help="How the task ended.")
_REPEATED_KEY = Option(
    names=("--key", "-k"), metavar="KEY", help="A key; may be repeated. Without any its own names do."
)
_KEY_TYPE = click.Choice(["concept", "name", "proper_noun"])
_FILTERED: Mapping[str, Option] = {"tags": Option(names=("--tag",), metavar="TAG")}
_SUCCESS = {"success": True, "fail": False}

COMMANDS: Mapping[str, Command] = {
    "note": Command(
        path="note",
        view=views.show_noted,
        help="Take in TEXT as it was said: it is understood, split into facts, and retires what it replaces. - is standard input.",
        places={"content": "TEXT"},
        options={
            "idempotency_key": Option(names=("--key",)),
            "wait": Option(names=("--no-wait",), help="Return as soon as it is kept."),
            "tags": Option(names=("--tag",), metavar="TAG"),
            "ttl_s": Option(names=("--ttl",), metavar="SECONDS"),
        },
        reads={"content": read_text},
    ),
    "note_status": Command(path="note-status", view=views.show_fields),
    "retry": Command(path="retry", view=views.show_statuses),
    "correct": Command(
        path="correct",
        view=views.show_noted,
        help="Put TEXT, which is right, in the place of the memory IRI.",
        places={"iri": "IRI", "content": "TEXT"},
        options={"keys": Option(names=("--key",), metavar="KEY", help="Its key instead; may be repeated.")},
        left_out=frozenset({"types", "related_to"}),
        reads={"content": read_text},
    ),
    "undo": Command(path="undo", view=views.show_undone),
    "disputes": Command(path="disputes", view=views.show_disputes),
    "forget": Command(path="forget", view=views.show_forgotten),
    "forget_tagged": Command(path="forget-tagged", view=views.show_forgotten, places={"tags": "TAG..."}),
    "start_session": Command(path="session start", view=lambda answer: str(answer["text"])),
    "summarize_session": Command(
        path="session summary",
        view=lambda answer: str(answer["summary"]),
        options={
            "by_model": Option(names=("--no-model",), help="The beginnings of its memories, though a model is set.")
        },
    ),
    "profile": Command(path="profile", view=views.show_profile),
    "set_page": Command(path="pages set", view=views.show_page),
    "pages": Command(path="pages list", view=views.show_pages),
    "read_page": Command(path="pages show", view=views.show_page),
    "remove_page": Command(path="pages remove", view=lambda answer: f"Removed {answer['name']}."),
    "ask": Command(path="ask", view=views.show_reply),
    "unforget": Command(path="unforget", view=views.show_unforgotten),
    "sources": Command(path="sources", view=views.show_sources),
    "get": Command(path="get", view=views.show_described),
    "list": Command(path="list", view=views.show_listing, options=_FILTERED),
    "tags": Command(path="tags", view=views.show_tags),
    "mark": Command(
        path="mark",
        view=views.show_marked,
        options={"tags": Option(names=("--tag",), metavar="TAG"), "untag": Option(metavar="TAG")},
    ),
    "timeline": Command(path="timeline", view=views.show_timeline),
    "infer": Command(path="infer", view=views.show_inferred),
    "status": Command(path="status", view=views.show_status),
    "check": Command(
        path="check",
        view=views.show_differences,
        long="Checking",
        fails_when=lambda found: any(one["what"] != "pending-note" for one in found),
    ),
    "remember": Command(
        path="remember",
        view=views.show_remembered,
        help="Keep TEXT word for word under keys of your own; nothing is understood (`note` does that). - is standard input.",
        places={"content": "TEXT"},
        options={
            "keys": _REPEATED_KEY,
            "types": Option(names=("--type",), metavar="KEY TYPE", help="A key that is a name."),
            "ttl_s": Option(names=("--ttl",), metavar="SECONDS"),
            "related_to": Option(names=("--related",), metavar="IRI"),
            "type": Option(names=("--kind",)),
            "tags": Option(names=("--tag",)),
        },
        reads={"content": read_text},
    ),
    "find_keys": Command(path="keys find", view=views.show_keys, options={"k": Option(names=("-k",))}),
    "read_key": Command(path="keys open", view=views.show_key_page, places={"iri": "KEY"}),
    "read_memory": Command(path="keys read", view=views.show_memory, places={"iri": "MEMORY"}),
    "related": Command(path="keys related", view=views.show_related, places={"iri": "MEMORY"}),
    "recall_memories": Command(path="keys recall", view=views.show_direct_recall, options={"k": Option(names=("-k",))}),
    "list_memories": Command(path="keys list", view=views.show_memory_rows, options=_FILTERED),
    "conversation": Command(path="keys conversation", view=views.show_turns),
    "cleanup_expired": Command(
        path="keys cleanup",
        view=lambda answer: f"{answer['expired']:,} memories and {answer['phrases']:,} names let go.",
    ),
    "relations": Command(path="relations", view=views.show_relations),
    "compact": Command(path="compact", view=views.show_compacted),
    "memory_stats": Command(path="keys stats", view=views.show_fields),
    "strength": Command(path="living strength", view=views.show_fields, places={"iri": "MEMORY"}),
    "feedback": Command(
        path="living feedback",
        view=views.show_fields,
        help="Say that MEMORY helped (success), or that it misled (fail).",
        places={"iri": "MEMORY", "helped": "OUTCOME"},
        options={"helped": Option(type=click.Choice(list(_SUCCESS)))},
        reads={"helped": _SUCCESS.__getitem__},
    ),
    "associate": Command(
        path="living associate",
        view=lambda answer: f"It leads there with the weight {answer['weight']:.2f}.",
    ),
    "trace": Command(
        path="living trace",
        view=lambda answer: "\n".join(map(views.show_path, answer)) or "Nothing leads away from it.",
        places={"iri": "MEMORY"},
    ),
    "activate": Command(
        path="living activate",
        view=lambda answer: "\n".join(map(views.show_active, answer)),
        places={"seeds": "MEMORY..."},
    ),
    "decay": Command(
        path="living decay",
        view=lambda answer: f"Faded until {answer['until']}, by half in {answer['half_life']:g} days.",
        options={"half_life_days": Option(names=("--half-life",), metavar="DAYS")},
    ),
    "archive": Command(path="living archive", view=views.show_archived),
    "list_archived": Command(path="living archived", view=views.show_listing),
    "unarchive": Command(path="living unarchive", view=views.show_fields, places={"iri": "MEMORY"}),
    "list_cases": Command(path="cases list", view=views.show_cases),
    "retrieve_cases": Command(
        path="cases retrieve", view=views.show_cases_found, options={"k": Option(names=("-k",), metavar="N")}
    ),
    "reward_cases": Command(
        path="cases reward",
        view=views.show_credited,
        options={"outcome": _ENDED},
        left_out=frozenset({"single"}),
    ),
    "complete_case": Command(path="cases complete", view=views.show_completed, options={"outcome": _ENDED}),
    "forget_case": Command(path="cases forget", view=lambda iri: f"Forgot {iri}."),
    "prune_cases": Command(
        path="cases prune",
        view=lambda gone: f"{len(gone):,} cases let go.",
        places={},
        options={"keep": Option(metavar="N")},
    ),
    "plan_task": Command(
        path="cases plan",
        view=views.show_planned,
        options={
            "steps": Option(names=("--step",), metavar="TEXT", help="A step of your own plan; may be repeated."),
            "k": Option(names=("-k",), metavar="N"),
        },
    ),
    "execute_task": Command(
        path="cases run",
        view=views.show_executed,
        help="Carry out the task RUN with the tools of [executor]; exit code 1 unless it is done.",
        options={
            "uncertain": Option(type=click.Choice(["ask", "repeat", "skip"])),
            "complete": Option(names=("--no-complete",), help="Leave the verdict to you."),
        },
        fails_when=lambda answer: answer["ending"] != "done",
    ),
    "task_runs": Command(
        path="cases runs",
        view=views.show_runs,
        options={"state": Option(type=click.Choice(["pending", "done", "failed"]))},
    ),
    "list_tools": Command(path="cases tools", view=views.show_tools),
    "navigate_cases": Command(
        path="cases view",
        view=views.show_view,
        options={
            "zoom": Option(type=click.Choice(["case", "subtask", "community"])),
            "tilt": Option(type=click.Choice(["embedding", "keyword", "graph", "temporal"])),
        },
    ),
    "case_metrics": Command(path="cases metrics", view=views.show_metrics),
    "case_status": Command(path="cases status", view=views.show_numbers),
    "proposals": Command(path="proposals", view=views.show_proposals),
    "accept_proposals": Command(
        path="accept",
        view=views.show_decided,
        help="Note what was captured and waits for a yes: the proposals ID, or --every of the namespace.",
        places={"proposals": "ID..."},
        fails_when=lambda answer: bool(answer["unknown"]),
    ),
    "reject_proposals": Command(
        path="reject",
        view=views.show_decided,
        help="Delete what was captured and waits for a yes: the proposals ID, or --every of the namespace.",
        places={"proposals": "ID..."},
        fails_when=lambda answer: bool(answer["unknown"]),
    ),
    "memory_file": Command(
        path="memory-file",
        view=lambda answer: answer["text"],
        places={"command": "COMMAND"},
        options={
            "path": Option(metavar="PATH"),
            "view_range": Option(metavar="LINE"),
            "old_path": Option(metavar="PATH"),
            "new_path": Option(metavar="PATH"),
        },
        fails_when=lambda answer: answer["failed"],
    ),
    "move_tenant": Command(
        path="tenant move",
        view=views.show_moved,
        places={"tenant": "NAME"},
        options={"to": Option(metavar="STORE")},
        long="Moving",
    ),
    "list_tenants": Command(path="tenant list", view=views.show_tenants),
    "locate_tenant": Command(
        path="tenant where", view=lambda answer: views.show_tenants([answer]), places={"tenant": "NAME"}
    ),
    "write_ahead_log": Command(path="log", view=views.show_log),
}
"""The commands that differ from what their operation makes of them by itself."""

BY_HAND: Mapping[str, str] = {
    **{
        name: name
        for name in (
            "recall",
            "query",
            "update",
            "export",
            "backup",
            "restore",
            "rebuild",
            "migrate",
            "sync",
            "manifest",
        )
    },
    "get_graph": "graph get",
    "put_graph": "graph put",
    "post_graph": "graph add",
    "patch_graph": "graph patch",
    "delete_graph": "graph delete",
    "import_rdf": "import",
    "ingest": "ingest",
    "index_project": "index",
    "evaluate": "eval-sexpr",
    "probe_store": "store probe",
    "add_cases": "cases add",
    "get_case": "cases show",
    "task_run": "cases show",
    "start_case": "cases record",
    **dict.fromkeys(("recall_items", "get_item", "policies", "set_policy"), "eval-sexpr"),
}
"""
The operations whose commands stand in `documents`, `questions` and `admin`, or below, each with its command: files, streams,
formats, and commands that ask several. Items and policies are asked by expressions.
"""


def command_of(name: str) -> str | None:
    """Return the command by which an operation is asked, without `memento`; None where there is none."""
    if "cli" in TABLE[name].absent:
        return None
    return BY_HAND.get(name) or (COMMANDS[name].path if name in COMMANDS else name.replace("_", "-"))


def register_all() -> None:
    """Add a command for every operation that has none by hand."""
    for name in TABLE:
        if (path := command_of(name)) and name not in BY_HAND:
            _register(name, COMMANDS.get(name) or Command(path=path, view=_show_plainly))


def _register(name: str, command: Command) -> None:
    operation = TABLE[name]
    declared = {
        one: of for one, of in fields_of(operation).items() if one != "namespace" and one not in command.left_out
    }
    places = command.places
    if not places and name not in ("prune_cases",):
        places = {one: one.upper() for one, of in declared.items() if of.is_required}
    parameters: list[click.Parameter] = [
        _argument(declared[one], metavar, command.options.get(one, Option())) for one, metavar in places.items()
    ]
    parameters += [_option(of, command.options.get(one, Option())) for one, of in declared.items() if one not in places]

    def ask_operation(chosen: Chosen, /, **values: Any) -> None:
        for one, read in command.reads.items():
            values[one] = read(values[one])
        arguments = {one: _as_argument(declared[one], value) for one, value in values.items()}
        with open_memory(chosen, command.path) as memento, _bar_of(command) as progress:
            answer = call_operation(memento, name, progress, **arguments)
        limits = [one.opts[0] for one in made.params if one.name in FILTERS and arguments.get(one.name) is not None]
        if limits and isinstance(answer, list | tuple) and not answer and not chosen.as_json:
            click.echo(f"No memory fits {' '.join(limits)}.")
            return
        print_answer(chosen, answer, lambda: command.view(answer))
        if command.fails_when(answer):
            sys.exit(FAILED)

    group, _, leaf = command.path.rpartition(" ")
    callback = common(click.pass_obj(ask_operation))
    made = ShellCommand(
        leaf,
        callback=callback,
        params=[*parameters, *reversed(getattr(callback, "__click_params__", []))],
        help=command.help or f"{summary_of(operation)}.",
    )
    (GROUPS[group] if group else main).add_command(made)


def _bar_of(command: Command) -> AbstractContextManager[Progress | None]:
    return bar(command.long, at_once=True) if command.long else nullcontext()


def _argument(declared: Field, metavar: str, option: Option) -> click.Argument:
    return click.Argument(
        [declared.name],
        metavar=metavar,
        type=option.type or _type_of(declared),
        nargs=-1 if declared.is_list else 1,
        required=declared.is_required,
    )


def _option(declared: Field, option: Option) -> click.Option:
    name = declared.name.replace("_", "-")
    help = option.help or declared.sentence
    if declared.type is bool and not declared.is_optional:
        names = option.names or (f"--no-{name}" if declared.default else f"--{name}",)
        return click.Option(
            [*names, declared.name], is_flag=True, default=declared.default, flag_value=not declared.default, help=help
        )
    shows_default = declared.default not in (None, (), "", 0, 0.0)
    is_pair = declared.name == "types"
    return click.Option(
        [*(option.names or (f"--{name}",)), declared.name],
        type=(str, _KEY_TYPE) if is_pair else option.type or _type_of(declared),
        metavar=option.metavar,
        multiple=declared.is_list or is_pair,
        required=declared.is_required,
        default=None if declared.is_list or is_pair else declared.default,
        show_default=shows_default,
        help=help,
    )


def filter_options(of: F) -> F:
    """Add the options that say which memories a command is about; what they give is in `only`."""

    @wraps(of)
    def call(*args: Any, **given: Any) -> Any:
        only = {name: value for name in FILTERS if (value := _as_argument(declared[name], given.pop(name))) is not None}
        return of(*args, only=only, **given)

    declared = fields_of(Filtered)
    made = [_option(declared[name], _FILTERED.get(name, Option())) for name in FILTERS]
    call.__click_params__ = [*getattr(of, "__click_params__", ()), *reversed(made)]  # type: ignore[attr-defined]
    return cast(F, call)


def _type_of(declared: Field) -> Any:
    if declared.choices:
        return click.Choice(declared.choices)
    if declared.schema.get("format") == "date-time":
        return Instant()
    least, most = declared.least, declared.most
    has_bounds = least is not None or most is not None
    if declared.type is int:
        first, last = (None if one is None else int(one) for one in (least, most))
        return click.IntRange(first, last) if has_bounds else click.INT
    if declared.type is float:
        return click.FloatRange(least, most) if has_bounds else click.FLOAT
    return click.BOOL if declared.type is bool else click.STRING


def _as_argument(declared: Field, value: Any) -> Any:
    """Return what an operation takes: None for an option that was not given."""
    if declared.name == "types":
        return dict(value) or None
    if declared.is_list:
        return list(value) or None
    return value


def _show_plainly(answer: Any) -> str:
    """Show the answer of an operation without a view: fields by name, rows a line each."""
    if isinstance(answer, dict):
        return views.show_fields(answer) if answer else "Nothing here yet."
    if isinstance(answer, list | tuple):
        rows = [
            "  ".join(views.clean(str(value)) for value in row.values()) if isinstance(row, dict) else str(row)
            for row in answer
        ]
        return "\n".join(rows) or "Nothing here yet."
    return str(answer)


register_all()

_outcome = click.option("--outcome", type=click.Choice(["success", "partial", "failure"]), help="How the task ended.")
_reward = click.option("--reward", type=float, metavar="-0.2…1", help="What it earned, instead of an outcome.")
_score = click.option("--score", type=float, metavar="0…1", help="How good a judge found it.")
_efficiency = click.option("--efficiency", type=float, metavar="0…1", help="The share of its cost that it saved.")


def case_command(name: str) -> Callable[[F], F]:
    """Register a command of the group; each may name a domain."""

    def add_command(function: F) -> F:
        domain = click.option("--domain", metavar="NAME", help="The bank of cases; default that of the namespace.")
        GROUPS["cases"].command(name)(common(domain(click.pass_obj(function))))
        return function

    return add_command


@case_command("show")
@click.argument("iri")
def show_case(chosen: Chosen, iri: str, domain: str | None) -> None:
    """Show everything about the case or the run IRI."""
    with open_memory(chosen, "cases show") as memento:
        if ":trajectory:" in iri:
            run = call_operation(memento, "task_run", run=iri, domain=domain)
            print_answer(chosen, run, lambda: views.show_run(run))
        else:
            case = call_operation(memento, "get_case", case=iri, domain=domain)
            print_answer(chosen, case, lambda: views.show_case(case))


@case_command("add")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
def add_cases(chosen: Chosen, file: Path, domain: str | None) -> None:
    """Keep every line of FILE as a case: JSON objects with task, plan, and outcome or reward."""
    rows = _rows(file)
    with open_memory(chosen, "cases add") as memento:
        kept = [str(iri) for iri in memento.add_cases(rows, domain=domain)]
    print_answer(chosen, kept, lambda: f"{len(kept):,} cases kept.")


@case_command("record")
@click.argument("task")
@click.option("--plan", required=True, help="What was done, as numbered steps.")
@click.option("--retrieval", metavar="IRI", help="The cases that were shown for it, which then share its reward.")
@click.option("--reason", help="Why the verdict is what it is.")
@_outcome
@_reward
@_score
@_efficiency
def record_case(
    chosen: Chosen, task: str, plan: str, retrieval: str | None, domain: str | None, **verdict: Any
) -> None:
    """Keep the finished TASK as a case, with its verdict."""
    with open_memory(chosen, "cases record") as memento:
        run = call_operation(memento, "start_case", task=task, plan=plan, retrieval=retrieval, domain=domain)
        answer = call_operation(memento, "complete_case", run=run["iri"], domain=domain, **verdict)
    print_answer(chosen, answer, lambda: views.show_completed(answer))


def _rows(file: Path) -> list[CaseRow]:
    """The tasks of a file; raises `InputError` that names the line."""
    from memento.intake.rows import parse_case_row

    rows: list[CaseRow] = []
    for number, line in enumerate(file.read_bytes().splitlines(), start=1):
        if line.strip():
            try:
                rows.append(parse_case_row(line))
            except InputError as error:
                raise InputError(f"line {number} of {file.name}: {error}") from error
    return rows
