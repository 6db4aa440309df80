"""A stream over rows without labels. An `Oracle` labels the selected rows."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from paraactive.basics.validation import one_of, whole
from paraactive.data.examples import Examples, Ints, SparseRows
from paraactive.data.labels import UNKNOWN, fitting_type, type_of_labels, typed_labels
from paraactive.streams.array_checks import features_alone, hash_features
from paraactive.streams.files import column_names, open_rows
from paraactive.streams.label_checks import checked_class_names
from paraactive.streams.locations import absolute
from paraactive.streams.passes import rows_at
from paraactive.streams.user_stream import UserStream


class Unlabelled(UserStream):
    """A stream of one pass over unlabeled rows in memory.

    Only label-blind rules can sift it, and an oracle must label the selected rows.

    Parameters
    ----------
    x : array-like or sparse matrix, shape (n, features)
        Features: finite real numbers.
    classes : sequence
        All labels that are possible, in their order.
    seed : int, default=0
        Seed of the order of the rows.
    shuffle : bool, default=True
        Whether the rows come in random order.
    missing : {"mean"}, optional
        Features may be missing (NaN): `train` replaces them by the mean of their column. Default: they are an error.

    Attributes
    ----------
    label_type : str
        Type of the labels in `classes`; "str" for text.
    source : str or None
        Path of the file, if the rows came from one.
    columns : tuple of str or None
        Names of the features, if the file has names.

    Examples
    --------
    >>> stream = Unlabelled([[1.0], [2.0], [3.0]], classes=("ham", "spam"))
    >>> stream.length, stream.labelled, sorted(stream.read(0, 3).key.tolist())
    (3, False, [0, 1, 2])
    """

    labelled = False

    def __init__(
        self, x: ArrayLike | SparseRows, classes: Sequence[object], *, seed: int = 0, shuffle: bool = True,
        missing: str | None = None,
    ) -> None:  # fmt: skip
        self.seed, self.shuffle = whole("seed", seed), bool(shuffle)
        self._classes = checked_class_names(classes)
        self.label_type = fitting_type(self._classes, type_of_labels(classes))
        self.missing = None if missing is None else one_of("way to replace missing values", missing, ("mean",))
        self._x = features_alone(x, may_miss=missing is not None, check_precision=True)
        self.source: str | None = None
        self.columns: tuple[str, ...] | None = None

    @classmethod
    def load(
        cls,
        path: str | Path,
        classes: Sequence[object],
        *,
        columns: Sequence[str] | None = None,
        seed: int = 0,
        shuffle: bool = True,
        missing: str | None = None,
    ) -> Unlabelled:
        """Open a file of unlabeled rows. All rows are held in memory.

        Parameters
        ----------
        path : str or Path
            File of any supported kind (see `open_rows`).
        classes : sequence
            All labels that are possible, in their order.
        columns : sequence of str, optional
            Features of a table, as `Table.feature_names` has them. Default: all columns.
        seed : int, default=0
            Seed of the order of the rows.
        shuffle : bool, default=True
            Whether the rows come in random order.
        missing : {"mean"}, optional
            Features of a table may be missing.

        Returns
        -------
        Unlabelled
            The stream.
        """
        source = absolute(path)
        names = column_names(source) if columns is None else tuple(columns)
        x = open_rows(source, features=names, may_miss=missing is not None)
        stream = cls(x, classes, seed=seed, shuffle=shuffle, missing=missing)
        stream.source, stream.columns = source, names
        return stream

    def describe(self) -> dict[str, Any]:
        """Return the parameters of `load` and the fingerprint, for run files."""
        names = ("source", "columns", "seed", "shuffle", "fingerprint")
        classes = typed_labels(self.classes, self.label_type).tolist()
        missing = {} if self.missing is None else {"missing": self.missing}
        return {"classes": classes} | {name: getattr(self, name) for name in names} | missing

    @property
    def width(self) -> int:
        """Number of features."""
        return self._x.shape[1]

    @property
    def length(self) -> int:
        """Number of rows."""
        return len(self._x)

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the possible labels."""
        return self._classes

    @property
    def tabular(self) -> bool:
        """Whether the features are columns of a table."""
        return self.columns is not None

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the features and the names of the labels."""
        digest = hashlib.sha256(repr((self._x.shape, self.classes)).encode())
        hash_features(digest, self._x)
        return digest.hexdigest()

    def _make(self, index: Ints) -> Examples:
        key = rows_at(index, self.length, self.seed, self.shuffle)
        return Examples(self._x[key], np.full(len(index), UNKNOWN, np.int8), index, key)

    def __repr__(self) -> str:
        data = repr(self.source) if self.source else f"{self.length} rows of {self.width}"
        return f"Unlabelled({data}, classes={self.classes}, seed={self.seed}, shuffle={self.shuffle})"
