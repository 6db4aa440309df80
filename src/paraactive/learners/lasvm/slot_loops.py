"""Compiled loops over the slots of LaSVM: what follows from the alphas, and the eviction of useless vectors.

Slots 0 to count - 1 hold the live vectors. There may be several machines, each with a row of alphas, gradients and
bounds over the same slots: one machine for two classes, one for each class against the rest for more. The machines
share vectors, kernel values and boxes; a vector stays while any machine needs it.

Inside loops, arrays get names of their own: numba counts references each time that an array is taken out of a tuple.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraactive.basics.compiled import njit
from paraactive.data.examples import Doubles, Ints
from paraactive.learners.lasvm.gradient_loops import DOWN, NONE, UP, search
from paraactive.learners.lasvm.kernel_cache_loops import CacheArrays, remove_slot
from paraactive.learners.lasvm.machine_loops import padded
from paraactive.learners.lasvm.vector_loops import DenseArrays, SparseArrays, clear, shift

GAP, BIAS = 0, 1
"""Rows of `Slots.extremes`: the gradient difference of the most violating pair of each machine, and its bias."""


class Slots(NamedTuple):
    """What is known of the live vectors besides the vectors themselves.

    Parameters
    ----------
    alpha, g, lower, upper : ndarray of float64, shape (machines, slots)
        Signed alphas, their gradients and their bounds.
    keys : ndarray of int64, shape (slots,)
        Keys of the examples.
    origin : ndarray of int64, shape (slots,)
        Where the kernel values of a batch with the vector are: of an old vector, in that column of `Batch.old_rows`;
        of a new one, in column ~origin of `Batch.new_rows`.
    extremes : ndarray of float64, shape (2, machines)
        See `GAP` and `BIAS`.
    """

    alpha: Doubles
    g: Doubles
    lower: Doubles
    upper: Doubles
    keys: Ints
    origin: Ints
    extremes: Doubles


class Derived(NamedTuple):
    """What follows from the alphas and gradients; the loops keep it up to date during a call.

    Parameters
    ----------
    free : ndarray of uint8, shape (machines, slots)
        The directions in which an alpha may move; see `gradient_loops`.
    pairs : ndarray of int64, shape (2 * machines,)
        The most violating pair of machine m, at 2m and 2m + 1.
    busy : ndarray of int64, shape (slots,)
        Number of machines in which the alpha of a slot is not 0.
    idle : ndarray of int64, shape (slots,)
        The slots in which no machine is busy, in no order. Only these can be useless.
    idle_at : ndarray of int64, shape (slots,)
        The place of a slot in `idle`, or NONE.
    idle_count : ndarray of int64, shape (1,)
        Number of idle slots.
    by_slot : ndarray of float64, shape (slots, machines)
        The alphas, transposed and padded for `machine_loops`; empty if there is one machine only.
    """

    free: NDArray[np.uint8]
    pairs: Ints
    busy: Ints
    idle: Ints
    idle_at: Ints
    idle_count: Ints
    by_slot: Doubles


# What follows from the alphas ------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def derive(count: int, slots: Slots):
    """Compute what follows from the alphas and gradients of all slots.

    Parameters
    ----------
    count : int
        Number of live vectors.
    slots : Slots
        What is known of the live vectors.
    """
    machines, size = slots.alpha.shape
    derived = Derived(
        np.zeros((machines, size), np.uint8), np.full(2 * machines, NONE), np.zeros(size, np.int64),
        np.empty(size, np.int64), np.full(size, NONE), np.zeros(1, np.int64),
        np.zeros((size, padded(machines)) if machines > 1 else (0, 0)),
    )  # fmt: skip
    busy, by_slot = derived.busy, derived.by_slot
    for m in range(machines):
        alpha, lower, upper, free = slots.alpha[m], slots.lower[m], slots.upper[m], derived.free[m]
        for s in range(count):
            free[s] = free_directions(alpha[s], lower[s], upper[s])
            busy[s] += alpha[s] != 0.0
        if machines > 1:
            for s in range(count):
                by_slot[s, m] = alpha[s]
        _search_pair(m, count, slots, derived)
    for s in range(count):
        if not busy[s]:
            mark_idle(s, derived)
    return derived


@njit(cache=True, nogil=True)
def free_directions(alpha: float, lower: float, upper: float):
    """Return the directions in which an alpha may move.

    Parameters
    ----------
    alpha, lower, upper : float
        The alpha and its bounds.
    """
    return (UP if alpha < upper else np.uint8(0)) | (DOWN if alpha > lower else np.uint8(0))


@njit(cache=True, nogil=True)
def _search_pair(m: int, count: int, slots: Slots, derived: Derived):
    i, j = search(count, slots.g[m], derived.free[m])
    derived.pairs[2 * m], derived.pairs[2 * m + 1] = i, j


@njit(cache=True, nogil=True)
def mark_idle(s: int, derived: Derived):
    """Put slot s into the list of idle slots.

    Parameters
    ----------
    s : int
        The slot.
    derived : Derived
        What follows from the alphas and gradients.
    """
    derived.idle_at[s] = derived.idle_count[0]
    derived.idle[derived.idle_count[0]] = s
    derived.idle_count[0] += 1


@njit(cache=True, nogil=True)
def _mark_busy(s: int, derived: Derived):
    """Take slot s out of the list of idle slots."""
    derived.idle_count[0] -= 1
    other = derived.idle[derived.idle_count[0]]
    derived.idle[derived.idle_at[s]], derived.idle_at[other] = other, derived.idle_at[s]
    derived.idle_at[s] = NONE


@njit(cache=True, nogil=True)
def set_alpha(m: int, s: int, value: float, slots: Slots, derived: Derived):
    """Set the alpha of a slot for one machine, and what follows from it except the gradients.

    Parameters
    ----------
    m : int
        The machine.
    s : int
        The slot.
    value : float
        The new alpha.
    slots : Slots
        What is known of the live vectors.
    derived : Derived
        What follows from the alphas and gradients.
    """
    before = slots.alpha[m, s]
    slots.alpha[m, s] = value
    if len(derived.by_slot):
        derived.by_slot[s, m] = value
    derived.free[m, s] = free_directions(value, slots.lower[m, s], slots.upper[m, s])
    derived.busy[s] += (value != 0.0) - (before != 0.0)
    if derived.busy[s] and derived.idle_at[s] != NONE:
        _mark_busy(s, derived)
    elif not derived.busy[s] and derived.idle_at[s] == NONE:
        mark_idle(s, derived)


# Eviction --------------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def evict(s: int, count: int, slots: Slots, derived: Derived, cache: CacheArrays, vectors: DenseArrays | SparseArrays):
    """Remove the vector of slot s, which is idle. The last slot moves into its place, and is cleared.

    Parameters
    ----------
    s : int
        The slot.
    count : int
        Number of live vectors.
    slots : Slots
        What is known of the live vectors.
    derived : Derived
        What follows from the alphas and gradients.
    cache : CacheArrays
        The cached rows of the kernel matrix.
    vectors : DenseArrays or SparseArrays
        The vectors and the kernel.
    """
    last = count - 1
    remove_slot(s, count, cache, vectors)
    _mark_busy(s, derived)
    if s != last:
        for m in range(slots.alpha.shape[0]):
            slots.alpha[m, s], slots.g[m, s] = slots.alpha[m, last], slots.g[m, last]
            slots.lower[m, s], slots.upper[m, s] = slots.lower[m, last], slots.upper[m, last]
            derived.free[m, s] = derived.free[m, last]
            if len(derived.by_slot):
                derived.by_slot[s, m] = slots.alpha[m, last]
        slots.keys[s], slots.origin[s], vectors.ss[s] = slots.keys[last], slots.origin[last], vectors.ss[last]
        shift(last, s, vectors)
        derived.busy[s] = derived.busy[last]
        if not derived.busy[last]:
            _mark_busy(last, derived)
            mark_idle(s, derived)
    # Scores add alpha times the kernel for all lanes of a panel: an empty lane must add 0.
    for m in range(slots.alpha.shape[0]):
        slots.alpha[m, last] = 0.0
        if len(derived.by_slot):
            derived.by_slot[last, m] = 0.0
        derived.free[m, last] = 0
        _update_pair(m, s, last, slots, derived)
    clear(last, vectors)


@njit(cache=True, nogil=True)
def _update_pair(m: int, s: int, last: int, slots: Slots, derived: Derived):
    """Find the most violating pair after slot `last` moved into slot s; of equal gradients the first slot counts."""
    g, lost = slots.g[m], False
    for side, way in ((0, UP), (1, DOWN)):
        best = derived.pairs[2 * m + side]
        if best == s:
            lost = True
        elif best == last or (best != NONE and s < min(best, last) and g[s] == g[best] and derived.free[m, s] & way):
            derived.pairs[2 * m + side] = s
    if lost:
        _search_pair(m, last, slots, derived)


@njit(cache=True, nogil=True)
def note_extremes(slots: Slots, derived: Derived):
    """Set gaps and biases. Returns whether a machine has a pair: with one class only there is none.

    Parameters
    ----------
    slots : Slots
        What is known of the live vectors.
    derived : Derived
        What follows from the alphas and gradients.
    """
    ready, g, pairs, extremes = False, slots.g, derived.pairs, slots.extremes
    for m in range(g.shape[0]):
        i, j = pairs[2 * m], pairs[2 * m + 1]
        if i == NONE or j == NONE:
            # One class only so far: the bias answers with that class.
            extremes[GAP, m], extremes[BIAS, m] = 0.0, 0.0 if i == j else g[m, max(i, j)]
        else:
            largest, smallest = g[m, i], g[m, j]
            extremes[GAP, m], extremes[BIAS, m] = largest - smallest, 0.5 * (largest + smallest)
            ready = True
    return ready


@njit(cache=True, nogil=True)
def _find_useless(idle: Ints, idle_count: int, pairs: Ints, g: Doubles, lower: Doubles):
    """Return the idle slots that no machine could move, the last first, and their number.

    Their gradients lie beyond those of the most violating pair.
    """
    useless, found = np.empty(idle_count, np.int64), 0
    for k in range(idle_count):
        s, needed = idle[k], False
        for m in range(g.shape[0]):
            i, j = pairs[2 * m], pairs[2 * m + 1]
            if i != NONE and j != NONE and (g[m, s] < g[m, i] if lower[m, s] < 0.0 else g[m, s] > g[m, j]):
                needed = True
                break
        if not needed:
            at = found
            while at > 0 and useless[at - 1] < s:
                useless[at] = useless[at - 1]
                at -= 1
            useless[at] = s
            found += 1
    return useless, found


@njit(cache=True, nogil=True)
def evict_useless(count: int, slots: Slots, derived: Derived, cache: CacheArrays, vectors: DenseArrays | SparseArrays):
    """Evict the vectors that no machine needs, and set gaps and biases. Returns the new count.

    Parameters
    ----------
    count : int
        Number of live vectors.
    slots : Slots
        What is known of the live vectors.
    derived : Derived
        What follows from the alphas and gradients.
    cache : CacheArrays
        The cached rows of the kernel matrix.
    vectors : DenseArrays or SparseArrays
        The vectors and the kernel.
    """
    if not note_extremes(slots, derived):  # With one class only, all vectors would count as useless.
        return count
    useless, found = _find_useless(derived.idle, derived.idle_count[0], derived.pairs, slots.g, slots.lower)
    for k in range(found):
        evict(useless[k], count, slots, derived, cache, vectors)
        count -= 1
    return count
