"""Kernel values, and sums of them, of sparse rows with sparse vectors: what `kernels` does for dense rows.

The stored rows are in an inverted index: each feature has a list of (id, value), where the id is the number of a stored
row. To multiply a row with all stored rows, the loop goes through its features in ascending order and adds to the
products of just those rows that have the feature as well. So the work is proportional to the pairs that are not 0. A
vector is a stored row that has a slot: `ids` has the stored row of each slot. Each product is the chain of fused
multiply-adds in the order of the features that `blocks` computes, without the steps that add 0 and change nothing.
Norms and sums add up in the order of `kernels`. So every value has the same bits as that of the dense rows, whatever
the order within a list.

A list is found by the hash of its feature. A row of `heads` has the feature, or -1 for a free place; the begin of the
list in `who` (ids) and `what` (values); its length; and its capacity. There are 2**n such rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paraactive.basics.compiled import njit
from paraactive.data.array_types import Doubles, Floats, Ints
from paraactive.learners.lasvm.kernels import LANES, POLYNOMIAL, RBF
from paraactive.learners.simd.functions import exp, fma

_MINUS_TWO, _ZERO, _UNIT = np.float32(-2), np.float32(0), np.float32(1)
_FEATURE, _BEGIN, _LENGTH, _CAPACITY = 0, 1, 2, 3
_FREE = np.int64(-1)
_MULTIPLIER, _HIGH = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)
_FIRST_CAPACITY = 4
"""Capacity of a new list."""


@njit(cache=True, nogil=True)
def squared_norms(data: Floats, indices: NDArray[np.int32], indptr: Ints, out: Floats):
    """Set out to ||x||^2 of each row, summed in eight interleaved chains.

    Parameters
    ----------
    data, indices, indptr : ndarray of float32, int32 and int64
        Values and features of sparse rows, and where each row begins.
    out : ndarray of float32, shape (n,)
        Where the norms go.
    """
    part = np.zeros(8, np.float32)
    for i in range(len(indptr) - 1):
        part[:] = _ZERO
        for k in range(indptr[i], indptr[i + 1]):
            lane = indices[k] % 8
            part[lane] = fma(data[k], data[k], part[lane])
        total = _ZERO
        for lane in range(8):
            total += part[lane]
        out[i] = total


# The index ---------------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _place(heads: Ints, feature: int):
    """Return the place of a feature in the table, or the free place that it would get."""
    last = len(heads) - 1
    at = np.int64((np.uint64(feature) * _MULTIPLIER) >> _HIGH) & last
    while heads[at, _FEATURE] != feature and heads[at, _FEATURE] != _FREE:
        at = (at + 1) & last
    return at


@njit(cache=True, nogil=True)
def room_for(indices: NDArray[np.int32], heads: Ints):
    """Return how many places at the end of `who` and `what` a row with these features needs.

    Parameters
    ----------
    indices : ndarray of int32
        Features of the row.
    heads : ndarray of int64, shape (2**n, 4)
        The table of the lists.
    """
    room = 0
    for feature in indices:
        head = heads[_place(heads, feature)]
        if head[_FEATURE] == _FREE:
            room += _FIRST_CAPACITY
        elif head[_LENGTH] == head[_CAPACITY]:
            room += 2 * head[_CAPACITY]
    return room


@njit(cache=True, nogil=True)
def add_rows(
    first: int,
    last: int,
    data: Floats,
    indices: NDArray[np.int32],
    begin: Ints,
    length: Ints,
    heads: Ints,
    who: NDArray[np.uint32],
    what: Floats,
    used: int,
    features: int,
):
    """Put the rows from `first` to `last` into the lists, as far as there is room. Half of the table stays free.

    Returns the next row, how much of `who` is used, and the number of features.

    Parameters
    ----------
    first, last : int
        The stored rows: first <= row < last.
    data, indices : ndarray of float32 and int32
        Values and features of all stored rows.
    begin, length : ndarray of int64
        Where each stored row begins, and its number of values.
    heads, who, what : ndarray of int64, uint32 and float32
        The lists by feature.
    used : int
        Number of places of `who` and `what` that are used.
    features : int
        Number of features that have a list.
    """
    for row in range(first, last):
        places = slice(begin[row], begin[row] + length[row])
        many = 2 * (features + length[row]) > len(heads)
        if many or used + room_for(indices[places], heads) > len(who):
            return row, used, features
        used, features = _add_row(row, data[places], indices[places], heads, who, what, used, features)
    return last, used, features


@njit(cache=True, nogil=True)
def _add_row(
    row: int,
    data: Floats,
    indices: NDArray[np.int32],
    heads: Ints,
    who: NDArray[np.uint32],
    what: Floats,
    used: int,
    features: int,
):
    for k in range(len(indices)):
        head = heads[_place(heads, indices[k])]
        if head[_FEATURE] == _FREE:
            head[_FEATURE], head[_BEGIN], head[_LENGTH], head[_CAPACITY] = indices[k], used, 0, _FIRST_CAPACITY
            used += _FIRST_CAPACITY
            features += 1
        begin, length = head[_BEGIN], head[_LENGTH]
        if length == head[_CAPACITY]:
            who[used : used + length] = who[begin : begin + length]
            what[used : used + length] = what[begin : begin + length]
            begin = used
            head[_BEGIN], head[_CAPACITY] = begin, 2 * length
            used += 2 * length
        who[begin + length], what[begin + length] = row, data[k]
        head[_LENGTH] = length + 1
    return used, features


@njit(cache=True, nogil=True)
def rehash(heads: Ints, larger: Ints):
    """Put all lists into a larger table.

    Parameters
    ----------
    heads : ndarray of int64, shape (2**n, 4)
        The table of the lists.
    larger : ndarray of int64
        The larger table, in which all places are free.
    """
    for old in range(len(heads)):
        if heads[old, _FEATURE] != _FREE:
            larger[_place(larger, heads[old, _FEATURE])] = heads[old]


# Kernel values -----------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _products(
    data: Floats, indices: NDArray[np.int32], heads: Ints, who: NDArray[np.uint32], what: Floats, out: Floats
):
    """Set out[r] = x.r, of one row x with each stored row r."""
    out[:] = _ZERO
    for k in range(len(indices)):
        head = heads[_place(heads, indices[k])]
        if head[_FEATURE] != _FREE:
            value, length = data[k], head[_LENGTH]
            # Slices and unsigned ids avoid a test for negative indices in each access.
            rows, values = who[head[_BEGIN] :][:length], what[head[_BEGIN] :][:length]
            for e in range(length):
                out[rows[e]] = fma(value, values[e], out[rows[e]])


@njit(cache=True, nogil=True)
def slot_products(
    data: Floats,
    indices: NDArray[np.int32],
    heads: Ints,
    who: NDArray[np.uint32],
    what: Floats,
    ids: Ints,
    products: Floats,
    out: Floats,
):
    """Set out[c] = x.s_c for the first len(out) slots; `products` has a place for each stored row.

    Parameters
    ----------
    data, indices : ndarray of float32 and int32
        Values and features of the row x.
    heads, who, what : ndarray of int64, uint32 and float32
        The lists by feature.
    ids : ndarray of int64, shape (slots,)
        The stored row of each slot.
    products : ndarray of float32, shape (stored rows,)
        Memory for the products with the stored rows.
    out : ndarray of float32
        Where the products go.
    """
    _products(data, indices, heads, who, what, products)
    for c in range(len(out)):
        out[c] = products[ids[c]]


@njit(cache=True, nogil=True)
def to_kernel_row(
    out: Floats, xx: np.float32, ss: Floats, kind: int, gamma: np.float32, coef0: np.float32, degree: int
):
    """Turn products into kernel values, in place.

    Parameters
    ----------
    out : ndarray of float32
        The products.
    xx : float32
        Squared norm of the row.
    ss : ndarray of float32, shape (slots,)
        Squared norms of the vectors.
    kind, gamma, coef0, degree : int or float32
        The kernel; see `kernels`.
    """
    if kind == RBF:
        for c in range(len(out)):
            out[c] = exp(-gamma * max(fma(_MINUS_TWO, out[c], xx + ss[c]), _ZERO))
    elif kind == POLYNOMIAL:
        for c in range(len(out)):
            base, value = fma(gamma, out[c], coef0), _UNIT
            for _ in range(degree):
                value *= base
            out[c] = value


@njit(cache=True, nogil=True)
def kernel_rows(
    data: Floats,
    indices: NDArray[np.int32],
    indptr: Ints,
    xx: Floats,
    heads: Ints,
    who: NDArray[np.uint32],
    what: Floats,
    held: int,
    ids: Ints,
    ss: Floats,
    kind: int,
    gamma: np.float32,
    coef0: np.float32,
    degree: int,
    out: Floats,
):
    """Set out[i, c] = K(x_i, s_c) for each slot c in `ids`.

    Parameters
    ----------
    data, indices, indptr : ndarray of float32, int32 and int64
        Values and features of sparse rows, and where each row begins.
    xx : ndarray of float32, shape (n,)
        Squared norms of the rows.
    heads, who, what : ndarray of int64, uint32 and float32
        The lists by feature.
    held : int
        Number of stored rows.
    ids : ndarray of int64, shape (slots,)
        The stored row of each slot.
    ss : ndarray of float32, shape (slots,)
        Squared norms of the vectors.
    kind, gamma, coef0, degree : int or float32
        The kernel; see `kernels`.
    out : ndarray of float32, shape (n, slots)
        Where the kernel values go.
    """
    products = np.empty(held, np.float32)
    for i in range(len(indptr) - 1):
        values, row = out[i, : len(ids)], slice(indptr[i], indptr[i + 1])
        slot_products(data[row], indices[row], heads, who, what, ids, products, values)
        to_kernel_row(values, xx[i], ss, kind, gamma, coef0, degree)


@njit(cache=True, nogil=True)
def kernel_sums(
    data: Floats,
    indices: NDArray[np.int32],
    indptr: Ints,
    xx: Floats,
    heads: Ints,
    who: NDArray[np.uint32],
    what: Floats,
    held: int,
    ids: Ints,
    ss: Floats,
    kind: int,
    gamma: np.float32,
    coef0: np.float32,
    degree: int,
    alpha: Doubles,
    out: Doubles,
):
    """Set out[i, m] = sum over the slots of alpha[m, c] K(x_i, s_c), in LANES chains as in `kernels`.

    Parameters
    ----------
    data, indices, indptr : ndarray of float32, int32 and int64
        Values and features of sparse rows, and where each row begins.
    xx : ndarray of float32, shape (n,)
        Squared norms of the rows.
    heads, who, what : ndarray of int64, uint32 and float32
        The lists by feature.
    held : int
        Number of stored rows.
    ids : ndarray of int64, shape (slots,)
        The stored row of each slot.
    ss : ndarray of float32, shape (slots,)
        Squared norms of the vectors.
    kind, gamma, coef0, degree : int or float32
        The kernel; see `kernels`.
    alpha : ndarray of float64, shape (machines, slots)
        Factors of the vectors, for each machine.
    out : ndarray of float64, shape (n, machines)
        Where the sums go.
    """
    columns = len(ids)
    products, values, sums = np.empty(held, np.float32), np.empty(columns, np.float32), np.empty(LANES)
    whole = columns - columns % LANES
    for i in range(len(indptr) - 1):
        row = slice(indptr[i], indptr[i + 1])
        slot_products(data[row], indices[row], heads, who, what, ids, products, values)
        to_kernel_row(values, xx[i], ss, kind, gamma, coef0, degree)
        for m in range(alpha.shape[0]):
            weights = alpha[m]
            sums[:] = 0.0
            for start in range(0, whole, LANES):
                for lane in range(LANES):
                    sums[lane] += weights[start + lane] * values[start + lane]
            for c in range(whole, columns):
                sums[c - whole] += weights[c] * values[c]
            total = 0.0
            for lane in range(LANES):
                total += sums[lane]
            out[i, m] = total
