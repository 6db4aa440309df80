"""The hot loops of LASVM (Bordes, Ertekin, Weston, Bottou, 2005), with importance weights.

The dual, with signed alphas: maximise sum_i alpha_i y_i - 1/2 sum_ij alpha_i alpha_j K_ij, sum_i alpha_i = 0,
lower_i <= alpha_i <= upper_i, where the box is [0, C/p] for y = +1 and [-C/p, 0] for y = -1. Its gradient is
g_i = y_i - sum_j alpha_j K_ij. A pair (i, j) is violating if alpha_i < upper_i, alpha_j > lower_j, g_i - g_j > tau;
a step on it moves alpha_i up and alpha_j down by the same amount, at most C (larger steps on heavy examples are
unstable; the optimum is the same).

Slots 0 .. count-1 hold the live vectors; rows of K come from a cache (`kernel_cache_loops`). Kernel values are
float32, alphas and gradients float64. The most violating pair is never sought: a step finds the next one on its way
over the gradients (`gradient_loops`), and insertions and evictions change it in known ways.

There may be several machines, each with a row of alphas, gradients and bounds over the same slots: one for two classes,
one for each class against the rest for more. They share vectors, kernel values and boxes; a vector stays while any
machine needs it.

Inside loops arrays have names of their own: each time that one is taken out of a tuple, its references are counted.
"""

# pyright: basic, reportCallIssue=false

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from paraactive.basics.compiled import njit
from paraactive.learners.lasvm.gradient_loops import DOWN, NONE, UP, search, step_and_search
from paraactive.learners.lasvm.kernel_cache_loops import bear, bring, leave, squared_length
from paraactive.learners.lasvm.vector_loops import clear, put, shift

GAP = 0
"""Row in `extremes` of the gradient difference of the most violating pair of each machine."""
BIAS = 1


class Slots(NamedTuple):
    """What is known of the live vectors, besides themselves; a row for each machine where it has its own."""

    alpha: Any
    g: Any
    lower: Any
    upper: Any
    keys: Any
    origin: Any
    """Where the kernel values of a batch with it are: of an old vector, in that column of old_rows; of a new one, in
    column ~origin of new_rows."""
    extremes: Any


class Movable(NamedTuple):
    """What follows from the alphas and gradients, kept up with them during a call."""

    ways: Any
    """Of each machine and slot: which way alpha may go (`gradient_loops`)."""
    pairs: Any
    """The most violating pair of machine m at 2m and 2m + 1."""
    busy: Any
    """Of each slot: machines in which alpha is not 0."""
    idle: Any
    """The slots in which no machine is busy, in no order; only they can be useless."""
    idle_at: Any
    """Of each slot: where in `idle` it is, or NONE."""
    idle_count: Any


class Batch(NamedTuple):
    """Examples to learn."""

    x: Any
    """What goes into the slots, see `vector_loops.put`."""
    xx: Any
    target: Any
    """For each example and machine: the side it is to be on."""
    box: Any
    key: Any
    old_rows: Any
    """Kernel of the batch with the vectors that were live at its start."""
    new_rows: Any
    """Kernel within the batch."""


# What is kept up with the alphas ---------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _movable(count, slots):
    machines, size = slots.alpha.shape
    move = Movable(
        np.zeros((machines, size), np.uint8), np.full(2 * machines, NONE), np.zeros(size, np.int64),
        np.empty(size, np.int64), np.full(size, NONE), np.zeros(1, np.int64),
    )  # fmt: skip
    busy = move.busy
    for m in range(machines):
        alpha, lower, upper, ways = slots.alpha[m], slots.lower[m], slots.upper[m], move.ways[m]
        for s in range(count):
            ways[s] = _ways(alpha[s], lower[s], upper[s])
            busy[s] += alpha[s] != 0.0
        _search(m, count, slots, move)
    for s in range(count):
        if not busy[s]:
            _rest(s, move)
    return move


@njit(cache=True, nogil=True)
def _ways(alpha, lower, upper):
    return (UP if alpha < upper else np.uint8(0)) | (DOWN if alpha > lower else np.uint8(0))


@njit(cache=True, nogil=True)
def _search(m, count, slots, move):
    i, j = search(count, slots.g[m], move.ways[m])
    move.pairs[2 * m], move.pairs[2 * m + 1] = i, j


@njit(cache=True, nogil=True)
def _rest(s, move):
    """Slot s becomes idle."""
    move.idle_at[s] = move.idle_count[0]
    move.idle[move.idle_count[0]] = s
    move.idle_count[0] += 1


@njit(cache=True, nogil=True)
def _rise(s, move):
    """Slot s is idle no more."""
    move.idle_count[0] -= 1
    other = move.idle[move.idle_count[0]]
    move.idle[move.idle_at[s]], move.idle_at[other] = other, move.idle_at[s]
    move.idle_at[s] = NONE


@njit(cache=True, nogil=True)
def _set_alpha(m, s, value, slots, move):
    before = slots.alpha[m, s]
    slots.alpha[m, s] = value
    move.ways[m, s] = _ways(value, slots.lower[m, s], slots.upper[m, s])
    move.busy[s] += (value != 0.0) - (before != 0.0)
    if move.busy[s] and move.idle_at[s] != NONE:
        _rise(s, move)
    elif not move.busy[s] and move.idle_at[s] == NONE:
        _rest(s, move)


# Steps -----------------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _violates(i, j, g, tau):
    return i != NONE and j != NONE and g[i] - g[j] > tau


@njit(cache=True, nogil=True)
def _take_steps(pairs, tau, most, count, slots, move, cache, vectors):
    """A step of each machine on its pair, if it violates."""
    machines = slots.alpha.shape[0]
    for m in range(machines):
        if not _violates(pairs[2 * m], pairs[2 * m + 1], slots.g[m], tau):
            pairs[2 * m] = pairs[2 * m + 1] = NONE
    bring(pairs, count, cache, vectors)
    for m in range(machines):
        if pairs[2 * m] != NONE:
            _step(m, pairs[2 * m], pairs[2 * m + 1], most, count, slots, move, cache)


@njit(cache=True, nogil=True)
def _step(m, i, j, most, count, slots, move, cache):
    """Move along the pair (i, j) as far as the curvature, the boxes and `most` allow. Their rows are in the cache."""
    row_i, row_j = cache.values[cache.place[i]], cache.values[cache.place[j]]
    alpha, g = slots.alpha[m], slots.g[m]
    curvature = np.float64(row_i[i]) + np.float64(row_j[j]) - 2.0 * np.float64(row_i[j])
    step = (g[i] - g[j]) / max(curvature, 1e-12)
    room_i, room_j = slots.upper[m, i] - alpha[i], alpha[j] - slots.lower[m, j]
    _move(m, i, j, min(step, room_i, room_j, most), row_i, row_j, count, slots, move)


@njit(cache=True, nogil=True)
def _move(m, i, j, step, row_i, row_j, count, slots, move):
    """alpha_i goes up and alpha_j down; the next most violating pair is known then."""
    alpha, lower, upper = slots.alpha[m], slots.lower[m], slots.upper[m]
    # A bound that is reached is reached exactly: rounding must not leave a vector that is almost gone.
    _set_alpha(m, i, upper[i] if step == upper[i] - alpha[i] else alpha[i] + step, slots, move)
    _set_alpha(m, j, lower[j] if step == alpha[j] - lower[j] else alpha[j] - step, slots, move)
    pair = step_and_search(count, step, row_i, row_j, slots.g[m], move.ways[m])
    move.pairs[2 * m], move.pairs[2 * m + 1] = pair[0], pair[1]


# Insertion -------------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _insert(e, count, batch, slots, move, cache, vectors):
    """Put example e of the batch into slot `count`; its kernel row is gathered from the two products."""
    row = cache.values[bear(count, cache)]
    old, new, origin = batch.old_rows[e], batch.new_rows[e], slots.origin
    for s in range(count):
        at = origin[s]
        row[s] = old[at] if at >= 0 else new[~at]
    row[count] = new[e]
    for m in range(0, slots.alpha.shape[0], 4):
        _insert_into(m, e, count, row, batch, slots, move)
    slots.keys[count], slots.origin[count], vectors.ss[count] = batch.key[e], ~e, batch.xx[e]
    put(batch.x, e, count, vectors)
    move.busy[count] = 0
    _rest(count, move)


@njit(cache=True, nogil=True)
def _insert_into(first, e, count, row, batch, slots, move):
    """The gradient and the box of the new slot for four machines from `first` on, or those that there are.

    Each sum is a chain, in the order of the slots; four go side by side.
    """
    last = slots.alpha.shape[0] - 1
    a, b = slots.alpha[first], slots.alpha[min(first + 1, last)]
    c, d = slots.alpha[min(first + 2, last)], slots.alpha[min(first + 3, last)]
    sum_a = sum_b = sum_c = sum_d = 0.0
    if first == last:
        for s in range(count):
            sum_a += a[s] * np.float64(row[s])
    else:
        for s in range(count):
            value = np.float64(row[s])
            sum_a += a[s] * value
            sum_b += b[s] * value
            sum_c += c[s] * value
            sum_d += d[s] * value
    sums = (sum_a, sum_b, sum_c, sum_d)
    for m in range(first, min(first + 4, last + 1)):
        side = np.float64(batch.target[e, m])
        g, bound = side - sums[m - first], side * batch.box[e]
        slots.alpha[m, count], slots.g[m, count] = 0.0, g
        slots.lower[m, count], slots.upper[m, count] = min(0.0, bound), max(0.0, bound)
        move.ways[m, count] = _ways(0.0, slots.lower[m, count], slots.upper[m, count])
        i, j = move.pairs[2 * m], move.pairs[2 * m + 1]
        if move.ways[m, count] & UP and (i == NONE or g > slots.g[m, i]):
            move.pairs[2 * m] = count
        if move.ways[m, count] & DOWN and (j == NONE or g < slots.g[m, j]):
            move.pairs[2 * m + 1] = count


# Eviction --------------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _evict(s, count, slots, move, cache, vectors):
    """Slot s, which is idle, goes: the last slot moves into it, and is cleared."""
    last = count - 1
    leave(s, count, cache, vectors)
    _rise(s, move)
    if s != last:
        for m in range(slots.alpha.shape[0]):
            slots.alpha[m, s], slots.g[m, s] = slots.alpha[m, last], slots.g[m, last]
            slots.lower[m, s], slots.upper[m, s] = slots.lower[m, last], slots.upper[m, last]
            move.ways[m, s] = move.ways[m, last]
        slots.keys[s], slots.origin[s], vectors.ss[s] = slots.keys[last], slots.origin[last], vectors.ss[last]
        shift(last, s, vectors)
        move.busy[s] = move.busy[last]
        if not move.busy[last]:
            _rise(last, move)
            _rest(s, move)
    # Scores add alpha times the kernel for all lanes of a panel: an empty one must add 0.
    for m in range(slots.alpha.shape[0]):
        slots.alpha[m, last] = 0.0
        move.ways[m, last] = 0
        _follow(m, s, last, slots, move)
    clear(last, vectors)


@njit(cache=True, nogil=True)
def _follow(m, s, last, slots, move):
    """The most violating pair of a machine after slot `last` moved into slot s; of equal gradients the first counts."""
    g, lost = slots.g[m], False
    for side, way in ((0, UP), (1, DOWN)):
        best = move.pairs[2 * m + side]
        if best == s:
            lost = True
        elif best == last or (best != NONE and s < min(best, last) and g[s] == g[best] and move.ways[m, s] & way):
            move.pairs[2 * m + side] = s
    if lost:
        _search(m, last, slots, move)


@njit(cache=True, nogil=True)
def _note_extremes(slots, move):
    """Gaps and biases. Returns whether there is a machine with a pair: with one class only there is none."""
    ready = False
    for m in range(slots.alpha.shape[0]):
        i, j = move.pairs[2 * m], move.pairs[2 * m + 1]
        if i == NONE or j == NONE:
            # One class only so far: the bias answers with that class.
            slots.extremes[GAP, m], slots.extremes[BIAS, m] = 0.0, 0.0 if i == j else slots.g[m, max(i, j)]
        else:
            largest, smallest = slots.g[m, i], slots.g[m, j]
            slots.extremes[GAP, m], slots.extremes[BIAS, m] = largest - smallest, 0.5 * (largest + smallest)
            ready = True
    return ready


@njit(cache=True, nogil=True)
def _sort_out(idle, idle_count, pairs, g, lower):
    """Those of the idle slots that no machine could move, the last first, and how many they are.

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
def _evict_useless(count, slots, move, cache, vectors):
    """Drop the vectors that are of no use to any machine; note gaps and biases. Returns the new count."""
    if not _note_extremes(slots, move):  # With one class only nothing may be dropped: it would be all.
        return count
    useless, found = _sort_out(move.idle, move.idle_count[0], move.pairs, slots.g, slots.lower)
    for k in range(found):
        _evict(useless[k], count, slots, move, cache, vectors)
        count -= 1
    return count


# The limit of vectors ------------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def keep_to(max_vectors, count, slots, cache, vectors):
    """While there are more vectors than that, the one with the smallest alphas goes. Returns the new count.

    It is taken for a copy of the vector of its class that is nearest in the space of the kernel, which gets its alphas
    and its box: as two copies of an example are worth one of their weights together.
    """
    move, wanted = _movable(count, slots), np.empty(2, np.int64)
    while count > max_vectors:
        s = _least(count, slots.alpha, slots.upper)
        wanted[0] = wanted[1] = s
        bring(wanted, count, cache, vectors)
        wanted[1] = _nearest(s, count, cache.values[cache.place[s]], slots.upper, vectors)
        bring(wanted, count, cache, vectors)
        for m in range(slots.alpha.shape[0]):
            _hand_over(m, s, wanted[1], count, slots, move, cache)
        _evict(s, count, slots, move, cache, vectors)
        count -= 1
        _note_extremes(slots, move)
    return count


@njit(cache=True, nogil=True)
def _class(s, upper):
    """On the right side of which machine it is; of a single one, on which side of it."""
    for m in range(upper.shape[0]):
        if upper[m, s] > 0.0:
            return m
    return upper.shape[0]


@njit(cache=True, nogil=True)
def _least(count, alpha, upper):
    """The slot with the smallest |alpha|, of all machines together, that is not alone in its class; the first of them.

    There are more vectors than classes, so there is one.
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
def _nearest(s, count, row, upper, vectors):
    """The other slot of its class with the smallest K(t, t) - 2 K(s, t)."""
    least, found, own, ss = np.inf, NONE, _class(s, upper), vectors.ss
    for t in range(count):
        if t != s and _class(t, upper) == own:
            distance = squared_length(ss[t], vectors.kind, vectors.gamma, vectors.coef0, vectors.degree) - 2.0 * row[t]
            if found == NONE or distance < least:
                least, found = distance, t
    return found


@njit(cache=True, nogil=True)
def _hand_over(m, s, t, count, slots, move, cache):
    """Slot t gets the alpha and the box of slot s."""
    amount = slots.alpha[m, s]
    slots.lower[m, t] += slots.lower[m, s]
    slots.upper[m, t] += slots.upper[m, s]
    _set_alpha(m, t, slots.alpha[m, t] + amount, slots, move)
    _set_alpha(m, s, 0.0, slots, move)
    row_t, row_s = cache.values[cache.place[t]], cache.values[cache.place[s]]
    pair = step_and_search(count, amount, row_t, row_s, slots.g[m], move.ways[m])
    move.pairs[2 * m], move.pairs[2 * m + 1] = pair[0], pair[1]


# PROCESS and REPROCESS -------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def reprocess(steps, tau, most, count, slots, cache, vectors):
    """Up to `steps` steps of each machine on its most violating pair, until its gap is at most tau.

    Then what is useless goes. Returns the new count.
    """
    move = _movable(count, slots)
    for m in range(slots.alpha.shape[0]):
        for _ in range(steps):
            pair = move.pairs[2 * m : 2 * m + 2]
            i, j = pair[0], pair[1]
            if not _violates(i, j, slots.g[m], tau):
                break
            bring(pair, count, cache, vectors)
            _step(m, i, j, most, count, slots, move, cache)
    return _evict_useless(count, slots, move, cache, vectors)


@njit(cache=True, nogil=True)
def _is_live(key, keys, count):
    found = 0
    for s in range(count):  # All of them: without a way out it is eight at a time.
        found += keys[s] == key
    return found > 0


@njit(cache=True, nogil=True)
def learn(batch, first, tau, most, steps, max_vectors, count, slots, cache, vectors):
    """PROCESS each example of the batch from `first` on, each followed by `steps` REPROCESS steps.

    Stops after an example that leaves more than `max_vectors` vectors. Returns the new count and the example to go on at.
    """
    move, origin = _movable(count, slots), slots.origin
    if not first:
        for s in range(count):
            origin[s] = s
    for e in range(first, len(batch.key)):
        if _is_live(batch.key[e], slots.keys, count):
            continue
        new = count
        _insert(e, new, batch, slots, move, cache, vectors)
        count += 1
        for turn in range(1 + steps):
            pairs = move.pairs.copy()
            if turn == 0:
                for m in range(slots.alpha.shape[0]):
                    pairs[2 * m if batch.target[e, m] > 0 else 2 * m + 1] = new
            _take_steps(pairs, tau, most, count, slots, move, cache, vectors)
            if turn > 0:
                count = _evict_useless(count, slots, move, cache, vectors)
        if count > max_vectors:
            return count, e + 1
    return count, len(batch.key)
