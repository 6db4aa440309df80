"""Kernel values, and sums of them, from block products: the hot loops of scoring with support vectors.

    rbf         exp(-gamma ||x - s||^2),  ||x - s||^2 = ||x||^2 + ||s||^2 - 2 x.s
    linear      x.s
    polynomial  (gamma x.s + coef0) ** degree

Every value depends on its two vectors alone (see `blocks`), so the value in a score, in an update and after loading
a saved model is the same, bit for bit.
"""

# pyright: basic, reportCallIssue=false

from __future__ import annotations

import numpy as np
from numba import njit

from paraactive.learners.blocks import LANES, ROWS, block_product, exp, fma

RBF, LINEAR, POLYNOMIAL = 0, 1, 2
TILE = 64
"""Rows scored between two passes over the panels: enough to hide their traffic, few enough for the L2 cache."""

_MINUS_TWO, _ZERO, _UNIT = np.float32(-2), np.float32(0), np.float32(1)


@njit(cache=True, nogil=True)
def squared_norms(x, out):
    """||x||^2 of each row, as eight interleaved chains."""
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
def _to_kernel(block, xx, row, ss, column, kind, gamma, coef0, degree):
    """Products to kernel values, in place. xx, ss: squared norms of the rows and of the columns."""
    if kind == RBF:
        for r in range(ROWS):
            for lane in range(LANES):
                distance = fma(_MINUS_TWO, block[r, lane], xx[row + r] + ss[column + lane])
                block[r, lane] = exp(-gamma * max(distance, _ZERO))
    elif kind == POLYNOMIAL:
        for r in range(ROWS):
            for lane in range(LANES):
                base, value = fma(gamma, block[r, lane], coef0), _UNIT
                for _ in range(degree):
                    value *= base
                block[r, lane] = value


@njit(cache=True, nogil=True)
def _last_rows(x, xx):
    """The rows behind the last whole block, filled up with zeros to one, with their norms."""
    first = x.shape[0] - x.shape[0] % ROWS
    rest, norms = np.zeros((ROWS, x.shape[1]), np.float32), np.zeros(ROWS, np.float32)
    for r in range(x.shape[0] - first):
        rest[r] = x[first + r]
        norms[r] = xx[first + r]
    return rest, norms


@njit(cache=True, nogil=True)
def _kernel_block(x, xx, row, rest, rest_norms, panels, ss, panel, kind, gamma, coef0, degree, block):
    """Kernel values of ROWS rows from `row` on with the LANES columns of a panel."""
    if row + ROWS <= x.shape[0]:
        block_product(x, row, panels, panel, block)
        _to_kernel(block, xx, row, ss, panel * LANES, kind, gamma, coef0, degree)
    else:
        block_product(rest, 0, panels, panel, block)
        _to_kernel(block, rest_norms, 0, ss, panel * LANES, kind, gamma, coef0, degree)


@njit(cache=True, nogil=True)
def kernel_rows(x, xx, panels, ss, columns, kind, gamma, coef0, degree, out):
    """out[i, c] = K(x_i, s_c) for c < columns."""
    block = np.empty((ROWS, LANES), np.float32)
    rest, rest_norms = _last_rows(x, xx)
    for first in range(0, x.shape[0], TILE):
        for panel in range(-(-columns // LANES)):
            start = panel * LANES
            for row in range(first, min(first + TILE, x.shape[0]), ROWS):
                _kernel_block(x, xx, row, rest, rest_norms, panels, ss, panel, kind, gamma, coef0, degree, block)
                for r in range(min(ROWS, x.shape[0] - row)):
                    for lane in range(min(LANES, columns - start)):
                        out[row + r, start + lane] = block[r, lane]


@njit(cache=True, nogil=True)
def kernel_sums(x, xx, panels, ss, alpha, columns, kind, gamma, coef0, degree, out):
    """out[i, m] = sum over c < columns of alpha[m, c] K(x_i, s_c); alpha is 0 from there to the end of its panel."""
    machines = alpha.shape[0]
    block = np.empty((ROWS, LANES), np.float32)
    sums = np.empty((machines, TILE, LANES), np.float64)
    rest, rest_norms = _last_rows(x, xx)
    for first in range(0, x.shape[0], TILE):
        last = min(first + TILE, x.shape[0])
        sums[:] = 0.0
        for panel in range(-(-columns // LANES)):
            start = panel * LANES
            for row in range(first, last, ROWS):
                _kernel_block(x, xx, row, rest, rest_norms, panels, ss, panel, kind, gamma, coef0, degree, block)
                for m in range(machines):
                    own, into = alpha[m], sums[m]
                    for r in range(ROWS):
                        for lane in range(LANES):
                            into[row - first + r, lane] += own[start + lane] * block[r, lane]
        for i in range(first, last):
            for m in range(machines):
                total = 0.0
                for lane in range(LANES):
                    total += sums[m, i - first, lane]
                out[i, m] = total
