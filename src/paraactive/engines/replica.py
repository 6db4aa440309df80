"""The driver's replica, and the state of a replica as it is sent to another one."""

from __future__ import annotations

from dataclasses import dataclass

from paraactive.basics.state import State
from paraactive.data.examples import Place
from paraactive.sifting.node import Node, Sifted


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """The whole model of a replica, to be sent to another replica.

    Parameters
    ----------
    state : State
        What the learner saved.
    place : Place
        Place in the log.
    seen : int
        Number of examples that the cluster has seen, as far as the replica knows.
    measured : State
        What the entries learned so far say about the models on the way.
    """

    state: State
    place: Place
    seen: int
    measured: State

    @staticmethod
    def of(node: Node) -> ReplicaState:
        """Return the state of a replica.

        Parameters
        ----------
        node : Node
            The replica.
        """
        return ReplicaState(node.learner.save(), node.place, node.seen, node.measured.save())

    def load_into(self, node: Node) -> None:
        """Replace the model of a replica by this one.

        Parameters
        ----------
        node : Node
            The replica.
        """
        node.learner.load(self.state)
        node.measured.load(self.measured)
        node.set_place(self.place, self.seen)

    @property
    def nbytes(self) -> int:
        """Number of bytes that are sent."""
        return sum(array.nbytes for array in (*self.state.values(), *self.measured.values()))


class UsesDriverReplica:
    """The methods of an engine for which one replica is enough: the one in the driver's process."""

    @property
    def model(self) -> Node:
        """See `Engine.model`."""
        raise NotImplementedError

    def sift_first(self, first: int, last: int) -> Sifted:
        """See `Engine.sift_first`."""
        return self.model.sift_first(first, last)

    def take(self, first: int, last: int, scored: bool = False) -> Sifted:
        """See `Engine.take`."""
        return self.model.take(first, last, scored)
