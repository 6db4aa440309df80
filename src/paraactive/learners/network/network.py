"""Network: one hidden layer trained with AdaGrad, example by example or in minibatches. Loops in `network_loops`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from paraactive.basics import philox
from paraactive.basics.state import State, digest
from paraactive.basics.validation import one_of, positive, whole
from paraactive.data.examples import Doubles, Labels, Selected, SparseRows
from paraactive.data.labels import MAX_CLASSES, score_shape
from paraactive.errors import InputError
from paraactive.learners.network import network_loops
from paraactive.learners.rows import check_features
from paraactive.learners.simd.blocks import LANES, panels_for
from paraactive.learners.wrappers.minibatches import Minibatch, Minibatches

_PARAMETERS = ("weight", "bias", "out_weight", "out_bias")
_LOSSES = {"logistic": network_loops.LOGISTIC, "squared": network_loops.SQUARED}

_Loop: TypeAlias = Callable[..., None]


class Network:
    """Neural network with one hidden layer of sigmoid units and linear outputs, trained with AdaGrad.

    It has one output for two classes, and one for each class for more. Rows may be sparse: their zeros then cost
    nothing, and the model is the same, bit for bit.

    Parameters
    ----------
    hidden : int, default=100
        Number of hidden units.
    step : float, default=0.07
        Step size (learning rate) of AdaGrad.
    seed : int, default=0
        Seed of the initial weights.
    loss : {"logistic", "squared"}, default="logistic"
        Loss function: "logistic" is log(1 + exp(-y f)), "squared" is (1 - y f)^2 / 2. With more than two classes,
        "logistic" is the cross entropy -log softmax_y(f), and "squared" draws the output of the label to 1 and all
        others to -1. The rule `Gradient` expects scores of the logistic loss: scores of the squared loss stay near
        -1 and 1, where it selects nearly everything.
    classes : int, optional
        Number of classes. Default: the number of classes of the stream, or 2 without a stream.
    minibatch : int, default=1
        Number of examples in each gradient step. With more than 1, a step is on sum(weight * loss) / minibatch, also
        for the examples that are left at the end of a round. Minibatches are several times faster for each example,
        but need more examples for the same accuracy.

    Examples
    --------
    >>> import numpy as np
    >>> from paraactive import Digits, Network, train
    >>> from paraactive.rules import Gradient
    >>> digits = Digits(negative=(5,), positive=(3,), low=0)
    >>> run = train(Network(), digits, rule=Gradient(), examples=16384)
    >>> test = digits.test()
    >>> error = np.mean(np.sign(run.learner.score(test.x)) != test.y)
    >>> print(f"sampling rate {run.sampling_rate:.2f}, error below 3%: {error < 0.03}")
    sampling rate 0.16, error below 3%: True
    """

    releases_gil = True
    sparse = True

    def __init__(
        self,
        hidden: int = 100,
        step: float = 0.07,
        seed: int = 0,
        loss: str = "logistic",
        classes: int | None = None,
        minibatch: int = 1,
    ) -> None:
        self.hidden, self.step, self.seed = whole("hidden", hidden, 1), positive("step", step), whole("seed", seed)
        self.loss = one_of("loss function", loss, _LOSSES)
        self.minibatch = whole("minibatch", minibatch, 1)
        self._state: State = {}
        self._gather = Minibatches(self.minibatch)
        self.classes = classes

    @property
    def classes(self) -> int | None:
        """Number of classes; None, which counts as 2, until it is set."""
        return self._classes

    @classes.setter
    def classes(self, classes: int | None) -> None:
        number = None if classes is None else whole("classes", classes, 2)
        self._check_classes(number or 2, self._state)
        self._classes = number

    def __repr__(self) -> str:
        return f"Network({', '.join(f'{name}={value!r}' for name, value in self.describe().items())})"

    @property
    def log_odds(self) -> bool:
        """Whether scores are log-odds, from which class probabilities follow."""
        return self.loss == "logistic"

    def describe(self) -> dict[str, Any]:
        """Return the constructor's parameters."""
        names = ("hidden", "step", "seed", "loss", "classes", "minibatch")
        return {name: getattr(self, name) for name in names}

    def score(self, x: ArrayLike | SparseRows) -> Doubles:
        """Return f(x) for each row.

        Parameters
        ----------
        x : array-like or SparseRows
            Rows of features.

        Returns
        -------
        ndarray of float64, shape (n,) or (n, classes)
            One score for each row; with more than two classes, one for each class. 0 before the first update.
        """
        rows = x if isinstance(x, SparseRows) else np.asarray(x)
        out = np.zeros((len(rows), self._outputs))
        if self._state:
            forward: _Loop = network_loops.forward_sparse if isinstance(rows, SparseRows) else network_loops.forward
            forward(*self._loop_rows(rows), out, self.hidden, *self._parameters())
        return out.reshape(score_shape(len(rows), self._class_count))

    def update(self, selected: Selected) -> None:
        """Learn examples in order: one step for each example, or for each complete minibatch.

        Parameters
        ----------
        selected : Selected
            Labeled examples with their probabilities p.

        Raises
        ------
        InputError
            If a label is not one of the classes, or the weights are no longer finite.
        """
        examples = selected.examples
        self._check_labels(examples.y)
        if not self._state:
            self._start(examples.width)
        if self.minibatch == 1:
            learn: _Loop = network_loops.learn_sparse if isinstance(examples.x, SparseRows) else network_loops.learn
            learn(
                *self._loop_rows(examples.x), examples.y, selected.weight,
                _LOSSES[self.loss], np.float32(self.step), self.hidden,
                *self._parameters(), *self._parameters("_squares"),
            )  # fmt: skip
        else:
            check_features(examples.x, self._width)
            for minibatch in self._gather.add(selected):
                self._learn_minibatch(minibatch)
        self._check_finite()

    def end_round(self) -> None:
        """Take one step on the examples that wait for a complete minibatch, if any."""
        if self._gather.waiting:
            self._learn_minibatch(self._gather.rest())
            self._check_finite()

    def _learn_minibatch(self, batch: Minibatch) -> None:
        sparse = isinstance(batch.x, SparseRows)
        learn: _Loop = network_loops.learn_together_sparse if sparse else network_loops.learn_together
        learn(
            *self._loop_rows(batch.x), batch.y, batch.weight / self.minibatch,
            _LOSSES[self.loss], np.float32(self.step), self.hidden,
            *self._parameters(), *self._parameters("_squares"),
        )  # fmt: skip

    def _loop_rows(self, x: ArrayLike | SparseRows) -> list[Any]:
        """Return rows as the loops take them, after a check of their width."""
        rows = check_features(x, self._width)
        return [rows.data, rows.indices, rows.indptr] if isinstance(rows, SparseRows) else [rows]

    def _check_finite(self) -> None:
        if not all(map(math.isfinite, self._state["out_bias"].tolist())):
            raise InputError(
                "the network's weights are no longer finite",
                why="features, weights 1/p or the step size were too large, or not finite",
                remedy="scale the features, floor p, or give a smaller step",
            )

    @property
    def _width(self) -> int:
        return len(self._state["weight"])

    @property
    def _class_count(self) -> int:
        return self._classes or 2

    @property
    def _outputs(self) -> int:
        return 1 if self._class_count == 2 else self._class_count

    def _check_classes(self, classes: int, state: State) -> None:
        """Raise an error if there are too many classes, or the weights are for another number of classes."""
        if classes > MAX_CLASSES:
            raise InputError(
                f"classes is {classes}",
                why=f"at most {MAX_CLASSES} classes are supported",
                remedy="make groups of the labels",
            )
        if state and _classes_in(state) != classes:
            raise InputError(
                f"classes is {classes}, and the network has learned {_classes_in(state)} classes",
                why="each class has its own output weights",
                remedy="make a new Network",
            )

    def _check_labels(self, y: Labels) -> None:
        """Raise an error if a label is not one of the classes: the loops do not check labels."""
        labels = (-1, 1) if self._class_count == 2 else range(self._class_count)
        wrong = set(y.tolist()).difference(labels)  # Faster than numpy for the few examples of an update.
        if wrong:
            between = "and" if self._class_count == 2 else "to"
            raise InputError(
                f"an example has label {min(wrong)}",
                why=f"the network is for {self._class_count} classes, with labels {labels[0]} {between} {labels[-1]}",
                remedy="give such labels, or the number of classes, such as Network(classes=3)",
            )

    def _parameters(self, suffix: str = "") -> list[Any]:
        """Return the parameters as the loops take them: `out_weight` with a row for each output."""
        weight, bias, out_weight, out_bias = (self._state[name + suffix] for name in _PARAMETERS)
        return [weight, bias, out_weight.reshape(len(out_bias), len(bias)), out_bias]

    def _start(self, width: int) -> None:
        """Draw the initial weights: uniform in +-1/sqrt(inputs), and 0 in the lanes beyond `hidden`."""
        units, outputs = panels_for(self.hidden) * LANES, self._outputs
        live = np.arange(units) < self.hidden
        draws = philox.uniforms(self.seed, philox.WEIGHTS, np.arange((width + outputs) * units, dtype=np.int64))
        draws = np.where(live, 2.0 * draws.reshape(width + outputs, units) - 1.0, 0.0)
        out_weight = (draws[width:] / np.sqrt(self.hidden)).astype(np.float32)
        self._state = {
            "weight": (draws[:width] / np.sqrt(width)).astype(np.float32),
            "bias": np.zeros(units, np.float32),
            "out_weight": out_weight if outputs > 1 else out_weight[0],
            "out_bias": np.zeros(outputs, np.float32),
        }
        self._state |= {name + "_squares": np.zeros_like(self._state[name]) for name in _PARAMETERS}

    def save(self) -> State:
        """Return the weights, AdaGrad's sums of squares and waiting examples; nothing before the first update."""
        return {name: array.copy() for name, array in self._state.items()} | self._gather.save()

    def load(self, state: State) -> None:
        """See `Learner.load`. Sets the number of classes if none was set.

        Raises
        ------
        InputError
            If the state has another number of classes.
        """
        classes = _classes_in(state) if state and self._classes is None else self._class_count
        self._check_classes(classes, state)
        self._gather.load(state)
        if classes > 2:
            self._classes = classes
        names = [name + suffix for name in _PARAMETERS for suffix in ("", "_squares")] if state else []
        self._state = {name: np.array(state[name], order="C") for name in names}

    def digest(self) -> str:
        """Return a digest of the state: equal digests mean equal models."""
        return digest(self._state | self._gather.save())


def _classes_in(state: State) -> int:
    """Return the number of classes of a saved state."""
    return max(2, len(state["out_bias"]))
