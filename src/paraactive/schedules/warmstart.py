"""The warmstart, with which every schedule begins: round 0, learnt as it comes."""

from __future__ import annotations

from collections.abc import Generator

from paraactive.data.events import Round
from paraactive.data.examples import Place, Stretch
from paraactive.schedules.base import Engine, Plan
from paraactive.sifting.log import Log


def warmstart(engine: Engine, log: Log, plan: Plan) -> Generator[Round]:
    """Learn the first examples with p = 1; nothing to do when the log has that already."""
    if log.rounds:
        return
    taken = engine.take(0, min(plan.warmstart, plan.examples))
    # A sequencer before this one may have ended between the two.
    entries = log.stretches_after(Place(0, 0))[0].entries if log.version else log.append(taken.selected)
    seconds = engine.apply(Stretch(entries, rounds=0, seen=taken.last))
    ended = Round(0, taken.last, log.version, len(entries), taken.fetch_seconds, 0.0, seconds)
    yield log.end_round(ended)
