"""Those who mean it ill, at a real service over HTTP: what is quick of `tests/bench/hostile.py`, and some of what is slow."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest

import hostile
from siege import manners, raw
from siege.asked import Came, Request, requests, sent
from siege.watched import Answers, Canary, Memory, answering, children, listening, measuring
from w3c.endpoint import Endpoint

SECONDS, MEMORY_MB = 0.5, 256
QUICK = ("refused", "reaching", "changing")
HEAVY = (
    "three copies of everything, counted",
    "sort of a product",
    "a text that doubles forty times",
    "every path there and back",
    "ten tables of ten rows each",
    "an update that multiplies",
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
        "MEMENTO_SPARQL_QUERY_S": str(SECONDS),
        "MEMENTO_SPARQL_MEMORY_MB": str(MEMORY_MB),
        "MEMENTO_SPARQL_STALL_S": "1",
    }
    with listening() as canary, hostile.bare(1_000, limits) as endpoint:
        before = hostile.counted(endpoint)
        own = urlsplit(endpoint.origin).port or 80
        came: dict[tuple[str, str], Came] = {}
        with measuring(endpoint.pid) as memory, answering(endpoint.query) as answers:
            for family in (*QUICK, "heavy"):
                for request in requests(family, canary=canary.port, own=own):
                    if family in QUICK or request.name in HEAVY:
                        came[family, request.name] = sent(request, endpoint, patience_s=20)
            for name, how in raw.requests(*PATHS).items():
                came["raw", name] = manners.exchanged(endpoint, name, *how, 20)
        yield Siege(endpoint, canary, answers, memory, before, came)


def names() -> Iterator[tuple[str, str]]:
    yield from ((family, request.name) for family in QUICK for request in requests(family))
    yield from (("heavy", name) for name in HEAVY)
    yield from (("raw", name) for name in raw.requests(*PATHS))


@pytest.mark.parametrize(("family", "name"), names())
def test_a_hostile_request_is_answered_as_it_should_be(siege: Siege, family: str, name: str) -> None:
    came = siege.came[family, name]

    assert came.status in came.request.wanted, came.said


def test_there_are_many_of_them() -> None:
    assert len(list(names())) + sum(1 for _ in requests("heavy")) - len(HEAVY) > 200
    assert len(set(names())) == len(list(names()))


def test_nobody_knocked_at_the_canary(siege: Siege) -> None:
    assert siege.canary.knocks == []


def test_what_was_there_is_there_and_nothing_else(siege: Siege) -> None:
    assert hostile.counted(siege.endpoint) == siege.before


def test_others_were_answered_all_the_while(siege: Siege) -> None:
    assert len(siege.answers.seconds) > 20
    assert siege.answers.wrong == []


def test_the_memory_of_a_worker_stays_within_its_limit(siege: Siege) -> None:
    assert 0 < siege.memory.worker < 2 * MEMORY_MB


def test_a_canary_that_is_knocked_at_says_so() -> None:
    import socket

    with listening() as canary:
        socket.create_connection(("127.0.0.1", canary.port)).close()
        socket.create_connection(("127.0.0.2", canary.port)).close()

    assert len(canary.knocks) == 2


def test_thirty_two_slow_queries_at_once_are_all_answered(siege: Siege) -> None:
    with ThreadPoolExecutor(32) as pool:
        found = list(pool.map(lambda _: sent(hostile.SLOW, siege.endpoint, patience_s=60), range(32)))

    assert {came.status for came in found} <= {429, 503, 504}
    assert 504 in {came.status for came in found}


def test_clients_that_leave_free_their_workers(siege: Siege) -> None:
    few = Request(name="few", family="few", text="SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", wanted=(200,))
    manners.leaving(siege.endpoint, 8, after_s=0.1)
    manners.leaving_midway(siege.endpoint, 8)
    after = [sent(few, siege.endpoint, patience_s=20).status for _ in range(3)]

    assert after == [200] * 3
    assert len(children(siege.endpoint.pid)) <= 5
