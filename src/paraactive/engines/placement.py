"""Where a run's nodes live: the part of a run's description that engines read."""

from __future__ import annotations

from dataclasses import dataclass

from paraactive.engines.simulated.cluster import Cluster


@dataclass(frozen=True)
class Placement:
    """Where the nodes of a run live, and how their replicas are kept equal.

    Parameters
    ----------
    engine : {"threads", "processes", "ray", "simulated"}
        Name of the engine.
    updates : {"auto", "replicated", "central"}, default="auto"
        Engines "processes" and "ray": every node learns, the driver learns and sends the model, or whichever sends
        fewer bytes.
    address : str, optional
        Engine "ray": address of the cluster. Default: a cluster is started on this machine.
    cluster : Cluster, optional
        Engine "simulated": the machines and links to simulate. It is not written to run files.
    """

    engine: str
    updates: str = "auto"
    address: str | None = None
    cluster: Cluster | None = None
