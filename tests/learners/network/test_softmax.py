"""The network with more than two classes."""

from __future__ import annotations

import copy
from typing import Any, cast

import numpy as np
import pytest

from learners.reference import plain_outputs, plain_softmax_loss, plain_softmax_step
from making import selected, two_moons
from paraactive import Network
from paraactive.checks import check_learner
from paraactive.errors import InputError
from paraactive.learners.network import network_loops

_UNITS, _CLASSES, _WIDTH = 30, 4, 9
_NAMES = ("weight", "bias", "out_weight", "out_bias")

losses = pytest.mark.parametrize("loss", ["logistic", "squared"])


def _arrays(network: Network, suffix: str = "") -> list[Any]:
    """W, b, V, c of the live units, in float64."""
    state = {name: array.astype(np.float64) for name, array in network.save().items()}
    units = [state[name + suffix][..., :_UNITS].copy() for name in _NAMES[:3]]
    return [*units, state["out_bias" + suffix].copy()]


def _data(count: int, seed: int) -> tuple[Any, Any, Any]:
    """Rows, many of them with zeros; labels that can be learnt, in part; probabilities."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, _WIDTH)).astype(np.float32)
    y = np.argmax(x[:, :_CLASSES] + rng.normal(size=(count, _CLASSES)), axis=1).astype(np.int8)
    x[rng.random(x.shape) < 0.4] = 0
    return x, y, rng.uniform(0.05, 1.0, count)


def _trained(loss: str = "logistic", count: int = 300) -> Network:
    network = Network(hidden=_UNITS, seed=3, loss=loss, classes=_CLASSES)
    network.update(selected(*_data(count, seed=0)))
    return network


def _blobs(count: int, seed: int) -> tuple[Any, Any]:
    """Three round heaps at the corners of a triangle."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, count)
    x = np.array([[0, 2], [-2, -1], [2, -1]])[y] + rng.normal(scale=0.6, size=(count, 2))
    return x.astype(np.float32), y.astype(np.int8)


# What it learns ---------------------------------------------------------------------------------------------------


@losses
def test_it_takes_the_same_steps_as_the_plain_network(loss: str) -> None:
    x, y, p = _data(400, seed=1)
    network = Network(hidden=_UNITS, seed=3, loss=loss, classes=_CLASSES)
    network.update(selected(x[:1], y[:1], p[:1]))
    plain, squares = _arrays(network), _arrays(network, "_squares")
    for first in range(1, 400, 57):
        rows = slice(first, min(first + 57, 400))
        network.update(selected(x[rows], y[rows], p[rows]))
        for i in range(rows.start, rows.stop):
            plain_softmax_step(plain, squares, x[i].astype(np.float64), y[i], 1 / p[i], 0.07, loss)
        for ours, theirs in zip(_arrays(network), plain, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-3)
        for ours, theirs in zip(_arrays(network, "_squares"), squares, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-2, atol=1e-5)


@losses
@pytest.mark.parametrize("weight", [1.0, 7.0, 1e4])
def test_one_step_from_a_trained_network_is_the_step_of_the_reference(loss: str, weight: float) -> None:
    x, y, _ = _data(20, seed=2)
    for i in range(20):
        network = _trained(loss)
        plain, squares = _arrays(network), _arrays(network, "_squares")
        network.update(selected(x[i : i + 1], y[i : i + 1], 1 / weight))
        plain_softmax_step(plain, squares, x[i].astype(np.float64), y[i], weight, 0.07, loss)
        for ours, theirs in zip(_arrays(network), plain, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-5)
        for ours, theirs in zip(_arrays(network, "_squares"), squares, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)


@losses
@pytest.mark.parametrize("weight", [1.0, 7.0])
def test_the_gradient_is_that_of_the_weighted_loss(loss: str, weight: float) -> None:
    x, y, _ = _data(5, seed=3)
    for row, label in zip(x, y, strict=True):
        network = _trained(loss)
        # From sums of 0, a step leaves the squares of its gradient there, and goes against the gradient's sign.
        network.load({name: array * (not name.endswith("_squares")) for name, array in network.save().items()})
        before = _arrays(network)
        network.update(selected(row[None], np.array([label]), 1 / weight))
        for number, (now, then, square) in enumerate(
            zip(_arrays(network), before, _arrays(network, "_squares"), strict=True)
        ):
            gradient = np.sign(then - now) * np.sqrt(square)
            expected = weight * _by_differences(before, number, row.astype(np.float64), label, loss)
            np.testing.assert_allclose(gradient, expected, rtol=1e-3, atol=1e-5 * weight)


def _by_differences(parameters: list[Any], number: int, x: Any, label: int, loss: str) -> Any:
    """The loss's derivatives by one array of parameters."""
    gradient, small = np.zeros_like(parameters[number]), 1e-5
    for place in np.ndindex(gradient.shape):
        above, below = copy.deepcopy(parameters), copy.deepcopy(parameters)
        above[number][place] += small
        below[number][place] -= small
        rise = plain_softmax_loss(above, x, label, loss) - plain_softmax_loss(below, x, label, loss)
        gradient[place] = rise / (2 * small)
    return gradient


@losses
def test_it_learns_three_blobs(loss: str) -> None:
    network = Network(hidden=20, loss=loss, classes=3)
    network.update(selected(*_blobs(2000, seed=0)))
    x, y = _blobs(1000, seed=1)
    assert np.mean(network.score(x).argmax(axis=1) == y) > 0.98


def test_it_has_as_many_classes_as_there_are_labels() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 127, 5000).astype(np.int8)
    x = np.eye(127, dtype=np.float32)[y]
    network = Network(hidden=50, step=0.3, classes=127)
    network.update(selected(x, y))
    assert np.mean(network.score(x).argmax(axis=1) == y) > 0.98


def test_scores_that_are_far_apart_do_not_overflow() -> None:
    network, (x, _, _) = _trained(), _data(4, seed=4)
    state = network.save()
    state["out_bias"] = np.array([3e4, -3e4, 0, 1e30], np.float32)
    network.load(state)
    network.update(selected(x, np.arange(4, dtype=np.int8)))
    assert all(np.isfinite(array).all() for array in network.save().values())


def test_large_scores_are_told_apart_by_their_differences() -> None:
    network, (x, _, _) = _trained(), _data(1, seed=4)
    state = {name: array * (not name.endswith("_squares")) for name, array in network.save().items()}
    state["out_bias"] = np.array([201, 200, 199, -300], np.float32)
    network.load(state)
    plain, squares = _arrays(network), _arrays(network, "_squares")
    network.update(selected(x, np.ones(1, np.int8)))
    plain_softmax_step(plain, squares, x[0].astype(np.float64), 1, 1.0, 0.07)
    np.testing.assert_allclose(_arrays(network, "_squares")[3], squares[3], rtol=1e-3, atol=1e-30)


def test_a_step_keeps_its_digits_where_the_network_is_sure() -> None:
    network, (x, _, _) = _trained(), _data(1, seed=5)
    state = {name: array * (not name.endswith("_squares")) for name, array in network.save().items()}
    state["out_bias"] = np.array([30, 0, 0, 0], np.float32)
    network.load(state)
    plain, squares = _arrays(network), _arrays(network, "_squares")
    network.update(selected(x, np.zeros(1, np.int8), 1e-12))
    plain_softmax_step(plain, squares, x[0].astype(np.float64), 0, 1e12, 0.07)
    # In float32 the softmax itself is 1 here, and its distance from 1 would be lost.
    np.testing.assert_allclose(_arrays(network, "_squares")[3], squares[3], rtol=1e-4)


# Scores -----------------------------------------------------------------------------------------------------------


def test_the_score_is_the_forward_pass() -> None:
    network, (x, _, _) = _trained(), _data(50, seed=6)
    np.testing.assert_allclose(network.score(x), plain_outputs(_arrays(network), x), atol=1e-5)


def test_a_score_does_not_depend_on_what_it_is_computed_with() -> None:
    network, (x, _, _) = _trained(), _data(50, seed=6)
    whole = network.score(x)
    for cut in range(1, 50):
        assert np.array_equal(whole[cut:], network.score(x[cut:]))


def test_there_is_a_score_of_zero_for_each_class_before_the_first_update() -> None:
    score = Network(classes=5).score(np.ones((3, 2)))
    assert score.shape == (3, 5)
    assert not score.any()


def test_units_that_only_fill_up_a_panel_stay_out_of_play() -> None:
    state = _trained().save()
    for name in _NAMES[:3]:
        assert not state[name][..., _UNITS:].any()


# Two classes and more ---------------------------------------------------------------------------------------------


@losses
@pytest.mark.parametrize("classes", [2, 3])
def test_it_passes_the_public_checks(loss: str, classes: int) -> None:
    check_learner(lambda: Network(hidden=20, loss=loss), classes=classes)


def test_one_compiled_loop_serves_two_classes_and_more() -> None:
    x, y, p = _data(5, seed=7)
    two, four = Network(hidden=_UNITS), Network(hidden=_UNITS, classes=_CLASSES)
    two.update(selected(x, np.where(y > 0, 1, -1).astype(np.int8), p))
    two.score(x)
    learn, forward = cast(Any, network_loops.learn), cast(Any, network_loops.forward)
    compiled = list(learn.signatures), list(forward.signatures)
    four.update(selected(x, y, p))
    four.score(x)
    assert (list(learn.signatures), list(forward.signatures)) == compiled


@losses
def test_no_classes_are_two_classes(loss: str) -> None:
    x, y = two_moons(100, noise=0.2, seed=0)
    none, two = Network(loss=loss), Network(loss=loss, classes=2)
    for network in (none, two):
        network.update(selected(x, y))
    assert none.digest() == two.digest()
    assert none.classes is None


def test_the_number_of_classes_may_be_said_later_but_not_after_learning() -> None:
    network = Network(hidden=_UNITS)
    network.classes = _CLASSES
    assert network.describe()["classes"] == _CLASSES
    network.update(selected(*_data(10, seed=8)))
    network.classes = _CLASSES
    for other in (None, 2, 5):
        with pytest.raises(InputError, match=f"classes is {other or 2}, and the network has learned 4 classes"):
            network.classes = other
    assert network.score(np.zeros((1, _WIDTH))).shape == (1, _CLASSES)


def test_a_loaded_network_has_the_classes_of_the_saved_one() -> None:
    saved, loaded = _trained(), Network(hidden=_UNITS)
    loaded.load(saved.save())
    assert loaded.classes == _CLASSES
    x, _, _ = _data(7, seed=9)
    assert np.array_equal(loaded.score(x), saved.score(x))


def test_weights_of_another_number_of_classes_are_not_loaded() -> None:
    state, network = _trained().save(), Network(classes=2)
    with pytest.raises(InputError, match="classes is 2, and the network has learned 4 classes"):
        network.load(state)
    assert not network.save()


# Mistakes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [1, 0, -3, 128, 2.5, "3", True])
def test_a_number_of_classes_that_cannot_be_is_named(classes: Any) -> None:
    with pytest.raises(InputError, match="classes is "):
        Network(classes=classes)
    network = Network()
    with pytest.raises(InputError, match="classes is "):
        network.classes = classes
    assert network.classes is None


@pytest.mark.parametrize(
    ("classes", "label"), [(3, 3), (3, -1), (3, 127), (3, -128), (127, 127), (2, 0), (2, 2), (2, -128), (None, 0)]
)
def test_labels_of_other_classes_are_an_error_and_change_nothing(classes: int | None, label: int) -> None:
    x, y = np.ones((3, 2), np.float32), np.array([1, 1, label], np.int8)
    network = Network(classes=classes)
    with pytest.raises(InputError, match=f"an example has label {label}: the network is for {classes or 2} classes"):
        network.update(selected(x, y))
    assert not network.save()
    network.update(selected(x[:2], y[:2]))
    before = network.digest()
    with pytest.raises(InputError, match=f"an example has label {label}"):
        network.update(selected(x, y))
    assert network.digest() == before


@losses
def test_features_that_are_not_finite_are_noticed(loss: str) -> None:
    x, y, p = _data(50, seed=10)
    x[10, 3] = np.nan
    with pytest.raises(InputError, match=r"no longer finite.*scale the features"):
        Network(hidden=_UNITS, loss=loss, classes=_CLASSES).update(selected(x, y, p))
