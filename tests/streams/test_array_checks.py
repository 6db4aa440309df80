"""Checks of features and weights, against loops over all values."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraactive.data.examples import SparseRows
from paraactive.errors import InputError
from paraactive.streams import Arrays
from paraactive.streams.array_checks import check_width, example_weights, features, features_alone, hash_features

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


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2)), min_size=1, max_size=8), st.integers(1, 30))
@settings(deadline=None)
def test_flaws_are_counted_and_found_whatever_the_size_of_a_block(flaws: list[tuple[int, int]], block: int):
    x = X.copy()
    for place in flaws:
        x[place] = np.inf
    row, column = min(flaws)
    verb = "is" if len(set(flaws)) == 1 else "are"
    says = f"{len(set(flaws))} of the features {verb} NaN or infinite, the first inf at row {row}, column {column}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("paraactive.streams.array_checks._BLOCK", block)
        with pytest.raises(InputError, match=says):
            features(x, 7)


def test_float32_of_a_mapped_file_stays_mapped_and_other_types_are_copied(tmp_path: Path):
    for kind, mapped in ((np.float32, True), (np.float64, False)):
        np.save(tmp_path / "x.npy", X.astype(kind))
        given = np.load(tmp_path / "x.npy", mmap_mode="r")
        x = features_alone(given)
        assert (x.dtype, np.array_equal(x, X)) == (np.float32, True)
        assert np.shares_memory(x, given) == mapped


@pytest.mark.parametrize("weight", [[1, 2], [1, 2, 0], [1, 2, -1], [1, 2, np.nan], [1, 2, np.inf], [[1, 2, 3]], "abc"])
def test_weights_that_are_not_positive_numbers_one_for_each_row_are_refused(weight: Any):
    with pytest.raises(InputError, match=r"weight has shape .* give one finite number above 0 for each row"):
        example_weights(weight, 3)
    assert example_weights([1, 2, True], 3).tolist() == [1, 2, 1]


def test_sparse_rows_have_a_digest_of_their_own_and_rows_another_width():
    digests = []
    for x in (X.astype(np.float32), SparseRows.of(X.astype(np.float32))):
        digest = hashlib.sha256()
        hash_features(digest, x)
        digests.append(digest.hexdigest())
        check_width(x, 3)
        with pytest.raises(InputError, match="the rows have 3 features, and those of the stream have 4"):
            check_width(x, 4)
    assert digests[0] == hashlib.sha256(X.astype("<f4").tobytes()).hexdigest() != digests[1]
