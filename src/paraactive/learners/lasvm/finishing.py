"""The finishing step of LaSVM: optimize on all examples that were learned, not only on the present support vectors.

An online SVM evicts a vector when no machine needs it. A later model may need it again, but never sees it again. The
finishing step scores all examples that are not support vectors, inserts those that violate the optimality conditions,
optimizes, and repeats this until no example violates. The result is the solution of a batch solver on the same weighted
examples, up to the gap, and a function of these examples and of the model before.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from paraactive.data.examples import Doubles, Selected, SparseRows, dense
from paraactive.learners.lasvm.dual import Dual, sides_of
from paraactive.learners.lasvm.slot_loops import BIAS, GAP

FINISHED_GAP = 0.01
"""Gap at which finishing ends, in units of the score. With 0.05, errors are 1% larger."""
_MAX_SCANS = 10
"""Most scores of each example. In our measurements 3 to 5 were enough."""
_STEPS_PER_VECTOR = 50
"""Most steps of each machine between two scans, for each vector."""
_SCORED_ROWS, _LEARNED_ROWS = 4096, 256
"""Examples that are scored and learned together. They bound memory; the model does not depend on them."""


def finish_on(dual: Dual, selected: Selected, learn: Callable[[Selected], None], C: float) -> None:
    """Optimize on the live vectors and on other examples until no pair violates by more than `FINISHED_GAP`.

    The work is bounded: at most 10 scores of each example, and 50 steps for each vector after each of them.

    Parameters
    ----------
    dual : Dual
        The live vectors.
    selected : Selected
        All examples that were learned, in order. Their keys say which of them are live vectors.
    learn : callable
        Takes some of the examples and inserts them: PROCESS and REPROCESS.
    C : float
        Largest alpha of an example with weight 1.
    """
    for _ in range(_MAX_SCANS):
        dual.reprocess(_STEPS_PER_VECTOR * (dual.count + 100), FINISHED_GAP, C)
        violating = find_violating(dual, selected, FINISHED_GAP)
        if not len(violating):
            return
        for start in range(0, len(violating), _LEARNED_ROWS):
            learn(selected.take(violating[start : start + _LEARNED_ROWS]))


def find_violating(dual: Dual, selected: Selected, gap: float) -> NDArray[np.intp]:
    """Return which examples are not live vectors, but form a violating pair with one in at least one machine.

    Parameters
    ----------
    dual : Dual
        The live vectors.
    selected : Selected
        The examples.
    gap : float
        A pair violates if its gradients differ by more than this.
    """
    others = np.flatnonzero(~np.isin(selected.examples.key, dual.keys[: dual.count]))
    found = [np.zeros(0, np.intp)]
    becomes_dense = isinstance(selected.examples.x, SparseRows) and not dual.live.sparse
    step = _LEARNED_ROWS if becomes_dense else _SCORED_ROWS
    for start in range(0, len(others), step):
        rows = others[start : start + step]
        found.append(rows[_violates(dual, selected.take(rows), gap)])
    return np.concatenate(found)


def _violates(dual: Dual, selected: Selected, gap: float) -> NDArray[np.bool_]:
    """Compare g = y - sum_j alpha_j K_j of examples whose alpha is 0 with the extreme gradients of the live vectors."""
    given = selected.examples.x
    x = dual.live.relative(given if dual.live.sparse else dense(given))
    sums: Doubles = np.zeros((len(selected), dual.machines))
    dual.live.kernel_sums(x, dual.live.norms(x), dual.alpha, dual.kernel, sums)
    side = sides_of(selected.examples.y, dual.machines)
    g, middle, half = side - sums, dual.extremes[BIAS], 0.5 * dual.extremes[GAP]
    return np.where(side > 0, g - (middle - half), (middle + half) - g).max(axis=1) > gap
