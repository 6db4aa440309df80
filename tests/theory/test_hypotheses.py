"""Thresholds, decision stumps and linear separators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraactive.errors import InputError
from paraactive.theory import Predictions, Separators, Stumps, Thresholds

SEEDS = st.integers(0, 10**6)
NAN = float("nan")


def _rows(predictions: Predictions) -> list[list[bool]]:
    rows = predictions.rows(0, predictions.points)
    assert rows.dtype == np.bool_
    assert rows.shape == (predictions.points, predictions.hypotheses)
    return rows.tolist()


# Classes against plain loops ------------------------------------------------------------------------------------


@given(SEEDS)
def test_thresholds_say_yes_beyond_their_cut(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, cuts = rng.integers(0, 5, 20) / 4, rng.integers(0, 5, 6) / 4  # Some points lie on cuts.
    assert _rows(Thresholds(cuts).on(x)) == [[bool(point > cut) for cut in cuts] for point in x]
    assert len(Thresholds(cuts)) == 6


@given(SEEDS)
def test_stumps_say_their_sign_beyond_their_cut_and_the_other_elsewhere(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, cuts = rng.integers(0, 4, (15, 3)).astype(float), rng.integers(0, 4, 7).astype(float)
    features, signs = rng.integers(0, 3, 7), np.where(rng.random(7) < 0.5, 1, -1)
    expected = [
        [
            bool((sign if row[feature] > cut else -sign) > 0)
            for feature, cut, sign in zip(features, cuts, signs, strict=True)
        ]
        for row in x
    ]
    assert _rows(Stumps(features, cuts, signs).on(x)) == expected
    assert _rows(Stumps(features, cuts, signs > 0).on(x)) == expected


def test_stumps_between_have_cuts_at_quantiles_in_both_directions() -> None:
    x = np.random.default_rng(0).normal(size=(1000, 3))
    stumps = Stumps.between(x, cuts=4)
    assert len(stumps) == 3 * 4 * 2
    triples = list(zip(stumps.features.tolist(), stumps.cuts.tolist(), stumps.signs.tolist(), strict=True))
    assert len(set(triples)) == 24
    for feature in range(3):
        for sign in (True, False):
            cuts = sorted(cut for f, cut, s in triples if f == feature and s == sign)
            shares = [float(np.mean(x[:, feature] < cut)) for cut in cuts]
            assert shares == pytest.approx([1 / 8, 3 / 8, 5 / 8, 7 / 8], abs=2e-3)
    says = np.array(_rows(stumps.on(x)))
    assert np.array_equal(says[:, :12], ~says[:, 12:])


@given(SEEDS)
def test_separators_say_yes_on_their_side(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, weights, bias = rng.integers(-3, 4, (12, 3)), rng.integers(-3, 4, (5, 3)), rng.integers(-2, 3, 5)
    expected = [[sum(row[k] * weights[h, k] for k in range(3)) + bias[h] > 0 for h in range(5)] for row in x]
    assert _rows(Separators(weights, bias).on(x)) == expected
    assert _rows(Separators(weights).on(x)) == _rows(Separators(weights, np.zeros(5)).on(x))
    assert _rows(Separators(weights, 1.0).on(x)) == _rows(Separators(weights, np.ones(5)).on(x))


def test_separators_on_the_circle_have_equal_angles() -> None:
    weights = Separators.on_the_circle(7).weights
    assert np.linalg.norm(weights, axis=1) == pytest.approx(1)
    assert np.sum(weights * np.roll(weights, 1, axis=0), axis=1) == pytest.approx(np.cos(2 * np.pi / 7))


# Predictions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Thresholds([0.1, NAN]), "cuts has a value that is not finite"),
        (lambda: Thresholds([[0.1, 0.2]]), r"cuts has 2 dimensions.*a list of numbers"),
        (lambda: Thresholds([0.1, 0.2]).on([[1.0]]), r"x has 2 dimensions"),
        (lambda: Thresholds([0.1, 0.2]).on([float("inf")]), "x has a value that is not finite"),
        (lambda: Separators([1.0, 2.0]), r"weights has 1 dimension.*rows of numbers"),
        (lambda: Separators([[1.0, NAN]]), "weights has a value that is not finite"),
        (lambda: Separators([[1.0], [2.0]]).on([[1.0, 2.0]]), "rows of 2 features: the separators have 1 weights"),
        (lambda: Separators.on_the_circle(0), "count is 0"),
        (lambda: Stumps([0, 1], [0.5], [1, 1]), "there are 2 features, 1 cuts and 2 signs"),
        (lambda: Stumps([0], [0.5], [2]), "the signs are not all -1 or"),
        (
            lambda: Stumps([0, 2], [0.5, 0.5], [1, 1]).on([[1.0, 2.0]]),
            "the stumps use features 0 to 2: the rows have 2",
        ),
        (lambda: Stumps([-1, 0], [0.5, 0.5], [1, 1]).on([[1.0, 2.0]]), "the stumps use features -1 to 0"),
        (lambda: Stumps.between([[1.0]], 0), "cuts is 0"),
        (lambda: Stumps.between([1.0], 1), r"x has 1 dimension"),
        (lambda: Separators([[1.0], [2.0]], [0.0, NAN]), "bias"),
        (lambda: Separators([[1.0], [2.0]], [0.0, 0.0, 0.0]), "bias"),
        (lambda: Stumps([0.7, 0], [0.5, 0.5], [1, 1]), "features"),
    ],
)
def test_bad_parameters_are_named(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
