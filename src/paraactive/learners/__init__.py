"""Learners: online, weighted, deterministic. `base` has the contract; hot loops sit alone in `*_loops`."""

from paraactive.learners.base import Learner
from paraactive.learners.lasvm import LaSVM
from paraactive.learners.network import Network

__all__ = ["LaSVM", "Learner", "Network"]
