from __future__ import annotations

import numpy as np

from paraactive.data.examples import SparseRows
from paraactive.learners.lasvm import kernels, sparse_kernels

RNG = np.random.default_rng(0)
X = np.where(RNG.random((20, 30)) < 0.2, RNG.normal(size=(20, 30)), 0).astype(np.float32)
ROWS = SparseRows.of(X)


def _table(size: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    table = np.zeros((size, 4), np.int64)
    table[:, 0] = -1
    return table


def test_norms_have_the_bits_of_dense_rows() -> None:
    found, expected = np.empty(20, np.float32), np.empty(20, np.float32)
    sparse_kernels.squared_norms(ROWS.data, ROWS.indices, ROWS.indptr, found)
    kernels.squared_norms(X, expected)
    assert found.tobytes() == expected.tobytes()


def test_products_through_the_index_are_those_of_dense_rows_also_after_a_larger_table() -> None:
    heads, who, what = _table(128), np.empty(1000, np.uint32), np.empty(1000, np.float32)
    begin, length = ROWS.indptr[:-1].copy(), ROWS.lengths.astype(np.int64)
    done, used, features = sparse_kernels.add_rows(
        0, 20, ROWS.data, ROWS.indices, begin, length, heads, who, what, 0, 0
    )
    assert (done, features) == (20, np.count_nonzero(X.any(axis=0)))
    assert used <= 1000
    larger = _table(256)
    sparse_kernels.rehash(heads, larger)
    ids, one = np.array([4, 0, 19]), slice(ROWS.indptr[7], ROWS.indptr[8])
    for table in (heads, larger):
        out, products = np.empty(3, np.float32), np.empty(20, np.float32)
        sparse_kernels.slot_products(ROWS.data[one], ROWS.indices[one], table, who, what, ids, products, out)
        np.testing.assert_allclose(out, X[ids].astype(np.float64) @ X[7], atol=1e-6)


def test_rows_are_added_as_far_as_there_is_room() -> None:
    heads, who, what = _table(64), np.empty(60, np.uint32), np.empty(60, np.float32)
    begin, length = ROWS.indptr[:-1].copy(), ROWS.lengths.astype(np.int64)
    done, used, _ = sparse_kernels.add_rows(0, 20, ROWS.data, ROWS.indices, begin, length, heads, who, what, 0, 0)
    assert 0 < done < 20
    next_row = ROWS.indices[ROWS.indptr[done] : ROWS.indptr[done + 1]]
    assert used + sparse_kernels.room_for(next_row, heads) > 60
