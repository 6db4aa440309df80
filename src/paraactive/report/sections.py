"""What a page is made of: sections, as plain data. The same chart is drawn in a browser (`page`) or as a figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, TypeAlias

Cell: TypeAlias = "str | int | float | None"
MOST_POINTS = 400
"""Of a curve: more are not seen, and make a page heavy."""


@dataclass(frozen=True)
class Axis:
    """One of the two."""

    label: str
    log: bool = False
    """Otherwise it begins at 0."""


@dataclass(frozen=True)
class Curve:
    """A line through points."""

    name: str
    points: Sequence[tuple[float, float]]
    look: int | None = None
    """Which colour and mark; None: by its place."""
    dashed: bool = False


@dataclass(frozen=True)
class Chart:
    """Curves over two axes."""

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
    """Bars of one colour."""

    name: str
    values: Sequence[float]


@dataclass(frozen=True)
class Bars:
    """Bars beside each other at labelled places."""

    kind: ClassVar[str] = "bars"
    id: str
    title: str
    x: Axis
    y: Axis
    labels: Sequence[str]
    series: Sequence[Series]
    note: str = ""
    wide: bool = False


@dataclass(frozen=True)
class Part:
    """A stretch of a lane."""

    kind: int
    """Which of the timeline's kinds."""
    start: float
    length: float
    text: str


@dataclass(frozen=True)
class Lane:
    """What one node did, from left to right."""

    name: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class Timeline:
    """Lanes above each other, over one axis of time."""

    kind: ClassVar[str] = "timeline"
    id: str
    title: str
    x: Axis
    kinds: Sequence[str]
    looks: Sequence[int]
    lanes: Sequence[Lane]
    head: Sequence[str]
    """The totals, as a table."""
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    wide: bool = True


@dataclass(frozen=True)
class TableSection:
    """Rows under heads. A wide table with one value in each row is drawn as a list of facts in several columns."""

    kind: ClassVar[str] = "table"
    id: str
    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    wide: bool = False


@dataclass(frozen=True)
class Picture:
    """One of a gallery."""

    image: str
    """A data: address."""
    alt: str
    lines: Sequence[str]


@dataclass(frozen=True)
class Gallery:
    """Pictures with a few lines under each."""

    kind: ClassVar[str] = "gallery"
    id: str
    title: str
    items: Sequence[Picture]
    note: str = ""
    wide: bool = True


@dataclass(frozen=True)
class Claim:
    """Something that somebody says, and what was measured of it."""

    claim: str
    verdict: str
    """yes, no, or open."""
    measured: str


@dataclass(frozen=True)
class Claims:
    """A list of them."""

    kind: ClassVar[str] = "claims"
    id: str
    title: str
    claims: Sequence[Claim]
    note: str = ""
    wide: bool = True


@dataclass(frozen=True)
class Text:
    """Paragraphs."""

    kind: ClassVar[str] = "text"
    id: str
    title: str
    lines: Sequence[str]
    note: str = ""
    wide: bool = False


@dataclass(frozen=True)
class Listing:
    """Text as it is, folded away."""

    kind: ClassVar[str] = "listing"
    id: str
    title: str
    text: str
    note: str = ""
    wide: bool = True


Section: TypeAlias = Chart | Bars | Timeline | TableSection | Gallery | Claims | Text | Listing


@dataclass(frozen=True)
class Page:
    """All that a page shows."""

    title: str
    sections: Sequence[Section]
    status: str = ""
    live: bool = field(default=False)
    """It asks for newer data as long as it is open."""

    def data(self) -> dict[str, Any]:
        """Ready for JSON."""
        sections = [{"kind": section.kind, **asdict(section)} for section in self.sections]
        return {"title": self.title, "status": self.status, "live": self.live, "sections": sections}


def thinned(points: Sequence[tuple[float, float]], most: int = MOST_POINTS) -> list[tuple[float, float]]:
    """At most so many of them, evenly chosen, the first and the last among them.

    >>> thinned([(x, x) for x in range(1000)], 3)
    [(0, 0), (499, 499), (999, 999)]
    """
    if len(points) <= most:
        return list(points)
    last = len(points) - 1
    return [points[round(place * last / (most - 1) - 1e-9)] for place in range(most)]
