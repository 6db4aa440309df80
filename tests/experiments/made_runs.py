"""Runs with given mistakes, for tests of comparisons."""

from __future__ import annotations

from paraactive.data.events import Evaluated, Round
from paraactive.runs.run import Run


def run_with(*mistakes: int) -> Run:
    """Return a run with these mistakes at its checkpoints; a round takes 2 s on one node and 1 s on four."""
    run = Run.__new__(Run)
    run.rounds = [Round(n, 10 * n + 10, 0, 0, 0.0, 0.0, 1.0, {1: 2.0, 4: 1.0}) for n in range(len(mistakes))]
    run.evaluations = [Evaluated(10 * n + 10, 0, each, 100, 0.0) for n, each in enumerate(mistakes)]
    return run
