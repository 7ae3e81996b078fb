"""Files that come into an inbox are taken in and moved; pages are fetched from where they may be, and from nowhere else."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner

from doors import serving
from memento.errors import InputError
from memento.intake.rows import parse_rows
from memento.interfaces.cli import main
from memento.plugins.intake.inbox import drain_inbox, watch_inbox
from memento.plugins.intake.locations import fetch_page
from memento.plugins.intake.settings import IntakeSettings
from memento.python import Memento

PAGE = (
    b"<html><head><title>Moss</title></head><body><article><h1>Moss</h1>" + b"<p>Moss grows on the north side.</p>" * 9
)


class Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        answers = {
            "/moss": (200, {"Content-Type": "text/html"}, PAGE),
            "/moved": (302, {"Location": "/moss"}, b""),
            "/inside": (302, {"Location": "http://169.254.169.254/latest"}, b""),
            "/round": (302, {"Location": "/round"}, b""),
            "/long": (200, {"Content-Type": "text/plain"}, b"word " * 5_000),
            "/notes.md": (200, {"Content-Type": "text/plain"}, b"# Notes\n\nFerns like shade."),
        }
        status, headers, body = answers.get(self.path, (404, {}, b""))
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def pages() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


OPEN = IntakeSettings(private_urls=True, url_bytes=10_000, url_s=5.0)


def test_a_page_is_fetched_once_and_again_when_it_has_changed(memento: Memento, pages: str) -> None:
    memento.service.settings = memento.service.settings.having(OPEN)
    first = memento.intake.ingest(f"{pages}/moved")
    again = memento.intake.ingest(f"{pages}/moved")
    [said] = memento.list()

    assert (first.fresh, first.memories, again.unchanged) == (1, 1, 1)
    assert said.content.startswith("# Moss")
    assert "Moss grows on the north side." in said.content


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("{pages}/missing", "HTTP status 404"),
        ("{pages}/round", "leads on more than"),
        ("{pages}/long", r"more than 10,000 bytes \(intake.url_bytes\)"),
        ("{pages}/inside", "cannot be reached|did not answer|HTTP status"),
        ("http://user:word@example.org/", "a name or a password in it"),
        ("ftp://example.org/a", "only http:// and https://"),
        ("file:///etc/passwd", "only http:// and https://"),
    ],
)
def test_an_address_that_is_not_fetched_says_why(address: str, reason: str, pages: str) -> None:
    settings = IntakeSettings(private_urls=True, url_bytes=10_000, url_s=1.0)

    with pytest.raises(InputError, match=reason):
        fetch_page(address.format(pages=pages), settings)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "10.0.0.1", "169.254.169.254", "[::1]", "0.0.0.0", "2130706433"]
)
def test_this_machine_and_private_networks_are_refused(host: str) -> None:
    with pytest.raises(InputError, match=r"private network; intake\.private_urls"):
        fetch_page(f"http://{host}/a", IntakeSettings(url_s=2.0))


def test_an_address_with_a_secret_in_it_is_refused_before_it_is_asked(memento: Memento, pages: str) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"

    with pytest.raises(InputError, match="secret in its name"):
        memento.intake.ingest(f"{pages}/moss?token={secret}")


def test_files_are_taken_in_as_they_come_and_moved(memento: Memento, tmp_path: Path) -> None:
    inbox, stopping, seen = tmp_path / "inbox", threading.Event(), list[tuple[str, bool]]()
    inbox.mkdir()
    (inbox / "first.md").write_text("The first file.")

    def take(path: Path) -> tuple[str, Sequence[str]]:
        return str(memento.intake.ingest(path).memories), ()

    for path, _, is_well in watch_inbox(inbox, take, stopping):
        seen.append((path.name, is_well))
        if len(seen) == 1:
            (inbox / "second.txt").write_text("The second file.")
            (inbox / ".hidden").write_text("no")
        elif len(seen) == 2:
            (inbox / "broken.pdf").write_bytes(b"%PDF-1 broken")
        else:
            stopping.set()

    assert seen == [("first.md", True), ("second.txt", True), ("broken.pdf", False)]
    assert sorted(one.name for one in (inbox / "processed").iterdir()) == ["first.md", "second.txt"]
    assert "it is no whole PDF" in (inbox / "failed" / "broken.pdf.reason").read_text()
    assert sorted(one.content for one in memento.list()) == ["The first file.", "The second file."]


def test_a_path_that_is_not_there_is_named(memento: Memento, tmp_path: Path) -> None:
    with serving(memento):
        done = CliRunner().invoke(main, ["--home", str(tmp_path / "home"), "ingest", "nowhere"], prog_name="memento")

    assert done.exit_code in (1, 2) and done.stdout == ""
    assert done.stderr.startswith("memento: ") and "nowhere" in done.stderr


def test_the_commands_take_in_and_say_what_came_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMENTO_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MEMENTO_EMBEDDING_MODEL", "trigram")
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    (inbox / "rows.csv").write_text("at,said\n2024-01-08,I like tea.\n")
    (inbox / "a.md").write_text("# A\n\nSome words. My password is hunter2.")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "b.md").write_text("Other words.")
    (tmp_path / "b" / "c.bin").write_bytes(b"\0\1")

    def run(*words: str) -> str:
        done = CliRunner().invoke(main, list(words), prog_name="memento")
        assert done.exit_code == 0, done.output
        return done.output

    watched = run("watch", str(inbox), "--once")
    trial = run("ingest", str(tmp_path / "b"), "--dry-run")
    taken = run("ingest", str(tmp_path / "b"))

    assert "rows.csv: 1 rows, 1 memories" in watched
    assert "a.md: 1 pieces, 1 memories; 1 secret was taken out of it: PASSWORD (1)." in watched
    imported = json.loads(run("list", "--source", "import", "--json"))
    assert sorted(one["content"] for one in imported) == [
        "# A\n\nSome words. My password is [REDACTED:PASSWORD].",
        "I like tea.",
    ]
    assert "Other words." in run("list", "--source", "explicit")
    assert "1 pieces would be read. Nothing was written." in trial
    assert "1 left out: it is binary" in taken
    assert "1 memories stored, 0 retired." in taken
    assert "indexed already" in run("index", str(tmp_path / "b")) + run("index", str(tmp_path / "b"))


def test_csv_is_read_as_rows_by_the_names_of_its_columns() -> None:
    rows = parse_rows(b"content,at,position\nI like tea.,2024-01-08,3\n\n", "a.csv", "csv")

    assert [(one.content, str(one.at), one.position) for one in rows] == [("I like tea.", "2024-01-08 00:00:00", 3)]
    with pytest.raises(InputError, match=r"a\.csv line 2: at must be an ISO 8601 time"):
        parse_rows(b"content,at\nI like tea.,monday\n", "a.csv", "csv")


def test_a_file_with_bad_rows_is_taken_in_and_says_which(memento: Memento, tmp_path: Path) -> None:
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    (inbox / "rows.csv").write_text('id,content,tags\n1,"I row, often.","sport,water"\n2,"open\n3\n4,I swim.,water\n')

    [(path, said, is_well)] = drain_inbox(inbox, lambda file: _import(memento, file))

    reason = (inbox / "processed" / "rows.csv.reason").read_text()
    assert (path.name, is_well) == ("rows.csv", True) and "2 rows could not be read" in said
    assert [line.split(":")[0] for line in reason.splitlines()] == ["rows.csv line 3", "rows.csv line 4"]
    assert {one.content for one in memento.list(tags=["water"])} == {"I row, often.", "I swim."}
    assert {one.content for one in memento.list(tags=["sport"])} == {"I row, often."}


def _import(memento: Memento, file: Path) -> tuple[str, Sequence[str]]:
    done = memento.intake.import_files(file, consolidate=False)
    return str(done.memories), done.refused
