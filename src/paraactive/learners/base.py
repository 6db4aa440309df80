"""The learner's contract: score, update, save, load. Learners know nothing of streams, rules, nodes or engines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from numbers import Integral
from typing import Any, Protocol

from paraactive.basics.state import State
from paraactive.data.examples import Doubles, Floats, Selected


@dataclass(frozen=True, slots=True)
class Proxy:
    """A much cheaper scorer than the learner itself, for the cascade."""

    score: Callable[[Any], Doubles]
    """Scores nearly as `Learner.score` would, of the same shape, for the same rows. Pure, row by row."""
    guard: float
    """How far a score may be off, nearly always, as it was measured."""
    cost: float
    """Of a score, in scores of the learner: operations, counted."""


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
    steps : int, default=0
        Number of optimizer steps taken. A learner with steps has been trained before.
    vectors : int or None, default=None
        Number of support vectors, for learners that have them.
    """

    classes: int | None = 2
    log_odds: bool = False
    releases_gil: bool = False
    sparse: bool = False
    steps: int = 0
    vectors: int | None = None


class Learner(Protocol):
    """An online learner that takes weighted examples.

    What an example does to the model depends on the examples before it alone: `update` on a run of them equals
    `update` on its pieces, bit for bit, wherever it is cut. So replicas agree however their entries arrive.

    What a learner can do beyond these methods it declares by attributes with the names of the fields of
    `Capabilities`; a field that it does not declare has its default.

    A learner may offer a `Proxy` by a method `proxy()`, which returns None while there is none. The proxy is part of
    the model: replicas that have learned the same entries have the same proxy, to the bit.
    """

    def score(self, x: Floats) -> Doubles:
        """f(x) for each row, float64. Pure: the model does not change.

        Of two classes, (n,), positive for label +1; of more, (n, classes), the largest for the label 0 to C-1.
        """
        ...

    def update(self, selected: Selected) -> None:
        """Learn from these, in this order, each with its weight 1/p. Deterministic."""
        ...

    def end_round(self) -> None:
        """What the learner does once after each round; the log says where rounds end."""
        ...

    def save(self) -> State:
        """The whole state as named arrays."""
        ...

    def load(self, state: State) -> None:
        """Become the learner that was saved."""
        ...

    def digest(self) -> str:
        """Equal digests, equal models."""
        ...

    def describe(self) -> dict[str, Any]:
        """The constructor's parameters, as plain numbers and strings."""
        ...


def capabilities_of(learner: object) -> Capabilities:
    """What a learner declares of itself.

    Parameters
    ----------
    learner : Learner
        Any learner, also one of the user's own, which declares only what differs from the defaults.

    Returns
    -------
    Capabilities
        One field for each capability. A declared value that is neither None nor an integer or bool is ignored.
    """
    declared: dict[str, Any] = {
        field.name: getattr(learner, field.name, field.default) for field in fields(Capabilities)
    }
    # A learner of the user's own may use one of these names for something else: "vectors" may be an array.
    valid: dict[str, Any] = {
        name: value for name, value in declared.items() if value is None or isinstance(value, Integral)
    }
    return Capabilities(**valid)


def proxy_of(learner: Learner) -> Proxy | None:
    """The proxy that the learner offers; None if it offers none.

    Parameters
    ----------
    learner : Learner
        Any learner.

    Returns
    -------
    Proxy or None
        The proxy for the model as it is now.
    """
    offer = getattr(learner, "proxy", None)
    return None if offer is None else offer()
