"""A stream with some labels wrong, to see what a learner makes of them. Which are wrong is a matter of (seed, key)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paraactive.basics import philox
from paraactive.basics.validation import fraction, whole
from paraactive.data.examples import Examples, Ints
from paraactive.data.labels import labels_of, numbers_of
from paraactive.streams import Stream

_FLIPS, _OTHERS = 64, 65
"""Purposes of random numbers; those in `philox` are below."""


@dataclass(frozen=True)
class FlippedLabels:
    """The stream with this share of its labels replaced by another class, drawn evenly from the others.

    An example that comes again in another pass has the same label.

    >>> from paraactive import Digits
    >>> noisy, clean = FlippedLabels(Digits(), 0.1), Digits()
    >>> differ = noisy.read(0, 1000).y != clean.read(0, 1000).y
    >>> bool((differ == noisy.flipped(clean.read(0, 1000).key)).all()), 80 < int(differ.sum()) < 120
    (True, True)
    """

    stream: Stream
    rate: float
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", fraction("rate", self.rate))
        object.__setattr__(self, "seed", whole("seed", self.seed))

    @property
    def width(self) -> int:
        """That of the stream."""
        return self.stream.width

    @property
    def length(self) -> int | None:
        """That of the stream."""
        return self.stream.length

    @property
    def classes(self) -> tuple[str, ...]:
        """Those of the stream."""
        return self.stream.classes

    @property
    def regenerates(self) -> bool:
        """False: a run file does not know the stream by its name."""
        return False

    def read(self, first: int, last: int) -> Examples:
        """The examples at positions first <= index < last."""
        return self._noisy(self.stream.read(first, last))

    def at(self, index: Ints) -> Examples:
        """The examples at these positions."""
        return self._noisy(self.stream.at(index))

    def flipped(self, key: Ints) -> NDArray[np.bool_]:
        """Which of these examples have a wrong label."""
        return philox.uniforms(self.seed, _FLIPS, key) < self.rate

    def _noisy(self, examples: Examples) -> Examples:
        classes = len(self.classes)
        number = numbers_of(examples.y, classes)
        on = 1 + (philox.uniforms(self.seed, _OTHERS, examples.key) * (classes - 1)).astype(np.intp)
        wrong = np.where(self.flipped(examples.key), (number + on) % classes, number)
        return Examples(examples.x, labels_of(wrong, classes), examples.index, examples.key, examples.importance)
