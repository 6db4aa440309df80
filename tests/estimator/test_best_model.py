"""Early stopping keeps the best model."""

from __future__ import annotations

from estimator.moons import MOONS, SIDE, TEST, TEST_SIDE, new_clf


def test_early_stopping_ends_when_there_is_nothing_to_gain() -> None:
    patient = new_clf(epochs=40, early_stopping=3).fit(MOONS, SIDE)
    assert patient.n_seen_ < 40 * 3600
    mistakes = [tried.mistakes for tried in patient.run_.evaluations]
    assert min(mistakes[-3:]) >= min(mistakes[:-3])
    assert patient.score(TEST, TEST_SIDE) > 0.95


def test_early_stopping_keeps_the_best_model() -> None:
    for seed in range(3):
        clf = new_clf(epochs=20, early_stopping=2, validation=(TEST, TEST_SIDE), random_state=seed).fit(MOONS, SIDE)
        best = min(tried.mistakes for tried in clf.run_.evaluations)
        assert round((1 - clf.score(TEST, TEST_SIDE)) * len(TEST)) == best
