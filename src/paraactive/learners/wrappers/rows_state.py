"""Rows in the state of a learner, such as waiting examples, as plain arrays."""

from __future__ import annotations

import numpy as np

from paraactive.basics.state import State
from paraactive.data.examples import Features, SparseRows

_PARTS = ("data", "indices", "indptr")


def rows_to_state(name: str, x: Features) -> State:
    """Return rows as copied arrays: one for dense rows, four for sparse rows.

    Parameters
    ----------
    name : str
        Name of the array, or beginning of the names.
    x : ndarray or SparseRows
        The rows.

    Returns
    -------
    dict of str to ndarray
        The arrays by name.
    """
    if not isinstance(x, SparseRows):
        return {name: np.array(x)}
    width = {f"{name}.width": np.array(x.width)}
    return width | {f"{name}.{part}": getattr(x, part).copy() for part in _PARTS}


def rows_from_state(name: str, state: State) -> Features:
    """Return the rows that `rows_to_state` got.

    Parameters
    ----------
    name : str
        The name that was given to `rows_to_state`.
    state : dict of str to ndarray
        The saved state.

    Returns
    -------
    ndarray or SparseRows
        The rows.

    Raises
    ------
    ValueError, KeyError
        If the arrays are not those of rows.

    Examples
    --------
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
