"""Kernel values of rows that were scored, kept for the update that may follow.

With a cascade, a row that gets an exact score is likely to be selected, and then learned on the same node.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from paraactive.data.examples import Features, Floats
from paraactive.learners.lasvm.kernels import LANES
from paraactive.learners.lasvm.vectors import Kernel, Vectors
from paraactive.learners.simd.blocks import panels_for

ScoredRows: TypeAlias = dict[bytes, Floats]
"""Kernel values with all vectors, by the bytes of the row. They are valid until the vectors change."""
_MAX_NUMBERS = 8_000_000
"""Limit of the numbers that are kept, kernel values and features: 32 MB."""


def fits(scored: ScoredRows, rows: int, vectors: Vectors) -> bool:
    """Return whether the kernel values of this number of further rows may be kept.

    Parameters
    ----------
    scored : ScoredRows
        The kernel values that were kept.
    rows : int
        Number of further rows.
    vectors : Vectors
        The vectors.
    """
    return (len(scored) + rows) * (vectors.count + vectors.width) <= _MAX_NUMBERS


def score_and_keep(scored: ScoredRows, x: Floats, xx: Floats, vectors: Vectors, kernel: Kernel) -> Floats:
    """Return the kernel values of rows with all vectors, padded to whole panels, and keep them.

    Parameters
    ----------
    scored : ScoredRows
        The kernel values that were kept.
    x : ndarray of float32, shape (n, width)
        The rows, relative to the center.
    xx : ndarray of float32, shape (n,)
        Squared norms of the rows x.
    vectors : Vectors
        The vectors.
    kernel : Kernel
        The kernel.
    """
    values = np.zeros((len(x), panels_for(vectors.count, LANES) * LANES), np.float32)
    vectors.kernel_rows(x, xx, kernel, values)
    for row, row_values in zip(x, values, strict=True):
        scored[row.tobytes()] = row_values.copy()  # A view would keep the values of all rows in memory.
    return values


def kernel_rows(scored: ScoredRows, x: Features, xx: Floats, vectors: Vectors, kernel: Kernel) -> Floats:
    """Return the kernel values of rows with all vectors; only those of rows that were not scored are computed.

    Parameters
    ----------
    scored : ScoredRows
        The kernel values that were kept.
    x : ndarray of float32 or SparseRows
        Rows of features, relative to the center.
    xx : ndarray of float32, shape (n,)
        Squared norms of the rows x.
    vectors : Vectors
        The vectors.
    kernel : Kernel
        The kernel.
    """
    rows = np.empty((len(x), vectors.count), np.float32)
    found = [scored.get(row.tobytes()) for row in x] if scored else [None] * len(x)
    missing = np.array([place for place, values in enumerate(found) if values is None], np.intp)
    if len(missing) == len(x):
        vectors.kernel_rows(x, xx, kernel, rows)
        return rows
    for place, values in enumerate(found):
        if values is not None:
            rows[place] = values[: vectors.count]
    if len(missing):
        computed = np.empty((len(missing), vectors.count), np.float32)
        vectors.kernel_rows(x[missing], xx[missing], kernel, computed)
        rows[missing] = computed
    return rows
