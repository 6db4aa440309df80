"""Defaults that keep a run sound on any data: the slope of margin rules, the floor and the budget."""

from __future__ import annotations

from paraactive.data.examples import Features, SparseRows
from paraactive.learners import LaSVM, Learner
from paraactive.learners.base import capabilities_of
from paraactive.learners.standardized import innermost
from paraactive.rules import Rule
from paraactive.schedules import Plan
from paraactive.sifting.budget import find_budget
from paraactive.sifting.sampling import Sampling
from paraactive.streams import Stream
from paraactive.streams.base import StreamDetails

_LOOKED_AT = 256
"""Number of rows that decide what a sparse row costs."""
_LEAST_BOUND, _FEATURES_PER_SLOPE = 3.0, 30.0
"""The bound on the slope of the default rule: features / 30, but at least 3."""


def row_size(x: Features, learner: Learner) -> int:
    """How many values a row has that cost time.

    Parameters
    ----------
    x : ndarray or SparseRows
        Some rows.
    learner : Learner
        The learner, to which sparse rows are given as they are or as dense rows.

    Returns
    -------
    int
        Number of features; for rows that stay sparse, the mean number of values that are not 0, at least 1.
    """
    if not isinstance(x, SparseRows) or not len(x) or not capabilities_of(learner).sparse:
        return x.shape[1]
    return max(round(float(x.lengths.mean())), 1)


def stream_row_size(stream: Stream, learner: Learner, examples: int | None = None) -> int:
    """`row_size` of the first rows of a stream. One row is read, and more only if it is sparse.

    Parameters
    ----------
    stream : Stream
        The stream.
    learner : Learner
        The learner.
    examples : int, optional
        Number of examples of the run. No more rows are read.

    Returns
    -------
    int
        The number.
    """
    first = stream.read(0, 1).x
    limits = [stream.length, examples, StreamDetails(stream).window]
    count = min([_LOOKED_AT, *(each for each in limits if each)])
    return row_size(stream.read(0, count).x if isinstance(first, SparseRows) else first, learner)


def steepest(width: int) -> float:
    """The steepest slope of the margin rules of an SVM by default.

    Without a bound, the slope of data without noise rises with the number of examples, until too few rows near the
    border are selected. The longer rows are, the more it pays to be choosy.

    Parameters
    ----------
    width : int
        Number of features, or of values in a sparse row.

    Returns
    -------
    float
        The slope, to three digits.
    """
    return float(f"{max(_LEAST_BOUND, width / _FEATURES_PER_SLOPE):.3g}")


def is_svm(learner: Learner) -> bool:
    """Whether a learner is our SVM, possibly inside other learners.

    Parameters
    ----------
    learner : Learner
        Any learner.

    Returns
    -------
    bool
        True for LaSVM, whose scores are 1 at the margin.
    """
    return isinstance(innermost(learner), LaSVM)


def find_sampling(
    floor: float | str | None, select: float | str | None, class_weight: tuple[float, ...] | None, by_default: bool,
    rule: Rule, width: int, plan: Plan, has_vectors: bool,
) -> Sampling:  # fmt: skip
    """The sampling policy of a run.

    Parameters
    ----------
    floor, select : float, str or None
        What the user gives; see `train`.
    class_weight : tuple of float or None
        Weight of each class.
    by_default : bool
        Whether what is not given is "auto", otherwise "none".
    rule : Rule
        The rule. One that ignores scores has no floor, and no limit unless the user gives it.
    width : int
        Number of features, or of values in a sparse row.
    plan : Plan
        The numbers of the run.
    has_vectors : bool
        Whether the learner is an SVM. For other learners, `select` "auto" is no limit.

    Returns
    -------
    Sampling
        The policy.
    """
    usual = "auto" if by_default else "none"
    low, number = usual if floor is None else floor, usual if select is None else select
    if number == "auto" and not has_vectors:  # Only the time to learn of an SVM grows with what it has learned.
        number = "none"
    if not rule.needs_scores:  # Such a rule selects what it says.
        low, number = "none", "none" if number == "auto" else number
    budget = None if number == "none" else find_budget(number, width, plan.warmstart, plan.examples)
    return Sampling(None if low == "none" else low, budget, class_weight, by_importance=True)
