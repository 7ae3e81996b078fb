"""
MCP over Streamable HTTP: a stateless ASGI application for the older and the newer protocol revisions.

*Guarantees:* no session is kept. A tool that fails returns an error that says what to do; an unexpected failure reveals no
internals. Every request is authorized on its own, as at the other interfaces: `access` decides who the caller is.

*But:* a subscriber is notified of writes through MCP and of a redrawn map, not of writes through other interfaces.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from typing import Any, TypeVar, cast

import anyio
import mcp.types as mcp
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated, ToolsListChanged
from mcp.shared.exceptions import MCPError
from starlette.datastructures import Headers
from starlette.requests import Request

from memento import settings
from memento.access import Caller, admit
from memento.errors import MementoError, Unauthorised
from memento.interfaces.mcp import catalogue, resources
from memento.interfaces.mcp.tools import Ask, Reach, Told, Tool, text_of, to_structured
from memento.python import Memento
from memento.service import Service
from memento.service.handlers.recall import manifest_text

logger = logging.getLogger(__name__)

T = TypeVar("T")
Context = ServerRequestContext[Any, Any]
ASGI = Callable[[Any, Any, Any], Awaitable[None]]

PATH = "/mcp"
BEAT_S = 1.0
"""Seconds between two progress messages of a long call."""

LIVE_TTL_MS = 5_000
"""The cache lifetime, in milliseconds, of answers that depend on the memory."""


class Door:
    """The MCP handlers for one memory."""

    def __init__(self, memento: Memento) -> None:
        """
        Raises:
            SettingsError: `MEMENTO_TOOLS` names an unknown group.
        """
        groups = settings.offered_groups(memento.settings)
        # A client may also call a tool that is not listed: another window may have listed it.
        asking = memento.settings.mcp.confirmation
        every = [name for name in catalogue.GROUPS if settings.is_offered(name, memento.settings)]
        self._tools = catalogue.tools(every, left_out=memento.settings.plugins.left_out, confirmation=asking)
        self._schemas = {name: tool.describe()["inputSchema"] for name, tool in self._tools.items()}
        self._lists = catalogue.lists(groups, memento.settings)
        state = f" At present {memento.degraded.brief}." if memento.degraded else ""
        self._instructions = f"{catalogue.instructions(groups, asking)}{state}"
        self._bus = InMemorySubscriptionBus()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._shows_map = catalogue.shows_map(self._lists["tools/list"])
        if self._shows_map:
            memento.service.maps.redrawn.append(self._redrawn)
            manifest_text(memento.context, None)  # draw the map before a client asks for the tools
        # As many concurrent calls as the rest of the service allows.
        self._threads = anyio.CapacityLimiter(memento.settings.server.threads)

    def server(self) -> Server:
        """Return the MCP server over these handlers."""
        facts = catalogue.SERVER
        hint = CacheHint(ttl_ms=catalogue.LISTS_TTL_MS, scope="public")
        return Server(
            facts["name"],
            title=facts["title"],
            version=facts["version"],
            instructions=self._instructions,
            cache_hints={
                "server/discover": hint,
                "tools/list": CacheHint(ttl_ms=LIVE_TTL_MS, scope="private") if self._shows_map else hint,
                "resources/list": hint,
                "resources/templates/list": hint,
                "prompts/list": hint,
            },
            get_tool_input_schema=self._schemas.get,
            on_list_tools=self._listed_tools if self._shows_map else self._listing("tools/list", mcp.ListToolsResult),
            on_list_resources=self._listing("resources/list", mcp.ListResourcesResult),
            on_list_resource_templates=self._listing("resources/templates/list", mcp.ListResourceTemplatesResult),
            on_list_prompts=self._listing("prompts/list", mcp.ListPromptsResult),
            on_call_tool=self._call,
            on_read_resource=self._read_resource,
            on_get_prompt=self._prompt,
            on_subscriptions_listen=ListenHandler(self._bus),
        )

    def _listing(self, method: str, kind: type[T]) -> Callable[[Context, Any], Awaitable[T]]:
        made = kind.model_validate(self._lists[method])  # type: ignore[attr-defined]  # every result is a pydantic model

        async def send_list(context: Context, params: object) -> T:
            # A copy, because the SDK writes the cache hint into it.
            copied: T = made.model_copy()
            return copied

        return send_list

    async def _listed_tools(self, context: Context, params: object) -> mcp.ListToolsResult:
        """List the tools; the description of one has the map of the caller's memory, if it is drawn already."""
        reach = self._reach(context)
        text = await anyio.to_thread.run_sync(
            lambda: manifest_text(reach.memory.context, reach.namespace), limiter=self._threads
        )
        return mcp.ListToolsResult.model_validate(catalogue.with_map(self._lists["tools/list"], text))

    def began(self) -> None:
        """Note that the event loop runs: from now on a thread that draws a map can notify the clients."""
        self._loop = asyncio.get_running_loop()

    def _redrawn(self) -> None:
        """Notify subscribers of a new map: it changes the list of tools and the resource."""
        if self._loop is None or self._loop.is_closed():
            return
        for event in (ToolsListChanged(), ResourceUpdated(uri="memento://manifest")):
            asyncio.run_coroutine_threadsafe(self._bus.publish(event), self._loop)

    async def _call(
        self, context: Context, params: mcp.CallToolRequestParams
    ) -> mcp.CallToolResult | mcp.InputRequiredResult:
        tool = self._tools.get(params.name)
        if tool is None:
            raise MCPError(
                mcp.INVALID_PARAMS, f"there is no tool {params.name[:80]!r}: choose from those that tools/list names"
            )
        answer = (params.input_responses or {}).get(QUESTION)
        given = dict(params.arguments or {})
        if isinstance(answer, mcp.ElicitResult) and answer.action == "accept":
            given["confirmed"] = True
        reach, notices = self._reach(context), list[str]()
        reach.memory.on_notice = notices.append
        try:
            outcome = await self._alive(context, lambda: tool.run(reach, tool.parse_arguments(given)))
        except MementoError as error:
            return make_failure(say_in_tool_words(str(error), tool.arguments.__struct_fields__))
        except Exception as error:
            logger.error("mcp.broken", extra={"tool": tool.name}, exc_info=error)
            return make_failure("something broke inside; the log of the service says what")
        if isinstance(outcome, Ask):
            if isinstance(answer, mcp.ElicitResult):
                return make_result(outcome.refused)
            return ask_user(outcome.question) if can_ask(context) else make_result(outcome.instead)
        await self._announce(tool)
        return make_result(outcome, notices)

    async def _read_resource(self, context: Context, params: mcp.ReadResourceRequestParams) -> mcp.ReadResourceResult:
        uri = str(params.uri)
        text, media = await self._run_for_client(context, lambda: resources.read_resource(self._reach(context), uri))
        return mcp.ReadResourceResult(
            contents=[mcp.TextResourceContents(uri=uri, text=text, mime_type=media)],
            ttl_ms=catalogue.LISTS_TTL_MS if media == "text/turtle" else LIVE_TTL_MS,
            cache_scope="private",
        )

    async def _prompt(self, context: Context, params: mcp.GetPromptRequestParams) -> mcp.GetPromptResult:
        given = params.arguments or {}
        text = await self._run_for_client(
            context, lambda: resources.write_prompt(self._reach(context), params.name, given, catalogue.list_guides)
        )
        return mcp.GetPromptResult(
            messages=[mcp.PromptMessage(role="user", content=mcp.TextContent(type="text", text=text))]
        )

    def _reach(self, context: Context) -> Reach:
        """Return the memory with the access rights of this request's sender."""
        request = cast(Request, context.request)
        named = request.query_params.get("namespace") or request.headers.get("memento-namespace")
        return Reach(memory=request.state.memory, namespace=named or None)

    async def _run_for_client(self, context: Context, work: Callable[[], T]) -> T:
        """Return what `work` returns; raise a failure as a protocol error, because only tools can return errors."""
        try:
            return await self._alive(context, work)
        except MementoError as error:
            code = mcp.INVALID_PARAMS if error.status < 500 else mcp.INTERNAL_ERROR
            raise MCPError(code, str(error)) from error
        except Exception as error:
            logger.error("mcp.broken", exc_info=error)
            raise MCPError(mcp.INTERNAL_ERROR, "something broke inside; the log of the service says what") from error

    async def _alive(self, context: Context, work: Callable[[], T]) -> T:
        """Run `work` in a thread and return its result; send progress every second to a client that asked for it."""

        async def beat() -> None:
            seconds = 0
            while True:
                await anyio.sleep(BEAT_S)
                seconds += 1
                await context.session.report_progress(seconds, message=f"working for {seconds} s")

        def attempt() -> tuple[T | None, Exception | None]:
            # Pass the error on by hand: a task group would wrap it.
            try:
                return work(), None
            except Exception as error:
                return None, error

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(beat)
            # A thread cannot be stopped: after the client disconnects it runs to its end, and nothing waits for it.
            made, error = await anyio.to_thread.run_sync(attempt, abandon_on_cancel=True, limiter=self._threads)
            tasks.cancel_scope.cancel()
        if error is not None:
            raise error
        return cast(T, made)

    async def _announce(self, tool: Tool) -> None:
        if not tool.reads_only:
            for uri in ("memento://manifest", "memento://status"):
                await self._bus.publish(ResourceUpdated(uri=uri))


def app(service: Service) -> ASGI:
    """
    Return the application at `PATH`. Its lifespan must run; it does not close the memory.

    Raises:
        SettingsError: `MEMENTO_TOOLS` names an unknown group.
    """
    memento = Memento(service)
    door = Door(memento)
    server = door.server()
    most = 2 * memento.settings.limits.text_bytes + 65_536
    # Older clients get plain JSON; newer ones get a stream as soon as there is progress to report.
    older, newer = (
        StreamableHTTPSessionManager(server, stateless=True, json_response=plain, max_request_body_size=most)
        for plain in (True, False)
    )

    async def answer_request(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            door.began()
            await _living((older, newer), receive, send)
            return
        headers = Headers(scope=scope)
        try:
            scope.setdefault("state", {})["memory"] = _admit(memento, scope, headers)
        except Unauthorised as error:
            await _refuse(send, error.status, str(error), ("www-authenticate", 'Bearer realm="memento"'))
            return
        except MementoError as error:
            await _refuse(send, error.status, str(error))
            return
        if scope["method"] != "POST":
            await _refuse(send, 405, "MCP is spoken by POST alone", ("allow", "POST"))
            return
        revision = headers.get("mcp-protocol-version")
        manager = older if revision is None or revision in catalogue.HANDSHAKE else newer
        await manager.handle_request(scope, receive, send)

    return answer_request


def _admit(memento: Memento, scope: Any, headers: Headers) -> Memento:
    """Return the memory as the sender may see it, the one place that decides this; raise `Unauthorised` or `Forbidden`."""
    address, _ = scope.get("client") or ("", 0)
    caller = Caller(address=address, method=scope["method"], headers=headers, scheme=scope.get("scheme", "http"))
    return memento.with_access(admit(caller, memento.service.tokens, required=memento.settings.server.token_required))


async def _living(managers: tuple[StreamableHTTPSessionManager, ...], receive: Any, send: Any) -> None:
    await receive()
    async with AsyncExitStack() as stack:
        for manager in managers:
            await stack.enter_async_context(manager.run())
        await send({"type": "lifespan.startup.complete"})
        await receive()
    await send({"type": "lifespan.shutdown.complete"})


async def _refuse(send: Any, status: int, message: str, *headers: tuple[str, str]) -> None:
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": mcp.INVALID_REQUEST, "message": message}}
    named = [(name.encode(), value.encode()) for name, value in (("content-type", "application/json"), *headers)]
    await send({"type": "http.response.start", "status": status, "headers": named})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})


QUESTION = "confirmation"
"""The name under which the user's answer comes back."""


def make_result(told: Told, notices: Iterable[str] = ()) -> mcp.CallToolResult:
    texts = [text_of(told), *(f"Note: {notice}" for notice in dict.fromkeys(notices))]
    return mcp.CallToolResult(
        content=[mcp.TextContent(type="text", text=text) for text in texts],
        structured_content=to_structured(told.answer),
    )


TOOL_WORDS: Mapping[str, str] = {
    "as lists show them": "as the answers of memento_recall and memento_note show them",
    "the status lists": "memento_status lists",
    "`update` takes it": "this tool only reads",
}
"""What messages say at every interface, and what that is for a model."""


_ARGUMENTS = (("iri", "id"), ("question", "query"))
"""Arguments of operations, and what tools call them."""


def say_in_tool_words(message: str, arguments: Iterable[str]) -> str:
    """
    Return an error message in the words of a tool with these arguments.

    >>> say_in_tool_words("iri: 'z' is no IRI: give one as lists show them", ["id"])
    "id: 'z' is no IRI: give one as the answers of memento_recall and memento_note show them"
    """
    for said, in_tools in TOOL_WORDS.items():
        message = message.replace(said, in_tools)
    known = set(arguments)
    for name, ours in _ARGUMENTS:
        if name not in known and ours in known:
            message = re.sub(rf"\A{name}\b", ours, message)
    return message


def make_failure(message: str) -> mcp.CallToolResult:
    return mcp.CallToolResult(content=[mcp.TextContent(type="text", text=message)], is_error=True)


def can_ask(context: Context) -> bool:
    """Tell whether the client can show questions to its user, and its revision lets a stateless server ask one."""
    capabilities = context.session.client_capabilities
    elicitation = capabilities.elicitation if capabilities else None
    shows_forms = elicitation is not None and (elicitation.form is not None or elicitation.url is None)
    return shows_forms and context.protocol_version in catalogue.MODERN


def ask_user(question: str) -> mcp.InputRequiredResult:
    form = mcp.ElicitRequestFormParams(message=question, requested_schema={"type": "object", "properties": {}})
    return mcp.InputRequiredResult(input_requests={QUESTION: mcp.ElicitRequest(params=form)})
