"""Learners: online, weighted, deterministic. `base` has the contract; compiled loops are in modules `*_loops`.

`SklearnLearner` and `TorchLearner` wrap models of scikit-learn and torch, which are imported when a learner is made.
"""

from paraactive.learners.base import Capabilities, Learner
from paraactive.learners.guarded import Guarded
from paraactive.learners.lasvm.svm import LaSVM
from paraactive.learners.network.network import Network
from paraactive.learners.standardized import Standardized
from paraactive.learners.wrappers.sklearn_learner import SklearnLearner
from paraactive.learners.wrappers.torch_learner import TorchLearner

__all__ = ["Capabilities", "Guarded", "LaSVM", "Learner", "Network", "SklearnLearner", "Standardized", "TorchLearner"]
