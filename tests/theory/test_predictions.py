"""Predictions of finite classes: blocks, mistakes, and errors of the input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraactive.errors import InputError
from paraactive.theory import Iwal, Separators, Stumps, Thresholds, disagreement_coefficient, predictions
from paraactive.theory.predictions import as_labels, as_predictions

SEEDS = st.integers(0, 10**6)
NAN = float("nan")


@given(SEEDS, st.integers(1, 30), st.integers(2, 9))
def test_mistakes_are_counted_for_each_hypothesis(seed: int, points: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    matrix, y = rng.random((points, count)) < 0.5, rng.random(points) < 0.5
    expected = [sum(bool(matrix[t, h] != y[t]) for t in range(points)) for h in range(count)]
    assert as_predictions(matrix).mistakes(y).tolist() == expected
    assert as_predictions(np.where(matrix, 1, -1)).mistakes(np.where(y, 1, -1)).tolist() == expected
    for h in range(count):
        assert as_predictions(matrix).of(h).tolist() == matrix[:, h].tolist()


@pytest.mark.parametrize("cells", [1, 7, 20, 64, 10**6])
def test_nothing_depends_on_the_size_of_blocks(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    x, cuts = rng.random(203), Thresholds(rng.random(70))
    y = (x > 0.4) ^ (rng.random(203) < 0.1)
    matrix = cuts.on(x).rows(0, 203)

    def everything() -> list[Any]:
        laid = cuts.on(x)
        run = Iwal().run(laid, y, delays=9)
        return [
            laid.mistakes(y).tolist(), laid.of(13).tolist(), disagreement_coefficient(laid, 5),
            disagreement_coefficient(laid, 5, above=0.1), run.p.tolist(), run.errors.tolist(),
        ]  # fmt: skip

    expected = everything()
    monkeypatch.setattr(predictions, "_BLOCK_CELLS", cells)
    assert everything() == expected
    assert expected[0] == np.sum(matrix != y[:, None], axis=0).tolist()
    blocks = list(cuts.on(x).blocks())
    assert [where.start for where, _ in blocks] == [0, *(where.stop for where, _ in blocks[:-1])]
    assert blocks[-1][0].stop == 203
    assert np.array_equal(np.concatenate([rows for _, rows in blocks]), matrix)
    assert all(rows.size <= max(cells, 70) for _, rows in blocks)


def test_predictions_are_taken_as_they_are() -> None:
    laid = Thresholds([0.1, 0.2]).on([0.15])
    assert as_predictions(laid) is laid


# Bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "matrix",
    [[[1, 0], [1, 1]], [[1.0, NAN]], [[2, 1]], [["a", "b"]], [[1j, 1]], [[None, True]], [[0.5, -1]]],
    ids=["0", "nan", "2", "text", "complex", "none", "half"],
)
def test_predictions_are_signs(matrix: Any) -> None:
    with pytest.raises(InputError, match=r"the predictions are not all -1 or \+1.*booleans"):
        as_predictions(matrix)


@pytest.mark.parametrize("matrix", [[1, -1], 1, [[[1, -1]]]])
def test_predictions_are_a_matrix(matrix: Any) -> None:
    with pytest.raises(InputError, match=r"dimension.*give a matrix"):
        as_predictions(matrix)


@pytest.mark.parametrize("labels", [[0, 1], [1.0, NAN], [1, 2], ["a", "b"], [None, 1]])
def test_labels_are_signs(labels: Any) -> None:
    with pytest.raises(InputError, match=r"the labels are not all -1 or \+1"):
        as_labels(labels, 2)


@pytest.mark.parametrize("labels", [[1], [1, 1, 1], [[1, 1]], [[1], [1]], 1])
def test_there_is_one_label_for_each_point(labels: Any) -> None:
    with pytest.raises(InputError, match=r"labels of shape .* for 2 points"):
        as_labels(labels, 2)


def test_there_is_something_to_choose_from_and_something_to_see() -> None:
    for make in (
        lambda: Thresholds([0.5]).on([0.1]),
        lambda: Separators([[1.0]]).on([[1.0]]),
        lambda: Stumps([0], [0.5], [1]).on([[1.0]]),
        lambda: as_predictions([[1], [-1]]),
    ):
        with pytest.raises(InputError, match=r"the class has 1 hypothesis: learning chooses between two or more"):
            make()
    with pytest.raises(InputError, match="the class has 0 hypotheses"):
        as_predictions(np.ones((3, 0)))
    with pytest.raises(InputError, match="there are no points"):
        Thresholds([0.1, 0.2]).on([])


@pytest.mark.parametrize("number", [-1, 2, 0.5, True])
def test_a_hypothesis_is_named_by_its_number(number: Any) -> None:
    with pytest.raises(InputError, match="hypothesis is"):
        as_predictions([[1, -1]]).of(number)
