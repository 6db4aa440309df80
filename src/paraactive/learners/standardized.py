"""A learner around a learner that standardizes the features: each column gets mean 0 and standard deviation 1.

Mean and deviation come from the warmstart and are fixed from then on. They are part of the state, so run files, model
files and all engines have them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from paraactive.basics.state import State, digest
from paraactive.basics.validation import one_of
from paraactive.data.examples import COLUMNS, Doubles, Examples, Floats, Selected, SparseRows, dense
from paraactive.data.labels import check_count, check_labels, score_shape
from paraactive.errors import InputError
from paraactive.learners.base import Learner, Proxy, capabilities_of, finish_learner, proxy_of
from paraactive.learners.guarded import Guarded
from paraactive.learners.lasvm.scale import scale_of
from paraactive.learners.lasvm.svm import LaSVM
from paraactive.learners.rows import check_rows
from paraactive.learners.scaling import ColumnScaling
from paraactive.learners.wrappers.rows_state import rows_from_state, rows_to_state

MEAN = "mean"
"""What a missing value may be replaced by."""
LEAST_EXAMPLES = 20
"""Fewest examples to compute means and deviations from."""
_PROVISIONAL = (LEAST_EXAMPLES, 64, 192, 512)
"""Numbers of examples from which provisional means and deviations are computed while the first round lasts. The rest of
the warmstart is then scored before it is learned, from which a run knows its error early."""
_INNER = "inner."
_BESIDE_X = tuple(name for name in COLUMNS if name != "x")
_SCALING = ("center", "scale", "mean")


class Standardized:
    """A learner that gets standardized features.

    At the end of the first round, the mean and the standard deviation of each feature are computed in float64, where
    each example counts with its weight, and the learner inside learns all examples of the round. From then on the means
    and deviations are fixed. If the first round has fewer than 20 examples, those of the next rounds are waited for.

    Within the first round, the learner inside learns with the means and deviations of the first 20, 64, 192 or 512
    examples, so that it can be used. Before that, all scores are 0. A constant feature becomes 0.

    Sparse rows pass unchanged: subtracting the mean would make them dense.

    Parameters
    ----------
    learner : Learner
        The learner inside.
    classes : int, optional
        Number of classes of the learner inside, if it does not know it yet.
    scale : bool, default=True
        Whether to standardize. If False, only missing values are replaced.
    missing : {"mean"}, optional
        What a missing value (NaN) is replaced by: the mean of its feature. Default: features must not be missing.

    Examples
    --------
    >>> import numpy as np
    >>> from paraactive import Arrays, LaSVM, train
    >>> x = np.random.default_rng(0).normal(size=(2000, 2)) * [1.0, 10_000.0]
    >>> y = np.hypot(x[:, 0], x[:, 1] / 10_000) > 1.2
    >>> run = train(Standardized(LaSVM(gap=0.2)), Arrays(x, y), warmstart=400)
    >>> error = np.mean((run.learner.score(x) > 0) != y)
    >>> print(f"sampling rate {run.sampling_rate:.2f}, error below 3%: {error < 0.03}")
    sampling rate 0.15, error below 3%: True
    """

    def __init__(
        self, learner: Learner, classes: int | None = None, scale: bool = True, missing: str | None = None
    ) -> None:
        self.learner = _checked(learner)
        self.scale = bool(scale)
        self.missing = None if missing is None else one_of("way to fill in missing values", missing, (MEAN,))
        if classes is not None and self.classes is None:
            self.classes = check_count(classes)
        self._scaling: ColumnScaling | None = None
        self._held: list[Selected] = []
        self._untrained: State | None = None

    @property
    def classes(self) -> int | None:
        """Number of classes of the learner inside."""
        return capabilities_of(self.learner).classes

    @classes.setter
    def classes(self, classes: int | None) -> None:
        self.learner.classes = classes  # pyright: ignore[reportAttributeAccessIssue]

    @property
    def fills_missing(self) -> bool:
        """Whether features may be missing (NaN)."""
        return self.missing is not None

    @property
    def scaling(self) -> ColumnScaling | None:
        """Mean and deviation of each feature; None until they are computed, and for sparse rows."""
        return self._scaling

    def describe(self) -> dict[str, Any]:
        """Return the constructor's parameters; the registry describes the learner inside."""
        names = ("learner", "classes", "scale", "missing")
        return {name: getattr(self, name) for name in names}

    def __repr__(self) -> str:
        return f"Standardized({self.learner!r}, classes={self.classes}, scale={self.scale}, missing={self.missing!r})"

    def __getattr__(self, name: str) -> Any:
        # Other attributes of the learner inside: vectors, releases_gil, log_odds. While a copy is being made, there is
        # no learner inside yet.
        if name.startswith("_") or name == "learner":
            raise AttributeError(f"'Standardized' object has no attribute {name!r}")
        return getattr(self.learner, name)

    # Scoring and learning ----------------------------------------------------------------------------------------

    def score(self, x: ArrayLike | SparseRows) -> Doubles:
        """See `Learner.score`. Returns the score of the learner inside; 0 until means and deviations are known."""
        if isinstance(x, SparseRows):
            return self.learner.score(x)  # pyright: ignore[reportArgumentType]
        if self._scaling is None:
            return np.zeros(score_shape(len(np.asarray(x)), self.classes or 2))
        return self.learner.score(self.standardize(x))

    def standardize(self, x: ArrayLike) -> Floats:
        """Return rows as the learner inside gets them.

        Parameters
        ----------
        x : array-like of shape (n, width)
            Rows of features.

        Returns
        -------
        ndarray of float32, shape (n, width)
            The standardized rows. An InputError is raised if means and deviations are not known yet.
        """
        if self._scaling is None:
            raise InputError(
                "the means of the features are not known",
                why="they are computed at the end of the first round",
                remedy="train the learner first",
            )
        return self._scaling.apply(check_rows(x, self._scaling.width))

    def proxy(self) -> Proxy | None:
        """Return the proxy of the learner inside, or None."""
        inside = proxy_of(self.learner)
        if inside is None or self._scaling is None:
            return inside

        def score(x: Floats) -> Doubles:
            return inside.score(self.standardize(x))

        return replace(inside, score=score)

    def update(self, selected: Selected) -> None:
        """Learn examples in order; those of the first round wait for its end.

        Parameters
        ----------
        selected : Selected
            Labeled examples with their probabilities p.
        """
        check_labels(selected.examples.y, self.classes or 2)
        if not len(selected) or isinstance(selected.examples.x, SparseRows):
            self.learner.update(selected)
        elif self._is_fixed:
            self.learner.update(self._standardized(selected))
        else:
            self._hold(selected)

    @property
    def _is_fixed(self) -> bool:
        """Whether means and deviations are final: the first round has ended, and its examples are not held any more."""
        return self._scaling is not None and not self._held

    def _hold(self, selected: Selected) -> None:
        """Keep examples until the end of the round. From 20 on, they are also learned, with provisional scaling."""
        width, before = (self._held[0] if self._held else selected).examples.width, _scaled_by(self._held)
        x = check_rows(selected.examples.x, width)
        self._held.append(_weighing(replace(selected.examples, x=x), selected.weight))
        count = _scaled_by(self._held)
        if count == before:
            if count:
                self.learner.update(self._standardized(self._held[-1]))
            return
        self._forget()
        held = Selected.concatenate(self._held)
        self._untrained, self._scaling = self.learner.save(), self._scaling_of(held.take(slice(0, count)))
        self.learner.update(self._standardized(held))

    def _forget(self) -> None:
        """Take back what was learned with provisional scaling."""
        if self._untrained is not None:
            self.learner.load(self._untrained)
            self._untrained = None

    def _scaling_of(self, selected: Selected) -> ColumnScaling:
        return ColumnScaling.of(selected.examples.x, selected.weight, scale=self.scale)

    def _fix_scaling(self) -> None:
        """Set the means and deviations to those of all examples held, and learn these examples anew."""
        held = Selected.concatenate(self._held)
        self._forget()
        self._held, self._scaling = [], self._scaling_of(held)
        held, svm = self._standardized(held), innermost(self)
        if isinstance(svm, LaSVM):
            svm.known_scale = scale_of(dense(held.examples.x))
        self.learner.update(held)

    def _standardized(self, selected: Selected) -> Selected:
        return replace(selected, examples=replace(selected.examples, x=self.standardize(selected.examples.x)))

    def end_round(self) -> None:
        """Learn the examples that were held back, then end the round of the learner inside."""
        if sum(map(len, self._held)) >= LEAST_EXAMPLES:
            self._fix_scaling()
        if not self._held:
            self.learner.end_round()

    def finish(self, selected: Selected) -> None:
        """Let the learner inside finish on all examples that were learned; see `learners.base.finish_learner`.

        Parameters
        ----------
        selected : Selected
            All examples that were learned, in order.
        """
        sparse = isinstance(selected.examples.x, SparseRows)
        if sparse or self._scaling is not None:
            finish_learner(self.learner, selected if sparse else self._standardized(selected))

    # Saving ------------------------------------------------------------------------------------------------------

    def save(self) -> State:
        """Return the state of the learner inside, the means and deviations, and the examples that are held back."""
        held = Selected.concatenate(self._held) if self._held else Selected.empty(0)
        scaling = self._scaling
        return {
            **{_INNER + name: array for name, array in self.learner.save().items()},
            **{f"held.{name}": getattr(held.examples, name).copy() for name in _BESIDE_X},
            **rows_to_state("held.x", held.examples.x),
            **({} if scaling is None else {f"scaling.{name}": getattr(scaling, name).copy() for name in _SCALING}),
        }

    def load(self, state: State) -> None:
        """See `Learner.load`."""
        untrained = self.learner.save()
        self.learner.load({name.removeprefix(_INNER): state[name] for name in state if name.startswith(_INNER)})
        beside = {name: np.array(state[f"held.{name}"]) for name in _BESIDE_X}
        held = Examples(rows_from_state("held.x", state), **beside)
        self._held = [_weighing(held, held.importance)] if len(held) else []
        is_known = "scaling.center" in state
        known = [np.array(state[f"scaling.{name}"], np.float64) for name in _SCALING] if is_known else []
        self._scaling = ColumnScaling(*known) if known else None
        self._untrained = untrained if self._held and known else None

    def digest(self) -> str:
        """Return a digest of the state: equal digests mean equal models."""
        return digest(self.save())


def _scaled_by(held: list[Selected]) -> int:
    """Number of examples that provisional means and deviations are computed from; 0 if there are too few."""
    total = sum(map(len, held))
    return max((count for count in _PROVISIONAL if count <= total), default=0)


def innermost(learner: Learner) -> Learner:
    """Return the learner inside all wrappers.

    Parameters
    ----------
    learner : Learner
        Any learner.

    Returns
    -------
    Learner
        The learner inside `Guarded` and `Standardized`, in any order; any other learner itself.
    """
    while isinstance(learner, Guarded | Standardized):
        learner = learner.learner
    return learner


def is_standardized(learner: Learner) -> bool:
    """Return whether a learner, or a learner inside a guard, is `Standardized`.

    Parameters
    ----------
    learner : Learner
        Any learner.

    Returns
    -------
    bool
        True if there is a `Standardized`.
    """
    return isinstance(learner, Standardized) or (isinstance(learner, Guarded) and is_standardized(learner.learner))


def _checked(learner: Learner) -> Learner:
    if is_standardized(learner):
        raise InputError(
            "the learner is standardized already", why="one Standardized is enough", remedy="give the learner inside it"
        )
    if isinstance(learner, type) or not hasattr(learner, "update"):
        raise InputError(
            f"{learner!r} cannot be standardized", why="it is not a learner", remedy="give a learner, such as LaSVM()"
        )
    return learner


def _weighing(examples: Examples, weight: Doubles) -> Selected:
    """Return examples with these weights. Where they were sifted does not affect the model."""
    none = np.zeros(len(examples), np.int64)
    return Selected(replace(examples, importance=weight), np.ones(len(examples)), none, none)
