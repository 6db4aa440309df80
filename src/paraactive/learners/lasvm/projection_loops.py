"""The compiled loops of the projection: orthonormal rows, and proxy scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paraactive.basics.compiled import njit
from paraactive.data.array_types import Doubles, Floats
from paraactive.learners.lasvm.kernels import CHUNK_ROWS
from paraactive.learners.simd.blocks import WIDE_LANES as LANES
from paraactive.learners.simd.blocks import WIDE_ROWS as ROWS
from paraactive.learners.simd.blocks import add_weighted
from paraactive.learners.simd.short_blocks import LARGEST, short_rbf

_CHAINS = 8
_SUMMED_ROWS = 192
"""Rows times machines that are added up at a time: 36 kB of sums."""


@njit(cache=True, nogil=True)
def _dot(a: Doubles, b: Doubles, part: Doubles):
    """Return a.b in eight interleaved chains: the same order of additions on every machine, and it vectorizes."""
    part[:] = 0.0
    whole = a.shape[0] - a.shape[0] % _CHAINS
    for k in range(0, whole, _CHAINS):
        for lane in range(_CHAINS):
            part[lane] += a[k + lane] * b[k + lane]
    total = 0.0
    for lane in range(_CHAINS):
        total += part[lane]
    for k in range(whole, a.shape[0]):
        total += a[k] * b[k]
    return total


@njit(cache=True, nogil=True)
def orthonormalize(rows: Doubles):
    """Orthonormalize rows by Gram and Schmidt, in place and in order. Returns them as float32.

    A row that depends on the rows before it becomes 0.

    Parameters
    ----------
    rows : ndarray of float64, shape (n, width)
        The rows. They are changed.
    """
    part = np.empty(_CHAINS)
    for c in range(rows.shape[0]):
        before = np.sqrt(_dot(rows[c], rows[c], part))
        for b in range(c):
            along = _dot(rows[c], rows[b], part)
            for k in range(rows.shape[1]):
                rows[c, k] -= along * rows[b, k]
        length = np.sqrt(_dot(rows[c], rows[c], part))
        scale = 1.0 / length if length > 1e-6 * before else 0.0
        for k in range(rows.shape[1]):
            rows[c, k] *= scale
    return rows.astype(np.float32)


@njit(cache=True, nogil=True)
def shorten(rows: Floats, step: np.float32, out: NDArray[np.int16]):
    """Set out to rows / step, rounded and clipped to LARGEST. Rows of out beyond the last row are 0.

    Parameters
    ----------
    rows : ndarray of float32, shape (n, width)
        The rows.
    step : float32
        The value of 1 in out.
    out : ndarray of int16, shape (at least n, width)
        Where the short rows go.
    """
    out[:] = np.int16(0)
    for i in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            steps = np.rint(rows[i, k] / step)
            out[i, k] = np.int16(min(max(steps, np.float32(-LARGEST)), np.float32(LARGEST)))


@njit(cache=True, nogil=True)
def cheap_sums(
    x: NDArray[np.int16],
    xx: Floats,
    rows: int,
    panels: NDArray[np.int16],
    ss: Floats,
    alpha: Floats,
    gamma: np.float32,
    scale: np.float32,
    out: Doubles,
):
    """Set out[i, m] = sum_c alpha[m, c] exp(-gamma (||x_i||^2 + ||s_c||^2 - 2 scale x_i.s_c)) for i < rows.

    x and xx are padded to a whole block of rows; panels (see `short_blocks`), ss and alpha to a whole panel. The
    padding of alpha is 0.

    Parameters
    ----------
    x : ndarray of int16, shape (at least rows, width)
        The projected rows, as `shorten` makes them.
    xx : ndarray of float32
        Squared norms of the rows.
    rows : int
        Number of rows without padding.
    panels : ndarray of int16
        The projected vectors; see `short_blocks`.
    ss : ndarray of float32
        Squared norms of the vectors.
    alpha : ndarray of float32, shape (machines, columns)
        Factors of the vectors, for each machine.
    gamma : float32
        Parameter of the kernel.
    scale : float32
        The value of a product of 1 in x with 1 in the panels.
    out : ndarray of float64, shape (rows, machines)
        Where the sums go.
    """
    machines = alpha.shape[0]
    block = np.empty((ROWS, LANES), np.float32)
    # With many machines, fewer rows at a time, so that the sums stay in the first cache of the processor.
    rows_of_chunk = max(ROWS, min(CHUNK_ROWS, _SUMMED_ROWS // machines // ROWS * ROWS))
    sums = np.empty((machines, rows_of_chunk, LANES), np.float32)
    for first in range(0, x.shape[0], rows_of_chunk):
        last = min(first + rows_of_chunk, x.shape[0])
        sums[:] = np.float32(0)
        for panel in range(panels.shape[0]):
            for row in range(first, last, ROWS):
                short_rbf(x, row, panels, panel, xx, ss, gamma, scale, block)
                for m in range(machines):
                    add_weighted(block, alpha, m, panel * LANES, sums, row - first)
        for i in range(first, min(last, rows)):
            for m in range(machines):
                total = 0.0
                for lane in range(LANES):
                    total += np.float64(sums[m, i - first, lane])
                out[i, m] = total
