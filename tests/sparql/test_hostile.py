"""Those who mean it ill, at a real service over HTTP: what is quick of `tests/bench/hostile.py`, and some of what is slow."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

import pytest

import hostile
from siege import manners, raw
from siege.asked import FAMILIES, Came, Request, requests, sent
from siege.watched import Answers, Canary, Memory, answering, children, listening, measuring
from w3c.endpoint import Endpoint

HEAVY_S, MEMORY_MB = 0.5, 256
"""Seconds for what never ends. What is wanted to end well has `PLENTY_S`, for a busy machine needs longer for the same."""
PLENTY_S = 60
OWN_MB = 128
"""What a worker has beside what its queries take."""
HEAVY = (
    "three copies of everything, counted",
    "sort of a product",
    "a text that doubles forty times",
    "every path there and back",
    "ten tables of ten rows each",
    "an update that multiplies",
    "ten thousand terms of a sum",
    "a graph of a hundred thousand nested nodes",
    "a graph of RDF/XML whose entities multiply",
)
PATHS = ("/sparql", "/sparql/update", "/sparql/graphs")


@dataclass
class Siege:
    """A service under watch, and what came of each request by family and name."""

    endpoint: Endpoint
    canary: Canary
    answers: Answers
    memory: Memory
    before: str
    came: dict[tuple[str, str], Came]


@pytest.fixture(scope="module")
def siege() -> Iterator[Siege]:
    """Everything is sent once."""
    limits = {
        "MEMENTO_SPARQL_QUERY_S": str(PLENTY_S),
        "MEMENTO_SPARQL_MEMORY_MB": str(MEMORY_MB),
        "MEMENTO_SPARQL_STALL_S": "1",
    }
    with listening() as canary, hostile.bare(1_000, limits) as endpoint:
        before = hostile.counted(endpoint)
        own = urlsplit(endpoint.origin).port or 80
        came: dict[tuple[str, str], Came] = {}
        with measuring(endpoint.pid) as memory, answering(endpoint.query) as answers:
            for family in FAMILIES:
                for request in requests(family, canary=canary.port, own=own):
                    if is_sent(request):
                        came[family, request.name] = sent(hurried(request), endpoint, patience_s=2 * PLENTY_S)
            for name, how in raw.requests(*PATHS).items():
                came["raw", name] = manners.exchanged(endpoint, name, *how, 2 * PLENTY_S)
        yield Siege(endpoint, canary, answers, memory, before, came)


def hurried(request: Request) -> Request:
    """What is heavy, with less time than the service would give it."""
    if request.family != "heavy" and 504 not in request.wanted:
        return request
    return replace(request, params={**request.params, "timeout": str(HEAVY_S)})


def is_sent(request: Request) -> bool:
    """Whether it is quick: what may take all its time is not, a few excepted."""
    return request.name in HEAVY or (request.family != "heavy" and 504 not in request.wanted)


def names() -> Iterator[tuple[str, str]]:
    known = [request for family in FAMILIES for request in requests(family)]
    yield from ((request.family, request.name) for request in known if is_sent(request))
    yield from (("raw", name) for name in raw.requests(*PATHS))


def until(holds: Callable[[], bool]) -> bool:
    """Whether something comes to hold in a while."""
    for _ in range(1_200):
        if holds():
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize(("family", "name"), list(names()))
def test_a_hostile_request_is_answered_as_it_should_be(siege: Siege, family: str, name: str) -> None:
    came = siege.came[family, name]

    assert came.status in came.request.wanted, came.said


def test_there_are_many_of_them_and_each_has_a_name() -> None:
    known = [request.name for family in FAMILIES for request in requests(family)] + list(raw.requests(*PATHS))

    assert len(known) > 200
    assert len(set(known)) == len(known)


def test_nobody_knocked_at_the_canary(siege: Siege) -> None:
    assert siege.canary.knocks == []


def test_what_was_there_is_there_and_nothing_else(siege: Siege) -> None:
    assert hostile.counted(siege.endpoint) == siege.before


def test_others_were_answered_all_the_while(siege: Siege) -> None:
    assert len(siege.answers.seconds) > 20
    assert siege.answers.wrong == []


def test_the_memory_of_a_worker_stays_within_its_limit(siege: Siege) -> None:
    assert 0 < siege.memory.worker < MEMORY_MB + OWN_MB


def test_a_canary_that_is_knocked_at_says_so() -> None:
    import socket

    with listening() as canary:
        socket.create_connection(("127.0.0.1", canary.port)).close()
        socket.create_connection(("127.0.0.2", canary.port)).close()

        assert until(lambda: len(canary.knocks) == 2)


def test_slow_queries_at_once_are_all_answered(siege: Siege) -> None:
    with ThreadPoolExecutor(10) as pool:
        found = list(
            pool.map(lambda _: sent(hurried(hostile.SLOW), siege.endpoint, patience_s=2 * PLENTY_S), range(10))
        )

    assert {came.status for came in found} <= {429, 503, 504}
    assert 504 in {came.status for came in found}


def test_clients_that_leave_free_their_workers(siege: Siege) -> None:
    few = Request(name="few", family="few", text="SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", wanted=(200,))
    manners.leaving(siege.endpoint, 8, after_s=0.1)
    manners.leaving_midway(siege.endpoint, 8)
    after = [sent(few, siege.endpoint, patience_s=2 * PLENTY_S).status for _ in range(3)]

    assert after == [200] * 3
    # Those that were killed are waited for; one more may read texts that no worker came to.
    assert until(lambda: len(children(siege.endpoint.pid)) <= 6)
