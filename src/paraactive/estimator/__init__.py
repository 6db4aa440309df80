"""The front door for users of scikit-learn."""

from paraactive.estimator.classifier import ParaActiveClassifier

__all__ = ["ParaActiveClassifier"]
