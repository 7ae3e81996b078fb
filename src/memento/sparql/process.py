"""A worker as its owner sees it: started, given a job, read from frame by frame, killed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from memento.sparql.worker import BOOT

_HEAD = 5
_READ = 262_144
_AT_ONCE = 65_536
"""What the system takes without a wait, as the worker has read all that came before."""
_REAP_S = 10.0
_LAST_NICE = 15


class Frame(NamedTuple):
    """One piece of an answer; see `worker`."""

    letter: bytes
    body: bytes


class Process:
    """One child process and the socket to it. Used by one thread at a time, but for `kill`."""

    def __init__(self, memory_mb: int, folder: Path | None = None) -> None:
        """
        Start it; it takes jobs at once, and reads them some tens of milliseconds later.

        Args:
            folder: the snapshot that its first job will most likely be about.
        """
        ours, theirs = socket.socketpair()
        self.channel = ours
        self.channel.settimeout(_REAP_S)
        self._buffer = bytearray()
        self._is_ready = False
        self.is_put_back = False
        path = "\n".join(sys.path)
        with theirs:
            boot = [sys.executable, "-I", "-S", "-c", BOOT, path]
            self._child = subprocess.Popen(
                [*boot, str(theirs.fileno()), str(memory_mb), str(folder or "")],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,  # what the engine says when it dies might quote the query
                start_new_session=True,  # a Ctrl-C is meant for its owner, who then ends it
            )

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended."""
        return self._child.poll() is None

    @property
    def is_ready(self) -> bool:
        """Whether it has started; for one that has no job."""
        if not self._is_ready:
            self.channel.settimeout(0)
            with suppress(OSError):
                self._buffer += self.channel.recv(_READ)
            self.channel.settimeout(_REAP_S)
            frame = self.taken()
            self._is_ready = frame is not None
        return self._is_ready

    def send(self, job: bytes, tables: Sequence[bytes] = ()) -> None:
        """Hand it a job, as JSON, and the tables that it names; raises `OSError` when it is dead."""
        if tables or len(job) > _AT_ONCE:
            self.channel.settimeout(_REAP_S)  # else what is left of that of the last job would do
        self.channel.sendall(len(job).to_bytes(4, "big") + job)
        for table in tables:
            self.channel.sendall(table)

    def receive(self, timeout_s: float) -> Frame | None:
        """
        The next frame; None when it has died.

        Raises:
            TimeoutError: none came in time.
        """
        while (frame := self.taken()) is None:
            if timeout_s <= 0:
                raise TimeoutError
            self.channel.settimeout(timeout_s)
            try:
                data = self.channel.recv(_READ)
            except ConnectionError:
                data = b""
            if not data:
                return None
            self._buffer += data
        return frame

    def taken(self) -> Frame | None:
        """The next frame, if it is here already."""
        buffer = self._buffer
        if len(buffer) < _HEAD or len(buffer) < (end := _HEAD + int.from_bytes(buffer[1:_HEAD], "big")):
            return None
        frame = Frame(bytes(buffer[:1]), bytes(buffer[_HEAD:end]))
        del buffer[:end]
        return frame

    def put_back(self) -> None:
        """Let every other process go before it; as it cannot be undone, this job is its last."""
        self.is_put_back = True
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, self._child.pid, _LAST_NICE)

    @property
    def has_end(self) -> bool:
        """Whether the next frame is here, and is the last."""
        return len(self._buffer) >= _HEAD and self._buffer[:1] == b"E"

    @property
    def pid(self) -> int:
        return self._child.pid

    def kill(self) -> None:
        """End it at once, whatever it does; may be called by any thread, and twice."""
        self._child.kill()

    def end(self) -> int:
        """Kill it, let go of it and return how it ended: minus the signal, when by one."""
        self._child.kill()
        self.channel.close()
        return self._child.wait(_REAP_S)

    def death(self) -> int:
        """How one that closed its socket ended."""
        try:
            return self._child.wait(1.0)
        except subprocess.TimeoutExpired:
            return self.end()
