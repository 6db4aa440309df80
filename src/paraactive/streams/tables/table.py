"""A stream over Parquet and CSV files that need not fit into memory."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from paraactive.basics.validation import one_of, whole
from paraactive.data.examples import Examples, Ints
from paraactive.data.labels import fitting_type
from paraactive.streams.label_checks import checked_class_names
from paraactive.streams.locations import absolute
from paraactive.streams.lru_cache import LRUCache
from paraactive.streams.passes import checked_passes
from paraactive.streams.tables.shards import ShardOrder, make_shards
from paraactive.streams.tables.table_columns import choose_columns
from paraactive.streams.tables.table_files import (
    DecodedRows,
    Paths,
    decode,
    encode_texts,
    listed_paths,
    open_files,
    scan,
)
from paraactive.streams.tables.table_files import center as center_columns
from paraactive.streams.user_stream import UserStream

# Maximum memory of decoded rows per process. At least two shards are kept, whatever their size.
CACHE_BYTES = 192 << 20


class Table(UserStream):
    r"""A stream over the rows of a Parquet or CSV file, or of several files with the same columns.

    The rows are decoded in shards of 16 MB, or of one row group if that is larger. Each pass reads the shards in its
    own random order and shuffles the rows of the shards that fit into 64 MB. So a larger file that is sorted by label
    gives long runs of one label: shuffle such a file before writing it. A process keeps up to 192 MB of decoded rows,
    and at least two shards, so write Parquet files with row groups of about 100 000 rows.

    Opening a Parquet file reads its label column; opening a CSV file reads it completely. A CSV file must begin with a
    header. A file that ends in .gz is decompressed once in each process, into a temporary file. To send the table to a
    node, only the paths are sent; each node opens the files itself.

    Parameters
    ----------
    path : str, Path or sequence of them
        A file, a folder, a pattern such as "rows-*.parquet", an address that fsspec supports such as
        "s3://bucket/rows.parquet", or a list of these.
    label : str, default="y"
        Label column. In sorted order, two labels become -1 and +1, more labels become 0, 1, 2 and so on.
    features : sequence of str, optional
        Feature columns. Default: all columns except label, weight and the index of a pandas frame.
    weight : str, optional
        Column with the importance of each row, a positive number. Default: all rows have importance 1.
    seed : int, default=0
        Seed of the order of the rows.
    shuffle : bool, default=True
        Whether each pass goes through the rows in its own random order.
    passes : int or None, default=1
        Number of passes over the rows. None means without end.
    classes : sequence of str, optional
        Names of the labels in their order. The list may contain labels that the files do not have. Default: the labels
        of the files.
    missing : {"mean"}, optional
        Features may be missing: `train` then replaces them by the mean of their column, which it computes over the
        warmstart, and all features of a missing text are 0. Default: missing values are an error.
    encode : {"onehot"}, optional
        Replace each text column by one feature for each of its values, at most 100, which is 1 where the column has
        this value and 0 elsewhere. The feature is called COLUMN=VALUE. Default: text columns are an error.
    center : bool, default=True
        Whether to subtract a number from columns whose differences float32 cannot hold, such as times in seconds since
        1970. The feature is then called COLUMN - NUMBER.

    Attributes
    ----------
    source : str or tuple of str
        Absolute path or paths.
    classes : tuple of str
        Names of the labels.
    label_type : str
        Type of the labels: numpy's name of it, or "str" for text.
    counts : tuple of int
        Number of rows of each class.
    fingerprint : str
        SHA-256 by which a resumed run recognizes the same data. For CSV it covers every byte. For Parquet it covers the
        schema, the sizes and statistics of all row groups, the file sizes and all labels, because hashing all features
        would need a pass over the file.

    Examples
    --------
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
        missing: str | None = None,
        encode: str | None = None,
        center: bool = True,
    ) -> None:
        self.seed, self.shuffle, self.passes = whole("seed", seed), bool(shuffle), checked_passes(passes)
        self.source = _source(path)
        self.label, self.weight = label, weight
        self._files = open_files(path)
        self.missing = None if missing is None else one_of("way to replace missing values", missing, ("mean",))
        chosen = choose_columns(
            self._files.files[0], self._files.kinds, self._files.index_columns, features, label, weight,
            self.missing is not None,
        )  # fmt: skip
        chosen = encode_texts(self._files, chosen, encode)
        self._files.use_columns(chosen)
        scanned = scan(self._files, chosen)
        self._chosen = center_columns(self._files, chosen, scanned) if center else chosen
        labels = scanned.labels
        self.classes, self.counts, self._numbers = labels.classes(
            None if classes is None else checked_class_names(classes)
        )
        self.label_type = fitting_type(self.classes, labels.label_type)
        self._shards = make_shards(self._files.pieces, self.width)
        self.fingerprint = self._sign(labels.digest)
        self._open()

    def _open(self) -> None:
        """Create the caches, which are not sent to other processes."""
        self._decoding = Lock()
        self._cache: LRUCache[DecodedRows] = LRUCache(CACHE_BYTES, lambda rows: rows.nbytes)
        self._order = ShardOrder([shard.rows for shard in self._shards], self.width, self.seed, self.shuffle)

    tabular = True
    source: str | tuple[str, ...]
    classes: tuple[str, ...]
    label_type: str
    counts: tuple[int, ...]
    fingerprint: str

    def describe(self) -> dict[str, Any]:
        """Return the constructor's parameters and the fingerprint, for run files."""
        names = ("label", "weight", "seed", "shuffle", "passes", "fingerprint")
        source = self.source if isinstance(self.source, str) else list(self.source)
        columns = {"features": list(self.feature_names), "classes": list(self.classes)}
        # The names of the features say how text columns are encoded and which columns are centered.
        made = {"center": False} | ({} if self.missing is None else {"missing": self.missing})
        return {"source": source} | columns | {name: getattr(self, name) for name in names} | made

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features, in their order: columns, COLUMN=VALUE or COLUMN - NUMBER."""
        return tuple(feature.name for feature in self._chosen.features)

    @property
    def width(self) -> int:
        """Number of features."""
        return len(self._chosen.features)

    @property
    def rows(self) -> int:
        """Number of examples in one pass."""
        return sum(self.counts)

    @property
    def length(self) -> int | None:
        """Rows times passes; None if the stream never ends."""
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
        # One shard at a time, because pyarrow uses its own threads and decoding needs extra memory.
        with self._decoding:
            return decode(self._files, self._chosen, self._shards[number], self._numbers, len(self.classes))

    def _sign(self, labels: str) -> str:
        names = (*self.feature_names, *self._chosen.label_and_weight)
        known = (names, self.weight, self.classes, self._files.digests, labels)
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
