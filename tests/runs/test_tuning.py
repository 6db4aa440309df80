from __future__ import annotations

import numpy as np

from making import two_moons
from paraactive import Arrays, LaSVM, Network, ParaActiveClassifier
from paraactive.learners import Standardized
from paraactive.learners.standardized import innermost
from paraactive.runs.tuning import MOST_EXAMPLES, tune


def _waves(count: int) -> tuple[np.ndarray, np.ndarray]:
    """A task that needs a narrow kernel: gamma="scale" is too wide."""
    x = np.random.default_rng(0).uniform(-3, 3, (count, 2)).astype(np.float32)
    return x, np.sin(4 * x[:, 0]) * np.sin(4 * x[:, 1]) > 0


def test_the_candidate_with_the_smallest_error_on_unseen_examples_is_chosen() -> None:
    x, y = _waves(3000)
    tuned = tune(LaSVM(gap=0.2), Arrays(x, y).read(0, 3000), classes=2)
    inner = innermost(tuned.learner)
    assert isinstance(inner, LaSVM)
    errors = [tried.error.value for tried in tuned.tried]
    assert errors[:4] == sorted(errors[:4])
    assert errors[4:] == sorted(errors[4:])
    assert len(errors) == 9
    assert errors[0] < errors[-1]
    assert [tried.examples for tried in tuned.tried] == [MOST_EXAMPLES] * 4 + [MOST_EXAMPLES // 3] * 5
    assert tuned.tried[0].learner == f"LaSVM(C={inner.C:g}, gamma={inner.gamma:g})"
    assert not inner.vectors


def test_the_learner_that_is_given_stays_as_it_was_and_wrappers_stay_around() -> None:
    x, y = two_moons(800, noise=0.2, seed=1)
    given = Standardized(LaSVM(gap=0.2))
    before = given.digest()
    tuned = tune(given, Arrays(x * np.array([1, 1000]), y).read(0, 800), classes=2)
    assert isinstance(tuned.learner, Standardized)
    assert given.digest() == before
    assert tuned.tried[0].error.value < 0.1


def test_a_network_can_be_a_candidate_and_other_learners_stay() -> None:
    x, y = two_moons(600, noise=0.2, seed=1)
    early = Arrays(x, y).read(0, 600)
    assert len(tune(LaSVM(), early, classes=2, or_network=True).tried) == 10
    alone = tune(Network(hidden=5), early, classes=2)
    assert len(alone.tried) == 1
    assert isinstance(alone.learner, Network)


def test_a_tuned_classifier_says_what_it_chose_and_makes_fewer_mistakes() -> None:
    x, y = _waves(6000)
    plain = ParaActiveClassifier(random_state=0).fit(x[:4000], y[:4000])
    tuned = ParaActiveClassifier(tune=True, random_state=0).fit(x[:4000], y[:4000])
    assert "is the best of" in str(tuned.tuned_)
    assert tuned.score(x[4000:], y[4000:]) > plain.score(x[4000:], y[4000:]) + 0.05
