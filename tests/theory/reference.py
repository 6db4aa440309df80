"""Algorithm 3 and the disagreement coefficient as plainly as they can be written: slow, on lists, straight from the
paper, to compare with.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field


def right_side(s: float, e: float) -> float:
    """(c1/sqrt(s) - c1 + 1) sqrt(e) + (c2/s - c2 + 1) e, which P_t makes equal to the gap."""
    c1, c2 = 5 + 2 * math.sqrt(2), 5
    return (c1 / math.sqrt(s) - c1 + 1) * math.sqrt(e) + (c2 / s - c2 + 1) * e


def solved_probability(gap: float, n: int, c0: float) -> float:
    """P_t by bisection: the right side falls as s grows."""
    if n == 0:
        return 1.0
    e = c0 * math.log(n + 1) / n
    if gap <= math.sqrt(e) + e:
        return 1.0
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if right_side(middle, e) > gap else (low, middle)
    return high


@dataclass
class LiteralRun:
    """What the literal algorithm did, step by step."""

    p: list[float] = field(default_factory=list[float])
    queried: list[bool] = field(default_factory=list[bool])
    n: list[int] = field(default_factory=list[int])
    gap: list[float] = field(default_factory=list[float])
    best_error: list[float] = field(default_factory=list[float])
    """err(h_t, S_t)."""
    errors_at: list[list[float]] = field(default_factory=list[list[float]])
    """err(h, S_t) of every h."""
    errors: list[float] = field(default_factory=list[float])

    def error(self, says: list[list[bool]], labels: list[bool], h: int, n: int) -> float:
        """err(h, S) over the first n steps, from scratch."""
        if n == 0:
            return 0.0
        total = 0.0
        for s in range(n):
            if self.queried[s] and says[s][h] != labels[s]:
                total += 1 / self.p[s]
        return total / n


def literal_iwal(
    says: list[list[bool]], labels: list[bool], delays: list[int], c0: float, tosses: list[float]
) -> LiteralRun:
    """says[t][h]: what h predicts at X_{t+1}; tosses: the coins."""
    run, hypotheses = LiteralRun(), range(len(says[0]))
    for t in range(1, len(says) + 1):
        n = t - delays[t - 1]
        errors = [run.error(says, labels, h, n) for h in hypotheses]
        best = min(hypotheses, key=errors.__getitem__)
        others = [errors[h] for h in hypotheses if says[t - 1][h] != says[t - 1][best]]
        # Our convention: where nobody disagrees, the gap is 1.
        gap = (min(others) - errors[best] if others else 1.0) if n else 0.0
        p = solved_probability(gap, n, c0)
        run.n.append(n)
        run.gap.append(gap)
        run.best_error.append(errors[best])
        run.errors_at.append(errors)
        run.p.append(p)
        run.queried.append(tosses[t - 1] < p)
    run.errors = [run.error(says, labels, h, len(says)) for h in hypotheses]
    return run


def undelayed_iwal(says: list[list[bool]], labels: list[bool], c0: float, tosses: list[float]) -> LiteralRun:
    """IWAL as it was before there were delays: everything is learnt at once, and there is no n_t, only t."""
    run, totals = LiteralRun(), [0.0] * len(says[0])
    for t, (row, label, toss) in enumerate(zip(says, labels, tosses, strict=True)):
        wants = {side: min((total for total, say in zip(totals, row, strict=True) if say == side), default=None)
                 for side in (False, True)}  # fmt: skip
        yes, no = wants[True], wants[False]
        gap = 0.0 if t == 0 else 1.0 if yes is None or no is None else abs(yes - no) / t
        p = solved_probability(gap, t, c0)
        if toss < p:
            totals = [total + (say != label) / p for total, say in zip(totals, row, strict=True)]
        run.n.append(t)
        run.gap.append(gap)
        run.p.append(p)
        run.queried.append(toss < p)
    run.errors = [total / len(says) for total in totals]
    return run


def literal_disagreement(says: list[list[bool]], best: int, above: float) -> float:
    """sup over r > above of P(DIS(h*, r)) / r, by trying radii.

    P(DIS(h*, r)) is a staircase, so on each tread the quotient is largest where the tread begins; the tread that
    `above` lies on begins, for what counts, just there.
    """
    points, hypotheses = len(says), range(len(says[0]))
    distance = [sum(row[h] != row[best] for row in says) / points for h in hypotheses]
    largest = 0.0
    for r in [above, *distance]:
        if r < above or r == 0:
            continue
        region = 0
        for row in says:
            region += any(row[h] != row[best] and distance[h] <= r for h in hypotheses)
        largest = max(largest, region / points / r)
    return largest
