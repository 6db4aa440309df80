"""Algorithm 1 of the paper: all nodes sift with the same model, then all learn what was selected."""

from __future__ import annotations

from collections.abc import Generator, Iterable

from paraactive.data.events import NodeTimes, Round
from paraactive.data.examples import Selected, Stretch
from paraactive.schedules.base import Engine, Plan
from paraactive.schedules.warmstart import warmstart
from paraactive.sifting.log import Log
from paraactive.sifting.node import Sifted


def synchronous(engine: Engine, log: Log, plan: Plan) -> Generator[Round]:
    """Rounds of a global batch B: sift B/k on each node with h_t fixed, join in node order, update to h_{t+1}.

    The log does not depend on the number of nodes. With one node this is the batch-delayed baseline, and with the
    passive rule it is sequential passive learning, because what an entry does depends on the log before it alone.
    """
    yield from warmstart(engine, log, plan)
    while log.seen < plan.examples:
        first, last = log.seen, min(log.seen + plan.batch, plan.examples)
        engine.begin_sift(first, last, seen=first)
        sifted, largest = engine.end_sift()
        entries = log.append(Selected.concatenate([part.selected for part in sifted]))
        seconds = engine.apply(Stretch(entries, log.rounds, seen=last))
        ended = round_of(sifted, last, log, seconds, {k: sifting + seconds for k, sifting in largest.items()})
        yield log.end_round(ended)


def round_of(sifted: list[Sifted], seen: int, log: Log, update_seconds: float, elapsed: dict[int, float]) -> Round:
    """The round that what the log was last given makes."""
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
    """What each node did. `elapsed` is how long the round was, if it was not as long as its busiest node was busy.

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
