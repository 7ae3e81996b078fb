"""
The answer to a query as Python values: `Rows` for a SELECT or an ASK, `Triples` for a CONSTRUCT or a DESCRIBE.

SPARQL 1.1 Query Results JSON, or N-Triples → `parse_answer` → rows → dictionaries, text, or a pandas DataFrame with typed columns.

*Guarantees:* a literal that Python or pandas cannot hold as its type keeps its text.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, Self, cast, overload

from memento.assets import install_line
from memento.errors import MissingPart, NotAcceptable
from memento.iris import IRI, XSD, shorten

if TYPE_CHECKING:
    import pandas as pd

ROWS, TRIPLES = "application/sparql-results+json", "application/n-triples"
ACCEPTED = f"{ROWS}, {TRIPLES}"
"""The media types that can be parsed."""

Cell = IRI | str | int | float | bool | datetime | date | None
"""A value of a row; None if the variable is unbound."""

_MOST_PRINTED = 50  # the most rows that are printed
_MOST_WIDE = 60  # the most characters of a printed cell


class Row(tuple[Any, ...]):
    """
    A row of an answer: a tuple in the order of the columns; a value also by the name of its column.

    >>> row = Row(("name", "age"), ("Ann", 41))
    >>> row["age"], row[0], row.to_dict()
    (41, 'Ann', {'name': 'Ann', 'age': 41})
    >>> name, age = row
    """

    _fields: tuple[str, ...]  # pandas takes the names of the columns from here, as from a named tuple

    def __new__(cls, columns: tuple[str, ...], values: Sequence[Cell]) -> Self:
        row = super().__new__(cls, values)
        row._fields = columns
        return row

    def __getnewargs__(self) -> tuple[tuple[str, ...], tuple[Any, ...]]:
        return self._fields, tuple(self)

    @overload  # type: ignore[override]
    def __getitem__(self, at: int | str) -> Any: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Any, ...]: ...
    def __getitem__(self, at: int | str | slice) -> Any:
        if not isinstance(at, str):
            return super().__getitem__(at)
        if at not in self._fields:
            raise KeyError(f"there is no column {at!r}: the columns are {', '.join(self._fields)}")
        return super().__getitem__(self._fields.index(at))

    def keys(self) -> tuple[str, ...]:
        """Return the names of the columns, so that `dict(row)` works."""
        return self._fields

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a column; `default` if there is no such column, or no value."""
        value = self[name] if name in self._fields else None
        return default if value is None else value

    def to_dict(self) -> dict[str, Any]:
        """Return the values by the names of their columns."""
        return dict(zip(self._fields, self, strict=True))


@dataclass(frozen=True, slots=True, repr=False)
class Rows(Sequence[Row]):
    """
    The answer to a SELECT: a sequence of rows. `print` shows it as a table, `pandas.DataFrame(rows)` takes it as it is.

    The answer to an ASK has one row with one column, `answer`; the truth of it is the answer, as in `if memento.query("ASK …"):`.
    """

    columns: tuple[str, ...]
    """The variables, in the order of the query."""
    values: tuple[tuple[Cell, ...], ...]
    """The values of each row, in the order of the columns; None where a variable is unbound."""
    truth: bool | None = None
    """The answer to an ASK; None for rows of a SELECT."""

    def __len__(self) -> int:
        return len(self.values)

    def __bool__(self) -> bool:
        """Return the answer to an ASK, or whether there are rows."""
        return bool(self.values) if self.truth is None else self.truth

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> Rows: ...
    def __getitem__(self, at: int | slice) -> Row | Rows:
        if isinstance(at, slice):
            return Rows(self.columns, self.values[at])
        return Row(self.columns, self.values[at])

    def __iter__(self) -> Iterator[Row]:
        return (Row(self.columns, values) for values in self.values)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self):,} of {', '.join(self.columns)})"

    def __str__(self) -> str:
        """Return the rows as a table of text, with short IRIs; of many the first ones."""
        if self.truth is not None:
            return str(self.truth)
        cells = [[_write_cell(cell) for cell in row] for row in self.values[:_MOST_PRINTED]]
        table = [[*self.columns], *cells]
        widths = [max(len(row[at]) for row in table) for at in range(len(self.columns))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table
        ]
        return "\n".join([*lines, describe_length(len(self), len(cells), "row")])

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return a dictionary for each row."""
        return [row.to_dict() for row in self]

    def to_frame(self, *, short: bool = False) -> pd.DataFrame:
        """
        Return the rows as a DataFrame with typed columns.

        Args:
            short: shorten IRIs with the usual prefixes, as `mem:about`.

        Raises:
            MissingPart: pandas is not installed.
        """
        pandas = _import_pandas()
        rows = [tuple(show_cell(cell, short) for cell in row) for row in self.values]
        columns = zip(*rows, strict=True) if rows else ((),) * len(self.columns)
        series = {name: _to_series(list(column), pandas) for name, column in zip(self.columns, columns, strict=True)}
        return cast("pd.DataFrame", pandas.DataFrame(series, columns=list(self.columns)))


@dataclass(frozen=True, slots=True, repr=False)
class Triples(Rows):
    """The triples that a CONSTRUCT or a DESCRIBE built, as rows of `subject`, `predicate` and `object`; `data` is N-Triples."""

    data: bytes = b""


def parse_answer(body: bytes, media: str) -> Rows:
    """Parse an answer of one of the types `ACCEPTED`; raise `NotAcceptable` for others."""
    if media == ROWS:
        return parse_rows(body)
    if media == TRIPLES:
        return parse_triples(body)
    raise NotAcceptable(f"an answer came as {media}, which cannot be shown here")


def parse_rows(body: bytes) -> Rows:
    """
    Parse the answer to a SELECT, or to an ASK, from SPARQL 1.1 Query Results JSON.

    >>> rows = parse_rows(b'{"head": {"vars": ["n"]}, "results": {"bindings": [{"n": {"type": "literal", "value": "x"}}, {}]}}')
    >>> rows.values
    (('x',), (None,))
    >>> bool(parse_rows(b'{"head": {}, "boolean": false}'))
    False
    """
    results = json.loads(body)
    if "boolean" in results:
        return Rows(("answer",), ((truth := bool(results["boolean"]),),), truth)
    columns = tuple(results["head"]["vars"])
    bindings = results["results"]["bindings"]
    return Rows(columns, tuple(tuple(_parse_cell(row.get(name)) for name in columns) for row in bindings))


def parse_triples(data: bytes) -> Triples:
    """Parse the triples of an N-Triples document, grouped by subject."""
    from memento.graph.documents import read_lines
    from memento.graph.terms import to_value

    triples = []
    for quad in read_lines(io.BytesIO(data)):
        subject = to_value(quad.subject)
        triples.append((IRI(str(subject)), IRI(quad.predicate.value), to_value(quad.object)))
    ordered = sorted(triples, key=lambda one: (one[0], one[1], str(one[2])))
    return Triples(("subject", "predicate", "object"), tuple(ordered), data=data)


def _parse_cell(told: Mapping[str, Any] | None) -> Cell:
    if told is None:
        return None
    value = told["value"]
    match told["type"]:
        case "uri":
            return IRI(value)
        case "literal" | "typed-literal":
            read = _PARSERS.get(told.get("datatype", ""))
            try:
                return read(value) if read else str(value)
            except ValueError:  # a literal of a numeric type may have any text
                return str(value)
        case "bnode":
            return f"_:{value}"
        case _:
            return json.dumps(value)


def _parse_time(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _parse_truth(text: str) -> bool:
    return text in ("true", "1")


_PARSERS: Mapping[str, Callable[[str], Cell]] = {
    **dict.fromkeys(
        (XSD.integer, XSD.int, XSD.long, XSD.short, XSD.byte, XSD.nonNegativeInteger, XSD.positiveInteger), int
    ),
    **dict.fromkeys((XSD.decimal, XSD.double, XSD.float), float),
    XSD.boolean: _parse_truth,
    XSD.dateTime: _parse_time,
    XSD.date: date.fromisoformat,
}


def show_cell(cell: Cell, short: bool) -> Cell:
    """Return a value as a table shows it: an IRI as text, shortened if wanted."""
    return shorten(cell) if short and isinstance(cell, IRI) else str(cell) if isinstance(cell, IRI) else cell


def describe_length(count: int, shown: int, noun: str) -> str:
    """
    Say how many rows there are, and how many of them are shown.

    >>> describe_length(1, 1, "row"), describe_length(60, 50, "row")
    ('1 row', '60 rows, the first 50 of them')
    """
    more = f", the first {shown:,} of them" if shown < count else ""
    return f"{count:,} {noun}{'' if count == 1 else 's'}{more}"


def _write_cell(cell: Cell) -> str:
    shown = show_cell(cell, True)
    text = "" if shown is None else f"{shown:%Y-%m-%d %H:%M:%S}" if isinstance(shown, datetime) else str(shown)
    line = " ".join(text.split())
    return line if len(line) <= _MOST_WIDE else f"{line[: _MOST_WIDE - 1].rstrip()}…"


def _to_series(column: list[Cell], pandas: Any) -> Any:
    """Make a typed column if all values have one type that pandas can hold; otherwise keep the values as they are."""
    kinds = {type(cell) for cell in column if cell is not None}
    try:
        if kinds == {int}:
            return pandas.Series(column, dtype="Int64")
        if kinds == {bool}:
            return pandas.Series(column, dtype="boolean")
        if kinds and kinds <= {int, float}:
            return pandas.Series(column, dtype="float64")
        if kinds == {datetime}:
            return pandas.to_datetime(pandas.Series(column, dtype="object"), utc=True)
    except (OverflowError, ValueError):  # a number of more than 64 bits, or a time that pandas cannot represent
        pass
    return pandas.Series(column, dtype="object")


def _import_pandas() -> Any:
    try:
        import pandas
    except ModuleNotFoundError as error:
        raise MissingPart(f"a DataFrame takes pandas: {install_line('notebook')}") from error
    return pandas
