"""Sequential active learning, the paper's baseline: the model is updated after each selected example."""

from __future__ import annotations

from collections.abc import Generator

from paraactive.data.events import Round
from paraactive.data.examples import Stretch
from paraactive.schedules.engine import Engine
from paraactive.schedules.plan import Plan
from paraactive.schedules.rounds import round_of
from paraactive.schedules.warmstart import warmstart
from paraactive.sifting.log import Log
from paraactive.sifting.node import Sifted


def sequential(engine: Engine, log: Log, plan: Plan) -> Generator[Round]:
    """Run Algorithm 1 with B = k = 1.

    A round is `plan.batch` examples here. It serves only to count and to report.

    Parameters
    ----------
    engine : Engine
        Hosts the node.
    log : Log
        The run continues at its end.
    plan : Plan
        Gives the number of examples and the warmstart.

    Yields
    ------
    Round
        Each round when it has ended.
    """
    yield from warmstart(engine, log, plan)
    while log.seen < plan.examples:
        position, last = log.seen, min(log.seen + plan.batch, plan.examples)
        update, parts = 0.0, list[Sifted]()
        while position < last:
            sifted = engine.sift_first(position, last)
            position = sifted.last
            parts.append(sifted)
            entries = log.append(sifted.selected)
            update += engine.apply(Stretch(entries, log.rounds, position, ends_round=position == last))
        sifting = sum(part.sift_seconds for part in parts)
        ended = round_of(parts, last, log, update, {1: sifting + update})
        log.end_round(ended)
        yield ended
