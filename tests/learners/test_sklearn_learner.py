"""scikit-learn's classifiers as learners: the public checks, and equality with calling partial_fit by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, Perceptron, SGDClassifier, SGDRegressor
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

from paraactive import Arrays, train
from paraactive.checks import check_learner
from paraactive.errors import InputError
from paraactive.examples import Selected
from paraactive.labels import decide, labels_of, numbers_of
from paraactive.learners import SklearnLearner
from paraactive.state import pack, unpack

LEARNERS: dict[str, Callable[[], SklearnLearner]] = {
    "logistic": lambda: SklearnLearner(SGDClassifier(loss="log_loss")),
    "hinge": lambda: SklearnLearner(SGDClassifier(), minibatch=8),
    "averaged": lambda: SklearnLearner(SGDClassifier(average=True), minibatch=7),
    "perceptron": lambda: SklearnLearner(Perceptron(), minibatch=8),
    "gaussian": lambda: SklearnLearner(GaussianNB(), minibatch=16),
    "bernoulli": lambda: SklearnLearner(BernoulliNB()),
    "mlp": lambda: SklearnLearner(MLPClassifier((8,)), minibatch=16),
    "momentum": lambda: SklearnLearner(MLPClassifier((8, 3), solver="sgd"), minibatch=16),
    "row by row": lambda: SklearnLearner(BernoulliNB(), minibatch=8, tile=1),
}


def problem(count: int, classes: int, width: int = 5) -> Selected:
    """Classes that overlap, with weights."""
    rng = np.random.default_rng(3)
    number = rng.integers(0, classes, count)
    x = rng.normal(size=(count, width)) + rng.normal(scale=2.0, size=(classes, width))[number]
    return Selected.weighted(x, labels_of(number, classes), rng.uniform(1.0, 5.0, count))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", LEARNERS)
def test_it_passes_the_public_checks(name: str, classes: int) -> None:
    check_learner(LEARNERS[name], classes=classes)


@pytest.mark.parametrize("width", [1, 33, 784])
def test_scores_do_not_depend_on_other_rows_at_any_width(width: int) -> None:
    selected = problem(150, 3, width)
    for learner in (
        SklearnLearner(SGDClassifier(), classes=3, minibatch=50),
        SklearnLearner(MLPClassifier((17,)), classes=3, minibatch=50),
    ):
        learner.update(selected)
        x = selected.examples.x
        whole = learner.score(x)
        for first in (1, 13, 100):
            assert np.array_equal(learner.score(x[first:]), whole[first:])


@pytest.mark.parametrize("classes", [2, 4])
def test_it_is_partial_fit_of_one_example_after_the_other(classes: int) -> None:
    selected = problem(60, classes)
    learner = SklearnLearner(SGDClassifier(random_state=0), classes=classes)
    learner.update(selected)
    plain: Any = SGDClassifier(random_state=0)
    x, y = selected.examples.x.astype(np.float64), selected.examples.y
    labels = [-1, 1] if classes == 2 else list(range(classes))
    for row in range(60):
        plain.partial_fit(
            x[row : row + 1], y[row : row + 1], classes=labels, sample_weight=selected.weight[row : row + 1]
        )
    assert np.array_equal(learner.estimator.coef_, plain.coef_)
    assert learner.score(x) == pytest.approx(plain.decision_function(x))


def test_minibatches_are_whole_and_the_rest_is_learnt_when_the_round_ends() -> None:
    selected = problem(50, 2)
    learner = SklearnLearner(BernoulliNB(), minibatch=20)
    learner.update(selected)
    assert learner.estimator.class_count_.sum() == pytest.approx(selected.weight[:40].sum())
    learner.end_round()
    assert learner.estimator.class_count_.sum() == pytest.approx(selected.weight.sum())
    before = learner.digest()
    learner.end_round()
    assert learner.digest() == before


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_become_log_odds_or_logarithms(classes: int) -> None:
    selected = problem(100, classes)
    learner = SklearnLearner(BernoulliNB(), classes=classes)
    learner.update(selected)
    x = selected.examples.x
    p = learner.estimator.predict_proba(x)
    expected = np.log(p[:, 1] / p[:, 0]) if classes == 2 else np.log(p)
    assert learner.score(x) == pytest.approx(expected)


def test_an_estimator_with_both_is_read_as_told() -> None:
    selected = problem(100, 2)
    odds = SklearnLearner(SGDClassifier(loss="log_loss"), scores="predict_proba")
    margin = SklearnLearner(SGDClassifier(loss="log_loss"), scores="decision_function")
    for learner in (odds, margin):
        learner.update(selected)
    assert np.all(np.sign(odds.score(selected.examples.x)) == np.sign(margin.score(selected.examples.x)))
    assert np.abs(odds.score(selected.examples.x)).max() <= 709
    with pytest.raises(InputError, match=r"has no predict_proba.*scores='decision_function'"):
        SklearnLearner(Perceptron(), scores="predict_proba")


def test_the_estimator_that_was_given_stays_as_it_is() -> None:
    given = SGDClassifier()
    learner = SklearnLearner(given)
    learner.update(problem(10, 2))
    assert given.random_state is None
    assert learner.estimator.random_state == 0
    with pytest.raises(NotFittedError):
        given.predict(np.zeros((1, 5)))


def test_one_that_was_fitted_begins_anew() -> None:
    fitted = SGDClassifier().fit([[0.0], [1.0]], [-1, 1])
    assert not SklearnLearner(fitted).score(np.ones((3, 1), np.float32)).any()


class _NoWeights(ClassifierMixin, BaseEstimator):
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> None:
        """Without weights."""


class _Odd(SGDClassifier):
    """With something in its state that is no number."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        self.open_ = object()
        return super().partial_fit(X, y, classes=classes, sample_weight=sample_weight)


class _Wide(SGDClassifier):
    def decision_function(self, X: Any) -> Any:
        return np.zeros((len(X), 6))


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (SGDClassifier, "must be an object"),
        ("sgd", "must be an object"),
        (SVC(), "SVC has no partial_fit"),
        (_NoWeights(), "partial_fit of _NoWeights takes no sample_weight"),
        (OneVsRestClassifier(SGDClassifier()), "takes no sample_weight"),
        (SGDRegressor(), "SGDRegressor is no classifier"),
        (LinearRegression(), "no classifier"),
        (MLPClassifier(), "one by one.*weights 1/p would have no effect"),
        (GaussianNB(), "one by one"),
        (SGDClassifier(random_state=np.random.RandomState(0)), "give a whole number"),
    ],
)
def test_what_cannot_be_a_learner_is_refused(estimator: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        SklearnLearner(estimator)


def test_what_the_estimator_itself_refuses_is_told() -> None:
    with pytest.raises(InputError, match=r"SGDClassifier does not learn.*balanced"):
        SklearnLearner(SGDClassifier(class_weight="balanced")).update(problem(5, 2))


def test_a_state_that_is_no_numbers_is_refused_at_the_first_step() -> None:
    with pytest.raises(InputError, match=r"attributes\.open_ of the model is a builtins\.object"):
        SklearnLearner(_Odd()).update(problem(5, 2))


def test_scores_of_another_shape_are_refused() -> None:
    learner = SklearnLearner(_Wide(), classes=3)
    learner.update(problem(5, 3))
    with pytest.raises(InputError, match=r"shape \(64, 6\).*\(64, 3\)"):
        learner.score(np.zeros((2, 5)))


def test_rows_of_another_width_are_an_error() -> None:
    learner = SklearnLearner(SGDClassifier())
    learner.update(problem(5, 2))
    with pytest.raises(InputError, match="5 features"):
        learner.score(np.zeros((3, 4)))
    with pytest.raises(InputError, match="5 features"):
        learner.update(problem(5, 2, width=4))


def test_a_description_is_plain_and_makes_it_again() -> None:
    learner = SklearnLearner(MLPClassifier((4, 3), alpha=np.float64(0.5)), minibatch=8, scores="predict_proba")
    text = json.dumps(learner.describe())
    again = SklearnLearner(**json.loads(text))
    assert again.estimator.get_params()["alpha"] == 0.5
    assert json.dumps(again.describe()) == text
    assert text.startswith('{"estimator": {"class": "sklearn.neural_network._multilayer_perceptron.MLPClassifier"')


def test_only_scikit_learns_own_estimators_with_plain_parameters_have_a_description() -> None:
    assert hasattr(SklearnLearner(SGDClassifier()), "describe")
    assert not hasattr(SklearnLearner(_Wide()), "describe")
    assert not hasattr(SklearnLearner(SGDClassifier(class_weight={1: 2.0})), "describe")


@pytest.mark.parametrize(
    "name", ["os.system", "subprocess.Popen", "sklearn.base.clone", "sklearn.no.Such", "sklearnx.A", ""]
)
def test_a_description_cannot_name_other_code(name: str) -> None:
    with pytest.raises(InputError, match="no estimator"):
        SklearnLearner({"class": name, "parameters": {}})


def test_a_saved_state_cannot_name_other_code() -> None:
    learner = SklearnLearner(MLPClassifier((3,)), minibatch=4)
    learner.update(problem(8, 2))
    state = unpack(pack(learner.save()))
    text = bytes(state["fitted.json"]).replace(b"sklearn.preprocessing._label.LabelBinarizer", b"subprocess.Popen")
    state["fitted.json"] = np.frombuffer(text, np.uint8)
    with pytest.raises(InputError, match=r"object of subprocess\.Popen"):
        SklearnLearner(MLPClassifier((3,)), minibatch=4).load(state)


def test_importing_the_package_imports_neither_scikit_learn_nor_torch() -> None:
    code = "import sys, paraactive.learners; assert not {'sklearn', 'torch'} & set(sys.modules), 'imported'"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("rule", ["gradient", "signed"])
def test_a_run_has_one_model_on_every_engine(rule: str) -> None:
    selected = problem(3000, 3)
    stream = Arrays(selected.examples.x, selected.examples.y)
    digests: set[str] = set()
    for engine, nodes in [("simulated", 1), ("simulated", 3), ("threads", 2), ("processes", 2)]:
        learner = SklearnLearner(SGDClassifier(loss="log_loss", learning_rate="constant", eta0=0.01), minibatch=16)
        run = train(learner, stream, rule=rule, warmstart=300, batch=500, engine=engine, nodes=nodes)
        assert learner.classes == 3
        assert run.sampling_rate < 0.9
        digests.add(learner.digest())
        score = learner.score(selected.examples.x)
        assert np.mean(decide(score) != numbers_of(selected.examples.y, 3)) < 0.2
    assert len(digests) == 1


def test_two_runs_are_equal() -> None:
    selected = problem(1500, 2)
    stream = Arrays(selected.examples.x, selected.examples.y)
    runs = [
        train(SklearnLearner(MLPClassifier((8,)), minibatch=16), stream, rule="gradient", warmstart=200, batch=200)
        for _ in range(2)
    ]
    assert runs[0].learner.digest() == runs[1].learner.digest()
