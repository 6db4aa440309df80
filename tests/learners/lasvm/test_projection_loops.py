from __future__ import annotations

import numpy as np

from paraactive.learners.lasvm.projection_loops import orthonormalize, shorten
from paraactive.learners.simd.short_blocks import LARGEST


def test_orthonormal_rows_span_what_was_given_and_dependent_ones_vanish() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(5, 20))
    rows[3] = rows[0] + 2 * rows[1]
    out = orthonormalize(rows.copy())
    assert not out[3].any()
    left = rows - rows @ out.T.astype(np.float64) @ out
    np.testing.assert_allclose(left, 0, atol=1e-5)


def test_coordinates_are_rounded_to_whole_steps_and_cut_off() -> None:
    rows = np.array([[0.0, 0.26, -0.24], [1e9, -1e9, 0.5]], np.float32)
    out = np.full((4, 3), 7, np.int16)
    shorten(rows, np.float32(0.1), out)
    assert out.tolist() == [[0, 3, -2], [LARGEST, -LARGEST, 5], [0, 0, 0], [0, 0, 0]]
