"""A cross-encoder of the user's own orders the best memories of a recall once more; what its folder lacks is said at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import OFFLINE
from memento.errors import SettingsError
from memento.plugins.keys.settings import KeysSettings
from memento.python import Memento, open_memento
from memento.search.reranker import CrossEncoder, Reranker
from memento.settings import EmbeddingSettings, GateSettings, RerankSettings, Settings

TEXTS = ("The bakery sells bread.", "Tulips grow in spring.", "The bread of the bakery is rye.", "Rye bread is dark.")
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "tulips", "bread", "rye", "bakery", "spring"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that likes a text the better, the nearer its words are to the end of the vocabulary: spring before bread."""
    import onnx
    from onnx import TensorProto, helper

    made = tmp_path_factory.mktemp("encoder")
    graph = helper.make_graph(
        [
            helper.make_node("ReduceMax", ["input_ids", "axes"], ["best"], keepdims=1),
            helper.make_node("Cast", ["best"], ["logits"], to=TensorProto.FLOAT),
        ],
        "tiny",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "length"])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1])],
        [helper.make_tensor("axes", TensorProto.INT64, [1], [1])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(model, str(made / "model.onnx"))
    write_tokenizer(made)
    return made


def write_tokenizer(made: Path) -> None:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(made / "tokenizer.json"))


def settings(**rerank: object) -> Settings:
    return replace(
        OFFLINE,
        embedding=EmbeddingSettings(model="trigram"),
        gate=GateSettings(on=False),
        rerank=RerankSettings(**rerank),  # type: ignore[arg-type]
    ).having(KeysSettings(direct=True, min_score=0.0))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with some memories."""
    made = tmp_path_factory.mktemp("home")
    with opened(made) as memento:
        for text in TEXTS:
            memento.keys.remember(text, ["bread"])
    return made


def opened(home: Path, **rerank: object) -> Memento:
    memento = open_memento(home, namespace="main", configured=settings(**rerank))
    assert isinstance(memento, Memento)
    return memento


@pytest.fixture
def reranked(home: Path, folder: Path) -> Iterator[Memento]:
    with opened(home, folder=str(folder)) as memento:
        yield memento


def test_every_recall_is_ordered_by_the_model_of_the_folder(reranked: Memento) -> None:
    found = reranked.recall("rye bread", k=3)

    assert found.memories[0].content == "Tulips grow in spring."
    assert [one.rank for one in found.memories] == [1, 2, 3]
    assert reranked.recall("rye bread", k=1, explain=True).memories[0].content == "Tulips grow in spring."
    assert reranked.keys.recall_memories("rye bread", k=1).memories[0].content == "Tulips grow in spring."


def test_without_a_folder_the_order_stays_and_a_floor_leaves_nothing(home: Path, folder: Path) -> None:
    with opened(home) as plain:
        assert plain.recall("rye bread", k=1).memories[0].content != "Tulips grow in spring."
    with opened(home, folder=str(folder), floor=8.5) as strict:
        found = strict.recall("rye bread")
        assert (found.memories, found.gated) == ((), True)
        assert strict.keys.recall_memories("rye bread").memories == ()
        assert strict.recall("호밀빵").memories, "what is in another script is not held against the floor"


def test_a_model_that_fails_leaves_the_order(folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "model.onnx").write_bytes(b"no model")
    (tmp_path / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes())
    reranker = Reranker(RerankSettings(folder=str(tmp_path)))

    assert reranker.order("rye", TEXTS) is None
    assert "rerank.failed" in caplog.text
    assert Reranker(RerankSettings(folder=str(folder), pool=2)).order("rye", TEXTS) == [1, 0, 2, 3]


@pytest.mark.live
def test_a_folder_of_safetensors_is_read_without_running_its_code(tmp_path: Path) -> None:
    from transformers import BertConfig, BertForSequenceClassification

    config = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
        num_labels=2,  # type: ignore[call-arg]
    )
    BertForSequenceClassification(config).save_pretrained(tmp_path)
    write_tokenizer(tmp_path)
    tokens = {"pad_token": "[PAD]", "unk_token": "[UNK]", "tokenizer_class": "PreTrainedTokenizerFast"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(tokens))

    scores = CrossEncoder(tmp_path).score("rye", TEXTS)

    assert scores.shape == (4,)
    assert len({round(score, 6) for score in scores.tolist()}) > 1


def test_what_a_folder_lacks_is_said_when_the_memory_is_opened(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="there is no folder"):
        opened(tmp_path / "home", folder=str(tmp_path / "none"))
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(
        SettingsError, match=r"lacks model.safetensors, tokenizer.json; a cross-encoder is model.onnx with"
    ):
        CrossEncoder(tmp_path)


def test_the_factors_of_the_published_design_are_a_setting(home: Path) -> None:
    with opened(home, factors=True) as memento:
        plain = {one.iri: one.score for one in memento.recall("rye bread").memories}
        last = min(plain, key=lambda iri: plain[iri])
        memento.review.mark(last, tags=("decision",))
        marked = {one.iri: one.score for one in memento.recall("rye bread").memories}

    assert marked[last] == pytest.approx(1.2 * plain[last], rel=0.01)


def test_a_high_priority_counts_more_than_a_normal_one_and_a_low_one_less(home: Path) -> None:
    with opened(home, factors=True) as memento:
        for priority in ("low", "normal", "high"):
            memento.note("I keep rye in the cellar.", priority=priority, namespace=priority)
        low, normal, high = (
            memento.recall("rye in the cellar", mode="vector", namespace=one).memories[0].score
            for one in ("low", "normal", "high")
        )
    assert (low / normal, high / normal) == pytest.approx((0.7, 1.3), abs=1e-4)
