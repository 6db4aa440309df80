"""The cost model of the paper, fitted to a recorded run: how many nodes are worthwhile."""

from paraactive.planning.cost import CostModel
from paraactive.planning.plan import Planned, plan
from paraactive.planning.values import Cost, Line, Link, Prediction

__all__ = ["Cost", "CostModel", "Line", "Link", "Planned", "Prediction", "plan"]
