"""
How long things took and how often they happened: one process-wide tally that `/metrics` prints and recalls report.

Log lines are JSON: a constant event name with fields, never the text of a note or a key. An error is logged by its class and the
lines of code it went through, as its message may hold what somebody wrote.

With the extra `memento-rdf[otel]` and an endpoint in the settings, phases are OpenTelemetry spans too.
"""

from __future__ import annotations

import json
import logging
import threading
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from memento.assets import install_line
from memento.errors import MissingPart

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

P = ParamSpec("P")
T = TypeVar("T")

_lock = threading.Lock()
_counts: dict[str, int] = defaultdict(int)
_seconds: dict[str, float] = defaultdict(float)
_tracer: Tracer | None = None


class Stopwatch:
    """
    Milliseconds by phase of one piece of work.

    >>> watch = Stopwatch("retrieval")
    >>> with watch.phase("land"):
    ...     pass
    >>> list(watch.ms)
    ['land']
    """

    def __init__(self, work: str) -> None:
        self.work = work
        self.ms: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time one phase; also added to the process's tally, as `{work}.{name}`."""
        begin = time.perf_counter()
        try:
            with _span(f"{self.work}.{name}"):
                yield
        finally:
            spent = time.perf_counter() - begin
            self.ms[name] = round(self.ms.get(name, 0.0) + spent * 1000, 3)
            with _lock:
                _counts[f"{self.work}.{name}"] += 1
                _seconds[f"{self.work}.{name}"] += spent

    def run(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function and time it as the phase of its name."""
        with self.phase(work.__name__):
            return work(*args, **kwargs)


def count(event: str, by: int = 1) -> None:
    """Add to the tally of an event."""
    with _lock:
        _counts[event] += by


def tally(prefix: str) -> dict[str, int]:
    """Return how often the events of a prefix happened since the process began, by the rest of their names."""
    with _lock:
        return {name.removeprefix(prefix): n for name, n in sorted(_counts.items()) if name.startswith(prefix)}


def exposition() -> str:
    """Return the tally in the Prometheus text format."""
    with _lock:
        counts, seconds = dict(_counts), dict(_seconds)
    lines = ["# TYPE memento_events_total counter"]
    lines += [f'memento_events_total{{event="{name}"}} {n}' for name, n in sorted(counts.items())]
    lines.append("# TYPE memento_seconds_total counter")
    lines += [f'memento_seconds_total{{event="{name}"}} {s:.6f}' for name, s in sorted(seconds.items())]
    return "\n".join(lines) + "\n"


def configure_logging() -> None:
    """Log to stderr, one JSON object a line; only the command line calls this."""
    handler = logging.StreamHandler()
    handler.setFormatter(Lines())
    logging.basicConfig(level="WARNING", handlers=[handler], force=True)


class Lines(logging.Formatter):
    """
    One JSON object for each event: `at`, `level`, `logger`, `event`, and the fields that came with it.

    >>> record = logging.makeLogRecord({"name": "memento.web", "levelname": "ERROR", "msg": "web.failed", "code": "graph_error"})
    >>> json.loads(Lines().format(record))["code"]
    'graph_error'
    """

    def format(self, record: logging.LogRecord) -> str:
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created))
        # `msg` without its arguments: the text around them is ours, they may be anybody's.
        told: dict[str, Any] = {"at": at, "level": record.levelname, "logger": record.name, "event": str(record.msg)}
        told |= {key: value for key, value in vars(record).items() if key not in _ORDINARY}
        if record.exc_info and record.exc_info[0]:
            told["error"] = record.exc_info[0].__name__
            told["through"] = [f"{f.filename}:{f.lineno} {f.name}" for f in traceback.extract_tb(record.exc_info[2])]
        return json.dumps(told, default=lambda value: type(value).__name__)


_ORDINARY = {*vars(logging.makeLogRecord({})), "message", "asctime"}


def trace_to(endpoint: str) -> None:
    """
    Send phases as spans to an OTLP endpoint over HTTP, as `http://127.0.0.1:4318/v1/traces`, from now on.

    Raises:
        MissingPart: the extra is not installed.
    """
    global _tracer
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise MissingPart(f"traces need OpenTelemetry: {install_line('otel')}") from error
    provider = TracerProvider(resource=Resource.create({"service.name": "memento"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)))
    _tracer = provider.get_tracer("memento")


def _span(name: str) -> AbstractContextManager[object]:
    if _tracer is None:
        return nullcontext()
    # An error's message may hold what somebody wrote.
    return _tracer.start_as_current_span(name, record_exception=False, set_status_on_exception=False)
