"""Figures are those of the run."""

from __future__ import annotations

from paraactive.data.events import Event, Round, RunStarted
from paraactive.trackers.figures import Figures
from trackers.small_run import run


def test_the_figures_are_those_of_the_run() -> None:
    figures, last = Figures(), dict[str, float]()

    def note(event: Event) -> None:
        last.update(figures(event)[1])

    ended = run(note)
    assert last["sampling_rate"] == ended.sampling_rate
    assert last["mistakes"] == ended.mistakes
    assert last["loss"] == ended.evaluations[-1].loss
    assert last["entries"] == 200 + ended.selected
    assert last["wall_seconds"] == ended.wall_seconds


def test_the_first_sampling_rate_of_a_resumed_run_is_that_of_its_first_round() -> None:
    figures = Figures()
    events: list[Event] = [RunStarted(3000, 1000, 800, 80), Round(5, 1200, 100, 20, 0.0, 1.0, 0.5)]
    rates = [figures(event)[1].get("sampling_rate") for event in events]
    assert rates == [None, 0.1]
