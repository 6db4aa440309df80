"""Time to m mistakes."""

from __future__ import annotations

from experiments.made_runs import run_with
from paraactive.experiments.timing import first_reached, seconds_to


def test_time_to_mistakes_is_by_the_mean_of_three_neighbors() -> None:
    run = run_with(30, 6, 12, 9, 9, 9)
    assert first_reached(run, 9) == 2, "6 alone was luck; 6, 12 and 9 are 9 in the mean"
    assert seconds_to(run, 9, 1) == 1.0 + 2 * 2.0
    assert seconds_to(run, 9, 4) == 1.0 + 2 * 1.0
    assert seconds_to(run, 8.9, 1) is None
