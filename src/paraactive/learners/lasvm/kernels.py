"""Kernel values, and sums of them, from block products: the compiled loops of scoring with support vectors.

    rbf         exp(-gamma ||x - s||^2),  ||x - s||^2 = ||x||^2 + ||s||^2 - 2 x.s
    linear      x.s
    polynomial  (gamma x.s + coef0) ** degree

Every value depends on its two vectors alone (see `blocks`), so the value in a score, in an update and after loading
a saved model is the same, bit for bit.
"""

from __future__ import annotations

import numpy as np

from paraactive.basics.compiled import njit
from paraactive.data.array_types import Doubles, Floats
from paraactive.learners.simd.blocks import WIDE_LANES as LANES
from paraactive.learners.simd.blocks import WIDE_ROWS as ROWS
from paraactive.learners.simd.blocks import add_products_of_rows, add_weighted, add_wide_product, to_rbf
from paraactive.learners.simd.functions import fma

RBF, LINEAR, POLYNOMIAL = 0, 1, 2
CHUNK_ROWS = 64
"""Rows scored in one pass over the panels: enough to hide the memory traffic, few enough for the L2 cache."""
_CHUNK_FEATURES = 112
"""Features taken at a time: this part of a panel stays in the L1 cache while all rows of a chunk are multiplied."""

_TILE = 32
_MINUS_TWO, _ZERO, _UNIT = np.float32(-2), np.float32(0), np.float32(1)


@njit(cache=True, nogil=True)
def squared_norms(x: Floats, out: Floats):
    """Set out to ||x||^2 of each row, summed in eight interleaved chains.

    Parameters
    ----------
    x : ndarray of float32, shape (n, width)
        The rows.
    out : ndarray of float32, shape (n,)
        Where the norms go.
    """
    part = np.zeros(8, np.float32)
    width = x.shape[1]
    for i in range(x.shape[0]):
        part[:] = _ZERO
        for k in range(0, width - 7, 8):
            for lane in range(8):
                part[lane] = fma(x[i, k + lane], x[i, k + lane], part[lane])
        for k in range(width - width % 8, width):
            part[k % 8] = fma(x[i, k], x[i, k], part[k % 8])
        total = _ZERO
        for lane in range(8):
            total += part[lane]
        out[i] = total


@njit(cache=True, nogil=True)
def to_kernel_block(
    block: Floats,
    xx: Floats,
    row: int | np.int64,
    ss: Floats,
    column: int,
    kind: int,
    gamma: np.float32,
    coef0: np.float32,
    degree: int,
):
    """Turn products into kernel values, in place. xx and ss are squared norms of the rows and of the columns.

    Parameters
    ----------
    block : ndarray of float32, shape (ROWS, LANES)
        The products.
    xx : ndarray of float32
        Squared norms of the rows.
    row : int
        The row of the block's first row in xx.
    ss : ndarray of float32
        Squared norms of the columns.
    column : int
        The column of the block's first column in ss.
    kind, gamma, coef0, degree : int or float32
        The kernel; see `kernels`.
    """
    if kind == RBF:
        to_rbf(block, xx, row, ss, column, gamma)
    elif kind == POLYNOMIAL:
        for r in range(ROWS):
            for lane in range(LANES):
                block[r, lane] = _power(fma(gamma, block[r, lane], coef0), degree)


@njit(cache=True, nogil=True)
def _power(base: np.float32, degree: int):
    value = _UNIT
    for _ in range(degree):
        value *= base
    return value


@njit(cache=True, nogil=True)
def _last_rows(x: Floats, xx: Floats):
    """Return the rows behind the last whole block, padded with zeros to a block, and their norms."""
    first = x.shape[0] - x.shape[0] % ROWS
    rest, norms = np.zeros((ROWS, x.shape[1]), np.float32), np.zeros(ROWS, np.float32)
    for r in range(x.shape[0] - first):
        rest[r] = x[first + r]
        norms[r] = xx[first + r]
    return rest, norms


@njit(cache=True, nogil=True)
def _kernel_blocks(
    x: Floats,
    xx: Floats,
    first: int,
    last: int,
    rest: Floats,
    rest_norms: Floats,
    panels: Floats,
    ss: Floats,
    panel: int,
    kind: int,
    gamma: np.float32,
    coef0: np.float32,
    degree: int,
    blocks: Floats,
):
    """Compute kernel values of the rows from `first` to `last`, ROWS in a block, with the LANES columns of a panel."""
    count, width, whole = -(-(last - first) // ROWS), x.shape[1], x.shape[0] - ROWS
    blocks[:count] = _ZERO
    for k in range(0, width, _CHUNK_FEATURES):
        end = min(k + _CHUNK_FEATURES, width)
        for b in range(count):
            row = first + b * ROWS
            if row <= whole:
                add_wide_product(x, row, panels, panel, k, end, blocks[b])
            else:
                add_wide_product(rest, 0, panels, panel, k, end, blocks[b])
    for b in range(count):
        row = first + b * ROWS
        if row <= whole:
            to_kernel_block(blocks[b], xx, row, ss, panel * LANES, kind, gamma, coef0, degree)
        else:
            to_kernel_block(blocks[b], rest_norms, 0, ss, panel * LANES, kind, gamma, coef0, degree)


@njit(cache=True, nogil=True)
def kernel_rows(
    x: Floats,
    xx: Floats,
    panels: Floats,
    ss: Floats,
    columns: int,
    kind: int,
    gamma: np.float32,
    coef0: np.float32,
    degree: int,
    out: Floats,
):
    """Set out[i, c] = K(x_i, s_c) for c < columns.

    Parameters
    ----------
    x : ndarray of float32, shape (n, width)
        The rows.
    xx : ndarray of float32, shape (n,)
        Squared norms of the rows x.
    panels : ndarray of float32, shape (panels, width, LANES)
        The vectors; see `blocks`.
    ss : ndarray of float32, shape (slots,)
        Squared norms of the vectors.
    columns : int
        Number of vectors.
    kind, gamma, coef0, degree : int or float32
        The kernel; see `kernels`.
    out : ndarray of float32, shape (n, columns)
        Where the kernel values go.
    """
    blocks = np.empty((CHUNK_ROWS // ROWS, ROWS, LANES), np.float32)
    rest, rest_norms = _last_rows(x, xx)
    for first in range(0, x.shape[0], CHUNK_ROWS):
        last = min(first + CHUNK_ROWS, x.shape[0])
        for panel in range(-(-columns // LANES)):
            start = panel * LANES
            _kernel_blocks(x, xx, first, last, rest, rest_norms, panels, ss, panel, kind, gamma, coef0, degree, blocks)
            for i in range(first, last):
                b, r = (i - first) // ROWS, (i - first) % ROWS  # Not a view: numba would count references to it.
                for lane in range(min(LANES, columns - start)):
                    out[i, start + lane] = blocks[b, r, lane]


@njit(cache=True, nogil=True)
def sums_of_rows(rows: Floats, alpha: Doubles, out: Doubles):
    """Set out[i, m] = sum over c of alpha[m, c] rows[i, c], with the bits of `kernel_sums`.

    Rows are padded to whole panels.

    Parameters
    ----------
    rows : ndarray of float32, shape (n, slots)
        Kernel values.
    alpha : ndarray of float64, shape (machines, slots)
        Factors of the vectors, for each machine.
    out : ndarray of float64, shape (n, machines)
        Where the sums go.
    """
    lanes = np.empty(LANES, np.float64)
    for i in range(rows.shape[0]):
        for m in range(alpha.shape[0]):
            lanes[:] = 0.0
            add_products_of_rows(rows, i, alpha, m, lanes)
            total = 0.0
            for lane in range(LANES):
                total += lanes[lane]
            out[i, m] = total


@njit(cache=True, nogil=True)
def kernel_sums(
    x: Floats,
    xx: Floats,
    panels: Floats,
    ss: Floats,
    alpha: Doubles,
    columns: int,
    kind: int,
    gamma: np.float32,
    coef0: np.float32,
    degree: int,
    out: Doubles,
):
    """Set out[i, m] = sum over c < columns of alpha[m, c] K(x_i, s_c).

    From `columns` to the end of its panel, alpha is 0.

    Parameters
    ----------
    x : ndarray of float32, shape (n, width)
        The rows.
    xx : ndarray of float32, shape (n,)
        Squared norms of the rows x.
    panels : ndarray of float32, shape (panels, width, LANES)
        The vectors; see `blocks`.
    ss : ndarray of float32, shape (slots,)
        Squared norms of the vectors.
    alpha : ndarray of float64, shape (machines, slots)
        Factors of the vectors, for each machine.
    columns : int
        Number of vectors.
    kind, gamma, coef0, degree : int or float32
        The kernel; see `kernels`.
    out : ndarray of float64, shape (n, machines)
        Where the sums go.
    """
    machines = alpha.shape[0]
    blocks = np.empty((CHUNK_ROWS // ROWS, ROWS, LANES), np.float32)
    sums = np.empty((machines, CHUNK_ROWS, LANES), np.float64)
    rest, rest_norms = _last_rows(x, xx)
    for first in range(0, x.shape[0], CHUNK_ROWS):
        last = min(first + CHUNK_ROWS, x.shape[0])
        sums[:] = 0.0
        for panel in range(-(-columns // LANES)):
            start = panel * LANES
            _kernel_blocks(x, xx, first, last, rest, rest_norms, panels, ss, panel, kind, gamma, coef0, degree, blocks)
            for b in range(-(-(last - first) // ROWS)):
                block = blocks[b]
                for m in range(machines):
                    add_weighted(block, alpha, m, start, sums, b * ROWS)
        for i in range(first, last):
            for m in range(machines):
                total = 0.0
                for lane in range(LANES):
                    total += sums[m, i - first, lane]
                out[i, m] = total


@njit(cache=True, nogil=True)
def transposed(rows: Floats):
    """Return the transposed matrix. It is copied in small tiles, which stay in the L1 cache.

    Parameters
    ----------
    rows : ndarray of float32, shape (n, m)
        The matrix.
    """
    height, width = rows.shape
    out = np.empty((width, height), np.float32)
    for top in range(0, height, _TILE):
        for left in range(0, width, _TILE):
            for k in range(left, min(left + _TILE, width)):
                for i in range(top, min(top + _TILE, height)):
                    out[k, i] = rows[i, k]
    return out
