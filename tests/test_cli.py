"""The command: what it prints, what it says when it fails, and with which exit code."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import click
import pyoxigraph as ox
import pytest
from click.testing import CliRunner, Result

from memento import settings
from memento.datadir import DataFolder
from memento.interfaces.cli import main
from memento.interfaces.cli.base import LISTED, OLD_NAMES
from memento.iris import RDF
from memento.python import open_memento
from memento.search import cache


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MEMENTO_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MEMENTO_EMBEDDING_MODEL", "trigram")
    monkeypatch.setenv("MEMENTO_EMBEDDING_CACHE", "false")


def run(*words: str, **extra: Any) -> Result:
    return CliRunner().invoke(main, list(words), prog_name="memento", **extra)


def printed(*words: str, **extra: Any) -> Any:
    """What the command prints, as JSON if it is."""
    done = run(*words, **extra)
    assert done.exit_code == 0, done.stdout + done.stderr
    return json.loads(done.stdout) if "--json" in words else done.stdout


def failed(*words: str, code: int) -> str:
    done = run(*words)
    assert done.exit_code == code, done.output
    assert done.stderr.startswith("memento: ")
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.output
    return done.stderr


def seen_in_terminal(words: list[str]) -> str:
    """What somebody sees who runs the command in a terminal."""
    controller, terminal = pty.openpty()
    with (
        os.fdopen(terminal, "w", buffering=1) as screen,
        open(terminal, closefd=False) as keyboard,
        pytest.MonkeyPatch.context() as patch,
        contextlib.suppress(SystemExit),
    ):
        for name, stream in (("stdin", keyboard), ("stdout", screen), ("stderr", screen)):
            patch.setattr(sys, name, stream)
        main(words, prog_name="memento")
    shown = os.read(controller, 65536).decode(errors="replace")  # a read may end within a letter
    os.close(controller)
    return shown


def test_a_memory_is_corrected_taken_back_and_traced_to_who_told_it() -> None:
    first = printed("note", "I work at Gogle.", "--at", "2024-01-08", "--json")["memories"][0]
    corrected = printed("correct", first, "I work at Google.")
    kept = printed("note", "I like tea.", "--no-wait", "--json")

    assert "Google" in corrected
    assert "Retired" in corrected
    assert kept["pending"]
    # Whoever opens the folder next understands it; how soon is not said.
    assert printed("note-status", kept["note"], "--json")["state"] in ("pending", "consolidated")
    printed("retry")
    assert printed("note-status", kept["note"], "--json")["state"] == "consolidated"
    assert "No note is waiting" in printed("retry")
    assert "by rules" in printed("sources", first)
    assert "Again" in printed("undo", first)


def test_what_is_linked_to_an_answer_is_shown_below_it() -> None:
    printed("remember", "Anna pays the heating bill.", "-k", "bill")
    [bill] = printed("list", "--json")
    printed("remember", "Berlin has a zoo.", "-k", "zoo", "--related", bill["iri"])

    assert "Linked to" not in printed("recall", "Who pays the bill?", "-k", "1")
    last = printed("recall", "Who pays the bill?", "-k", "1", "--related", "3").strip().splitlines()[-1]
    assert last.startswith("Linked to 1:") and "← relatedTo: Berlin has a zoo." in last


def test_a_note_is_stored_recalled_and_replaced() -> None:
    first = printed("note", "I work at Google.", "--at", "2024-01-08", "--json")
    second = printed("note", "I work at Microsoft.", "--at", "2025-03-03")
    now = printed("recall", "Where do I work?")
    then = printed("recall", "Where do I work?", "--as-of", "2024-06-01", "-k", "1", "--json")

    assert set(first) == {
        "note",
        "memories",
        "invalidated",
        "ended",
        "skipped",
        "contradicts",
        "claims",
        "pending",
        "verbatim",
        "remarks",
        "redacted",
        "contents",
        "readings",
    }
    assert ["Stored" in second, "Retired" in second] == [True, True]
    assert now.index("Microsoft") < now.index("replaced: I work at Google. (2024-01-08 to 2025-03-03")
    assert [memory["content"] for memory in then["memories"]] == ["I work at Google."]


def test_a_note_that_ends_some_words_of_a_memory_says_which() -> None:
    printed("note", "I live in Lisbon. I work at Google.", "--at", "2024-01-08")

    second = printed("note", "I work at Microsoft.", "--at", "2025-03-03")

    assert "Retired" not in second
    assert "Ended    I work at Google" in second


def test_nothing_relevant_is_said_and_the_gate_can_be_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    printed("note", "I work at Google.")
    monkeypatch.setenv("MEMENTO_GATE_BASE", "0.99")

    assert printed("recall", "What is tungsten?").strip() == "Nothing relevant comes to mind."
    assert printed("recall", "What is tungsten?", "--json")["gated"] is True
    assert "Google" in printed("recall", "What is tungsten?", "--no-gate")
    assert "Google" in printed("recall", "What is tungsten?", "--mode", "vector")


def test_an_explanation_shows_signals_names_and_a_query_that_runs() -> None:
    printed("note", "Anna works at Google.")
    printed("note", "Anna lives in Munich.")
    printed("note", "Bob plays chess.")
    printed("note", "Carla likes tea.")
    shown = printed("recall", "Where does Anna live?", "--explain")
    found = printed("recall", "Where does Anna live?", "--explain", "--json")

    assert all(text in shown for text in ("meaning", "█", "→ anna, named in the question", "SELECT ?rank ?memory"))
    assert found["memories"][0]["iri"] in printed("query", found["sparql"])
    assert "Why: " in printed("recall", "Where does Anna live?", "--explain", "--format", "text")


def test_what_is_known_is_skipped() -> None:
    run("note", "I live in Lisbon.")

    assert printed("note", "I live in Lisbon.").startswith("Skipped: ")
    assert printed("note", "Hello!") == "Skipped: it is a greeting\n"
    assert printed("note", "I live in Lisbon.", "--json")["skipped"]


def test_a_note_comes_from_standard_input() -> None:
    assert "Porto" in printed("note", "-", input="I live in Porto.")


def test_recall_ranks_by_the_engine_that_is_asked_for() -> None:
    printed("note", "I live in Lisbon.")

    assert "→ Lisbon, an entity that recall started from" in printed(
        "recall", "Where do I live?", "--engine", "ppr", "--explain"
    )
    assert "unknown engine" in run("recall", "Where do I live?", "--engine", "steam").stderr


def test_recall_prints_the_tree_and_the_block_for_a_model() -> None:
    run("note", "I live in Lisbon.")

    assert "[M1]" in printed("recall", "Where do I live?", "--format", "text")
    assert printed("recall", "Where do I live?", "--format", "xml").startswith("<memento>")
    assert "Nothing" in printed("--namespace", "other", "--home", os.environ["MEMENTO_HOME"] + "2", "recall", "x")


def test_memories_are_listed_described_and_forgotten() -> None:
    [iri] = printed("note", "I live in Lisbon.", "--json")["memories"]

    assert iri[-8:] in printed("list")
    assert iri not in printed("list")
    assert [one["iri"] for one in printed("list", "--json", "--limit", "1")] == [iri]
    assert "content: I live in Lisbon." in printed("get", iri)
    assert (
        printed("forget", iri) == "Hid 1 memory.\nIt is hidden, not deleted: `memento unforget IRI` brings it back.\n"
    )
    assert printed("list") == "Nothing here yet.\n"
    assert "forgotten" in printed("list", "--past")
    assert printed("forget", iri, "--erase", "--json")["erased"] is True


def test_a_short_id_names_a_memory_to_every_command() -> None:
    printed("note", "I live in Lisbon.")
    short = printed("list").split()[1]

    assert "content: I live in Lisbon." in printed("get", short)
    assert "Google" in printed("correct", short, "I work at Google.")


def test_a_filter_that_nothing_fits_is_named_and_the_memory_is_not_called_empty() -> None:
    printed("note", "I live in Lisbon.")

    assert printed("list", "--tag", "boat", "--source", "import") == "No memory fits --tag --source.\n"
    assert printed("list", "--tag", "boat", "--json") == []


def test_a_namespace_that_holds_nothing_is_said_by_whatever_asks_it() -> None:
    printed("note", "I live in Lisbon.")

    assert "nothing is remembered in a namespace 'hoby'" in run("--namespace", "hoby", "list").stderr
    assert "nothing is remembered in a namespace 'hoby'" in run("recall", "Where?", "--namespace", "hoby").output
    assert run("note", "I sail.", "--namespace", "hobby").stderr == ""
    assert run("--namespace", "hobby", "list").stderr == ""


def test_rows_come_in_the_order_that_was_asked_and_with_the_ends_of_lines_of_a_shell() -> None:
    printed("note", "I live in Lisbon.")
    query = (
        'SELECT ?text ("a\\r\\nb" AS ?two) ?memory { ?memory a <http://purl.org/memento/Memory> ; mem:content ?text }'
    )
    asked = f"PREFIX mem: <http://purl.org/memento/> {query}"
    shown = CliRunner().invoke(main, ["query", asked]).stdout_bytes

    assert shown.startswith(b'text,two,memory\nI live in Lisbon.,"a\r\nb",urn:memento:memory:')
    assert b"text,two,memory\r\n" in CliRunner().invoke(main, ["query", asked, "--accept", "text/csv"]).stdout_bytes
    assert printed("query", asked, "--json")["head"]["vars"] == ["text", "two", "memory"]


def test_turtle_is_shortened_by_the_usual_prefixes() -> None:
    printed("note", "I live in Lisbon.")
    shown = printed("query", "CONSTRUCT { ?m a ?type } { ?m a ?type ; <http://purl.org/memento/content> ?text }")

    assert "@prefix mem: <http://purl.org/memento/> ." in shown
    assert "a mem:Memory ." in shown
    assert {one.predicate.value for one in ox.parse(shown.encode(), ox.RdfFormat.TURTLE)} == {RDF.type}


def test_memento_alone_is_help_for_a_program_and_what_is_new_for_a_terminal() -> None:
    printed("note", "I live in Lisbon.")
    alone = run()
    looked = json.loads(run("--json").stdout)

    assert (alone.exit_code, "Commands:" in alone.output) == (2, True)
    assert [one["content"] for one in looked] == ["I live in Lisbon."]
    shown = seen_in_terminal([])
    assert "I live in Lisbon." in shown
    assert shown.count("\r\nmemento ") == 4


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_told_how_to_complete(shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    script = printed("completion", shell)
    monkeypatch.setenv("COMP_WORDS", "memento recall --a")
    monkeypatch.setenv("COMP_CWORD", "--a" if shell == "fish" else "2")
    done = run(env={"_MEMENTO_COMPLETE": f"{shell}_complete"})

    assert f"_MEMENTO_COMPLETE={shell}_complete" in script
    assert "--as-of" in done.stdout, done.output


def test_help_tells_note_and_remember_apart() -> None:
    assert "understood" in run("note", "--help").output
    assert "word for word" in run("remember", "--help").output


def test_long_work_shows_how_far_it_is(tmp_path: Path) -> None:
    printed("note", "I live in Lisbon.")

    assert "Backing up" in seen_in_terminal(["backup", str(tmp_path / "kept")])


def test_a_timeline_tells_from_when_to_when_and_why() -> None:
    run("note", "I work at Google.", "--at", "2024-01-08")
    run("note", "I work at Microsoft.", "--at", "2025-03-03")
    whole = printed("timeline", "me")

    assert whole.splitlines()[0] == "2024-01-08 to 2025-03-03  I work at Google."
    assert "work at: Microsoft instead of Google" in whole.splitlines()[1]
    assert printed("timeline", "me", "--limit", "1").startswith("1 earlier ones")
    assert len(printed("timeline", "me", "--as-of", "2024-06-01", "--json")["memories"]) == 1


def test_rows_are_imported_and_kept(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"text": "Ada lives in Lisbon.", "timestamp": "2024-01-01"}\n{"content": "Bob lives in Porto."}\n')

    said, undo = printed("import", str(file), "--keep").splitlines()
    assert said == "2 notes read: 2 memories stored, 0 retired, 0 skipped."
    assert undo.startswith("`memento undo ") and undo.endswith("` takes all of it out again.")
    assert printed("import", str(file), "--keep", "--json")["memories"] == 2
    file.write_text('{"text": "My password is tea4two."}')
    assert "skipped.\n1 secret was taken out of it: PASSWORD (1).\n" in printed("import", str(file))
    file.write_text('{"text": 3}')
    assert "line 1" in failed("import", str(file), code=2)


def test_sparql_comes_as_an_argument_a_file_or_standard_input(tmp_path: Path) -> None:
    run("note", "I live in Lisbon.")
    query = "SELECT ?o { ?s <http://purl.org/memento/content> ?o . ?s a <http://purl.org/memento/Memory> }"
    (tmp_path / "query.rq").write_text(query)

    assert "Lisbon" in printed("query", query)
    assert "Lisbon" in printed("query", str(tmp_path / "query.rq"))
    assert "Lisbon" in printed("query", "-", input=query)
    assert printed("query", query, "--json")["results"]["bindings"]
    assert "<results>" in printed("query", query, "--accept", "application/sparql-results+xml")
    assert "SERVICE" in failed("query", "SELECT * { SERVICE <urn:x> { ?s ?p ?o } }", code=2)
    assert "there is no file nowhere.rq" in failed("query", "nowhere.rq", code=2)
    assert "there is no file nowhere.scm" in failed("eval-sexpr", "nowhere.scm", code=2)


def test_sparql_updates_and_whole_graphs_go_in_and_out(tmp_path: Path) -> None:
    (tmp_path / "add.ru").write_text("INSERT DATA { GRAPH <urn:memento:data:local:company> { <urn:a> <urn:b> 1 , 2 } }")
    (tmp_path / "people.nt").write_text("<urn:a> <urn:b> <urn:c> .")

    assert printed("update", str(tmp_path / "add.ru")) == "Quads: 2 added, 0 removed.\n"
    assert printed("graph", "put", "company", "-", input="<urn:a> <urn:b> 3 .") == "Quads: 1 added, 2 removed.\n"
    assert (
        printed("graph", "add", "urn:memento:data:local:company", str(tmp_path / "people.nt"), "--json")["added"] == 1
    )
    assert set(printed("graph", "get", "company", "--accept", "application/n-triples").splitlines()) == {
        '<urn:a> <urn:b> "3"^^<http://www.w3.org/2001/XMLSchema#integer> .',
        "<urn:a> <urn:b> <urn:c> .",
    }
    assert printed("graph", "delete", "company", "--json")["removed"] == 2
    assert "no graph" in failed("graph", "delete", "company", code=2)
    assert "not yours" in failed("update", "DROP GRAPH <urn:memento:ontology>", code=2)


def test_status_check_and_rebuild() -> None:
    run("note", "I live in Lisbon.")

    assert printed("status", "--json")["memories"] == 1
    assert "memories        1" in printed("status")
    assert printed("check") == "All is well.\n"
    assert printed("check", "--json") == []
    assert printed("rebuild", "--json")["embedded"] > 0


@pytest.mark.parametrize("fewest", [1, cache.FEWEST])
def test_check_tells_what_the_next_start_mends(fewest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "FEWEST", fewest)  # of which indexes are kept for the next start
    run("note", "I live in Lisbon.")
    with sqlite3.connect(DataFolder(Path(os.environ["MEMENTO_HOME"])).vectors) as file:
        [[iri]] = file.execute("SELECT iri FROM node WHERE iri LIKE 'urn:memento:memory:%'").fetchall()
        file.execute("DELETE FROM node WHERE iri = ?", [iri])
        file.execute("INSERT INTO node (iri, digest) VALUES ('urn:memento:memory:gone', x'00')")
    found = [run("check") for _ in range(2)]

    assert [one.exit_code for one in found] == [1, 1]
    assert found[0].stdout == found[1].stdout
    assert {line.partition(": <")[0].split(":")[0] for line in found[0].stdout.splitlines()} == {
        "missing-vector",
        "not-indexed",
        "orphan-vector",
    }
    run("status")
    assert printed("check") == "All is well.\n"


def test_check_exits_with_1_when_something_differs(tmp_path: Path) -> None:
    from memento.model import Difference
    from memento.operations.care import Check
    from memento.service import HANDLERS

    difference = Difference(what="missing-vector", iri="urn:x", detail="none")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(cast("dict[Any, Any]", HANDLERS), Check, lambda operation, context: (difference,))
        done = run("check")

    assert (done.exit_code, done.stdout) == (1, "missing-vector: urn:x: none\n")


def test_options_stand_before_or_after_the_command(tmp_path: Path) -> None:
    home = str(tmp_path / "elsewhere")
    printed("--home", home, "--namespace", "hobby", "note", "I collect stamps.")

    assert printed("list", "--home", home, "--namespace", "hobby", "--json")
    assert json.loads(run("--json", "--home", home, "list").stdout) == []


def test_the_namespace_is_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMENTO_NAMESPACE", "hobby")

    assert printed("status", "--json")["namespace"] == "hobby"


def test_the_namespace_project_is_the_checkout_in_which_a_command_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "atlas" / ".git").mkdir(parents=True)
    (tmp_path / "atlas" / "src" / "deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "atlas" / "src" / "deep")
    monkeypatch.setenv("MEMENTO_SCOPE_NAMESPACE", "project")
    printed("note", "I collect stamps.")

    assert printed("status", "--json")["namespace"] == "atlas"
    assert "stamps" in printed("list", "--namespace", "atlas")
    assert "stamps" not in printed("list", "--namespace", "main")


def test_settings_are_shown_and_documented(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMENTO_DISTILL_TOP_K", "7")

    assert printed("config", "show", "--json")["distill"]["top_k"] == 7
    assert "top_k = 7" in printed("config", "show")
    assert printed("config", "docs") == settings.table()


@pytest.mark.parametrize(
    ("words", "code", "named"),
    [
        (["dance"], 2, "dance"),
        (["recall"], 2, "QUESTION"),
        (["recall", "x", "--colour"], 2, "--colour"),
        (["recall", "x", "-k", "0"], 2, "k must be"),
        (["recall", "x", "--as-of", "now"], 2, "ISO 8601"),
        (["recall", "x", "--profile", "none"], 2, "profile"),
        (["recall", "x", "-k", "0"], 2, "memento: -k must be"),
        (["recall", " "], 2, "QUESTION must not"),
        (["note", ""], 2, "TEXT must not"),
        (["get", "urn:memento:memory:none"], 2, "urn:memento:memory:none"),
        (["forget", "nothing"], 2, "IRI"),
        (["list", "--limit", "0"], 2, "memento: --limit must be"),
        (["search", "tea"], 2, "`memento recall QUESTION` does that"),
        (["add", "tea"], 2, "`memento note TEXT` does that"),
        (["lst"], 2, "the nearest is `memento list`"),
        (["keys", "fnd"], 2, "the nearest is `memento keys find`"),
        (["import", "/nowhere"], 2, "/nowhere"),
        (["query", "SELECT"], 2, "SPARQL"),
        (["--namespace", "\t", "status"], 2, "namespace"),
        (["--home", "/dev/null/x", "status"], 2, "/dev/null"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(words: list[str], code: int, named: str) -> None:
    assert named in failed(*words, code=code)


def test_an_unknown_setting_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MEMENTO_COLOUR", "red")
    (tmp_path / "memento.toml").write_text("[words]\nk1 = 0.5\n")
    done = CliRunner().invoke(main, ["status", "--home", str(tmp_path)])

    assert done.exit_code == 0, done.output
    [warning] = [line for line in done.stderr.splitlines() if "no such setting" in line]
    assert "MEMENTO_COLOUR" in warning and "k1 of [words]" in warning and "`memento config show`" in warning


def test_a_failure_that_is_not_the_callers_exits_with_1(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MEMENTO_SERVER_LOCK_WAIT_S", "0")
    with open_memento(tmp_path / "home", namespace="other", command="a test"):
        assert "is open in this process already" in failed("status", code=1)


def test_a_bug_is_one_line_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("first\nsecond")

    monkeypatch.setattr("memento.interfaces.cli.commands.open_memory", broken)
    assert "RuntimeError: first second" in failed("status", code=1)


def test_a_note_cannot_steer_the_terminal() -> None:
    run("note", "I live in \x1b[31mLisbon\x07.")

    assert not {"\x1b", "\x07"} & set(printed("list") + printed("recall", "Where do I live?"))


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    yield {**os.environ, "MEMENTO_HOME": str(tmp_path / "process")}


def test_a_real_process_exits_with_0_1_and_2(environment: dict[str, str]) -> None:
    def process(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "memento", *words]
        return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)

    help, wrong = process("--help"), process("recall")

    assert (help.returncode, "recall" in help.stdout, help.stderr) == (0, True, "")
    assert (wrong.returncode, wrong.stdout, wrong.stderr.count("\n")) == (2, "", 1)
    assert process().returncode == 2
    assert process("note", "I live in Lisbon.").returncode == 0


def test_help_and_a_recall_by_a_service_wait_for_no_heavy_library() -> None:
    code = "import sys, memento.interfaces.cli, memento.python; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert not {"numpy", "faiss", "pyoxigraph", "torch", "flask", "rich", "httpx2", "memento.model"} & set(loaded)


def test_a_token_is_told_once_listed_without_its_secret_and_revoked() -> None:
    made = printed(
        "token", "create", "phone", "--scope", "write", "--namespace", "work", "--namespace", "home", "--json"
    )
    listed = printed("token", "list", "--json")

    assert made["token"].startswith("mem_")
    assert [(one["name"], one["right"], one["namespaces"]) for one in listed] == [("phone", "write", ["work", "home"])]
    assert made["token"] not in json.dumps(listed)
    assert "phone: write, tenant local, work, home" in printed("token", "list")
    assert printed("token", "revoke", "phone") == "Revoked phone.\n"
    assert printed("token", "list", "--json") == []
    assert "memento token create" in printed("token", "list")


@pytest.mark.parametrize(
    ("options", "is_warned"),
    [((), False), (("--tenant", "acme"), True), (("--namespace", "work"), True)],
    ids=["of the folder", "of another tenant", "of a namespace"],
)
def test_an_admin_token_that_cannot_care_for_the_folder_says_so(options: tuple[str, ...], is_warned: bool) -> None:
    made = run("token", "create", "phone", "--scope", "admin", *options)

    assert made.stdout.startswith("mem_")
    assert ("cannot administer the whole data folder" in made.stderr and "the tenant local" in made.stderr) is is_warned


def test_a_token_that_cannot_be_made_is_refused_in_one_line() -> None:
    printed("token", "create", "phone")

    assert "phone" in failed("token", "create", "phone", code=2)
    assert "read, write, admin" in failed("token", "create", "tablet", "--scope", "everything", code=2)
    assert "tablet" in failed("token", "revoke", "tablet", code=2)


def test_an_erased_fact_that_a_note_still_tells_is_pointed_out() -> None:
    orchard = "The orchard behind the mill has forty old plum trees that nobody has pruned for years. " * 4
    told = printed("note", f"My boss is Claire Dubois.\n\n{orchard}\n\n{orchard.replace('plum', 'pear')}", "--json")
    said = printed("forget", "--erase", told["memories"][0])

    assert "Erased 1 memory." in said
    assert f"memento forget --erase {told['note']}" in said
    assert "still contains" not in printed("forget", "--erase", told["note"])


def test_a_fact_told_twice_in_one_note_takes_the_place_of_the_earlier() -> None:
    printed("note", "I work at Acme.", "--at", "2024-01-01")
    assert "Retired" in printed("note", "I work at Zalando. I work at Zalando.", "--at", "2024-02-01")
    assert "Retired" in printed("note", "I work at Bosch.", "--at", "2024-03-01")


def test_a_walk_leads_from_a_question_over_keys_to_memories_and_back() -> None:
    printed("remember", "Newton saw an apple fall.", "--key", "Newton", "--key", "apple", "--type", "Newton", "name")
    printed("remember", "An apple is a fruit.", "--key", "apple", "--key", "fruit")
    walked = printed("walk", "Newton", input="1\n1\n1\nb\nnothing of the kind\n99\nq\n")
    shown = walked.split("> ")

    assert "Newton (name)" in shown[0]
    assert "Newton (name) leads to 1 memory" in shown[1]
    assert "Newton saw an apple fall." in shown[2]
    assert "apple leads to 2 memories" in shown[3] or "Newton (name) leads to" in shown[3]
    assert "Newton saw an apple fall." in shown[4]
    assert "No key was found" in shown[5]
    assert "There is no 99" in shown[6]
    assert printed("walk", input="apple\n").count("apple") >= 1
    assert json.loads(run("walk", "apple", "--json").stdout)["keys"][0]["name"] == "apple"


def test_living_memory_has_commands() -> None:
    [tea] = printed("note", "I like tea.", "--json")["memories"]
    [cup] = printed("note", "My cup is blue.", "--json")["memories"]

    assert printed("living", "feedback", tea, "success", "--json")["success_count"] == 1
    assert "0.52" in printed("living", "strength", tea)
    assert "weight 0.80" in printed("living", "associate", tea, cup, "--relation", "drunk from", "--weight", "0.8")
    assert "drunk from (0.80) →" in printed("living", "trace", tea)
    assert "Nothing leads away" in printed("living", "trace", cup)
    assert printed("living", "activate", tea).startswith("1.00  ")
    assert "by half in 7 days" in printed("living", "decay")
    assert "Every memory has energy left" in printed("living", "archive", "--dry-run")
    assert "is archived" in failed("living", "unarchive", tea, code=2)
    assert "tea" in printed("recall", "What do I drink?", "--engine", "hops", "--no-gate")


def test_each_step_of_a_walk_is_a_command() -> None:
    done = printed("remember", "Newton saw an apple fall.", "-k", "apple", "--session", "monday", "--json")
    [key] = printed("keys", "find", "apple", "--json")["keys"]
    page = printed("keys", "open", key["key"], "--json")

    assert page["memories"][0]["memory"] == done["saved"]
    assert "depth 0.05" in printed("keys", "read", done["saved"], "--via", key["key"])
    assert "depth 0.10" in printed("keys", "read", done["saved"])
    assert "no neighbours" in printed("keys", "related", done["saved"])
    assert "Newton saw an apple fall." in printed("keys", "list")
    assert "user: Newton saw an apple fall." in printed("keys", "conversation", "monday")
    assert "0 memories and 0 names" in printed("keys", "cleanup")
    assert printed("keys", "stats", "--json")["keys"] == 1
    assert "Known already" in printed("remember", "Newton saw an apple fall.", "-k", "apple")
    assert "MEMENTO_KEYS_DIRECT" in failed("keys", "recall", "apple", code=2)
    assert "no key <urn:x>" in failed("keys", "open", "urn:x", code=2)


@pytest.mark.parametrize("name", ["all.jsonl", "all.json", "all.csv", "all.md.gz"])
def test_rows_are_known_by_what_they_say_and_make_the_same_memories(name: str, tmp_path: Path) -> None:
    printed("note", "I live in Lisbon.")
    said = printed("export", str(tmp_path / name))
    (tmp_path / name).rename(tmp_path / "renamed" if name == "all.jsonl" else tmp_path / name)
    form = ["--format", "jsonl"] if name == "all.jsonl" else []
    file = tmp_path / ("renamed" if form else name)
    told = printed("import", str(file), *form, "--json", "--home", str(tmp_path / "new"))
    again = printed("import", str(file), *form, "--json", "--home", str(tmp_path / "new"))

    assert said.startswith("1 memories written to ")
    assert (told["memories"], told["notes"], again["added"]) == (1, 1, 0)


def test_a_memory_is_exported_and_imported_by_commands(tmp_path: Path) -> None:
    printed("note", "I work at Google.")
    printed("note", "I paint.", "--namespace", "hobby")
    said = printed("export", str(tmp_path / "all.trig.gz"))
    assert "--overwrite is needed to replace" in failed("export", str(tmp_path / "all.trig.gz"), code=2)
    assert "statements written to" in printed("export", str(tmp_path / "all.trig.gz"), "--overwrite")
    told = printed("export", str(tmp_path / "hobby.nq"), "--namespace", "hobby", "--json")
    again = printed("import", str(tmp_path / "all.trig.gz"))
    moved = printed(
        "import", str(tmp_path / "hobby.nq"), "--namespace", "arts", "--json", "--home", str(tmp_path / "new")
    )

    assert "statements written to" in said
    assert "0 of them new" in again
    assert (moved["memories"], moved["statements"]) == (1, told["statements"])
    assert "paint" in printed("list", "--namespace", "arts", "--home", str(tmp_path / "new"))
    (tmp_path / "bad.trig").write_text("GRAPH <urn:g> { <urn:a> <urn:b> }")
    assert "bad.trig line 1, column" in failed("import", str(tmp_path / "bad.trig"), code=2)
    (tmp_path / "own.ttl").write_text("<urn:a> <urn:b> 3 .")
    assert "outside of any graph" in failed("import", str(tmp_path / "own.ttl"), code=2)
    assert printed("import", str(tmp_path / "own.ttl"), "--data", "own", "--json")["added"] == 1


def test_a_memory_is_backed_up_and_put_back_by_commands(tmp_path: Path) -> None:
    printed("note", "I work at Google.")
    made = printed("backup", str(tmp_path / "backups"), "--keep", "2", "--json")
    printed("note", "I paint.")
    said = printed("restore", str(tmp_path / "backups"))
    listed = printed("list")

    assert made["folder"].startswith(str(tmp_path / "backups"))
    assert "before-restore-" in said
    assert "Google" in listed and "paint" not in listed
    assert "no backup" in failed("restore", code=2)


def test_the_ontology_is_printed_as_a_page_and_as_a_context() -> None:
    assert printed("ontology", "docs").startswith("# The ontology\n")
    assert json.loads(printed("ontology", "context"))["@context"]["content"].endswith("content")


def test_what_is_in_dispute_is_shown_for_people() -> None:
    assert printed("disputes").strip() == "Nothing is in dispute."
    printed("note", "Backups are kept in the Oslo vault.", "--at", "2026-01-05")
    printed("note", "Backups are kept in the Bergen vault.", "--at", "2026-02-05")
    shown = printed("disputes")
    assert "likely rivals" in shown and "2026-01-05  Backups are kept in the Oslo vault." in shown
    assert (
        shown.count("urn:memento:memory:") == 2
        and "memento care settle" in shown
        and "(" not in shown.partition("\n")[0]
    )


def test_a_proposal_that_does_not_wait_is_an_error_and_every_needs_no_id() -> None:
    for word in ("accept", "reject"):
        done = run(word, "nosuch")
        assert done.exit_code == 1 and "nosuch: no such proposal is waiting" in done.output
        assert "0 proposals" in printed(word, "--every")


def test_what_serves_names_the_addresses_that_people_came_for(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "memento", "--home", str(tmp_path / "served"), "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().split()[-1]
            told = [process.stdout.readline() for _ in range(5)]
        finally:
            process.terminate()

    named = {line.split()[1] for line in told}
    assert named == {f"{address}/{path}" for path in ("v1", "mcp", "", "sparql", "memory")}


def test_a_memory_without_a_service_is_ready() -> None:
    run("note", "I like tea.")

    assert printed("status", "--json")["ready"] is True
    assert "ready           yes" in printed("status")


def test_help_shows_forty_commands_in_five_groups_on_one_screen() -> None:
    listed = [name for names in LISTED.values() for name in names]
    shown = CliRunner().invoke(main, ["--help"]).output

    assert len(LISTED) == 5 and len(listed) == len(set(listed)) <= 40
    assert {name for name, one in main.commands.items() if not one.hidden} == set(listed)
    assert len(shown.splitlines()) <= 27
    assert all(name in shown for name in listed)


@pytest.mark.parametrize("title", LISTED)
def test_help_describes_each_group_on_one_screen(title: str) -> None:
    shown = CliRunner().invoke(main, ["help", title.split()[0].lower()]).output.splitlines()

    assert shown[0] == f"{title}:"
    assert [line.split()[0] for line in shown[1:]] == list(LISTED[title])


@pytest.mark.parametrize(("old", "place"), OLD_NAMES.items())
def test_an_old_name_is_the_command_in_its_group(old: str, place: str) -> None:
    group, name = place.split()
    moved = main.commands[group]

    assert isinstance(moved, click.Group)
    assert main.commands[old].hidden and not moved.commands[name].hidden
    assert main.commands[old].callback is moved.commands[name].callback


def test_a_group_that_is_none_is_named_with_those_there_are() -> None:
    done = CliRunner().invoke(main, ["help", "nothing"])

    assert done.exit_code == 2
    assert "say, look, bring, run, plug-ins" in done.output
