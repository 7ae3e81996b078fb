"""
A small MCP server over a folder, on stdio: lists, reads and appends to files; and misbehaves when it is asked to.

    python fileserver.py FOLDER [--more NAME]
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations

folder = Path(sys.argv[1])
server = MCPServer("files")
LOOKS = ToolAnnotations(read_only_hint=True)


@server.tool(annotations=LOOKS)
def list_files() -> str:
    """The names of the files, a line each."""
    return "\n".join(sorted(path.name for path in folder.iterdir()))


@server.tool(annotations=LOOKS)
def read_file(path: str) -> str:
    """The text of a file."""
    return (folder / path).read_text()


@server.tool()
def append_line(path: str, line: str) -> str:
    """Add a line to a file."""
    with (folder / path).open("a") as file:
        file.write(line + "\n")
    return f"added to {path}"


@server.tool()
def wait(seconds: float) -> str:
    """Answer after some seconds."""
    time.sleep(seconds)
    return "awake"


@server.tool()
def append_and_wait(path: str, line: str, seconds: float) -> str:
    """Add a line to a file, and answer after some seconds."""
    append_line(path, line)
    return wait(seconds)


@server.tool()
def die() -> str:
    """End at once, without an answer."""
    os._exit(3)


@server.tool(annotations=LOOKS)
def environment() -> str:
    """The names of the variables that it was given."""
    return " ".join(sorted(os.environ))


if __name__ == "__main__":
    server.run("stdio")
