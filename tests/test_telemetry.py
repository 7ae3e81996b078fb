"""What is logged and traced: events, never what somebody wrote."""

from __future__ import annotations

import json
import logging
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from conftest import OFFLINE
from endpoints import Server
from memento import telemetry
from memento.interfaces.web.app import create_app
from memento.plugins.scale.settings import IndexSettings, StoreSettings
from memento.python import Memento, open_memento
from memento.telemetry import Lines, Stopwatch

CANARY = "Quetzalcoatl"


def test_a_log_line_has_the_event_its_fields_and_the_way_of_an_error_without_its_words() -> None:
    try:
        raise ValueError(CANARY)
    except ValueError as error:
        record = logging.getLogger("memento.interfaces.web").makeRecord(
            "memento.interfaces.web",
            logging.ERROR,
            "",
            0,
            "web.broken",
            (CANARY,),
            (type(error), error, error.__traceback__),
        )
    record.code = "internal"
    line = Lines().format(record)

    told = json.loads(line)
    assert (told["event"], told["code"], told["error"]) == ("web.broken", "internal", "ValueError")
    assert told["through"][0].endswith("without_its_words")
    assert CANARY not in line


def read_metrics(text: str) -> dict[str, Metric]:
    return {family.name: family for family in text_string_to_metric_families(text)}


def test_a_parser_of_prometheus_reads_counters_histograms_and_gauges_with_bounded_labels() -> None:
    before = read_metrics(telemetry.exposition())
    for seconds in (0.0005, 0.02, 700.0):
        telemetry.observe("store_request_seconds", seconds, kind="query")
    telemetry.observe("store_request_seconds", 0.1, kind="a kind that somebody made up")
    telemetry.increment("refused_total", 3, what="bodies")
    told = read_metrics(telemetry.exposition([("part_up", {"part": "store"}, 12), ("index_nodes", {}, 2.5)]))

    def count_requests(metrics: dict[str, Metric]) -> Counter[tuple[str, str, str | None]]:
        found: Counter[tuple[str, str, str | None]] = Counter()
        for sample in (
            metrics["memento_store_request_seconds"].samples if "memento_store_request_seconds" in metrics else ()
        ):
            found[sample.name, sample.labels["kind"], sample.labels.get("le")] += sample.value  # type: ignore[assignment]
        return found

    requests = count_requests(told)
    requests.subtract(count_requests(before))
    assert requests["memento_store_request_seconds_bucket", "query", "0.001"] == 1
    assert requests["memento_store_request_seconds_bucket", "query", "0.025"] == 2
    assert requests["memento_store_request_seconds_bucket", "query", "60"] == 2
    assert requests["memento_store_request_seconds_bucket", "query", "+Inf"] == 3
    assert requests["memento_store_request_seconds_count", "query", None] == 3
    assert requests["memento_store_request_seconds_sum", "query", None] == pytest.approx(700.0205)
    assert "other" in {sample.labels["kind"] for sample in told["memento_store_request_seconds"].samples}
    counted = {sample.labels["what"]: sample.value for sample in told["memento_refused"].samples}
    earlier = before.get("memento_refused")
    was = {sample.labels["what"]: sample.value for sample in earlier.samples} if earlier else {}
    assert counted["bodies"] == was.get("bodies", 0) + 3
    assert [(sample.labels, sample.value) for sample in told["memento_part_up"].samples] == [({"part": "store"}, 12)]
    [nodes] = told["memento_index_nodes"].samples
    assert (nodes.labels, nodes.value) == ({}, 2.5)
    assert [family.type for name, family in told.items() if name.startswith("memento_index")] == ["gauge"]


def test_what_a_node_over_a_shared_store_tells_of_itself_is_declared_and_parsed(server: Server, tmp_path: Path) -> None:
    server.empty()
    store = StoreSettings("sparql", server.query_url, server.update_url)
    index = IndexSettings(kind="lance", uri=str(tmp_path / "lance"), whole=1)
    configured = replace(OFFLINE, store=store, index=index)
    memento = open_memento(tmp_path / "home", configured=configured)
    assert isinstance(memento, Memento)
    with memento, create_app(memento.service).test_client() as client:
        memento.warm_up()
        memento.note("I live in Lisbon.")
        memento.recall("Where do I live?")
        told = read_metrics(client.get("/metrics").text)

    ours = {name.removeprefix("memento_") for name in told}
    declared = {name.removesuffix("_total") for name in telemetry.METRICS}
    assert ours - declared <= {"events", "seconds"}
    assert {
        "store_request_seconds",
        "store_sequence",
        "engine_call_seconds",
        "engine_behind",
        "pool_nodes",
        "index_nodes",
        "pending_notes",
        "pending_oldest_seconds",
        "captured_turns",
        "writers",
        "part_up",
        "disk_free_bytes",
    } <= ours
    for family in told.values():
        if metric := telemetry.METRICS.get(family.name.removeprefix("memento_")):
            assert (family.type, family.documentation) == (metric.kind, metric.help)
    calls = {sample.labels["call"] for sample in told["memento_engine_call_seconds"].samples}
    assert {"put", "nearest", "words", "records"} <= calls <= set(telemetry.ENGINE_CALLS)
    assert {sample.labels["part"] for sample in told["memento_part_up"].samples} == set(telemetry.PARTS)


class Collector(BaseHTTPRequestHandler):
    received: list[bytes]

    def do_POST(self) -> None:
        self.received.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


@pytest.fixture
def collector() -> Iterator[tuple[str, list[bytes]]]:
    """A place that spans are sent to, and what came."""
    Collector.received = []
    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1/traces", Collector.received
        server.shutdown()
        thread.join()


def test_phases_are_spans_where_an_endpoint_is_set(
    collector: tuple[str, list[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    from opentelemetry.sdk.trace import Tracer

    address, received = collector
    monkeypatch.setattr(telemetry, "_tracer", None)
    telemetry.trace_to(address)
    watch = Stopwatch("recall")
    with pytest.raises(ValueError, match=CANARY), watch.phase("land"):
        raise ValueError(CANARY)
    assert isinstance(telemetry._tracer, Tracer)
    telemetry._tracer.span_processor.shutdown()

    assert b"recall.land" in b"".join(received)
    assert CANARY.encode() not in b"".join(received)
