from __future__ import annotations

import numpy as np

from making import two_moons
from paraactive import Arrays
from paraactive.cli.data_options import scale_in
from paraactive.data.examples import SparseRows

X, Y = two_moons(200, noise=0.2, seed=0)


def test_arrays_of_a_file_are_standardized_unless_they_are_sparse_or_pixels() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (200, 64))
    assert scale_in(None, Arrays(X, Y)) is True
    assert scale_in(None, Arrays(pixels, Y)) is False
    assert scale_in(None, Arrays(SparseRows.of(np.maximum(X, 0)), Y)) is False


def test_what_is_typed_counts() -> None:
    assert scale_in(False, Arrays(X, Y)) is False
    assert scale_in(True, Arrays(X, Y)) is True
