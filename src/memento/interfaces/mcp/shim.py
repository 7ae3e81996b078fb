"""
MCP over stdio: one JSON-RPC message per line, as a thin client of the running service.

*Flow:* the shim answers the handshake and the lists itself. It sends every other request to the service in the newest protocol
revision, each in its own thread, and translates the answer to the client's revision.

*Guarantees:* only JSON-RPC reaches standard output; anything else that is printed goes to standard error.
"""

from __future__ import annotations

import base64
import errno
import http.client
import itertools
import json
import logging
import os
import queue
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, BinaryIO
from urllib.parse import urlencode, urlsplit

from memento import settings
from memento.datadir import DataFolder, Owner
from memento.errors import InputError, MementoError, Unreachable
from memento.interfaces.mcp import catalogue
from memento.interfaces.mcp.tools import Json

logger = logging.getLogger(__name__)

PARSE_ERROR, INVALID_REQUEST, INTERNAL_ERROR, UNSUPPORTED = -32700, -32600, -32603, -32022

_KEY = "io.modelcontextprotocol/"
NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The parameter of a request that is repeated in the header `Mcp-Name`, by method."""

WATCH_S = 30.0
"""Seconds between two checks whether the map has changed, for a client of an older revision."""

FAREWELL_S = 10.0
"""Seconds that running calls may take after the client has closed its end."""


class Shim:
    """The server for one client on standard input and output."""

    def __init__(
        self,
        service: Service,
        groups: Sequence[str],
        out: BinaryIO,
        configured: settings.ClientSettings,
    ) -> None:
        """
        Args:
            groups, configured: which tools to list, as for `catalogue.lists`.
        """
        self._service = service
        self._lists = catalogue.lists(groups, configured)
        self._instructions = catalogue.instructions(groups, configured.mcp.confirmation)
        self._out = out
        self._writing = threading.Lock()
        self._older: Json = {}
        """What an older client said about itself in the handshake."""
        self._running: dict[object, http.client.HTTPConnection | None] = {}
        self._listening: set[object] = set()
        self._questions = itertools.count(1)
        self._answers: dict[object, queue.SimpleQueue[Json]] = {}
        self._shown: str | None = None
        """The map that an older client saw last; None before it asked for the tools."""
        self._over = threading.Event()

    def serve_lines(self, lines: Iterator[bytes]) -> None:
        """Answer every line until the input ends, then let running calls finish."""
        threads: list[threading.Thread] = []
        for line in lines:
            if line.strip() and (work := self._read_message(line)):
                thread = threading.Thread(target=self._call, args=(work,), daemon=True)
                thread.start()
                threads = [one for one in threads if one.is_alive()] + [thread]
        self._over.set()
        for own in self._listening:
            self._stop(own)
        for answers in list(self._answers.values()):
            answers.put({"result": {"action": "cancel"}})
        for thread in threads:
            thread.join(FAREWELL_S)

    def _read_message(self, line: bytes) -> Json | None:
        """Answer a message here, or return it as a request for the service."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._fail(None, PARSE_ERROR, "this line is not JSON")
            return None
        if not isinstance(message, dict) or not isinstance(message.get("params", {}), dict):
            self._fail(None, INVALID_REQUEST, "a line must be one JSON-RPC object, and its params an object")
            return None
        method, own = message.get("method"), message.get("id")
        if method is None and ("result" in message or "error" in message):
            if waiting := self._answers.get(own):
                waiting.put(message)
        elif not isinstance(method, str):
            self._fail(own, INVALID_REQUEST, "a request must have a method")
        elif own is None:
            self._hear(method, message.get("params", {}))
        else:
            return self._answer_request(own, method, message)
        return None

    def _hear(self, method: str, params: Json) -> None:
        if method == "notifications/cancelled":
            self._stop(params.get("requestId"))

    def _answer_request(self, own: object, method: str, message: Json) -> Json | None:
        revision = _revision(message)
        if revision is not None and revision not in catalogue.MODERN:
            supported = {"supported": list(catalogue.MODERN), "requested": revision}
            self._fail(own, UNSUPPORTED, "Unsupported protocol version", supported)
        elif revision is None and method == "initialize":
            self._result(own, self._introduce(message.get("params", {})))
        elif revision is None and method == "ping":
            self._result(own, {})
        elif revision is not None and method == "server/discover":
            self._result(own, _modern({"supportedVersions": list(catalogue.MODERN), **self._facts(changes=True)}))
        elif (listed := self._lists.get(method)) is not None:
            if method == "tools/list":
                text = self._map()
                listed = catalogue.with_map(listed, text)
                if revision is None and self._shows_map:
                    self._watch_map(text)
            self._result(own, listed if revision is None else _modern(listed))
            if method == "tools/list":
                threading.Thread(target=self._service.wake, daemon=True).start()
        else:
            self._running[own] = None
            if method == "subscriptions/listen":
                self._listening.add(own)
            return message
        return None

    def _map(self) -> str:
        """Return the map for the expression tool, if that tool is listed and a service runs; otherwise an empty string."""
        return self._service.map_text() if self._shows_map else ""

    @property
    def _shows_map(self) -> bool:
        return catalogue.shows_map(self._lists["tools/list"])

    def _watch_map(self, text: str) -> None:
        """Notify a client of an older revision, which cannot subscribe, when the map has changed."""
        is_watched, self._shown = self._shown is not None, text
        if not is_watched:
            threading.Thread(target=self._announce_changes, daemon=True).start()

    def _announce_changes(self) -> None:
        while not self._over.wait(WATCH_S):
            text = self._map()
            if text and text != self._shown:
                self._shown = text
                self._send_line({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})

    def _introduce(self, params: Json) -> Json:
        """Return the answer to `initialize`: the client's revision if we support it, else our newest with a handshake."""
        asked = params.get("protocolVersion")
        self._older = {
            f"{_KEY}clientInfo": params.get("clientInfo") or {"name": "unknown", "version": ""},
            f"{_KEY}clientCapabilities": params.get("capabilities") or {},
        }
        revision = asked if asked in catalogue.HANDSHAKE else catalogue.HANDSHAKE[-1]
        return {
            "protocolVersion": revision,
            "serverInfo": catalogue.SERVER,
            **self._facts(changes=False, tools=self._shows_map),
        }

    def _facts(self, *, changes: bool, tools: bool = False) -> Json:
        capabilities: Json = {
            "tools": {"listChanged": changes or tools},
            "prompts": {"listChanged": changes},
            "resources": {"listChanged": changes, "subscribe": changes},
        }
        return {"capabilities": capabilities, "instructions": self._instructions}

    def _call(self, message: Json) -> None:
        """Let the service answer a request; answer with the error if that fails."""
        own = message["id"]
        try:
            while message:
                message = self._passed_on(message)
        except MementoError as error:
            self._tell(message, str(error))
        except (OSError, http.client.HTTPException, ValueError, AttributeError) as error:
            # The connection was closed because the client cancelled the request, or because the service died.
            if own in self._running:
                logger.warning("shim.broken", extra={"error": type(error).__name__})
                self._tell(message, "the service stopped in the middle of a call: try again")
        finally:
            self._running.pop(own, None)

    def _passed_on(self, message: Json) -> Json:
        """Make one round trip; if the user had to be asked first, return the request to send next, else None."""
        older = _revision(message) is None
        sent = self._as_modern(message) if older else message
        connection = self._service.post(sent, _headers(sent))
        if message["id"] not in self._running:
            connection.close()
            return {}
        self._running[message["id"]] = connection
        try:
            for answer in _messages(connection.getresponse()):
                if "method" not in answer:
                    answer["id"] = message["id"]  # a request that was refused unread has no id in its answer
                if older and "result" in answer:
                    if answer["result"].get("resultType") == "input_required":
                        return self._with_answers(message, answer["result"])
                    answer["result"] = _as_older(answer["result"])
                if message["id"] in self._running:
                    self._send_line(answer)
        finally:
            connection.close()
        return {}

    def _as_modern(self, message: Json) -> Json:
        params = message.get("params", {})
        said = {f"{_KEY}clientInfo": {"name": "unknown", "version": ""}, f"{_KEY}clientCapabilities": {}, **self._older}
        meta = {**(params.get("_meta") or {}), f"{_KEY}protocolVersion": catalogue.MODERN[-1], **said}
        return {**message, "params": {**params, "_meta": meta}}

    def _with_answers(self, message: Json, result: Json) -> Json:
        """Return the request again, with the user's answer to each question of the service."""
        answers = {}
        for name, request in result["inputRequests"].items():
            own = f"memento-{next(self._questions)}"
            self._answers[own] = waiting = queue.SimpleQueue[Json]()
            try:
                self._send_line({"jsonrpc": "2.0", "id": own, **request})
                answers[name] = waiting.get().get("result") or {"action": "cancel"}
            finally:
                del self._answers[own]
        state = {"requestState": result["requestState"]} if "requestState" in result else {}
        return {**message, "params": {**message.get("params", {}), "inputResponses": answers, **state}}

    def _stop(self, own: object) -> None:
        """Close the connection to the service: the client cancelled the request."""
        connection = self._running.pop(own, None)
        if connection is not None and connection.sock is not None:
            with suppress(OSError):
                connection.sock.shutdown(2)

    def _tell(self, request: Json, failure: str) -> None:
        """Send why a request failed: for a tool in its result, where the model can read it, otherwise as an error."""
        if request.get("method") != "tools/call":
            self._fail(request["id"], INTERNAL_ERROR, failure)
            return
        result = {"content": [{"type": "text", "text": failure}], "isError": True}
        complete = {} if _revision(request) is None else {"resultType": "complete"}
        self._result(request["id"], result | complete)

    def _result(self, own: object, result: Json) -> None:
        self._send_line({"jsonrpc": "2.0", "id": own, "result": result})

    def _fail(self, own: object, code: int, message: str, data: Json | None = None) -> None:
        error = {"code": code, "message": message, **({"data": data} if data else {})}
        self._send_line({"jsonrpc": "2.0", "id": own, "error": error})

    def _send_line(self, message: Json) -> None:
        line = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", errors="replace") + b"\n"
        # A client that has disconnected gets no answer.
        with self._writing, suppress(OSError, ValueError):
            self._out.write(line)
            self._out.flush()


def claimed_stdout() -> BinaryIO:
    """Take standard output for the protocol alone; anything else that is printed goes to standard error."""
    wire = os.fdopen(os.dup(1), "wb")
    try:
        os.dup2(2, 1)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return wire


def _revision(message: Json) -> str | None:
    """Return the protocol revision in a request; older clients name none."""
    meta = message.get("params", {}).get("_meta")
    named = meta.get(f"{_KEY}protocolVersion") if isinstance(meta, dict) else None
    return None if named is None else str(named)


def _modern(result: Json) -> Json:
    hint = {"ttlMs": catalogue.LISTS_TTL_MS, "cacheScope": "public"}
    return {**result, "resultType": "complete", **hint, "_meta": {f"{_KEY}serverInfo": catalogue.SERVER}}


def _as_older(result: Json) -> Json:
    """Return a result without the fields that older revisions do not know."""
    meta = {name: value for name, value in result.get("_meta", {}).items() if not name.startswith(_KEY)}
    kept = {name: one for name, one in result.items() if name not in ("resultType", "ttlMs", "cacheScope", "_meta")}
    return {**kept, "_meta": meta} if meta else kept


def _headers(message: Json) -> Mapping[str, str]:
    """Return the headers in which the newest revision repeats parts of a message."""
    method, params = str(message["method"]), message["params"]
    named = params.get(NAMED_BY.get(method, ""))
    headers = {"MCP-Protocol-Version": str(_revision(message)), "Mcp-Method": _as_header(method)}
    return {**headers, "Mcp-Name": _as_header(named)} if isinstance(named, str) else headers


def _as_header(value: str) -> str:
    """
    Encode a value for a header: as it is, or as base64 if a header cannot contain it.

    >>> _as_header("memento_note"), _as_header("é")
    ('memento_note', '=?base64?w6k=?=')
    """
    if re.fullmatch(r"[\x20-\x7e]*", value) and value == value.strip() and not value.startswith("=?base64?"):
        return value
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="


def _messages(response: http.client.HTTPResponse) -> Iterator[Any]:
    """Yield the JSON-RPC messages of a response, which is one object or an event stream."""
    media = response.headers.get_content_type()
    if media == "application/json":
        yield json.loads(response.read())
        return
    if media != "text/event-stream":
        said = response.read(200).decode("utf-8", errors="replace")
        raise InputError(f"the service refused the message (HTTP status {response.status}): {said}")
    for line in response:
        if line.startswith(b"data:") and line[5:].strip():
            yield json.loads(line[5:])


PATIENCE_S = 60.0
"""Seconds that a service may take to start: the first start may read large libraries from a cold disk."""

POLL_S = 0.05
MAP_S = 1.0
"""Seconds that a list of tools waits for the map of the memory."""


class Service:
    """The service that owns a data folder; every call opens a new connection."""

    def __init__(self, home: DataFolder, namespace: str) -> None:
        self._home = home
        self._namespace = namespace
        self._starting = threading.Lock()

    def post(self, body: Mapping[str, object], headers: Mapping[str, str]) -> http.client.HTTPConnection:
        """
        Send one message to `/mcp` and return the connection, which has the response.

        Raises:
            Unreachable: no service runs and none could be started; says why.
        """
        sent = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **headers,
        }
        path = f"/mcp?{urlencode({'namespace': self._namespace})}"
        for last in (False, True):
            owner = self.owner()
            token = {"Authorization": f"Bearer {owner.token}"} if owner.token else {}
            connection = http.client.HTTPConnection(urlsplit(str(owner.address)).netloc)
            try:
                connection.request("POST", path, json.dumps(body).encode(), {**sent, **token})
            except ConnectionError as error:
                # The service may just have stopped. A message that was sent is not sent twice, although nothing was answered.
                if last or not isinstance(error, ConnectionRefusedError):
                    raise Unreachable("the service stopped in the middle of a call: try again") from error
                continue
            return connection
        raise AssertionError("unreachable")

    def map_text(self) -> str:
        """Return the map of the namespace, in 500 tokens; empty if no service runs or it takes too long."""
        owner = self._home.serving_owner()
        if owner is None:
            return ""
        connection = http.client.HTTPConnection(urlsplit(str(owner.address)).netloc, timeout=MAP_S)
        token = {"Authorization": f"Bearer {owner.token}"} if owner.token else {}
        try:
            connection.request(
                "GET", f"/memory/manifest?{urlencode({'namespace': self._namespace, 'format': 'text'})}", headers=token
            )
            answer = connection.getresponse()
            return answer.read().decode().strip() if answer.status == 200 else ""
        except (OSError, http.client.HTTPException, UnicodeDecodeError):
            return ""
        finally:
            connection.close()

    def wake(self) -> None:
        """Start the service before its first request; a failure is reported at that request."""
        with suppress(MementoError):
            self.owner()

    def owner(self) -> Owner:
        """Return who serves the folder, and where; start a service if none runs."""
        with self._starting:
            if owner := self._home.serving_owner():
                return owner
            return self._start()

    def _start(self) -> Owner:
        # The service must outlive this process, and its output must not reach the client.
        with (self._home.path / "serve.log").open("ab") as log:
            child = subprocess.Popen(
                [sys.executable, "-P", "-m", "memento", "--home", str(self._home.path), "serve", *self._port()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._home.path,
                # A setting of this window must not become the default for every client of the service.
                env={name: value for name, value in os.environ.items() if name != "MEMENTO_NAMESPACE"},
                start_new_session=True,
            )
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            if owner := self._home.serving_owner():
                # Another window may have been faster: use its service, and do not let this one wait for the lock.
                if owner.pid != child.pid:
                    child.terminate()
                return owner
            if child.poll() is not None and not self._home.serving_owner():
                raise Unreachable(f"the service could not be started: {self._last_words()}")
            time.sleep(POLL_S)
        raise Unreachable(
            f"the service did not start within {PATIENCE_S:.0f} s; its log is {self._home.path}/serve.log"
        )

    def _port(self) -> list[str]:
        """Return options for a free port if another program uses the usual one; clients find the port in the data folder."""
        knobs = settings.load_client(self._home.settings_file).server
        family = socket.AF_INET6 if ":" in knobs.host else socket.AF_INET
        try:
            socket.create_server((knobs.host, knobs.port), family=family).close()
        except OSError as error:
            return ["--port", "0"] if error.errno == errno.EADDRINUSE else []
        return []

    def _last_words(self) -> str:
        lines = (self._home.path / "serve.log").read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1].removeprefix("memento: ") if lines else "it said nothing"
