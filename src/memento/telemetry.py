"""
Measure how long things take and how often they happen: one process-wide registry that `/metrics` prints and recalls report.

`METRICS` declares the metrics of each part. `observe` and `increment` update them as things happen; a gauge is read when `/metrics`
is requested. A label has one of the declared values, or `other`, so that no caller can add label values.

Log lines are JSON: a constant event name with fields, never the text of a note or a key. An error is logged by its class and the
lines of code it went through, since its message may contain what a user wrote.

With the extra `memento-rdf[otel]` and an endpoint in the settings, phases are OpenTelemetry spans too.
"""

from __future__ import annotations

import json
import logging
import threading
import time
import traceback
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """The declaration of a metric: its kind, a sentence, and the values of each label."""

    kind: Literal["counter", "gauge", "histogram"]
    help: str
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    buckets: tuple[float, ...] = (
        0.001,
        0.0025,
        0.005,
        0.01,
        0.025,
        0.05,
        0.1,
        0.25,
        0.5,
        1.0,
        2.5,
        5.0,
        10.0,
        30.0,
        60.0,
    )
    """Upper bounds of the histogram's buckets, in its unit, ascending."""


ENGINE_CALLS = ("put", "nearest", "words", "linked", "records", "sample", "count", "settle", "purge", "clear")
"""The timed calls of an engine."""
PARTS = ("store", "index", "embedder", "model", "notes", "disk")
"""The parts of a service whose state is reported."""

METRICS: Mapping[str, Metric] = {
    "store_request_seconds": Metric(
        kind="histogram",
        help="duration of a request to the endpoint of the store, in seconds, until the response was complete or had failed",
        labels={"kind": ("query", "update")},
    ),
    "store_failures_total": Metric(
        kind="counter",
        help="failed requests to the store: not sent, sent without knowing whether they were carried out, or refused",
        labels={"kind": ("query", "update"), "reason": ("unreachable", "unanswered", "refused")},
    ),
    "store_lost_writes_total": Metric(
        kind="counter",
        help="writes that were not made at once, because another node had written first",
    ),
    "store_sequence": Metric(kind="gauge", help="number of the last write"),
    "engine_call_seconds": Metric(
        kind="histogram",
        help="duration of a call to the index engine, in seconds",
        labels={"call": ENGINE_CALLS},
    ),
    "engine_failures_total": Metric(
        kind="counter",
        help="failed calls to the index engine",
        labels={"call": ENGINE_CALLS},
    ),
    "engine_behind": Metric(kind="gauge", help="writes of which the index engine may not have everything yet"),
    "pool_nodes": Metric(
        kind="histogram",
        help="nodes loaded from the index engine for one question or write",
        buckets=(10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000),
    ),
    "index_nodes": Metric(kind="gauge", help="nodes in the indexes of this process"),
    "pending_notes": Metric(kind="gauge", help="stored notes that wait to be processed"),
    "pending_oldest_seconds": Metric(kind="gauge", help="seconds that the oldest pending note has waited"),
    "failed_notes": Metric(kind="gauge", help="notes whose processing has failed and is not retried automatically"),
    "captured_turns": Metric(kind="gauge", help="captured turns that are not noted yet"),
    "writers": Metric(kind="gauge", help="changes that are in progress or waiting in this process"),
    "requests": Metric(kind="gauge", help="requests that this process is handling"),
    "requests_waiting": Metric(kind="gauge", help="requests that wait for a thread"),
    "refused_total": Metric(
        kind="counter",
        help="work that was refused because a limit was reached",
        labels={"what": ("requests", "writers", "notes", "bodies", "queries", "updates")},
    ),
    "part_up": Metric(kind="gauge", help="1 if the part is healthy, 0 if not", labels={"part": PARTS}),
    "disk_free_bytes": Metric(kind="gauge", help="free bytes on the disk of the data folder"),
}
"""The metrics by name, without the prefix `memento_`."""

Labels = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class _Histogram:
    counts: list[int]  # by bucket, and one beyond the last
    total: float = 0.0


_increments: dict[tuple[str, Labels], float] = defaultdict(float)
_histograms: dict[tuple[str, Labels], _Histogram] = {}
_levels: dict[str, float] = {}


def observe(name: str, value: float, **labels: str) -> None:
    """Add a value to a histogram of `METRICS`."""
    metric, key = METRICS[name], (name, _bound_labels(name, labels))
    place = bisect_left(metric.buckets, value)
    with _lock:
        histogram = _histograms.get(key)
        if histogram is None:
            histogram = _histograms[key] = _Histogram([0] * (len(metric.buckets) + 1))
        histogram.counts[place] += 1
        histogram.total += value


def increment(name: str, by: float = 1.0, **labels: str) -> None:
    """Add to a counter of `METRICS`."""
    with _lock:
        _increments[name, _bound_labels(name, labels)] += by


def set_level(name: str, value: float) -> None:
    """Set a gauge of `METRICS` that has no labels."""
    with _lock:
        _levels[name] = value


def shift_level(name: str, by: float) -> None:
    """Raise a gauge of `METRICS` that has no labels by an amount."""
    with _lock:
        _levels[name] = _levels.get(name, 0.0) + by


@contextmanager
def measure(name: str, **labels: str) -> Iterator[None]:
    """Add the duration of a block in seconds to a histogram of `METRICS`, whether it fails or not."""
    begin = time.perf_counter()
    try:
        yield
    finally:
        observe(name, time.perf_counter() - begin, **labels)


def _bound_labels(name: str, labels: Mapping[str, str]) -> Labels:
    """Return the labels of a metric in order, each with an allowed value."""
    known = METRICS[name].labels
    given = ((label, labels.get(label, "")) for label in known)
    return tuple((label, value if value in known[label] else "other") for label, value in given)


class Stopwatch:
    """
    The duration of each phase of one piece of work, in milliseconds.

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
        """Time one phase; it is also added to the process's counters, as `{work}.{name}`."""
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

    def time_call(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function and time it as a phase."""
        with self.phase(work.__name__):
            return work(*args, **kwargs)


def count(event: str, by: int = 1) -> None:
    """Count an event."""
    with _lock:
        _counts[event] += by


def tally(prefix: str) -> dict[str, int]:
    """Return how often the events with a prefix happened since the process began, by the rest of their names."""
    with _lock:
        return {name.removeprefix(prefix): n for name, n in sorted(_counts.items()) if name.startswith(prefix)}


Sample = tuple[str, Mapping[str, str], float]
"""The value of a gauge: its name in `METRICS`, its labels, and its current value."""


def exposition(gauges: Iterable[Sample] = ()) -> str:
    """
    Return all metrics in the Prometheus text format.

    Args:
        gauges: their current values.
    """
    with _lock:
        counts, seconds = dict(_counts), dict(_seconds)
        increments, levels = dict(_increments), dict(_levels)
        histograms = {key: _Histogram(list(one.counts), one.total) for key, one in _histograms.items()}
    lines = ["# TYPE memento_events_total counter"]
    lines += [f'memento_events_total{{event="{escape_label(name)}"}} {n}' for name, n in sorted(counts.items())]
    lines.append("# TYPE memento_seconds_total counter")
    lines += [f'memento_seconds_total{{event="{escape_label(name)}"}} {s:.6f}' for name, s in sorted(seconds.items())]
    values: dict[str, list[str]] = defaultdict(list)
    for (name, labels), value in sorted(increments.items()):
        values[name].append(_write_sample(name, labels, value))
    for (name, labels), histogram in sorted(histograms.items(), key=lambda one: one[0]):
        values[name] += _write_histogram(name, labels, histogram)
    for name, given, value in (*((name, {}, value) for name, value in levels.items()), *gauges):
        values[name].append(_write_sample(name, _bound_labels(name, given), value))
    for name, metric in METRICS.items():
        if values[name]:  # an event that has not happened yet has no line
            lines += [f"# HELP memento_{name} {metric.help}", f"# TYPE memento_{name} {metric.kind}", *values[name]]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """A value that a plug-in measures: the name of the metric without `memento_`, its help, its labels, and the value."""

    name: str
    help: str
    value: float
    labels: Mapping[str, str] = field(default_factory=dict)


def write_gauges(gauges: Iterable[Gauge]) -> str:
    """
    Write gauges in the Prometheus text format, those of one name together.

    >>> print(write_gauges([Gauge(name="tides", help="the tides seen", value=2, labels={"sea": "north"})]), end="")
    # HELP memento_tides the tides seen
    # TYPE memento_tides gauge
    memento_tides{sea="north"} 2
    """
    lines: dict[str, list[str]] = {}
    for one in gauges:
        of = lines.setdefault(one.name, [f"# HELP memento_{one.name} {one.help}", f"# TYPE memento_{one.name} gauge"])
        of.append(_write_sample(one.name, tuple(one.labels.items()), one.value))
    return "".join(f"{line}\n" for some in lines.values() for line in some)


def _write_histogram(name: str, labels: Labels, histogram: _Histogram) -> Iterator[str]:
    below = 0
    for bound, n in zip((*METRICS[name].buckets, None), histogram.counts, strict=True):
        below += n
        limit = "+Inf" if bound is None else f"{bound:g}"
        yield _write_sample(f"{name}_bucket", (*labels, ("le", limit)), below)
    yield _write_sample(f"{name}_sum", labels, histogram.total)
    yield _write_sample(f"{name}_count", labels, below)


def _write_sample(name: str, labels: Labels, value: float) -> str:
    said = ",".join(f'{label}="{escape_label(text)}"' for label, text in labels)
    return f"memento_{name}{{{said}}} {value:.12g}" if said else f"memento_{name} {value:.12g}"


def escape_label(text: str) -> str:
    """Escape a text as the value of a label."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def configure_logging() -> None:
    """Log to stderr, one JSON object per line; only the command line calls this."""
    handler = logging.StreamHandler()
    handler.setFormatter(Lines())
    logging.basicConfig(level="WARNING", handlers=[handler], force=True)


class Lines(logging.Formatter):
    """
    Formats one JSON object for each event: `at`, `level`, `logger`, `event`, and the fields of the event.

    >>> record = logging.makeLogRecord({"name": "memento.web", "levelname": "ERROR", "msg": "web.failed", "code": "graph_error"})
    >>> json.loads(Lines().format(record))["code"]
    'graph_error'
    """

    def format(self, record: logging.LogRecord) -> str:
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created))
        # Use `msg` without its arguments: the message is ours, but the arguments may contain a user's text.
        told: dict[str, Any] = {"at": at, "level": record.levelname, "logger": record.name, "event": str(record.msg)}
        told |= {key: value for key, value in vars(record).items() if key not in _ORDINARY}
        if record.exc_info and record.exc_info[0]:
            told["error"] = record.exc_info[0].__name__
            told["through"] = [f"{f.filename}:{f.lineno} {f.name}" for f in traceback.extract_tb(record.exc_info[2])]
        return json.dumps(told, default=lambda value: type(value).__name__)


_ORDINARY = {*vars(logging.makeLogRecord({})), "message", "asctime"}


def trace_to(endpoint: str) -> None:
    """
    Send phases as spans to an OTLP endpoint over HTTP, such as `http://127.0.0.1:4318/v1/traces`, from now on.

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
    # The message of an error may contain a user's text.
    return _tracer.start_as_current_span(name, record_exception=False, set_status_on_exception=False)
