"""MLflow: the figures of a run as metrics, its parameters beside them (extra `mlflow`)."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from typing import Any

from paraactive.basics.optional import require
from paraactive.data.events import Event, RunEnded, RunStarted
from paraactive.errors import InputError
from paraactive.trackers.figures import Figures

_FLUSH_SECONDS = 2.0
"""Metrics are sent together: a server far away must not hold up the run."""
_AT_ONCE = 900
"""MLflow takes at most a thousand in one call."""


class MLflow:
    """An observer that logs to an MLflow server or database. The step is the number of examples seen.

    experiment : its name there; it is made if it is not there.
    uri : of the server or database, as http://127.0.0.1:5000 or sqlite:///mlflow.db; None: what MLFLOW_TRACKING_URI or
        `mlflow.set_tracking_uri` say.
    name : of the run; None: MLflow makes one up.
    parameters : what to remember beside the figures, such as {"learner": learner.describe()}.
    """

    def __init__(
        self,
        experiment: str = "paraactive",
        *,
        uri: str | None = None,
        name: str | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        tracking: Any = require("mlflow.tracking", "mlflow", "tracking by MLflow")
        self._entities: Any = require("mlflow.entities", "mlflow", "tracking by MLflow")
        self._name, self._parameters = name, flattened(parameters or {})
        try:
            self._client: Any = tracking.MlflowClient(uri)
            known = self._client.get_experiment_by_name(experiment)
            self._experiment: str = known.experiment_id if known else self._client.create_experiment(experiment)
        except Exception as error:  # MLflow raises many kinds.
            raise InputError(
                f"cannot log to MLflow at {uri or 'the place that MLFLOW_TRACKING_URI names'}",
                why=" ".join(str(error).split())[:300],
                remedy="give the address of a server, or a database as sqlite:///mlflow.db",
            ) from error
        self.run_id = ""
        """By which MLflow finds it; known when the run has started."""
        self._figures, self._waiting, self._sent = Figures(), list[Any](), time.monotonic()
        self._lost = self._ended = False

    def __call__(self, event: Event) -> None:
        """Send what it tells, together with others; at the end of a run, all of it."""
        if isinstance(event, RunStarted) and not self.run_id:
            self.run_id = self._client.create_run(self._experiment, run_name=self._name).info.run_id
            for key, value in self._parameters.items():
                self._client.log_param(self.run_id, key, value)
        step, figures = self._figures(event)
        now = int(time.time() * 1000)
        self._waiting += [self._entities.Metric(name, value, now, step) for name, value in figures.items()]
        if isinstance(event, RunEnded):
            self._end("FINISHED")
        elif time.monotonic() - self._sent > _FLUSH_SECONDS or len(self._waiting) > _AT_ONCE:
            self._flush()

    def close(self) -> None:
        """Of a run that did not come to its end: send what waits, and say that it was stopped."""
        if self.run_id and not self._ended:
            self._end("KILLED")

    def _end(self, status: str) -> None:
        self._flush()
        if not self._lost:
            self._client.set_terminated(self.run_id, status)
        self._ended = True

    def _flush(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:_AT_ONCE], self._waiting[_AT_ONCE:]
            try:
                if not self._lost:
                    self._client.log_batch(self.run_id, metrics=batch)
            except Exception as error:  # A server that is gone must not end the training.
                self._lost = True
                warnings.warn(f"MLflow is told no more: {error}", RuntimeWarning, stacklevel=2)
        self._sent = time.monotonic()


def flattened(values: Mapping[str, Any], before: str = "") -> dict[str, str]:
    """Names with dots for what lies inside others, values as text.

    >>> flattened({"rule": {"kind": "signed", "eta": 0.05}, "nodes": 2})
    {'rule.kind': 'signed', 'rule.eta': '0.05', 'nodes': '2'}
    """
    found: dict[str, str] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            found |= flattened(value, f"{before}{name}.")
        else:
            found[f"{before}{name}"] = str(value)[:500]
    return found
