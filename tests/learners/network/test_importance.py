"""Importance-aware steps: the closed forms against many tiny steps, and the network that uses them."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numba import njit
from scipy.special import lambertw

from learners.reference import plain_aware_step, plain_network_step
from making import selected
from paraactive import Network
from paraactive.errors import InputError
from paraactive.learners.network import importance

PUSHES: dict[str, Any] = {"logistic": importance.logistic_push, "squared": importance.squared_push}
losses = pytest.mark.parametrize("loss", PUSHES)
MARGINS = st.floats(-20, 20)
WEIGHTS = st.floats(-4, 4).map(lambda power: 10.0**power)
REACHES = st.floats(-6, 3).map(lambda power: 10.0**power)


@njit
def _tiny_steps(squared: bool, margin: float, weight: float, k: float, pieces: int) -> float:
    """Euler's method: the sum of slope * dw while m moves by k slope dw."""
    total, piece = 0.0, weight / pieces
    for _ in range(pieces):
        slope = 1.0 - margin if squared else 1.0 / (1.0 + math.exp(margin))
        total += slope * piece
        margin += k * slope * piece
    return total


# The closed forms -----------------------------------------------------------------------------------------------


@losses
@pytest.mark.parametrize("margin", [-5.0, -0.5, 0.0, 0.7, 3.0])
@pytest.mark.parametrize(("weight", "k"), [(1.0, 0.1), (1.0, 3.0), (50.0, 0.2), (200.0, 0.05), (0.01, 10.0)])
def test_it_is_what_ever_smaller_steps_come_to(loss: str, margin: float, weight: float, k: float) -> None:
    exact = PUSHES[loss](margin, weight, k)
    off = [
        abs(_tiny_steps(loss == "squared", margin, weight, k, pieces) / exact - 1) for pieces in (10**3, 10**4, 10**5)
    ]
    assert off[2] < 1e-3
    # Euler's method is of the first order: ten times the pieces, a tenth of the difference.
    assert off[1] == pytest.approx(off[0] / 10, rel=0.2, abs=1e-10)
    assert off[2] == pytest.approx(off[1] / 10, rel=0.2, abs=1e-10)


@losses
@settings(deadline=None)
@given(margin=MARGINS, one=WEIGHTS, other=WEIGHTS, k=REACHES)
def test_two_weights_one_after_the_other_are_their_sum(
    loss: str, margin: float, one: float, other: float, k: float
) -> None:
    push = PUSHES[loss]
    first = push(margin, one, k)
    second = push(margin + k * first, other, k)
    together = push(margin, one + other, k)
    # The margin between the two is rounded, so the second way is known up to that only.
    rounding = 1e-15 * (abs(margin) + k * abs(first)) * max(1.0, other)
    assert first + second == pytest.approx(together, rel=1e-7, abs=rounding)


@settings(deadline=None)
@given(margin=st.floats(-30, 30), weight=WEIGHTS, k=REACHES)
def test_the_logistic_push_is_lamberts_function(margin: float, weight: float, k: float) -> None:
    c = margin + math.exp(margin) + k * weight
    assume(c < 700)
    end = c - float(lambertw(math.exp(c)).real)
    rounding = 1e-14 * (abs(margin) + abs(c))
    assert k * importance.logistic_push(margin, weight, k) == pytest.approx(end - margin, rel=1e-8, abs=rounding)


@settings(deadline=None)
@given(margin=MARGINS, weight=WEIGHTS, k=REACHES)
def test_the_squared_push_goes_towards_a_margin_of_one_and_never_past_it(
    margin: float, weight: float, k: float
) -> None:
    end = margin + k * importance.squared_push(margin, weight, k)
    assert abs(end - 1) <= abs(margin - 1) * (1 + 1e-9)
    assert end - 1 == pytest.approx((margin - 1) * math.exp(-k * weight), rel=1e-8, abs=1e-13 * (1 + abs(margin)))


@losses
@settings(deadline=None)
@given(margin=MARGINS, weight=WEIGHTS)
def test_where_nothing_moves_it_is_the_plain_step(loss: str, margin: float, weight: float) -> None:
    plain = weight / (1 + math.exp(margin)) if loss == "logistic" else weight * (1 - margin)
    assert PUSHES[loss](margin, weight, 1e-300) == pytest.approx(plain, rel=1e-12)
    # On both sides of where the code goes over from the one formula to the other:
    for total in (0.5e-9, 0.99e-9, 1.01e-9, 2e-9, 1e-7):
        assert PUSHES[loss](margin, weight, total / weight) == pytest.approx(plain, rel=2 * total + 1e-12)


@losses
@settings(deadline=None)
@given(margin=MARGINS, weight=WEIGHTS, more=st.floats(1, 100), k=REACHES)
def test_a_larger_weight_pushes_more_and_never_more_than_in_proportion(
    loss: str, margin: float, weight: float, more: float, k: float
) -> None:
    light, heavy = abs(PUSHES[loss](margin, weight, k)), abs(PUSHES[loss](margin, weight * more, k))
    assert light * (1 - 1e-9) <= heavy <= more * light * (1 + 1e-9)


_EXTREME_WEIGHTS = st.floats(-12, 12).map(lambda power: 10.0**power)
_EXTREME_REACHES = st.floats(-12, 6).map(lambda power: 10.0**power)


def _assert_logistic(margin: float, weight: float, k: float) -> None:
    push, total = importance.logistic_push(margin, weight, k), k * weight
    assert math.isfinite(push)
    # The slope is at most 1, and at most what it was at the beginning.
    assert 0 <= push <= weight / (1 + math.exp(min(margin, 700))) * (1 + 1e-9)

    def beyond(way: float) -> float:
        """Below 0 before the root of way + exp(margin) (exp(way) - 1) = k w, above 0 beyond it."""
        pull = math.exp(min(margin, 700))
        grown = pull * math.expm1(way) if way < 1 else math.exp(min(margin + way, 709)) - pull
        return way + grown - total

    if margin < 600:
        assert beyond(k * push * (1 - 1e-7)) <= 1e-12 * total
        assert beyond(k * push * (1 + 1e-7)) >= -1e-12 * total


@settings(deadline=None)
@given(margin=st.floats(-600, 1e3), weight=_EXTREME_WEIGHTS, k=_EXTREME_REACHES)
def test_the_logistic_push_solves_its_equation_for_extreme_numbers_too(margin: float, weight: float, k: float) -> None:
    _assert_logistic(margin, weight, k)


@settings(deadline=None)
@given(margin=st.floats(-1e3, -600), weight=_EXTREME_WEIGHTS, k=_EXTREME_REACHES)
def test_the_logistic_push_solves_its_equation_for_margins_that_are_hopeless(
    margin: float, weight: float, k: float
) -> None:
    _assert_logistic(margin, weight, k)


@settings(deadline=None)
@given(margin=st.floats(-1e3, 1e3), weight=_EXTREME_WEIGHTS, k=_EXTREME_REACHES)
def test_the_squared_push_stays_finite_and_below_the_plain_step(margin: float, weight: float, k: float) -> None:
    push = importance.squared_push(margin, weight, k)
    assert math.isfinite(push)
    assert push * (1 - margin) >= 0
    assert abs(push) <= weight * abs(1 - margin) * (1 + 1e-9)
    assert abs(push) * k <= abs(1 - margin) * (1 + 1e-9)


# The network ----------------------------------------------------------------------------------------------------

_UNITS = 30
_NAMES = ("weight", "bias", "out_weight", "out_bias")


def _arrays(network: Network, suffix: str = "") -> list[Any]:
    """W, b, v, c of the live units, in float64."""
    state = {name: array.astype(np.float64) for name, array in network.save().items()}
    return [state[name + suffix][..., :_UNITS].copy() for name in _NAMES]


def _data(count: int, seed: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 9)).astype(np.float32)
    y = np.where(x[:, 0] * x[:, 1] + x[:, 2] + rng.normal(size=count) > 0, 1, -1).astype(np.int8)
    x[rng.random(x.shape) < 0.3] = 0
    return x, y, rng.uniform(0.05, 1.0, count)


def _trained(loss: str, aware: bool, step: float) -> Network:
    """A network that has learnt a little, the same whatever the step from now on."""
    x, y, p = _data(300, seed=0)
    teacher = Network(hidden=_UNITS, seed=3, loss=loss)
    teacher.update(selected(x, y, p))
    network = Network(hidden=_UNITS, step=step, seed=3, loss=loss, importance_aware=aware)
    network.load(teacher.save())
    return network


@losses
@pytest.mark.parametrize("aware", [False, True], ids=["plain", "aware"])
def test_the_network_takes_the_same_steps_as_the_reference(loss: str, aware: bool) -> None:
    x, y, p = _data(60, seed=1)
    p /= 5  # Weights up to 100.
    network = Network(hidden=_UNITS, seed=3, loss=loss, importance_aware=aware)
    network.update(selected(x[:1], y[:1], p[:1]))
    parameters, squares = _arrays(network), _arrays(network, "_squares")
    network.update(selected(x[1:], y[1:], p[1:]))
    step = plain_aware_step if aware else plain_network_step
    for i in range(1, 60):
        step(parameters, squares, x[i].astype(np.float64), float(y[i]), 1 / p[i], 0.07, loss)
    for ours, theirs in zip(_arrays(network), parameters, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=5e-4)
    for ours, theirs in zip(_arrays(network, "_squares"), squares, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=5e-3, atol=1e-6)


@losses
@pytest.mark.parametrize("aware", [False, True], ids=["plain", "aware"])
def test_one_step_from_a_trained_network_is_the_step_of_the_reference(loss: str, aware: bool) -> None:
    x, y, _ = _data(20, seed=2)
    for i in range(20):
        for weight in (1.0, 7.0, 1e4):
            network = _trained(loss, aware, step=0.02)
            before = _arrays(network)
            parameters, squares = _arrays(network), _arrays(network, "_squares")
            network.update(selected(x[i : i + 1], y[i : i + 1], 1 / weight))
            step = plain_aware_step if aware else plain_network_step
            step(parameters, squares, x[i].astype(np.float64), float(y[i]), weight, 0.02, loss)
            size = max(np.abs(a - b).max() for a, b in zip(parameters, before, strict=True))
            for ours, theirs in zip(_arrays(network), parameters, strict=True):
                np.testing.assert_allclose(ours, theirs, atol=1e-3 * size + 1e-6)


def _apart(loss: str, aware: bool, step: float, weight: int, row: int) -> float:
    """One update of that weight against so many of weight 1: how far apart, in parts of the step."""
    x, y, _ = _data(20, seed=2)
    once, often = _trained(loss, aware, step), _trained(loss, aware, step)
    start = np.concatenate([each.ravel() for each in _arrays(once)])
    once.update(selected(x[row : row + 1], y[row : row + 1], 1 / weight))
    often.update(selected(np.repeat(x[row : row + 1], weight, axis=0), np.repeat(y[row : row + 1], weight), 1.0))
    one, other = (np.concatenate([each.ravel() for each in _arrays(network)]) - start for network in (once, often))
    return float(np.linalg.norm(one - other) / np.linalg.norm(other))


@losses
@pytest.mark.parametrize("row", [0, 3, 7])
def test_a_weight_is_as_many_steps_of_weight_one_if_it_is_aware_and_not_if_it_is_plain(loss: str, row: int) -> None:
    steps = (0.1, 0.03, 0.01, 0.003, 0.001)
    aware = [_apart(loss, True, step, 30, row) for step in steps]
    # What is left is of the first order: slopes and directions change on the way.
    assert all(later < 0.5 * earlier for earlier, later in pairwise(aware))
    assert aware[-1] < 0.01
    # AdaGrad's sums take the square of the weight: the plain step is another one, however small.
    assert _apart(loss, False, steps[-1], 30, row) > 0.1


@losses
def test_the_sums_of_an_aware_step_grow_with_the_weight_and_not_with_its_square(loss: str) -> None:
    x, y, _ = _data(1, seed=2)
    for aware, power in ((True, 1), (False, 2)):
        grown = list[Any]()
        for weight in (1.0, 10.0):
            network = _trained(loss, aware, step=1e-3)
            before = _arrays(network, "_squares")[2]
            network.update(selected(x, y, 1 / weight))
            grown.append(_arrays(network, "_squares")[2] - before)
        assert np.median(grown[1] / grown[0]) == pytest.approx(10**power, rel=0.01)


@pytest.mark.parametrize("step", [0.07, 0.005])
def test_an_enormous_weight_makes_the_logistic_margin_larger_and_not_infinite(step: float) -> None:
    x, y, _ = _data(40, seed=4)
    for i in range(40):
        network = _trained("logistic", True, step)
        before = y[i] * network.score(x[i : i + 1])[0]
        network.update(selected(x[i : i + 1], y[i : i + 1], 1e-6))
        after = y[i] * network.score(x[i : i + 1])[0]
        assert math.isfinite(after)
        assert before < after < before + 50


@pytest.mark.parametrize("step", [0.005, 1e-4, 1e-6])
def test_an_enormous_weight_takes_the_squared_output_to_its_label_and_not_past_it(step: float) -> None:
    x, y, _ = _data(40, seed=4)
    for i in range(40):
        network = _trained("squared", True, step)
        before = 1 - y[i] * network.score(x[i : i + 1])[0]
        network.update(selected(x[i : i + 1], y[i : i + 1], 1e-6))
        after = 1 - y[i] * network.score(x[i : i + 1])[0]
        # The hidden layer bends the way a little.
        assert -0.2 < after / before < 1


def test_a_loss_that_is_not_known_is_named() -> None:
    with pytest.raises(InputError, match=r"no loss function 'logisitc'.*did you mean 'logistic'"):
        Network(loss="logisitc")
