"""The hot loop of Algorithm 3. Predictions are packed, 64 hypotheses in a word, to be read fast and kept small."""

# pyright: basic, reportCallIssue=false

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paraactive.basics.compiled import njit
from paraactive.rules.iwal import deviation, solve_for_probability
from paraactive.theory.hypotheses import Predictions

_WORD = 64
_deviation = njit(cache=True)(deviation)
_solve = njit(cache=True)(solve_for_probability)


def packed(predictions: Predictions) -> NDArray[np.uint64]:
    """A row for each point; bit j of word w is what hypothesis 64 w + j says."""
    words = -(-predictions.hypotheses // _WORD)
    out = np.zeros((predictions.points, words * 8), np.uint8)
    for where, rows in predictions.blocks():
        bits = np.packbits(rows, axis=1, bitorder="little")
        out[where, : bits.shape[1]] = bits
    return out.view("<u8")


@njit(cache=True, nogil=True, error_model="numpy")
def _least(words, total, yes, no):
    """The least total of those that say +1 and of those that say -1; infinite if there are none.

    Lane by lane first, because that is what a processor does in parallel.
    """
    yes[:], no[:] = np.inf, np.inf
    for w in range(words.shape[0]):
        word, part = words[w], total[w * _WORD : (w + 1) * _WORD]
        for j in range(_WORD):
            says = (word >> np.uint64(j)) & np.uint64(1)
            above, below = (part[j], np.inf) if says else (np.inf, part[j])
            yes[j] = above if above < yes[j] else yes[j]
            no[j] = below if below < no[j] else no[j]
    return yes.min(), no.min()


@njit(cache=True, nogil=True, error_model="numpy")
def _learn(words, label, weight, total):
    """Add the weight to the total of all that are wrong."""
    for h in range(total.shape[0]):
        says = (words[h // _WORD] >> np.uint64(h % _WORD)) & np.uint64(1)
        if (says == 1) != label:
            total[h] += weight


@njit(cache=True, nogil=True, error_model="numpy")
def run(bits, labels, known, order, coins, c0, p, queried, gap, best, errors):
    """All steps, in the order of what they know: so one set of totals serves, whatever the delays.

    total_h = sum over the first `learnt` steps of (Q/P) 1{h is wrong}. A step knows less than itself, so what it needs
    was decided before it.
    """
    hypotheses = errors.shape[0]
    total = np.full(bits.shape[1] * _WORD, np.inf)
    total[:hypotheses] = 0.0
    yes, no = np.empty(_WORD), np.empty(_WORD)
    learnt, chosen = 0, 0
    for i in range(order.shape[0] + 1):
        n = known[order[i]] if i < order.shape[0] else order.shape[0]
        changed = False
        while learnt < n:
            if queried[learnt]:
                _learn(bits[learnt], labels[learnt], 1.0 / p[learnt], total[:hypotheses])
                changed = True
            learnt += 1
        if changed:
            chosen = total[:hypotheses].argmin()
        if i == order.shape[0]:
            break
        t = order[i]
        best[t] = chosen
        if n:
            above, below = _least(bits[t], total, yes, no)
            # If nobody disagrees, the other side counts as always wrong.
            gap[t] = abs(above - below) / n if max(above, below) < np.inf else 1.0
            p[t] = _solve(gap[t], _deviation(n, c0))
        queried[t] = coins[t] < p[t]
    errors[:] = total[:hypotheses]
