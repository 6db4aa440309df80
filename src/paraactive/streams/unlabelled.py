"""Rows whose labels nobody has told yet, as a stream; an `Oracle` is asked for those that are selected."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from paraactive.basics.validation import whole
from paraactive.data.examples import Examples, Ints, SparseRows
from paraactive.data.labels import UNKNOWN, fitting_type, type_of_labels
from paraactive.streams.array_checks import checked_class_names, features_alone, hash_features
from paraactive.streams.files import column_names, open_rows
from paraactive.streams.locations import absolute
from paraactive.streams.passes import rows_at
from paraactive.streams.user_stream import UserStream


class Unlabelled(UserStream):
    """A stream over the rows of `x`, in memory, once, in an order that the seed decides.

    `classes` are the names of the labels that there can be. All labels are unknown: only rules that are blind to them
    can sift it, and only an oracle can tell them.

    >>> stream = Unlabelled([[1.0], [2.0], [3.0]], classes=("ham", "spam"))
    >>> stream.length, stream.labelled, sorted(stream.read(0, 3).key.tolist())
    (3, False, [0, 1, 2])
    """

    labelled = False

    def __init__(
        self, x: ArrayLike | SparseRows, classes: Sequence[Any], *, seed: int = 0, shuffle: bool = True
    ) -> None:
        self.seed, self.shuffle = whole("seed", seed), bool(shuffle)
        self._classes = checked_class_names(classes)
        self.label_type = fitting_type(self._classes, type_of_labels(classes))
        """The type of `classes`, as it was given; "str" for text."""
        self._x = features_alone(x)
        self.source: str | None = None
        self.columns: tuple[str, ...] | None = None
        """The names of the features, where the file has some."""

    @classmethod
    def load(
        cls,
        path: str | Path,
        classes: Sequence[Any],
        *,
        columns: Sequence[str] | None = None,
        seed: int = 0,
        shuffle: bool = True,
    ) -> Unlabelled:
        """The rows of a file, all of them in memory; `columns` are the features of a table, by default all columns."""
        source = absolute(path)
        names = column_names(source) if columns is None else tuple(columns)
        stream = cls(open_rows(source, features=names), classes, seed=seed, shuffle=shuffle)
        stream.source, stream.columns = source, names
        return stream

    @property
    def width(self) -> int:
        """Columns of x."""
        return self._x.shape[1]

    @property
    def length(self) -> int:
        """Rows."""
        return len(self._x)

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the labels that there can be."""
        return self._classes

    @cached_property
    def fingerprint(self) -> str:
        """A SHA-256 of the features and the names of the labels."""
        digest = hashlib.sha256(repr((self._x.shape, self.classes)).encode())
        hash_features(digest, self._x)
        return digest.hexdigest()

    def _make(self, index: Ints) -> Examples:
        key = rows_at(index, self.length, self.seed, self.shuffle)
        return Examples(self._x[key], np.full(len(index), UNKNOWN, np.int8), index, key)

    def __repr__(self) -> str:
        data = repr(self.source) if self.source else f"{self.length} rows of {self.width}"
        return f"Unlabelled({data}, classes={self.classes}, seed={self.seed}, shuffle={self.shuffle})"
