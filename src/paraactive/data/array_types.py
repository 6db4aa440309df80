"""Types of the arrays that hold examples."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float32]
Doubles: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Labels: TypeAlias = NDArray[np.int8]

# Rows of an array: a slice, row numbers, or a mask.
RowSelection: TypeAlias = slice | NDArray[np.intp] | NDArray[np.int64] | NDArray[np.bool_]
