"""What the progress bar says beside the bar."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from paraactive.cli.progress import ProgressBar
from paraactive.data.events import Compiling


def test_a_run_that_compiles_says_so_also_where_no_bar_is_drawn() -> None:
    said = StringIO()
    with ProgressBar("sifting", Console(file=said, width=100)) as bar:
        bar(Compiling("LaSVM"))
    assert said.getvalue() == "compiling the loops of LaSVM, once for this machine …\n"
