"""The settings of reading in files and pages."""

from __future__ import annotations

from dataclasses import dataclass

from memento.settings import Positive, Span, knob


@dataclass(frozen=True, slots=True)
class IntakeSettings:
    file_bytes: Positive = knob(67_108_864, "longest file that `ingest` reads, in bytes")
    url_bytes: Positive = knob(16_777_216, "most bytes of a page that `ingest` fetches")
    url_s: Span = knob(20.0, "seconds to fetch a page, redirects included")
    private_urls: bool = knob(False, "let `ingest` fetch from addresses of this machine and of private networks")
    inbox: str = knob("", "folder that `memento files watch` takes files from; default `inbox` in the data folder")
