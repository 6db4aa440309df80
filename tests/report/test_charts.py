"""Curves with many points are thinned."""

from __future__ import annotations

from paraactive.report.charts import thinned


def test_thinned_curves_keep_their_ends() -> None:
    points = [(float(x), float(-x)) for x in range(5000)]
    few = thinned(points, 100)
    assert len(few) == 100
    assert (few[0], few[-1]) == (points[0], points[-1])
    assert few == sorted(few)
