from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraactive.data.examples import SparseRows
from paraactive.runs.runfile.features import JoinedBlobs, dense_rows, sparse_rows, to_blobs

ROWS = np.array([[0, 1.5, 0], [0, 0, 0], [-2, 0, 1e-30]], np.float32)


@given(blobs=st.lists(st.binary(max_size=5), min_size=1, max_size=8), data=st.data())
def test_a_range_of_joined_blobs_is_that_of_the_list(blobs: list[bytes], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(blobs)))
    last = data.draw(st.integers(first, len(blobs)))
    part = JoinedBlobs.of(blobs).between(first, last)
    starts = [0, *part.ends.tolist()]
    assert [part.data[a:b].tobytes() for a, b in zip(starts, part.ends, strict=False)] == blobs[first:last]


def test_dense_and_sparse_rows_come_back_to_the_bit() -> None:
    values, columns = to_blobs(ROWS)
    assert columns == [None] * 3
    assert dense_rows(JoinedBlobs.of(values)).tobytes() == ROWS.tobytes()
    values, columns = to_blobs(SparseRows.of(ROWS))
    assert [len(value or b"") for value in values] == [4, 0, 8]
    assert sparse_rows(JoinedBlobs.of(values), JoinedBlobs.of(columns), 3).dense().tobytes() == ROWS.tobytes()


def test_blobs_that_do_not_fit_together_are_refused() -> None:
    with pytest.raises(ValueError, match="some entries have features and others have none"):
        JoinedBlobs.of([None, b"abcd"])
    with pytest.raises(TypeError):
        JoinedBlobs.of([b"abcd", None])
    values, columns = (JoinedBlobs.of(blobs) for blobs in to_blobs(SparseRows.of(ROWS)))
    with pytest.raises(ValueError):  # noqa: PT011 (the text is that of SparseRows)
        sparse_rows(values, columns.between(0, 2), 3)
    with pytest.raises(ValueError):  # noqa: PT011
        sparse_rows(values, columns, 2)
