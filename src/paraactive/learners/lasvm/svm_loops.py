"""The compiled loops of LASVM (Bordes, Ertekin, Weston, Bottou, 2005), with importance weights.

The dual, with signed alphas: maximize sum_i alpha_i y_i - 1/2 sum_ij alpha_i alpha_j K_ij, sum_i alpha_i = 0,
lower_i <= alpha_i <= upper_i, where the box is [0, C/p] for y = +1 and [-C/p, 0] for y = -1. Its gradient is
g_i = y_i - sum_j alpha_j K_ij. A pair (i, j) is violating if alpha_i < upper_i, alpha_j > lower_j, g_i - g_j > tau;
a step on it moves alpha_i up and alpha_j down by the same amount, at most C (larger steps on heavy examples are
unstable; the optimum is the same).

Rows of K come from a cache (`kernel_cache_loops`). Kernel values are float32, alphas and gradients float64. No loop
searches for the most violating pair: a step finds the next pair on its way over the gradients (`gradient_loops`), and
insertions and evictions change the pair in known ways (`slot_loops`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paraactive.basics.compiled import njit
from paraactive.data.examples import Doubles, Floats, Ints, Labels
from paraactive.learners.lasvm.gradient_loops import DOWN, NONE, UP, step_and_search
from paraactive.learners.lasvm.kernel_cache_loops import CacheArrays, add_slot, fetch_rows, update_all_rows
from paraactive.learners.lasvm.machine_loops import sums_of_machines
from paraactive.learners.lasvm.slot_loops import (
    Derived,
    Slots,
    derive,
    evict_useless,
    free_directions,
    mark_idle,
    set_alpha,
)
from paraactive.learners.lasvm.vector_loops import DenseArrays, SparseArrays, put


class Batch(NamedTuple):
    """Examples to learn.

    Parameters
    ----------
    x : ndarray of float32 or int64
        What goes into the slots; see `vector_loops.put`.
    xx : ndarray of float32, shape (n,)
        Squared norms.
    target : ndarray of int8, shape (n, machines)
        The side, -1 or 1, on which each machine should have the example.
    box : ndarray of float64, shape (n,)
        C times the weight of the example.
    own_weight : float
        Factor of the box in the machine of the example's own class.
    key : ndarray of int64, shape (n,)
        Keys of the examples.
    old_rows : ndarray of float32, shape (n, vectors)
        Kernel values of the batch with the vectors that were live at its start.
    new_rows : ndarray of float32, shape (n, n)
        Kernel values within the batch.
    columns : ndarray of float32, shape (vectors, n)
        `old_rows`, transposed.
    """

    x: Floats | Ints
    xx: Floats
    target: Labels
    box: Doubles
    own_weight: float
    key: Ints
    old_rows: Floats
    new_rows: Floats
    columns: Floats


# Steps -----------------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _take_steps(
    pairs: Ints,
    tau: float,
    max_step: float,
    count: int,
    slots: Slots,
    derived: Derived,
    cache: CacheArrays,
    vectors: DenseArrays | SparseArrays,
):
    """Take a step of each machine on its pair, if the pair violates."""
    machines, g = slots.alpha.shape[0], slots.g
    for m in range(machines):
        i, j = pairs[2 * m], pairs[2 * m + 1]
        if i == NONE or j == NONE or not g[m, i] - g[m, j] > tau:
            pairs[2 * m] = pairs[2 * m + 1] = NONE
    fetch_rows(pairs, count, cache, vectors)
    for m in range(machines):
        if pairs[2 * m] != NONE:
            _step(m, pairs[2 * m], pairs[2 * m + 1], max_step, count, slots, derived, cache)


@njit(cache=True, nogil=True)
def _step(m: int, i: int, j: int, max_step: float, count: int, slots: Slots, derived: Derived, cache: CacheArrays):
    """Move along the pair (i, j) as far as the curvature, the boxes and `max_step` allow. Both rows are cached."""
    row_i, row_j = cache.values[cache.place[i]], cache.values[cache.place[j]]
    alpha, g = slots.alpha[m], slots.g[m]
    curvature = np.float64(row_i[i]) + np.float64(row_j[j]) - 2.0 * np.float64(row_i[j])
    step = (g[i] - g[j]) / max(curvature, 1e-12)
    room_i, room_j = slots.upper[m, i] - alpha[i], alpha[j] - slots.lower[m, j]
    _move(m, i, j, min(step, room_i, room_j, max_step), row_i, row_j, count, slots, derived)


@njit(cache=True, nogil=True)
def _move(
    m: int, i: int, j: int, step: float, row_i: Floats, row_j: Floats, count: int, slots: Slots, derived: Derived
):
    """Move alpha_i up and alpha_j down, and find the next most violating pair."""
    alpha, lower, upper = slots.alpha[m], slots.lower[m], slots.upper[m]
    # A bound that is reached is set exactly: rounding must not leave a vector with a tiny alpha.
    set_alpha(m, i, upper[i] if step == upper[i] - alpha[i] else alpha[i] + step, slots, derived)
    set_alpha(m, j, lower[j] if step == alpha[j] - lower[j] else alpha[j] - step, slots, derived)
    pair = step_and_search(count, step, row_i, row_j, slots.g[m], derived.free[m])
    derived.pairs[2 * m], derived.pairs[2 * m + 1] = pair[0], pair[1]


# Insertion -------------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _insert(
    e: int,
    count: int,
    batch: Batch,
    slots: Slots,
    derived: Derived,
    cache: CacheArrays,
    vectors: DenseArrays | SparseArrays,
):
    """Put example e of the batch into slot `count`; its kernel row is gathered from the rows of the batch."""
    row = cache.values[add_slot(count, cache)]
    old, new, origin = batch.old_rows[e], batch.new_rows[e], slots.origin
    for s in range(count):
        at = origin[s]
        row[s] = old[at] if at >= 0 else new[~at]
    row[count] = new[e]
    _open_slot(e, count, _sums(count, row, slots.alpha, derived.by_slot), batch, slots, derived)
    slots.keys[count], slots.origin[count], vectors.ss[count] = batch.key[e], ~e, batch.xx[e]
    put(batch.x, e, count, vectors)
    derived.busy[count] = 0
    mark_idle(count, derived)


@njit(cache=True, nogil=True)
def _sums(count: int, row: Floats, alpha: Doubles, by_slot: Doubles):
    """Return the sum of alpha times K over the slots, for each machine. Each sum is one chain, in their order."""
    if alpha.shape[0] > 1:
        return sums_of_machines(count, row, by_slot)
    only, total = alpha[0], 0.0
    for s in range(count):
        total += only[s] * np.float64(row[s])
    return np.full(1, total)


@njit(cache=True, nogil=True)
def _open_slot(e: int, slot: int, sums: Doubles, batch: Batch, slots: Slots, derived: Derived):
    """Set the gradients and the boxes of example e in a new slot, and keep the pairs of the machines up to date."""
    alpha, gradient, lower, upper = slots.alpha, slots.g, slots.lower, slots.upper
    free, pairs, target, box = derived.free, derived.pairs, batch.target, batch.box[e]
    for m in range(alpha.shape[0]):
        side = np.float64(target[e, m])
        g, bound = side - sums[m], side * box * (batch.own_weight if side > 0.0 else 1.0)
        alpha[m, slot], gradient[m, slot] = 0.0, g
        lower[m, slot], upper[m, slot] = min(0.0, bound), max(0.0, bound)
        free[m, slot] = free_directions(0.0, lower[m, slot], upper[m, slot])
        i, j = pairs[2 * m], pairs[2 * m + 1]
        if free[m, slot] & UP and (i == NONE or g > gradient[m, i]):
            pairs[2 * m] = slot
        if free[m, slot] & DOWN and (j == NONE or g < gradient[m, j]):
            pairs[2 * m + 1] = slot


# PROCESS and REPROCESS -------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def reprocess(
    steps: int,
    tau: float,
    max_step: float,
    count: int,
    slots: Slots,
    cache: CacheArrays,
    vectors: DenseArrays | SparseArrays,
):
    """Take up to `steps` steps of each machine on its most violating pair, until its gap is at most tau.

    Then evict the useless vectors. Returns the new count.

    Parameters
    ----------
    steps : int
        Largest number of steps of each machine.
    tau : float
        A pair violates if its gradients differ by more than tau.
    max_step : float
        Longest step: C.
    count : int
        Number of live vectors.
    slots : Slots
        What is known of the live vectors.
    cache : CacheArrays
        The cached rows of the kernel matrix.
    vectors : DenseArrays or SparseArrays
        The vectors and the kernel.
    """
    derived = derive(count, slots)
    for m in range(slots.alpha.shape[0]):
        for _ in range(steps):
            pair = derived.pairs[2 * m : 2 * m + 2]
            i, j = pair[0], pair[1]
            if i == NONE or j == NONE or not slots.g[m, i] - slots.g[m, j] > tau:
                break
            fetch_rows(pair, count, cache, vectors)
            _step(m, i, j, max_step, count, slots, derived, cache)
    return evict_useless(count, slots, derived, cache, vectors)


@njit(cache=True, nogil=True)
def _is_live(key: int, keys: Ints, count: int):
    found = 0
    for s in range(count):  # Over all slots: a loop without an early exit takes eight at a time.
        found += keys[s] == key
    return found > 0


@njit(cache=True, nogil=True)
def learn(
    batch: Batch,
    first: int,
    tau: float,
    max_step: float,
    steps: int,
    max_vectors: int,
    reprocess_all: bool,
    count: int,
    slots: Slots,
    cache: CacheArrays,
    vectors: DenseArrays | SparseArrays,
):
    """PROCESS each example of the batch from `first` on, each followed by `steps` REPROCESS steps.

    Stops after an example that leaves more than `max_vectors` vectors. Returns the new count and the next example.

    Parameters
    ----------
    batch : Batch
        The examples.
    first : int
        The first example of the batch to learn.
    tau : float
        A pair violates if its gradients differ by more than tau.
    max_step : float
        Longest step: C.
    steps : int
        Number of REPROCESS steps after each example.
    max_vectors : int
        Largest number of vectors.
    reprocess_all : bool
        Whether REPROCESS also changes the machines that PROCESS did not.
    count : int
        Number of live vectors.
    slots : Slots
        What is known of the live vectors.
    cache : CacheArrays
        The cached rows of the kernel matrix.
    vectors : DenseArrays or SparseArrays
        The vectors and the kernel.
    """
    derived, origin, machines, target = derive(count, slots), slots.origin, slots.alpha.shape[0], batch.target
    moved = np.ones(machines, np.bool_)
    if not first:
        for s in range(count):
            origin[s] = s
    for e in range(first, len(batch.key)):
        if _is_live(batch.key[e], slots.keys, count):
            continue
        new = count
        _insert(e, new, batch, slots, derived, cache, vectors)
        count += 1
        for turn in range(1 + steps):
            pairs = derived.pairs.copy()
            for m in range(machines):
                if turn == 0:
                    pairs[2 * m if target[e, m] > 0 else 2 * m + 1] = new
                elif not moved[m]:
                    pairs[2 * m] = NONE
            _take_steps(pairs, tau, max_step, count, slots, derived, cache, vectors)
            if turn == 0 and not reprocess_all:
                for m in range(machines):
                    moved[m] = pairs[2 * m] != NONE
            if turn > 0:
                count = evict_useless(count, slots, derived, cache, vectors)
        if count > max_vectors:
            return count, e + 1
    update_all_rows(count, cache, vectors)
    return count, len(batch.key)
