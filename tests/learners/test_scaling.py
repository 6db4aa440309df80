from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import StandardScaler

from paraactive import Digits
from paraactive.learners.scaling import ColumnScaling, looks_like_pixels

RNG = np.random.default_rng(0)


def test_it_is_the_standard_scaler_of_scikit_learn() -> None:
    x = RNG.normal(size=(9000, 4)) * [1, 1e5, 1e-5, 3] + [0, 1e6, 0, -7]
    weight = RNG.uniform(0.5, 2, 9000)
    known: Any = StandardScaler().fit(x, sample_weight=weight)
    scaling = ColumnScaling.of(x, weight)
    assert np.allclose(scaling.center, known.mean_)
    assert np.allclose(scaling.scale, known.scale_)
    assert np.allclose(scaling.apply(x), known.transform(x), atol=1e-5)


def test_a_constant_column_becomes_zero_exactly() -> None:
    x = np.column_stack([np.full(30, 0.1), np.full(30, 1e9 + 0.3), np.arange(30)])
    for rows in (x, x.astype(np.float32)):
        scaling = ColumnScaling.of(rows, RNG.random(30) + 0.1)
        assert scaling.scale[:2].tolist() == [1.0, 1.0]
        assert not scaling.apply(rows)[:, :2].any()


def test_rounding_noise_is_not_blown_up() -> None:
    x = np.array([[0.1 + 0.2], [0.3]] * 10)
    assert abs(ColumnScaling.of(x).apply(x)).max() < 1e-15


def test_missing_values_do_not_count_and_become_the_mean() -> None:
    x = np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, np.nan]])
    scaling = ColumnScaling.of(x)
    assert scaling.center.tolist() == [2.0, 0.0]
    assert scaling.scale.tolist() == [1.0, 1.0]
    assert scaling.apply(x).tolist() == [[-1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]


def test_differences_are_kept_that_float32_alone_would_lose() -> None:
    x = (1.7e9 + np.arange(100.0)).reshape(-1, 1)
    assert len(np.unique(x.astype(np.float32))) <= 2
    for scale in (True, False):
        assert len(np.unique(ColumnScaling.of(x, scale=scale).apply(x))) == 100


def test_without_scale_other_columns_keep_their_bits() -> None:
    x = RNG.normal(size=(50, 3)) * [1, 1e5, 1e-5]
    scaling = ColumnScaling.of(x, scale=False)
    assert np.array_equal(scaling.apply(x), x.astype(np.float32))
    assert np.allclose(scaling.apply(np.full((1, 3), np.nan)), x.mean(axis=0))


def test_the_scaled_value_does_not_depend_on_other_rows() -> None:
    x = RNG.normal(size=(5000, 3)).astype(np.float32)
    scaling = ColumnScaling.of(x)
    assert np.array_equal(scaling.apply(x)[4099:4103], scaling.apply(x[4099:4103]))


@pytest.mark.parametrize(
    "x", [load_digits(return_X_y=True)[0], Digits().test().x, RNG.random((300, 100)) < 0.1], ids=len
)
def test_images_and_many_binary_columns_look_like_pixels(x: np.ndarray) -> None:
    assert looks_like_pixels(np.asarray(x, np.float64))


@pytest.mark.parametrize(
    "x",
    [
        load_breast_cancer(return_X_y=True)[0],
        RNG.normal(size=(2000, 100)),
        RNG.poisson(RNG.lognormal(0, 2, 100), size=(2000, 100)),
        np.column_stack([RNG.random((500, 80)), RNG.random(500) * 1e5]),
        np.ones((10, 64)),
        np.zeros((0, 64)),
    ],
    ids=["few columns", "normal", "counts", "one large column", "constant", "no rows"],
)
def test_other_columns_do_not_look_like_pixels(x: np.ndarray) -> None:
    assert not looks_like_pixels(x)
