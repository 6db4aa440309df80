"""Rules that ignore the score."""

from __future__ import annotations

import numpy as np
import pytest

from paraactive.rules import Passive, Uniform


@pytest.mark.parametrize(("rule", "p"), [(Uniform(0.3), 0.3), (Uniform(), 0.02), (Passive(), 1.0)], ids=repr)
@pytest.mark.parametrize("shape", [(40,), (40, 3)])
def test_every_example_has_the_same_probability(rule: Uniform | Passive, p: float, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    assert rule.probability(rng.normal(0, 100, shape), rng.integers(0, 10**9, 40)).tolist() == [p] * 40
    assert not rule.needs_scores


def test_passive_is_uniform_at_rate_1() -> None:
    score, seen = np.zeros(5), np.zeros(5, np.int64)
    assert Passive().probability(score, seen).tolist() == Uniform(1).probability(score, seen).tolist()
