from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from paraactive.learners.simd.blocks import (
    WIDE_LANES,
    WIDE_ROWS,
    add_products_of_rows,
    add_weighted,
    add_wide_product,
    packed_rows,
    to_rbf,
)
from paraactive.learners.simd.functions import exp, fma


@njit
def _wide(x: np.ndarray, row: int, panels: np.ndarray, panel: int, cut: int, out: np.ndarray) -> None:
    add_wide_product(x, row, panels, panel, 0, cut, out)  # pyright: ignore[reportCallIssue]
    add_wide_product(x, row, panels, panel, cut, x.shape[1], out)  # pyright: ignore[reportCallIssue]


@njit
def _rbf(block: np.ndarray, xx: np.ndarray, row: int, ss: np.ndarray, column: int, gamma: np.float32) -> None:
    to_rbf(block, xx, row, ss, column, gamma)  # pyright: ignore[reportCallIssue]


@njit
def _rbf_slowly(block: np.ndarray, xx: np.ndarray, row: int, ss: np.ndarray, column: int, gamma: np.float32) -> None:
    for r in range(block.shape[0]):
        for lane in range(block.shape[1]):
            distance = fma(np.float32(-2), block[r, lane], xx[row + r] + ss[column + lane])  # pyright: ignore
            block[r, lane] = exp(-gamma * max(distance, np.float32(0)))


@njit
def _weighted(block: np.ndarray, weights: np.ndarray, machine: int, column: int, sums: np.ndarray, row: int) -> None:
    add_weighted(block, weights, machine, column, sums, row)  # pyright: ignore[reportCallIssue]


@njit
def _of_rows(values: np.ndarray, row: int, weights: np.ndarray, machine: int, lanes: np.ndarray) -> None:
    add_products_of_rows(values, row, weights, machine, lanes)  # pyright: ignore[reportCallIssue]


def _chain(x: np.ndarray, s: np.ndarray) -> np.float32:
    """The product as one chain of fused multiply-adds: exact in float64, then rounded to float32, step by step."""
    total = np.float32(0)
    for a, b in zip(x, s, strict=True):
        total = np.float32(np.float64(a) * np.float64(b) + np.float64(total))
    return total


@pytest.mark.parametrize(("width", "cut"), [(2, 1), (7, 3), (50, 49), (784, 112)])
def test_a_wide_block_is_the_same_chain_wherever_the_features_are_cut(width: int, cut: int) -> None:
    rng = np.random.default_rng(width)
    x = rng.normal(size=(WIDE_ROWS + 3, width)).astype(np.float32)
    s = rng.normal(size=(2 * WIDE_LANES, width)).astype(np.float32)
    panels = packed_rows(s, WIDE_LANES)
    out = np.zeros((WIDE_ROWS, WIDE_LANES), np.float32)
    _wide(x, 2, panels, 1, cut, out)
    expected = np.array([[_chain(x[2 + r], s[WIDE_LANES + c]) for c in range(WIDE_LANES)] for r in range(WIDE_ROWS)])
    assert np.array_equal(out, expected)


@pytest.mark.parametrize("gamma", [1e-3, 0.5, 40.0, 1e30])
def test_the_rbf_of_a_block_has_the_bits_of_the_plain_loop(gamma: float) -> None:
    rng = np.random.default_rng(0)
    block = rng.normal(size=(WIDE_ROWS, WIDE_LANES)).astype(np.float32) * 3
    xx, ss = rng.random(20).astype(np.float32), rng.random(2 * WIDE_LANES).astype(np.float32)
    fast, slow = block.copy(), block.copy()
    _rbf(fast, xx, 5, ss, 30, np.float32(gamma))
    _rbf_slowly(slow, xx, 5, ss, 30, np.float32(gamma))
    assert np.array_equal(fast, slow)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_weighted_blocks_are_added_up_in_the_type_of_the_sums(kind: type[np.floating]) -> None:
    rng = np.random.default_rng(0)
    block = rng.normal(size=(WIDE_ROWS, WIDE_LANES)).astype(np.float32)
    weights = rng.normal(size=(3, 3 * WIDE_LANES)).astype(kind)
    sums = rng.normal(size=(3, 2 * WIDE_ROWS, WIDE_LANES)).astype(kind)
    expected = sums.copy()
    expected[1, 5 : 5 + WIDE_ROWS] += weights[1, 50 : 50 + WIDE_LANES] * block.astype(kind)
    _weighted(block, weights, 1, 50, sums, 5)
    assert np.array_equal(sums, expected)


@pytest.mark.parametrize("panels", [0, 1, 3])
def test_products_of_rows_are_added_up_lane_by_lane_in_the_order_of_the_panels(panels: int) -> None:
    rng = np.random.default_rng(panels)
    values = rng.normal(size=(2, panels * WIDE_LANES)).astype(np.float32)
    weights, lanes = rng.normal(size=(3, panels * WIDE_LANES)), rng.normal(size=WIDE_LANES)
    expected = lanes.copy()
    for panel in range(panels):
        part = slice(panel * WIDE_LANES, (panel + 1) * WIDE_LANES)
        expected += weights[2, part] * values[1, part].astype(np.float64)
    _of_rows(values, 1, weights, 2, lanes)
    assert np.array_equal(lanes, expected)
