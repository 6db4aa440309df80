"""CSV as people write it: quotes, line ends, separators, blocks."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import numpy as np
import pytest

from paraactive.checks import check_stream
from paraactive.errors import InputError
from paraactive.streams import Table
from streams.tabling import csv, frame, same


@pytest.mark.parametrize(
    "text",
    [
        'a,kind,b\n1,"ham, cooked",2\n3,spam,4\n',
        'a,kind,b\r\n1,"ham, cooked",2\r\n3,spam,4\r\n',
        'a,kind,b\n1,"ham, cooked",2\n3,spam,4',
        'a,kind,b\n1,"ham, cooked",2\n\n3,spam,4\n\n\n',
        '\ufeffa,kind,b\n1,"ham, cooked",2\n3,spam,4\n',
        "a;kind;b\n1;ham, cooked;2\n3;spam;4\n".replace("ham, cooked", '"ham, cooked"'),
        "a\tkind\tb\n1\tham, cooked\t2\n3\tspam\t4\n",
        '"a","kind","b"\n"1","ham, cooked","2"\n"3","spam","4"\n',
        'a,kind,b\n 1,"ham, cooked", 2 \n3,spam,4\n',
        'a,kind,b\n1,"ham, cooked",2e0\n3.0,spam,+4\n'.replace("+", ""),
    ],
    ids=repr,
)
def test_it_is_read_however_it_is_written(tmp_path: Path, text: str):
    (tmp_path / "a.csv").write_bytes(text.encode())
    table = Table(tmp_path / "a.csv", "kind", shuffle=False)
    assert (table.classes, table.feature_names) == (("ham, cooked", "spam"), ("a", "b"))
    assert table.read(0, 2).x.tolist() == [[1, 2], [3, 4]]
    assert table.read(0, 2).y.tolist() == [-1, 1]


@pytest.mark.parametrize("block", [20, 64, 1000])
def test_line_breaks_inside_of_quotes_do_not_end_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int):
    monkeypatch.setattr("paraactive.streams.tables.csv_files.BLOCK", block)
    labels = ['"say ""ham""\nor not"', "spam", '"two\r\n\r\nlines"']
    text = "a,kind,b\n" + "".join(f"{row},{labels[row % 3]},{-row}\n" for row in range(50))
    (tmp_path / "a.csv").write_bytes(text.encode())
    table = Table(tmp_path / "a.csv", "kind", shuffle=False)
    assert table.classes == ('say "ham"\nor not', "spam", "two\r\n\r\nlines")
    piece = table.read(0, 50)
    assert piece.x.tolist() == [[row, -row] for row in range(50)]
    assert piece.y.tolist() == [row % 3 for row in range(50)]


@pytest.mark.parametrize("block", [1, 100, 1000, 10**6])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_blocks_of_any_size_are_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, end: str):
    path = csv(tmp_path / "a.csv", frame(80), lineterminator=end)
    expected = Table(path, shuffle=False).read(0, 80)
    monkeypatch.setattr("paraactive.streams.tables.csv_files.BLOCK", block)
    table = Table(path, shuffle=False)
    assert same(table.read(0, 80), expected)
    if block > 1:
        check_stream(table)


def test_whole_numbers_may_be_followed_by_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("paraactive.streams.tables.csv_files.BLOCK", 16)
    text = "a,b,y\n" + "1,true,5\n" * 5 + "1.5,false,5.0\n" * 5 + "2,true,x7\n"
    (tmp_path / "a.csv").write_text(text)
    table = Table(tmp_path / "a.csv", shuffle=False)
    assert table.read(0, 11).x.tolist() == [[1, 1]] * 5 + [[1.5, 0]] * 5 + [[2, 1]]
    assert table.classes == ("5", "5.0", "x7")  # Not all are numbers, so none is.


def test_numbers_that_are_written_in_two_ways_are_one_class(tmp_path: Path):
    (tmp_path / "a.csv").write_text("a,y\n1,5\n2,5.0\n3,10\n4,05\n")
    table = Table(tmp_path / "a.csv", shuffle=False)
    assert (table.classes, table.counts) == (("5", "10"), (3, 1))
    assert table.read(0, 4).y.tolist() == [-1, -1, 1, -1]


def test_one_feature_is_enough(tmp_path: Path):
    (tmp_path / "a.csv").write_text("y,a\n0,1\n1,2\n")
    assert Table(tmp_path / "a.csv", shuffle=False).read(0, 2).x.tolist() == [[1], [2]]


def test_values_are_rounded_once_as_numpy_rounds_them(tmp_path: Path):
    data = frame(500, seed=3)
    table = Table(csv(tmp_path / "a.csv", data), shuffle=False)
    assert (table.read(0, 500).x == data[["f0", "f1", "f2"]].to_numpy().astype(np.float32)).all()


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


def test_digits_of_another_script_are_text(tmp_path: Path):
    (tmp_path / "a.csv").write_text("a,y\n1,0\n\u0663,1\n")
    with pytest.raises(InputError, match="has '\u0663' at line 3, column 'a'"):
        Table(tmp_path / "a.csv")
