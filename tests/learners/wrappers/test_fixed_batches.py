"""FixedBatches of other libraries' models: rows at any place score the same, or are scored one by one."""

from __future__ import annotations

import copy
import pickle
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from paraactive.data.examples import Doubles, Floats
from paraactive.errors import InputError, SlowScoresWarning
from paraactive.learners.wrappers.fixed_batches import FixedBatches

X = np.random.default_rng(0).normal(size=(150, 6)).astype(np.float32)


def steady(tile: Floats) -> Doubles:
    return tile.astype(np.float64).sum(axis=1)


def rounds_by_place(tile: Floats) -> Doubles:
    """As MKL on some processors: the last rows of a tile fall to another loop."""
    scores = steady(tile)
    scores[len(tile) // 2 :] *= 1 + 1e-15 if len(tile) > 1 else 1
    return scores


def mixes(tile: Floats) -> Doubles:
    return steady(tile) - tile.mean()


def test_where_no_bit_depends_on_the_place_rows_are_scored_together():
    tiles = FixedBatches(64)
    assert (tiles.score(steady, X, ()) == steady(X)).all()
    assert tiles.rows == 64


def test_where_last_bits_do_rows_are_scored_one_by_one_with_a_warning_once():
    tiles = FixedBatches(64)
    with pytest.warns(SlowScoresWarning, match=r"one by one.*place among 64 rows"):
        scores = tiles.score(rounds_by_place, X, ())
    assert (scores == steady(X)).all()
    assert tiles.rows == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (tiles.score(rounds_by_place, X[7:30], ()) == scores[7:30]).all()


def test_where_rows_see_each_other_the_model_is_refused():
    with pytest.raises(InputError, match=r"depends on the rows.*tile=1"):
        FixedBatches(64).score(mixes, X, ())


def test_scores_that_are_not_finite_at_one_place_only_are_refused():
    def breaks(tile: Floats) -> Doubles:
        scores = steady(tile)
        scores[-1] = np.nan
        return scores

    with pytest.raises(InputError, match="depends on the rows"):
        FixedBatches(64).score(breaks, X, ())


def sent(tiles: FixedBatches) -> FixedBatches:
    return pickle.loads(pickle.dumps(tiles))


@pytest.mark.parametrize("through", [copy.deepcopy, sent])
def test_a_copy_tries_again_because_it_may_be_elsewhere(through: Callable[[FixedBatches], FixedBatches]) -> None:
    tiles = FixedBatches(64)
    with pytest.warns(SlowScoresWarning):
        tiles.score(rounds_by_place, X, ())
    again = through(tiles)
    assert (again.score(steady, X, ()) == steady(X)).all()
    assert again.rows == 64


def test_threads_that_share_a_model_wait_until_its_tiles_are_tried() -> None:
    tiles, x, found = FixedBatches(64), np.random.default_rng(0).normal(size=(500, 3)), list[Any]()
    threads = [threading.Thread(target=lambda: found.append(tiles.score(rounds_by_place, x, ()))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert all((each == x.sum(axis=1)).all() for each in found)
