"""Rows of a query as Python values and as typed columns."""

from __future__ import annotations

import json
import pickle
import sys
from datetime import UTC, date, datetime

import pandas as pd
import pytest

from memento.errors import MissingPart
from memento.interfaces.notebook import show_rows
from memento.iris import IRI, MEM, XSD
from memento.python.rows import Row, Rows, parse_rows


def literal(value: str, datatype: str | None = None, language: str | None = None) -> dict[str, str]:
    return {
        "type": "literal",
        "value": value,
        **({"datatype": datatype} if datatype else {}),
        **({"xml:lang": language} if language else {}),
    }


def rows(**columns: list[dict[str, str] | None]) -> Rows:
    lines = zip(*columns.values(), strict=True)
    bindings = [{name: cell for name, cell in zip(columns, line, strict=True) if cell} for line in lines]
    return parse_rows(json.dumps({"head": {"vars": list(columns)}, "results": {"bindings": bindings}}).encode())


def test_values_are_what_their_types_say() -> None:
    found = rows(
        iri=[{"type": "uri", "value": MEM.about}],
        text=[literal("Grüße", language="de")],
        count=[literal("-7", XSD.integer)],
        share=[literal("0.5", XSD.decimal)],
        sure=[literal("true", XSD.boolean)],
        at=[literal("2024-01-08T09:00:00Z", XSD.dateTime)],
        day=[literal("2024-01-08", XSD.date)],
        none=[None],
        blank=[{"type": "bnode", "value": "b0"}],
        odd=[literal("seven", XSD.integer)],
    )

    assert found.to_dicts() == [
        {
            "iri": IRI(MEM.about),
            "text": "Grüße",
            "count": -7,
            "share": 0.5,
            "sure": True,
            "at": datetime(2024, 1, 8, 9, tzinfo=UTC),
            "day": date(2024, 1, 8),
            "none": None,
            "blank": "_:b0",
            "odd": "seven",
        }
    ]
    assert isinstance(found[0]["iri"], IRI)


def test_columns_are_typed_also_where_values_are_missing() -> None:
    frame = rows(
        count=[literal("1", XSD.integer), None],
        share=[literal("0.5", XSD.double), literal("1", XSD.integer)],
        sure=[None, literal("false", XSD.boolean)],
        at=[literal("2024-01-08T09:00:00Z", XSD.dateTime), None],
        text=[literal("a"), None],
    ).to_frame()

    assert [str(kind) for kind in frame.dtypes[:3]] == ["Int64", "float64", "boolean"]
    assert isinstance(frame["at"].dtype, pd.DatetimeTZDtype)
    assert frame["at"].dt.year.tolist()[0] == 2024
    assert frame["count"].sum() == 1
    assert frame["text"].tolist() == ["a", None]


def test_what_pandas_cannot_hold_stays_as_it_is() -> None:
    frame = rows(
        large=[literal(str(2**70), XSD.integer)],
        mixed=[literal("1", XSD.integer)],
        old=[literal("0044-03-15T09:00:00Z", XSD.dateTime)],
    ).to_frame()

    assert frame["large"].tolist() == [2**70]
    assert frame["old"].tolist()[0].year == 44


def test_iris_are_shortened_where_that_is_wanted() -> None:
    found = rows(what=[{"type": "uri", "value": MEM.about}, {"type": "uri", "value": "urn:other:1"}])

    assert found.to_frame()["what"].tolist() == [MEM.about, "urn:other:1"]
    assert found.to_frame(short=True)["what"].tolist() == ["mem:about", "urn:other:1"]


def test_no_rows_are_a_frame_with_columns() -> None:
    frame = rows(a=[], b=[]).to_frame()

    assert (list(frame.columns), len(frame)) == (["a", "b"], 0)


def test_an_ask_is_a_truth_and_slices_are_rows() -> None:
    found = rows(n=[literal(str(number), XSD.integer) for number in range(60)])
    asked = parse_rows(b'{"head": {}, "boolean": true}')

    assert asked and not parse_rows(b'{"head": {}, "boolean": false}')
    assert (str(asked), asked.to_dicts(), show_rows(asked)) == ("True", [{"answer": True}], "<p>True</p>")
    assert found and not rows(n=[])
    assert [row["n"] for row in found[10:20]] == [*range(10, 20)]
    assert "60 rows, the first 50 of them" in show_rows(found)


def test_a_row_is_read_by_name_by_place_and_all_at_once() -> None:
    [row] = rows(
        memory=[{"type": "uri", "value": "urn:memento:memory:1"}], count=[literal("3", XSD.integer)], end=[None]
    )
    memory, count, end = row

    assert (memory, count, end) == (row["memory"], row["count"], row["end"]) == ("urn:memento:memory:1", 3, None)
    assert dict(row) == row.to_dict() == {"memory": memory, "count": 3, "end": None}
    assert (row.get("end", "now"), row.get("start"), row.get("count")) == ("now", None, 3)
    assert pickle.loads(pickle.dumps(row)) == row
    assert isinstance(row, Row)
    with pytest.raises(KeyError, match="there is no column 'cuont': the columns are memory, count, end"):
        row["cuont"]


def test_rows_print_as_a_table_and_are_taken_by_pandas() -> None:
    found = rows(what=[{"type": "uri", "value": MEM.about}, None], text=[literal("a\nb"), literal("x" * 80)])

    assert str(found).splitlines() == ["what       text", "mem:about  a b", f"           {'x' * 59}…", "2 rows"]
    assert pd.DataFrame(found).columns.tolist() == ["what", "text"]


def test_without_pandas_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)

    with pytest.raises(MissingPart, match=r"pip install 'memento-rdf\[notebook\]'"):
        rows(a=[literal("x")]).to_frame()
