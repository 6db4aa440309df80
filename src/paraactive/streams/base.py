"""The stream's contract: a small, picklable description that any node can read at any position."""

from __future__ import annotations

from typing import Protocol

from paraactive.data.examples import Examples, Ints


class Stream(Protocol):
    """A labelled stream, addressed by position.

    A stream object is a description: it is small or shared, it can be sent to a node, and what is heavy is opened
    there at the first `read`. Reading is stateless, so every range of positions is a shard that any node can take.

    A stream whose labels are not known says so by an attribute `labelled = False`, and gives them as `labels.UNKNOWN`.
    A stream whose labels are not text says so by an attribute `label_type`: "bool", or numpy's name of a type of
    numbers, such as "int64". A model then predicts labels of that type; `classes` are their names all the same.
    """

    @property
    def width(self) -> int:
        """Features of an example."""
        ...

    @property
    def length(self) -> int | None:
        """Examples in the stream; None if it never ends."""
        ...

    @property
    def classes(self) -> tuple[str, ...]:
        """The user's names of the labels: two for -1 and +1, more for 0, 1, 2 and so on."""
        ...

    @property
    def regenerates(self) -> bool:
        """True if the package alone can read it again: then the log keeps positions only, not features."""
        ...

    def read(self, first: int, last: int) -> Examples:
        """The examples at positions first <= index < last."""
        ...

    def at(self, index: Ints) -> Examples:
        """The examples at these positions."""
        ...
