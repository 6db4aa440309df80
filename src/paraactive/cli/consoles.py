"""The console that all commands print to."""

from __future__ import annotations

from rich.console import Console


def new_console(*, stderr: bool = False) -> Console:
    """Return a console that prints text unchanged: a label such as "[/b]" or ":x:" is not read as markup.

    Parameters
    ----------
    stderr : bool, default=False
        Print to standard error in place of standard output.

    Returns
    -------
    Console
        A new console.
    """
    return Console(stderr=stderr, markup=False, emoji=False)
