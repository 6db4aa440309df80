"""What can be wrong with a table, and what is said of it: the file, the place, the remedy."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraactive.errors import InputError
from paraactive.streams import Table
from paraactive.streams.tables import parquet_files, shards, table_columns, table_files
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
        ({"b": ["x"] * 8, "y": Y}, {}, r"features=\[\.\.\.\], or encode"),
        ({"a": with_value(8, 4, None), "y": Y}, {}, r"no value at row 4, column 'a': the column lacks 1 value in"),
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
        (float("nan"), "has nan at row 5, column 'a': a score needs finite numbers"),
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


def test_a_null_that_the_statistics_hide_is_told_of_when_it_is_read(tmp_path: Path):
    data = pa.table({"a": with_value(8, 7, None), "y": Y})
    pq.write_table(data, tmp_path / "a.parquet", write_statistics=False)
    with pytest.raises(InputError, match=r"a\.parquet has no value at row 7, column 'a'"):
        Table(tmp_path / "a.parquet").read(0, 8)


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


def test_a_parquet_file_cut_short_or_damaged_is_refused(tmp_path: Path):
    path = parquet(tmp_path / "a.parquet", frame(2000))
    whole = path.read_bytes()
    for damaged in (whole[:-20], whole[:40], b"", b"PAR1", b"a,y\n1,2\n"):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=r"cannot read .*a\.parquet: .*complete Parquet file"):
            Table(path)
    middle = whole.index(b"PAR1") + 40
    path.write_bytes(whole[:middle] + b"\xff" * 3000 + whole[middle + 3000 :])
    with pytest.raises(InputError, match=r"cannot read .*a\.parquet"):
        Table(path).read(0, 2000)


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


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "has no header"),
        ("\n1,2\n", "has no header"),
        ("a,y\n", "has no rows"),
        ("a,y\n\n\n", "has no rows"),
        ("1,2\n3,4\n", "begins with numbers, '1', '2': the first line must name the columns"),
        ("a,a,y\n1,2,0\n", "two columns 'a'"),
        ("y\n0\n1\n", "only the columns 'y': there are no features"),
        ("a,b\n1,0\n2,1\n", "no column 'y'"),
        ("a,y\n1,0\n2,0\n", "1 class, '0'"),
        ("a,y\n1,0\n2,1\n3,\n", "no label at line 4"),
        ("a,y\n1,0\n2,NA\n3,1\n", "no label at line 3"),
        ("a,y\n1,0\nred,1\n3,1\n", r"a\.csv has 'red' at line 3, column 'a': the column begins with numbers"),
        ("a,b,y\nred,1,0\nblue,2,1\n", r"not numbers, 'a' \(string\).*features=\['b'\]"),
        ("a,b,y\n1,2,0\n3,1\n", r"has 2 fields at line 3: its header names 3 columns"),
        ("a,b,y\n1,2,0\n3,1,1,1\n", r"has 4 fields at line 3"),
        ("a,b,y\n1,2,0\n3,,1\n", "has no value at line 3, column 'b'"),
        ("a,b,y\n1,2,0\n3,nan,1\n", "has n.* at line 3, column 'b'"),
        ("a,b,y\n1,2,0\n3,inf,1\n", "has inf at line 3, column 'b'"),
        ("a,b,y\n1,2,0\n3,1e39,1\n", "line 3, column 'b', which does not fit"),
        ('a,y\n1,"x\n2,z\n', "a quote that is not closed, after byte 4"),
        ("a,y\n1,\xff\n2,z\n", "UTF8"),
        ("a,y\r1,0\r2,1\r", r"cannot read .*a\.csv: its lines end with a carriage return alone"),
    ],
)
def test_a_csv_file_that_cannot_be_used_is_refused_at_once(tmp_path: Path, text: str, says: str):
    (tmp_path / "a.csv").write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=says):
        Table(tmp_path / "a.csv")


@pytest.mark.parametrize("value", ["red", "1.5.2"])
def test_text_far_down_in_a_column_of_numbers_is_found_at_opening(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
):
    monkeypatch.setattr("paraactive.streams.tables.csv_files.BLOCK", 300)
    data = frame(100)
    data["f2"] = data["f2"].astype(object)
    data.loc[77, "f2"] = value
    with pytest.raises(InputError, match=rf"a\.csv has '{value}' at line 79, column 'f2': the column is numeric"):
        Table(csv(tmp_path / "a.csv", data))


def test_a_compressed_csv_file_is_refused_if_its_name_does_not_say_so(tmp_path: Path):
    (tmp_path / "a.csv").write_bytes(gzip.compress(b"a,y\n1,0\n2,1\n"))
    with pytest.raises(InputError, match=r"compressed \(gzip\).*rename it to end in \.gz"):
        Table(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_bytes(bz2.compress(b"a,y\n1,0\n2,1\n"))
    with pytest.raises(InputError, match=r"compressed \(bzip2\).*only gzip compression is supported"):
        Table(tmp_path / "a.csv")


def test_lines_are_counted_as_an_editor_does(tmp_path: Path):
    rows = 'a,note,y\n1,"two\nlines",0\n\n2,"say ""hi""",1\n3,plain,1\nnan,"x",0\n'
    (tmp_path / "a.csv").write_text(rows)
    with pytest.raises(InputError, match="has no value at line 7, column 'a'"):
        Table(tmp_path / "a.csv", features=["a"])
    (tmp_path / "b.csv").write_text(rows.replace("nan", "4").replace('"x",0', '"x",'))
    with pytest.raises(InputError, match=r"b\.csv has no label at line 7:"):
        Table(tmp_path / "b.csv", features=["a"])


def test_times_are_no_numbers(tmp_path: Path):
    data = frame().assign(when=pd.Timestamp("2020-01-01"))
    with pytest.raises(InputError, match=r"'when' \(timestamp"):
        Table(parquet(tmp_path / "a.parquet", data))
    with pytest.raises(InputError, match=r"'when' \((date|timestamp)"):
        Table(csv(tmp_path / "a.csv", data))


def test_digits_of_another_script_are_text(tmp_path: Path):
    (tmp_path / "a.csv").write_text("a,y\n1,0\n\u0663,1\n")
    with pytest.raises(InputError, match="has '\u0663' at line 3, column 'a'"):
        Table(tmp_path / "a.csv")


@pytest.mark.parametrize("remote", [False, True])
def test_a_parquet_file_replaced_during_a_run_is_noticed(tmp_path: Path, remote: bool):
    old, new = parquet(tmp_path / "a.parquet", frame()), parquet(tmp_path / "b.parquet", frame(seed=1))
    memory = fsspec.filesystem("memory")
    memory.pipe("/replaced.parquet", old.read_bytes())
    table = Table("memory://replaced.parquet" if remote else old, seed=1)
    memory.pipe("/replaced.parquet", new.read_bytes())
    new.replace(old)
    for _ in range(2):
        with pytest.raises(InputError, match=r"\.parquet has other data than when the stream was created"):
            table.read(0, 60)
    memory.rm("/replaced.parquet")


def test_a_parquet_file_replaced_while_it_is_decoded_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    old, new = parquet(tmp_path / "a.parquet", frame()), parquet(tmp_path / "b.parquet", frame(seed=1))
    table = Table(old)
    opened = parquet_files._source

    def replaced(file: str) -> Any:
        new.replace(old)
        return opened(file)

    monkeypatch.setattr(parquet_files, "_source", replaced)
    with pytest.raises(InputError, match=r"has other data|cannot read"):
        table.read(0, 60)


def test_a_label_that_was_not_there_at_opening_is_no_class(tmp_path: Path):
    files = table_files.open_files(parquet(tmp_path / "a.parquet", frame()))
    chosen = table_columns.choose_columns("a", files.kinds, (), None, "y", None)
    shard = shards.make_shards(files.pieces, 3)[0]
    with pytest.raises(InputError, match="has other data"):
        table_files.decode(files, chosen, shard, {"ham": 0}, 2)


def test_the_length_that_a_parquet_file_cut_short_seems_to_give_is_not_believed(tmp_path: Path):
    path = tmp_path / "a.parquet"
    for end in (b"\xff\xff\xff\x7fdata", b"\xff\xff\xff\x7fPAR1"):
        path.write_bytes(b"PAR1" + bytes(1000) + end)
        with pytest.raises(InputError, match=r"cannot read .*a\.parquet: it does not end like a Parquet file"):
            Table(path)


def test_a_damaged_end_of_a_parquet_file_is_told_of(tmp_path: Path):
    path = parquet(tmp_path / "a.parquet", pa.table({"a" * 8: [1.0, 2.0], "y": [0, 1]}))
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"a" * 8, b"\xff" * 8))  # A name that is no text.
    with pytest.raises(InputError, match=r"cannot read .*a\.parquet"):
        Table(path)


def test_the_checksums_of_pages_are_looked_at(tmp_path: Path):
    path, data = tmp_path / "a.parquet", pa.table({"a": np.arange(1000.0), "y": np.arange(1000) % 2})
    pq.write_table(data, path, compression="none", use_dictionary=False, write_page_checksum=True)
    whole, number = path.read_bytes(), np.float64(500).tobytes()
    place = whole.index(number)
    path.write_bytes(whole[:place] + np.float64(501).tobytes() + whole[place + 8 :])
    with pytest.raises(InputError, match=r"cannot read .*a\.parquet: .*(checksum|CRC)"):
        Table(path).read(0, 1000)
