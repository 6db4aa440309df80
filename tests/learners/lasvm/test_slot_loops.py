from __future__ import annotations

import numpy as np
import pytest

from paraactive.learners.lasvm.gradient_loops import DOWN, NONE, UP
from paraactive.learners.lasvm.slot_loops import BIAS, GAP, Slots, derive, free_directions, note_extremes, set_alpha

MACHINES, SIZE, COUNT = 3, 16, 11


@pytest.fixture
def slots() -> Slots:
    """Slots with alphas at both bounds and between them."""
    rng = np.random.default_rng(0)
    side = rng.choice([-1.0, 1.0], (MACHINES, SIZE))
    lower, upper = np.minimum(side, 0.0), np.maximum(side, 0.0)
    alpha = side * rng.choice([0.0, 0.5, 1.0], (MACHINES, SIZE))
    alpha[:, 4] = 0.0
    keys = np.arange(SIZE)
    return Slots(alpha, rng.normal(size=(MACHINES, SIZE)), lower, upper, keys, keys.copy(), np.zeros((2, MACHINES)))


def test_an_alpha_may_move_away_from_a_bound_only() -> None:
    assert free_directions(0.0, 0.0, 1.0) == UP
    assert free_directions(1.0, 0.0, 1.0) == DOWN
    assert free_directions(0.5, 0.0, 1.0) == UP | DOWN
    assert free_directions(0.0, 0.0, 0.0) == 0


def test_what_follows_from_the_alphas_is_that_of_a_plain_search(slots: Slots) -> None:
    derived = derive(COUNT, slots)
    alpha, g = slots.alpha[:, :COUNT], slots.g[:, :COUNT]
    up, down = alpha < slots.upper[:, :COUNT], alpha > slots.lower[:, :COUNT]
    for m in range(MACHINES):
        pair = np.argmax(np.where(up[m], g[m], -np.inf)), np.argmin(np.where(down[m], g[m], np.inf))
        assert tuple(derived.pairs[2 * m : 2 * m + 2]) == pair
    busy = (alpha != 0).sum(axis=0)
    assert np.array_equal(derived.busy[:COUNT], busy)
    assert set(derived.idle[: derived.idle_count[0]]) == set(np.flatnonzero(busy == 0))
    assert note_extremes(slots, derived)
    high, low = np.where(up, g, -np.inf).max(axis=1), np.where(down, g, np.inf).min(axis=1)
    assert np.array_equal(slots.extremes[GAP], high - low)
    assert np.array_equal(slots.extremes[BIAS], 0.5 * (high + low))


def test_alphas_that_are_set_one_by_one_leave_what_follows_from_all(slots: Slots) -> None:
    derived, rng = derive(COUNT, slots), np.random.default_rng(1)
    for _ in range(200):
        m, s = int(rng.integers(MACHINES)), int(rng.integers(COUNT))
        bound = slots.lower[m, s] + slots.upper[m, s]
        set_alpha(m, s, bound * float(rng.choice([0.0, 0.5, 1.0])), slots, derived)
    again = derive(COUNT, slots)
    assert np.array_equal(derived.free, again.free)
    assert np.array_equal(derived.busy, again.busy)
    idle = derived.idle[: derived.idle_count[0]]
    assert sorted(idle) == sorted(again.idle[: again.idle_count[0]])
    assert [derived.idle_at[s] for s in idle] == list(range(len(idle)))
    assert np.count_nonzero(derived.idle_at[:COUNT] != NONE) == len(idle)
