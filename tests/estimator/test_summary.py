"""What `fit` says about its run."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

from estimator.moons import MOONS, SIDE, new_clf


def test_a_model_that_learned_nothing_is_warned_of_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(3000, 4)), rng.random(3000) < 0.2
    with caplog.at_level(logging.WARNING, "paraactive"):
        new_clf().fit(x, y)
    assert "no better than always predicting 'False'" in caplog.text


@pytest.mark.parametrize("options", [{}, {"verbose": 1}], ids=str)
def test_a_sound_model_is_not_warned_of(
    options: dict[str, Any], caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.WARNING, "paraactive"):
        clf = new_clf(**options).fit(MOONS, SIDE)
    assert caplog.text == ""
    assert (str(clf.run_.verdict) in capsys.readouterr().out) is bool(options)
