"""A stream with some wrong labels, to measure how learners cope with them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paraactive.basics import philox
from paraactive.basics.validation import fraction, whole
from paraactive.data.examples import Examples, Ints
from paraactive.data.labels import labels_of, numbers_of
from paraactive.streams import Stream

# Numbers of the random sequences. Those in `philox` are smaller.
_FLIPS, _OTHERS = 64, 65


@dataclass(frozen=True)
class FlippedLabels:
    """A stream in which some labels are replaced by another class, drawn uniformly from the other classes.

    Whether a label is replaced depends on the seed and the key of the example, so an example has the same label in
    every pass.

    Parameters
    ----------
    stream : Stream
        The stream with correct labels.
    rate : float
        Share of the labels to replace, in [0, 1].
    seed : int, optional
        Seed of the replacements. Default: 0.

    Examples
    --------
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
        """Number of features."""
        return self.stream.width

    @property
    def length(self) -> int | None:
        """Number of examples; None if the stream has no end."""
        return self.stream.length

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes."""
        return self.stream.classes

    @property
    def regenerates(self) -> bool:
        """False, because a run file cannot describe this stream."""
        return False

    def read(self, first: int, last: int) -> Examples:
        """See `Stream.read`."""
        return self._noisy(self.stream.read(first, last))

    def at(self, index: Ints) -> Examples:
        """See `Stream.at`."""
        return self._noisy(self.stream.at(index))

    def flipped(self, key: Ints) -> NDArray[np.bool_]:
        """Return which examples have a wrong label.

        Parameters
        ----------
        key : array of int64
            Keys of the examples.

        Returns
        -------
        array of bool
            True where the label is wrong.
        """
        return philox.uniforms(self.seed, _FLIPS, key) < self.rate

    def _noisy(self, examples: Examples) -> Examples:
        classes = len(self.classes)
        number = numbers_of(examples.y, classes)
        shift = 1 + (philox.uniforms(self.seed, _OTHERS, examples.key) * (classes - 1)).astype(np.intp)
        wrong = np.where(self.flipped(examples.key), (number + shift) % classes, number)
        return Examples(examples.x, labels_of(wrong, classes), examples.index, examples.key, examples.importance)
