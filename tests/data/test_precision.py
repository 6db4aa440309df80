from __future__ import annotations

import numpy as np
import pytest

from paraactive.data.precision import lossy_columns


def is_lossy(values: object) -> bool:
    column = np.asarray(values, np.float64)
    return bool(lossy_columns(np.array([column.min()]), np.array([column.max()]))[0])


@pytest.mark.parametrize(
    "values", [1.7e9 + np.arange(100), 2**24 + np.arange(1000), 1e6 + np.linspace(0, 1e-3, 50), -1e12 - np.arange(5)]
)
def test_numbers_whose_differences_are_rounded_away_are_found(values: object) -> None:
    assert is_lossy(values)


@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(0).normal(size=1000),
        np.random.default_rng(0).random(1000) * 1e-30,
        np.full(10, 123_456_789_123.0),
        [0.1 + 0.2, 0.3],
        np.arange(0, 10**9, 10**6),
        1.7e9 + np.arange(0, 31_536_000, 1000),
        [0.0, 0.0],
        [0.0, 1.7e9],
    ],
    ids=["normal", "tiny", "constant", "constant but for rounding", "ids", "times of a year", "zeros", "outlier"],
)
def test_ordinary_numbers_raise_no_alarm(values: object) -> None:
    assert not is_lossy(values)


def test_a_column_without_values_raises_no_alarm() -> None:
    assert not lossy_columns(np.array([np.nan]), np.array([np.nan])).any()
