"""The front door for users of scikit-learn."""

from paraactive.estimator.classifier import ParaActiveClassifier
from paraactive.estimator.svc import ParaActiveSVC

__all__ = ["ParaActiveClassifier", "ParaActiveSVC"]
