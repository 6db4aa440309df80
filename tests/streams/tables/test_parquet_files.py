"""Parquet files that are damaged, replaced or of several schemas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraactive.errors import InputError
from paraactive.streams import Table
from paraactive.streams.tables import parquet_files
from streams.tabling import frame, parquet


def with_value(rows: int, place: int, value: Any) -> list[Any]:
    column: list[Any] = list(np.arange(float(rows)))
    column[place] = value
    return column


Y = [0, 1, 0, 1, 0, 1, 1, 1]


def test_a_null_that_the_statistics_hide_is_told_of_when_it_is_read(tmp_path: Path):
    data = pa.table({"a": with_value(8, 7, None), "y": Y})
    pq.write_table(data, tmp_path / "a.parquet", write_statistics=False)
    with pytest.raises(InputError, match=r"a\.parquet has no value at row 7, column 'a'"):
        Table(tmp_path / "a.parquet").read(0, 8)


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
