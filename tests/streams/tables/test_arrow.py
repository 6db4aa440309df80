"""Columns of pyarrow as arrays, against their values in Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from paraactive.errors import InputError
from paraactive.streams import Table
from paraactive.streams.tables.arrow import (
    coded_labels,
    feature_rows,
    is_label,
    is_number,
    is_text,
    same_kind,
    weight_column,
)
from paraactive.streams.tables.feature_columns import Feature
from streams.tabling import parquet

KINDS: dict[str, Any] = {
    "int8": pa.array([1, 2, 3, 4], pa.int8()),
    "uint64": pa.array([1, 2, 3, 4], pa.uint64()),
    "bool": pa.array([True, False, True, False]),
    "float16": pa.array(np.array([1, 2, 3, 4], np.float16)),
    "decimal": pa.array([1, 2, 3, 4], pa.decimal128(5, 2)),
    "dictionary": pa.array([1.5, 2.5, 1.5, 2.5]).dictionary_encode(),
}


@pytest.mark.parametrize("kind", KINDS)
def test_any_numbers_are_features(tmp_path: Path, kind: str):
    data = pa.table({"a": KINDS[kind], "y": [0, 1, 0, 1]})
    table = Table(parquet(tmp_path / "a.parquet", data), shuffle=False)
    assert table.read(0, 4).x.ravel().tolist() == [float(value) for value in KINDS[kind].to_pylist()]


def test_rows_are_the_values_of_the_columns_in_the_order_of_the_names(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("paraactive.streams.tables.arrow._BLOCK", 7)
    rng = np.random.default_rng(0)
    table = pa.table({"a": rng.normal(size=50), "b": rng.integers(0, 9, 50), "c": rng.random(50) < 0.5})
    lines = table.to_pylist()
    expected = [[np.float32(line[name]) for name in ("c", "a", "b")] for line in lines]
    assert feature_rows(table, tuple(map(Feature, ("c", "a", "b"))), "a.parquet", 0).tolist() == expected
    assert feature_rows(table.slice(0, 0), (Feature("a"),), "a.parquet", 0).shape == (0, 1)


@pytest.mark.parametrize(
    ("value", "says"), [(None, "has no value at row 12"), (np.inf, "has inf at row 12"), (1e39, "which does not fit")]
)
def test_the_first_value_that_is_no_number_is_named_by_its_row_in_the_file(value: Any, says: str):
    table = pa.table({"a": [1.0, 2.0, 3.0], "b": pa.array([1.0, 2.0, value], from_pandas=False)})
    with pytest.raises(InputError, match=f"{says}|row 12, column 'b', {says}"):
        feature_rows(table, (Feature("a"), Feature("b")), "a.parquet", 10)


def test_a_weight_is_a_finite_number_above_0():
    assert weight_column(pa.table({"w": [1, 2]}), "w", "a.parquet", 0).tolist() == [1, 2]
    for bad in (0.0, -1.0, float("nan"), float("inf"), None):
        with pytest.raises(InputError, match="at row 6, column 'w': the weight of an example must be"):
            weight_column(pa.table({"w": pa.array([1.0, bad])}), "w", "a.parquet", 5)


@pytest.mark.parametrize(
    "values",
    [["b", "a", None, "b"], [3, 1, 3, None], [1.5, float("nan"), 2.0, 1.5], [True, None, False, True]],
    ids=str,
)
@pytest.mark.parametrize("coded", [False, True])
def test_codes_stand_for_the_values_of_all_chunks(values: list[Any], coded: bool):
    chunks = [pa.array(values), pa.array(values[::-1])]
    column = pa.chunked_array([chunk.dictionary_encode() for chunk in chunks] if coded else chunks)
    known, codes = coded_labels(column)
    expected = [None if value != value else value for value in values + values[::-1]]
    assert [known[code] for code in codes] == expected


def test_types_are_numbers_text_or_neither():
    numbers = [
        pa.int8(),
        pa.float16(),
        pa.bool_(),
        pa.decimal128(5, 2),
        pa.null(),
        pa.dictionary(pa.int8(), pa.int64()),
    ]
    texts = [pa.string(), pa.large_string(), pa.binary(), pa.dictionary(pa.int8(), pa.string())]
    others = [pa.timestamp("s"), pa.list_(pa.int8()), pa.date32()]
    for kinds, number, text in ((numbers, True, False), (texts, False, True), (others, False, False)):
        assert {(is_number(kind), is_text(kind), is_label(kind)) for kind in kinds} == {(number, text, number or text)}
    assert same_kind(pa.int8(), pa.float64())
    assert same_kind(pa.string(), pa.dictionary(pa.int8(), pa.large_string()))
    assert not same_kind(pa.bool_(), pa.int8())
    assert not same_kind(pa.string(), pa.int8())
