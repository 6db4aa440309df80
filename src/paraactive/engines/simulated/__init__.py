"""The simulated engine: all nodes in one process, on an imagined clock."""

from paraactive.engines.simulated.cluster import Cluster
from paraactive.engines.simulated.engine import Simulated

__all__ = ["Cluster", "Simulated"]
