"""A stream over the bundled MNIST digits, with an unlimited number of deformed copies after the first pass.

A `Digits` object holds only a few numbers. Each process loads the images at the first read. `deformations` deforms
them.
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
    """An endless stream of handwritten digits in two or more classes.

    The first examples are the MNIST training digits of the task, in an order set by the seed. After them the same
    digits repeat in the same order, each time with another deformation. An example depends only on the seed and its
    position, so any node can generate any example, and no example needs to be stored.

    Parameters
    ----------
    negative : sequence of int, default=(5, 7)
        Digits of the label -1.
    positive : sequence of int, default=(3, 1)
        Digits of the label +1.
    seed : int, default=0
        Seed of the order and of the deformations.
    low : float, default=-1.0
        Value of a blank pixel.
    high : float, default=1.0
        Value of a black pixel.
    groups : sequence of sequences of int, optional
        Three or more groups of digits with the labels 0, 1, 2 and so on, instead of `negative` and `positive`.

    Examples
    --------
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
    positive: Sequence[int] = (3, 1)
    seed: int = 0
    low: float = -1.0
    high: float = 1.0
    groups: Sequence[Sequence[int]] | None = None

    def __post_init__(self) -> None:
        # Plain tuples and numbers can be compared, hashed for the caches, and written to run files.
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
        """Return a stream over all ten digits, one class for each digit.

        Parameters
        ----------
        seed : int, default=0
            Seed of the order and of the deformations.
        low : float, default=-1.0
            Value of a blank pixel.
        high : float, default=1.0
            Value of a black pixel.

        Returns
        -------
        Digits
            The stream.
        """
        return cls(seed=seed, low=low, high=high, groups=tuple((digit,) for digit in range(10)))

    def describe(self) -> dict[str, Any]:
        """Return the constructor's parameters, for run files."""
        names = ("negative", "positive", "seed", "low", "high", "groups")
        return {name: getattr(self, name) for name in names}

    @property
    def width(self) -> int:
        """Number of features: 784 pixels."""
        return _PIXELS

    @property
    def length(self) -> int | None:
        """None, because the stream never ends."""
        return None

    @property
    def classes(self) -> tuple[str, ...]:
        """Digits of each class, such as '5,7' and '3,1'."""
        return tuple(",".join(map(str, group)) for group in self._groups)

    @property
    def regenerates(self) -> bool:
        """True, because the package can generate all examples again."""
        return True

    @property
    def originals(self) -> int:
        """Number of MNIST training digits of the task. Examples before this position are not deformed."""
        return len(_training_images(self._task)[1])

    def read(self, first: int, last: int) -> Examples:
        """See `Stream.read`."""
        return self._make(position_range(first, last, self.length))

    def at(self, index: Ints) -> Examples:
        """See `Stream.at`."""
        return self._make(check_positions(index, self.length))

    def test(self) -> Examples:
        """Return the MNIST test digits of the task, without deformation, in their published order.

        Returns
        -------
        Examples
            The test digits.

        Examples
        --------
        >>> len(Digits().test())
        4065
        """
        pixels, digits = _images("test", self._task)
        return Examples(self._levels()[pixels], self._label(digits), np.arange(len(digits)))

    @property
    def _task(self) -> tuple[int, ...]:
        # Sorted, so that all streams over the same digits share one copy of the images.
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
        """Return the feature value of each gray value 0 to 255."""
        return (self.low + np.arange(256) * (self.high - self.low) / 255).astype(np.float32)

    def _label(self, digits: Bytes) -> Labels:
        number = np.zeros(10, np.intp)
        for group, members in enumerate(self._groups):
            number[list(members)] = group
        return labels_of(number[digits], len(self._groups))


@lru_cache(maxsize=4)
def _training_images(task: tuple[int, ...]) -> tuple[Bytes, Bytes]:
    """Return the pixels (in the layout of `render`) and the digits of the training images of a task."""
    pixels, digits = _images("train", task)
    return laid_out(pixels), digits


def _images(split: str, task: tuple[int, ...]) -> tuple[Bytes, Bytes]:
    """Return the pixels (n, 784) and the digits (n,) of a task, in the published order."""
    with (files("paraactive.streams.digits") / "data" / "mnist.npz").open("rb") as file, np.load(file) as bundle:
        labels: Bytes = bundle[f"{split}_labels"]
        digits = labels[np.isin(labels, task)]
        pixels = np.zeros((len(digits), _PIXELS), np.uint8)
        for digit in task:
            pixels[digits == digit] = _unpack(bundle[f"{split}_{digit}_mask"], bundle[f"{split}_{digit}_ink"])
    return pixels, digits


def _unpack(mask: Bytes, ink: Bytes) -> Bytes:
    """Return the images of one digit from the mask of inked pixels and their gray values (see data/README.md)."""
    inked = np.unpackbits(mask).view(np.bool_)
    pixels = np.zeros(inked.shape, np.uint8)
    pixels[inked] = ink
    return pixels.reshape(-1, _PIXELS)


@lru_cache(maxsize=8)
def _order(seed: int, length: int) -> Ints:
    return philox.permutation(seed, philox.ORDER, length)


def _digits(name: str, given: object) -> tuple[int, ...]:
    digits: tuple[Any, ...] = tuple(cast("Iterable[Any]", given)) if isinstance(given, Iterable) else (given,)
    bad = [digit for digit in digits if isinstance(digit, bool) or digit not in range(10)]
    if bad or not digits:
        raise InputError(
            f"{name} is {given!r}",
            why="each class must have one or more of the digits 0 to 9",
            remedy="give digits, as (5, 7)",
        )
    return tuple(int(digit) for digit in digits)


def _check_groups(groups: Sequence[Sequence[int]]) -> None:
    if len(groups) < 3:
        raise InputError(
            f"groups is {groups!r}",
            why="groups must have three or more classes",
            remedy="give negative and positive for two, as Digits(negative=(5, 7), positive=(3, 1))",
        )


def _check_disjoint(groups: Sequence[Sequence[int]]) -> None:
    every = [digit for group in groups for digit in group]
    twice = sorted({digit for digit in every if every.count(digit) > 1})
    if twice:
        raise InputError(
            f"digit {', '.join(map(str, twice))} appears twice in {' v '.join(str(tuple(group)) for group in groups)}",
            why="a digit belongs to one class",
            remedy="name each digit once",
        )


def _check_range(low: float, high: float) -> None:
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise InputError(
            f"the range of the features is {low} to {high}",
            why="low must be below high, and both must be finite",
            remedy="give low < high, as low=-1, high=1",
        )
