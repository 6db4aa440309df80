"""Compiled loops that deform digits. They use only IEEE operations in a fixed order, so all machines give equal bits.

For a digit I (28 by 28, 0 outside), two displacement fields F and G, and a shift (dx, dy):

    S = I * g(0.9)                                                              Gaussian of 0.9 px
    Tx(r, c) = (S(r, c + 1) - S(r, c - 1)) / 2,  Ty(r, c) = (S(r + 1, c) - S(r - 1, c)) / 2      tangent vectors
    D = floor(clip(I + F Tx + G Ty, 0, 255)),    out(r, c) = level[D(r - dy, c - dx)]

The fields are 1522 images of white noise, smoothed with a Gaussian of 4 px and scaled to a standard deviation of
1 px. The four random words w of an example choose F, G and one of nine shifts: floor(1522 w0 / 2^32),
floor(1522 w1 / 2^32), floor(9 w2 / 2^32). The construction follows Loosli, Canu and Bottou (2007).

Images are stored flat in rows of 33 pixels. The 5 blank pixels after a row are also the 5 blank pixels before the next
row, as far as a tangent vector reaches. So each step is one long loop over contiguous numbers, which the compiler can
vectorize.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from paraactive.basics import philox
from paraactive.basics.compiled import njit
from paraactive.data.examples import Floats, Ints

# Number of pixels in a row and in a column.
SIDE = 28
# Number of displacement fields.
FIELDS = 1522

_MARGIN = 5
_ROW = SIDE + _MARGIN
_AREA = SIDE * _ROW
# All streams use the same fields; the seed of the stream chooses among them.
_FIELD_SEED = 0


def gaussian(sigma: float) -> NDArray[np.float64]:
    """Return the weights of a Gaussian filter from its center outward, cut at 4 sigma.

    Parameters
    ----------
    sigma : float
        Standard deviation in pixels.

    Returns
    -------
    ndarray of float64
        Weights. The center plus twice the others is 1, up to 2^-20.

    Examples
    --------
    >>> gaussian(0.9).round(4).tolist()
    [0.4433, 0.2391, 0.0375, 0.0017, 0.0]
    """
    raw = [math.exp(-0.5 * (k / sigma) ** 2) for k in range(int(4 * sigma + 0.5) + 1)]
    total = raw[0] + 2 * sum(raw[1:])
    # Round to multiples of 2^-24, because the last bit of exp differs between machines.
    return np.array([round(weight / total * 2**24) / 2**24 for weight in raw])


@njit(cache=True, nogil=True)
def _smooth_rows(image: NDArray[np.float64], weights: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    """Smooth along each row with reflected borders (d c b a | a b c d | d c b a), and write the transpose."""
    side, reach = image.shape[0], weights.shape[0] - 1
    line, total = np.empty(side + 2 * reach), np.empty(side)
    for r in range(side):
        for c in range(side):
            line[reach + c] = image[r, c]
        for k in range(reach):
            line[reach - 1 - k] = image[r, k]
            line[reach + side + k] = image[r, side - 1 - k]
        for c in range(side):
            total[c] = weights[0] * line[reach + c]
        for k in range(1, reach + 1):
            before, after = line[reach - k :], line[reach + k :]
            for c in range(side):
                total[c] += weights[k] * (before[c] + after[c])
        for c in range(side):
            out[c, r] = total[c]


@njit(cache=True, nogil=True)
def _make_fields(noise: NDArray[np.float64], weights: NDArray[np.float64], out: Floats) -> None:
    """Smooth each noise image and scale it to a standard deviation of 1. Rows of `out` are padded with 0."""
    count, side = noise.shape[0], noise.shape[1]
    half, field = np.empty((side, side)), np.empty((side, side))
    for n in range(count):
        _smooth_rows(noise[n], weights, half)
        _smooth_rows(half, weights, field)
        # Plain sums, because the order of summation in numpy depends on the processor.
        mean = 0.0
        for r in range(side):
            for c in range(side):
                mean += field[r, c]
        mean /= side * side
        square = 0.0
        for r in range(side):
            for c in range(side):
                square += (field[r, c] - mean) * (field[r, c] - mean)
        deviation = math.sqrt(square / (side * side))
        for r in range(side):
            for c in range(side):
                out[n, r * _ROW + c] = field[r, c] / deviation


@lru_cache(maxsize=1)
def fields() -> Floats:
    """Return the displacement fields in pixels. They are the same for all streams.

    Returns
    -------
    ndarray of float32, shape (1522, 924)
        One field in each row, stored in image rows of 33.

    Examples
    --------
    >>> fields().shape
    (1522, 924)
    """
    count = FIELDS * SIDE * SIDE
    words = philox.words(_FIELD_SEED, philox.FIELDS, np.arange(count // 4))
    noise = words.astype(np.float64) * 2.0**-32 - 0.5
    out = np.zeros((FIELDS, _AREA), np.float32)
    _make_fields(noise.reshape(FIELDS, SIDE, SIDE), gaussian(4.0), out)
    return out


def laid_out(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return images in rows of 33 pixels, of which the last 5 are blank.

    Parameters
    ----------
    pixels : ndarray of uint8, shape (n, 784)
        Images.

    Returns
    -------
    ndarray of uint8, shape (n, 924)
        The images in the layout of `render`.

    Examples
    --------
    >>> laid_out(np.ones((2, 784), np.uint8)).sum(axis=1).tolist()
    [784, 784]
    """
    out = np.zeros((len(pixels), SIDE, _ROW), np.uint8)
    out[:, :, :SIDE] = pixels.reshape(-1, SIDE, SIDE)
    return out.reshape(-1, _AREA)


@njit(cache=True, nogil=True)
def _smooth_padded(ink: Floats, weights: Floats, half: Floats, smooth: Floats) -> None:
    """S = I * g, down the columns and then along the rows; `ink` has 5 blank rows above and below, `smooth` has 1."""
    w0, w1, w2, w3, w4 = weights[0], weights[1], weights[2], weights[3], weights[4]
    n = half.shape[0]
    a4, a3, a2, a1, here = ink[0:], ink[_ROW:], ink[2 * _ROW :], ink[3 * _ROW :], ink[4 * _ROW :]
    b1, b2, b3, b4 = ink[5 * _ROW :], ink[6 * _ROW :], ink[7 * _ROW :], ink[8 * _ROW :]
    for i in range(n):
        near = w0 * here[i] + w1 * (a1[i] + b1[i])
        half[i] = near + w2 * (a2[i] + b2[i]) + w3 * (a3[i] + b3[i]) + w4 * (a4[i] + b4[i])
    for i in range(n - 8):
        near = w0 * half[i + 4] + w1 * (half[i + 3] + half[i + 5])
        far = w3 * (half[i + 1] + half[i + 7]) + w4 * (half[i] + half[i + 8])
        smooth[i + 4] = near + w2 * (half[i + 2] + half[i + 6]) + far


@njit(cache=True, nogil=True)
def _displace(ink: Floats, smooth: Floats, across: Floats, down: Floats, grey: NDArray[np.uint8]) -> None:
    """D = floor(clip(I + F Tx + G Ty, 0, 255)), all five stored in rows of 33."""
    half = np.float32(0.5)
    low, high = np.float32(0), np.float32(255)
    left, right, above, below = smooth[_ROW - 1 :], smooth[_ROW + 1 :], smooth[0:], smooth[2 * _ROW :]
    for i in range(across.shape[0]):
        tx, ty = half * (right[i] - left[i]), half * (below[i] - above[i])
        value = ink[i] + across[i] * tx + down[i] * ty
        grey[i] = np.uint8(min(max(value, low), high))


@njit(cache=True, nogil=True)
def _shade(grey: NDArray[np.uint8], levels: Floats, out: Floats) -> None:
    """Write the feature value of each pixel of an image in rows of 33."""
    for r in range(SIDE):
        for c in range(SIDE):
            out[r * SIDE + c] = levels[grey[r * _ROW + c]]


@njit(cache=True, nogil=True)
def render(
    pixels: NDArray[np.uint8],
    rows: Ints,
    plain: NDArray[np.bool_],
    draws: NDArray[np.uint32],
    fields: Floats,
    weights: Floats,
    levels: Floats,
    out: Floats,
) -> None:
    """Write the digit `pixels[rows[i]]` to `out[i]`, deformed unless `plain[i]`.

    Parameters
    ----------
    pixels : ndarray of uint8, shape (images, 924)
        Images in rows of 33 (see `laid_out`).
    rows : ndarray of int64, shape (n,)
        Number of the image of each example.
    plain : ndarray of bool, shape (n,)
        Which examples are not deformed.
    draws : ndarray of uint32, shape (n, 4)
        Random words that choose the fields and the shift.
    fields : ndarray of float32, shape (1522, 924)
        Displacement fields (see `fields`).
    weights : ndarray of float32
        Weights of the Gaussian filter.
    levels : ndarray of float32, shape (256,)
        Feature value of each gray value.
    out : ndarray of float32, shape (n, 784)
        Result.
    """
    ink = np.zeros((SIDE + 2 * _MARGIN) * _ROW + 2 * _MARGIN, np.float32)
    half = np.zeros((SIDE + 2) * _ROW + 2 * _MARGIN, np.float32)
    smooth = np.zeros(half.shape[0], np.float32)
    grey = np.zeros((SIDE + 2) * _ROW + 2, np.uint8)
    # 5 more values before the first pixel, so that the filter along the rows stays inside the array.
    body = ink[_MARGIN * _ROW + _MARGIN :]
    inner = grey[_ROW + 1 : _ROW + 1 + _AREA]
    for i in range(rows.shape[0]):
        digit = pixels[rows[i]]
        if plain[i]:
            _shade(digit, levels, out[i])
            continue
        for j in range(_AREA):
            body[j] = digit[j]
        _smooth_padded(ink, weights, half, smooth)
        across = fields[(np.uint64(draws[i, 0]) * np.uint64(FIELDS)) >> np.uint64(32)]
        down = fields[(np.uint64(draws[i, 1]) * np.uint64(FIELDS)) >> np.uint64(32)]
        _displace(body, smooth[_MARGIN:], across, down, inner)
        shift = np.int64((np.uint64(draws[i, 2]) * np.uint64(9)) >> np.uint64(32))
        _shade(grey[(2 - shift // 3) * _ROW + 2 - shift % 3 :], levels, out[i])
