"""The learner's contract: score, update, save, load. Learners know nothing of streams, rules, nodes or engines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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


class Learner(Protocol):
    """An online learner that takes weighted examples.

    What an example does to the model depends on the examples before it alone: `update` on a run of them equals
    `update` on its pieces, bit for bit, wherever it is cut. So replicas agree however their entries arrive.

    A learner that can tell more than two classes has an attribute `classes`, their number; if it is None, the run that
    it is trained in sets it, to the number of the stream's classes, before anything else. Without it there are two.

    A learner whose scores are log-odds, or log-probabilities up to a constant, says so by `log_odds = True`: then
    there are probabilities of the classes.

    A learner whose scoring releases the GIL says so by an attribute `releases_gil = True`: then threads sift side by
    side, and are where its nodes live if nobody says otherwise.

    A learner may offer a `Proxy` by a method `proxy()`, which returns None while it has none. It belongs to the model:
    replicas that have learnt the same have the same proxy, to the bit.

    A learner that takes sparse rows says so by an attribute `sparse = True`: then `score`, and `update` in its
    examples, may be handed `SparseRows` as well as arrays. To others they come dense, a few at a time; see
    `learners.rows`.
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


def proxy_of(learner: Learner) -> Proxy | None:
    """What the learner offers, if it does."""
    offer = getattr(learner, "proxy", None)
    return None if offer is None else offer()
