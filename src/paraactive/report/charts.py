"""Charts as plain data: curves or bars over two axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

# A chart is a few hundred pixels wide. More points cannot be seen, and they make the page large.
MAX_POINTS = 400


@dataclass(frozen=True)
class Axis:
    """An axis of a chart.

    Parameters
    ----------
    label : str
        Title of the axis, with its unit.
    log : bool, optional
        Whether the axis is logarithmic. A linear axis starts at 0. Default: False.
    """

    label: str
    log: bool = False


@dataclass(frozen=True)
class Curve:
    """A line through points.

    Parameters
    ----------
    name : str
        Name in the legend.
    points : sequence of (float, float)
        The points (x, y), in the order in which the line connects them.
    look : int, optional
        Number of the color and mark. Default: the position of the curve in its chart.
    dashed : bool, optional
        Whether the line is dashed and has no marks. Default: False.
    """

    name: str
    points: Sequence[tuple[float, float]]
    look: int | None = None
    dashed: bool = False


@dataclass(frozen=True)
class Chart:
    """Curves over two axes.

    Parameters
    ----------
    id : str
        Identifier of the section on its page, and name of the figure file.
    title : str
        Heading of the section.
    x : Axis
        The horizontal axis.
    y : Axis
        The vertical axis.
    curves : sequence of Curve
        The curves.
    note : str, optional
        Sentence under the heading.
    wide : bool, optional
        Whether the section takes the whole width of the page. Default: False.
    """

    kind: ClassVar[str] = "chart"
    id: str
    title: str
    x: Axis
    y: Axis
    curves: Sequence[Curve]
    note: str = ""
    wide: bool = False


@dataclass(frozen=True)
class Series:
    """Bars of one color.

    Parameters
    ----------
    name : str
        Name in the legend.
    values : sequence of float
        Height of the bar at each label of the section.
    """

    name: str
    values: Sequence[float]


@dataclass(frozen=True)
class Bars:
    """A bar chart.

    Parameters
    ----------
    id : str
        Identifier of the section on its page.
    title : str
        Heading of the section.
    x : Axis
        The horizontal axis.
    y : Axis
        The vertical axis.
    labels : sequence of str
        Labels along the horizontal axis.
    series : sequence of Series
        Groups of bars; each has one value per label.
    note : str, optional
        Sentence under the heading.
    wide : bool, optional
        Whether the section takes the whole width of the page. Default: False.
    """

    kind: ClassVar[str] = "bars"
    id: str
    title: str
    x: Axis
    y: Axis
    labels: Sequence[str]
    series: Sequence[Series]
    note: str = ""
    wide: bool = False


def thinned(points: Sequence[tuple[float, float]], most: int = MAX_POINTS) -> list[tuple[float, float]]:
    """Return at most `most` of the points, evenly chosen, with the first and the last.

    Parameters
    ----------
    points : sequence of (float, float)
        The points of a curve.
    most : int, optional
        Maximum number of points to keep. Default: 400.

    Returns
    -------
    list of (float, float)
        The points that are kept, in their order.

    Examples
    --------
    >>> thinned([(x, x) for x in range(1000)], 3)
    [(0, 0), (499, 499), (999, 999)]
    """
    if len(points) <= most:
        return list(points)
    last = len(points) - 1
    return [points[round(place * last / (most - 1) - 1e-9)] for place in range(most)]
