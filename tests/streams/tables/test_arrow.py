"""Columns of pyarrow as arrays, against their values in Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from paraactive.streams import Table
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
