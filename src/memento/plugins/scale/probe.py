"""
Tests whether a SPARQL endpoint can store a memory: it checks each requirement and reports the request that showed the result.

*Guarantees:* it writes only to graphs below `urn:memento:probe:` and a random number, and removes them at the end, also after a
failure or an interruption. Its queries read nothing else.

*But:* races depend on chance: no double winner in some rounds is no proof. A killed probe leaves its graphs behind.

*Because:* the requests are in `probe.toml`, and are sent by the same client as the store's own (`SparqlClient`), so the probe tests
what a memory would experience.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import cache, partial
from pathlib import Path
from string import Template
from typing import Literal
from urllib.parse import urlsplit
from uuid import uuid4

import pyoxigraph as ox

from memento.errors import GraphError, InputError, SettingsError, Unanswered
from memento.graph.binding import Solution, Term
from memento.graph.terms import to_value
from memento.iris import PREFIXES, XSD
from memento.plugins.scale.endpoint import SparqlClient
from memento.plugins.scale.nouns import Probed, ProbeFinding
from memento.text import tables

PROBE = "urn:memento:probe:"
"""The prefix of the names of all graphs that a probe writes to."""

WRITERS = 4
ROUNDS, QUICK_ROUNDS = 100, 40
ROWS = 12_001
"""More rows than any default limit of an engine."""
_BATCH = 3_001
_SUBJECTS = 200
_PIECE = 250_000
_PAIRED = 700  # as in the query
_TIMEOUT_S = 30.0
_MOST_SHOWN = 400
_FILE = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One request and its expected answer: an entry of `probe.toml`, which explains the fields."""

    name: str
    why: str
    ask: str
    default: list[str]
    rows: list[list[str]]
    needed: bool = True
    quick: bool = False
    pragma: str = ""
    update: str = ""
    using: list[str] | None = None
    using_named: list[str] = field(default_factory=list)
    named: list[str] = field(default_factory=list)
    ordered: bool = False
    may_refuse: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """Terms to write and read back, in Turtle."""

    name: str
    why: str
    terms: list[str]
    needed: bool = True
    quick: bool = False
    is_exact: bool = False
    """Whether the same value in another spelling is not enough."""


class _Failed(Exception):
    """The endpoint answered, and the answer shows that it fails the check."""


class _NotTried(Exception):
    """The check could not be made."""


def probe_store(query_url: str, update_url: str, *, token: str = "", quick: bool = False) -> Probed:
    """
    Test an endpoint for everything that Memento needs or wishes, in about 10 s.

    Args:
        token: sent as bearer token to both addresses.
        quick: test only what would lose memories or show them to others, in about a second.

    Returns:
        If it cannot be reached, a result that says so, without findings.

    Raises:
        InputError: an address is invalid.
        MissingPart: the table of requests is not installed.
    """
    for url in (query_url, update_url):
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(f"{url[:200]!r} is no address: it must begin with http:// or https://")
    client = SparqlClient(query_url, update_url, token=token, timeout_s=_TIMEOUT_S)
    try:
        return _Probe(client, quick).ask_all()
    finally:
        client.close()


def probe_quickly(client: SparqlClient) -> Probed:
    """Test an endpoint only for what loses memories or shows them to others, in about a second; raise as `probe_store`."""
    return _Probe(client, True).ask_all()


def raise_if_unfit(client: SparqlClient) -> None:
    """
    Refuse a store that would lose memories or show them to others, after a quick probe.

    Raises:
        GraphError: it cannot be reached.
        SettingsError: it is unfit; the message names what it lacks.
    """
    found = probe_quickly(client)
    if not found.reachable:
        client.close()
        raise GraphError(found.verdict)
    if not found.fit:
        client.close()
        raise SettingsError(
            f"{found.query_url} cannot be the store: {found.verdict}; choose another with store.query_url, and see "
            f"`memento store probe {found.query_url} {found.update_url}`"
        )


@cache
def _read_checks() -> tuple[Check, ...]:
    return tuple(tables.section(_FILE, "check", list[Check]))


@cache
def _read_values() -> tuple[Values, ...]:
    return tuple(tables.section(_FILE, "values", list[Values]))


class _Probe:
    """One probe: the endpoint, the graphs that it writes to, and the findings so far."""

    def __init__(self, client: SparqlClient, quick: bool) -> None:
        self._client, self._quick = client, quick
        self._base = f"{PROBE}{uuid4().hex}:"
        self._prologue = f"PREFIX p: <{self._base}>\n"
        self._findings: list[ProbeFinding] = []
        self._asked = ""
        self._rounds = QUICK_ROUNDS if quick else ROUNDS

    def ask_all(self) -> Probed:
        """Make all checks, and remove what was written."""
        begin = time.monotonic()
        query_url, update_url = (
            self._client.mask_url(self._client.query_url),
            self._client.mask_url(self._client.update_url),
        )

        def conclude(verdict: str, *, fit: bool = False, reachable: bool = True) -> Probed:
            return Probed(
                query_url=query_url,
                update_url=update_url,
                reachable=reachable,
                fit=fit,
                verdict=verdict,
                findings=tuple(self._findings),
                seconds=round(time.monotonic() - begin, 2),
            )

        try:
            self._greet()
        except GraphError as error:
            return conclude(f"not reachable: {error}", reachable=False)
        try:
            with self._look_for("an update is taken", "Memento could not write anything") as answer:
                self._update(_read_text("data"))
                answer("taken")
            if self._findings[-1].outcome == "ok":
                self._ask_all()
        finally:
            self._remove_graphs()
        lacking = [one.name for one in self._findings if one.is_needed and one.outcome == "failed"]
        wished = sum(one.outcome == "failed" for one in self._findings) - len(lacking)
        if lacking:
            return conclude(f"not fit because it fails at: {'; '.join(lacking)}")
        return conclude(f"fit{f', but {wished} wishes are not met' if wished else ''}", fit=True)

    def _ask_all(self) -> None:
        with self._look_for(
            "ASK is answered with true or false", "Memento could not tell which of two writers won"
        ) as answer:
            self._asked = _read_request("truth")
            if not self._client.ask(self._asked):
                raise _Failed("false, not true")
            answer("true")
        for check in _read_checks():
            if check.quick or not self._quick:
                self._ask_check(check)
        for values in _read_values():
            if values.quick or not self._quick:
                self._write_and_read(values)
        self._fail_second_operation()
        self._race_for_numbers()
        if self._quick:
            return
        self._race_for_count()
        self._look_while_writing()
        self._read_many_rows()
        self._ask_long()
        for megabytes, is_needed in ((1, True), (8, False)):
            self._write_large(megabytes, is_needed)

    # The parts of a check.

    def _greet(self) -> None:
        """Send the smallest query; raise `GraphError` if nothing answers."""
        list(self._client.select(_read_request("greeting")))

    @contextmanager
    def _look_for(
        self, name: str, why: str, *, is_needed: bool = True, may_refuse: bool = False
    ) -> Iterator[Callable[[str], None]]:
        """Record a finding: passed unless the block says otherwise or fails. The block gets a function that notes the answer."""
        outcome: Literal["ok", "failed", "unknown"] = "ok"
        answered = [""]
        self._asked = ""
        try:
            yield lambda text: answered.__setitem__(0, text)
        except _Failed as error:
            outcome, answered[0] = "failed", str(error)
        except _NotTried as error:
            outcome, answered[0] = "unknown", str(error)
        except Unanswered as error:
            outcome, answered[0] = "failed", f"no answer: {error}"
        except GraphError as error:
            outcome, answered[0] = "ok" if may_refuse else "failed", f"refused: {error}"
        except (ValueError, KeyError) as error:
            outcome, answered[0] = "failed", f"an answer without what was asked for: {error}"
        finding = ProbeFinding(
            name=name,
            is_needed=is_needed,
            outcome=outcome,
            asked=_shorten(self._asked),
            answered=_shorten(answered[0]),
            why=why,
        )
        self._findings.append(finding)

    def _write_request(self, name: str, **words: str) -> str:
        return Template(_read_request(name)).safe_substitute(words)

    def _name_graph(self, graph: str) -> str:
        return self._base + graph

    def _select(
        self, text: str, default: Sequence[str] = (), named: Sequence[str] = (), pragma: str = ""
    ) -> list[Solution]:
        """Send a query to some graphs of the probe."""
        graphs, others = [self._name_graph(one) for one in default], [self._name_graph(one) for one in named]
        request = f"{Template(pragma).substitute(hidden=self._name_graph('hidden'))}\n" if pragma else ""
        request += self._prologue + text
        self._asked = " ".join([request, *(f"default-graph-uri={one}" for one in graphs)])
        self._asked = " ".join([self._asked, *(f"named-graph-uri={one}" for one in others)])
        return list(self._client.select(request, graphs, others))

    def _update(self, text: str, using: Sequence[str] | None = None, using_named: Sequence[str] = ()) -> None:
        graphs = None if using is None else [self._name_graph(one) for one in using]
        others = [self._name_graph(one) for one in using_named]
        request = self._prologue + text
        self._asked = " ".join([request, *(f"using-graph-uri={one}" for one in graphs or ())])
        self._asked = " ".join([self._asked, *(f"using-named-graph-uri={one}" for one in others)])
        self._client.update(request, graphs, others)

    def _parse_term(self, text: str) -> Term | None:
        """Read a term written in Turtle; None for an empty text."""
        if not text:
            return None
        document = f"{self._prologue}PREFIX xsd: <{PREFIXES['xsd']}>\n<urn:x> <urn:x> {text} ."
        [quad] = ox.parse(document, ox.RdfFormat.TURTLE)
        term: Term = quad.object
        return term

    def _remove_graphs(self) -> None:
        """Remove everything that was written, and report if that fails."""
        graphs = _read_graphs()
        for graph in graphs:
            with suppress(GraphError):
                self._update(self._write_request("drop", graph=graph))
        with self._look_for(
            "the probe's graphs are removed", "they would be left behind in the store", is_needed=False
        ) as answer:
            if rows := self._select(_read_request("left"), named=graphs):
                raise _Failed(f"something is left: {_show(rows)}")
            answer("nothing is left")

    # The checks.

    def _ask_check(self, check: Check) -> None:
        with self._look_for(check.name, check.why, is_needed=check.needed, may_refuse=check.may_refuse) as answer:
            if check.update:
                self._update(check.update, check.using, check.using_named)
            rows = self._select(check.ask, check.default, check.named, check.pragma)
            names = _list_variables(check.ask)
            found = [[row.get(name) for name in names] for row in rows]
            wanted = [[self._parse_term(term) for term in row] for row in check.rows]
            if not check.ordered:
                found.sort(key=str)
                wanted.sort(key=str)
            same = len(found) == len(wanted) and all(
                _is_same(one, other)
                for row, line in zip(found, wanted, strict=True)
                for one, other in zip(row, line, strict=True)
            )
            if not same:
                raise _Failed(f"{_show(rows)}, not {' | '.join(' '.join(row) for row in check.rows) or 'no rows'}")
            answer(_show(rows))

    def _write_and_read(self, values: Values) -> None:
        with self._look_for(values.name, values.why, is_needed=values.needed) as answer:
            terms = {f"{self._base}v{uuid4().hex}": self._parse_term(text) for text in values.terms}
            triples = " . ".join(f"<{name}> p:is {term}" for name, term in terms.items())
            self._update(self._write_request("write", triples=triples))
            asked = self._asked
            found: dict[str, list[Term]] = {}
            for row in self._select(_read_request("read"), ["values"]):
                found.setdefault(_text_of(row["s"]), []).append(row["o"])
            self._asked = asked
            wrong = [
                f"{term} came back as {' '.join(map(str, found.get(name, []))) or 'nothing'}"
                for name, term in terms.items()
                if not (
                    [term] == found.get(name)
                    if values.is_exact
                    else len(found.get(name, [])) == 1 and _is_same(found[name][0], term)
                )
            ]
            if wrong:
                raise _Failed("; ".join(wrong))
            answer(f"{len(terms)} values came back")

    def _fail_second_operation(self) -> None:
        why = "a change would be half applied: the old statements are gone, and the new ones are missing"
        with self._look_for("a failing second operation leaves the first undone", why) as answer:
            for request in tables.section(_FILE, "failing", list[str]):
                self._update(self._write_request("drop", graph="halves"))
                try:
                    self._update(f"{_read_request('half_done')} ;\n{request}")
                except Unanswered:
                    raise
                except GraphError as error:
                    asked = self._asked
                    rows = self._select(_read_request("half"), ["halves"])
                    self._asked = asked
                    if rows:
                        raise _Failed(f"{error} – and the first operation stays: {_show(rows)}") from None
                    answer(f"{error} – and nothing is written")
                    return
            raise _NotTried("no operation that should fail does")

    def _race_for_numbers(self) -> None:
        """Let several writers claim the same number at once: one may get it."""
        why = "two nodes would both believe that their write was the next one, and one write would be lost"
        with self._look_for(f"compare-and-set has one winner, {WRITERS} writers", why) as answer:
            self._update(_read_request("begin_race"))

            def win_number(number: int, writer: int) -> None:
                now, after, token = str(number), str(number + 1), f"p:w{number}x{writer}"
                slowly = (
                    _read_request("slowly") if number % 4 == 0 else ""
                )  # so that writers overlap where a machine is busy
                self._update(self._write_request("win", now=now, next=after, token=token, slowly=slowly))

            failures = 0
            for number in range(self._rounds):
                failures += _run_together(partial(win_number, number), WRITERS)
                if number % 10 == 9:
                    self._raise_if_raced_badly(number + 1)
            answer(f"{self._rounds} numbers, {self._rounds} winners{_count_failures(failures)}")

    def _raise_if_raced_badly(self, most: int) -> None:
        asked = self._write_request("win", now="0", next="1", token="p:w", slowly="")
        rows = self._select(_read_request("winners"), ["head"])
        self._asked = asked
        heads = sorted(int(_text_of(row["n"])) for row in rows if "token" not in row)
        winners = [int(_text_of(row["n"])) for row in rows if "token" in row]
        doubles = len(winners) - len(set(winners))
        if doubles or heads != [most] or len(set(winners)) != most:
            raise _Failed(
                f"of {most} numbers {doubles} were won more than once, {most - len(set(winners))} by nobody; the head is {heads}"
            )

    def _race_for_count(self) -> None:
        """Let several writers increase one number: it must equal the number of acknowledged updates."""
        why = "another write would overwrite an acknowledged one"
        with self._look_for(f"no update is lost, {WRITERS} writers", why) as answer:
            each = 25

            def raise_count(writer: int) -> int:
                failures = 0
                for number in range(each):
                    try:
                        self._update(self._write_request("raise", token=f"p:r{writer}x{number}"))
                    except GraphError:
                        failures += 1
                return failures

            with ThreadPoolExecutor(WRITERS) as pool:
                failures = sum(pool.map(raise_count, range(WRITERS)))
            rows = self._select(_read_request("raised"), ["count"])
            self._asked = _read_request("raise")
            counts = [int(_text_of(row["n"])) for row in rows if "n" in row]
            tokens, done = sum("token" in row for row in rows), WRITERS * each - failures
            # A refused or unanswered update may still be written, but then with its token.
            if len(counts) != 1 or counts[0] != tokens or tokens < done:
                raise _Failed(f"{done} were acknowledged, {tokens} are there, the number is {counts}")
            answer(f"{done} acknowledged, {tokens} there, the number is {counts[0]}{_count_failures(failures)}")

    def _look_while_writing(self) -> None:
        """Read while one operation changes many statements: a reader must see all of them changed, or none."""
        with self._look_for(
            "a reader never sees half an operation", "a reader would see a memory that is only partly written"
        ) as answer:
            triples = " . ".join(f"p:f{number} p:is 0" for number in range(_SUBJECTS))
            self._update(self._write_request("begin_flip", triples=triples))
            is_over = threading.Event()

            def flip_number() -> None:
                try:
                    for number in range(30):
                        self._update(self._write_request("flip", now=str(number), next=str(number + 1)))
                finally:
                    is_over.set()

            looks, halves = 0, list[str]()
            with ThreadPoolExecutor(1) as pool:
                writing = pool.submit(flip_number)
                while not is_over.is_set() or not looks:
                    [row] = self._select(_read_request("flipped"), ["flip"])
                    looks += 1
                    if [_text_of(row[name]) for name in ("rows", "kinds")] != [str(_SUBJECTS), "1"]:
                        halves.append(_show([row]))
                writing.result()
            self._asked = self._write_request("flip", now="0", next="1")
            if halves:
                raise _Failed(
                    f"{len(halves)} of {looks} readers saw {halves[0]}, not {_SUBJECTS} statements of one kind"
                )
            answer(f"{looks} readers saw all {_SUBJECTS} statements alike")

    def _read_many_rows(self) -> None:
        why = "Memento builds its indexes from such answers, and they would lack the missing rows"
        with self._look_for(f"{ROWS:,} rows come back whole", why) as answer:
            for begin in range(0, ROWS, _BATCH):
                numbers = range(begin, min(begin + _BATCH, ROWS))
                self._update(self._write_request("rows", triples=" . ".join(f"p:n{one} p:n {one}" for one in numbers)))
            rows = self._select(_read_request("all_rows"), ["rows"])
            many = len({_text_of(row["s"]) for row in rows})
            if (len(rows), many) != (ROWS, ROWS):
                raise _Failed(
                    f"{len(rows):,} rows came back, {many:,} of them different, and the answer says that it is whole"
                )
            answer(f"{len(rows):,} rows")

    def _ask_long(self) -> None:
        """Send a query that takes a second or longer: the answer must be right, or an error."""
        why = "Memento would take an answer that a time limit cut off for the complete one"
        with self._look_for("a long query is answered whole or refused", why) as answer:
            begin = time.monotonic()
            try:
                [row] = self._select(_read_request("long"), ["rows"])
            except Unanswered as error:
                answer(f"no answer: {error}")
            except GraphError as error:
                answer(f"refused after {time.monotonic() - begin:.1f} s: {error}")
            else:
                pairs = _text_of(row["pairs"])
                if pairs != str(_PAIRED * _PAIRED):
                    raise _Failed(f"it counts {pairs} pairs of {_PAIRED * _PAIRED}, and says that it is whole")
                answer(f"right after {time.monotonic() - begin:.1f} s")

    def _write_large(self, megabytes: int, is_needed: bool) -> None:
        why = "the store would refuse a long document or an import"
        with self._look_for(f"an update of {megabytes} MB", why, is_needed=is_needed) as answer:
            self._update(self._write_request("drop", graph="large"))
            pieces = megabytes * 1_000_000 // _PIECE
            # The first one is a single text of a megabyte.
            texts = ["x" * 1_000_000] if megabytes == 1 else ["x" * _PIECE] * pieces
            triples = " . ".join(f'p:l{number} p:is "{text}"' for number, text in enumerate(texts))
            self._update(self._write_request("large", triples=triples))
            asked = self._asked
            [row] = self._select(_read_request("lengths"), ["large"])
            self._asked = asked
            found = (_text_of(row["many"]), _text_of(row["characters"]))
            if found != (str(len(texts)), str(sum(map(len, texts)))):
                raise _Failed(f"{found[0]} texts of {found[1]} characters are there, of {len(texts)}")
            answer(f"{found[1]} characters are there")


def _read_text(name: str) -> str:
    return tables.section(_FILE, name, str)


def _read_graphs() -> list[str]:
    return tables.section(_FILE, "graphs", list[str])


def _read_request(name: str) -> str:
    return tables.section(_FILE, "requests", dict[str, str])[name]


def _run_together(function: Callable[[int], None], many: int) -> int:
    """Call a function at the same moment in `many` threads, with their numbers; return how many calls were refused."""
    barrier = threading.Barrier(many)

    def call_together(number: int) -> bool:
        try:
            barrier.wait()
            function(number)
        except (GraphError, threading.BrokenBarrierError):
            return True
        return False

    with ThreadPoolExecutor(many) as pool:
        try:
            return sum(pool.map(call_together, range(many)))
        except BaseException:  # an interruption: some threads may wait for others that never start
            barrier.abort()
            raise


def _list_variables(query: str) -> list[str]:
    """
    Return the variables of a SELECT in their order.

    >>> _list_variables("SELECT ?s (COUNT(?x) AS ?many) FROM p:a { ?s ?p ?o }")
    ['s', 'many']
    """
    head = re.split(r"\{|\bFROM\b", query, maxsplit=1)[0]
    # A function's argument is followed by a bracket and so does not match.
    return [named or plain for named, plain in re.findall(r"\bAS \?(\w+)\)|\?(\w+)(?=\s)", head)]


def _is_same(one: Term | None, other: Term | None) -> bool:
    """
    Tell whether two terms are the same value of the same type, however it is written.

    >>> number = ox.NamedNode(XSD.integer)
    >>> _is_same(ox.Literal("01", datatype=number), ox.Literal("1", datatype=number))
    True
    >>> _is_same(ox.Literal("1"), ox.Literal("1", datatype=number))
    False
    """
    if not isinstance(one, ox.Literal) or not isinstance(other, ox.Literal):
        return one == other
    if one.datatype != other.datatype or (one.language or "").lower() != (other.language or "").lower():
        return False
    if one.datatype.value == XSD.decimal:
        with suppress(InvalidOperation):
            return Decimal(one.value) == Decimal(other.value)
    if one.datatype.value == XSD.dateTime and (one.value[-1:] == "Z") != (other.value[-1:] == "Z"):
        return to_value(one) == to_value(other) and _has_zone(one.value) == _has_zone(other.value)
    return to_value(one) == to_value(other)


def _has_zone(instant: str) -> bool:
    return re.search(r"(?:Z|[+-]\d\d:\d\d)$", instant) is not None


def _text_of(term: Term) -> str:
    return str(getattr(term, "value", term))


def _show(rows: Iterable[Solution]) -> str:
    """Write rows as a line for people."""
    lines = [" ".join(f"?{name}={term}" for name, term in row.items()) or "()" for row in rows]
    return f"{len(lines)} rows: {' | '.join(lines[:6])}{' | …' if len(lines) > 6 else ''}" if lines else "no rows"


def _count_failures(failures: int) -> str:
    return f", {failures} were refused and are not there" if failures else ""


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"
