"""What can be wrong with a table, and what is said of it: the file, the place, the remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from paraactive.errors import InputError
from paraactive.streams import Table
from paraactive.streams.tables import shards, table_columns, table_files
from streams.tabling import csv, frame, parquet


def table_of(folder: Path, columns: dict[str, Any], **options: Any) -> Table:
    return Table(parquet(folder / "a.parquet", pa.table(columns), 3), **options)


def with_value(rows: int, place: int, value: Any) -> list[Any]:
    column: list[Any] = list(np.arange(float(rows)))
    column[place] = value
    return column


Y = [0, 1, 0, 1, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("columns", "options", "says"),
    [
        ({"a": Y, "b": Y}, {}, r"no column 'y' in .*a\.parquet: its columns are 'a', 'b'; name one of these"),
        ({"a": Y, "label": Y}, {"label": "lable"}, r"no column 'lable'.*did you mean 'label'\?"),
        ({"a": Y, "Y": Y}, {}, r"no column 'y'.*did you mean 'Y'\?"),
        ({"a": Y, "y": Y}, {"features": ["b"]}, "no column 'b'"),
        ({"a": Y, "y": Y}, {"weight": "w"}, "no column 'w'"),
        ({"a": Y, "y": Y}, {"features": ["a", "y"]}, "'y' is among the features: it is the label"),
        ({"a": Y, "y": Y}, {"features": ["a", "a"]}, "features has 'a' twice"),
        ({"a": Y, "y": Y}, {"weight": "y"}, "'y' is label and weight"),
        ({"a": Y, "y": Y}, {"classes": ["0", "1", "0"]}, "classes is .*it must be a list of different names"),
        ({"a": Y, "y": Y}, {"classes": "01"}, "classes is '01': it must be a list of different names"),
        ({"a": Y, "y": Y}, {"features": []}, "no features to learn from"),
        ({"y": Y}, {}, "has only the columns 'y': there are no features"),
        ({"a": Y, "y": [3] * 8}, {}, "y has 1 class, '3'"),
        ({"a": Y, "y": list(np.arange(8) / 3)}, {"classes": ["a"]}, "y has 1 class, 'a'"),
        (
            {"a": Y, "y": [0, 1, 0, 1, None, 1, 1, 1]},
            {},
            r"a\.parquet has no label at row 4: each example must have one",
        ),
        ({"a": Y, "y": [0, 1.5, 0, 1, 0, np.nan, 1, 1]}, {}, "no label at row 5"),
        ({"a": Y, "y": pa.nulls(8)}, {}, "no label at row 0"),
        ({"a": Y, "y": [[1]] * 8}, {}, r"the label 'y' of .* is of type list"),
        (
            {"a": Y, "b": ["x"] * 8, "c": [b"y"] * 8, "y": Y},
            {},
            r"not numbers, 'b' \(string\), 'c' \(binary.*\['a'\]",
        ),
        ({"b": ["x"] * 8, "y": Y}, {}, r"features=\[\.\.\.\], or make one feature"),
        (
            {"a": with_value(8, 4, None), "y": Y},
            {},
            r"no value at row 4, column 'a': .* 1 column lacks values: 'a' \(1\)",
        ),
        ({"a": Y, "w": with_value(8, 0, 1.0), "y": Y}, {"weight": "w"}, None),
        ({"a": Y, "w": with_value(8, 6, -1.0), "y": Y}, {"weight": "w"}, r"has 0\.0 at row 0, column 'w': the weight"),
        ({"a": Y, "w": ["1"] * 8, "y": Y}, {"weight": "w"}, r"not numbers, 'w' \(string\)"),
        ({"a": Y[:0], "y": Y[:0]}, {}, "has no rows"),
        ({"a": Y, "y": Y}, {"passes": 0}, "passes is 0"),
        ({"a": Y, "y": Y}, {"seed": "a"}, "seed is 'a'"),
    ],
)
def test_a_parquet_file_that_cannot_be_used_is_refused_at_once(
    tmp_path: Path, columns: dict[str, Any], options: dict[str, Any], says: str | None
):
    if says is None:
        table_of(tmp_path, {**columns, "w": np.arange(1.0, 9.0)}, **options)
        return
    with pytest.raises(InputError, match=says):
        table_of(tmp_path, columns, **options)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (float("nan"), "has no value at row 5, column 'a': a score needs finite numbers"),
        (float("-inf"), "has -inf at row 5, column 'a'"),
        (1e39, r"has 1e\+39 at row 5, column 'a', which does not fit"),
    ],
)
def test_numbers_that_are_none_are_told_of_when_they_are_read(tmp_path: Path, value: float, says: str):
    table = table_of(tmp_path, {"b": Y, "y": Y, "a": with_value(8, 5, value)})
    with pytest.raises(InputError, match=says):
        table.read(0, 8)
    with pytest.raises(InputError, match=says):  # It is said again, not forgotten.
        table.read(0, 8)


def test_too_many_classes_are_told_of_before_the_end(tmp_path: Path):
    with pytest.raises(InputError, match="more than 127 classes"):
        table_of(tmp_path, {"a": list(range(1000)), "y": [float(each) / 7 for each in range(1000)]})
    with pytest.raises(InputError, match="y has 200 classes"):
        table_of(tmp_path, {"a": list(range(200)), "y": list(range(200))})


def test_files_that_are_not_there_or_not_tables_are_refused(tmp_path: Path):
    for path in (tmp_path / "none.parquet", tmp_path / "none.csv", tmp_path / "*.parquet"):
        with pytest.raises(InputError, match=r"no file .*it does not exist"):
            Table(path)
    with pytest.raises(InputError, match=r"no file .*the folder has no files that end in \.parquet"):
        Table(tmp_path)
    with pytest.raises(InputError, match="no files are given"):
        Table([])
    csv(tmp_path / "a.csv", frame())
    parquet(tmp_path / "a.parquet", frame())
    with pytest.raises(InputError, match="are of two kinds"):
        Table(tmp_path)


def test_files_of_other_columns_are_refused(tmp_path: Path):
    data = frame()
    first = parquet(tmp_path / "0.parquet", data)
    other = tmp_path / "1.parquet"
    for changed, says in (
        (data.drop(columns="f1"), "1.parquet has no column 'f1': all files of a table have the columns of .*0.parquet"),
        (data.assign(more=1), "has another column, 'more'"),
        (data.assign(f1="a"), "another type of column 'f1'"),
        (data.assign(y=1), "another type of column 'y'"),
    ):
        with pytest.raises(InputError, match=says):
            Table([first, parquet(other, changed)])
    assert Table([first, parquet(other, data.assign(more=1, f1="a"))], features=["f0"]).rows == 120
    assert Table([first, parquet(other, data.assign(f1=1)[["y", "f2", "f1", "f0"]])]).rows == 120
    csv(tmp_path / "0.csv", data)
    csv(tmp_path / "1.csv", data[["y", "f2", "f1", "f0"]])
    with pytest.raises(InputError, match=r"1\.csv has the columns 'y', 'f2', 'f1', 'f0'"):
        Table(str(tmp_path / "*.csv"))


def test_times_are_no_numbers(tmp_path: Path):
    data = frame().assign(when=pd.Timestamp("2020-01-01"))
    with pytest.raises(InputError, match=r"'when' \(timestamp"):
        Table(parquet(tmp_path / "a.parquet", data))
    with pytest.raises(InputError, match=r"'when' \((date|timestamp)"):
        Table(csv(tmp_path / "a.csv", data))


def test_a_label_that_was_not_there_at_opening_is_no_class(tmp_path: Path):
    files = table_files.open_files(parquet(tmp_path / "a.parquet", frame()))
    chosen = table_columns.choose_columns("a", files.kinds, (), None, "y", None)
    shard = shards.make_shards(files.pieces, 3)[0]
    with pytest.raises(InputError, match="has other data"):
        table_files.decode(files, chosen, shard, {"ham": 0}, 2)
