"""
Generate documentation pages: references of every interface, of settings, terms and queries, and the map of the rooms.

*Flow:* `PAGES` and `SECTIONS` say what is generated and by which function → `generate` → `memento docs`, which `make docs` runs. A
test compares the files with the output of `generate`, so that none becomes stale.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import click
import msgspec

from memento import assets, model, ontology, plugin, python, settings, telemetry
from memento.errors import InputError
from memento.interfaces.cli import clients
from memento.interfaces.cli.base import main
from memento.interfaces.cli.commands import command_of
from memento.interfaces.mcp import catalogue, resources
from memento.interfaces.mcp.tools import USUAL, Tool
from memento.interfaces.web import openapi, rest
from memento.operations import PLUGGED, TABLE, THEMES, Operation, fields_of, name_of
from memento.operations.base import (
    LOCAL,
    Interface,
    complete,
    declared_answer,
    method_of,
    places_of,
    route_of,
    summary_of,
)
from memento.python import Memory, methods
from memento.retrieval import signals

MADE = "Made by `make docs` from {source}."

INTERFACES: Mapping[Interface, str] = {
    "rest": "REST",
    "client": "HTTP client",
    "cli": "CLI",
    "python": "Python",
    "mcp": "MCP",
}
"""The names of the interfaces in text."""

FLOORS: tuple[Mapping[str, str], ...] = (
    {
        "__init__": "",
        "errors": "every error of Memento, drawn as a tree",
        "time": "times and time zones",
        "iris": "IRIs and prefixes",
        "codec": "JSON",
        "datadir": "the data folder and its lock",
        "telemetry": "logs and metrics",
        "assets": "packaged files",
        "breaker": "a circuit breaker",
        "network": "outgoing connections, checked first",
        "worker": "background work",
        "plugin": "finds plug-ins, and says what one may add",
    },
    {"settings": "the settings", "model": "the data types"},
    {
        "ports": "the protocols that backends implement",
        "rank": "fusion, graph walks, strength formulas",
        "text": "language analysis",
        "operations": "every operation, declared once",
    },
    {
        "graph": "the store and its backups",
        "search": "the derived indexes and the embedders",
        "llm": "language models",
        "access": "tokens and rights",
    },
    {"backends": "the only file that chooses implementations"},
    {
        "consolidation": "extracts facts from a note and writes them atomically",
        "retrieval": "the phases of recall",
        "manifest": "maps of a memory",
        "overview": "profiles, session summaries",
        "strength": "how use and time change memories",
        "ontology": "the vocabulary",
        "intake": "reads input, and removes secrets from every text",
        "archive": "exports, backups, forgetting",
    },
    {"sparql": "SPARQL from users: guard, workers, updates"},
    {"service": "the handlers of the operations, and their context"},
    {"python": "`Memento` and `Client`: one method for each operation"},
    {"interfaces": "HTTP, MCP, the command line, notebooks", "__main__": ""},
    {
        "plugins": "what can be switched off: a folder each, with everything of its own",
        "testing": "tests a plug-in",
    },
)
"""
The rooms, from the bottom: a file imports from its own room or from a lower floor.

A room is a folder or a single file below `src/memento`; one without a sentence is not on the map.
"""


def generate(root: Path) -> dict[str, str]:
    """
    Return the current text of every generated page, by its path below the root of a checkout.

    Raises:
        InputError: the page for a section is missing, or has no place for the section; names both.
    """
    pages = {path: write() for path, write in PAGES.items()}
    for path, name, write in SECTIONS:
        if (text := write()) is not None:
            pages[path] = _fill_in(pages.get(path) or _read_text(root / path), name, text, path)
    return {**pages, **write_headers()}


def write_stale(root: Path) -> list[str]:
    """Write the pages below a root that are stale, and return their paths. Raises as `generate`."""
    stale = find_stale(root)
    pages = generate(root) if stale else {}
    for path in stale:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(pages[path], encoding="utf-8")
    return stale


def find_stale(root: Path) -> list[str]:
    """Return the paths of the pages below a root that are stale. Raises as `generate`."""
    return [
        path
        for path, text in generate(root).items()
        if not (root / path).is_file() or (root / path).read_text(encoding="utf-8") != text
    ]


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be read: the folder must be that of a checkout of Memento") from error


def _fill_in(page: str, name: str, text: str, path: str) -> str:
    """Return a page with a new text between `<!-- name -->` and `<!-- /name -->`."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise InputError(f"{path} has no place for the section {name!r}: add {begin} and {end}")
    return f"{before}{begin}\n\n{text}\n{end}{after}"


def write_openapi() -> str:
    """Return the description of the REST interface, indented."""
    return msgspec.json.format(openapi.page(), indent=2).decode() + "\n"


def write_operations() -> str:
    """Return the page that says how to call every operation at each interface, or why it is missing there."""
    lines = [
        "# Operations",
        "",
        MADE.format(source="`src/memento/operations/`"),
        "Every operation is declared once, and each interface is generated from these declarations. A dash means that an operation",
        "is missing at an interface or works differently there; the list below each table gives the reasons.",
    ]
    tools = tools_of()
    for theme, module in THEMES.items():
        lines += ["", f"## {theme.capitalize()}", "", _first_sentence(module.__doc__), ""]
        heads = ("operation", "Python", "REST", "CLI", "MCP")
        rows, reasons = [], dict[tuple[str, str], list[str]]()
        for operation in _operations_of(theme):
            name = name_of(operation)
            rows.append(
                (
                    summary_of(operation),
                    f"[`{method_of(operation)}`](python.md#{method_of(operation).replace('.', '')})",
                    "–" if "rest" in operation.absent else f"[`{operation.route}`](rest.md#{name})",
                    f"`{command}`" if (command := command_of(name)) else "–",
                    ", ".join(f"`{one}`" for one in tools.get(name, ())) or "–",
                )
            )
            for interface, why in operation.absent.items():
                reasons.setdefault((INTERFACES[interface], why), []).append(f"`{name}`")
        lines += _table(heads, rows)
        if reasons:
            lines += [""]
        lines += [f"- {where}, {', '.join(names)}: {why}." for (where, why), names in reasons.items()]
    return "\n".join(lines) + "\n"


def write_rest() -> str:
    """Return the reference of the REST interface."""
    lines = [
        "# REST",
        "",
        MADE.format(source="`src/memento/operations/`; [openapi.json](../openapi.json) has the same for programs"),
        "",
        "GET and DELETE requests take their arguments from the query string, POST requests from a JSON object. Every request may",
        "name the namespace in the parameter `namespace` or the header `Memento-Namespace`. Percent-encode an IRI in a path.",
        'An error is `{"error": {"code": "…", "message": "…"}}`. [access.md](../access.md) says which token may call what.',
        "SPARQL, the proxy and MCP have their own pages: [sparql.md](../sparql.md), [proxy.md](../proxy.md), [mcp.md](../mcp.md).",
        f"`{rest.LISTING}` and `GET /list` are aliases of `list`, and `GET /export` is an alias of `export`. For Memento's own",
        "routes below `/api`, see [sessions.md](../sessions.md).",
    ]
    for theme in THEMES:
        declared = [one for one in _operations_of(theme) if one in openapi.operations().values()]
        if declared:
            lines += ["", f"## {theme.capitalize()}"]
        for operation in declared:
            lines += ["", f"### {name_of(operation)}", "", f"`{operation.route}`", "", f"{summary_of(operation)}.", ""]
            lines += _describe_arguments(operation, LOCAL if "rest" in operation.absent else (), _place_in(operation))
            statuses = sorted({operation.status, *operation.statuses})
            failing = sorted({400, 401, 403, 503, *operation.fails})
            facts = [f"takes the right to {operation.right}", f"answers {_join(statuses)}, fails with {_join(failing)}"]
            if formats := (rest.VIEWS[operation].formats if operation in rest.VIEWS else ()):
                facts.append(f"`format` may be `json`, {', '.join(f'`{one}`' for one in formats)}")
            lines += [f"It {'; '.join(facts)}."]
    return "\n".join(lines) + "\n"


def write_python() -> str:
    """Return the reference of the Python methods."""
    lines = [
        "# Python",
        "",
        MADE.format(source="`src/memento/operations/`"),
        "",
        "`open_memento` returns a `Memento`, or a `Client` if a running service already owns the data folder. Both have the same",
        "methods. Times are `datetime` objects or ISO 8601 text; a time without an offset is in the user's time zone.",
        "",
        "### open_memento",
        "",
        f"`open_memento({_parameters_of(python.open_memento)})`",
        "",
        *_block(python.open_memento.__doc__),
    ]
    lines += ["", "## What one uses every day", *_write_function("query", Memory.query)]
    lines += [line for name, path in methods.METHODS.items() if "." not in path for line in _write_method(name, path)]
    opened = {name: one for name, one in vars(methods.Everyday).items() if isinstance(one, methods.Opened)}
    for group, one in opened.items():
        paths = {name: path for name, path in methods.METHODS.items() if path.startswith(f"{group}.")}
        lines += ["", f"## memento.{group}", "", one.group.__doc__ or ""]
        lines += [line for name, path in paths.items() for line in _write_method(name, path)]
        if group == "intake":
            lines += _write_function("intake.import_files", methods.Intake.import_files)
    return "\n".join(lines) + "\n"


def _write_method(name: str, path: str) -> Iterator[str]:
    operation, method = TABLE[name], reduce(getattr, path.split("."), Memory)
    complete(operation)
    yield from (
        "",
        f"### {path}",
        "",
        f"`memento.{path}({_parameters_of(method)})`",
        "",
        *_block(operation.__doc__),
        "",
    )
    yield from _describe_arguments(operation)
    yield f"Answers with {_answer_of(operation)}."


def _write_function(path: str, function: Callable[..., Any]) -> Iterator[str]:
    yield from ("", f"### {path}", "", f"`memento.{path}({_parameters_of(function)})`", "", *_block(function.__doc__))


def write_cli() -> str:
    """Return the reference of the `memento` command."""
    shared = {"as_json", "namespace", "home", "help", "version"}
    lines = [
        "# The `memento` command",
        "",
        MADE.format(
            source="the commands in `src/memento/interfaces/cli/`, most of which are generated from `src/memento/operations/`"
        ),
        "",
        "Every command takes these options before or after its name: `--json` (print JSON), `--namespace NAME` (the namespace to",
        "write to and search), `--home DIR` (the data folder) and `--help`. The exit code is 0 on success, 1 if the command",
        "failed, 2 if it was used wrongly, and 3 if the disk is full. The error is one line on stderr.",
    ]
    for path, command in _commands_of(main):
        if isinstance(command, click.Group):
            lines += ["", f"## memento {path}", "", (command.help or "").strip()]
            continue
        context = click.Context(command, info_name=f"memento {path}")
        usage = " ".join(command.collect_usage_pieces(context)).replace("[OPTIONS]", "").split()
        lines += ["", f"### {' '.join(['memento', path, *usage])}", "", " ".join((command.help or "").split())]
        options = [one for one in command.params if isinstance(one, click.Option) and one.name not in shared]
        rows = [(f"`{_usage_of(one)}`", _help_of(one)) for one in options if not one.hidden]
        if rows:
            lines += ["", *_table(("option", "what it does"), rows)]
    return "\n".join(lines) + "\n"


def write_mcp() -> str:
    """Return the reference of the MCP tools, resources and prompts."""
    lines = [
        "# MCP tools",
        "",
        MADE.format(source="`src/memento/interfaces/mcp/`"),
        "",
        "[mcp.md](../mcp.md) explains how to connect a client. `MEMENTO_TOOLS` adds groups to the default tools; the headings",
        "below give their names.",
    ]
    default = {tool.name for tool in catalogue.DEFAULT}
    groups = {"Default": catalogue.DEFAULT, **{f"Group {name}": tools for name, tools in catalogue.GROUPS.items()}}
    for title, tools in groups.items():
        if listed := [tool for tool in tools if title == "Default" or tool.name not in default]:
            lines += ["", f"## {title}"]
            lines += [line for tool in listed if not tool.setting for line in _describe_tool(tool)]
        for setting in dict.fromkeys(tool.setting for tool in listed if tool.setting):
            lines += ["", f"### With the setting `{setting}`"]
            lines += [line for tool in listed if tool.setting == setting for line in _describe_tool(tool)]
    lines += ["", "## Resources", ""]
    rows = [(f"`{one['uri']}`", str(one.get("description", ""))) for one in resources.FIXED]
    rows += [(f"`{one['uriTemplate']}`", str(one.get("description", ""))) for one in resources.TEMPLATES]
    lines += [*_table(("resource", "what it is"), rows), "", "## Prompts", ""]
    lines += _table(
        ("prompt", "what it is"), [(f"`{one['name']}`", str(one["description"])) for one in resources.PROMPTS]
    )
    return "\n".join(lines) + "\n"


def write_queries() -> str:
    """Return the reference of the queries, made from their headers."""
    lines = [
        "# Queries",
        "",
        MADE.format(source="the headers of [`queries/`](../../queries)"),
        "You can run each query unchanged on any SPARQL page. The code fills the `VALUES` slots with RDF terms.",
    ]
    users, rooms = find_users(), dict[str, list[Sequence[str]]]()
    for name in assets.queries():
        room, _, leaf = name.rpartition("/")
        path, query = _read_query(name)
        header = read_header(_with_users(query, users.get(name, ())))
        link = f"[`{leaf}`](../../{path})"
        rooms.setdefault(room, []).append((link, header["does"], header["in"], header["out"], header["used by"]))
    for room, rows in rooms.items():
        lines += ["", f"## {room}", "", *_table(("query", "what it answers", "in", "out", "used by"), rows)]
    return "\n".join(lines) + "\n"


def write_metrics() -> str:
    """Return the page of the metrics."""

    def list_labels(metric: telemetry.Metric) -> str:
        return "; ".join(
            f"`{name}`: {', '.join(f'`{value}`' for value in values) or 'the name of the store, `default` for the first'}"
            for name, values in metric.labels.items()
        )

    rows = [
        (f"`memento_{name}`", metric.kind, metric.help, list_labels(metric))
        for name, metric in telemetry.METRICS.items()
    ]
    lines = [
        "# Metrics",
        "",
        MADE.format(source="`METRICS` of [`telemetry.py`](../../src/memento/telemetry.py)"),
        "`GET /metrics` returns the metrics of the process that answers, in the Prometheus text format. A metric without a value",
        "yet has no line. A label value that is not listed here is reported as `other`.",
        "",
        *_table(("metric", "kind", "what it measures", "labels"), rows),
        "",
        "In addition there are `memento_events_total` and `memento_seconds_total` with the label `event` (phases of recall and of",
        "notes, the proxy, embeddings, redaction), and what plug-ins measure.",
    ]
    return "\n".join(lines) + "\n"


def write_headers() -> dict[str, str]:
    """Return the text of every query by its path, with the files that use it in its header."""
    users = find_users()
    return {
        path: _with_users(query, users.get(name, ()))
        for name in assets.queries()
        for path, query in [_read_query(name)]
    }


def find_users() -> dict[str, list[str]]:
    """Return the files of the package that name a query, by its name."""
    package = Path(__file__).parents[1]
    names, found = set(assets.queries()), dict[str, list[str]]()
    for path in sorted(package.rglob("*.py")):
        for name in names.intersection(re.findall(r'"([a-z_]+(?:/[a-z_]+)+)"', path.read_text(encoding="utf-8"))):
            found.setdefault(name, []).append(path.relative_to(package).as_posix())
    return found


def write_rooms() -> str:
    """Return the map of the existing rooms, from the top."""
    rows = [
        (str(number), " ".join(f"`{room}`" for room in rooms), "; ".join(rooms.values()))
        for number, rooms in reversed(list(enumerate(list_floors())))
    ]
    return "\n".join(_table(("floor", "rooms", "what comes out of them"), rows)) + "\n"


def list_floors() -> list[dict[str, str]]:
    """Return the floors from the bottom: for each existing room, by its name, what it is."""
    package = Path(__file__).parents[1]
    return [{room: what for name, what in floor.items() if what and (room := _room(package, name))} for floor in FLOORS]


def write_signals() -> str | None:
    """Return the table of the signals of recall; None if they are not registered one by one."""
    document: Callable[[], str] | None = getattr(signals, "document_signals", None)
    return document() if document else None


def read_header(query: str) -> dict[str, str]:
    """
    Return the fields in the header of a query: `does`, `in`, `out`, `used by`.

    >>> read_header("# Everything.\\n# in: nothing\\n# out: s\\n# used by: a.py\\nSELECT ?s {}")
    {'does': 'Everything.', 'in': 'nothing', 'out': 's', 'used by': 'a.py'}
    """
    lines = [line.removeprefix("#").strip() for line in query.splitlines() if line.startswith("#")]
    header = {"does": lines[0] if lines else ""}
    for line in lines[1:]:
        name, _, value = line.partition(": ")
        if name in ("in", "out", "used by"):
            header.setdefault(name, value)
    return {"in": "", "out": "", "used by": "", **header} if len(header) < 4 else header


def tools_of() -> dict[str, list[str]]:
    """Return the names of the MCP tools that call an operation, by the operation's name."""
    found: dict[str, list[str]] = {}
    for tool in catalogue.tools(tuple(catalogue.GROUPS)).values():
        for operation in tool.asks:
            found.setdefault(name_of(operation), []).append(tool.name)
    return found


_KNOWN: Mapping[str, Sequence[str]] = {
    "collections.abc": ("Iterable", "Mapping", "Sequence"),
    "datetime": ("datetime",),
    "pathlib": ("Path",),
    "typing": ("Any", "Literal"),
    "memento.iris": ("IRI",),
    "memento.model": tuple(
        name for name, one in vars(model).items() if getattr(one, "__module__", "") == model.__name__
    ),
    "memento.ports": ("Progress",),
}
"""The names that a signature may use, by the module that has them."""


def write_signatures() -> str:
    """Return the stub that tells type checkers and editors the methods of a memory."""
    opened = {name: one for name, one in vars(methods.Everyday).items() if isinstance(one, methods.Opened)}
    body, used = list[str](), set[str]()
    for name, one in opened.items():
        body += ["", f"class {name.capitalize()}Methods:", f'    """{one.__doc__}"""', *_write_stubs(one.group, used)]
    body += ["", "class Everyday:", f'    """{methods.Everyday.__doc__}"""']
    for name, one in opened.items():
        body += ["", "    @property", f"    def {name}(self) -> {name.capitalize()}Methods:"]
        body += [f'        """{one.__doc__}"""']
    body += _write_stubs(methods.Everyday, used)
    head = ['"""', "The methods of a memory, for type checkers and editors.", ""]
    head += [MADE.format(source="`src/memento/operations/`"), '"""', ""]
    for module, known in {**_KNOWN, **_list_plugged_nouns()}.items():
        names = sorted(used.intersection(known))
        head += [""] if module == "memento.iris" else []
        if len(names) > 5:
            head += [f"from {module} import (", *(f"    {name}," for name in names), ")"]
        else:
            head += [f"from {module} import {', '.join(names)}"]
    return "\n".join([*head, *body]) + "\n"


def _list_plugged_nouns() -> dict[str, list[str]]:
    """List the classes that operations of plug-ins take and return, by the module that has them."""
    found: dict[str, list[str]] = {}
    for module in {sys.modules[TABLE[name].__module__]: None for name in PLUGGED}:
        nouns = vars(import_module(module.NOUNS)) if hasattr(module, "NOUNS") else {}
        for name, one in (*nouns.items(), *vars(module).items()):
            is_noun = isinstance(one, type) and not issubclass(one, Operation)
            if is_noun and one.__module__.startswith(f"{module.__package__}."):
                found.setdefault(one.__module__, []).append(name)
    return found


def _write_stubs(owner: type, used: set[str]) -> Iterator[str]:
    """Yield the lines of the methods of a class, and collect the names that their types use."""
    for name, method in vars(owner).items():
        if name.startswith("_") or not isinstance(method, methods.Method | FunctionType):
            continue
        function = getattr(owner, name)
        signature = inspect.signature(function)
        lines, has_star = ["self,"], False
        for one in signature.parameters.values():
            if one.name == "self":
                continue
            if one.kind is inspect.Parameter.KEYWORD_ONLY and not has_star:
                lines.append("*,")
                has_star = True
            mark = "**" if one.kind is inspect.Parameter.VAR_KEYWORD else ""
            default = "" if one.default is inspect.Parameter.empty else f" = {methods.write_value(one.default)}"
            lines.append(f"{mark}{one.name}: {one.annotation}{default},")
        used.update(re.findall(r"\w+", " ".join([*lines, str(signature.return_annotation)])))
        yield from ("", f"    def {name}(", *(f"        {line}" for line in lines))
        yield f"    ) -> {signature.return_annotation}:"
        doc = inspect.getdoc(function) or ""
        mark = "r" if "\\" in doc else ""
        yield from (f'        {mark}"""', *(f"        {line}".rstrip() for line in doc.splitlines()), '        """')


PAGES: Mapping[str, Callable[[], str]] = {
    "docs/openapi.json": write_openapi,
    "docs/reference/operations.md": write_operations,
    "docs/reference/rest.md": write_rest,
    "docs/reference/python.md": write_python,
    "src/memento/python/signatures.pyi": write_signatures,
    "docs/reference/cli.md": write_cli,
    "docs/reference/mcp.md": write_mcp,
    "docs/reference/queries.md": write_queries,
    "docs/reference/metrics.md": write_metrics,
    "docs/settings.md": settings.table,
    "docs/clients.md": clients.write_page,
    "docs/ontology.md": ontology.write_page,
    "ontology/context.jsonld": ontology.write_context,
}
"""The pages that are generated as a whole, by their path."""

SECTIONS: Sequence[tuple[str, str, Callable[[], str | None]]] = (
    ("docs/where.md", "rooms", write_rooms),
    ("docs/recall.md", "signals", write_signals),
    *((*place.split("#"), write) for place, write in plugin.collect("sections").items()),
)
"""The sections that are generated within a page: its path, their name, and their text; None leaves a section as it is."""


def _operations_of(theme: str) -> list[type[Operation[Any]]]:
    module = THEMES[theme].__name__
    declared = [one for one in TABLE.values() if one.__module__ == module]
    for one in declared:
        complete(one)
    return declared


def _place_in(operation: type[Operation[Any]]) -> Callable[[str], str]:
    verb, places = route_of(operation)[0], places_of(operation)
    usual = "body" if verb == "POST" and "rest" not in operation.absent else "query"
    return lambda name: "address" if name in places else usual


def _describe_arguments(
    operation: type[Operation[Any]], left_out: Collection[str] = (), place: Callable[[str], str] | None = None
) -> list[str]:
    """Return a table of arguments, and an empty line after it; nothing if there is only the namespace."""
    schemas = openapi.arguments_of(operation, {})["properties"]
    shown = {name: one for name, one in fields_of(operation).items() if name not in ("namespace", *left_out)}
    if not shown:
        return []
    heads = ("argument", *(("in",) if place else ()), "type", "default", "what it is")
    rows = []
    for name, one in shown.items():
        names = ", ".join(f"`{alias}`" for alias in (name, *(one.aliases if place else ())))
        where = (place(name),) if place else ()
        schema = schemas[name] | ({"enum": one.choices} if one.choices else {})  # in their own order
        default = "needed" if one.is_required else _json_default(schema)
        rows.append((names, *where, _name_schema(schema), default, one.description + _bounds_of(schema)))
    return [*_table(heads, rows), ""]


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _bounds_of(schema: Mapping[str, Any]) -> str:
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and most is not None:
        return f" ({least:,g} to {most:,g})" if abs(most) < 2**31 - 1 else f" (at least {least:g})"
    if least is not None:
        return f" (at least {least:g})"
    return f" (at most {most:g})" if most is not None else ""


def _parameters_of(function: Callable[..., Any]) -> str:
    """
    Return the parameters of a function without their types.

    >>> _parameters_of(lambda self, a, b=1, *, c=None: 0)
    'a, b=1, *, c=None'
    """
    shown, has_star = list[str](), False
    for name, one in inspect.signature(function).parameters.items():
        if name == "self":
            continue
        if one.kind is inspect.Parameter.KEYWORD_ONLY and not has_star:
            shown.append("*")
            has_star = True
        empty = one.default is inspect.Parameter.empty
        shown.append(name if empty else f"{name}={one.default!r}")
    return ", ".join(shown)


def _answer_of(operation: type[Operation[Any]]) -> str:
    """Return the declared type of an answer, without the prefix `model.`."""
    declared = declared_answer(operation)
    text = getattr(declared, "__forward_arg__", None) or getattr(declared, "__name__", str(declared))
    return "nothing" if text in ("None", "NoneType") else f"`{str(text).replace('model.', '')}`"


def _block(docstring: str | None) -> list[str]:
    """Return a docstring as Markdown, with its sections as lists."""
    lines: list[str] = []
    is_listing = False
    for line in inspect.cleandoc(docstring or "").splitlines():
        if re.fullmatch(r"(Args|Raises|Returns):", line):
            lines += [f"*{line.removesuffix(':')}*", ""]
            is_listing = True
        elif is_listing and re.match(r"    \S", line):
            name, colon, rest = line.strip().partition(": ")
            lines.append(f"- `{name}`: {rest}" if colon and " " not in name else f"- {line.strip()}")
        elif is_listing and line.startswith("        "):
            lines.append(f"  {line.strip()}")
        else:
            is_listing = is_listing and not line
            lines.append(line)
    return lines


def _describe_tool(tool: Tool) -> Iterator[str]:
    listed = tool.describe()
    hints = {
        "readOnlyHint": "reads only",
        "destructiveHint": "destroys",
        "idempotentHint": "repeats harmlessly",
        "openWorldHint": "reaches beyond the memory",
    }
    facts = [words for name, words in hints.items() if listed["annotations"].get(name, USUAL[name])]
    said = tool.description.replace("[", "\\[").splitlines()  # a bracket would start a link
    yield from ("", f"### {tool.name}", "", *(line.rstrip() for line in said), "")
    needed = listed["inputSchema"].get("required", ())
    rows = [
        (f"`{name}`", _name_schema(one), "needed" if name in needed else _json_default(one), one.get("description", ""))
        for name, one in listed["inputSchema"].get("properties", {}).items()
    ]
    if rows:
        yield from (*_table(("argument", "type", "default", "what it is"), rows), "")
    asks = ", ".join(f"`{name_of(one)}`" for one in tool.asks)
    yield f"It asks {asks}{'; it ' + ', '.join(facts) if facts else ''}."


def _name_schema(schema: Mapping[str, Any]) -> str:
    """
    Return the type in a JSON Schema in plain words.

    >>> _name_schema({"anyOf": [{"type": "string"}, {"type": "null"}]}), _name_schema({"enum": ["a", "b"]})
    ('text', '`a` or `b`')
    """
    names = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
    if "enum" in schema:
        return " or ".join(f"`{one}`" for one in schema["enum"] if one is not None)
    if "$ref" in schema:
        return f"`{schema['$ref'].rsplit('/', 1)[-1]}`"
    if "anyOf" in schema:
        return " or ".join(_name_schema(one) for one in schema["anyOf"] if one != {"type": "null"})
    if schema.get("type") == "array":
        return f"list of {_name_schema(schema.get('items', {}))}"
    if "additionalProperties" in schema:
        return f"object of {_name_schema(schema['additionalProperties'])}"
    if schema.get("format") == "date-time":
        return "time"
    if "contentEncoding" in schema:
        return "bytes"
    kind = schema.get("type", "anything")
    return str(names.get(kind, kind))


def _json_default(schema: Mapping[str, Any]) -> str:
    default = schema.get("default")
    return "" if default in (None, "", [], ()) else f"`{_as_text(default)}`"


def _commands_of(group: click.Group, above: str = "") -> Iterator[tuple[str, click.Command]]:
    """Yield the commands of a group, sorted, then its groups, each with its commands."""
    members = sorted(group.commands.items(), key=lambda one: (isinstance(one[1], click.Group), one[0]))
    for name, command in members:
        if command.hidden:
            continue
        yield f"{above}{name}", command
        if isinstance(command, click.Group):
            yield from _commands_of(command, f"{above}{name} ")


def _usage_of(option: click.Option) -> str:
    names = ", ".join((*option.opts, *option.secondary_opts))
    metavar = "" if option.is_flag else option.make_metavar(click.Context(click.Command("any")))
    return f"{names} {metavar}".strip()


def _help_of(option: click.Option) -> str:
    default = f" Default `{_as_text(option.default)}`." if option.show_default and option.default is not None else ""
    needed = " Needed." if option.required else ""
    return f"{option.help or ''}{default}{needed}"


def _room(package: Path, name: str) -> str | None:
    """Return the name of a room as a file or a folder, or None if it does not exist."""
    if (package / name).is_dir():
        return f"{name}/"
    return f"{name}.py" if (package / f"{name}.py").is_file() else None


def _read_query(name: str) -> tuple[str, str]:
    """Return the path of a query and its text."""
    ending = "rq" if (assets.folder("queries") / f"{name}.rq").is_file() else "ru"
    path = f"queries/{name}.{ending}"
    return path, assets.read(path).decode()


def _with_users(query: str, users: Iterable[str]) -> str:
    """
    Return a query with the files that use it in its header.

    >>> _with_users("# All.\\n# used by: nobody\\nASK {}", ["a.py", "b.py"])
    '# All.\\n# used by: a.py, b.py\\nASK {}'
    """
    return re.sub(r"^# used by: .*$", f"# used by: {', '.join(users)}", query, count=1, flags=re.M)


def _first_sentence(docstring: str | None) -> str:
    return (docstring or "").strip().partition("\n\n")[0].replace("\n", " ")


def _join(statuses: Iterable[int]) -> str:
    return ", ".join(map(str, statuses))


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table in Markdown."""
    cells = ([one.replace("|", "\\|").replace("\n", " ") for one in row] for row in rows)
    return [
        f"| {' | '.join(heads)} |",
        f"| {' | '.join('---' for _ in heads)} |",
        *(f"| {' | '.join(row)} |" for row in cells),
    ]
