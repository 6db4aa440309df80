"""Streams: where labelled examples come from, each addressed by its position.

`Digits` makes handwritten digits without end, `Arrays` passes over a user's own data; `Stream` is what a third must do.
"""

from paraactive.streams.arrays import Arrays
from paraactive.streams.base import Stream
from paraactive.streams.digits import Digits

__all__ = ["Arrays", "Digits", "Stream"]
