"""Rows of numbers as small grey pictures: PNG inside a data: address."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray


def grey(values: Any, shape: tuple[int, ...]) -> str:
    """The values as pixels, the smallest black and the largest white, as an address that needs no file.

    >>> grey([0.0, 1.0, 0.5, 0.25], (2, 2))[:32]
    'data:image/png;base64,iVBORw0KGg'
    """
    pixels = np.nan_to_num(np.asarray(values, np.float64).reshape(shape))
    low, high = float(pixels.min()), float(pixels.max())
    scaled = np.rint((pixels - low) / (high - low) * 255) if high > low else np.zeros(shape)
    return "data:image/png;base64," + base64.b64encode(to_png(scaled.astype(np.uint8))).decode()


def to_png(pixels: NDArray[np.uint8]) -> bytes:
    """A grey picture of 8 bits as PNG bytes."""
    height, width = pixels.shape
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    lines = np.concatenate([np.zeros((height, 1), np.uint8), pixels], axis=1)  # Each line begins with its filter: none.
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
