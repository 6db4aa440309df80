"""Intervals for weighted means: they cover the truth though the selection depends on the past, also at all times."""

from __future__ import annotations

import numpy as np
import pytest

from paraactive.data.examples import Doubles
from paraactive.sifting.confidence import Interval, interval_of_mean

_RUNS, _EXAMPLES = 300, 1500


def _adaptive_runs(seed: int) -> tuple[Doubles, Doubles]:
    """Z, and the mean of Z given the past, of runs whose p and whose loss follow from what was selected before."""
    rng = np.random.default_rng(seed)
    z, truth = np.zeros((2, _RUNS, _EXAMPLES))
    total = np.zeros(_RUNS)
    for i in range(_EXAMPLES):
        known = total / max(i, 1)
        hard = rng.random(_RUNS) < 0.3
        # The more loss was seen, the more is selected; and the model becomes better by what it learned.
        p = np.clip(np.where(hard, 0.6, 0.05) + known, 0.05, 1.0)
        error = np.where(hard, 0.4, 0.05) / (1.0 + np.minimum(known, 1.0))
        truth[:, i] = (0.3 * 0.4 + 0.7 * 0.05) / (1.0 + np.minimum(known, 1.0))
        z[:, i] = (rng.random(_RUNS) < p) * (rng.random(_RUNS) < error) / p
        total += z[:, i]
    return z, truth


def _intervals(z: Doubles) -> list[Interval]:
    """The interval after each example."""
    sums = zip(
        np.cumsum(z).tolist(), np.cumsum(z**2).tolist(), np.maximum.accumulate(np.maximum(z, 1.0)).tolist(), strict=True
    )
    return [interval_of_mean(*each, examples=n + 1) for n, each in enumerate(sums)]


def _covers(intervals: list[Interval], truth: Doubles) -> list[bool]:
    means = (np.cumsum(truth) / np.arange(1, len(truth) + 1)).tolist()
    return [each.low <= mean <= each.high for each, mean in zip(intervals, means, strict=True)]


def test_intervals_cover_the_truth_at_the_end_and_at_all_times() -> None:
    covered = [_covers(_intervals(z), truth) for z, truth in zip(*_adaptive_runs(seed=0), strict=True)]
    assert np.mean([run[-1] for run in covered]) >= 0.95
    assert np.mean([all(run) for run in covered]) >= 0.93


def test_the_mean_of_the_estimates_is_the_truth_under_adaptive_selection() -> None:
    z, truth = _adaptive_runs(seed=1)
    values = [interval_of_mean(float(run.sum()), float((run**2).sum()), 1.0, _EXAMPLES).value for run in z]
    off = np.array(values) - truth.mean(axis=1)
    assert abs(off.mean()) <= 4 * off.std(ddof=1) / np.sqrt(_RUNS)


def test_an_interval_is_wider_than_that_of_the_central_limit_theorem_but_less_than_twice() -> None:
    for examples in (1_000, 10_000, 100_000):
        found = interval_of_mean(0.1 * examples, 0.1 * examples, 1.0, examples)
        normal = 2 * 1.96 * np.sqrt(0.09 / examples)
        assert 1.5 * normal < found.width < 2.0 * normal


def test_an_interval_shrinks_with_the_number_of_examples() -> None:
    widths = [interval_of_mean(0.2 * n, 0.2 * n, 1.0, n).width for n in (100, 1_000, 10_000, 100_000)]
    assert sorted(widths, reverse=True) == widths
    assert widths[-1] < 0.01


def test_an_interval_has_a_width_where_no_loss_was_seen() -> None:
    found = interval_of_mean(0.0, 0.0, 1.0, 500)
    assert (found.value, found.low) == (0.0, 0.0)
    assert 0.0 < found.high < 0.05


def test_a_heavy_example_widens_the_interval() -> None:
    light, heavy = (interval_of_mean(50.0, 50.0, largest, 500) for largest in (1.0, 20.0))
    assert light.value == heavy.value == pytest.approx(0.1)
    assert heavy.low < light.low
    assert light.high < heavy.high


def test_errors_stay_between_0_and_1_and_losses_have_no_upper_bound() -> None:
    error = interval_of_mean(30.0, 300.0, 10.0, 20)
    assert (error.value, error.high) == (1.0, 1.0)
    assert 0.0 <= error.low <= 1.0
    loss = interval_of_mean(30.0, 300.0, 10.0, 20, most=None)
    assert loss.value == 1.5
    assert loss.high > 1.5


def test_the_width_is_the_difference_of_the_ends() -> None:
    assert Interval(0.2, 0.125, 0.375).width == 0.25
