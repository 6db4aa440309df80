from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraactive.errors import InputError
from paraactive.theory import (
    PROVEN,
    Constants,
    Iwal,
    delayed_generalization_bound,
    delayed_label_complexity_bound,
    disagreement_coefficient,
    generalization_bound,
    label_complexity_bound,
    sufficient_c0,
)

NAN = float("nan")


def _literal_theorem_1(n: int, c0: float) -> float:
    return math.inf if n == 0 else math.sqrt(2 * c0 * math.log(n + 1) / n) + 2 * c0 * math.log(n + 1) / n


# Theorem 1 ------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=10), st.floats(2, 1000))
def test_theorem_1_is_its_formula(n: list[int], c0: float) -> None:
    assert generalization_bound(n, c0) == pytest.approx([_literal_theorem_1(each, c0) for each in n], rel=1e-12)


def test_theorem_1_takes_numbers_and_arrays_and_falls_with_n() -> None:
    assert np.shape(generalization_bound(100, 2)) == ()
    assert generalization_bound(np.ones((2, 3)), 2).shape == (2, 3)
    assert np.all(np.diff(generalization_bound(np.arange(1, 10_000), 2)) < 0)


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.floats(2, 100))
def test_with_delays_theorem_1_has_t_less_the_bound_in_place_of_n(t: int, delay: int, c0: float) -> None:
    ours = float(delayed_generalization_bound(t, delay, c0))
    assert ours == pytest.approx(_literal_theorem_1(max(t - delay, 0), c0), rel=1e-12)
    assert math.isinf(ours) == (t <= delay)


def test_the_delayed_bound_is_never_below_the_bound_of_delays_that_keep_it() -> None:
    t, tau = np.arange(1, 2001), np.random.default_rng(0).integers(1, 51, 2000)
    n = np.maximum(t - tau, 0)
    assert np.all(delayed_generalization_bound(t, 50, 2) >= generalization_bound(n, 2))


# C0 -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hypotheses", [2, 3, 21, 1000, 10**9, 10**100])
@pytest.mark.parametrize("delta", [0.999, 0.5, 0.05, 1e-12])
def test_the_sufficient_c0_is_the_least_that_satisfies_its_inequality(hypotheses: int, delta: float) -> None:
    c0 = sufficient_c0(hypotheses, delta)
    n = np.unique(np.concatenate([np.arange(1, 20_000), np.geomspace(1, 1e9, 20_000).round()]))
    left = 16 * (np.log(2 * (2 + n * np.log2(n)) * n * (n + 1)) + math.log(hypotheses) - math.log(delta)) / n
    right = c0 * np.log(n + 1) / n
    assert np.all(left <= right * (1 + 1e-12))
    assert np.any(left > right * (1 - 1e-6)), "a smaller one would do"
    assert c0 >= 2


def test_the_sufficient_c0_grows_like_the_logarithm_of_hypotheses_over_delta() -> None:
    values = [sufficient_c0(10**k, 0.05) for k in range(1, 9)]
    # From n = 1 it is 16 log(8 |H| / delta) / log 2: ten times the class costs 16 log 10 / log 2.
    assert np.diff(values) == pytest.approx(16 * math.log(10) / math.log(2), rel=1e-9)
    assert sufficient_c0(1000, 0.005) == pytest.approx(sufficient_c0(10_000, 0.05))


# Theorem 2 ------------------------------------------------------------------------------------------------------


def _literal_theorem_2(n: list[int], c0: float, theta: float, best_error: float, constants: Constants) -> list[float]:
    total, out = 0.0, list[float]()
    for known in n:
        step = 1.0
        if known:
            e = c0 * math.log(known + 1) / known
            step = 2 * best_error + constants.root * math.sqrt(e) + constants.linear * e
            step = max(theta, 1) * (step + constants.logarithm * e * max(math.log(1 / e), 0))
        total += min(step, 1.0)
        out.append(total)
    return out


_CONSTANTS = st.sampled_from([PROVEN, Constants(1, 1, 0), Constants(0, 0, 0), Constants(0.01, 0.5, 0.1)])


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 10**7), min_size=1, max_size=40),
    st.floats(2, 100),
    st.floats(0, 20),
    st.floats(0, 0.5),
    _CONSTANTS,
)
def test_theorem_2_is_its_formula(
    n: list[int], c0: float, theta: float, best_error: float, constants: Constants
) -> None:
    ours = label_complexity_bound(n, c0, theta, best_error, constants=constants)
    assert ours == pytest.approx(_literal_theorem_2(n, c0, theta, best_error, constants), rel=1e-9)
    assert np.all(ours <= np.arange(1, len(n) + 1) * (1 + 1e-12)), "more labels than steps"
    assert np.all(np.diff(ours) >= 0)


def test_theorem_2_without_delays_is_the_sum_in_the_paper() -> None:
    # With so small an error and such constants no step reaches 1: 1 + 2 theta err n_t + the sum.
    n, constants = np.arange(50_000), Constants(0.1, 0.1, 0.0)
    e = 2 * np.log(n[1:] + 1) / n[1:]
    expected = 1 + 2 * 2 * 0.01 * n[-1] + np.sum(2 * 0.1 * (np.sqrt(e) + e))
    assert label_complexity_bound(n, 2, 2, 0.01, constants=constants)[-1] == pytest.approx(expected, rel=1e-12)


def test_theorem_2_grows_with_all_that_makes_learning_harder() -> None:
    n = np.arange(200_000)

    def bound(c0: float = 2, theta: float = 1, best_error: float = 0.01) -> float:
        return float(label_complexity_bound(n, c0, theta, best_error)[-1])

    assert bound() < bound(c0=3)
    assert bound() < bound(theta=1.5)
    assert bound() < bound(best_error=0.02)
    assert bound() < len(n)


def test_the_proven_constants_are_those_of_the_proof() -> None:
    c1, c2 = 5 + 2 * math.sqrt(2), 5
    a = (c1 - 1 + math.sqrt(2)) / 4
    assert pytest.approx((4 / 3 * (c1 + 1 + a), 1, 4 / 3 * c2)) == tuple(PROVEN)
    # A step asks with P_t, of mean at most e + the integral over p from e to 1 of theta (2 err + 4/3 (g(p) + ...)).
    for e in (1e-8, 1e-5, 1e-3, 0.05):
        p = np.exp(np.linspace(math.log(e), 0, 200_001))
        g = (c1 / np.sqrt(p) - c1 + 1) * math.sqrt(e) + (c2 / p - c2 + 1) * e
        integral = float(np.trapezoid(4 / 3 * (g + a * math.sqrt(e) + 1.5 * e), p))
        assert integral <= PROVEN.root * math.sqrt(e) + PROVEN.logarithm * e * math.log(1 / e)


@settings(deadline=None)
@given(st.integers(2, 20_000), st.integers(1, 500), st.floats(2, 50), st.floats(0, 10), st.floats(0, 0.2), _CONSTANTS)
def test_with_bounded_delays_the_sum_is_below_the_corollary(
    t: int, delay: int, c0: float, theta: float, best_error: float, constants: Constants
) -> None:
    # The first B steps count 1, and each step 2 theta err(h*). With n + 1 <= t each e <= C0 log(t)/n, and the sum
    # over n <= t - B of 1/sqrt(n) is at most 2 sqrt(t - B). Besides
    # min(1, e) <= sqrt(e), and x log(1/x) <= 2/e sqrt(x).
    ours = delayed_label_complexity_bound(t, delay, c0, theta, best_error, constants=constants)
    known = max(t - delay, 0)
    roots = 2 * math.sqrt(known) * math.sqrt(c0 * math.log(t))
    theta = max(theta, 1)
    hidden = theta * (constants.root + constants.linear + 2 / math.e * constants.logarithm)
    assert ours <= (delay + 2 * theta * best_error * (t - 1) + hidden * roots) * (1 + 1e-12)
    assert ours == pytest.approx(
        _literal_theorem_2([max(s - delay, 0) for s in range(1, t + 1)], c0, theta, best_error, constants)[-1]
    )
    assert ours <= t * (1 + 1e-12)


def test_the_bound_holds_where_all_hypotheses_agree_and_labels_are_asked_for_now_and_then() -> None:
    run = Iwal(2).run(np.ones((100_000, 2), np.bool_), np.ones(100_000, np.bool_))
    assert disagreement_coefficient(np.ones((10, 2), np.bool_), 0) == 0
    bound = label_complexity_bound(run.n, 2, theta=0.0, best_error=0.0)
    assert np.all(np.cumsum(run.p) <= bound)
    assert run.queries > 100


def test_longer_delays_cost_labels_but_no_more_than_their_length() -> None:
    bounds = [delayed_label_complexity_bound(50_000, delay, 2, 1, 0.0) for delay in (1, 10, 100, 1000, 10_000)]
    assert np.all(np.diff(bounds) > 0)
    assert np.all(np.diff(bounds) <= np.diff([1, 10, 100, 1000, 10_000]) + 1e-6)
    assert delayed_label_complexity_bound(100, 100, 2, 1, 0.0) == 100


# Bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [0, 1, -0.1, 2.0, NAN, "0.05"])
def test_delta_is_a_probability_of_failure(delta: Any) -> None:
    with pytest.raises(InputError, match=r"delta is"):
        sufficient_c0(10, delta)


@pytest.mark.parametrize("hypotheses", [0, 1, 2.5, NAN])
def test_a_class_has_two_hypotheses_or_more(hypotheses: Any) -> None:
    with pytest.raises(InputError, match=r"hypotheses is"):
        sufficient_c0(hypotheses, 0.05)


@pytest.mark.parametrize("c0", [1.9, NAN, float("inf")])
def test_c0_is_at_least_two(c0: float) -> None:
    for bound in (
        lambda: generalization_bound(10, c0),
        lambda: delayed_generalization_bound(10, 1, c0),
        lambda: label_complexity_bound([0, 1], c0, 1, 0),
        lambda: delayed_label_complexity_bound(10, 1, c0, 1, 0),
    ):
        with pytest.raises(InputError, match=r"c0 is"):
            bound()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"theta": -1}, "theta is -1: it cannot be negative.*give theta >= 0"),
        ({"theta": NAN}, "theta is nan"),
        ({"best_error": -0.1}, "best_error is -0.1"),
        ({"n": [0, -1]}, "n has a value below 0.*give n >= 0"),
        ({"n": [0, NAN]}, "n has a value below 0"),
    ],
)
def test_bad_numbers_are_named(options: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"n": [0, 1], "c0": 2, "theta": 1, "best_error": 0}
    with pytest.raises(InputError, match=message):
        label_complexity_bound(**given | options)


@pytest.mark.parametrize("delay", [0, 1.5])
def test_a_delay_is_a_whole_number_of_at_least_one(delay: Any) -> None:
    with pytest.raises(InputError, match=r"delay is"):
        delayed_generalization_bound(10, delay, 2)
    with pytest.raises(InputError, match=r"delay is"):
        delayed_label_complexity_bound(10, delay, 2, 1, 0)
