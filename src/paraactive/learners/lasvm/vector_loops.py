"""Compiled loops on the vectors of LaSVM: put a vector into a slot, move it, compute kernel values.

Each function is written once for dense and once for sparse vectors. Numba chooses by the type of the arrays, and
compiles a loop only for the kind of vectors that is used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba.core.types.containers import NamedTuple as NamedTupleType
from numba.extending import overload
from numpy.typing import NDArray

from paraactive.basics.compiled import njit
from paraactive.data.examples import Floats, Ints
from paraactive.learners.lasvm.kernels import LANES, ROWS, to_kernel_block
from paraactive.learners.lasvm.sparse_kernels import slot_products, to_kernel_row
from paraactive.learners.simd.blocks import add_wide_product
from paraactive.learners.simd.functions import fma


class DenseArrays(NamedTuple):
    """Dense vectors and the kernel: all that a kernel value depends on.

    Parameters
    ----------
    panels : ndarray of float32, shape (panels, width, LANES)
        The vectors; see `blocks`.
    ss : ndarray of float32, shape (slots,)
        Squared norm of each slot's vector.
    kind, gamma, coef0, degree : int or float32
        The kernel; see `kernels`.
    """

    panels: Floats
    ss: Floats
    kind: int
    gamma: np.float32
    coef0: np.float32
    degree: int


class SparseArrays(NamedTuple):
    """Sparse vectors and the kernel. A vector that changes its slot keeps its place in memory.

    Parameters
    ----------
    ids : ndarray of int64, shape (slots,)
        The stored row that is the vector of each slot.
    held : int
        Number of stored rows.
    data, indices : ndarray of float32 and int32
        Values and features of the stored rows, one row after the other.
    begin, length : ndarray of int64, shape (held,)
        Where each stored row begins in `data` and `indices`, and its number of values.
    heads, who, what : ndarray of int64, uint32 and float32
        The lists by feature; see `sparse_kernels`.
    ss : ndarray of float32, shape (slots,)
        Squared norm of each slot's vector.
    kind, gamma, coef0, degree : int or float32
        The kernel; see `kernels`.
    """

    ids: Ints
    held: int
    data: Floats
    indices: NDArray[np.int32]
    begin: Ints
    length: Ints
    heads: Ints
    who: NDArray[np.uint32]
    what: Floats
    ss: Floats
    kind: int
    gamma: np.float32
    coef0: np.float32
    degree: int


def _by_kind(name: str, dense: Callable[..., object], sparse: Callable[..., object]):
    """Return a function for compiled loops that chooses by its last argument, the arrays of the vectors."""

    def function(*arguments: object):
        raise TypeError(f"{name} can only be called by compiled loops")

    @overload(function, strict=False)
    def choose(*arguments: NamedTupleType):
        return dense if arguments[-1].instance_class is DenseArrays else sparse

    function.__name__ = name
    return function


# Slots -----------------------------------------------------------------------------------------------------------


def _put_dense(x: Floats, e: int, slot: int, v: DenseArrays):
    panels = v.panels
    for k in range(x.shape[1]):
        panels[slot // LANES, k, slot % LANES] = x[e, k]


def _put_sparse(x: Ints, e: int, slot: int, v: SparseArrays):
    v.ids[slot] = x[e]


put = _by_kind("put", _put_dense, _put_sparse)
"""put(x, e, slot, vectors) puts example e of a batch into a slot."""


def _shift_dense(slot: int, to: int, v: DenseArrays):
    panels = v.panels
    for k in range(panels.shape[1]):
        panels[to // LANES, k, to % LANES] = panels[slot // LANES, k, slot % LANES]


def _shift_sparse(slot: int, to: int, v: SparseArrays):
    v.ids[to] = v.ids[slot]


shift = _by_kind("shift", _shift_dense, _shift_sparse)
"""shift(slot, to, vectors) copies the vector of a slot into another slot."""


def _clear_dense(slot: int, v: DenseArrays):
    panels = v.panels
    for k in range(panels.shape[1]):
        panels[slot // LANES, k, slot % LANES] = np.float32(0)


def _clear_sparse(slot: int, v: SparseArrays):
    v.ids[slot] = 0


clear = _by_kind("clear", _clear_dense, _clear_sparse)
"""clear(slot, vectors) makes a slot empty."""


# Kernel values ---------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _copy_vector(s: int, panels: Floats, ss: Floats, to: int | np.int64, x: Floats, xx: Floats):
    for k in range(x.shape[1]):
        x[to, k] = panels[s // LANES, k, s % LANES]
    xx[to] = ss[s]


@njit(cache=True, nogil=True)
def _fill_block(x: Floats, xx: Floats, first: int | np.int64, panel: int, v: DenseArrays, block: Floats):
    """Compute the kernel values of ROWS rows from `first` on with the columns of a panel."""
    for r in range(ROWS):
        for lane in range(LANES):
            block[r, lane] = np.float32(0)
    add_wide_product(x, first, v.panels, panel, 0, x.shape[1], block)
    to_kernel_block(block, xx, first, v.ss, panel * LANES, v.kind, v.gamma, v.coef0, v.degree)


@njit(cache=True, nogil=True)
def _block():
    return np.empty((ROWS, LANES), np.float32)


def _value_dense(i: int, t: int, v: DenseArrays):
    """Compute K with the whole panel of t."""
    x, xx, block = np.zeros((ROWS, v.panels.shape[1]), np.float32), np.zeros(ROWS, np.float32), _block()
    first = np.int64(0)
    _copy_vector(i, v.panels, v.ss, first, x, xx)
    _fill_block(x, xx, first, t // LANES, v, block)
    return block[0, t % LANES]


def _value_sparse(i: int, t: int, v: SparseArrays):
    """Compute K from the features that both vectors have."""
    indices, data, one, other = v.indices, v.data, v.ids[i], v.ids[t]
    a, b = v.begin[one], v.begin[other]
    last_a, last_b = a + v.length[one], b + v.length[other]
    out = np.zeros(1, np.float32)
    while a < last_a and b < last_b:
        if indices[a] == indices[b]:
            out[0] = fma(data[a], data[b], out[0])
            a += 1
            b += 1
        elif indices[a] < indices[b]:
            a += 1
        else:
            b += 1
    to_kernel_row(out, v.ss[i], v.ss[t : t + 1], v.kind, v.gamma, v.coef0, v.degree)
    return out[0]


value = _by_kind("value", _value_dense, _value_sparse)
"""value(i, t, vectors) returns K of the vectors in two slots."""


def _compute_dense(slots: Ints, into: Ints, count: int, values: Floats, v: DenseArrays):
    """Compute all rows in one pass over the vectors."""
    known = len(slots)
    padded = -(-known // ROWS) * ROWS
    x, xx, block = np.zeros((padded, v.panels.shape[1]), np.float32), np.zeros(padded, np.float32), _block()
    for k in range(known):
        _copy_vector(slots[k], v.panels, v.ss, k, x, xx)
    for panel in range(-(-count // LANES)):
        for first in range(0, known, ROWS):
            _fill_block(x, xx, first, panel, v, block)
            for r in range(min(ROWS, known - first)):
                for lane in range(LANES):
                    values[into[first + r], panel * LANES + lane] = block[r, lane]


def _compute_sparse(slots: Ints, into: Ints, count: int, values: Floats, v: SparseArrays):
    products = np.empty(v.held, np.float32)
    for k in range(len(slots)):
        s, out = slots[k], values[into[k], :count]
        begin, length = v.begin[v.ids[s]], v.length[v.ids[s]]
        data, indices = v.data[begin : begin + length], v.indices[begin : begin + length]
        slot_products(data, indices, v.heads, v.who, v.what, v.ids, products, out)
        to_kernel_row(out, v.ss[s], v.ss, v.kind, v.gamma, v.coef0, v.degree)  # pyright: ignore[reportArgumentType]


compute = _by_kind("compute", _compute_dense, _compute_sparse)
"""compute(slots, into, count, values, vectors) sets values[into[k], t] = K(slots[k], t) for all slots t < count."""
