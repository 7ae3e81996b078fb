"""Claude's memory tool over the graph: commands answer as published, no path leads out, and what a file says is recalled."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest
from anthropic import Anthropic
from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError
from hypothesis import given
from hypothesis import strategies as st

from conftest import OFFLINE
from memento.errors import InputError
from memento.plugins.intake.memory_files import Refusal, cut_file, resolve_path
from memento.python import Memento, MemoryTool, open_memento

PATH = "/memories/work/notes.txt"
TEXT = "# Home\n\n- USER lives in Lisbon\n- USER has a cat called Mia\n\nUSER moves soon.\n"


@pytest.fixture
def filled(memento: Memento) -> Memento:
    assert memento.intake.memory_file("create", path=PATH, file_text=TEXT).memories == 3
    return memento


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memento]:
    """A memory with the file, for what changes nothing."""
    with open_memento(tmp_path_factory.mktemp("shared"), configured=OFFLINE) as memento:
        assert isinstance(memento, Memento)
        memento.intake.memory_file("create", path=PATH, file_text=TEXT)
        yield memento


def run(memento: Memento, **command: Any) -> str:
    return memento.intake.memory_file(**command).text


def test_files_and_folders_are_shown_as_published(filled: Memento) -> None:
    run(filled, command="create", path="/memories/.hidden", file_text="USER hides.")
    assert run(filled, command="view", path="/memories") == (
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n"
        "88B\t/memories\n77B\t/memories/work/\n77B\t/memories/work/notes.txt"
    )
    assert run(filled, command="view", path=PATH, view_range=[3, 4]) == (
        f"Here's the content of {PATH} with line numbers:\n     3\t- USER lives in Lisbon\n     4\t- USER has a cat called Mia"
    )
    assert run(filled, command="view", path=PATH, view_range=[6, -1]).endswith("     6\tUSER moves soon.\n     7\t")


def test_an_edit_retires_what_it_took_out_and_keeps_the_rest(filled: Memento) -> None:
    done = filled.intake.memory_file("str_replace", path=PATH, old_str="in Lisbon", new_str="in Porto")
    assert done.text.startswith(
        "The memory file has been edited.\n     1\t# Home\n     2\t\n     3\t- USER lives in Porto"
    )
    assert (done.memories, done.retired) == (1, 1)
    [old] = [one for one in filled.list(past=True) if "Lisbon" in one.content]
    assert old.invalid_at is not None
    [first, *_] = filled.recall("Where does USER live?").memories
    assert "Porto" in first.content and first.invalidates[0].iri == old.iri

    assert run(filled, command="insert", path=PATH, insert_line=4, insert_text="- USER likes tea") == (
        f"The file {PATH} has been edited."
    )
    assert "     5\t- USER likes tea\n     6\t\n     7\tUSER moves soon." in run(filled, command="view", path=PATH)
    assert filled.admin.check() == ()


def test_a_renamed_folder_says_what_it_said_and_a_deleted_one_says_nothing(filled: Memento) -> None:
    assert run(filled, command="rename", old_path="/memories/work", new_path="/memories/old") == (
        "Successfully renamed /memories/work to /memories/old"
    )
    assert "USER moves soon." in run(filled, command="view", path="/memories/old/notes.txt")
    assert filled.intake.memory_file("view", path=PATH).failed
    assert run(filled, command="delete", path="/memories/old") == "Successfully deleted /memories/old"
    assert not filled.recall("Where does USER live?").memories
    assert run(filled, command="create", path="/memories/old/notes.txt", file_text="") == (
        "File created successfully at: /memories/old/notes.txt"
    )
    assert run(filled, command="view", path="/memories/old/notes.txt").endswith("     1\t")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            {"command": "view", "path": "/memories/no"},
            "The path /memories/no does not exist. Please provide a valid path.",
        ),
        ({"command": "create", "path": PATH, "file_text": "x"}, f"Error: File {PATH} already exists"),
        (
            {"command": "create", "path": "/memories/work", "file_text": "x"},
            "Error: File /memories/work already exists",
        ),
        ({"command": "create", "path": f"{PATH}/x", "file_text": "x"}, f"Error: The path {PATH} is not a directory"),
        (
            {"command": "str_replace", "path": "/memories/work", "old_str": "a", "new_str": "b"},
            "Error: The path /memories/work does not exist. Please provide a valid path.",
        ),
        (
            {"command": "str_replace", "path": PATH, "old_str": "Rome", "new_str": "b"},
            f"No replacement was performed, old_str `Rome` did not appear verbatim in {PATH}.",
        ),
        (
            {"command": "str_replace", "path": PATH, "old_str": "USER", "new_str": "b"},
            "No replacement was performed. Multiple occurrences of old_str `USER` in lines: 3, 4, 6. Please ensure it is unique",
        ),
        (
            {"command": "insert", "path": "/memories/no", "insert_line": 0, "insert_text": "x"},
            "Error: The path /memories/no does not exist",
        ),
        (
            {"command": "insert", "path": PATH, "insert_line": 9, "insert_text": "x"},
            "Error: Invalid `insert_line` parameter: 9. It should be within the range of lines of the file: [0, 6]",
        ),
        ({"command": "delete", "path": "/memories/no"}, "Error: The path /memories/no does not exist"),
        ({"command": "delete", "path": "/memories"}, "Error: The directory /memories cannot be deleted"),
        (
            {"command": "rename", "old_path": "/memories/no", "new_path": "/memories/x"},
            "Error: The path /memories/no does not exist",
        ),
        (
            {"command": "rename", "old_path": PATH, "new_path": "/memories/work"},
            "Error: The destination /memories/work already exists",
        ),
        ({"command": "view", "path": "/etc/passwd"}, "Error: Path must start with /memories, got: /etc/passwd"),
    ],
    ids=lambda one: one["command"] if isinstance(one, dict) else "",
)
def test_what_cannot_be_done_is_said_as_published_and_changes_nothing(
    command: dict[str, Any], said: str, shared: Memento
) -> None:
    answer = shared.intake.memory_file(**command)
    assert (answer.text, answer.failed, answer.memories, answer.retired) == (said, True, 0, 0)


@pytest.mark.parametrize(
    "path",
    [
        "/memories/../etc/passwd",
        "/memories/%2e%2e/etc",
        "/memories/%252e%252e%252fetc",
        "/memories/..\\etc",
        "/memories/a%5cb",
        "/memories/a\x00b",
        "/memoriesque",
        "memories/../x",
        "",
    ],
)
def test_no_path_leads_out(path: str) -> None:
    with pytest.raises(Refusal):
        resolve_path(path)


@given(st.text(alphabet="ab#- *\n`\t.1)", max_size=200))
def test_the_pieces_of_a_text_are_the_text(text: str) -> None:
    pieces = cut_file(text)
    assert "".join(pieces) == (text if text.strip() else "")
    assert all(piece.strip() for piece in pieces)


def test_a_forgotten_piece_is_in_its_file_no_more_and_a_secret_never_was(filled: Memento) -> None:
    [mia] = [one for one in filled.list() if "Mia" in one.content]
    filled.forget(mia.iri, erase=True)
    assert "Mia" not in run(filled, command="view", path=PATH)
    assert "Lisbon" in run(filled, command="view", path=PATH)

    done = filled.intake.memory_file("create", path="/memories/s.txt", file_text="The password is hunter2xy.\n")
    assert done.redacted == {"PASSWORD": 1}
    assert "hunter2xy" not in run(filled, command="view", path="/memories/s.txt")
    with pytest.raises(InputError, match="secret"):
        filled.intake.memory_file("create", path="/memories/ghp_0123456789abcdefghijABCDEFGHIJ012345", file_text="x")


def test_namespaces_have_files_of_their_own_and_memories_say_where_they_are_from(filled: Memento) -> None:
    assert filled.intake.memory_file("view", path=PATH, namespace="work").failed
    assert {one.content.strip() for one in filled.list(source="memory-tool")} >= {"- USER has a cat called Mia"}


def test_the_sdk_takes_it_for_a_memory_tool(shared: Memento) -> None:
    tool = MemoryTool(shared, cache_control={"type": "ephemeral"})
    assert isinstance(tool, BetaAbstractMemoryTool)
    assert tool.to_dict() == {"type": "memory_20250818", "name": "memory", "cache_control": {"type": "ephemeral"}}
    assert "cat" in tool.call({"command": "view", "path": PATH})
    with pytest.raises(ToolError, match="does not exist"):
        tool.call({"command": "delete", "path": "/memories/no"})
    with pytest.raises(ToolError, match="needs file_text"):
        tool.call({"command": "create", "path": "/memories/no"})


class Provider(BaseHTTPRequestHandler):
    """A provider whose model views its files, and is told what is in them."""

    asked: ClassVar[list[Any]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(body)
        use = {"type": "tool_use", "id": "t1", "name": "memory", "input": {"command": "view", "path": PATH}}
        is_first = len(self.asked) == 1
        answer = {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [use] if is_first else [{"type": "text", "text": "Done."}],
            "stop_reason": "tool_use" if is_first else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def test_the_runner_of_the_sdk_calls_it(shared: Memento) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        client = Anthropic(base_url=f"http://127.0.0.1:{server.server_port}", api_key="k", max_retries=0)
        tool: Any = MemoryTool(shared)
        runner = client.beta.messages.tool_runner(
            model="m", max_tokens=9, tools=[tool], messages=[{"role": "user", "content": "Look."}]
        )
        said = runner.until_done()
    finally:
        server.shutdown()
        server.server_close()
    assert said.content[0].to_dict()["text"] == "Done."
    assert Provider.asked[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    assert "USER has a cat called Mia" in json.dumps(Provider.asked[1]["messages"][-1])


def test_a_file_is_edited_during_an_import(memento: Memento) -> None:
    answers: list[bool] = []

    def create() -> None:
        answers.append(memento.intake.memory_file("create", path=PATH, file_text=TEXT).failed)

    with memento.service.importing:
        thread = threading.Thread(target=create, daemon=True)
        thread.start()
        thread.join(60.0)

    assert answers == [False]
