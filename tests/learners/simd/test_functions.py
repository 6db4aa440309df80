from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from paraactive.learners.simd.functions import exp, inverse_sqrt


@njit
def _exps(a: np.ndarray, out: np.ndarray) -> None:
    for i in range(len(a)):
        out[i] = exp(a[i])


@njit
def _inverse_roots(a: np.ndarray, out: np.ndarray) -> None:
    for i in range(len(a)):
        out[i] = inverse_sqrt(a[i])


def test_exp_is_right_to_two_units_in_ten_million() -> None:
    a = np.linspace(-87.2, 87.9, 400_001).astype(np.float32)
    out = np.empty_like(a)
    _exps(a, out)
    assert np.max(np.abs(out / np.exp(a.astype(np.float64)) - 1)) < 2e-7


def test_exp_stays_finite_and_positive_outside_its_range() -> None:
    a = np.array([-np.inf, -1e30, -200, 0, 200, 1e30, np.inf], np.float32)
    out = np.empty_like(a)
    _exps(a, out)
    assert np.all(np.isfinite(out))
    assert np.all(out > 0)
    assert out[3] == 1


@given(st.floats(2.0**-99, 2.0**99, width=32))
@settings(max_examples=300, deadline=None)
def test_inverse_sqrt_is_right_to_three_units_in_ten_million(value: float) -> None:
    out = np.empty(1, np.float32)
    _inverse_roots(np.array([value], np.float32), out)
    assert abs(out[0] * np.sqrt(np.float64(np.float32(value))) - 1) < 3e-7
