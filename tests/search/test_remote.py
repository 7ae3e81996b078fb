"""Vectors from a service come in order, as unit rows of the length that was asked for, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento.errors import EmbeddingError
from memento.python import open_memento
from memento.search.embedders import Remote, Trigram, embedder_of, split_text
from memento.settings import EmbeddingSettings, Settings
from scripted import Asked, Raw, ScriptedModel, Status

PROVIDERS = ("openai", "google", "mistral", "ollama", "openai-compatible")
TEXTS = ["green tea", "blue sky", "a bicycle"]


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as scripted:
        yield scripted


def settings(server: ScriptedModel, provider: Any = "openai-compatible", **changes: Any) -> EmbeddingSettings:
    url = server.address if provider == "ollama" else server.openai
    known: dict[str, Any] = {"model": "e", "dimensions": 256, "api_key": "sk-1", "retry_wait_s": 0.001, **changes}
    return EmbeddingSettings(provider=provider, base_url=url, **known)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_rows_are_those_of_the_service_in_batches(model: ScriptedModel, provider: str) -> None:
    found = Remote(settings(model, provider, batch=2)).embed(TEXTS)

    np.testing.assert_allclose(found, Trigram().embed(TEXTS), atol=1e-6)
    assert [len(request.texts) for request in model.requests] == [2, 1]
    assert {request.headers["authorization"] for request in model.requests} == {"Bearer sk-1"}
    assert ["dimensions" in request.body for request in model.requests] == [provider in ("openai", "google")] * 2
    assert [request.body.get("truncate") for request in model.requests] == [False if provider == "ollama" else None] * 2


def test_rows_are_put_in_order_and_made_unit(model: ScriptedModel) -> None:
    model.answer = lambda asked: {1: [0.0, 5.0], 2: [-3.0, 0.0], 0: [2.0, 0.0]}
    found = Remote(settings(model, dimensions=2)).embed(TEXTS)

    assert found.tolist() == [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]
    assert found.dtype == np.float32


def test_no_texts_are_no_request(model: ScriptedModel) -> None:
    assert Remote(settings(model)).embed([]).shape == (0, 256)
    assert model.requests == []


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([[1.0, 0.0, 0.0]], r"vectors of 3 numbers, not 2: set dimensions of \[embedding\] to 3"),
        ([], "in an unknown format"),
        ([[1.0, 0.0], [0.0, 1.0]], "2 vectors for 1 texts"),
        ({3: [1.0, 0.0]}, "in an unknown format"),
        ([["a", "b"]], "in an unknown format"),
        ([[0.0, 0.0]], "a vector that is zero or not finite"),
        ([[float("nan"), 0.0]], "a vector that is zero or not finite"),
        (Raw(b'{"data": 3}'), "in an unknown format"),
        (Raw(b"{}"), "in an unknown format"),
        (Status(400, "too long"), r"answered 400: too long; if a text is too long .* lower max_chars of \[embedding\]"),
        (Status(401, "bad key sk-1"), r"answered 401: bad key \*\*\*; check its api_key"),
        (Status(404, "no such model"), "check its base_url and model"),
    ],
    ids=repr,
)  # fmt: skip
def test_an_unfit_answer_is_named_with_its_fix(model: ScriptedModel, answer: Any, message: str) -> None:
    model.answer = lambda asked: answer
    remote = Remote(settings(model, dimensions=2))
    with pytest.raises(EmbeddingError, match=message) as failed:
        remote.embed(["tea"])
    assert "the embedder openai-compatible:e" in str(failed.value)


def test_ollama_must_give_as_many_vectors_as_texts(model: ScriptedModel) -> None:
    model.answer = lambda asked: [[1.0, 0.0]]
    with pytest.raises(EmbeddingError, match="1 vectors for 3 texts"):
        Remote(settings(model, "ollama", dimensions=2)).embed(TEXTS)


def test_a_model_that_cannot_shorten_is_asked_for_its_own_length(model: ScriptedModel) -> None:
    def answer(asked: Asked) -> Any:
        return Status(400, "This model does not support dimensions.") if "dimensions" in asked.body else [[1.0, 0.0]]

    model.answer = answer
    remote = Remote(settings(model, "openai", dimensions=2))
    for _ in range(2):
        assert remote.embed(["tea"]).tolist() == [[1.0, 0.0]]

    assert ["dimensions" in request.body for request in model.requests] == [True, False, False]


def test_a_busy_service_is_asked_again(model: ScriptedModel) -> None:
    left = [Status(429, headers={"retry-after": "0"}), Status(503)]
    model.answer = lambda asked: left.pop() if left else [[1.0, 0.0]]

    assert Remote(settings(model, dimensions=2)).embed(["tea"]).shape == (1, 2)
    assert len(model.requests) == 3


def test_a_service_that_is_away_is_left_alone_after_some_failures(model: ScriptedModel) -> None:
    model.answer = lambda asked: Status(500)
    remote = Remote(settings(model, max_retries=0, breaker_failures=2))
    for message in ("answered 500", "answered 500", "left alone for another"):
        with pytest.raises(EmbeddingError, match=message):
            remote.embed(["tea"])

    assert len(model.requests) == 2


@pytest.mark.parametrize("text", ["", " \n"])
def test_there_is_nothing_to_embed_in_blank_text(model: ScriptedModel, text: str) -> None:
    remote = Remote(settings(model))
    with pytest.raises(EmbeddingError, match="empty text"):
        remote.windows(text)
    with pytest.raises(EmbeddingError, match="empty text"):
        remote.embed(["tea", text])


def test_a_long_text_becomes_windows_that_overlap_and_are_cut_between_words(model: ScriptedModel) -> None:
    text = " ".join(f"word{n}" for n in range(500))
    windows = Remote(settings(model, max_chars=300)).windows(text)

    assert all(len(window) <= 300 for window in windows)
    assert {word for window in windows for word in window.split()} == set(text.split())
    assert all(set(a.split()) & set(b.split()) for a, b in pairwise(windows))
    assert Remote(settings(model)).windows("short") == ["short"]


@given(st.text(alphabet="ab \n", max_size=400), st.integers(min_value=10, max_value=100))
def test_pieces_fit_and_cover_the_text(text: str, most: int) -> None:
    found = split_text(text, most)

    assert all(len(piece) <= most for piece in found)
    place = 0
    for piece in found:
        at = text.rfind(piece, 0, place + len(piece))  # begins no later than the last one ended
        assert at >= 0
        place = max(place, at + len(piece))
    assert place == len(text)


def test_vectors_of_other_models_addresses_and_lengths_are_told_apart(model: ScriptedModel) -> None:
    one = settings(model)
    others = [
        settings(model, model="f"),
        settings(model, dimensions=2),
        settings(model, "ollama"),
        settings(model, model="e/"),
        settings(model, model="e:"),
        EmbeddingSettings(provider="openai-compatible", base_url="http://box/v1", model="e", dimensions=256),
    ]
    fingerprints = [Remote(one).fingerprint, *(Remote(other).fingerprint for other in others)]

    assert len(set(fingerprints)) == len(fingerprints)
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-") for name in fingerprints)
    assert Remote(settings(model, api_key="other", batch=3)).fingerprint == fingerprints[0]


def test_a_memory_works_with_it_and_keeps_its_vectors(model: ScriptedModel, tmp_path: Path) -> None:
    chosen = Settings(embedding=settings(model, cache=False))
    with open_memento(tmp_path / "home", configured=chosen) as memento:
        memento.note("I drink green tea.")
        first = memento.recall("green tea")
    texts = [text for request in model.requests for text in request.texts]
    with open_memento(tmp_path / "home", configured=chosen) as memento:
        again = memento.recall("green tea")

    assert [one.content for one in first.memories] == [one.content for one in again.memories]
    assert first.memories
    assert len(texts) == len(set(texts)), "no text is sent twice"
    assert [request.texts for request in model.requests[-1:]] == [["green tea"]]


def test_nothing_is_connected_before_the_first_text(tmp_path: Path) -> None:
    unreachable = EmbeddingSettings(
        provider="ollama", base_url="http://127.0.0.1:9", model="e", dimensions=4, max_retries=0
    )
    embedder = embedder_of(unreachable, tmp_path)

    assert embedder.dimensions == 4
    with pytest.raises(EmbeddingError, match=r"the embedder ollama:e at http://127.0.0.1:9 did not answer"):
        embedder.embed(["tea"])


def test_while_the_service_is_away_recall_answers_by_words_and_says_so(model: ScriptedModel, tmp_path: Path) -> None:
    configured = settings(model, max_retries=0)
    with open_memento(tmp_path / "home", configured=Settings(embedding=configured)) as memento:
        memento.note("I keep a parrot in the kitchen.")
        memento.note("My sister lives in Porto.")
        well = memento.recall("Where is the parrot?")
        model.answer = lambda asked: Status(503)
        away = memento.recall("Is the parrot in the kitchen?")

    assert well.degraded is None
    assert "parrot" in away.memories[0].content
    assert away.degraded == "the embedder does not answer: these were found by their words alone"
