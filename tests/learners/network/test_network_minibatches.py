"""The network with steps on several examples at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from learners.reference import plain_minibatch_step
from making import selected, three_blobs, two_moons
from paraactive import Arrays, Network, ParaActiveClassifier, replay, train
from paraactive.checks import check_learner
from paraactive.errors import InputError

_UNITS, _WIDTH, _SIZE = 30, 9, 7

losses = pytest.mark.parametrize("loss", ["logistic", "squared"])
classes_of = pytest.mark.parametrize("classes", [2, 3, 6])


def _arrays(network: Network, suffix: str = "") -> list[Any]:
    """W, b, V, c of the live units, in float64."""
    state = {name: array.astype(np.float64) for name, array in network.save().items()}
    units = [state[name + suffix][..., :_UNITS].copy() for name in ("weight", "bias", "out_weight")]
    return [*units, state["out_bias" + suffix].copy()]


def _data(count: int, classes: int, seed: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, _WIDTH)).astype(np.float32)
    y = np.argmax(x[:, :classes] + rng.normal(size=(count, classes)), axis=1)
    x[rng.random(x.shape) < 0.5] = 0
    return x, (2 * y - 1 if classes == 2 else y).astype(np.int8), rng.uniform(0.05, 1.0, count)


def _network(classes: int = 2, loss: str = "logistic", minibatch: int = _SIZE) -> Network:
    return Network(hidden=_UNITS, seed=3, loss=loss, classes=classes, minibatch=minibatch)


@losses
@classes_of
def test_it_takes_the_same_steps_as_the_plain_network(loss: str, classes: int) -> None:
    x, y, p = _data(20 * _SIZE, classes, seed=0)
    network = _network(classes, loss)
    network.update(selected(x[:_SIZE], y[:_SIZE], p[:_SIZE]))
    plain, squares = _arrays(network), _arrays(network, "_squares")
    network.update(selected(x[_SIZE:], y[_SIZE:], p[_SIZE:]))
    for first in range(_SIZE, 20 * _SIZE, _SIZE):
        rows = slice(first, first + _SIZE)
        plain_minibatch_step(plain, squares, x[rows].astype(np.float64), y[rows], 1 / p[rows], _SIZE, 0.07, loss)
    for ours, theirs in zip(_arrays(network), plain, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-3)
    for ours, theirs in zip(_arrays(network, "_squares"), squares, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-2, atol=1e-5)


@classes_of
def test_the_rest_that_a_round_ends_with_is_divided_by_the_whole_size(classes: int) -> None:
    x, y, p = _data(_SIZE + 3, classes, seed=1)
    network = _network(classes)
    network.update(selected(x, y, p))
    plain, squares = _arrays(network), _arrays(network, "_squares")
    network.end_round()
    plain_minibatch_step(plain, squares, x[_SIZE:].astype(np.float64), y[_SIZE:], 1 / p[_SIZE:], _SIZE, 0.07)
    for ours, theirs in zip(_arrays(network), plain, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_a_round_that_ends_without_a_rest_changes_nothing() -> None:
    network = _network()
    network.update(selected(*_data(2 * _SIZE, 2, seed=2)))
    before = network.digest()
    network.end_round()
    assert network.digest() == before


def test_examples_that_wait_are_part_of_the_state() -> None:
    data = selected(*_data(_SIZE + 2, 2, seed=3))
    network, loaded, ended = _network(), _network(), _network()
    network.update(data)
    loaded.load(network.save())
    ended.update(data.take(slice(0, _SIZE)))
    assert network.digest() == loaded.digest() != ended.digest()
    for each in (network, loaded):
        each.end_round()
    assert network.digest() == loaded.digest()


def test_minibatches_of_one_are_the_plain_network() -> None:
    data = selected(*_data(50, 2, seed=4))
    one, plain = _network(minibatch=1), Network(hidden=_UNITS, seed=3)
    one.update(data)
    plain.update(data)
    assert one.digest() == plain.digest()


@pytest.mark.parametrize("loss", ["logistic", "squared"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("minibatch", [2, 16])
def test_it_passes_the_public_checks(classes: int, minibatch: int, loss: str) -> None:
    check_learner(lambda: Network(hidden=20, minibatch=minibatch, loss=loss), width=5, classes=classes)


def test_it_learns_what_no_linear_model_can() -> None:
    x, y = two_moons(8000, noise=0.1, seed=6)
    network = Network(hidden=40, step=0.5, minibatch=10)
    network.update(selected(x, y))
    assert np.mean((network.score(x) > 0) == (y > 0)) > 0.97


def test_a_run_file_knows_the_minibatch(tmp_path: Any) -> None:
    x, y = three_blobs(900, seed=7)
    run = train(
        Network(hidden=10, minibatch=8),
        Arrays(x, y),
        rule="gradient",
        warmstart=100,
        batch=100,
        out=tmp_path / "run.db",
    )
    again = replay(tmp_path / "run.db", stream=Arrays(x, y))
    assert again.learner.digest() == run.learner.digest()
    assert again.learner.describe()["minibatch"] == 8


def test_the_estimator_takes_it() -> None:
    x, y = two_moons(2000, noise=0.1, seed=8)
    model = ParaActiveClassifier(Network(hidden=30, step=0.3, minibatch=4), rule="gradient", nodes=1).fit(x, y)
    assert model.score(x, y) > 0.8


def test_features_that_are_not_finite_are_noticed() -> None:
    x, y, p = _data(_SIZE, 2, seed=9)
    x[2, 3] = np.nan
    with pytest.raises(InputError, match=r"no longer finite.*scale the features"):
        _network().update(selected(x, y, p))


def test_rows_of_another_width_are_refused_before_they_wait() -> None:
    network = _network()
    network.update(selected(*_data(_SIZE, 2, seed=10)))
    with pytest.raises(InputError, match="9 features"):
        network.update(selected(np.zeros((3, 5), np.float32), np.ones(3, np.int8)))


def test_bad_sizes_are_named() -> None:
    with pytest.raises(InputError, match="minibatch"):
        Network(minibatch=0)
