"""Whether the features of a stream are standardized, and the learner that does it; gamma="scale" where they are not."""

from __future__ import annotations

from paraactive.data.examples import Features, SparseRows
from paraactive.errors import InputError
from paraactive.learners import LaSVM, Learner, Standardized
from paraactive.learners.lasvm.scale import scale_of
from paraactive.learners.scaling import looks_like_pixels
from paraactive.learners.standardized import innermost, is_standardized
from paraactive.sifting.parts import is_trained
from paraactive.streams import Stream
from paraactive.streams.base import StreamDetails

AUTO = "auto"
_LOOKED_AT = 4096
"""Number of rows that decide whether features are standardized."""


def standardized(learner: Learner, scale: bool | str, stream: Stream) -> Learner:
    """The learner with standardized features, and with missing values replaced if the stream has them.

    Parameters
    ----------
    learner : Learner
        The learner.
    scale : bool or "auto"
        Whether to standardize. "auto": if the features are columns of a table that do not look like pixels, and the
        learner is untrained.
    stream : Stream
        The training data.

    Returns
    -------
    Learner
        A `Standardized` around the learner; the learner itself if nothing is to be done, or if it is one already. If
        the columns of a table look like pixels, gamma="scale" of an SVM is set to its value for the first rows.
    """
    details = StreamDetails(stream)
    wanted = checked_scale(scale)
    if wanted is True and _is_sparse(stream):
        raise InputError(
            "scale is True, and the rows are sparse",
            why="subtracting the mean would make them dense",
            remedy="scale the values yourself, without centering, or leave scale out",
        )
    if is_standardized(learner):
        return learner
    if wanted == AUTO and details.tabular and not is_trained(learner):
        rows = first_rows(stream)
        wanted = suits_standardizing(rows)
        if not wanted and details.missing is None:
            _fix_gamma(learner, rows)
    if wanted is not True and details.missing is None:
        return learner
    return Standardized(learner, scale=wanted is True, missing=details.missing)


def _fix_gamma(learner: Learner, rows: Features) -> None:
    svm = innermost(learner)
    if isinstance(svm, LaSVM) and svm.gamma == "scale":
        svm.gamma = scale_of(rows)  # The SVM itself would look at 64 rows.


def checked_scale(scale: object) -> bool | str:
    """Check what a user gives as `scale`.

    Parameters
    ----------
    scale : object
        True, False or "auto". An InputError is raised for anything else.

    Returns
    -------
    bool or str
        The value.
    """
    if isinstance(scale, bool) or (isinstance(scale, str) and scale == AUTO):
        return scale
    raise InputError(f"scale is {scale!r}", why='it is True, False or "auto"', remedy="give one of these")


def suits_standardizing(x: Features) -> bool:
    """Whether rows are standardized by default where nothing else is known of them.

    Parameters
    ----------
    x : ndarray or SparseRows
        Rows of features.

    Returns
    -------
    bool
        False for sparse rows and for columns that look like pixels; see `learners.scaling.looks_like_pixels`.
    """
    return not isinstance(x, SparseRows) and not looks_like_pixels(x)


def first_rows(stream: Stream) -> Features:
    """The rows that decide whether features are standardized by default.

    Parameters
    ----------
    stream : Stream
        The training data.

    Returns
    -------
    ndarray or SparseRows
        At most 4096 rows.
    """
    return stream.read(0, min(_LOOKED_AT, stream.length or _LOOKED_AT)).x


def _is_sparse(stream: Stream) -> bool:
    return isinstance(stream.read(0, 1).x, SparseRows)
