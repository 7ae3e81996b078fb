"""`%%sparql` in a real IPython shell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from conftest import OFFLINE
from doors import serving
from memento.python import Memento, open_memento
from memento.python.rows import Triples

QUERY = "PREFIX mem: <http://purl.org/memento/> SELECT ?memory ?content { ?memory a mem:Memory ; mem:content ?content }"


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("MEMENTO_HOME", str(tmp_path / "usual"))
    monkeypatch.setenv("MEMENTO_EMBEDDING_MODEL", "trigram")
    made: Any = InteractiveShell.instance()
    made.run_line_magic("load_ext", "memento")
    yield made
    made.history_manager.end_session()
    InteractiveShell.clear_instance()


def asked(shell: Any, line: str, cell: str = QUERY) -> Any:
    return shell.run_cell_magic("sparql", line, cell)


def test_a_cell_asks_the_memory_of_the_notebook(shell: Any, memento: Memento) -> None:
    memento.note("I live in Lisbon.")
    memento.note("I paint.", namespace="hobby")
    shell.user_ns["memento"] = shell.user_ns["mine"] = memento

    frame = asked(shell, "")
    assert isinstance(frame, pd.DataFrame)
    assert frame["content"].tolist() == ["I live in Lisbon."]
    assert frame["memory"][0].startswith("urn:memento:memory:")
    assert asked(shell, "--memory mine --short")["memory"][0].startswith("memory:")
    assert len(asked(shell, "--namespace hobby")) == 2
    assert asked(shell, "--into found") is None
    assert shell.user_ns["found"].equals(frame)
    assert asked(shell, "", "ASK { ?s ?p 'nobody says so' }") is False
    assert isinstance(asked(shell, "", "CONSTRUCT { ?s ?p ?o } { ?s a ?o ; ?p ?o } LIMIT 3"), Triples)


def test_a_cell_asks_no_memory_but_the_one_that_is_meant(
    shell: Any, memento: Memento, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memento.note("I live in Lisbon.")
    assert len(asked(shell, "")) == 0
    assert str(tmp_path / "usual") in capsys.readouterr().err, "whose memory was asked is said"
    shell.user_ns["mine"] = memento
    assert asked(shell, "")["content"].tolist() == ["I live in Lisbon."], "the only memory that is open"
    with open_memento(tmp_path / "other", configured=OFFLINE) as other:
        shell.user_ns["other"] = other
        with pytest.raises(UsageError, match="--memory with one of mine, other"):
            asked(shell, "")


def test_a_memory_shows_itself_as_a_table(shell: Any, memento: Memento) -> None:
    memento.note("I live in Lisbon.")
    html = shell.display_formatter.formatters["text/html"](memento)
    assert "I live in Lisbon." in html and "<table>" in html


def test_a_cell_asks_a_folder_a_service_or_the_usual_place(shell: Any, memento: Memento, tmp_path: Path) -> None:
    with open_memento(tmp_path / "other", configured=OFFLINE) as other:
        other.note("I live in Oslo.")
    assert asked(shell, f"--home {tmp_path / 'other'}")["content"].tolist() == ["I live in Oslo."]
    assert len(asked(shell, "")) == 0
    memento.note("I live in Lisbon.")
    with serving(memento) as address:
        assert asked(shell, f"--url {address}")["content"].tolist() == ["I live in Lisbon."]
        assert asked(shell, f"--home {memento.datadir.path}")["content"].tolist() == ["I live in Lisbon."]
    with open_memento(tmp_path / "other", configured=OFFLINE) as other:
        assert isinstance(other, Memento), "a cell lets go of the folder that it opened"


@pytest.mark.parametrize(
    ("line", "cell", "said"),
    [
        ("", "SELECT nothing", "not SPARQL"),
        ("", "CLEAR ALL", "quer"),
        ("--wrong", QUERY, "--namespace NAME"),
        ("--home a --url b", QUERY, "not allowed with"),
        ("--memory absent", QUERY, "'absent'"),
        ("--url http://127.0.0.1:9", QUERY, "memento serve"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(line: str, cell: str, said: str, shell: Any, memento: Memento) -> None:
    shell.user_ns["memento"] = memento
    with pytest.raises(UsageError, match=said):
        asked(shell, line, cell)
