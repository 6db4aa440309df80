"""What the options about the columns of a file mean."""

from __future__ import annotations

from dataclasses import dataclass

from paraactive.sifting.scaling import AUTO, first_rows, suits_standardizing
from paraactive.streams import Arrays, Stream, Unlabelled
from paraactive.streams.base import StreamDetails


@dataclass(frozen=True)
class ColumnOptions:
    """Options about the columns of a file, as typed; None for each that was not typed.

    Parameters
    ----------
    label, features, weight : str, optional
        Names of columns; features are separated by commas.
    missing : str, optional
        What missing values are replaced by.
    encode : str, optional
        How text columns become features.
    """

    label: str | None = None
    features: str | None = None
    weight: str | None = None
    missing: str | None = None
    encode: str | None = None


def scale_in(given: bool | None, stream: Stream) -> bool | str:
    """What --standardize means for a stream.

    Parameters
    ----------
    given : bool or None
        What was typed; None if nothing was.
    stream : Stream
        The data. Arrays of a file are standardized by default, unless they are sparse or look like pixels.

    Returns
    -------
    bool or str
        What `train` takes as scale.
    """
    if given is None and isinstance(stream, Arrays | Unlabelled) and not StreamDetails(stream).tabular:
        return suits_standardizing(first_rows(stream))
    return AUTO if given is None else given
