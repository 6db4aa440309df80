"""Where a row is in its file, as an error message says it."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paraactive.errors import InputError
from paraactive.streams import Table
from paraactive.streams.tables.line_numbers import describe_row


def test_lines_are_counted_as_an_editor_does(tmp_path: Path):
    rows = 'a,note,y\n1,"two\nlines",0\n\n2,"say ""hi""",1\n3,plain,1\nnan,"x",0\n'
    (tmp_path / "a.csv").write_text(rows)
    with pytest.raises(InputError, match="has no value at line 7, column 'a'"):
        Table(tmp_path / "a.csv", features=["a"])
    (tmp_path / "b.csv").write_text(rows.replace("nan", "4").replace('"x",0', '"x",'))
    with pytest.raises(InputError, match=r"b\.csv has no label at line 7:"):
        Table(tmp_path / "b.csv", features=["a"])


@given(st.lists(st.sampled_from(["1,2", "3,x", '"a\nb",4', '"say ""hi""\n\n",5', "", "6,7"]), max_size=12))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_line_of_a_row_is_the_one_where_a_csv_reader_begins_it(tmp_path: Path, lines: list[str]):
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["a,b", *lines]) + "\n")
    begins: list[int] = []
    with path.open(newline="") as file:
        reader, before = csv.reader(file), 0
        for fields in reader:
            if fields:
                begins.append(before + 1)
            before = reader.line_num
    assert [describe_row(str(path), row) for row in range(len(begins) - 1)] == [f"line {line}" for line in begins[1:]]


def test_rows_of_parquet_files_are_counted_from_0_and_a_file_that_is_gone_is_guessed(tmp_path: Path):
    assert describe_row("a.parquet", 3) == "row 3"
    assert describe_row(str(tmp_path / "gone.csv"), 3) == "line 5"
