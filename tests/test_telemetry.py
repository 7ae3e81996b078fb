"""What is logged and traced: events, never what somebody wrote."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from memento import telemetry
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
