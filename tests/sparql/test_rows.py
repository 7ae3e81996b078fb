"""Rows are counted in the bytes of an answer, however these are cut."""

from __future__ import annotations

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memento.sparql.worker.evaluate import ROW_FORMATS, row_counter, write_answer

texts = st.text(st.sampled_from('},{"\r\n\t<result>\\ x'), max_size=12)


@pytest.mark.parametrize("media", ROW_FORMATS)
@settings(max_examples=30, deadline=None)
@given(rows=st.lists(texts, max_size=6), cuts=st.integers(1, 40))
def test_every_row_counts_once(media: str, rows: list[str], cuts: int) -> None:
    values = " ".join(str(ox.Literal(text)) for text in rows)
    parts: list[bytes] = []
    write_answer(
        ox.Store(),
        f"SELECT ?text ?n {{ VALUES ?text {{ {values} }} BIND(1 AS ?n) }}",
        media,
        parts.append,
        default_graphs=None,
        named_graphs=None,
    )
    body = b"".join(parts)
    count = row_counter(media)
    seen = [count(body[begin : begin + cuts]) for begin in range(0, len(body), cuts)]

    # JSON counts what stands between rows, CSV and TSV the header too.
    more = {"application/sparql-results+json": -1, "application/json": -1, "text/csv": 1}
    more["text/tab-separated-values"] = 1
    assert seen[-1] == max(len(rows) + more.get(media, 0), 0)
