from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from making import waves
from paraactive import LaSVM, ParaActiveClassifier
from paraactive.errors import InputError
from paraactive.learners.standardized import innermost
from paraactive.runs import tuning


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
    unused = innermost(many.tuned_.learner)
    assert isinstance(unused, LaSVM)
    assert (unused.C, unused.vectors) == (inner.C, 0)
    for learner, rows, given in ((None, 9999, "auto"), (LaSVM(gap=0.2), 10_000, "auto"), (None, 10_000, False)):
        model = ParaActiveClassifier(learner, tune=given, random_state=0).fit(x[:rows], y[:rows])
        assert not hasattr(model, "tuned_")
    assert not hasattr(many.set_params(tune=False).fit(x, y), "tuned_")


def test_the_default_is_judged_with_the_gamma_that_it_will_have() -> None:
    x, y = waves(10_000)
    x[:64] *= 0.01  # The learner itself would compute gamma="scale" of the first rows.
    clf = ParaActiveClassifier(random_state=0, scale=False).fit(x, y)
    gammas = {float(each.learner.split("gamma=")[1].rstrip(")")) for each in clf.tuned_.tried}
    base = 1.0 / (2 * x.astype(np.float64).var())
    assert sorted(gammas) == pytest.approx([base / 4, base, 2 * base, 4 * base], rel=0.01)


def test_rows_of_later_passes_do_not_judge_the_candidates() -> None:
    x, y = waves(300)
    clf = ParaActiveClassifier(tune=True, epochs=3, random_state=0).fit(x, y)
    assert clf.tuned_.chosen.examples == 300


def test_without_a_warmstart_nothing_is_tuned() -> None:
    x, y = waves(10_000)
    clf = ParaActiveClassifier(random_state=0, warmstart=0).fit(x, y)
    assert not hasattr(clf, "tuned_")


def test_sparse_rows_stay_sparse_while_tuning(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = waves(10_000)

    def fail(_rows: object) -> None:
        pytest.fail("rows became dense")

    monkeypatch.setattr(tuning, "dense", fail)
    clf = ParaActiveClassifier(random_state=0).fit(csr_matrix(np.hstack([x, np.zeros((len(x), 40), np.float32)])), y)
    assert len(clf.tuned_.tried) == 12


def test_a_wrong_value_of_tune_is_refused() -> None:
    x, y = waves(50)
    with pytest.raises(InputError, match="no tune 'yes'"):
        ParaActiveClassifier(tune="yes").fit(x, y)
