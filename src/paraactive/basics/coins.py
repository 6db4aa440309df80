"""The coin of each example: a number u in [0, 1) that depends on (seed, index) alone. Selected if u < p."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paraactive.basics import philox


def coins(seed: int, index: NDArray[np.int64]) -> NDArray[np.float64]:
    """The coins of the examples at these positions of the stream.

    >>> import numpy as np
    >>> bool(coins(0, np.array([5, 6]))[1] == coins(0, np.array([6]))[0])
    True
    """
    return philox.uniforms(seed, philox.COIN, index)
