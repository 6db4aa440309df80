"""The machines and links that the simulated engine imagines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from paraactive.basics.validation import number as finite
from paraactive.basics.validation import positive
from paraactive.data.examples import Stretch
from paraactive.sifting.node import Sifted


@dataclass(frozen=True)
class Cluster:
    """The machines and links that the simulated engine imagines.

    Parameters
    ----------
    slowness : sequence of float, optional
        By node: factor by which all its work takes longer. Default: 1 for nodes without a factor.
    latency : float, optional
        Seconds that a message takes from a node to the sequencer, or back. Default: 0.
    jitter : float, optional
        Maximum random extra latency, in seconds. Default: 0.
    sift_seconds : float, optional
        Seconds to sift one example. Default: as measured.
    update_seconds : float, optional
        Seconds to learn one entry. Default: as measured.
    seed : int, optional
        Seed of the jitter. Default: 0.

    Raises
    ------
    InputError
        If a factor is not positive, or a time is negative.
    """

    slowness: Sequence[float] = ()
    latency: float = 0.0
    jitter: float = 0.0
    sift_seconds: float | None = None
    update_seconds: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for slowness in self.slowness:
            positive("slowness", slowness)
        for name in ("latency", "jitter", "sift_seconds", "update_seconds"):
            value = getattr(self, name)
            if value is not None and finite(name, value) < 0:
                positive(name, value, why="a time cannot be negative")

    @property
    def equal(self) -> bool:
        """True if all machines are equally fast and messages take no time."""
        return not self.latency and not self.jitter and all(each == 1 for each in self.slowness)

    def slowness_of(self, node: int) -> float:
        """Return the factor by which all work of a node takes longer.

        Parameters
        ----------
        node : int
            Number of the node.
        """
        return self.slowness[node] if node < len(self.slowness) else 1.0

    def timed(self, sifted: Sifted, first: int) -> Sifted:
        """Return the same with the given sift time, if one is given.

        Parameters
        ----------
        sifted : Sifted
            With the measured time.
        first : int
            The position at which it began.

        Returns
        -------
        Sifted
            With the given time.
        """
        if self.sift_seconds is None:
            return sifted
        return replace(sifted, sift_seconds=self.sift_seconds * (sifted.last - first))

    def learning(self, stretch: Stretch, measured: float) -> float:
        """Return the seconds that learning a stretch takes: as given, otherwise as measured.

        Parameters
        ----------
        stretch : Stretch
            The stretch.
        measured : float
            The measured time, in seconds.
        """
        return measured if self.update_seconds is None else self.update_seconds * len(stretch.entries)
