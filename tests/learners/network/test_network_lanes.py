"""Products and steps over rows of units, for every number of lanes, compared with plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit

from paraactive.learners.network import network_lanes
from paraactive.learners.network.network_lanes import (
    ROWS,
    TINY_SQUARE,
    VANISHED,
    adagrad_row,
    four_products,
    one_product,
)
from paraactive.learners.simd.functions import fma, inverse_sqrt

lanes_of = pytest.mark.parametrize("lanes", [8, 16, 24, 32, 40, 48, 64, 72, 88, 96, 104, 112, 120, 128, 200, 216])


@njit
def _chains(x: Any, matrix: Any, lanes: Any) -> Any:
    """The sums one by one, zeros and all."""
    out = np.zeros((x.shape[0], lanes), np.float32)
    for row in range(x.shape[0]):
        for lane in range(lanes):
            for k in range(x.shape[1]):
                out[row, lane] = fma(x[row, k], matrix[k, lane], out[row, lane])
    return out


@njit
def _plain_adagrad(parameter: Any, squares: Any, factor: Any, direction: Any, step: Any) -> None:
    for h in range(parameter.shape[0]):
        gradient = factor * direction[h]
        total = fma(gradient, gradient, squares[h])
        squares[h] = total
        parameter[h] -= step * gradient * inverse_sqrt(total + np.float32(TINY_SQUARE))


def _drawn(seed: int, lanes: int) -> tuple[Any, Any, int]:
    rng = np.random.default_rng(seed)
    columns = -(-lanes // 24) * 24  # Whole panels, as the network has them.
    x = rng.normal(size=(ROWS + 2, 19)).astype(np.float32)
    x[rng.random(x.shape) < 0.5] = 0
    return x, rng.normal(size=(19, columns)).astype(np.float32), columns


@lanes_of
def test_four_rows_have_the_bits_of_a_plain_chain(lanes: int) -> None:
    x, matrix, columns = _drawn(lanes, lanes)
    inputs, out = np.flatnonzero(x[2:].any(axis=0)), np.full((ROWS, columns), np.nan, np.float32)
    four_products(x, 2, inputs, len(inputs), matrix, lanes, out)
    assert np.array_equal(out[:, :lanes], _chains(x[2:], matrix, lanes))


@lanes_of
def test_one_row_has_them_too(lanes: int) -> None:
    x, matrix, columns = _drawn(lanes, lanes)
    inputs, out = np.flatnonzero(x[0]), np.full((1, columns), np.nan, np.float32)
    one_product(np.ascontiguousarray(x[:1, inputs]), inputs, len(inputs), matrix, lanes, out)
    assert np.array_equal(out[:, :lanes], _chains(x[:1], matrix, lanes))


@pytest.mark.parametrize(("rows", "parts", "width"), [(1, 12, 8), (4, 3, 8), (1, 7, 16), (4, 4, 16), (4, 3, 16)])
def test_every_processor_s_way_has_them(rows: int, parts: int, width: int) -> None:
    product = network_lanes._listed_product(rows, parts, width)  # pyright: ignore[reportPrivateUsage]
    x, matrix, _ = _drawn(0, parts * width)

    @njit
    def run(x: Any, inputs: Any, matrix: Any, out: Any) -> None:
        product(x, 0, inputs, len(inputs), matrix, 0, out)

    out = np.zeros((rows, matrix.shape[1]), np.float32)
    run(x[:rows], np.arange(19), matrix, out)
    assert np.array_equal(out[:, : parts * width], _chains(x[:rows], matrix, parts * width))


def test_no_inputs_sum_up_to_zero() -> None:
    _, matrix, columns = _drawn(1, 104)
    out = np.full((1, columns), np.nan, np.float32)
    one_product(np.zeros((1, 1), np.float32), np.zeros(1, np.int64), 0, matrix, 104, out)
    assert not out[0, :104].any()


@lanes_of
def test_a_step_has_the_bits_of_the_plain_one(lanes: int) -> None:
    rng = np.random.default_rng(lanes)
    parameters, squares = rng.normal(size=(3, 216)).astype(np.float32), rng.random((3, 216)).astype(np.float32)
    direction, factor, step = rng.normal(size=216).astype(np.float32), np.float32(0.3), np.float32(0.07)
    ours = parameters.copy(), squares.copy()
    adagrad_row(*ours, 1, factor, direction, step, lanes)
    _plain_adagrad(parameters[1, :lanes], squares[1, :lanes], factor, direction[:lanes], step)
    assert np.array_equal(ours[0], parameters)
    assert np.array_equal(ours[1], squares)


def test_gradients_whose_squares_would_be_denormal_are_taken_for_zero() -> None:
    direction = np.array([VANISHED / 2, -VANISHED / 2, 2 * VANISHED, np.nan] + [0.0] * 4, np.float32)
    parameters, squares = np.ones((1, 24), np.float32), np.zeros((1, 24), np.float32)
    adagrad_row(parameters, squares, 0, np.float32(1), direction, np.float32(1), 8)
    assert squares[0, :3].tolist() == [0.0, 0.0, pytest.approx(4e-36)]
    assert squares[0, 2] > np.finfo(np.float32).tiny
    assert np.isnan(parameters[0, 3])
