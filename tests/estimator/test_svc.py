"""ParaActiveSVC beside scikit-learn's SVC."""

from __future__ import annotations

import pickle
from functools import partial
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, make_classification, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from estimator.moons import MOONS, SIDE, TEST, TEST_SIDE, three_classes
from estimator.scikit_checks import assert_all_pass, checks_of
from paraactive import ParaActiveSVC
from paraactive.errors import InputError
from paraactive.estimator import calibrating

OURS: Any = ParaActiveSVC
THEIRS: Any = SVC
calibrated: Any = CalibratedClassifierCV
ESTIMATORS: dict[str, Any] = {
    "rbf": OURS(),
    "linear": OURS(kernel="linear"),
    "poly": OURS(kernel="poly", degree=2, coef0=1.0),
    "probability": OURS(probability=True),
    "two threads": OURS(n_jobs=2),
}


def _applies(name: str, check: str) -> bool:
    if name != "probability":
        return True
    # A row of weight 2 is in one fold, and two equal rows may be in two. The most probable class need not be the one
    # with the largest score. Both are so in SVC.
    return not check.startswith("check_sample_weight_equivalence") and check != "check_classifiers_train"


@pytest.mark.parametrize(("estimator", "check"), checks_of(ESTIMATORS, _applies))
@pytest.mark.filterwarnings("ignore")  # scikit-learn's checks provoke warnings on purpose.
def test_check_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


def test_check_estimator_whole_and_nothing_skipped() -> None:
    assert_all_pass("ParaActiveSVC")


# As SVC ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [{}, {"kernel": "linear"}, {"kernel": "poly", "coef0": 1.0}, {"gamma": "auto"}, {"C": 10.0, "gamma": 2}]
)
def test_with_the_same_parameters_it_predicts_as_svc(options: dict[str, Any]) -> None:
    ours, svc = OURS(random_state=0, **options).fit(MOONS, SIDE), THEIRS(**options).fit(MOONS, SIDE)
    assert abs(ours.score(TEST, TEST_SIDE) - svc.score(TEST, TEST_SIDE)) < 0.01
    assert np.mean(ours.predict(TEST) == svc.predict(TEST)) > 0.985


def test_on_few_rows_all_of_which_are_learned_its_solution_is_that_of_svc() -> None:
    x, y = MOONS[:400], SIDE[:400]
    ours, svc = OURS(random_state=0).fit(x, y), THEIRS().fit(x, y)
    assert ours.decision_function(TEST) == pytest.approx(svc.decision_function(TEST), abs=0.02)
    assert abs(len(ours.support_) - len(svc.support_)) <= 3
    assert ours.intercept_ == pytest.approx(svc.intercept_, abs=0.02)


def test_class_weights_and_sample_weights_are_those_of_svc() -> None:
    x, y = make_classification(3000, weights=[0.95], class_sep=0.8, flip_y=0.02, random_state=0)
    for options in ({"class_weight": "balanced"}, {"class_weight": {0: 1.0, 1: 20.0}}):
        ours, svc = OURS(random_state=0, **options).fit(x, y), THEIRS(**options).fit(x, y)
        assert np.mean(ours.predict(x) == svc.predict(x)) > 0.95
    weight = np.where(y == 1, 20.0, 1.0)
    weighted = OURS(random_state=0).fit(x, y, sample_weight=weight)
    assert np.mean(weighted.predict(x) == THEIRS().fit(x, y, sample_weight=weight).predict(x)) > 0.95


# Attributes ------------------------------------------------------------------------------------------------------

KERNELS: dict[str, Any] = {
    "rbf": partial(rbf_kernel, gamma=0.7),
    "linear": linear_kernel,
    "poly": partial(polynomial_kernel, degree=2, gamma=0.7, coef0=1),
}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("classes", [2, 3])
def test_the_score_is_that_of_its_attributes(kernel: str, classes: int) -> None:
    x, y = (MOONS, SIDE) if classes == 2 else three_classes(1500)
    svc = OURS(kernel=kernel, gamma=0.7, degree=2, coef0=1.0, random_state=0).fit(x, y)
    values = KERNELS[kernel](svc.support_vectors_, x[:200])
    score = (svc.dual_coef_ @ values).T + svc.intercept_
    assert score.shape == (200, 1 if classes == 2 else classes)
    assert svc.decision_function(x[:200]) == pytest.approx(score[:, 0] if classes == 2 else score, rel=1e-3, abs=0.01)
    if kernel == "linear":
        assert x[:200] @ svc.coef_.T + svc.intercept_ == pytest.approx(score, abs=2e-3)
    else:
        assert not hasattr(svc, "coef_")


@pytest.mark.parametrize("classes", [2, 3])
def test_its_vectors_are_rows_of_x_class_by_class(classes: int) -> None:
    x, y = (MOONS, SIDE) if classes == 2 else three_classes(1500)
    x, y = np.vstack([x, x[:50]]), np.append(y, y[:50])  # With copies, which are merged.
    svc = OURS(random_state=0).fit(x, y)
    assert svc.support_vectors_ == pytest.approx(x[svc.support_], abs=1e-5)
    assert len(set(svc.support_.tolist())) == len(svc.support_) == svc.n_support_.sum() == svc.dual_coef_.shape[1]
    number = np.searchsorted(svc.classes_, y[svc.support_])
    assert (np.diff(number) >= 0).all()
    assert svc.n_support_.tolist() == np.bincount(number, minlength=classes).tolist()


def test_rows_of_partial_fit_are_counted_on() -> None:
    svc = OURS(random_state=0)
    with pytest.raises(InputError, match="classes is not given"):
        svc.partial_fit(MOONS[:100], SIDE[:100])
    for first in range(0, len(MOONS), 700):
        svc.partial_fit(MOONS[first : first + 700], SIDE[first : first + 700], classes=np.unique(SIDE))
    assert svc.support_vectors_ == pytest.approx(MOONS[svc.support_], abs=1e-5)
    assert svc.support_.max() > 3000
    assert svc.score(TEST, TEST_SIDE) > 0.96


def test_partial_fit_after_fit_goes_on_with_its_model() -> None:
    svc = OURS(random_state=0).fit(MOONS[:2000], SIDE[:2000])
    svc.partial_fit(MOONS[2000:], SIDE[2000:])
    assert svc.support_vectors_ == pytest.approx(MOONS[svc.support_], abs=1e-5)
    assert {*svc.support_ // 2000} == {0, 1}


def test_sparse_rows_give_sparse_vectors() -> None:
    x, y = load_digits(return_X_y=True)
    for rows in (sparse.csr_matrix(x), sparse.csr_matrix(np.where(x > 14, x, 0.0))):
        svc = OURS(random_state=0).fit(rows, y)
        assert sparse.issparse(svc.support_vectors_)
        assert abs(svc.support_vectors_ - rows[svc.support_]).max() < 1e-4


def test_features_far_from_zero_keep_their_units() -> None:
    x = MOONS + 1.7e9
    svc = OURS(random_state=0).fit(x, SIDE)
    assert svc.support_vectors_ - x[svc.support_] == pytest.approx(0, abs=1e-5)


# Shapes and probabilities ----------------------------------------------------------------------------------------


def test_scores_of_pairs_have_the_shape_of_svc_and_its_order() -> None:
    x, y = load_digits(return_X_y=True)
    svc = OURS(random_state=0).fit(x, y)
    score, pairs = (
        svc.decision_function(x[:50]),
        svc.set_params(decision_function_shape="ovo").decision_function(x[:50]),
    )
    assert score.shape == (50, 10)
    assert pairs.shape == THEIRS(decision_function_shape="ovo").fit(x, y).decision_function(x[:50]).shape == (50, 45)
    assert pairs[:, 0] == pytest.approx(score[:, 0] - score[:, 1])
    assert pairs[:, 44] == pytest.approx(score[:, 8] - score[:, 9])


@pytest.mark.parametrize("held_out", [False, True])
def test_probabilities_are_as_good_as_those_of_svc(held_out: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = make_moons(4000, noise=0.35, random_state=1)
    if held_out:
        monkeypatch.setattr(calibrating, "CROSS_VALIDATED_ROWS", 1000)
        monkeypatch.setattr(calibrating, "HELD_OUT_ROWS", 400)
    svc = OURS(probability=True, random_state=0).fit(x[:2000], y[:2000])
    found = svc.predict_proba(x[2000:])
    assert found.sum(axis=1) == pytest.approx(1.0)
    assert np.log(found) == pytest.approx(svc.predict_log_proba(x[2000:]))
    svc_probabilities: Any = calibrated(THEIRS(), ensemble=False).fit(x[:2000], y[:2000])
    assert log_loss(y[2000:], found) < log_loss(y[2000:], svc_probabilities.predict_proba(x[2000:])) + 0.02
    assert svc.support_vectors_ == pytest.approx(x[svc.support_], abs=1e-5)
    assert svc.support_.max() < 2000


def test_rows_that_were_held_out_are_not_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrating, "CROSS_VALIDATED_ROWS", 1000)
    monkeypatch.setattr(calibrating, "HELD_OUT_ROWS", 400)
    svc = OURS(probability=True, random_state=0).fit(MOONS, SIDE)
    assert svc.classifier_.n_seen_ == len(MOONS) - 400


def test_probabilities_of_many_classes_sum_to_one() -> None:
    x, y = three_classes(1500)
    svc = OURS(probability=True, random_state=0).fit(x, y)
    assert svc.predict_proba(x[:30]).shape == (30, 3)
    assert np.mean(svc.predict_proba(x).argmax(axis=1) == np.searchsorted(svc.classes_, svc.predict(x))) > 0.97


def test_without_probability_there_is_no_predict_proba() -> None:
    svc = OURS().fit(MOONS[:200], SIDE[:200])
    assert not hasattr(svc, "predict_proba")
    assert not hasattr(svc, "predict_log_proba")
    with pytest.raises(InputError, match="fit it with probability=True"):
        svc.set_params(probability=True).predict_proba(MOONS)
    with pytest.raises(AttributeError) as refused:
        svc.partial_fit(MOONS[:200], SIDE[:200])
    assert "CalibratedClassifierCV" in str(refused.value.__cause__)


def test_a_class_of_one_row_has_no_probabilities() -> None:
    with pytest.raises(InputError, match=r"a class has only one row.*at least two rows"):
        OURS(probability=True).fit([[0.0], [1.0], [2.0]], [0, 0, 1])


# As users use it -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["sigmoid", "precomputed", linear_kernel])
def test_kernels_that_it_does_not_have_are_refused(kernel: Any) -> None:
    with pytest.raises(InputError, match="kernels rbf, linear, poly; use one of these, or scikit-learn's SVC"):
        OURS(kernel=kernel).fit(MOONS, SIDE)


def test_the_model_does_not_depend_on_n_jobs() -> None:
    one, all_cores = (OURS(n_jobs=jobs, random_state=0).fit(MOONS, SIDE) for jobs in (None, -1))
    assert np.array_equal(one.dual_coef_, all_cores.dual_coef_)


def test_it_works_in_pipelines_searches_clones_and_pickles() -> None:
    search: Any = GridSearchCV(make_pipeline(StandardScaler(), OURS(random_state=0)), {"paraactivesvc__C": [0.1, 1]})
    search.fit(MOONS[:600], SIDE[:600])
    assert search.score(TEST, TEST_SIDE) > 0.9
    svc = cast(Any, clone)(OURS(C=3, random_state=0)).fit(MOONS, SIDE)
    assert np.array_equal(pickle.loads(pickle.dumps(svc)).decision_function(TEST), svc.decision_function(TEST))


def test_names_of_columns_are_kept_and_forgotten_with_the_next_fit() -> None:
    svc = OURS(random_state=0).fit(pd.DataFrame(MOONS, columns=["a", "b"]), SIDE)
    assert svc.feature_names_in_.tolist() == ["a", "b"]
    assert svc.n_features_in_ == 2
    assert not hasattr(svc.fit(MOONS, SIDE), "feature_names_in_")


def test_before_fit_it_is_said_that_it_is_not_fitted() -> None:
    for name in ("support_", "support_vectors_", "n_support_", "dual_coef_"):
        assert not hasattr(OURS(), name)
    with pytest.raises(NotFittedError, match="ParaActiveSVC instance is not fitted"):
        OURS().predict(MOONS)
