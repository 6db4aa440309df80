"""The finishing step: the solution of a batch solver on all examples that were learned."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from sklearn.svm import SVC

from learners.reference import dual_of
from making import selected, stripes, two_moons
from paraactive import LaSVM
from paraactive.data.examples import Selected
from paraactive.data.sparse import SparseRows
from paraactive.learners.lasvm.finishing import FINISHED_GAP, find_violating, finish_on


def _batch_solver(gamma: float, own_weight: float = 1.0) -> SVC:
    weights = {1: own_weight, 0: 1.0, -1: 1.0}
    settings: dict[str, Any] = {"C": 1.0, "gamma": gamma, "tol": 1e-4, "class_weight": weights}
    return SVC(**settings)


def _learned(seed: int = 0) -> tuple[LaSVM, Selected]:
    x, y = two_moons(1500, noise=0.25, seed=seed)
    p = np.random.default_rng(seed).uniform(0.1, 1.0, len(y))
    svm, everything = LaSVM(C=1.0, gamma=2.0), selected(x, y, p)
    svm.update(everything)
    return svm, everything


def test_it_agrees_with_a_batch_solver_on_the_same_weighted_examples() -> None:
    svm, everything = _learned()
    examples = everything.examples
    batch = _batch_solver(2.0).fit(examples.x, examples.y, sample_weight=everything.weight)
    before = np.abs(svm.score(examples.x) - batch.decision_function(examples.x)).max()
    svm.finish(everything)
    after = np.abs(svm.score(examples.x) - batch.decision_function(examples.x)).max()
    assert after < 0.05 < 0.3 < before
    assert abs(svm.vectors - len(batch.support_)) < 0.05 * len(batch.support_)


def test_no_example_violates_afterwards() -> None:
    svm, everything = _learned(1)
    svm.finish()
    assert len(find_violating(dual_of(svm), everything, FINISHED_GAP)) > 10
    svm.finish(everything)
    assert len(find_violating(dual_of(svm), everything, FINISHED_GAP)) == 0


def test_it_increases_the_dual_objective_and_is_done_after_one_call() -> None:
    svm, everything = _learned(2)
    svm.finish()
    before = svm.dual_objective()
    svm.finish(everything)
    assert svm.dual_objective() > before
    digest = svm.digest()
    svm.finish(everything)
    assert svm.digest() == digest


def test_it_is_a_function_of_the_saved_model_and_the_examples() -> None:
    svm, everything = _learned(3)
    loaded = LaSVM(C=1.0, gamma=2.0, cache_size=0.1)
    loaded.load(svm.save())
    svm.score(everything.examples.x[:50])
    svm.finish(everything)
    loaded.finish(everything)
    assert loaded.digest() == svm.digest()


def test_more_than_two_classes_agree_with_a_batch_solver_for_each() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(900, 2)).astype(np.float32)
    y = (np.digitize(x[:, 0] + 0.2 * rng.normal(size=900), [-0.5, 0.5])).astype(np.int8)
    everything = Selected.weighted(x, y, 1.0)
    svm = LaSVM(C=1.0, gamma=1.0, classes=3)
    svm.update(everything)
    svm.finish(everything)
    for each in range(3):
        batch = _batch_solver(1.0, np.sqrt(2)).fit(x, y == each)
        assert np.abs(svm.score(x)[:, each] - batch.decision_function(x)).max() < 0.05


def test_sparse_rows_give_the_model_of_the_same_dense_rows() -> None:
    x, y = stripes(600, 6, seed=0)
    x[np.abs(x) < 0.3] = 0.0
    found: list[LaSVM] = []
    for rows in (x, SparseRows.of(x)):
        svm, everything = LaSVM(C=1.0, gamma=0.5), Selected.weighted(rows, y, 2.0)
        svm.update(Selected.weighted(x, y, 2.0))
        svm.finish(everything)
        found.append(svm)
    assert found[0].digest() == found[1].digest()


def test_an_svm_with_a_limit_of_vectors_stays_below_it() -> None:
    x, y = two_moons(600, noise=0.3, seed=0)
    svm, everything = LaSVM(gamma=1.0, max_vectors=50), selected(x, y)
    svm.update(everything)
    svm.finish(everything)
    assert svm.vectors <= 50


def test_an_svm_that_learned_nothing_or_one_class_has_nothing_to_finish() -> None:
    svm, one = LaSVM(gamma=1.0), selected(np.ones((3, 2), np.float32), np.ones(3, np.int8))
    svm.finish(one)
    assert svm.vectors == 0
    svm.update(one)
    before = svm.score(np.zeros((1, 2)))
    svm.finish(one)
    assert svm.score(np.zeros((1, 2))) == before


def test_the_number_of_scans_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    svm, everything = _learned(4)
    calls = 0

    def never_learned(some: Selected) -> None:
        nonlocal calls
        calls += 1

    monkeypatch.setattr("paraactive.learners.lasvm.finishing._MAX_SCANS", 4)
    dual = copy.deepcopy(dual_of(svm))
    finish_on(dual, everything, never_learned, svm.C)
    assert 4 <= calls < 100
