"""Sequential active learning, the paper's baseline: the model is updated after each selected example."""

from __future__ import annotations

from collections.abc import Generator

from paraactive.events import Round
from paraactive.examples import Stretch
from paraactive.log import Log
from paraactive.schedules.base import Engine, Plan
from paraactive.schedules.warmstart import warmstart


def sequential(engine: Engine, log: Log, plan: Plan) -> Generator[Round]:
    """Algorithm 1 with B = k = 1. A round is `batch` examples here, only to have something to count by."""
    yield from warmstart(engine, log, plan)
    while log.seen < plan.examples:
        position, last, before = log.seen, min(log.seen + plan.batch, plan.examples), log.version
        fetch = sift = update = 0.0
        while position < last:
            sifted = engine.sift_first(position, last)
            fetch, sift, position = fetch + sifted.fetch_seconds, sift + sifted.sift_seconds, sifted.last
            entries = log.append(sifted.selected)
            update += engine.apply(Stretch(entries, log.rounds, position, ends_round=position == last))
        ended = Round(log.rounds, last, log.version, log.version - before, fetch, sift, update, {1: sift + update})
        log.end_round(ended)
        yield ended
