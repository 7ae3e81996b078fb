"""
What every command has in common: the memory it talks to, its options, its exit code, its one line on stderr when it fails.

*Because:* commands print the service's JSON, or a view of it, and do not decode it into the classes of `model`. A question to a
running service must not wait for the import of those classes or of the store.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from memento import __version__
from memento.errors import DiskFull, InputError, MementoError, SettingsError
from memento.interfaces.cli.views import show_listing, use_shell_words

if TYPE_CHECKING:
    from memento.datadir import DataFolder
    from memento.ports import Progress
    from memento.python import Client, Memento
    from memento.settings import Settings

F = TypeVar("F", bound=Callable[..., Any])

FAILED, USAGE, NO_ROOM, INTERRUPTED = 1, 2, 3, 130


@dataclass(slots=True)
class Chosen:
    """The options that every command takes, before or after its name."""

    home: str | None = None
    namespace: str | None = None
    key_file: str | None = None
    as_json: bool = False
    told: set[str] = field(default_factory=set)
    """The notices that were already printed, so that each is printed once."""

    @property
    def home_folder(self) -> Path:
        """The path of the data folder, which need not exist yet."""
        from memento.datadir import default_home

        return (Path(self.home) if self.home else default_home()).expanduser().absolute()

    @property
    def folder(self) -> DataFolder:
        from memento.datadir import DataFolder

        return DataFolder(self.home_folder)

    def settings(self) -> Settings:
        """The settings in force in the data folder."""
        from memento import settings

        found = settings.load(self.folder.settings_file, tell=self.tell)
        return found if self.key_file is None else settings.with_key_file(found, self.key_file)

    def tell(self, notice: str) -> None:
        """Print a notice on stderr, once per command: for example that the memory is read-only and why."""
        if notice not in self.told:
            import click

            self.told.add(notice)
            click.echo(f"memento: {use_shell_words(notice)}", err=True)


def open_memory(chosen: Chosen, command: str, configured: Settings | None = None) -> Memento | Client:
    """
    Open the memory, as a context manager. The store and its libraries are imported only when no service runs.

    Args:
        configured: the settings to use instead of those of `chosen`.

    Raises:
        FolderInUse: another process has the folder open and does not serve it.
        SettingsError: an unusable folder or setting.
    """
    if client := running(chosen):
        return client
    import logging

    from memento.python import Memento, open_memento

    # The notice already says what is logged. Without a handler, Python would print the bare name of the event.
    logging.getLogger("memento").addHandler(logging.NullHandler())
    settings = configured or chosen.settings()
    wait_s = settings.server.lock_wait_s
    with bar("Making the indexes") as progress:
        memento = open_memento(
            chosen.folder.path,
            namespace=chosen.namespace,
            command=f"memento {command}",
            wait_s=wait_s,
            resume=False,
            mends=command != "check",
            progress=progress,
            configured=settings,
        )
    if isinstance(memento, Memento) and memento.degraded:
        chosen.tell(str(memento.degraded))
    memento.on_notice = chosen.tell
    return memento


def running(chosen: Chosen) -> Client | None:
    """Return a client of the service that owns the data folder, or None when no service runs."""
    owner = chosen.folder.serving_owner()
    if owner is None or owner.address is None:
        return None
    from memento.python import Client

    client = Client(owner.address, namespace=namespace_of(chosen), token=owner.token)
    client.transport.on_degraded = client.on_notice = chosen.tell
    return client


def call_operation(
    memento: Memento | Client, method: str, progress: Progress | None = None, /, **arguments: Any
) -> Any:
    """Return the answer of an operation as plain JSON; report progress only where it runs in this process."""
    from memento.operations import TABLE
    from memento.python import Client

    operation = TABLE[method](**{name: value for name, value in arguments.items() if value is not None})
    if isinstance(memento, Client):
        return json.loads(memento.transport.ask(operation))
    from memento.codec import plain

    return plain(memento.call(operation, progress))


def namespace_of(chosen: Chosen) -> str:
    """Return the namespace for calls that name none."""
    name = chosen.namespace
    if name is None:
        from memento.settings import load_client

        name = (
            load_client(chosen.folder.settings_file).scope.namespace
            if chosen.folder.settings_file.is_file()
            else "main"
        )
    if name == "project":
        from memento.settings import resolve_namespace

        return resolve_namespace(name)
    return name


def say_in_shell_words(message: str, parameters: Iterable[click.Parameter]) -> str:
    """
    Replace the Python names of arguments in an error message by their names in the shell.

    >>> options = [click.Option(["--as-of"]), click.Option(["-k"]), click.Argument(["content"], metavar="TEXT")]
    >>> say_in_shell_words("as_of must be a time", options), say_in_shell_words("k must be above 0", options)
    ('--as-of must be a time', '-k must be above 0')
    >>> say_in_shell_words("content is empty, and content counts", options)
    'TEXT is empty, and content counts'
    """
    for one in parameters:
        names = sorted((name for name in one.opts if name.startswith("-")), key=len)
        word = names[-1] if names else (one.metavar or str(one.name).upper()).rstrip(".")
        name = str(one.name)
        # Inside a sentence a name of one word may be an ordinary word, so it is replaced only at the start.
        begin = r"(?<![\w`'\"-])" if "_" in name else "^"
        message = re.sub(begin + re.escape(name) + r"(?![\w-])", word.replace("\\", r"\\"), message)
    # The other names of a field over HTTP are no names in the shell.
    return use_shell_words(re.sub(r" \(or [\w, ]+\) is missing", " is missing", message))


MEANT_OPTIONS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("--limit", "--top-k", "--count", "-n", "--max"), ("-k", "--limit")),
    **dict.fromkeys(("--date", "--when", "--time", "--since"), ("--at", "--as-of", "--after")),
    **dict.fromkeys(("--folder", "--data-dir", "--dir"), ("--home",)),
    "--project": ("--namespace",),
    "--output": ("--format",),
}
"""Options that people know from other programs, and those of Memento that may be meant."""

_CLICK_WORDS: Mapping[str, str] = {
    "is not a valid integer": "is no whole number",
    "is not a valid float": "is no number",
    "is not a valid boolean": "is neither true nor false",
}


def describe_usage(error: click.UsageError) -> str:
    """Return what is wrong with a command line, and what would be right, in one line."""
    said = error.format_message().rstrip()
    if isinstance(error, click.NoSuchOption) and error.ctx and (meant := MEANT_OPTIONS.get(error.option_name)):
        there = {option for one in error.ctx.command.get_params(error.ctx) for option in one.opts}
        near = next((option for option in meant if option in there), None)
        said = f"{error.message} Did you mean {near!r}?" if near else said
    for theirs, ours in _CLICK_WORDS.items():
        said = said.replace(theirs, ours)
    if error.ctx is None:
        return said
    return f"{said}{'' if said.endswith(('.', '?')) else '.'} See `{error.ctx.command_path} --help`."


MEANT = {
    **dict.fromkeys(("search", "find", "ask"), "recall QUESTION"),
    **dict.fromkeys(("add", "save", "write"), "note TEXT"),
    **dict.fromkeys(("delete", "remove", "rm"), "forget ID"),
    **dict.fromkeys(("edit", "fix", "change"), "correct ID TEXT"),
    **dict.fromkeys(("history", "log"), "timeline SUBJECT"),
    **dict.fromkeys(("start", "run", "server"), "serve"),
    "cat": "get ID",
    **dict.fromkeys(("sparql", "select"), "query SPARQL"),
    **dict.fromkeys(("stats", "info"), "status"),
    **dict.fromkeys(("why", "explain"), "recall QUESTION --explain"),
    "ls": "list",
    "load": "import PATH",
    "dump": "export FILE",
    "map": "show map",
    "settings": "config show",
}
"""Command names that people know from other programs, and the commands of Memento that do the same."""


LISTED: dict[str, tuple[str, ...]] = {
    "Say and ask": ("note", "recall", "ask", "timeline", "query"),
    "Look and correct": ("list", "get", "show", "mark", "correct", "forget", "unforget", "undo", "care"),
    "Bring in and take out": (
        "adopt",
        "import",
        "export",
        "ingest",
        "files",
        "inbox",
        "sync",
        "backup",
        "restore",
        "graph",
    ),
    "Run and protect": (
        *("setup", "serve", "status", "doctor", "connect", "hook", "mcp", "token", "store", "config"),
        "plugins",
    ),
    "Plug-ins": ("session",),
}
"""The commands that `memento --help` shows, in five groups."""

OLD_NAMES: Mapping[str, str] = {
    **{
        old: f"show {old}"
        for old in ("tags", "entities", "sources", "relations", "neighbours", "profile", "log", "imports")
    },
    "manifest": "show map",
    "find-path": "show path",
    "ontology": "show ontology",
    **{old: f"care {old}" for old in ("disputes", "check", "compact", "rebuild", "settle", "forget-tagged", "retry")},
    "proposals": "inbox list",
    "accept": "inbox accept",
    "reject": "inbox reject",
    "list-waiting": "inbox waiting",
    "note-status": "inbox status",
    "update": "graph update",
    **{old: f"store {old}" for old in ("migrate", "tenant", "teardown")},
    "completion": "config completion",
    "upgrade": "store upgrade",
}
"""Commands of earlier versions that are now in a group: they still work under their old names, which no help shows."""

NEW_GROUPS: Mapping[str, str] = {
    "show": "Show the tags, entities, links, sources, imports, changes, vocabulary and the map of the memory.",
    "care": "Check the memory, tidy it up, list and settle disputes.",
    "inbox": "Decide about captured proposals, and see which notes still wait to be understood.",
}


class ShellCommand(click.Command):
    """A command whose errors name an argument as it is typed in the shell: `--as-of`, not `as_of`."""

    plugin = ""
    """The plug-in that it belongs to; empty for one of Memento's."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except MementoError as error:
            error.args = (say_in_shell_words(str(error), self.params),)
            raise
        except OSError as error:
            chosen = ctx.find_object(Chosen)
            if error.errno in DiskFull.errors and chosen is not None:
                raise DiskFull(chosen.home_folder) from error
            raise


class Subcommands(click.Group):
    """A group of commands; for an unknown command the error suggests the one that was probably meant."""

    command_class = ShellCommand
    plugin = ""
    """The plug-in that it belongs to; empty for one of Memento's."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the commands, without those of plug-ins that are switched off."""
        owners = {name: of for name, command in self.commands.items() if (of := owner_of(command))}
        left_out = find_left_out(ctx) if owners else frozenset()
        return [name for name in super().list_commands(ctx) if owners.get(name) not in left_out]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        of = owner_of(self.commands.get(args[0]))
        if of and of in find_left_out(ctx):
            raise click.UsageError(
                f"there is no command {args[0]!r}: its plug-in is switched off; `memento plugins --on {of}` switches it on",
                ctx,
            )
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            word = args[0].lower()
            if ctx.parent is None and (meant := MEANT.get(word)):
                raise click.UsageError(f"there is no command {word!r}: `memento {meant}` does that", ctx) from error
            from difflib import get_close_matches

            near = get_close_matches(word, self.list_commands(ctx), n=1)
            hint = f": the nearest is `{ctx.command_path} {near[0]}`" if near else ""
            raise click.UsageError(f"there is no command {args[0]!r}{hint}", ctx) from error


def owner_of(command: click.Command | None) -> str:
    """Return the plug-in that a command belongs to; empty if there is none."""
    return command.plugin if isinstance(command, ShellCommand | Subcommands) else ""


def list_owned(of: str, group: click.Group, above: str = "") -> Iterator[tuple[str, click.Command]]:
    """Yield the commands of a plug-in, each after its name with that of its group; of a group of the plug-in the group alone."""
    for name, command in group.commands.items():
        if owner_of(command) == of:
            yield f"{above}{name}", command
        elif isinstance(command, click.Group):
            yield from list_owned(of, command, f"{above}{name} ")


def find_left_out(ctx: click.Context) -> frozenset[str]:
    """Return the plug-ins that are switched off. The settings are read only where there may be some: help must be quick."""
    chosen = ctx.find_object(Chosen) or Chosen()
    try:
        file = chosen.home_folder / "memento.toml"  # help makes no folder
        may_be_set = any(name.startswith("MEMENTO_") for name in os.environ) or Path(".env").is_file()
        if not (may_be_set or file.is_file() or file.with_name(".env").is_file()):
            return frozenset()
        from memento.settings import home_and_namespace, load_client

        home = chosen.home or home_and_namespace()[0]
        return load_client(Path(home) / file.name if home else file).plugins.left_out
    except MementoError:  # the command itself says what is wrong; help must work
        return frozenset()


class Commands(Subcommands):
    """The top group: prints a failure as one line on stderr; exits with 1 for a failure, 2 for wrong usage, 3 for a full disk."""

    group_class = Subcommands

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names of the commands, by group: on one screen with the options."""
        with formatter.section("Commands"):
            there = self.list_commands(ctx)
            shown = {title: [one for one in names if one in there] for title, names in LISTED.items()}
            formatter.write_dl([(title, ", ".join(names)) for title, names in shown.items()], col_max=22)
        formatter.write_text("`memento help GROUP` describes the commands of a group, as in `memento help run`.")

    def main(self, *args: Any, **extra: Any) -> Any:
        extra["standalone_mode"] = False
        try:
            sys.exit(super().main(*args, **extra) or 0)
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            sys.exit(USAGE)
        except click.UsageError as error:
            _say(describe_usage(error))
            sys.exit(USAGE)
        except click.ClickException as error:
            _say(error.format_message())
            sys.exit(error.exit_code)
        except DiskFull as error:
            _say(str(error))
            sys.exit(NO_ROOM)
        except MementoError as error:
            _say(str(error))
            sys.exit(USAGE if isinstance(error, InputError | SettingsError) else FAILED)
        except (KeyboardInterrupt, click.Abort):
            sys.exit(INTERRUPTED)
        except BrokenPipeError:
            # The reader closed the pipe: Python must not try to flush the buffer again at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(FAILED)
        except Exception as error:
            _say(f"something broke inside, which is a bug: {type(error).__name__}: {error}")
            sys.exit(FAILED)


class Instant(click.ParamType[datetime]):
    """An ISO 8601 date or time. One without an offset is kept without, and is read in the user's time zone."""

    name = "ISO"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        try:
            return datetime.fromisoformat(str(value).strip())
        except ValueError:
            self.fail(f"{value!r} is no ISO 8601 time such as 2025-01-31 or 2025-01-31T09:00:00Z", param, ctx)


def common(of: F, *, outermost: bool = False, without: str = "") -> F:
    """Add the options that may stand before or after the name of a command; only the outermost read the environment."""
    home = "MEMENTO_HOME" if outermost else None
    namespace = ["MEMENTO_NAMESPACE", "MEMENTO_SCOPE_NAMESPACE"] if outermost else None
    options = {
        "key": click.option(
            "--key-file",
            metavar="FILE",
            help="The file with the key of an encrypted data folder; default MEMENTO_ENCRYPTION_KEY or _KEY_FILE.",
            callback=_choose,
            expose_value=False,
        ),
        "json": click.option(
            "--json", "as_json", is_flag=True, help="Print JSON.", callback=_choose, expose_value=False
        ),
        "namespace": click.option(
            "--namespace",
            metavar="NAME",
            envvar=namespace,
            help="The namespace to write to and to search; default main.",
            callback=_choose,
            expose_value=False,
        ),
        "home": click.option(
            "--home",
            metavar="DIR",
            envvar=home,
            is_eager=outermost,  # the list of commands depends on the folder
            help="The data folder; default MEMENTO_HOME, else the platform's user data folder.",
            callback=_choose,
            expose_value=False,
        ),
    }
    for name, option in options.items():
        of = of if name == without else option(of)
    return of


def command(name: str) -> Callable[[F], F]:
    """Register a command that takes a `Chosen` as its first argument."""

    def add_command(function: F) -> F:
        main.command(name)(common(click.pass_obj(function)))
        return function

    return add_command


def print_answer(chosen: Chosen, answer: object, view: Callable[[], str]) -> None:
    """Print an answer: as JSON with `--json`, else as text for people."""
    click.echo(json.dumps(answer, ensure_ascii=False) if chosen.as_json else view())


@contextmanager
def bar(task: str, *, at_once: bool = False) -> Iterator[Progress | None]:
    """
    Show a progress bar on stderr from the first step on, where stderr is a terminal.

    Args:
        at_once: draw the bar before the first step; until then it is animated and shows the elapsed time.
    """
    if not sys.stderr.isatty():
        yield None
        return
    with ExitStack() as shown:
        update: Progress | None = shown.enter_context(_draw_bar(task)) if at_once else None

        def show(done: int, total: int) -> None:
            nonlocal update
            if update is None:
                update = shown.enter_context(_draw_bar(task))
            update(done, total)

        yield show


@contextmanager
def _draw_bar(task: str) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        one = bars.add_task(task, total=None)
        yield lambda done, total: bars.update(one, completed=done, total=total or None)


def _choose(context: click.Context, parameter: click.Parameter, value: object) -> None:
    if value:
        setattr(context.ensure_object(Chosen), str(parameter.name), value)


def _say(message: str) -> None:
    click.echo(f"memento: {' '.join(message.split())}", err=True)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.version_option(__version__, message="%(version)s")
@click.pass_context
def main(context: click.Context) -> None:
    """A memory for LLM agents: notes go in; dated, sourced memories come back."""
    chosen = context.ensure_object(Chosen)
    if context.invoked_subcommand is None:
        if not (sys.stdin.isatty() and sys.stdout.isatty()) and not chosen.as_json:
            raise click.exceptions.NoArgsIsHelpError(context)
        _show_overview(chosen)


def _show_overview(chosen: Chosen) -> None:
    """Show the latest memories and the first commands to try: what `memento` alone does in a terminal."""
    with open_memory(chosen, "overview") as memento:
        memories = call_operation(memento, "list", limit=5)
    shown = show_listing(memories) if memories else "Nothing is remembered yet."
    print_answer(chosen, memories, lambda: f"{shown}\n\n{_BEGINNING}")


_BEGINNING = """\
memento note "I moved to Lisbon."     remember something
memento recall "Where do I live?"     what answers a question
memento get ID                        everything about one of the above
memento --help lists all commands."""


common(main, outermost=True)


@main.command("help", hidden=True)
@click.argument("group", nargs=-1)
@click.pass_context
def show_help(context: click.Context, group: tuple[str, ...]) -> None:
    """Describe the commands of one of the five groups, named by its first word."""
    above = context.find_root()
    title = next((one for one in LISTED if group and one.lower().startswith(group[0].lower().rstrip("s"))), None)
    if group and title is None:
        named = ", ".join(one.split()[0].lower() for one in LISTED)
        raise click.UsageError(f"there is no group {group[0]!r} of commands: choose from {named}", context)
    if title is None:
        click.echo(above.get_help())
        return
    formatter = above.make_formatter()
    with formatter.section(title):
        there = main.list_commands(context)
        formatter.write_dl(
            [(name, main.commands[name].get_short_help_str(58)) for name in LISTED[title] if name in there]
        )
    click.echo(formatter.getvalue().rstrip())


def add_groups(said: Mapping[str, str], of: str = "") -> None:
    """Add groups of commands, each with its sentence of help; `of` is the plug-in that they belong to."""
    for name, help in said.items():
        group = Subcommands(name, help=help)
        group.plugin = of
        GROUPS[name] = group
        main.add_command(group)


def arrange_commands(old_names: Mapping[str, str], of: str = "") -> None:
    """Put commands into their groups, and hide them under their old names; `of` is the plug-in that they belong to."""
    for old, place in old_names.items():
        group_name, name = place.split()
        group, command = main.commands[group_name], main.commands[old]
        assert isinstance(group, click.Group) and isinstance(command, ShellCommand | Subcommands)
        command.plugin = of
        group.add_command(command, name)
        hidden = copy(command)
        hidden.hidden = True
        main.commands[old] = hidden


GROUPS: dict[str, click.Group] = {
    "tenant": Subcommands("tenant", help="List the tenants."),
    "session": Subcommands("session", help="Start a session with what is known, and summarize it at the end."),
}
"""The groups of commands that ask operations."""

for _group in GROUPS.values():
    main.add_command(_group)
