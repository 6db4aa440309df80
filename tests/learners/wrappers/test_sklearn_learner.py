"""scikit-learn's classifiers as learners: the public checks, and equality with calling partial_fit by hand."""

from __future__ import annotations

import json
import math
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
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

from paraactive import Arrays, train
from paraactive.basics.state import State, pack, unpack
from paraactive.checks import check_learner
from paraactive.data.examples import Selected
from paraactive.data.labels import decide, labels_of, numbers_of
from paraactive.errors import InputError
from paraactive.learners import SklearnLearner

LEARNERS: dict[str, Callable[[], SklearnLearner]] = {
    "minibatch is 1 with GaussianNB": lambda: SklearnLearner(SGDClassifier()),
    "logistic": lambda: SklearnLearner(SGDClassifier(loss="log_loss"), minibatch=9),
    "hinge": lambda: SklearnLearner(SGDClassifier(), minibatch=16),
    "averaged": lambda: SklearnLearner(SGDClassifier(average=True), minibatch=13),
    "perceptron": lambda: SklearnLearner(Perceptron(), minibatch=16),
    "gaussian": lambda: SklearnLearner(GaussianNB(), minibatch=16),
    "bernoulli": lambda: SklearnLearner(BernoulliNB(), minibatch=16),
    "mlp": lambda: SklearnLearner(MLPClassifier((8,)), minibatch=16),
    "momentum": lambda: SklearnLearner(MLPClassifier((8, 3), solver="sgd"), minibatch=16),
    "row by row": lambda: SklearnLearner(BernoulliNB(), minibatch=16, tile=1),
}


def problem(count: int, classes: int, width: int = 5) -> Selected:
    """Classes that overlap, with weights."""
    rng = np.random.default_rng(3)
    number = rng.integers(0, classes, count)
    x = rng.normal(size=(count, width)) + rng.normal(scale=2.0, size=(classes, width))[number]
    return Selected.weighted(x, labels_of(number, classes), rng.uniform(1.0, 5.0, count))


# One by one is slow: most of a call of partial_fit is scikit-learn's own checks.
@pytest.mark.parametrize(
    ("name", "classes"), [*((name, 2) for name in LEARNERS), *((name, 3) for name in [*LEARNERS][1:])]
)
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
def test_it_is_partial_fit_of_one_example_after_the_other_in_steps_of_small_weight(classes: int) -> None:
    selected = problem(60, classes)
    learner = SklearnLearner(SGDClassifier(random_state=0), classes=classes)
    learner.update(selected)
    plain: Any = SGDClassifier(random_state=0)
    x, y = selected.examples.x.astype(np.float64), selected.examples.y
    labels = [-1, 1] if classes == 2 else list(range(classes))
    for row, weight in enumerate(selected.weight.tolist()):
        steps = math.ceil(weight)
        for _ in range(steps):
            plain.partial_fit(
                x[row : row + 1], y[row : row + 1], classes=labels, sample_weight=np.array([weight / steps])
            )
    np.testing.assert_allclose(learner.estimator.coef_, plain.coef_, rtol=1e-9)
    assert learner.score(x) == pytest.approx(plain.decision_function(x))


def test_a_network_takes_as_many_steps_as_the_weights_are_examples() -> None:
    selected = problem(50, 2)
    learner = SklearnLearner(MLPClassifier(random_state=0), minibatch=20)
    learner.update(selected)
    learner.end_round()
    expected = selected.weight.sum() / 20  # A step may have up to 25, because a weight is at most 5.
    assert expected * 20 / 25 <= learner.estimator._optimizer.t <= expected + 1


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
        (_NoWeights(), "partial_fit of _NoWeights has no sample_weight"),
        (OneVsRestClassifier(SGDClassifier()), "has no sample_weight"),
        (SGDRegressor(), "SGDRegressor is not a classifier"),
        (LinearRegression(), "not a classifier"),
        (MLPClassifier(), "minibatch is 1 with MLPClassifier.*weights 1/p would have no effect"),
        (GaussianNB(), "minibatch is 1 with GaussianNB"),
        (SGDClassifier(random_state=np.random.RandomState(0)), "give an integer"),
        (SGDClassifier(loss="foo"), "SGDClassifier does not accept its parameters.*'loss'.*'foo'"),
        (SGDClassifier(alpha=-1), "does not accept its parameters.*'alpha'.*-1"),
    ],
)
def test_what_cannot_be_a_learner_is_refused(estimator: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        SklearnLearner(estimator)


def test_what_the_estimator_itself_refuses_is_told() -> None:
    with pytest.raises(InputError, match=r"SGDClassifier cannot learn these examples.*balanced"):
        SklearnLearner(SGDClassifier(class_weight="balanced")).update(problem(5, 2))


def test_what_it_cannot_score_is_told() -> None:
    learner = SklearnLearner(CategoricalNB(), minibatch=4)
    learner.update(Selected.weighted(np.array([[0.0], [1.0]] * 2), [-1, 1, -1, 1]))
    with pytest.raises(InputError, match="CategoricalNB cannot score these rows: IndexError"):
        learner.score(np.full((1, 1), 7.0))


@pytest.mark.parametrize("kind", [MultinomialNB, ComplementNB, CategoricalNB])
def test_states_of_the_other_naive_bayes_classifiers_are_loaded(kind: Any) -> None:
    learner, other = SklearnLearner(kind(), classes=3, minibatch=9), SklearnLearner(kind(), classes=3, minibatch=9)
    x = np.arange(36).reshape(18, 2) % 4
    learner.update(Selected.weighted(x, np.arange(18) % 3))
    other.load(unpack(pack(learner.save())))
    assert np.array_equal(other.score(x), learner.score(x))


def test_only_of_two_classes_the_logistic_loss_gives_log_odds() -> None:
    assert SklearnLearner(SGDClassifier(loss="log_loss")).log_odds
    assert SklearnLearner(SGDClassifier(loss="log_loss"), classes=2).log_odds
    assert not SklearnLearner(SGDClassifier(loss="log_loss"), classes=3).log_odds
    assert SklearnLearner(SGDClassifier(loss="log_loss"), classes=3, scores="predict_proba").log_odds
    assert not SklearnLearner(SGDClassifier()).log_odds


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


def test_a_description_imports_nothing_that_is_not_known() -> None:
    for name in ("sklearn.conftest.Any", "sklearn.svm._classes.SVC", "sklearn.datasets._base.Path"):
        with pytest.raises(InputError, match="no estimator"):
            SklearnLearner({"class": name, "parameters": {}})
    assert "sklearn.conftest" not in sys.modules
    with pytest.raises(InputError, match=r"SGDClassifier does not accept these parameters.*'colour'"):
        SklearnLearner({"class": "sklearn.linear_model.SGDClassifier", "parameters": {"colour": 1}})


def plain(**fields: Any) -> dict[str, Any]:
    """A dictionary as the text of a state has it."""
    return {"dict": [[name, value] for name, value in fields.items()]}


def state_of(text: Any, **arrays: Any) -> State:
    """A state made by hand."""
    state = {"fitted.json": np.frombuffer(json.dumps(text).encode(), np.uint8)}
    return state | {f"fitted.{name}": np.asarray(array) for name, array in arrays.items()}


@pytest.mark.parametrize(
    "name", ["decision_function", "partial_fit", "alpha", "loss", "loss_functions", "__class__", "__dict__"]
)
def test_a_saved_state_cannot_stand_for_methods_or_parameters(name: str) -> None:
    learner = SklearnLearner(SGDClassifier())
    learner.update(problem(8, 2))
    with_name = json.loads(bytes(learner.save()["fitted.json"]))
    next(value for key, value in with_name["dict"] if key == "attributes")["dict"].append([name, 3])
    before = learner.digest()
    with pytest.raises(InputError, match=f"sets '{name}' of SGDClassifier"):
        learner.load(learner.save() | state_of(with_name))
    assert learner.digest() == before


@pytest.mark.parametrize(
    "kind", ["sklearn.conftest.Any", "sklearn.gaussian_process.kernels.DotProduct", "sklearn.svm._classes.SVC"]
)
def test_a_saved_state_has_only_objects_that_estimators_really_hold(kind: str) -> None:
    state = state_of(plain(width=3, attributes=plain(a_={"object": kind, "of": plain()})))
    with pytest.raises(InputError, match="the saved state has an object of sklearn"):
        SklearnLearner(SGDClassifier()).load(state)
    assert "sklearn.conftest" not in sys.modules


def test_objects_of_a_saved_state_cannot_have_their_methods_replaced() -> None:
    binarizer = {"object": "sklearn.preprocessing._label.LabelBinarizer", "of": plain(transform=3)}
    with pytest.raises(InputError, match="sets 'transform' of LabelBinarizer"):
        SklearnLearner(MLPClassifier(), minibatch=4).load(state_of(plain(width=3, attributes=plain(a_=binarizer))))


SOME = {"coef_": {"array": "c", "order": "C"}, "intercept_": {"array": "i", "order": "C"}, "t_": 2.0}


@pytest.mark.parametrize(
    "state",
    [
        state_of([1]),
        state_of(plain(a=1)),
        state_of(plain(width=3, attributes=1)),
        state_of(plain(width=3, attributes={"list": [1, 2]})),
        state_of(plain(width="x", attributes=plain())),
        state_of(plain(width=3, attributes=plain())),
        state_of(plain(width=3, attributes=plain(coef_={"array": "no", "order": "C"}))),
        state_of(plain(width=3, attributes=plain(coef_={"array": "c", "order": "X"})), c=np.zeros((1, 3))),
        state_of(plain(width=3, attributes=plain(**SOME)), c=np.zeros((1, 2)), i=np.zeros(1)),
        {"fitted.json": np.frombuffer(b"[" * 100_000, np.uint8)},
        {"fitted.json": np.frombuffer(b"\xff{", np.uint8)},
        {"waiting.x": np.zeros((2, 5))},
        {"waiting.x": np.zeros((2, 5)), "waiting.y": np.ones(3), "waiting.weight": np.ones(2)},
        {"waiting.x": np.zeros(2), "waiting.y": np.ones(2), "waiting.weight": np.ones(2)},
    ],
)
def test_a_damaged_state_is_an_error_and_changes_nothing(state: State) -> None:
    learner = SklearnLearner(SGDClassifier())
    learner.update(problem(8, 2))
    before = learner.digest()
    with pytest.raises(InputError):
        learner.load(state)
    assert learner.digest() == before


def test_arrays_of_another_width_are_refused_before_a_loop_trusts_them() -> None:
    learner = SklearnLearner(SGDClassifier(average=True), minibatch=4)
    learner.update(problem(8, 2))
    state = learner.save()
    for name in [name for name, array in state.items() if array.shape == (5,)]:
        with pytest.raises(InputError, match="the saved state is not one of this estimator"):
            learner.load(state | {name: np.zeros(2)})
    learner.load(state)


@pytest.mark.parametrize("place", [-5, 10**6, "x"])
def test_a_random_generator_that_would_read_beyond_its_end_is_refused(place: Any) -> None:
    learner = SklearnLearner(MLPClassifier((3,)), minibatch=4)
    learner.update(problem(8, 2))
    state = learner.save()
    text = bytes(state["fitted.json"]).decode()
    where = text.index('"RandomState"')
    key = text.index("},", where)  # The end of the array of numbers, which the place follows.
    end = text.index(",", key + 2)
    text = f"{text[: key + 2]} {json.dumps(place)}{text[end:]}"
    with pytest.raises(InputError, match="not the state of a random generator"):
        learner.load(state | {"fitted.json": np.frombuffer(text.encode(), np.uint8)})


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


ENGINES = [("simulated", 1), ("simulated", 3), ("threads", 2), ("processes", 2)]


@pytest.mark.parametrize(("rule", "engines"), [("gradient", ENGINES), ("signed", ENGINES[:3])])
def test_a_run_has_one_model_on_every_engine(rule: str, engines: list[tuple[str, int]]) -> None:
    selected = problem(2000, 3)
    stream = Arrays(selected.examples.x, selected.examples.y)
    digests: set[str] = set()
    for engine, nodes in engines:
        learner = SklearnLearner(SGDClassifier(loss="log_loss", learning_rate="constant", eta0=0.01), minibatch=16)
        run = train(learner, stream, rule=rule, warmstart=300, batch=500, engine=engine, nodes=nodes)
        assert learner.classes == 3
        assert run.sampling_rate < 0.9
        digests.add(learner.digest())
        score = learner.score(selected.examples.x)
        assert np.mean(decide(score) != numbers_of(selected.examples.y, 3)) < 0.2
    assert len(digests) == 1


def test_two_runs_are_equal() -> None:
    selected = problem(600, 2)
    stream = Arrays(selected.examples.x, selected.examples.y)
    runs = [
        train(
            SklearnLearner(MLPClassifier((8,)), minibatch=16),
            stream, rule="gradient", warmstart=200, batch=200, engine="simulated",
        )
        for _ in range(2)
    ]  # fmt: skip
    assert runs[0].learner.digest() == runs[1].learner.digest()
