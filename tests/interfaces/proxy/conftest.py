"""A provider, and Memento in front of it, both over real sockets."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from proxied import Proxied, in_front_of
from upstream import Upstream


@pytest.fixture(scope="session")
def provider() -> Iterator[Upstream]:
    """The provider; what it received stays from test to test."""
    with Upstream() as upstream:
        yield upstream


@pytest.fixture(scope="module")
def proxied(provider: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    """Memento in front of the provider, with three notes."""
    with in_front_of(provider, tmp_path_factory.mktemp("proxied")) as found:
        for note in ("I live in Lisbon.", "I prefer dark mode in all my applications.", "I work at Microsoft."):
            found.memento.note(note)
        yield found
