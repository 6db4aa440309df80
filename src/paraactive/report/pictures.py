"""Rows of numbers as small gray pictures: PNG in a `data:` URL."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
from numpy.typing import ArrayLike, NDArray


def gray(values: ArrayLike, shape: tuple[int, ...]) -> str:
    """Return values as a gray picture: the smallest value is black, the largest is white.

    Parameters
    ----------
    values : array_like of float
        The pixels, row by row. NaN counts as 0.
    shape : tuple of int
        Height and width.

    Returns
    -------
    str
        The picture as a `data:` URL.

    Examples
    --------
    >>> gray([0.0, 1.0, 0.5, 0.25], (2, 2))[:32]
    'data:image/png;base64,iVBORw0KGg'
    """
    pixels = np.nan_to_num(np.asarray(values, np.float64).reshape(shape))
    low, high = float(pixels.min()), float(pixels.max())
    scaled = np.rint((pixels - low) / (high - low) * 255) if high > low else np.zeros(shape)
    return "data:image/png;base64," + base64.b64encode(to_png(scaled.astype(np.uint8))).decode()


def to_png(pixels: NDArray[np.uint8]) -> bytes:
    """Encode a gray picture as PNG.

    Parameters
    ----------
    pixels : array of uint8, shape (height, width)
        The gray values.

    Returns
    -------
    bytes
        The PNG file.
    """
    height, width = pixels.shape
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    # Each line of a PNG starts with the number of its filter; 0 is no filter.
    lines = np.concatenate([np.zeros((height, 1), np.uint8), pixels], axis=1)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
