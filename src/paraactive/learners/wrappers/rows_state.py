"""Rows that are part of a learner's state, such as examples that wait, as plain arrays."""

from __future__ import annotations

import numpy as np

from paraactive.basics.state import State
from paraactive.data.examples import Features, SparseRows

_PARTS = ("data", "indices", "indptr")


def rows_to_state(name: str, x: Features) -> State:
    """Rows as plain arrays, copied: one if they are dense, four if they are sparse."""
    if not isinstance(x, SparseRows):
        return {name: np.array(x)}
    width = {f"{name}.width": np.array(x.width)}
    return width | {f"{name}.{part}": getattr(x, part).copy() for part in _PARTS}


def rows_from_state(name: str, state: State) -> Features:
    """The rows that `rows_to_state` wrote; a ValueError or KeyError if it cannot have written these.

    >>> rows = SparseRows.of(np.array([[0, 2, 0], [1, 0, 3]], np.float32))
    >>> rows_from_state("x", rows_to_state("x", rows)).dense().tolist()
    [[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]]
    """
    if name in state:
        return np.array(state[name], np.float32, order="C")
    parts = {part: np.array(state[f"{name}.{part}"]) for part in _PARTS}
    rows = SparseRows(**parts, width=int(state[f"{name}.width"]))
    rows.check()
    return rows
