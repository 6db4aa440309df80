"""MLflow: the figures of a run as metrics, its parameters beside them (extra `mlflow`)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from paraactive.events import Event, RunEnded
from paraactive.optional import require
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
        self._client: Any = tracking.MlflowClient(uri)
        known = self._client.get_experiment_by_name(experiment)
        number = known.experiment_id if known else self._client.create_experiment(experiment)
        self.run_id: str = self._client.create_run(number, run_name=name).info.run_id
        """By which MLflow finds it."""
        for key, value in flattened(parameters or {}).items():
            self._client.log_param(self.run_id, key, value)
        self._figures, self._waiting, self._sent = Figures(), list[Any](), time.monotonic()

    def __call__(self, event: Event) -> None:
        """Send what it tells, together with others; at the end of a run, all of it."""
        step, figures = self._figures(event)
        now = int(time.time() * 1000)
        self._waiting += [self._entities.Metric(name, value, now, step) for name, value in figures.items()]
        ended = isinstance(event, RunEnded)
        if ended or time.monotonic() - self._sent > _FLUSH_SECONDS or len(self._waiting) > _AT_ONCE:
            self._flush()
        if ended:
            self._client.set_terminated(self.run_id)

    def _flush(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:_AT_ONCE], self._waiting[_AT_ONCE:]
            self._client.log_batch(self.run_id, metrics=batch)
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
