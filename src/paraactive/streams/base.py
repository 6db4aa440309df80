"""The protocol of streams: small, picklable descriptions of data that any node can read at any position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from paraactive.data.examples import Examples, Ints
from paraactive.data.labels import STR


class StreamDetails:
    """What a stream knows of its data beyond the members of `Stream`, with the defaults for what it does not declare.

    Each property reads the attribute of the same name, and only when it is asked for, because a fingerprint may take a
    pass over the data.

    Parameters
    ----------
    stream : Stream
        Any stream, also one of the user's own, which declares only what differs from the defaults.
    """

    def __init__(self, stream: object) -> None:
        self._stream = stream

    @property
    def labelled(self) -> bool:
        """Whether the labels are known; True by default. A stream without labels gives `labels.UNKNOWN`."""
        return bool(getattr(self._stream, "labelled", True))

    @property
    def label_type(self) -> str:
        """Type of the labels: "str" (the default), "bool", or numpy's name of a number type, such as "int64".

        A model predicts labels of this type. `Stream.classes` are the names of the labels whatever their type.
        """
        return str(getattr(self._stream, "label_type", STR))

    @property
    def counts(self) -> Sequence[int] | None:
        """Number of rows of each class, in the order of the classes; None if it is not known."""
        return getattr(self._stream, "counts", None)

    @property
    def passes(self) -> int | None:
        """Number of passes over the rows; 1 by default, None if there is no end."""
        return getattr(self._stream, "passes", 1)

    @property
    def first_pass(self) -> int | None:
        """Number of examples in the first of several passes; None if no example comes again, or it is not known.

        It is the attribute `rows` of a stream with several passes.
        """
        return None if self.passes == 1 else getattr(self._stream, "rows", None)

    @property
    def fingerprint(self) -> str | None:
        """Hash of the data, by which a resumed run recognizes it; None if there is none."""
        fingerprint = getattr(self._stream, "fingerprint", None)
        return None if fingerprint is None else str(fingerprint)

    @property
    def tabular(self) -> bool:
        """Whether the features are columns of a table, each with its own unit; False by default.

        Such features are standardized by default.
        """
        return bool(getattr(self._stream, "tabular", False))

    @property
    def missing(self) -> str | None:
        """What missing features (NaN) are to be replaced by, as "mean"; None (the default) if none are missing."""
        return getattr(self._stream, "missing", None)

    @property
    def window(self) -> int | None:
        """Number of latest examples that can be read again; None (the default) if all can."""
        return getattr(self._stream, "window", None)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the feature columns; None if they have none."""
        return getattr(self._stream, "feature_names", None)

    @property
    def label(self) -> str | None:
        """Name of the label column; None if it has none."""
        return getattr(self._stream, "label", None)


class Stream(Protocol):
    """A labeled stream, addressed by position.

    A stream object is a description of data. It is small or shared, it can be sent to a node, and the node opens the
    data at the first `read`. Reading has no state, so any node can read any range of positions.

    A stream declares further properties of its data by attributes with the names of the properties of `StreamDetails`.
    Each property that is not declared has its default.
    """

    @property
    def width(self) -> int:
        """Number of features of an example."""
        ...

    @property
    def length(self) -> int | None:
        """Number of examples in the stream; None if the stream never ends."""
        ...

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes: two names for the labels -1 and +1, or more names for the labels 0, 1, 2 and so on."""
        ...

    @property
    def regenerates(self) -> bool:
        """Whether the package alone can generate the examples again. Then the log keeps no features."""
        ...

    def read(self, first: int, last: int) -> Examples:
        """Return the examples of a range of positions.

        Parameters
        ----------
        first : int
            First position.
        last : int
            One past the last position.

        Returns
        -------
        Examples
            The examples in the order of their positions.
        """
        ...

    def at(self, index: Ints) -> Examples:
        """Return the examples at the given positions.

        Parameters
        ----------
        index : ndarray of int64, shape (n,)
            Positions in any order.

        Returns
        -------
        Examples
            The examples in the given order.
        """
        ...
