"""The coin of an example: a number u in [0, 1) that depends only on (seed, index). u < p selects the example."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paraactive.basics import philox


def coins(seed: int, index: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the coins of the examples at the given positions of the stream.

    Parameters
    ----------
    seed : int
        Seed of the run.
    index : ndarray of shape (n,)
        Positions in the stream.

    Returns
    -------
    ndarray of shape (n,)
        Uniform numbers in [0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> bool(coins(0, np.array([5, 6]))[1] == coins(0, np.array([6]))[0])
    True
    """
    return philox.uniforms(seed, philox.COIN, index)


def audit_coins(seed: int, index: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return numbers that decide which selected examples are scored if the rule itself needs no scores.

    Parameters
    ----------
    seed : int
        Seed of the run.
    index : ndarray of shape (n,)
        Positions in the stream.

    Returns
    -------
    ndarray of shape (n,)
        Uniform numbers in [0, 1), independent of the coins.
    """
    return philox.uniforms(seed, philox.AUDIT, index)
