"""Trackers are told what the run tells, and the run is the same with them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from making import two_moons
from paraactive import Arrays, Network, train
from paraactive.data.events import Event, Round, RunStarted
from paraactive.errors import InputError, MissingExtraError
from paraactive.runs.run import Run
from paraactive.trackers import MLflow, TensorBoard
from paraactive.trackers.figures import Figures


def run(*observers: Any) -> Run:
    x, y = two_moons(2000, noise=0.3, seed=0)
    return train(
        Network(hidden=8), Arrays(x, y), test=(x[:300], y[:300]), batch=200, warmstart=200, observers=observers, nodes=1
    )


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


def test_tensorboard_reads_what_was_written(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    ended = run(TensorBoard(tmp_path))
    read = EventAccumulator(str(tmp_path))
    read.Reload()
    tags: Any = read.Tags()["scalars"]
    assert {"paraactive/sampling_rate", "paraactive/mistakes", "paraactive/loss"} <= set(tags)
    mistakes = [(event.step, event.value) for event in read.Scalars("paraactive/mistakes")]
    assert mistakes == [(tried.seen, tried.mistakes) for tried in ended.evaluations]


@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore:.*noload.*", "ignore::UserWarning"
)
def test_mlflow_has_metrics_parameters_and_an_end(tmp_path: Path) -> None:
    from mlflow.tracking import MlflowClient

    uri = f"sqlite:///{tmp_path}/mlflow.db"
    tracker = MLflow("trying", uri=uri, name="one", parameters={"rule": {"kind": "gradient"}, "nodes": 1})
    ended = run(tracker)
    client = MlflowClient(uri)
    found = client.get_run(tracker.run_id)
    assert found.info.status == "FINISHED"
    assert found.data.params == {"rule.kind": "gradient", "nodes": "1"}
    assert found.data.metrics["mistakes"] == ended.mistakes
    history = client.get_metric_history(tracker.run_id, "mistakes")
    assert [(each.step, each.value) for each in history] == [
        (tried.seen, tried.mistakes) for tried in ended.evaluations
    ]
    assert client.get_experiment(found.info.experiment_id).name == "trying"


def test_a_run_is_the_same_with_a_tracker(tmp_path: Path) -> None:
    assert run(TensorBoard(tmp_path)).learner.digest() == run().learner.digest()


@pytest.mark.parametrize(("module", "make"), [("tensorboard", lambda: TensorBoard("x")), ("mlflow", MLflow)])
def test_a_tracker_that_is_not_installed_names_the_extra(
    module: str, make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [each for each in sys.modules if each.partition(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf"paraactive\[{module}\]"):
        make()


@pytest.mark.filterwarnings("ignore")
def test_a_run_that_is_stopped_does_not_stay_running(tmp_path: Path) -> None:
    from mlflow.tracking import MlflowClient

    uri = f"sqlite:///{tmp_path}/mlflow.db"
    tracker = MLflow(uri=uri)
    assert tracker.run_id == "", "nothing is made before a run has started"

    def interrupt(event: Event) -> None:
        if isinstance(event, Round) and event.number == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tracker, interrupt)
    tracker.close()
    found = MlflowClient(uri).get_run(tracker.run_id)
    assert found.info.status == "KILLED"
    assert "sampling_rate" in found.data.metrics


def test_a_place_that_cannot_be_used_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        TensorBoard(tmp_path / "file")
    with pytest.raises(InputError, match="cannot log to MLflow at foo://bar"):
        MLflow(uri="foo://bar")


def test_the_first_sampling_rate_of_a_resumed_run_is_that_of_its_first_round() -> None:
    figures = Figures()
    events: list[Event] = [RunStarted(3000, 1000, 800, 80), Round(5, 1200, 100, 20, 0.0, 1.0, 0.5)]
    rates = [figures(event)[1].get("sampling_rate") for event in events]
    assert rates == [None, 0.1]
