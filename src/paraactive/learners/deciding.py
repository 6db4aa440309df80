"""Labels of rows, for predictions: the exact score of a row is computed only if a cheap score leaves its label open.

A label needs less than a score: it is known as soon as the score is known to be far from the decision boundary. The
proxy of a learner gives a cheap score, and the proxy's error bound says how far is far enough. Scores depend on their
row alone, so rows may be divided among threads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraactive.data.examples import Doubles, Features, Floats, SparseRows
from paraactive.data.labels import decide
from paraactive.learners.base import Learner, Proxy, capabilities_of, proxy_of
from paraactive.learners.rows import scores

_MARGIN = 1.5
"""Distance to the decision boundary, in error bounds, from which on a cheap score decides. The largest error of 10 000
test digits was 1.4 to 1.9 bounds, and of all rows only those near the boundary matter."""
_MAX_COST = 0.5
"""A proxy that costs more than this part of an exact score is not worth the second score of the open rows."""
_ROWS_PER_THREAD = 256
"""At least so many rows for each thread."""


def classes_of(learner: Learner, x: Features, threads: int = 1) -> NDArray[np.intp]:
    """Return the class number that the learner predicts for each row.

    Parameters
    ----------
    learner : Learner
        The learner.
    x : ndarray or SparseRows
        Rows of features.
    threads : int, default=1
        Threads that share the rows. More than one has an effect only if the learner's scoring releases the GIL.

    Returns
    -------
    ndarray of int, shape (n,)
        Class numbers. They are those of the learner's scores (`decide`), except where the error of a cheap score is
        larger than 1.5 error bounds and the score is on the wrong side.
    """
    proxy = None if isinstance(x, SparseRows) else proxy_of(learner)
    if proxy is None or proxy.cost > _MAX_COST:
        return decide(scores_of(learner, x, threads))
    return _in_threads(lambda rows: _by_proxy(learner, proxy, rows), learner, x, threads)


def scores_of(learner: Learner, x: Features, threads: int = 1) -> Doubles:
    """Return the learner's score of each row, computed in threads.

    Parameters
    ----------
    learner : Learner
        The learner.
    x : ndarray or SparseRows
        Rows of features.
    threads : int, default=1
        As for `classes_of`.

    Returns
    -------
    ndarray of float64, shape (n,) or (n, classes)
        The scores.
    """
    return _in_threads(lambda rows: scores(learner, rows), learner, x, threads)


def _by_proxy(learner: Learner, proxy: Proxy, x: Floats) -> NDArray[np.intp]:
    cheap = proxy.score(x)
    classes = decide(cheap)
    is_open = np.flatnonzero(~(certainty(cheap) > _MARGIN * proxy.error_bound))  # A score that is NaN is open, too.
    if len(is_open):
        classes[is_open] = decide(scores(learner, x[is_open]))
    return classes


def certainty(score: Doubles) -> Doubles:
    """Return the smallest error of a score, in any class, that can change its label.

    Parameters
    ----------
    score : ndarray of float64, shape (n,) or (n, classes)
        Scores.

    Examples
    --------
    >>> certainty(np.array([-0.5, 2.0])).tolist(), certainty(np.array([[0.1, 0.75, 0.25]])).tolist()
    ([0.5, 2.0], [0.25])
    """
    if score.ndim == 1:
        return np.abs(score)
    second, first = np.partition(score, -2, axis=1)[:, -2:].T
    return (first - second) / 2.0


def _in_threads(work: Callable[[Features], Any], learner: Learner, x: Features, threads: int) -> Any:
    threads = min(threads, len(x) // _ROWS_PER_THREAD)
    if threads < 2 or not capabilities_of(learner).releases_gil:
        return work(x)
    ends = [len(x) * part // threads for part in range(threads + 1)]
    with ThreadPoolExecutor(threads) as pool:
        return np.concatenate([*pool.map(work, [x[first:last] for first, last in pairwise(ends)])])
