"""A real service on a real socket, and the stdio shim as a client starts it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mcp.client.stdio import StdioServerParameters
from mcp.types import CallToolResult, TextContent

from memento.interfaces.web.server import Busy, Server, asgi, configuration, listening
from memento.python import Memento


@contextmanager
def serving(memento: Memento, port: int = 0) -> Iterator[str]:
    """The address of a memory that answers until the end of the block; other processes find it in its folder."""
    with listening("127.0.0.1", port, has_tokens=False) as listener:
        server = Server(configuration(asgi(memento.service, Busy()), memento.settings.server))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        memento.serve_at(address)
        try:
            yield address
        finally:
            server.should_exit = True
            thread.join()


def shim_of(home: Path, **environment: str) -> StdioServerParameters:
    """How a client starts the shim of a data folder."""
    own = {
        "MEMENTO_HOME": str(home),
        "MEMENTO_EMBEDDING_MODEL": "trigram",
        "MEMENTO_EMBEDDING_CACHE": "false",
        "MEMENTO_SERVER_PORT": "0",
    }
    return StdioServerParameters(
        command=sys.executable, args=["-m", "memento", "mcp"], env={**os.environ, **own, **environment}
    )


def text_of(result: CallToolResult) -> str:
    """The one text of a result."""
    [block] = result.content
    assert isinstance(block, TextContent)
    return block.text
