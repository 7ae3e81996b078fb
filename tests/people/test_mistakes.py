"""
What people get wrong, and what they are told: one line that names the input and the remedy, in the words of the interface where the
mistake was made. Nothing is stored.

Each row is a mistake and the pieces of its answer, in their order: first what was given, then what to give instead.
"""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from click.testing import CliRunner
from mcp import Client

from conftest import OFFLINE
from doors import serving, text_of
from memento.interfaces.cli import main
from memento.python import Memento, open_memento

Says = tuple[str, ...]
FOREIGN = re.compile(r"Traceback|msgspec|pydantic|pyoxigraph|\bNoneType\b|`str`|`int`|\bstruct\b")
"""What only a programmer of Memento understands."""


HOLD = """import sys
from memento import open_memento
memento = open_memento(sys.argv[1])
print("open", flush=True)
sys.stdin.read()"""
"""A program that has a data folder open until its input ends."""


@dataclass(frozen=True, slots=True)
class Place:
    """A memory with one note, served on a socket."""

    memento: Memento
    url: str
    folder: Path

    @property
    def home(self) -> Path:
        return self.memento.datadir.path

    def count_quads(self) -> int:
        return sum(1 for _ in self.memento.service.stores.graph.match())


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("mistakes")
    memento = open_memento(folder / "home", configured=OFFLINE)
    assert isinstance(memento, Memento)
    with memento, serving(memento) as url:
        memento.note("I live in Lisbon.")
        yield Place(memento, url, folder)


@pytest.fixture(autouse=True)
def nothing_is_stored(place: Place, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every mistake is made in a folder of files, and leaves the memory as it was."""
    files: Mapping[str, str] = {
        "row.jsonl": '{"content": 5}\n',
        "broken.jsonl": "{nope\n",
        "broken.ttl": "<urn:a> <urn:b>",
        "empty.jsonl": "",
        ".env": "TOKEN=x\n",
        "plain.txt": "words",
    }
    for name, text in files.items():
        (place.folder / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(place.folder)
    monkeypatch.setenv("MEMENTO_EMBEDDING_MODEL", "trigram")
    before = place.count_quads()
    yield
    assert place.count_quads() == before


def require_said(answer: str, says: Says) -> None:
    """Raise `AssertionError` unless an answer is one line for people that has these pieces in their order."""
    assert "\n" not in answer.strip(), answer
    assert not FOREIGN.search(answer), answer
    at = 0
    for piece in says:
        assert piece in answer[at:], f"no {piece!r} in: {answer}"
        at = answer.index(piece, at) + len(piece)


SHELL: Sequence[tuple[Sequence[str], Says]] = (
    (["recal", "x"], ("'recal'", "`memento recall`")),
    (["recall"], ("'QUESTION'", "`memento recall --help`")),
    (["recall", ""], ("QUESTION is missing or empty", "what to answer")),
    (["recall", "x", "--as-off", "2024-01-01"], ("'--as-off'", "Did you mean '--as-of'? See")),
    (["recall", "x", "--limit", "3"], ("'--limit'", "Did you mean '-k'? See")),
    (["recall", "x", "--as-of", "soon"], ("'--as-of'", "'soon'", "2025-01-31")),
    (["recall", "x", "-k", "many"], ("'-k'", "'many' is no whole number", "--help")),
    (["recall", "x", "-k", "0"], ("-k must be from 1 to 1000", "0")),
    (["recall", "x", "--engine", "fast"], ("'fast'", "signals, ppr")),
    (["recall", "x", "--mode", "fuzzy"], ("'fuzzy'", "vector, keyword, hybrid")),
    (["note", ""], ("TEXT", "empty")),
    (["note", "x", "--at", "2024-13-01"], ("'--at'", "'2024-13-01'", "2025-01-31")),
    (["note", "x", "--date", "2024-01-01"], ("'--date'", "Did you mean '--at'? See")),
    (["note", "x", "--ttl", "soon"], ("'--ttl'", "'soon' is no number", "--help")),
    (["get", "zzzzz"], ("IRI: 'zzzzz'", "`memento list`")),
    (["get", "urn:memento:memory:0"], ("urn:memento:memory:0", "'main'")),
    (["correct", "zzzzz", "I live in Porto."], ("IRI: 'zzzzz'", "`memento list`")),
    (["forget", "zzzzz"], ("'zzzzz'", "`memento list`")),
    (["timeline", "Nobody"], ("'Nobody'", "`me`")),
    (["import", "missing.jsonl"], ("'missing.jsonl' does not exist", "--help")),
    (["import", "row.jsonl"], ("row.jsonl line 1", "content must be text", "5")),
    (["import", "broken.jsonl"], ("broken.jsonl line 1", "not JSON", "column 2")),
    (["import", "broken.ttl"], ("broken.ttl line 1", "column")),
    (["import", "row.jsonl", "--from", "nosuch"], ("'nosuch'", "chatgpt, claude")),
    (["import", ".env"], (".env",)),
    (["export", "all.xyz"], ("'all.xyz'", "trig (.trig)", "csv (.csv)")),
    (["query", "SELEC ?s"], ("line 1, column 1", "'SELEC'")),
    (["query", "INSERT DATA { <urn:a> <urn:b> <urn:c> }"], ("update", "`memento graph update`")),
    (["query", "ASK { SERVICE <http://example.org/> { ?s ?p ?o } }"], ("SERVICE", "yourself")),
    (["graph", "update", "SELECT * { ?s ?p ?o }"], ("'SELECT'",)),
    (["graph", "update", "LOAD <http://example.org/>"], ("LOAD", "`memento graph put`")),
    (["graph", "get", "nosuch"], ("urn:memento:data:local:nosuch",)),
    (["graph", "put", "company", "missing.ttl"], ("missing.ttl",)),
    (["restore", "nowhere"], ("nowhere has no backup", "`memento backup")),
    (["files", "watch", "nowhere", "--once"], ("'nowhere' does not exist", "--help")),
    (["serve"], ("is served already", "http://127.0.0.1:")),
    (["serve", "--port", "99999"], ("'--port'", "99999", "65535")),
    (["token", "create", "phone", "--scope", "all"], ("read, write, admin", "'all'")),
    (["token", "revoke", "nosuch"], ("'nosuch'", "`memento token list`")),
    (["connect", "nothing"], ("'nothing'", "'cursor'", "--help")),
    (["--home", "plain.txt", "note", "hi"], ("plain.txt", "--home")),
    (["expressions", "eval", '(recal "x")'], ("recal", "(recall query")),
)


@pytest.mark.parametrize(("words", "says"), SHELL, ids=[" ".join(words)[:50] for words, _ in SHELL])
def test_a_mistake_in_the_shell(words: Sequence[str], says: Says, place: Place) -> None:
    given = list(words) if "--home" in words else ["--home", str(place.home), *words]
    done = CliRunner().invoke(main, given, prog_name="memento")

    assert done.exit_code in (1, 2), done.output
    assert done.stdout == ""
    assert done.stderr.startswith("memento: ")
    require_said(done.stderr, says)


def test_a_namespace_that_nobody_has_written_to_is_named(place: Place) -> None:
    done = CliRunner().invoke(
        main, ["--home", str(place.home), "recall", "Where?", "--namespace", "wrok"], prog_name="memento"
    )

    require_said(done.output.partition("\n")[0], ("'wrok'", "`memento status` lists"))


def test_a_port_that_another_program_has_is_named(place: Place) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        done = CliRunner().invoke(main, ["--home", "other", "serve", "--port", port], prog_name="memento")

    assert done.exit_code in (1, 2)
    require_said(done.stderr, (f"port {port} of 127.0.0.1", "in use", "--port"))


def test_a_folder_that_another_process_has_open_is_named(place: Place) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, "locked"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout and holder.stdin
        assert holder.stdout.readline() == "open\n"
        done = CliRunner().invoke(
            main, ["--home", "locked", "note", "x"], prog_name="memento", env={"MEMENTO_SERVER_LOCK_WAIT_S": "0"}
        )
        holder.stdin.close()

    assert done.exit_code == 1
    require_said(done.stderr, ("locked is in use", f"process {holder.pid}"))


@pytest.mark.parametrize(
    ("toml", "says"),
    [
        ("[server]\nport = 6366\n[server\n", ("memento.toml", "line 3")),
        ('[server]\nport = "many"\n', ("port", "many")),
        ('[land]\nengine = "fast"\n', ("engine", "signals")),
    ],
)
def test_a_mistake_in_the_settings(toml: str, says: Says, tmp_path: Path, place: Place) -> None:
    (tmp_path / "memento.toml").write_text(toml, encoding="utf-8")
    done = CliRunner().invoke(main, ["--home", str(tmp_path), "recall", "Where?"], prog_name="memento")

    assert done.exit_code in (1, 2)
    require_said(done.stderr, says)


REST: Sequence[tuple[str, str, Mapping[str, Any], int, Says]] = (
    ("GET", "/memory/recall", {}, 400, ("question (or query, q) is missing", "what to answer")),
    ("GET", "/memory/recall?query=x&limit=3", {}, 400, ("'limit'", "query", "k,")),
    ("GET", "/memory/recall?query=x&k=many", {}, 400, ("k must be a whole number", "'many'")),
    ("GET", "/memory/recall?query=x&as_of=soon", {}, 400, ("as_of", "2025-01-31", "'soon'")),
    ("GET", "/memory/zzzzz", {}, 400, ("'zzzzz'", "as lists show them")),
    ("POST", "/memory/notes", {"content": b"{nope"}, 400, ("not JSON", "line 1, column 2")),
    ("POST", "/memory/notes", {"content": b"[]"}, 400, ("JSON object", "content")),
    ("POST", "/memory/notes", {"json": {}}, 400, ("content is missing",)),
    ("POST", "/memory/notes", {"json": {"content": 5}}, 400, ("content must be text", "whole number")),
    ("POST", "/memory/notes", {"json": {"text": "x"}}, 400, ("'text'", "content")),
    ("POST", "/memory/notes", {"json": {"content": "x", "at": "soon"}}, 400, ("at must be", "'soon'")),
    ("POST", "/memory/notes", {"json": {"content": "x", "wait": "no"}}, 400, ("wait must be true or false",)),
    ("POST", "/memory/notes", {"data": {"content": "x"}}, 415, ("application/json",)),
    ("PUT", "/memory/notes", {"json": {"content": "x"}}, 405, ("PUT", "POST")),
    ("GET", "/memory/status", {"headers": {"Authorization": "Bearer x"}}, 401, ("token", "`memento token create`")),
    ("GET", "/memory/status", {"headers": {"Host": "example.org"}}, 403, ("localhost", "'example.org'")),
    ("GET", "/sparql?query=SELEC", {}, 400, ("line 1, column 1", "'SELEC'")),
    ("GET", "/sparql?query=ASK%7B%3Fx+foaf:name+%3Fn%7D", {}, 400, ("foaf:", "PREFIX foaf:")),
    ("GET", "/sparql?query=CLEAR+ALL", {}, 403, ("update", "/sparql/update")),
    ("POST", "/sparql/update", {"data": {"update": "CLEAR ALL"}}, 403, ("CLEAR ALL", "CLEAR GRAPH")),
    ("POST", "/sparql/update", {"data": {"update": "ASK {}"}}, 400, ("INSERT or DELETE", "'ASK'")),
    ("PUT", "/sparql/graphs/a", {"content": b"<a>", "headers": {"Content-Type": "text/turtle"}}, 400, ("line 1",)),
    ("GET", "/memory/export?format=nope", {}, 400, ("'nope'", "trig")),
    ("GET", "/nothing", {}, 404, ("/nothing", "/memory/openapi.json")),
)


@pytest.mark.parametrize(
    ("method", "path", "given", "status", "says"), REST, ids=[f"{row[0]} {row[1]}"[:50] for row in REST]
)
def test_a_mistake_over_http(
    method: str, path: str, given: Mapping[str, Any], status: int, says: Says, place: Place
) -> None:
    given = (
        {**given, "headers": {"Content-Type": "application/json"}} if given.get("content", b"<")[:1] != b"<" else given
    )
    answer = httpx2.request(method, place.url + path, timeout=60, **given)

    assert answer.status_code == status, answer.text
    require_said(answer.json()["error"]["message"], says)


TOOLS: Sequence[tuple[str, Mapping[str, Any], Says]] = (
    ("memento_recall", {"question": "x"}, ("'question'", "query")),
    ("memento_recall", {"query": ""}, ("query", "empty")),
    ("memento_recall", {"query": "x", "as_of": "soon"}, ("as_of", "2025-01-31", "'soon'")),
    ("memento_recall", {"query": "x", "k": "many"}, ("k must be a whole number",)),
    ("memento_note", {}, ("memento_note", "content")),
    ("memento_note", {"content": "x", "confirmed": "yes, please"}, ("confirmed must be true or false",)),
    ("memento_correct", {"id": "zzzzz", "content": "x", "confirmed": True}, ("id: 'zzzzz'", "memento_recall")),
    ("memento_forget", {"memory": "zzzzz"}, ("'memory'", "id")),
    ("memento_timeline", {"subject": "Nobody"}, ("'Nobody'", "`me`")),
    ("memento_sparql", {"query": "SELEC"}, ("line 1, column 1", "'SELEC'")),
    ("memento_sparql", {"query": "CLEAR ALL"}, ("update", "only reads")),
)


@pytest.mark.parametrize(("tool", "given", "says"), TOOLS, ids=[f"{row[0]} {json.dumps(row[1])}"[:50] for row in TOOLS])
def test_a_mistake_of_a_model(tool: str, given: Mapping[str, Any], says: Says, place: Place) -> None:
    async def call() -> str:
        async with Client(f"{place.url}/mcp") as client:
            answer = await client.call_tool(tool, dict(given))
            assert answer.is_error
            return text_of(answer)

    require_said(anyio.run(call), says)


PYTHON: Sequence[tuple[str, Callable[[Memento], object], Says]] = (
    ("empty question", lambda m: m.recall(""), ("question", "empty")),
    ("a number as text", lambda m: m.recall("x", k="3"), ("k must be a whole number", "'3'")),  # type: ignore[arg-type]
    ("too few", lambda m: m.recall("x", k=0), ("k must be from 1 to 1000", "0")),
    ("no date", lambda m: m.recall("x", as_of="soon"), ("as_of", "2025-01-31", "'soon'")),
    ("no engine", lambda m: m.recall("x", engine="fast"), ("'fast'", "signals")),
    ("no text", lambda m: m.note(None), ("content is missing",)),  # type: ignore[arg-type]
    ("no such memory", lambda m: m.get("zzzzz"), ("iri: 'zzzzz'", "as lists show them")),
    ("nobody", lambda m: m.timeline("Nobody"), ("'Nobody'", "`me`")),
    ("no SPARQL", lambda m: m.query("SELEC"), ("line 1, column 1", "'SELEC'")),
    ("an update as a query", lambda m: m.query("CLEAR ALL"), ("update", "`update` takes it")),
    ("a missing file", lambda m: m.intake.import_rdf("missing.trig"), ("missing.trig", "No such file")),
    ("no format", lambda m: m.export("all.xyz"), ("'all.xyz'", "trig")),
    ("a verdict as text", lambda m: m.living.feedback(m.list()[0].iri, "success"), ("helped must be true or false",)),  # type: ignore[arg-type]
    ("an open expression", lambda m: m.living.evaluate("(recall"), ("line 1",)),
)


@pytest.mark.parametrize(("do", "says"), [row[1:] for row in PYTHON], ids=[row[0] for row in PYTHON])
def test_a_mistake_in_python(do: Callable[[Memento], object], says: Says, place: Place) -> None:
    with pytest.raises((ValueError, LookupError, TypeError, RuntimeError, Exception)) as caught:
        do(place.memento)

    assert type(caught.value).__module__.startswith("memento."), caught.value
    require_said(str(caught.value), says)


def test_a_memory_that_was_closed_says_so(tmp_path: Path, place: Place) -> None:
    memento = open_memento(tmp_path / "closed", configured=OFFLINE)
    memento.close()

    with pytest.raises(Exception, match=r"\Athis memory was closed: open it again with open_memento\(.*\)\Z"):
        memento.note("I live in Porto.")


def test_there_are_many_mistakes() -> None:
    assert len(SHELL) + len(REST) + len(TOOLS) + len(PYTHON) > 80


def test_an_answer_that_helps_nobody_fails() -> None:
    """The tests above can fail."""
    for answer in ("k is wrong", "unsupported `str`\n", "one\ntwo k 1"):
        with pytest.raises(AssertionError):
            require_said(answer, ("k", "1"))
