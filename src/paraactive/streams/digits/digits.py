"""The bundled digits: MNIST, and after its first pass an unlimited number of deformed copies of it.

A `Digits` object is a few numbers. The images, the fields and the order are opened once a process, where they are
first read; how a digit is deformed is written in `deformations`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from paraactive.basics import philox
from paraactive.basics.validation import whole
from paraactive.data.examples import Examples, Floats, Ints, Labels
from paraactive.data.labels import labels_of
from paraactive.errors import InputError
from paraactive.streams.digits.deformations import SIDE, fields, gaussian, laid_out, render
from paraactive.streams.user_stream import check_positions, position_range

Bytes = NDArray[np.uint8]

_PIXELS = SIDE * SIDE


@dataclass(frozen=True)
class Digits:
    """A task on handwritten digits that never ends: two groups of them to tell apart, or more.

    The first examples are the MNIST training digits of the task, in an order that the seed decides. From then on the
    same digits return in the same order, each time deformed in another way. The example at a position depends on the
    seed and the position alone, so any node can make any example, and no example needs to be stored.

    >>> stream = Digits(negative=(5,), positive=(3,), seed=1)
    >>> piece = stream.read(100_000, 100_008)
    >>> piece.x.shape, float(piece.x.min()), stream.classes, stream.length
    ((8, 784), -1.0, ('5', '3'), None)
    >>> len(stream.test())
    1902
    >>> Digits.all().classes
    ('0', '1', '2', '3', '4', '5', '6', '7', '8', '9')
    """

    negative: Sequence[int] = (5, 7)
    """The digits of label -1."""
    positive: Sequence[int] = (3, 1)
    """The digits of label +1."""
    seed: int = 0
    """Decides the order and the deformations."""
    low: float = -1.0
    """Blank paper."""
    high: float = 1.0
    """Full ink."""
    groups: Sequence[Sequence[int]] | None = None
    """Three groups of digits or more, in place of `negative` and `positive`: the labels 0, 1, 2 and so on."""

    def __post_init__(self) -> None:
        # Plain tuples and numbers: they are compared, hashed for the caches, and written to run files.
        if self.groups is None:
            object.__setattr__(self, "negative", _digits("negative", self.negative))
            object.__setattr__(self, "positive", _digits("positive", self.positive))
        else:
            object.__setattr__(self, "groups", tuple(_digits("a group", group) for group in self.groups))
            _check_groups(self.groups)
            for name in ("negative", "positive"):
                object.__setattr__(self, name, ())
        object.__setattr__(self, "seed", whole("seed", self.seed))
        object.__setattr__(self, "low", float(self.low))
        object.__setattr__(self, "high", float(self.high))
        _check_disjoint(self._groups)
        _check_range(self.low, self.high)

    @classmethod
    def all(cls, seed: int = 0, low: float = -1.0, high: float = 1.0) -> Digits:
        """All ten digits, each a class of its own."""
        return cls(seed=seed, low=low, high=high, groups=tuple((digit,) for digit in range(10)))

    @property
    def width(self) -> int:
        """784 pixels."""
        return _PIXELS

    @property
    def length(self) -> int | None:
        """None: there is always another deformed copy."""
        return None

    @property
    def classes(self) -> tuple[str, ...]:
        """The digits of each label, such as '5,7' and '3,1'."""
        return tuple(",".join(map(str, group)) for group in self._groups)

    @property
    def regenerates(self) -> bool:
        """True: the package holds all that is needed to read it again."""
        return True

    @property
    def originals(self) -> int:
        """MNIST training digits of the task: the examples before this position are undeformed."""
        return len(_training_images(self._task)[1])

    def read(self, first: int, last: int) -> Examples:
        """The examples at positions first <= index < last."""
        return self._make(position_range(first, last, self.length))

    def at(self, index: Ints) -> Examples:
        """The examples at these positions."""
        return self._make(check_positions(index, self.length))

    def test(self) -> Examples:
        """The MNIST test digits of the task, undeformed, in their published order.

        >>> len(Digits().test())
        4065
        """
        pixels, digits = _images("test", self._task)
        return Examples(self._levels()[pixels], self._label(digits), np.arange(len(digits)))

    @property
    def _task(self) -> tuple[int, ...]:
        # Sorted, so that both signs of a task, and all its seeds, share one copy of the images.
        return tuple(sorted(digit for group in self._groups for digit in group))

    @property
    def _groups(self) -> Sequence[Sequence[int]]:
        return (self.negative, self.positive) if self.groups is None else self.groups

    def _make(self, index: Ints) -> Examples:
        pixels, digits = _training_images(self._task)
        rows = _order(self.seed, len(digits))[index % len(digits)]
        draws = philox.words(self.seed, philox.DEFORMATION, index)
        x = np.empty((len(index), _PIXELS), np.float32)
        weights = gaussian(0.9).astype(np.float32)
        render(pixels, rows, index < len(digits), draws, fields(), weights, self._levels(), x)
        return Examples(x, self._label(digits[rows]), index)

    def _levels(self) -> Floats:
        """The feature for each grey value 0..255."""
        return (self.low + np.arange(256) * (self.high - self.low) / 255).astype(np.float32)

    def _label(self, digits: Bytes) -> Labels:
        number = np.zeros(10, np.intp)
        for group, members in enumerate(self._groups):
            number[list(members)] = group
        return labels_of(number[digits], len(self._groups))


@lru_cache(maxsize=4)
def _training_images(task: tuple[int, ...]) -> tuple[Bytes, Bytes]:
    """Pixels, laid out for `render`, and digits of the training digits of these classes."""
    pixels, digits = _images("train", task)
    return laid_out(pixels), digits


def _images(split: str, task: tuple[int, ...]) -> tuple[Bytes, Bytes]:
    """Pixels (n, 784) and digits (n,) of these classes, in the published order."""
    with (files("paraactive.streams.digits") / "data" / "mnist.npz").open("rb") as file, np.load(file) as bundle:
        labels: Bytes = bundle[f"{split}_labels"]
        digits = labels[np.isin(labels, task)]
        pixels = np.zeros((len(digits), _PIXELS), np.uint8)
        for digit in task:
            pixels[digits == digit] = _unpack(bundle[f"{split}_{digit}_mask"], bundle[f"{split}_{digit}_ink"])
    return pixels, digits


def _unpack(mask: Bytes, ink: Bytes) -> Bytes:
    """The images of one class from where their ink is and how dark it is there (see data/README.md)."""
    inked = np.unpackbits(mask).view(np.bool_)
    pixels = np.zeros(inked.shape, np.uint8)
    pixels[inked] = ink
    return pixels.reshape(-1, _PIXELS)


@lru_cache(maxsize=8)
def _order(seed: int, length: int) -> Ints:
    return philox.permutation(seed, philox.ORDER, length)


def _digits(name: str, given: object) -> tuple[int, ...]:
    digits: tuple[Any, ...] = tuple(cast(Iterable[Any], given)) if isinstance(given, Iterable) else (given,)
    bad = [digit for digit in digits if isinstance(digit, bool) or digit not in range(10)]
    if bad or not digits:
        raise InputError(
            f"{name} is {given!r}", why="each class is one or more of the digits 0 to 9", remedy="give some, as (5, 7)"
        )
    return tuple(int(digit) for digit in digits)


def _check_groups(groups: Sequence[Sequence[int]]) -> None:
    if len(groups) < 3:
        raise InputError(
            f"groups is {groups!r}",
            why="it is for three classes of digits or more",
            remedy="give negative and positive for two, as Digits(negative=(5, 7), positive=(3, 1))",
        )


def _check_disjoint(groups: Sequence[Sequence[int]]) -> None:
    every = [digit for group in groups for digit in group]
    twice = sorted({digit for digit in every if every.count(digit) > 1})
    if twice:
        raise InputError(
            f"digit {', '.join(map(str, twice))} is named twice in {' v '.join(str(tuple(group)) for group in groups)}",
            why="a digit belongs to one class",
            remedy="name each digit once",
        )


def _check_range(low: float, high: float) -> None:
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise InputError(
            f"the range of the features is {low} to {high}",
            why="blank paper must be below full ink, and both finite",
            remedy="give low < high, as low=-1, high=1",
        )
