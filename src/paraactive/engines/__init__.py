"""Engines: where nodes live and how bytes move. No algorithm here."""

from __future__ import annotations

from collections.abc import Callable

from paraactive.engines.simulated import Simulated
from paraactive.engines.threads import Threads
from paraactive.node import Node
from paraactive.schedules.base import Engine

ENGINES: dict[str, Callable[[Node, int], Engine]] = {"simulated": Simulated, "threads": Threads}

__all__ = ["ENGINES", "Simulated", "Threads"]
