"""Checks of parameters and rows that all learners share."""

from __future__ import annotations

import numpy as np

from paraactive.errors import InputError
from paraactive.examples import Floats


def check_positive(*, whole: bool = False, **values: float | None) -> None:
    """Each given value must be a positive, finite number (None is left out)."""
    for name, value in values.items():
        if value is None:
            continue
        if not np.isfinite(value) or value <= 0 or (whole and value != int(value)):
            kind = "a positive whole number" if whole else "a positive number"
            raise InputError(f"{name} is {value}", why=f"it must be {kind}", remedy=f"give {name} > 0")


def check_rows(x: Floats, width: int) -> Floats:
    """Rows as C-contiguous float32 of the width that the model has."""
    if x.ndim != 2 or x.shape[1] != width:
        raise InputError(
            f"examples have shape {x.shape}",
            why=f"the model was trained on {width} features",
            remedy=f"give a matrix with {width} columns",
        )
    return np.ascontiguousarray(x, np.float32)
