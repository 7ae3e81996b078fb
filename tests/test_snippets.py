"""
What the pages show is true: quickstarts and tutorials run as they stand, from the first snippet to the last, against a service on a
real socket; the snippets of every other page are read as whoever takes them would read them.

A snippet that cannot run has a comment above it, `<!-- not run: why -->`, and is a skipped test with that reason. A block of `text`
below a snippet is what it prints: each line of the block, in this order, where `…` stands for anything.
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
import shlex
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import click
import httpx2
import openai
import pytest
import yaml  # type: ignore[import-untyped]  # its types are a package of their own
from click.testing import CliRunner
from rdflib.plugins.sparql.parser import parseQuery, parseUpdate

from memento.interfaces.cli import main
from memento.plugins.living.sexpr.forms import read_forms
from memento.python import Memory
from memento.python.methods import METHODS
from memento.settings import Settings, groups
from memento.settings import table as document_settings
from proxied import in_front_of
from trig import parse_trig
from upstream import Upstream

ROOT = Path(__file__).parents[1]
RUN = sorted([*(ROOT / "docs" / "start").glob("*.md"), *(ROOT / "docs" / "tutorials").glob("*.md")])
READ = sorted({ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")} - set(RUN))
FENCE = re.compile(
    r"(?P<note><!-- not run: (?P<why>[^\n]+?) -->\n+)?^(?P<indent> *)```(?P<kind>[\w-]*)[^\n]*\n(?P<text>.*?)^(?P=indent)``` *$"
    r"(?:\n+^(?P=indent)```text\n(?P<prints>.*?)^(?P=indent)``` *$)?",
    re.M | re.S,
)
PORT = "6366"

REAL = "operator.md"
"""The page whose service and commands are processes; those of others run in here, which takes a tenth of the time."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """One block of a page."""

    page: Path
    number: int
    kind: str
    text: str
    prints: tuple[str, ...]
    why_not: str | None

    @property
    def name(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.number}"


def list_snippets(page: Path) -> list[Snippet]:
    """List the blocks of a page; what another prints is part of that one."""
    found = []
    text = page.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        indent = len(match["indent"])
        body = "".join(line[indent:] or "\n" for line in match["text"].splitlines(keepends=True))
        prints = tuple(line.strip() for line in (match["prints"] or "").splitlines() if line.strip())
        line = text.count("\n", 0, match.start("text"))
        found.append(Snippet(page, line, match["kind"], body, prints, match["why"]))
    return found


EVERY = {page: list_snippets(page) for page in [*RUN, *READ]}


def require_printed(snippet: Snippet, output: str) -> None:
    """Raise `AssertionError` where a snippet did not print what its page says."""
    at = 0
    for line in snippet.prints:
        pattern = ".*".join(re.escape(part) for part in line.split("…"))
        found = re.compile(pattern).search(output, at)
        assert found, f"{snippet.name} does not print {line!r}, but:\n{output}"
        at = found.end()


def split_commands(text: str) -> list[list[str]]:
    """Return the words of each command of a script of `memento` alone; nothing where it takes a shell."""
    lines = re.sub(r"\\\n\s*", " ", text).splitlines()
    is_plain = all(line.startswith("memento ") for line in lines) and not re.search(r"[|&;$`<>*]", text)
    return [shlex.split(line, comments=True)[1:] for line in lines] if is_plain else []


class Reader:
    """Somebody who follows a page in an empty folder: with a shell, a Python, and a provider that answers everything."""

    def __init__(self, folder: Path, upstream: Upstream, port: int) -> None:
        self.folder = folder / "work"
        self.folder.mkdir()
        self.home = folder / "home"
        self.upstream = upstream
        self.port = str(port)
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self._open = ExitStack()
        commands = folder / "bin"
        commands.mkdir()
        (commands / "memento").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m memento "$@"\n', encoding="utf-8")
        (commands / "memento").chmod(0o755)
        self.environment = {
            "HOME": str(folder),
            "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
            "MEMENTO_HOME": str(self.home),
            "MEMENTO_EMBEDDING_MODEL": "trigram",
            "MEMENTO_EMBEDDING_CACHE": "false",
            "MEMENTO_SERVER_PORT": self.port,
            "OPENAI_API_KEY": "sk-of-a-test",
        }

    def follow(self, snippet: Snippet) -> str:
        """Do what a snippet says; return what it prints."""
        text = snippet.text.replace(PORT, self.port)
        if snippet.kind == "sh":
            if text.startswith("memento serve"):
                return self._serve_alone() if snippet.page.name == REAL else self._serve_here()
            commands = [] if snippet.page.name == REAL else split_commands(text)
            return "".join(map(self._run_command, commands)) if commands else self._run_shell(text)
        if snippet.kind == "python":
            return self._run_python(text)
        assert snippet.kind == "sparql", f"{snippet.name}: a page that runs has no place for {snippet.kind!r}"
        answer = httpx2.post(
            f"http://127.0.0.1:{self.port}/sparql",
            content=text.encode(),
            headers={"Content-Type": "application/sparql-query", "Accept": "text/csv"},
            timeout=60,
        )
        assert answer.status_code == 200, answer.text
        return answer.text

    def close(self) -> None:
        for value in list(self.names.values()):
            if isinstance(value, openai.OpenAI | Memory):
                value.close()
        self._open.close()

    def _serve_here(self) -> str:
        proxied = in_front_of(self.upstream, self.home, port=int(self.port))
        self._open.enter_context(proxied)
        return ""

    def _serve_alone(self) -> str:
        log = self.folder / "serve.log"
        with log.open("wb") as file:
            command = [sys.executable, "-m", "memento", "serve"]
            service = subprocess.Popen(command, cwd=self.folder, stdout=file, stderr=file)
        self._open.callback(service.wait, 60)
        self._open.callback(service.terminate)
        for _ in range(600):
            try:
                if httpx2.get(f"http://127.0.0.1:{self.port}/health").status_code == 200:
                    return ""
            except httpx2.HTTPError:
                pass
            assert service.poll() is None, log.read_text()
            time.sleep(0.1)
        raise AssertionError("the service did not start in a minute")

    def _run_command(self, words: list[str]) -> str:
        done = CliRunner().invoke(main, words, prog_name="memento")
        assert done.exit_code == 0, done.output
        return done.output

    def _run_shell(self, text: str) -> str:
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def _run_python(self, text: str) -> str:
        with redirect_stdout(StringIO()) as said:
            exec(compile(text, "snippet", "exec"), self.names)
        return said.getvalue()


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with Upstream() as upstream:
        reader = Reader(tmp_path, upstream, port)
        for name, value in reader.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(reader.folder)
        try:
            yield reader
        finally:
            reader.close()


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.relative_to(ROOT / "docs").as_posix())
def test_a_quickstart_or_tutorial_runs_from_its_first_snippet_to_its_last(page: Path, reader: Reader) -> None:
    for snippet in EVERY[page]:
        if snippet.why_not is None:
            require_printed(snippet, reader.follow(snippet))


@pytest.mark.parametrize("page", [page for page in RUN if page.parent.name == "start" and page.name != REAL])
def test_the_first_answer_of_a_quickstart_takes_five_commands_at_most(page: Path) -> None:
    steps = 0
    for snippet in EVERY[page]:
        is_shell = snippet.kind == "sh"
        steps += len(re.sub(r"\\\n", "", snippet.text).strip().splitlines()) if is_shell else 1
        if snippet.prints:
            break

    assert snippet.prints, "a quickstart shows an answer"
    assert steps <= 5


NOT_RUN = [one for snippets in EVERY.values() for one in snippets if one.why_not]


@pytest.mark.parametrize("snippet", NOT_RUN, ids=lambda one: one.name)
def test_a_snippet_that_does_not_run_says_why(snippet: Snippet) -> None:
    assert snippet.why_not
    pytest.skip(f"not run: {snippet.why_not}")


def list_commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each call of `memento` in a script."""
    open_line = ""
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        try:
            lexer = shlex.shlex(open_line + line, posix=True, punctuation_chars="|&;<>()")
            lexer.whitespace_split = True
            words = list(lexer)
        except ValueError:  # a text over several lines
            open_line += f"{line} "
            continue
        open_line = ""
        command: list[str] | None = None
        previous = ""
        for word in [*words, ";"]:
            if re.fullmatch(r"[|&;<>()]+", word):
                if command:
                    yield command
                command = None
            elif command is not None:
                command.append(word)
            elif word == "memento" and previous not in ("exec",):  # which is a container's name
                command = []
            previous = word
    assert not open_line, f"a quotation never ends: {open_line[:80]}"


def require_command(words: list[str]) -> None:
    """Raise `click.UsageError` where a call names a command or an option that there is not."""
    command: click.Command = main
    context = click.Context(main, info_name="memento")
    while isinstance(command, click.Group):
        rest = words
        while rest and rest[0].startswith("-"):
            parser = command.make_parser(context)
            parser.allow_interspersed_args = False
            rest = parser.parse_args(list(rest))[1]
        if not rest:
            return
        found = command.get_command(context, rest[0])
        if found is None:
            raise click.UsageError(f"no command {rest[0]!r}")
        command, words = found, rest[1:]
        context = click.Context(command, info_name=rest[0], parent=context)
    command.make_parser(context).parse_args(list(words))


def shell_of(page: Path) -> list[Snippet]:
    return [one for one in EVERY[page] if one.kind in ("sh", "bash", "")]


@pytest.mark.parametrize("page", EVERY, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_of_a_page_is_there_with_its_options(page: Path) -> None:
    faults = []
    for snippet in shell_of(page):
        for words in list_commands(snippet.text):
            try:
                require_command(words)
            except click.UsageError as error:
                faults.append(f"{snippet.name}: memento {shlex.join(words)}: {error.format_message()}")
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for called in re.findall(r"`memento ([a-z][a-z-]*(?: [a-z][a-z-]*)?)[^`]*`", text):
        first, _, second = called.partition(" ")
        command = main.get_command(click.Context(main), first)
        if command is None:
            faults.append(f"`memento {first}` is no command")
        elif (
            second and isinstance(command, click.Group) and second not in command.list_commands(click.Context(command))
        ):
            faults.append(f"`memento {called}` is no command")
    assert faults == []


def read_snippet(snippet: Snippet) -> None:
    """Read a snippet as whoever takes it would; raise whatever is wrong with it."""
    match snippet.kind:
        case "python":
            tree = ast.parse(snippet.text)
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom) and node.module:
                    module = importlib.import_module(node.module)
                    missing = [one.name for one in node.names if not hasattr(module, one.name)]
                    assert not missing, f"{node.module} has no {missing}"
                elif isinstance(node, ast.Import):
                    for one in node.names:
                        importlib.import_module(one.name)
        case "sparql":
            is_update = re.search(r"^\s*(INSERT|DELETE|LOAD|CLEAR|DROP|WITH|CREATE)\b", snippet.text, re.M)
            (parseUpdate if is_update else parseQuery)(snippet.text)
            unknown = set(re.findall(r"\bmem:(\w+)", snippet.text)) - TERMS
            assert not unknown, f"the ontology has no {unknown}"
        case "json":
            json.loads(snippet.text)
        case "yaml":
            yaml.safe_load(snippet.text)
        case "turtle":
            list(parse_trig(snippet.text.encode()))
        case "lisp":
            read_forms(snippet.text)
        case "toml":
            known: Any = dict(groups(Settings()))
            for section, values in tomllib.loads(snippet.text).items():
                group = known.get(section)
                for name in values if group is not None and isinstance(values, dict) else ():
                    assert hasattr(group, name) or isinstance(group, dict), f"there is no setting {section}.{name}"


READABLE = [
    one
    for snippets in EVERY.values()
    for one in snippets
    if one.kind in ("python", "sparql", "json", "yaml", "turtle", "lisp", "toml")
]


def test_every_snippet_can_be_read() -> None:
    faults = []
    for snippet in READABLE:
        try:
            read_snippet(snippet)
        except Exception as error:
            faults.append(f"{snippet.name}: {type(error).__name__}: {error}")
    assert len(READABLE) > 40
    assert faults == []


def test_every_variable_that_a_page_names_is_a_setting() -> None:
    known = set(re.findall(r"MEMENTO_[A-Z0-9_]+", document_settings()))
    used = set()
    for path in [*(ROOT / "src").rglob("*.py"), *(ROOT / "packaging").iterdir()]:
        if path.is_file():
            used |= set(re.findall(r"MEMENTO_[A-Z0-9_]+", path.read_text(encoding="utf-8")))
    faults = [
        f"{page.relative_to(ROOT)}: {name}"
        for page in EVERY
        for name in re.findall(r"MEMENTO_[A-Z0-9_]*[A-Z0-9]", page.read_text(encoding="utf-8"))
        if not any(one == name or one.startswith(f"{name}_") for one in known | used)
    ]
    assert faults == []


def test_a_wrong_snippet_is_noticed() -> None:
    """The tests above can fail."""
    page = ROOT / "README.md"
    with pytest.raises(click.UsageError):
        require_command(["recal", "What?"])
    with pytest.raises(click.UsageError):
        require_command(["recall", "What?", "--as-off", "2024-01-01"])
    for kind, text in (
        ("python", "from memento import nothing_of_this_name"),
        ("sparql", "SELECT ?a WHERE { ?a"),
        ("sparql", "PREFIX mem: <http://purl.org/memento/> SELECT ?a WHERE { ?a mem:cameFrom ?b }"),
        ("toml", "[server]\nprot = 1"),
        ("json", "{"),
        ("lisp", "(recall"),
    ):
        with pytest.raises(Exception):  # noqa: B017  # each reader has its own
            read_snippet(Snippet(page, 1, kind, text, (), None))
    with pytest.raises(AssertionError):
        require_printed(Snippet(page, 1, "sh", "", ("a … c", "b"), None), "b\na b c\n")


def test_every_setting_that_a_page_names_is_one() -> None:
    known, code = dict(groups(Settings())), read_code()
    faults = []
    for page in EVERY:
        for section, name in re.findall(r"`([a-z]+)\.([a-z_]+)`", page.read_text(encoding="utf-8")):
            group = known.get(section)
            # The name of a file, of an event, or of a method in its group may look the same.
            is_other = name in ENDINGS or any(f"{quote}{section}.{name}" in code for quote in "\"'{")
            is_other = is_other or f"{section}.{name}" in METHODS.values()
            if group is not None and not is_other and not hasattr(group, name):
                faults.append(f"{page.relative_to(ROOT)}: {section}.{name}")
    assert faults == []


def read_code() -> str:
    return "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))


ENDINGS = ("py", "toml", "json", "jsonl", "md", "ttl", "db", "onnx", "safetensors")
TERMS = set(re.findall(r"^mem:(\w+)", (ROOT / "ontology" / "memento.ttl").read_text(encoding="utf-8"), re.M))
UNITS = {"MiB": 1024 * 1024, "KiB": 1024, "s": 1, "": 1}


def test_the_numbers_of_the_page_of_limits_are_the_defaults() -> None:
    page = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| [^|]+ \| ([^|]+) \| ((?:`\w+\.\w+`(?:, )?)+) \|$", page, re.M)
    assert len(rows) > 8
    for limit, names in rows:
        said = [
            (float(number.replace(",", "")), unit)
            for number, unit in re.findall(r"(\d[\d,]*)(?: (MiB|KiB|s)\b)?", limit)
        ]
        for (number, unit), (section, name) in zip(said, re.findall(r"`(\w+)\.(\w+)`", names), strict=True):
            default = getattr(dict(groups(Settings()))[section], name)
            assert number * UNITS[unit] == default or (name.endswith("_mb") and number == default), f"{section}.{name}"


def test_the_errors_of_the_page_of_troubles_are_those_of_the_code() -> None:
    page = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    code = read_code()
    said = re.findall(r"^\| `([^`]+)`", page, re.M)
    pieces = [piece.strip(" :,[]") for one in said for piece in one.split("…")]
    spoken = [re.sub(r"(?<!\S)\d+(?:\.\d+)*", "", piece) for piece in pieces]
    missing = [
        words
        for piece in spoken
        for words in re.split(r"\s{2,}|port  of", piece)
        if len(words.strip()) > 7 and words.strip() not in code
    ]
    assert len(said) > 12
    assert missing == []


def test_every_fact_about_another_project_has_a_source() -> None:
    page = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
    rows = [
        line
        for line in page.splitlines()
        if line.startswith("| ") and not line.startswith(("| project", "| report", "| ---"))
    ]
    assert len(rows) > 15
    assert [row for row in rows if "https://github.com/" not in row and not row.startswith("| Memento ")] == []
