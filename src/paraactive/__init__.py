"""paraactive: train any online learner on a labeled stream that is too big to learn from example by example.

Sifters score the stream with a slightly stale model and toss a weighted coin for each example; only the informative
few are learned, weighted 1/p, in one total order. See `train` to begin.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from paraactive._version import __version__

if TYPE_CHECKING:
    from paraactive.estimator.classifier import ParaActiveClassifier
    from paraactive.estimator.svc import ParaActiveSVC
    from paraactive.learners import LaSVM, Network, TorchLearner
    from paraactive.runs.model import Model
    from paraactive.runs.replay import replay
    from paraactive.runs.resume import resume
    from paraactive.runs.run import Run
    from paraactive.runs.train import train
    from paraactive.sifting.guard import Guard
    from paraactive.sifting.oracle import Oracle
    from paraactive.streams import Arrays, Digits, Table

_HOMES = {
    "Guard": "sifting.guard",
    "ParaActiveClassifier": "estimator",
    "ParaActiveSVC": "estimator",
    "LaSVM": "learners",
    "Network": "learners",
    "TorchLearner": "learners",
    "Arrays": "streams",
    "Digits": "streams",
    "Table": "streams",
    "Model": "runs.model",
    "Oracle": "sifting.oracle",
    "train": "runs.train",
    "resume": "runs.resume",
    "replay": "runs.replay",
    "Run": "runs.run",
}
_ROOMS = ("checks", "engines", "errors", "learners", "planning", "report", "rules", "streams", "theory", "trackers")
"""Packages that a user may want after `import paraactive` alone."""

__all__ = [
    "Arrays",
    "Digits",
    "Guard",
    "LaSVM",
    "Model",
    "Network",
    "Oracle",
    "ParaActiveClassifier",
    "ParaActiveSVC",
    "Run",
    "Table",
    "TorchLearner",
    "__version__",
    "replay",
    "resume",
    "train",
]


def __getattr__(name: str) -> Any:
    # Lazily, so that the command line answers --help before numba is loaded.
    if name in _HOMES:
        return getattr(import_module(f"paraactive.{_HOMES[name]}"), name)
    if name in _ROOMS:
        return import_module(f"paraactive.{name}")
    raise AttributeError(f"module 'paraactive' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_ROOMS])
