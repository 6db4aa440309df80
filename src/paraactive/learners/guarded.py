"""A learner around a learner that limits the effect of a single example.

It caps weights, and sets examples aside whose labels the model holds to be wrong. Both bias the model, on purpose; the
log keeps the exact p.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paraactive.basics.state import State, digest
from paraactive.basics.validation import positive
from paraactive.data.examples import COLUMNS, Doubles, Examples, Ints, Selected
from paraactive.data.labels import check_count, check_labels, numbers_of, signed_margin
from paraactive.errors import InputError
from paraactive.learners.base import Learner, Proxy, capabilities_of, finish_learner, proxy_of
from paraactive.learners.rows import accepted_by, scores
from paraactive.learners.wrappers.rows_state import rows_from_state, rows_to_state

LISTED = 1000
"""Largest number of keys of set-aside examples that are kept: those with the most negative margins."""
_MIN_LEARNED = 50
"""Examples of a class that must have been learned before its labels are doubted: a model that has not learned a class
finds all its labels wrong."""
_INNER = "inner."
_BESIDE_X = tuple(name for name in COLUMNS if name != "x")


class SetAside(NamedTuple):
    """An example that was not learned.

    Parameters
    ----------
    key : int
        Key of the example: the row of the user's data, whatever the pass.
    margin : float
        Its signed margin at the end of its round, in units of the score: below -set_aside.
    """

    key: int
    margin: float


class Guarded:
    """A learner that is protected against examples that are too heavy or labeled wrongly.

    The effect of an example depends on the log before it and on where rounds ended, as in every learner.

    Parameters
    ----------
    learner : Learner
        The learner inside.
    cap : float, optional
        Upper bound on the weight of an example. Default: no bound.
    set_aside : float, optional
        Margin beyond which an example counts as labeled wrongly, in units of the score. An example that lies further
        than this on the wrong side is not learned in its turn, but waits for the end of the round. If the model still
        finds it that wrong then, it is not learned, and `report` lists it; otherwise it is learned then. Nothing is set
        aside before the first round, the warmstart, has ended, or of a class of which fewer than 50 examples were
        learned. Default: all examples are learned.
    classes : int, optional
        Number of classes of the learner inside, if it does not know it yet.
    class_weight : sequence of float, optional
        Factor of the weight for each class, in the order of the classes. Default: all 1.

    Examples
    --------
    >>> import numpy as np
    >>> from paraactive import Arrays, LaSVM, train
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(4000, 2))
    >>> outside = np.hypot(x[:, 0], x[:, 1]) > 1.2
    >>> flipped = rng.random(4000) < 0.1
    >>> run = train(Guarded(LaSVM(gamma=1.0, gap=0.2), set_aside=0.5), Arrays(x, outside ^ flipped))
    >>> error = np.mean((run.learner.score(x) > 0) != outside)
    >>> print(f"sampling rate {run.sampling_rate:.2f}, error below 3%: {error < 0.03}")
    sampling rate 0.50, error below 3%: True
    >>> wrong = np.mean([flipped[key] for key, _ in run.learner.report()])
    >>> print(f"more than 9 of 10 that were set aside are labeled wrongly: {wrong > 0.9}")
    more than 9 of 10 that were set aside are labeled wrongly: True
    """

    def __init__(
        self,
        learner: Learner,
        cap: float | None = None,
        set_aside: float | None = None,
        classes: int | None = None,
        class_weight: Sequence[float] | None = None,
    ) -> None:
        self.learner = _checked(learner)
        self.class_weight = None if class_weight is None else _weights(class_weight)
        self.cap = None if cap is None else positive("cap", cap)
        self.set_aside = None if set_aside is None else positive(
            "set_aside", set_aside, "it is a distance to the wrong side"
        )  # fmt: skip
        if classes is not None and self.classes is None:
            self.classes = check_count(classes)
        self._check_class_weight(self.classes)
        self._reset()

    @property
    def classes(self) -> int | None:
        """Number of classes of the learner inside."""
        return capabilities_of(self.learner).classes

    @classes.setter
    def classes(self, classes: int | None) -> None:
        self._check_class_weight(classes)
        self.learner.classes = classes  # pyright: ignore[reportAttributeAccessIssue]

    def _check_class_weight(self, classes: int | None) -> None:
        if self.class_weight is not None and classes is not None and len(self.class_weight) != classes:
            raise InputError(
                f"class_weight has {len(self.class_weight)} numbers, and there are {classes} classes",
                why="each class has one weight",
                remedy="give a weight for each class, in the order of the classes",
            )

    def describe(self) -> dict[str, Any]:
        """Return the constructor's parameters; the registry describes the learner inside."""
        return {"learner": self.learner} | self._parameters()

    def __repr__(self) -> str:
        parameters = ", ".join(f"{name}={value!r}" for name, value in self._parameters().items())
        return f"Guarded({self.learner!r}, {parameters})"

    def __getattr__(self, name: str) -> Any:
        # Other attributes of the learner inside: vectors, releases_gil, log_odds. While a copy is being made, there is
        # no learner inside yet.
        if name.startswith("_") or name == "learner":
            raise AttributeError(f"'Guarded' object has no attribute {name!r}")
        return getattr(self.learner, name)

    def _parameters(self) -> dict[str, Any]:
        names = ("cap", "set_aside", "classes", "class_weight")
        return {name: getattr(self, name) for name in names}

    # Learning ----------------------------------------------------------------------------------------------------

    def score(self, x: ArrayLike) -> Doubles:
        """See `Learner.score`. Returns the score of the learner inside."""
        return self.learner.score(x)  # pyright: ignore[reportArgumentType]

    def proxy(self) -> Proxy | None:
        """Return the proxy of the learner inside, or None."""
        return proxy_of(self.learner)

    def update(self, selected: Selected) -> None:
        """Learn examples in order; those that seem labeled wrongly wait for the end of the round.

        Parameters
        ----------
        selected : Selected
            Labeled examples with their probabilities p.
        """
        check_labels(selected.examples.y, self.classes or 2)
        if len(self._learned) != (self.classes or 2):
            self._learned = np.zeros(self.classes or 2, np.int64)
        capped = self._capped(selected)
        if self.set_aside is None or not self._trusted:
            self._learn(capped)
            return
        # One by one: each example that is learned changes the margin of the next.
        for row in range(len(capped)):
            one = accepted_by(self.learner, capped.take(slice(row, row + 1)))
            known = self._learned[self._numbers(one)[0]] >= _MIN_LEARNED
            if known and self._margin(one)[0] < -self.set_aside:
                self._waiting.append(one)
            else:
                self._learn(one)

    def end_round(self) -> None:
        """Decide on the examples that were set aside in this round, then end the round of the learner inside."""
        # In this order: an SVM is reprocessed after the last example is learned.
        if self._waiting and self.set_aside is not None:
            self._decide_again(Selected.concatenate(self._waiting), self.set_aside)
        self.learner.end_round()
        self._trusted = True

    def finish(self, selected: Selected) -> None:
        """Let the learner inside finish on all examples that were learned, with their capped weights.

        Examples that the model finds labeled wrongly, by `set_aside`, are left out.

        Parameters
        ----------
        selected : Selected
            All examples of the log.
        """
        capped = self._capped(selected)
        if self.set_aside is not None:
            margin = signed_margin(scores(self.learner, capped.examples.x), capped.examples.y)
            capped = _rows(capped, margin >= -self.set_aside)
        finish_learner(self.learner, capped)

    def _decide_again(self, waiting: Selected, set_aside: float) -> None:
        margin = self._margin(waiting)
        wrong = margin < -set_aside
        self._waiting = []
        self._note(waiting.examples.key[wrong], margin[wrong])
        if not wrong.all():
            self._returned += int(np.sum(~wrong))
            self._learn(_rows(waiting, ~wrong))

    def _learn(self, selected: Selected) -> None:
        self.learner.update(selected)
        self._learned += np.bincount(self._numbers(selected), minlength=len(self._learned))

    def _numbers(self, selected: Selected) -> NDArray[np.intp]:
        return numbers_of(selected.examples.y, self.classes or 2)

    def _capped(self, selected: Selected) -> Selected:
        """Return the examples with the weights that they are learned with, as importance."""
        weight = selected.weight
        if self.class_weight is not None:
            weight = weight * np.array(self.class_weight)[self._numbers(selected)]
        weight = weight if self.cap is None else np.minimum(weight, self.cap)
        return _weighing(selected.examples, weight)

    def _margin(self, selected: Selected) -> Doubles:
        return signed_margin(self.learner.score(selected.examples.x), selected.examples.y)

    # Set-aside examples ------------------------------------------------------------------------------------------

    @property
    def set_aside_count(self) -> int:
        """Number of examples that were set aside for good, counted each time."""
        return self._left_out

    @property
    def returned_count(self) -> int:
        """Number of examples that were set aside and then learned at the end of their round."""
        return self._returned

    @property
    def set_aside_keys(self) -> Ints:
        """Keys of the examples that were set aside for good, in the order of the log; at most `LISTED`."""
        return self._keys.copy()

    def report(self) -> list[SetAside]:
        """List the examples that were set aside for good.

        Returns
        -------
        list of SetAside
            Each example once, the most negative margin first.
        """
        found: dict[int, float] = {}
        for key, margin in zip(self._keys.tolist(), self._margins.tolist(), strict=True):
            found[key] = min(margin, found.get(key, margin))
        return [SetAside(key, margin) for key, margin in sorted(found.items(), key=lambda item: item[1])]

    def _note(self, key: Ints, margin: Doubles) -> None:
        self._left_out += len(key)
        keys, margins = np.concatenate([self._keys, key]), np.concatenate([self._margins, margin])
        kept = np.sort(np.argsort(margins, kind="stable")[:LISTED])
        self._keys, self._margins = keys[kept], margins[kept]

    def _reset(self) -> None:
        self._trusted, self._left_out, self._returned = False, 0, 0
        self._keys, self._margins = np.zeros(0, np.int64), np.zeros(0)
        self._learned = np.zeros(0, np.int64)
        self._waiting: list[Selected] = []

    # Saving ------------------------------------------------------------------------------------------------------

    def save(self) -> State:
        """Return the state of the learner inside, the waiting examples and the set-aside ones."""
        waiting = Selected.concatenate(self._waiting) if self._waiting else Selected.empty(0)
        return {
            **{_INNER + name: array for name, array in self.learner.save().items()},
            **{f"waiting.{name}": getattr(waiting.examples, name).copy() for name in _BESIDE_X},
            **rows_to_state("waiting.x", waiting.examples.x),
            "counts": np.array([self._trusted, self._left_out, self._returned], np.int64),
            "learnt": self._learned.copy(),
            "keys": self._keys.copy(),
            "margins": self._margins.copy(),
        }

    def load(self, state: State) -> None:
        """See `Learner.load`."""
        self.learner.load({name.removeprefix(_INNER): state[name] for name in state if name.startswith(_INNER)})
        trusted, self._left_out, self._returned = state["counts"].tolist()
        self._trusted, self._learned = bool(trusted), np.array(state["learnt"])
        self._keys, self._margins = np.array(state["keys"]), np.array(state["margins"])
        beside = {name: np.array(state[f"waiting.{name}"]) for name in _BESIDE_X}
        waiting = Examples(rows_from_state("waiting.x", state), **beside)
        self._waiting = [_weighing(waiting, waiting.importance)] if len(waiting) else []

    def digest(self) -> str:
        """Return a digest of the state: equal digests mean equal models."""
        return digest(self.save())


def _checked(learner: Learner) -> Learner:
    inside = getattr(learner, "learner", None)  # Of a Standardized.
    if isinstance(learner, Guarded) or isinstance(inside, Guarded):
        raise InputError(
            "the learner is guarded already", why="one Guarded is enough", remedy="give the learner inside it"
        )
    if isinstance(learner, type) or not hasattr(learner, "update"):
        raise InputError(
            f"{learner!r} cannot be guarded", why="it is not a learner", remedy="give a learner, such as LaSVM()"
        )
    return learner


def _weights(given: Sequence[float]) -> tuple[float, ...]:
    return tuple(positive("class_weight", each, "a class of weight 0 would not be learned") for each in given)


def _weighing(examples: Examples, weight: Doubles) -> Selected:
    """Return examples with these weights. Where they were sifted does not affect the model."""
    none = np.zeros(len(examples), np.int64)
    return Selected(replace(examples, importance=weight), np.ones(len(examples)), none, none)


def _rows(selected: Selected, rows: NDArray[np.bool_]) -> Selected:
    return _weighing(selected.examples.take(rows), selected.examples.importance[rows])
