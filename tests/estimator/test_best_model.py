"""Early stopping keeps the best model."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from estimator.moons import MOONS, SIDE, TEST, TEST_SIDE, new_clf
from paraactive.estimator.best_model import BestModel


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


class Counter:
    """A learner whose state is the number of its last evaluation."""

    def __init__(self) -> None:
        self.number = 0

    def save(self) -> dict[str, int]:
        return {"number": self.number}

    def load(self, state: dict[str, int]) -> None:
        self.number = state["number"]


@given(st.lists(st.integers(0, 5), max_size=15), st.integers(1, 4))
def test_the_run_stops_after_as_many_evaluations_without_fewer_mistakes(mistakes: list[int], patience: int) -> None:
    run: Any = SimpleNamespace(evaluations=[], learner=Counter())
    best, done = BestModel(patience), 0
    for count in mistakes:
        assert not best(run), "nothing new was evaluated"
        run.learner.number = done
        run.evaluations.append(SimpleNamespace(mistakes=count))
        done += 1
        waiting = done - 1 - mistakes.index(min(mistakes[:done]))
        stops = best(run)
        assert stops == (waiting >= patience)
        if stops:
            break
    best.restore(run)
    if done:
        seen = mistakes[:done]
        expected = done - 1 if seen[-1] == min(seen) else seen.index(min(seen))
        assert run.learner.number == expected
