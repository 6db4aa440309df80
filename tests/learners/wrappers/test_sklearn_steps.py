from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neural_network import MLPClassifier

from paraactive.data.examples import SparseRows, dense
from paraactive.learners.base import capabilities_of
from paraactive.learners.wrappers.minibatches import Minibatch
from paraactive.learners.wrappers.sklearn_learner import SklearnLearner
from paraactive.learners.wrappers.sklearn_steps import (
    MAX_STEPS,
    divides_by_weight,
    in_small_steps,
    takes_steps,
    why_passive,
)


class _Own(SGDClassifier):
    """A subclass of the user's own."""


@pytest.mark.parametrize("sparse", [False, True])
def test_steps_have_a_weight_of_at_most_one_and_the_same_sum(sparse: bool) -> None:
    x = np.array([[1.0], [2.0], [3.0], [4.0]])
    weight = np.array([0.3, 1.0, 7.5, 20.0])
    batch = Minibatch(SparseRows.of(x) if sparse else x, np.array([1, -1, 1, -1], np.int8), weight)
    found = in_small_steps(batch)
    value = dense(found.x).ravel()
    assert found.weight.max() <= 1
    assert [int((value == each).sum()) for each in (1, 2, 3, 4)] == [1, 1, 8, 20]
    assert [found.weight[value == each].sum() for each in (1, 2, 3, 4)] == pytest.approx(weight)
    assert found.y[value == 3].tolist() == [1] * 8


def test_examples_of_weight_one_are_not_copied() -> None:
    batch = Minibatch(np.zeros((2, 1)), np.array([1, -1], np.int8), np.ones(2))
    assert in_small_steps(batch) is batch


def test_a_huge_weight_takes_a_bounded_number_of_steps() -> None:
    found = in_small_steps(Minibatch(np.zeros((1, 1)), np.array([1], np.int8), np.array([1e12])))
    assert len(found) == MAX_STEPS
    assert found.weight.sum() == pytest.approx(1e12)


def test_kinds_of_estimators() -> None:
    assert [takes_steps(each) for each in (_Own(), Perceptron(), MLPClassifier())] == [True, True, False]
    assert [divides_by_weight(each) for each in (_Own(), MLPClassifier())] == [False, True]


@pytest.mark.parametrize(
    ("estimator", "why"),
    [
        (SGDClassifier(), "SGDClassifier without averaging .*give average=True"),
        (_Own(), "_Own without averaging"),
        (Perceptron(), r"Perceptron without averaging .*give SGDClassifier\(average=True\)"),
        (GaussianNB(), "GaussianNB estimates means"),
        (BernoulliNB(), "BernoulliNB estimates means"),
    ],
)
def test_estimators_that_should_learn_every_example_say_why(estimator: object, why: str) -> None:
    assert re.match(why, why_passive(estimator) or "")
    assert not capabilities_of(SklearnLearner(estimator, minibatch=2)).sifts


@pytest.mark.parametrize("estimator", [SGDClassifier(average=True), _Own(average=True), MLPClassifier()])
def test_other_estimators_sift(estimator: object) -> None:
    assert why_passive(estimator) is None
    assert capabilities_of(SklearnLearner(estimator, minibatch=2)).sifts
