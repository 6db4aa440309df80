"""The warmstart, which is round 0 of every schedule."""

from __future__ import annotations

from collections.abc import Generator

from paraactive.data.events import Round
from paraactive.data.examples import Place, Stretch
from paraactive.data.labels import UNKNOWN
from paraactive.schedules.engine import Engine
from paraactive.schedules.plan import Plan
from paraactive.sifting.log import Log
from paraactive.sifting.node import Sifted


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
    last = min(plan.warmstart, plan.examples)
    taken = engine.take(0, last)
    if log.version and log.version == last * 3 // 4 < last:
        # A previous process may have died between the two parts of the warmstart.
        entries = log.stretches_after(Place(0, 0))[0].entries
        seconds = engine.apply(Stretch(entries, rounds=0, seen=entries.last, ends_round=False))
        seconds += _learn_rest(engine, log, entries.last, last)
    elif log.version:
        # A previous process may have died after logging the entries and before the end of the round.
        entries = log.stretches_after(Place(0, 0))[0].entries
        seconds = engine.apply(Stretch(entries, rounds=0, seen=taken.last))
    elif (taken.selected.examples.y == UNKNOWN).any():
        entries = log.append(taken.selected)
        seconds = engine.apply(Stretch(entries, rounds=0, seen=log.round_end(taken.last)))
    else:
        seconds = _learn_in_two_parts(engine, log, taken, first=last * 3 // 4)
    yield log.end_round(Round(0, taken.last, log.version, log.version, taken.fetch_seconds, 0.0, seconds))


def _learn_in_two_parts(engine: Engine, log: Log, taken: Sifted, first: int) -> float:
    """Score the last examples with the model that has learned the others, so that the run knows its error early."""
    one = log.append(taken.selected.take(slice(0, first)))
    seconds = engine.apply(Stretch(one, rounds=0, seen=first, ends_round=False))
    return seconds + _learn_rest(engine, log, first, taken.last)


def _learn_rest(engine: Engine, log: Log, first: int, last: int) -> float:
    rest = engine.take(first, last, scored=first > 0)
    return engine.apply(Stretch(log.append(rest.selected), rounds=0, seen=last))
