"""The coin of each example depends on the seed and the position alone."""

from __future__ import annotations

import numpy as np

from paraactive.basics.coins import coins


def test_a_coin_depends_on_the_seed_and_the_position_alone() -> None:
    index = np.array([5, 10**9, 3, 2**40])
    together = coins(7, index)
    assert [float(coins(7, index[i : i + 1])[0]) for i in range(4)] == together.tolist()
    assert not np.any(coins(8, index) == together)


def test_coins_are_uniform_and_independent_of_their_neighbours() -> None:
    u = coins(0, np.arange(200_000))
    counts = np.histogram(u, bins=100, range=(0, 1))[0]
    assert np.sum((counts - 2000) ** 2 / 2000) < 99 + 5 * np.sqrt(2 * 99)
    for lag in (1, 2, 64, 4096):
        assert abs(np.corrcoef(u[:-lag], u[lag:])[0, 1]) < 5 / np.sqrt(200_000)
