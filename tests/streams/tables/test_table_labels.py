"""The labels of a table: their classes, counts and names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraactive.errors import InputError
from paraactive.streams import Arrays, Table
from paraactive.streams.tables.table_labels import LabelCount
from streams.tabling import csv, parquet, same

LABELS: dict[str, Any] = {
    "text": (["b", "a", "b", "c"], ("a", "b", "c")),
    "int": ([10, 9, 10, 9], ("9", "10")),
    "float": ([1.0, 0.0, 0.5, 0.0], ("0", "0.5", "1")),
    "whole floats": ([5.0, 7.0, 5.0, 5.0], ("5", "7")),
    "bool": ([True, False, True, True], ("False", "True")),
    "negative": ([-1, 1, 1, -1], ("-1", "1")),
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("suffix", ["parquet", "csv", "coded"])
def test_labels_have_the_names_and_the_order_that_arrays_give_them(tmp_path: Path, kind: str, suffix: str):
    labels, names = LABELS[kind]
    x = np.arange(4.0)[:, None]
    if suffix == "csv":
        path = csv(tmp_path / "a.csv", pd.DataFrame({"a": x[:, 0], "y": labels}))
    else:
        column = pa.array(labels).dictionary_encode() if suffix == "coded" else pa.array(labels)
        path = parquet(tmp_path / "a.parquet", pa.table({"a": x[:, 0], "y": column}), 3)
    table, arrays = Table(path, shuffle=False), Arrays(x, labels, shuffle=False)
    assert table.classes == arrays.classes == names
    assert table.counts == arrays.counts
    assert same(table.read(0, 4), arrays.read(0, 4))


def test_labels_with_a_dictionary_as_large_as_its_codes_allow_are_read(tmp_path: Path):
    codes = pa.array([0, 127, None, 1], pa.int8())
    names = pa.array([f"c{number}" for number in range(128)])
    data = pa.table({"a": [1.0, 2, 3, 4], "y": pa.DictionaryArray.from_arrays(codes, names)})
    assert Table(parquet(tmp_path / "a.parquet", data.slice(0, 2))).classes == ("c0", "c127")
    with pytest.raises(InputError, match="no label at row 2"):
        Table(parquet(tmp_path / "a.parquet", data))


def test_classes_may_be_named_in_another_order_and_be_more(tmp_path: Path):
    path = parquet(tmp_path / "a.parquet", pa.table({"a": [1.0, 2.0], "y": ["b", "a"]}))
    table = Table(path, classes=("c", "b", "a"), shuffle=False)
    assert (table.classes, table.counts) == (("c", "b", "a"), (0, 1, 1))
    assert table.read(0, 2).y.tolist() == [1, 2]
    with pytest.raises(InputError, match=r"unknown label 'b' in .*a.parquet, first at row 0"):
        Table(path, classes=("a", "c"))


def test_labels_that_are_bytes_stay_apart(tmp_path: Path):
    data = pa.table({"a": [1.0, 2.0, 3.0], "y": [b"\xff", b"\xfe", b"ham"]})
    table = Table(parquet(tmp_path / "a.parquet", data), shuffle=False)
    assert (table.classes, table.counts) == ((r"\xfe", r"\xff", "ham"), (1, 1, 1))
    text = data.set_column(1, "y", pa.Array.from_buffers(pa.string(), 3, data["y"].chunk(0).buffers()))
    assert Table(parquet(tmp_path / "b.parquet", text)).classes == table.classes
    assert set(table.classes) == set(Arrays([[1], [2], [3]], [b"\xff", b"\xfe", b"ham"]).classes)


def test_labels_that_are_numbers_of_several_types_are_one_column(tmp_path: Path):
    kinds = (pa.int64(), pa.int32(), pa.float64())
    paths = [
        parquet(tmp_path / f"{place}.parquet", pa.table({"a": [1.0, 2.0], "y": pa.array([5, 7], kind)}))
        for place, kind in enumerate(kinds)
    ]
    table = Table(paths, shuffle=False)
    assert (table.classes, table.counts) == (("5", "7"), (3, 3))
    assert table.read(0, 6).y.tolist() == [-1, 1] * 3
    truth = parquet(tmp_path / "3.parquet", pa.table({"a": [1.0, 2.0], "y": [True, False]}))
    with pytest.raises(InputError, match="another type of column 'y'"):
        Table([*paths, truth])


@given(st.lists(st.sampled_from(["1", "01", "2.0", "2", "10", "-3"]), min_size=2, max_size=30), st.integers(0, 30))
def test_labels_of_two_pieces_are_counted_as_those_of_the_whole(texts: list[str], cut: int):
    count = LabelCount("a.csv", text=True)
    for piece in (texts[:cut], texts[cut:]):
        values = sorted(set(piece))
        count.add(values, np.array([values.index(text) for text in piece], np.int64), "a.csv", 0)
    numbers = [float(text) for text in texts]
    if len(set(numbers)) < 2:
        return
    names, counts, number_of = count.classes(None)
    ordered = sorted(set(numbers))
    assert names == tuple(str(int(number)) for number in ordered)
    assert counts == tuple(numbers.count(number) for number in ordered)
    assert number_of == {text: ordered.index(float(text)) for text in texts}
