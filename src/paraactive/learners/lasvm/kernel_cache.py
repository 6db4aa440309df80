"""The memory of the kernel cache: as many rows of kernel values as its limit allows. See `kernel_cache_loops`."""

from __future__ import annotations

import numpy as np

from paraactive.data.array_types import Floats, Ints
from paraactive.learners.lasvm.kernel_cache_loops import BATCH, EVENTS, NONE, SPARE, CacheArrays

_MEGABYTE = 2**20
_BYTES_PER_VALUE = 4
_NONE = np.zeros((0, 0), np.float32)
_NEVER = np.iinfo(np.int64).max


def next_length(length: int) -> int:
    """Return the length of an array that becomes longer: twice the length at first, a quarter more when it is large.

    Parameters
    ----------
    length : int
        The present length.

    Examples
    --------
    >>> next_length(512), next_length(8000)
    (1024, 11000)
    """
    return length + min(length, length // 4 + 1000)


class KernelCache:
    """Rows of kernel values over all slots, one for a vector. Which rows are cached changes no value.

    A copy of a cache, and a pickled cache, is empty: rows are computed again when they are needed.

    Parameters
    ----------
    megabytes : float
        Limit of the memory of all rows, in MB.
    least : int
        Number of rows that fit in any case: the rows that are needed at the same time.
    """

    def __init__(self, megabytes: float, least: int) -> None:
        self.megabytes, self.least = megabytes, least
        self.slots = 0
        self._numbers = np.zeros(4, np.int64)
        self._values = np.empty(0, np.float32)
        self._place, self._born = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._journal = np.zeros(1, np.int64)
        self._owner, self._updated, self._used, self._spare = (np.zeros(0, np.int64) for _ in range(4))

    def __reduce__(self) -> tuple[type[KernelCache], tuple[float, int]]:
        return KernelCache, (self.megabytes, self.least)

    @property
    def rows(self) -> int:
        """Number of rows that there is memory for."""
        return len(self._owner)

    @property
    def nbytes(self) -> int:
        """Memory of all rows, in bytes."""
        return self._values.nbytes

    def max_rows(self, slots: int) -> int:
        """Return the number of rows over `slots` slots that the limit allows.

        Parameters
        ----------
        slots : int
            Number of slots in a row.
        """
        return max(self.least, int(self.megabytes * _MEGABYTE / (_BYTES_PER_VALUE * slots)))

    def reserve(self, slots: int, vectors: int) -> None:
        """Make room for rows over `slots` slots, one for each of `vectors` vectors, as far as the limit allows.

        Parameters
        ----------
        slots : int
            Number of slots in a row.
        vectors : int
            Number of vectors that may need a row.
        """
        limit = min(self.max_rows(slots), slots)
        if slots > self.slots:
            self._widen(slots, min(vectors, limit))
        elif self.rows < min(vectors, limit):
            self._allocate(min(max(vectors, next_length(self.rows)), limit))

    def arrays(self, origin: Ints, columns: Floats = _NONE, within: Floats = _NONE) -> CacheArrays:
        """Return the arrays for the loops. They are valid until the next call of another method.

        Parameters
        ----------
        origin : ndarray of int64, shape (slots,)
            See `Slots.origin`.
        columns, within : ndarray of float32
            Kernel values of the batch that is learned next; see `CacheArrays`. Default: no batch.
        """
        self._numbers[BATCH] = self._numbers[EVENTS] if len(within) else _NEVER
        return CacheArrays(
            self._values.reshape(self.rows, self.slots), self._place, self._owner, self._updated, self._used,
            self._spare, self._born, self._journal, self._numbers, columns, within, origin,
        )  # fmt: skip

    def _widen(self, slots: int, rows: int) -> None:
        """Make rows longer in place, for more slots. The most recently used rows stay, up to `rows` of them."""
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
        self._allocate(rows)
        for k in range(len(kept) - 1, 0, -1):  # From the last row on, so that no row is overwritten.
            self._values[k * slots : k * slots + width] = self._values[k * width : (k + 1) * width]
        self._rewrite_journal()

    def _allocate(self, rows: int) -> None:
        """Allocate memory for this number of rows; the rows that are cached stay."""
        more = rows - len(self._owner)
        if (self._owner != NONE).any():
            # In place: two copies would exceed the limit. No other object refers to this memory.
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
        """Make a longer journal of the events that are still the last of their slot."""
        length = 1 << (self.slots - 1).bit_length()
        self._journal = np.zeros(length, np.int64)
        recent = np.flatnonzero(self._born > max(0, self._numbers[EVENTS] - length))
        self._journal[self._born[recent] & (length - 1)] = recent
