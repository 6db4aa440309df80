"""Fitting the cost model to a recorded run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paraactive.data.examples import Doubles
from paraactive.planning.cost import CostModel
from paraactive.planning.recorded import Recorded
from paraactive.planning.values import Line


def fit(recorded: Recorded) -> CostModel:
    """Fit S, T and phi to a run, by least squares over the rounds.

    S(m) = s0 + s1 m is fitted to the sifting times; dT/dm = t0 + t1 m and a fixed time of each round to the learning
    times; phi(n) = warmstart + a (n - warmstart)^b to the numbers of selected examples, through the last point. S and T
    are scaled so that their sums over the rounds are the measured ones.

    Parameters
    ----------
    recorded : Recorded
        Timings of a run.

    Returns
    -------
    CostModel
        The cost model.
    """
    first, later = recorded.rounds[0], recorded.rounds[1:]
    seen, version = (
        np.array([getattr(ended, name) for ended in recorded.rounds], float) for name in ("seen", "version")
    )
    examples, new, before = np.diff(seen), np.diff(version), version[:-1]
    sift, update, fetch = (
        np.array([getattr(ended, name) for ended in later])
        for name in ("sift_seconds", "update_seconds", "fetch_seconds")
    )
    score = _fitted(np.column_stack([examples, examples * before]), sift, free_first=True)
    columns = np.column_stack([new, new * (before + new / 2), np.ones(len(new))])
    # The warmstart is one more round for fitting T. It starts with an empty model.
    columns = np.vstack([[version[0], version[0] ** 2 / 2, 1.0], _learned_in(columns, recorded.lag)])
    learn = _fitted(columns, np.concatenate([[first.update_seconds], update]), sums=slice(1, None))
    scale, exponent = _power(seen[1:] - seen[0], version[1:] - version[0])
    return CostModel(
        warmstart=int(seen[0]), batch=recorded.batch, warmstart_seconds=first.update_seconds,
        score=Line(*score), learn=Line(*learn[:2]), settle=learn[2], scale=scale, exponent=exponent,
        fetch=float(np.sum(fetch)) / float(np.sum(examples)), entry_bytes=recorded.entry_bytes,
        model_bytes=recorded.model_bytes, schedule=recorded.schedule, lag=recorded.lag,
    )  # fmt: skip


def _learned_in(columns: NDArray[np.float64], lag: int) -> NDArray[np.float64]:
    """Move each row `lag` rounds later, when it was learned; the last round learned all the rest."""
    lag = min(lag, len(columns) - 1)
    learned = np.vstack([np.zeros((lag, columns.shape[1])), columns[: len(columns) - lag]])
    learned[-1] += columns[len(columns) - lag :].sum(axis=0)
    return learned


def _fitted(
    columns: NDArray[np.float64], seconds: Doubles, *, free_first: bool = False, sums: slice = slice(None)
) -> list[float]:
    """Return least-squares coefficients >= 0, scaled so that the rows `sums` have the measured sum.

    With `free_first`, the first coefficient may be negative.
    """
    count = columns.shape[1]
    best, least = np.zeros(count), float("inf")
    for chosen in range(1, 1 << count):  # There are few coefficients, so all subsets can be tried.
        used = [c for c in range(count) if chosen >> c & 1]
        found = np.zeros(count)
        found[used] = np.linalg.lstsq(columns[:, used], seconds, rcond=None)[0]
        off = float(np.sum((columns @ found - seconds) ** 2))
        allowed = np.all(found[free_first:] >= 0)
        if allowed and off < least:
            best, least = found, off
    total = float(np.sum((columns @ best)[sums]))
    return (best * (float(np.sum(seconds[sums])) / total if total > 0 else 1.0)).tolist()


def _power(sifted: Doubles, selected: Doubles) -> tuple[float, float]:
    """Fit selected = a sifted^b through the last point. Return a and b."""
    some = selected > 0
    if not some.any():
        return 0.0, 1.0
    x, y = np.log(sifted[some] / sifted[-1]), np.log(selected[some] / selected[-1])
    steep = float(x @ y) / float(x @ x) if len(x) > 1 else 1.0
    exponent = min(max(steep, 0.0), 1.0)
    return float(selected[-1]) / float(sifted[-1]) ** exponent, exponent
