"""Kernel values from short integers, against plain numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraactive.learners.lasvm.projection_loops import cheap_sums
from paraactive.learners.simd.blocks import WIDE_LANES as LANES
from paraactive.learners.simd.blocks import WIDE_ROWS as ROWS
from paraactive.learners.simd.short_blocks import LARGEST


def _packed(s: np.ndarray) -> np.ndarray:
    """Vectors (n, rank), a whole number of panels, as panels of neighbouring coordinates."""
    panels, rank = len(s) // LANES, s.shape[1]
    return np.ascontiguousarray(s.reshape(panels, LANES, rank // 2, 2).transpose(0, 2, 1, 3)).reshape(
        panels, -1, 2 * LANES
    )


def _sums(x: np.ndarray, xx: np.ndarray, s: np.ndarray, ss: np.ndarray, alpha: np.ndarray, gamma: float, scale: float):
    rows = -(-len(x) // ROWS) * ROWS
    filled, norms = np.zeros((rows, x.shape[1]), np.int16), np.zeros(rows, np.float32)
    filled[: len(x)], norms[: len(x)] = x, xx
    out = np.full((len(x), len(alpha)), np.nan)
    cheap_sums(filled, norms, len(x), _packed(s), ss, alpha, np.float32(gamma), np.float32(scale), out)
    return out


@pytest.mark.parametrize("rank", [2, 48, 96])
@pytest.mark.parametrize(("rows", "panels", "machines"), [(1, 1, 1), (7, 2, 1), (65, 3, 1), (130, 2, 3)])
def test_sums_are_those_of_the_formula(rank: int, rows: int, panels: int, machines: int) -> None:
    rng = np.random.default_rng(rank + rows)
    x = rng.integers(-LARGEST, LARGEST + 1, (rows, rank)).astype(np.int16)
    s = rng.integers(-LARGEST, LARGEST + 1, (panels * LANES, rank)).astype(np.int16)
    scale = 3.0 / LARGEST**2
    xx, ss = ((scale * (v.astype(np.float64) ** 2).sum(axis=1) + rng.random(len(v))).astype(np.float32) for v in (x, s))
    alpha = rng.normal(size=(machines, len(s))).astype(np.float32)
    distance = xx[:, None].astype(np.float64) + ss - 2 * np.float32(scale) * (x.astype(np.int64) @ s.T.astype(np.int64))
    expected = np.exp(-0.05 * np.maximum(distance, 0)) @ alpha.T.astype(np.float64)
    np.testing.assert_allclose(_sums(x, xx, s, ss, alpha, 0.05, scale), expected, rtol=1e-3, atol=1e-4)


def test_the_largest_coordinates_are_not_too_many_for_32_bits() -> None:
    x = np.full((1, 96), LARGEST, np.int16)
    s = np.repeat([[LARGEST], [-LARGEST]], LANES, axis=0).astype(np.int16).repeat(96, axis=1)
    norm = np.float32(96 * LARGEST**2 * 1e-8)
    alpha = np.zeros((2, 2 * LANES), np.float32)
    alpha[0, :LANES], alpha[1, LANES:] = 1, 1
    near, far = _sums(x, np.array([norm]), s, np.full(2 * LANES, norm), alpha, 1.0, 1e-8)[0]
    assert near == pytest.approx(LANES, rel=1e-4)  # The same point, and its opposite.
    assert far < 1e-20


@given(cut=st.integers(1, 149), seed=st.integers(0, 5))
@settings(max_examples=20, deadline=None)
def test_a_sum_does_not_depend_on_the_rows_beside_it(cut: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, s = (rng.integers(-900, 900, (n, 48)).astype(np.int16) for n in (150, 2 * LANES))
    xx, ss = (rng.random(n).astype(np.float32) * 40 for n in (150, 2 * LANES))
    alpha = rng.normal(size=(1, 2 * LANES)).astype(np.float32)
    whole = _sums(x, xx, s, ss, alpha, 0.1, 1e-5)
    parts = [_sums(x[a:b], xx[a:b], s, ss, alpha, 0.1, 1e-5) for a, b in ((0, cut), (cut, 150))]
    assert np.array_equal(whole, np.concatenate(parts))
