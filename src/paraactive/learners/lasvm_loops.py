"""The hot loops of LASVM (Bordes, Ertekin, Weston, Bottou, 2005), with importance weights.

The dual, with signed alphas: maximise sum_i alpha_i y_i - 1/2 sum_ij alpha_i alpha_j K_ij, sum_i alpha_i = 0,
lower_i <= alpha_i <= upper_i, where the box is [0, C/p] for y = +1 and [-C/p, 0] for y = -1. Its gradient is
g_i = y_i - sum_j alpha_j K_ij. A pair (i, j) is violating if alpha_i < upper_i, alpha_j > lower_j, g_i - g_j > tau;
a step on it moves alpha_i up and alpha_j down by the same amount, at most C (larger steps on heavy examples are
unstable; the optimum is the same).

Slots 0 .. count-1 hold the live vectors; K is dense and symmetric over the slots. Kernel values are float32,
alphas and gradients float64.

There may be several machines, each with a row of alphas, gradients and bounds over the same slots: one for two classes,
one for each class against the rest for more. They share vectors, kernel values and boxes; a vector stays while any
machine needs it.
"""

# pyright: basic, reportCallIssue=false

from __future__ import annotations

import numpy as np
from numba import njit

from paraactive.learners.blocks import LANES

NONE = -1
GAP = 0
"""Row in `extremes` of the gradient difference of the most violating pair of each machine."""
BIAS = 1


@njit(cache=True, nogil=True)
def most_violating_pair(count, alpha, g, lower, upper):
    """(i, j): the largest gradient that may go up and the smallest that may go down; NONE where there is none."""
    up, down = NONE, NONE
    largest, smallest = -np.inf, np.inf
    for s in range(count):
        if g[s] > largest and alpha[s] < upper[s]:
            largest, up = g[s], s
        if g[s] < smallest and alpha[s] > lower[s]:
            smallest, down = g[s], s
    return up, down


@njit(cache=True, nogil=True)
def _step(i, j, count, most, alpha, g, lower, upper, kernel):
    """Move along the pair (i, j) as far as the curvature, the boxes and `most` allow."""
    curvature = np.float64(kernel[i, i]) + np.float64(kernel[j, j]) - 2.0 * np.float64(kernel[i, j])
    step = (g[i] - g[j]) / max(curvature, 1e-12)
    room_i, room_j = upper[i] - alpha[i], alpha[j] - lower[j]
    step = min(step, room_i, room_j, most)
    # A bound that is reached is reached exactly: rounding must not leave a vector that is almost gone.
    alpha[i] = upper[i] if step == room_i else alpha[i] + step
    alpha[j] = lower[j] if step == room_j else alpha[j] - step
    row_i, row_j = kernel[i], kernel[j]
    for s in range(count):
        g[s] -= step * (np.float64(row_i[s]) - np.float64(row_j[s]))


@njit(cache=True, nogil=True)
def _insert(
    e, count, x, xx, target, box, key, old_rows, new_rows,
    origin, panels, ss, alpha, g, lower, upper, keys, kernel,
):  # fmt: skip
    """Put example e of the batch into slot `count`; its kernel row is gathered from the two products."""
    row = kernel[count]
    for s in range(count):
        value = old_rows[e, origin[s]] if origin[s] >= 0 else new_rows[e, ~origin[s]]
        row[s] = value
        kernel[s, count] = value
    row[count] = new_rows[e, e]
    for m in range(alpha.shape[0]):
        total, own = 0.0, alpha[m]
        for s in range(count):
            total += own[s] * np.float64(row[s])
        side = np.float64(target[e, m])
        alpha[m, count], g[m, count] = 0.0, side - total
        lower[m, count], upper[m, count] = min(0.0, side * box[e]), max(0.0, side * box[e])
    keys[count], origin[count], ss[count] = key[e], ~e, xx[e]
    for k in range(x.shape[1]):
        panels[count // LANES, k, count % LANES] = x[e, k]


@njit(cache=True, nogil=True)
def _evict(s, count, origin, panels, ss, alpha, g, lower, upper, keys, kernel):
    """Move the last slot into slot s, and clear the last."""
    last = count - 1
    if s != last:
        kernel[s, :last] = kernel[last, :last]
        kernel[s, s] = kernel[last, last]
        for t in range(last):
            kernel[t, s] = kernel[s, t]
        for m in range(alpha.shape[0]):
            alpha[m, s], g[m, s], lower[m, s], upper[m, s] = alpha[m, last], g[m, last], lower[m, last], upper[m, last]
        keys[s], origin[s], ss[s] = keys[last], origin[last], ss[last]
        panels[s // LANES, :, s % LANES] = panels[last // LANES, :, last % LANES]
    # Scores add alpha times the kernel for all lanes of a panel: an empty one must add 0.
    for m in range(alpha.shape[0]):
        alpha[m, last] = 0.0
    panels[last // LANES, :, last % LANES] = np.float32(0)


@njit(cache=True, nogil=True)
def _mark_needed(count, alpha, g, lower, upper, extremes, needed):
    """Note the gap and the bias of one machine, and the vectors that a step of it could move. False if there are none.

    A vector is useless if alpha is 0 and its gradient lies beyond the most violating pair's.
    """
    i, j = most_violating_pair(count, alpha, g, lower, upper)
    if i == NONE or j == NONE:
        # One class only so far: the bias answers with that class.
        extremes[GAP], extremes[BIAS] = 0.0, 0.0 if i == j else g[max(i, j)]
        return False
    largest, smallest = g[i], g[j]
    extremes[GAP], extremes[BIAS] = largest - smallest, 0.5 * (largest + smallest)
    for s in range(count):
        if alpha[s] != 0.0 or (g[s] < largest if lower[s] < 0.0 else g[s] > smallest):
            needed[s] = True
    return True


@njit(cache=True, nogil=True)
def _evict_useless(count, origin, panels, ss, alpha, g, lower, upper, keys, kernel, extremes):
    """Drop the vectors that are of no use to any machine; note gaps and biases. Returns the new count."""
    needed, ready = np.zeros(count, np.bool_), False
    for m in range(alpha.shape[0]):
        ready = _mark_needed(count, alpha[m], g[m], lower[m], upper[m], extremes[:, m], needed) or ready
    if not ready:  # With one class only nothing may be dropped: it would be all.
        return count
    for s in range(count - 1, -1, -1):
        if not needed[s]:
            _evict(s, count, origin, panels, ss, alpha, g, lower, upper, keys, kernel)
            count -= 1
    return count


@njit(cache=True, nogil=True)
def reprocess(steps, tau, most, count, origin, panels, ss, alpha, g, lower, upper, keys, kernel, extremes):
    """Up to `steps` steps of each machine on its most violating pair, until its gap is at most tau.

    Then what is useless goes. Returns the new count.
    """
    for m in range(alpha.shape[0]):
        for _ in range(steps):
            i, j = most_violating_pair(count, alpha[m], g[m], lower[m], upper[m])
            if i == NONE or j == NONE or g[m, i] - g[m, j] <= tau:
                break
            _step(i, j, count, most, alpha[m], g[m], lower[m], upper[m], kernel)
    return _evict_useless(count, origin, panels, ss, alpha, g, lower, upper, keys, kernel, extremes)


@njit(cache=True, nogil=True)
def _is_live(key, keys, count):
    for s in range(count):  # noqa: SIM110 (numba has no any())
        if keys[s] == key:
            return True
    return False


@njit(cache=True, nogil=True)
def learn(
    x, xx, target, box, key, old_rows, new_rows,
    tau, most, steps,
    count, origin, panels, ss, alpha, g, lower, upper, keys, kernel, extremes,
):  # fmt: skip
    """PROCESS each example of the batch, each followed by `steps` REPROCESS steps. Returns the new count.

    target: for each example and machine, the side it is to be on. old_rows: kernel of the batch with the vectors that
    were live at its start; new_rows: within the batch.
    """
    for s in range(count):
        origin[s] = s
    for e in range(x.shape[0]):
        if _is_live(key[e], keys, count):
            continue
        _insert(
            e, count, x, xx, target, box, key, old_rows, new_rows,
            origin, panels, ss, alpha, g, lower, upper, keys, kernel,
        )  # fmt: skip
        new = count
        count += 1
        for m in range(alpha.shape[0]):
            i, j = most_violating_pair(count, alpha[m], g[m], lower[m], upper[m])
            if target[e, m] > 0:
                i = new
            else:
                j = new
            if i != NONE and j != NONE and g[m, i] - g[m, j] > tau:
                _step(i, j, count, most, alpha[m], g[m], lower[m], upper[m], kernel)
        for _ in range(steps):
            count = reprocess(1, tau, most, count, origin, panels, ss, alpha, g, lower, upper, keys, kernel, extremes)
    return count
