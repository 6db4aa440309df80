"""Checks of features and weights, against loops over all values."""

from __future__ import annotations

import numpy as np
import pytest

from paraactive.errors import InputError
from paraactive.streams import Arrays

X = np.arange(21, dtype=np.float64).reshape(7, 3)


Y = np.array([0, 1, 1, 0, 1, 0, 0])


def test_nan_is_found_far_into_large_data(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("paraactive.streams.array_checks._BLOCK", 6)
    flawed = X.copy()
    flawed[[6, 3], [2, 1]] = np.nan
    with pytest.raises(InputError, match=r"2 of the features are NaN.*row 3, column 1"):
        Arrays(flawed, Y)


def test_the_fingerprint_does_not_depend_on_the_size_of_a_block(monkeypatch: pytest.MonkeyPatch):
    mine = Arrays(X, Y).fingerprint
    monkeypatch.setattr("paraactive.streams.array_checks._BLOCK", 6)
    assert Arrays(X, Y).fingerprint == mine
