"""Philox4x32-10 (Salmon et al., 2011): random numbers as a pure function of a key and a counter.

The generator has no state, so any node can draw the numbers of any example. Each use has its own purpose (see
`COIN` and the other constants), so that the numbers of two uses are independent.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paraactive.basics.compiled import njit

# Purposes: the third word of the counter.
COIN, ORDER, FIELDS, DEFORMATION, WEIGHTS, DELAY, AUDIT = range(7)

# Uniform numbers are multiples of this, so a coin cannot represent a smaller probability exactly.
RESOLUTION = 2.0**-53

_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_LOW, _SHIFT = np.uint64(0xFFFFFFFF), np.uint64(32)


@njit(cache=True, nogil=True, inline="never")
def philox(c0: np.uint64, c1: np.uint64, c2: np.uint64, c3: np.uint64, k0: np.uint64, k1: np.uint64):
    """Return four random 32-bit words: ten Philox rounds on a counter of four words and a key of two words.

    Parameters
    ----------
    c0 : uint64
        First word of the counter, 32 bits.
    c1 : uint64
        Second word of the counter.
    c2 : uint64
        Third word of the counter.
    c3 : uint64
        Fourth word of the counter.
    k0 : uint64
        First word of the key, 32 bits.
    k1 : uint64
        Second word of the key.

    Returns
    -------
    tuple of four uint64
        Random words, 32 bits in each.
    """
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
    """Return four random 32-bit words for each index.

    Parameters
    ----------
    seed : int
        Seed; the low 64 bits are the key.
    purpose : int
        One of the purposes of this module, such as `COIN`.
    index : ndarray of shape (n,)
        Counters, such as positions in the stream.

    Returns
    -------
    ndarray of shape (n, 4)
        Random words.
    """
    out = np.empty((len(index), 4), np.uint32)
    _words(np.uint64(seed & 0xFFFFFFFFFFFFFFFF), np.uint64(purpose), index, out)
    return out


def uniforms(seed: int, purpose: int, index: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return one uniform number in [0, 1) for each index, a multiple of `RESOLUTION`.

    Parameters
    ----------
    seed : int
        Seed; the low 64 bits are the key.
    purpose : int
        One of the purposes of this module, such as `COIN`.
    index : ndarray of shape (n,)
        Counters, such as positions in the stream.

    Returns
    -------
    ndarray of shape (n,)
        Uniform numbers.

    Examples
    --------
    >>> import numpy as np
    >>> a = uniforms(7, COIN, np.arange(100)); b = uniforms(7, COIN, np.arange(50, 100))
    >>> bool((a[50:] == b).all())
    True
    """
    w = words(seed, purpose, index).astype(np.uint64)
    return ((w[:, 0] << np.uint64(21)) ^ (w[:, 1] >> np.uint64(11))).astype(np.float64) * RESOLUTION


def permutation(seed: int, purpose: int, length: int, number: int = 0) -> NDArray[np.int64]:
    """Return a random permutation of range(length).

    Parameters
    ----------
    seed : int
        Seed; the low 64 bits are the key.
    purpose : int
        One of the purposes of this module, such as `ORDER`.
    length : int
        Number of elements.
    number : int, default=0
        Which of the permutations of this seed and purpose, such as the number of the pass.

    Returns
    -------
    ndarray of shape (length,)
        The permutation.
    """
    draws = words(seed, purpose, np.arange(length, dtype=np.int64) + (number << 32)).astype(np.uint64)
    # Sort by 64 random bits each. The stable sort makes the result defined even if two are equal.
    return np.argsort((draws[:, 0] << np.uint64(32)) | draws[:, 1], kind="stable")
