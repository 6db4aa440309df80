"""The record of a round, made of what the nodes report."""

from __future__ import annotations

from collections.abc import Iterable

from paraactive.data.events import NodeTimes, Round
from paraactive.sifting.log import Log
from paraactive.sifting.node import Sifted


def round_of(sifted: list[Sifted], seen: int, log: Log, update_seconds: float, elapsed: dict[int, float]) -> Round:
    """Return the record of the round whose entries were just appended to the log.

    Parameters
    ----------
    sifted : list of Sifted
        The portions of the round.
    seen : int
        Number of examples that the cluster has seen at the end of the round.
    log : Log
        Its last entries are those of the round.
    update_seconds : float
        Seconds that one replica took to learn the entries.
    elapsed : dict of int to float
        For several numbers of nodes: seconds that the round takes.

    Returns
    -------
    Round
        The record, which is not yet in the log.
    """
    return Round(
        number=log.rounds,
        seen=seen,
        version=log.version,
        selected=sum(len(part.selected) for part in sifted),
        fetch_seconds=sum(part.fetch_seconds for part in sifted),
        sift_seconds=sum(part.sift_seconds for part in sifted),
        update_seconds=update_seconds,
        elapsed=elapsed,
        scored=sum(part.scored for part in sifted),
        lowered=sum(part.lowered for part in sifted),
        nodes=times_of(sifted, update_seconds),
    )


def times_of(sifted: Iterable[Sifted], update_seconds: float, elapsed: float | None = None) -> tuple[NodeTimes, ...]:
    """Return the time that each node spent, by activity.

    Parameters
    ----------
    sifted : iterable of Sifted
        The portions or tiles of the round.
    update_seconds : float
        Seconds of learning, for nodes that share their model.
    elapsed : float, optional
        Seconds that the round took. Default: as long as its busiest node was busy.

    Returns
    -------
    tuple of NodeTimes
        One for each node, by number.

    Examples
    --------
    >>> from dataclasses import replace
    >>> parts = [Sifted.nothing(5, 2, node=0), replace(Sifted.nothing(9, 2, node=1), sift_seconds=3.0)]
    >>> [(each.node, each.sift, each.update, each.wait) for each in times_of(parts, 0.5)]
    [(0, 0.0, 0.5, 3.0), (1, 3.0, 0.5, 0.0)]
    """
    busy: dict[int, list[float]] = {}
    shared = set[int]()
    for part in sifted:
        own = busy.setdefault(part.node, [0.0, 0.0, 0.0, 0.0])
        for place, seconds in enumerate(
            (part.fetch_seconds, part.sift_seconds, part.update_seconds or 0.0, part.transfer_seconds)
        ):
            own[place] += seconds
        if part.update_seconds is None:
            shared.add(part.node)
    for node in shared:
        busy[node][2] += update_seconds
    longest = max((sum(own) for own in busy.values()), default=0.0) if elapsed is None else elapsed
    return tuple(NodeTimes(node, *own, wait=max(0.0, longest - sum(own))) for node, own in sorted(busy.items()))
