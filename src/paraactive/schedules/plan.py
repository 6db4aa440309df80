"""The plan of a run: how many examples, and in what steps."""

from __future__ import annotations

from dataclasses import dataclass

from paraactive.errors import InputError, counted

_LARGEST_TILE = 1024


@dataclass(frozen=True)
class Plan:
    """How many examples a run sees, and in what steps.

    Parameters
    ----------
    examples : int
        Number of examples to see in all, including the warmstart.
    batch : int
        Number B of fresh examples in one round, over all nodes.
    warmstart : int
        Number of examples to learn before sifting begins.
    nodes : int
        Number k of nodes.
    delay : int, optional
        Asynchronous schedule: largest number of examples that the cluster may see between the model that sifted an
        example and the place of this example in the log. Default: two batches.

    Raises
    ------
    InputError
        If a number is too small, or if some nodes would have nothing to sift.
    """

    examples: int
    batch: int
    warmstart: int
    nodes: int
    delay: int | None = None

    def __post_init__(self) -> None:
        for name in ("examples", "batch", "nodes"):
            if getattr(self, name) < 1:
                raise InputError(
                    f"{name} is {getattr(self, name)}", why="a run needs at least 1", remedy=f"give {name} >= 1"
                )
        if self.warmstart < 0:
            raise InputError(f"warmstart is {self.warmstart}", why="it is a count", remedy="give 0 or more")
        if self.batch < self.nodes:
            raise InputError(
                f"batch is {self.batch} for {counted(self.nodes, 'node')}",
                why="a round gives each node batch/nodes fresh examples, and some nodes would get none",
                remedy=f"give batch >= {self.nodes}, or fewer nodes",
            )
        if self.delay is not None and self.delay < self.nodes:
            raise InputError(
                f"delay is {self.delay} for {counted(self.nodes, 'node')}",
                why="while a node sifts one example, each of the other nodes may publish one",
                remedy=f"give delay >= {self.nodes}, best several batches, or fewer nodes",
            )

    @property
    def longest_delay(self) -> int:
        """The bound on the delay in the asynchronous schedule, in examples."""
        return 2 * self.batch if self.delay is None else self.delay

    @property
    def tile(self) -> int:
        """The number of fresh examples that a node sifts in one piece in the asynchronous schedule.

        It is small enough that equally fast nodes, with two tiles each, stay well within the bound on the delay.
        """
        return max(1, min(_LARGEST_TILE, self.batch // (2 * self.nodes), self.longest_delay // (2 * self.nodes)))


def portion(first: int, last: int, node: int, nodes: int) -> tuple[int, int]:
    """Return the positions that one node sifts in a round.

    Parameters
    ----------
    first, last : int
        The positions of the round: first <= position < last.
    node : int
        Number of the node, from 0.
    nodes : int
        Number of nodes.

    Returns
    -------
    tuple of (int, int)
        First position of the portion, and one past its last. The sizes of two portions differ by at most 1.

    Examples
    --------
    >>> [portion(0, 10, node, 4) for node in range(4)]
    [(0, 2), (2, 5), (5, 7), (7, 10)]
    """
    count = last - first
    return first + node * count // nodes, first + (node + 1) * count // nodes
