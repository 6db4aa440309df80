"""The charts of a run have its figures."""

from __future__ import annotations

import pytest

from paraactive.report import Chart
from paraactive.sifting.estimates import errors_on_the_way
from report.conftest import Recorded, sections_of


def test_the_error_curve_goes_through_every_evaluation(digits: Recorded) -> None:
    chart: Chart = sections_of(digits)["error-seen"]
    (curve,) = chart.curves
    assert [(int(x), round(y * 4065)) for x, y in curve.points] == [
        (tried.seen, tried.mistakes) for tried in digits.run.evaluations
    ]
    times: Chart = sections_of(digits)["error-time"]
    seconds = [x for x, _ in times.curves[0].points]
    assert seconds == sorted(seconds)
    assert seconds[-1] == pytest.approx(digits.run.simulated[2])


def test_the_sampling_rate_adds_up_to_what_was_selected(digits: Recorded) -> None:
    chart: Chart = sections_of(digits)["rate"]
    points = chart.curves[0].points
    seen = [1000.0, *(x for x, _ in points)]
    selected = sum(rate * (b - a) for (_, rate), a, b in zip(points, seen, seen[1:], strict=False))
    assert selected == pytest.approx(digits.run.selected)


def test_the_estimated_error_is_that_of_the_log(digits: Recorded) -> None:
    chart: Chart = sections_of(digits)["estimated-error"]
    points, measured = chart.curves[0].points, digits.run.measured
    assert measured is not None
    assert list(points) == errors_on_the_way(measured)
    assert points[-1][0] == 5000
