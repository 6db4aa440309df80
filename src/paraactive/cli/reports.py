"""What report and watch do."""

from __future__ import annotations

import json
import re
from pathlib import Path

from paraactive.errors import InputError
from paraactive.report import write_report
from paraactive.report.page import GENERATOR
from paraactive.report.server import Server


def write_runs(runs: list[Path], out: Path | None, image: str | None, overwrite: bool, as_json: bool) -> None:
    """One page of these runs."""
    page = out or runs[0].with_suffix(".html")
    if any(page.exists() and run.exists() and page.samefile(run) for run in runs):
        raise InputError(f"{page} is a run file", why="the page would replace it", remedy="give --out another name")
    if out is not None and not overwrite and page.exists():
        raise InputError(f"{page} is there already", why="nothing is overwritten unasked", remedy="give --overwrite")
    if out is None and page.exists() and not _is_page(page):
        raise InputError(f"{page} is there, and no page of ours", why="it is kept", remedy="give --out another name")
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
    """Serve until Ctrl-C."""
    with Server(runs, port, shape_in(image)) as server:
        if as_json:
            print(json.dumps({"address": server.address}), flush=True)
        else:
            print(f"Open {server.address} in a browser on this machine. Ctrl-C ends it; the run goes on.", flush=True)
        try:
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            if not as_json:
                print()


def shape_in(image: str | None) -> tuple[int, int] | None:
    """Height and width.

    >>> shape_in("28x28")
    (28, 28)
    """
    if image is None:
        return None
    found = re.fullmatch(r"([1-9][0-9]*)x([1-9][0-9]*)", image)
    if not found:
        raise InputError(f"--image is {image!r}", why="it is a height and a width", remedy="give it as 28x28")
    return int(found[1]), int(found[2])
