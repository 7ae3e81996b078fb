"""Run every benchmark at a tiny size, so that none breaks unnoticed; at full size with `-m bench -s`."""

import json
from pathlib import Path

import pytest

import ablation
import chains
import consolidation_model
import embedding
import exchange_speed
import gate
import histories
import hooks
import import_chats
import import_speed
import ingest
import keys
import late_recalls
import lives
import living
import manifest
import mcp_calls
import mcp_tokens
import measure
import migration
import note_and_recall
import proxy
import queries
import recall_quality
import recall_scale
import redaction
import sparql
import sparql_search
import startup
import subjects
import typos
import walk
import weights
from memento.graph.shapes import violations
from people import Life
from synthetic import World

TINY = ("--notes", "12", "--model", "trigram")


@pytest.fixture(autouse=True)
def _results_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "RESULTS", tmp_path / "results")


def lines(folder: Path, name: str) -> list[dict[str, object]]:
    return [
        json.loads(line) for line in (folder / "results" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    ]


def test_a_migration_prints_what_recalls_took_meanwhile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    migration.main([*TINY, "--asked", "3", "--record"])

    assert "recall meanwhile" in capsys.readouterr().out
    assert len(lines(tmp_path, "migration")) == 1


def test_note_and_recall_prints_both_spreads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    note_and_recall.main([*TINY, "--asked", "3", "--record"])

    printed = capsys.readouterr().out
    assert "12 memories" in printed
    assert all(name in printed for name in ("note by rules", "embedding of its text", "recall", "  embed", "  trace"))
    assert len(lines(tmp_path, "note_and_recall")) == 1


def test_redaction_prints_what_it_takes_and_what_it_misses(capsys: pytest.CaptureFixture[str]) -> None:
    redaction.main(["--seeds", "1"])

    printed = capsys.readouterr().out
    assert all(name in printed for name in ("prose, ms a kB", "hostile", "missed of 200 secrets", "lost of 2000"))


def test_the_walks_name_the_files_of_handlers_and_pipelines(capsys: pytest.CaptureFixture[str]) -> None:
    walk.main(["--list"])

    note, recall = capsys.readouterr().out.split("\nrecall")
    assert note.startswith("note ")
    assert "service/handlers/notes.py" in note and "consolidation/pipeline.py" in note
    assert "service/handlers/recall.py" in recall and "retrieval/pipeline.py" in recall
    assert "consolidation" not in recall


def test_imported_chats_are_known_the_second_time(capsys: pytest.CaptureFixture[str]) -> None:
    figures = import_chats.main(TINY)

    assert (figures["rows"], figures["known"]) == (12, 12)
    assert "import_rows_per_s" in capsys.readouterr().out


def test_ingest_prints_pieces_a_second(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.md").write_text("Some words.")
    figures = ingest.main(["--model", "trigram", "--pages", "2", "--folder", str(tmp_path)])

    assert (figures["pdf_documents"], figures["folder_pieces"]) == (1, 1)
    assert "pdf_pieces_per_s" in capsys.readouterr().out


def test_import_speed_prints_a_ratio(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures = import_speed.main(TINY)

    assert figures["notes"] == 12
    assert import_speed.main([*TINY, "--alike"])["memories"] == 12
    assert "rebuild_over_import" in capsys.readouterr().out
    assert not (tmp_path / "results").exists()


def test_sparql_is_held_against_an_empty_view_and_the_engines_own_server(tmp_path: Path) -> None:
    figures = sparql.main(
        [
            *TINY,
            "--triples",
            "600",
            "--seconds",
            "0.3",
            "--rounds",
            "1",
            "--plot",
            str(tmp_path / "ratios.png"),
            "--record",
        ]
    )

    ratios = figures["ratios"]
    assert isinstance(ratios, dict)
    assert ratios["throughput over empty view, 8 clients"] > 0
    assert (tmp_path / "ratios.png").stat().st_size > 0
    assert len(lines(tmp_path, "sparql")) == 1


def test_exchange_speed_measures_every_way_out_and_in(capsys: pytest.CaptureFixture[str]) -> None:
    figures = exchange_speed.main(TINY)

    wanted = {"backup_ms", "restore_ms", "longest_note_beside_a_backup_ms", "import_checked_memories_per_s"}
    assert wanted | {f"export_{form}_statements_per_s" for form in ("nq", "trig", "jsonld")} <= set(figures)
    assert "export_nq_statements_per_s" in capsys.readouterr().out


def test_startup_measures_the_command_and_the_service(tmp_path: Path) -> None:
    figures = startup.main([*TINY, "--runs", "1", "--record"])

    assert lines(tmp_path, "startup")[0]["figures"] == figures


def test_hooks_are_measured_beside_what_they_start(capsys: pytest.CaptureFixture[str]) -> None:
    figures = hooks.main(["--runs", "1", "--direct", "1"])

    assert {f"{event}_{what}_ms" for event in ("PostToolUse", "Stop") for what in ("waits", "takes")} < set(figures)
    assert "the client waits" in capsys.readouterr().out


def test_calls_by_mcp_are_measured_beside_the_recall_itself() -> None:
    figures = mcp_calls.main([*TINY, "--asked", "2", "--runs", "1"])

    assert {"REST_adds_ms", "MCP 2026-07-28_adds_ms", "MCP 2025-11-25_adds_ms", "MCP stdio_adds_ms"} < set(figures)


def test_the_words_of_the_tools_and_of_their_answers_are_counted(tmp_path: Path) -> None:
    figures = mcp_tokens.main(["--model", "trigram", "--record"])

    assert {"tools/list", "an answer of three memories", "a note"} < set(figures)
    assert lines(tmp_path, "mcp_tokens")


def test_the_proxy_is_measured_beside_a_direct_connection(capsys: pytest.CaptureFixture[str]) -> None:
    few = ["--requests", "12", "--asked", "2", "--streams", "2", "--seconds", "0.1"]
    figures = proxy.main([*TINY, *few])

    assert set(figures) >= {"relay at 1", "relay at 16", "first byte with recall", "streams"}
    printed = capsys.readouterr().out
    assert all(name in printed for name in ("direct", "bare copy", "memento", "added_p99_ms", "kB_per_idle_stream"))


def test_chats_are_asked_beside_busy_cores() -> None:
    figures = late_recalls.main([*TINY, "--chats", "2", "--busy", "1"])

    assert figures["chats"] == 2 and figures["without memories at their next turn"] == 0


@pytest.fixture
def two_sets(tmp_path: Path) -> Path:
    """Twelve notes each, and one question that is one of them."""
    for name in ("left", "right"):
        folder = tmp_path / "sets" / name
        folder.mkdir(parents=True)
        texts = [row.content for row in Life(names=30).notes(12)]
        corpus = [{"id": str(n), "text": text} for n, text in enumerate(texts)]
        (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)), encoding="utf-8")
        (folder / "queries.jsonl").write_text(json.dumps({"id": "q", "text": texts[5]}), encoding="utf-8")
        (folder / "qrels.jsonl").write_text(json.dumps({"query": "q", "doc": "5"}), encoding="utf-8")
    return tmp_path / "sets"


def test_recall_quality_has_a_row_for_each_set_and_profile(
    two_sets: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recall_quality, "MEAN_OF", ("left", "right"))

    reports = recall_quality.main([str(two_sets), "--model", "trigram", "--record"])

    assert [report.dataset for report in reports] == ["left"] * 3 + ["right"] * 3
    printed = capsys.readouterr().out
    assert "R@5 − half" in printed
    assert "+0.0 [+0.0, +0.0]" in printed
    assert printed.count("mean of 2") == 3
    assert len(lines(tmp_path, "recall_quality")) == 6


def test_an_ablation_has_a_row_for_each_thing_that_is_off(
    two_sets: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [str(two_sets), "--model", "trigram", "--record", "--sets"]
    ablation.main([*words, "left"])
    tables = ablation.main([*words, "right"])

    assert "− EXPAND" in capsys.readouterr().out
    recorded = json.loads((tmp_path / "results" / "ablation.json").read_text(encoding="utf-8"))
    assert list(recorded) == ["left", "right"]
    assert recorded["right"]["figures"] == tables["right"]
    assert set(recorded["left"]["figures"]["off"]) == {
        *weights.SIGNALS,
        *ablation.GROUPS,
        *ablation.WITHOUT,
        "rows of ANCHOR",
    }
    assert set(recorded["left"]["figures"]["on"]) == set(ablation.ON)


def test_weights_are_chosen_and_judged(two_sets: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [str(two_sets), "--model", "trigram", "--keep", str(tmp_path / "kept")]
    first = weights.main([*words, "--record"])

    assert weights.main(words) == first
    printed = capsys.readouterr().out
    assert all(name in printed for name in ("in sample", "cross-validated", "family left out"))
    assert len(lines(tmp_path, "weights")) == 1


def test_a_slip_is_made_and_mended(two_sets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures = typos.main([str(two_sets), "--model", "trigram", "--sets", "left"])

    assert list(figures) == ["left"]
    assert "slip, mended" in capsys.readouterr().out
    assert typos.with_slip("Where does Caroline live?") != "Where does Caroline live?"


def test_subjects_are_counted_and_their_worth_is_measured(two_sets: Path) -> None:
    figures = subjects.main(["--folder", str(two_sets), "--sets", "left", "--model", "trigram"])

    assert set(figures) == {"notes", "memories", "left", "left, consolidated"}


def test_recall_scale_times_every_phase_and_the_alternatives(capfd: pytest.CaptureFixture[str]) -> None:
    (figures,) = recall_scale.main(["--sizes", "200", "--asked", "4"])

    assert figures["memories"] == 200
    printed = capfd.readouterr().out
    assert all(name in printed for name in ("land", "anchor", "expand", "distill", "trace", "start-up", "resident"))
    assert all(name in printed for name in ("brute force", "power iterations", "rdflib"))


def test_a_bench_of_keys_prints_words_vectors_and_hops(two_sets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = (two_sets / "left").rename(two_sets / "keymem_left")
    [figures] = keys.main(["--data", str(folder), "--model", "trigram"])

    printed = capsys.readouterr().out
    assert figures["n"] == 1
    assert all(name in printed for name in ("both@5", "bm25", "flat", "direct", "graph1", "graph2", "graph3"))


def test_a_map_is_timed_and_so_is_a_recall_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    (figures,) = manifest.main(["--sizes", "150", "--times", "1"])

    printed = capsys.readouterr().out
    assert figures["memories"] == 150
    assert all(name in printed for name in ("map", "indexes held", "structure", "recall beside a map"))


def test_queries_times_each_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    (figures,) = queries.main(["--sizes", "200", "--asked", "2"])

    assert figures["memories"] == 200
    assert "200 memories" in capsys.readouterr().out
    spent = figures["ms"]
    assert isinstance(spent, dict)
    assert all(spent[name]["rows"] > 0 for name in ("ANCHOR", "TRACE", "explained", "as_of of the hub", "neighbours"))


def test_a_synthetic_memory_is_one_that_memento_could_have_written() -> None:
    quads = list(World(200).quads())

    assert quads == list(World(200).quads())
    assert violations(quads) == []


def test_gate_prints_both_rates(two_sets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures = gate.main([str(two_sets / "left"), "--foreign", str(two_sets / "right"), "--model", "trigram"])

    assert figures["false empties"] == 0.0
    assert "non-empties of right" in capsys.readouterr().out


def test_a_life_is_told_in_three_ways_and_asked(capsys: pytest.CaptureFixture[str]) -> None:
    whole = json.loads((lives.LIVES / "development" / "platform.json").read_text())
    asked = [question for question in whole["questions"] if question["kind"] in ("unsaid", "current")][:8]

    figures = {
        mode: lives.measure_life({"notes": whole["notes"][:12], "questions": asked}, mode, "trigram").means()
        for mode in lives.MODES
    }

    assert all(0 <= value <= 10 for means in figures.values() for value in means.values())
    assert figures["rules"]["invented"] == 0.0
    assert "invented" not in figures["cosine"]


def test_chains_are_followed_with_and_without_each_part_of_the_graph(capsys: pytest.CaptureFixture[str]) -> None:
    figures = chains.main(["--notes", "5", "--model", "trigram"])

    assert all(0 <= value <= 1 for row in figures.values() for value in row.values())
    printed = capsys.readouterr().out
    assert all(name in printed for name in ("BM25", "without ANCHOR's rows", "without the PageRank", "p95"))


def test_a_life_is_the_same_again_and_no_note_comes_twice() -> None:
    notes = Life(names=30).notes(500)

    assert notes == Life(names=30).notes(500)
    assert len({note.content for note in notes}) == 500


def test_a_note_by_a_model_takes_five_questions(tmp_path: Path) -> None:
    figures = consolidation_model.main(["--memories", "30", "--notes", "2", "--delay", "0.01", "--record"])

    assert figures["questions a note, most"] == 5
    assert lines(tmp_path, "consolidation_model")[0]["figures"] == figures


@pytest.mark.bench
def test_consolidation_by_a_model_at_full_size() -> None:
    consolidation_model.main([])


@pytest.mark.bench
def test_embedding_at_full_size() -> None:
    embedding.main([])


@pytest.mark.bench
def test_note_and_recall_at_full_size() -> None:
    note_and_recall.main([])


@pytest.mark.bench
def test_import_speed_at_full_size() -> None:
    import_speed.main([])


@pytest.mark.bench
def test_startup_at_full_size() -> None:
    startup.main([])


@pytest.mark.bench
def test_proxy_at_full_size() -> None:
    proxy.main([])


@pytest.mark.bench
def test_recall_scale_at_full_size() -> None:
    recall_scale.main([])


def test_sparql_search_sets_a_search_beside_a_recall(capsys: pytest.CaptureFixture[str]) -> None:
    [figures] = sparql_search.main(["--sizes", "60", "--asked", "2", "--places", "12"])

    assert figures["memories"] == 60
    assert "SERVICE mem:search is a recall and" in capsys.readouterr().out


def test_a_walk_over_keys_is_timed_and_ranked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [timed] = keys.main(["--speed", "--sizes", "60", "--steps", "2", "--record"])

    assert isinstance(timed["ms"], dict)
    assert {"recall", "read_key", "read_memory"} <= timed["ms"].keys()
    assert "60 memories" in capsys.readouterr().out
    assert len(lines(tmp_path, "keys_speed")) == 1


def test_what_use_and_time_do_is_timed() -> None:
    full, plain = (living.main(["--sizes", "60", "--times", "2", *more])[0]["ms"] for more in ([], ["--plain"]))

    assert isinstance(full, dict) and isinstance(plain, dict)
    assert full.keys() == plain.keys() >= {"activate", "decay", "feedback"}


def test_histories_are_played_on_nodes_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    figures = histories.main(["--count", "1", "--killed", "0", "--length", "3"])
    assert figures["without kills"] == {"equal": 1, "of": 1}
    assert "seed 0: equal; 1 of 1 equal" in capsys.readouterr().out
