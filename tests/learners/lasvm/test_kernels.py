from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel

from paraactive.learners.lasvm import kernels
from paraactive.learners.lasvm.dense_vectors import norms as dense_norms
from paraactive.learners.lasvm.dense_vectors import packed

_GAMMA, _COEF0, _DEGREE = 0.07, 0.5, 3


def _rows(kind: int, x: Any, s: Any) -> Any:
    panels, norms = packed(s, dense_norms(s))
    out = np.empty((len(x), len(s)), np.float32)
    kernels.kernel_rows(
        x, dense_norms(x), panels, norms, len(s), kind, np.float32(_GAMMA), np.float32(_COEF0), _DEGREE, out
    )
    return out


def _sums(kind: int, x: Any, s: Any, alpha: Any) -> Any:
    panels, norms = packed(s, dense_norms(s))
    machines = np.atleast_2d(alpha)
    out, padded = np.empty((len(x), len(machines))), np.zeros((len(machines), len(norms)))
    padded[:, : len(s)] = machines
    kernels.kernel_sums(
        x, dense_norms(x), panels, norms, padded, len(s), kind, np.float32(_GAMMA), np.float32(_COEF0), _DEGREE, out
    )
    return out.reshape(len(x), *alpha.shape[:-1])


def _expected(kind: int, x: Any, s: Any) -> Any:
    x, s = x.astype(np.float64), s.astype(np.float64)
    if kind == kernels.RBF:
        return rbf_kernel(x, s, gamma=_GAMMA)
    if kind == kernels.LINEAR:
        return linear_kernel(x, s)
    return polynomial_kernel(x, s, degree=_DEGREE, gamma=_GAMMA, coef0=_COEF0)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("kind", [kernels.RBF, kernels.LINEAR, kernels.POLYNOMIAL])
@pytest.mark.parametrize(("rows", "columns", "width"), [(1, 1, 1), (5, 23, 3), (70, 25, 40), (130, 100, 784)])
def test_kernel_values_agree_with_scikit_learn(kind: int, rows: int, columns: int, width: int) -> None:
    rng = np.random.default_rng(rows)
    x = rng.normal(size=(rows, width)).astype(np.float32) / np.float32(np.sqrt(width))
    s = rng.normal(size=(columns, width)).astype(np.float32) / np.float32(np.sqrt(width))
    alpha = rng.normal(size=columns)
    expected = _expected(kind, x, s)
    np.testing.assert_allclose(_rows(kind, x, s), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(_sums(kind, x, s, alpha), expected @ alpha, rtol=1e-4, atol=1e-4)
    three = rng.normal(size=(3, columns))
    np.testing.assert_allclose(_sums(kind, x, s, three), expected @ three.T, rtol=1e-4, atol=1e-4)
    assert np.array_equal(_sums(kind, x, s, three)[:, 1], _sums(kind, x, s, three[1]))


@given(cut=st.integers(1, 199), width=st.integers(1, 40), kind=st.integers(0, 2))
@settings(max_examples=40, deadline=None)
def test_a_value_does_not_depend_on_what_it_is_computed_with(cut: int, width: int, kind: int) -> None:
    rng = np.random.default_rng(width)
    x = rng.normal(size=(200, width)).astype(np.float32)
    s, alpha = x[:60].copy(), rng.normal(size=60)
    whole = _rows(kind, x, s)
    assert np.array_equal(whole[cut:], _rows(kind, x[cut:].copy(), s))
    assert np.array_equal(whole[:, cut % 60 :], _rows(kind, x, s[cut % 60 :].copy()))
    sums = _sums(kind, x, s, alpha)
    assert np.array_equal(sums[:cut], _sums(kind, x[:cut].copy(), s, alpha))
    assert np.array_equal(sums[cut:], _sums(kind, x[cut:].copy(), s, alpha))


def test_the_kernel_matrix_is_symmetric_to_the_last_bit() -> None:
    x = np.random.default_rng(0).normal(size=(90, 33)).astype(np.float32)
    within = _rows(kernels.RBF, x, x)
    assert np.array_equal(within, within.T)


def test_norms_are_right_for_every_width() -> None:
    for width in range(1, 40):
        x = np.random.default_rng(width).normal(size=(5, width)).astype(np.float32)
        np.testing.assert_allclose(dense_norms(x), (x.astype(np.float64) ** 2).sum(1), rtol=1e-6)


def test_a_matrix_is_transposed_in_tiles() -> None:
    for shape in ((0, 5), (1, 1), (33, 70), (256, 100)):
        rows = np.random.default_rng(0).random(shape).astype(np.float32)
        assert np.array_equal(kernels.transposed(rows), rows.T)
