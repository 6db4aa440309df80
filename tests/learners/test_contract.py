"""What every learner promises, tried on every learner."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from making import selected, two_moons
from paraactive import LaSVM, Network
from paraactive.errors import InputError
from paraactive.learners import Learner
from paraactive.state import pack, unpack

_LEARNERS: dict[str, Callable[[], Learner]] = {
    "rbf": lambda: LaSVM(gamma=1.0, gap=0.1),
    "linear": lambda: LaSVM(kernel="linear"),
    "poly": lambda: LaSVM(kernel="poly", gamma=0.5, coef0=1.0),
    "network": lambda: Network(hidden=20),
    "aware network": lambda: Network(hidden=20, importance_aware=True),
    "squared network": lambda: Network(hidden=20, loss="squared"),
    "aware squared network": lambda: Network(hidden=20, loss="squared", importance_aware=True),
}
X, Y = two_moons(300, noise=0.3, seed=0)
P = np.random.default_rng(1).uniform(0.05, 1.0, 300)
ALL = selected(X, Y, P)


@pytest.fixture(params=_LEARNERS)
def new(request: pytest.FixtureRequest) -> Callable[[], Learner]:
    return _LEARNERS[request.param]


def test_an_untrained_learner_scores_zero(new: Callable[[], Learner]) -> None:
    assert not new().score(X).any()


def test_scoring_does_not_change_the_model(new: Callable[[], Learner]) -> None:
    learner = new()
    learner.update(ALL)
    before, first = learner.digest(), learner.score(X)
    assert np.array_equal(first, learner.score(X))
    assert learner.digest() == before


def test_updating_is_deterministic(new: Callable[[], Learner]) -> None:
    one, other = new(), new()
    for learner in (one, other):
        learner.update(ALL)
        learner.end_round()
    assert one.digest() == other.digest()


@given(cuts=st.sets(st.integers(1, 299), max_size=12))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_model_does_not_depend_on_how_entries_were_grouped(new: Callable[[], Learner], cuts: set[int]) -> None:
    whole, pieces = new(), new()
    whole.update(ALL)
    edges = [0, *sorted(cuts), 300]
    for first, last in pairwise(edges):
        pieces.update(ALL.take(slice(first, last)))
    assert pieces.digest() == whole.digest()


def test_one_by_one_equals_all_at_once(new: Callable[[], Learner]) -> None:
    whole, single = new(), new()
    whole.update(ALL)
    for i in range(300):
        single.update(ALL.take(slice(i, i + 1)))
    assert single.digest() == whole.digest()


def test_a_saved_learner_goes_on_as_if_it_had_never_been_saved(new: Callable[[], Learner]) -> None:
    straight, saved, loaded = new(), new(), new()
    straight.update(ALL)
    straight.end_round()
    saved.update(ALL.take(slice(0, 170)))
    loaded.load(unpack(pack(saved.save())))
    assert loaded.digest() == saved.digest()
    assert np.array_equal(loaded.score(X), saved.score(X))
    loaded.update(ALL.take(slice(170, 300)))
    loaded.end_round()
    assert loaded.digest() == straight.digest()


def test_an_untrained_learner_can_be_saved(new: Callable[[], Learner]) -> None:
    loaded = new()
    loaded.load(unpack(pack(new().save())))
    loaded.update(ALL)
    straight = new()
    straight.update(ALL)
    assert loaded.digest() == straight.digest()


def test_saving_is_a_copy(new: Callable[[], Learner]) -> None:
    learner = new()
    learner.update(ALL.take(slice(0, 100)))
    state, before = learner.save(), learner.digest()
    learner.update(ALL.take(slice(100, 300)))
    again = new()
    again.load(state)
    assert again.digest() == before


def test_loading_is_a_copy(new: Callable[[], Learner]) -> None:
    learner, one, other = new(), new(), new()
    learner.update(ALL.take(slice(0, 100)))
    state = learner.save()
    one.load(state)
    other.load(state)
    one.update(ALL.take(slice(100, 300)))
    assert other.digest() == learner.digest()


def test_rows_may_come_as_lists_or_in_float64(new: Callable[[], Learner]) -> None:
    learner: Any = new()
    learner.update(ALL)
    expected = learner.score(X[:3])
    assert np.array_equal(learner.score(X[:3].astype(np.float64)), expected)
    assert np.array_equal(learner.score(X[:3].tolist()), expected)


def test_a_description_makes_the_same_learner(new: Callable[[], Learner]) -> None:
    learner = new()
    twin = type(learner)(**learner.describe())
    for each in (learner, twin):
        each.update(ALL)
        each.end_round()
    assert learner.digest() == twin.digest()


def test_rows_of_another_width_are_an_error(new: Callable[[], Learner]) -> None:
    learner = new()
    learner.update(ALL)
    with pytest.raises(InputError, match="2 features"):
        learner.score(np.zeros((3, 5), np.float32))
    with pytest.raises(InputError, match="2 features"):
        learner.update(selected(np.zeros((3, 5), np.float32), Y[:3]))


def test_weights_matter(new: Callable[[], Learner]) -> None:
    light, heavy = new(), new()
    light.update(selected(X, Y, 1.0))
    heavy.update(selected(X, Y, np.where(Y > 0, 0.05, 1.0)))
    # Heavier positive examples draw the boundary towards the negative side.
    assert heavy.score(X).mean() > light.score(X).mean()


def test_no_rows_is_no_work(new: Callable[[], Learner]) -> None:
    learner = new()
    learner.update(ALL)
    assert learner.score(X[:0]).shape == (0,)
