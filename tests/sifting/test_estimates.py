"""Estimates: unbiased for the error of the models on the way, and the same wherever the run is done."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from making import three_blobs, two_moons
from paraactive import Arrays, LaSVM, Network, replay, resume, train
from paraactive.basics.state import State, digest
from paraactive.data.examples import Doubles, Floats, Selected
from paraactive.learners import Learner
from paraactive.runs.run import Run
from paraactive.sifting.confidence import Interval
from paraactive.sifting.estimates import Estimates, errors_on_the_way, estimates_of
from paraactive.sifting.measurements import Measurements

X, Y = two_moons(1600, noise=0.3, seed=0)
_SEEDS = 200


class Moving:
    """A learner whose score is the first feature minus a threshold, which moves with what is learned."""

    def __init__(self) -> None:
        self.threshold = 0.0

    def score(self, x: Floats) -> Doubles:
        return 3.0 * (x[:, 0].astype(np.float64) - np.tanh(self.threshold))

    def update(self, selected: Selected) -> None:
        for weight, y in zip(selected.weight.tolist(), selected.examples.y.tolist(), strict=True):
            self.threshold += 0.002 * weight * y

    def end_round(self) -> None:
        pass

    def save(self) -> State:
        return {"threshold": np.array([self.threshold])}

    def load(self, state: State) -> None:
        self.threshold = float(state["threshold"][0])

    def digest(self) -> str:
        return digest(self.save())

    def describe(self) -> dict[str, Any]:
        return {}


def _known(run: Run) -> Estimates:
    assert run.estimates is not None
    return run.estimates


def _errors(seed: int, options: dict[str, Any]) -> tuple[Estimates, float]:
    """The estimates of a run, and the true error of the models that sifted."""
    x, y = X[:500], Y[:500]
    wrong = 0

    def count(run: Run) -> bool:
        nonlocal wrong
        batch = slice(run.seen, run.seen + 100)
        wrong += int(np.count_nonzero(y[batch] * run.learner.score(x[batch]) <= 0))
        return False

    settings: dict[str, Any] = {"batch": 100, "warmstart": 0, "nodes": 1, "engine": "threads", "rule": "margin"}
    run = train(Moving(), Arrays(x, y, shuffle=False), seed=seed, stop=count, **(settings | options))
    return _known(run), wrong / 500


@pytest.mark.parametrize(
    "options",
    [{}, {"rule": "signed"}, {"select": 0.8}, {"class_weight": {"1": 3.0}}, {"rule": "passive"}],
    ids=str,
)
def test_the_estimated_error_is_unbiased_for_the_models_on_the_way(options: dict[str, Any]) -> None:
    found = [_errors(seed, options) for seed in range(_SEEDS)]
    off = np.array([known.error.value - true for known, true in found])
    assert min(true for _, true in found) > 0.1
    assert abs(off.mean()) <= 4 * off.std(ddof=1) / np.sqrt(_SEEDS)
    assert np.mean([known.error.low <= true <= known.error.high for known, true in found]) >= 0.95
    if options.get("rule") != "passive":  # Of which a part is scored: rounds before the first score do not count.
        assert all(known.examples == 500 for known, _ in found)


def _svm() -> LaSVM:
    return LaSVM(gamma=1.0, gap=0.2)


_SETTINGS: dict[str, Any] = {"batch": 200, "warmstart": 200, "rule": "signed", "select": 0.2, "seed": 3}


def _run(learner: Callable[[], Learner] = _svm, **options: Any) -> Run:
    settings: dict[str, Any] = {**_SETTINGS, "nodes": 1, "engine": "threads", **options}
    return train(learner(), Arrays(X, Y), **settings)


def _halfway(run: Run) -> bool:
    return run.seen >= 800


def _all_figures(run: Run) -> tuple[dict[str, Any], dict[str, bytes]]:
    assert run.measured is not None
    return _known(run).summary(), {name: column.tobytes() for name, column in run.measured.save().items()}


@pytest.fixture(scope="module")
def reference() -> Run:
    return _run()


@pytest.mark.parametrize(
    ("engine", "nodes"),
    [("threads", 2), ("threads", 3), ("simulated", 1), ("simulated", 2), ("simulated", 3), ("processes", 2)],
)
def test_the_estimates_do_not_depend_on_engine_and_nodes(engine: str, nodes: int, reference: Run) -> None:
    run = _run(engine=engine, nodes=nodes)
    assert _all_figures(run) == _all_figures(reference)
    assert run.verdict == reference.verdict


@pytest.mark.parametrize("updates", ["replicated", "central"])
def test_the_estimates_do_not_depend_on_who_learns(updates: str, reference: Run) -> None:
    assert _all_figures(_run(engine="processes", nodes=3, updates=updates)) == _all_figures(reference)


def test_the_estimates_of_a_run_that_was_stopped_and_resumed_are_those_of_a_whole_run(
    tmp_path: Path, reference: Run
) -> None:
    out = tmp_path / "run.db"
    stopped = _run(out=out, nodes=2, stop=_halfway)
    assert _known(stopped).examples < _known(reference).examples
    assert _all_figures(resume(out, stream=Arrays(X, Y), nodes=3)) == _all_figures(reference)
    assert _all_figures(replay(out)) == _all_figures(reference)
    assert _all_figures(resume(out, stream=Arrays(X, Y))) == _all_figures(reference)


@pytest.mark.parametrize("rule", ["uniform", "passive", "gradient"])
def test_the_estimates_of_other_rules_and_learners_come_back_in_replay(rule: str, tmp_path: Path) -> None:
    out = tmp_path / "run.db"
    run = _run(lambda: Network(hidden=5), rule=rule, out=out, select="none")
    assert _all_figures(replay(out)) == _all_figures(run)


def test_a_run_without_scores_has_no_estimates() -> None:
    assert estimates_of(Measurements(2, log_odds=False), ["no", "yes"]) is None
    measured = Measurements(2, log_odds=False)
    measured.add(Selected.weighted(X[:10], Y[:10]))
    measured.end_round(10)
    assert estimates_of(measured, ["no", "yes"]) is None


def test_the_estimates_are_near_to_the_error_on_test_data() -> None:
    run = _run(select="none")
    x, y = two_moons(4000, noise=0.3, seed=9)
    error = float(np.mean(y * run.learner.score(x) <= 0))
    known = _known(run)
    assert known.recent_error.low <= error <= known.recent_error.high
    assert known.theta == known.recent_error.value
    assert known.commonest_error == pytest.approx(0.5, abs=0.1)


def test_the_figures_of_a_run_fit_each_other(reference: Run) -> None:
    known = _known(reference)
    assert known.selected == reference.selected
    assert 0 < known.effective_size <= known.selected
    assert known.examples == 1600 - 150  # The last quarter of the warmstart is scored.
    assert 400 <= known.recent_examples <= 600
    assert set(known.class_errors) == set(Arrays(X, Y).classes)
    assert known.first_error is not None
    assert _known(_run(select="none", rule="passive")).effective_size == 1400


def test_the_errors_on_the_way_add_up_to_the_error_of_all_models(reference: Run) -> None:
    assert reference.measured is not None
    points = errors_on_the_way(reference.measured)
    assert [seen for seen, _ in points] == [400, 600, 800, 1000, 1200, 1400, 1600]
    sifted = reference.measured.between(1).sums
    assert np.mean([error for _, error in points]) == pytest.approx(sifted["wrong"] / sifted["examples"])
    few = errors_on_the_way(reference.measured, most=2)
    assert len(few) == 2
    assert few[-1][0] == 1600
    assert errors_on_the_way(Measurements(2, log_odds=False)) == []


def test_the_summary_has_plain_numbers_only(reference: Run) -> None:
    summary = _known(reference).summary()
    error = _known(reference).error
    assert summary["error"] == [error.value, error.low, error.high]
    assert summary["theta"] == _known(reference).theta
    assert not any(isinstance(each, Interval | np.generic) for each in summary.values())


def test_the_classes_of_a_run_with_three_classes_have_their_own_errors() -> None:
    x, y = three_blobs(1500, seed=0)
    y = np.where(np.arange(1500) % 2 == 0, y, 2)  # Half of the labels are 2: it is the commonest class.
    names = np.array(["a", "b", "c"])[y]
    known = _known(train(_svm(), Arrays(x, names), batch=200, warmstart=300, nodes=1))
    assert known.commonest == "c"
    assert known.commonest_error == pytest.approx(1 / 3, abs=0.08)
    assert set(known.class_errors) == {"a", "b", "c"}
    assert known.class_errors["a"] > known.class_errors["c"]


def test_scores_of_a_second_pass_do_not_count() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(1000, 2)).astype(np.float32), np.where(rng.random(1000) < 0.5, 1, -1)
    learner = LaSVM(C=100.0, gamma=50.0, gap=0.2)  # It remembers every row.
    run = train(learner, Arrays(x, y, passes=4), warmstart=200, batch=200, nodes=1)
    once = train(LaSVM(C=100.0, gamma=50.0, gap=0.2), Arrays(x, y), warmstart=200, batch=200, nodes=1)
    assert _known(run).examples == _known(once).examples
    assert _known(run).recent_error.value == pytest.approx(0.5, abs=0.1)
    assert np.mean(y * run.learner.score(x) <= 0) < 0.1


def test_a_second_pass_is_known_from_the_file(tmp_path: Path) -> None:
    out = tmp_path / "run.db"
    run = train(_svm(), Arrays(X, Y, passes=2), batch=200, warmstart=200, nodes=1, out=out)
    assert _all_figures(replay(out)) == _all_figures(run)
    assert _known(run).examples == 1600 - 150
