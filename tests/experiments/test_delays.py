from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest

from paraactive.errors import InputError
from paraactive.experiments.delays import CUT, DELAYS, THETA, DelaysResult, reproduce_delays, true_error
from paraactive.theory import Thresholds, delayed_generalization_bound, disagreement_coefficient


@cache
def result() -> DelaysResult:
    return reproduce_delays(steps=20_000, seeds=6, hypotheses=101)


def test_error_and_labels_hardly_move_with_the_delay() -> None:
    assert [each.delay for each in result().delays] == list(DELAYS)
    last = [each.points[-1] for each in result().delays]
    for point in last:
        assert point.t == 20_000
        assert point.queries == pytest.approx(last[0].queries, rel=0.06)
        assert abs(point.error - last[0].error) < 0.003
        assert point.error_bound is not None
        assert point.error < point.error_bound
        assert point.queries < point.queries_bound
    assert all(each.within == 1 for each in result().delays)


def test_a_delay_is_at_first_all_that_there_is() -> None:
    by_delay = {each.delay: each.points[0] for each in result().delays}
    assert by_delay["1000"].t == 100
    assert by_delay["1000"].queries == 100
    assert by_delay["1000"].error > 10 * by_delay["1"].error
    assert by_delay["1000"].error_bound is None


def test_the_bounds_are_those_of_the_theory() -> None:
    for each in result().delays:
        point = each.points[-1]
        assert point.error_bound == delayed_generalization_bound(point.t, each.largest, result().c0)
        assert 0 < point.queries_bound_one <= point.queries_bound <= point.t
    assert next(each for each in result().delays if each.delay == "random").largest > 1000


def test_the_true_error_is_that_of_many_examples() -> None:
    rng = np.random.default_rng(0)
    x = rng.random(400_000)
    sure = np.minimum(0.8, 8 * np.abs(x - CUT))
    y = (x > CUT) ^ (rng.random(len(x)) > (1 + sure) / 2)
    cuts = np.array([0.0, 0.3, 0.38, 0.4, 0.45, 0.9, 1.0])
    measured = Thresholds(cuts).on(x).mistakes(y) / len(x)
    assert np.all(np.abs(measured - true_error(cuts)) < 4 * 0.5 / np.sqrt(len(x)))


def test_the_disagreement_coefficient_of_the_problem_is_2() -> None:
    x = (np.arange(10_000) + 0.5) / 10_000
    assert disagreement_coefficient(Thresholds(np.linspace(0, 1, 101)).on(x), best=40) == THETA


def test_it_tells_how_far_it_is() -> None:
    told: list[float] = []
    reproduce_delays(steps=200, seeds=2, hypotheses=11, progress=told.append)
    assert told == pytest.approx(np.arange(1, 11) / 10)


def test_the_summary_is_json_and_the_same_again() -> None:
    again = reproduce_delays(steps=20_000, seeds=6, hypotheses=101)
    assert json.dumps(again.summary()) == json.dumps(result().summary())


def test_the_charts_have_a_curve_for_each_delay_and_the_bounds() -> None:
    error, rate = result().charts()
    assert [curve.name for curve in error.curves][::5] == ["delay 1", "Theorem 1"]
    assert len(error.curves) == len(DELAYS) + 1
    assert len(rate.curves) == len(DELAYS) + 2
    assert {"random, mean 100", "Theorem 2"} <= {curve.name for curve in rate.curves}


def test_the_claims_hold_on_this_problem() -> None:
    found = result().to_experiment_result()
    assert [claim.verdict for claim in found.claims] == ["yes"] * 3


def test_bad_input() -> None:
    with pytest.raises(InputError, match=r"c0 is 1\.5"):
        reproduce_delays(c0=1.5)
    with pytest.raises(InputError, match="seeds is 1"):
        reproduce_delays(seeds=1)
    with pytest.raises(InputError, match="hypotheses is 1"):
        reproduce_delays(hypotheses=1)
