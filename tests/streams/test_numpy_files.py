"""numpy files: float32 data is mapped where it lies, not read into memory."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paraactive.checks import check_stream
from paraactive.errors import InputError
from paraactive.streams import Arrays

X = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
Y = np.arange(50) % 2


def map_of(stream: Arrays) -> Any:
    base: Any = stream._x
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    return base


def same_as_in_memory(stream: Arrays) -> None:
    check_stream(stream)
    assert (stream.read(0, 50).x == X[stream.read(0, 50).key]).all()
    assert stream.fingerprint == Arrays(X, Y).fingerprint
    assert pickle.loads(pickle.dumps(stream)).fingerprint == stream.fingerprint


def test_an_npy_file_of_float32_is_mapped(tmp_path: Path):
    np.save(tmp_path / "data.npy", np.column_stack([X, Y]).astype(np.float32))
    stream = Arrays.load(tmp_path / "data.npy")
    assert isinstance(map_of(stream), np.memmap)
    assert np.shares_memory(stream._x, map_of(stream))
    same_as_in_memory(stream)


def test_an_npz_file_of_float32_is_mapped_inside_of_its_archive(tmp_path: Path):
    np.savez(tmp_path / "data.npz", other=np.arange(3), X=X, y=Y)
    stream = Arrays.load(tmp_path / "data.npz")
    assert isinstance(map_of(stream), np.memmap)
    assert np.shares_memory(stream._x, map_of(stream))
    same_as_in_memory(stream)


def test_what_is_compressed_or_of_another_type_is_read(tmp_path: Path):
    np.savez_compressed(tmp_path / "packed.npz", x=X, y=Y)
    np.savez(tmp_path / "fortran.npz", x=np.asfortranarray(X), y=Y)
    np.savez(tmp_path / "doubles.npz", x=X.astype(np.float64), y=Y)
    np.savez(tmp_path / "big-endian.npz", x=X.astype(">f4"), y=Y)
    for path in sorted(tmp_path.iterdir()):
        stream = Arrays.load(path)
        assert map_of(stream) is None
        same_as_in_memory(stream)


def test_nan_in_a_map_is_found(tmp_path: Path):
    x = X.copy()
    x[7, 2] = np.nan
    np.save(tmp_path / "data.npy", np.column_stack([x, Y]).astype(np.float32))
    np.savez(tmp_path / "data.npz", x=x, y=Y)
    for name in ("data.npy", "data.npz"):
        with pytest.raises(InputError, match="row 7, column 2"):
            Arrays.load(tmp_path / name)


def test_a_byte_that_changed_in_an_archive_is_noticed(tmp_path: Path):
    np.savez(tmp_path / "data.npz", x=X, y=Y)
    data = bytearray((tmp_path / "data.npz").read_bytes())
    data[data.index(X.tobytes()) + 41] ^= 1
    (tmp_path / "data.npz").write_bytes(data)
    with pytest.raises(InputError, match=r"cannot read .*data\.npz: Bad CRC"):
        Arrays.load(tmp_path / "data.npz")


def test_pickled_objects_are_refused_where_they_lie(tmp_path: Path):
    np.savez(tmp_path / "data.npz", x=X, y=np.array(["a", None] * 25, object))
    with pytest.raises(InputError, match=r"cannot read .*data\.npz"):
        Arrays.load(tmp_path / "data.npz")


def test_arrays_count_their_classes():
    assert Arrays(X, Y).counts == (25, 25)
    assert Arrays(X[:4], ["a", "c", "b", "c"]).counts == (1, 1, 2)
