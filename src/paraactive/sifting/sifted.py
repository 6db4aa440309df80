"""What a node passes on of a portion of the stream."""

from __future__ import annotations

from dataclasses import dataclass

from paraactive.data.examples import Selected


@dataclass(frozen=True, slots=True)
class Sifted:
    """What a node passes on of a portion of the stream, and the time that it took.

    Parameters
    ----------
    last : int
        One past the last position that was sifted.
    selected : Selected
        The selected examples.
    fetch_seconds, sift_seconds : float
        Time to read the examples, and to select from them.
    scored : int, default=0
        Number of exact scores that were computed.
    lowered : int, default=0
        Number of selected examples whose p the learner's proxy made smaller.
    node : int, default=0
        Number of the node.
    update_seconds : float or None, default=None
        Time that the node spent learning since it last passed something on. None: it shares its model with all nodes.
    queued_seconds : float, default=0.0
        Time between the arrival of the work at the node and its start.
    transfer_seconds : float, default=0.0
        Time to send the work to the node and the result back.
    """

    last: int
    selected: Selected
    fetch_seconds: float
    sift_seconds: float
    scored: int = 0
    lowered: int = 0
    node: int = 0
    update_seconds: float | None = None
    queued_seconds: float = 0.0
    transfer_seconds: float = 0.0

    @staticmethod
    def nothing(last: int, width: int, node: int = 0) -> Sifted:
        """The result of sifting no examples.

        Parameters
        ----------
        last : int
            The position before which sifting stopped.
        width : int
            Number of features.
        node : int, default=0
            Number of the node.

        Returns
        -------
        Sifted
            The empty result.
        """
        return Sifted(last, Selected.empty(width), 0.0, 0.0, node=node)

    @staticmethod
    def join(parts: list[Sifted]) -> Sifted:
        """Join results of portions that follow each other.

        Parameters
        ----------
        parts : list of Sifted
            The results, in the order of the stream.

        Returns
        -------
        Sifted
            One result.
        """
        return Sifted(
            parts[-1].last,
            Selected.concatenate([part.selected for part in parts]),
            sum(part.fetch_seconds for part in parts),
            sum(part.sift_seconds for part in parts),
            sum(part.scored for part in parts),
            sum(part.lowered for part in parts),
            parts[0].node,
        )
