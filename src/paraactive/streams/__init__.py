"""Streams: where labelled examples come from, each addressed by its position.

`Digits` makes handwritten digits without end. `Arrays`, `Table`, `Dataset` and `Once` pass over a user's own data: in
memory, in files, in data sets of torch or Hugging Face, in any iterable. `Unlabelled` are rows without labels.
`open_stream` opens a file by the ending of its name. `Stream` is what another must do.
"""

from paraactive.streams.arrays import Arrays
from paraactive.streams.base import Stream
from paraactive.streams.datasets import Dataset
from paraactive.streams.digits.digits import Digits
from paraactive.streams.files import open_column, open_examples, open_rows, open_stream
from paraactive.streams.once import Once
from paraactive.streams.tables.table import Table
from paraactive.streams.unlabelled import Unlabelled

__all__ = [
    "Arrays",
    "Dataset",
    "Digits",
    "Once",
    "Stream",
    "Table",
    "Unlabelled",
    "open_column",
    "open_examples",
    "open_rows",
    "open_stream",
]
