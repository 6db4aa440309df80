"""Compiled loops that keep LaSVM to its limit of vectors: the least important vector is merged into its neighbor."""

from __future__ import annotations

import numpy as np

from paraactive.basics.compiled import njit
from paraactive.data.array_types import Doubles, Floats
from paraactive.learners.lasvm.gradient_loops import NONE, step_and_search
from paraactive.learners.lasvm.kernel_cache_loops import CacheArrays, fetch_rows, squared_length
from paraactive.learners.lasvm.slot_loops import Derived, Slots, derive, evict, note_extremes, set_alpha
from paraactive.learners.lasvm.vector_loops import DenseArrays, SparseArrays


@njit(cache=True, nogil=True)
def merge_down_to(max_vectors: int, count: int, slots: Slots, cache: CacheArrays, vectors: DenseArrays | SparseArrays):
    """While there are more than `max_vectors` vectors, merge the one with the smallest alphas. Returns the new count.

    The vector counts as a copy of the vector of its class that is nearest in the space of the kernel. That vector gets
    its alphas and its box, as two copies of an example count as one with the sum of their weights.

    Parameters
    ----------
    max_vectors : int
        Largest number of vectors.
    count : int
        Number of live vectors.
    slots : Slots
        What is known of the live vectors.
    cache : CacheArrays
        The cached rows of the kernel matrix.
    vectors : DenseArrays or SparseArrays
        The vectors and the kernel.
    """
    derived, wanted = derive(count, slots), np.empty(2, np.int64)
    while count > max_vectors:
        s = _least_important(count, slots.alpha, slots.upper)
        wanted[0] = wanted[1] = s
        fetch_rows(wanted, count, cache, vectors)
        wanted[1] = _nearest(s, count, cache.values[cache.place[s]], slots.upper, vectors)
        fetch_rows(wanted, count, cache, vectors)
        for m in range(slots.alpha.shape[0]):
            _hand_over(m, s, wanted[1], count, slots, derived, cache)
        evict(s, count, slots, derived, cache, vectors)
        count -= 1
        note_extremes(slots, derived)
    return count


@njit(cache=True, nogil=True)
def _class(s: int, upper: Doubles):
    """Return the machine on whose positive side the vector is; with a single machine, the side."""
    for m in range(upper.shape[0]):
        if upper[m, s] > 0.0:
            return m
    return upper.shape[0]


@njit(cache=True, nogil=True)
def _least_important(count: int, alpha: Doubles, upper: Doubles):
    """Return the first slot with the smallest sum of |alpha| over machines that is not the last of its class.

    There are more vectors than classes, so such a slot exists.
    """
    members = np.zeros(alpha.shape[0] + 1, np.int64)
    for s in range(count):
        members[_class(s, upper)] += 1
    least, found = np.inf, NONE
    for s in range(count):
        total = 0.0
        for m in range(alpha.shape[0]):
            total += abs(alpha[m, s])
        if total < least and members[_class(s, upper)] > 1:
            least, found = total, s
    return found


@njit(cache=True, nogil=True)
def _nearest(s: int, count: int, row: Floats, upper: Doubles, vectors: DenseArrays | SparseArrays):
    """Return the other slot of the same class with the smallest K(t, t) - 2 K(s, t)."""
    least, found, same, ss = np.inf, NONE, _class(s, upper), vectors.ss
    for t in range(count):
        if t != s and _class(t, upper) == same:
            distance = squared_length(ss[t], vectors.kind, vectors.gamma, vectors.coef0, vectors.degree) - 2.0 * row[t]
            if found == NONE or distance < least:
                least, found = distance, t
    return found


@njit(cache=True, nogil=True)
def _hand_over(m: int, s: int, t: int, count: int, slots: Slots, derived: Derived, cache: CacheArrays):
    """Add the alpha and the box of slot s to those of slot t."""
    amount = slots.alpha[m, s]
    slots.lower[m, t] += slots.lower[m, s]
    slots.upper[m, t] += slots.upper[m, s]
    set_alpha(m, t, slots.alpha[m, t] + amount, slots, derived)
    set_alpha(m, s, 0.0, slots, derived)
    row_t, row_s = cache.values[cache.place[t]], cache.values[cache.place[s]]
    pair = step_and_search(count, amount, row_t, row_s, slots.g[m], derived.free[m])
    derived.pairs[2 * m], derived.pairs[2 * m + 1] = pair[0], pair[1]
