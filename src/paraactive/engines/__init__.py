"""Engines: where nodes live and how bytes move. No algorithm here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from paraactive.data.events import Observer
from paraactive.engines.placement import Placement
from paraactive.engines.remote import UPDATES, Processes, RayNodes, Remote, Transport
from paraactive.engines.simulated import Cluster, Simulated
from paraactive.engines.threads import Threads
from paraactive.schedules.engine import Engine
from paraactive.schedules.plan import Plan
from paraactive.sifting.node import Node
from paraactive.sifting.parts import untrained

EngineFactory: TypeAlias = Callable[[Node, Plan, Placement, Observer], Engine]
"""Starts the nodes of a run, given the driver's replica, the plan, where the nodes live, and an observer of events."""


def blueprint(node: Node) -> Node:
    """Return an untrained copy of a node, which can be sent to another process.

    Parameters
    ----------
    node : Node
        The driver's replica.

    Returns
    -------
    Node
        A node with the same learner (untrained), rule, stream and seed.
    """
    return Node(untrained(node.learner), node.rule, node.stream, node.seed, sampling=node.sampling)


def _simulated(node: Node, plan: Plan, placement: Placement, _: Observer) -> Engine:
    return Simulated(node, plan.nodes, placement.cluster)


def _threads(node: Node, plan: Plan, _placement: Placement, _: Observer) -> Engine:
    return Threads(node, plan.nodes)


def _processes(node: Node, plan: Plan, placement: Placement, observe: Observer) -> Engine:
    return _remote(Processes(blueprint(node)), node, plan, placement, observe)


def _ray(node: Node, plan: Plan, placement: Placement, observe: Observer) -> Engine:
    return _remote(RayNodes(blueprint(node), placement.address, plan.nodes), node, plan, placement, observe)


def _remote(transport: Transport, node: Node, plan: Plan, placement: Placement, observe: Observer) -> Engine:
    return Remote(transport, node, plan.nodes, updates=placement.updates, delay=plan.longest_delay, observe=observe)


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
