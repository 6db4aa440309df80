from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from paraactive.learners.blocks import LANES, ROWS, block_product, exp, inverse_sqrt
from paraactive.learners.lasvm import _norms, _packed


@njit
def _exps(a: np.ndarray, out: np.ndarray) -> None:
    for i in range(len(a)):
        out[i] = exp(a[i])


@njit
def _inverse_roots(a: np.ndarray, out: np.ndarray) -> None:
    for i in range(len(a)):
        out[i] = inverse_sqrt(a[i])


@njit
def _block(x: np.ndarray, row: int, panels: np.ndarray, panel: int, out: np.ndarray) -> None:
    block_product(x, row, panels, panel, out)  # pyright: ignore[reportCallIssue]


def _chain(x: np.ndarray, s: np.ndarray) -> np.float32:
    """The product as one chain of fused multiply-adds: exact in float64, then rounded to float32, step by step."""
    total = np.float32(0)
    for a, b in zip(x, s, strict=True):
        total = np.float32(np.float64(a) * np.float64(b) + np.float64(total))
    return total


@pytest.mark.parametrize("width", [1, 2, 7, 50, 784])
def test_a_block_is_the_chain_of_multiply_adds_in_the_order_of_the_features(width: int) -> None:
    rng = np.random.default_rng(width)
    x = rng.normal(size=(ROWS + 3, width)).astype(np.float32)
    s = rng.normal(size=(2 * LANES, width)).astype(np.float32)
    panels, _ = _packed(s, _norms(s))
    out = np.empty((ROWS, LANES), np.float32)
    _block(x, 2, panels, 1, out)
    expected = np.array([[_chain(x[2 + r], s[LANES + c]) for c in range(LANES)] for r in range(ROWS)])
    assert np.array_equal(out, expected)


def test_a_block_of_a_matrix_seen_as_panels_equals_that_of_a_packed_copy() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(30, 3 * LANES)).astype(np.float32)
    x = rng.normal(size=(ROWS, 30)).astype(np.float32)
    view = matrix.reshape(30, 3, LANES).transpose(1, 0, 2)
    first, second = np.empty((ROWS, LANES), np.float32), np.empty((ROWS, LANES), np.float32)
    _block(x, 0, view, 2, first)
    _block(x, 0, np.ascontiguousarray(view), 2, second)
    assert np.array_equal(first, second)


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
