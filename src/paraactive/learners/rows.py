"""Rows for learners: checks that all learners share, and dense copies for learners that do not accept sparse rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from paraactive.data.examples import Doubles, Features, Floats, Selected, SparseRows
from paraactive.errors import InputError, counted
from paraactive.learners.base import Learner, capabilities_of

_MAX_DENSE_BYTES = 1 << 25
"""Memory of the sparse rows that are dense at one time."""
_MAX_DENSE_ROWS = 256
"""Number of such rows."""


def check_rows(x: ArrayLike | SparseRows, width: int) -> Floats:
    """Return rows as C-contiguous float32; sparse rows become dense.

    Parameters
    ----------
    x : array-like or SparseRows
        Rows of features.
    width : int
        Number of features of the model.

    Returns
    -------
    ndarray of float32, shape (n, width)
        The rows.

    Raises
    ------
    InputError
        If the rows have another number of features.
    """
    rows = np.asarray(x.dense() if isinstance(x, SparseRows) else x)
    if rows.ndim != 2:
        raise _misfit(rows.shape, width)
    _check_width(rows.shape, width)
    return np.ascontiguousarray(rows, np.float32)


def check_features(x: ArrayLike | SparseRows, width: int) -> Features:
    """Return rows as `check_rows` does, except that sparse rows stay sparse.

    Parameters
    ----------
    x : array-like or SparseRows
        Rows of features.
    width : int
        Number of features of the model.

    Returns
    -------
    ndarray of float32 or SparseRows
        The rows.

    Raises
    ------
    InputError
        If the rows have another number of features.
    """
    if not isinstance(x, SparseRows):
        return check_rows(x, width)
    _check_width(x.shape, width)
    return x


def _check_width(shape: tuple[int, ...], width: int) -> None:
    if shape[1] != width:
        raise _misfit(shape, width)


def _misfit(shape: tuple[int, ...], width: int) -> InputError:
    return InputError(
        f"examples have shape {shape}",
        why=f"the model was trained on {counted(width, 'feature')}",
        remedy=f"give a matrix with {counted(width, 'column')}",
    )


# Sparse rows and learners that do not accept them ------------------------------------------------------------------


class Scorer(Protocol):
    """A learner, or a proxy."""

    def score(self, x: Floats, /) -> Doubles:
        """See `Learner.score`."""
        ...


def scores(learner: Scorer, x: Features) -> Doubles:
    """Return the learner's score of each row.

    If the learner does not accept sparse rows, it gets dense copies, a few rows at a time. A score does not depend on
    the other rows of the call, so it does not depend on how many rows are dense at one time.

    Parameters
    ----------
    learner : Learner or Proxy
        What scores.
    x : ndarray or SparseRows
        Rows of features.

    Returns
    -------
    ndarray of float64, shape (n,) or (n, classes)
        The scores.
    """
    if accepts(learner, x):
        return learner.score(x)
    pieces = [learner.score(x[piece].dense()) for piece in _pieces(x)]
    return np.concatenate(pieces) if pieces else learner.score(x.dense())


def learn(learner: Learner, selected: Selected) -> None:
    """Let a learner learn examples in order, with dense copies of sparse rows as in `scores`.

    Parameters
    ----------
    learner : Learner
        What learns.
    selected : Selected
        The examples.
    """
    if accepts(learner, selected.examples.x):
        return learner.update(selected)
    for piece in _pieces(selected.examples.x):
        learner.update(_dense(selected.take(piece)))
    return None


def accepted_by(learner: Scorer, selected: Selected) -> Selected:
    """Return the examples with rows that the learner accepts: dense copies, or the rows themselves.

    Parameters
    ----------
    learner : Learner
        What will learn the examples.
    selected : Selected
        The examples.

    Returns
    -------
    Selected
        The same examples.
    """
    return selected if accepts(learner, selected.examples.x) else _dense(selected)


def accepts(learner: Scorer, x: Features) -> bool:
    """Return whether a learner accepts such rows.

    Parameters
    ----------
    learner : Learner
        Any learner.
    x : ndarray or SparseRows
        Rows of features.

    Returns
    -------
    bool
        True for dense rows, and for sparse rows if the learner has the capability `sparse`.
    """
    return not isinstance(x, SparseRows) or capabilities_of(learner).sparse


def _pieces(x: SparseRows) -> Iterator[slice]:
    step = max(1, min(_MAX_DENSE_ROWS, _MAX_DENSE_BYTES // (4 * x.width)))
    for first in range(0, len(x), step):
        yield slice(first, first + step)


def _dense(selected: Selected) -> Selected:
    return replace(selected, examples=replace(selected.examples, x=selected.examples.x.dense()))
