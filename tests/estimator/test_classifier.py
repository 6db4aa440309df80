"""ParaActiveClassifier, as users of scikit-learn use it."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import estimator_checks_generator

from making import DenseLaSVM, two_moons
from paraactive import LaSVM, Network, ParaActiveClassifier
from paraactive.data.examples import SparseRows
from paraactive.errors import InputError
from paraactive.learners import SklearnLearner
from paraactive.rules import Gradient, LeastMargin, Margin, SignedMargin, Uniform, floored

MOONS, SIDE = cast("tuple[Any, Any]", make_moons(4000, noise=0.2, random_state=0))
TEST, TEST_SIDE = cast("tuple[Any, Any]", make_moons(2000, noise=0.2, random_state=1))


def _three(count: int, seed: int = 0) -> Any:
    return make_classification(count, n_features=8, n_informative=5, n_classes=3, class_sep=1.5, random_state=seed)


def _clf(**options: Any) -> Any:
    usual: dict[str, Any] = {"random_state": 0, "warmstart": 500, "batch": 250}
    return ParaActiveClassifier(**usual | options)


ESTIMATORS: dict[str, Any] = {
    "LaSVM": ParaActiveClassifier(),
    "three nodes": ParaActiveClassifier(nodes=3, warmstart=5, batch=8),
    "linear": ParaActiveClassifier(LaSVM(kernel="linear")),
    "network": ParaActiveClassifier(Network(hidden=20, step=0.2), epochs=5),
}


def _checks() -> list[Any]:
    found: list[Any] = [(name, *pair) for name, each in ESTIMATORS.items() for pair in estimator_checks_generator(each)]
    called = [(name, estimator, check, getattr(check, "func", check).__name__) for name, estimator, check in found]
    return [
        pytest.param(estimator, check, id=f"{name}-{called}")
        for name, estimator, check, called in called
        if called != "check_array_api_input"  # It needs scipy imported in a mode of its own: see the next test.
    ]


@pytest.mark.parametrize(("estimator", "check"), _checks())
@pytest.mark.filterwarnings("ignore")  # scikit-learn's checks provoke warnings on purpose.
def test_check_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


def test_check_estimator_whole_and_nothing_skipped() -> None:
    code = (
        "from sklearn.utils.estimator_checks import check_estimator; from paraactive import ParaActiveClassifier; "
        "done = check_estimator(ParaActiveClassifier(), on_skip=None, on_fail='raise'); "
        "print(len(done), *[check['check_name'] for check in done if check['status'] != 'passed'])"
    )
    environment = os.environ | {"SCIPY_ARRAY_API": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    count, *others = done.stdout.split()
    assert int(count) > 60
    assert others == []


def test_it_learns_from_a_part_and_says_which() -> None:
    clf = _clf().fit(MOONS, SIDE)
    assert clf.score(TEST, TEST_SIDE) > 0.96
    assert clf.n_seen_ == 4000
    assert clf.n_selected_ == len(clf.selected_) == clf.run_.warmstart + clf.run_.selected
    assert clf.sampling_rate_ == clf.n_selected_ / 4000 < 0.5
    index, p = clf.selected_["index"], clf.selected_["p"]
    assert len(set(index.tolist())) == len(index)
    assert (p[:500] == 1).all()
    assert ((p > 0) & (p <= 1)).all()
    assert p[500:].min() < 0.5
    # The rows named are those learnt: learnt again, by themselves, they make the same model.
    again = LaSVM(**clf.learner_.describe())
    from paraactive.data.examples import Examples, Selected

    y, none = np.where(SIDE[index] == 1, 1, -1).astype(np.int8), np.zeros(len(index), np.int64)
    examples = Examples(MOONS[index].astype(np.float32), y, np.arange(len(index)))
    again.update(Selected(examples, p, none, none))
    assert np.mean((again.score(TEST.astype(np.float32)) > 0) == (clf.decision_function(TEST) > 0)) > 0.98


def test_it_is_as_good_as_the_learner_that_learns_every_row() -> None:
    sifted = [_clf(random_state=seed).fit(MOONS, SIDE).score(TEST, TEST_SIDE) for seed in range(5)]
    passive = [_clf(random_state=seed, rule="passive").fit(MOONS, SIDE).score(TEST, TEST_SIDE) for seed in range(5)]
    error = np.std(sifted, ddof=1) + np.std(passive, ddof=1) + 0.003
    assert np.mean(sifted) > np.mean(passive) - 2 * error


@pytest.mark.parametrize("rows", [60, 200, 400])
@pytest.mark.parametrize("learner", ["svm", "network"])
def test_a_few_hundred_rows_just_work(rows: int, learner: str) -> None:
    clf = ParaActiveClassifier(learner, random_state=0, epochs=1 if learner == "svm" else 20, nodes=2)
    clf.fit(MOONS[:rows], SIDE[:rows])
    alone = ParaActiveClassifier(learner, random_state=0, epochs=clf.epochs, rule="passive")
    alone.fit(MOONS[:rows], SIDE[:rows])
    # A difference of two standard errors of the two scores.
    noise = 2 * np.sqrt(2 * 0.1 * 0.9 / len(TEST))
    assert clf.score(TEST, TEST_SIDE) >= alone.score(TEST, TEST_SIDE) - noise - 0.01
    assert clf.score(TEST, TEST_SIDE) > 0.84


def test_small_data_is_learnt_about_as_well_as_by_svc() -> None:
    clf = ParaActiveClassifier(random_state=0).fit(MOONS[:300], SIDE[:300])
    svc: Any = SVC().fit(MOONS[:300], SIDE[:300])
    assert clf.score(TEST, TEST_SIDE) > svc.score(TEST, TEST_SIDE) - 0.02


def _svc_gamma() -> float:
    svc: Any = SVC().fit(MOONS * 30, SIDE)
    return svc._gamma


def test_gamma_is_the_scale_of_all_rows() -> None:
    clf = _clf().fit(MOONS * 30, SIDE)
    assert clf.learner_.describe()["gamma"] == pytest.approx(_svc_gamma(), rel=1e-4)


def test_labels_of_any_kind_and_number() -> None:
    x, y = _three(3000)
    names = np.array(["ham", "spam", "eggs"])[y]
    clf = _clf().fit(x[:2000], names[:2000])
    assert clf.classes_.tolist() == ["eggs", "ham", "spam"]
    assert clf.decision_function(x[2000:]).shape == (1000, 3)
    assert clf.score(x[2000:], names[2000:]) > 0.85
    assert set(clf.predict(x)) == {"ham", "spam", "eggs"}


def test_the_order_of_few_rows_does_not_matter() -> None:
    order = np.random.default_rng(0).permutation(4000)
    one, other = _clf().fit(MOONS, SIDE), _clf().fit(MOONS[order], SIDE[order])
    assert np.array_equal(one.decision_function(TEST), other.decision_function(TEST))
    assert np.array_equal(order[other.selected_["index"]], one.selected_["index"])


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_eta_follows_the_scale_of_the_scores(scale: float) -> None:
    """A learner that says the same in other units selects the same."""

    class Scaled(LaSVM):
        def score(self, x: Any) -> Any:
            return scale * super().score(x)

    clf = _clf(learner=Scaled(gamma=1.0, gap=0.2)).fit(MOONS, SIDE)
    plain = _clf(learner=LaSVM(gamma=1.0, gap=0.2)).fit(MOONS, SIDE)
    assert isinstance(clf.rule_, SignedMargin)
    assert clf.rule_.eta * scale == pytest.approx(plain.rule_.eta, rel=0.01)
    assert clf.sampling_rate_ == pytest.approx(plain.sampling_rate_, abs=0.02)


@pytest.mark.parametrize(
    ("learner", "rule", "kind"),
    [
        ("svm", "auto", SignedMargin),
        ("svm", "margin", Margin),
        ("network", "auto", Gradient),
        ("svm", Uniform(0.1), Uniform),
        ("svm", Margin(0.123), Margin),
    ],
)
def test_the_rule_that_was_used_is_told(learner: str, rule: Any, kind: Any) -> None:
    clf = _clf(learner=learner, rule=rule).fit(MOONS, SIDE)
    assert type(clf.rule_) is kind
    if isinstance(rule, Margin):
        assert clf.rule_ == rule


def test_verbose_says_what_was_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    clf = _clf(verbose=1).fit(MOONS, SIDE)
    said = capsys.readouterr().out
    assert f"SignedMargin(eta={clf.rule_.eta})" in said
    assert f"{clf.n_selected_:,} of 4,000 rows" in said


def test_verbose_says_what_was_held_out(capsys: pytest.CaptureFixture[str]) -> None:
    for options, said in (
        ({"early_stopping": 2}, "held out 400 of 4,000 rows to evaluate the model, for early_stopping"),
        ({"validation": 0.25}, "held out 1,000 of 4,000 rows to evaluate the model, for validation"),
        ({"validation": (TEST, TEST_SIDE)}, None),
        ({}, None),
    ):
        _clf(verbose=1, **options).fit(MOONS, SIDE)
        out = capsys.readouterr().out
        assert said in out if said else "held out" not in out
    assert _clf(early_stopping=2).fit(MOONS, SIDE).run_.evaluations[0].test_examples == 400
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("learner", [LaSVM(gamma=1.0, gap=0.2), Network(hidden=10, step=0.2)], ids=["svm", "network"])
@pytest.mark.parametrize("data", ["two classes", "three classes"])
def test_uniform_selects_about_as_many_as_the_default_rule(learner: Any, data: str) -> None:
    x, y = (MOONS, SIDE) if data == "two classes" else _three(4000)
    usual, uniform = (_clf(learner=learner, rule=rule).fit(x, y) for rule in ("auto", "uniform"))
    assert isinstance(uniform.rule_, Uniform)
    assert uniform.run_.sampling_rate == pytest.approx(uniform.rule_.rate, abs=0.03)
    assert 0.6 < uniform.run_.selected / usual.run_.selected < 1.8


def test_the_rate_of_the_baseline_does_not_depend_on_nodes_and_engine() -> None:
    rates = {
        _clf(rule="uniform", nodes=nodes, engine=engine).fit(MOONS, SIDE).rule_.rate
        for nodes, engine in ((1, "threads"), (3, "threads"), (2, "simulated"), (2, "processes"))
    }
    assert len(rates) == 1
    assert _clf(rule=Uniform(0.3)).fit(MOONS, SIDE).rule_ == Uniform(0.3)
    assert _clf(rule="uniform").set_params(rule__rate=0.4).fit(MOONS, SIDE).rule_ == Uniform(0.4)


def test_the_baseline_of_partial_fit_has_the_rate_of_the_default_rule_on_the_first_rows_sifted() -> None:
    selected: dict[str, int] = {}
    for rule in ("auto", "uniform"):
        clf = _clf(rule=rule).partial_fit(MOONS[:500], SIDE[:500], classes=[0, 1])
        selected[rule] = clf.partial_fit(MOONS[500:1500], SIDE[500:1500]).n_selected_ - 500
    assert 0.6 < selected["uniform"] / selected["auto"] < 2


def test_class_weight_moves_the_border() -> None:
    x: Any
    y: Any
    x, y = make_classification(3000, weights=[0.95], flip_y=0.05, class_sep=0.6, random_state=0)
    recall = [
        np.mean(_clf(class_weight=weight).fit(x, y).predict(x)[y == 1] == 1)
        for weight in (None, "balanced", {0: 1, 1: 50})
    ]
    assert recall[0] + 0.1 < recall[1] < recall[2] + 0.1


def test_class_weight_reaches_the_box() -> None:
    clf = _clf(class_weight={0: 1, 1: 3}, rule="passive").fit(MOONS, SIDE)
    svm: Any = clf.learner_
    live = slice(0, svm.vectors)
    assert svm._dual.upper[0, live].max() == 3
    assert svm._lower[0, live].min() == -1


def test_sample_weight_is_as_good_as_copies_also_where_rows_are_sifted() -> None:
    weight = np.random.default_rng(0).integers(0, 3, 4000)
    weighted = _clf().fit(MOONS, SIDE, sample_weight=weight)
    copies = _clf().fit(MOONS.repeat(weight, axis=0), SIDE.repeat(weight))
    assert np.array_equal(weighted.decision_function(TEST), copies.decision_function(TEST))
    assert weighted.selected_["index"].max() < 4000
    assert not np.isin(weighted.selected_["index"], np.flatnonzero(weight == 0)).any()


def test_partial_fit_sifts_once_there_is_a_model() -> None:
    clf = _clf()
    for first in range(0, 4000, 400):
        clf.partial_fit(MOONS[first : first + 400], SIDE[first : first + 400], classes=[0, 1])
    assert clf.n_seen_ == 4000
    assert clf.n_selected_ < 2000
    assert clf.score(TEST, TEST_SIDE) > 0.95
    assert (clf.selected_["p"][:500] == 1).all()
    assert np.all(np.diff(clf.selected_["index"]) > 0)
    assert isinstance(clf.rule_, SignedMargin)


def test_partial_fit_after_fit_goes_on() -> None:
    clf = _clf().fit(MOONS[:2000], SIDE[:2000])
    before = clf.n_selected_
    clf.partial_fit(MOONS[2000:], SIDE[2000:])
    assert clf.n_seen_ == 4000
    assert before < clf.n_selected_ < before + 1000
    assert clf.score(TEST, TEST_SIDE) > 0.95


def test_partial_fit_needs_to_know_the_classes() -> None:
    with pytest.raises(InputError, match="classes is not given"):
        _clf().partial_fit(MOONS, SIDE)
    clf = _clf().partial_fit(MOONS[:100], SIDE[:100], classes=[0, 1])
    with pytest.raises(InputError, match="y has the label"):
        clf.partial_fit(MOONS[:100], SIDE[:100] + 5)
    with pytest.raises(ValueError, match="features"):
        clf.partial_fit(MOONS[:100, :1], SIDE[:100])


def test_partial_fit_may_begin_with_one_class() -> None:
    clf = _clf().partial_fit(MOONS[SIDE == 0][:50], SIDE[SIDE == 0][:50], classes=[0, 1])
    assert (clf.predict(TEST) == 0).all()
    clf.partial_fit(MOONS, SIDE)
    assert clf.score(TEST, TEST_SIDE) > 0.95


@pytest.mark.parametrize(
    "options", [{"nodes": 2}, {"nodes": -1}, {"nodes": 2, "engine": "processes"}, {"engine": "simulated"}]
)
def test_the_model_is_the_same_on_every_engine(options: Any) -> None:
    one, other = _clf().fit(MOONS, SIDE), _clf(**options).fit(MOONS, SIDE)
    assert other.learner_.digest() == one.learner_.digest()


@pytest.mark.parametrize("schedule", ["asynchronous", "sequential"])
def test_all_schedules(schedule: str) -> None:
    clf = _clf(schedule=schedule, nodes=1 if schedule == "sequential" else 2).fit(MOONS, SIDE)
    assert clf.score(TEST, TEST_SIDE) > 0.95


@pytest.mark.parametrize("validation", [0.2, (TEST, TEST_SIDE)])
def test_validation_is_tried_on_the_way(validation: Any) -> None:
    clf = _clf(validation=validation).fit(MOONS, SIDE)
    assert clf.n_seen_ == (3200 if validation == 0.2 else 4000)
    assert len(clf.run_.evaluations) > 3
    assert clf.run_.evaluations[-1].test_examples == (800 if validation == 0.2 else 2000)


def test_early_stopping_ends_when_there_is_nothing_to_gain() -> None:
    patient = _clf(epochs=40, early_stopping=3).fit(MOONS, SIDE)
    assert patient.n_seen_ < 40 * 3600
    mistakes = [tried.mistakes for tried in patient.run_.evaluations]
    assert min(mistakes[-3:]) >= min(mistakes[:-3])
    assert patient.score(TEST, TEST_SIDE) > 0.95


def test_early_stopping_keeps_the_best_model() -> None:
    for seed in range(3):
        clf = _clf(epochs=20, early_stopping=2, validation=(TEST, TEST_SIDE), random_state=seed).fit(MOONS, SIDE)
        best = min(tried.mistakes for tried in clf.run_.evaluations)
        assert round((1 - clf.score(TEST, TEST_SIDE)) * len(TEST)) == best


def test_clone_pickle_and_joblib(tmp_path: Path) -> None:
    clf = _clf(learner=LaSVM(C=2.0)).fit(MOONS, SIDE)
    expected = clf.decision_function(TEST)
    assert np.array_equal(pickle.loads(pickle.dumps(clf)).decision_function(TEST), expected)
    joblib.dump(clf, tmp_path / "clf.joblib")
    assert np.array_equal(joblib.load(tmp_path / "clf.joblib").decision_function(TEST), expected)
    again: Any = clone(clf)
    with pytest.raises(NotFittedError):
        again.predict(TEST)
    assert np.array_equal(again.fit(MOONS, SIDE).decision_function(TEST), expected)


def test_the_learner_given_is_left_alone() -> None:
    svm = LaSVM()
    clf = _clf(learner=svm)
    clf.fit(MOONS, SIDE)
    assert svm.vectors == 0
    assert svm.classes is None
    assert svm.gamma == "scale"
    assert clf.learner_ is not svm


def test_pipeline_and_grid_search() -> None:
    pipe = make_pipeline(StandardScaler(), _clf(learner=LaSVM(gap=0.2)))
    grid = {"paraactiveclassifier__learner__C": [0.01, 1.0], "paraactiveclassifier__rule": ["signed", "margin"]}
    search: Any = GridSearchCV(pipe, grid, cv=3).fit(MOONS[:1500], SIDE[:1500])
    assert search.best_params_["paraactiveclassifier__learner__C"] == 1.0
    assert search.score(TEST, TEST_SIDE) > 0.94
    assert cross_val_score(_clf(), MOONS[:1500], SIDE[:1500], cv=3).min() > 0.92


def test_parameters_of_the_learner_are_set_by_name() -> None:
    clf: Any = ParaActiveClassifier().set_params(learner__C=7.0, nodes=2)
    assert (clf.learner.C, clf.learner.gap, clf.nodes) == (7.0, 0.2, 2)
    assert clf.get_params()["learner__C"] == 7.0
    with pytest.raises(InputError, match="no LaSVM parameter 'c'"):
        clf.set_params(learner__c=1)


def test_without_probabilities_the_message_says_how_to_have_them() -> None:
    for clf in (_clf(), _clf().fit(MOONS, SIDE)):
        assert not hasattr(clf, "predict_proba")
        with pytest.raises(AttributeError) as raised:
            _ = clf.predict_proba
    first, second = str(raised.value).splitlines()[1:]
    names: dict[str, Any] = {"clf": _clf(), "X": MOONS, "y": SIDE}
    exec(first.strip(), names)
    assert eval(second.strip(), names).shape == (4000, 2)


def test_calibrated_probabilities() -> None:
    calibrated: Any = CalibratedClassifierCV(_clf(), cv=3).fit(MOONS, SIDE)
    p = calibrated.predict_proba(TEST)[:, 1]
    assert abs(p.mean() - TEST_SIDE.mean()) < 0.05
    assert np.mean((p > 0.5) == TEST_SIDE) > 0.95


def test_probabilities_where_the_learner_has_them() -> None:
    network = _clf(learner=Network(hidden=20, step=0.2), epochs=5).fit(MOONS, SIDE)
    p = network.predict_proba(TEST)
    assert p.shape == (2000, 2)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert np.array_equal(p.argmax(axis=1), network.predict(TEST))
    x, y = _three(2000)
    three = _clf(learner=Network(hidden=20, step=0.2), epochs=3).fit(x, y)
    assert three.predict_proba(x).shape == (2000, 3)
    assert np.array_equal(three.classes_[three.predict_proba(x).argmax(axis=1)], three.predict(x))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_with_names(frame: Any) -> None:
    names = ["across", "up"]
    rows = frame(dict(zip(names, MOONS.T, strict=True)))
    clf = _clf().fit(rows, pd.Series(SIDE))
    assert clf.feature_names_in_.tolist() == names
    test = frame(dict(zip(names, TEST.T, strict=True)))
    assert clf.score(test, TEST_SIDE) > 0.95
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(frame(dict(zip(["up", "across"], TEST.T, strict=True))))


@pytest.mark.parametrize("learner", [SGDClassifier(loss="log_loss", random_state=0), GaussianNB()])
def test_a_scikit_learn_classifier_as_the_learner(learner: Any) -> None:
    x, y = _three(3000)
    clf = _clf(learner=learner, epochs=5).fit(x[:2000], y[:2000])
    passive = _clf(learner=learner, epochs=5, rule="passive").fit(x[:2000], y[:2000])
    assert clf.score(x[2000:], y[2000:]) > passive.score(x[2000:], y[2000:]) - 0.05
    assert clf.sampling_rate_ < 0.7
    bayes = isinstance(learner, GaussianNB)  # Of three classes the scores of SGDClassifier are no log-odds.
    assert isinstance(clf.rule_, Gradient if bayes else SignedMargin)
    assert hasattr(clf, "predict_proba") == bayes
    if bayes:
        assert clf.predict_proba(x[:5]).shape == (5, 3)
    assert not hasattr(learner, "classes_")


def test_sparse_rows_of_every_kind_are_taken() -> None:
    rng = np.random.default_rng(0)
    x = np.where(rng.random((3000, 40)) < 0.1, rng.normal(size=(3000, 40)), 0).astype(np.float32)
    y = (x[:, :20].sum(axis=1) > x[:, 20:].sum(axis=1)).astype(int)
    svm: dict[str, Any] = {"kernel": "poly", "gamma": 0.5, "coef0": 1.0, "gap": 0.2}
    dense = _clf(learner=LaSVM(**svm)).fit(x[:2000], y[:2000])
    for kind in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        for learner in (LaSVM, DenseLaSVM):
            clf = _clf(learner=learner(**svm)).fit(kind(x[:2000]), y[:2000])
            assert np.array_equal(clf.decision_function(kind(x[2000:])), dense.decision_function(x[2000:]))


def test_many_sparse_rows_are_never_dense_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = sparse.random_array((12_000, 3000), density=0.002, rng=np.random.default_rng(0), dtype=np.float32).tocsr()
    y = np.asarray(wide[:, :1500].sum(axis=1)).ravel() > np.asarray(wide[:, 1500:].sum(axis=1)).ravel()
    most, dense = 0, SparseRows.dense

    def watched(self: SparseRows) -> Any:
        nonlocal most
        most = max(most, len(self))
        return dense(self)

    monkeypatch.setattr(SparseRows, "dense", watched)
    monkeypatch.setattr(type(wide), "toarray", None)
    for learner, allowed in ((DenseLaSVM(kernel="linear"), 256), (LaSVM(kernel="linear"), 0)):
        most = 0
        clf = ParaActiveClassifier(learner, random_state=0, warmstart=500, batch=2000).fit(wide, y)
        assert clf.score(wide, y) > 0.8
        assert most <= allowed


def test_sparse_rows_stay_sparse_for_learners_that_take_them(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    # 20 GB if they were dense.
    rows, width = 100_000, 50_000
    columns = (width * rng.random((rows, 10)) ** 6).astype(np.int32).ravel()
    begins = np.arange(0, len(columns) + 1, 10)
    matrix: Any = sparse.csr_matrix((np.ones(len(columns), np.float32), columns, begins), (rows, width))
    y = np.asarray(matrix @ np.where(np.arange(width) % 2, 1.0, -1.0)).ravel() > 0
    for dense in ("toarray", "todense"):
        monkeypatch.setattr(type(matrix), dense, None)
    monkeypatch.setattr(SparseRows, "dense", None)
    learner = SklearnLearner(SGDClassifier(), minibatch=500)
    clf: Any = ParaActiveClassifier(learner, rule="uniform", random_state=0, validation=0.01).fit(matrix, y)
    assert np.mean(clf.predict(matrix[:5000]) == y[:5000]) > 0.7
    clf.partial_fit(matrix[:5000], y[:5000])
    assert isinstance(clf.run_.evaluations[-1].mistakes, int)


def test_parameters_of_the_rule_are_set_by_name() -> None:
    clf: Any = ParaActiveClassifier(rule=Margin(0.1)).set_params(rule__eta=0.3)
    assert clf.rule == Margin(0.3)
    assert clf.get_params()["rule__eta"] == 0.3
    with pytest.raises(InputError, match="no Margin parameter 'etta'"):
        clf.set_params(rule__etta=1)


@pytest.mark.parametrize(
    ("rule", "kind"), [("margin", Margin), ("signed", SignedMargin), ("auto", SignedMargin), ("least", LeastMargin)]
)
def test_parameters_of_a_rule_that_is_given_by_name_are_fixed(rule: str, kind: Any) -> None:
    twin: Any = clone(_clf(rule=rule).set_params(rule__eta=0.7))
    clf = twin.fit(MOONS, SIDE)
    assert clf.rule_ == kind(0.7)
    assert clf.get_params()["rule__eta"] == 0.7
    assert clf.set_params(rule__eta=0.2).fit(MOONS, SIDE).rule_ == kind(0.2)
    assert clf.set_params(rule="margin").fit(MOONS, SIDE).rule_ != Margin(0.2), "eta is fitted again"


def test_the_automatic_rule_with_an_eta_is_the_one_that_suits_the_classes_and_the_learner() -> None:
    assert _clf().set_params(rule__eta=0.3).fit(*_three(2000)).rule_ == LeastMargin(0.3)
    network = _clf(learner=Network(hidden=5)).set_params(rule__scale=3.0).fit(MOONS, SIDE)
    assert network.rule_ == Gradient(scale=3.0)
    with pytest.raises(InputError, match="no Gradient parameter 'eta'"):
        network.set_params(rule="auto", rule__eta=0.1).fit(MOONS, SIDE)


def test_a_parameter_that_a_rule_by_name_has_not_is_refused_at_once() -> None:
    with pytest.raises(InputError, match="no Margin parameter 'etta'"):
        ParaActiveClassifier(rule="margin").set_params(rule__etta=1)


@pytest.mark.parametrize("rule", ["auto", "margin"])
def test_a_grid_search_goes_over_eta_of_a_rule_by_name(rule: str) -> None:
    search: Any = GridSearchCV(_clf(rule=rule, warmstart=300), {"rule__eta": [0.01, 100.0]}, cv=2).fit(MOONS, SIDE)
    assert search.best_estimator_.rule_.eta == search.best_params_["rule__eta"]
    rates = [_clf(rule=rule).set_params(rule__eta=eta).fit(MOONS, SIDE).sampling_rate_ for eta in (0.01, 100.0)]
    assert rates[0] > rates[1]


def test_a_rule_with_a_floor_of_its_own() -> None:
    clf = _clf(rule=floored(Margin(0.1), 0.2), floor=None).fit(MOONS, SIDE)
    assert clf.selected_["p"].min() >= 0.2
    assert _clf(rule=floored(Margin(0.1), 0.2)).fit(MOONS, SIDE).selected_["p"].min() >= 0.2


def test_rows_are_counted_over_all_calls_also_those_held_out_or_without_weight() -> None:
    weight = np.where(np.arange(2000) % 4 == 0, 0.0, 1.0)
    clf = _clf(validation=0.3, early_stopping=1, epochs=3).fit(MOONS[:2000], SIDE[:2000], sample_weight=weight)
    first = clf.n_selected_
    clf.partial_fit(MOONS[2000:3000], SIDE[2000:3000], sample_weight=weight[:1000])
    more = clf.selected_["index"][first:]
    assert more.min() >= 2000
    assert more.max() < 3000
    assert (more % 4 != 0).all()
    # What is said to be learnt is learnt: the same rows under keys of their own make the same model.
    assert len(set(more.tolist())) == len(more)


def test_class_weights_hold_for_rows_that_lack_a_class() -> None:
    clf = _clf(class_weight={1: 5.0})
    clf.partial_fit(MOONS[:600], SIDE[:600], classes=[0, 1])
    clf.partial_fit(MOONS[SIDE == 0][:100], SIDE[SIDE == 0][:100])
    assert clf.score(TEST, TEST_SIDE) > 0.8
    with pytest.raises(InputError, match="class_weight has the class 'spam'"):
        _clf(class_weight={"spam": 2}).fit(MOONS, SIDE)
    with pytest.raises(InputError, match="class_weight is 'balanced' in partial_fit"):
        _clf(class_weight="balanced").partial_fit(MOONS, SIDE, classes=[0, 1])
    with pytest.raises(InputError, match="class_weight is 0"):
        _clf(class_weight={0: 0}).fit(MOONS, SIDE)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"learner": "tree"}, "no learner 'tree'"),
        ({"learner": SVC()}, "partial_fit"),
        ({"learner": LaSVM}, "class LaSVM"),
        ({"rule": "best"}, "no rule 'best'"),
        ({"nodes": 0}, "nodes is 0"),
        ({"epochs": 0}, "epochs is 0"),
        ({"batch": 0}, "batch is 0"),
        ({"engine": "gpu"}, "no engine 'gpu'"),
        ({"schedule": "never"}, "no schedule 'never'"),
        ({"validation": 2.0}, "validation is 2.0"),
        ({"validation": 1.0}, "validation is not a part of the rows"),
        ({"validation": np.ones(3)}, "validation is not a part of the rows"),
        ({"validation": (TEST, TEST_SIDE, 1)}, "validation has more than X and y"),
        ({"early_stopping": -2}, "early_stopping is -2"),
        ({"early_stopping": 1.5}, "early_stopping is 1.5"),
        ({"validation": (TEST, TEST_SIDE + 3)}, "unknown labels"),
    ],
)
def test_bad_parameters_are_named(options: Any, named: str) -> None:
    with pytest.raises(InputError, match=named):
        _clf(**options).fit(MOONS, SIDE)


def test_one_class_is_refused() -> None:
    with pytest.raises(InputError, match="1 class"):
        _clf().fit(MOONS, np.zeros(4000))


def test_a_fitted_classifier_writes_a_report(tmp_path: Path) -> None:
    x, y = two_moons(4000, noise=0.2, seed=0)
    labels = np.where(y > 0, "<b>up</b>", "down")
    clf = ParaActiveClassifier(LaSVM(gap=0.2), nodes=2, validation=0.2, random_state=0)
    with pytest.raises(NotFittedError):
        clf.report(tmp_path / "page.html")
    page = clf.fit(x, labels).report(tmp_path / "page.html").read_text()
    assert '"examples seen", 3200' in page
    assert "error-time" in page
    assert "<b>" not in page


@pytest.mark.parametrize("seed", range(5))
def test_a_class_of_one_row_is_never_held_out_whole(seed: int) -> None:
    x, y = MOONS[:200].copy(), SIDE[:200].copy()
    y[7] = 2
    clf = _clf(validation=0.5, random_state=seed).fit(x, y)
    assert clf.classes_.tolist() == [0, 1, 2]
    many = np.repeat(np.arange(10), 5)
    assert len(_clf(early_stopping=1, random_state=seed).fit(MOONS[:50], many).classes_) == 10
