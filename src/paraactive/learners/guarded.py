"""A learner around a learner that bounds what one example can do: weights are capped, and what the model is sure is
labelled wrongly is set aside.

Both bias what is learnt, on purpose; the log keeps the exact p.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paraactive.basics.state import State, digest
from paraactive.basics.validation import positive
from paraactive.data.examples import COLUMNS, Doubles, Examples, Ints, Selected
from paraactive.data.labels import check_count, check_labels, numbers_of, signed_margin
from paraactive.errors import InputError
from paraactive.learners.base import Learner, Proxy, capabilities_of, proxy_of
from paraactive.learners.lasvm.svm import LaSVM
from paraactive.learners.network.network import Network
from paraactive.learners.rows import as_taken
from paraactive.learners.wrappers.rows_state import rows_from_state, rows_to_state
from paraactive.learners.wrappers.sklearn_learner import SklearnLearner

KINDS: dict[str, Callable[..., Any]] = {"svm": LaSVM, "network": Network, "sklearn": SklearnLearner}
"""The learners that a description can name."""
LISTED = 1000
"""The most examples that are remembered by their keys: the most confidently wrong."""
_ENOUGH = 50
"""Examples of a class that must have been learnt before the model is believed about its labels: one that has not met a
class is sure of its absence."""
_INNER = "inner."
_BESIDE = tuple(name for name in COLUMNS if name != "x")


class SetAside(NamedTuple):
    """An example that was not learnt."""

    key: int
    """Which example: the row of the user's data, whatever the pass."""
    margin: float
    """How far it was on the right side of the model at the end of its round: below -set_aside."""


class Guarded:
    """The learner, guarded against examples that are too heavy or labelled wrongly.

    Parameters
    ----------
    learner : the learner inside.
    cap : no example is learnt with a larger weight. None: any weight is.
    set_aside : a margin, in units of the score. An example that lies further than this on the wrong side when its turn
        in the log comes is not learnt, but waits for the end of the round. If the model that the others have made then
        finds it that wrong still, it stays out, and `report` says so; otherwise it is learnt then. Nothing is set
        aside before the first round, the warmstart, has ended, nor of a class of which fewer than 50 were learnt: there
        is no model to believe. None: all are learnt.
    classes : of the learner inside, if it has not been told how many there are.
    class_weight : what an example of each class counts for, in the order of the classes; it multiplies the weight.

    What an example does depends on the log before it and on where rounds ended, as in every learner.

    >>> import numpy as np
    >>> from paraactive import Arrays, LaSVM, train
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(4000, 2))
    >>> outside = np.hypot(x[:, 0], x[:, 1]) > 1.2
    >>> flipped = rng.random(4000) < 0.1
    >>> run = train(Guarded(LaSVM(gamma=1.0, gap=0.2), set_aside=0.5), Arrays(x, outside ^ flipped))
    >>> error = np.mean((run.learner.score(x) > 0) != outside)
    >>> print(f"sampling rate {run.sampling_rate:.2f}, error below 3%: {error < 0.03}")
    sampling rate 0.30, error below 3%: True
    >>> wrong = np.mean([flipped[key] for key, _ in run.learner.report()])
    >>> print(f"more than 9 of 10 that were set aside are labelled wrongly: {wrong > 0.9}")
    more than 9 of 10 that were set aside are labelled wrongly: True
    """

    def __init__(
        self,
        learner: Learner | dict[str, Any],
        cap: float | None = None,
        set_aside: float | None = None,
        classes: int | None = None,
        class_weight: Sequence[float] | None = None,
    ) -> None:
        self.learner = _checked(learner)
        self.class_weight = None if class_weight is None else _weights(class_weight)
        self.cap = None if cap is None else positive("cap", cap)
        self.set_aside = None if set_aside is None else positive(
            "set_aside", set_aside, "it is how far on the wrong side an example must lie"
        )  # fmt: skip
        if classes is not None and self.classes is None:
            self.classes = check_count(classes)
        self._check_class_weight(self.classes)
        self._forget()

    @property
    def classes(self) -> int | None:
        """Of the learner inside."""
        return capabilities_of(self.learner).classes

    @classes.setter
    def classes(self, classes: int | None) -> None:
        self._check_class_weight(classes)
        self.learner.classes = classes  # pyright: ignore[reportAttributeAccessIssue]

    def _check_class_weight(self, classes: int | None) -> None:
        if self.class_weight is not None and classes is not None and len(self.class_weight) != classes:
            raise InputError(
                f"class_weight has {len(self.class_weight)} numbers, and there are {classes} classes",
                why="each class has one",
                remedy="give a weight for each, in the order of the classes",
            )

    def _description(self) -> Callable[[], dict[str, Any]]:
        """Gives the constructor's parameters. Only around a learner of ours is there `describe`."""
        for kind, known in KINDS.items():
            if type(self.learner) is known and hasattr(self.learner, "describe"):
                return lambda: {"learner": {"kind": kind} | self.learner.describe()} | self._parameters()
        raise AttributeError(f"around {type(self.learner).__name__} it cannot be described: that is not one of ours")

    # A property, so that one that cannot be described does not have it; types know only the contract's method.
    if TYPE_CHECKING:

        def describe(self) -> dict[str, Any]: ...
    else:
        describe = property(_description)

    def __repr__(self) -> str:
        own = ", ".join(f"{name}={value!r}" for name, value in self._parameters().items())
        return f"Guarded({self.learner!r}, {own})"

    def __getattr__(self, name: str) -> Any:
        # What else the learner inside tells of itself: vectors, releases_gil, log_odds. While a copy is being made
        # there is none inside yet.
        if name.startswith("_") or name in ("learner", "describe"):
            raise AttributeError(f"'Guarded' object has no attribute {name!r}")
        return getattr(self.learner, name)

    def _parameters(self) -> dict[str, Any]:
        names = ("cap", "set_aside", "classes", "class_weight")
        return {name: getattr(self, name) for name in names}

    # Learning ----------------------------------------------------------------------------------------------------

    def score(self, x: ArrayLike) -> Doubles:
        """That of the learner inside."""
        return self.learner.score(x)  # pyright: ignore[reportArgumentType]

    def proxy(self) -> Proxy | None:
        """That of the learner, if it has one."""
        return proxy_of(self.learner)

    def update(self, selected: Selected) -> None:
        """Learn from these, in this order; what is confidently wrong waits for the end of the round."""
        check_labels(selected.examples.y, self.classes or 2)
        if len(self._learnt) != (self.classes or 2):
            self._learnt = np.zeros(self.classes or 2, np.int64)
        capped = self._capped(selected)
        if self.set_aside is None or not self._trusted:
            self._learn(capped)
            return
        # One by one: each that is learnt changes what is thought of the next.
        for row in range(len(capped)):
            one = as_taken(self.learner, capped.take(slice(row, row + 1)))
            known = self._learnt[self._numbers(one)[0]] >= _ENOUGH
            if known and self._margin(one)[0] < -self.set_aside:
                self._waiting.append(one)
            else:
                self._learn(one)

    def end_round(self) -> None:
        """A second look at what was set aside in this round, and then what the learner inside does."""
        # In this order: what is learnt last would leave an SVM rough that has just been reprocessed.
        if self._waiting and self.set_aside is not None:
            self._look_again(Selected.concatenate(self._waiting), self.set_aside)
        self.learner.end_round()
        self._trusted = True

    def _look_again(self, waiting: Selected, set_aside: float) -> None:
        margin = self._margin(waiting)
        wrong = margin < -set_aside
        self._waiting = []
        self._note(waiting.examples.key[wrong], margin[wrong])
        if not wrong.all():
            self._returned += int(np.sum(~wrong))
            self._learn(_rows(waiting, ~wrong))

    def _learn(self, selected: Selected) -> None:
        self.learner.update(selected)
        self._learnt += np.bincount(self._numbers(selected), minlength=len(self._learnt))

    def _numbers(self, selected: Selected) -> NDArray[np.intp]:
        return numbers_of(selected.examples.y, self.classes or 2)

    def _capped(self, selected: Selected) -> Selected:
        """The same examples with the weights that they are learnt with, as importance."""
        weight = selected.weight
        if self.class_weight is not None:
            weight = weight * np.array(self.class_weight)[self._numbers(selected)]
        weight = weight if self.cap is None else np.minimum(weight, self.cap)
        return _weighing(selected.examples, weight)

    def _margin(self, selected: Selected) -> Doubles:
        return signed_margin(self.learner.score(selected.examples.x), selected.examples.y)

    # What was set aside ------------------------------------------------------------------------------------------

    @property
    def set_aside_count(self) -> int:
        """Examples that were set aside for good so far, counted each time."""
        return self._left_out

    @property
    def returned_count(self) -> int:
        """Examples that were learnt at the end of their round, after all."""
        return self._returned

    @property
    def set_aside_keys(self) -> Ints:
        """Which examples were set aside for good, in the order of the log; of very many, the most wrong."""
        return self._keys.copy()

    def report(self) -> list[SetAside]:
        """The examples that were set aside for good, the most confidently wrong first; each once."""
        found: dict[int, float] = {}
        for key, margin in zip(self._keys.tolist(), self._margins.tolist(), strict=True):
            found[key] = min(margin, found.get(key, margin))
        return [SetAside(key, margin) for key, margin in sorted(found.items(), key=lambda item: item[1])]

    def _note(self, key: Ints, margin: Doubles) -> None:
        self._left_out += len(key)
        keys, margins = np.concatenate([self._keys, key]), np.concatenate([self._margins, margin])
        kept = np.sort(np.argsort(margins, kind="stable")[:LISTED])
        self._keys, self._margins = keys[kept], margins[kept]

    def _forget(self) -> None:
        self._trusted, self._left_out, self._returned = False, 0, 0
        self._keys, self._margins = np.zeros(0, np.int64), np.zeros(0)
        self._learnt = np.zeros(0, np.int64)
        self._waiting: list[Selected] = []

    # Saving ------------------------------------------------------------------------------------------------------

    def save(self) -> State:
        """The state of the learner inside, what waits, and what was set aside."""
        waiting = Selected.concatenate(self._waiting) if self._waiting else Selected.empty(0)
        return {
            **{_INNER + name: array for name, array in self.learner.save().items()},
            **{f"waiting.{name}": getattr(waiting.examples, name).copy() for name in _BESIDE},
            **rows_to_state("waiting.x", waiting.examples.x),
            "counts": np.array([self._trusted, self._left_out, self._returned], np.int64),
            "learnt": self._learnt.copy(),
            "keys": self._keys.copy(),
            "margins": self._margins.copy(),
        }

    def load(self, state: State) -> None:
        """Become the learner that was saved."""
        self.learner.load({name.removeprefix(_INNER): state[name] for name in state if name.startswith(_INNER)})
        trusted, self._left_out, self._returned = state["counts"].tolist()
        self._trusted, self._learnt = bool(trusted), np.array(state["learnt"])
        self._keys, self._margins = np.array(state["keys"]), np.array(state["margins"])
        beside = {name: np.array(state[f"waiting.{name}"]) for name in _BESIDE}
        waiting = Examples(rows_from_state("waiting.x", state), **beside)
        self._waiting = [_weighing(waiting, waiting.importance)] if len(waiting) else []

    def digest(self) -> str:
        """Equal digests, equal models."""
        return digest(self.save())


def _checked(learner: Any) -> Learner:
    """The learner, made of its description if that is what is given."""
    if isinstance(learner, dict):
        parameters: dict[str, Any] = dict(learner)
        learner = KINDS[parameters.pop("kind")](**parameters)
    if isinstance(learner, Guarded):
        raise InputError("the learner is guarded already", why="one guard is enough", remedy="give the one inside it")
    if isinstance(learner, type) or not hasattr(learner, "update"):
        raise InputError(f"{learner!r} is to be guarded", why="it is no learner", remedy="give one, as LaSVM()")
    return learner


def _weights(given: Sequence[float]) -> tuple[float, ...]:
    return tuple(positive("class_weight", each, "a class of no weight would not be learnt") for each in given)


def _weighing(examples: Examples, weight: Doubles) -> Selected:
    """These examples with these weights. Where they were sifted is not part of what they do to a model."""
    none = np.zeros(len(examples), np.int64)
    return Selected(replace(examples, importance=weight), np.ones(len(examples)), none, none)


def _rows(selected: Selected, rows: Any) -> Selected:
    return _weighing(selected.examples.take(rows), selected.examples.importance[rows])
