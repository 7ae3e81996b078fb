"""A provider, and Memento in front of it, both over real sockets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx2

from conftest import OFFLINE
from doors import serving
from memento.python import Memento, open_memento
from memento.settings import ProxySettings, Settings
from upstream import Received, Upstream


@dataclass
class Proxied:
    """A running Memento in front of a provider."""

    url: str
    memento: Memento
    upstream: Upstream
    client: httpx2.Client

    @property
    def last(self) -> Received:
        return self.upstream.last

    def post(self, path: str, body: Any, **headers: str) -> httpx2.Response:
        """The answer to JSON, or to bytes."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        how: dict[str, Any] = {"content": body} if isinstance(body, bytes) else {"json": body}
        return self.client.post(self.url + path, headers=named, **how)


@contextmanager
def in_front_of(upstream: Upstream, folder: Path, **knobs: Any) -> Iterator[Proxied]:
    """
    Memento in front of a provider, with the settings of a proxy; a recall may take long, as the machine may be slow.

    All other settings are those of `settings`, if it is given; `port` is where it answers.
    """
    settings: Settings = knobs.pop("settings", OFFLINE)
    port: int = knobs.pop("port", 0)
    given: dict[str, Any] = {
        "openai_base_url": f"{upstream.url}/v1",
        "anthropic_base_url": upstream.url,
        "ollama_base_url": upstream.url,
        "deadline_ms": 20_000,
        **knobs,
    }
    memento = open_memento(folder, configured=replace(settings, proxy=ProxySettings(**given)))
    assert isinstance(memento, Memento)
    with memento, serving(memento, port) as url, httpx2.Client(timeout=60) as client:
        yield Proxied(url, memento, upstream, client)
