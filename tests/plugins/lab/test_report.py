import json
from pathlib import Path

import numpy as np
import pytest

from memento.errors import InputError, SettingsError
from memento.plugins.lab.evaluation import (
    AnsweredQuestion,
    Question,
    Report,
    evaluate,
    prepare_trial,
    read_set,
    show_progress,
)
from memento.retrieval.signals import SIGNALS, with_weights
from memento.settings import EmbeddingSettings, Settings

TRIGRAM = Settings(embedding=EmbeddingSettings(model="trigram", cache=False))
KEYS = [
    "dataset",
    "queries",
    "recall@5",
    "recall@10",
    "all@5",
    "all@10",
    "mrr@10",
    "ndcg@10",
    "any@5",
    "any@10",
    "session@5",
    "session@10",
    "latency_ms",
    "phases_ms",
    "answered",
]
ANIMALS = {
    "fox": "The fox runs through the dark forest at night.",
    "whale": "A whale sings below the cold ocean for hours.",
    "owl": "An owl watches the barn from the old oak tree.",
    "bee": "Bees carry pollen from flower to flower in June.",
    "cat": "The cat sleeps on the warm kitchen windowsill.",
    "crab": "A crab walks sideways over the wet beach sand.",
}


@pytest.fixture
def animals(tmp_path: Path) -> Path:
    """The same six documents in two scopes; each question has its answer in its own scope alone."""
    named = [(scope, animal, text) for scope in ("left", "right") for animal, text in ANIMALS.items()]
    files: dict[str, list[dict[str, object]]] = {
        "corpus": [{"id": f"{s}/{animal}", "text": text, "scope": s} for s, animal, text in named],
        "queries": [{"id": f"{s}-{animal}", "text": text, "scope": s, "type": s} for s, animal, text in named],
        "qrels": [{"query": f"{s}-{animal}", "doc": f"{s}/{animal}", "rel": 1} for s, animal, _ in named],
    }
    files["queries"].append({"id": "unjudged", "text": "Who else?", "type": "left"})
    folder = tmp_path / "animals"
    folder.mkdir()
    for file, rows in files.items():
        (folder / f"{file}.jsonl").write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return folder


def test_a_question_finds_its_document_in_its_own_scope(animals: Path) -> None:
    result = evaluate(animals, configured=TRIGRAM)

    assert [answer.ranked[0] for answer in result.answers] == [next(iter(a.question.grades)) for a in result.answers]
    assert {document.split("/")[0] for a in result.answers[:6] for document in a.ranked} == {"left"}
    assert (result.documents, result.memories, result.skipped) == (12, 12, 1)


def test_the_json_has_exactly_the_promised_keys(animals: Path) -> None:
    figures = json.loads(json.dumps(evaluate(animals, configured=TRIGRAM, limit=4).as_json()))

    assert list(figures) == KEYS
    assert (figures["dataset"], figures["queries"], figures["mrr@10"]) == ("animals", 4, 1.0)
    assert 0 < figures["latency_ms"]["p50"] <= figures["latency_ms"]["p95"]
    assert figures["phases_ms"] and all(set(spent) == {"p50", "p95"} for spent in figures["phases_ms"].values())


def test_the_table_has_a_row_for_each_type_when_asked(animals: Path) -> None:
    result = evaluate(animals, configured=TRIGRAM, profile="seed")

    assert "12 queries, 1 skipped without qrels" in result.as_table()
    assert "profile seed" in result.as_table()
    assert "100.0 [100.0, 100.0]" in result.as_table()
    assert "\n  right" not in result.as_table()
    assert "\n  right" in result.as_table(per_type=True)


def test_what_a_user_gets_stands_beside_the_ranking(animals: Path) -> None:
    unsaid = [
        {"id": "u1", "text": "Which wifi password has Ngaire?", "scope": "left"},
        {"id": "u2", "text": ANIMALS["owl"], "scope": "left"},
    ]
    (animals / "unanswerable.jsonl").write_text("\n".join(json.dumps(row) for row in unsaid), encoding="utf-8")

    report = evaluate(animals, configured=TRIGRAM)
    answered = json.loads(json.dumps(report.as_json()))["answered"]

    assert (answered["false_silences"], answered["false_answers"]) == (0.0, 0.5)
    assert 1 <= answered["shown"] < np.mean([len(one.ranked) for one in report.answers])
    assert "false silences 0.0 %, false answers 50.0 % of 2" in report.as_table()


def test_a_session_with_gold_in_it_counts_once(animals: Path) -> None:
    question = Question(id="q", text="?", grades={"a": 1.0, "b": 1.0, "c": 1.0})
    answer = AnsweredQuestion(
        question=question,
        ranked=("x", "b"),
        latency_ms=1.0,
        phases_ms={},
        sessions={"a": "1", "b": "1", "c": "2", "x": "2"},
    )

    assert [answer.measure(metric) for metric in ("session@5", "any@5", "recall@5")] == [1.0, 1.0, 1 / 3]


def test_a_question_is_asked_as_of_its_time(animals: Path) -> None:
    asked = [{"id": "left-fox", "text": ANIMALS["fox"], "scope": "left", "as_of": "1990-01-01"}]
    (animals / "queries.jsonl").write_text(json.dumps(asked[0]), encoding="utf-8")

    assert evaluate(animals, configured=TRIGRAM).answers[0].ranked == ()


def test_rows_may_be_consolidated_instead(animals: Path) -> None:
    result = evaluate(animals, configured=TRIGRAM, consolidate=True, exclude_types=["right"])

    assert result.list_values("recall@10").mean() > 0.5


def test_one_import_answers_several_profiles(animals: Path) -> None:
    data = read_set(animals)

    with prepare_trial(data, configured=TRIGRAM) as asking:
        first, second = asking.ask_all("seed"), asking.ask_all("default")

    assert (first.profile_name, second.profile_name) == ("seed", "default")
    assert len(first.answers) == len(second.answers) == 12


def test_settings_may_be_changed_between_two_rounds(animals: Path) -> None:
    # Nothing of this is a conversation: sessions say nothing, and all memories are alike.
    silent = with_weights(TRIGRAM, **{**dict.fromkeys(SIGNALS, 0.0), "session": 1.0})

    with prepare_trial(read_set(animals), configured=TRIGRAM) as asking:
        changed, again = asking.ask_all(configured=silent), asking.ask_all()

    assert changed.list_values("mrr@10").mean() < again.list_values("mrr@10").mean() == 1.0


def test_a_comparison_adds_one_key_and_two_rows(animals: Path) -> None:
    alone = evaluate(animals, configured=TRIGRAM).as_json()
    result = evaluate(animals, configured=TRIGRAM, compare=["half", "half", "default"])
    figures = json.loads(json.dumps(result.as_json()))

    assert list(figures) == [*KEYS, "compare"]
    assert [figures[key] for key in KEYS[:8]] == [alone[key] for key in KEYS[:8]]
    assert list(figures["compare"]) == ["half", "default"]
    assert figures["compare"]["default"]["recall@5"] == {"value": 1.0, "difference": 0.0, "interval": [0.0, 0.0]}
    assert "default − half" in result.as_table()
    assert "+0.0 [+0.0, +0.0]" in result.as_table()


def test_a_difference_says_how_much_better_the_first_is() -> None:
    def answered(ranked: str) -> AnsweredQuestion:
        question = Question(id=ranked, text="?", grades={"x": 1.0})
        return AnsweredQuestion(question=question, ranked=tuple(ranked), latency_ms=1.0, phases_ms={})

    first, second = (
        Report(
            dataset="hand",
            profile=None,
            documents=1,
            memories=1,
            import_s=0.0,
            skipped=0,
            answers=(answered(ranked),) * 4,
        )
        for ranked in ("x", "y")
    )

    assert first.compare_with(second, "recall@5") == (1.0, 1.0, 1.0)


def test_progress_is_told_to_the_end(animals: Path) -> None:
    told: list[tuple[str, int, int]] = []

    evaluate(animals, configured=TRIGRAM, progress=lambda *now: told.append(now))

    assert told[0] == ("import", 0, 12)
    assert ("import", 12, 12) in told
    assert told[-1] == ("questions", 12, 12)


def test_the_bar_draws_on_stderr_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with show_progress() as show:
        show("import", 1, 2)
        show("import", 2, 2)

    assert capsys.readouterr().out == ""


def test_the_temporary_memory_is_gone_afterwards(
    animals: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))

    evaluate(animals, configured=TRIGRAM, limit=1)

    assert [*(tmp_path / "temporary").iterdir()] == []


def test_an_unknown_profile_is_refused(animals: Path) -> None:
    with pytest.raises(SettingsError, match="unknown profile 'nosuch'"):
        evaluate(animals, configured=TRIGRAM, profile="nosuch", limit=1)
    with pytest.raises(SettingsError, match="unknown profile 'nosuch'"):
        evaluate(animals, configured=TRIGRAM, compare=["half", "nosuch"], limit=1)


def test_a_folder_that_is_no_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        evaluate(tmp_path, configured=TRIGRAM)


def test_figures_agree_with_hand_worked_answers() -> None:
    def answered(ranked: str, gold: str, ms: float) -> AnsweredQuestion:
        question = Question(id=ranked, text="?", grades=dict.fromkeys(gold, 1.0))
        return AnsweredQuestion(question=question, ranked=tuple(ranked), latency_ms=ms, phases_ms={"land": ms / 2})

    figures = Report(
        dataset="hand",
        profile=None,
        documents=26,
        memories=26,
        import_s=0.0,
        skipped=0,
        answers=(answered("abcdefghij", "bg", 10.0), answered("", "x", 20.0)),
    ).as_json()

    assert figures["recall@5"] == 0.25
    assert figures["recall@10"] == figures["all@10"] == 0.5
    assert figures["all@5"] == 0.0
    assert figures["mrr@10"] == 0.25
    # (1/log2(3) + 1/log2(8)) / (1 + 1/log2(3)) / 2
    assert figures["ndcg@10"] == pytest.approx(0.295618, abs=1e-6)
    assert figures["latency_ms"] == {"p50": 15.0, "p95": 19.5}
    assert figures["phases_ms"] == {"land": {"p50": 7.5, "p95": 9.75}}
