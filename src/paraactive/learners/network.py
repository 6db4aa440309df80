"""Network: one hidden layer trained example by example with AdaGrad. Loops in `network_loops`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from paraactive import philox
from paraactive.errors import InputError
from paraactive.examples import Doubles, Selected
from paraactive.learners import network_loops
from paraactive.learners.blocks import LANES, panels_for
from paraactive.learners.rows import check_rows
from paraactive.state import State, digest
from paraactive.validation import one_of, positive, whole

_PARAMETERS = ("weight", "bias", "out_weight", "out_bias")
_LOSSES = {"logistic": network_loops.LOGISTIC, "squared": network_loops.SQUARED}


class Network:
    """A network with one hidden layer of sigmoid units and a linear output.

    Parameters
    ----------
    hidden : hidden units.
    step : step size of AdaGrad.
    seed : of the first weights.
    loss : "logistic", log(1 + exp(-y f)), or "squared", (1 - y f)^2 / 2. The rule `Gradient` takes scores for those of
        the logistic loss; those of the squared loss stay near -1 and 1, where it selects nearly everything.
    importance_aware : if True, a step of weight w moves the output as w small steps do, so that a large weight does not
        overshoot (see `learners.importance`). An update then takes about twice as long. If False, as in the paper,
        the gradient is multiplied by w.

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

    def __init__(
        self,
        hidden: int = 100,
        step: float = 0.07,
        seed: int = 0,
        loss: str = "logistic",
        importance_aware: bool = False,
    ) -> None:
        self.hidden, self.step, self.seed = whole("hidden", hidden, 1), positive("step", step), whole("seed", seed)
        self.loss, self.importance_aware = one_of("loss function", loss, _LOSSES), importance_aware
        if not isinstance(importance_aware, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(
                f"importance_aware is {importance_aware!r}", why="it is on or off", remedy="give True or False"
            )
        self._state: State = {}

    def __repr__(self) -> str:
        return f"Network({', '.join(f'{name}={value!r}' for name, value in self.describe().items())})"

    def describe(self) -> dict[str, Any]:
        """The constructor's parameters."""
        return {name: getattr(self, name) for name in ("hidden", "step", "seed", "loss", "importance_aware")}

    def score(self, x: ArrayLike) -> Doubles:
        """f(x) for each row; 0 before the first update."""
        rows = np.asarray(x)
        out = np.zeros(len(rows))
        if self._state:
            network_loops.forward(check_rows(rows, self._width), out, *self._parameters())
        return out

    def update(self, selected: Selected) -> None:
        """One step for each example, of weight 1/p."""
        if not self._state:
            self._start(selected.examples.width)
        examples = selected.examples
        network_loops.learn(
            check_rows(examples.x, self._width), examples.y, selected.weight,
            _LOSSES[self.loss], self.importance_aware, np.float32(self.step), self.hidden,
            *self._parameters(), *(self._state[name + "_squares"] for name in _PARAMETERS),
        )  # fmt: skip

        if not np.isfinite(self._state["out_bias"][0]):
            raise InputError(
                "the network's weights are no longer finite",
                why="features, weights 1/p or steps were too large, or not finite",
                remedy="scale the features, floor p, or give a smaller step",
            )

    def end_round(self) -> None:
        """Nothing: a network has no work between rounds."""

    @property
    def _width(self) -> int:
        return len(self._state["weight"])

    def _parameters(self) -> list[Any]:
        return [self._state[name] for name in _PARAMETERS]

    def _start(self, width: int) -> None:
        """First weights: uniform in +-1/sqrt(inputs), lanes beyond `hidden` 0."""
        units = panels_for(self.hidden) * LANES
        live = np.arange(units) < self.hidden
        draws = philox.uniforms(self.seed, philox.WEIGHTS, np.arange((width + 1) * units, dtype=np.int64))
        draws = (2.0 * draws.reshape(width + 1, units) - 1.0) * live
        self._state = {
            "weight": (draws[:width] / np.sqrt(width)).astype(np.float32),
            "bias": np.zeros(units, np.float32),
            "out_weight": (draws[width] / np.sqrt(self.hidden)).astype(np.float32),
            "out_bias": np.zeros(1, np.float32),
        }
        self._state |= {name + "_squares": np.zeros_like(self._state[name]) for name in _PARAMETERS}

    def save(self) -> State:
        """Weights and AdaGrad's sums of squares; nothing before the first update."""
        return {name: array.copy() for name, array in self._state.items()}

    def load(self, state: State) -> None:
        """Become the learner that was saved."""
        self._state = {name: np.array(array, order="C") for name, array in state.items()}

    def digest(self) -> str:
        """Equal digests, equal models."""
        return digest(self._state)
