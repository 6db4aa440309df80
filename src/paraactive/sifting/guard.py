"""A guard against wrong labels and outliers, which are selected more often than others: around any learner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paraactive.basics.validation import fraction, one_of, positive
from paraactive.errors import InputError
from paraactive.learners import Learner
from paraactive.learners.base import capabilities_of
from paraactive.learners.guarded import Guarded
from paraactive.streams import Stream
from paraactive.streams.base import StreamDetails
from paraactive.streams.label_checks import label_name

AUTO = "auto"
_WRONG = 0.3
"""The margin of "auto"; benchmarks/bench_noise.py measures what it does."""


@dataclass(frozen=True)
class Guard:
    """Limits the effect of wrong labels and outliers. None turns a part off.

    Parameters
    ----------
    floor : float, "auto" or None, default=None
        Lower bound on the sampling probability, the same as `floor` of `train`. Weights are at most 1/floor, and stay
        exact. None: the floor of the run.
    cap : float or None, default=None
        Upper bound on the weight of an example. It biases the model; see `learners.guarded`.
    set_aside : float, "auto" or None, default="auto"
        Do not learn examples that are misclassified by more than this margin, once 50 examples of their class were
        learned.

        "auto" is 0.3 if scores are margins, as those of an SVM, and None if scores are log-odds, as those of a network:
        a network tolerates wrong labels, and makes more mistakes if it does not learn from its own mistakes.

    Examples
    --------
    >>> from paraactive import LaSVM
    >>> Guard().learner(LaSVM()).set_aside
    0.3
    """

    floor: float | str | None = None
    cap: float | None = None
    set_aside: float | str | None = AUTO

    def __post_init__(self) -> None:
        if self.floor is not None and self.floor != AUTO:
            object.__setattr__(self, "floor", fraction("floor", self.floor))
        if self.cap is not None:
            object.__setattr__(self, "cap", positive("cap", self.cap))
        if isinstance(self.set_aside, str) and self.set_aside != AUTO:
            raise InputError(
                f"set_aside is {self.set_aside!r}", why='it is a margin, "auto" or None', remedy="give one of these"
            )
        if self.set_aside is not None and not isinstance(self.set_aside, str):
            object.__setattr__(self, "set_aside", positive("set_aside", self.set_aside))

    def learner(self, learner: Learner, class_weight: Sequence[float] | None = None) -> Learner:
        """The learner with the cap, the margin and class weights.

        Parameters
        ----------
        learner : Learner
            Any learner.
        class_weight : sequence of float, optional
            Weight of each class.

        Returns
        -------
        Learner
            A `Guarded` around the learner, or the learner itself if nothing is set.
        """
        margin = self.set_aside
        if isinstance(margin, str):
            margin = None if capabilities_of(learner).log_odds else _WRONG
        if self.cap is None and margin is None and class_weight is None:
            return learner
        return Guarded(learner, self.cap, margin, class_weight=class_weight)


def checked_guard(guard: Guard | bool | None) -> Guard:
    """The guard that a user asks for.

    Parameters
    ----------
    guard : Guard, bool or None
        True: the default guard. False or None: no guard.

    Returns
    -------
    Guard
        The guard. One that does nothing if there is none.
    """
    if not isinstance(guard, Guard | bool | None):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(
            f"guard is of type {type(guard).__name__}",
            why="it is on, off, or a Guard",
            remedy="give True, or one as Guard(cap=10)",
        )
    return guard if isinstance(guard, Guard) else Guard() if guard else Guard(None, None, None)


def class_weights(given: Mapping[Any, float] | str | None, stream: Stream) -> tuple[float, ...] | None:
    """The weight of each class of a stream.

    Parameters
    ----------
    given : mapping, "balanced" or None
        Weights by class name; classes that are not named have weight 1. "balanced": inverse to the class frequency.
    stream : Stream
        The stream.

    Returns
    -------
    tuple of float or None
        Weights in the order of the classes.

    Examples
    --------
    >>> from paraactive import Arrays
    >>> stream = Arrays([[1.0], [2.0], [3.0], [4.0]], ["ham", "ham", "ham", "spam"])
    >>> class_weights("balanced", stream), class_weights({"spam": 5}, stream)
    ((0.6666666666666666, 2.0), (1.0, 5.0))
    """
    if given is None:
        return None
    if isinstance(given, str):
        counts = StreamDetails(stream).counts
        if given != "balanced" or counts is None:
            raise InputError(
                f"class_weight is {given!r}",
                why="the stream does not know how often each class occurs"
                if counts is None
                else "it must be 'balanced'",
                remedy="give a weight for each class by its name" + (', or "balanced"' if counts else ""),
            )
        return tuple(sum(counts) / (len(counts) * max(count, 1)) for count in counts)
    if not isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(
            f"class_weight is of type {type(given).__name__}",
            why="it is a weight for each class, by its name",
            remedy='give it as {"spam": 5}, or "balanced"',
        )
    named = {label_name(name): weight for name, weight in given.items()}
    for name in named:
        one_of("class", name, stream.classes)
    return tuple(positive("class_weight", named.get(name, 1.0)) for name in stream.classes)
