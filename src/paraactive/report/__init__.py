"""Reports of runs: one HTML page of run files, the live page of a run, and figures.

`run_record` reads a run file. `run_page` makes a page of the records, with the kinds of sections in `sections` and
`charts`. `page` writes the page as HTML, `figures` draws its charts as PNG and SVG, and `server` shows the page while
the run is in progress.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from paraactive.basics.atomic_files import atomic_write
from paraactive.report.charts import Axis, Bars, Chart, Curve, Series
from paraactive.report.page import to_html
from paraactive.report.run_page import page_of
from paraactive.report.run_record import RunRecord, read_run_record, read_run_records, run_record_of
from paraactive.report.sections import Claim, Claims, Page, TableSection, Text
from paraactive.runs.runfile.errors import reraise_as_corruption

__all__ = [
    "Axis", "Bars", "Chart", "Claim", "Claims", "Curve", "Page", "RunRecord", "Series", "TableSection", "Text",
    "page_of", "read_run_record", "read_run_records", "run_record_of", "to_html", "write_page", "write_report",
]  # fmt: skip


def write_report(paths: Sequence[str | Path], out: str | Path, *, shape: tuple[int, int] | None = None) -> Path:
    """Write one HTML page about one run file, or about several side by side.

    Parameters
    ----------
    paths : sequence of str or Path
        The run files.
    out : str or Path
        The HTML file to write. An existing file is replaced.
    shape : (int, int), optional
        Height and width of the examples if they are images. Default: 28 by 28 for the bundled digits, else no images.

    Returns
    -------
    Path
        The HTML file. It needs no network and no other file.

    Raises
    ------
    InputError
        If the examples do not have this shape, or the page cannot be written.
    RunFileError
        If a run file is missing, damaged or not a run file.

    Examples
    --------
    >>> import tempfile
    >>> from paraactive import Digits, LaSVM, train
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = train(LaSVM(gamma=0.012), Digits(), examples=6000, test=True, out=folder + "/run.db")
    ...     page = write_report([folder + "/run.db"], folder + "/run.html").read_text()
    >>> "Sampling rate" in page, "<script src" in page
    (True, False)
    """
    records = read_run_records(paths, shape=shape)
    with reraise_as_corruption(Path(paths[0])):
        page = page_of(records)
    return write_page(page, out)


def write_page(page: Page, out: str | Path) -> Path:
    """Write a page as one HTML file.

    Parameters
    ----------
    page : Page
        The page.
    out : str or Path
        The HTML file to write. An existing file is replaced only when the new one is complete.

    Returns
    -------
    Path
        The HTML file.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    out, html = Path(out), to_html(page)
    with atomic_write(out) as file:
        file.write(html.encode())
    return out
