"""The network on rows without their zeros: to the bit what it is on dense ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from making import selected
from paraactive import Network
from paraactive.data.examples import Selected, SparseRows
from paraactive.errors import InputError

_WIDTH = 40

networks = pytest.mark.parametrize(
    "options",
    [
        {},
        {"loss": "squared"},
        {"hidden": 100},
        {"classes": 3},
        {"classes": 7, "loss": "squared"},
        {"minibatch": 5},
        {"minibatch": 32, "classes": 3},
    ],
    ids=str,
)


def _data(count: int, classes: int, seed: int) -> tuple[Selected, Selected]:
    """The same examples, dense and sparse; some rows have nothing but zeros."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, _WIDTH)).astype(np.float32)
    x[rng.random(x.shape) < 0.8] = 0
    x[::11] = 0
    y = rng.integers(0, classes, count)
    dense = selected(x, (2 * y - 1 if classes == 2 else y).astype(np.int8), rng.uniform(0.05, 1.0, count))
    return dense, Selected.weighted(SparseRows.of(x), dense.examples.y, dense.weight)


def _trained(options: dict[str, Any], on: Selected) -> Network:
    parameters: dict[str, Any] = {"hidden": 20} | options
    network = Network(**parameters)
    for first in range(0, len(on), 37):
        network.update(on.take(slice(first, first + 37)))
    network.end_round()
    return network


@networks
def test_it_learns_to_the_bit_what_dense_rows_teach(options: dict[str, Any]) -> None:
    dense, sparse = _data(211, options.get("classes", 2), seed=0)
    assert _trained(options, sparse).digest() == _trained(options, dense).digest()


@networks
def test_it_scores_to_the_bit_as_dense_rows_do(options: dict[str, Any]) -> None:
    dense, sparse = _data(150, options.get("classes", 2), seed=1)
    network = _trained(options, dense)
    whole = network.score(dense.examples.x)
    assert np.array_equal(network.score(sparse.examples.x), whole)
    for cut in range(1, 40):
        assert np.array_equal(network.score(sparse.examples.x[cut : cut + 9]), whole[cut : cut + 9])


def test_before_it_has_learnt_sparse_rows_score_zero() -> None:
    assert Network().score(_data(6, 2, seed=2)[1].examples.x).tolist() == [0.0] * 6


def test_sparse_rows_of_another_width_are_an_error() -> None:
    dense, _ = _data(30, 2, seed=3)
    network = _trained({}, dense)
    other = SparseRows.of(np.eye(3, dtype=np.float32))
    with pytest.raises(InputError, match="40 features"):
        network.score(other)
    with pytest.raises(InputError, match="40 features"):
        network.update(Selected.weighted(other, np.ones(3, np.int8)))
