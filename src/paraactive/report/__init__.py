"""Pages that show a run: one HTML file from disk, or live on this machine; and the figures that they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from paraactive.basics.atomic_files import atomic_write
from paraactive.report.of_runs import page_of
from paraactive.report.page import to_html
from paraactive.report.sections import Axis, Bars, Chart, Claim, Claims, Curve, Page, Series, Table, Text
from paraactive.report.story import Story, read_stories, read_story, story_of
from paraactive.runs.runfile.errors import reraise_as_corruption

__all__ = [
    "Axis", "Bars", "Chart", "Claim", "Claims", "Curve", "Page", "Series", "Story", "Table", "Text", "page_of",
    "read_stories", "read_story", "story_of", "to_html", "write_page", "write_report",
]  # fmt: skip


def write_report(paths: Sequence[str | Path], out: str | Path, *, shape: tuple[int, int] | None = None) -> Path:
    """One page of one run file, or of several side by side.

    shape : height and width of the examples, if they are images; digits are known to be.

    >>> import tempfile
    >>> from paraactive import Digits, LaSVM, train
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = train(LaSVM(gamma=0.012), Digits(), examples=6000, test=True, out=folder + "/run.db")
    ...     page = write_report([folder + "/run.db"], folder + "/run.html").read_text()
    >>> "Sampling rate" in page, "<script src" in page
    (True, False)
    """
    stories = read_stories(paths, shape=shape)
    with reraise_as_corruption(Path(paths[0])):
        page = page_of(stories)
    return write_page(page, out)


def write_page(page: Page, out: str | Path) -> Path:
    """The page as one file. Returns where it is. If the disk is full, a page that was there stays as it was."""
    out, html = Path(out), to_html(page)
    with atomic_write(out) as file:
        file.write(html.encode())
    return out
