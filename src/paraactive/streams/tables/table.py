"""Parquet and CSV files as a stream that need not fit into memory."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from paraactive.basics.validation import whole
from paraactive.data.examples import Examples, Ints
from paraactive.data.labels import fitting_type
from paraactive.streams.array_checks import checked_class_names
from paraactive.streams.locations import absolute
from paraactive.streams.lru_cache import LRUCache
from paraactive.streams.passes import checked_passes
from paraactive.streams.tables.shards import ShardOrder, make_shards
from paraactive.streams.tables.table_columns import choose_columns
from paraactive.streams.tables.table_files import DecodedRows, Paths, decode, listed_paths, open_files, scan
from paraactive.streams.user_stream import UserStream

CACHE_BYTES = 192 << 20
"""Decoded rows that a process keeps; at least two shards, however large."""


class Table(UserStream):
    r"""A stream over the rows of a Parquet or CSV file, or of several with the same columns.

    `path` is a file, a folder of them, a pattern such as "rows-*.parquet", a list, or an address that fsspec knows, as
    "s3://bucket/rows.parquet". `label` names the column of the labels, which become -1 and +1, or 0, 1, 2, in their
    order; `features` those of the features, by default all others; `weight` one of positive numbers that say what
    the rows count for. `classes` gives the names of the labels an order, and may name some that the file has not.
    A CSV file begins with a header. A file that ends in .gz is decompressed once in each process, into a temporary
    file. The index of a pandas frame is a feature only if it is named.

    The rows are decoded in shards of 16 MB, or a row group where that is larger. Each pass takes the shards in an
    order of its own, which the seed decides, and mixes the rows of those that fit into 64 MB together. A larger file
    that is sorted by its labels gives long runs of one label, of which a learner learns little: shuffle such a file
    when it is written. A process keeps 192 MB of decoded rows, and
    two shards at least: a file of very large row groups needs room for a few of them, so write it with row groups
    of 100 000 rows or so. Opening a Parquet file reads the column of the labels, and opening a CSV file all of it. A
    table travels as the path of its files: each node opens them for itself.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "mail.csv")
    ...     _ = path.write_text("words,kind,links\n10,ham,0\n20,spam,7\n30,ham,1\n")
    ...     table = Table(path, label="kind", shuffle=False)
    ...     print(table.classes, table.counts, table.feature_names, table.read(1, 2).x)
    ('ham', 'spam') (2, 1) ('words', 'links') [[20.  7.]]
    """

    def __init__(
        self,
        path: Paths,
        label: str = "y",
        *,
        features: Sequence[str] | None = None,
        weight: str | None = None,
        seed: int = 0,
        shuffle: bool = True,
        passes: int | None = 1,
        classes: Sequence[str] | None = None,
    ) -> None:
        self.seed, self.shuffle, self.passes = whole("seed", seed), bool(shuffle), checked_passes(passes)
        self.source = _source(path)
        self.label, self.weight = label, weight
        self._files = open_files(path)
        self._chosen = choose_columns(
            self._files.files[0], self._files.kinds, self._files.index_columns, features, label, weight
        )
        self._files.use_columns(self._chosen)
        labels = scan(self._files, self._chosen)
        self.classes, self.counts, self._numbers = labels.classes(
            None if classes is None else checked_class_names(classes)
        )
        self.label_type = fitting_type(self.classes, labels.label_type)
        self._shards = make_shards(self._files.pieces, self.width)
        self.fingerprint = self._sign(labels.digest)
        self._open()

    def _open(self) -> None:
        """What is made afresh in each process."""
        self._decoding = Lock()
        self._cache: LRUCache[DecodedRows] = LRUCache(CACHE_BYTES, lambda rows: rows.nbytes)
        self._order = ShardOrder([shard.rows for shard in self._shards], self.width, self.seed, self.shuffle)

    source: str | tuple[str, ...]
    """The path, absolute, or the paths."""
    classes: tuple[str, ...]
    """The names of the labels."""
    label_type: str
    """The type of the labels, by numpy's name for it; "str" if they are text."""
    counts: tuple[int, ...]
    """The rows of each class."""
    fingerprint: str
    """A SHA-256 that tells a resumed run whether it reads the same data.

    Of Parquet it covers the schema, the sizes and statistics of all row groups, the size of the files, and all labels:
    not every feature, which would take a pass over the whole file. Of CSV it covers every byte.
    """

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The columns of the features, in their order."""
        return self._chosen.features

    @property
    def width(self) -> int:
        """Columns of features."""
        return len(self.feature_names)

    @property
    def rows(self) -> int:
        """Examples in one pass."""
        return sum(self.counts)

    @property
    def length(self) -> int | None:
        """Rows times passes; None if it never ends."""
        return None if self.passes is None else self.rows * self.passes

    def _make(self, index: Ints) -> Examples:
        count = len(index)
        x, y = np.empty((count, self.width), np.float32), np.empty(count, np.int8)
        key, weight = np.empty(count, np.int64), np.ones(count)
        for number, where, rows in self._order.find(index):
            shard = self._shards[number]
            decoded = self._cache.get(number, lambda number=number: self._decode(number))
            x[where], y[where], key[where] = decoded.x[rows], decoded.y[rows], rows + shard.first
            if decoded.weight is not None:
                weight[where] = decoded.weight[rows]
        return Examples(x, y, index, key, weight)

    def _decode(self, number: int) -> DecodedRows:
        # One after the other: pyarrow has threads of its own, and each decoding takes room beside its result.
        with self._decoding:
            return decode(self._files, self._chosen, self._shards[number], self._numbers, len(self.classes))

    def _sign(self, labels: str) -> str:
        known = (self._chosen.names, self.weight, self.classes, self._files.digests, labels)
        return hashlib.sha256(repr(known).encode()).hexdigest()

    def __repr__(self) -> str:
        return (
            f"Table({self.source!r}, label={self.label!r}, seed={self.seed}, shuffle={self.shuffle}, "
            f"passes={self.passes})"
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_decoding", "_cache", "_order")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._open()


def _source(path: Paths) -> str | tuple[str, ...]:
    paths = tuple(absolute(each) for each in listed_paths(path))
    return paths[0] if isinstance(path, str | Path) else paths
