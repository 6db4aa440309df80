"""What the commands report and watch do."""

from __future__ import annotations

import json
import re
from pathlib import Path

from paraactive.basics.atomic_files import already_exists
from paraactive.errors import InputError
from paraactive.report import write_report
from paraactive.report.page import GENERATOR
from paraactive.report.server import Server


def write_runs(runs: list[Path], out: Path | None, image: str | None, overwrite: bool, as_json: bool) -> None:
    """Write one page about runs.

    Parameters
    ----------
    runs : list of Path
        Run files.
    out : Path or None
        The page; None for the name of the first run file with the ending .html.
    image : str or None
        Size of the examples as images, such as "28x28".
    overwrite : bool
        Replace `out` if it exists.
    as_json : bool
        Print JSON.
    """
    page = out or runs[0].with_suffix(".html")
    if any(page.exists() and run.exists() and page.samefile(run) for run in runs):
        raise InputError(
            f"{page} is a run file", why="the page would replace it", remedy="give another name with --out"
        )
    if out is not None and not overwrite and page.exists():
        raise already_exists(page)
    if out is None and page.exists() and not _is_page(page):
        raise InputError(
            f"{page} already exists", why="it was not written by report", remedy="give another name with --out"
        )
    write_report(runs, page, shape=shape_in(image))
    if as_json:
        print(json.dumps({"page": str(page), "bytes": page.stat().st_size, "runs": [str(run) for run in runs]}))
        return
    print(f"The page is {page} ({page.stat().st_size / 1e6:.1f} MB); open it in any browser.")


def _is_page(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return GENERATOR.encode() in file.read(2000)


def watch_runs(runs: list[Path], port: int, image: str | None, as_json: bool) -> None:
    """Serve the page of runs until Ctrl-C.

    Parameters
    ----------
    runs : list of Path
        Run files.
    port : int
        Port of this machine; 0 for a port that is free.
    image : str or None
        Size of the examples as images, such as "28x28".
    as_json : bool
        Print JSON.
    """
    with Server(runs, port, shape_in(image)) as server:
        if as_json:
            print(json.dumps({"address": server.address}), flush=True)
        else:
            print(
                f"Open {server.address} in a browser on this machine. Ctrl-C stops the server; the run continues.",
                flush=True,
            )
        try:
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            if not as_json:
                print()


def shape_in(image: str | None) -> tuple[int, int] | None:
    """Read the size of an image.

    Parameters
    ----------
    image : str or None
        Height and width in pixels, with an x between them.

    Returns
    -------
    tuple of (int, int) or None
        Height and width.

    Examples
    --------
    >>> shape_in("28x28")
    (28, 28)
    """
    if image is None:
        return None
    found = re.fullmatch(r"([1-9][0-9]*)x([1-9][0-9]*)", image)
    if not found:
        raise InputError(
            f"--image is {image!r}", why="it must be a height and a width in pixels", remedy="give it as 28x28"
        )
    return int(found[1]), int(found[2])
