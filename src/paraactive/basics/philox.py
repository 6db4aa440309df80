"""Philox4x32-10 (Salmon et al., 2011): random numbers as a pure function of a key and a counter.

There is no state to share or to restore, so any node can draw the numbers of any example. `coins` and `streams`
stand on it; each uses a purpose of its own, so that their numbers are independent.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paraactive.basics.compiled import njit

COIN, ORDER, FIELDS, DEFORMATION, WEIGHTS, DELAY = range(6)
"""Purposes: the third word of the counter."""

RESOLUTION = 2.0**-53
"""Uniform numbers are multiples of this: a coin cannot toss a smaller probability exactly."""

_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_LOW, _SHIFT = np.uint64(0xFFFFFFFF), np.uint64(32)


@njit(cache=True, nogil=True, inline="never")
def philox(c0: np.uint64, c1: np.uint64, c2: np.uint64, c3: np.uint64, k0: np.uint64, k1: np.uint64):
    """Ten rounds on a counter of four 32-bit words and a key of two; all words are held in uint64."""
    for _ in range(10):
        p0, p1 = _M0 * c0, _M1 * c2
        c0, c1, c2, c3 = (p1 >> _SHIFT) ^ c1 ^ k0, p1 & _LOW, (p0 >> _SHIFT) ^ c3 ^ k1, p0 & _LOW
        k0, k1 = (k0 + _W0) & _LOW, (k1 + _W1) & _LOW
    return c0, c1, c2, c3


@njit(cache=True, nogil=True)
def _words(seed: np.uint64, purpose: np.uint64, index: NDArray[np.int64], out: NDArray[np.uint32]) -> None:
    for i in range(index.shape[0]):
        n = np.uint64(index[i])
        w0, w1, w2, w3 = philox(n & _LOW, n >> _SHIFT, purpose, np.uint64(0), seed & _LOW, seed >> _SHIFT)
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = w0, w1, w2, w3


def words(seed: int, purpose: int, index: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Four random 32-bit words for each index."""
    out = np.empty((len(index), 4), np.uint32)
    _words(np.uint64(seed & 0xFFFFFFFFFFFFFFFF), np.uint64(purpose), index, out)
    return out


def uniforms(seed: int, purpose: int, index: NDArray[np.int64]) -> NDArray[np.float64]:
    """One number in [0, 1) for each index, a multiple of RESOLUTION.

    >>> import numpy as np
    >>> a = uniforms(7, COIN, np.arange(100)); b = uniforms(7, COIN, np.arange(50, 100))
    >>> bool((a[50:] == b).all())
    True
    """
    w = words(seed, purpose, index).astype(np.uint64)
    return ((w[:, 0] << np.uint64(21)) ^ (w[:, 1] >> np.uint64(11))).astype(np.float64) * RESOLUTION


def permutation(seed: int, purpose: int, length: int, number: int = 0) -> NDArray[np.int64]:
    """A random order of range(length); `number` tells the orders of one seed apart."""
    draws = words(seed, purpose, np.arange(length, dtype=np.int64) + (number << 32)).astype(np.uint64)
    # 64 random bits each; the stable sort settles the (unlikely) ties in a defined way.
    return np.argsort((draws[:, 0] << np.uint64(32)) | draws[:, 1], kind="stable")
