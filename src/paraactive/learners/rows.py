"""Where rows and learners meet: the check that all learners share, and sparse rows for those that do not take them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from paraactive.data.examples import Doubles, Features, Floats, Selected, SparseRows
from paraactive.errors import InputError, counted
from paraactive.learners.base import Learner, capabilities_of

_DENSE_BYTES = 1 << 25
"""What sparse rows may take that are dense at one time."""
_MOST = 256
"""Such rows, at most."""


def check_rows(x: ArrayLike | SparseRows, width: int) -> Floats:
    """Rows as C-contiguous float32 of the width that the model has; sparse ones are made dense."""
    rows = np.asarray(x.dense() if isinstance(x, SparseRows) else x)
    if rows.ndim != 2:
        raise _misfit(rows.shape, width)
    _check_width(rows.shape, width)
    return np.ascontiguousarray(rows, np.float32)


def check_features(x: ArrayLike | SparseRows, width: int) -> Features:
    """The same, but sparse rows stay so: for learners that take them."""
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


# Sparse rows and learners that do not take them --------------------------------------------------------------------


class Scorer(Protocol):
    """A learner, or what scores in its place."""

    def score(self, x: Floats, /) -> Doubles:
        """See `Learner.score`."""
        ...


def scores(learner: Scorer, x: Features) -> Doubles:
    """What the learner says of each row; sparse rows are dense a few at a time, if it does not take them as they are.

    No score depends on the rows that it is scored with, so nothing depends on how many are dense at one time.
    """
    if takes(learner, x):
        return learner.score(x)
    pieces = [learner.score(x[piece].dense()) for piece in _pieces(x)]
    return np.concatenate(pieces) if pieces else learner.score(x.dense())


def learn(learner: Learner, selected: Selected) -> None:
    """Let it learn from these, in this order; sparse rows are dense as in `scores`."""
    if takes(learner, selected.examples.x):
        return learner.update(selected)
    for piece in _pieces(selected.examples.x):
        learner.update(_dense(selected.take(piece)))
    return None


def as_taken(learner: Scorer, selected: Selected) -> Selected:
    """With rows as the learner takes them now: dense, or as they are."""
    return selected if takes(learner, selected.examples.x) else _dense(selected)


def takes(learner: Scorer, x: Features) -> bool:
    """True if such rows are handed to it as they are."""
    return not isinstance(x, SparseRows) or capabilities_of(learner).sparse


def _pieces(x: SparseRows) -> Iterator[slice]:
    step = max(1, min(_MOST, _DENSE_BYTES // (4 * x.width)))
    for first in range(0, len(x), step):
        yield slice(first, first + step)


def _dense(selected: Selected) -> Selected:
    return replace(selected, examples=replace(selected.examples, x=selected.examples.x.dense()))
