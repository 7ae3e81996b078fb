"""
The tools of configured MCP servers, called as their client: programs over stdio, addresses over HTTP.

    with Toolbox(servers_of(settings), settings) as tools:
        tools.call_tool("read_file", {"path": "a.txt"}, until)

A program gets the few environment variables that the SDK passes on, and those configured for it. Every tool name is unique. All
programs and connections end with the block. A call without an answer may have been executed; `Result.uncertain` says so.

*Guarantees:* only what is configured is started or connected to.
"""

from __future__ import annotations

import json
import logging
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import CancelledError, Future
from contextlib import AsyncExitStack, ExitStack
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Self

import msgspec

from memento.codec import decode
from memento.errors import MementoError, SettingsError, ToolError
from memento.plugins.cases.nouns import Offered
from memento.plugins.cases.settings import ExecutorSettings

if TYPE_CHECKING:
    import anyio
    import mcp
    from anyio.from_thread import BlockingPortal


logger = logging.getLogger(__name__)

Json = dict[str, Any]
Reached = Future[tuple["mcp.Client", list[Any]]]

MOST_TOOLS = 1000  # of one server; longer listings are cut
LAST_WORDS = 200  # characters of a program's last line on stderr, in an error


class Server(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to reach one server: a program to start, or an address."""

    command: str | None = None
    args: list[str] = []
    env: dict[str, str] = {}
    cwd: str | None = None
    url: str | None = None
    headers: dict[str, str] = {}
    tools: list[str] | None = None
    prefix: str = ""


class Result(NamedTuple):
    """The answer of a tool; `failed` if the tool says so, `uncertain` if it did not answer but may have been executed."""

    text: str
    failed: bool = False
    uncertain: bool = False


def servers_of(settings: ExecutorSettings) -> dict[str, Server]:
    """
    Read the configured servers, by name.

    Raises:
        SettingsError: a server has neither command nor url, or both, or an unknown key; names it.
    """
    servers: dict[str, Server] = {}
    for name, fields in json.loads(settings.servers or "{}").items():
        where = f"{name} of [executor.servers]"
        try:
            server = decode(Server, fields)
        except (MementoError, TypeError) as error:
            raise SettingsError(f"{where} is no server: {error}") from error
        if bool(server.command) == bool(server.url):
            raise SettingsError(f"{where} needs either command, the program to start, or url, the address to reach")
        if server.url and not server.url.startswith(("http://", "https://")):
            raise SettingsError(f"the url of {where} must begin with http:// or https://")
        servers[name] = server
    return servers


class Toolbox:
    """The tools of some servers, by unique names. A context manager; use it from one thread."""

    def __init__(self, servers: Mapping[str, Server], settings: ExecutorSettings) -> None:
        self._servers = servers
        self._settings = settings
        self._stack = ExitStack()
        self._clients: dict[str, mcp.Client] = {}
        self._homes: dict[str, tuple[str, str]] = {}
        self.offered: dict[str, Offered] = {}

    def __enter__(self) -> Self:
        """
        Start or connect to every server.

        Raises:
            ToolError: a server cannot be started or reached.
            SettingsError: two tools have the same name.
        """
        if not self._servers:
            return self
        from anyio.from_thread import start_blocking_portal

        with ExitStack() as stack:
            self._portal: BlockingPortal = stack.enter_context(start_blocking_portal())
            for name, server in self._servers.items():
                words = stack.enter_context(tempfile.TemporaryFile("w+"))
                self._clients[name], listed = self._reach(name, words, stack)
                self._add_tools(name, server, listed)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def call_tool(self, name: str, arguments: Json, until: float) -> Result:
        """
        Call a tool and return its answer, within the configured time; errors of the tool and of its server are results too.

        Args:
            until: `time.monotonic()` at which to stop waiting.

        Raises:
            ToolError: there is no such tool.
        """
        if name not in self.offered:
            known = ", ".join(self.offered) or "none: no server is configured in [executor]"
            raise ToolError(f"there is no tool {name[:80]!r}: there are {known}")
        server, own = self._homes[name]
        within = max(min(self._settings.call_s, until - time.monotonic()), 0.01)
        return self._portal.call(_call_tool, self._clients[server], server, own, arguments, within)

    def _reach(self, name: str, words: IO[str], stack: ExitStack) -> tuple[mcp.Client, list[Any]]:
        """Connect to one server and list its tools; the client stays open with the stack."""
        import anyio

        ready: Reached = Future()
        stop = self._portal.call(anyio.Event)
        limit = self._settings.start_s
        serving = self._portal.start_task_soon(_hold_server, self._servers[name], words, limit, ready, stop)
        stack.callback(self._let_go, name, serving, stop)
        try:
            return ready.result(limit)
        except Exception as error:
            serving.cancel()
            words.seek(0)
            last_words = words.read().strip().rpartition("\n")[2][:LAST_WORDS]
            why = f"it is not ready after {limit:g} s" if isinstance(error, TimeoutError) else _root_cause(error)
            raise ToolError(
                f"the server {name!r} of [executor] cannot be used: {why}{f'; its last words: {last_words}' if last_words else ''}"
            ) from error

    def _let_go(self, name: str, held: Future[None], stop: anyio.Event) -> None:
        self._portal.call(stop.set)
        try:
            held.result()
        except (Exception, CancelledError) as error:  # a server that died is no reason to lose the results
            logger.info("executor.close", extra={"server": name, "cause": type(error).__name__})

    def _add_tools(self, name: str, server: Server, listed: list[Any]) -> None:
        names = {tool.name for tool in listed}
        for wanted in server.tools or ():
            if wanted not in names:
                raise SettingsError(f"the server {name!r} of [executor] has no tool {wanted!r}: it has {sorted(names)}")
        for tool in listed:
            if server.tools is not None and tool.name not in server.tools:
                continue
            called = server.prefix + tool.name
            if called in self.offered:
                other = self.offered[called].server
                raise SettingsError(
                    f"the servers {other!r} and {name!r} of [executor] both have a tool {called!r}: give one of them a prefix, "
                    "or list the tools that may be used"
                )
            hints = tool.annotations
            self._homes[called] = (name, tool.name)
            self.offered[called] = Offered(
                name=called,
                server=name,
                description=tool.description or tool.title or "",
                schema=json.dumps(tool.input_schema, ensure_ascii=False),
                repeatable=bool(hints and (hints.read_only_hint or hints.idempotent_hint)),
            )


async def _hold_server(server: Server, words: IO[str], start_s: float, ready: Reached, stop: anyio.Event) -> None:
    """Keep one server open from start to `stop`, all in one task, as its client requires."""
    import httpx2
    import mcp
    from mcp.client.stdio import StdioServerParameters, stdio_client
    from mcp.client.streamable_http import streamable_http_client

    try:
        async with AsyncExitStack() as stack:
            if server.command:
                program = StdioServerParameters(
                    command=server.command, args=server.args, env=server.env, cwd=server.cwd
                )
                transport = stdio_client(program, words)  # type: ignore[arg-type]  # typed as TextIO, but it needs a file
            else:
                timeout = httpx2.Timeout(start_s, read=None)
                http = await stack.enter_async_context(httpx2.AsyncClient(headers=server.headers, timeout=timeout))
                transport = streamable_http_client(str(server.url), http_client=http)
            client = await stack.enter_async_context(mcp.Client(transport, read_timeout_seconds=start_s))
            ready.set_result((client, await _list_tools(client)))
            await stop.wait()
    except Exception as error:
        if ready.done():
            raise
        ready.set_exception(error)


async def _list_tools(client: mcp.Client) -> list[Any]:
    tools: list[Any] = []
    cursor: str | None = None
    while len(tools) < MOST_TOOLS:
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        cursor = page.next_cursor
        if not cursor:
            break
    return tools


async def _call_tool(client: mcp.Client, server: str, name: str, arguments: Json, within: float) -> Result:
    import anyio
    from mcp.shared.exceptions import MCPError
    from mcp.types import INVALID_PARAMS, METHOD_NOT_FOUND

    try:
        with anyio.fail_after(within + 1):
            answer = await client.call_tool(name, arguments, read_timeout_seconds=within)
    except MCPError as error:
        refused = error.code in (INVALID_PARAMS, METHOD_NOT_FOUND)
        reason = f"the server {server!r} {'refused the call' if refused else 'did not answer'}: {error}"
        return Result(reason, failed=True, uncertain=not refused)
    except TimeoutError:
        return Result(f"the server {server!r} did not answer within {within:.0f} s", failed=True, uncertain=True)
    except Exception as error:
        return Result(f"the server {server!r} did not answer: {_root_cause(error)}", failed=True, uncertain=True)
    return Result(_text_of_answer(answer), failed=bool(answer.is_error))


def _text_of_answer(answer: Any) -> str:
    """Join the texts of an answer, or return its structured content if there are none."""
    parts = [block.text if block.type == "text" else f"({block.type})" for block in answer.content]
    if not parts and answer.structured_content is not None:
        return json.dumps(answer.structured_content, ensure_ascii=False)
    return "\n".join(parts)


def _root_cause(error: BaseException) -> str:
    """Return the first single cause in a group of errors."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
