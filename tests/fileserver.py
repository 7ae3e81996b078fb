"""
A small MCP server over a folder: lists, reads and appends to files, and misbehaves when it is asked to.

    python fileserver.py FOLDER

speaks on stdio; `serving_files(folder)` answers over HTTP from a thread.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations

LOOKS = ToolAnnotations(read_only_hint=True)


def files(folder: Path) -> MCPServer:
    """The server."""
    server = MCPServer("files", log_level="ERROR")

    @server.tool(annotations=LOOKS)
    def list_files() -> str:
        """The names of the files, a line each."""
        return "\n".join(sorted(path.name for path in folder.iterdir()))

    @server.tool(annotations=LOOKS)
    def read_file(path: str) -> str:
        """The text of a file."""
        return (folder / path).read_text()

    @server.tool(annotations=LOOKS)
    async def look_slowly(seconds: float) -> str:
        """Answer after some seconds."""
        await anyio.sleep(seconds)
        return "seen"

    @server.tool()
    def append_line(path: str, line: str) -> str:
        """Add a line to a file."""
        with (folder / path).open("a") as file:
            file.write(line + "\n")
        return f"added to {path}"

    @server.tool()
    async def append_and_wait(path: str, line: str, seconds: float) -> str:
        """Add a line to a file, and answer after some seconds."""
        append_line(path, line)
        await anyio.sleep(seconds)
        return "added in the end"

    @server.tool()
    def die() -> str:
        """End at once, without an answer."""
        os._exit(3)

    @server.tool(annotations=LOOKS)
    def environment() -> str:
        """The names of the variables that it was given."""
        return " ".join(sorted(os.environ))

    return server


@contextmanager
def serving_files(folder: Path) -> Iterator[str]:
    """The address of the server over HTTP, until the end of the block."""
    import uvicorn  # here, as a program on stdio needs neither, and starts in half the time without them

    from memento.interfaces.web.server import listening

    app = files(folder).streamable_http_app(stateless_http=True, json_response=True)
    with listening("127.0.0.1", 0, has_tokens=False) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        finally:
            server.should_exit = True
            thread.join()


if __name__ == "__main__":
    files(Path(sys.argv[1])).run("stdio")
