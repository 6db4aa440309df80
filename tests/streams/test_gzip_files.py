"""gzip files are read as what is inside of them."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest

from paraactive import Arrays, Table
from paraactive.errors import InputError
from paraactive.streams import open_examples, open_rows, open_stream
from streams.tabling import csv, frame, parquet, same

X = np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32)
Y = np.arange(60) % 2


def _packed(path: Path) -> Path:
    """The same file, compressed."""
    packed = path.with_name(f"{path.name}.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    return packed


def _svmlight(path: Path) -> Path:
    path.write_text("".join(f"{y} 1:{a} 2:{b}\n" for y, (a, b) in zip(Y.tolist(), X.tolist(), strict=True)))
    return path


def _npy(path: Path) -> Path:
    np.save(path, np.column_stack([X, Y]))
    return path


def _dense(x: Any) -> Any:
    return x if isinstance(x, np.ndarray) else x.dense()


WRITERS: dict[str, Callable[[Path], Path]] = {
    "a.csv": lambda path: csv(path, frame()),
    "a.tsv": lambda path: csv(path, frame(), sep="\t"),
    "a.parquet": lambda path: parquet(path, frame()),
    "a.svm": _svmlight,
    "a.txt": _svmlight,
    "a.npy": _npy,
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_compressed_file_is_the_stream_that_it_is_without(name: str, tmp_path: Path) -> None:
    plain = open_stream(WRITERS[name](tmp_path / name), seed=3)
    expected = plain.read(0, 60)
    tried = open_examples(tmp_path / name, plain.classes, plain.width)
    rows = open_rows(tmp_path / name, plain.width)
    packed = _packed(tmp_path / name)
    stream: Any = open_stream(packed, seed=3)
    assert stream.classes == plain.classes
    for one, other in ((stream.read(0, 60), expected), (open_examples(packed, plain.classes, plain.width), tried)):
        assert np.array_equal(_dense(one.x), _dense(other.x))
        assert np.array_equal(one.y, other.y)
    assert np.array_equal(_dense(open_rows(packed, plain.width)), _dense(rows))


def test_pieces_of_a_compressed_csv_file_are_read_at_any_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraactive.streams.tables.csv_files.BLOCK", 300)
    plain = Table(csv(tmp_path / "a.csv", frame(200)), shuffle=False)
    expected = plain.read(0, 200)
    table = Table(_packed(tmp_path / "a.csv"), shuffle=False)
    for first in (150, 0, 77):
        assert same(table.read(first, first + 40), expected.take(slice(first, first + 40)))


def test_a_folder_has_compressed_files_and_none_twice(tmp_path: Path) -> None:
    csv(tmp_path / "a.csv", frame(60))
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress((tmp_path / "a.csv").read_bytes()))
    assert Table(tmp_path).rows == 120
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress((tmp_path / "a.csv").read_bytes()))
    assert Table(tmp_path).rows == 120
    assert Table(tmp_path / "*.csv.gz").rows == 120


def test_a_compressed_file_at_an_address(tmp_path: Path) -> None:
    memory = fsspec.filesystem("memory")
    memory.pipe("/packed.csv.gz", gzip.compress(csv(tmp_path / "a.csv", frame()).read_bytes()))
    assert same(Table("memory://packed.csv.gz").read(0, 60), Table(tmp_path / "a.csv").read(0, 60))
    memory.rm("/packed.csv.gz")


def test_a_compressed_file_that_is_replaced_is_noticed(tmp_path: Path) -> None:
    packed = _packed(csv(tmp_path / "a.csv", frame()))
    table = Table(packed)
    packed.write_bytes(gzip.compress(csv(tmp_path / "b.csv", frame(seed=1)).read_bytes()))
    with pytest.raises(InputError, match="has other data"):
        table.read(0, 60)


@pytest.mark.parametrize("name", ["a.csv", "a.npy", "a.svm"])
def test_a_damaged_compressed_file_is_refused(name: str, tmp_path: Path) -> None:
    packed = _packed(WRITERS[name](tmp_path / name))
    whole = packed.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"no gzip", whole[:20] + b"\0" * 40 + whole[60:]):
        packed.write_bytes(damaged)
        with pytest.raises(InputError, match=r"cannot (read|decompress) .*a\.\w+\.gz"):
            open_stream(packed)


def test_an_archive_inside_of_gzip_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=X, y=Y)
    with pytest.raises(InputError, match="cannot be read inside of a gzip file"):
        Arrays.load(_packed(tmp_path / "a.npz"))
