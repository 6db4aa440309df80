"""Learners: online, weighted, deterministic. `base` has the contract; hot loops sit alone in `*_loops`.

`SklearnLearner` and `TorchLearner` wrap other people's models; their libraries are imported only when one is made.
"""

from paraactive.learners.base import Capabilities, Learner
from paraactive.learners.guarded import Guarded
from paraactive.learners.lasvm.svm import LaSVM
from paraactive.learners.network.network import Network
from paraactive.learners.wrappers.sklearn_learner import SklearnLearner
from paraactive.learners.wrappers.torch_learner import TorchLearner

__all__ = ["Capabilities", "Guarded", "LaSVM", "Learner", "Network", "SklearnLearner", "TorchLearner"]
