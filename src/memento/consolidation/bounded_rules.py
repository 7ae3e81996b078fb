"""
Run the rules for one note in a process that the kernel ends when the note's time is up.

    BoundedRules ── question, texts ──▸ RuleProcess ──▸ RuleAgents     (one process for all memories of this interpreter)
         ◂──────── answer, seconds ─────────────┘  ╳ the time is up: kept in its own words

A job is sent through a socket as JSON: a question, the user's time zone, and the CPU time that the answer may take. Before each job
the child sets a kernel timer that counts its CPU time and ends the process by SIGPROF, whose default action runs no Python code. So
the timer works while a pattern holds the interpreter's lock, and also after the parent was killed: no job runs forever.

*Guarantees:* rules take at most `consolidation.rules_s` seconds of CPU time for a note, whatever its text. A note that exceeds it,
or on which the rules fail, raises `NotUnderstood`. `pipeline` then keeps it word for word, marked so that rules compare no later
note with it.

*Because:* `re` holds the interpreter's lock while it matches. A runaway pattern stops every thread, including a watchdog, and
Python cannot interrupt it: signals only reach the main thread, and other threads understand notes. So the rules run in a process
that can be killed. This includes short notes; otherwise the guarantee would depend on the patterns. It costs little: one process
serves all memories of an interpreter, starts with the first note, and imports the rules in place of its owner; a question takes
some tenths of a millisecond more.

*But:* time in which other processes use the CPU does not count. The caller waits at most `_PATIENCE` times as long, then kills the
process. Patterns are kept linear and texts bounded all the same (`text.sentences.is_readable`, `tests/runaway.py`): the deadline is
for cases that nobody has thought of.
"""

from __future__ import annotations

import atexit
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from typing import Any, TypeVar

from msgspec import Struct

from memento import codec
from memento.consolidation.agents import (
    Account,
    Add,
    Agents,
    Candidate,
    Decision,
    Draft,
    Existing,
    Extraction,
    Hypotheses,
    Invalidate,
    Mention,
    NotUnderstood,
    Resolved,
    Skip,
)
from memento.errors import BackendError, InputError
from memento.model import AgentKind, Note, User

logger = logging.getLogger(__name__)

RULES = "memento.consolidation.rules:RuleAgents"
"""The class that answers: its module and its name; it is constructed with the user's time zone."""

_BOOT = (
    "import sys; sys.path[:] = sys.argv[1].split(chr(10)); "
    "from memento.consolidation.bounded_rules import answer_jobs; answer_jobs(int(sys.argv[2]), sys.argv[3])"
)
"""The code that the child's interpreter runs, without site packages; the first argument is the parent's module path."""

_PATIENCE = 4
"""How many times the permitted CPU time an answer may take in wall-clock time, because other processes use the CPU."""
_START_S = 30.0
_MEMORY_MB = 1024
_SPARE = 2
"""The number of idle processes that are kept."""


class ExtractEntities(Struct, frozen=True, tag=True):
    """`Agents.extract_entities`; answered by an `Extraction`."""

    note: Note
    user: User
    biography: bool


class ResolveEntities(Struct, frozen=True, tag=True):
    """`Agents.resolve_entities`; answered by a `Resolved`."""

    mentions: list[tuple[Mention, list[Candidate]]]
    biography: str | None
    user: User


class ExtractMemories(Struct, frozen=True, tag=True):
    """`Agents.extract_memories`; answered by a list of `Draft`."""

    note: Note
    mentions: list[Mention]
    user: User


class ResolveMemories(Struct, frozen=True, tag=True):
    """`Agents.resolve_memories`; answered by a list of `Decided`."""

    drafts: list[Draft]
    existing: list[Existing]
    note: Note


Question = ExtractEntities | ResolveEntities | ExtractMemories | ResolveMemories


class Decided(Struct, frozen=True):
    """One decision, with its kind."""

    add: Add | None = None
    skip: Skip | None = None
    invalidate: Invalidate | None = None


class Job(Struct, frozen=True):
    """A question, and the CPU time that its answer may take."""

    question: Question
    zone: str
    seconds: float


class Answer(Struct, frozen=True):
    """The answer in plain values, or what failed and where; and the seconds it took."""

    value: Any
    failure: str | None
    seconds: float


class RuleProcesses:
    """A pool of rule processes for this interpreter: started on demand, reused, and replaced when one is killed."""

    def __init__(self, agents: str = RULES) -> None:
        self._agents = agents
        self._idle: list[RuleProcess] = []
        self._lock = threading.Lock()

    def start(self) -> None:
        """Start one process if none is idle, so that the first note need not wait for it."""
        with self._lock:
            if not self._idle:
                self._idle.append(RuleProcess(self._agents))

    def run_job(self, job: Job) -> Answer | None:
        """
        Return the answer, or None if its time ran out.

        If something else killed the process, for example the system for lack of memory, a second process is tried, once.

        Raises:
            BackendError: no process could be started, or the process ended by itself.
        """
        data = codec.encode(job)
        for _ in range(2):
            process = self._take_idle()
            try:
                answer = process.ask(data, job.seconds)
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
        """End the idle processes; calling it twice is harmless, and the next question starts a new one."""
        with self._lock:
            idle, self._idle = self._idle, []
        for process in idle:
            process.end()

    @property
    def idle(self) -> list[int]:
        """The process ids of the idle processes; the last one is used next."""
        with self._lock:
            return [process.pid for process in self._idle]

    def leave(self) -> None:
        """Forget the processes without ending them: after a fork they belong to the parent."""
        self._lock = threading.Lock()
        self._idle = []

    def _take_idle(self) -> RuleProcess:
        while True:
            with self._lock:
                process = self._idle.pop() if self._idle else None
            if process is None:
                return RuleProcess(self._agents)
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
    """One child process and the socket to it; one thread at a time may use it."""

    def __init__(self, agents: str) -> None:
        """Start the process; raises `BackendError` if the system refuses."""
        ours, theirs = socket.socketpair()
        self._channel = ours
        with theirs:
            boot = [sys.executable, "-I", "-S", "-c", _BOOT, "\n".join(sys.path), str(theirs.fileno()), agents]
            try:
                self._child = subprocess.Popen(
                    boot,
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,  # a traceback might quote the note
                    start_new_session=True,  # Ctrl-C is meant for the parent, which then ends this process
                )
            except OSError as error:
                ours.close()
                raise BackendError(f"the process that reads notes could not be started: {error.strerror}") from error

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process is still running."""
        return self._child.poll() is None

    def ask(self, job: bytes, seconds: float) -> Answer:
        """
        Return the answer to a job that may take so many seconds of CPU time.

        Raises:
            TimeoutError: no answer came in `_PATIENCE` times as many seconds.
            OSError: the process has ended; `end` says how.
        """
        self._channel.settimeout(_START_S + _PATIENCE * seconds)
        _send(self._channel, job)
        data = _receive(self._channel)
        if data is None:
            raise ConnectionError("it has ended")
        return codec.decode(Answer, data)

    def end(self, *, has_ended: bool = False) -> int:
        """
        Kill the process and return its exit code, or minus the signal that ended it; with `has_ended`, first give it time to exit.
        """
        self._channel.close()
        if has_ended:
            with suppress(subprocess.TimeoutExpired):
                return self._child.wait(1.0)
        self._child.kill()
        return self._child.wait()


PROCESSES = RuleProcesses()
"""The pool of this interpreter. Rules keep nothing of a note, so all open memories can share the processes."""
atexit.register(PROCESSES.close)
os.register_at_fork(after_in_child=PROCESSES.leave)


def answer_jobs(channel: int, agents: str) -> None:
    """Answer, in the child, the jobs that come through the socket of a file descriptor, until its other end is closed."""
    import resource  # does not exist on every system that Memento runs on

    module, _, name = agents.partition(":")
    made = getattr(import_module(module), name)  # created once in this process, before the first job
    if prepare := getattr(made, "prepare", None):
        prepare()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core dump would hold the user's texts
    _, allowed = resource.getrlimit(resource.RLIMIT_DATA)
    most = _MEMORY_MB << 20 if allowed == resource.RLIM_INFINITY else min(_MEMORY_MB << 20, allowed)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # ends the process
    with socket.socket(fileno=channel) as owner, suppress(OSError):
        while data := _receive(owner):
            try:
                job = codec.decode(Job, data)
            except InputError as error:  # it names the field, and no value
                answer = Answer(None, str(error), 0.0)
            else:
                answer = _answer(made(job.zone), job)
            _send(owner, codec.encode(answer))


def _answer(agents: Agents, job: Job) -> Answer:
    began = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, max(job.seconds, 0.001))
    try:
        value, failure = _value(agents, job.question), None
    except Exception as error:
        value, failure = None, _place_of(error)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return Answer(value, failure, time.process_time() - began)


def _value(agents: Agents, question: Question) -> object:
    match question:
        case ExtractEntities(note, user, biography):
            return agents.extract_entities(note, user, biography=biography)
        case ResolveEntities(mentions, biography, user):
            return agents.resolve_entities(mentions, biography, user)
        case ExtractMemories(note, mentions, user):
            return agents.extract_memories(note, mentions, user)
        case ResolveMemories(drafts, existing, note):
            return [_wrap_decision(one) for one in agents.resolve_memories(drafts, existing, note)]


def _wrap_decision(decision: Decision) -> Decided:
    match decision:
        case Add():
            return Decided(add=decision)
        case Skip():
            return Decided(skip=decision)
        case Invalidate():
            return Decided(invalidate=decision)


def _place_of(error: Exception) -> str:
    """Describe what failed and where, without a word of the note."""
    at = error.__traceback__
    while at and at.tb_next:
        at = at.tb_next
    where = f" at {at.tb_frame.f_code.co_name}:{at.tb_lineno}" if at else ""
    return f"{type(error).__name__}{where}"


def _send(channel: socket.socket, data: bytes) -> None:
    channel.sendall(len(data).to_bytes(8, "big") + data)


def _receive(channel: socket.socket) -> bytes | None:
    """Receive the next message; None if the other end is closed."""
    head = _exactly(channel, 8)
    return head and _exactly(channel, int.from_bytes(head, "big"))


def _exactly(channel: socket.socket, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        part = channel.recv(min(size - len(data), 1 << 20))
        if not part:
            return None
        data += part
    return bytes(data)


T = TypeVar("T")

logger = logging.getLogger(__name__)

_KEPT = "so it is kept in its own words"


class BoundedRules:
    """
    The rules for one note, with a limit on the CPU time of all its questions together.

    Once it is used up, every further question fails at once.
    """

    name = "rules"
    kind: AgentKind = "rules"

    def __init__(self, zone: str, seconds: float) -> None:
        self._zone = zone
        self._seconds = self._left = seconds
        self._over: str | None = None
        self._read: ExtractMemories | None = None
        self._drafts: list[Draft] = []

    def account(self) -> Account:
        """Return an empty account: rules use no tokens."""
        return Account()

    def extract_entities(self, note: Note, user: User, *, biography: bool = True) -> Extraction:
        """Extract what the note names, and its sentences about the user's life."""
        return self._ask_rules(Extraction, ExtractEntities(note, user, biography))

    def resolve_entities(
        self, mentions: Sequence[tuple[Mention, Sequence[Candidate]]], biography: str | None, user: User
    ) -> Resolved:
        """Match mentions to entities by name; a mention without a certain match is a new entity."""
        offered = [(mention, list(candidates)) for mention, candidates in mentions]
        return self._ask_rules(Resolved, ResolveEntities(offered, biography, user))

    def hypothesise(self, memories: Sequence[Existing]) -> Hypotheses:
        """Return no guesses: rules do not guess."""
        return Hypotheses()

    def extract_memories(self, note: Note, mentions: Sequence[Mention], user: User) -> list[Draft]:
        """
        Return one draft for each statement of the note. It is called twice, the first time to learn which texts to embed.
        """
        # Their answer does not depend on the description, which another note may change between the two calls.
        question = ExtractMemories(note, list(mentions), replace(user, description=""))
        if question != self._read:
            self._drafts = self._ask_rules(list[Draft], question)
            self._read = question
        return list(self._drafts)

    def resolve_memories(self, drafts: Sequence[Draft], existing: Sequence[Existing], note: Note) -> list[Decision]:
        """Decide to add, skip or retire; in doubt, add."""
        decided = self._ask_rules(list[Decided], ResolveMemories(list(drafts), list(existing), note))
        return [decision for one in decided if (decision := one.add or one.skip or one.invalidate)]

    def _ask_rules(self, kind: type[T], question: Question) -> T:
        """
        Ask the rules.

        Raises:
            NotUnderstood: the seconds of this note are used up, or the rules failed on it.
            BackendError: no process could be started.
        """
        if self._over:
            raise NotUnderstood(self._over)
        answer = PROCESSES.run_job(Job(question, self._zone, self._left))
        if answer is None:
            self._over = f"understanding it took more than {self._seconds:g} seconds, {_KEPT}"
        elif answer.failure:
            self._over = f"the rules failed on it ({answer.failure}), {_KEPT}"
        else:
            self._left -= answer.seconds
            return codec.decode(kind, answer.value)
        # Log what failed and where, never the note's text.
        failure = answer.failure if answer else "overdue"
        logger.warning("rules.gave-up", extra={"question": type(question).__name__, "failure": failure})
        raise NotUnderstood(self._over)
