"""What users give to `fit`, checked and converted."""

from __future__ import annotations

import pytest

from estimator.moons import MOONS, SIDE, TEST, TEST_SIDE, new_clf
from paraactive.errors import InputError


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
