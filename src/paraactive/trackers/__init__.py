"""Trackers that people already use, as observers of a run: `train(..., observers=[TensorBoard("logs")])`."""

from paraactive.trackers.mlflow import MLflow
from paraactive.trackers.tensorboard import TensorBoard

__all__ = ["MLflow", "TensorBoard"]
