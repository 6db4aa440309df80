from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from learners.reference import plain_network_step
from making import selected, two_moons
from paraactive import Digits, Network
from paraactive.errors import InputError

_UNITS = 30


def _parameters(network: Network, suffix: str = "") -> list[Any]:
    """W, b, v, c of the live units, in float64."""
    state = {name: array.astype(np.float64) for name, array in network.save().items()}
    units = [state[name + suffix][..., :_UNITS].copy() for name in ("weight", "bias", "out_weight")]
    return [*units, state["out_bias" + suffix].copy()]


def _data(count: int, seed: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 9)).astype(np.float32)
    x[rng.random(x.shape) < 0.5] = 0
    return x, np.where(rng.random(count) < 0.5, 1, -1).astype(np.int8), rng.uniform(0.05, 1.0, count)


losses = pytest.mark.parametrize("loss", ["logistic", "squared"])


@losses
def test_it_takes_the_same_steps_as_the_plain_network(loss: str) -> None:
    x, y, p = _data(60, seed=0)
    network = Network(hidden=_UNITS, seed=3, loss=loss)
    network.update(selected(x[:1], y[:1], p[:1]))
    plain, squares = _parameters(network), _parameters(network, "_squares")
    network.update(selected(x[1:], y[1:], p[1:]))
    for i in range(1, 60):
        plain_network_step(plain, squares, x[i].astype(np.float64), float(y[i]), 1 / p[i], 0.07, loss)
    for ours, theirs in zip(_parameters(network), plain, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-4)
    for ours, theirs in zip(_parameters(network, "_squares"), squares, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=5e-3, atol=1e-6)


@losses
def test_one_step_from_a_trained_network_is_the_step_of_the_plain_network(loss: str) -> None:
    teacher = Network(hidden=_UNITS, seed=3, loss=loss)
    teacher.update(selected(*_data(300, seed=0)))
    x, y, _ = _data(20, seed=2)
    for i in range(20):
        for weight in (1.0, 7.0, 1e4):
            network = Network(hidden=_UNITS, step=0.02, seed=3, loss=loss)
            network.load(teacher.save())
            before, plain, squares = _parameters(network), _parameters(network), _parameters(network, "_squares")
            network.update(selected(x[i : i + 1], y[i : i + 1], 1 / weight))
            plain_network_step(plain, squares, x[i].astype(np.float64), float(y[i]), weight, 0.02, loss)
            size = max(np.abs(a - b).max() for a, b in zip(plain, before, strict=True))
            for ours, theirs in zip(_parameters(network), plain, strict=True):
                np.testing.assert_allclose(ours, theirs, atol=1e-3 * size + 1e-6)


def test_a_loss_that_is_not_known_is_named() -> None:
    with pytest.raises(InputError, match=r"no loss function 'logisitc'.*did you mean 'logistic'"):
        Network(loss="logisitc")


@pytest.mark.parametrize(
    ("loss", "digest"),
    [
        ("logistic", "360924a6c80da86a781af5dbc31766972bea0edca9c219285cf31db42452cc2b"),
        ("squared", "15d9223c9d3babaeed9f4fd2e22d48a410a2da66f50c26ec0ec2e94c368f4a9a"),
    ],
)
def test_it_is_to_the_bit_what_it_was_when_it_had_one_output_only(loss: str, digest: str) -> None:
    rng = np.random.default_rng(11)
    x = (rng.integers(-8, 9, (500, 13)) / 4 * (rng.random((500, 13)) < 0.6)).astype(np.float32)
    y = np.where(x[:, 0] * x[:, 1] + x[:, 2] > 0, 1, -1).astype(np.int8)
    network = Network(hidden=_UNITS, seed=3, loss=loss)
    network.update(selected(x, y, 1 / rng.integers(1, 20, 500)))
    # Run files and models of before hold such digests.
    assert network.digest() == digest


def test_the_first_step_goes_down_the_gradient_of_the_weighted_loss() -> None:
    x, y, _ = _data(1, seed=1)
    network = Network(hidden=_UNITS, step=1e-3)
    network.update(selected(x, y, p=1.0))
    # AdaGrad's first step is step * sign(gradient) for each parameter, so the loss must fall.
    before = float(np.log1p(np.exp(-y[0] * Network(hidden=_UNITS, step=1e-3).score(x)[0])))
    assert np.log1p(np.exp(-y[0] * network.score(x)[0])) < before


def test_the_score_is_the_forward_pass() -> None:
    x, y, p = _data(50, seed=2)
    network = Network(hidden=_UNITS)
    network.update(selected(x, y, p))
    W, b, v, c = _parameters(network)
    expected = 1 / (1 + np.exp(-(x @ W + b))) @ v + c[0]
    np.testing.assert_allclose(network.score(x), expected, atol=1e-5)


def test_a_score_does_not_depend_on_what_it_is_computed_with() -> None:
    x, y, p = _data(50, seed=3)
    network = Network(hidden=_UNITS)
    network.update(selected(x, y, p))
    whole = network.score(x)
    for cut in range(1, 50):
        assert np.array_equal(whole[cut:], network.score(x[cut:]))


def test_units_that_only_fill_up_a_panel_stay_out_of_play() -> None:
    x, y, p = _data(200, seed=4)
    network = Network(hidden=_UNITS)
    network.update(selected(x, y, p))
    for name in ("weight", "bias", "out_weight"):
        assert not network.save()[name][..., _UNITS:].any()


def test_other_seeds_are_other_networks() -> None:
    x, y, p = _data(5, seed=5)
    digests: set[str] = set()
    for seed in range(3):
        network = Network(hidden=_UNITS, seed=seed)
        network.update(selected(x, y, p))
        digests.add(network.digest())
    assert len(digests) == 3


def test_it_learns_what_no_linear_model_can() -> None:
    x, y = two_moons(8000, noise=0.1, seed=6)
    network = Network(hidden=40, step=0.5)
    network.update(selected(x, y))
    assert np.mean((network.score(x) > 0) == (y > 0)) > 0.97


def test_saturated_units_leave_no_denormal_numbers_behind() -> None:
    # A processor takes ten times as long for them, and a large step saturates units early.
    digits = Digits(negative=(5,), positive=(3,), low=0.0).read(0, 30_000)
    network = Network(step=0.5)
    network.update(selected(digits.x, digits.y))
    for array in network.save().values():
        assert not np.any((array != 0) & (np.abs(array) < np.finfo(np.float32).tiny))


def test_features_that_are_not_finite_are_noticed() -> None:
    x, y, p = _data(50, seed=7)
    x[10, 3] = np.nan
    with pytest.raises(InputError, match=r"no longer finite.*scale the features"):
        Network(hidden=_UNITS).update(selected(x, y, p))


@pytest.mark.parametrize("options", [{"hidden": 0}, {"hidden": 2.5}, {"step": 0.0}, {"step": float("inf")}])
def test_bad_parameters_are_named(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(options))):
        Network(**options)
