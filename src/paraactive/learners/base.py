"""The contract of a learner: score, update, save, load. Learners know nothing of streams, rules, nodes or engines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from numbers import Integral
from typing import Any, Protocol

from paraactive.basics.state import State
from paraactive.data.examples import Doubles, Floats, Selected


@dataclass(frozen=True, slots=True)
class Proxy:
    """A scorer for the cascade that is much cheaper than the learner itself.

    Parameters
    ----------
    score : callable
        Takes rows and returns nearly the scores that `Learner.score` would return, in the same shape. Pure: each score
        depends on its row alone.
    error_bound : float
        Bound on the difference to the learner's score, as measured. Nearly all scores keep it.
    cost : float
        Cost of a score, in scores of the learner, by the number of operations.
    """

    score: Callable[[Floats], Doubles]
    error_bound: float
    cost: float


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a learner can do beyond the methods of `Learner`, as `capabilities_of` reads it from the learner.

    Parameters
    ----------
    classes : int or None, default=2
        Number of classes that the learner distinguishes. None: the run sets the attribute `classes` of the learner to
        the number of the stream's classes before anything else.
    log_odds : bool, default=False
        Whether scores are log-odds, or log-probabilities up to a constant. Class probabilities follow from such scores.
    releases_gil : bool, default=False
        Whether scoring releases the GIL. Threads then sift in parallel, and "threads" is the default engine.
    sparse : bool, default=False
        Whether `score` and `update` accept `SparseRows`. Other learners get dense rows, a few at a time; see
        `learners.rows`.
    fills_missing : bool, default=False
        Whether features may be missing (NaN).
    steps : int, default=0
        Number of optimizer steps taken. A learner with steps has been trained before.
    vectors : int or None, default=None
        Number of support vectors, for learners that have them.
    sifts : bool, default=True
        Whether sifting suits the learner. If not, the default rule learns every example, and a warning gives the reason
        (the text `why_passive` of the learner, if it has one). A rule that is named sifts all the same.
    """

    classes: int | None = 2
    log_odds: bool = False
    releases_gil: bool = False
    sparse: bool = False
    fills_missing: bool = False
    steps: int = 0
    vectors: int | None = None
    sifts: bool = True


class Learner(Protocol):
    """An online learner that learns weighted examples.

    The effect of an example on the model depends only on the examples before it: `update` on a sequence of examples
    equals `update` on its pieces, bit for bit, wherever the sequence is cut. So replicas agree however entries arrive.

    A learner declares what it can do beyond these methods by attributes with the names of the fields of
    `Capabilities`. A field that it does not declare has its default.

    A learner may offer a `Proxy` by a method `proxy()`, which returns None while there is none. The proxy is part of
    the model: replicas that have learned the same entries have the same proxy, to the bit.

    A learner may have a method `finish(selected)`, which improves the model at the end of a run. It gets all examples
    that were learned. The result must be a function of the model and of these examples.
    """

    def score(self, x: Floats) -> Doubles:
        """Return f(x) for each row. Pure: the model does not change.

        Parameters
        ----------
        x : ndarray of float32, shape (n, width)
            Rows of features.

        Returns
        -------
        ndarray of float64
            With two classes (n,), positive for label +1; with more (n, classes), the largest for the label 0 to C-1.
        """
        ...

    def update(self, selected: Selected) -> None:
        """Learn examples in order, each with its weight. Deterministic.

        Parameters
        ----------
        selected : Selected
            Labeled examples with their probabilities p; the weight of an example is importance / p.
        """
        ...

    def end_round(self) -> None:
        """Do what the learner does once after each round. The log has the places where rounds end."""
        ...

    def save(self) -> State:
        """Return the whole state as named arrays."""
        ...

    def load(self, state: State) -> None:
        """Restore a saved state.

        Parameters
        ----------
        state : dict of str to ndarray
            What `save` returned.
        """
        ...

    def digest(self) -> str:
        """Return a digest of the state: equal digests mean equal models."""
        ...

    def describe(self) -> dict[str, Any]:
        """Return the constructor's parameters as plain numbers and strings."""
        ...


def capabilities_of(learner: object) -> Capabilities:
    """Return what a learner declares of itself.

    Parameters
    ----------
    learner : Learner
        Any learner, also one of the user's own, which declares only what differs from the defaults.

    Returns
    -------
    Capabilities
        One field for each capability. A declared value that is neither None nor an integer or bool is ignored.
    """
    declared = {field.name: getattr(learner, field.name, field.default) for field in fields(Capabilities)}
    # A learner of the user's own may use one of these names for something else: "vectors" may be an array.
    valid: dict[str, Any] = {
        name: value for name, value in declared.items() if value is None or isinstance(value, Integral)
    }
    return Capabilities(**valid)


def proxy_of(learner: Learner) -> Proxy | None:
    """Return the proxy that the learner offers.

    Parameters
    ----------
    learner : Learner
        Any learner.

    Returns
    -------
    Proxy or None
        The proxy for the model as it is now; None if there is none.
    """
    offer = getattr(learner, "proxy", None)
    return None if offer is None else offer()


def can_finish(learner: object) -> bool:
    """Return whether a learner has a finishing step.

    Parameters
    ----------
    learner : Learner
        Any learner. A learner around another one, such as `Guarded`, has the finishing step of the learner inside.
    """
    while hasattr(learner, "learner"):
        learner = learner.learner  # pyright: ignore[reportUnknownVariableType, reportAttributeAccessIssue, reportUnknownMemberType]
    return callable(getattr(learner, "finish", None))


def finish_learner(learner: Learner, selected: Selected) -> None:
    """Let a learner finish, if it has a finishing step.

    Parameters
    ----------
    learner : Learner
        The learner, which has learned all these examples.
    selected : Selected
        All examples that were learned, in order.
    """
    if can_finish(learner):
        learner.finish(selected)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
