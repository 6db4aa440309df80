"""Delays as data: tau(t) for t = 1, 2, ... At step t, the model knows the first n_t = t - tau(t) steps.

tau = 1 is the case without delay. tau(t) = t means that nothing is known. Delays are counted in *examples* that all
nodes have seen together. A report shows the lag in entries of the log instead.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from paraactive.basics import philox
from paraactive.basics.validation import number, whole
from paraactive.data.examples import Ints
from paraactive.errors import InputError
from paraactive.runs.runfile import RunFile


def constant_delays(delay: int, steps: int) -> Ints:
    """Return constant delays: tau(t) = min(delay, t).

    Parameters
    ----------
    delay : int
        The delay, in examples, at least 1.
    steps : int
        Number of steps, at least 1.

    Returns
    -------
    array of int64
        tau(1), tau(2), ... tau(steps).

    Examples
    --------
    >>> constant_delays(3, steps=5).tolist()
    [1, 2, 3, 3, 3]
    """
    return np.minimum(_steps(steps), whole("delay", delay, 1))


def round_delays(batch: int, steps: int) -> Ints:
    """Return the delays of rounds: tau(t) = 1 + (t - 1) mod B. The model is fixed within a round, as in Algorithm 1.

    Parameters
    ----------
    batch : int
        B: examples of a round, at least 1.
    steps : int
        Number of steps, at least 1.

    Returns
    -------
    array of int64
        tau(1), tau(2), ... tau(steps).

    Examples
    --------
    >>> round_delays(3, steps=7).tolist()
    [1, 2, 3, 1, 2, 3, 1]
    """
    return 1 + (_steps(steps) - 1) % whole("batch", batch, 1)


def random_delays(mean: float, steps: int, seed: int) -> Ints:
    """Return random delays: tau(t) = min(g, t), where the g are independent and geometric, P(g > b) = (1 - 1/mean)^b.

    Parameters
    ----------
    mean : float
        Mean of g, in examples, at least 1.
    steps : int
        Number of steps, at least 1.
    seed : int
        Seed of the delays.

    Returns
    -------
    array of int64
        tau(1), tau(2), ... tau(steps).

    Examples
    --------
    >>> random_delays(2, steps=6, seed=0).tolist()
    [1, 1, 2, 1, 2, 2]
    """
    t, mean = _steps(steps), _mean(mean)
    if mean == 1:
        return np.ones(len(t), np.int64)
    u = philox.uniforms(whole("seed", seed), philox.DELAY, t)
    return np.minimum(t, 1 + np.floor(np.log1p(-u) / math.log1p(-1.0 / mean))).astype(np.int64)


def random_delay_bound(mean: float, steps: int, delta: float) -> int:
    """Return a bound on random delays: the least B with steps (1 - 1/mean)^B <= delta.

    Parameters
    ----------
    mean : float
        Mean of the delays before they are cut off, at least 1.
    steps : int
        Number of steps, at least 1.
    delta : float
        Probability with which a delay may be larger, in (0, 1).

    Returns
    -------
    int
        B, with P(max of the delays > B) <= delta.

    Examples
    --------
    >>> random_delay_bound(100, steps=10_000, delta=0.05)
    1215
    """
    mean, steps, delta = _mean(mean), whole("steps", steps, 1), check_delta(delta)
    return 1 if mean == 1 else max(1, math.ceil(math.log(delta / steps) / math.log1p(-1.0 / mean)))


def recorded_delays(path: str | Path) -> Ints:
    """Read the delays of a run from its run file, one for each example seen, in the order of the log.

    tau(t) = t - n_t, where n_t is the number of examples that the model had seen when it sifted example t. Examples of
    the warmstart were not sifted, so n_t = 0. One model sifted all examples of a round, or in an asynchronous run of a
    tile. If nothing in a tile was selected, the file does not know its model; then the model is taken to be as far
    behind as that of the tile before.

    Parameters
    ----------
    path : str or Path
        The run file.

    Returns
    -------
    array of int64
        tau(1), tau(2), ...

    Raises
    ------
    InputError
        If the run ended before its warmstart.
    RunFileError
        If the file is missing, damaged or not a run file.

    Examples
    --------
    >>> import tempfile
    >>> from paraactive import Digits, LaSVM, train
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = train(LaSVM(), Digits(), examples=60, warmstart=20, batch=10, out=folder + "/run.db")
    ...     delays = recorded_delays(folder + "/run.db")
    >>> delays[[19, 20, 29, 30, 59]].tolist()
    [20, 1, 10, 1, 10]
    """
    with RunFile.read(path) as file, file.reraise_as_corruption():
        schedule, lag = file.spec.schedule, file.spec.lag
        ends = [ended.seen for ended in file.log.ended_rounds()]
        tiles = file.log.tiles_sifted()
    if not any(ends):
        raise InputError(f"{path} has no examples", why="the run ended before its warmstart", remedy="resume it first")
    if schedule == "asynchronous":
        pieces = _tile_by_tile(ends[0], tiles)
    else:
        pieces = [(ends[r - 1], ends[r], ends[max(r - 1 - lag, 0)]) for r in range(1, len(ends))]
    known = np.zeros(pieces[-1][1] if pieces else ends[0], np.int64)
    for begin, end, knew in pieces:
        known[begin:end] = np.arange(begin, end) if schedule == "sequential" else knew
    return _steps(len(known)) - known


def _tile_by_tile(warmstart: int, tiles: list[tuple[int, int | None]]) -> list[tuple[int, int, int]]:
    """Return (first, last, known) of each tile. A tile of unknown model is as far behind as the tile before."""
    begin, behind, pieces = warmstart, 0, list[tuple[int, int, int]]()
    for end, knew in tiles:
        behind = behind if knew is None else begin - knew
        pieces.append((begin, end, max(0, begin - behind)))
        begin = end
    return pieces


def check_delays(delays: int | ArrayLike, steps: int) -> Ints:
    """Return valid delays, or raise an error.

    Parameters
    ----------
    delays : int or array_like of int
        tau(t) for each step, with 1 <= tau(t) <= t, or one number for a constant delay.
    steps : int
        Number of steps.

    Returns
    -------
    array of int64
        tau(1), tau(2), ... tau(steps).

    Raises
    ------
    InputError
        If the delays are not whole numbers, too many or too few, or out of range.
    """
    if np.ndim(delays) == 0:
        return constant_delays(whole("delays", delays, 1), steps)
    array = np.asarray(delays)
    if array.dtype.kind not in "iu" or array.shape != (steps,):
        raise InputError(
            f"the delays are {array.dtype} of shape {array.shape}",
            why=f"a delay is needed as a whole number for each of {steps} steps",
            remedy="give one number, or as many delays as steps",
        )
    wrong = np.flatnonzero((array < 1) | (array > _steps(steps)))
    if len(wrong):
        step = int(wrong[0])
        raise InputError(
            f"the delay of step {step + 1} is {array[step]}",
            why="a delay is 1 if all earlier steps are known, and t at step t if none is",
            remedy="give 1 <= tau(t) <= t, as constant_delays and random_delays do",
        )
    return array.astype(np.int64)


def check_delta(delta: float) -> float:
    """Return a probability of failure as a float.

    Parameters
    ----------
    delta : float
        The probability, in (0, 1).

    Returns
    -------
    float
        The same value.

    Raises
    ------
    InputError
        If the value is not in (0, 1).
    """
    plain = number("delta", delta)
    if not 0 < plain < 1:
        raise InputError(
            f"delta is {delta!r}",
            why="it is the probability with which a bound may fail",
            remedy="give 0 < delta < 1, as 0.05",
        )
    return plain


def _steps(steps: int) -> Ints:
    return np.arange(1, whole("steps", steps, 1) + 1, dtype=np.int64)


def _mean(mean: float) -> float:
    plain = number("mean", mean)
    if plain < 1:
        raise InputError(f"mean is {mean!r}", why="no delay is below 1", remedy="give mean >= 1")
    return plain
