"""Sparse vectors against the dense loops on the same rows: the same bits, whatever was appended and removed before."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraactive.data.examples import SparseRows
from paraactive.learners.lasvm import kernels
from paraactive.learners.lasvm.dense_vectors import norms as dense_norms
from paraactive.learners.lasvm.dense_vectors import packed
from paraactive.learners.lasvm.sparse_vectors import SparseVectors, norms
from paraactive.learners.lasvm.vectors import Kernel

KINDS = (kernels.RBF, kernels.LINEAR, kernels.POLYNOMIAL)


def _kernel(kind: int) -> Kernel:
    return kind, np.float32(0.07), np.float32(0.5), 3


def _some(rng: np.random.Generator, rows: int, width: int, density: float) -> Any:
    x = np.where(rng.random((rows, width)) < density, rng.normal(size=(rows, width)), 0).astype(np.float32)
    x[rng.random(rows) < 0.1] = 0
    return x


def _dense_values(kernel: Kernel, x: Any, s: Any, alpha: Any) -> tuple[Any, Any]:
    panels, ss = packed(s, dense_norms(s))
    padded = np.zeros((len(alpha), len(ss)))
    padded[:, : len(s)] = alpha
    rows, sums = np.empty((len(x), len(s)), np.float32), np.empty((len(x), len(alpha)))
    kernels.kernel_rows(x, dense_norms(x), panels, ss, len(s), *kernel, rows)
    kernels.kernel_sums(x, dense_norms(x), panels, ss, padded, len(s), *kernel, sums)
    return rows, sums


def _sparse_values(kernel: Kernel, x: SparseRows, vectors: SparseVectors, alpha: Any) -> tuple[Any, Any]:
    rows, sums = np.empty((len(x), len(vectors)), np.float32), np.empty((len(x), len(alpha)))
    vectors.kernel_rows(x, norms(x), kernel, rows)
    vectors.kernel_sums(x, norms(x), alpha, kernel, sums)
    return rows, sums


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("slots", "width", "density"), [(1, 1, 1.0), (47, 30, 0.3), (130, 500, 0.05), (100, 40, 0.9)])
def test_kernel_values_have_the_bits_of_dense_rows(kind: int, slots: int, width: int, density: float) -> None:
    rng = np.random.default_rng(slots)
    x, s, alpha = _some(rng, 33, width, density), _some(rng, slots, width, density), rng.normal(size=(3, slots))
    vectors = SparseVectors(width)
    vectors.append(SparseRows.of(s))
    expected = _dense_values(_kernel(kind), x, s, alpha)
    found = _sparse_values(_kernel(kind), SparseRows.of(x), vectors, alpha)
    assert [each.tobytes() for each in found] == [each.tobytes() for each in expected]
    assert norms(SparseRows.of(x)).tobytes() == dense_norms(x).tobytes()


STEPS = st.one_of(
    st.tuples(st.just("append"), st.integers(0, 9)),
    st.tuples(st.just("arrange"), st.floats(0, 0.999)),
    st.tuples(st.just("replace"), st.integers(0, 9)),
)


@given(seed=st.integers(0, 10**6), steps=st.lists(STEPS, max_size=60), density=st.sampled_from([0.05, 0.4, 1.0]))
@settings(max_examples=60, deadline=None)
def test_slots_are_those_of_a_plain_list(seed: int, steps: list[tuple[str, Any]], density: float) -> None:
    rng, width = np.random.default_rng(seed), 20
    vectors, plain = SparseVectors(width), list[Any]()
    for what, how in steps:
        if what == "append":
            rows = _some(rng, how, width, density)
            vectors.append(SparseRows.of(rows))
            plain.extend(rows)
        elif what == "replace":
            rows = _some(rng, how, width, density)
            vectors.replace(SparseRows.of(rows))
            plain = list(rows)
        else:
            slots = rng.permutation(len(plain))[int(how * (len(plain) + 1)) :]
            slots = slots if how < 0.5 else np.sort(slots)
            vectors.arrange(slots)
            plain = [plain[slot] for slot in slots]
    s = np.array(plain, np.float32).reshape(-1, width)
    assert len(vectors) == len(s)
    assert np.array_equal(vectors.rows().dense(), s)
    assert vectors.squared_norms.tobytes() == dense_norms(s).tobytes()
    if len(s):
        x, alpha = _some(rng, 5, width, density), rng.normal(size=(2, len(s)))
        expected = _dense_values(_kernel(kernels.RBF), x, s, alpha)
        found = _sparse_values(_kernel(kernels.RBF), SparseRows.of(x), vectors, alpha)
        assert [each.tobytes() for each in found] == [each.tobytes() for each in expected]
        slots = rng.integers(0, len(s), 7)
        assert np.array_equal(vectors.rows(slots).dense(), s[slots])


def test_a_score_does_not_depend_on_the_tile() -> None:
    rng = np.random.default_rng(0)
    vectors, x, alpha = SparseVectors(300), SparseRows.of(_some(rng, 100, 300, 0.1)), rng.normal(size=(2, 90))
    vectors.append(SparseRows.of(_some(rng, 90, 300, 0.1)))
    whole = _sparse_values(_kernel(kernels.RBF), x, vectors, alpha)[1]
    for cut in (1, 7, 64):
        parts = [x[first : first + cut] for first in range(0, len(x), cut)]
        pieces = [_sparse_values(_kernel(kernels.RBF), part, vectors, alpha)[1] for part in parts]
        assert np.concatenate(pieces).tobytes() == whole.tobytes()


def test_threads_score_side_by_side() -> None:
    rng = np.random.default_rng(1)
    vectors, x, alpha = SparseVectors(300), SparseRows.of(_some(rng, 400, 300, 0.1)), rng.normal(size=(1, 200))
    vectors.append(SparseRows.of(_some(rng, 200, 300, 0.1)))

    def score(_: int) -> bytes:
        return _sparse_values(_kernel(kernels.RBF), x, vectors, alpha)[1].tobytes()

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(score, range(16))) == {score(0)}


def test_memory_follows_the_live_vectors_and_not_those_that_were() -> None:
    rng = np.random.default_rng(2)
    vectors = SparseVectors(2_000_000_000)
    for _ in range(200):
        columns = np.sort(rng.choice(2_000_000_000, 100, replace=False)).astype(np.int32)
        vectors.append(
            SparseRows(np.ones(1000, np.float32), np.tile(columns, 10), np.arange(0, 1001, 100), 2_000_000_000)
        )
        vectors.arrange(rng.permutation(len(vectors))[:20])
    assert vectors.nbytes < 2_000_000
    assert len(vectors.rows().data) == 2000


def test_vectors_travel() -> None:
    vectors = SparseVectors(4)
    vectors.append(SparseRows.of(np.eye(4, dtype=np.float32)))
    arrived = pickle.loads(pickle.dumps(vectors))
    arrived.arrange(np.array([0, 3, 2]))
    assert (len(arrived), len(vectors)) == (3, 4)
    assert np.array_equal(vectors.rows().dense(), np.eye(4))
