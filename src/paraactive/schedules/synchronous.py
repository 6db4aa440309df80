"""Algorithm 1 of the paper: all nodes sift with the same model, then all replicas learn the selected examples."""

from __future__ import annotations

from collections.abc import Generator

from paraactive.data.events import Round
from paraactive.data.examples import Selected, Stretch
from paraactive.schedules.engine import Engine
from paraactive.schedules.plan import Plan
from paraactive.schedules.rounds import round_of
from paraactive.schedules.warmstart import warmstart
from paraactive.sifting.log import Log


def synchronous(engine: Engine, log: Log, plan: Plan) -> Generator[Round]:
    """Run rounds of B examples: each of k nodes sifts B/k with the model h_t, then every replica updates to h_{t+1}.

    The log does not depend on the number of nodes. One node gives the paper's batch-delayed baseline. With the passive
    rule this is sequential passive learning, because the effect of an entry depends on the log before it alone.

    Parameters
    ----------
    engine : Engine
        Hosts the nodes.
    log : Log
        The run continues at its end.
    plan : Plan
        Gives the number of examples, B and the warmstart.

    Yields
    ------
    Round
        Each round when it has ended.
    """
    yield from warmstart(engine, log, plan)
    while log.seen < plan.examples:
        first, last = log.seen, min(log.seen + plan.batch, plan.examples)
        sifted, largest = engine.sift(first, last, seen=first)
        entries = log.append(Selected.concatenate([part.selected for part in sifted]))
        seconds = engine.apply(Stretch(entries, log.rounds, seen=log.round_end(last)))
        ended = round_of(sifted, last, log, seconds, {k: sifting + seconds for k, sifting in largest.items()})
        yield log.end_round(ended)
