"""The compiled loop of Algorithm 3. Predictions are packed to save memory and time: 64 hypotheses in a word."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from paraactive.basics.compiled import njit
from paraactive.data.examples import Doubles, Ints
from paraactive.rules.iwal import deviation, solve_for_probability
from paraactive.theory.predictions import Bools, Predictions

Words: TypeAlias = NDArray[np.uint64]
_WORD = 64
_deviation = njit(cache=True)(deviation)
_solve = njit(cache=True)(solve_for_probability)


def packed(predictions: Predictions) -> Words:
    """Pack predictions into bits.

    Parameters
    ----------
    predictions : Predictions
        The predictions.

    Returns
    -------
    array of uint64
        A row for each point. Bit j of word w is the prediction of hypothesis 64 w + j.
    """
    words = -(-predictions.hypotheses // _WORD)
    out = np.zeros((predictions.points, words * 8), np.uint8)
    for where, rows in predictions.blocks():
        bits = np.packbits(rows, axis=1, bitorder="little")
        out[where, : bits.shape[1]] = bits
    return out.view("<u8")


@njit(cache=True, nogil=True, error_model="numpy")
def _least(words: Words, total: Doubles, yes: Doubles, no: Doubles) -> tuple[float, float]:
    """Return the least total of the hypotheses that predict +1, and of those that predict -1; infinite if none.

    The minimum is taken for each bit first, because the processor does this for several bits at once.
    """
    yes[:], no[:] = np.inf, np.inf
    for w in range(words.shape[0]):
        word, part = words[w], total[w * _WORD : (w + 1) * _WORD]
        for j in range(_WORD):
            plus = (word >> np.uint64(j)) & np.uint64(1)
            above, below = (part[j], np.inf) if plus else (np.inf, part[j])
            yes[j] = above if above < yes[j] else yes[j]
            no[j] = below if below < no[j] else no[j]
    return yes.min(), no.min()


@njit(cache=True, nogil=True, error_model="numpy")
def _learn(words: Words, label: bool, weight: float, total: Doubles) -> None:
    """Add the weight to the total of each hypothesis that is wrong."""
    for h in range(total.shape[0]):
        plus = (words[h // _WORD] >> np.uint64(h % _WORD)) & np.uint64(1)
        if (plus == 1) != label:
            total[h] += weight


@njit(cache=True, nogil=True, error_model="numpy")
def run(
    bits: Words, labels: Bools, known: Ints, order: Ints, coins: Doubles, c0: float,
    p: Doubles, queried: Bools, gap: Doubles, best: NDArray[np.int32], errors: Doubles,
) -> None:  # fmt: skip
    """Run all steps of Algorithm 3, in the order of n_t, and write the results to the last five arrays.

    total_h = sum over the first `learned` steps of (Q/P) 1{h is wrong}. Because steps are taken in the order of n_t,
    one array of totals is enough for all delays. A step t needs only steps s <= n_t < t, which are decided before it.

    Parameters
    ----------
    bits : array of uint64
        Packed predictions.
    labels : array of bool
        Labels.
    known : array of int64
        n_t.
    order : array of int64
        The steps in the order of n_t.
    coins : array of float64
        Coin of each step, in [0, 1).
    c0 : float
        C0.
    p : array of float64
        P_t, initially 1.
    queried : array of bool
        Q_t, initially False.
    gap : array of float64
        G_t, initially 0.
    best : array of int32
        h_t.
    errors : array of float64
        Sum of the weighted mistakes of each hypothesis.
    """
    hypotheses = errors.shape[0]
    total = np.full(bits.shape[1] * _WORD, np.inf)
    total[:hypotheses] = 0.0
    yes, no = np.empty(_WORD), np.empty(_WORD)
    learned, chosen = 0, 0
    for i in range(order.shape[0] + 1):
        n = known[order[i]] if i < order.shape[0] else order.shape[0]
        changed = False
        while learned < n:
            if queried[learned]:
                _learn(bits[learned], labels[learned], 1.0 / p[learned], total[:hypotheses])
                changed = True
            learned += 1
        if changed:
            chosen = total[:hypotheses].argmin()
        if i == order.shape[0]:
            break
        t = order[i]
        best[t] = chosen
        if n:
            above, below = _least(bits[t], total, yes, no)
            # If all hypotheses predict the same, the gap is 1.
            gap[t] = abs(above - below) / n if max(above, below) < np.inf else 1.0
            p[t] = _solve(gap[t], _deviation(n, c0))
        queried[t] = coins[t] < p[t]
    errors[:] = total[:hypotheses]
