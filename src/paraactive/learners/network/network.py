"""Network: one hidden layer trained with AdaGrad, example by example or in minibatches. Loops in `network_loops`."""

from __future__ import annotations

import math
from typing import Any

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


class Network:
    """A network with one hidden layer of sigmoid units and a linear output, or one for each of more than two classes.

    Parameters
    ----------
    hidden : hidden units.
    step : step size of AdaGrad.
    seed : of the first weights.
    loss : "logistic", log(1 + exp(-y f)), or "squared", (1 - y f)^2 / 2. The rule `Gradient` takes scores for those of
        the logistic loss; those of the squared loss stay near -1 and 1, where it selects nearly everything. With more
        than two classes "logistic" is the cross entropy -log softmax_y(f), and "squared" draws the output of the
        label to 1 and all others to -1.
    importance_aware : if True, a step of weight w moves the output as w small steps do, so that a large weight does not
        overshoot (see `learners.importance`). An update then takes about twice as long. If False, as in the paper,
        the gradient is multiplied by w. For two classes only.
    classes : how many to tell apart. If None, as many as the stream has that it is trained on, and 2 without one.
    minibatch : examples of the log that one step takes. If more than 1, the step is on sum(weight loss) / minibatch,
        also for the rest that a round ends with, as in `TorchLearner`: several times faster for each example, but it
        takes more of them to get as far. Not with `importance_aware`.

    Rows may be sparse: then their zeros cost nothing, and the model is the same, bit for bit.

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
        importance_aware: bool = False,
        classes: int | None = None,
        minibatch: int = 1,
    ) -> None:
        self.hidden, self.step, self.seed = whole("hidden", hidden, 1), positive("step", step), whole("seed", seed)
        self.loss, self.importance_aware = one_of("loss function", loss, _LOSSES), importance_aware
        if not isinstance(importance_aware, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(
                f"importance_aware is {importance_aware!r}", why="it is on or off", remedy="give True or False"
            )
        self.minibatch = whole("minibatch", minibatch, 1)
        if importance_aware and self.minibatch > 1:
            raise InputError(
                f"importance_aware is True with minibatch {self.minibatch}",
                why="its steps have a closed form for one example only",
                remedy="give minibatch=1, or importance_aware=False",
            )
        self._state: State = {}
        self._gather = Minibatches(self.minibatch)
        self.classes = classes

    @property
    def classes(self) -> int | None:
        """How many it tells apart. While it is None, nobody has said: then there are 2."""
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
        """True if scores are log-odds, of which probabilities can be made."""
        return self.loss == "logistic"

    def describe(self) -> dict[str, Any]:
        """The constructor's parameters."""
        names = ("hidden", "step", "seed", "loss", "importance_aware", "classes", "minibatch")
        return {name: getattr(self, name) for name in names}

    def score(self, x: ArrayLike | SparseRows) -> Doubles:
        """f(x) for each row, or f_c(x) of each class if there are more than two; 0 before the first update."""
        rows = x if isinstance(x, SparseRows) else np.asarray(x)
        out = np.zeros((len(rows), self._outputs))
        if self._state:
            forward: Any = network_loops.forward_sparse if isinstance(rows, SparseRows) else network_loops.forward
            forward(*self._features(rows), out, self.hidden, *self._parameters())
        return out.reshape(score_shape(len(rows), self._told))

    def update(self, selected: Selected) -> None:
        """One step for each example, of weight 1/p, or for each minibatch that is whole."""
        examples = selected.examples
        self._check_labels(examples.y)
        if not self._state:
            self._start(examples.width)
        if self.minibatch == 1:
            learn: Any = network_loops.learn_sparse if isinstance(examples.x, SparseRows) else network_loops.learn
            learn(
                *self._features(examples.x), examples.y, selected.weight,
                _LOSSES[self.loss], self.importance_aware, np.float32(self.step), self.hidden,
                *self._parameters(), *self._parameters("_squares"),
            )  # fmt: skip
        else:
            self._features(examples.x)
            for minibatch in self._gather.add(selected):
                self._learn_together(minibatch)
        self._check_finite()

    def end_round(self) -> None:
        """One step for the examples that wait for a whole minibatch, if any do."""
        if self._gather.waiting:
            self._learn_together(self._gather.rest())
            self._check_finite()

    def _learn_together(self, batch: Minibatch) -> None:
        sparse = isinstance(batch.x, SparseRows)
        learn: Any = network_loops.learn_together_sparse if sparse else network_loops.learn_together
        learn(
            *self._features(batch.x), batch.y, batch.weight / self.minibatch,
            _LOSSES[self.loss], np.float32(self.step), self.hidden,
            *self._parameters(), *self._parameters("_squares"),
        )  # fmt: skip

    def _features(self, x: ArrayLike | SparseRows) -> list[Any]:
        """As the loops take them; an error if they have another width."""
        rows = check_features(x, self._width)
        return [rows.data, rows.indices, rows.indptr] if isinstance(rows, SparseRows) else [rows]

    def _check_finite(self) -> None:
        if not all(map(math.isfinite, self._state["out_bias"].tolist())):
            raise InputError(
                "the network's weights are no longer finite",
                why="features, weights 1/p or steps were too large, or not finite",
                remedy="scale the features, floor p, or give a smaller step",
            )

    @property
    def _width(self) -> int:
        return len(self._state["weight"])

    @property
    def _told(self) -> int:
        return self._classes or 2

    @property
    def _outputs(self) -> int:
        return 1 if self._told == 2 else self._told

    def _check_classes(self, classes: int, state: State) -> None:
        """An error if this network cannot tell so many, or these are weights for another number."""
        if classes > MAX_CLASSES:
            raise InputError(
                f"classes is {classes}", why=f"there are labels for {MAX_CLASSES}", remedy="make groups of the labels"
            )
        if classes > 2 and self.importance_aware:
            raise InputError(
                f"importance_aware is True with {classes} classes",
                why="its steps have a closed form for two classes only",
                remedy="give importance_aware=False",
            )
        if state and _classes_in(state) != classes:
            raise InputError(
                f"a network that has learnt {_classes_in(state)} classes is to tell {classes}",
                why="each class has its weights",
                remedy="make a new Network",
            )

    def _check_labels(self, y: Labels) -> None:
        """An error if there are others than those of its classes: the loops take them as they come."""
        labels = (-1, 1) if self._told == 2 else range(self._told)
        wrong = set(y.tolist()).difference(labels)  # For the few examples of an update, faster than numpy.
        if wrong:
            between = "and" if self._told == 2 else "to"
            raise InputError(
                f"an example has label {min(wrong)}",
                why=f"the network is for {self._told} classes, with labels {labels[0]} {between} {labels[-1]}",
                remedy="give such labels, or the number of classes, as Network(classes=3)",
            )

    def _parameters(self, suffix: str = "") -> list[Any]:
        """As the loops take them: the weights of the outputs with a row for each."""
        weight, bias, out_weight, out_bias = (self._state[name + suffix] for name in _PARAMETERS)
        return [weight, bias, out_weight.reshape(len(out_bias), len(bias)), out_bias]

    def _start(self, width: int) -> None:
        """First weights: uniform in +-1/sqrt(inputs), lanes beyond `hidden` 0."""
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
        """Weights and AdaGrad's sums of squares, and examples that wait; nothing before the first update."""
        return {name: array.copy() for name, array in self._state.items()} | self._gather.save()

    def load(self, state: State) -> None:
        """Become the learner that was saved, with its number of classes if nobody has said another."""
        classes = _classes_in(state) if state and self._classes is None else self._told
        self._check_classes(classes, state)
        self._gather.load(state)
        if classes > 2:
            self._classes = classes
        names = [name + suffix for name in _PARAMETERS for suffix in ("", "_squares")] if state else []
        self._state = {name: np.array(state[name], order="C") for name in names}

    def digest(self) -> str:
        """Equal digests, equal models."""
        return digest(self._state | self._gather.save())


def _classes_in(state: State) -> int:
    """How many the network tells that these are the weights of."""
    return max(2, len(state["out_bias"]))
