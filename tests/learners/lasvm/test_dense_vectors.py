from __future__ import annotations

import numpy as np
import pytest

from paraactive.learners.lasvm.dense_vectors import DenseVectors, norms, packed
from paraactive.learners.lasvm.kernels import LANES, LINEAR, RBF
from paraactive.learners.lasvm.vectors import Kernel

RNG = np.random.default_rng(0)
S, X = (RNG.normal(size=(n, 7)).astype(np.float32) for n in (LANES + 5, 11))


@pytest.fixture
def vectors() -> DenseVectors:
    vectors = DenseVectors(7)
    vectors.replace(S)
    return vectors


def test_packed_rows_are_the_columns_of_panels() -> None:
    panels, xx = packed(S, norms(S))
    for slot, row in enumerate(S):
        assert np.array_equal(panels[slot // LANES, :, slot % LANES], row)
    assert not panels[1, :, 5:].any()
    np.testing.assert_allclose(xx[: len(S)], (S.astype(np.float64) ** 2).sum(axis=1), rtol=1e-6)
    assert not xx[len(S) :].any()


def test_slots_have_the_rows_that_were_put_there(vectors: DenseVectors) -> None:
    assert np.array_equal(vectors.rows(), S)
    assert np.array_equal(vectors.rows(np.array([3, 50, 0])), S[[3, 50, 0]])
    vectors.reserve(500)
    assert np.array_equal(vectors.rows(), S)


@pytest.mark.parametrize("kind", [RBF, LINEAR])
def test_kernel_values_and_their_sums_are_those_of_the_formula(kind: int, vectors: DenseVectors) -> None:
    kernel: Kernel = kind, np.float32(0.2), np.float32(0), 1
    x, s = X.astype(np.float64), S.astype(np.float64)
    expected = x @ s.T if kind == LINEAR else np.exp(-0.2 * ((x[:, None] - s) ** 2).sum(axis=2))
    found, sums = np.empty((len(X), len(S)), np.float32), np.empty((len(X), 2))
    vectors.kernel_rows(X, norms(X), kernel, found)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    alpha = np.zeros((2, 2 * LANES))
    alpha[:, : len(S)] = RNG.normal(size=(2, len(S)))
    vectors.kernel_sums(X, norms(X), alpha, kernel, sums)
    np.testing.assert_allclose(sums, expected @ alpha[:, : len(S)].T, atol=1e-4)


def test_rows_are_relative_to_the_median_of_the_first_ones_and_come_back() -> None:
    vectors, far = DenseVectors(7), S + np.float32(1000)
    vectors.center_on(far)
    assert np.array_equal(vectors.center, np.median(far, axis=0).astype(np.float32))
    vectors.replace(vectors.relative(far))
    assert np.abs(vectors.rows()).max() < 10
    np.testing.assert_allclose(vectors.original(), far, rtol=1e-6)
    other = DenseVectors(7)
    other.load(vectors.save())
    assert np.array_equal(other.original(), vectors.original())
