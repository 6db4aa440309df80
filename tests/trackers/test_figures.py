"""Figures are those of the run."""

from __future__ import annotations

from paraactive.data.events import Event
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
