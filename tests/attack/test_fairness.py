"""One caller who sends heavy notes, or many at once: others are answered meanwhile, and what cannot be done in time is refused."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from conftest import OFFLINE
from doors import serving
from memento.consolidation.pipeline import MOST_DRAFTS
from memento.errors import Overloaded
from memento.python import Memento, open_memento
from memento.service.context import Writers
from memento.worker import CALLER, Turns


def heavy(number: int, sentences: int = 400) -> str:
    return " ".join(f"Ada{number}x{i} Bo{i} met Cy{i} in Town{i}." for i in range(sentences))


def long_note(number: int) -> str:
    """A note that is long but soon read."""
    return f"Shop{number} has " + "green tea and " * 400 + "cake."


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Memento, str]]:
    opened = open_memento(tmp_path / "home", configured=OFFLINE)
    assert isinstance(opened, Memento)
    with opened, serving(opened) as address:
        opened.warm_up()
        yield opened, address


def ask(address: str, method: str, path: str, body: object = None) -> tuple[int, dict[str, str], str]:
    """The status, headers and text of an answer."""
    url = urlsplit(address)
    with closing(http.client.HTTPConnection(url.hostname or "", url.port, timeout=120)) as client:
        client.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
        answer = client.getresponse()
        return answer.status, dict(answer.headers), answer.read().decode()


def note(address: str, content: str) -> tuple[int, dict[str, str], str]:
    return ask(address, "POST", "/memory/notes", {"content": content})


class Queue:
    """Work that waits for a turn, and the order in which it had one."""

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self.order: list[str] = []
        self.threads: list[threading.Thread] = []

    def add(self, caller: str, name: str, *, is_short: bool = True) -> None:
        """Let a caller wait; return once it waits."""
        waiting = self.turns.waiting

        def work() -> None:
            CALLER.set(caller)
            with self.turns.take(is_short=is_short):
                self.order.append(name)

        self.threads.append(threading.Thread(target=work))
        self.threads[-1].start()
        while self.turns.waiting == waiting:
            pass

    def join(self) -> None:
        for thread in self.threads:
            thread.join()


def test_callers_have_turns_one_after_the_other_and_short_work_goes_first() -> None:
    queue = Queue(Turns("the turn"))
    with queue.turns.take():
        queue.add("a", "long", is_short=False)
        for number in range(3):
            queue.add("a", f"a{number}")
        queue.add("b", "b0")
        queue.add("c", "c0")
    queue.join()

    assert queue.order == ["a0", "b0", "c0", "a1", "a2", "long"]


def test_long_work_has_its_turn_among_any_number_of_short_ones() -> None:
    queue = Queue(Turns("the turn"))
    with queue.turns.take():
        queue.add("a", "long", is_short=False)
        for number in range(2 * Turns.SHORT_FIRST):
            queue.add("b", str(number))
    queue.join()

    assert queue.order.index("long") <= Turns.SHORT_FIRST


def test_a_reserved_place_is_for_short_work() -> None:
    turns = Turns("a place", 2, reserved=1)
    queue = Queue(turns)
    with turns.take(is_short=False):
        queue.add("a", "long", is_short=False)
        with turns.take():
            assert queue.order == []
    queue.join()

    assert queue.order == ["long"]


def test_a_request_waits_only_so_long_and_work_in_the_background_as_long_as_it_takes() -> None:
    turns = Turns("the turn", wait_s=0.01)
    queue = Queue(turns)
    with turns.take():
        queue.add("", "background")
        CALLER.set("a")
        with pytest.raises(Overloaded, match="was not free within") as refused, turns.take():
            pass
        CALLER.set("")
    queue.join()

    assert queue.order == ["background"]
    assert refused.value.retry_after_s > 0
    assert turns.waiting == 0


def test_one_caller_leaves_places_for_changes_of_others() -> None:
    writers, threads = Writers(16), []
    done, inside = threading.Event(), threading.Semaphore(0)

    def change(caller: str) -> None:
        with writers.admit(caller):
            inside.release()
            done.wait()

    for _ in range(14):
        threads.append(threading.Thread(target=change, args=("a",)))
        threads[-1].start()
        inside.acquire()
    try:
        with pytest.raises(Overloaded, match=r"limits\.writers"), writers.admit("a"):
            pass
        with writers.admit("b"):
            pass
    finally:
        done.set()
        for thread in threads:
            thread.join()


def test_a_note_that_says_more_than_its_turn_has_time_for_is_kept_in_its_own_words(served: tuple[Memento, str]) -> None:
    memento, address = served
    text = "\n\n".join(f"We met at pier {number} of the old dock and rang Bo." for number in range(MOST_DRAFTS + 50))

    status, _, answer = note(address, text)

    told = json.loads(answer)
    assert status == 201
    assert f"a note may say {MOST_DRAFTS}" in told["verbatim"]
    assert [one.content for one in memento.list()] == [text]
    assert note(address, text)[0] == 200
    assert memento.admin.check() == ()


def test_while_a_heavy_note_is_read_others_are_answered(served: tuple[Memento, str]) -> None:
    memento, address = served
    assert note(address, "I live in Lisbon.")[0] == 201
    with ThreadPoolExecutor(1) as pool:
        sent: Future[tuple[int, dict[str, str], str]] = pool.submit(note, address, heavy(0))
        while not memento.service.reading_notes.taken:
            assert not sent.done()
        assert note(address, "I bought a lamp today.")[0] == 201
        assert ask(address, "GET", "/health")[0] == 200
        assert not sent.done()

    assert sent.result()[0] == 201
    assert memento.admin.check() == ()


def test_when_many_heavy_notes_wait_the_next_is_told_to_come_back_and_short_ones_are_taken(
    served: tuple[Memento, str],
) -> None:
    memento, address = served
    turns = memento.service.reading_notes
    with ThreadPoolExecutor(32) as pool, ExitStack() as held:
        for _ in range(turns.places - 1):
            held.enter_context(turns.take(is_short=False))
        sent = []
        for number in range(turns.most_long):
            sent.append(pool.submit(note, address, long_note(number)))
            while turns.waiting <= number:
                assert not sent[-1].done()
        status, headers, answer = note(address, long_note(1_000))
        is_short_taken = note(address, "I live in Lisbon.")[0] == 201
        held.close()
        wait(sent)

    assert status == 503
    assert int(headers["retry-after"]) > 0
    assert "nothing was stored" in answer
    assert is_short_taken
    assert {one.result()[0] for one in sent} <= {201, 503}
    assert not any("Shop1000" in one.content for one in memento.list(limit=1000))
