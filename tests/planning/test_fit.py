"""Fitting the cost model to rounds."""

from __future__ import annotations

import pytest

from paraactive.data.events import Round
from paraactive.planning.cost import CostModel
from paraactive.planning.fit import fit
from paraactive.planning.recorded import Recorded
from paraactive.planning.values import Line


def recorded(rounds: list[Round], batch: int = 500) -> Recorded:
    return Recorded("made up", "simulated", 1, {}, batch, "synchronous", 0, rounds, None, 100, None)


def made_by(model: CostModel, n: int) -> list[Round]:
    """The rounds of a run that keeps to a model exactly."""
    seen, rounds = model.warmstart, [Round(0, model.warmstart, model.warmstart, model.warmstart, 0.0, 0.0, 0.15)]
    while seen < n:
        end = seen + model.batch
        m, after = round(float(model.selected(seen))), round(float(model.selected(end)))
        sift = model.batch * float(model.score.at(m))
        update = model.settle + (after - m) * float(model.learn.at((m + after) / 2))
        rounds.append(Round(len(rounds), end, after, after - m, 1e-6 * model.batch, sift, update, {1: sift + update}))
        seen = end
    return rounds


def test_the_fit_finds_the_model_that_made_the_run() -> None:
    made = CostModel(
        warmstart=1000, batch=500, warmstart_seconds=0.15, score=Line(-1e-6, 2e-8), learn=Line(1e-4, 6e-8), settle=0.02,
        scale=20.0, exponent=0.5,
    )  # fmt: skip
    found = fit(recorded(made_by(made, 30_000)))
    assert found.score == pytest.approx(made.score, rel=1e-6)
    assert found.learn == pytest.approx(made.learn, rel=1e-2)
    assert found.settle == pytest.approx(0.02, rel=1e-2)
    assert (found.scale, found.exponent) == pytest.approx((20.0, 0.5), rel=1e-2)
    assert found.fetch == pytest.approx(1e-6)
    for k in (1, 8, 64):
        assert found.predict(30_000, k).seconds == pytest.approx(made.predict(30_000, k).seconds, rel=1e-3)


def test_times_that_fall_as_the_model_grows_are_taken_as_constant() -> None:
    rounds = [Round(0, 100, 100, 100, 0.0, 0.0, 1.0)]
    rounds += [
        Round(i, 100 + 100 * i, 100 + 10 * i, 10, 0.0, 1.0 - 0.1 * i, 0.5 - 0.05 * i, {1: 1.0}) for i in range(1, 6)
    ]
    model = fit(recorded(rounds, batch=100))
    assert model.score.slope == 0
    assert min(*model.learn, model.settle, model.score.fixed) >= 0
    assert model.predict(600, 1).sift == pytest.approx(sum(ended.sift_seconds for ended in rounds))
    assert model.predict(600, 1).update == pytest.approx(sum(ended.update_seconds for ended in rounds[1:]), rel=1e-6)


def test_nothing_selected_is_no_growth() -> None:
    rounds = [Round(0, 100, 100, 100, 0.0, 0.0, 1.0), Round(1, 200, 100, 0, 0.0, 1.0, 0.0, {1: 1.0})]
    model = fit(recorded(rounds, batch=100))
    assert float(model.selected(10_000)) == 100
