"""A new operation takes its declaration and its handler, and is then at every interface and on every page."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import memento
from memento.interfaces.reference import SECTIONS

ROOT = Path(__file__).parents[2]

DECLARATION = '''

class CountLetters(Operation["int"], frozen=True):
    """Count the letters of a text."""

    route: ClassVar[str] = "GET /memory/letters"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "a model can count"}

    text: Annotated[str, Meta(description="what to count in")]
    factor: Annotated[int, Meta(ge=1, le=9, description="how often each letter counts")] = 1
'''
HANDLER = '''

@handles(operations.CountLetters)
def count_letters(operation: operations.CountLetters, context: Context) -> int:
    """Count letters."""
    context.scope(operation.namespace)
    return operation.factor * sum(letter.isalpha() for letter in operation.text)
'''

USE = """
import json, sys
from pathlib import Path
from threading import Thread
from wsgiref.simple_server import WSGIRequestHandler, make_server
from click.testing import CliRunner
from memento.interfaces.cli import main
from memento.interfaces.reference import generate
from memento.interfaces.web.app import create_app
from memento.python import Client, open_memento
from memento.settings import EmbeddingSettings, Settings

class Quiet(WSGIRequestHandler):
    def log_message(self, *arguments): pass

with open_memento("home", configured=Settings(embedding=EmbeddingSettings(model="trigram", cache=False))) as memento:
    server = make_server("127.0.0.1", 0, create_app(memento.service), handler_class=Quiet)
    Thread(target=server.serve_forever, daemon=True).start()
    app = create_app(memento.service).test_client()
    found = {
        "python": memento.admin.count_letters("a b c", factor=2),
        "client": Client(f"http://127.0.0.1:{server.server_port}").admin.count_letters("a b c"),
        "rest": app.get("/memory/letters?text=a+b").json,
        "bounds": app.get("/memory/letters?text=a&factor=10").json["error"]["message"],
        "openapi": app.get("/memory/openapi.json").json["paths"]["/memory/letters"]["get"]["summary"],
        "docstring": type(memento).admin.count_letters.__doc__,
    }
    server.shutdown()
found["cli"] = CliRunner().invoke(main, ["count-letters", "a b c", "--factor", "3", "--home", "home"]).output.strip()
found["help"] = CliRunner().invoke(main, ["count-letters", "--help"]).output
pages = generate(Path(sys.argv[1]))
found["pages"] = sorted(path for path, text in pages.items() if "count_letters" in text or "count-letters" in text)
print(json.dumps(found))
"""


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def test_a_new_operation_takes_two_files_and_is_everywhere(tmp_path: Path) -> None:
    root = tmp_path / "checkout"
    package = root / "src" / "memento"
    shutil.copytree(Path(memento.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in ("ontology", "queries"):
        shutil.copytree(ROOT / folder, root / folder)
    for path, _, _ in SECTIONS:
        (root / path).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / path, root / path)
    append(package / "operations" / "care.py", DECLARATION)
    append(package / "service" / "handlers" / "care.py", HANDLER)
    run = subprocess.run(
        [sys.executable, "-c", USE, str(root)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(root / "src"), "MEMENTO_EMBEDDING_MODEL": "trigram"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert (found["python"], found["client"], found["rest"], found["cli"]) == (6, 3, 2, "9")
    assert found["bounds"] == "factor must be from 1 to 9, not 10"
    assert found["openapi"] == "Count the letters of a text"
    assert found["docstring"].startswith("Count the letters of a text.\n\nArgs:\n    text: what to count in\n")
    assert "--factor" in found["help"] and "How often each letter counts." in found["help"]
    pages = [f"docs/reference/{name}.md" for name in ("cli", "operations", "python", "rest")]
    assert found["pages"] == [*pages, "src/memento/python/signatures.pyi"]
