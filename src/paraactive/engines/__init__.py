"""Engines: where nodes live and how bytes move. No algorithm here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from paraactive.data.events import Observer
from paraactive.engines.placement import Placement
from paraactive.engines.processes import Processes
from paraactive.engines.ray_nodes import RayNodes
from paraactive.engines.remote import Remote, Transport
from paraactive.engines.simulated import Simulated
from paraactive.engines.threads import Threads
from paraactive.engines.updates import UPDATES
from paraactive.engines.virtual import Cluster
from paraactive.schedules.base import Engine, Plan
from paraactive.sifting.node import Node
from paraactive.sifting.parts import untrained

EngineFactory: TypeAlias = Callable[[Node, Plan, Placement, Observer], Engine]
"""Starts the nodes of a run, given the driver's replica, the plan, where the nodes live, and an observer of events."""


def _simulated(node: Node, plan: Plan, placement: Placement, _: Observer) -> Engine:
    return Simulated(node, plan.nodes, placement.cluster)


def _threads(node: Node, plan: Plan, _placement: Placement, _: Observer) -> Engine:
    return Threads(node, plan.nodes)


def _processes(node: Node, plan: Plan, placement: Placement, observe: Observer) -> Engine:
    return _remote(node, plan, placement, observe, Processes(blueprint(node)))


def _ray(node: Node, plan: Plan, placement: Placement, observe: Observer) -> Engine:
    return _remote(node, plan, placement, observe, RayNodes(blueprint(node), placement.address, plan.nodes))


def _remote(node: Node, plan: Plan, placement: Placement, observe: Observer, transport: Transport) -> Engine:
    return Remote(transport, node, plan.nodes, updates=placement.updates, delay=plan.longest_delay, observe=observe)


def blueprint(node: Node) -> Node:
    """What a node elsewhere is built from: an untrained replica. Its model is sent later.

    Parameters
    ----------
    node : Node
        The driver's replica.

    Returns
    -------
    Node
        A replica with the same rule, stream and seed.
    """
    return Node(untrained(node.learner), node.rule, node.stream, node.seed)


ENGINES: dict[str, EngineFactory] = {
    "simulated": _simulated,
    "threads": _threads,
    "processes": _processes,
    "ray": _ray,
}

__all__ = [
    "ENGINES",
    "UPDATES",
    "Cluster",
    "EngineFactory",
    "Placement",
    "Processes",
    "RayNodes",
    "Remote",
    "Simulated",
    "Threads",
    "blueprint",
]
