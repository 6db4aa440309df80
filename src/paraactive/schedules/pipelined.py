"""Algorithm 1 with its two phases side by side: while a round is being learnt, the next is being sifted."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator

from paraactive.data.events import Round
from paraactive.data.examples import Selected, Stretch
from paraactive.schedules.base import Engine, Plan
from paraactive.schedules.synchronous import round_of
from paraactive.schedules.warmstart import warmstart
from paraactive.sifting.log import Log


def pipelined(engine: Engine, log: Log, plan: Plan) -> Generator[Round]:
    """Round t is sifted with h_{t-lag}: the model is at most (1 + lag) B examples old, and lag 0 is Algorithm 1.

    A round takes as long as the longer of its phases. The log is a function of B and lag, not of times or nodes.
    """
    yield from warmstart(engine, log, plan)
    waiting = deque(log.stretches_after(engine.model.place))  # In the log, not yet in the model.
    try:
        while log.seen < plan.examples:
            first, last = log.seen, min(log.seen + plan.batch, plan.examples)
            engine.begin_sift(first, last, seen=first)
            seconds = engine.apply(waiting.popleft()) if waiting and len(waiting) >= plan.lag else 0.0
            sifted, largest = engine.end_sift()
            entries = log.append(Selected.concatenate([part.selected for part in sifted]))
            waiting.append(Stretch(entries, log.rounds, seen=last))
            elapsed = {k: max(sifting, seconds) for k, sifting in largest.items()}
            if last == plan.examples or not plan.lag:  # Nothing is being sifted meanwhile.
                drained = _learn(engine, waiting)
                seconds, elapsed = seconds + drained, {k: value + drained for k, value in elapsed.items()}
            ended = round_of(sifted, last, log, seconds, elapsed)
            log.end_round(ended)
            yield ended
    except GeneratorExit:  # Somebody had enough: the model is to have all that is in the log.
        _learn(engine, waiting)
        raise
    _learn(engine, waiting)  # Only a run that was killed at its very end has any here.


def _learn(engine: Engine, waiting: deque[Stretch]) -> float:
    seconds = 0.0
    while waiting:
        seconds += engine.apply(waiting.popleft())
    return seconds
