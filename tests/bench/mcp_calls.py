"""
How much time does MCP add to a recall, and how soon does the stdio server list its tools after a cold start?

Each question goes to one running service by REST and as calls of `memento_recall` by the official client, one after the other: over
HTTP in both protocol eras and over stdio. The added time is the client's time beyond the recall itself, as the service reports it
over REST. Every question was asked before, so that none has to be embedded.

Run: `.venv/bin/python tests/bench/mcp_calls.py [--record]`, a minute on two cores.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
import urllib.parse
import urllib.request
from collections import defaultdict
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from measure import arguments, memory_in, record, shown, spread, timed
from memento.datadir import DataFolder
from people import Life
from startup import command, serving


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Print and return the spreads in milliseconds."""
    parser = arguments(__doc__ or "", notes=1_000)
    parser.add_argument("--asked", type=int, default=200, help="questions")
    parser.add_argument("--runs", type=int, default=10, help="cold starts")
    chosen = parser.parse_args(argv)
    life = Life(names=30)
    with TemporaryDirectory(prefix="memento-bench-") as name:
        folder = Path(name)
        with memory_in(folder, chosen.model) as owned:
            owned.intake.import_notes(life.notes(chosen.notes), consolidate=False)
        with serving(folder, chosen.model):
            owner = DataFolder(folder).serving_owner()
            assert owner is not None and owner.address is not None
            walls, own = anyio.run(_asked, folder, owner.address, list(life.questions(chosen.asked)))
            cold = [timed(lambda: _listed(folder))[1] for _ in range(chosen.runs)]
    figures: dict[str, object] = {"model": chosen.model, "notes": chosen.notes, "recall_ms": spread(own)}
    print(shown("recall by itself", spread(own)))
    for way, seconds in walls.items():
        added = spread([wall - itself for wall, itself in zip(seconds, own, strict=True)])
        figures[f"{way}_adds_ms"] = added
        print(shown(f"{way} adds", added))
    figures["tools_list_cold_ms"] = spread(cold)
    print(shown("tools/list from cold, stdio", spread(cold)))
    record("mcp_calls", figures, chosen.record)
    return figures


async def _asked(folder: Path, address: str, questions: Sequence[str]) -> tuple[dict[str, list[float]], list[float]]:
    """Seconds of every call by way, and those that the service itself took for the same question."""
    shim = StdioServerParameters(command=command(), args=["--home", str(folder), "mcp"], env=dict(os.environ))
    walls: dict[str, list[float]] = defaultdict(list)
    own = []
    async with AsyncExitStack() as stack:
        clients = {
            "MCP 2026-07-28": await stack.enter_async_context(Client(f"{address}/mcp")),
            "MCP 2025-11-25": await stack.enter_async_context(Client(f"{address}/mcp", mode="legacy")),
            "MCP stdio": await stack.enter_async_context(Client(stdio_client(shim))),
        }
        for client in clients.values():
            await client.list_tools()  # without the schema a client asks for it at the first call
        for question in questions:
            _by_rest(address, question)
        for question in questions:
            (itself, wall) = _by_rest(address, question)
            own.append(itself)
            walls["REST"].append(wall)
            for way, client in clients.items():
                begin = time.perf_counter()
                result = await client.call_tool("memento_recall", {"query": question})
                walls[way].append(time.perf_counter() - begin)
                assert not result.is_error
    return walls, own


def _by_rest(address: str, question: str) -> tuple[float, float]:
    """Seconds of the recall itself, and of the whole request."""
    url = f"{address}/memory/recall?{urllib.parse.urlencode({'query': question})}"
    begin = time.perf_counter()
    with urllib.request.urlopen(url) as answer:
        body = answer.read()
    wall = time.perf_counter() - begin
    timings: dict[str, float] = json.loads(body)["timings_ms"]
    return timings["total"] / 1000, wall


def _listed(folder: Path) -> None:
    """Start the shim, ask for the tools, and read the answer."""
    with subprocess.Popen(
        [command(), "--home", str(folder), "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin and process.stdout
        process.stdin.write('{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n')
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        assert answer["result"]["tools"], answer
        process.stdin.close()


if __name__ == "__main__":
    main()
