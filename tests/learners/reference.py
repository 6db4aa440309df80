"""LASVM and the network as plainly as they can be written: slow, in float64, to compare the compiled loops with."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from paraactive import LaSVM
from paraactive.learners.lasvm.dual import Dual
from paraactive.learners.lasvm.kernel_cache_loops import fetch_rows


class PlainLaSVM:
    """PROCESS and REPROCESS, straight from the paper, over a given kernel matrix of all examples.

    A step leaves its two gradients equal up to rounding, and the next pair hangs on which is larger: so the order of
    the vectors and of the sums is kept as in the compiled loops.
    """

    def __init__(self, kernel: Any, y: Any, box: Any, C: float, tau: float, steps: int) -> None:
        self.kernel, self.y, self.box = kernel.astype(np.float64), y.astype(np.float64), box
        self.C, self.tau, self.steps = C, tau, steps
        self.live: list[int] = []
        self.alpha: dict[int, float] = {}
        self.g: dict[int, float] = {}
        self.bias = 0.0

    def lower(self, s: int) -> float:
        return min(0.0, self.y[s] * self.box[s])

    def upper(self, s: int) -> float:
        return max(0.0, self.y[s] * self.box[s])

    def extremes(self) -> tuple[int | None, int | None]:
        ups = [s for s in self.live if self.alpha[s] < self.upper(s)]
        downs = [s for s in self.live if self.alpha[s] > self.lower(s)]
        return max(ups, key=self.g.__getitem__, default=None), min(downs, key=self.g.__getitem__, default=None)

    def step(self, i: int | None, j: int | None) -> None:
        if i is None or j is None or self.g[i] - self.g[j] <= self.tau:
            return
        up, down = self.upper(i) - self.alpha[i], self.alpha[j] - self.lower(j)
        curvature = self.kernel[i, i] + self.kernel[j, j] - 2 * self.kernel[i, j]
        move = min((self.g[i] - self.g[j]) / curvature, up, down, self.C)
        self.alpha[i] = self.upper(i) if move == up else self.alpha[i] + move
        self.alpha[j] = self.lower(j) if move == down else self.alpha[j] - move
        for s in self.live:
            self.g[s] -= move * (self.kernel[i, s] - self.kernel[j, s])

    def process(self, k: int) -> None:
        if k in self.live:
            return
        self.g[k] = self.y[k] - sum(self.alpha[s] * self.kernel[k, s] for s in self.live)
        self.alpha[k] = 0.0
        self.live.append(k)
        i, j = self.extremes()
        self.step(*((k, j) if self.y[k] > 0 else (i, k)))
        for _ in range(self.steps):
            self.reprocess()

    def reprocess(self) -> None:
        self.step(*self.extremes())
        i, j = self.extremes()
        if i is None or j is None:
            return
        high, low = self.g[i], self.g[j]
        self.bias = (high + low) / 2
        for s in reversed(list(self.live)):
            useless = self.g[s] >= high if self.y[s] < 0 else self.g[s] <= low
            if self.alpha[s] == 0 and useless:
                # The last takes the place of the one that goes.
                last = self.live.pop()
                if last != s:
                    self.live[self.live.index(s)] = last


def dual_of(svm: LaSVM) -> Dual:
    """Return the vectors and alphas of an SVM that has learned something."""
    assert svm.dual is not None
    return svm.dual


def kernel_in_cache(svm: LaSVM) -> Any:
    """The kernel matrix of the live vectors, as the cache has it; all rows must fit."""
    count, _, cache, vectors = dual_of(svm).loop_arguments()
    fetch_rows(np.arange(count), count, cache, vectors)
    return cache.values[cache.place[:count], :count]


def plain_network_step(
    parameters: Any, squares: Any, x: Any, y: float, weight: float, step: float, loss: str = "logistic"
) -> None:
    """One AdaGrad step of the network on one example; parameters W (inputs, units), b, v, c in float64."""
    _adagrad(parameters, squares, _gradients(parameters, x, y, weight, loss), step)


def plain_softmax_step(
    parameters: Any, squares: Any, x: Any, label: int, weight: float, step: float, loss: str = "logistic"
) -> None:
    """One AdaGrad step of the network with an output for each class; parameters W (inputs, units), b, V (classes,
    units), c in float64."""
    _adagrad(parameters, squares, _softmax_gradients(parameters, x, label, weight, loss), step)


def plain_minibatch_step(
    parameters: Any, squares: Any, x: Any, y: Any, weight: Any, size: int, step: float, loss: str = "logistic"
) -> None:
    """One AdaGrad step on the sum of the weighted gradients of these examples, divided by the size of a minibatch."""
    if len(parameters[3]) == 1:
        each = [_gradients(parameters, *example, loss) for example in zip(x, y, weight, strict=True)]
    else:
        each = [_softmax_gradients(parameters, *example, loss) for example in zip(x, y, weight, strict=True)]
    _adagrad(parameters, squares, [sum(gradients) / size for gradients in zip(*each, strict=True)], step)


def _adagrad(parameters: Any, squares: Any, gradients: Any, step: float) -> None:
    for parameter, square, gradient in zip(parameters, squares, gradients, strict=True):
        square += gradient**2
        parameter -= step * gradient / np.sqrt(square + 1e-12)


def _gradients(parameters: Any, x: Any, y: float, weight: float, loss: str) -> list[Any]:
    f, directions = _directions(parameters, x)
    return [weight * _slope(loss, y, f) * direction for direction in directions]


def _softmax_gradients(parameters: Any, x: Any, label: int, weight: float, loss: str) -> list[Any]:
    W, b, V, _ = parameters
    s = 1 / (1 + np.exp(-(x @ W + b)))
    f = plain_outputs(parameters, x)
    mine = np.arange(len(f)) == label
    slopes = weight * (np.exp(f) / np.exp(f).sum() - mine if loss == "logistic" else f - np.where(mine, 1, -1))
    delta = slopes @ V * s * (1 - s)
    return [np.outer(x, delta), delta, np.outer(slopes, s), slopes]


def plain_outputs(parameters: Any, x: Any) -> Any:
    """f of each class."""
    W, b, V, c = parameters
    return 1 / (1 + np.exp(-(x @ W + b))) @ V.T + c


def plain_softmax_loss(parameters: Any, x: Any, label: int, loss: str) -> float:
    """What the steps of several outputs go down on, at weight 1."""
    f = plain_outputs(parameters, x)
    if loss == "logistic":
        return float(-np.log(np.exp(f[label]) / np.exp(f).sum()))
    return float(np.sum((f - np.where(np.arange(len(f)) == label, 1, -1)) ** 2) / 2)


def _directions(parameters: Any, x: Any) -> tuple[float, list[Any]]:
    """f, and its derivatives by W, b, v, c."""
    W, b, v, c = parameters
    s = 1 / (1 + np.exp(-(x @ W + b)))
    delta = v * s * (1 - s)
    return float(s @ v + c[0]), [np.outer(x, delta), delta, s, np.ones(1)]


def _slope(loss: str, y: float, f: float) -> float:
    """d loss / d f."""
    return -y / (1 + math.exp(y * f)) if loss == "logistic" else f - y
