"""Streams: sources of labeled examples, each example addressed by its position.

`Digits` generates handwritten digits without end. `Arrays` (memory), `Table` (files), `Dataset` (torch and Hugging Face
data sets) and `IterableStream` (any iterable) read a user's own data. `Unlabelled` holds rows without labels.
`open_stream` opens a file by the suffix of its name. `Stream` is the protocol that all streams follow.
"""

from paraactive.streams.arrays import Arrays
from paraactive.streams.base import Stream
from paraactive.streams.datasets import Dataset
from paraactive.streams.digits.digits import Digits
from paraactive.streams.files import open_column, open_examples, open_rows, open_stream
from paraactive.streams.iterable import IterableStream
from paraactive.streams.tables.table import Table
from paraactive.streams.unlabelled import Unlabelled

__all__ = [
    "Arrays",
    "Dataset",
    "Digits",
    "IterableStream",
    "Stream",
    "Table",
    "Unlabelled",
    "open_column",
    "open_examples",
    "open_rows",
    "open_stream",
]
