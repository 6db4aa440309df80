"""Nodes in other processes: the driver's side, the node's side, and what carries messages between them."""

from paraactive.engines.remote.driver import Remote
from paraactive.engines.remote.processes import Processes
from paraactive.engines.remote.ray_nodes import RayNodes
from paraactive.engines.remote.transport import Transport
from paraactive.engines.remote.updates import UPDATES

__all__ = ["UPDATES", "Processes", "RayNodes", "Remote", "Transport"]
