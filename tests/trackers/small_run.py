"""A small run with observers."""

from __future__ import annotations

from making import two_moons
from paraactive import Arrays, Network, train
from paraactive.data.events import Observer
from paraactive.runs.run import Run


def run(*observers: Observer) -> Run:
    """Train a small network on two moons."""
    x, y = two_moons(2000, noise=0.3, seed=0)
    return train(
        Network(hidden=8), Arrays(x, y), test=(x[:300], y[:300]), batch=200, warmstart=200, observers=observers, nodes=1
    )
