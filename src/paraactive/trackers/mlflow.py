"""MLflow: the figures of a run as metrics, with parameters (extra `mlflow`)."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Protocol, cast

from paraactive.basics.optional import require
from paraactive.data.events import Event, RunEnded, RunStarted
from paraactive.errors import InputError
from paraactive.trackers.figures import Figures

# Metrics are sent in batches, because each call to a distant server would delay the run.
_FLUSH_SECONDS = 2.0
# MLflow accepts at most 1000 metrics in one call.
_MAX_METRICS = 900


class _Experiment(Protocol):
    @property
    def experiment_id(self) -> str: ...


class _RunInfo(Protocol):
    @property
    def run_id(self) -> str: ...


class _NewRun(Protocol):
    @property
    def info(self) -> _RunInfo: ...


class _Client(Protocol):
    """The methods of `MlflowClient` that are used here."""

    def get_experiment_by_name(self, name: str) -> _Experiment | None: ...
    def create_experiment(self, name: str) -> str: ...
    def create_run(self, experiment_id: str, *, run_name: str | None) -> _NewRun: ...
    def log_param(self, run_id: str, key: str, value: str) -> object: ...
    def log_batch(self, run_id: str, *, metrics: Sequence[object]) -> object: ...
    def set_terminated(self, run_id: str, status: str) -> None: ...


class MLflow:
    """An observer that logs to an MLflow server or database. The step is the number of examples seen.

    Parameters
    ----------
    experiment : str, optional
        Name of the MLflow experiment. It is created if it does not exist. Default: "paraactive".
    uri : str, optional
        Address of the server or database, such as "http://127.0.0.1:5000" or "sqlite:///mlflow.db". Default: the
        address in MLFLOW_TRACKING_URI or of `mlflow.set_tracking_uri`.
    name : str, optional
        Name of the MLflow run. Default: MLflow chooses a name.
    parameters : mapping, optional
        Values to log as parameters, such as {"learner": learner.describe()}.

    Attributes
    ----------
    run_id : str
        Identifier of the MLflow run; empty until the run has started.

    Raises
    ------
    InputError
        If the server or database cannot be used.
    MissingExtraError
        If mlflow is not installed.
    """

    def __init__(
        self,
        experiment: str = "paraactive",
        *,
        uri: str | None = None,
        name: str | None = None,
        parameters: Mapping[str, object] | None = None,
    ) -> None:
        tracking = require("mlflow.tracking", "mlflow", "tracking by MLflow")
        self._metric = require("mlflow.entities", "mlflow", "tracking by MLflow").Metric
        self._name, self._parameters = name, flattened(parameters or {})
        try:
            self._client: _Client = tracking.MlflowClient(uri)
            known = self._client.get_experiment_by_name(experiment)
            self._experiment = known.experiment_id if known else self._client.create_experiment(experiment)
        except Exception as error:  # MLflow raises many types of exceptions.
            raise InputError(
                f"cannot log to MLflow at {uri or 'the address in MLFLOW_TRACKING_URI'}",
                why=" ".join(str(error).split())[:300],
                remedy="give the address of a server, or a database as sqlite:///mlflow.db",
            ) from error
        self.run_id = ""
        self._figures, self._waiting, self._sent = Figures(), list[object](), time.monotonic()
        self._lost = self._ended = False

    def __call__(self, event: Event) -> None:
        """Log the figures of an event. Metrics are sent in batches; the end of the run sends the rest.

        Parameters
        ----------
        event : Event
            An event of the run.
        """
        if isinstance(event, RunStarted) and not self.run_id:
            self.run_id = self._client.create_run(self._experiment, run_name=self._name).info.run_id
            for key, value in self._parameters.items():
                self._client.log_param(self.run_id, key, value)
        step, figures = self._figures(event)
        now = int(time.time() * 1000)
        self._waiting += [self._metric(name, value, now, step) for name, value in figures.items()]
        if isinstance(event, RunEnded):
            self._end("FINISHED")
        elif time.monotonic() - self._sent > _FLUSH_SECONDS or len(self._waiting) > _MAX_METRICS:
            self._flush()

    def close(self) -> None:
        """Send the waiting metrics of a run that did not end, and mark the MLflow run as killed."""
        if self.run_id and not self._ended:
            self._end("KILLED")

    def _end(self, status: str) -> None:
        self._flush()
        if not self._lost:
            self._client.set_terminated(self.run_id, status)
        self._ended = True

    def _flush(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:_MAX_METRICS], self._waiting[_MAX_METRICS:]
            try:
                if not self._lost:
                    self._client.log_batch(self.run_id, metrics=batch)
            except Exception as error:  # The training goes on if the server is lost.
                self._lost = True
                warnings.warn(f"logging to MLflow has stopped: {error}", RuntimeWarning, stacklevel=2)
        self._sent = time.monotonic()


def flattened(values: Mapping[str, object], before: str = "") -> dict[str, str]:
    """Flatten nested mappings to one level, with dots in the names and values as text.

    Parameters
    ----------
    values : mapping
        Values, which may be mappings.
    before : str, optional
        Text before each name. Default: none.

    Returns
    -------
    dict of str to str
        The values, each cut to 500 characters.

    Examples
    --------
    >>> flattened({"rule": {"kind": "signed", "eta": 0.05}, "nodes": 2})
    {'rule.kind': 'signed', 'rule.eta': '0.05', 'nodes': '2'}
    """
    flat: dict[str, str] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat |= flattened(cast(Mapping[str, object], value), f"{before}{name}.")
        else:
            flat[f"{before}{name}"] = str(value)[:500]
    return flat
