"""The cost model of the paper, fitted to a run, and the plan that it gives: how many nodes pay."""

from paraactive.planning.cost import Cost, CostModel, Line, Link, Prediction
from paraactive.planning.plan import Planned, plan

__all__ = ["Cost", "CostModel", "Line", "Link", "Planned", "Prediction", "plan"]
