"""What every learner promises, tried on every learner: the public checks, and what they do not ask."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from making import OUR_LEARNERS, selected, two_moons
from paraactive.checks import check_learner
from paraactive.errors import InputError
from paraactive.learners import Learner

X, Y = two_moons(300, noise=0.3, seed=0)
P = np.random.default_rng(1).uniform(0.05, 1.0, 300)
ALL = selected(X, Y, P)


@pytest.fixture(params=OUR_LEARNERS)
def new(request: pytest.FixtureRequest) -> Callable[[], Learner]:
    return OUR_LEARNERS[request.param]


def test_an_untrained_learner_scores_zero(new: Callable[[], Learner]) -> None:
    assert not new().score(X).any()


def test_it_passes_the_public_checks(new: Callable[[], Learner]) -> None:
    check_learner(new, width=2)


@given(cuts=st.sets(st.integers(1, 299), max_size=12))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_model_does_not_depend_on_how_entries_were_grouped(new: Callable[[], Learner], cuts: set[int]) -> None:
    whole, pieces = new(), new()
    whole.update(ALL)
    edges = [0, *sorted(cuts), 300]
    for first, last in pairwise(edges):
        pieces.update(ALL.take(slice(first, last)))
    assert pieces.digest() == whole.digest()


def test_rows_may_come_as_lists_or_in_float64(new: Callable[[], Learner]) -> None:
    learner: Any = new()
    learner.update(ALL)
    expected = learner.score(X[:3])
    assert np.array_equal(learner.score(X[:3].astype(np.float64)), expected)
    assert np.array_equal(learner.score(X[:3].tolist()), expected)


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
