"""
Does the SPARQL service withstand hostile clients: does every request end in time with the right answer, while others are answered?

Data: some 230 requests: Cartesian products, sorts, growing texts, endless nesting, paths, SERVICE, LOAD and FROM in every spelling,
updates in place of queries, broken HTTP (`tests/sparql/hostile`, `siege/raw.py`); then clients that disconnect, stall and trickle,
and 32 slow queries at once. Meanwhile another client sends `ASK {}`, memory is sampled, and a canary listens at every address of
this machine.
Run: `.venv/bin/python tests/bench/hostile.py [--service bare memory] [--seconds 2] [--record]`; three minutes for each service.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from measure import arguments, memory_in, record
from people import Life
from siege import manners, raw
from siege.asked import FAMILIES, Came, Request, requests, sent
from siege.watched import Answers, Canary, answering, children, listening, measuring
from w3c.endpoint import Endpoint, memento, serving

GRACE_S = 1.0
"""How much later than its limit a query may end: a worker is killed, the next is started, a busy machine has its turns."""

OTHERS = ("raw", "crowd", "mannerless")
SLOW = Request(name="slow", family="crowd", text=manners.SLOW, wanted=(429, 503, 504))


def main(argv: Sequence[str] | None = None) -> dict[str, dict[str, object]]:
    """Print what came of every request; return the figures by service."""
    parser = arguments(__doc__ or "", notes=200)
    parser.add_argument("--service", nargs="+", choices=("bare", "memory"), default=("bare", "memory"))
    parser.add_argument("--seconds", type=float, default=2.0, help="limit of a query")
    parser.add_argument("--memory", type=int, default=512, help="limit of a worker, in MiB")
    parser.add_argument("--nodes", type=int, default=5_000, help="nodes of the bare dataset, of four triples each")
    parser.add_argument("--families", nargs="+", choices=(*FAMILIES, *OTHERS), default=(*FAMILIES, *OTHERS))
    chosen = parser.parse_args(argv)
    limits = {
        "MEMENTO_SPARQL_QUERY_S": str(chosen.seconds),
        "MEMENTO_SPARQL_MEMORY_MB": str(chosen.memory),
        "MEMENTO_SPARQL_STALL_S": "3",
    }
    figures = {}
    for service in chosen.service:
        with ExitStack() as stack:
            canary = stack.enter_context(listening())
            if service == "bare":
                endpoint = stack.enter_context(bare(chosen.nodes, limits))
            else:
                endpoint = stack.enter_context(memories(chosen.notes, limits))
            print(f"\n{endpoint.name}: a query may take {chosen.seconds:g} s, a worker {chosen.memory} MiB")
            figures[service] = besieged(endpoint, service, canary, chosen.seconds, chosen.families)
            record("hostile", {"service": service, **limits, **figures[service]}, chosen.record)
    return figures


@contextmanager
def bare(nodes: int, limits: Mapping[str, str]) -> Iterator[Endpoint]:
    """A plain dataset with a ring of nodes in it."""
    with memento(**limits) as endpoint:
        lines = (
            f"<urn:n/{n}> <urn:next> <urn:n/{(n + 1) % nodes}> .\n<urn:n/{n}> <urn:kind> <urn:k/{n % 10}> .\n"
            f'<urn:n/{n}> <urn:value> {n}.5 .\n<urn:n/{n}> <urn:text> "the node of number {n}" .\n'
            for n in range(nodes)
        )
        document, kind = "".join(lines), {"Content-Type": "text/turtle"}
        for _ in range(20):  # its limit of time is meant for what is hostile, and short
            answer = endpoint.client.put(f"{endpoint.graphs}?default", content=document, headers=kind)
            if answer.status_code != 504:
                break
        assert answer.is_success, answer.text
        yield endpoint


@contextmanager
def memories(notes: int, limits: Mapping[str, str]) -> Iterator[Endpoint]:
    """A service with notes in it."""
    with TemporaryDirectory(prefix="memento-bench-") as folder:
        with memory_in(Path(folder), "trigram") as owned:
            owned.intake.import_notes(Life(names=30).notes(notes))
        with serving(Path(folder), MEMENTO_EMBEDDING_MODEL="trigram", **limits) as endpoint:
            yield endpoint


def besieged(
    endpoint: Endpoint, service: str, canary: Canary, seconds: float, families: Sequence[str]
) -> dict[str, object]:
    """Send everything, and say what came of it."""
    own = urlsplit(endpoint.origin).port or 80
    before = counted(endpoint)
    came: list[Came] = []
    with measuring(endpoint.pid) as memory, answering(endpoint.query) as answers:
        time.sleep(2)
        idle = Answers(list(answers.seconds), list(answers.wrong))
        _say(f"idle: {idle}")
        for family in families:
            if family in OTHERS:
                continue
            these = requests(family, service=service, canary=canary.port, own=own)
            tried = (partial(sent, request, endpoint, patience_s=seconds + 30) for request in these)
            came += shown(family, tried, answers)
        if "raw" in families:
            paths = (urlsplit(url).path for url in (endpoint.query, endpoint.update, endpoint.graphs))
            rows = raw.requests(*paths).items()
            came += shown("raw", (partial(manners.exchanged, endpoint, name, *how, 20) for name, how in rows), answers)
        crowd = crowded(endpoint) if "crowd" in families else {}
        behaved = mannerless(endpoint, answers) if "mannerless" in families else {}
    late = [c for c in came if c.request.family == "heavy" and c.seconds > seconds + GRACE_S]
    wrong = [c for c in came if not c.is_right]
    after = counted(endpoint)
    _say(f"{len(came)} requests: {len(came) - len(wrong)} with the right status, {len(late)} beyond their limit")
    _say(f"the canary heard {len(canary.knocks)} knocks {canary.knocks[:3]}")
    _say(f"{before} triples before, {after} after")
    _say(str(answers))
    _say(str(memory))
    return {
        "requests": len(came),
        "wrong": sorted(c.request.name for c in wrong),
        "late": sorted(c.request.name for c in late),
        "knocks": len(canary.knocks),
        "is_unchanged": before == after,
        "ask": str(answers),
        "ask_idle": str(idle),
        "memory": str(memory),
        "crowd": crowd,
        **behaved,
    }


def shown(family: str, tried: Iterator[Callable[[], Came]], answers: Answers) -> list[Came]:
    """Send a family and print what came of each: the latest answer to `ASK {}` meanwhile, and what was said where it is wrong."""
    found, before = [], len(answers.seconds)
    print(f"{family}:\n    status  seconds      bytes  ASK {{}} at most")
    for one in tried:
        had = len(answers.seconds)
        came = one()
        latest = max(answers.seconds[had:], default=0) * 1000
        mark = " " if came.is_right else "!"
        wanted = "" if came.is_right else f" not {'/'.join(map(str, came.request.wanted))}: {came.said[:100]!r}"
        print(
            f"  {mark}{came.status!s:>7} {came.seconds:8.2f} {came.bytes:>10} {latest:6.0f} ms  {came.request.name}{wanted}"
        )
        found.append(came)
    _say(f"{family}: {answers.since(before)}")
    return found


def crowded(endpoint: Endpoint, count: int = 32) -> dict[str, object]:
    """So many slow queries at once: the statuses, and the seconds until the last is answered."""
    with answering(endpoint.query) as answers, ThreadPoolExecutor(count) as pool:
        found = list(pool.map(lambda _: sent(SLOW, endpoint, patience_s=120), range(count)))
    statuses = {status: sum(c.status == status for c in found) for status in {c.status for c in found}}
    last = max(came.seconds for came in found)
    _say(f"{count} slow queries at once: {statuses}, the last after {last:.1f} s; {answers}")
    return {"statuses": {str(s): n for s, n in statuses.items()}, "last_s": round(last, 2), "ask": str(answers)}


def mannerless(endpoint: Endpoint, answers: Answers) -> dict[str, object]:
    """Clients that leave, dawdle and trickle; after each, what takes a little must be answered at once."""
    figures: dict[str, object] = {}

    def then(name: str, told: object) -> None:
        free = sent(
            Request(name="count", family="crowd", text="SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", wanted=(200,)),
            endpoint,
            patience_s=60,
        )
        _say(f"{name}: {told}; a count of everything then takes {free.seconds * 1000:.0f} ms ({free.status})")
        figures[name] = {"told": told, "then_ms": round(free.seconds * 1000), "then": free.status}

    manners.leaving(endpoint, 16, after_s=0.3)
    then("16 clients that leave before the answer", "")
    manners.leaving_midway(endpoint, 16)
    then("16 clients that leave within the answer", "")
    with ThreadPoolExecutor(1) as pool:
        dawdling = pool.submit(manners.dawdling, endpoint, 4, most_s=8.0)
        time.sleep(1)
        then("4 clients that hardly read, and still do", "")
        dawdling.result()
    for head_only in (True, False):
        name = "64 clients that trickle " + ("a head" if head_only else "a body")
        waits = manners.trickling(endpoint, 64, head_only=head_only, most_s=10)
        then(name, f"held for {max(waits):.1f} s of 10")
    time.sleep(1)
    _say(f"{len(children(endpoint.pid))} processes of the service are left; {answers}")
    return figures


def counted(endpoint: Endpoint) -> str:
    """How many triples there are, and whether one of the hostile ones is among them."""
    query = b"SELECT (COUNT(*) AS ?n) (SUM(IF(STRSTARTS(STR(?s), 'urn:hostile:a'), 1, 0)) AS ?bad) { ?s ?p ?o }"
    return " and ".join(endpoint.ask(query, "text/csv").text.split("\r\n")[1].split(","))


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    figures = main()
    sys.exit(any(told["wrong"] or told["late"] or told["knocks"] for told in figures.values()))
