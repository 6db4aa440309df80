"""MLflow has the figures, the parameters and the end of a run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from paraactive.data.events import Event, Round
from paraactive.errors import InputError, MissingExtraError
from paraactive.trackers import MLflow
from trackers.small_run import run


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
    assert [(each.step, each.value) for each in history] == [(each.seen, each.mistakes) for each in ended.evaluations]
    assert client.get_experiment(found.info.experiment_id).name == "trying"


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


def test_a_missing_library_is_reported_with_the_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [each for each in sys.modules if each.partition(".")[0] == "mlflow"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(MissingExtraError, match=r"paraactive\[mlflow\]"):
        MLflow()


def test_an_address_that_cannot_be_used_is_one_clear_error() -> None:
    with pytest.raises(InputError, match="cannot log to MLflow at foo://bar"):
        MLflow(uri="foo://bar")
