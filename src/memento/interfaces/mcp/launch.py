"""The service behind the shim: found where it runs, started where none does, asked over HTTP."""

from __future__ import annotations

import errno
import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import urlencode, urlsplit

from memento import settings
from memento.datadir import DataFolder, Owner
from memento.errors import MementoError, Unreachable

PATIENCE_S = 60.0
"""How long a service may take until it listens: a first start may read large libraries from a cold disk."""

POLL_S = 0.05
MAP_S = 1.0
"""A list of tools waits no longer for the map of the memory."""


class Service:
    """The service that owns a data folder; every call has a connection of its own."""

    def __init__(self, home: DataFolder, namespace: str) -> None:
        self._home = home
        self._namespace = namespace
        self._starting = threading.Lock()

    def post(self, body: Mapping[str, object], headers: Mapping[str, str]) -> http.client.HTTPConnection:
        """
        Send one message to `/mcp`; the connection has the response.

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
                # It may have stopped just now; nothing was answered, but a message that was sent is not sent twice.
                if last or not isinstance(error, ConnectionRefusedError):
                    raise Unreachable("the service stopped in the middle of a call: try again") from error
                continue
            return connection
        raise AssertionError("unreachable")

    def map_text(self) -> str:
        """The map of the namespace in 500 tokens from a service that runs; empty where none does, or when it takes too long."""
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
        """Have the service running before it is asked; a failure is told when it is."""
        with suppress(MementoError):
            self.owner()

    def owner(self) -> Owner:
        """Who serves, and where; starts a service when none runs."""
        with self._starting:
            if owner := self._home.serving_owner():
                return owner
            return self._start()

    def _start(self) -> Owner:
        # It belongs to no window: it must outlive this process, and its output must not reach the client.
        with (self._home.path / "serve.log").open("ab") as log:
            child = subprocess.Popen(
                [sys.executable, "-P", "-m", "memento", "--home", str(self._home.path), "serve", *self._port()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._home.path,
                # What is this window's own does not become everybody's default.
                env={name: value for name, value in os.environ.items() if name != "MEMENTO_NAMESPACE"},
                start_new_session=True,
            )
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            if owner := self._home.serving_owner():
                # Another window may have been faster: then its service is ours too, and this one must not wait for its turn.
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
        """A free port instead of the usual one, when somebody else has that: who looks finds it in the data folder."""
        knobs = settings.load_client(self._home.settings).server
        family = socket.AF_INET6 if ":" in knobs.host else socket.AF_INET
        try:
            socket.create_server((knobs.host, knobs.port), family=family).close()
        except OSError as error:
            return ["--port", "0"] if error.errno == errno.EADDRINUSE else []
        return []

    def _last_words(self) -> str:
        lines = (self._home.path / "serve.log").read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1].removeprefix("memento: ") if lines else "it said nothing"
