"""Small tables for the tests, written as users write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from paraactive.data.examples import COLUMNS, Examples


def frame(rows: int = 60, width: int = 3, seed: int = 0, classes: tuple[Any, ...] = ("ham", "spam")) -> Any:
    """Columns f0, f1, ... with the label y in the middle."""
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {f"f{place}": rng.normal(size=rows) for place in range(width)}
    names = list(columns)
    columns["y"] = [classes[number % len(classes)] for number in rng.permutation(rows)]
    return pd.DataFrame(columns)[[*names[:1], "y", *names[1:]]]


def parquet(path: Path, data: Any, row_group: int = 16) -> Path:
    table = data if isinstance(data, pa.Table) else pa.Table.from_pandas(data, preserve_index=False)
    pq.write_table(table, path, row_group_size=row_group)
    return path


def csv(path: Path, data: Any, **options: Any) -> Path:
    data.to_csv(path, index=False, **options)
    return path


def same(one: Examples, other: Examples) -> bool:
    columns = [(getattr(one, name), getattr(other, name)) for name in COLUMNS]
    return all(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in columns)
