"""One broken stream for each property; all are sound but for that. Each is made anew by `Class()`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from paraactive import Arrays
from paraactive.data.examples import Examples, Ints

_ROWS = 300


def columns() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(_ROWS, 3)), np.where(rng.random(_ROWS) < 0.5, "spam", "ham")


class Sound(Arrays):
    """Passes every check."""

    def __init__(self, *more: Any, **options: Any) -> None:
        super().__init__(*columns(), **options)

    def _make(self, index: Ints) -> Any:
        return self.change(super()._make(index))

    def change(self, piece: Examples) -> Any:
        """What is broken about a piece, however it was asked for."""
        return piece


class Hollow(Sound):
    width = 0  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]

    def change(self, piece: Examples) -> Examples:
        return Examples(piece.x[:, :0], piece.y, piece.index, piece.key)


class Fractional(Sound):
    regenerates = 0.5  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]


class Alike(Sound):
    classes = "ham", "ham"  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]


class Numbers(Sound):
    classes = 0, 1  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]


class Mistyped(Sound):
    label_type = "int64"  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]


class Untyped(Sound):
    label_type = "category"  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]


class Narrow(Sound):
    def change(self, piece: Examples) -> Examples:
        return Examples(piece.x[:, :2], piece.y, piece.index, piece.key)


@dataclass(frozen=True)
class Loose:
    """Columns in any type."""

    x: Any
    y: Any
    index: Any
    key: Any
    importance: Any

    def take(self, rows: Any) -> Loose:
        return Loose(self.x[rows], self.y[rows], self.index[rows], self.key[rows], self.importance[rows])


class Wide(Sound):
    """Its features are float64; where pieces are put together this goes unnoticed."""

    def change(self, piece: Examples) -> Loose:
        return Loose(piece.x.astype(np.float64), piece.y, piece.index, piece.key, piece.importance)


class Relative(Sound):
    """It counts from the beginning of the second half."""

    def change(self, piece: Examples) -> Examples:
        return Examples(piece.x, piece.y, piece.index % (_ROWS // 2), piece.key)


class Unlabelled(Sound):
    def change(self, piece: Examples) -> Examples:
        return Examples(piece.x, np.where(piece.index == _ROWS - 1, 0, piece.y), piece.index, piece.key)


class Uncounted(Sound):
    """There are three names, so the labels -1 and +1 are none of theirs."""

    classes = "ham", "spam", "eggs"  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]


class Weightless(Sound):
    def change(self, piece: Examples) -> Examples:
        return Examples(piece.x, piece.y, piece.index, piece.key, np.where(piece.index == 5, 0.0, 1.0))


class Gappy(Sound):
    def change(self, piece: Examples) -> Examples:
        return Examples(np.where(piece.index[:, None] == 5, np.nan, piece.x), piece.y, piece.index, piece.key)


class Wearing(Sound):
    """A piece is another each time it is read."""

    def __init__(self) -> None:
        super().__init__()
        self.worn: Counter[tuple[int, int]] = Counter()

    def read(self, first: int, last: int) -> Examples:
        piece = super().read(first, last)
        worn, self.worn[first, last] = self.worn[first, last], self.worn[first, last] + 1
        return Examples(piece.x + worn, piece.y, piece.index, piece.key)


class TwoFaced(Sound):
    def at(self, index: Ints) -> Examples:
        piece = super().at(index)
        return Examples(piece.x + 1, piece.y, piece.index, piece.key)


class Sorting(Sound):
    def at(self, index: Ints) -> Examples:
        return super().at(np.sort(index))


class Scaling(Sound):
    """An example depends on how many are read with it; not so where positions are listed."""

    def read(self, first: int, last: int) -> Examples:
        piece = super().read(first, last)
        return Examples(piece.x * np.float32(1.0 if last - first >= 96 else 0.5), piece.y, piece.index, piece.key)


class Forwards(Sound):
    """It goes wrong when it is read a few steps backwards; to begin anew is well."""

    def __init__(self) -> None:
        super().__init__()
        self.reached = 0

    def read(self, first: int, last: int) -> Examples:
        piece = super().read(first, last)
        backwards, self.reached = self.reached - 100 < first < self.reached, first
        return Examples(piece.x + backwards, piece.y, piece.index, piece.key)


class Sharing(Sound):
    """It hands out its own rows."""

    def __init__(self) -> None:
        super().__init__(shuffle=False)

    def change(self, piece: Examples) -> Examples:
        if len(piece) and np.array_equal(piece.index, np.arange(piece.index[0], piece.index[-1] + 1)):
            return Examples(self._x[piece.index[0] : piece.index[-1] + 1], piece.y, piece.index, piece.key)
        return piece


class ReadOnly(Sharing):
    """Passes: what is shared cannot be written to."""

    def __init__(self) -> None:
        super().__init__()
        self._x.flags.writeable = False


class Clipping(Sound):
    """Beyond the end there is just nothing more, as with slices."""

    def read(self, first: int, last: int) -> Examples:
        return super().read(max(min(first, _ROWS), 0), min(last, _ROWS))


class Wrapping(Sound):
    def at(self, index: Ints) -> Examples:
        return super().at(index % _ROWS)


class Homebound(Sound):
    def __init__(self) -> None:
        super().__init__()
        self.later = lambda: None


class Changing(Sound):
    """What arrives is another."""

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return Sound, (), {**self.__dict__, "seed": self.seed + 1}
