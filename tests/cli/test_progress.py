"""What the progress bar says beside the bar."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from io import StringIO

from rich.console import Console

from cli.command_line import DIGITS
from paraactive.cli.progress import ProgressBar
from paraactive.data.events import Compiling


def test_a_run_that_compiles_says_so_also_where_no_bar_is_drawn() -> None:
    said = StringIO()
    with ProgressBar("sifting", Console(file=said, width=100)) as bar:
        bar(Compiling("LaSVM"))
    assert said.getvalue() == "compiling the loops of LaSVM, once on this machine …\n"


def test_a_progress_bar_is_drawn_for_people_and_stays_out_of_the_json():
    screen, terminal = pty.openpty()
    command = [sys.executable, "-m", "paraactive", *DIGITS, "--json"]
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "150"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=terminal, text=True, env=environment) as child:
        os.close(terminal)
        shown = b""
        while piece := _read(screen):
            shown += piece
        out = child.communicate()[0]
    os.close(screen)
    assert json.loads(out)["seen"] == 1000
    for part in (b"sifting", b"1,000/1,000", b"/s", b"selected", b"mistakes"):
        assert part in shown


def _read(screen: int) -> bytes:
    try:
        return os.read(screen, 4096)
    except OSError:  # Linux: the other side is closed.
        return b""
