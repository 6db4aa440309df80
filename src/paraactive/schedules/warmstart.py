"""The warmstart, which is round 0 of every schedule."""

from __future__ import annotations

from collections.abc import Generator

from paraactive.data.events import Round
from paraactive.data.examples import Place, Stretch
from paraactive.schedules.engine import Engine
from paraactive.schedules.plan import Plan
from paraactive.sifting.log import Log


def warmstart(engine: Engine, log: Log, plan: Plan) -> Generator[Round]:
    """Learn the first examples with p = 1, unless the log contains them already.

    Parameters
    ----------
    engine : Engine
        Hosts the nodes.
    log : Log
        Receives the entries.
    plan : Plan
        Gives the number of examples.

    Yields
    ------
    Round
        Round 0.
    """
    if log.rounds:
        return
    taken = engine.take(0, min(plan.warmstart, plan.examples))
    # A previous process may have died after logging the entries and before the end of the round.
    entries = log.stretches_after(Place(0, 0))[0].entries if log.version else log.append(taken.selected)
    seconds = engine.apply(Stretch(entries, rounds=0, seen=taken.last))
    ended = Round(0, taken.last, log.version, len(entries), taken.fetch_seconds, 0.0, seconds)
    yield log.end_round(ended)
