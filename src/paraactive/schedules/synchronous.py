"""Algorithm 1 of the paper: all nodes sift with the same model, then all learn what was selected."""

from __future__ import annotations

from collections.abc import Generator

from paraactive.events import Round
from paraactive.examples import Selected, Stretch
from paraactive.log import Log
from paraactive.node import Sifted
from paraactive.schedules.base import Engine, Plan
from paraactive.schedules.warmstart import warmstart


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
        log.end_round(ended)
        yield ended


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
    )
