"""LASVM and the network as plainly as they can be written: slow, in float64, to compare the compiled loops with."""

from __future__ import annotations

from typing import Any

import numpy as np


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


def plain_network_step(parameters: Any, squares: Any, x: Any, y: float, weight: float, step: float) -> None:
    """One AdaGrad step of the network on one example; parameters W (inputs, units), b, v, c in float64."""
    W, b, v, c = parameters
    s = 1 / (1 + np.exp(-(x @ W + b)))
    f = s @ v + c[0]
    slope = -y * weight / (1 + np.exp(y * f))
    delta = slope * v * s * (1 - s)
    for parameter, square, gradient in zip(
        parameters, squares, (np.outer(x, delta), delta, slope * s, np.array([slope])), strict=True
    ):
        square += gradient**2
        parameter -= step * gradient / np.sqrt(square + 1e-12)
