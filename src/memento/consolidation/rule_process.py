"""
Processes that answer the questions of consolidation by rules, and that the kernel ends when an answer takes too long.

A question is a method of `RuleAgents` and what it is called with; it goes through a socket, pickled, as both ends are this program.
Before each the child sets a timer of the kernel that counts its computing and ends it by SIGPROF, whose default takes no line of
Python. So it holds while a pattern has the interpreter's lock, and when whoever asked was killed: nothing goes on for ever.

*But:* time in which others use the processor does not count. Who asks waits for `_PATIENCE` times as long at most, then kills it.
"""

from __future__ import annotations

import atexit
import logging
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from memento.errors import BackendError

logger = logging.getLogger(__name__)

_BOOT = (
    "import sys; sys.path[:] = sys.argv[1].split(chr(10)); "
    "from memento.consolidation.rule_process import answer_questions; answer_questions(int(sys.argv[2]))"
)
"""What the interpreter runs, without site packages of its own: the path of the owner is the first argument."""

_PATIENCE = 4
"""How many times longer than it may compute a question may wait for a processor that others use."""
_START_S = 30.0
_MEMORY_MB = 1024
_SPARE = 2
"""Processes that are kept when nobody asks anything."""


class Question(NamedTuple):
    """What goes to the process: a method of `RuleAgents`, what it is called with, and how long it may compute."""

    zone: str
    name: str
    given: tuple[Any, ...]
    named: dict[str, Any]
    seconds: float


class Answer(NamedTuple):
    """What comes back: the answer, or what went wrong and where; and the seconds it took."""

    value: Any
    failure: str | None
    seconds: float


class RuleProcesses:
    """The processes of this interpreter: started when somebody asks, kept for the next, replaced when one is killed."""

    def __init__(self) -> None:
        self._idle: list[RuleProcess] = []
        self._lock = threading.Lock()

    def start(self) -> None:
        """Have one ready soon, as a service does before the first note."""
        with self._lock:
            if not self._idle:
                self._idle.append(RuleProcess())

    def ask(self, question: Question) -> Answer | None:
        """
        The answer, or None when its time was up.

        Where somebody else has killed the process, as a system does that runs out of memory, another is asked, once.

        Raises:
            BackendError: no process could be started, or it ended by itself.
        """
        for _ in range(2):
            process = self._take()
            try:
                answer = process.ask(question)
            except TimeoutError:
                process.end()
                return None
            except OSError:
                ended_by = process.end(has_ended=True)
                if ended_by == -signal.SIGPROF:
                    return None
                logger.warning("rules.process-died", extra={"by": ended_by})
                if ended_by >= 0:
                    raise BackendError(f"the process that reads notes by rules ended with code {ended_by}") from None
                continue
            except BaseException:
                process.end()
                raise
            self._put_back(process)
            return answer
        return Answer(None, "the process that read it ended", 0.0)

    def close(self) -> None:
        """End those that wait; calling it twice is harmless, and another question starts a new one."""
        with self._lock:
            idle, self._idle = self._idle, []
        for process in idle:
            process.end()

    @property
    def idle(self) -> list[int]:
        """The process ids of those that wait; the last is asked next."""
        with self._lock:
            return [process.pid for process in self._idle]

    def _take(self) -> RuleProcess:
        while True:
            with self._lock:
                process = self._idle.pop() if self._idle else None
            if process is None:
                return RuleProcess()
            if process.is_alive:
                return process
            process.end()

    def _put_back(self, process: RuleProcess) -> None:
        with self._lock:
            if len(self._idle) < _SPARE:
                self._idle.append(process)
                return
        process.end()


class RuleProcess:
    """One child process and the socket to it; asked by one thread at a time."""

    def __init__(self) -> None:
        """Start it; raises `BackendError` when the system refuses."""
        ours, theirs = socket.socketpair()
        self._channel = ours
        with theirs:
            boot = [sys.executable, "-I", "-S", "-c", _BOOT, "\n".join(sys.path), str(theirs.fileno())]
            try:
                self._child = subprocess.Popen(
                    boot,
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,  # a traceback might quote the note
                    start_new_session=True,  # a Ctrl-C is meant for its owner, who then ends it
                )
            except OSError as error:
                ours.close()
                raise BackendError(f"the process that reads notes could not be started: {error.strerror}") from error

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended."""
        return self._child.poll() is None

    def ask(self, question: Question) -> Answer:
        """
        Raises:
            TimeoutError: no answer came in `_PATIENCE` times the seconds that it may compute.
            OSError: it has ended; `end` says how.
        """
        self._channel.settimeout(_START_S + _PATIENCE * question.seconds)
        _send(self._channel, question)
        answer = _receive(self._channel)
        if answer is None:
            raise ConnectionError("it has ended")
        return Answer(*answer)

    def end(self, *, has_ended: bool = False) -> int:
        """Kill it and return how it ended: minus the signal, when by one; what `has_ended` is left the time to be gone."""
        self._channel.close()
        if has_ended:
            with suppress(subprocess.TimeoutExpired):
                return self._child.wait(1.0)
        self._child.kill()
        return self._child.wait()


PROCESSES = RuleProcesses()
"""Those of this interpreter: rules remember nothing of a note, so one process may serve all memories that are open."""
atexit.register(PROCESSES.close)


def answer_questions(channel: int) -> None:
    """In the child: answer the questions that come through the socket of that file descriptor until its other end is closed."""
    import resource  # is not there on every system where the rest runs

    from memento.consolidation import rules  # by this process alone, before it is asked

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # it would hold what somebody remembers
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY_MB << 20, _MEMORY_MB << 20))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # ends the process
    with socket.socket(fileno=channel) as owner, suppress(OSError):
        while question := _receive(owner):
            _send(owner, _answer(rules.RuleAgents, Question(*question)))


def _answer(agents: Callable[[str], object], question: Question) -> Answer:
    began = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, max(question.seconds, 0.001))
    try:
        value, failure = getattr(agents(question.zone), question.name)(*question.given, **question.named), None
    except Exception as error:
        value, failure = None, _place_of(error)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return Answer(value, failure, time.process_time() - began)


def _place_of(error: Exception) -> str:
    """What went wrong and where, without a word of the note."""
    at = error.__traceback__
    while at and at.tb_next:
        at = at.tb_next
    where = f" at {at.tb_frame.f_code.co_name}:{at.tb_lineno}" if at else ""
    return f"{type(error).__name__}{where}"


def _send(channel: socket.socket, message: tuple[Any, ...]) -> None:
    data = pickle.dumps(tuple(message), pickle.HIGHEST_PROTOCOL)
    channel.sendall(len(data).to_bytes(8, "big") + data)


def _receive(channel: socket.socket) -> Any:
    """The next message; None when the other end is closed."""
    head = _exactly(channel, 8)
    data = head and _exactly(channel, int.from_bytes(head, "big"))
    return pickle.loads(data) if data else None


def _exactly(channel: socket.socket, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        part = channel.recv(min(size - len(data), 1 << 20))
        if not part:
            return None
        data += part
    return bytes(data)
