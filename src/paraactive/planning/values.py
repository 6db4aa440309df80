"""Values that the cost model takes and returns: lines, the network, costs and predictions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from paraactive.basics.validation import number, positive
from paraactive.data.examples import Doubles
from paraactive.errors import InputError


class Line(NamedTuple):
    """The function max(fixed + slope * m, 0) of m.

    Parameters
    ----------
    fixed : float
        Value at m = 0.
    slope : float, optional
        Increase per unit of m. Default: 0.

    Examples
    --------
    >>> Line(1.0, -0.5).at([1, 4]).tolist()
    [0.5, 0.0]
    """

    fixed: float
    slope: float = 0.0

    def at(self, m: ArrayLike) -> Doubles:
        """Return the value at m.

        Parameters
        ----------
        m : array_like of float
            Arguments.

        Returns
        -------
        array of float64
            Values, at least 0.
        """
        return np.maximum(self.fixed + self.slope * np.asarray(m, np.float64), 0.0)


@dataclass(frozen=True)
class Link:
    """The network between machines: a message of b bytes takes latency + b / bandwidth seconds.

    By default, messages take no time, as in the paper.

    Parameters
    ----------
    latency : float, optional
        Time of an empty message, in seconds. Default: 0.
    bandwidth : float, optional
        Bytes per second. Default: infinite.

    Raises
    ------
    InputError
        If a value is out of range.

    Examples
    --------
    >>> float(Link(latency=0.001, bandwidth=1e8).seconds(1e6))
    0.01
    """

    latency: float = 0.0
    bandwidth: float = math.inf

    def __post_init__(self) -> None:
        if not 0 <= number("latency", self.latency) <= 1e6:
            raise InputError(f"latency is {self.latency!r}", why="it is a time", remedy="give latency >= 0, in seconds")
        if self.bandwidth != math.inf and positive("bandwidth", self.bandwidth) < 1:
            raise InputError(
                f"bandwidth is {self.bandwidth!r}",
                why="that is less than a byte per second",
                remedy="give bandwidth >= 1, in bytes per second",
            )

    def seconds(self, count: ArrayLike) -> Doubles:
        """Return the time of a number of bytes, without the latency.

        Parameters
        ----------
        count : array_like of float
            Number of bytes.

        Returns
        -------
        array of float64
            Seconds.
        """
        return np.asarray(count, np.float64) / self.bandwidth


@dataclass(frozen=True)
class Cost:
    """A row of the table of costs in the paper.

    Parameters
    ----------
    operations : float
        Work of all nodes together, in seconds of one node.
    seconds : float
        Time until the run ends.
    broadcasts : float
        Number of examples that are sent to all nodes.
    """

    operations: float
    seconds: float
    broadcasts: float


@dataclass(frozen=True)
class Prediction:
    """The predicted time of k nodes, in seconds.

    Parameters
    ----------
    nodes : int
        k: number of nodes.
    warmstart : float
        Time of the warmstart.
    sift : float
        Sifting time of the node with the largest portions.
    update : float
        Learning time of that node.
    network : float
        Time of messages.
    fetch : float
        Time to fetch examples.
    seconds : float
        Total time on the paper's clock, without fetching. Phases that overlap are counted once.
    """

    nodes: int
    warmstart: float
    sift: float
    update: float
    network: float
    fetch: float
    seconds: float

    @property
    def wall(self) -> float:
        """Total time with fetching, in seconds."""
        return self.seconds + self.fetch

    @property
    def bound(self) -> str:
        """The activity that takes most of the time: "sift", "update" or "network"."""
        parts = {"update": self.warmstart + self.update, "sift": self.sift, "network": self.network}
        return max(parts, key=lambda name: parts[name])
