from __future__ import annotations

import pytest

from making import waves
from paraactive import LaSVM, ParaActiveClassifier
from paraactive.errors import InputError
from paraactive.learners.standardized import innermost


def test_a_tuned_classifier_says_what_it_chose_and_makes_fewer_mistakes() -> None:
    x, y = waves(6000)
    plain = ParaActiveClassifier(random_state=0).fit(x[:4000], y[:4000])
    tuned = ParaActiveClassifier(tune=True, random_state=0).fit(x[:4000], y[:4000])
    assert "is the best of" in str(tuned.tuned_)
    assert tuned.score(x[4000:], y[4000:]) > plain.score(x[4000:], y[4000:]) + 0.05


def test_by_default_only_the_default_svm_is_tuned_and_only_on_many_rows() -> None:
    x, y = waves(10_000)
    many = ParaActiveClassifier(random_state=0).fit(x, y)
    inner = innermost(many.learner_)
    assert isinstance(inner, LaSVM)
    assert many.tuned_.chosen.learner == f"LaSVM(C={inner.C:g}, gamma={inner.gamma:g})"
    assert inner.C > 1.0
    for learner, rows, tuning in ((None, 9999, "auto"), (LaSVM(gap=0.2), 10_000, "auto"), (None, 10_000, False)):
        model = ParaActiveClassifier(learner, tune=tuning, random_state=0).fit(x[:rows], y[:rows])
        assert not hasattr(model, "tuned_")
    assert not hasattr(many.set_params(tune=False).fit(x, y), "tuned_")


def test_a_wrong_value_of_tune_is_refused() -> None:
    x, y = waves(50)
    with pytest.raises(InputError, match="no tune 'yes'"):
        ParaActiveClassifier(tune="yes").fit(x, y)
