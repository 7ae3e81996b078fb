"""
Ten tasks of somebody who has just met Memento, each as README and docs say: how many steps, how long, with which outcome?

    python tests/newcomer.py WHEEL     in a fresh environment with the wheel, as `make newcomer` does

A step is a command that a person types, a cell that they run, or a thing that they open. What looks at the outcome is no step.
`tests/test_newcomer.py` does the nine tasks after the first within its own process.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from memento.datadir import DataFolder

ROOT = Path(__file__).parents[1]
MOST_STEPS = 3
QUERY = "PREFIX mem: <http://purl.org/memento/> SELECT ?content ?since WHERE { ?memory mem:content ?content ; mem:validAt ?since }"
CELL = """from memento import open_memento
with open_memento() as memento:
    found = memento.recall("Where do I work?")
found"""
CLIENT = """import json, sys, anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
async def use(entry):
    start = StdioServerParameters(command=entry["command"], args=entry["args"], env=entry["env"])
    async with Client(stdio_client(start)) as client:
        answer = await client.call_tool("memento_recall", {"query": "Where do I work?"})
        print(answer.content[0].text)
anyio.run(use, json.load(sys.stdin))"""
"""What a client of MCP does with its settings, once it is started again."""
JUPYTER = """import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(sys.stdin.read())])
NotebookClient(notebook, timeout=120).execute()
print(nbformat.writes(notebook))"""
"""What JupyterLab does when a cell is run."""


@dataclass(slots=True)
class Person:
    """
    Somebody at a keyboard, and the steps that they have taken in the task of the moment.

    Args:
        shell: runs a command as words and returns what it prints; raises `AssertionError` where it fails.
        python: the interpreter beside the command.
        folder: what is written goes below it.
    """

    shell: Callable[[Sequence[str]], str]
    python: str
    folder: Path
    steps: list[str] = field(default_factory=list)

    def type(self, command: str) -> str:
        """Take a step: type a command."""
        self.steps.append(command)
        return self.shell(shlex.split(command))

    def open(self, what: str, script: str, given: str) -> str:
        """Take a step: let another program do its part, which a script stands for."""
        self.steps.append(what)
        done = subprocess.run([self.python, "-c", script], input=given, capture_output=True, text=True, timeout=180)
        assert done.returncode == 0, done.stderr[-2_000:]
        return done.stdout

    def look(self, command: str) -> str:
        """Look at the outcome; no step."""
        return self.shell(shlex.split(command))


def note(person: Person) -> None:
    assert "I work at Google" in person.type('memento note "I work at Google." --at 2024-01-08')


def recall(person: Person) -> None:
    assert "I work at Google" in person.type('memento recall "Where do I work?"').partition("\n")[0]


def correct(person: Person) -> None:
    short = find_short_id(person.type("memento list"), "Google")
    person.type(f'memento correct {short} "I work at Microsoft."')
    assert "I work at Microsoft" in person.look('memento recall "Where do I work?"').partition("\n")[0]


def forget(person: Person) -> None:
    person.look('memento note "My locker code is 4711."')
    short = find_short_id(person.type("memento list"), "locker")
    person.type(f"memento forget {short}")
    assert "4711" not in person.look('memento recall "What is my locker code?"')


def explain(person: Person) -> None:
    shown = person.type('memento recall "Where do I work?" --explain')
    assert "note 20" in shown and "replaced: I work at Google" in shown
    assert "SELECT" in shown and "meaning +" in shown


def ask_in_sparql(person: Person) -> None:
    assert "I work at Microsoft." in person.type(f"memento query {shlex.quote(QUERY)}")


def connect_a_client(person: Person) -> None:
    path = re.match(r"(.+\.json): ", person.type("memento connect claude-desktop --write"))
    assert path
    entry = json.loads(Path(path[1]).read_text(encoding="utf-8"))["mcpServers"]["memento"]
    entry["env"] = {**os.environ, **entry["env"]}
    answer = person.open("restart the client, and ask: Where do I work?", CLIENT, json.dumps(entry))
    assert "Microsoft" in answer


def use_a_notebook(person: Person) -> None:
    person.type("pip install 'memento-rdf[notebook]'")
    person.steps.append("jupyter lab")
    shown = person.open("run a cell: memento.recall(…)", JUPYTER, CELL)
    assert "text/html" in shown and "I work at Microsoft" in shown


def back_up(person: Person) -> None:
    backups = person.folder / "backups"
    person.type(f"memento backup {backups}")
    person.look('memento note "I live in Lisbon."')
    person.type(f"memento restore {backups}")
    listed = person.look("memento list")
    assert "Microsoft" in listed and "Lisbon" not in listed


def find_short_id(listed: str, words: str) -> str:
    """Find the short name of a memory where `memento list` shows it."""
    [line] = [line for line in listed.splitlines() if words in line]
    return line.split()[1]


TASKS: Mapping[str, Callable[[Person], None]] = {
    "note": note,
    "recall": recall,
    "correct": correct,
    "forget": forget,
    "explain": explain,
    "SPARQL": ask_in_sparql,
    "connect a client": connect_a_client,
    "notebook": use_a_notebook,
    "backup": back_up,
}
"""What comes after the installation, in the order in which it is done: each finds the memory as the one before left it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a task went: `fault` is empty where the outcome was the expected one."""

    task: str
    steps: tuple[str, ...]
    seconds: float
    fault: str = ""

    @property
    def is_good(self) -> bool:
        """Whether it succeeded in few enough steps."""
        return not self.fault and len(self.steps) <= MOST_STEPS


def try_task(name: str, do: Callable[[Person], None], person: Person) -> Outcome:
    """Do one task."""
    person.steps, began, fault = [], time.perf_counter(), ""
    try:
        do(person)
    except (AssertionError, ValueError, OSError, subprocess.SubprocessError) as error:
        fault = f"{type(error).__name__}: {error}"
    return Outcome(task=name, steps=tuple(person.steps), seconds=time.perf_counter() - began, fault=fault)


def write_table(outcomes: Sequence[Outcome]) -> str:
    """Write a table of outcomes, and the steps of each below it."""
    lines = [f"{'task':<18}{'steps':>5}{'seconds':>9}  ok"]
    for one in outcomes:
        lines.append(f"{one.task:<18}{len(one.steps):>5}{one.seconds:>9.1f}  {'yes' if one.is_good else 'NO'}")
        lines += [f"    {number}. {step}" for number, step in enumerate(one.steps, 1)]
        lines += [f"    {one.fault[:600]}"] if one.fault else []
    return "\n".join(lines)


@contextmanager
def at_home(folder: Path, **variables: str) -> Iterator[None]:
    """Let the environment be that of somebody whose home is a folder, with the usual caches."""
    before = dict(os.environ)
    caches = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    own = {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / ".config"), "XDG_CACHE_HOME": caches}
    os.environ.update({**own, "MEMENTO_HOME": str(folder / "memory"), **variables})
    try:
        yield
    finally:
        end_service(folder / "memory")
        os.environ.clear()
        os.environ.update(before)


def end_service(home: Path) -> None:
    """End the service of a data folder, which a client has started and which outlives it."""
    owner, until = DataFolder(home).serving_owner(), time.monotonic() + 30
    if owner is not None and owner.pid != os.getpid():
        os.kill(owner.pid, signal.SIGTERM)
        while DataFolder(home).serving_owner() and time.monotonic() < until:
            time.sleep(0.05)


def main(wheel: Path) -> int:
    """Do all ten in a fresh environment; return 1 when one did not go well."""
    with tempfile.TemporaryDirectory(prefix="newcomer-") as scratch:
        folder = Path(scratch)
        bin = folder / "venv" / "bin"
        names = {"memento-rdf": str(wheel), "memento-rdf[notebook]": f"{wheel}[notebook]"}

        def run(words: Sequence[str]) -> str:
            program, *rest = words
            command = [
                str(bin / program) if (bin / program).exists() else program,
                *(names.get(one, one) for one in rest),
            ]
            done = subprocess.run(command, capture_output=True, text=True, timeout=1_800, cwd=folder)
            assert done.returncode == 0, (done.stderr or done.stdout)[-2_000:]
            return done.stdout

        def install(person: Person) -> None:
            person.type(f"python3 -m venv {bin.parent}")
            person.type("pip install memento-rdf")
            assert re.match(r"\d+\.\d+", person.type("memento --version"))

        with at_home(folder):
            for name in ("PYTHONPATH", "VIRTUAL_ENV"):
                os.environ.pop(name, None)
            person = Person(run, str(bin / "python"), folder)
            outcomes = [try_task(name, do, person) for name, do in {"install": install, **TASKS}.items()]
    sys.stdout.write(write_table(outcomes) + "\n")
    return 0 if all(one.is_good for one in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
