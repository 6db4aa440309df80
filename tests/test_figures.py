"""The tasks of the paper reach the expected figures, run as a user would run them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from paraactive import Digits, LaSVM, Network, train
from paraactive.rules import Gradient, PaperMargin, Rule, SignedMargin
from paraactive.runs.evaluation import count_mistakes
from paraactive.runs.run import Run

BATCH = 4096


def _checkpoints(learner: LaSVM | Network, rule: Rule, digits: Digits, seen: list[int]) -> list[tuple[float, int, int]]:
    """Return (sampling rate, mistakes, support vectors) at each of these numbers of examples, from one run."""
    test = digits.test()
    reached: list[tuple[float, int, int]] = []

    def note(run: Run) -> bool:
        if run.seen in seen:
            rate = sum(ended.selected for ended in run.rounds[1:]) / run.seen
            reached.append((rate, count_mistakes(run.learner, test), getattr(run.learner, "vectors", 0)))
        return False

    train(learner, digits, rule=rule, examples=max(seen), batch=BATCH, warmstart=BATCH, seed=digits.seed, stop=note)
    return reached


def test_the_svm_with_the_rule_of_the_paper_as_the_command_line_runs_it() -> None:
    early, late = _checkpoints(LaSVM(C=1, gamma=0.012, gap=0.2), PaperMargin(0.1), Digits(), [10 * BATCH, 91 * BATCH])
    rate, mistakes, _ = early
    assert rate < 0.03
    assert mistakes <= 45
    rate, mistakes, vectors = late
    assert rate < 0.01
    assert mistakes <= 30
    assert vectors <= 4500


def test_the_svm_with_all_settings_of_the_paper() -> None:
    # Without reprocessing to a gap, single checkpoints and seeds vary a lot, so three of each are averaged.
    ends = [10 * BATCH, 89 * BATCH, 90 * BATCH, 91 * BATCH]
    runs = [_checkpoints(LaSVM(C=1, gamma=0.012), PaperMargin(0.1), Digits(seed=seed), ends) for seed in range(3)]
    assert all(early[0] < 0.03 for early, *_ in runs)
    assert np.mean([early[1] for early, *_ in runs]) <= 45
    assert np.mean([mistakes for _, *late in runs for _, mistakes, _ in late]) <= 30
    assert all(late[-1][2] <= 4500 for _, *late in runs)


@cache
def _signed() -> list[list[tuple[float, int, int]]]:
    return [
        _checkpoints(LaSVM(C=1, gamma=0.012, gap=0.2), SignedMargin(0.05), Digits(seed=seed), [10 * BATCH, 46 * BATCH])
        for seed in range(3)
    ]


def test_signed_margin_makes_at_most_30_mistakes_after_41_thousand_examples_in_the_mean_of_three_seeds() -> None:
    assert np.mean([early[1] for early, _ in _signed()]) <= 30


def test_signed_margin_makes_at_most_21_mistakes_after_190_thousand_examples_in_the_mean_of_three_seeds() -> None:
    assert np.mean([late[1] for _, late in _signed()]) <= 21


@pytest.mark.parametrize(
    ("rule", "mistakes", "least", "most"),
    [(Gradient(), 10, 0.0, 0.10), (PaperMargin(0.0005), 11, 0.25, 0.50)],
    ids=["gradient rule", "margin rule, as in the paper"],
)
def test_the_network_after_400_thousand_examples(rule: Rule, mistakes: int, least: float, most: float) -> None:
    digits = Digits(negative=(5,), positive=(3,), low=0)
    ((rate, made, _),) = _checkpoints(Network(), rule, digits, [98 * BATCH])
    assert made <= mistakes
    assert least <= rate <= most
