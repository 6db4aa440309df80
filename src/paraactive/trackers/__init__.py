"""Observers that send the figures of a run to a tracker: `train(..., observers=[TensorBoard("logs")])`."""

from paraactive.trackers.mlflow import MLflow
from paraactive.trackers.tensorboard import TensorBoard

__all__ = ["MLflow", "TensorBoard"]
