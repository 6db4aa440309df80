"""The compiled loops of the kernel cache: rows of kernel values of live vectors, updated when they are needed.

A vector lies in a slot. Each change of a slot (a vector is inserted, or moves into it) is an event with a number,
`born` of that slot. A row is valid for the slots that were born up to the event at which it was `updated`; later values
are fetched when the row is next needed. So an insertion writes one row, and a move writes the row of its vector only.

Kernel values are symmetric to the bit, so a value K(i, t) that row i lacks is read from row t. Row t has the value: a
vector's row is up to date when the vector is inserted and when it moves, so born[i] <= updated[i] < born[t] <=
updated[t]. Row t is still in the cache, because the least recently used row is dropped first, and row t was used after
row i. Only a vector that moved while it had no row leaves a value to compute; the value has the same bits, as every
kernel value has (see `kernels`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paraactive.basics.compiled import njit
from paraactive.data.examples import Floats, Ints
from paraactive.learners.lasvm.kernels import LINEAR, POLYNOMIAL, RBF
from paraactive.learners.lasvm.vector_loops import DenseArrays, SparseArrays, compute, value

NONE = -1
"""No row, or no slot."""
EVENTS, USES, SPARE, BATCH = 0, 1, 2, 3
"""Places in `CacheArrays.numbers`: the number of the last event, of the last use of a row, of spare rows, and of the
last event before the batch that is being learned."""


class CacheArrays(NamedTuple):
    """The cache as the loops see it.

    Parameters
    ----------
    values : ndarray of float32, shape (rows, slots)
        Kernel values.
    place : ndarray of int64, shape (slots,)
        The row of a slot, or NONE.
    owner : ndarray of int64, shape (rows,)
        The slot of a row, or NONE.
    updated : ndarray of int64, shape (rows,)
        The last event that a row knows of.
    used : ndarray of int64, shape (rows,)
        The last use of a row.
    spare : ndarray of int64, shape (rows,)
        A stack of rows without an owner.
    born : ndarray of int64, shape (slots,)
        The event that put the vector into its slot.
    journal : ndarray of int64
        The slots of the latest events: event e is at e modulo the length, which is a power of two.
    numbers : ndarray of int64, shape (4,)
        See `EVENTS`, `USES`, `SPARE` and `BATCH`.
    columns : ndarray of float32, shape (vectors at the start of the batch, n)
        Kernel values of these vectors with the examples of the batch; empty outside of a batch.
    within : ndarray of float32, shape (n, n)
        Kernel values within the batch.
    origin : ndarray of int64, shape (slots,)
        See `Slots.origin`.
    """

    values: Floats
    place: Ints
    owner: Ints
    updated: Ints
    used: Ints
    spare: Ints
    born: Ints
    journal: Ints
    numbers: Ints
    columns: Floats
    within: Floats
    origin: Ints


@njit(cache=True, nogil=True)
def fetch_rows(wanted: Ints, count: int, cache: CacheArrays, vectors: DenseArrays | SparseArrays):
    """Bring the rows of these slots, except NONE, into the cache and up to date. Missing rows are computed together.

    Parameters
    ----------
    wanted : ndarray of int64
        The slots. A slot may be given twice.
    count : int
        Number of live vectors.
    cache : CacheArrays
        The cached rows of the kernel matrix.
    vectors : DenseArrays or SparseArrays
        The vectors and the kernel.
    """
    missing = np.int64(0)
    for s in wanted:
        if s != NONE:
            if cache.place[s] == NONE:
                missing += 1
            else:
                _update_row(s, count, cache, vectors)
                _mark_used(cache.place[s], cache)  # pyright: ignore[reportArgumentType]
    if missing:
        _compute_rows(wanted, missing, count, cache, vectors)


@njit(cache=True, nogil=True)
def _mark_used(row: int, cache: CacheArrays):
    cache.numbers[USES] += 1
    cache.used[row] = cache.numbers[USES]


@njit(cache=True, nogil=True)
def _update_row(i: int, count: int, cache: CacheArrays, vectors: DenseArrays | SparseArrays):
    """Fetch the values that the row of slot i lacks. Slots from `count` on are empty."""
    values, place, born, journal, origin = cache.values, cache.place, cache.born, cache.journal, cache.origin
    row, now, last = place[i], cache.numbers[EVENTS], len(journal) - 1
    since, target, begun = cache.updated[row], values[row], cache.numbers[BATCH]
    rowless, own = 0, cache.within[~origin[i]] if origin[i] < 0 else cache.columns[origin[i]]
    # Within the batch, values of one vector lie side by side; in a column of the cache, they are far apart in memory.
    if now - since <= last:
        for event in range(since + 1, now + 1):
            t = journal[event & last]
            if t < count and born[t] == event:
                if event > begun and origin[t] < 0:
                    target[t] = own[~origin[t]]
                elif place[t] != NONE:
                    target[t] = values[place[t], i]
                else:
                    rowless += 1
    else:
        for t in range(count):
            if born[t] > since:
                if born[t] > begun and origin[t] < 0:
                    target[t] = own[~origin[t]]
                elif place[t] != NONE:
                    target[t] = values[place[t], i]
                else:
                    rowless += 1
    if rowless:
        for t in range(count):
            if born[t] > since and place[t] == NONE:
                target[t] = value(i, t, vectors)
    cache.updated[row] = now


@njit(cache=True, nogil=True)
def update_all_rows(count: int, cache: CacheArrays, vectors: DenseArrays | SparseArrays):
    """Fetch the values that the rows of all slots lack, while those of the batch are at hand.

    Parameters
    ----------
    count : int
        Number of live vectors.
    cache : CacheArrays
        The cached rows of the kernel matrix.
    vectors : DenseArrays or SparseArrays
        The vectors and the kernel.
    """
    place, born, values, updated, origin = cache.place, cache.born, cache.values, cache.updated, cache.origin
    columns, within, begun, now = cache.columns, cache.within, cache.numbers[BATCH], cache.numbers[EVENTS]
    oldest = now
    for s in range(count):
        if place[s] != NONE:
            oldest = min(oldest, updated[place[s]])
    new, moved, of_batch, others = np.empty(count, np.int64), np.empty(count, np.int64), 0, 0
    for t in range(count):
        if born[t] > begun and origin[t] < 0:
            new[of_batch] = t
            of_batch += 1
        elif born[t] > oldest:
            moved[others] = t
            others += 1
    for s in range(count):
        row, at = place[s], origin[s]
        if row != NONE and updated[row] < now:
            for k in range(of_batch):
                t = new[k]
                values[row, t] = within[~at, ~origin[t]] if at < 0 else columns[at, ~origin[t]]
            for k in range(others):
                t = moved[k]
                if born[t] > updated[row]:
                    values[row, t] = values[place[t], s] if place[t] != NONE else value(s, t, vectors)
            updated[row] = now


@njit(cache=True, nogil=True)
def _compute_rows(wanted: Ints, missing: np.int64, count: int, cache: CacheArrays, vectors: DenseArrays | SparseArrays):
    """Compute the whole rows of those slots that have none, all of them together."""
    slots, into, known = np.empty(missing, np.int64), np.empty(missing, np.int64), np.int64(0)
    for s in wanted:
        if s != NONE and cache.place[s] == NONE:  # A slot may be wanted twice.
            slots[known], into[known] = s, assign_row(s, cache)
            known += 1
    values = cache.values
    compute(slots[:known], into[:known], count, values, vectors)
    if vectors.kind == RBF:
        for k in range(known):
            values[into[k], slots[k]] = np.float32(1)


@njit(cache=True, nogil=True)
def assign_row(s: int, cache: CacheArrays):
    """Return a row for slot s, marked as up to date: a spare row, or the least recently used one.

    Parameters
    ----------
    s : int
        The slot.
    cache : CacheArrays
        The cached rows of the kernel matrix.
    """
    if cache.numbers[SPARE]:
        cache.numbers[SPARE] -= 1
        row = cache.spare[cache.numbers[SPARE]]
    else:
        row, used = 0, cache.used
        for r in range(len(used)):
            row = r if used[r] < used[row] else row
        cache.place[cache.owner[row]] = NONE
    cache.place[s], cache.owner[row], cache.updated[row] = row, s, cache.numbers[EVENTS]
    _mark_used(row, cache)  # pyright: ignore[reportArgumentType]
    return row


@njit(cache=True, nogil=True)
def add_slot(s: int, cache: CacheArrays):
    """Note a new vector in slot s. Returns its row, which the caller must fill up to and including slot s.

    Parameters
    ----------
    s : int
        The slot.
    cache : CacheArrays
        The cached rows of the kernel matrix.
    """
    _note_event(s, cache)
    return assign_row(s, cache)


@njit(cache=True, nogil=True)
def _note_event(s: int, cache: CacheArrays):
    cache.numbers[EVENTS] += 1
    event = cache.numbers[EVENTS]
    cache.born[s] = event
    cache.journal[event & (len(cache.journal) - 1)] = s


@njit(cache=True, nogil=True)
def remove_slot(s: int, count: int, cache: CacheArrays, vectors: DenseArrays | SparseArrays):
    """Note that the vector of slot s goes and the last one moves into its slot. Call it before `vectors` changes.

    Parameters
    ----------
    s : int
        The slot.
    count : int
        Number of live vectors.
    cache : CacheArrays
        The cached rows of the kernel matrix.
    vectors : DenseArrays or SparseArrays
        The vectors and the kernel.
    """
    last, row = count - 1, cache.place[s]
    if row != NONE:
        cache.place[s], cache.owner[row] = NONE, NONE
        cache.spare[cache.numbers[SPARE]] = row
        cache.numbers[SPARE] += 1
    cache.born[s] = 0  # No row has to fetch its value any more.
    if s == last:
        return
    row = cache.place[last]
    if row != NONE:
        _update_row(last, count, cache, vectors)  # So that other rows can fetch from it.
        cache.values[row, s] = cache.values[row, last]
        cache.place[last], cache.place[s], cache.owner[row] = NONE, row, s
    _note_event(s, cache)
    if row != NONE:
        cache.updated[row] = cache.numbers[EVENTS]


@njit(cache=True, nogil=True)
def squared_length(norm: np.float32, kind: int, gamma: np.float32, coef0: np.float32, degree: int):
    """Return K(s, s) of a vector with this squared norm, accurate enough for comparisons.

    Parameters
    ----------
    norm : float32
        Squared norm of the vector.
    kind, gamma, coef0, degree : int or float32
        The kernel; see `kernels`.
    """
    if kind == RBF:
        return 1.0
    value = np.float64(norm) if kind == LINEAR else 1.0
    if kind == POLYNOMIAL:
        for _ in range(degree):
            value *= gamma * norm + coef0
    return value
