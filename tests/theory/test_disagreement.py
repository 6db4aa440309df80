from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betainc

from paraactive.errors import InputError
from paraactive.theory import (
    Separators,
    Thresholds,
    disagreement_coefficient,
    sphere_disagreement,
    sphere_disagreement_coefficient,
    threshold_disagreement_coefficient,
)
from theory.reference import literal_disagreement


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 15), st.integers(2, 9), st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9]))
def test_it_is_what_trying_all_radii_finds(seed: int, points: int, hypotheses: int, above: float) -> None:
    rng = np.random.default_rng(seed)
    says = rng.random((points, hypotheses)) < rng.uniform(0.1, 0.9)
    best = int(rng.integers(hypotheses))
    ours = disagreement_coefficient(says, best, above=above)
    assert ours == pytest.approx(literal_disagreement(says.tolist(), best, above), rel=1e-12)


@settings(deadline=None)
@given(st.integers(0, 10**6), st.floats(0.01, 1.5))
def test_no_radius_above_the_limit_has_a_larger_quotient_and_some_come_close(seed: int, above: float) -> None:
    rng = np.random.default_rng(seed)
    says = rng.random((20, 6)) < 0.5
    theta = disagreement_coefficient(says, 0, above=above)
    distance = (says != says[:, :1]).mean(axis=0)
    quotients = list[float]()
    for r in [*np.linspace(above * (1 + 1e-9), 2.0, 500), *distance[distance > above]]:
        inside = says[:, distance <= r]
        quotients.append(float(np.mean(np.any(inside != says[:, :1], axis=1)) / r))
    assert max(quotients) == pytest.approx(theta, rel=1e-8)


def test_if_nobody_differs_from_the_best_it_is_zero() -> None:
    assert disagreement_coefficient([[1, 1], [-1, -1]], best=1) == 0
    assert disagreement_coefficient([[1, 1], [-1, -1]], best=1, above=0.2) == 0


def test_above_zero_is_the_definition() -> None:
    says = np.random.default_rng(0).random((30, 5)) < 0.5
    assert disagreement_coefficient(says, 2) == disagreement_coefficient(says, 2, above=1e-6)


def test_thresholds_on_a_fine_grid_come_to_two_inside_and_to_one_at_the_end() -> None:
    x = (np.arange(3000) + 0.5) / 3000
    cuts = Thresholds(np.linspace(0, 1, 1501))
    for best in (300, 750, 1200):
        theta = disagreement_coefficient(cuts.on(x), best)
        assert theta == pytest.approx(threshold_disagreement_coefficient(best / 1500), rel=1e-9)
    assert disagreement_coefficient(cuts.on(x), 0) == pytest.approx(threshold_disagreement_coefficient(0.0))
    assert disagreement_coefficient(cuts.on(x), 1500) == pytest.approx(threshold_disagreement_coefficient(1.0))
    # From a limit on, the shorter side is used up: (a + min(r, 1 - a)) / r.
    assert disagreement_coefficient(cuts.on(x), 300, above=0.4) == pytest.approx(0.6 / 0.4, rel=1e-2)


def test_separators_on_the_circle_come_to_two() -> None:
    angle = 2 * np.pi * (np.arange(2000) + 0.5) / 2000
    x = np.column_stack([np.cos(angle), np.sin(angle)])
    theta = disagreement_coefficient(Separators.on_the_circle(400).on(x), best=17)
    assert theta == pytest.approx(sphere_disagreement_coefficient(2), rel=1e-6)


def test_separators_in_space_come_near_the_closed_form() -> None:
    rng = np.random.default_rng(0)
    x, weights = rng.normal(size=(4000, 3)), rng.normal(size=(4000, 3))
    # A list has few that are near to the best unless they are put there.
    weights[1000:] = weights[0] + rng.uniform(0.02, 1.0, (3000, 1)) * rng.normal(size=(3000, 3))
    above = 0.06
    theta = disagreement_coefficient(Separators(weights).on(x), best=0, above=above)
    r = np.linspace(above, 1.0, 2000)
    assert theta == pytest.approx(float(np.max(np.asarray(sphere_disagreement(r, 3)) / r)), rel=0.08)


# Closed forms ---------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.floats(1e-6, 1.0), st.integers(2, 300))
def test_the_region_on_the_sphere_is_an_incomplete_beta_function(r: float, dimensions: int) -> None:
    # The square of a coordinate of a point on the sphere has the law Beta(1/2, (d-1)/2).
    expected = betainc(0.5, (dimensions - 1) / 2, math.sin(math.pi * min(r, 0.5)) ** 2)
    assert float(sphere_disagreement(r, dimensions)) == pytest.approx(float(expected), rel=1e-9)


@pytest.mark.parametrize("dimensions", [2, 3, 10])
def test_the_region_on_the_sphere_is_what_points_at_random_say(dimensions: int) -> None:
    x = np.random.default_rng(dimensions).normal(size=(200_000, dimensions))
    height = np.abs(x[:, 0]) / np.linalg.norm(x, axis=1)
    for r in (0.02, 0.1, 0.3, 0.45, 0.6):
        share = float(np.mean(height <= math.sin(math.pi * min(r, 0.5))))
        expected = float(sphere_disagreement(r, dimensions))
        assert abs(share - expected) <= 4 * math.sqrt(max(expected * (1 - expected), 0.0) / len(x)) + 1e-9


def test_the_region_on_the_sphere_takes_arrays_and_grows_to_one() -> None:
    r = np.linspace(0, 1, 101).reshape(1, 101)
    region = np.asarray(sphere_disagreement(r, 5))
    assert region.shape == (1, 101)
    assert region[0, 0] == 0
    assert np.all(np.diff(region[0, :51]) > 0)
    assert region[0, 50:] == pytest.approx(1)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 2000))
def test_the_coefficient_of_the_sphere_is_the_largest_quotient(dimensions: int) -> None:
    theta, r = sphere_disagreement_coefficient(dimensions), np.geomspace(1e-6, 1, 500)
    quotient = np.asarray(sphere_disagreement(r, dimensions)) / r
    assert quotient.max() == pytest.approx(theta, rel=1e-6)
    assert np.all(quotient <= theta * (1 + 1e-9))


def test_known_values() -> None:
    assert sphere_disagreement_coefficient(2) == pytest.approx(2)
    assert sphere_disagreement_coefficient(3) == pytest.approx(math.pi)
    assert sphere_disagreement_coefficient(4) == pytest.approx(4)
    assert sphere_disagreement_coefficient(10**6) == pytest.approx(math.sqrt(2 * math.pi * 10**6), rel=1e-5)
    assert float(sphere_disagreement(0.1, 2)) == pytest.approx(0.2)
    assert float(sphere_disagreement(0.1, 3)) == pytest.approx(math.sin(0.1 * math.pi))
    assert [threshold_disagreement_coefficient(left) for left in (0.0, 0.3, 1.0)] == [1, 2, 1]


# Bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("says", "best", "message"),
    [
        ([[1], [-1]], 0, "the class has 1 hypothesis: .*give two hypotheses or more"),
        ([[1, 1], [-1, 1]], 2, "hypothesis is 2: the class has 2, counted from 0.*below 2"),
        ([[1, 1], [-1, 1]], -1, "hypothesis is -1"),
        ([[1, 1], [-1, 1]], 0.5, "hypothesis is 0.5"),
        ([[1, 0], [-1, 1]], 0, "the predictions are not all -1 or"),
    ],
)
def test_bad_classes_are_named(says: Any, best: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        disagreement_coefficient(says, best)


def test_bad_numbers_are_named() -> None:
    with pytest.raises(InputError, match="above is nan"):
        disagreement_coefficient([[1, -1]], 0, above=float("nan"))
    for left in (-0.1, 1.1, float("nan")):
        with pytest.raises(InputError, match="left is"):
            threshold_disagreement_coefficient(left)
    for dimensions in (1, 2.5):
        with pytest.raises(InputError, match="dimensions is"):
            sphere_disagreement_coefficient(dimensions)  # pyright: ignore[reportArgumentType]
        with pytest.raises(InputError, match="dimensions is"):
            sphere_disagreement(0.1, dimensions)  # pyright: ignore[reportArgumentType]
