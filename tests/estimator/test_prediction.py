"""Labels and probabilities that follow from scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.calibration import CalibratedClassifierCV

from estimator.moons import MOONS, SIDE, TEST, TEST_SIDE, new_clf, three_classes
from paraactive import Network


def test_without_probabilities_the_message_says_how_to_have_them() -> None:
    for clf in (new_clf(), new_clf().fit(MOONS, SIDE)):
        assert not hasattr(clf, "predict_proba")
        with pytest.raises(AttributeError) as raised:
            _ = clf.predict_proba
    first, second = str(raised.value).splitlines()[1:]
    names: dict[str, Any] = {"clf": new_clf(), "X": MOONS, "y": SIDE}
    exec(first.strip(), names)
    assert eval(second.strip(), names).shape == (4000, 2)


def test_calibrated_probabilities() -> None:
    calibrated: Any = CalibratedClassifierCV(new_clf(), cv=3).fit(MOONS, SIDE)
    p = calibrated.predict_proba(TEST)[:, 1]
    assert abs(p.mean() - TEST_SIDE.mean()) < 0.05
    assert np.mean((p > 0.5) == TEST_SIDE) > 0.95


def test_probabilities_where_the_learner_has_them() -> None:
    network = new_clf(learner=Network(hidden=20, step=0.2), epochs=5).fit(MOONS, SIDE)
    p = network.predict_proba(TEST)
    assert p.shape == (2000, 2)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert np.array_equal(p.argmax(axis=1), network.predict(TEST))
    x, y = three_classes(2000)
    three = new_clf(learner=Network(hidden=20, step=0.2), epochs=3).fit(x, y)
    assert three.predict_proba(x).shape == (2000, 3)
    assert np.array_equal(three.classes_[three.predict_proba(x).argmax(axis=1)], three.predict(x))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_with_names(frame: Any) -> None:
    names = ["across", "up"]
    rows = frame(dict(zip(names, MOONS.T, strict=True)))
    clf = new_clf().fit(rows, pd.Series(SIDE))
    assert clf.feature_names_in_.tolist() == names
    test = frame(dict(zip(names, TEST.T, strict=True)))
    assert clf.score(test, TEST_SIDE) > 0.95
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(frame(dict(zip(["up", "across"], TEST.T, strict=True))))


@pytest.mark.parametrize("classes", [2, 3])
def test_labels_follow_from_the_scores(classes: int) -> None:
    x, y = (MOONS, SIDE) if classes == 2 else three_classes(1000)
    clf = new_clf().fit(x[:1000], np.array(["no", "perhaps", "yes"])[y[:1000]])
    score = clf.decision_function(x[:200]).tolist()
    numbers = [int(each > 0) if classes == 2 else each.index(max(each)) for each in score]
    assert clf.predict(x[:200]).tolist() == [clf.classes_[number] for number in numbers]
