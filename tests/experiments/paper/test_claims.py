"""Verdicts on claims."""

from __future__ import annotations

from paraactive.experiments.paper.claims import decided, growing


def test_verdicts() -> None:
    assert decided("c", None, "m").verdict == "open"
    assert decided("c", True, "m").verdict == "yes"
    assert decided("c", False, "m").verdict == "no"
    assert growing([(40, 2.0)]) is None
    assert growing([(40, 2.0), (30, 3.0)])
    assert not growing([(40, 2.0), (30, 2.1)])
    assert not growing([(40, 2.0), (30, 10.0), (20, 3.0)])
