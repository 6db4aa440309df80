"""ParaActiveClassifier, as users of scikit-learn use it."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from estimator.moons import MOONS, SIDE, TEST, TEST_SIDE, new_clf, three_classes
from estimator.scikit_checks import assert_all_pass, checks_of
from making import DenseLaSVM, two_moons
from paraactive import LaSVM, Network, ParaActiveClassifier
from paraactive.data.examples import SparseRows
from paraactive.errors import InputError, PassiveWarning
from paraactive.learners import SklearnLearner
from paraactive.rules import Gradient, LeastMargin, SignedMargin

ESTIMATORS: dict[str, Any] = {
    "LaSVM": ParaActiveClassifier(),
    "three nodes": ParaActiveClassifier(nodes=3, warmstart=5, batch=8),
    "linear": ParaActiveClassifier(LaSVM(kernel="linear")),
    "network": ParaActiveClassifier(Network(hidden=20, step=0.2), epochs=5),
}


@pytest.mark.parametrize(("estimator", "check"), checks_of(ESTIMATORS))
@pytest.mark.filterwarnings("ignore")  # scikit-learn's checks provoke warnings on purpose.
def test_check_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


def test_check_estimator_whole_and_nothing_skipped() -> None:
    assert_all_pass("ParaActiveClassifier")


def test_it_learns_from_a_part_and_says_which() -> None:
    clf = new_clf().fit(MOONS, SIDE)
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
    sifted = [new_clf(random_state=seed).fit(MOONS, SIDE).score(TEST, TEST_SIDE) for seed in range(5)]
    passive = [new_clf(random_state=seed, rule="passive").fit(MOONS, SIDE).score(TEST, TEST_SIDE) for seed in range(5)]
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
    clf = new_clf(scale=False).fit(MOONS * 30, SIDE)
    assert clf.learner_.describe()["gamma"] == pytest.approx(_svc_gamma(), rel=1e-4)


def test_gamma_is_the_scale_of_the_standardized_rows() -> None:
    clf = new_clf().fit(MOONS * [30, 1e5], SIDE)
    assert clf.learner_.describe()["gamma"] == pytest.approx(1 / 2, rel=1e-4)


def test_labels_of_any_kind_and_number() -> None:
    x, y = three_classes(3000)
    names = np.array(["ham", "spam", "eggs"])[y]
    clf = new_clf().fit(x[:2000], names[:2000])
    assert clf.classes_.tolist() == ["eggs", "ham", "spam"]
    assert clf.decision_function(x[2000:]).shape == (1000, 3)
    assert clf.score(x[2000:], names[2000:]) > 0.85
    assert set(clf.predict(x)) == {"ham", "spam", "eggs"}


def test_the_order_of_few_rows_does_not_matter() -> None:
    order = np.random.default_rng(0).permutation(4000)
    one, other = new_clf().fit(MOONS, SIDE), new_clf().fit(MOONS[order], SIDE[order])
    assert np.array_equal(one.decision_function(TEST), other.decision_function(TEST))
    assert np.array_equal(order[other.selected_["index"]], one.selected_["index"])


def test_verbose_says_what_was_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    clf = new_clf(verbose=1).fit(MOONS, SIDE)
    said = capsys.readouterr().out
    assert f"{clf.rule_}" in said
    assert str(clf.run_.verdict) in said
    assert f"{clf.n_selected_:,} of 4,000 rows" in said


def test_verbose_says_what_was_held_out(capsys: pytest.CaptureFixture[str]) -> None:
    for options, said in (
        ({"early_stopping": 2}, "held out 400 of 4,000 rows to evaluate the model, for early_stopping"),
        ({"validation": 0.25}, "held out 1,000 of 4,000 rows to evaluate the model, for validation"),
        ({"validation": (TEST, TEST_SIDE)}, None),
        ({}, None),
    ):
        new_clf(verbose=1, **options).fit(MOONS, SIDE)
        out = capsys.readouterr().out
        assert said in out if said else "held out" not in out
    assert new_clf(early_stopping=2).fit(MOONS, SIDE).run_.evaluations[0].test_examples == 400
    assert capsys.readouterr().out == ""


def test_class_weight_moves_the_border() -> None:
    x: Any
    y: Any
    x, y = make_classification(3000, weights=[0.95], flip_y=0.05, class_sep=0.6, random_state=0)
    recall = [
        np.mean(new_clf(class_weight=weight).fit(x, y).predict(x)[y == 1] == 1)
        for weight in (None, "balanced", {0: 1, 1: 50})
    ]
    assert recall[0] + 0.1 < recall[1] < recall[2] + 0.1


def test_class_weight_reaches_the_box() -> None:
    clf = new_clf(class_weight={0: 1, 1: 3}, rule="passive").fit(MOONS, SIDE)
    svm: Any = clf.learner_
    live = slice(0, svm.vectors)
    assert svm.dual.upper[0, live].max() == 3
    assert svm.dual.lower[0, live].min() == -1


def test_sample_weight_is_as_good_as_copies_also_where_rows_are_sifted() -> None:
    weight = np.random.default_rng(0).integers(0, 3, 4000)
    weighted = new_clf().fit(MOONS, SIDE, sample_weight=weight)
    copies = new_clf().fit(MOONS.repeat(weight, axis=0), SIDE.repeat(weight))
    assert np.array_equal(weighted.decision_function(TEST), copies.decision_function(TEST))
    assert weighted.selected_["index"].max() < 4000
    assert not np.isin(weighted.selected_["index"], np.flatnonzero(weight == 0)).any()


def test_partial_fit_sifts_once_there_is_a_model() -> None:
    clf = new_clf()
    for first in range(0, 4000, 400):
        clf.partial_fit(MOONS[first : first + 400], SIDE[first : first + 400], classes=[0, 1])
    assert clf.n_seen_ == 4000
    assert clf.n_selected_ < 2000
    assert clf.score(TEST, TEST_SIDE) > 0.95
    assert (clf.selected_["p"][:500] == 1).all()
    assert np.all(np.diff(clf.selected_["index"]) > 0)
    assert isinstance(clf.rule_, SignedMargin)


def test_partial_fit_after_fit_goes_on() -> None:
    clf = new_clf().fit(MOONS[:2000], SIDE[:2000])
    before = clf.n_selected_
    clf.partial_fit(MOONS[2000:], SIDE[2000:])
    assert clf.n_seen_ == 4000
    assert before < clf.n_selected_ < before + 1000
    assert clf.score(TEST, TEST_SIDE) > 0.95


def test_partial_fit_needs_to_know_the_classes() -> None:
    with pytest.raises(InputError, match="classes is not given"):
        new_clf().partial_fit(MOONS, SIDE)
    clf = new_clf().partial_fit(MOONS[:100], SIDE[:100], classes=[0, 1])
    with pytest.raises(InputError, match="y has the label"):
        clf.partial_fit(MOONS[:100], SIDE[:100] + 5)
    with pytest.raises(ValueError, match="features"):
        clf.partial_fit(MOONS[:100, :1], SIDE[:100])


def test_partial_fit_may_begin_with_one_class() -> None:
    clf = new_clf().partial_fit(MOONS[SIDE == 0][:50], SIDE[SIDE == 0][:50], classes=[0, 1])
    assert (clf.predict(TEST) == 0).all()
    clf.partial_fit(MOONS, SIDE)
    assert clf.score(TEST, TEST_SIDE) > 0.95


@pytest.mark.parametrize(
    "options", [{"nodes": 2}, {"nodes": -1}, {"nodes": 2, "engine": "processes"}, {"engine": "simulated"}]
)
def test_the_model_is_the_same_on_every_engine(options: Any) -> None:
    one, other = new_clf().fit(MOONS, SIDE), new_clf(**options).fit(MOONS, SIDE)
    assert other.learner_.digest() == one.learner_.digest()


@pytest.mark.parametrize("schedule", ["asynchronous", "sequential"])
def test_all_schedules(schedule: str) -> None:
    # The model of an asynchronous run depends on the speed of its nodes, so one run says little.
    fits = 3 if schedule == "asynchronous" else 1
    clf = new_clf(schedule=schedule, nodes=1 if schedule == "sequential" else 2)
    assert np.median([clf.fit(MOONS, SIDE).score(TEST, TEST_SIDE) for _ in range(fits)]) > 0.95


@pytest.mark.parametrize("validation", [0.2, (TEST, TEST_SIDE)])
def test_validation_is_tried_on_the_way(validation: Any) -> None:
    clf = new_clf(validation=validation).fit(MOONS, SIDE)
    assert clf.n_seen_ == (3200 if validation == 0.2 else 4000)
    assert len(clf.run_.evaluations) > 3
    assert clf.run_.evaluations[-1].test_examples == (800 if validation == 0.2 else 2000)


def test_clone_pickle_and_joblib(tmp_path: Path) -> None:
    clf = new_clf(learner=LaSVM(C=2.0)).fit(MOONS, SIDE)
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
    clf = new_clf(learner=svm)
    clf.fit(MOONS, SIDE)
    assert svm.vectors == 0
    assert svm.classes is None
    assert svm.gamma == "scale"
    assert clf.learner_ is not svm


def test_pipeline_and_grid_search() -> None:
    pipe = make_pipeline(StandardScaler(), new_clf(learner=LaSVM(gap=0.2)))
    grid = {"paraactiveclassifier__learner__C": [0.01, 1.0], "paraactiveclassifier__rule": ["signed", "margin"]}
    search: Any = GridSearchCV(pipe, grid, cv=3).fit(MOONS[:1500], SIDE[:1500])
    assert search.best_params_["paraactiveclassifier__learner__C"] == 1.0
    assert search.score(TEST, TEST_SIDE) > 0.94
    assert cross_val_score(new_clf(), MOONS[:1500], SIDE[:1500], cv=3).min() > 0.92


@pytest.mark.parametrize("learner", [SGDClassifier(loss="log_loss", average=True, random_state=0), GaussianNB()])
def test_a_scikit_learn_classifier_as_the_learner(learner: Any) -> None:
    x, y = three_classes(3000)
    bayes = isinstance(learner, GaussianNB)  # Of three classes the scores of SGDClassifier are no log-odds.
    clf = new_clf(learner=learner, epochs=5, scale=False, rule="gradient" if bayes else "auto").fit(x[:2000], y[:2000])
    passive = new_clf(learner=learner, epochs=5, scale=False, rule="passive").fit(x[:2000], y[:2000])
    assert clf.score(x[2000:], y[2000:]) > passive.score(x[2000:], y[2000:]) - 0.05
    assert clf.sampling_rate_ < 0.9
    assert isinstance(clf.rule_, Gradient if bayes else LeastMargin)
    assert hasattr(clf, "predict_proba") == bayes
    if bayes:
        assert clf.predict_proba(x[:5]).shape == (5, 3)
    assert not hasattr(learner, "classes_")


def test_sparse_rows_of_every_kind_are_taken() -> None:
    rng = np.random.default_rng(0)
    x = np.where(rng.random((3000, 40)) < 0.1, rng.normal(size=(3000, 40)), 0).astype(np.float32)
    y = (x[:, :20].sum(axis=1) > x[:, 20:].sum(axis=1)).astype(int)
    svm: dict[str, Any] = {"kernel": "poly", "gamma": 0.5, "coef0": 1.0, "gap": 0.2}
    rule = SignedMargin(0.05)  # The slope of the default rule depends on the length of the rows.
    dense = new_clf(learner=LaSVM(**svm), rule=rule, scale=False).fit(x[:2000], y[:2000])
    for kind in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        for learner in (LaSVM, DenseLaSVM):
            clf = new_clf(learner=learner(**svm), rule=rule).fit(kind(x[:2000]), y[:2000])
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
        clf = ParaActiveClassifier(learner, random_state=0, warmstart=500, batch=2000, select=None).fit(wide, y)
        assert clf.score(wide, y) > 0.8
        assert most <= allowed


@pytest.mark.parametrize(
    ("learner", "why"),
    [(SGDClassifier(random_state=0), "give average=True"), (GaussianNB(), "each contributes alike")],
)
def test_a_learner_that_sifting_does_not_suit_learns_every_row(learner: Any, why: str) -> None:
    x, y = three_classes(2000)
    with pytest.warns(PassiveWarning, match=f"every example is learned: .*{why}.*name a rule"):
        clf = new_clf(learner=learner).fit(x, y)
    assert clf.n_selected_ == 2000
    with pytest.warns(PassiveWarning):
        assert new_clf(learner=learner).partial_fit(x, y, classes=[0, 1, 2]).n_selected_ == 2000
    for named in ({"rule": "signed"}, {"rule": "uniform"}):
        assert new_clf(learner=learner, **named).fit(x, y).n_selected_ < 2000
    assert new_clf(learner=SGDClassifier(random_state=0)).set_params(rule__eta=0.01).fit(x, y).n_selected_ < 2000


def test_an_averaged_linear_learner_is_no_worse_than_a_passive_one() -> None:
    x, y = make_classification(9000, n_informative=5, flip_y=0.1, random_state=0)
    errors: dict[str, list[float]] = {"auto": [], "passive": []}
    for seed in range(4):
        for rule, found in errors.items():
            clf: Any = ParaActiveClassifier(SGDClassifier(average=True), rule=rule, random_state=seed)
            found.append(1 - clf.fit(x[:6000], y[:6000]).score(x[6000:], y[6000:]))
    assert np.mean(errors["auto"]) < np.mean(errors["passive"]) + 0.005


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


def test_rows_are_counted_over_all_calls_also_those_held_out_or_without_weight() -> None:
    weight = np.where(np.arange(2000) % 4 == 0, 0.0, 1.0)
    clf = new_clf(validation=0.3, early_stopping=1, epochs=3).fit(MOONS[:2000], SIDE[:2000], sample_weight=weight)
    first = clf.n_selected_
    clf.partial_fit(MOONS[2000:3000], SIDE[2000:3000], sample_weight=weight[:1000])
    more = clf.selected_["index"][first:]
    assert more.min() >= 2000
    assert more.max() < 3000
    assert (more % 4 != 0).all()
    # What is said to be learnt is learnt: the same rows under keys of their own make the same model.
    assert len(set(more.tolist())) == len(more)


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
        new_clf(**options).fit(MOONS, SIDE)


def test_one_class_is_refused() -> None:
    with pytest.raises(InputError, match="1 class"):
        new_clf().fit(MOONS, np.zeros(4000))


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
    clf = new_clf(validation=0.5, random_state=seed).fit(x, y)
    assert clf.classes_.tolist() == [0, 1, 2]
    many = np.repeat(np.arange(10), 5)
    assert len(new_clf(early_stopping=1, random_state=seed).fit(MOONS[:50], many).classes_) == 10


def test_the_finishing_step_gives_nearly_the_solution_of_a_batch_solver() -> None:
    x, y = two_moons(3000, noise=0.25, seed=0)
    learner = LaSVM(gamma=2.0, gap=0.2)
    finished = ParaActiveClassifier(learner, random_state=0, scale=False).fit(x, y)
    plain = ParaActiveClassifier(learner, random_state=0, scale=False, finish=False).fit(x, y)
    learned = finished.selected_
    assert np.array_equal(learned, plain.selected_)
    kernel: dict[str, Any] = {"gamma": 2.0}  # scikit-learn has no types: the default is a text.
    batch = SVC(**kernel).fit(x[learned["index"]], y[learned["index"]], sample_weight=1 / learned["p"])
    wanted = batch.decision_function(x)
    assert np.abs(finished.decision_function(x) - wanted).max() < 0.05
    assert np.abs(plain.decision_function(x) - wanted).max() > 0.05


def test_rows_with_many_copies_have_no_estimated_error() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 4, size=(4000, 2)).astype(float)
    y = (x.sum(axis=1) > 3) ^ (rng.random(4000) < 0.2)
    clf = ParaActiveClassifier(random_state=0).fit(x, y)
    assert clf.estimated_error_ is None
    assert "equal one" in str(clf.run_.verdict)


def test_with_several_epochs_the_warmstart_is_in_the_first_and_the_error_is_known() -> None:
    clf = ParaActiveClassifier(epochs=10, random_state=0).fit(MOONS[:1200], SIDE[:1200])
    assert clf.run_.warmstart == 1000
    assert clf.estimated_error_ == pytest.approx(1 - clf.score(TEST, TEST_SIDE), abs=0.1)
