"""Whether `fit` chooses the parameters of its learner first, and from what."""

from __future__ import annotations

from paraactive.basics.validation import one_of
from paraactive.learners import Learner
from paraactive.runs.tuning import MOST_EXAMPLES, Tuned, tune
from paraactive.sifting.scaling import AUTO
from paraactive.streams import Arrays

_LEAST_ROWS = 10_000
"""Number of rows from which on "auto" tunes. It then takes less time than the fit."""


def tuned(
    given: bool | str, learner: Learner, is_open: bool, stream: Arrays, warmstart: int, rows: int
) -> Tuned | None:
    """Choose the parameters of the learner on rows of the warmstart, if that is wanted.

    Parameters
    ----------
    given : bool or "auto"
        The parameter `tune` of the estimator.
    learner : Learner
        The untrained learner.
    is_open : bool
        Whether the user named no learner. Only then "auto" tunes, and True may choose a network.
    stream : Arrays
        The rows.
    warmstart : int
        Number of rows that are learned before sifting begins.
    rows : int
        Number of rows in one pass.

    Returns
    -------
    Tuned or None
        What was chosen; None if nothing was tuned.
    """
    is_auto = isinstance(given, str) and one_of("tune", given, (AUTO,), f'give True, False or "{AUTO}"') == AUTO
    if not given or not warmstart or (is_auto and not (is_open and rows >= _LEAST_ROWS)):
        return None
    early = stream.read(0, min(warmstart, MOST_EXAMPLES, rows))  # Of one pass: others would repeat learned rows.
    return tune(learner, early, len(stream.classes), or_network=is_open and not is_auto, cautious=is_auto)
