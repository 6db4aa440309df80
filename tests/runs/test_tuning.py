from __future__ import annotations

import numpy as np
import pytest

from making import two_moons, waves
from paraactive import Arrays, LaSVM, Network
from paraactive.learners import Standardized
from paraactive.learners.standardized import innermost
from paraactive.runs.tuning import tune


def test_the_candidate_with_the_smallest_error_on_unseen_examples_is_chosen() -> None:
    x, y = waves(3000)
    tuned = tune(LaSVM(gap=0.2), Arrays(x, y).read(0, 3000), classes=2)
    inner = innermost(tuned.learner)
    assert isinstance(inner, LaSVM)
    errors = [tried.error.value for tried in tuned.tried]
    assert tuned.chosen is tuned.tried[0]
    assert errors[:5] == sorted(errors[:5])
    assert errors[5:] == sorted(errors[5:])
    assert len(errors) == 12
    assert errors[0] < errors[-1]
    # The best four after the first part, and the learner as it was given, which is not among them here.
    assert [tried.examples for tried in tuned.tried] == [2000] * 5 + [666] * 7
    assert tuned.tried[0].learner == f"LaSVM(C={inner.C:g}, gamma={inner.gamma:g})"
    assert not inner.vectors


def test_the_learner_that_is_given_stays_as_it_was_and_wrappers_stay_around() -> None:
    x, y = two_moons(800, noise=0.2, seed=1)
    given = Standardized(LaSVM(gap=0.2))
    before = given.digest()
    tuned = tune(given, Arrays(x * np.array([1, 1000]), y).read(0, 800), classes=2)
    assert isinstance(tuned.learner, Standardized)
    assert given.digest() == before
    assert tuned.tried[0].error.value < 0.1


def test_a_network_can_be_a_candidate_and_other_learners_stay() -> None:
    x, y = two_moons(600, noise=0.2, seed=1)
    early = Arrays(x, y).read(0, 600)
    assert len(tune(LaSVM(), early, classes=2, or_network=True).tried) == 13
    alone = tune(Network(hidden=5), early, classes=2)
    assert len(alone.tried) == 1
    assert isinstance(alone.learner, Network)


def test_with_caution_labels_without_a_rule_do_not_change_the_parameters() -> None:
    rng, kept = np.random.default_rng(1), 0
    for _ in range(20):
        x, y = rng.normal(size=(600, 4)).astype(np.float32), rng.random(600) < 0.5
        tuned = tune(LaSVM(gap=0.2), Arrays(x, y).read(0, 600), classes=2, cautious=True)
        inner = innermost(tuned.learner)
        assert isinstance(inner, LaSVM)
        kept += (inner.C, inner.gamma) == (1.0, "scale")
    assert kept >= 13  # By chance, the best candidate is now and then clearly better.


def test_candidates_are_judged_by_weighted_mistakes() -> None:
    x, y = waves(3000)
    weight = np.where(y, 20.0, 1.0)
    best = tune(LaSVM(gap=0.2), Arrays(x, y, weight=weight).read(0, 3000), classes=2).tried[0]
    # The best candidate always says yes: it is wrong for half of the rows, which have a small part of the weight.
    assert best.error.value == pytest.approx(np.sum(weight[~y]) / np.sum(weight), rel=0.1)
    plain = tune(LaSVM(gap=0.2), Arrays(x, y).read(0, 3000), classes=2).tried[0]
    assert plain.error.value > 0.2


def test_the_intervals_of_the_candidates_do_not_depend_on_the_unit_of_the_weights() -> None:
    x, y = waves(3000)
    weight = np.where(y, 2.0, 1.0)
    heavy, light = (
        tune(LaSVM(gap=0.2), Arrays(x, y, weight=unit * weight).read(0, 3000), classes=2, cautious=True)
        for unit in (1.0, 1 / 4096)
    )
    assert heavy.tried[0].error.width < 0.2
    assert light.tried[0].error.value != 0.0
    for one in (heavy, light):
        assert 0.0 < one.tried[0].error.low < one.tried[0].error.value < one.tried[0].error.high < 1.0
