"""Labels by a cheap score where it is certain, and by the exact score elsewhere."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from paraactive import Digits, LaSVM, Network, train
from paraactive.data.examples import Doubles, Floats
from paraactive.data.labels import decide
from paraactive.learners.base import Proxy, proxy_of
from paraactive.learners.deciding import certainty, classes_of, scores_of


class Biased:
    """Scores are the first columns; the proxy adds an error to them, and counts what is scored exactly."""

    releases_gil = True

    def __init__(self, machines: int, bound: float, cost: float = 0.1) -> None:
        self.machines, self.bound, self.cost, self.exact = machines, bound, cost, 0
        self.threads = set[int]()

    def score(self, x: Floats) -> Doubles:
        self.exact += len(x)
        self.threads.add(threading.get_ident())
        return x[:, : self.machines].astype(float) if self.machines > 1 else x[:, 0].astype(float)

    def proxy(self) -> Proxy:
        def cheap(x: Floats) -> Doubles:
            exact = x[:, : self.machines].astype(float)
            error = self.bound * np.sin(1000 * exact)
            return exact + error if self.machines > 1 else (exact + error)[:, 0]

        return Proxy(cheap, self.bound, self.cost)


@pytest.mark.parametrize("machines", [1, 3])
def test_errors_within_the_bound_change_no_label(machines: int) -> None:
    x = np.random.default_rng(0).normal(size=(5000, 3)).astype(np.float32)
    learner: Any = Biased(machines, bound=0.1)
    found = classes_of(learner, x)
    asked = learner.exact
    assert np.array_equal(found, decide(learner.score(x)))
    assert not np.array_equal(decide(learner.proxy().score(x)), found)  # The proxy alone would be wrong.
    assert 0 < asked < 2000


def test_a_proxy_that_costs_too_much_is_not_asked() -> None:
    x = np.random.default_rng(0).normal(size=(100, 1)).astype(np.float32)
    learner: Any = Biased(1, bound=0.1, cost=0.9)
    classes_of(learner, x)
    assert learner.exact == 100


def test_rows_that_have_no_score_are_left_to_the_exact_score() -> None:
    learner: Any = Biased(1, bound=0.1)
    assert classes_of(learner, np.array([[np.nan], [5.0]], np.float32)).tolist() == [0, 1]
    assert learner.exact == 1


def test_certainty_is_the_smallest_error_that_can_change_the_label() -> None:
    rng = np.random.default_rng(0)
    score = rng.normal(size=(200, 4))
    sure = certainty(score)
    for sign in (-1.0, 1.0):
        moved = score + 0.999 * sign * sure[:, None] * np.where(score == score.max(axis=1, keepdims=True), 1, -1)
        assert np.array_equal(moved.argmax(axis=1), score.argmax(axis=1))
    over = score - 1.001 * sure[:, None] * np.where(score == score.max(axis=1, keepdims=True), 1, -1)
    assert not np.any(over.argmax(axis=1) == score.argmax(axis=1))


@pytest.mark.parametrize("digits", [Digits(), Digits.all()], ids=["two groups", "ten digits"])
def test_labels_of_digits_are_those_of_the_exact_scores(digits: Digits) -> None:
    learner: Any = train(LaSVM(gamma=0.012, gap=0.2), digits, examples=12_000, engine="threads", nodes=1).learner
    assert proxy_of(learner) is not None
    fresh = digits.read(70_000, 90_000).x
    assert np.array_equal(classes_of(learner, fresh), decide(learner.score(fresh)))


def test_threads_share_the_rows_and_change_nothing() -> None:
    x = np.random.default_rng(0).normal(size=(4000, 1)).astype(np.float32)
    learner: Any = Biased(1, bound=0.1, cost=0.9)
    assert np.array_equal(scores_of(learner, x, threads=2), x[:, 0].astype(float))
    assert threading.get_ident() not in learner.threads
    learner.releases_gil, learner.threads = False, set()
    scores_of(learner, x, threads=2)
    assert learner.threads == {threading.get_ident()}


def test_a_learner_without_a_proxy() -> None:
    digits = Digits(low=0)
    learner: Any = train(Network(hidden=4), digits, examples=3000, engine="threads", nodes=1).learner
    fresh = digits.read(3000, 4000).x
    assert np.array_equal(classes_of(learner, fresh, threads=2), decide(learner.score(fresh)))
