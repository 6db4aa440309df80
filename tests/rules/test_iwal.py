"""P in closed form against the equation of the paper, solved numerically."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import brentq

from paraactive.errors import InputError
from paraactive.rules import IwalMargin
from paraactive.theory import query_probability
from theory.reference import right_side, solved_probability

GAPS = st.floats(0, 10)
COUNTS = st.one_of(st.integers(1, 100), st.integers(1, 10**12))
C0S = st.floats(2, 1000)


def _e(n: int, c0: float) -> float:
    return c0 * math.log(n + 1) / n


@given(GAPS, COUNTS, C0S)
@example(1.0, 10**12, 2.0)
@example(1e-9, 10**12, 2.0)
def test_it_solves_the_equation_of_the_paper(gap: float, n: int, c0: float) -> None:
    e, p = _e(n, c0), float(query_probability(gap, n, c0))
    if gap <= math.sqrt(e) + e:
        assert p == pytest.approx(1, rel=1e-12)
    else:

        def beyond(z: float) -> float:
            return right_side(1 / z**2, e) - gap

        root: Any = brentq(beyond, 1.0, 1 + gap / math.sqrt(e), xtol=1e-14)
        assert p == pytest.approx(1 / root**2, rel=1e-9)
        assert right_side(p, e) == pytest.approx(gap, rel=1e-9)


@given(GAPS, COUNTS, C0S)
def test_it_is_what_bisection_finds(gap: float, n: int, c0: float) -> None:
    assert float(query_probability(gap, n, c0)) == pytest.approx(solved_probability(gap, n, c0), rel=1e-9)


@given(GAPS, GAPS, COUNTS, C0S)
def test_it_falls_with_the_gap(one: float, other: float, n: int, c0: float) -> None:
    low, high = query_probability(sorted([one, other]), n, c0)
    assert 0 < high <= low <= 1


@given(COUNTS, C0S)
def test_it_is_one_up_to_the_threshold_and_continuous_there(n: int, c0: float) -> None:
    e = _e(n, c0)
    threshold = math.sqrt(e) + e
    assert np.all(query_probability(threshold * np.array([0, 0.5, 0.9, 1 - 1e-9]), n, c0) == 1)
    assert float(query_probability(threshold, n, c0)) == pytest.approx(1, rel=1e-13)
    behind = query_probability(threshold * (1 + np.array([1e-12, 1e-9, 1e-6, 1e-3])), n, c0)
    assert behind == pytest.approx(1, abs=2e-3)
    assert behind[0] == pytest.approx(1, abs=1e-11)
    assert behind[-1] < 1


@given(GAPS, C0S)
def test_it_is_one_while_nothing_is_known(gap: float, c0: float) -> None:
    assert float(query_probability(gap, 0, c0)) == 1


def test_it_does_not_depend_on_the_shape_of_what_is_given() -> None:
    gap, n = np.random.default_rng(0).random((4, 3)), np.array([0, 100, 10_000])
    many = query_probability(gap, n, 3.0)
    assert many.shape == (4, 3)
    for i in range(4):
        for j in range(3):
            assert float(query_probability(float(gap[i, j]), int(n[j]), 3.0)) == many[i, j]
    assert query_probability(gap.tolist(), n.tolist(), 3).tolist() == many.tolist()
    assert np.shape(query_probability(0.5, 100, 2)) == ()
    assert query_probability([], [], 2).shape == (0,)


@pytest.mark.parametrize(
    ("gap", "n", "c0", "message"),
    [
        (0.5, 100, 1.99, r"c0 is 1.99: C0 is of the order of log.*give c0 >= 2"),
        (0.5, 100, float("nan"), r"c0 is nan"),
        (0.5, 100, float("inf"), r"c0 is inf"),
        (-1e-9, 100, 2.0, r"gap has values that are negative or not finite.*give gap >= 0"),
        ([0.1, float("nan")], 100, 2.0, r"gap has values that are negative or not finite"),
        (float("inf"), 100, 2.0, r"gap has values that are negative or not finite"),
        (0.5, -1, 2.0, r"n has values that are negative or not finite.*give n >= 0"),
        (0.5, [1, float("nan")], 2.0, r"n has values that are negative or not finite"),
    ],
)
def test_bad_input_is_named(gap: Any, n: Any, c0: float, message: str) -> None:
    with pytest.raises(InputError, match=message):
        query_probability(gap, n, c0)


# The rule -------------------------------------------------------------------------------------------------------


@given(st.floats(-1e6, 1e6), st.integers(0, 10**12), st.floats(2, 100))
def test_the_rule_takes_the_margin_up_to_one_as_the_gap(score: float, seen: int, c0: float) -> None:
    (p,) = IwalMargin(c0).probability(np.array([score]), np.array([seen]))
    assert p == pytest.approx(solved_probability(min(abs(score), 1.0), seen, c0), rel=1e-9)


def test_the_rule_stops_falling_at_a_margin_of_one() -> None:
    p = IwalMargin().probability(np.array([0.2, 1.0, -1.0, 50.0]), np.full(4, 10**6))
    assert p[0] > p[1] == p[2] == p[3]
    # Where e is small and G = 1, v = z sqrt(e) solves c1 v + c2 v^2 = 1: so s = e / v^2, about 71 C0 log(n)/n.
    c1, c2, n = 5 + 2 * math.sqrt(2), 5, 10**12
    v = (math.sqrt(c1**2 + 4 * c2) - c1) / (2 * c2)
    (least,) = IwalMargin(2.0).probability(np.array([3.0]), np.array([n]))
    assert least / _e(n, 2.0) == pytest.approx(1 / v**2, rel=1e-3)
    assert 70 < 1 / v**2 < 72


@pytest.mark.parametrize("c0", [1.0, float("nan"), None])
def test_the_rule_checks_c0(c0: Any) -> None:
    with pytest.raises(InputError, match=r"c0 is"):
        IwalMargin(c0)
