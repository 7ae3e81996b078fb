"""The rows of a SELECT as Python values, and as a pandas DataFrame whose columns are typed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, cast, overload

from memento.errors import MissingPart
from memento.interfaces.notebook.display import show_table
from memento.iris import IRI, XSD, shorten

if TYPE_CHECKING:
    import pandas as pd

Cell = IRI | str | int | float | bool | datetime | date | None
"""A value of a row; None where the variable is unbound."""

_SHOWN = 50  # rows of a table in a notebook


@dataclass(frozen=True, slots=True, repr=False)
class Rows(Sequence[Mapping[str, Cell]]):
    """What a SELECT found: its variables, and for each row the values in their order."""

    columns: tuple[str, ...]
    values: tuple[tuple[Cell, ...], ...]

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"Rows({len(self):,} of {', '.join(self.columns)})"

    @overload
    def __getitem__(self, at: int) -> Mapping[str, Cell]: ...
    @overload
    def __getitem__(self, at: slice) -> Rows: ...
    def __getitem__(self, at: int | slice) -> Mapping[str, Cell] | Rows:
        if isinstance(at, slice):
            return Rows(self.columns, self.values[at])
        return dict(zip(self.columns, self.values[at], strict=True))

    def __iter__(self) -> Iterator[Mapping[str, Cell]]:
        return (dict(zip(self.columns, row, strict=True)) for row in self.values)

    def to_frame(self, *, short: bool = False) -> pd.DataFrame:
        """
        The rows as a DataFrame: whole numbers, numbers, truths and times of a column are of one type, also where some are missing.

        Args:
            short: shorten IRIs by the usual prefixes, as `mem:about`.

        Raises:
            MissingPart: pandas is not installed.
        """
        pandas = _pandas()
        shown = [tuple(_shown(cell, short) for cell in row) for row in self.values]
        columns = zip(*shown, strict=True) if shown else ((),) * len(self.columns)
        made = {name: _series(list(column), pandas) for name, column in zip(self.columns, columns, strict=True)}
        return cast("pd.DataFrame", pandas.DataFrame(made, columns=list(self.columns)))

    def _repr_html_(self) -> str:
        more = f"{len(self):,} rows, the first {_SHOWN} of them" if len(self) > _SHOWN else f"{len(self):,} rows"
        return show_table(self.columns, [[_shown(cell, True) for cell in row] for row in self.values[:_SHOWN]], more)


def rows_of(body: bytes) -> Rows | bool:
    """
    The answer to a SELECT, or to an ASK, from SPARQL 1.1 Query Results JSON.

    >>> rows_of(b'{"head": {"vars": ["n"]}, "results": {"bindings": [{"n": {"type": "literal", "value": "x"}}, {}]}}').values
    (('x',), (None,))
    """
    told = json.loads(body)
    if "boolean" in told:
        return bool(told["boolean"])
    columns = tuple(told["head"]["vars"])
    found = told["results"]["bindings"]
    return Rows(columns, tuple(tuple(_cell(row.get(name)) for name in columns) for row in found))


def _cell(told: Mapping[str, Any] | None) -> Cell:
    if told is None:
        return None
    value = told["value"]
    match told["type"]:
        case "uri":
            return IRI(value)
        case "literal" | "typed-literal":
            read = _READ.get(told.get("datatype", ""))
            try:
                return read(value) if read else str(value)
            except ValueError:  # any text may call itself a number
                return str(value)
        case "bnode":
            return f"_:{value}"
        case _:
            return json.dumps(value)


def _time(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _truth(text: str) -> bool:
    return text in ("true", "1")


_READ: Mapping[str, Callable[[str], Cell]] = {
    **dict.fromkeys(
        (XSD.integer, XSD.int, XSD.long, XSD.short, XSD.byte, XSD.nonNegativeInteger, XSD.positiveInteger), int
    ),
    **dict.fromkeys((XSD.decimal, XSD.double, XSD.float), float),
    XSD.boolean: _truth,
    XSD.dateTime: _time,
    XSD.date: date.fromisoformat,
}


def _shown(cell: Cell, short: bool) -> Cell:
    return shorten(cell) if short and isinstance(cell, IRI) else str(cell) if isinstance(cell, IRI) else cell


def _series(column: list[Cell], pandas: Any) -> Any:
    """A column of one type where its values are of one; as they are where not, or where pandas cannot hold them."""
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
    except (OverflowError, ValueError):  # a number of more than 64 bits, a time before the calendar
        pass
    return pandas.Series(column, dtype="object")


def _pandas() -> Any:
    try:
        import pandas
    except ModuleNotFoundError as error:
        raise MissingPart("a DataFrame takes pandas: pip install 'memento[notebook]'") from error
    return pandas
