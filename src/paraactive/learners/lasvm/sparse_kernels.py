"""Kernel values, and sums of them, of sparse rows with sparse vectors: what `kernels` does for dense ones.

Rows that are held lie in an inverted index: for each column that one of them has, a list of (id, value), the id being
the number of the row. A row goes through its columns, in ascending order, and adds to the products of just those that
have the column as well; so the work is that of the pairs that are not 0. A vector is a row that has a slot: `ids` says
which. Each product is the chain of fused multiply-adds in the order of the features that
`blocks` computes, without the steps that add 0 and so change nothing; norms and sums add up in the order of `kernels`.
So every value has the same bits as that of the dense rows, whatever the order within a list.

Lists are found by the hash of their column. A row of `heads` has the column, -1 where a place is free; where the list
begins in `who` (ids) and `what` (values); its length; and the room that it has. There are 2**n of these rows.
"""

# pyright: basic, reportCallIssue=false

from __future__ import annotations

import numpy as np

from paraactive.basics.compiled import njit
from paraactive.learners.lasvm.kernels import LANES, POLYNOMIAL, RBF
from paraactive.learners.simd.functions import exp, fma

_MINUS_TWO, _ZERO, _UNIT = np.float32(-2), np.float32(0), np.float32(1)
_COLUMN, _BEGIN, _LENGTH, _ROOM = 0, 1, 2, 3
_FREE = np.int64(-1)
_SPREAD, _HIGH = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)
_SHORTEST = 4
"""Room of a new list."""


@njit(cache=True, nogil=True)
def squared_norms(data, indices, indptr, out):
    """||x||^2 of each row, as eight interleaved chains."""
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
def _place(heads, column):
    """Where the column is among the heads, or the free place that it would have."""
    last = len(heads) - 1
    at = np.int64((np.uint64(column) * _SPREAD) >> _HIGH) & last
    while heads[at, _COLUMN] != column and heads[at, _COLUMN] != _FREE:
        at = (at + 1) & last
    return at


@njit(cache=True, nogil=True)
def room_for(indices, heads):
    """What adding a row with these columns takes at the end of `who` and `what`."""
    room = 0
    for column in indices:
        head = heads[_place(heads, column)]
        if head[_COLUMN] == _FREE:
            room += _SHORTEST
        elif head[_LENGTH] == head[_ROOM]:
            room += 2 * head[_ROOM]
    return room


@njit(cache=True, nogil=True)
def add_rows(first, last, data, indices, begin, length, heads, who, what, used, columns):
    """Put the rows `first` to `last` into the lists, as far as there is room, half of the heads being free.

    Returns the row to go on at, how much of `who` is used, and how many columns there are.
    """
    for row in range(first, last):
        own = slice(begin[row], begin[row] + length[row])
        many = 2 * (columns + length[row]) > len(heads)
        if many or used + room_for(indices[own], heads) > len(who):
            return row, used, columns
        used, columns = _add_row(row, data[own], indices[own], heads, who, what, used, columns)
    return last, used, columns


@njit(cache=True, nogil=True)
def _add_row(row, data, indices, heads, who, what, used, columns):
    for k in range(len(indices)):
        head = heads[_place(heads, indices[k])]
        if head[_COLUMN] == _FREE:
            head[_COLUMN], head[_BEGIN], head[_LENGTH], head[_ROOM] = indices[k], used, 0, _SHORTEST
            used += _SHORTEST
            columns += 1
        begin, length = head[_BEGIN], head[_LENGTH]
        if length == head[_ROOM]:
            who[used : used + length] = who[begin : begin + length]
            what[used : used + length] = what[begin : begin + length]
            begin = used
            head[_BEGIN], head[_ROOM] = begin, 2 * length
            used += 2 * length
        who[begin + length], what[begin + length] = row, data[k]
        head[_LENGTH] = length + 1
    return used, columns


@njit(cache=True, nogil=True)
def spread(heads, more):
    """Put the heads into a larger table."""
    for old in range(len(heads)):
        if heads[old, _COLUMN] != _FREE:
            more[_place(more, heads[old, _COLUMN])] = heads[old]


# Kernel values -----------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _products(data, indices, heads, who, what, out):
    """out[r] = x.r, of one row with all that are held."""
    out[:] = _ZERO
    for k in range(len(indices)):
        head = heads[_place(heads, indices[k])]
        if head[_COLUMN] != _FREE:
            value, length = data[k], head[_LENGTH]
            # Slices and unsigned ids: without them each access would ask whether it counts from the end.
            rows, values = who[head[_BEGIN] :][:length], what[head[_BEGIN] :][:length]
            for e in range(length):
                out[rows[e]] = fma(value, values[e], out[rows[e]])


@njit(cache=True, nogil=True)
def slot_products(data, indices, heads, who, what, ids, products, out):
    """out[c] = x.s_c for as many slots as it is long; `products` has room for one of each row that is held."""
    _products(data, indices, heads, who, what, products)
    for c in range(len(out)):
        out[c] = products[ids[c]]


@njit(cache=True, nogil=True)
def to_kernel(out, xx, ss, kind, gamma, coef0, degree):
    """Products to kernel values, in place."""
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
def kernel_rows(data, indices, indptr, xx, heads, who, what, held, ids, ss, kind, gamma, coef0, degree, out):
    """out[i, c] = K(x_i, s_c) for each slot c that there is an id of."""
    products = np.empty(held, np.float32)
    for i in range(len(indptr) - 1):
        own, row = out[i, : len(ids)], slice(indptr[i], indptr[i + 1])
        slot_products(data[row], indices[row], heads, who, what, ids, products, own)
        to_kernel(own, xx[i], ss, kind, gamma, coef0, degree)


@njit(cache=True, nogil=True)
def kernel_sums(data, indices, indptr, xx, heads, who, what, held, ids, ss, kind, gamma, coef0, degree, alpha, out):
    """out[i, m] = sum over the slots of alpha[m, c] K(x_i, s_c), LANES chains at a time as in `kernels`."""
    columns = len(ids)
    products, values, sums = np.empty(held, np.float32), np.empty(columns, np.float32), np.empty(LANES)
    whole = columns - columns % LANES
    for i in range(len(indptr) - 1):
        row = slice(indptr[i], indptr[i + 1])
        slot_products(data[row], indices[row], heads, who, what, ids, products, values)
        to_kernel(values, xx[i], ss, kind, gamma, coef0, degree)
        for m in range(alpha.shape[0]):
            own = alpha[m]
            sums[:] = 0.0
            for start in range(0, whole, LANES):
                for lane in range(LANES):
                    sums[lane] += own[start + lane] * values[start + lane]
            for c in range(whole, columns):
                sums[c - whole] += own[c] * values[c]
            total = 0.0
            for lane in range(LANES):
                total += sums[lane]
            out[i, m] = total
