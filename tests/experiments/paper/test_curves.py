"""Levels of mistakes that runs are compared at."""

from __future__ import annotations

from experiments.made_runs import run_with
from paraactive.experiments.paper.curves import LEVELS, common_levels


def test_levels_are_those_that_all_runs_reach() -> None:
    runs = [run_with(90, 60, 45, 40, 30, 30, 30), run_with(90, 50, 50, 50, 50)]
    levels = common_levels(*[[run] for run in runs])  # pyright: ignore[reportArgumentType]
    assert levels[-1] == 50
    assert set(levels) <= set(LEVELS)
    assert levels == sorted(levels, reverse=True)
