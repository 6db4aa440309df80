"""Algorithm 3 against its literal reading, and against what the theorems promise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from paraactive.basics.coins import coins
from paraactive.data.examples import Ints
from paraactive.errors import InputError
from paraactive.theory import (
    Iwal,
    IwalRun,
    Separators,
    Stumps,
    Thresholds,
    constant_delays,
    generalization_bound,
    label_complexity_bound,
    random_delays,
    round_delays,
    sufficient_c0,
)
from theory.reference import literal_iwal, undelayed_iwal


def _says(rng: np.random.Generator, kind: int, steps: int, hypotheses: int) -> Any:
    """Predictions of a random class, as the library takes them and as lists."""
    x = rng.normal(size=(steps, 2))
    if kind == 0:
        return rng.random((steps, hypotheses)) < 0.5
    if kind == 1:
        return Thresholds(rng.normal(size=hypotheses)).on(x[:, 0])
    if kind == 2:
        signs = np.where(rng.random(hypotheses) < 0.5, 1, -1)
        return Stumps(rng.integers(0, 2, hypotheses), rng.normal(size=hypotheses), signs).on(x)
    return Separators(rng.normal(size=(hypotheses, 2)), rng.normal(size=hypotheses)).on(x)


def _delays(rng: np.random.Generator, kind: int, steps: int) -> Any:
    t = np.arange(1, steps + 1)
    return [
        constant_delays(1, steps),
        constant_delays(int(rng.integers(2, 20)), steps),
        round_delays(int(rng.integers(1, 20)), steps),
        random_delays(float(rng.uniform(1, 10)), steps, int(rng.integers(1000))),
        rng.integers(1, t + 1),  # Anything goes: what is known may shrink.
    ][kind]


def _problem(number: int, least: int = 5, most: int = 60) -> tuple[Any, Any, Any, Any, float, int]:
    """Predictions, the same as a matrix, labels, delays, C0, seed."""
    rng = np.random.default_rng(number)
    steps, hypotheses = int(rng.integers(least, most + 1)), int(rng.integers(2, 13))
    says = _says(rng, number % 4, steps, hypotheses)
    matrix = says if isinstance(says, np.ndarray) else says.rows(0, steps)
    labels = rng.random(steps) < 0.5
    c0 = float(rng.uniform(2, 6))
    if number % 3:  # Labels that one of them is good at, and the least C0: gaps are large, and P falls below 1.
        labels, c0 = matrix[:, int(rng.integers(hypotheses))] ^ (rng.random(steps) < 0.05), 2.0
    return says, matrix, labels, _delays(rng, number // 4 % 5, steps), c0, int(rng.integers(99))


def _tosses(seed: int, steps: int) -> list[float]:
    return coins(seed, np.arange(steps)).tolist()


def _assert_as_the_literal_one(problem: tuple[Any, Any, Any, Any, float, int]) -> int:
    """Returns at how many steps P was below 1."""
    says, matrix, labels, delays, c0, seed = problem
    ours = Iwal(c0).run(says, labels, delays=delays, seed=seed)
    theirs = literal_iwal(matrix.tolist(), labels.tolist(), delays.tolist(), c0, _tosses(seed, len(labels)))
    assert ours.n.tolist() == theirs.n
    assert ours.queried.tolist() == theirs.queried
    np.testing.assert_allclose(ours.p, theirs.p, rtol=1e-9)
    np.testing.assert_allclose(ours.gap, theirs.gap, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.errors, theirs.errors, rtol=1e-9)
    # Of several that are equally good, rounding decides: the error of the chosen one counts.
    of_ours = [errors[best] for errors, best in zip(theirs.errors_at, ours.best, strict=True)]
    np.testing.assert_allclose(of_ours, theirs.best_error, rtol=1e-9, atol=1e-12)
    assert ours.errors[ours.chosen] == ours.errors.min()
    assert ours.queries == sum(theirs.queried)
    assert ours.sampling_rate == pytest.approx(ours.queries / len(labels))
    return int(np.sum(ours.p < 1))


def test_it_does_what_the_literal_algorithm_does_step_by_step() -> None:
    assert sum(_assert_as_the_literal_one(_problem(number)) for number in range(200)) > 100


def test_it_does_what_the_literal_algorithm_does_where_most_is_not_asked_for() -> None:
    assert sum(_assert_as_the_literal_one(_problem(number, 300, 400)) for number in range(20)) > 1000


def _equal(one: IwalRun, other: IwalRun) -> bool:
    names = ("p", "queried", "n", "gap", "best", "errors")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


@pytest.mark.parametrize("number", range(8))
def test_a_delay_of_one_is_no_delay(number: int) -> None:
    says, matrix, labels, _, c0, seed = _problem(number)
    steps = len(labels)
    plain = Iwal(c0).run(says, labels, seed=seed)
    assert _equal(plain, Iwal(c0).run(says, labels, delays=1, seed=seed))
    assert _equal(plain, Iwal(c0).run(says, labels, delays=constant_delays(1, steps), seed=seed))
    assert _equal(plain, Iwal(c0).run(says, labels, delays=round_delays(1, steps), seed=seed))
    assert _equal(plain, Iwal(c0).run(says, labels, delays=random_delays(1, steps, seed=0), seed=seed))
    literal = undelayed_iwal(matrix.tolist(), labels.tolist(), c0, _tosses(seed, steps))
    assert plain.n.tolist() == literal.n == list(range(steps))
    assert plain.queried.tolist() == literal.queried
    np.testing.assert_allclose(plain.p, literal.p, rtol=1e-9)
    np.testing.assert_allclose(plain.gap, literal.gap, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(plain.errors, literal.errors, rtol=1e-9)


def test_more_than_a_word_of_hypotheses_is_like_fewer() -> None:
    # 64 hypotheses share a word: columns that are there several times change nothing.
    rng = np.random.default_rng(0)
    matrix, labels = rng.random((300, 5)) < 0.5, rng.random(300) < 0.5
    labels = matrix[:, 3] ^ (labels & (rng.random(300) < 0.2))
    few = Iwal().run(matrix, labels, delays=7)
    for copies in (12, 13, 26, 40):
        many = Iwal().run(np.tile(matrix, copies), labels, delays=7)
        assert np.array_equal(few.p, many.p)
        assert np.array_equal(few.best, many.best)
        assert np.array_equal(np.tile(few.errors, copies), many.errors)


# What the theorems promise --------------------------------------------------------------------------------------

_CUTS, _STAR, _NOISE, _DELTA = np.linspace(0, 1, 21), 0.4, 0.1, 0.05
_TRUE = _NOISE + (1 - 2 * _NOISE) * np.abs(_CUTS - _STAR)
"""The exact error of each cut: what lies between it and the best, and the noise."""
_STEPS, _RUNS = 2000, 200
_KINDS: dict[str, Callable[[int, int], Ints]] = {
    "none": lambda steps, seed: constant_delays(1, steps),
    "50": lambda steps, seed: constant_delays(50, steps),
    "rounds": lambda steps, seed: round_delays(100, steps),
    "random": lambda steps, seed: random_delays(50, steps, seed),
}


def _noisy(steps: int, seed: int, noise: float = _NOISE) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    x = rng.random(steps)
    return x, (x > _STAR) ^ (rng.random(steps) < noise)


@pytest.mark.parametrize("c0", [2.0, sufficient_c0(21, _DELTA)], ids=["2", "sufficient"])
@pytest.mark.parametrize("kind", _KINDS)
def test_theorem_1_holds_at_all_steps_of_almost_all_runs(kind: str, c0: float) -> None:
    kept = 0
    for seed in range(_RUNS):
        x, y = _noisy(_STEPS, seed)
        run = Iwal(c0).run(Thresholds(_CUTS).on(x), y, delays=_KINDS[kind](_STEPS, seed), seed=seed)
        excess = _TRUE[run.best] - _NOISE
        kept += bool(np.all(excess <= generalization_bound(run.n, c0)))
    assert kept >= (1 - _DELTA) * _RUNS


def test_theorem_1_says_something_in_these_runs() -> None:
    # Otherwise the test above would hold whatever h_t is.
    assert generalization_bound(_STEPS - 100, 2.0) < _TRUE.max() - _NOISE
    x, y = _noisy(_STEPS, 0)
    run = Iwal(2.0).run(Thresholds(_CUTS).on(x), ~y)  # It learns the wrong way round:
    assert np.any(_TRUE[run.best] - _NOISE > generalization_bound(run.n, 2.0))


@pytest.mark.parametrize("kind", _KINDS)
def test_weighted_errors_are_unbiased(kind: str) -> None:
    steps, errors, mean_p = 20_000, list[Any](), list[float]()
    for seed in range(100):
        x, y = _noisy(steps, 1000 + seed)
        run = Iwal(2.0).run(Thresholds(_CUTS[:20]).on(x), y, delays=_KINDS[kind](steps, seed), seed=seed)
        errors.append(run.errors)
        mean_p.append(float(run.p.mean()))
    assert np.mean(mean_p) < 0.7, "nearly everything was asked for: this would prove nothing"
    standard_error = np.std(errors, axis=0, ddof=1) / np.sqrt(len(errors))
    assert np.all(standard_error < 0.005)
    assert np.all(np.abs(np.mean(errors, axis=0) - _TRUE[:20]) <= 4 * standard_error)


def test_what_nobody_disagrees_on_is_weighted_without_bias_too() -> None:
    # All hypotheses say the same on half of the points: no choice depends on them, but the errors do.
    errors = list[Any]()
    for seed in range(150):
        rng = np.random.default_rng(seed)
        says = np.column_stack([np.ones(4000), np.where(rng.random(4000) < 0.5, 1, -1)])
        y = np.where(rng.random(4000) < 0.8, 1, -1)
        run = Iwal(2.0).run(says, y, delays=20, seed=seed)
        agreed = says[:, 1] == 1
        assert np.all(run.gap[agreed & (run.n > 0)] == 1)
        assert run.p[agreed][-100:].max() < 0.2
        errors.append(run.errors)
    mean, error = np.mean(errors, axis=0), np.std(errors, axis=0, ddof=1) / np.sqrt(150)
    assert np.all(np.abs(mean - [0.2, 0.5]) <= 4 * error)


@pytest.mark.parametrize("kind", _KINDS)
def test_theorem_2_bounds_the_mean_number_of_labels(kind: str) -> None:
    steps, noise, asked = 100_000, 0.01, list[Any]()
    delays = _KINDS[kind](steps, 0)
    for seed in range(10):
        x, y = _noisy(steps, seed, noise)
        run = Iwal(2.0).run(Thresholds(_CUTS).on(x), y, delays=delays, seed=seed)
        asked.append(np.cumsum(run.queried))
    bound = label_complexity_bound(np.arange(1, steps + 1) - delays, 2.0, theta=2.0, best_error=noise)
    assert bound[-1] < 0.9 * steps, "a bound that is above the number of steps would hold anyway"
    assert np.all(np.mean(asked, axis=0) <= bound + 1e-9)


# Seeds and labels -----------------------------------------------------------------------------------------------


def test_the_same_seed_is_the_same_run_and_another_is_not() -> None:
    x, y = _noisy(5000, 0)
    runs = [Iwal().run(Thresholds(_CUTS).on(x), y, delays=30, seed=seed) for seed in (1, 1, 2)]
    assert _equal(runs[0], runs[1])
    assert not np.array_equal(runs[0].queried, runs[2].queried)


@pytest.mark.parametrize("kind", _KINDS)
def test_labels_that_were_not_asked_for_do_not_matter(kind: str) -> None:
    x, y = _noisy(5000, 1)
    delays = _KINDS[kind](5000, 3)
    run = Iwal().run(Thresholds(_CUTS).on(x), y, delays=delays, seed=5)
    assert run.sampling_rate < 0.9
    assert _equal(run, Iwal().run(Thresholds(_CUTS).on(x), np.where(run.queried, y, ~y), delays=delays, seed=5))


def test_labels_and_predictions_may_be_signs_or_booleans() -> None:
    x, y = _noisy(500, 2)
    matrix = Thresholds(_CUTS).on(x).rows(0, 500)
    one = Iwal().run(matrix, y)
    assert _equal(one, Iwal().run(np.where(matrix, 1, -1), np.where(y, 1, -1).astype(np.int8)))
    assert _equal(one, Iwal().run(np.where(matrix, 1.0, -1.0).tolist(), np.where(y, 1.0, -1.0).tolist()))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delays": 0}, "delays is 0.*give delays >= 1"),
        ({"delays": [1, 3, 1]}, "the delay of step 2 is 3.*1 <= tau"),
        ({"delays": [1, 1]}, r"shape \(2,\).*each of 3 steps"),
        ({"seed": 0.5}, "seed is 0.5"),
    ],
)
def test_bad_input_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Iwal().run([[1, -1], [1, 1], [-1, 1]], [1, 1, -1], **options)


@pytest.mark.parametrize("c0", [1.9, -2.0, float("nan"), float("inf"), "2"])
def test_c0_is_at_least_two(c0: Any) -> None:
    with pytest.raises(InputError, match=r"c0 is"):
        Iwal(c0)
