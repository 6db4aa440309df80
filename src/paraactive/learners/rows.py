"""The check of rows that all learners share."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from paraactive.errors import InputError
from paraactive.examples import Floats


def check_rows(x: ArrayLike, width: int) -> Floats:
    """Rows as C-contiguous float32 of the width that the model has."""
    rows = np.asarray(x)
    if rows.ndim != 2 or rows.shape[1] != width:
        raise InputError(
            f"examples have shape {rows.shape}",
            why=f"the model was trained on {width} features",
            remedy=f"give a matrix with {width} columns",
        )
    return np.ascontiguousarray(rows, np.float32)
