"""The sections of a page, as plain data.

A section holds no HTML. `page.py` and `assets/page.js` draw all sections in a browser; `figures.py` draws charts as PNG
and SVG files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, TypeAlias

from paraactive.report.charts import Axis, Bars, Chart

Cell: TypeAlias = "str | int | float | None"


@dataclass(frozen=True)
class Part:
    """One activity in a lane of a timeline.

    Parameters
    ----------
    kind : int
        Index into `Timeline.kinds`.
    start : float
        Start, in seconds.
    length : float
        Duration, in seconds.
    text : str
        Text of the tooltip.
    """

    kind: int
    start: float
    length: float
    text: str


@dataclass(frozen=True)
class Lane:
    """The activities of one node.

    Parameters
    ----------
    name : str
        Name of the node.
    parts : sequence of Part
        The activities, in order of time.
    """

    name: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class Timeline:
    """Lanes of activities over one axis of time.

    Parameters
    ----------
    id : str
        Identifier of the section on its page.
    title : str
        Heading of the section.
    x : Axis
        The axis of time.
    kinds : sequence of str
        Names of the activities.
    looks : sequence of int
        Number of the color of each activity.
    lanes : sequence of Lane
        The lanes, from top to bottom.
    head : sequence of str
        Column heads of the table of totals.
    rows : sequence of sequence of Cell
        Rows of the table of totals.
    note : str, optional
        Sentence under the heading.
    wide : bool, optional
        Whether the section takes the whole width of the page. Default: True.
    """

    kind: ClassVar[str] = "timeline"
    id: str
    title: str
    x: Axis
    kinds: Sequence[str]
    looks: Sequence[int]
    lanes: Sequence[Lane]
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    wide: bool = True


@dataclass(frozen=True)
class TableSection:
    """A table. A wide table with two columns is drawn as a list of facts.

    Parameters
    ----------
    id : str
        Identifier of the section on its page.
    title : str
        Heading of the section.
    head : sequence of str
        Column heads.
    rows : sequence of sequence of Cell
        The rows. None is an empty cell.
    note : str, optional
        Sentence under the heading.
    wide : bool, optional
        Whether the section takes the whole width of the page. Default: False.
    """

    kind: ClassVar[str] = "table"
    id: str
    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    wide: bool = False


@dataclass(frozen=True)
class Picture:
    """A picture of a gallery.

    Parameters
    ----------
    image : str
        The picture as a `data:` URL.
    alt : str
        Text for readers who cannot see the picture.
    lines : sequence of str
        Lines of the caption.
    """

    image: str
    alt: str
    lines: Sequence[str]


@dataclass(frozen=True)
class Gallery:
    """Pictures with captions.

    Parameters
    ----------
    id : str
        Identifier of the section on its page.
    title : str
        Heading of the section.
    items : sequence of Picture
        The pictures.
    note : str, optional
        Sentence under the heading.
    wide : bool, optional
        Whether the section takes the whole width of the page. Default: True.
    """

    kind: ClassVar[str] = "gallery"
    id: str
    title: str
    items: Sequence[Picture]
    note: str = ""
    wide: bool = True


@dataclass(frozen=True)
class Claim:
    """A claim and the measurement that decides it.

    Parameters
    ----------
    claim : str
        The claim, as a sentence.
    verdict : str
        "yes" if the claim holds here, "no" if the measurement differs, "open" if it decides nothing.
    measured : str
        What was measured.
    """

    claim: str
    verdict: str
    measured: str


@dataclass(frozen=True)
class Claims:
    """A list of claims.

    Parameters
    ----------
    id : str
        Identifier of the section on its page.
    title : str
        Heading of the section.
    claims : sequence of Claim
        The claims.
    note : str, optional
        Sentence under the heading.
    wide : bool, optional
        Whether the section takes the whole width of the page. Default: True.
    """

    kind: ClassVar[str] = "claims"
    id: str
    title: str
    claims: Sequence[Claim]
    note: str = ""
    wide: bool = True


@dataclass(frozen=True)
class Text:
    """Paragraphs of text.

    Parameters
    ----------
    id : str
        Identifier of the section on its page.
    title : str
        Heading of the section.
    lines : sequence of str
        The paragraphs.
    note : str, optional
        Sentence under the heading.
    wide : bool, optional
        Whether the section takes the whole width of the page. Default: False.
    """

    kind: ClassVar[str] = "text"
    id: str
    title: str
    lines: Sequence[str]
    note: str = ""
    wide: bool = False


@dataclass(frozen=True)
class Listing:
    """Preformatted text, hidden until the reader opens it.

    Parameters
    ----------
    id : str
        Identifier of the section on its page.
    title : str
        Heading of the section.
    text : str
        The text.
    note : str, optional
        Sentence under the heading.
    wide : bool, optional
        Whether the section takes the whole width of the page. Default: True.
    """

    kind: ClassVar[str] = "listing"
    id: str
    title: str
    text: str
    note: str = ""
    wide: bool = True


Section: TypeAlias = Chart | Bars | Timeline | TableSection | Gallery | Claims | Text | Listing


@dataclass(frozen=True)
class Page:
    """A page of sections.

    Parameters
    ----------
    title : str
        Title of the page.
    sections : sequence of Section
        The sections, from top to bottom.
    status : str, optional
        Line under the title.
    live : bool, optional
        Whether the open page asks for newer data once a second. Default: False.
    """

    title: str
    sections: Sequence[Section]
    status: str = ""
    live: bool = False

    def data(self) -> dict[str, Any]:
        """Return the page as a dictionary for JSON.

        Returns
        -------
        dict
            The fields of the page; each section has its `kind`.
        """
        sections = [{"kind": section.kind, **asdict(section)} for section in self.sections]
        return {"title": self.title, "status": self.status, "live": self.live, "sections": sections}
