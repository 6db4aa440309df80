from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits

from estimator.moons import MOONS, SIDE, TEST, TEST_SIDE, new_clf
from paraactive import LaSVM
from paraactive.errors import InputError
from paraactive.learners import Standardized
from paraactive.learners.standardized import is_standardized

UNEVEN = np.array([1.0, 1e5])


def test_columns_of_different_scale_do_not_matter() -> None:
    even, uneven = new_clf().fit(MOONS, SIDE), new_clf().fit(MOONS * UNEVEN + [0, 1e6], SIDE)
    assert uneven.score(TEST * UNEVEN + [0, 1e6], TEST_SIDE) > 0.95
    assert even.n_selected_ == pytest.approx(uneven.n_selected_, rel=0.05)
    raw = new_clf(scale=False).fit(MOONS * UNEVEN, SIDE)
    assert raw.score(TEST * UNEVEN, TEST_SIDE) < 0.9


@pytest.mark.parametrize("scale", ["auto", False])
def test_numbers_that_float32_cannot_hold_keep_their_differences(scale: bool | str) -> None:
    x = np.round(np.random.default_rng(0).random((3000, 1)) * 99)
    y = x[:, 0] > 40
    assert new_clf(scale=scale).fit(x + 1.7e9, y).score(x + 1.7e9, y) > 0.99
    tokens = (x + 2**24).astype(np.int64)
    assert new_clf(scale=scale).fit(tokens, y).score(tokens, y) > 0.99
    steps = new_clf(scale=scale)
    for first in range(0, 3000, 500):
        steps.partial_fit(x[first : first + 500] + 1.7e9, y[first : first + 500], classes=[False, True])
    assert steps.score(x + 1.7e9, y) > 0.99


def test_partial_fit_standardizes_too() -> None:
    clf, raw = new_clf(), new_clf(scale=False)
    for each in (clf, raw):
        for first in range(0, 4000, 400):
            each.partial_fit(MOONS[first : first + 400] * UNEVEN, SIDE[first : first + 400], classes=[0, 1])
    assert clf.score(TEST * UNEVEN, TEST_SIDE) > 0.94 > raw.score(TEST * UNEVEN, TEST_SIDE)
    assert is_standardized(clf.learner_)
    assert not is_standardized(raw.learner_)


def test_pixels_and_sparse_rows_are_not_touched() -> None:
    x, y = load_digits(n_class=3, return_X_y=True)
    same = new_clf().fit(x, y).decision_function(x)
    assert np.array_equal(same, new_clf(scale=False).fit(x, y).decision_function(x))
    assert not np.array_equal(same, new_clf(scale=True).fit(x, y).decision_function(x))
    rows = sparse.csr_array(MOONS)
    one, other = (new_clf(scale=scale).fit(rows, SIDE).decision_function(rows) for scale in ("auto", False))
    assert np.array_equal(one, other)
    with pytest.raises(InputError, match="sparse"):
        new_clf(scale=True).fit(rows, SIDE)


def test_a_learner_that_is_standardized_already_is_left_alone() -> None:
    clf = new_clf(learner=Standardized(LaSVM(gap=0.2))).fit(MOONS * UNEVEN, SIDE)
    assert clf.score(TEST * UNEVEN, TEST_SIDE) > 0.95


def test_rows_to_validate_on_are_standardized_too() -> None:
    given = new_clf(validation=(TEST * UNEVEN, TEST_SIDE)).fit(MOONS * UNEVEN, SIDE)
    assert given.run_.evaluations[-1].mistakes == np.sum(given.predict(TEST * UNEVEN) != TEST_SIDE)
    part = new_clf(validation=0.2).fit(MOONS * UNEVEN, SIDE)
    assert part.run_.evaluations[-1].mistakes < 0.08 * 800


def test_missing_values_are_an_error_that_names_the_columns() -> None:
    x = MOONS.copy()
    x[3:5, 1] = np.nan
    with pytest.raises(InputError, match=r"NaN, in 1 column: '1' \(2\).*missing=\"mean\""):
        new_clf().fit(x, SIDE)
    clf = new_clf().fit(MOONS, SIDE)
    with pytest.raises(InputError, match=r"'1' \(2\)"):
        clf.predict(x)
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InputError, match=r"'income' \(2\)"):
        new_clf().fit(pandas.DataFrame(x, columns=["age", "income"]), SIDE)


def test_missing_values_are_replaced_by_the_mean() -> None:
    x, test = MOONS.copy(), TEST.copy()
    rng = np.random.default_rng(0)
    x[rng.random(x.shape) < 0.05] = np.nan
    clf = new_clf(missing="mean").fit(x, SIDE)
    assert clf.score(test, TEST_SIDE) > 0.9
    test[:, 0] = np.nan
    filled = test.copy()
    filled[:, 0] = np.nanmean(x[:, 0])
    assert np.allclose(clf.decision_function(test), clf.decision_function(filled), atol=1e-4)
    steps = new_clf(missing="mean", scale=False)
    for first in range(0, 4000, 1000):
        steps.partial_fit(x[first : first + 1000], SIDE[first : first + 1000], classes=[0, 1])
    assert steps.score(TEST, TEST_SIDE) > 0.9
    with pytest.raises(InputError, match="median"):
        new_clf(missing="median").fit(x, SIDE)


def test_infinite_and_too_large_numbers_are_refused() -> None:
    x = MOONS.copy()
    x[0, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        new_clf(missing="mean").fit(x, SIDE)
    x[0, 0] = 1e300
    with pytest.raises(InputError, match="too large"):
        new_clf(scale=False).fit(x, SIDE)


def test_wrong_values_of_scale_are_refused() -> None:
    with pytest.raises(InputError, match="scale is 'yes'"):
        new_clf(scale="yes").fit(MOONS, SIDE)


def test_the_parameters_survive_a_clone() -> None:
    clf: Any = clone(new_clf(scale=False, missing="mean"))
    assert (clf.scale, clf.missing) == (False, "mean")
