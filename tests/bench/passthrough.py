"""
The minimum cost of any program between a client and a provider: it copies bytes from one socket to another without reading them.

Run: `python passthrough.py PORT`; prints its own port and copies until its standard input ends.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress


async def serve(port: int) -> None:
    """Copy both ways between every client and the port."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(_copied(reader, back), _copied(there, writer))

    async with await asyncio.start_server(connected, "127.0.0.1", 0, backlog=1024) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


async def _copied(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
