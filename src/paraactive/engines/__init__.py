"""Engines: where nodes live and how bytes move. No algorithm here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from paraactive.data.events import Event
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


@dataclass(frozen=True)
class Hosting:
    """What an engine is told."""

    node: Node
    """The driver's replica."""
    plan: Plan
    updates: str = "auto"
    """Of processes and ray: who learns."""
    address: str | None = None
    """Of ray: the cluster. None: one that is started on this machine."""
    cluster: Cluster | None = None
    """Of simulated: the machines that are imagined."""
    observe: Callable[[Event], None] = lambda _: None
    """Told of nodes that come and go."""

    def blueprint(self) -> Node:
        """What a node elsewhere is made of; its model comes later."""
        node = self.node
        return Node(untrained(node.learner), node.rule, node.stream, node.seed)


def _simulated(hosting: Hosting) -> Engine:
    return Simulated(hosting.node, hosting.plan.nodes, hosting.cluster)


def _threads(hosting: Hosting) -> Engine:
    return Threads(hosting.node, hosting.plan.nodes)


def _processes(hosting: Hosting) -> Engine:
    return _remote(hosting, Processes(hosting.blueprint()))


def _ray(hosting: Hosting) -> Engine:
    return _remote(hosting, RayNodes(hosting.blueprint(), hosting.address, hosting.plan.nodes))


def _remote(hosting: Hosting, transport: Transport) -> Engine:
    plan = hosting.plan
    return Remote(
        transport, hosting.node, plan.nodes,
        updates=hosting.updates, delay=plan.longest_delay, observe=hosting.observe,
    )  # fmt: skip


ENGINES: dict[str, Callable[[Hosting], Engine]] = {
    "simulated": _simulated,
    "threads": _threads,
    "processes": _processes,
    "ray": _ray,
}

__all__ = ["ENGINES", "UPDATES", "Cluster", "Hosting", "Processes", "RayNodes", "Remote", "Simulated", "Threads"]
