"""The cache of embeddings: nothing is embedded twice, what is discarded is gone, a broken file does no harm."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from memento.errors import EmbeddingError
from memento.ports import Vectors
from memento.search.embedders import Cached, Trigram, embedder_of
from memento.search.minilm import MiniLm
from memento.settings import EmbeddingSettings


class Counting(Trigram):
    """A real embedder that remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return super().embed(texts)


@pytest.fixture
def cached(tmp_path: Path) -> Iterator[Cached]:
    cached = Cached(Counting(), tmp_path / "cache")
    yield cached
    cached.close()


def asked(cached: Cached) -> list[str]:
    assert isinstance(cached.embedder, Counting)
    return cached.embedder.asked


def test_nothing_is_embedded_twice(cached: Cached) -> None:
    first = cached.embed(["tea", "milk", "tea"])
    again = cached.embed(["milk", "tea", "wine"])

    assert asked(cached) == ["tea", "milk", "wine"]
    assert (first == Trigram().embed(["tea", "milk", "tea"])).all()
    assert (again == Trigram().embed(["milk", "tea", "wine"])).all()


def test_the_file_outlives_the_process(cached: Cached, tmp_path: Path) -> None:
    texts = [f"text {n}" for n in range(1200)]
    expected = cached.embed(texts)

    later = Cached(Counting(), tmp_path / "cache")

    assert (later.embed(texts) == expected).all()
    assert asked(later) == []
    later.close()


def test_each_fingerprint_has_its_own_file_for_this_user_alone(cached: Cached, tmp_path: Path) -> None:
    cached.embed(["tea"])

    file = tmp_path / "cache" / "embeddings-trigram-256.sqlite"
    assert file.stat().st_mode & 0o077 == 0
    assert b"tea" not in file.read_bytes()


def test_discarded_texts_are_gone_from_memory_and_file(cached: Cached, tmp_path: Path) -> None:
    tea, _ = cached.embed(["tea", "milk"])

    cached.discard(["tea", "never seen", ""])

    held = b"".join(file.read_bytes() for file in (tmp_path / "cache").iterdir())
    assert tea.tobytes() not in held
    cached.embed(["tea", "milk"])
    assert asked(cached) == ["tea", "milk", "tea"]


def test_memory_holds_only_the_recent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memento.search.embedders.REMEMBERED", 2)
    cached = Cached(Counting(), None)
    for text in ("a", "b", "a", "c", "a", "b"):
        cached.embed([text])

    assert asked(cached) == ["a", "b", "c", "b"]


@pytest.mark.parametrize("content", [b"this is no database " * 100, None])
def test_a_broken_cache_costs_one_warning_and_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, content: bytes | None
) -> None:
    file = tmp_path / "embeddings-trigram-256.sqlite"
    if content is None:
        file.mkdir()
    else:
        file.write_bytes(content)
    cached = Cached(Counting(), tmp_path)

    with caplog.at_level(logging.WARNING):
        cached.embed(["a secret"])
        cached.embed(["a secret", "tea"])

    assert [record.message for record in caplog.records] == ["embeddings.cache_unusable"]
    assert "secret" not in caplog.text
    assert asked(cached) == ["a secret", "tea"]


def test_a_file_that_cannot_be_changed_is_deleted_by_discard(tmp_path: Path) -> None:
    file = tmp_path / "embeddings-trigram-256.sqlite"
    file.write_bytes(b"this is no database " * 100)

    Cached(Counting(), tmp_path).discard(["tea"])

    assert not file.exists()


def test_a_file_that_cannot_be_deleted_either_is_named(tmp_path: Path) -> None:
    (tmp_path / "embeddings-trigram-256.sqlite").mkdir()

    with pytest.raises(EmbeddingError, match="delete it"):
        Cached(Counting(), tmp_path).discard(["tea"])


def test_threads_share_a_cache(cached: Cached) -> None:
    texts = [f"text {n % 50}" for n in range(400)]

    with ThreadPoolExecutor(8) as pool:
        rows = list(pool.map(lambda text: cached.embed([text])[0], texts))

    assert (np.stack(rows) == Trigram().embed(texts)).all()


def test_settings_choose_the_embedder_and_whether_it_keeps_a_file(tmp_path: Path) -> None:
    trigram = embedder_of(EmbeddingSettings(model="trigram"), tmp_path)
    trigram.embed(["tea"])

    assert isinstance(trigram.embedder, Trigram)
    assert isinstance(embedder_of(EmbeddingSettings(cache=False), tmp_path).embedder, MiniLm)
    assert list(tmp_path.iterdir()) == []
