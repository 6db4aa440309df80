"""The memory of the kernel cache: as many rows of kernel values as its limit allows. Loops: `kernel_cache_loops`."""

from __future__ import annotations

from typing import Any

import numpy as np

from paraactive.learners.lasvm.kernel_cache_loops import EVENTS, NONE, SPARE, Rows

_MEGABYTE = 2**20
_PER_VALUE = 4


class KernelCache:
    """Rows of kernel values, one for a vector, over all slots. Which of them are there changes no value.

    A copy of it is empty, and so is what arrives where it is sent: rows come again when they are needed.

    Parameters
    ----------
    megabytes : the limit of what rows take together.
    least : rows that it holds in any case, those that are needed at the same time.
    """

    def __init__(self, megabytes: float, least: int) -> None:
        self.megabytes, self.least = megabytes, least
        self.slots = 0
        self._numbers = np.zeros(3, np.int64)
        self._values = np.empty(0, np.float32)
        self._place, self._born = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._journal = np.zeros(1, np.int64)
        self._owner, self._updated, self._used, self._spare = (np.zeros(0, np.int64) for _ in range(4))

    def __reduce__(self) -> tuple[Any, ...]:
        return KernelCache, (self.megabytes, self.least)

    @property
    def rows(self) -> int:
        """That there is memory for."""
        return len(self._owner)

    @property
    def nbytes(self) -> int:
        """Of all rows."""
        return self._values.nbytes

    def most(self, slots: int) -> int:
        """Rows of that many slots that the limit allows."""
        return max(self.least, int(self.megabytes * _MEGABYTE / (_PER_VALUE * slots)))

    def reserve(self, slots: int, vectors: int) -> None:
        """Make room for rows over so many slots, and for the rows of so many vectors, as far as the limit allows."""
        most = min(self.most(slots), slots)
        if slots > self.slots:
            self._widen(slots, min(vectors, most))
        elif self.rows < min(vectors, most):
            self._hold(min(max(vectors, self.rows * 5 // 4), most))

    def arrays(self) -> Rows:
        """What the loops work on, until the next call of another method."""
        return Rows(
            self._values.reshape(self.rows, self.slots), self._place, self._owner, self._updated, self._used,
            self._spare, self._born, self._journal, self._numbers,
        )  # fmt: skip

    def _widen(self, slots: int, rows: int) -> None:
        """More slots: as many rows as asked for, the latest used, become longer in place."""
        width, self.slots = self.slots, slots
        kept = np.flatnonzero(self._owner != NONE)
        kept = np.sort(kept[np.argsort(-self._used[kept])[:rows]])
        for k, row in enumerate(kept):
            if k != row:
                self._values[k * width : (k + 1) * width] = self._values[row * width : (row + 1) * width]
        place, born = np.full(slots, NONE, np.int64), np.zeros(slots, np.int64)
        place[self._owner[kept]], born[:width] = np.arange(len(kept)), self._born
        self._place, self._born = place, born
        self._owner, self._updated, self._used = self._owner[kept], self._updated[kept], self._used[kept]
        self._hold(rows)
        for k in range(len(kept) - 1, 0, -1):  # From the last one on, so that none is lost.
            self._values[k * slots : k * slots + width] = self._values[k * width : (k + 1) * width]
        self._rewrite_journal()

    def _hold(self, rows: int) -> None:
        """Memory for so many rows; those that there are stay."""
        more = rows - len(self._owner)
        if (self._owner != NONE).any():
            # In place, as far as the system can: two of them would be beyond the limit. Nobody else holds on to it.
            self._values.resize(rows * self.slots, refcheck=False)
        else:
            self._values = np.empty(rows * self.slots, np.float32)
        self._owner = np.append(self._owner, np.full(more, NONE, np.int64))
        self._updated, self._used = (np.append(a, np.zeros(more, np.int64)) for a in (self._updated, self._used))
        spare = np.flatnonzero(self._owner == NONE)[::-1]
        self._spare = np.zeros(rows, np.int64)
        self._spare[: len(spare)] = spare
        self._numbers[SPARE] = len(spare)

    def _rewrite_journal(self) -> None:
        """A longer one, of those events that still tell of a slot."""
        length = 1 << (self.slots - 1).bit_length()
        self._journal = np.zeros(length, np.int64)
        recent = np.flatnonzero(self._born > max(0, self._numbers[EVENTS] - length))
        self._journal[self._born[recent] & (length - 1)] = recent
