"""What users give to `fit`, checked and converted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from estimator.moons import MOONS, SIDE, TEST, TEST_SIDE, new_clf
from paraactive.errors import InputError
from paraactive.estimator.inputs import checked_rows, checked_weights, validation_fraction


def test_class_weights_hold_for_rows_that_lack_a_class() -> None:
    clf = new_clf(class_weight={1: 5.0})
    clf.partial_fit(MOONS[:600], SIDE[:600], classes=[0, 1])
    clf.partial_fit(MOONS[SIDE == 0][:100], SIDE[SIDE == 0][:100])
    assert clf.score(TEST, TEST_SIDE) > 0.8
    with pytest.raises(InputError, match="class_weight has the class 'spam'"):
        new_clf(class_weight={"spam": 2}).fit(MOONS, SIDE)
    with pytest.raises(InputError, match="class_weight is 'balanced' in partial_fit"):
        new_clf(class_weight="balanced").partial_fit(MOONS, SIDE, classes=[0, 1])
    with pytest.raises(InputError, match="class_weight is 0"):
        new_clf(class_weight={0: 0}).fit(MOONS, SIDE)


@pytest.mark.parametrize("class_weight", [None, "balanced", {"b": 3.0}], ids=str)
def test_rows_that_count_are_those_of_known_labels_and_weights_above_0(class_weight: Any) -> None:
    rng, classes = np.random.default_rng(0), np.array(["a", "b", "c"])
    x, y = rng.normal(size=(90, 2)).astype(np.float32), rng.choice(["a", "b", "c", "unknown"], 90)
    weight = np.where(y == "unknown", 0, rng.integers(0, 3, 90)).astype(float)
    rows = checked_rows(x, y, weight, classes, class_weight)
    kept = [row for row in range(90) if weight[row] > 0]
    labels = [y[row] for row in kept]
    factor = {"a": 1.0, "b": 1.0, "c": 1.0} | (class_weight if isinstance(class_weight, dict) else {})
    if class_weight == "balanced":
        factor = {label: len(kept) / (3 * labels.count(label)) for label in factor}
    assert rows.row.tolist() == kept
    assert rows.x.tolist() == x[kept].tolist()
    assert [classes[number] for number in rows.number] == labels
    np.testing.assert_allclose(rows.weight, [weight[row] * factor[y[row]] for row in kept], rtol=1e-12)
    with pytest.raises(InputError, match=r"y has the label .*unknown.*: the classes are 'a', 'b', 'c'"):
        checked_rows(x, y, np.ones(90), classes, class_weight)


def test_weights_are_one_for_each_row_or_one_for_all() -> None:
    assert checked_weights(None, 3).tolist() == [1, 1, 1]
    assert checked_weights(2, 3).tolist() == [2, 2, 2]
    assert checked_weights([0, 1, 2], 3).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("weight", "says"),
    [
        ([1, 2], r"shape \(2,\)"),
        ([[1, 2, 3]], "1D array or scalar"),
        ([1, 2, -1], "Negative values"),
        ([1, 2, np.nan], "NaN"),
    ],
)
def test_other_weights_are_refused(weight: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        checked_weights(weight, 3)


@pytest.mark.parametrize("part", [0, 1, 1.5, -0.1, float("nan"), "all", [0.5]])
def test_the_part_that_is_held_out_is_above_0_and_below_1(part: Any) -> None:
    with pytest.raises(InputError, match="validation is"):
        validation_fraction(part)
    assert validation_fraction(0.25) == 0.25
